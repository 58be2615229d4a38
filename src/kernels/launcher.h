/*
  What all kernels share. Each topic has a header beside this one, which declares a host kernel PolderXxx_Host() and below it the launcher PolderXxx_CUDA()
  of its device twin; the comment above the two holds for both, but for what it says of "host" or "device". The twins are in files of one name,
  src/kernels/topic.c and cuda/topic.cu.

  Kernels know sizes and raw pointers: no PETSc objects, no allocation. A launcher has a stream as well, and does not wait; it returns a cudaError_t as int.
  Its arrays and results are in device memory, unless said otherwise, and its sizes on the host.
*/
#pragma once

#include <petscsys.h>

/* A cudaStream_t, without CUDA's headers */
typedef struct CUstream_st *PolderStream;

#if defined(__cplusplus)
  #define POLDER_LAUNCHER extern "C" PETSC_VISIBILITY_INTERNAL
#else
  #define POLDER_LAUNCHER PETSC_INTERN
#endif
