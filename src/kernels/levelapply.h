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
  The numbers of a vector of 256 bits. A chain x_i = s_i + c_i x_{i-1} takes the time of a multiplication and a sum for each number. Several links made one, x_i
  = S_i + C_i x_{i-LEVEL_LINKS}, it takes that for so many of them at once, and S and C have no chain
*/
#define LEVEL_LINKS (32 / (PetscInt)sizeof(LEVEL_VALUE))
typedef LEVEL_VALUE LEVEL_NAME(LevelVector) __attribute__((vector_size(32), aligned(sizeof(LEVEL_VALUE)), may_alias));

/* The links of LEVEL_ROWS rows, with space before the first and after the last one */
typedef struct {
  LEVEL_VALUE s[LEVEL_PAD + LEVEL_ROWS + LEVEL_PAD], c[LEVEL_PAD + LEVEL_ROWS + LEVEL_PAD];
} LEVEL_NAME(LevelChain);

/* x_i = s_i + c_i x_{i-step} for 0 <= i < n, step = 1 or -1, where the first of them takes `last`. s and c are those of the chain from LEVEL_PAD on */
static inline __attribute__((always_inline)) void LEVEL_NAME(LevelRunChain)(int step, PetscInt n, LEVEL_NAME(LevelChain) * chain, LEVEL_VALUE last,
                                                                            LEVEL_VALUE x[])
{
  LEVEL_VALUE *const s = chain->s + LEVEL_PAD, *const c = chain->c + LEVEL_PAD;
  LEVEL_VALUE        sums[LEVEL_PAD + LEVEL_ROWS + LEVEL_PAD], factors[LEVEL_PAD + LEVEL_ROWS + LEVEL_PAD];
  LEVEL_VALUE *const S = sums + LEVEL_PAD, *const C = factors + LEVEL_PAD;
  const PetscInt before = step > 0 ? -1 : n, m = n / LEVEL_LINKS * LEVEL_LINKS;
  LEVEL_NAME(LevelVector) these = {0};

  for (PetscInt k = 0; k < LEVEL_PAD; ++k) s[before - step * k] = c[before - step * k] = S[before - step * k] = C[before - step * k] = 0;
  s[before] = S[before] = last; // as of a row without links
  for (PetscInt i = 0; i < n; ++i) {
    S[i] = s[i] + c[i] * (s[i - step] + c[i - step] * (s[i - 2 * step] + c[i - 2 * step] * s[i - 3 * step]));
    C[i] = (c[i] * c[i - step]) * (c[i - 2 * step] * c[i - 3 * step]);
  }
  if (LEVEL_LINKS == 8) {
    for (PetscInt i = 0; i < n; ++i) {
      s[i] = S[i] + C[i] * S[i - 4 * step];
      c[i] = C[i] * C[i - 4 * step];
    }
  }
  these[step > 0 ? LEVEL_LINKS - 1 : 0] = last;
  for (PetscInt k = 0; k < m; k += LEVEL_LINKS) {
    const PetscInt i = step > 0 ? k : n - LEVEL_LINKS - k;

    these = *(const LEVEL_NAME(LevelVector) *)((LEVEL_LINKS == 8 ? s : S) + i) + *(const LEVEL_NAME(LevelVector) *)((LEVEL_LINKS == 8 ? c : C) + i) * these;
    *(LEVEL_NAME(LevelVector) *)(x + i) = these;
  }
  for (PetscInt i = step > 0 ? m : 0; i < (step > 0 ? n : n - m); ++i) {
    x[i] = (LEVEL_LINKS == 8 ? s : S)[i] + (LEVEL_LINKS == 8 ? c : C)[i] * (m ? x[i - step * LEVEL_LINKS] : 0);
  }
}

/*
  What a sweep by diagonals needs of rows that are coupled to one neighbour at a distance of one, and otherwise to such as have their values already, all of
  which exist: s = dinv (b - the sum over g diagonals), and c, with which x_i = s_i + c_i times x of that neighbour; callers pass a constant g
*/
static inline __attribute__((always_inline)) void LEVEL_NAME(LevelLinks)(int g, PetscInt n, const LEVEL_ENTRY *const v[], const LEVEL_VALUE *const x[],
                                                                         const LEVEL_ENTRY near[], const LEVEL_VALUE dinv[], const LEVEL_VALUE b[],
                                                                         LEVEL_VALUE *restrict s, LEVEL_VALUE *restrict c)
{
#pragma GCC ivdep
  for (PetscInt i = 0; i < n; ++i) {
    LEVEL_VALUE t = b[i];

#pragma GCC unroll 5
    for (int d = 0; d < g; ++d) t -= LEVEL_GET(v[d][i]) * x[d][i];
    s[i] = dinv[i] * t;
    c[i] = -dinv[i] * LEVEL_GET(near[i]);
  }
}

/*
  Gauss-Seidel on the rows r0 .. r0 + len of a stencil in one pass over all diagonals, or, from zero, over the lower ones. PETSC_FALSE: it is no such stencil,
  or some of the columns do not exist
*/
static PetscBool LEVEL_NAME(LevelStencil)(const PolderLevelMatrix *A, PetscBool backward, PetscBool zero, PetscInt r0, PetscInt len, const LEVEL_VALUE b[],
                                          LEVEL_VALUE x[])
{
  const PetscInt     near = A->main + (backward ? 1 : -1), far = zero ? A->main : A->nd;
  const LEVEL_VALUE *dinv = (const LEVEL_VALUE *)A->dinv + r0;
  const LEVEL_ENTRY *v[5], *link;
  const LEVEL_VALUE *w[5];
  PetscInt           g = 0;
  LEVEL_NAME(LevelChain) chain;
  LEVEL_VALUE *const s = chain.s + LEVEL_PAD, *const c = chain.c + LEVEL_PAD;

  if (A->nd > 7 || near < 0 || near >= A->nd || A->off[near] != (backward ? 1 : -1)) return PETSC_FALSE;
  if (r0 + A->off[0] < 0 || r0 + len + (zero ? 0 : A->off[A->nd - 1]) > A->n) return PETSC_FALSE;
  for (PetscInt d = 0; d < far; ++d) {
    if (d == near || d == A->main) continue;
    v[g]   = (const LEVEL_ENTRY *)A->val[d] + r0;
    w[g++] = x + r0 + A->off[d];
  }
  link = (const LEVEL_ENTRY *)A->val[near] + r0;
  if (g == 1) LEVEL_NAME(LevelLinks)(1, len, v, w, link, dinv, b + r0, s, c);
  else if (g == 2) LEVEL_NAME(LevelLinks)(2, len, v, w, link, dinv, b + r0, s, c);
  else if (g == 3) LEVEL_NAME(LevelLinks)(3, len, v, w, link, dinv, b + r0, s, c);
  else if (g == 5) LEVEL_NAME(LevelLinks)(5, len, v, w, link, dinv, b + r0, s, c);
  else return PETSC_FALSE;
  if (backward) LEVEL_NAME(LevelRunChain)(-1, len, &chain, x[r0 + len], x + r0);
  else LEVEL_NAME(LevelRunChain)(1, len, &chain, x[r0 - 1], x + r0);
  return PETSC_TRUE;
}

/* Gauss-Seidel, forward or backward, on the rows r0 .. r0 + len by diagonals: x = dinv (b - s - (near entries of the triangle) x), where s is given */
static void LEVEL_NAME(LevelSolve)(const PolderLevelMatrix *A, PetscBool backward, PetscInt near0, PetscInt near1, PetscInt r0, PetscInt len,
                                   const LEVEL_VALUE *restrict b, LEVEL_VALUE *restrict s, LEVEL_VALUE *x)
{
  const LEVEL_VALUE *restrict dinv = (const LEVEL_VALUE *)A->dinv;

  for (PetscInt i = 0; i < len; ++i) s[i] = dinv[r0 + i] * (b[r0 + i] - s[i]);
  if (near1 - near0 == 1 && A->off[near0] == (backward ? 1 : -1)) { // a row depends on the one before through one multiplication
    const LEVEL_ENTRY *v    = (const LEVEL_ENTRY *)A->val[near0];
    const PetscInt     none = backward ? (r0 + len == A->n ? len - 1 : len) : r0 ? -1 : 0; // the row that has no such neighbour, or -1 or len
    LEVEL_NAME(LevelChain) chain;

    for (PetscInt i = 0; i < len; ++i) {
      chain.s[LEVEL_PAD + i] = s[i];
      chain.c[LEVEL_PAD + i] = i == none ? 0 : -dinv[r0 + i] * LEVEL_GET(v[r0 + i]);
    }
    if (backward) LEVEL_NAME(LevelRunChain)(-1, len, &chain, none == len ? x[r0 + len] : 0, x + r0);
    else LEVEL_NAME(LevelRunChain)(1, len, &chain, none < 0 ? x[r0 - 1] : 0, x + r0);
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
  else if (P->lines) LEVEL_GRID(PolderLevelLinesRestrictRows)(P->lines, r0, len, r, bc);
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

      if (near1 - near0 > 3 || !LEVEL_NAME(LevelStencil)(A, PETSC_FALSE, PETSC_TRUE, r0, len, b, x)) {
        LEVEL_NAME(LevelRows)(A, 0, near0, r0, len, x, s);
        LEVEL_NAME(LevelSolve)(A, PETSC_FALSE, near0, A->main, r0, len, b, s, x);
      }
      if (bc && ready >= done + LEVEL_CHUNK) {
        LEVEL_NAME(LevelRestrictUpper)(A, done, ready, x, P, bc);
        done = ready;
      }
    }
    if (bc) LEVEL_NAME(LevelRestrictUpper)(A, done, n, x, P, bc);
    return;
  }
  for (PetscInt i = 0; i < n; ++i) x[i] = dinv[i] * (b[i] - LEVEL_NAME(LevelRow)(A->ai[i], A->diag[i], A->aj, aa, x));
  for (PetscInt r0 = 0; bc && r0 < n; r0 += LEVEL_ROWS) {
    const PetscInt len = PetscMin(LEVEL_ROWS, n - r0);
    LEVEL_VALUE    r[LEVEL_ROWS];

    for (PetscInt i = 0; i < len; ++i) r[i] = -LEVEL_NAME(LevelRow)(A->diag[r0 + i] + 1, A->ai[r0 + i + 1], A->aj, aa, x);
    LEVEL_NAME(LevelGive)(P, r0, len, r, bc);
  }
}

/* A Gauss-Seidel sweep on the rows r0 .. r0 + len by diagonals */
static void LEVEL_NAME(LevelSweepRows)(const PolderLevelMatrix *A, PetscBool backward, PetscInt near0, PetscInt near1, PetscInt r0, PetscInt len,
                                       const LEVEL_VALUE b[], LEVEL_VALUE x[])
{
  LEVEL_VALUE s[LEVEL_ROWS], t[LEVEL_ROWS];

  if (near1 - near0 <= 3 && LEVEL_NAME(LevelStencil)(A, backward, PETSC_FALSE, r0, len, b, x)) return;
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
  else if (P->lines) LEVEL_GRID(PolderLevelLinesProlongRows)(P->lines, r0, r1 - r0, xc, x);
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
