/* What the two places do differently with a deflation space: one table of steps each, which the set-up and the operators go through. */
#pragma once

#include "core/place.h"
#include "deflationspace.h"

struct _PolderDeflationSteps {
  const PolderPlace *place;
  const char        *zform; /* how Z is stored in label form, for the view */

  /* Set-up in label form from the rows of A that are at the place */
  PetscErrorCode (*getrows)(Mat A, PolderCSR *);
  PetscErrorCode (*restorerows)(Mat A, PolderCSR *);
  /* Labels and s->d; those of an earlier set-up when they are valid still, wherever they are */
  PetscErrorCode (*makelabels)(PolderDeflationSpace, Mat A, const PolderCSR *);
  /* From the labels to AZ and the solver for E */
  PetscErrorCode (*makeoperators)(PolderDeflationSpace, Mat A, const PolderCSR *);
  /* Rows of AZ, and bytes of Z and AZ, on this process */
  PetscErrorCode (*measure)(PolderDeflationSpace, PetscReal *rows, PetscReal *bytes);

  /* Steps of the operators; the vectors of one value a row are arrays at the place, a1 and a2 those of the place */
  /* a1 <- local part of Z^T v; summed: the runs have the sums of v; early: see cuda/kernels.h */
  PetscErrorCode (*restrictz)(PolderDeflationSpace, const PetscScalar v[], PetscBool summed, PetscBool early);
  /* a1 <- local part of (AZ)^T x, or a1 less that */
  PetscErrorCode (*restrictaz)(PolderDeflationSpace, const PetscScalar x[], PetscBool subtract);
  /* a2 <- E^-1 a1 */
  PetscErrorCode (*coarsesolve)(PolderDeflationSpace, PetscBool early);
  /* x <- x + alpha Z a2, alpha = 1 or -1 */
  PetscErrorCode (*prolongadd)(PolderDeflationSpace, PetscScalar alpha, PetscScalar x[]);
  /* v <- v - AZ a2, and unless dot is NULL, which it is on the host, *dot less (a1, a2) */
  PetscErrorCode (*subtractaz)(PolderDeflationSpace, PetscScalar v[], PetscScalar *dot);
  /* a2 <- column k of the identity */
  PetscErrorCode (*unit)(PolderDeflationSpace, PetscInt k);
};
PETSC_INTERN const PolderDeflationSteps PolderDeflationOnHost, PolderDeflationOnDevice;

/* sparserows.c: room for n rows with nz entries at a place; listed: with row[] */
PETSC_INTERN PetscErrorCode PolderSparseRowsCreate(const PolderPlace *, PetscInt n, PetscInt nz, PetscBool listed, PolderSparseRows *);
PETSC_INTERN PetscErrorCode PolderSparseRowsDestroy(const PolderPlace *, PolderSparseRows *);
/* On the host, from the entries of each of m rows: row[] and ptr[] of those that have any, and room for the entries */
PETSC_INTERN PetscErrorCode PolderSparseRowsFromCounts(PetscInt m, const PetscInt count[], PolderSparseRows *);
/* A copy on the device, where column k of the host is column global[k] */
PETSC_INTERN PetscErrorCode PolderSparseRowsUpload(const PolderSparseRows *, const PetscInt global[], PolderSparseRows *there);

/* deflationhost.c: columns that this process touches get local numbers in order of appearance: own rows first, then ghosts. label[] and ghostlabel[]
   become local */
PETSC_INTERN PetscErrorCode PolderDeflationNumber(PolderDeflationSpace, PetscInt n, PetscInt label[], PetscInt nghost, PetscInt ghostlabel[]);
/* E = Z^T (AZ) and its solver, from the local labels (label form) or from s->Z; and a1, a2 */
PETSC_INTERN PetscErrorCode PolderDeflationMakeE(PolderDeflationSpace, const PetscInt label[], PetscBool drop);

/* deflationmatrix.c: from a matrix Z (general form) to AZ and the solver for E, on the host. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationSetUpMatrix(PolderDeflationSpace, Mat A, Mat Z);
PETSC_INTERN PetscErrorCode PolderDeflationNearNullSpace(Mat A, Mat *Z);
PETSC_INTERN PetscErrorCode PolderDeflationWeightedMatrix(PolderDeflationSpace, Mat A, const PolderCSR *, Mat *Z);

/* deflationsetup.c: is a column of the label form left out, because the columns add up to the kernel of A? */
PETSC_INTERN PetscErrorCode PolderDeflationLeavesOneOut(PolderDeflationSpace, PetscBool *);

/* deflationdevice.c: all that the space has on the device */
PETSC_INTERN PetscErrorCode PolderDeflationDeviceDestroy(PolderDeflationDevice *);
/* All but the labels and Z by columns, which stay valid with other values of the matrix */
PETSC_INTERN PetscErrorCode PolderDeflationDeviceReset(PolderDeflationDevice);
/* s->dev from what set-up made on the host */
PETSC_INTERN PetscErrorCode PolderDeflationUpload(PolderDeflationSpace);
/* The runs of s->dev; NULL: there are none */
PETSC_INTERN const PolderRuns *PolderDeflationDeviceRuns(PolderDeflationDevice);
/* The labels of s->dev on the host; have = FALSE: there are none there */
PETSC_INTERN PetscErrorCode PolderDeflationDownloadLabels(PolderDeflationSpace, PetscInt label[]);
PETSC_INTERN PetscBool      PolderDeflationDeviceHasLabels(PolderDeflationDevice);
