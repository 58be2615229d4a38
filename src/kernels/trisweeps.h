/*
  Triangular sweeps with the entries of the matrix and the inverse diagonal in type TRI_VALUE; included by tns.c once for each type.
*/

/* The entries of T in compressed rows: those of row i are first[i] + shift .. last[i] */
typedef struct {
  const PetscInt  *first, *last, *j;
  PetscInt         shift;
  const TRI_VALUE *a, *dinv;
} TRI_NAME(TriRows);

/*
  Two sweeps at once, y = c - dinv (T x) and z = c - dinv (T y), on rows i0 .. i1: a row of T reads only rows that are complete. The matrix is loaded once for
  both
*/
static inline void TRI_NAME(TriPairCSR)(const TRI_NAME(TriRows) * R, PetscBool upper, PetscInt i0, PetscInt i1, const PetscScalar *c, const PetscScalar *x,
                                        PetscScalar *y, PetscScalar *restrict z)
{
  const PetscInt *restrict first = R->first, *restrict last = R->last, *restrict aj = R->j, shift = R->shift;
  const TRI_VALUE *restrict aa = R->a, *restrict dinv = R->dinv;

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

static inline void TRI_NAME(TriSingleCSR)(const TRI_NAME(TriRows) * R, PetscInt i0, PetscInt i1, const PetscScalar *c, const PetscScalar *x,
                                          PetscScalar *restrict y)
{
  const PetscInt *restrict first = R->first, *restrict last = R->last, *restrict aj = R->j, shift = R->shift;
  const TRI_VALUE *restrict aa = R->a, *restrict dinv = R->dinv;

  for (PetscInt i = i0; i < i1; ++i) {
    PetscScalar sum = 0;

    for (PetscInt k = first[i] + shift; k < last[i]; ++k) sum += aa[k] * x[aj[k]];
    y[i] = c[i] - dinv[i] * sum;
  }
}

static void TRI_NAME(TriSweepsCSR)(const PolderTriangle *T, PetscInt q, const PetscScalar r[], PetscScalar *const y[])
{
  const PetscBool upper     = T->upper;
  const PetscInt  m         = T->m;
  const TRI_NAME(TriRows) R = {upper ? T->diag : T->i, upper ? T->i + 1 : T->diag, T->j, upper ? 1 : 0, (const TRI_VALUE *)T->a, (const TRI_VALUE *)T->dinv};
  const PetscInt rows       = 1 + (m ? (PetscInt)((PetscReal)POLDER_TRI_ENTRIES * (PetscReal)m / ((PetscReal)T->i[m] + (PetscReal)m)) : 0);
  const PetscInt nblock     = (m + rows - 1) / rows;

  for (PetscInt b = 0; b < nblock; ++b) {
    const PetscInt i0 = rows * (upper ? nblock - 1 - b : b), i1 = m - i0 < rows ? m : i0 + rows;
    PetscInt       k = 0;

    if (r) {
      for (PetscInt i = i0; i < i1; ++i) y[0][i] = R.dinv[i] * r[i];
    }
    for (; k + 1 < q; k += 2) {
      if (upper) TRI_NAME(TriPairCSR)(&R, PETSC_TRUE, i0, i1, y[0], y[k], y[k + 1], y[k + 2]);
      else TRI_NAME(TriPairCSR)(&R, PETSC_FALSE, i0, i1, y[0], y[k], y[k + 1], y[k + 2]);
    }
    if (k < q) TRI_NAME(TriSingleCSR)(&R, i0, i1, y[0], y[k], y[k + 1]);
  }
}

static void TRI_NAME(TriRowsCSR)(const PolderTriangle *T, PolderRowList rows, const PetscScalar aa[], const PetscScalar c[], const PetscScalar x[],
                                 PetscScalar y[])
{
  const PetscBool  upper = T->upper;
  const PetscInt  *ai = T->i, *diag = T->diag, *aj = T->j;
  const TRI_VALUE *dinv = (const TRI_VALUE *)T->dinv;

  for (PetscInt l = 0; l < rows.n; ++l) {
    const PetscInt i = rows.row[l], last = upper ? ai[i + 1] : diag[i];
    PetscScalar    sum = 0;

    for (PetscInt k = upper ? diag[i] + 1 : ai[i]; k < last; ++k) sum += (TRI_VALUE)aa[k] * x[aj[k]];
    y[i] = c[i] - dinv[i] * sum;
  }
}

static void TRI_NAME(TriGhostRows)(const PolderTriangle *T, PolderRowList rows, PetscInt nlow, PolderRows B, const PetscScalar ghost[], PetscScalar y[])
{
  const TRI_VALUE *dinv = (const TRI_VALUE *)T->dinv;

  for (PetscInt l = 0; l < rows.n; ++l) {
    const PetscInt i   = rows.row[l];
    PetscScalar    sum = 0;

    if (T->upper) {
      for (PetscInt k = B.i[i + 1] - 1; k >= B.i[i] && B.j[k] >= nlow; --k) sum += (TRI_VALUE)B.a[k] * ghost[B.j[k]];
    } else {
      for (PetscInt k = B.i[i]; k < B.i[i + 1] && B.j[k] < nlow; ++k) sum += (TRI_VALUE)B.a[k] * ghost[B.j[k]];
    }
    y[i] -= dinv[i] * sum;
  }
}

/* sum[i - i0] += val[i] x[i + off] on the rows i of i0 .. i1 whose column lies in 0 .. m */
static inline void TRI_NAME(TriAddDiagonal)(PetscInt i0, PetscInt i1, PetscInt m, PetscInt off, const TRI_VALUE *val, const PetscScalar *x,
                                            PetscScalar *restrict sum)
{
  const PetscInt first = i0 + off < 0 ? -off : i0, last = i1 + off > m ? m - off : i1;

  for (PetscInt i = first; i < last; ++i) sum[i - i0] += val[i] * x[i + off];
}

/* y = c - dinv sum */
static inline void TRI_NAME(TriCombine)(PetscInt n, const PetscScalar *c, const TRI_VALUE *dinv, const PetscScalar *sum, PetscScalar *restrict y)
{
  for (PetscInt i = 0; i < n; ++i) y[i] = c[i] - dinv[i] * sum[i];
}

/* y = c - dinv (T x) on rows whose columns all lie in the matrix, for the two or three diagonals v of a triangle of a 5- or 7-point stencil; x[d]: what v[d]
   multiplies */
static inline void TRI_NAME(TriTwo)(PetscInt n, const PetscScalar *c, const TRI_VALUE *dinv, const TRI_VALUE *const v[2], const PetscScalar *const x[2],
                                    PetscScalar *restrict y)
{
  const TRI_VALUE   *v0 = v[0], *v1 = v[1];
  const PetscScalar *x0 = x[0], *x1 = x[1];

  for (PetscInt i = 0; i < n; ++i) y[i] = c[i] - dinv[i] * (v0[i] * x0[i] + v1[i] * x1[i]);
}

static inline void TRI_NAME(TriThree)(PetscInt n, const PetscScalar *c, const TRI_VALUE *dinv, const TRI_VALUE *const v[3], const PetscScalar *const x[3],
                                      PetscScalar *restrict y)
{
  const TRI_VALUE   *v0 = v[0], *v1 = v[1], *v2 = v[2];
  const PetscScalar *x0 = x[0], *x1 = x[1], *x2 = x[2];

  for (PetscInt i = 0; i < n; ++i) y[i] = c[i] - dinv[i] * ((v0[i] * x0[i] + v1[i] * x1[i]) + v2[i] * x2[i]);
}

/* One sweep on the rows i0 .. i1; that of row i0 goes to y[0] */
static void TRI_NAME(TriSweepDIA)(const PolderTriangle *T, PetscInt i0, PetscInt i1, const PetscScalar c[], const PetscScalar x[], PetscScalar *restrict y)
{
  const PetscInt          m = T->m, nd = T->nd, *off = T->off;
  const TRI_VALUE *const *v    = (const TRI_VALUE *const *)T->val;
  const TRI_VALUE        *dinv = (const TRI_VALUE *)T->dinv;
  PetscScalar             sum[POLDER_TRI_DIAROWS];

  if ((nd == 2 || nd == 3) && i0 + off[0] >= 0 && i1 + off[nd - 1] <= m) {
    const TRI_VALUE   *at[3];
    const PetscScalar *from[3];

    for (PetscInt d = 0; d < nd; ++d) {
      at[d]   = v[d] + i0;
      from[d] = x + i0 + off[d];
    }
    if (nd == 2) TRI_NAME(TriTwo)(i1 - i0, c + i0, dinv + i0, at, from, y);
    else TRI_NAME(TriThree)(i1 - i0, c + i0, dinv + i0, at, from, y);
  } else {
    for (PetscInt i = i0; i < i1; ++i) sum[i - i0] = 0;
    for (PetscInt d = 0; d < nd; ++d) TRI_NAME(TriAddDiagonal)(i0, i1, m, off[d], v[d], x, sum);
    TRI_NAME(TriCombine)(i1 - i0, c + i0, dinv + i0, sum, y);
  }
}

/* Block b of nblock, in the order of the sweeps: its rows are *i0 .. *i1 */
static inline PetscInt TRI_NAME(TriBlock)(const PolderTriangle *T, PetscInt rows, PetscInt b, PetscInt *i0)
{
  *i0 = rows * (T->upper ? (T->m - 1) / rows - b : b);
  return T->m - *i0 < rows ? T->m : *i0 + rows;
}

static void TRI_NAME(TriSweepsDIA)(const PolderTriangle *T, PetscInt q, const PetscScalar r[], PetscScalar *const y[])
{
  const PetscInt   rows = TriDiaRows(T);
  const TRI_VALUE *dinv = (const TRI_VALUE *)T->dinv;

  for (PetscInt b = 0; b * rows < T->m; ++b) {
    PetscInt       i0;
    const PetscInt i1 = TRI_NAME(TriBlock)(T, rows, b, &i0);

    if (r) {
      for (PetscInt i = i0; i < i1; ++i) y[0][i] = dinv[i] * r[i];
    }
    for (PetscInt k = 0; k < q; ++k) TRI_NAME(TriSweepDIA)(T, i0, i1, y[0], y[k], y[k + 1] + i0);
  }
}

/* r -= alpha w and c = dinv r on n rows; row i adds its r^2 to sum[i % TRI_LANES] */
static inline void TRI_NAME(TriUpdate)(PetscInt n, PetscScalar alpha, const PetscScalar *restrict w, PetscScalar *restrict r, const TRI_VALUE *restrict dinv,
                                       PetscScalar *restrict c, PetscReal sum[TRI_LANES])
{
  for (PetscInt i = 0; i < n; i += TRI_LANES) {
    const int lanes = n - i < TRI_LANES ? (int)(n - i) : TRI_LANES;

    for (int l = 0; l < lanes; ++l) {
      if (w) r[i + l] -= alpha * w[i + l];
      c[i + l] = dinv[i + l] * r[i + l];
      sum[l] += r[i + l] * r[i + l];
    }
  }
}

static void TRI_NAME(TriForwardDIA)(const PolderTriangle *T, PetscInt q, PetscScalar alpha, const PetscScalar w[], PetscScalar r[], PetscScalar *const y[],
                                    PetscReal sum[2])
{
  const PetscInt   rows          = TriDiaRows(T);
  const TRI_VALUE *dinv          = (const TRI_VALUE *)T->dinv;
  PetscReal        rr[TRI_LANES] = {0}, ss[TRI_LANES] = {0};

  for (PetscInt b = 0; b * rows < T->m; ++b) {
    PetscInt           i0;
    const PetscInt     i1 = TRI_NAME(TriBlock)(T, rows, b, &i0);
    const PetscScalar *s  = y[q] + i0;

    TRI_NAME(TriUpdate)(i1 - i0, alpha, w ? w + i0 : NULL, r + i0, dinv + i0, y[0] + i0, rr);
    for (PetscInt k = 0; k < q; ++k) TRI_NAME(TriSweepDIA)(T, i0, i1, y[0], y[k], y[k + 1] + i0);
    for (PetscInt i = 0; i < i1 - i0; i += TRI_LANES) {
      const int lanes = i1 - i0 - i < TRI_LANES ? (int)(i1 - i0 - i) : TRI_LANES;

      for (int l = 0; l < lanes; ++l) ss[l] += s[i + l] * s[i + l] / dinv[i0 + i + l];
    }
  }
  sum[0] = TriLanesSum(rr);
  sum[1] = TriLanesSum(ss);
}

static PetscScalar TRI_NAME(TriDirectionDIA)(const PolderTriangle *T, PetscInt q, PetscScalar *const y[], const PolderTriStep *step)
{
  const PetscInt rows = TriDiaRows(T);
  PetscScalar    z[POLDER_TRI_DIAROWS], sum[TRI_LANES] = {0};

  for (PetscInt b = 0; b * rows < T->m; ++b) {
    PetscInt       i0;
    const PetscInt i1 = TRI_NAME(TriBlock)(T, rows, b, &i0);

    for (PetscInt k = 0; k < q; ++k) TRI_NAME(TriSweepDIA)(T, i0, i1, y[0], y[k], k + 1 < q ? y[k + 1] + i0 : z);
    TriDirection(i0, i1 - i0, q ? z : y[0] + i0, step, sum);
  }
  return TriLanesSum(sum);
}
