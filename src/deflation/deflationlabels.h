/* What the kinds of labels share: the rows to label, their parts and regions, and the numbering of (part, region) pairs. */
#pragma once

#include "core/place.h"
#include "deflationspace.h"
#include "kernels/labels.h"

typedef struct _PolderLabelSteps PolderLabelSteps;

/* The rows of A to label. Arrays with one entry a row, here part[], comp[], cls[] and label[], are in the memory of the rows */
typedef struct {
  MPI_Comm                comm;
  PetscMPIInt             size; /* of comm */
  Mat                     A;
  const PolderCSR        *csr;
  const PolderPlace      *place;
  const PolderLabelSteps *steps;
} PolderLabelRows;

/* The steps of labelling at a place. The rows may be distributed at either; on the device every process has some then */
struct _PolderLabelSteps {
  const PolderPlace *place;
  /* See PolderLabelsCompress() */
  PetscErrorCode (*compress)(const PolderLabelRows *, PolderPairs, PetscInt label[], PetscInt *d);
  /* Finds the grid from the entries, without the position of these rows in it */
  PetscErrorCode (*findgrid)(const PolderLabelRows *, PolderGrid *, PetscBool *found);
  /* See PolderMatPartition(); NULL: not available at this place */
  PetscErrorCode (*partition)(Mat, const PolderCSR *, PetscInt count, PetscInt part[]);
  /* Several processes: comp[] <- numbers below n of the components of this process alone, where k stands for the global number *first + k */
  PetscErrorCode (*localcomponents)(const PolderLabelRows *, PetscInt comp[], PetscInt *first, PetscInt *n);
  /* n <- number of components. The host keeps their numbers, the device renumbers them from 0. bound exceeds all numbers, before and after */
  PetscErrorCode (*countcomponents)(const PolderLabelRows *, PetscInt comp[], PetscInt *n, PetscInt *bound);
  /* *label <- numbers of the n regions from 0: a new array, or comp[] itself if it is numbered that way */
  PetscErrorCode (*numberregions)(const PolderLabelRows *, PetscInt bound, PetscInt comp[], PetscInt **label, PetscInt *n);
  /* *name <- the value of comp[] in the region that label[] numbers k; frees *label unless it is comp[]. Collective */
  PetscErrorCode (*nameregion)(const PolderLabelRows *, PetscInt k, const PetscInt comp[], PetscInt **label, PetscInt *name);
  /* Renumbers components numbered from 0 after some were removed, and updates bound */
  PetscErrorCode (*renumber)(const PolderLabelRows *, PetscInt comp[], PetscInt *bound);
};
PETSC_INTERN const PolderLabelSteps PolderLabelsOnHost, PolderLabelsOnDevice;

/* label[i], which may be part[] or comp[], <- rank of the pair of row i among the pairs that occur on any process, -1 if either number is negative */
static inline PetscErrorCode PolderLabelsCompress(const PolderLabelRows *rows, PolderPairs pairs, PetscInt label[], PetscInt *d)
{
  return (*rows->steps->compress)(rows, pairs, label, d);
}

/* value[k] of n, at the place of the rows, <- its sum (or what op says) over all processes. Collective */
PETSC_INTERN PetscErrorCode PolderLabelsReduce(const PolderLabelRows *, PetscInt n, MPI_Op op, PetscInt value[]);

/*
  A vector from which a kernel computes one integer a row. The kernel runs in the memory of the vector; the integers are then copied to the memory of the rows
*/
typedef struct {
  const PolderPlace *place;
  const PetscScalar *value;
  PetscInt          *result;
} PolderRowValues;
PETSC_INTERN PetscErrorCode PolderRowValuesBegin(const PolderLabelRows *, Vec, PetscInt result[], PolderRowValues *);
PETSC_INTERN PetscErrorCode PolderRowValuesEnd(const PolderLabelRows *, Vec, PetscInt result[], PolderRowValues *);

/* Parts of the rows: boxes of the grid, or METIS parts where there is none */
typedef struct {
  PolderGrid grid;
  PetscInt   boxes[3];  /* in use, grid.dim > 0 */
  PetscInt   count;     /* number of parts, with the unknowns of a grid point counted once */
  PetscInt   bound;     /* upper bound of part numbers (exclusive) */
  PetscInt   target;    /* number of columns that pays */
  PetscBool  fixed;     /* the user prescribed the parts */
  PetscBool  shown;     /* the grid was found from the matrix */
  char       text[160]; /* description, as "8 x 8 x 8 boxes" */
} PolderParts;

/* Sets the grid, checks the user's boxes and count against it, and computes the target. Collective */
PETSC_INTERN PetscErrorCode PolderPartsCreate(PolderDeflationSpace, const PolderLabelRows *, PolderParts *);
/* part[i] of every local row, for at most target parts (ignored if the user prescribed them); each component of a grid point has parts of its own */
PETSC_INTERN PetscErrorCode PolderPartsFill(PolderParts *, const PolderLabelRows *, PetscInt target, PetscInt part[]);

/* deflationgrid.c: the grid of the DM, or the one that the user gave; dim = 0: none */
PETSC_INTERN PetscErrorCode PolderDeflationGetGrid(PolderDeflationSpace, Mat, PolderGrid *);
/* The grid of a DMDA of which each process has the rows of A; leaves grid alone, or dim at 0, when dm is none. Collective */
PETSC_INTERN PetscErrorCode PolderGridFromDM(DM, Mat, const PolderCSR *, PolderGrid *);
/* The grid behind a 5- or 7-point stencil in natural numbering; leaves grid alone when the matrix shows none. Collective */
PETSC_INTERN PetscErrorCode PolderGridFromMatrix(const PolderLabelRows *, PolderGrid *);
/* The search at each place */
PETSC_INTERN PetscErrorCode PolderGridFind_Host(const PolderLabelRows *, PolderGrid *, PetscBool *found);
PETSC_INTERN PetscErrorCode PolderGridFind_Device(const PolderLabelRows *, PolderGrid *, PetscBool *found);
/* Boxes of nearly equal sides, at most target of them */
PETSC_INTERN void           PolderGridChooseBoxes(const PolderGrid *, PetscInt target, PetscInt boxes[3]);
PETSC_INTERN PetscErrorCode PolderGridBoxes(const PolderGrid *, const PolderLabelRows *, const PetscInt boxes[3], PetscInt part[]);
/* count runs of points in natural order */
PETSC_INTERN PetscErrorCode PolderGridStripes(const PolderGrid *, const PolderLabelRows *, PetscInt count, PetscInt part[]);

/*
  deflationmetis.c: count METIS parts of the matrix graph, numbered part * block size + index in the block, since each unknown of a block has parts of its own
*/
PETSC_INTERN PetscErrorCode PolderMatPartition(Mat, const PolderCSR *, PetscInt count, PetscInt part[]);
/* Cuts the diagonal block of this process, of blocks of bs rows, into nparts parts. METIS works on
   aggregates of rows, at least `vertices` of them for each part. failed: 1 the indices of METIS are too small, 2 METIS failed */
PETSC_INTERN PetscErrorCode PolderRowsPartition(const PolderCSR *, PetscInt bs, PetscInt vertices, PetscInt nparts, PetscInt part[], PetscInt *failed);
/* deflationwhole.c: where more than this part of the couplings is to rows of other processes, the order of the rows has little to do with the graph */
#define POLDER_SCATTERED 0.25
PETSC_INTERN PetscErrorCode PolderMatShareOutside(Mat, PetscReal *share);
/* PolderRowsPartition() for the rows of all processes, whose graph the first process has meanwhile. part[]: of the rows of this process. Collective */
PETSC_INTERN PetscErrorCode PolderMatPartitionWhole(Mat, PetscInt bs, PetscInt vertices, PetscInt nparts, PetscInt part[], PetscInt *failed);

/*
  components.c: connected components of the matrix graph. On the host comp[i] is the smallest global row of the component of row i, so it does not depend on
  the number of processes; on the device the components have the order of these rows. bound exceeds all numbers
*/
/* Rows joined by an entry belong together when their classes are equal; rows of negative class get -1 */
PETSC_INTERN PetscErrorCode PolderMatComponents(const PolderLabelRows *, const PetscInt cls[], PetscInt comp[], PetscInt *bound);
/* Rows joined by an entry belong together unless their scales max_j |a_ij| (j != i) differ by more than the factor jump; rows without such entries get -1 */
PETSC_INTERN PetscErrorCode PolderMatRegions(const PolderLabelRows *, PetscReal jump, PetscInt comp[], PetscInt *bound);

/* cls[i] = 1 where the level set is positive, else outside; given = FALSE: there is no level set, and the regions are found from the matrix. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationLevelSet(PolderDeflationSpace, const PolderLabelRows *, PetscInt outside, PetscInt cls[], PetscBool *given);
/* Regions of the matrix, without tiny ones. nregion is their number: 1 when there is no jump, 0 when there are too many small ones to be meaningful */
PETSC_INTERN PetscErrorCode PolderDeflationRegions(const PolderLabelRows *, PetscInt comp[], PetscInt *bound, PetscInt *nregion, PetscInt *largest);
/* Kinds levelset, levelset_subdomain and auto; d = -1 when the parts cannot be made at the place of the rows */
PETSC_INTERN PetscErrorCode PolderDeflationLevelSetLabels(PolderDeflationSpace, const PolderLabelRows *, PetscInt label[], PetscInt *d);
PETSC_INTERN PetscErrorCode PolderDeflationPieceLabels(PolderDeflationSpace, const PolderLabelRows *, PetscInt label[], PetscInt *d);
