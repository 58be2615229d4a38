/* The dense coarse matrix E on the device of this process, with its explicit inverse or its Cholesky factor. */
#pragma once

#include "core/core.h"

typedef struct _n_PolderCoarseDevice *PolderCoarseDevice;

typedef struct {
  PetscInt  nzero, nnull, ndep; /* columns left out: zero, kernel of A, dependent on others */
  PetscReal cond, resid;        /* cond: of E scaled to unit diagonal, a general E to entries of at most 1; resid: of one solve */
  PetscBool bad;                /* E has an entry that is infinite or not a number */
  PetscBool refined;            /* the product with the inverse is followed by one step of refinement */
} PolderCoarseReport;

/* E of d columns, of which *n entries key = i * d + j (ascending) have the values val, all in device memory. nullspace: see PolderCoarseSetUp() */
typedef struct {
  PetscInt           d;
  const PetscInt    *n;
  const PetscInt64  *key;
  const PetscScalar *val;
  PetscBool          nullspace;
} PolderCoarseEntries;

/* Parameters of the solver */
typedef struct {
  PetscBool general;  /* E is not symmetric: no half of it stands for the other */
  PetscBool cholesky; /* the factor, not the inverse; E is symmetric */
  PetscReal zero;     /* a diagonal entry, or a row and a column, counts as zero below this fraction of the largest */
  PetscReal singular; /* E counts as singular when its condition number times the machine precision reaches this */
  PetscReal loss;     /* residual above which the inverse needs refinement */
} PolderCoarseDemands;

/* Creates *coarse, or sets it up again with its arrays */
PETSC_INTERN PetscErrorCode PolderCoarseDeviceSetUp(PolderCoarseDevice *coarse, const PolderCoarseEntries *, const PolderCoarseDemands *, PolderCoarseReport *);
PETSC_INTERN PetscErrorCode PolderCoarseDeviceDestroy(PolderCoarseDevice *);
/* a2 <- E^-1 a1, zero in the columns left out; arrays of the device, aligned to 16 bytes */
PETSC_INTERN PetscErrorCode PolderCoarseDeviceSolve(PolderCoarseDevice, const PetscScalar a1[], PetscScalar a2[], PetscBool early);
/* Bytes of device memory in use */
PETSC_INTERN PetscErrorCode PolderCoarseDeviceGetBytes(PolderCoarseDevice, PetscLogDouble *);
