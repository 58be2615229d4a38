/* Both halves of a solve with eliminated rows, for vectors of type LEVEL_VALUE; included by eliminate.c once for each type. */

void LEVEL_NAME(PolderEliminateForward)(PetscInt n, const PolderEliminated *E, const PetscInt agg[], PetscInt nc, const LEVEL_VALUE b[], LEVEL_VALUE r[],
                                        LEVEL_VALUE bc[])
{
  for (PetscInt i = 0; i < n; ++i) r[i] = b[i];
  for (PetscInt k = 0; k < E->m; ++k) {
    const LEVEL_VALUE own = r[E->row[k]];

    for (PetscInt e = E->ptr[k]; e < E->ptr[k + 1]; ++e) r[E->col[e]] -= (LEVEL_VALUE)E->val[e] * own;
  }
  for (PetscInt i = 0; i < n; ++i) {
    if (agg[i] < nc) bc[agg[i]] = r[i];
  }
}

void LEVEL_NAME(PolderEliminateBackward)(PetscInt n, const PolderEliminated *E, const PetscInt agg[], PetscInt nc, const LEVEL_VALUE r[],
                                         const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
  for (PetscInt i = 0; i < n; ++i) {
    if (agg[i] < nc) x[i] = xc[agg[i]];
  }
  for (PetscInt k = E->m - 1; k >= 0; --k) {
    LEVEL_VALUE sum = r[E->row[k]] * (LEVEL_VALUE)E->dinv[k];

    for (PetscInt e = E->ptr[k]; e < E->ptr[k + 1]; ++e) sum -= (LEVEL_VALUE)E->val[e] * x[E->col[e]];
    x[E->row[k]] = sum;
  }
}
