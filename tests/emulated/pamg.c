/* pairs.cu, colours.cu and galerkin.cu */
#include "emulated.h"
#include "kernels/colours.h"
#include "kernels/galerkin.h"
#include "kernels/pairs.h"

PolderEmulate(PolderPairsPropose,
              (PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[],
               const PetscReal diag[], const PolderPairRule *rule, const PetscInt mate[], PetscInt next[], PolderStream stream),
              n, row, ai, aj, aa, sum, diag, rule, mate, next);
PolderEmulate(PolderPairsMatch,
              (PetscInt n, const PetscInt row[], const PetscInt next[], PetscInt mate[], PetscInt left[], PetscInt *count, PolderStream stream), n, row, next,
              mate, left, count);
PolderEmulate(PolderPairsSingle, (PetscInt n, const PetscInt row[], PetscInt mate[], PolderStream stream), n, row, mate);
PolderEmulate(PolderPairsDirections, (PetscInt m, const PolderPairRule *rule, const PetscInt next[], PetscInt count[3], PolderStream stream), m, rule, next,
              count);
PolderEmulate(PolderPairsAlign,
              (PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PolderPairRule *rule, const PetscInt count[3],
               const PetscInt mate[], PetscInt next[], PolderStream stream),
              m, ai, aj, aa, rule, count, mate, next);
PolderEmulate(PolderPairsPlaces,
              (PetscInt m, PetscInt shift, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt64 place[], PetscInt *bad,
               PolderStream stream),
              m, shift, ai, aj, near, place, bad);
PolderEmulate(PolderPairsNextPlaces,
              (PetscInt m, const PetscInt mate[], const PetscInt join[], const PetscInt agg[], const PetscInt count[3], const PetscInt64 place[],
               PetscInt64 next[], PolderStream stream),
              m, mate, join, agg, count, place, next);
PolderEmulate(PolderPairsJoin,
              (PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[],
               const PolderPairRule *rule, const PetscInt mate[], PetscInt join[], PolderStream stream),
              m, ai, aj, aa, sum, diag, rule, mate, join);
PolderEmulate(PolderPairsCompose, (PetscInt m, PetscInt n, const PetscInt next[], PetscInt nc, PetscInt agg[], PolderStream stream), m, n, next, nc, agg);
PolderEmulate(PolderPairsNumber,
              (PetscInt m, const PetscInt mate[], const PetscInt join[], PetscInt agg[], PetscInt *count, void *work, size_t bytes, PolderStream stream), m,
              mate, join, agg, count);
PolderEmulate(PolderMembers,
              (PetscInt m, const PetscInt agg[], PetscInt n, PetscInt ptr[], PetscInt row[], PetscInt key[], PetscInt number[], void *work, size_t bytes,
               PolderStream stream),
              m, agg, n, ptr, row);
PolderEmulate(PolderMemberSums,
              (PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscReal d[], const PetscReal s[], PetscReal dsum[], PetscReal ssum[],
               PolderStream stream),
              n, ptr, row, d, s, dsum, ssum);
PolderEmulate(PolderColoursRound,
              (PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], PetscInt colour[], PetscInt left[], PetscInt *count,
               PolderStream stream),
              n, row, ai, aj, colour, left, count);
PolderEmulate(PolderColoursPlaces, (PetscInt n, const PetscInt64 place[], PetscInt colour[], PolderStream stream), n, place, colour);
PolderEmulate(PolderColoursCheck, (PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[], PetscInt *bad, PolderStream stream), n, ai,
              aj, colour, bad);

int PolderRowTotals_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool rows, float to[], int *bad,
                         PolderStream stream)
{
  if (!PolderRowTotals_Host(n, ai, aj, aa, NULL, NULL, rows, to)) *bad = 1;
  return 0;
}

PolderEmulateWork(PolderPairsWork, (PetscInt m));

int PolderPointers_CUDA(PetscInt n, PetscInt ptr[], void *work, size_t bytes, PolderStream stream)
{
  ptr[0] = 0;
  for (PetscInt a = 0; a < n; ++a) ptr[a + 1] += ptr[a];
  return 0;
}

/* Coarse row a: its columns in the order of their numbers, and values; the room that it may take is in `most` */
static PetscInt CoarseRow(PetscInt n, PetscInt a, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[],
                          const PetscInt agg[], PetscInt *most, PetscInt col[], PetscScalar val[])
{
  PetscInt  met  = 0, k;
  PetscReal size = 0;

  *most = 0;
  for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
    for (PetscInt e = ai[row[r]]; e < ai[row[r] + 1]; ++e, ++*most) {
      const PetscInt c = agg[aj[e]];

      if (c >= n) continue;
      for (k = met; k > 0 && col[k - 1] >= c; --k) { }
      if (k == met || col[k] != c) {
        for (PetscInt l = met++; l > k; --l) {
          col[l] = col[l - 1];
          val[l] = val[l - 1];
        }
        col[k] = c;
        val[k] = 0;
      }
      val[k] += aa ? aa[e] : 0;
      if (c == a && aa) size += PetscAbsScalar(aa[e]);
    }
  }
  for (k = 0; k < met; ++k) {
    if (col[k] == a && PetscAbsScalar(val[k]) < POLDER_GALERKIN_ZERO * size) val[k] = 0;
  }
  return met;
}

/* Room for the longest coarse row */
static size_t CoarseRoom(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[])
{
  size_t room = 1;

  for (PetscInt a = 0; a < n; ++a) {
    size_t all = 0;

    for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) all += (size_t)(ai[row[r] + 1] - ai[row[r]]);
    room = PetscMax(room, all);
  }
  return room;
}

int PolderCoarseRowsCount_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscInt agg[],
                               PetscInt length[], PetscInt info[2], PolderStream stream)
{
  const size_t room = CoarseRoom(n, ptr, row, ai);
  PetscInt    *col  = (PetscInt *)malloc(room * sizeof(*col)), most;
  PetscScalar *val  = (PetscScalar *)malloc(room * sizeof(*val));

  for (PetscInt a = 0; a < n; ++a) {
    length[a + 1] = CoarseRow(n, a, ptr, row, ai, aj, NULL, agg, &most, col, val);
    if (length[a + 1] <= POLDER_COARSE_ROW) continue;
    length[a + 1] = -1;
    ++info[0];
    info[1] = PetscMax(info[1], most);
  }
  free(col);
  free(val);
  return 0;
}

int PolderCoarseRowsCountLong_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscInt agg[],
                                   PetscInt length[], PetscInt warps, PetscInt width, PetscInt scratch[], PolderStream stream)
{
  PetscScalar *val = (PetscScalar *)malloc((size_t)width * sizeof(*val));
  PetscInt     most;

  for (PetscInt a = 0; a < n; ++a) {
    if (length[a + 1] < 0) length[a + 1] = CoarseRow(n, a, ptr, row, ai, aj, NULL, agg, &most, scratch, val);
  }
  free(val);
  return 0;
}

int PolderCoarseRowsFill_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[],
                              const PetscInt agg[], const PetscInt ci[], PetscInt cj[], PetscScalar ca[], PetscInt warps, PetscInt width, PetscInt scratch[],
                              PetscScalar scratchval[], PolderStream stream)
{
  PetscInt most;

  for (PetscInt a = 0; a < n; ++a) {
    if (ci[a + 1] - ci[a] <= POLDER_COARSE_ROW || warps) (void)CoarseRow(n, a, ptr, row, ai, aj, aa, agg, &most, cj + ci[a], ca + ci[a]);
  }
  return 0;
}

int PolderCoarseRowsValues_CUDA(PetscInt n, PetscBool wide, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[],
                                const PetscScalar aa[], const PetscInt agg[], const PetscInt ci[], const PetscInt cj[], PetscScalar ca[], PolderStream stream)
{
  PetscInt *place = (PetscInt *)malloc((size_t)(n + 1) * sizeof(*place));

  PolderGalerkinValues_Host(n, ptr, row, ai, aj, aa, n, agg, PETSC_TRUE, place, ci, cj, ca);
  free(place);
  return 0;
}

int PolderLevelRows_CUDA(const PolderRows *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  PolderRowKind kind;
  PetscReal     most;
  PetscInt      row = PolderLevelRows_Host(A, NULL, survey, &most, &kind);

  *bound = PetscMax(*bound, most);
  if (row < A->n) *bad = PetscMin(*bad, (PetscInt64)row * 8 + kind);
  return 0;
}

static PetscBool IsWeak(PetscInt i, PetscInt j, PetscScalar a, PetscReal drop, const PetscReal d[])
{
  return (PetscBool)(i != j && PetscAbsScalar(a) <= drop * PetscMin(d[i], d[j]));
}

int PolderDropWeakCount_CUDA(PetscInt n, PetscReal drop, const PetscReal d[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[],
                             PetscInt length[], PolderStream stream)
{
  for (PetscInt i = 0; i < n; ++i) {
    length[i + 1] = 0;
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) length[i + 1] += !IsWeak(i, aj[k], aa[k], drop, d);
  }
  return 0;
}

int PolderDropWeakFill_CUDA(PetscInt n, PetscReal drop, const PetscReal d[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[],
                            const PetscInt ci[], PetscInt cj[], PetscScalar ca[], PolderStream stream)
{
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt    to = ci[i], at = -1;
    PetscScalar weak = 0;

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      if (IsWeak(i, aj[k], aa[k], drop, d)) weak += aa[k];
      else {
        if (aj[k] == i) at = to;
        cj[to]   = aj[k];
        ca[to++] = aa[k];
      }
    }
    if (at >= 0) ca[at] += weak;
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
