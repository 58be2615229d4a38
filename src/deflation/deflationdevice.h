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
  PetscInt       m, d;
  PetscInt      *label;        /* [m], label form */
  PolderRuns     runs;         /* of equal labels along the lines of a grid; m = 0: there is none */
  PolderSegments columns;      /* Z by columns; its items are rows, or the runs */
  PetscInt       nz, *zi, *zj; /* Z by rows, general form */
  PetscScalar   *zv;
  PetscInt       nw, wnz, *wrow, *wi, *wj; /* AZ on its rows */
  PetscScalar   *wv;
  PolderSegments wcolumns; /* AZ by columns, from its first use on */
  PetscScalar   *a1, *a2;  /* [d] work */
  PetscScalar   *v;        /* [m] what stands for a host vector, from its first use on */
};

PETSC_INTERN PetscErrorCode PolderDeflationDeviceDestroy(PolderDeflationDevice *);
/* Frees all but the labels and Z by columns */
PETSC_INTERN PetscErrorCode PolderDeflationDeviceReset(PolderDeflationDevice);
/* Labels, AZ and E on the device from the device arrays of A; done = FALSE on several processes and where the kind of space does not allow it */
PETSC_INTERN PetscErrorCode PolderDeflationSetUpDevice(PolderDeflationSpace, Mat A, const PolderCSR *, PetscBool *done);
/* s->dev from what set-up made on the host */
PETSC_INTERN PetscErrorCode PolderDeflationUpload(PolderDeflationSpace);
/* deflationruns.c: runs of equal labels along the lines in which the product with A is made, and the segments of them; done = PETSC_FALSE when there are no such lines, or the
   runs are too short to pay */
PETSC_INTERN PetscErrorCode PolderDeflationMakeRuns(PolderDeflationDevice, Mat A, PetscBool *done);
PETSC_INTERN PetscErrorCode PolderDeflationDestroyRuns(PolderDeflationDevice);

/* n items of the given labels, those without one left out; arrays of the same sizes are kept */
PETSC_INTERN PetscErrorCode PolderSegmentsBuild(PetscInt n, PetscInt nlabel, const PetscInt label[], PolderSegments *);
/* The steps of the operators; vectors on the host are copied */
PETSC_INTERN PetscErrorCode PolderDeflationRestrict_Device(PolderDeflationSpace, Vec v);
PETSC_INTERN PetscErrorCode PolderDeflationRestrictAZ_Device(PolderDeflationSpace, Vec x, PetscBool subtract);
PETSC_INTERN PetscErrorCode PolderDeflationProlongAdd_Device(PolderDeflationSpace, PetscScalar alpha, Vec x);
/* v <- P v, and unless dot is NULL *dot less (Z^T v, E^-1 Z^T v), which is (p, AZ E^-1 Z^T v) when v = A p. summed: the runs have the sums of v; early: see kernels/deflation.h */
PETSC_INTERN PetscErrorCode PolderDeflationApplyP_Device(PolderDeflationSpace, Vec v, PetscBool summed, PetscBool early, PetscScalar *dot);
/* a2 <- column k of the identity */
PETSC_INTERN PetscErrorCode PolderDeflationUnit_Device(PolderDeflationSpace, PetscInt k);
/* Entries of AZ, and bytes of Z and AZ */
PETSC_INTERN PetscErrorCode PolderDeflationBytes_Device(PolderDeflationSpace, PetscReal *bytes);
