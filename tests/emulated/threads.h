/* The threads of a CUDA kernel without barriers, one after the other and the last one first, for .cu files that are compiled as C++ */
#pragma once

#include <petscsys.h>

#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __device__
#define __forceinline__ inline

struct dim3 {
  unsigned int x, y, z;

  dim3(unsigned int nx = 1, unsigned int ny = 1, unsigned int nz = 1) : x(nx), y(ny), z(nz) { }
};

typedef void *cudaStream_t;

static dim3 blockIdx, blockDim, threadIdx;

#define PetscGetCurrentCUDAStream(stream) (*(stream) = NULL, PETSC_SUCCESS)
#define cudaStreamSynchronize(stream)     (void)(stream)
#define cudaGetLastError()                (void)0
#define cudaMemGetInfo(unused, total)     (void)(*(unused) = *(total) = 1)
#define PetscCallCUDA(...)                __VA_ARGS__

/* (x, y, z) of thread number k */
static inline dim3 ThreadAt(dim3 of, unsigned int k)
{
  return dim3(k % of.x, k / of.x % of.y, k / of.x / of.y);
}

#define Threads(kernel, grid, block, stream, ...) \
  do { \
    (void)(stream); \
    blockDim = block; \
    for (unsigned int b_ = grid.x * grid.y * grid.z; b_-- > 0;) { \
      blockIdx = ThreadAt(grid, b_); \
      for (unsigned int t_ = block.x * block.y * block.z; t_-- > 0;) { \
        threadIdx = ThreadAt(block, t_); \
        kernel(__VA_ARGS__); \
      } \
    } \
  } while (0)
