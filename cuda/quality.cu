/* Does each aggregate have a bounded two-grid condition number? A lane a row: a few lanes an aggregate of few rows, a warp one of many. */
#include "foreach.cuh"
#include "kernels/qualityrow.h"

#define QUALITY_WARPS 4
/* Rows of an aggregate that shares a warp with others. Most have at most four, or eight after two passes */
#define QUALITY_FEW 8
/* Aggregates among which a warp looks for those of more rows */
#define QUALITY_AMONG 4

/* The work of G lanes on an aggregate of at most G rows */
template <int G>
struct QualityWork {
  PetscReal W[G][G + 1], c[G];
  PetscInt  row[G];
};

/*
  As PolderQualityCheck_Host() for the m rows from P.row[first] on, one of the G lanes each; m <= 1: nothing to check. Called by all lanes of a warp, which go
  through its aggregates at the same time
*/
template <int G>
static __device__ bool PolderQualityHolds(PetscInt first, PetscInt m, const PolderAggregates &P, const PolderRows &A, const PolderQuality &q, QualityWork<G> &w)
{
  const int       lane  = threadIdx.x % G;
  const PetscInt  mine  = lane < m ? P.row[first + lane] : -1;
  const PetscReal own   = lane < m ? PolderQualityCoupled(mine, &q) : 0;
  const int       steps = (int)__reduce_max_sync(0xffffffffu, (unsigned int)m);
  PetscReal       total = own;
  bool            holds = true;

  for (int o = G / 2; o > 0; o /= 2) total += __shfl_xor_sync(0xffffffffu, total, o);
  w.c[lane]   = own;
  w.row[lane] = mine;
  __syncwarp();
  if (lane < m) PolderQualityRow(lane, m, w.row, w.c, total, &A, q.kappa, w.W[lane]);
  for (int k = 0; k + 1 < steps; ++k) {
    __syncwarp();                                                                      // row k is finished
    const PetscReal pivot = holds && k + 1 < m ? PolderQualityPivot(k, m, w.W[k]) : 0; // the same in all lanes of the aggregate

    holds = holds && pivot >= 0;
    if (holds && lane > k && lane < m) PolderQualityEliminate(k, lane, m, pivot, w.W[k], w.W[lane]);
  }
  __syncwarp(); // the next aggregate may use the memory
  return holds;
}

/* The aggregates of at most QUALITY_FEW rows, and those that are too large to be looked at */
static __global__ void __launch_bounds__(32 * QUALITY_WARPS)
  PolderQualityFewKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderQuality q,
                         PetscInt *__restrict__ bad)
{
  __shared__ QualityWork<QUALITY_FEW> work[32 * QUALITY_WARPS / QUALITY_FEW];
  const PetscInt                      thread = (PetscInt)blockIdx.x * 32 * QUALITY_WARPS + threadIdx.x, a = thread / QUALITY_FEW;
  const PetscInt                      first = a < P.n ? P.ptr[a] : 0, m = a < P.n ? P.ptr[a + 1] - first : 0;
  const bool                          few   = m <= QUALITY_FEW;
  const bool                          holds = PolderQualityHolds<QUALITY_FEW>(first, few ? m : 0, P, A, q, work[threadIdx.x / QUALITY_FEW]);

  if (threadIdx.x % QUALITY_FEW || a >= P.n) return;
  if (few) bad[a] = !holds;
  else if (m > POLDER_QUALITY_ROWS) bad[a] = q.large;
}

/* Those of more rows */
static __global__ void __launch_bounds__(32 * QUALITY_WARPS)
  PolderQualityManyKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderQuality q,
                          PetscInt *__restrict__ bad)
{
  __shared__ QualityWork<POLDER_QUALITY_ROWS> work[QUALITY_WARPS];
  const int                                   mine  = threadIdx.x % 32;
  const PetscInt                              a     = ((PetscInt)blockIdx.x * QUALITY_WARPS + threadIdx.x / 32) * QUALITY_AMONG + mine;
  const bool                                  there = mine < QUALITY_AMONG && a < P.n;
  const PetscInt                              first = there ? P.ptr[a] : 0, m = there ? P.ptr[a + 1] - first : 0;
  unsigned int                                many = __ballot_sync(0xffffffffu, m > QUALITY_FEW && m <= POLDER_QUALITY_ROWS);

  for (; many; many &= many - 1) {
    const int  lane  = __ffs((int)many) - 1;
    const bool holds = PolderQualityHolds<POLDER_QUALITY_ROWS>(__shfl_sync(0xffffffffu, first, lane), __shfl_sync(0xffffffffu, m, lane), P, A, q,
                                                               work[threadIdx.x / 32]);

    if (mine == lane) bad[a] = !holds;
  }
}

int PolderQualityCheck_CUDA(const PolderAggregates *P, const PolderRows *A, const PolderQuality *q, PetscInt bad[], PolderStream stream)
{
  if (!P->n) return cudaSuccess;
  PolderQualityFewKernel<<<PolderBlocks(P->n, 32 * QUALITY_WARPS / QUALITY_FEW), 32 * QUALITY_WARPS, 0, stream>>>(*P, *A, *q, bad);
  PolderQualityManyKernel<<<PolderBlocks(P->n, QUALITY_AMONG * QUALITY_WARPS), 32 * QUALITY_WARPS, 0, stream>>>(*P, *A, *q, bad);
  return cudaGetLastError();
}

int PolderQualityUndo_CUDA(PetscInt m, const PetscInt agg[], PetscInt n, const PetscInt bad[], PetscInt mate[], PetscInt join[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) { PolderQualityUndoRow(i, agg, n, bad, mate, join); });
}
