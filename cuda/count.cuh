/* Counts, and bits, of a whole grid. */
#pragma once

#include "index.cuh"

/* *count += the sum of n over the threads of a block, all of which take part */
static __device__ __forceinline__ void PolderCount(PetscInt64 n, PetscInt64 *count)
{
  for (int o = 16; o > 0; o >>= 1) n += __shfl_down_sync(0xffffffffu, n, o);
  if (threadIdx.x % 32 == 0) atomicAdd((unsigned long long *)count, (unsigned long long)n);
}

/* count[k] += own[k] of all threads; every thread of a warp takes part */
template <int N>
static __device__ __forceinline__ void PolderAddCounts(const int (&own)[N], PetscInt *count)
{
  for (int k = 0; k < N; ++k) {
    const int all = __reduce_add_sync(0xffffffffu, own[k]);

    if (threadIdx.x % 32 == 0 && all) PolderAtomicAdd(&count[k], all);
  }
}

/*
  Sets bits of *seen; called by all threads of a block. Of the bits that are set already only a look at *seen remains: one for each block, because looks of
  every warp of a large grid at one address take longer than reading its data
*/
static __device__ __forceinline__ void PolderTell(int bits, int *seen)
{
  __shared__ int told;
  const int      thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);

  if (thread == 0) told = 0;
  if (!__syncthreads_or(bits)) return;
  bits = (int)__reduce_or_sync(0xffffffffu, (unsigned int)bits);
  if (thread % 32 == 0 && bits) atomicOr(&told, bits);
  __syncthreads();
  if (thread == 0 && (told & ~*(volatile int *)seen)) atomicOr(seen, told);
}

/* count[k] += the number of i < n for which bit k < N of bits(i) is set */
template <int N, class Bits>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderCountBitsKernel(PetscInt n, const __grid_constant__ Bits bits, PetscInt *count)
{
  const PetscInt stride = (PetscInt)gridDim.x * POLDER_BLOCK;
  int            own[N] = {};

  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += stride) {
    const unsigned word = bits(i);

    for (int k = 0; k < N; ++k) own[k] += word >> k & 1;
  }
  PolderAddCounts(own, count);
}

template <int N, class Bits>
static int PolderCountBits(PetscInt n, PetscInt count[], PolderStream stream, Bits bits)
{
  if (n > 0) PolderCountBitsKernel<N><<<PolderStrideBlocks(n), POLDER_BLOCK, 0, stream>>>(n, bits, count);
  return cudaGetLastError();
}
