/* pairs.cu, quality.cu, colours.cu, galerkin.cu and rowsurvey.cu */
#include "emulated.h"
#include "kernels/colours.h"
#include "kernels/galerkin.h"
#include "kernels/pairs.h"
#include "kernels/places.h"
#include "kernels/quality.h"

PolderEmulate(PolderPairsPropose,
              (const PolderRows *A, PolderRowList rows, const PolderPairRule *rule, const PetscInt mate[], PetscInt next[], PolderStream stream), A, rows, rule,
              mate, next);
PolderEmulate(PolderPairsMatch, (PolderRowList rows, const PetscInt next[], PetscInt mate[], PetscInt left[], PetscInt *count, PolderStream stream), rows, next,
              mate, left, count);
PolderEmulate(PolderPairsRounds,
              (const PolderRows *A, PolderRowList rows, const PetscInt *there, PetscInt few, const PolderPairRule *rule, PetscInt rounds, PetscInt mate[],
               PetscInt next[], PetscInt *const left[2], PetscInt seen[], PolderStream stream),
              A, rows, there, few, rule, rounds, mate, next, left, seen);
PolderEmulate(PolderPairsDirections, (PetscInt m, const PolderPairRule *rule, const PetscInt next[], PetscInt count[3], PolderStream stream), m, rule, next,
              count);
PolderEmulate(PolderPairsAlign,
              (const PolderRows *A, const PolderPairRule *rule, const PetscInt count[3], const PetscInt mate[], PetscInt next[], PolderStream stream), A, rule,
              count, mate, next);
PolderEmulate(PolderGridPlaces,
              (PetscInt m, PetscInt shift, PetscBool stencil, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt64 place[],
               PetscInt *bad, PolderStream stream),
              m, shift, stencil, ai, aj, near, place, bad);
PolderEmulate(PolderPairsNextPlaces,
              (PetscInt m, const PetscInt mate[], const PetscInt join[], const PetscInt agg[], const PetscInt count[3], const PetscInt64 place[],
               PetscInt64 next[], PolderStream stream),
              m, mate, join, agg, count, place, next);
PolderEmulate(PolderPairsJoin, (const PolderRows *A, const PolderPairRule *rule, const PetscInt mate[], PetscInt join[], PolderStream stream), A, rule, mate,
              join);
PolderEmulate(PolderPairsCompose, (PetscInt m, PetscInt n, const PetscInt next[], PetscInt nc, const PetscInt agg[], PetscInt to[], PolderStream stream), m, n,
              next, nc, agg, to);
PolderEmulate(PolderPairsNumber,
              (PetscInt m, const PetscInt mate[], const PetscInt join[], PetscInt agg[], PetscInt *count, void *work, size_t bytes, PolderStream stream), m,
              mate, join, agg, count);

/* The scratch is written, as the device does */
int PolderMembers_CUDA(const PolderAggregates *P, PetscInt *const key[2], void *work, size_t bytes, PolderStream stream)
{
  for (int k = 0; k < 2; ++k) {
    for (PetscInt i = 0; i < P->m; ++i) key[k][i] = -99 - i;
  }
  PolderMembers_Host(P);
  return 0;
}

PolderEmulate(PolderMemberSums, (const PolderAggregates *P, const PetscReal d[], const PetscReal s[], PetscReal dsum[], PetscReal ssum[], PolderStream stream),
              P, d, s, dsum, ssum);
PolderEmulate(PolderQualityCheck, (const PolderAggregates *P, const PolderRows *A, const PolderQuality *q, PetscInt bad[], PolderStream stream), P, A, q, bad);
PolderEmulate(PolderQualityJoined, (PetscInt m, const PetscInt join[], const PetscInt agg[], PetscInt bad[], PolderStream stream), m, join, agg, bad);
PolderEmulate(PolderQualityUndo, (PetscInt m, const PetscInt agg[], PetscInt n, const PetscInt bad[], PetscInt mate[], PetscInt join[], PolderStream stream), m,
              agg, n, bad, mate, join);
PolderEmulate(PolderColoursRound,
              (PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], PetscInt colour[], PetscInt left[], PetscInt *count,
               PolderStream stream),
              n, row, ai, aj, colour, left, count);
PolderEmulate(PolderColoursPlaces, (PetscInt n, const PetscInt64 place[], PetscInt colour[], PolderStream stream), n, place, colour);
PolderEmulate(PolderColoursCheck, (PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[], PetscInt *bad, PolderStream stream), n, ai,
              aj, colour, bad);

int PolderRowTotals_CUDA(const PolderRows *A, PetscBool rows, float to[], int *bad, PolderStream stream)
{
  if (!PolderRowTotals_Host(A, NULL, rows, to)) *bad = 1;
  return 0;
}

PolderEmulateWork(PolderPairsWork, (PetscInt m));

int PolderPointers_CUDA(PetscInt n, PetscInt ptr[], void *work, size_t bytes, PolderStream stream)
{
  ptr[0] = 0;
  for (PetscInt a = 0; a < n; ++a) ptr[a + 1] += ptr[a];
  return 0;
}

/* Coarse row a: its columns in the order of their numbers, and values unless A has none; *most: the entries that it sums */
static PetscInt CoarseRow(const PolderAggregates *P, const PolderRows *A, PetscInt a, PetscInt *most, PetscInt col[], PetscScalar val[])
{
  PetscInt  met  = 0, k;
  PetscReal size = 0;

  *most = 0;
  for (PetscInt r = P->ptr[a]; r < P->ptr[a + 1]; ++r) {
    for (PetscInt e = A->i[P->row[r]]; e < A->i[P->row[r] + 1]; ++e, ++*most) {
      const PetscInt c = P->agg[A->j[e]];

      if (c >= P->n) continue;
      for (k = met; k > 0 && col[k - 1] >= c; --k) { }
      if (k == met || col[k] != c) {
        for (PetscInt l = met++; l > k; --l) {
          col[l] = col[l - 1];
          val[l] = val[l - 1];
        }
        col[k] = c;
        val[k] = 0;
      }
      val[k] += A->a ? A->a[e] : 0;
      if (c == a && A->a) size += PetscAbsScalar(A->a[e]);
    }
  }
  for (k = 0; k < met; ++k) {
    if (col[k] == a && PetscAbsScalar(val[k]) < POLDER_GALERKIN_ZERO * size) val[k] = 0;
  }
  return met;
}

/* Room for the longest coarse row */
static size_t CoarseRoom(const PolderAggregates *P, const PolderRows *A)
{
  size_t room = 1;

  for (PetscInt a = 0; a < P->n; ++a) {
    size_t all = 0;

    for (PetscInt r = P->ptr[a]; r < P->ptr[a + 1]; ++r) all += (size_t)(A->i[P->row[r] + 1] - A->i[P->row[r]]);
    room = PetscMax(room, all);
  }
  return room;
}

int PolderCoarseRowsCount_CUDA(const PolderAggregates *P, const PolderRows *A, PetscInt length[], PetscInt info[3], PolderStream stream)
{
  const PolderRows pattern = {.n = A->n, .i = A->i, .j = A->j};
  const size_t     room    = CoarseRoom(P, A);
  PetscInt        *col     = (PetscInt *)malloc(room * sizeof(*col)), most;
  PetscScalar     *val     = (PetscScalar *)malloc(room * sizeof(*val));

  for (PetscInt a = 0; a < P->n; ++a) {
    length[a + 1] = CoarseRow(P, &pattern, a, &most, col, val);
    if (length[a + 1] <= POLDER_COARSE_ROW) {
      info[2] += length[a + 1];
      continue;
    }
    length[a + 1] = -1;
    ++info[0];
    info[1] = PetscMax(info[1], most);
  }
  free(col);
  free(val);
  return 0;
}

int PolderCoarseRowsCountLong_CUDA(const PolderAggregates *P, const PolderRows *A, const PolderCoarseScratch *scratch, PetscInt length[], PolderStream stream)
{
  const PolderRows pattern = {.n = A->n, .i = A->i, .j = A->j};
  PetscScalar     *val     = (PetscScalar *)malloc((size_t)scratch->width * sizeof(*val));
  PetscInt         most;

  for (PetscInt a = 0; a < P->n; ++a) {
    if (length[a + 1] < 0) length[a + 1] = CoarseRow(P, &pattern, a, &most, scratch->col, val);
  }
  free(val);
  return 0;
}

int PolderCoarseRowsFill_CUDA(const PolderAggregates *P, const PolderRows *A, const PolderCoarseScratch *scratch, const PolderSparseRows *C,
                              PolderStream stream)
{
  PetscInt most;

  for (PetscInt a = 0; a < P->n; ++a) {
    const PetscInt at = C->ptr[a];

    if (C->ptr[a + 1] - at <= POLDER_COARSE_ROW || scratch->warps) (void)CoarseRow(P, A, a, &most, C->col + at, C->val + at);
  }
  return 0;
}

int PolderCoarseRowsValues_CUDA(const PolderAggregates *P, const PolderRows *A, PetscBool longrows, const PolderSparseRows *C, PolderStream stream)
{
  PetscInt *place = (PetscInt *)malloc((size_t)(P->n + 1) * sizeof(*place));

  PolderGalerkinValues_Host(P, A, P->n, P->agg, PETSC_TRUE, place, C);
  free(place);
  return 0;
}

int PolderLevelRows_CUDA(const PolderRows *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  PolderRowKind kind;
  PetscReal     most;
  PetscInt      row = PolderLevelRows_Host(A, NULL, survey, &most, &kind);

  *bound = PetscMax(*bound, most);
  *bad   = PetscMin(*bad, PolderRowBad(row, kind));
  return 0;
}

int PolderLevelDiaRows_CUDA(const PolderDia *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  PetscReal most = 0;

  if (!PolderLevelDiaRows_Host(A, survey, &most)) *bad = 0;
  *bound = PetscMax(*bound, most);
  return 0;
}

static PetscBool IsWeak(PetscInt i, PetscInt j, PetscScalar a, PetscReal drop, const PetscReal d[])
{
  return (PetscBool)(i != j && PetscAbsScalar(a) <= drop * PetscMin(d[i], d[j]));
}

int PolderDropWeakCount_CUDA(const PolderRows *A, PetscReal drop, const PetscReal d[], PetscInt length[], PolderStream stream)
{
  for (PetscInt i = 0; i < A->n; ++i) {
    length[i + 1] = 0;
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) length[i + 1] += !IsWeak(i, A->j[k], A->a[k], drop, d);
  }
  return 0;
}

int PolderDropWeakFill_CUDA(const PolderRows *A, PetscReal drop, const PetscReal d[], const PolderSparseRows *C, PolderStream stream)
{
  for (PetscInt i = 0; i < A->n; ++i) {
    PetscInt    to = C->ptr[i], at = -1;
    PetscScalar weak = 0;

    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
      if (IsWeak(i, A->j[k], A->a[k], drop, d)) weak += A->a[k];
      else {
        if (A->j[k] == i) at = to;
        C->col[to]   = A->j[k];
        C->val[to++] = A->a[k];
      }
    }
    if (at >= 0) C->val[at] += weak;
  }
  return 0;
}

int PolderRowsKeys_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt64 key[], PetscInt *count, PolderStream stream)
{
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) key[k] = (PetscInt64)i * n + aj[k];
  }
  *count = ai[n];
  return 0;
}
