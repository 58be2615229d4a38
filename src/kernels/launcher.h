/*
  What all kernels share. Each topic has a header beside this one. It declares a host kernel PolderXxx_Host() and below it the launcher PolderXxx_CUDA() of
  its device twin; the comment above the two describes both, except for statements on "host" or "device". The twins are in files of the same name,
  src/kernels/topic.c and cuda/topic.cu.
  Kernels take sizes and raw pointers: no PETSc objects, no allocation. A launcher also takes a stream, does not synchronise, and returns a cudaError_t as
  int. Its arrays and results are in device memory, unless stated otherwise, and its sizes are host variables.
*/
#pragma once

#include <petscsys.h>

/* A cudaStream_t, declared without CUDA's headers */
typedef struct CUstream_st *PolderStream;

#if defined(__cplusplus)
  #define POLDER_LAUNCHER extern "C" PETSC_VISIBILITY_INTERNAL
#else
  #define POLDER_LAUNCHER PETSC_INTERN
#endif

/* Bodies that a host kernel and its device twin share. INLINE: the host, too, has to inline it, so that the loop around it is one of whole vectors */
#if defined(__CUDACC__)
  #define POLDER_BODY        static __host__ __device__ __forceinline__
  #define POLDER_BODY_INLINE POLDER_BODY
#else
  #define POLDER_BODY        static inline
  #define POLDER_BODY_INLINE static inline __attribute__((always_inline))
#endif
