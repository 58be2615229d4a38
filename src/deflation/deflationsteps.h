/* The steps of a deflation space that differ between host and device: one table for each place, called by the set-up and the operators. */
#pragma once

#include "core/place.h"
#include "deflationspace.h"

struct _PolderDeflationSteps {
  const PolderPlace *place;
  const char        *zform; /* storage of Z in label form, for the view */

  /* Set-up in label form from the rows of A at this place */
  PetscErrorCode (*getrows)(Mat A, PolderCSR *);
  PetscErrorCode (*restorerows)(Mat A, PolderCSR *);
  /* Makes the labels and s->d; reuses those of an earlier set-up while valid, wherever they are */
  PetscErrorCode (*makelabels)(PolderDeflationSpace, Mat A, const PolderCSR *);
  /* Makes AZ and the solver for E from the labels */
  PetscErrorCode (*makeoperators)(PolderDeflationSpace, Mat A, const PolderCSR *);
  /* Number of rows of AZ, and bytes of Z and AZ, on this process */
  PetscErrorCode (*measure)(PolderDeflationSpace, PetscReal *rows, PetscReal *bytes);

  /* Steps of the operators. Vectors with one value a row are arrays at this place; a1 and a2 are those of this place */
  /* a1 <- local part of Z^T v; summed: the runs, on the host a1, hold the sums of v; early: see kernels/deflation.h */
  PetscErrorCode (*restrictz)(PolderDeflationSpace, const PetscScalar v[], PetscBool summed, PetscBool early);
  /* a1 <- local part of (AZ)^T x, or a1 minus it */
  PetscErrorCode (*restrictaz)(PolderDeflationSpace, const PetscScalar x[], PetscBool subtract);
  /* a2 <- E^-1 a1 */
  PetscErrorCode (*coarsesolve)(PolderDeflationSpace, PetscBool early);
  /* x <- x + alpha Z a2, alpha = 1 or -1 */
  PetscErrorCode (*prolongadd)(PolderDeflationSpace, PetscScalar alpha, PetscScalar x[]);
  /* v <- v - AZ a2; if dot is not NULL, *dot, at this place, becomes less by (a1, a2) */
  PetscErrorCode (*subtractaz)(PolderDeflationSpace, PetscScalar v[], PetscScalar *dot);
  /* a2 <- column k of the identity */
  PetscErrorCode (*unit)(PolderDeflationSpace, PetscInt k);
};
PETSC_INTERN const PolderDeflationSteps PolderDeflationOnHost, PolderDeflationOnDevice;

/* sparserows.c: allocates n rows with nz entries at a place; listed: with row[] */
PETSC_INTERN PetscErrorCode PolderSparseRowsCreate(const PolderPlace *, PetscInt n, PetscInt nz, PetscBool listed, PolderSparseRows *);
PETSC_INTERN PetscErrorCode PolderSparseRowsDestroy(const PolderPlace *, PolderSparseRows *);
/* On the host, from the number of entries of each of m rows: row[] and ptr[] of the nonempty rows, and space for the entries */
PETSC_INTERN PetscErrorCode PolderSparseRowsFromCounts(PetscInt m, const PetscInt count[], PolderSparseRows *);
/* A copy on the device, where column k of the host is column global[k] */
PETSC_INTERN PetscErrorCode PolderSparseRowsUpload(const PolderSparseRows *, const PetscInt global[], PolderSparseRows *there);

/* The runs of a space in label form whose set-up was on the host */
static inline PolderLabelRuns PolderDeflationRuns(PolderDeflationSpace s)
{
  return (PolderLabelRuns){.n = s->nrun, .start = s->runstart, .label = s->runlabel};
}

/*
  deflationhost.c: numbers the columns that this process touches in order of appearance: own rows first, then ghosts. label[] and ghostlabel[] become local
  numbers
*/
PETSC_INTERN PetscErrorCode PolderDeflationNumber(PolderDeflationSpace, PetscInt n, PetscInt label[], PetscInt nghost, PetscInt ghostlabel[]);
/* E = Z^T (AZ) and its solver, from the local labels (label form) or from s->Z; allocates a1, a2 */
PETSC_INTERN PetscErrorCode PolderDeflationMakeE(PolderDeflationSpace, const PetscInt label[], PetscBool drop);

/* deflationmatrix.c: from a matrix Z (general form) to AZ and the solver for E, on the host. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationSetUpMatrix(PolderDeflationSpace, Mat A, Mat Z);
PETSC_INTERN PetscErrorCode PolderDeflationNearNullSpace(Mat A, Mat *Z);
PETSC_INTERN PetscErrorCode PolderDeflationWeightedMatrix(PolderDeflationSpace, Mat A, const PolderCSR *, Mat *Z);

/* deflationsetup.c: is a column of the label form left out because the columns add up to a vector in the kernel of A? */
PETSC_INTERN PetscErrorCode PolderDeflationLeavesOneOut(PolderDeflationSpace, PetscBool *);

/* deflationdevice.c: frees the device side of the space */
PETSC_INTERN PetscErrorCode PolderDeflationDeviceDestroy(PolderDeflationDevice *);
/* Frees all but the labels and Z by columns, which do not depend on the values of the matrix */
PETSC_INTERN PetscErrorCode PolderDeflationDeviceReset(PolderDeflationDevice);
/* Makes s->dev from the set-up on the host */
PETSC_INTERN PetscErrorCode PolderDeflationUpload(PolderDeflationSpace);
/* The runs of s->dev; NULL: none */
PETSC_INTERN const PolderRuns *PolderDeflationDeviceRuns(PolderDeflationDevice);
/* Copies the labels of s->dev to the host; have = FALSE: the device has none */
PETSC_INTERN PetscErrorCode PolderDeflationDownloadLabels(PolderDeflationSpace, PetscInt label[]);
PETSC_INTERN PetscBool      PolderDeflationDeviceHasLabels(PolderDeflationDevice);
