/* Coordinates in the order of compressed rows: the pattern is what is left of them without the ignored ones. */
#pragma once

#include "aijderived.h"

/* Entry e of stretch s, first[s] <= e < first[s+1], is value e + skip[s]; first[n] = nz. Host arrays */
typedef struct {
  PetscInt  nz, n;
  PetscInt *first, *skip;
} PolderStretches;

/* Are rows and, in each of them, columns of the n > 0 coordinates ascending and distinct, as far as they are not ignored? Then makes the stretches and the
   pattern, in which j is changed, with values zero; MatSetValuesCOO() assembles it. Sequential matrices of ours */
PETSC_INTERN PetscErrorCode PolderCOOOrdered(Mat A, PetscInt n, const PetscInt i[], PetscInt j[], PolderStretches *, PetscBool *ordered);
PETSC_INTERN PetscErrorCode PolderStretchesFree(PolderStretches *);
/* Values from the host */
PETSC_INTERN PetscErrorCode PolderCOOSetOrdered(Mat A, const PolderStretches *, const PetscScalar v[], InsertMode);
/* Gives the n coordinates to PETSc after all, before the matrix becomes a plain one; the values stay */
PETSC_INTERN PetscErrorCode PolderCOOToBase(Mat A, PetscInt n, const PolderStretches *);
