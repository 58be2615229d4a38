/* Solves with incomplete factors on the host, for one precision of them: ILU_VALUE, and ILU_NAME(stem) for the names. Included once for each. */

/* y <- c - N x on the rows i0 .. i1, N being a triangle without its diagonal of ones; inverse = NULL stands for 1, else y <- D^-1 c - N x. x = NULL: no N x */
static void ILU_NAME(PolderIluRows)(const PolderIlu *ilu, int t, PetscInt i0, PetscInt i1, const ILU_VALUE val[], const ILU_VALUE *inverse, PetscInt r0,
                                    const PolderIluSweep *v)
{
  const PetscScalar *c = v->c + r0, *x         = v->x ? v->x + r0 : NULL;
  PetscScalar        sum[POLDER_ILU_SLICE], *y = v->y + r0;

  for (PetscInt i = i0, s = i0 / POLDER_ILU_SLICE; i < i1; i = ++s * POLDER_ILU_SLICE) {
    const PetscInt n = (i1 < (s + 1) * POLDER_ILU_SLICE ? i1 : (s + 1) * POLDER_ILU_SLICE) - i;

    for (PetscInt k = 0; k < n; ++k) sum[k] = inverse ? inverse[i + k] * c[i - r0 + k] : c[i - r0 + k];
    for (PetscInt p = ilu->start[t][s] + i % POLDER_ILU_SLICE; x && p < ilu->start[t][s + 1]; p += POLDER_ILU_SLICE)
      for (PetscInt k = 0; k < n; ++k) sum[k] -= val[p + k] * x[ilu->col[p + k]];
    for (PetscInt k = 0; k < n; ++k) y[i - r0 + k] = sum[k];
  }
}

static void ILU_NAME(PolderIluMakeCompact)(const PolderIlu *ilu, const ILU_VALUE val[], PolderIluCompact *to)
{
  PetscInt n = 0;

  for (int t = 0; t < 2; ++t) {
    for (PetscInt i = 0; i < ilu->nrow; ++i) {
      const PetscInt s = i / POLDER_ILU_SLICE;

      to->ptr[t][i] = n;
      for (PetscInt p = ilu->start[t][s] + i % POLDER_ILU_SLICE; p < ilu->start[t][s + 1]; p += POLDER_ILU_SLICE) {
        if (val[p] == 0) continue;
        if (to->col) {
          to->col[n]                = ilu->col[p];
          ((ILU_VALUE *)to->val)[n] = val[p];
        }
        ++n;
      }
    }
    to->ptr[t][ilu->nrow] = n;
  }
}

static inline PetscScalar ILU_NAME(PolderIluCompactRow)(const PolderIluCompact *c, int t, PetscInt i, PetscScalar sum, const PetscScalar x[])
{
  for (PetscInt p = c->ptr[t][i]; p < c->ptr[t][i + 1]; ++p) sum -= ((const ILU_VALUE *)c->val)[p] * x[c->col[p]];
  return sum;
}

/* The rows of a block one after the other, in place */
static void ILU_NAME(PolderIluInOrder)(const PolderIlu *ilu, PetscInt b, const ILU_VALUE inverse[], PetscScalar x[])
{
  const PolderIluCompact *c  = ilu->compact;
  const PetscInt          r0 = ilu->row[b], r1 = ilu->row[b + 1];

  for (PetscInt i = r0; i < r1; ++i) x[i] = ILU_NAME(PolderIluCompactRow)(c, 0, i, x[i], x + r0);
  for (PetscInt i = r1 - 1; i >= r0; --i) x[i] = ILU_NAME(PolderIluCompactRow)(c, 1, i, inverse[i] * x[i], x + r0);
}

/* The rows of a block level after level, in place */
static void ILU_NAME(PolderIluLevels)(const PolderIlu *ilu, PetscInt b, const ILU_VALUE val[], PetscScalar x[])
{
  const PolderIluSweep in = {.c = x, .x = x, .y = x};
  const PetscInt       r0 = ilu->row[b], *first = ilu->first;

  for (PetscInt l = ilu->level[b]; l < ilu->level[b + 1]; ++l) ILU_NAME(PolderIluRows)(ilu, 0, first[l], first[l + 1], val, NULL, r0, &in);
  for (PetscInt l = ilu->level[b + 1] - 1; l >= ilu->level[b]; --l) ILU_NAME(PolderIluRows)(ilu, 1, first[l], first[l + 1], val, val + ilu->nz, r0, &in);
}

static void ILU_NAME(PolderIluSweeps)(const PolderIlu *ilu, PetscInt b, const ILU_VALUE val[], const PolderIluVectors *v)
{
  for (PetscInt k = 0; k <= 2 * v->sweeps; ++k) {
    const PolderIluSweep s = PolderIluSweepOf(v, k);

    ILU_NAME(PolderIluRows)(ilu, s.upper, ilu->row[b], ilu->row[b + 1], val, s.upper ? val + ilu->nz : NULL, ilu->row[b], &s);
  }
}

static void ILU_NAME(PolderIluSolve)(const PolderIlu *ilu, const ILU_VALUE val[], const PolderIluVectors *v)
{
  PetscScalar *first = v->sweeps ? PolderIluSweepFirst(v) : v->x;

  for (PetscInt b = 0; b < ilu->nblock; ++b) {
    const PetscInt r0 = ilu->row[b], r1 = ilu->row[b + 1];

    for (PetscInt i = r0; i < r1; ++i) first[i] = PolderIluRead(v, i);
    if (v->sweeps) ILU_NAME(PolderIluSweeps)(ilu, b, val, v);
    else if (ilu->compact) ILU_NAME(PolderIluInOrder)(ilu, b, val + ilu->nz, v->x);
    else ILU_NAME(PolderIluLevels)(ilu, b, val, v->x);
    for (PetscInt i = r0; v->to && i < r1; ++i) {
      if (v->to[i] >= 0) v->z[v->to[i]] = v->x[i];
    }
  }
}
