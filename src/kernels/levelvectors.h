/* Operations on the vectors of one level, in type LEVEL_VALUE, and products with off-process entries; included by level.c after levelapply.h. */

void LEVEL_NAME(PolderLevelColourFirst)(const PolderLevelMatrix *A, PetscInt first, const PetscInt row[], const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  for (PetscInt k = 0; k < A->n; ++k) x[row[k]] = k < first ? ((const LEVEL_VALUE *)A->dinv)[row[k]] * b[row[k]] : 0;
}

void LEVEL_NAME(PolderLevelScale)(PetscInt n, LEVEL_VALUE scale, const LEVEL_VALUE dinv[], const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
#pragma GCC ivdep
  for (PetscInt i = 0; i < n; ++i) x[i] = scale * dinv[i] * b[i];
}

void LEVEL_NAME(PolderLevelProlong)(PetscInt n, const PetscInt agg[], LEVEL_VALUE scale, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
  LEVEL_NAME(LevelProlong)(0, n, agg, scale, xc, x);
}

void LEVEL_NAME(PolderLevelCombine)(PetscInt n, LEVEL_VALUE alpha, LEVEL_VALUE beta, const LEVEL_VALUE x[], LEVEL_VALUE y[])
{
#pragma GCC ivdep
  for (PetscInt i = 0; i < n; ++i) y[i] = alpha * x[i] + beta * y[i];
}

void LEVEL_NAME(PolderLevelKFirst)(PetscInt n, PetscReal threshold, const PetscReal sum[], const LEVEL_VALUE v[], LEVEL_VALUE b[])
{
  const PetscReal step = PolderKCycleFirst(sum, threshold);

  if (step != 0) LEVEL_NAME(PolderLevelCombine)(n, (LEVEL_VALUE)-step, 1, v, b);
}

void LEVEL_NAME(PolderLevelKSecond)(PetscInt n, PetscReal threshold, const PetscReal sum[], const LEVEL_VALUE w[], LEVEL_VALUE x[])
{
  PetscReal c[2];

  PolderKCycleSecond(sum, threshold, c);
  if (c[1] != 0) LEVEL_NAME(PolderLevelCombine)(n, (LEVEL_VALUE)c[1], (LEVEL_VALUE)c[0], w, x);
  else if (c[0] != 1) LEVEL_NAME(PolderLevelCombine)(n, 0, (LEVEL_VALUE)c[0], x, x);
}

/* Adds off-process columns, in double precision; own: subtracts x of the row, as for LEVEL_SUMS */
void LEVEL_NAME(PolderLevelGhosts)(PolderRows B, LEVEL_VALUE scale, const LEVEL_VALUE ghost[], const LEVEL_VALUE own[], const LEVEL_VALUE y[], LEVEL_VALUE z[])
{
  for (PetscInt i = 0; i < B.n; ++i) {
    const LEVEL_VALUE x = LEVEL_SUMS && own ? own[i] : 0;
    LEVEL_VALUE       s = 0;

    for (PetscInt k = B.i[i]; k < B.i[i + 1]; ++k) s += (LEVEL_VALUE)B.a[k] * (ghost[B.j[k]] - x);
    z[i] = (y ? y[i] : 0) + scale * s;
  }
}

void LEVEL_NAME(PolderLevelGhostsRestrict)(PolderRows B, const LEVEL_VALUE ghost[], const PetscInt agg[], LEVEL_VALUE bc[])
{
  for (PetscInt i = 0; i < B.n; ++i) {
    for (PetscInt k = B.i[i]; k < B.i[i + 1]; ++k) bc[agg[i]] -= (LEVEL_VALUE)B.a[k] * ghost[B.j[k]];
  }
}

/* Row k of the off-process entries times the ghosts of message `number`, see PolderOuterSum, minus x of the row as for LEVEL_SUMS */
static inline LEVEL_VALUE LEVEL_NAME(LevelOuterRow)(const PolderSparseRows *O, PetscInt k, const PolderOuterSum *sum, uint64_t number, LEVEL_VALUE x)
{
  const LEVEL_VALUE *dinv = (const LEVEL_VALUE *)sum->ghostdinv;
  LEVEL_VALUE        s    = 0;

  for (PetscInt e = O->ptr[k]; e < O->ptr[k + 1]; ++e) {
    const PetscInt    c     = O->col[e];
    const LEVEL_VALUE ghost = LEVEL_NAME(PolderGhost)(&sum->ghosts, number, c);

    s += (LEVEL_VALUE)O->val[e] * ((sum->start != 0 ? (LEVEL_VALUE)sum->start * dinv[c] * ghost : ghost) - (LEVEL_SUMS ? x : 0));
  }
  return s;
}

void LEVEL_NAME(PolderLevelOuterAdd)(const PolderSparseRows *O, const PolderOuterSum *sum, LEVEL_VALUE z[])
{
  const LEVEL_VALUE *dinv = (const LEVEL_VALUE *)sum->dinv, *own = (const LEVEL_VALUE *)sum->own;
  const uint64_t     number = PolderGhostsBegin_Host(&sum->ghosts);

  for (PetscInt k = 0; k < O->n; ++k) {
    const PetscInt    i = O->row[k];
    const LEVEL_VALUE x = sum->start != 0 ? (LEVEL_VALUE)sum->start * dinv[i] * own[i] : own[i];
    const LEVEL_VALUE s = (LEVEL_VALUE)sum->scale * (dinv ? dinv[i] : 1) * LEVEL_NAME(LevelOuterRow)(O, k, sum, number, x);

    const PetscScalar before = LEVEL_SUMS && sum->wide ? sum->wide[i] : (PetscScalar)z[i];
    PetscScalar       change;

    if (LEVEL_SUMS && sum->wide) sum->wide[i] += sum->unit * s;
    else z[i] += s;
    if (!sum->r) continue;
    change = LEVEL_SUMS && sum->wide ? sum->wide[i] - before : sum->unit * (z[i] - before);
    sum->dots[0] += sum->r[i] * change;
    sum->dots[1] += change;
  }
}

void LEVEL_NAME(PolderLevelOuterRestrict)(const PolderSparseRows *O, const PolderAggregates *P, const PetscInt target[], const LEVEL_VALUE own[],
                                          const LEVEL_VALUE ghost[], LEVEL_VALUE bc[])
{
  const PolderOuterSum sum = {.ghosts = {.value = ghost}};

  for (PetscInt t = 0; t < P->n; ++t) {
    LEVEL_VALUE s = 0;

    for (PetscInt m = P->ptr[t]; m < P->ptr[t + 1]; ++m) s += LEVEL_NAME(LevelOuterRow)(O, P->row[m], &sum, 0, own[O->row[P->row[m]]]);
    bc[target[t]] -= s;
  }
}

void LEVEL_NAME(PolderLevelOuterDots)(const PolderSparseRows *O, const LEVEL_VALUE ghost[], const LEVEL_VALUE x[], const LEVEL_VALUE b[], LEVEL_VALUE v[],
                                      PetscReal sum[])
{
  const PolderOuterSum add     = {.ghosts = {.value = ghost}};
  PetscReal            more[3] = {0, 0, 0};

  for (PetscInt k = 0; k < O->n; ++k) {
    const PetscInt  i      = O->row[k];
    const PetscReal before = v[i], s = LEVEL_NAME(LevelOuterRow)(O, k, &add, 0, x[i]);

    v[i] = (LEVEL_VALUE)(before + s);
    more[0] += x[i] * s;
    more[1] += b ? b[i] * s : 0;
    more[2] += (2 * before + s) * s;
  }
  sum[0] += more[0];
  if (!b) return;
  sum[3] += more[1];
  sum[4] += more[2];
}
