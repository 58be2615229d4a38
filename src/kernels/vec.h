/* Kernels for vectors: dot products, norm, reciprocal, transfer of small results to the host. */
#pragma once

#include "launcher.h"

/* Bytes of scratch of any launcher that reduces. The owner zeroes it once; every launch leaves it zeroed, so all launches on one stream can share it */
POLDER_LAUNCHER size_t PolderReduceWork_CUDA(void);

/* (x, y); device: stored in *dot */
PETSC_INTERN PetscReal PolderDot_Host(PetscInt n, const PetscScalar x[], const PetscScalar y[]);
POLDER_LAUNCHER int    PolderDot_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream);
/* to->dots[k] <- (x, y[k]) for 0 <= k < count <= POLDER_DOTS; then *to->arrived <- 0. y: an array of the host */
#define POLDER_DOTS 16
typedef struct {
  PetscScalar        *dots;    /* on the device, or in shared memory */
  volatile PetscReal *arrived; /* in shared memory, or NULL */
} PolderDotsTo;
POLDER_LAUNCHER int PolderDots_CUDA(PetscInt n, PetscInt count, const PetscScalar x[], const PetscScalar *const y[], const PolderDotsTo *to, void *work,
                                    PolderStream stream);
/* y = own y + sum of a[k] x[k], 0 <= k < count <= POLDER_TERMS; y is not read where own is 0 */
#define POLDER_TERMS 32
typedef struct {
  PetscInt           count;
  PetscScalar        own;
  PetscScalar        a[POLDER_TERMS];
  const PetscScalar *x[POLDER_TERMS];
} PolderTerms;
PETSC_INTERN void   PolderCombine_Host(PetscInt n, const PolderTerms *, PetscScalar y[]);
POLDER_LAUNCHER int PolderCombine_CUDA(PetscInt n, const PolderTerms *, PetscScalar y[], PolderStream stream);
/* *norm, in shared memory, <- ||x||; infinity for NaN */
POLDER_LAUNCHER int PolderNorm_CUDA(PetscInt n, const PetscScalar x[], volatile PetscReal *norm, void *work, PolderStream stream);
/* y = 1 / x, and `zero` where x is 0 */
PETSC_INTERN void   PolderReciprocal_Host(PetscInt n, PetscScalar zero, const PetscScalar x[], PetscScalar y[]);
POLDER_LAUNCHER int PolderReciprocal_CUDA(PetscInt n, PetscScalar zero, const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* Copies words of 32 bits from device memory to shared memory, then sets *arrived there to zero */
POLDER_LAUNCHER int PolderSend_CUDA(int words, const void *from, void *to, volatile PetscReal *arrived, PolderStream stream);
