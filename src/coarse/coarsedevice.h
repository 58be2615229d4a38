/* The dense coarse matrix E on the device of this process, with its explicit inverse or its Cholesky factor. */
#pragma once

#include "core/core.h"

typedef struct _n_PolderCoarseDevice *PolderCoarseDevice;

typedef struct {
  PetscInt  nzero, nnull, ndep; /* columns left out: zero, kernel of A, dependent on others */
  PetscReal cond, resid;        /* of E with unit diagonal; of one solve */
  PetscBool bad;                /* E has an entry that is infinite or not a number */
  PetscBool refined;            /* the product with the inverse is followed by one step of refinement */
} PolderCoarseReport;

/* The *n entries key = i * d + j (ascending) of E, all in device memory. Makes or reuses *coarse. zero: diagonal entries so much smaller than the largest count as zero;
   singular, loss: the condition times the machine precision at which E is taken for singular, and the residual at which the inverse alone is too rough */
PETSC_INTERN PetscErrorCode PolderCoarseDeviceSetUp(PolderCoarseDevice *coarse, PetscInt d, const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PetscBool nullspace, PetscBool cholesky, PetscReal zero, PetscReal singular, PetscReal loss, PolderCoarseReport *);
PETSC_INTERN PetscErrorCode PolderCoarseDeviceDestroy(PolderCoarseDevice *);
/* a2 <- E^-1 a1, zero in the columns left out; arrays of the device, aligned to 16 bytes */
PETSC_INTERN PetscErrorCode PolderCoarseDeviceSolve(PolderCoarseDevice, const PetscScalar a1[], PetscScalar a2[], PetscBool early);
/* Bytes that it keeps */
PETSC_INTERN PetscErrorCode PolderCoarseDeviceGetBytes(PolderCoarseDevice, PetscLogDouble *);
