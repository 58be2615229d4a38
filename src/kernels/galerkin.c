/* The coarse matrix P^T A P for a P with one unit entry a row: sums of the entries of A by the aggregates of row and column. */
#include "galerkin.h"
#include "pairrow.h"
#include <float.h>

/* Insertion sort by column: rows are short and nearly sorted */
static inline void GalerkinSort(PetscInt n, PetscInt col[], PetscScalar val[])
{
  for (PetscInt k = 1; k < n; ++k) {
    const PetscInt    c = col[k];
    const PetscScalar v = val[k];
    PetscInt          l = k;

    for (; l > 0 && col[l - 1] > c; --l) {
      col[l] = col[l - 1];
      val[l] = val[l - 1];
    }
    col[l] = c;
    val[l] = v;
  }
}

PetscInt PolderGalerkin_Host(const PolderAggregates *P, const PolderRows *A, PetscInt nc, const PetscInt agg[], PetscBool square, PetscInt place[],
                             const PolderSparseRows *C)
{
  const PetscInt    *ptr = P->ptr, *row = P->row, *ai = A->i, *aj = A->j;
  const PetscScalar *aa = A->a;
  PetscInt          *cj = C->col, nz = 0;
  PetscScalar       *ca = C->val;

  for (PetscInt c = 0; c < nc; ++c) place[c] = -1;
  C->ptr[0] = 0;
  for (PetscInt a = 0; a < P->n; ++a) {
    const PetscInt first = nz;
    PetscReal      size  = 0;

    for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
      for (PetscInt k = ai[row[r]]; k < ai[row[r] + 1]; ++k) {
        const PetscInt c = agg[aj[k]];

        if (c >= nc) continue;
        if (place[c] < first) {
          place[c] = nz;
          cj[nz]   = c;
          ca[nz++] = aa[k];
        } else ca[place[c]] += aa[k];
        if (c == a) size += PetscAbsScalar(aa[k]);
      }
    }
    if (square && place[a] >= first && PetscAbsScalar(ca[place[a]]) < POLDER_GALERKIN_ZERO * size) ca[place[a]] = 0;
    GalerkinSort(nz - first, cj + first, ca + first);
    C->ptr[a + 1] = nz;
  }
  return nz;
}

void PolderGalerkinValues_Host(const PolderAggregates *P, const PolderRows *A, PetscInt nc, const PetscInt agg[], PetscBool square, PetscInt place[],
                               const PolderSparseRows *C)
{
  const PetscInt    *ptr = P->ptr, *row = P->row, *ai = A->i, *aj = A->j, *ci = C->ptr, *cj = C->col;
  const PetscScalar *aa = A->a;
  PetscScalar       *ca = C->val;

  for (PetscInt c = 0; c < nc; ++c) place[c] = -1;
  for (PetscInt a = 0; a < P->n; ++a) {
    PetscReal size = 0;

    for (PetscInt k = ci[a]; k < ci[a + 1]; ++k) {
      place[cj[k]] = k;
      ca[k]        = 0;
    }
    for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
      for (PetscInt k = ai[row[r]]; k < ai[row[r] + 1]; ++k) {
        const PetscInt c = agg[aj[k]];

        if (c >= nc) continue;
        if (place[c] >= ci[a]) ca[place[c]] += aa[k];
        else if (square && place[a] >= ci[a]) ca[place[a]] += aa[k]; // PolderDropWeak_Host() has removed the entry
        if (c == a) size += PetscAbsScalar(aa[k]);
      }
    }
    if (square && place[a] >= ci[a] && PetscAbsScalar(ca[place[a]]) < POLDER_GALERKIN_ZERO * size) ca[place[a]] = 0;
  }
}

PetscInt PolderDropWeak_Host(PetscInt n, PetscReal drop, PetscReal d[], PetscInt ai[], PetscInt aj[], PetscScalar aa[])
{
  PetscInt nz = 0;

  for (PetscInt i = 0; i < n; ++i) {
    d[i] = 0;
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      if (aj[k] == i) d[i] = PetscRealPart(aa[k]);
    }
  }
  for (PetscInt i = 0, begin = 0; i < n; ++i) {
    const PetscInt first = nz, end = ai[i + 1];
    PetscScalar    weak = 0;
    PetscInt       diag = -1;

    for (PetscInt k = begin; k < end; ++k) {
      if (aj[k] != i && PetscAbsScalar(aa[k]) <= drop * PetscMin(d[i], d[aj[k]])) weak += aa[k];
      else {
        if (aj[k] == i) diag = nz;
        aj[nz]   = aj[k];
        aa[nz++] = aa[k];
      }
    }
    if (diag >= 0) aa[diag] += weak;
    begin     = end;
    ai[i]     = first;
    ai[i + 1] = end; // temporary: the end of this row until the next one begins
  }
  ai[n] = nz;
  return nz;
}

PetscBool PolderRowTotals_Host(const PolderRows *A, const PolderRows *B, PetscBool rows, float to[])
{
  PetscBool fits = PETSC_TRUE;

  for (PetscInt i = 0; i < A->n; ++i) {
    PetscInt  at;
    PetscReal total = PolderRowTotal(i, A, &at);

    for (PetscInt k = B ? B->i[i] : 0; B && k < B->i[i + 1]; ++k) total += PetscRealPart(B->a[k]);
    if (!(PetscAbsReal(total) <= FLT_MAX)) fits = PETSC_FALSE;
    if (!rows) to[i] = (float)total;
    else if (at >= 0) to[at] = (float)total;
  }
  return fits;
}

void PolderMemberSums_Host(const PolderAggregates *P, const PetscReal d[], const PetscReal s[], PetscReal dsum[], PetscReal ssum[])
{
  for (PetscInt a = 0; a < P->n; ++a) {
    dsum[a] = ssum[a] = 0;
    for (PetscInt k = P->ptr[a]; k < P->ptr[a + 1]; ++k) {
      dsum[a] += d[P->row[k]];
      ssum[a] += s[P->row[k]];
    }
  }
}

PetscInt PolderLevelRows_Host(const PolderRows *A, const PolderRows *B, const PolderLevelSurvey *survey, PetscReal *bound, PolderRowKind *kind)
{
  *kind  = POLDER_ROW_GOOD;
  *bound = 0;
  for (PetscInt i = 0; i < A->n; ++i) {
    const PolderRowSurvey s = PolderRowSurveyOf(i, A, B);

    *kind = PolderRowJudge(&s, survey->zero);
    if (*kind != POLDER_ROW_GOOD) return i;
    PolderRowStore(i, &s, survey);
    *bound = PetscMax(*bound, PolderRowBound(&s));
  }
  return A->n;
}

/* Rows whose entries are added up together */
#define LEVEL_SURVEY 256

/* total[] and all[] <- the sums of the entries of n rows from row r0 on, in the order of the diagonals, and of their magnitudes */
static void LevelAddDiagonals(const PolderDia *A, PetscInt r0, PetscInt n, PetscReal *restrict total, PetscReal *restrict all)
{
  for (PetscInt i = 0; i < n; ++i) total[i] = all[i] = 0;
  for (PetscInt d = 0; d < A->nd; ++d) {
    const PetscScalar *v  = A->val[d] + r0;
    const PetscInt     lo = PetscMax(0, -A->off[d] - r0), hi = PetscMin(n, A->n - A->off[d] - r0);

    for (PetscInt i = lo; i < hi; ++i) {
      total[i] += PetscRealPart(v[i]);
      all[i] += PetscAbsScalar(v[i]);
    }
  }
}

PetscBool PolderLevelDiaRows_Host(const PolderDia *A, const PolderLevelSurvey *to, PetscReal *bound)
{
  PetscReal total[LEVEL_SURVEY], all[LEVEL_SURVEY], most = 0;
  int       bad = A->main < 0;

  for (PetscInt r0 = 0; r0 < A->m && !bad; r0 += LEVEL_SURVEY) {
    const PetscInt     n     = PetscMin(LEVEL_SURVEY, A->m - r0);
    const PetscScalar *pivot = A->val[A->main] + r0;
    PetscReal *const   dinv  = to->dinv + r0;

    LevelAddDiagonals(A, r0, n, total, all);
    for (PetscInt i = 0; i < n; ++i) {
      const PetscReal p = PetscRealPart(pivot[i]), inverse = 1 / p, part = all[i] / p;

      bad |= !(all[i] <= PETSC_MAX_REAL && p > 0 && inverse <= PETSC_MAX_REAL);
      dinv[i] = to->l1 ? 1 / all[i] : inverse;
      most    = part > most ? part : most;
    }
    for (PetscInt i = 0; i < n && to->d; ++i) to->d[r0 + i] = PetscRealPart(pivot[i]);
    for (PetscInt i = 0; i < n && to->sum; ++i) to->sum[r0 + i] = total[i];
    for (PetscInt i = 0; i < n && to->all; ++i) to->all[r0 + i] = all[i];
    for (PetscInt i = 0; i < n && to->mate; ++i) {
      const PetscReal p = PetscRealPart(pivot[i]);

      to->mate[r0 + i] = p > to->lone * (all[i] - p) ? POLDER_PAIR_LONE : POLDER_PAIR_FREE;
    }
  }
  *bound = most;
  return bad ? PETSC_FALSE : PETSC_TRUE;
}

PetscInt PolderLevelDiagonal_Host(PetscInt n, const PetscInt diag[], const PetscScalar aa[], PetscBool zero, PetscReal dinv[], PolderRowKind *kind)
{
  PetscInt bad = 0;

#pragma GCC ivdep
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal pivot = PetscRealPart(aa[diag ? diag[i] : i]), inverse = 1 / pivot;

    dinv[i] = pivot > 0 ? inverse : 0;
    bad |= zero ? !(pivot >= 0 && pivot <= PETSC_MAX_REAL) : !(pivot > 0 && pivot <= PETSC_MAX_REAL && inverse <= PETSC_MAX_REAL);
  }
  *kind = POLDER_ROW_GOOD;
  for (PetscInt i = 0; bad && i < n; ++i) {
    *kind = PolderPivotJudge(PetscRealPart(aa[diag ? diag[i] : i]), zero);
    if (*kind != POLDER_ROW_GOOD) return i;
  }
  return n;
}
