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

/* csr.cu */
/*
  z[i] = y[i] + alpha (row i of a CSR matrix) . x for the n rows i = row[k]; row = NULL: i = k. y = NULL stands for zero and may be z. nz tells how long rows are:
  it is their number of entries in all. dot != NULL: a device scalar that becomes (row = NULL) or is raised by the sum of p[i] (row i) . x
*/
POLDER_LAUNCHER int PolderCsrMult_CUDA(PetscInt n, const PetscInt row[], PetscInt nz, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], const PetscScalar p[], PetscScalar *dot, void *work, PolderStream stream);
/* d[i] = entry (i, i), zero where there is none */
POLDER_LAUNCHER int PolderCsrDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[], PolderStream stream);
/* y[k] = x[index[k]] */
POLDER_LAUNCHER int PolderGather_CUDA(PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* aa[k] = (insert: 0, else aa[k]) + the sum of v[perm[e]], e = map[k] .. map[k+1] */
POLDER_LAUNCHER int PolderCooSum_CUDA(PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[], PolderStream stream);
/* The numbers k < n with mark[k] != 0, in any order, as far as `most` goes; *count, zero on entry, becomes the number of all */
POLDER_LAUNCHER int PolderMarkedList_CUDA(PetscInt n, const char mark[], PetscInt most, PetscInt list[], PetscInt *count, PolderStream stream);
