/* COO assembly for coordinates that are sorted by row and column. The pattern is the list of coordinates without the ignored ones. */
#pragma once

#include "aijderived.h"

/* Host arrays. Stretch s covers the entries first[s] <= e < first[s+1]; entry e is value e + skip[s]. first[n] = nz */
typedef struct {
  PetscInt  nz, n;
  PetscInt *first, *skip;
} PolderStretches;

/* Stretches of the diagonal block and, of a parallel matrix, the off-diagonal block */
PETSC_INTERN PetscErrorCode PolderStretchesFree(PolderStretches[2]);
/* Tests whether all coordinates of all processes are ignored ones or those of their own rows, sorted by row and, in each block, by column, without duplicates.
   If so, makes the stretches and the pattern with zero values, and changes j. MatSetValuesCOO() assembles the pattern. For Polder matrices; collective */
PETSC_INTERN PetscErrorCode PolderCOOOrdered(Mat A, PolderLayout, PetscCount n, const PetscInt i[], PetscInt j[], PolderStretches[2], PetscBool *ordered);
/* Sets values from the host */
PETSC_INTERN PetscErrorCode PolderCOOSetOrdered(Mat A, PolderLayout, const PolderStretches[2], const PetscScalar v[], InsertMode);
/* Passes the n coordinates to PETSc before the matrix is converted to plain AIJ; the values stay */
PETSC_INTERN PetscErrorCode PolderCOOToBase(Mat A, PolderLayout, PetscInt n, const PolderStretches[2]);
