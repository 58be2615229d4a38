/* COO assembly for coordinates that are sorted by row and column. The pattern is the list of coordinates without the ignored ones. */
#pragma once

#include "aijderived.h"

/* Host arrays. Stretch s covers the entries first[s] <= e < first[s+1]; entry e is value e + skip[s]. first[n] = nz */
typedef struct {
  PetscInt  nz, n;
  PetscInt *first, *skip;
} PolderStretches;

/* Tests whether the n > 0 coordinates that are not ignored are sorted by row, then by column, without duplicates. If so, makes the stretches and the pattern
   with zero values, and changes j. MatSetValuesCOO() assembles the pattern. For sequential Polder matrices */
PETSC_INTERN PetscErrorCode PolderCOOOrdered(Mat A, PetscInt n, const PetscInt i[], PetscInt j[], PolderStretches *, PetscBool *ordered);
PETSC_INTERN PetscErrorCode PolderStretchesFree(PolderStretches *);
/* Sets values from the host */
PETSC_INTERN PetscErrorCode PolderCOOSetOrdered(Mat A, const PolderStretches *, const PetscScalar v[], InsertMode);
/* Passes the n coordinates to PETSc before the matrix is converted to plain AIJ; the values stay */
PETSC_INTERN PetscErrorCode PolderCOOToBase(Mat A, PetscInt n, const PolderStretches *);
