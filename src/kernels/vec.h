/* Kernels for vectors: dot products, norm, reciprocal, transfer of small results to the host. */
#pragma once

#include "launcher.h"

/* Bytes of scratch of any launcher that reduces. The owner zeroes it once; every launch leaves it zeroed, so all launches on one stream can share it */
POLDER_LAUNCHER size_t PolderReduceWork_CUDA(void);

/* (x, y); device: stored in *dot */
PETSC_INTERN PetscReal PolderDot_Host(PetscInt n, const PetscScalar x[], const PetscScalar y[]);
POLDER_LAUNCHER int    PolderDot_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream);
/* dots[k] <- (x, y[k]) for 0 <= k < count <= POLDER_DOTS; y: an array of the host, dots: of the device */
#define POLDER_DOTS 8
POLDER_LAUNCHER int PolderDots_CUDA(PetscInt n, PetscInt count, const PetscScalar x[], const PetscScalar *const y[], PetscScalar dots[], void *work,
                                    PolderStream stream);
/* *norm, in shared memory, <- ||x||; infinity for NaN */
POLDER_LAUNCHER int PolderNorm_CUDA(PetscInt n, const PetscScalar x[], volatile PetscReal *norm, void *work, PolderStream stream);
/* y = 1 / x, and `zero` where x is 0 */
PETSC_INTERN void   PolderReciprocal_Host(PetscInt n, PetscScalar zero, const PetscScalar x[], PetscScalar y[]);
POLDER_LAUNCHER int PolderReciprocal_CUDA(PetscInt n, PetscScalar zero, const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* Copies words of 32 bits from device memory to shared memory, then sets *arrived there to zero */
POLDER_LAUNCHER int PolderSend_CUDA(int words, const void *from, void *to, volatile PetscReal *arrived, PolderStream stream);
