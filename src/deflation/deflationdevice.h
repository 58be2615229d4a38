/* The device side of a deflation space: Z and AZ in device memory, for all d columns. */
#pragma once

#include "deflationspace.h"
#include "kernels/deflation.h"

struct _n_PolderDeflationDevice {
  PetscInt         m, d;
  PetscInt        *label;    /* [m], label form */
  PolderRuns       runs;     /* runs of equal labels along the lines of a grid; m = 0: not used */
  PolderSegments   columns;  /* Z by columns; its items are rows, or the runs */
  PolderSparseRows Z, AZ;    /* general form of Z; AZ on its rows */
  PolderSegments   wcolumns; /* AZ by columns, built at its first use */
  PetscScalar     *a1, *a2;  /* [d] work */
};

/*
  deflationruns.c: runs of equal labels along the lines in which the product with A is computed, and their segments; done = PETSC_FALSE when there are no such
  lines, when the runs are too short to pay, or when the product does not tell what the columns of other processes add. Collective
*/
PETSC_INTERN PetscErrorCode PolderDeflationMakeRuns(PolderDeflationDevice, Mat A, PetscBool *done);
PETSC_INTERN PetscErrorCode PolderDeflationDestroyRuns(PolderDeflationDevice);

/* Builds the segments of n items with the given labels, without unlabelled items; arrays of the same size are reused */
PETSC_INTERN PetscErrorCode PolderSegmentsBuild(PetscInt n, PetscInt nlabel, const PetscInt label[], PolderSegments *);
