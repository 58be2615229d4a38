/* Products with a matrix stored by diagonals: val[d][i] is entry (i, i + off[d]). */
#include "dia.h"
#include "deflation.h"
#include "diaclass.h"
#include "vec.h"
#include <float.h>
#include <string.h>

/* Rows processed together: their sums stay in the first-level cache while all diagonals are read */
#define POLDER_DIA_ROWS 1024

/* Diagonals read together */
#define POLDER_DIA_GROUP 8

/* s[i] += sum of v[d][i] x[d][i] over g diagonals, in their order; callers pass a constant g, which unrolls the inner loop and lets the outer one be
   vectorised */
static inline __attribute__((always_inline)) void DiaGroup(int g, PetscInt lo, PetscInt hi, const PetscScalar *const v[], const PetscScalar *const x[],
                                                           PetscScalar *restrict s)
{
  for (PetscInt i = lo; i < hi; ++i) {
    PetscScalar t = s[i];

#pragma GCC unroll 8
    for (int d = 0; d < g; ++d) t += v[d][i] * x[d][i];
    s[i] = t;
  }
}

static void DiaPass(PetscInt g, PetscInt lo, PetscInt hi, const PetscScalar *const v[], const PetscScalar *const x[], PetscScalar *restrict s)
{
  switch (g) {
  case 1:
    DiaGroup(1, lo, hi, v, x, s);
    break;
  case 2:
    DiaGroup(2, lo, hi, v, x, s);
    break;
  case 3:
    DiaGroup(3, lo, hi, v, x, s);
    break;
  case 4:
    DiaGroup(4, lo, hi, v, x, s);
    break;
  case 5:
    DiaGroup(5, lo, hi, v, x, s);
    break;
  case 6:
    DiaGroup(6, lo, hi, v, x, s);
    break;
  case 7:
    DiaGroup(7, lo, hi, v, x, s);
    break;
  default:
    DiaGroup(8, lo, hi, v, x, s);
  }
}

/* s[0 .. len) = the rows r0 .. r0 + len of A x, each summed in the order of the diagonals */
static void DiaRows(const PolderDia *A, PetscInt r0, PetscInt len, const PetscScalar x[], PetscScalar *restrict s)
{
  const PetscInt            n = A->n, nd = A->nd, *off = A->off;
  const PetscScalar *const *val = A->val;
  PetscInt                  d   = 0;

  for (PetscInt i = 0; i < len; ++i) s[i] = 0.0;
  while (d < nd) {
    const PetscScalar *v[POLDER_DIA_GROUP], *w[POLDER_DIA_GROUP];
    PetscInt           g = 0, lo = 0, hi = len;

    if (r0 + off[d] < 0 || r0 + len + off[d] > n) { /* the diagonal leaves the matrix within these rows: add it separately */
      lo = r0 + off[d] < 0 ? -off[d] - r0 : 0;
      hi = r0 + len + off[d] > n ? n - off[d] - r0 : len;
      g  = 1;
    } else {
      while (g < POLDER_DIA_GROUP && d + g < nd && r0 + len + off[d + g] <= n) ++g;
    }
    for (PetscInt k = 0; k < g; ++k) {
      v[k] = val[d + k] + r0;
      w[k] = x + r0 + off[d + k];
    }
    DiaPass(g, lo, hi, v, w, s);
    d += g;
  }
}

/* The end, at most hi, of the rows from lo on that have the same code */
static inline PetscInt DiaRunEnd(const unsigned char code[], PetscInt lo, PetscInt hi)
{
  const unsigned long long same = code[lo] * 0x0101010101010101ull;
  unsigned long long       eight;
  PetscInt                 i = lo + 1;

  for (; i + 8 <= hi; i += 8) {
    memcpy(&eight, code + i, sizeof(eight));
    if (eight != same) break;
  }
  while (i < hi && code[i] == code[lo]) ++i;
  return i;
}

/* s[i] = the rows of one class times x; callers pass a constant nd, with which the loop over rows is vectorised */
static inline __attribute__((always_inline)) void DiaRun(int nd, PetscInt lo, PetscInt hi, const PetscScalar a[], const PetscScalar *const x[],
                                                         PetscScalar *restrict s)
{
  for (PetscInt i = lo; i < hi; ++i) {
    PetscScalar t = 0.0;

#pragma GCC unroll 8
    for (int d = 0; d < nd; ++d) t += a[d] * x[d][i];
    s[i] = t;
  }
}

/* The same as DiaRows() from the classes of the rows. PETSC_FALSE: a diagonal leaves the matrix within these rows */
static PetscBool DiaClassedRows(const PolderDia *A, PetscInt r0, PetscInt len, const PetscScalar x[], PetscScalar *restrict s)
{
  const PetscInt       nd = A->nd, *off = A->off;
  const unsigned char *code = A->code + r0;
  const PetscScalar   *w[POLDER_DIA_POINTS];

  if (r0 + off[0] < 0 || r0 + len + off[nd - 1] > A->n) return PETSC_FALSE;
  for (PetscInt d = 0; d < nd; ++d) w[d] = x + r0 + off[d];
  for (PetscInt lo = 0, hi; lo < len; lo = hi) {
    const PetscScalar *a = A->classes->table + code[lo] * POLDER_DIA_WIDTH;

    hi = DiaRunEnd(code, lo, len);
    if (code[lo] == POLDER_DIA_CLASSLESS) DiaRows(A, r0 + lo, hi - lo, x, s + lo);
    else if (nd == 7) DiaRun(7, lo, hi, a, w, s);
    else DiaRun(5, lo, hi, a, w, s);
  }
  return PETSC_TRUE;
}

/* s[0 .. len) = the rows r0 .. r0 + len of A x */
static inline void DiaBlock(const PolderDia *A, PetscInt r0, PetscInt len, const PetscScalar x[], PetscScalar *restrict s)
{
  if (!A->code || !DiaClassedRows(A, r0, len, x, s)) DiaRows(A, r0, len, x, s);
}

void PolderDiaMult_Host(const PolderDia *A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  const PetscInt m = A->m;
  PetscScalar    s[POLDER_DIA_ROWS];

  for (PetscInt r0 = 0; r0 < m; r0 += POLDER_DIA_ROWS) {
    const PetscInt len = m - r0 < POLDER_DIA_ROWS ? m - r0 : POLDER_DIA_ROWS;

    if (!y && alpha == 1) {
      DiaBlock(A, r0, len, x, z + r0);
      continue;
    }
    DiaBlock(A, r0, len, x, s);
    if (y) {
      for (PetscInt i = 0; i < len; ++i) z[r0 + i] = y[r0 + i] + alpha * s[i];
    } else {
      for (PetscInt i = 0; i < len; ++i) z[r0 + i] = alpha * s[i];
    }
  }
}

PetscScalar PolderDiaMultDot_Host(const PolderDia *A, const PetscScalar x[], PetscScalar z[], const PolderLabelRuns *runs, PetscScalar a[])
{
  PetscScalar sum = 0;
  PetscInt    run = 0;

  for (PetscInt r0 = 0; r0 < A->m; r0 += POLDER_DIA_ROWS) {
    const PetscInt len = PetscMin(A->m - r0, POLDER_DIA_ROWS);

    DiaBlock(A, r0, len, x, z + r0);
    sum += PolderDot_Host(len, x + r0, z + r0);
    if (runs) run = PolderRunsRestrictRows_Host(runs, run, r0, r0 + len, z, a);
  }
  return sum;
}

/*
  Is low the mirror image of up, an entry of a row above? Compares exactly or, when tol > 0, up to tol times the larger of low and the smaller diagonal entry
  of both rows; tol = infinity: always true
*/
static inline PetscBool DiaMirrors(PetscScalar low, PetscScalar up, PetscScalar diag, PetscScalar above, PetscReal tol)
{
  if (low == up || tol >= PETSC_INFINITY) return PETSC_TRUE;
  return (PetscBool)(PetscAbsScalar(low - up) <= tol * PetscMax(PetscAbsScalar(low), PetscMin(PetscAbsScalar(diag), PetscAbsScalar(above))));
}

/* The entry in column i of the entries k .. end of a row, or zero */
static inline PetscScalar DiaEntry(PetscInt i, PetscInt k, PetscInt end, const PetscInt aj[], const PetscScalar aa[])
{
  while (k < end && aj[k] < i) ++k;
  return k < end && aj[k] == i ? aa[k] : 0.0;
}

/* A row with an entry on every diagonal whose compared entries mirror exactly, the most frequent case; FALSE: needs the full test */
static inline PetscBool DiaWhole(PetscInt i, PetscInt nd, PetscInt first, const PetscInt off[], PetscScalar *const val[], const PetscInt aj[],
                                 const PetscScalar aa[])
{
  PetscInt unlike = 0;

  for (PetscInt d = 0; d < nd; ++d) unlike |= aj[d] - i - off[d];
  if (unlike) return PETSC_FALSE;
  for (PetscInt d = 0; d < first; ++d) unlike |= aa[d] != val[d][i];
  for (PetscInt d = first; d < nd; ++d) val[d][i] = aa[d];
  return (PetscBool)!unlike;
}

PetscBool PolderDiaFill_Host(const PolderDia *D, PetscScalar *const val[], PolderRows A, PetscReal tol)
{
  const PetscInt     nd = D->nd, first = D->half ? D->main : 0, *off = D->off, *ai = A.i, *aj = A.j;
  const PetscScalar *aa = A.a;

  for (PetscInt i = 0; i < D->m; ++i) {
    const PetscInt end = ai[i + 1];
    PetscInt       k   = ai[i];
    PetscScalar    diag;

    if (end - k == nd && DiaWhole(i, nd, first, off, val, aj + k, aa + k)) continue;
    diag = first ? DiaEntry(i, k, end, aj, aa) : 0.0;
    for (PetscInt d = 0; d < nd; ++d) {
      const PetscScalar v = k < end && aj[k] == i + off[d] ? aa[k++] : 0.0;

      if (d >= first) val[d][i] = v;
      else if (i + off[d] >= 0 && !DiaMirrors(v, val[d][i], diag, val[first][i + off[d]], tol)) return PETSC_FALSE; /* the row above has set val[d][i] */
    }
    if (k < end) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

PetscBool PolderToSingle_Host(size_t n, const PetscScalar v[], float s[])
{
  int large = 0;

  for (size_t i = 0; i < n; ++i) {
    const PetscReal size = PetscAbsScalar(v[i]);

    s[i] = (float)v[i];
    large |= fabsf(s[i]) > FLT_MAX && size <= PETSC_MAX_REAL;
  }
  return large ? PETSC_FALSE : PETSC_TRUE;
}

void PolderToBfloat_Host(size_t n, const float s[], PolderBfloat a[], int *bad)
{
  int large = 0;

  for (size_t i = 0; i < n; ++i) {
    a[i] = PolderBfloatRound(s[i]);
    large |= fabsf(PolderBfloatGet(a[i])) > FLT_MAX && fabsf(s[i]) <= FLT_MAX;
  }
  if (large) *bad = 1;
}

void PolderHalve_Host(const PolderHalving *arrays, int *bad)
{
  int large = 0;

  for (int k = 0; k < arrays->count; ++k) {
    const PetscScalar *v = arrays->v[k];
    PolderBfloat      *a = arrays->a[k];

    for (size_t i = 0; i < arrays->n[k]; ++i) {
      a[i] = PolderBfloatRound((float)v[i]);
      large |= fabsf(PolderBfloatGet(a[i])) > FLT_MAX && PetscAbsScalar(v[i]) <= PETSC_MAX_REAL;
    }
  }
  if (large) *bad = 1;
}

static void PolderDiaOwnEntry_Private(const PolderDia *D, PetscScalar *const val[], PetscInt i, PetscInt off, PetscScalar value)
{
  for (PetscInt d = 0; d < D->nd; ++d) {
    if (D->off[d] == off) val[d][i] = value;
  }
}

void PolderDiaOwnRows_Host(const PolderDia *D, PetscScalar *const val[], PolderRows rows, PolderRows ghosts, const PetscInt garray[], PetscInt start)
{
  for (PetscInt i = 0; i < rows.n; ++i) {
    for (PetscInt d = 0; d < D->nd; ++d) val[d][i] = 0;
    for (PetscInt k = rows.i[i]; k < rows.i[i + 1]; ++k) PolderDiaOwnEntry_Private(D, val, i, rows.j[k] - i, rows.a[k]);
    for (PetscInt k = ghosts.i ? ghosts.i[i] : 0; ghosts.i && k < ghosts.i[i + 1]; ++k)
      PolderDiaOwnEntry_Private(D, val, i, garray[ghosts.j[k]] - start - i, ghosts.a[k]);
  }
}
