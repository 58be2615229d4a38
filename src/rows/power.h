/* The pattern of the powers of a matrix whose rows are all here. */
#pragma once

#include "mat/csr.h"

/* Patterns of rows on the host; alike[i]: row i is row i - 1 with all columns moved by one */
typedef struct {
  PetscInt n, *start, *column; /* from PolderOnHost */
  char    *alike;
} PolderPattern;

/* C <- A P, or its lower triangle; columns ascend in all of them. P = NULL: A itself. The matrix has all diagonal entries */
PETSC_INTERN PetscErrorCode PolderPatternProduct(const PolderCSR *A, const PolderPattern *P, PetscBool lower, PolderPattern *C);
PETSC_INTERN PetscErrorCode PolderPatternDestroy(PolderPattern *);
