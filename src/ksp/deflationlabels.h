/* What the kinds of labels share: parts of the rows, regions, numbering of the pairs. */
#pragma once

#include "deflationspace.h"

/* Parts of the rows: boxes of the grid, or METIS parts where there is none */
typedef struct {
  PolderGrid grid;
  PetscInt   boxes[3];  /* in use, grid.dim > 0 */
  PetscInt   count;     /* number of parts, unknowns of a point not counted */
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
PETSC_INTERN PetscErrorCode PolderGridBoxes(const PolderGrid *, PetscInt m, const PetscInt boxes[3], PetscInt part[]);

/* deflationmetis.c: count METIS parts of the matrix graph, numbered as unknowns of a block have parts of their own: part * block size + place in the block */
PETSC_INTERN PetscErrorCode PolderMatPartition(Mat, const PolderCSR *, PetscInt count, PetscInt part[]);

/* label[i] <- rank of (part[i], comp[i]) among the pairs that occur on any process, -1 where one is negative; NULL stands for zeros */
PETSC_INTERN PetscErrorCode PolderLabelsCompress(MPI_Comm, PetscInt m, const PetscInt part[], const PetscInt comp[], PetscInt label[], PetscInt *d);

/* cls[i] = 1 where the level set is positive, else 0; given = FALSE when there is none, so that the matrix has to tell. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationLevelSet(PolderDeflationSpace, Mat, const PolderCSR *, PetscInt cls[], PetscBool *given);
/* Regions of the matrix without tiny ones: nregion of them, 1 when there is no jump, 0 when there are too many small ones to mean anything */
PETSC_INTERN PetscErrorCode PolderDeflationRegions(Mat, const PolderCSR *, PetscInt comp[], PetscInt *nregion, PetscInt *largest);
/* Kinds levelset, levelset_subdomain and auto */
PETSC_INTERN PetscErrorCode PolderDeflationLevelSetLabels(PolderDeflationSpace, Mat, const PolderCSR *, PetscInt label[], PetscInt *d);
PETSC_INTERN PetscErrorCode PolderDeflationPieceLabels(PolderDeflationSpace, Mat, const PolderCSR *, PetscInt label[], PetscInt *d);
