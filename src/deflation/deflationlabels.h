/* What the kinds of labels share: the rows to label, parts of them, regions, numbering of the pairs. */
#pragma once

#include "core/place.h"
#include "deflationspace.h"

typedef struct _PolderLabelSteps PolderLabelSteps;

/* The rows of A that get labels. Arrays of one entry a row, here part[], comp[], cls[] and label[], are at the place of the rows */
typedef struct {
  MPI_Comm                comm;
  PetscMPIInt             size; /* of comm */
  Mat                     A;
  const PolderCSR        *csr;
  const PolderPlace      *place;
  const PolderLabelSteps *steps;
} PolderLabelRows;

/* The pair (part[i], comp[i]) of each row, below npart and ncomp; NULL stands for zeros */
typedef struct {
  PetscInt64      npart;
  const PetscInt *part;
  PetscInt        ncomp;
  const PetscInt *comp;
} PolderPairs;

/* What labelling does differently in the two places: rows on the host may be shared out over processes, rows on the device belong to one */
struct _PolderLabelSteps {
  const PolderPlace *place;
  /* See PolderLabelsCompress() */
  PetscErrorCode (*compress)(const PolderLabelRows *, PolderPairs, PetscInt label[], PetscInt *d);
  /* The grid that the entries show, but for the place of these rows in it */
  PetscErrorCode (*findgrid)(const PolderLabelRows *, PolderGrid *, PetscBool *found);
  /* See PolderMatPartition(); NULL: parts cannot be made there */
  PetscErrorCode (*partition)(Mat, const PolderCSR *, PetscInt count, PetscInt part[]);
  /* n <- number of components. On the host they keep the numbers of their smallest rows, on the device they are numbered from 0. The numbers are below bound */
  PetscErrorCode (*countcomponents)(const PolderLabelRows *, PetscInt comp[], PetscInt *n, PetscInt *bound);
  /* *label <- the numbers of the n regions, from 0: an array of its own, or comp[] where they are numbered already */
  PetscErrorCode (*numberregions)(const PolderLabelRows *, PetscInt bound, PetscInt comp[], PetscInt **label, PetscInt *n);
  /* Rows of comp = -2 join the neighbour they are tied to most, layer by layer; next[] is work */
  PetscErrorCode (*absorbregions)(const PolderLabelRows *, PetscInt next[], PetscInt comp[]);
  /* *name <- what comp[] calls the region that label[] numbers k; frees *label unless that is comp[]. Collective */
  PetscErrorCode (*nameregion)(const PolderLabelRows *, PetscInt k, const PetscInt comp[], PetscInt **label, PetscInt *name);
  /* Components that are numbered from 0 get new numbers when some are gone: bound follows */
  PetscErrorCode (*renumber)(const PolderLabelRows *, PetscInt comp[], PetscInt *bound);
};
PETSC_INTERN const PolderLabelSteps PolderLabelsOnHost, PolderLabelsOnDevice;

/* Tiny regions are absorbed from their border, one layer of rows at a time, so many layers of them */
#define POLDER_REGION_ROUNDS 8

/* label[i], which may be one of the pair, <- rank of the pair of row i among those that occur on any process, -1 where one is negative */
static inline PetscErrorCode PolderLabelsCompress(const PolderLabelRows *rows, PolderPairs pairs, PetscInt label[], PetscInt *d)
{
  return (*rows->steps->compress)(rows, pairs, label, d);
}

/* The values of a vector, of which a kernel makes one integer a row: it runs where the vector is, and the integers are then brought to where the rows are */
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
  PetscInt   count;     /* number of parts, unknowns of a point not counted */
  PetscInt   bound;     /* part numbers are below it */
  PetscInt   target;    /* columns that pay */
  PetscBool  fixed;     /* the user chose the parts */
  PetscBool  shown;     /* the matrix shows the grid */
  char       text[160]; /* "8 x 8 x 8 boxes" */
} PolderParts;

/* Sets the grid, checks the user's boxes and count against it, finds the target. Collective */
PETSC_INTERN PetscErrorCode PolderPartsCreate(PolderDeflationSpace, const PolderLabelRows *, PolderParts *);
/* part[i] of every local row for at most target parts (ignored when the user chose them): one part for each component of a point */
PETSC_INTERN PetscErrorCode PolderPartsFill(PolderParts *, const PolderLabelRows *, PetscInt target, PetscInt part[]);

/* deflationgrid.c: the grid of the DM, or the one that the user gave; dim = 0: neither */
PETSC_INTERN PetscErrorCode PolderDeflationGetGrid(PolderDeflationSpace, Mat, PolderGrid *);
/* The grid behind a 5- or 7-point stencil in natural numbering; leaves grid alone when the matrix shows none. Collective */
PETSC_INTERN PetscErrorCode PolderGridFromMatrix(const PolderLabelRows *, PolderGrid *);
/* How it is found in either place */
PETSC_INTERN PetscErrorCode PolderGridFind_Host(const PolderLabelRows *, PolderGrid *, PetscBool *found);
PETSC_INTERN PetscErrorCode PolderGridFind_Device(const PolderLabelRows *, PolderGrid *, PetscBool *found);
/* Boxes of nearly equal sides, at most target of them */
PETSC_INTERN void           PolderGridChooseBoxes(const PolderGrid *, PetscInt target, PetscInt boxes[3]);
PETSC_INTERN PetscErrorCode PolderGridBoxes(const PolderGrid *, const PolderLabelRows *, const PetscInt boxes[3], PetscInt part[]);
/* count runs of points in natural order */
PETSC_INTERN PetscErrorCode PolderGridStripes(const PolderGrid *, const PolderLabelRows *, PetscInt count, PetscInt part[]);

/* deflationmetis.c: count METIS parts of the matrix graph, numbered as unknowns of a block have parts of their own: part * block size + place in the block */
PETSC_INTERN PetscErrorCode PolderMatPartition(Mat, const PolderCSR *, PetscInt count, PetscInt part[]);

/* components.c: connected components of the matrix graph. comp[i] is the smallest global row of the component of row i, so it does not
   depend on the number of processes */
/* rows joined by an entry belong together when their class is the same; rows of negative class get -1 */
PETSC_INTERN PetscErrorCode PolderMatComponents(const PolderLabelRows *, const PetscInt cls[], PetscInt comp[]);
/* rows joined by an entry belong together unless their scales max_j |a_ij| (j != i) differ by more than the factor jump; rows without such entries get -1 */
PETSC_INTERN PetscErrorCode PolderMatRegions(const PolderLabelRows *, PetscReal jump, PetscInt comp[]);

/* cls[i] = 1 where the level set is positive, else outside; given = FALSE when there is none, so that the matrix has to tell. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationLevelSet(PolderDeflationSpace, const PolderLabelRows *, PetscInt outside, PetscInt cls[], PetscBool *given);
/* Regions of the matrix without tiny ones: nregion of them, 1 when there is no jump, 0 when there are too many small ones to mean anything */
PETSC_INTERN PetscErrorCode PolderDeflationRegions(const PolderLabelRows *, PetscInt comp[], PetscInt *nregion, PetscInt *largest);
/* Kinds levelset, levelset_subdomain and auto; d = -1 when the parts cannot be made where the rows are */
PETSC_INTERN PetscErrorCode PolderDeflationLevelSetLabels(PolderDeflationSpace, const PolderLabelRows *, PetscInt label[], PetscInt *d);
PETSC_INTERN PetscErrorCode PolderDeflationPieceLabels(PolderDeflationSpace, const PolderLabelRows *, PetscInt label[], PetscInt *d);
