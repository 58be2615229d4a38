/* A deflation space: the columns of Z as one label a row (or as a sparse matrix), AZ on the rows where it is not zero, E and its solver. */
#pragma once

#include "core/device.h"
#include "mat/halo.h"
#include "coarse/coarse.h"
#include "kernels/runs.h"
#include <petsc/private/petscimpl.h>
#include <petscdm.h>

/* Columns of a space at most */
#define POLDER_DEFLATION_MAX 10000000

/* The structured grid behind the rows: dim = 0 when there is none */
typedef struct {
  PetscInt  dim, dof, n[3]; /* points in each direction, unused directions 1 */
  PetscInt  s[3], m[3];     /* DMDA: corner and size of the box of this process */
  PetscInt  rstart;         /* no DM: rows are numbered naturally, x fastest, and this is the first one here */
  PetscBool natural;        /* TRUE: use rstart; FALSE: use s and m */
} PolderGrid;

typedef struct _n_PolderDeflationDevice *PolderDeflationDevice;
typedef struct _PolderDeflationSteps     PolderDeflationSteps;

/* Rows of a sparse matrix whose columns are those of Z: row[k], or row k where row is NULL, has the entries ptr[k] .. ptr[k+1] */
typedef struct {
  PetscInt     n, nz, *row, *ptr, *col;
  PetscScalar *val;
} PolderSparseRows;

struct _n_PolderDeflationSpace {
  MPI_Comm comm;
  char    *prefix;
  /* what the user asked for */
  char      type[32];
  PetscInt  griddim, grid[3];
  PetscInt  nboxes, boxes[3];                 /* nboxes = 0: not given */
  PetscInt  count;                            /* 0: not given */
  PetscBool weighted;                         /* -deflation_weighted: shared rows get coefficient-weighted entries */
  PetscBool thesis;                           /* -deflation_levelset_vectors thesis: fewer vectors of the kind levelset */
  char      levelsetfrom[PETSC_MAX_PATH_LEN]; /* -deflation_levelset: "" (composed vector, else auto), "auto" or a file */
  Vec       levelset;
  IS        labels;
  Mat       Zuser;
  DM        dm;     /* of the solver; the matrix's own is used when this is NULL */
  PetscBool device; /* the matrix is on the device: set before the labels are made, so that the number of columns is chosen for it */
  /* what set-up made of it */
  char                        chosen[32], reason[512];    /* kind in use, and one line for the view that says why */
  PetscInt                    d;                          /* columns before any is left out */
  PetscBool                   nullspace, covers;          /* A has the constant vector as kernel; every row has a label */
  PetscInt                    nl, *gl;                    /* columns that this process touches */
  PetscInt                    m;                          /* local rows */
  PetscInt                    nrun, *runstart, *runlabel; /* label form: rows runstart[r] .. runstart[r+1] lie in local column runlabel[r], -1 none */
  PolderSparseRows            Z;                          /* general form, with local columns; no arrays in label form */
  PolderSparseRows            AZ;                         /* on the rows where it is not zero, with local columns */
  PetscScalar                *a1, *a2;                    /* [nl] work */
  PolderCoarse                coarse;
  PolderDeflationDevice       dev;     /* the same on the device: made there by set-up, or copied at the first vector that is there */
  const PolderDeflationSteps *made;    /* those of the place where set-up made it: on the device the arrays above are empty */
  const PolderDeflationSteps *steps;   /* those of the operator that is being applied */
  PetscScalar                *standin; /* [m] of the device: what stands for a vector of the host, from its first use on */
  /* what the set-up was made from */
  PetscObjectId    Aid, sourceid;
  PetscObjectState Astate, Anonzerostate, sourcestate;
  PetscBool        labelsvalid, setup;
  PetscInt        *label; /* [m] global label of each local row, -1 none; NULL in general form, and where the labels are on the device only */
};

/* The DM whose grid gives the boxes; NULL: the matrix's own */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceSetDM(PolderDeflationSpace, DM);
PETSC_INTERN PetscErrorCode PolderDeflationSpaceReset(PolderDeflationSpace);
/* PolderDeflationSpaceSetUp() for those who live with a matrix whose entries are not finite: the space is then not set up. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceTrySetUp(PolderDeflationSpace, Mat, PetscBool *finite);
/* y <- P^T y + Q r with one coarse solve. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceCorrect(PolderDeflationSpace, Vec r, Vec y);

/* deflationapply.c: w <- P w for w = A p, and the device scalar *dot, which holds the part of (p, w) on this process, becomes that of (p, P w); vectors
   of the device. summed: the runs have the sums of w. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceApplyPDot(PolderDeflationSpace, Vec w, PetscBool summed, PetscScalar *dot);
/* The runs that want the sums of a vector of the device before P is applied to it; NULL: there are none */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceGetRuns(PolderDeflationSpace, const PolderRuns **runs);

/* deflationlabels.c: labels of the local rows (global, compressed to 0 .. d-1 with no empty one; -1: in no vector); sets chosen and reason. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationMakeLabels(PolderDeflationSpace, Mat, const PolderCSR *, PetscInt label[], PetscInt *d);
/* The same labels in device memory from device arrays, on one process; done = FALSE when the kind cannot be made there: METIS parts, several processes */
PETSC_INTERN PetscErrorCode PolderDeflationMakeLabelsDevice(PolderDeflationSpace, Mat, const PolderCSR *, PetscInt label[], PetscInt *d, PetscBool *done);
