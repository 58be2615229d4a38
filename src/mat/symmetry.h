/* Tests whether a matrix is symmetric, even if the program has said that it is not or has said nothing. No test builds the transpose, which needs an array
   of its own on the device. All functions are collective. */
#pragma once

#include "core/core.h"

/* A relative difference of the two sides above this is not rounding */
#define POLDER_SYMMETRIC 1e-10

/* Reads the entries once on the host: does A w agree with A^T w, for one w, in the diagonal block of each process? Entries that are not finite count as
   equal */
PETSC_INTERN PetscErrorCode PolderMatBlockSymmetric(Mat A, PetscBool *symmetric);
/* Uses two products: is (w, A v) = (v, A w) for pseudo-random vectors? */
PETSC_INTERN PetscErrorCode PolderMatProductsSymmetric(Mat A, PetscBool *symmetric);
