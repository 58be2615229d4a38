/* Is a matrix symmetric? A program may have said that it is not, or nothing. Nothing here needs the transpose, which takes an array of its own on the
   device; all are collective. */
#pragma once

#include "core/core.h"

/* Two sides that differ by more than this, relative to the matrix, are not rounding */
#define POLDER_SYMMETRIC 1e-10

/* One look at the entries on the host: does A w agree with A^T w, for one w, in the diagonal block of each process? Entries that are not finite agree */
PETSC_INTERN PetscErrorCode PolderMatBlockSymmetric(Mat A, PetscBool *symmetric);
/* Two products: is (w, A v) = (v, A w) for vectors that are as good as random? */
PETSC_INTERN PetscErrorCode PolderMatProductsSymmetric(Mat A, PetscBool *symmetric);
