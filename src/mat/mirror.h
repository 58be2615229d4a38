/* Compressed rows of a sequential AIJ matrix in device memory, uploaded once for each change. */
#pragma once

#include "core/device.h"
#include <petscmat.h>

typedef struct {
  Mat              matrix; /* not counted as a reference */
  PetscInt         m, n, nz;
  PetscInt        *ai, *aj; /* device */
  PetscScalar     *aa;
  PetscObjectState state, nonzerostate; /* of the matrix when the arrays were made; -1: not valid */
  PetscObjectId    id;                  /* of the matrix: a new preallocation of a parallel matrix makes a new block */
  PetscInt         pattern, version;    /* count the changes of the pattern and of the values */
  PetscBool        newest;              /* the values here are newer than those on the host */
  PetscBool        zero;                /* all of them are zero, which has been written neither here nor there; nz alone is valid */
  PetscInt         nrow, *row;          /* the rows that have entries, when asked for (device) */
  /* the transposed rows: their values are aa[tperm[]] */
  PetscInt    *ti, *tj, *tperm;
  PetscScalar *ta;
  PetscInt     tpattern, tversion;
} * PolderMirror;

/* The pattern alone, for values that are made on the device */
PETSC_INTERN PetscErrorCode PolderMirrorUpdatePattern(PolderMirror *, Mat A, PetscBool withrows);
/* A new pattern whose values are zero */
PETSC_INTERN PetscErrorCode PolderMirrorZero(PolderMirror *, Mat A);
/* Brings the mirror of A up to date; makes it when it is NULL. withrows: also the list of rows that have entries */
PETSC_INTERN PetscErrorCode PolderMirrorUpdate(PolderMirror *, Mat A, PetscBool withrows);
PETSC_INTERN PetscErrorCode PolderMirrorDestroy(PolderMirror *);
/* z = y + alpha A x; y = NULL stands for zero and may be z; dot != NULL: a device scalar that receives (x, A x) */
PETSC_INTERN PetscErrorCode PolderMirrorMult(PolderMirror, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot);
/* z += alpha A x on the rows that have entries; dot != NULL: *dot += (p, A x) */
PETSC_INTERN PetscErrorCode PolderMirrorMultAddRows(PolderMirror, PetscScalar alpha, const PetscScalar x[], PetscScalar z[], const PetscScalar p[],
                                                    PetscScalar *dot);
/* z = y + A^T x */
PETSC_INTERN PetscErrorCode PolderMirrorMultTranspose(PolderMirror, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
