/* Vectors. */
#pragma once

#include "launcher.h"

/* Bytes of scratch of any launcher that reduces; zeroed once by its owner, left as it was by every launch, so that it can be shared on one stream */
POLDER_LAUNCHER size_t PolderReduceWork_CUDA(void);

/* (x, y); device: to *dot */
PETSC_INTERN PetscReal PolderDot_Host(PetscInt n, const PetscScalar x[], const PetscScalar y[]);
POLDER_LAUNCHER int    PolderDot_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream);
/* *norm, in shared memory, <- ||x||, infinity for NaN */
POLDER_LAUNCHER int PolderNorm_CUDA(PetscInt n, const PetscScalar x[], volatile PetscReal *norm, void *work, PolderStream stream);
/* Words of 32 bits from device memory into shared memory, and then zero into *arrived there */
POLDER_LAUNCHER int PolderSend_CUDA(int words, const void *from, void *to, volatile PetscReal *arrived, PolderStream stream);
