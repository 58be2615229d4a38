/* Compressed rows of a sequential AIJ matrix in device memory, uploaded once for each change. */
#pragma once

#include "core/device.h"
#include <petscmat.h>

/* Which packing suits the rows on their way to the device */
typedef enum {
  POLDER_PACKED_HALF, /* of the values */
  POLDER_PACKED_WHOLE,
  POLDER_PACKED_NOT
} PolderMirrorPacking;

typedef struct {
  Mat                 matrix; /* without reference counting */
  PetscInt            m, n, nz;
  PetscInt           *ai, *aj; /* device */
  PetscScalar        *aa;
  PetscObjectState    state, nonzerostate; /* of the matrix when the arrays were made; -1: not valid */
  PetscObjectId       id;                  /* of the matrix: a new preallocation of a parallel matrix makes a new block */
  PetscInt            pattern, version;    /* count the changes of the pattern and of the values */
  PetscBool           newest;              /* the values here are newer than those on the host */
  PetscBool           zero;                /* all values are zero, but no zeros are written on either side; only nz is valid */
  PolderMirrorPacking packing;             /* that suits the pattern, and the values so far */
  PetscInt            nrow, *row;          /* the nonempty rows, on request (device) */
  PetscInt            low;                 /* so many of them are the first rows, the others the last, and the k-th has one entry, in column k; -1: not so */
  /* the transposed rows: their values are aa[tperm[]] */
  PetscInt    *ti, *tj, *tperm;
  PetscScalar *ta;
  PetscInt     tpattern, tversion;
} * PolderMirror;

/* Updates the pattern only, for values that are computed on the device */
PETSC_INTERN PetscErrorCode PolderMirrorUpdatePattern(PolderMirror *, Mat A, PetscBool withrows);
/* Sets a new pattern whose values are zero */
PETSC_INTERN PetscErrorCode PolderMirrorZero(PolderMirror *, Mat A);
/* Brings the mirror of A up to date and creates it when it is NULL. withrows: also the list of nonempty rows */
PETSC_INTERN PetscErrorCode PolderMirrorUpdate(PolderMirror *, Mat A, PetscBool withrows);
/* The state of A has moved, but the values of the mirror are those of A */
PETSC_INTERN PetscErrorCode PolderMirrorKeep(PolderMirror, Mat A);
PETSC_INTERN PetscErrorCode PolderMirrorDestroy(PolderMirror *);
/* Copies the rows to the arrays of the mirror, whose sizes are set: the pattern, if asked for, and the values, unless aa is NULL */
PETSC_INTERN PetscErrorCode PolderMirrorSend(PolderMirror, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool pattern);
/* z = y + alpha A x; y = NULL stands for zero, y may equal z; dot != NULL: a device scalar that receives (x, A x) */
PETSC_INTERN PetscErrorCode PolderMirrorMult(PolderMirror, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot);
/* z += alpha A x on the nonempty rows; dot != NULL: *dot += (p, A x) */
PETSC_INTERN PetscErrorCode PolderMirrorMultAddRows(PolderMirror, PetscScalar alpha, const PetscScalar x[], PetscScalar z[], const PetscScalar p[],
                                                    PetscScalar *dot);
/* z = y + A^T x */
PETSC_INTERN PetscErrorCode PolderMirrorMultTranspose(PolderMirror, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
