/* A preconditioner M^-1 = G^T G, or M^-1 = G alone, by products with matrices whose values are computed at a place. */
#pragma once

#include "rows.h"

/* Arrays of a matrix of rows on the host */
typedef struct {
  PetscInt    *i, *j;
  PetscScalar *a;
} PolderFactoredRows;

typedef struct {
  PolderRowsPC       rows;  // the first
  Mat                G, GT; /* GT: NULL for M^-1 = G */
  Vec                work;
  PetscInt           m, nz;
  PetscBool          direct;    /* the rows are all here, on the host: the matrices share the arrays here[], and the values are computed in them */
  PolderFactoredRows here[2];   /* of G and G^T */
  PetscInt          *start;     /* [m + 1] at the place: where the entries of each row of G begin; direct: that of here[0] */
  PetscScalar       *val;       /* [nz] at the place: the entries of G by rows; direct: those of G between Get and Set */
  PetscInt          *turned;    /* [nz] at the device, on one process: the entries by rows of G^T; else NULL */
  PetscScalar       *turnedval; /* and their values */
} PolderFactored;

/* Matrices with the type of Pmat. Local row r of G has the global columns column[start[r]] .. column[start[r + 1] - 1]: its own ones ascend, and so do those of
   other processes. Takes start[] and, direct, column[], which are from PolderOnHost. Collective */
PETSC_INTERN PetscErrorCode PolderFactoredCreate(PC, PetscInt **start, PetscInt **column, PetscBool transposed);
/* val[nz] at the place, which then receive the entries of G; Set gives them to G and G^T */
PETSC_INTERN PetscErrorCode PolderFactoredGet(PC, PetscScalar **val);
PETSC_INTERN PetscErrorCode PolderFactoredSet(PC, PetscScalar **val);
/* Steps of PolderRowsSteps */
PETSC_INTERN PetscErrorCode PolderFactoredApply(PC, Vec r, Vec z);
PETSC_INTERN PetscErrorCode PolderFactoredFree(PC);
PETSC_INTERN PetscErrorCode PolderFactoredView(PC, PetscViewer);
