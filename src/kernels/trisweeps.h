/*
  Triangular sweeps with the entries of the matrix and the inverse diagonal in type TRI_VALUE; included by tns.c once for each type.
*/

/*
  Two sweeps at once, y = c - dinv (T x) and z = c - dinv (T y), on rows i0 .. i1: a row of T reads only rows that are complete. The matrix is loaded once for
  both. first[i] + shift .. last[i] are the entries of T in row i.
*/
static inline void TRI_NAME(PolderTriPairCSR)(PetscBool upper, PetscInt i0, PetscInt i1, const PetscInt *restrict first, PetscInt shift,
                                              const PetscInt *restrict last, const PetscInt *restrict aj, const TRI_VALUE *restrict aa,
                                              const TRI_VALUE *restrict dinv, const PetscScalar *c, const PetscScalar *x, PetscScalar *y,
                                              PetscScalar *restrict z)
{
  for (PetscInt l = 0; l < i1 - i0; ++l) {
    const PetscInt i    = upper ? i1 - 1 - l : i0 + l;
    PetscScalar    sumx = 0, sumy = 0;

    for (PetscInt k = first[i] + shift; k < last[i]; ++k) {
      sumx += aa[k] * x[aj[k]];
      sumy += aa[k] * y[aj[k]];
    }
    y[i] = c[i] - dinv[i] * sumx;
    z[i] = c[i] - dinv[i] * sumy;
  }
}

static inline void TRI_NAME(PolderTriSingleCSR)(PetscInt i0, PetscInt i1, const PetscInt *restrict first, PetscInt shift, const PetscInt *restrict last,
                                                const PetscInt *restrict aj, const TRI_VALUE *restrict aa, const TRI_VALUE *restrict dinv, const PetscScalar *c,
                                                const PetscScalar *x, PetscScalar *restrict y)
{
  for (PetscInt i = i0; i < i1; ++i) {
    PetscScalar sum = 0;

    for (PetscInt k = first[i] + shift; k < last[i]; ++k) sum += aa[k] * x[aj[k]];
    y[i] = c[i] - dinv[i] * sum;
  }
}

void TRI_NAME(PolderTriSweepsCSR)(PetscBool upper, PetscInt m, PetscInt q, const PetscInt ai[], const PetscInt diag[], const PetscInt aj[],
                                  const TRI_VALUE aa[], const TRI_VALUE dinv[], const PetscScalar r[], PetscScalar *const y[])
{
  const PetscInt *first = upper ? diag : ai, *last = upper ? ai + 1 : diag, shift = upper ? 1 : 0;
  const PetscInt  rows   = 1 + (m ? (PetscInt)((PetscReal)POLDER_TRI_ENTRIES * (PetscReal)m / ((PetscReal)ai[m] + (PetscReal)m)) : 0);
  const PetscInt  nblock = (m + rows - 1) / rows;

  for (PetscInt b = 0; b < nblock; ++b) {
    const PetscInt i0 = rows * (upper ? nblock - 1 - b : b), i1 = m - i0 < rows ? m : i0 + rows;
    PetscInt       k = 0;

    if (r) {
      for (PetscInt i = i0; i < i1; ++i) y[0][i] = dinv[i] * r[i];
    }
    for (; k + 1 < q; k += 2) {
      if (upper) TRI_NAME(PolderTriPairCSR)(PETSC_TRUE, i0, i1, first, shift, last, aj, aa, dinv, y[0], y[k], y[k + 1], y[k + 2]);
      else TRI_NAME(PolderTriPairCSR)(PETSC_FALSE, i0, i1, first, shift, last, aj, aa, dinv, y[0], y[k], y[k + 1], y[k + 2]);
    }
    if (k < q) TRI_NAME(PolderTriSingleCSR)(i0, i1, first, shift, last, aj, aa, dinv, y[0], y[k], y[k + 1]);
  }
}

void TRI_NAME(PolderTriRowsCSR)(PetscBool upper, PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt diag[], const PetscInt aj[],
                                const PetscScalar aa[], const TRI_VALUE dinv[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[])
{
  for (PetscInt l = 0; l < n; ++l) {
    const PetscInt i = row[l], last = upper ? ai[i + 1] : diag[i];
    PetscScalar    sum = 0;

    for (PetscInt k = upper ? diag[i] + 1 : ai[i]; k < last; ++k) sum += (TRI_VALUE)aa[k] * x[aj[k]];
    y[i] = c[i] - dinv[i] * sum;
  }
}

void TRI_NAME(PolderTriGhostRows)(PetscBool upper, PetscInt n, const PetscInt row[], PetscInt nlow, const PetscInt bi[], const PetscInt bj[],
                                  const PetscScalar ba[], const TRI_VALUE dinv[], const PetscScalar ghost[], PetscScalar y[])
{
  for (PetscInt l = 0; l < n; ++l) {
    const PetscInt i   = row[l];
    PetscScalar    sum = 0;

    if (upper) {
      for (PetscInt k = bi[i + 1] - 1; k >= bi[i] && bj[k] >= nlow; --k) sum += (TRI_VALUE)ba[k] * ghost[bj[k]];
    } else {
      for (PetscInt k = bi[i]; k < bi[i + 1] && bj[k] < nlow; ++k) sum += (TRI_VALUE)ba[k] * ghost[bj[k]];
    }
    y[i] -= dinv[i] * sum;
  }
}

/* sum[i - i0] += val[i] x[i + off] on the rows i of i0 .. i1 whose column lies in 0 .. m */
static inline void TRI_NAME(PolderTriAddDiagonal)(PetscInt i0, PetscInt i1, PetscInt m, PetscInt off, const TRI_VALUE *val, const PetscScalar *x,
                                                  PetscScalar *restrict sum)
{
  const PetscInt first = i0 + off < 0 ? -off : i0, last = i1 + off > m ? m - off : i1;

  for (PetscInt i = first; i < last; ++i) sum[i - i0] += val[i] * x[i + off];
}

/* y = c - dinv sum */
static inline void TRI_NAME(PolderTriCombine)(PetscInt n, const PetscScalar *c, const TRI_VALUE *dinv, const PetscScalar *sum, PetscScalar *restrict y)
{
  for (PetscInt i = 0; i < n; ++i) y[i] = c[i] - dinv[i] * sum[i];
}

/* y = c - dinv (T x) on rows whose columns all lie in the matrix, for the two or three diagonals of a triangle of a 5- or 7-point stencil */
static inline void TRI_NAME(PolderTriTwo)(PetscInt n, const PetscScalar *c, const TRI_VALUE *dinv, const TRI_VALUE *v0, const PetscScalar *x0,
                                          const TRI_VALUE *v1, const PetscScalar *x1, PetscScalar *restrict y)
{
  for (PetscInt i = 0; i < n; ++i) y[i] = c[i] - dinv[i] * (v0[i] * x0[i] + v1[i] * x1[i]);
}

static inline void TRI_NAME(PolderTriThree)(PetscInt n, const PetscScalar *c, const TRI_VALUE *dinv, const TRI_VALUE *v0, const PetscScalar *x0,
                                            const TRI_VALUE *v1, const PetscScalar *x1, const TRI_VALUE *v2, const PetscScalar *x2, PetscScalar *restrict y)
{
  for (PetscInt i = 0; i < n; ++i) y[i] = c[i] - dinv[i] * ((v0[i] * x0[i] + v1[i] * x1[i]) + v2[i] * x2[i]);
}

static void TRI_NAME(PolderTriSweepDIA)(PetscInt i0, PetscInt i1, PetscInt m, PetscInt nd, const PetscInt off[], const TRI_VALUE *const v[],
                                        const TRI_VALUE dinv[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[])
{
  PetscScalar sum[POLDER_TRI_DIAROWS];

  if (nd == 2 && i0 + off[0] >= 0 && i1 + off[1] <= m)
    TRI_NAME(PolderTriTwo)(i1 - i0, c + i0, dinv + i0, v[0] + i0, x + i0 + off[0], v[1] + i0, x + i0 + off[1], y + i0);
  else if (nd == 3 && i0 + off[0] >= 0 && i1 + off[2] <= m)
    TRI_NAME(PolderTriThree)(i1 - i0, c + i0, dinv + i0, v[0] + i0, x + i0 + off[0], v[1] + i0, x + i0 + off[1], v[2] + i0, x + i0 + off[2], y + i0);
  else {
    for (PetscInt i = i0; i < i1; ++i) sum[i - i0] = 0;
    for (PetscInt d = 0; d < nd; ++d) TRI_NAME(PolderTriAddDiagonal)(i0, i1, m, off[d], v[d], x, sum);
    TRI_NAME(PolderTriCombine)(i1 - i0, c + i0, dinv + i0, sum, y + i0);
  }
}

void TRI_NAME(PolderTriSweepsDIA)(PetscBool upper, PetscInt m, PetscInt q, PetscInt nd, const PetscInt off[], const TRI_VALUE *const val[],
                                  const TRI_VALUE dinv[], const PetscScalar r[], PetscScalar *const y[])
{
  const PetscInt nblock = (m + POLDER_TRI_DIAROWS - 1) / POLDER_TRI_DIAROWS;

  for (PetscInt b = 0; b < nblock; ++b) {
    const PetscInt i0 = POLDER_TRI_DIAROWS * (upper ? nblock - 1 - b : b), i1 = m - i0 < POLDER_TRI_DIAROWS ? m : i0 + POLDER_TRI_DIAROWS;

    if (r) {
      for (PetscInt i = i0; i < i1; ++i) y[0][i] = dinv[i] * r[i];
    }
    for (PetscInt k = 0; k < q; ++k) TRI_NAME(PolderTriSweepDIA)(i0, i1, m, nd, off, val, dinv, y[0], y[k], y[k + 1]);
  }
}
