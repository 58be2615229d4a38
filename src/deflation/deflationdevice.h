/* The device side of a deflation space: Z and AZ in device memory, for all d columns. */
#pragma once

#include "deflationspace.h"

/* Rows cut into segments of one label each: see kernels/deflation.h */
typedef struct {
  PetscInt      n, nlabel, most; /* items, labels, most segments */
  PetscBool     wide;            /* a block a segment, not a warp */
  PetscInt     *item, *first, *ptr, *label;
  PetscScalar  *weight, *sum; /* weight = NULL: ones */
  unsigned int *counter;
} PolderSegments;

struct _n_PolderDeflationDevice {
  PetscInt         m, d;
  PetscInt        *label;    /* [m], label form */
  PolderRuns       runs;     /* of equal labels along the lines of a grid; m = 0: there is none */
  PolderSegments   columns;  /* Z by columns; its items are rows, or the runs */
  PolderSparseRows Z, AZ;    /* general form of Z; AZ on its rows */
  PolderSegments   wcolumns; /* AZ by columns, from its first use on */
  PetscScalar     *a1, *a2;  /* [d] work */
};

/* deflationruns.c: runs of equal labels along the lines in which the product with A is made, and the segments of them; done = PETSC_FALSE when there are
   no such lines, or the runs are too short to pay */
PETSC_INTERN PetscErrorCode PolderDeflationMakeRuns(PolderDeflationDevice, Mat A, PetscBool *done);
PETSC_INTERN PetscErrorCode PolderDeflationDestroyRuns(PolderDeflationDevice);

/* n items of the given labels, those without one left out; arrays of the same sizes are kept */
PETSC_INTERN PetscErrorCode PolderSegmentsBuild(PetscInt n, PetscInt nlabel, const PetscInt label[], PolderSegments *);
