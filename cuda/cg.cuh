/* What kernels of conjugate gradients share: their scalars, and sums over all blocks. */
#pragma once

#include "launch.cuh"
#include "kernels/cg.h"
#include "kernels/cgscalars.h"
#include <cooperative_groups.h>

/* Enough blocks to fill the device twice, of threads that each take v rows */
static inline unsigned int PolderCGBlocks(PetscInt n, int v)
{
  const unsigned int blocks = PolderBlocks(n, v * POLDER_BLOCK), most = 2112;

  return blocks < most ? (blocks ? blocks : 1) : most;
}

/*
  sum[] over all threads of all blocks, bitwise the same in every thread. This is a barrier of the grid, all of whose blocks are resident. The next call must
  use another partial[]
*/
template <int BLOCK, int N>
__device__ __forceinline__ void PolderAllSum(cooperative_groups::grid_group &grid, double (&sum)[N], double *partial)
{
  __shared__ double total[N];

  PolderBlockSums<BLOCK>(sum);
  for (int k = 0; k < N && threadIdx.x == 0; ++k) __stcg(&partial[k * gridDim.x + blockIdx.x], sum[k]);
  grid.sync();
  if (threadIdx.x / 32 < N) { // one warp for each sum
    const int k = threadIdx.x / 32;
    double    v = 0;

    for (unsigned int b = threadIdx.x % 32; b < gridDim.x; b += 32) v += __ldcg(&partial[k * gridDim.x + b]);
    v = PolderWarpSum(v);
    if (threadIdx.x % 32 == 0) total[k] = v;
  }
  __syncthreads();
  for (int k = 0; k < N; ++k) sum[k] = total[k];
  __syncthreads(); // total[] may be overwritten from here on
}

/* Passes over vectors that take V rows at a time, one file for each V: cgvectors.cuh says what they are, kernels/cg.h what they do */
template <int V>
struct CGVectors {
  static int direction(const PolderCGDirection &d, const PolderCGState *state, PolderStream stream);
  static int update(PetscInt n, const PetscScalar *w, PetscScalar *r, bool diagonal, const PetscScalar *dinv, const PolderCGRounded &rounded,
                    const PolderCGReduction &to, PolderStream stream);
  static int rho(PetscInt n, const PetscScalar *r, const PetscScalar *z, const PetscScalar *dinv, PetscBool first, const PolderCGReduction &to,
                 PolderStream stream);
  static int finish(PetscInt n, const PetscScalar *p, PetscScalar *x, const PolderCGState *state, PolderStream stream);
};
