/*
  Launchers of the device kernels, grouped by file. Sizes, raw device pointers and a stream: no PETSc objects, no allocation, no waiting.
  Each returns a cudaError_t as int and is the twin of the host kernel of the same stem (src/kernels/kernels.h).
*/
#pragma once

#include <petscsys.h>

typedef struct CUstream_st *PolderStream;

#if defined(__cplusplus)
  #define POLDER_LAUNCHER extern "C" PETSC_VISIBILITY_INTERNAL
#else
  #define POLDER_LAUNCHER PETSC_INTERN
#endif

/* Bytes of scratch of any launcher that reduces; zeroed once by its owner, left as it was by every launch, so that it can be shared on one stream */
POLDER_LAUNCHER size_t PolderReduceWork_CUDA(void);

/* vec.cu */
/* *dot = (x, y), a device scalar */
POLDER_LAUNCHER int PolderDot_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream);
