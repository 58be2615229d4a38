/*
  Smoothers, residuals and products of one level, with vectors of type LEVEL_VALUE and entries of type LEVEL_ENTRY, whose value is LEVEL_GET(); included by
  level.c once for each pair of types. Aggregate number nc stands for none, so coarse vectors have nc + 1 entries.
*/

/*
  s[i] = (add: +=) the sum over g diagonals of val[d][i] x[i + off[d]] or, with less, of val[d][i] (x[i + off[d]] - x[i]), on rows whose columns all exist;
  callers pass a constant g, for unrolling
*/
static inline __attribute__((always_inline)) void LEVEL_NAME(LevelGroup)(int g, PetscBool add, PetscBool less, PetscInt n, const LEVEL_ENTRY *const v[],
                                                                         const LEVEL_VALUE *const x[], const LEVEL_VALUE own[], LEVEL_VALUE *restrict s)
{
#pragma GCC ivdep
  for (PetscInt i = 0; i < n; ++i) {
    LEVEL_VALUE t = add ? s[i] : 0;

    for (int d = 0; d < g; ++d) t += LEVEL_GET(v[d][i]) * (less ? x[d][i] - own[i] : x[d][i]);
    s[i] = t;
  }
}

/* s[0 .. len) = (add: +=) the rows r0 .. r0 + len of the diagonals d0 .. d1 times x; less: times x minus the x of the row */
static inline __attribute__((always_inline)) void LEVEL_NAME(LevelRowsOf)(PetscBool less, PetscBool add, const PolderLevelMatrix *A, PetscInt d0, PetscInt d1,
                                                                          PetscInt r0, PetscInt len, const LEVEL_VALUE x[], LEVEL_VALUE *restrict s)
{
  for (PetscInt d = d0; d < d1;) {
    const LEVEL_ENTRY *v[4];
    const LEVEL_VALUE *w[4];
    PetscInt           g = 0, lo = 0, hi = len;

    if (r0 + A->off[d] < 0 || r0 + len + A->off[d] > A->n) { // the diagonal leaves the matrix within these rows: add it separately
      lo = PetscMax(lo, -A->off[d] - r0);
      hi = PetscMin(hi, A->n - A->off[d] - r0);
      g  = 1;
      if (!add) {
        for (PetscInt i = 0; i < len; ++i) s[i] = 0;
        add = PETSC_TRUE;
      }
    } else {
      while (g < 4 && d + g < d1 && r0 + A->off[d + g] >= 0 && r0 + len + A->off[d + g] <= A->n) ++g;
    }
    for (PetscInt k = 0; k < g; ++k) {
      v[k] = (const LEVEL_ENTRY *)A->val[d + k] + (r0 + lo);
      w[k] = x + (r0 + lo + A->off[d + k]);
    }
    if (hi > lo) {
      switch (g + (add ? 4 : 0)) {
      case 1:
        LEVEL_NAME(LevelGroup)(1, PETSC_FALSE, less, hi - lo, v, w, x + r0 + lo, s + lo);
        break;
      case 2:
        LEVEL_NAME(LevelGroup)(2, PETSC_FALSE, less, hi - lo, v, w, x + r0 + lo, s + lo);
        break;
      case 3:
        LEVEL_NAME(LevelGroup)(3, PETSC_FALSE, less, hi - lo, v, w, x + r0 + lo, s + lo);
        break;
      case 4:
        LEVEL_NAME(LevelGroup)(4, PETSC_FALSE, less, hi - lo, v, w, x + r0 + lo, s + lo);
        break;
      case 5:
        LEVEL_NAME(LevelGroup)(1, PETSC_TRUE, less, hi - lo, v, w, x + r0 + lo, s + lo);
        break;
      case 6:
        LEVEL_NAME(LevelGroup)(2, PETSC_TRUE, less, hi - lo, v, w, x + r0 + lo, s + lo);
        break;
      case 7:
        LEVEL_NAME(LevelGroup)(3, PETSC_TRUE, less, hi - lo, v, w, x + r0 + lo, s + lo);
        break;
      default:
        LEVEL_NAME(LevelGroup)(4, PETSC_TRUE, less, hi - lo, v, w, x + r0 + lo, s + lo);
      }
    }
    add = PETSC_TRUE;
    d += g;
  }
  if (!add) {
    for (PetscInt i = 0; i < len; ++i) s[i] = 0;
  }
}

/* s[0 .. len) = the rows r0 .. r0 + len of the diagonals d0 .. d1 times x */
static void LEVEL_NAME(LevelRows)(const PolderLevelMatrix *A, PetscInt d0, PetscInt d1, PetscInt r0, PetscInt len, const LEVEL_VALUE x[],
                                  LEVEL_VALUE *restrict s)
{
  LEVEL_NAME(LevelRowsOf)(PETSC_FALSE, PETSC_FALSE, A, d0, d1, r0, len, x, s);
}

/* The entries first .. last of a compressed row times x */
static inline LEVEL_VALUE LEVEL_NAME(LevelRow)(PetscInt first, PetscInt last, const PetscInt *restrict aj, const LEVEL_ENTRY *restrict aa,
                                               const LEVEL_VALUE x[])
{
  LEVEL_VALUE s = 0;

  for (PetscInt k = first; k < last; ++k) s += LEVEL_GET(aa[k]) * x[aj[k]];
  return s;
}

/* bc += P^T r on the rows r0 .. r0 + len */
static inline void LEVEL_NAME(LevelRestrict)(PetscInt r0, PetscInt len, const PetscInt agg[], const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  for (PetscInt i = 0; i < len; ++i) bc[agg[r0 + i]] += r[i];
}

/* x += scale P xc on the rows r0 .. r1 */
static inline void LEVEL_NAME(LevelProlong)(PetscInt r0, PetscInt r1, const PetscInt agg[], LEVEL_VALUE scale, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
#pragma GCC ivdep
  for (PetscInt i = r0; i < r1; ++i) x[i] += scale * xc[agg[i]];
}

/*
  Finds the lower diagonals first .. main and the upper ones main + 1 .. last that are so near that a sweep processes them entry by entry; *rows: number of
  rows for which the other diagonals are processed together
*/
static void LEVEL_NAME(LevelNear)(const PolderLevelMatrix *A, PetscInt *first, PetscInt *last, PetscInt *rows)
{
  *first = A->main;
  *last  = A->main + 1;
  while (*first > 0 && A->off[*first - 1] > -LEVEL_NEAR) --*first;
  while (*last < A->nd && A->off[*last] < LEVEL_NEAR) ++*last;
  *rows = LEVEL_ROWS;
  if (*first > 0) *rows = PetscMin(*rows, -A->off[*first - 1]);
  if (*last < A->nd) *rows = PetscMin(*rows, A->off[*last]);
}

/*
  Four numbers that are computed at once. A chain x_i = s_i + c_i x_{i-1} takes the time of a multiplication and a sum for each number; four links made one,
  x_i = S_i + C_i x_{i-4}, it takes that for four of them, and S and C have no chain
*/
typedef LEVEL_VALUE LEVEL_NAME(LevelFour) __attribute__((vector_size(4 * sizeof(LEVEL_VALUE)), aligned(sizeof(LEVEL_VALUE)), may_alias));

/* x_i = s_i + c_i x_{i-1} for 0 <= i < n, with x_{-1} = last */
static inline void LEVEL_NAME(LevelChainForward)(PetscInt n, const LEVEL_VALUE s[], const LEVEL_VALUE c[], LEVEL_VALUE last, LEVEL_VALUE x[])
{
  LEVEL_VALUE sum[LEVEL_ROWS], factor[LEVEL_ROWS];
  LEVEL_NAME(LevelFour) four;
  PetscInt i;

  for (i = 0; i < PetscMin(n, 4); ++i) x[i] = last = s[i] + c[i] * last;
  if (n < 8) {
    for (; i < n; ++i) x[i] = last = s[i] + c[i] * last;
    return;
  }
  for (i = 4; i < n; ++i) {
    sum[i]    = s[i] + c[i] * (s[i - 1] + c[i - 1] * (s[i - 2] + c[i - 2] * s[i - 3]));
    factor[i] = (c[i] * c[i - 1]) * (c[i - 2] * c[i - 3]);
  }
  four = *(const LEVEL_NAME(LevelFour) *)x;
  for (i = 4; i + 4 <= n; i += 4) {
    four                              = *(const LEVEL_NAME(LevelFour) *)(sum + i) + *(const LEVEL_NAME(LevelFour) *)(factor + i) * four;
    *(LEVEL_NAME(LevelFour) *)(x + i) = four;
  }
  for (; i < n; ++i) x[i] = sum[i] + factor[i] * x[i - 4];
}

/* x_i = s_i + c_i x_{i+1} for 0 <= i < n, with x_n = last */
static inline void LEVEL_NAME(LevelChainBackward)(PetscInt n, const LEVEL_VALUE s[], const LEVEL_VALUE c[], LEVEL_VALUE last, LEVEL_VALUE x[])
{
  LEVEL_VALUE sum[LEVEL_ROWS], factor[LEVEL_ROWS];
  LEVEL_NAME(LevelFour) four;
  PetscInt i;

  for (i = n - 1; i >= PetscMax(n - 4, 0); --i) x[i] = last = s[i] + c[i] * last;
  if (n < 8) {
    for (; i >= 0; --i) x[i] = last = s[i] + c[i] * last;
    return;
  }
  for (i = 0; i < n - 4; ++i) {
    sum[i]    = s[i] + c[i] * (s[i + 1] + c[i + 1] * (s[i + 2] + c[i + 2] * s[i + 3]));
    factor[i] = (c[i] * c[i + 1]) * (c[i + 2] * c[i + 3]);
  }
  four = *(const LEVEL_NAME(LevelFour) *)(x + n - 4);
  for (i = n - 8; i >= 0; i -= 4) {
    four                              = *(const LEVEL_NAME(LevelFour) *)(sum + i) + *(const LEVEL_NAME(LevelFour) *)(factor + i) * four;
    *(LEVEL_NAME(LevelFour) *)(x + i) = four;
  }
  for (i += 3; i >= 0; --i) x[i] = sum[i] + factor[i] * x[i + 4];
}

/* Gauss-Seidel, forward or backward, on the rows r0 .. r0 + len by diagonals: x = dinv (b - s - (near entries of the triangle) x), where s is given */
static void LEVEL_NAME(LevelSolve)(const PolderLevelMatrix *A, PetscBool backward, PetscInt near0, PetscInt near1, PetscInt r0, PetscInt len,
                                   const LEVEL_VALUE *restrict b, LEVEL_VALUE *restrict s, LEVEL_VALUE *x)
{
  const LEVEL_VALUE *restrict dinv = (const LEVEL_VALUE *)A->dinv;

  for (PetscInt i = 0; i < len; ++i) s[i] = dinv[r0 + i] * (b[r0 + i] - s[i]);
  if (near1 - near0 == 1 && A->off[near0] == (backward ? 1 : -1)) { // a row depends on the one before through one multiplication
    const LEVEL_ENTRY *v = (const LEVEL_ENTRY *)A->val[near0];
    LEVEL_VALUE        c[LEVEL_ROWS];

    if (backward) {
      const PetscInt end = PetscMin(len, A->n - 1 - r0);

      for (PetscInt i = 0; i < end; ++i) c[i] = -dinv[r0 + i] * LEVEL_GET(v[r0 + i]);
      if (end < len) x[r0 + end] = s[end];
      LEVEL_NAME(LevelChainBackward)(end, s, c, r0 + end < A->n ? x[r0 + end] : 0, x + r0);
    } else {
      const PetscInt begin = r0 ? 0 : 1;

      for (PetscInt i = begin; i < len; ++i) c[i] = -dinv[r0 + i] * LEVEL_GET(v[r0 + i]);
      if (begin) x[0] = s[0];
      LEVEL_NAME(LevelChainForward)(len - begin, s + begin, c + begin, x[r0 + begin - 1], x + r0 + begin);
    }
    return;
  }
  for (PetscInt l = 0; l < len; ++l) {
    const PetscInt i   = r0 + (backward ? len - 1 - l : l);
    LEVEL_VALUE    sum = 0;

    for (PetscInt d = near0; d < near1; ++d) {
      if (i + A->off[d] >= 0 && i + A->off[d] < A->n) sum += LEVEL_GET(((const LEVEL_ENTRY *)A->val[d])[i]) * x[i + A->off[d]];
    }
    x[i] = s[i - r0] - dinv[i] * sum;
  }
}

/* bc += P^T r for the rows r0 .. r0 + len; P = NULL: P is the identity */
static void LEVEL_NAME(LevelGive)(const PolderLevelTransfer *P, PetscInt r0, PetscInt len, const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  if (!P) {
    for (PetscInt i = 0; i < len; ++i) bc[r0 + i] = r[i];
  } else if (P->grid) LEVEL_GRID(PolderLevelGridRestrictRows)(P->grid, r0, len, r, bc);
  else LEVEL_NAME(LevelRestrict)(r0, len, P->agg, r, bc);
}

/* bc -= P^T U x on the rows r0 .. r1, with U the strictly upper triangle: U x is minus the residual of a forward sweep with zero initial guess */
static void LEVEL_NAME(LevelRestrictUpper)(const PolderLevelMatrix *A, PetscInt r0, PetscInt r1, const LEVEL_VALUE x[], const PolderLevelTransfer *P,
                                           LEVEL_VALUE bc[])
{
  LEVEL_VALUE s[LEVEL_ROWS];

  for (; r0 < r1; r0 += LEVEL_ROWS) {
    const PetscInt len = PetscMin(LEVEL_ROWS, r1 - r0);

    LEVEL_NAME(LevelRows)(A, A->main + 1, A->nd, r0, len, x, s);
    for (PetscInt i = 0; i < len; ++i) s[i] = -s[i];
    LEVEL_NAME(LevelGive)(P, r0, len, s, bc);
  }
}

void LEVEL_NAME(PolderLevelForward)(const PolderLevelMatrix *A, const LEVEL_VALUE b[], LEVEL_VALUE x[], const PolderLevelTransfer *P, LEVEL_VALUE bc[])
{
  const PetscInt     n    = A->n;
  const LEVEL_VALUE *dinv = (const LEVEL_VALUE *)A->dinv;
  const LEVEL_ENTRY *aa   = (const LEVEL_ENTRY *)A->aa;

  for (PetscInt a = 0; bc && P && a <= P->nc; ++a) bc[a] = 0;
  if (A->nd) {
    PetscInt    near0, near1, rows, done = 0;
    LEVEL_VALUE s[LEVEL_ROWS];

    LEVEL_NAME(LevelNear)(A, &near0, &near1, &rows);
    for (PetscInt r0 = 0; r0 < n; r0 += rows) {
      const PetscInt len = PetscMin(rows, n - r0), ready = r0 + len - A->off[A->nd - 1];

      LEVEL_NAME(LevelRows)(A, 0, near0, r0, len, x, s);
      LEVEL_NAME(LevelSolve)(A, PETSC_FALSE, near0, A->main, r0, len, b, s, x);
      if (bc && ready >= done + LEVEL_CHUNK) {
        LEVEL_NAME(LevelRestrictUpper)(A, done, ready, x, P, bc);
        done = ready;
      }
    }
    if (bc) LEVEL_NAME(LevelRestrictUpper)(A, done, n, x, P, bc);
    return;
  }
  for (PetscInt i = 0; i < n; ++i) x[i] = dinv[i] * (b[i] - LEVEL_NAME(LevelRow)(A->ai[i], A->diag[i], A->aj, aa, x));
  for (PetscInt i = 0; bc && i < n; ++i) {
    const LEVEL_VALUE r = -LEVEL_NAME(LevelRow)(A->diag[i] + 1, A->ai[i + 1], A->aj, aa, x);

    LEVEL_NAME(LevelGive)(P, i, 1, &r, bc);
  }
}

/* A Gauss-Seidel sweep on the rows r0 .. r0 + len by diagonals */
static void LEVEL_NAME(LevelSweepRows)(const PolderLevelMatrix *A, PetscBool backward, PetscInt near0, PetscInt near1, PetscInt r0, PetscInt len,
                                       const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  LEVEL_VALUE s[LEVEL_ROWS], t[LEVEL_ROWS];

  if (backward) {
    LEVEL_NAME(LevelRows)(A, 0, A->main, r0, len, x, s);
    LEVEL_NAME(LevelRows)(A, near1, A->nd, r0, len, x, t);
  } else {
    LEVEL_NAME(LevelRows)(A, A->main + 1, A->nd, r0, len, x, s);
    LEVEL_NAME(LevelRows)(A, 0, near0, r0, len, x, t);
  }
  for (PetscInt i = 0; i < len; ++i) s[i] += t[i];
  if (backward) LEVEL_NAME(LevelSolve)(A, backward, A->main + 1, near1, r0, len, b, s, x);
  else LEVEL_NAME(LevelSolve)(A, backward, near0, A->main, r0, len, b, s, x);
}

/* x += scale P xc on the rows r0 .. r1 */
static void LEVEL_NAME(LevelTake)(const PolderLevelTransfer *P, PetscInt r0, PetscInt r1, LEVEL_VALUE scale, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
  if (P->grid) LEVEL_GRID(PolderLevelGridProlongRows)(P->grid, r0, r1 - r0, xc, x);
  else LEVEL_NAME(LevelProlong)(r0, r1, P->agg, scale, xc, x);
}

void LEVEL_NAME(PolderLevelSweep)(const PolderLevelMatrix *A, PetscBool backward, const PolderLevelTransfer *P, LEVEL_VALUE scale, const LEVEL_VALUE xc[],
                                  const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  const PetscInt     n    = A->n;
  const LEVEL_VALUE *dinv = (const LEVEL_VALUE *)A->dinv;
  const LEVEL_ENTRY *aa   = (const LEVEL_ENTRY *)A->aa;

  if (A->nd) {
    const PetscInt reach = backward ? -A->off[0] : A->off[A->nd - 1];
    PetscInt       near0, near1, rows, there = 0, nblock;

    LEVEL_NAME(LevelNear)(A, &near0, &near1, &rows);
    nblock = (n + rows - 1) / rows;
    for (PetscInt k = 0; k < nblock; ++k) {
      const PetscInt r0 = rows * (backward ? nblock - 1 - k : k), len = PetscMin(rows, n - r0), ahead = PetscMin(n, (backward ? n - r0 : r0 + len) + reach);

      if (P && ahead > there) { // the rows that these read have been corrected
        const PetscInt upto = PetscMin(n, ahead + LEVEL_CHUNK);

        if (backward) LEVEL_NAME(LevelTake)(P, n - upto, n - there, scale, xc, x);
        else LEVEL_NAME(LevelTake)(P, there, upto, scale, xc, x);
        there = upto;
      }
      LEVEL_NAME(LevelSweepRows)(A, backward, near0, near1, r0, len, b, x);
    }
    return;
  }
  if (P) LEVEL_NAME(LevelTake)(P, 0, n, scale, xc, x);
  for (PetscInt l = 0; l < n; ++l) {
    const PetscInt    i = backward ? n - 1 - l : l;
    const LEVEL_VALUE s = LEVEL_NAME(LevelRow)(A->ai[i], A->diag[i], A->aj, aa, x) + LEVEL_NAME(LevelRow)(A->diag[i] + 1, A->ai[i + 1], A->aj, aa, x);

    x[i] = dinv[i] * (b[i] - s);
  }
}

/* Row i of A x, with x_j - x_i as in LevelMult() */
static inline LEVEL_VALUE LEVEL_NAME(LevelWhole)(const PolderLevelMatrix *A, PetscInt i, const LEVEL_VALUE x[])
{
  const LEVEL_ENTRY *aa  = (const LEVEL_ENTRY *)A->aa;
  const LEVEL_VALUE  own = LEVEL_SUMS ? x[i] : 0;
  LEVEL_VALUE        s   = 0;

  for (PetscInt d = 0; d < A->nd; ++d) {
    const PetscInt j = i + A->off[d];

    if (j >= 0 && j < A->n) s += LEVEL_GET(((const LEVEL_ENTRY *)A->val[d])[i]) * (x[j] - (d == A->main ? 0 : own));
  }
  for (PetscInt k = A->nd ? 0 : A->ai[i]; !A->nd && k < A->ai[i + 1]; ++k) s += LEVEL_GET(aa[k]) * (x[A->aj[k]] - (A->aj[k] == i ? 0 : own));
  return s;
}

void LEVEL_NAME(PolderLevelColour)(const PolderLevelMatrix *A, PetscInt n, const PetscInt row[], const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  for (PetscInt k = 0; k < n; ++k) x[row[k]] += ((const LEVEL_VALUE *)A->dinv)[row[k]] * (b[row[k]] - LEVEL_NAME(LevelWhole)(A, row[k], x));
}

/* s[0 .. len) = the rows r0 .. r0 + len of A x; LEVEL_SUMS: the sum of the row is stored as diagonal entry */
static inline void LEVEL_NAME(LevelMult)(const PolderLevelMatrix *A, PetscInt r0, PetscInt len, const LEVEL_VALUE x[], LEVEL_VALUE s[])
{
  const LEVEL_ENTRY *aa = (const LEVEL_ENTRY *)A->aa;

  if (A->nd && LEVEL_SUMS) {
    const LEVEL_ENTRY *total = (const LEVEL_ENTRY *)A->val[A->main] + r0;

    for (PetscInt i = 0; i < len; ++i) s[i] = LEVEL_GET(total[i]) * x[r0 + i];
    LEVEL_NAME(LevelRowsOf)(PETSC_TRUE, PETSC_TRUE, A, 0, A->main, r0, len, x, s);
    LEVEL_NAME(LevelRowsOf)(PETSC_TRUE, PETSC_TRUE, A, A->main + 1, A->nd, r0, len, x, s);
  } else if (A->nd) LEVEL_NAME(LevelRows)(A, 0, A->nd, r0, len, x, s);
  else if (LEVEL_SUMS) {
    for (PetscInt i = 0; i < len; ++i) {
      LEVEL_VALUE sum = 0;

      for (PetscInt k = A->ai[r0 + i]; k < A->ai[r0 + i + 1]; ++k) sum += LEVEL_GET(aa[k]) * (x[A->aj[k]] - (A->aj[k] == r0 + i ? 0 : x[r0 + i]));
      s[i] = sum;
    }
  } else {
    for (PetscInt i = 0; i < len; ++i) s[i] = LEVEL_NAME(LevelRow)(A->ai[r0 + i], A->ai[r0 + i + 1], A->aj, aa, x);
  }
}

void LEVEL_NAME(PolderLevelResidual)(const PolderLevelMatrix *A, const LEVEL_VALUE b[], const LEVEL_VALUE x[], LEVEL_VALUE r[], const PetscInt agg[],
                                     PetscInt nc, LEVEL_VALUE bc[])
{
  LEVEL_VALUE s[LEVEL_ROWS];

  for (PetscInt a = 0; agg && a <= nc; ++a) bc[a] = 0;
  for (PetscInt r0 = 0; r0 < A->n; r0 += LEVEL_ROWS) {
    const PetscInt len = PetscMin(LEVEL_ROWS, A->n - r0);

    LEVEL_NAME(LevelMult)(A, r0, len, x, s);
    for (PetscInt i = 0; i < len; ++i) s[i] = b[r0 + i] - s[i];
    for (PetscInt i = 0; r && i < len; ++i) r[r0 + i] = s[i];
    if (agg) LEVEL_NAME(LevelRestrict)(r0, len, agg, s, bc);
  }
}

void LEVEL_NAME(PolderLevelJacobi)(const PolderLevelMatrix *A, const PolderLevelStep *step, const LEVEL_VALUE b[], const LEVEL_VALUE x[], LEVEL_VALUE y[])
{
  const LEVEL_VALUE  beta = step->k ? (LEVEL_VALUE)step->beta : 0, scale = (LEVEL_VALUE)step->scale;
  const LEVEL_VALUE *dinv = (const LEVEL_VALUE *)A->dinv, *base = (const LEVEL_VALUE *)step->end.base;
  PetscScalar       *wide = step->end.wide;
  const PetscScalar  unit = step->end.unit;
  LEVEL_VALUE        s[LEVEL_ROWS];

  for (PetscInt r0 = 0; r0 < A->n; r0 += LEVEL_ROWS) {
    const PetscInt len = PetscMin(LEVEL_ROWS, A->n - r0);

    LEVEL_NAME(LevelMult)(A, r0, len, x, s);
    for (PetscInt i = 0; i < len; ++i) s[i] = scale * dinv[r0 + i] * (b[r0 + i] - s[i]);
    if (beta == 0 || (step->zero && step->k == 1)) { // x_{k-1} = 0
      for (PetscInt i = 0; i < len; ++i) s[i] += beta * x[r0 + i];
    } else {
      for (PetscInt i = 0; i < len; ++i) s[i] += beta * (x[r0 + i] - y[r0 + i]);
    }
    if (wide && base) {
      for (PetscInt i = 0; i < len; ++i) wide[r0 + i] = unit * ((PetscScalar)base[r0 + i] + (x[r0 + i] + s[i]));
    } else if (wide) {
      for (PetscInt i = 0; i < len; ++i) wide[r0 + i] = unit * ((PetscScalar)x[r0 + i] + s[i]);
    } else if (step->end.parts && !base) {
      for (PetscInt i = 0; i < len; ++i) y[r0 + i] = s[i];
    } else {
      for (PetscInt i = 0; i < len; ++i) y[r0 + i] = x[r0 + i] + s[i];
    }
  }
}

/* sum[k] += the products of x with s, b, w (w != NULL) or (x, s), (x, b), (b, b), (b, s), (s, s), in eight partial sums each */
static inline void LEVEL_NAME(LevelDots)(PetscInt n, const LEVEL_VALUE *restrict x, const LEVEL_VALUE *restrict s, const LEVEL_VALUE *restrict b,
                                         const LEVEL_VALUE *restrict w, PetscReal sum[POLDER_KSUMS_FIRST][LEVEL_LANES])
{
  PetscInt i = 0;

  if (w) {
    for (; i + LEVEL_LANES <= n; i += LEVEL_LANES) {
      for (int l = 0; l < LEVEL_LANES; ++l) {
        sum[0][l] += (PetscReal)x[i + l] * s[i + l];
        sum[1][l] += (PetscReal)x[i + l] * b[i + l];
        sum[2][l] += (PetscReal)x[i + l] * w[i + l];
      }
    }
    for (; i < n; ++i) {
      sum[0][0] += (PetscReal)x[i] * s[i];
      sum[1][0] += (PetscReal)x[i] * b[i];
      sum[2][0] += (PetscReal)x[i] * w[i];
    }
    return;
  }
  for (; i + LEVEL_LANES <= n; i += LEVEL_LANES) {
    for (int l = 0; l < LEVEL_LANES; ++l) {
      sum[0][l] += (PetscReal)x[i + l] * s[i + l];
      sum[1][l] += (PetscReal)x[i + l] * b[i + l];
      sum[2][l] += (PetscReal)b[i + l] * b[i + l];
      sum[3][l] += (PetscReal)b[i + l] * s[i + l];
      sum[4][l] += (PetscReal)s[i + l] * s[i + l];
    }
  }
  for (; i < n; ++i) {
    sum[0][0] += (PetscReal)x[i] * s[i];
    sum[1][0] += (PetscReal)x[i] * b[i];
    sum[2][0] += (PetscReal)b[i] * b[i];
    sum[3][0] += (PetscReal)b[i] * s[i];
    sum[4][0] += (PetscReal)s[i] * s[i];
  }
}

void LEVEL_NAME(PolderLevelMultDots)(const PolderLevelMatrix *A, PetscBool add, const LEVEL_VALUE x[], const LEVEL_VALUE b[], const LEVEL_VALUE w[],
                                     LEVEL_VALUE v[], PetscReal sum[])
{
  PetscReal   part[POLDER_KSUMS_FIRST][LEVEL_LANES] = {{0}};
  LEVEL_VALUE s[LEVEL_ROWS];

  for (PetscInt r0 = 0; r0 < A->n; r0 += LEVEL_ROWS) {
    const PetscInt len = PetscMin(LEVEL_ROWS, A->n - r0);

    LEVEL_NAME(LevelMult)(A, r0, len, x, s);
    for (PetscInt i = 0; add && i < len; ++i) s[i] += v[r0 + i];
    for (PetscInt i = 0; i < len; ++i) v[r0 + i] = s[i];
    LEVEL_NAME(LevelDots)(len, x + r0, s, b + r0, w ? w + r0 : NULL, part);
  }
  for (int k = 0; k < (w ? POLDER_KSUMS_SECOND : POLDER_KSUMS_FIRST); ++k) {
    sum[k] = 0;
    for (int l = 0; l < LEVEL_LANES; ++l) sum[k] += part[k][l];
  }
}
