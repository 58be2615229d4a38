/* Does each aggregate have a bounded two-grid condition number? A warp an aggregate, a lane a row. */
#include "foreach.cuh"
#include "kernels/qualityrow.h"

#define QUALITY_WARPS 4

/* As PolderQualityCheck_Host(), for the m <= 32 rows row[] of the lanes */
static __device__ PetscBool PolderQualityHolds(PetscInt m, const PetscInt *row, const PolderRows &A, const PolderQuality &q, PetscReal *c,
                                               PetscReal (*W)[POLDER_QUALITY_ROWS + 1])
{
  const int       lane = threadIdx.x % 32;
  const PetscReal own = lane < m ? PolderQualityCoupled(row[lane], &q) : 0, total = PolderWarpSum(own);

  c[lane] = own;
  __syncwarp();
  if (lane < m) PolderQualityRow(lane, m, row, c, total, &A, q.kappa, W[lane]);
  for (PetscInt k = 0; k + 1 < m; ++k) {
    __syncwarp();                                           // row k is finished
    const PetscReal pivot = PolderQualityPivot(k, m, W[k]); // the same in all lanes

    if (pivot < 0) return PETSC_FALSE;
    if (lane > k && lane < m) PolderQualityEliminate(k, lane, m, pivot, W[k], W[lane]);
  }
  return PETSC_TRUE;
}

static __global__ void __launch_bounds__(32 * QUALITY_WARPS)
  PolderQualityKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderQuality q,
                      PetscInt *__restrict__ bad)
{
  __shared__ PetscReal W[QUALITY_WARPS][POLDER_QUALITY_ROWS][POLDER_QUALITY_ROWS + 1], c[QUALITY_WARPS][POLDER_QUALITY_ROWS];
  __shared__ PetscInt  row[QUALITY_WARPS][POLDER_QUALITY_ROWS];
  const int            lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const PetscInt       a       = (PetscInt)blockIdx.x * QUALITY_WARPS + warp;
  PetscInt             verdict = 0;

  if (a >= P.n) return;
  const PetscInt first = P.ptr[a], m = P.ptr[a + 1] - first;

  if (m > POLDER_QUALITY_ROWS) verdict = q.large;
  else if (m > 1) {
    if (lane < m) row[warp][lane] = P.row[first + lane];
    __syncwarp();
    verdict = !PolderQualityHolds(m, row[warp], A, q, c[warp], W[warp]);
  }
  if (lane == 0) bad[a] = verdict;
}

int PolderQualityCheck_CUDA(const PolderAggregates *P, const PolderRows *A, const PolderQuality *q, PetscInt bad[], PolderStream stream)
{
  if (P->n) PolderQualityKernel<<<PolderBlocks(P->n, QUALITY_WARPS), 32 * QUALITY_WARPS, 0, stream>>>(*P, *A, *q, bad);
  return cudaGetLastError();
}

int PolderQualityUndo_CUDA(PetscInt m, const PetscInt agg[], PetscInt n, const PetscInt bad[], PetscInt mate[], PetscInt join[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) { PolderQualityUndoRow(i, agg, n, bad, mate, join); });
}
