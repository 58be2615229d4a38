/* A preconditioner M^-1 = G^T G, or M^-1 = G alone, by products with matrices whose values are computed at a place. */
#pragma once

#include "rows.h"

typedef struct {
  PolderRowsPC rows;  // the first
  Mat          G, GT; /* GT: NULL for M^-1 = G */
  Vec          work;
  PetscInt     nz;
  PetscScalar *val;       /* [nz] at the place: the entries of G, in the order of the coordinates */
  PetscInt    *turned;    /* [nz] at the place, on one process: the entries by rows of G^T; else NULL */
  PetscScalar *turnedval; /* and their values */
} PolderFactored;

/* Matrices with the type of Pmat; i[nz], j[nz]: global coordinates of the entries of the local rows of G. Collective */
PETSC_INTERN PetscErrorCode PolderFactoredCreate(PC, PetscInt nz, const PetscInt i[], const PetscInt j[], PetscBool transposed);
/* Gives G and G^T the values of val[] */
PETSC_INTERN PetscErrorCode PolderFactoredSet(PC);
/* Steps of PolderRowsSteps */
PETSC_INTERN PetscErrorCode PolderFactoredApply(PC, Vec r, Vec z);
PETSC_INTERN PetscErrorCode PolderFactoredFree(PC);
PETSC_INTERN PetscErrorCode PolderFactoredView(PC, PetscViewer);
