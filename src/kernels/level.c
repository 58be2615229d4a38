/* One level of a multigrid cycle, in double and in single precision, and in single precision with entries in bfloat16. */
#include "levelscalars.h"
#include "level.h"
#include "levelrow.h"
#include "bfloat.h"
#include <limits.h>

/* As in tns.c: vectors as long as a cache line do not pay in short blocks */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
  #pragma GCC target("prefer-vector-width=256")
#endif

/*
  Rows processed together; sweeps process diagonals nearer than LEVEL_NEAR entry by entry. What a sweep has read or is about to read is restricted or corrected
  in chunks of LEVEL_CHUNK rows, while it is in the cache: where two loops alternate after few rows, the prefetch of the processor begins anew each time
*/
#define LEVEL_ROWS  512
#define LEVEL_NEAR  8
#define LEVEL_LANES 8
#define LEVEL_CHUNK 65536
#define LEVEL_PAD   8

#define LEVEL_VALUE      PetscScalar
#define LEVEL_ENTRY      PetscScalar
#define LEVEL_GET(entry) (entry)
#define LEVEL_NAME(name) name##_Host
#define LEVEL_GRID(name) name##_Host
#define LEVEL_SUMS       0
#include "levelapply.h"
#include "levelvectors.h"
#undef LEVEL_VALUE
#undef LEVEL_LINKS
#undef LEVEL_ENTRY
#undef LEVEL_NAME
#undef LEVEL_GRID
#undef LEVEL_SUMS

#define LEVEL_VALUE      float
#define LEVEL_ENTRY      float
#define LEVEL_NAME(name) name##Single_Host
#define LEVEL_GRID(name) name##Single_Host
#define LEVEL_SUMS       1
#include "levelapply.h"
#include "levelvectors.h"
#undef LEVEL_ENTRY
#undef LEVEL_LINKS
#undef LEVEL_GET
#undef LEVEL_NAME

#define LEVEL_ENTRY      PolderBfloat
#define LEVEL_GET(entry) PolderBfloatGet(entry)
#define LEVEL_NAME(name) name##Half_Host
#include "levelapply.h"

/* pivot[i] += the sum of row r0 + i minus its couplings, i < len: the stored diagonal entry is the sum of the row */
static void LevelAddPivots(const PolderLevelMatrix *A, PetscInt r0, PetscInt len, PetscReal pivot[])
{
  for (PetscInt d = 0; d < A->nd; ++d) {
    const PetscInt      lo = PetscMax(0, -A->off[d] - r0), hi = PetscMin(len, A->n - A->off[d] - r0);
    const PetscReal     sign = A->off[d] ? -1 : 1;
    const PolderBfloat *a    = (const PolderBfloat *)A->val[d] + r0;

    for (PetscInt i = lo; i < hi; ++i) pivot[i] += sign * (PetscReal)PolderBfloatGet(a[i]);
  }
  for (PetscInt i = 0; i < len && !A->nd; ++i) {
    for (PetscInt k = A->ai[r0 + i]; k < A->ai[r0 + i + 1]; ++k)
      pivot[i] += (A->aj[k] == r0 + i ? 1 : -1) * (PetscReal)PolderBfloatGet(((const PolderBfloat *)A->aa)[k]);
  }
}

void PolderLevelSpan_Host(PetscInt n, PetscInt line, const float dinv[], const PetscInt agg[], PetscInt nc, PetscInt span[3])
{
  int   least = INT_MAX, most = 0;
  float ratio = 0;

  for (PetscInt i = 0; i < n; ++i) {
    const int bits = PolderBits(agg[i] < nc ? dinv[i] : 0), high = bits > 0 ? bits : INT_MAX;

    least = high < least ? high : least;
    most  = bits > most ? bits : most;
  }
  for (PetscInt i = 0; i < n; ++i) ratio = PetscMax(ratio, PolderNeighbourRatio(n, line, dinv, agg, nc, i));
  span[0] = PetscMin(span[0], least);
  span[1] = PetscMax(span[1], most);
  span[2] = PetscMax(span[2], PolderBits(ratio));
}

void PolderLevelSeed_Host(PetscBool single, PetscInt n, void *x)
{
  for (PetscInt i = 0; i < n; ++i) {
    if (single) ((float *)x)[i] = (float)PolderPowerStart(i);
    else ((PetscScalar *)x)[i] = PolderPowerStart(i);
  }
}

void PolderLevelRound_Host(PetscInt n, PetscScalar scale, const PetscScalar x[], float y[])
{
  for (PetscInt i = 0; i < n; ++i) y[i] = (float)(scale * x[i]);
}

void PolderLevelWidenCentred_Host(PetscInt n, const float x[], PetscScalar y[])
{
  PetscScalar sum = 0;

  for (PetscInt i = 0; i < n; ++i) sum += x[i];
  for (PetscInt i = 0; i < n; ++i) y[i] = x[i] - sum / (PetscReal)n;
}

void PolderLevelRoundCentred_Host(PetscInt n, const PetscScalar x[], float y[])
{
  PetscScalar sum = 0;

  for (PetscInt i = 0; i < n; ++i) sum += x[i];
  for (PetscInt i = 0; i < n; ++i) y[i] = (float)(x[i] - sum / (PetscReal)n);
}

void PolderLevelPivotsHalf_Host(const PolderLevelMatrix *A, const PetscInt bi[], const PetscScalar ba[], float dinv[])
{
  for (PetscInt r0 = 0; r0 < A->n; r0 += LEVEL_ROWS) {
    const PetscInt len               = PetscMin(LEVEL_ROWS, A->n - r0);
    PetscReal      pivot[LEVEL_ROWS] = {0};

    LevelAddPivots(A, r0, len, pivot);
    for (PetscInt i = 0; bi && i < len; ++i) {
      for (PetscInt k = bi[r0 + i]; k < bi[r0 + i + 1]; ++k) pivot[i] -= PetscRealPart(ba[k]);
    }
    for (PetscInt i = 0; i < len; ++i) {
      if (dinv[r0 + i] > 0 && pivot[i] > 0) dinv[r0 + i] = (float)(1 / pivot[i]);
    }
  }
}
