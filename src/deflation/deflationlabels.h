/* What the kinds of labels share: parts of the rows, regions, numbering of the pairs. */
#pragma once

#include "core/device.h"
#include "deflationspace.h"

/* Runs the kernel of that stem where the rows are: the launcher when csr->device is set, else its host twin. Arrays of the rows are there as well */
#define PolderRowsRun(csr, kernel, ...) \
  do { \
    if ((csr)->device) { \
      PolderStream polder_stream_; \
      PetscCall(PolderDeviceGetStream(&polder_stream_)); \
      PolderLaunch(kernel##_CUDA(__VA_ARGS__, polder_stream_)); \
    } else kernel##_Host(__VA_ARGS__); \
  } while (0)

/* n numbers where the rows are; a is the address of a PetscInt pointer */
PETSC_INTERN PetscErrorCode PolderRowsMalloc(const PolderCSR *, PetscInt n, PetscInt **a);
PETSC_INTERN PetscErrorCode PolderRowsFree(const PolderCSR *, PetscInt **a);
/* A few numbers that kernels change: put there, and taken back to the host and freed */
PETSC_INTERN PetscErrorCode PolderRowsPut(const PolderCSR *, PetscInt n, const PetscInt values[], PetscInt **there);
PETSC_INTERN PetscErrorCode PolderRowsTake(const PolderCSR *, PetscInt n, PetscInt values[], PetscInt **there);

/* Parts of the rows: boxes of the grid, or METIS parts where there is none */
typedef struct {
  PolderGrid grid;
  PetscInt   boxes[3];  /* in use, grid.dim > 0 */
  PetscInt   count;     /* number of parts, unknowns of a point not counted */
  PetscInt   bound;     /* part numbers are below it */
  PetscInt   target;    /* columns that pay */
  PetscBool  fixed;     /* the user chose the parts */
  PetscBool  shown;     /* the matrix shows the grid */
  char       text[160]; /* "8 x 8 x 8 boxes" */
} PolderParts;

/* Sets the grid, checks the user's boxes and count against it, finds the target. Collective */
PETSC_INTERN PetscErrorCode PolderPartsCreate(PolderDeflationSpace, Mat, const PolderCSR *, PolderParts *);
/* part[i] of every local row for at most target parts (ignored when the user chose them): one part for each component of a point */
PETSC_INTERN PetscErrorCode PolderPartsFill(PolderParts *, Mat, const PolderCSR *, PetscInt target, PetscInt part[]);

/* deflationgrid.c: the grid behind a 5- or 7-point stencil in natural numbering; leaves grid alone when the matrix shows none. Collective */
PETSC_INTERN PetscErrorCode PolderGridFromMatrix(Mat, const PolderCSR *, PolderGrid *);
/* Boxes of nearly equal sides, at most target of them */
PETSC_INTERN void           PolderGridChooseBoxes(const PolderGrid *, PetscInt target, PetscInt boxes[3]);
PETSC_INTERN PetscErrorCode PolderGridBoxes(const PolderGrid *, const PolderCSR *, const PetscInt boxes[3], PetscInt part[]);

/* deflationmetis.c: count METIS parts of the matrix graph, numbered as unknowns of a block have parts of their own: part * block size + place in the block */
PETSC_INTERN PetscErrorCode PolderMatPartition(Mat, const PolderCSR *, PetscInt count, PetscInt part[]);

/* label[i] <- rank of (part[i], comp[i]) among the pairs that occur on any process, -1 where one is negative; NULL stands for zeros. The values are below
   npart and ncomp */
PETSC_INTERN PetscErrorCode PolderLabelsCompress(MPI_Comm, const PolderCSR *, PetscInt64 npart, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt label[], PetscInt *d);

/* cls[i] = 1 where the level set is positive, else outside; given = FALSE when there is none, so that the matrix has to tell. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationLevelSet(PolderDeflationSpace, Mat, const PolderCSR *, PetscInt outside, PetscInt cls[], PetscBool *given);
/* Regions of the matrix without tiny ones: nregion of them, 1 when there is no jump, 0 when there are too many small ones to mean anything */
PETSC_INTERN PetscErrorCode PolderDeflationRegions(Mat, const PolderCSR *, PetscInt comp[], PetscInt *nregion, PetscInt *largest);
/* Kinds levelset, levelset_subdomain and auto; d = -1 when the rows are on the device and their parts cannot be made there */
PETSC_INTERN PetscErrorCode PolderDeflationLevelSetLabels(PolderDeflationSpace, Mat, const PolderCSR *, PetscInt label[], PetscInt *d);
PETSC_INTERN PetscErrorCode PolderDeflationPieceLabels(PolderDeflationSpace, Mat, const PolderCSR *, PetscInt label[], PetscInt *d);
