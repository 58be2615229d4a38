/* Several inner products of one vector in one pass. */
#pragma once

#include "launch.cuh"
#include "kernels/vec.h"

template <int N>
struct PolderDotsOf {
  const PetscScalar  *y[N];
  PetscScalar        *dots;
  volatile PetscReal *arrived;
};

/* Blocks on each multiprocessor, all at once: the compiler gives the sums and the loads in flight what registers are left. The fastest of 3 to 8 on an H200 */
static __host__ __device__ constexpr int PolderDotsBlocks(int sums)
{
  return sums <= 2 ? 8 : sums < 10 || sums == 16 ? 4 : 5;
}

/* The sums of N rows of n numbers, each by a warp: to(k, sum of row(k)[i], i < n) by its first lane */
template <int N, class Row, class To>
static __device__ __forceinline__ void PolderRowSums(unsigned int n, Row row, To to)
{
  for (int k = (int)threadIdx.x / 32; k < N; k += POLDER_BLOCK / 32) {
    double sum = 0;

    for (unsigned int i = threadIdx.x % 32; i < n; i += 32) sum += row(k, i);
    sum = PolderWarpSum(sum);
    if (threadIdx.x % 32 == 0) to(k, sum);
  }
}

/* The block that ends last adds the sums of the blocks in the order of their numbers */
template <int N>
static __global__ void __launch_bounds__(POLDER_BLOCK, PolderDotsBlocks(N))
  PolderDotsKernel(PetscInt n, const PetscScalar *__restrict__ x, const __grid_constant__ PolderDotsOf<N> of, PolderReduceScratch *scratch)
{
  const PetscInt    stride = (PetscInt)gridDim.x * POLDER_BLOCK;
  double            sum[N] = {};
  __shared__ double warps[N][POLDER_BLOCK / 32];
  __shared__ bool   last;

#pragma unroll 1
  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += stride) {
    const PetscScalar xi = x[i];

#pragma unroll
    for (int k = 0; k < N; ++k) sum[k] += xi * __ldg(of.y[k] + i);
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    sum[k] = PolderWarpSum(sum[k]);
    if (threadIdx.x % 32 == 0) warps[k][threadIdx.x / 32] = sum[k];
  }
  __syncthreads();
  PolderRowSums<N>(
    POLDER_BLOCK / 32, [&](int k, unsigned int i) { return warps[k][i]; }, [=](int k, double s) { scratch->partial[k * gridDim.x + blockIdx.x] = s; });
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&scratch->counter, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  PolderRowSums<N>(
    gridDim.x, [=](int k, unsigned int b) { return __ldcg(&scratch->partial[k * gridDim.x + b]); }, [&](int k, double s) { of.dots[k] = s; });
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0 && of.arrived) *of.arrived = 0;
}

template <int N>
static int PolderDots(PetscInt n, const PetscScalar x[], const PetscScalar *const y[], const PolderDotsTo *to, void *work, PolderStream stream)
{
  const unsigned int most = (unsigned int)PetscMin(POLDER_REDUCE_SUMS * POLDER_REDUCE_BLOCKS / N, PolderDotsBlocks(N) * PolderMultiprocessors());
  PolderDotsOf<N>    of;

  for (int k = 0; k < N; ++k) of.y[k] = y[k];
  of.dots    = to->dots;
  of.arrived = to->arrived;
  PolderDotsKernel<N><<<PetscClipInterval(PolderBlocks(n, POLDER_BLOCK), 1, most), POLDER_BLOCK, 0, stream>>>(n, x, of, (PolderReduceScratch *)work);
  return cudaGetLastError();
}

/* Two or more of them, in a module of their own */
int PolderDotsMore(PetscInt n, PetscInt count, const PetscScalar x[], const PetscScalar *const y[], const PolderDotsTo *to, void *work, PolderStream stream);
