/* Solves with incomplete factors on the host, for one precision of them: ILU_VALUE, and ILU_NAME(stem) for the names. Included once for each. */

/* x <- T^-1 x on the rows i0 .. i1 of a level; inverse = NULL stands for 1, else x <- T^-1 D^-1 x */
static void ILU_NAME(PolderIluLevel)(const PolderIlu *ilu, int t, PetscInt i0, PetscInt i1, const ILU_VALUE val[], const ILU_VALUE *inverse, PetscInt r0,
                                     PetscScalar x[])
{
  PetscScalar sum[POLDER_ILU_SLICE];

  for (PetscInt i = i0, s = i0 / POLDER_ILU_SLICE; i < i1; i = ++s * POLDER_ILU_SLICE) {
    const PetscInt n = (i1 < (s + 1) * POLDER_ILU_SLICE ? i1 : (s + 1) * POLDER_ILU_SLICE) - i;

    for (PetscInt k = 0; k < n; ++k) sum[k] = inverse ? inverse[i + k] * x[i - r0 + k] : x[i - r0 + k];
    for (PetscInt p = ilu->start[t][s] + i % POLDER_ILU_SLICE; p < ilu->start[t][s + 1]; p += POLDER_ILU_SLICE)
      for (PetscInt k = 0; k < n; ++k) sum[k] -= val[p + k] * x[ilu->col[p + k]];
    for (PetscInt k = 0; k < n; ++k) x[i - r0 + k] = sum[k];
  }
}

static void ILU_NAME(PolderIluSolve)(const PolderIlu *ilu, const ILU_VALUE val[], const PolderIluVectors *v)
{
  for (PetscInt b = 0; b < ilu->nblock; ++b) {
    const PetscInt r0 = ilu->row[b], r1 = ilu->row[b + 1], *first = ilu->first;
    PetscScalar   *x = v->x + r0;

    for (PetscInt i = r0; i < r1; ++i) x[i - r0] = PolderIluRead(v, i);
    for (PetscInt l = ilu->level[b]; l < ilu->level[b + 1]; ++l) ILU_NAME(PolderIluLevel)(ilu, 0, first[l], first[l + 1], val, NULL, r0, x);
    for (PetscInt l = ilu->level[b + 1] - 1; l >= ilu->level[b]; --l) ILU_NAME(PolderIluLevel)(ilu, 1, first[l], first[l + 1], val, val + ilu->nz, r0, x);
    for (PetscInt i = r0; v->to && i < r1; ++i) {
      if (v->to[i] >= 0) v->z[v->to[i]] = x[i - r0];
    }
  }
}
