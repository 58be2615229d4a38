/* Solves with incomplete factors on the host, for one precision of them: ILU_VALUE, and ILU_NAME(stem) for the names. Included once for each. */

/* sum - N x of a row */
static inline PetscScalar ILU_NAME(PolderIluRow)(const PolderIlu *ilu, int t, PetscInt i, const ILU_VALUE val[], PetscScalar sum, const PetscScalar x[])
{
  const PolderIluSpan row = PolderIluSpanOf(ilu, t, i);

  for (PetscInt p = row.p; p < row.end; p += row.step) sum -= val[p] * x[ilu->col[p]];
  return sum;
}

/* y <- c - N x on the rows i0 .. i1, N being a triangle without its diagonal of ones; inverse = NULL stands for 1, else y <- D^-1 c - N x. x = NULL: no N x */
static void ILU_NAME(PolderIluRows)(const PolderIlu *ilu, int t, PetscInt i0, PetscInt i1, const ILU_VALUE val[], const ILU_VALUE *inverse, PetscInt r0,
                                    const PolderIluSweep *v)
{
  const PetscScalar *c = v->c + r0, *x         = v->x ? v->x + r0 : NULL;
  PetscScalar        sum[POLDER_ILU_SLICE], *y = v->y + r0;

  for (PetscInt i = i0, s = i0 / POLDER_ILU_SLICE; i < i1; i = ++s * POLDER_ILU_SLICE) {
    const PetscInt n = (i1 < (s + 1) * POLDER_ILU_SLICE ? i1 : (s + 1) * POLDER_ILU_SLICE) - i;

    for (PetscInt k = 0; k < n; ++k) sum[k] = inverse ? inverse[i + k] * c[i - r0 + k] : c[i - r0 + k];
    if (x && ilu->apart && ilu->apart[t * PolderIluSlices(ilu->nrow) + s]) {
      for (PetscInt k = 0; k < n; ++k) sum[k] = ILU_NAME(PolderIluRow)(ilu, t, i + k, val, sum[k], x);
    } else {
      for (PetscInt p = ilu->start[t][s] + i % POLDER_ILU_SLICE; x && p < ilu->start[t][s + 1]; p += POLDER_ILU_SLICE)
        for (PetscInt k = 0; k < n; ++k) sum[k] -= val[p + k] * x[ilu->col[p + k]];
    }
    for (PetscInt k = 0; k < n; ++k) y[i - r0 + k] = sum[k];
  }
}

/* The rows of a block one after the other, in place */
static void ILU_NAME(PolderIluInOrder)(const PolderIlu *ilu, PetscInt b, const ILU_VALUE val[], PetscScalar x[])
{
  const ILU_VALUE *inverse = val + ilu->nz;
  const PetscInt   r0 = ilu->row[b], r1 = ilu->row[b + 1];

  for (PetscInt i = r0; i < r1; ++i) x[i] = ILU_NAME(PolderIluRow)(ilu, 0, i, val, x[i], x + r0);
  for (PetscInt i = r1 - 1; i >= r0; --i) x[i] = ILU_NAME(PolderIluRow)(ilu, 1, i, val, inverse[i] * x[i], x + r0);
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

    for (PetscInt k = r0; k < r1; ++k) PolderIluRead(v, k, first);
    if (v->sweeps) ILU_NAME(PolderIluSweeps)(ilu, b, val, v);
    else if (ilu->inorder) ILU_NAME(PolderIluInOrder)(ilu, b, val, v->x);
    else ILU_NAME(PolderIluLevels)(ilu, b, val, v->x);
    for (PetscInt k = r0; v->to && k < r1; ++k) PolderIluWrite(v, k);
  }
}
