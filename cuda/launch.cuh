/*
  What the kernels share: launch configurations and sums in a fixed order. Results do not depend on the order of the blocks, so they are bitwise reproducible.
*/
#pragma once

#include "kernels/launcher.h"
#include <type_traits>

/* Threads of a block, and the maximum number of blocks of a reduction */
#define POLDER_BLOCK         256
#define POLDER_REDUCE_BLOCKS 4096
/* All lanes of a warp */
#define FULL_WARP 0xffffffffu
/* Maximum number of sums of one kernel */
#define POLDER_REDUCE_SUMS 8

static inline unsigned int PolderBlocks(PetscInt n, int perblock)
{
  return (unsigned int)((n + perblock - 1) / perblock);
}

/* The blocks of a kernel that goes through n rows in strides, each of which adds something up at its end: at most 1024 */
static inline unsigned int PolderStrideBlocks(PetscInt n)
{
  return PolderBlocks(n < 1024 * POLDER_BLOCK ? n : 1024 * POLDER_BLOCK, POLDER_BLOCK);
}

/* Multiprocessors of the device in use */
static inline int PolderMultiprocessors(void)
{
  int device, count = 0;

  if (cudaGetDevice(&device) == cudaSuccess) (void)cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count > 0 ? count : 1;
}

/*
  Programmatic dependent launch of short consecutive kernels: a kernel launched early may take its place while the preceding one ends. Before PolderAwait() it
  may read only data older than all kernels since the last one that was not launched early, afterwards everything. At least one of its threads awaits, so that
  it never ends before the preceding kernel. PolderRelease() allows the next kernel to take its place.
*/
static __device__ __forceinline__ void PolderAwait(void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ __forceinline__ void PolderRelease(void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* The first statement of a kernel that reads nothing older */
static __device__ __forceinline__ void PolderBegin(void)
{
  PolderRelease();
  PolderAwait();
}

/* Has the code of a kernel PolderAwait()? Code for older architectures has not. All kernels are compiled for the same architectures */
template <class... Args>
static inline bool PolderAwaits(void (*kernel)(Args...))
{
  static const bool awaits = [=] {
    cudaFuncAttributes code;

    return cudaFuncGetAttributes(&code, (const void *)kernel) == cudaSuccess && code.ptxVersion >= 90;
  }();

  return awaits;
}

/* The attribute of an early launch */
static inline cudaLaunchAttribute PolderEarly(void)
{
  cudaLaunchAttribute attribute = {};

  attribute.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

/* The attribute of a launch whose blocks form clusters of so many */
static inline cudaLaunchAttribute PolderCluster(int blocks)
{
  cudaLaunchAttribute attribute = {};

  attribute.id               = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = (unsigned int)blocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  return attribute;
}

/* shared: bytes of dynamic shared memory */
template <class... Args>
static inline void PolderLaunchShared(bool early, size_t shared, void (*kernel)(Args...), dim3 blocks, dim3 threads, cudaStream_t stream,
                                      std::common_type_t<Args>... args)
{
  cudaLaunchAttribute attribute = PolderEarly();
  cudaLaunchConfig_t  config    = {};

  config.gridDim          = blocks;
  config.blockDim         = threads;
  config.dynamicSmemBytes = shared;
  config.stream           = stream;
  config.attrs            = &attribute;
  config.numAttrs         = early && PolderAwaits(kernel);
  (void)cudaLaunchKernelEx(&config, kernel, args...);
}

template <class... Args>
static inline void PolderLaunchKernel(bool early, void (*kernel)(Args...), dim3 blocks, dim3 threads, cudaStream_t stream, std::common_type_t<Args>... args)
{
  PolderLaunchShared(early, 0, kernel, blocks, threads, stream, args...);
}

/* Launches a kernel that begins with PolderBegin() */
template <class... Args>
static inline void PolderLaunchEarly(void (*kernel)(Args...), dim3 blocks, dim3 threads, cudaStream_t stream, std::common_type_t<Args>... args)
{
  PolderLaunchKernel(true, kernel, blocks, threads, stream, args...);
}

/* Does the current device support kernels whose blocks wait for each other? */
static inline PetscBool PolderCooperative(void)
{
  int device, is = 0;

  return (PetscBool)(cudaGetDevice(&device) == cudaSuccess && cudaDeviceGetAttribute(&is, cudaDevAttrCooperativeLaunch, device) == cudaSuccess && is);
}

/* Scratch of a reduction: a counter, zero between launches, and the partial sums of each block */
struct PolderReduceScratch {
  unsigned int counter;
  double       partial[POLDER_REDUCE_SUMS * POLDER_REDUCE_BLOCKS];
};

/* The sum over a warp in a fixed order, returned in all of its threads */
template <class V>
static __device__ __forceinline__ V PolderWarpSum(V v)
{
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

/* The sum over the threads of a warp up to this one, itself included */
static __device__ __forceinline__ PetscInt PolderWarpUntil(PetscInt v)
{
  for (int o = 1; o < 32; o *= 2) {
    const PetscInt before = __shfl_up_sync(0xffffffffu, v, o);

    if (threadIdx.x % 32 >= o) v += before;
  }
  return v;
}

/* v[k] <- the sum over a block, in thread 0. Unless AGAIN is set, the block must synchronise before the next call */
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

/* Eight pairs of a row of n entries, from entry 2 lane + first on, zeros beyond its end; *sum += their products with x */
struct PolderDensePairs {
  double2 a[8];

  __device__ __forceinline__ void Load(PetscInt n, const PetscScalar *__restrict__ row, PetscInt first)
  {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const PetscInt j = first + 2 * (PetscInt)(threadIdx.x % 32) + 64 * k;

      a[k] = j + 1 < n ? __ldg((const double2 *)(row + j)) : make_double2(0, 0);
    }
  }

  __device__ __forceinline__ void Add(PetscInt n, const PetscScalar *x, PetscInt first, double *sum) const
  {
    double2 t[8];

#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const PetscInt j = first + 2 * (PetscInt)(threadIdx.x % 32) + 64 * k;

      t[k] = j + 1 < n ? make_double2(x[j], x[j + 1]) : make_double2(0, 0);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) *sum += a[k].x * t[k].x + a[k].y * t[k].y;
  }
};

/* (row, x) of n entries by a warp, returned in all of its threads. The rows of the matrix are aligned for pairs. x is read after ready() */
template <class Ready>
static __device__ __forceinline__ double PolderDenseRow(PetscInt n, const PetscScalar *__restrict__ row, const PetscScalar *x, Ready ready)
{
  double           sum = 0;
  PolderDensePairs pairs;

  pairs.Load(n, row, 0);
  ready();
  pairs.Add(n, x, 0, &sum);
  for (PetscInt first = 512; first + 1 < n; first += 512) {
    pairs.Load(n, row, first);
    pairs.Add(n, x, first, &sum);
  }
  if (n % 2 && threadIdx.x % 32 == 0) sum += row[n - 1] * x[n - 1];
  return PolderWarpSum(sum);
}

/*
  sum[k] over all threads of a one-dimensional grid of at most POLDER_REDUCE_BLOCKS blocks: true in the block that ends last. It adds the sums of the blocks in
  the order of their numbers, and its thread 0 has the result.
*/
template <int BLOCK, int N>
__device__ __forceinline__ bool PolderGridSums(double (&sum)[N], PolderReduceScratch *scratch)
{
  __shared__ bool last;

  PolderBlockSums<BLOCK>(sum);
  if (threadIdx.x == 0) {
    for (int k = 0; k < N; ++k) scratch->partial[k * POLDER_REDUCE_BLOCKS + blockIdx.x] = sum[k];
    __threadfence();
    last = atomicInc(&scratch->counter, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  for (int k = 0; k < N; ++k) {
    sum[k] = 0;
    for (unsigned int b = threadIdx.x; b < gridDim.x; b += BLOCK) sum[k] += __ldcg(&scratch->partial[k * POLDER_REDUCE_BLOCKS + b]);
  }
  PolderBlockSums<BLOCK>(sum);
  return true;
}

/* The same, after which one thread calls finish(sum) */
template <int BLOCK, int N, class Finish>
__device__ __forceinline__ void PolderGridSum(double (&sum)[N], PolderReduceScratch *scratch, Finish finish)
{
  if (PolderGridSums<BLOCK>(sum, scratch) && threadIdx.x == 0) finish(sum);
}
