/* A preconditioner M^-1 = G^T G, or M^-1 = G alone, by products with matrices whose values are computed at a place. */
#pragma once

#include "rows.h"

typedef struct {
  PolderRowsPC rows;  // the first
  Mat          G, GT; /* GT: NULL for M^-1 = G */
  Vec          work;
  PetscInt     nz;
  PetscBool    direct;    /* the rows are all here, on the host: the values are computed in the arrays of the matrices */
  PetscScalar *val;       /* [nz] at the place: the entries of G by rows; direct: those of G between Get and Set */
  PetscInt    *turned;    /* [nz] at the place, on one process: the entries by rows of G^T; else NULL */
  PetscScalar *turnedval; /* and their values, unless direct */
} PolderFactored;

/* Matrices with the type of Pmat. Local row r of G has the global columns column[start[r]] .. column[start[r + 1] - 1]: its own ones ascend, and so do those of
   other processes. Collective */
PETSC_INTERN PetscErrorCode PolderFactoredCreate(PC, const PetscInt start[], const PetscInt column[], PetscBool transposed);
/* val[nz] at the place, which then receive the entries of G; Set gives them to G and G^T */
PETSC_INTERN PetscErrorCode PolderFactoredGet(PC, PetscScalar **val);
PETSC_INTERN PetscErrorCode PolderFactoredSet(PC, PetscScalar **val);
/* Steps of PolderRowsSteps */
PETSC_INTERN PetscErrorCode PolderFactoredApply(PC, Vec r, Vec z);
PETSC_INTERN PetscErrorCode PolderFactoredFree(PC);
PETSC_INTERN PetscErrorCode PolderFactoredView(PC, PetscViewer);
