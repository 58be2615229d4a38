/* The rows of a process on the device as one matrix, whose columns m, m + 1, ... are those of other processes. */
#pragma once

#include "deflationspace.h"

typedef struct {
  PetscInt           m, nghost;
  PolderHalo         halo; /* NULL: no columns of other processes, and the arrays are those of the matrix */
  const PetscInt    *ai, *aj;
  const PetscScalar *aa;
  PetscInt          *ptr, *col; /* own arrays */
  PetscScalar       *val;
} PolderJoined;

PETSC_INTERN PetscErrorCode PolderJoinedCreate(Mat, const PolderCSR *, PolderJoined *);
PETSC_INTERN PetscErrorCode PolderJoinedDestroy(PolderJoined *);
static inline PolderRows    PolderJoinedRows(const PolderJoined *joined)
{
  return (PolderRows){.n = joined->m, .i = joined->ai, .j = joined->aj, .a = joined->aa};
}

/* *all <- an array of the integers of the rows own[], which may be own[] itself, and of the other columns. Collective */
PETSC_INTERN PetscErrorCode PolderJoinedValues(const PolderJoined *, PetscInt own[], PetscInt **all);
PETSC_INTERN PetscErrorCode PolderJoinedRestoreValues(const PolderJoined *, PetscInt **all);
/* Renews the integers of the other columns. Collective */
PETSC_INTERN PetscErrorCode PolderJoinedExchange(const PolderJoined *, PetscInt all[]);
