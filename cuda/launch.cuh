/* What the kernels share: grids, sums in a fixed order. Nothing here depends on the order in which blocks run, so results are the same bit for bit. */
#pragma once

#include "kernels.h"

/* Threads of a block, and most blocks of a grid that reduces */
#define POLDER_BLOCK         256
#define POLDER_REDUCE_BLOCKS 4096
/* Most sums that one kernel makes at once */
#define POLDER_REDUCE_SUMS 5

static inline unsigned int PolderBlocks(PetscInt n, int perblock)
{
  return (unsigned int)((n + perblock - 1) / perblock);
}

/* Multiprocessors of the device in use */
static inline int PolderMultiprocessors(void)
{
  int device, count = 0;

  if (cudaGetDevice(&device) == cudaSuccess) (void)cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count > 0 ? count : 1;
}

/* Has the device in use kernels whose blocks may wait for each other? */
static inline PetscBool PolderCooperative(void)
{
  int device, is = 0;

  return (PetscBool)(cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetAttribute(&is, cudaDevAttrCooperativeLaunch, device) == cudaSuccess && is);
}

/* Scratch of a reduction: a counter that is zero between launches, and one partial sum a block and sum */
struct PolderReduceScratch {
  unsigned int counter;
  double       partial[POLDER_REDUCE_SUMS * POLDER_REDUCE_BLOCKS];
};

/* The sum over a warp in a fixed order, in all of its threads */
static __device__ __forceinline__ PetscScalar PolderWarpSum(PetscScalar v)
{
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

/* v[k] <- the sum over a block, in thread 0. Unless AGAIN is said, the block must meet before the next call */
template <int BLOCK, int N, bool AGAIN = false>
__device__ __forceinline__ void PolderBlockSums(double (&v)[N])
{
  __shared__ double warp[N][BLOCK / 32];

  for (int o = 16; o > 0; o >>= 1)
    for (int k = 0; k < N; ++k) v[k] += __shfl_down_sync(0xffffffffu, v[k], o);
  for (int k = 0; k < N && threadIdx.x % 32 == 0; ++k) warp[k][threadIdx.x / 32] = v[k];
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int k = 0; k < N; ++k) v[k] = threadIdx.x < BLOCK / 32 ? warp[k][threadIdx.x] : 0.0;
    for (int o = 16; o > 0; o >>= 1)
      for (int k = 0; k < N && o < BLOCK / 32; ++k) v[k] += __shfl_down_sync(0xffffffffu, v[k], o);
  }
  if (AGAIN) __syncthreads();
}

/* The sum over a block, in thread 0 */
template <int BLOCK>
__device__ __forceinline__ double PolderBlockSum(double v)
{
  double sum[1] = {v};

  PolderBlockSums<BLOCK, 1, true>(sum);
  return sum[0];
}

/* (row, x) of n entries by a warp, in all of its threads; row is one of a matrix whose rows begin where pairs can be read from */
static __device__ __forceinline__ double PolderDenseRow(PetscInt n, const PetscScalar *__restrict__ row, const PetscScalar *x)
{
  const int lane = threadIdx.x % 32;
  double    sum  = 0;

#pragma unroll 4
  for (PetscInt j = 2 * lane; j + 1 < n; j += 64) {
    const double2 a = __ldg((const double2 *)(row + j));

    sum += a.x * x[j] + a.y * x[j + 1];
  }
  if (n % 2 && lane == 0) sum += row[n - 1] * x[n - 1];
  return PolderWarpSum(sum);
}

/*
  sum[k] over all threads of a one-dimensional grid of at most POLDER_REDUCE_BLOCKS blocks: thread 0 of the block that ends last calls finish(sum).
  That block adds the sums of the blocks in the order of their numbers.
*/
template <int BLOCK, int N, class Finish>
__device__ __forceinline__ void PolderGridSum(double (&sum)[N], PolderReduceScratch *scratch, Finish finish)
{
  __shared__ bool last;

  PolderBlockSums<BLOCK>(sum);
  if (threadIdx.x == 0) {
    for (int k = 0; k < N; ++k) scratch->partial[k * POLDER_REDUCE_BLOCKS + blockIdx.x] = sum[k];
    __threadfence();
    last = atomicInc(&scratch->counter, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int k = 0; k < N; ++k) {
    sum[k] = 0;
    for (unsigned int b = threadIdx.x; b < gridDim.x; b += BLOCK) sum[k] += __ldcg(&scratch->partial[k * POLDER_REDUCE_BLOCKS + b]);
  }
  PolderBlockSums<BLOCK>(sum);
  if (threadIdx.x == 0) finish(sum);
}
