/* What the kernels of the dense coarse matrix share. */
#pragma once

#include "foreach.cuh"
#include "kernels/coarse.h"

/* The maximum over a warp or a block of 1024 threads, in all of them */
static __device__ __forceinline__ double PolderWarpLargest(double v)
{
  for (int o = 16; o > 0; o >>= 1) v = fmax(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}

static __device__ __forceinline__ double PolderBlockLargest(double v)
{
  __shared__ double most[32];

  v = PolderWarpLargest(v);
  if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = v;
  __syncthreads();
  v = PolderWarpLargest(most[threadIdx.x % 32]);
  __syncthreads();
  return v;
}

/* What is known when the scale is; NNULL is set where the last column is looked at */
static __device__ __forceinline__ void PolderCoarseBegin(double nzero, PetscBool nullspace, bool bad, PetscScalar *info)
{
  info[POLDER_COARSE_NZERO] = nzero;
  info[POLDER_COARSE_NDEP]  = 0;
  info[POLDER_COARSE_BAD]   = bad;
  if (!nullspace) info[POLDER_COARSE_NNULL] = 0;
}
