/* Incomplete factors of the diagonal blocks of a matrix. */
#include "ilurow.h"

/* A number that the compiler rounds before it adds it to another one, so that the factors do not depend on what it fuses */
#if defined(__has_builtin)
  #if __has_builtin(__builtin_assoc_barrier)
    #define PolderRounded(x) __builtin_assoc_barrier(x)
  #endif
#endif
#if !defined(PolderRounded)
  #define PolderRounded(x) (x)
#endif

/* Updates of entries that a row does not have go before the row, to different places, so that they do not wait for each other */
#define ILU_LOST 64
/* Rows that are asked for before they are needed */
#define ILU_AHEAD 4
/* A row eliminates with one that has more than so many times as many entries by a search for each of its own */
#define ILU_LONGER 8

/*
  Work of a factorisation. Of the row at hand: its n entries in ascending columns of the block, those of L, the diagonal entry at `diag`, those of U; at[j] is
  where the entry of column j is, negative: nowhere. Of all rows of a block, row after row: their entries of D U, from first[] on
*/
typedef struct {
  PetscInt     n, diag, *at, *col, *first, *ucol;
  PetscScalar *row, *u;
} IluWork;

/* The most entries of U of a block, or more */
static size_t PolderIluUpper(const PolderIlu *ilu)
{
  PetscInt most = 0;

  for (PetscInt b = 0; b < ilu->nblock; ++b) {
    const PetscInt first = ilu->row[b] / POLDER_ILU_SLICE, end = (ilu->row[b + 1] + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE;

    if (end > first) most = PetscMax(most, ilu->start[1][end] - ilu->start[1][first]);
  }
  return (size_t)most;
}

size_t PolderIluWork_Host(const PolderIlu *ilu)
{
  const size_t m = (size_t)ilu->largest, upper = PolderIluUpper(ilu);

  return (ILU_LOST + m + upper) * sizeof(PetscScalar) + (3 * m + 1 + upper) * sizeof(PetscInt);
}

static inline PetscInt PolderIluNowhere(PetscInt j)
{
  return -1 - j % ILU_LOST;
}

static IluWork PolderIluCarve(const PolderIlu *ilu, void *work)
{
  const size_t m = (size_t)ilu->largest, upper = PolderIluUpper(ilu);
  IluWork      w = {.row = (PetscScalar *)work + ILU_LOST};

  w.u     = w.row + m;
  w.at    = (PetscInt *)(w.u + upper);
  w.col   = w.at + m;
  w.first = w.col + m;
  w.ucol  = w.first + m + 1;
  for (int k = 1; k <= ILU_LOST; ++k) w.row[-k] = 0;
  for (PetscInt j = 0; j < ilu->largest; ++j) w.at[j] = PolderIluNowhere(j);
  return w;
}

/* The row at hand <- row i of the matrix, of the block that begins at row r0; returns the sum of its absolute values, as PolderIluFillRow() does */
static PetscReal PolderIluTakeRow(const PolderIlu *ilu, PetscInt r0, PetscInt i, const PetscScalar aa[], IluWork *w)
{
  const PetscInt *col = ilu->col, *source = ilu->source, me = i - r0, from = source[ilu->nz + i];
  PetscScalar     pivot = from < 0 ? 0 : aa[from];
  PetscReal       sum   = PetscAbsScalar(pivot);
  PetscInt        n     = 0;

  for (int t = 0; t < 2; ++t) {
    const PolderIluSpan row = PolderIluSpanOf(ilu, t, i);

    for (PetscInt p = row.p; p < row.end && col[p] != me; p += row.step, ++n) {
      const PetscScalar v = source[p] < 0 ? 0 : aa[source[p]];

      w->row[n]     = v;
      w->col[n]     = col[p];
      w->at[col[p]] = n;
      sum += PetscAbsScalar(v);
    }
    if (t) break;
    w->diag   = n;
    w->row[n] = pivot;
    w->col[n] = me;
    w->at[me] = n++;
  }
  w->n = n;
  return sum;
}

/* Rows follow each other in the order of levels, so they are not near each other in the matrix: the entries of this row are asked for now */
static void PolderIluPrefetch(const PolderIlu *ilu, PetscInt i, const PetscScalar aa[])
{
  const PetscScalar *diagonal = aa + ilu->source[ilu->nz + i];

  __builtin_prefetch(diagonal - 8);
  __builtin_prefetch(diagonal);
  __builtin_prefetch(diagonal + 8);
}

/* Updates the entries of the row at hand behind entry p with n entries u[] in the columns ucol[], which are far more; returns how many updates that takes */
static PetscInt PolderIluUpdateFew(const IluWork *w, PetscInt p, PetscInt n, const PetscInt ucol[], const PetscScalar u[], PetscScalar l, PetscScalar d)
{
  PetscInt updates = 0;

  for (PetscInt q = p + 1, k = 0; q < w->n && k < n; ++q) {
    k = PolderRowSeek(ucol, k, n, w->col[q]);
    if (k == n || ucol[k] != w->col[q]) continue;
    w->row[q] -= PolderRounded((l * u[k]) * d);
    ++updates;
  }
  return updates;
}

/* Eliminates the row at hand, row i of the block that begins at row r0; returns how many updates that takes */
static PetscInt PolderIluEliminateRow(const PolderIluPivots *pivots, PetscInt r0, PetscInt i, const PetscScalar inverse[], IluWork *work)
{
  const IluWork w       = *work;
  PetscInt      updates = 0;

  for (PetscInt p = 0; p < w.diag; ++p) {
    const PetscInt     c = w.col[p], n = w.first[c + 1] - w.first[c], *ucol = w.ucol + w.first[c];
    const PetscScalar *u = w.u + w.first[c], l = w.row[p], d = inverse[r0 + c];

    if (pivots->drop > 0 && PolderIluSmall(pivots, l, i, r0 + c)) {
      w.row[p] = 0;
      continue;
    }
    if (PetscUnlikely(n / ILU_LONGER > w.n - p)) updates += PolderIluUpdateFew(&w, p, n, ucol, u, l, d);
    else {
      for (PetscInt q = 0; q < n; ++q) {
        const PetscInt k = w.at[ucol[q]];

        w.row[k] -= PolderRounded((l * u[q]) * d);
        updates += k >= 0;
      }
    }
    w.row[p] = l * d;
  }
  for (PetscInt q = w.diag + 1; pivots->drop > 0 && q < w.n; ++q) {
    if (PolderIluSmall(pivots, w.row[q], i, r0 + w.col[q])) w.row[q] = 0;
  }
  return updates;
}

/* The row at hand, row i of the block that begins at row r0, is done: L goes to val[], and D U to the work */
static void PolderIluPutRow(const PolderIlu *ilu, PetscInt r0, PetscInt i, PetscScalar val[], IluWork *w)
{
  const PolderIluSpan row = PolderIluSpanOf(ilu, 0, i);
  PetscInt            p = row.p, u = w->first[i - r0];

  for (PetscInt k = 0; k < w->diag; ++k, p += row.step) val[p] = w->row[k];
  for (; p < row.end; p += row.step) val[p] = 0;
  for (PetscInt k = w->diag + 1; k < w->n; ++k, ++u) {
    w->ucol[u] = w->col[k];
    w->u[u]    = w->row[k];
  }
  w->first[i - r0 + 1] = u;
  for (PetscInt k = 0; k < w->n; ++k) w->at[w->col[k]] = PolderIluNowhere(w->col[k]);
}

/* Row i of U, of the block that begins at row r0, from D U */
static void PolderIluScaleUpper(const PolderIlu *ilu, PetscInt r0, PetscInt i, PetscScalar val[], const IluWork *w)
{
  const PolderIluSpan row     = PolderIluSpanOf(ilu, 1, i);
  const PetscScalar   inverse = val[ilu->nz + i];
  PetscInt            p       = row.p;

  for (PetscInt u = w->first[i - r0]; u < w->first[i - r0 + 1]; ++u, p += row.step) val[p] = w->u[u] * inverse;
  for (; p < row.end; p += row.step) val[p] = 0;
}

static void PolderIluFactorBlock(const PolderIlu *ilu, PetscInt b, const PolderIluPivots *pivots, const PetscScalar aa[], PetscScalar val[], IluWork *w)
{
  const PetscInt r0 = ilu->row[b], r1 = ilu->row[b + 1], m = r1 - r0;

  pivots->zero[b] = pivots->bad[b] = m;
  w->first[0]                      = 0;
  for (PetscInt i = r0; pivots->drop > 0 && i < r1; ++i) pivots->sum[i] = PolderIluFillRow(ilu, i, aa, val);
  for (PetscInt i = r0; i < r1; ++i) {
    const PetscReal sum = pivots->sum[i] = PolderIluTakeRow(ilu, r0, i, aa, w);
    PetscScalar     pivot;

    if (i + ILU_AHEAD < r1) PolderIluPrefetch(ilu, i + ILU_AHEAD, aa);
    if (!(sum <= PETSC_MAX_REAL) && pivots->bad[b] == m) pivots->bad[b] = i - r0;
    w->row[w->diag] = PolderIluShifted(pivots, w->row[w->diag], pivots->shift[b], sum);
    *pivots->updates += PolderIluEliminateRow(pivots, r0, i, val + ilu->nz, w);
    pivot = w->row[w->diag];
    if (PolderIluPivotGood(pivots, pivot, sum)) val[ilu->nz + i] = 1 / pivot;
    else {
      val[ilu->nz + i] = 0;
      if (pivots->zero[b] == m) pivots->zero[b] = i - r0;
    }
    PolderIluPutRow(ilu, r0, i, val, w);
  }
  for (PetscInt i = r0; i < r1; ++i) PolderIluScaleUpper(ilu, r0, i, val, w);
}

void PolderIluFactor_Host(const PolderIlu *ilu, const PolderIluPivots *pivots, const PetscScalar aa[], PetscScalar val[])
{
  IluWork w = PolderIluCarve(ilu, pivots->work);

  for (PetscInt b = 0; b < ilu->nblock; ++b) {
    if (pivots->todo[b]) PolderIluFactorBlock(ilu, b, pivots, aa, val, &w);
  }
}

void PolderIluGrowth_Host(const PolderIlu *ilu, const PolderIluPivots *pivots, PetscReal most, const PetscScalar val[], const PetscScalar x[])
{
  for (PetscInt b = 0; b < ilu->nblock; ++b) {
    const PetscInt r0 = ilu->row[b], m = ilu->row[b + 1] - r0;

    if (!pivots->todo[b] || pivots->shift[b] == 0 || pivots->zero[b] < m) continue;
    for (PetscInt i = 0; i < m && pivots->zero[b] == m; ++i) {
      if (PolderIluGrown(ilu, pivots, most, r0 + i, val, x)) pivots->zero[b] = i;
    }
  }
}

void PolderIluRound_Host(const PolderIlu *ilu, const PetscScalar val[], float rounded[], PetscInt *row)
{
  for (PetscInt i = 0; i < ilu->nrow; ++i) {
    if (!PolderIluRoundRow(ilu, i, val, rounded) && i < *row) *row = i;
  }
}

void PolderIluCount_Host(const PolderIlu *ilu, const PetscScalar val[], PetscInt entries[])
{
  for (int t = 0; t < 2; ++t)
    for (PetscInt i = 0; i < ilu->nrow; ++i) entries[t * ilu->nrow + i] = PolderIluCountRow(ilu, t, i, val);
}

void PolderIluPack_Host(const PolderIlu *ilu, const PetscScalar val[], const PolderIlu *to, PetscInt col[], PetscScalar packed[])
{
  for (PetscInt i = 0; i < ilu->nrow; ++i) PolderIluPackRow(ilu, i, val, to, col, packed);
}

#define ILU_VALUE      PetscScalar
#define ILU_NAME(stem) stem##Double
#include "ilusolve.h"
#undef ILU_VALUE
#undef ILU_NAME

#define ILU_VALUE      float
#define ILU_NAME(stem) stem##Single
#include "ilusolve.h"
#undef ILU_VALUE
#undef ILU_NAME

void PolderIluSolve_Host(const PolderIlu *ilu, PetscBool single, const void *val, const PolderIluVectors *v)
{
  if (single) PolderIluSolveSingle(ilu, (const float *)val, v);
  else PolderIluSolveDouble(ilu, (const PetscScalar *)val, v);
}

void PolderIluAdd_Host(PetscInt n, const PetscInt ptr[], const PetscInt list[], const PetscScalar weight[], const PetscScalar x[], PetscScalar z[])
{
  for (PetscInt e = 0; e < n; ++e) {
    PetscScalar sum = 0;

    for (PetscInt k = ptr[e]; k < ptr[e + 1]; ++k) sum += x[list[k]];
    z[e] = weight ? weight[e] * sum : sum;
  }
}
