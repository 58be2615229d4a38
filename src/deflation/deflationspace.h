/* A deflation space: the columns of Z as one label a row (or as a sparse matrix), AZ on its nonzero rows, E and its solver. */
#pragma once

#include "core/device.h"
#include "mat/csr.h"
#include "mat/halo.h"
#include "coarse/coarse.h"
#include "kernels/runs.h"
#include <petsc/private/petscimpl.h>
#include <petscdm.h>

/* Maximum number of columns of a space */
#define POLDER_DEFLATION_MAX 10000000

/* The structured grid behind the rows: dim = 0 when there is none */
typedef struct {
  PetscInt  dim, dof, n[3]; /* points in each direction, 1 in unused directions */
  PetscInt  s[3], m[3];     /* DMDA: corner and size of the box of this process */
  PetscInt  rstart;         /* without a DM: rows are numbered naturally, x fastest, and this is the first local one */
  PetscBool natural;        /* TRUE: use rstart; FALSE: use s and m */
} PolderGrid;

typedef struct _n_PolderDeflationDevice *PolderDeflationDevice;
typedef struct _PolderDeflationSteps     PolderDeflationSteps;

struct _n_PolderDeflationSpace {
  MPI_Comm comm;
  char    *prefix;
  /* Settings of the user */
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
  DM        dm;           /* of the solver; the matrix's own is used when this is NULL */
  PetscBool served;       /* the owner's preconditioner has coarse levels: see PolderDeflationSpaceSetServed() */
  PetscBool allowgeneral; /* the owner can do with a matrix that is not symmetric */
  PetscBool general;      /* the matrix is not symmetric */
  PetscBool device;       /* the matrix is on the device: set before the labels are made, since the number of columns depends on it */
  /* Result of the set-up */
  char                        chosen[32], reason[512];    /* kind in use, and one line for the view with the reason */
  PetscInt                    d;                          /* number of columns before any is left out */
  PetscBool                   nullspace, covers;          /* the constant vector is in the kernel of A; every row has a label */
  PetscInt                    nl, *gl;                    /* columns that this process touches */
  PetscInt                    m;                          /* local rows */
  PetscInt                    nrun, *runstart, *runlabel; /* label form: rows runstart[r] .. runstart[r+1] have the local column runlabel[r], -1 for none */
  PolderSparseRows            Z;                          /* general form, with local columns; empty in label form */
  PolderSparseRows            AZ;                         /* on its nonzero rows, with local columns */
  PetscScalar                *a1, *a2;                    /* [nl] work */
  PolderCoarse                coarse;
  PolderDeflationDevice       dev;     /* device copy: made there by the set-up, or uploaded when the first device vector comes */
  const PolderDeflationSteps *made;    /* steps of the place where the set-up ran; on the device the arrays above are empty */
  const PolderDeflationSteps *steps;   /* steps of the operator being applied */
  PetscScalar                *standin; /* [m] device work that replaces a host vector, allocated at first use */
  /* Inputs of the set-up */
  PetscObjectId    Aid, sourceid;
  PetscObjectState Astate, Anonzerostate, sourcestate;
  PetscBool        labelsvalid, setup;
  PetscInt        *label; /* [m] global label of each local row, -1 for none; NULL in general form, and if the labels are on the device only */
};

/* The DM whose grid defines the boxes; NULL: the matrix's own DM */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceSetDM(PolderDeflationSpace, DM);
PETSC_INTERN PetscErrorCode PolderDeflationSpaceReset(PolderDeflationSpace);
/* The preconditioner has coarse levels, so that `auto` takes no vectors unless their boxes, number, weights or level set were given */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceSetServed(PolderDeflationSpace, PetscBool served);
/* PolderDeflationSpaceSetFromOptions() from the options database of the solver that owns the space */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceSetFromOptionsOf(PolderDeflationSpace, PetscObject solver);
/*
  For owners that can do with a matrix that is not symmetric: a set-up then tests it. In such a space P^T x is not x - Q A x, so ApplyPT() and Correct() must
  not be called
*/
PETSC_INTERN PetscErrorCode PolderDeflationSpaceAllowGeneral(PolderDeflationSpace);
PETSC_INTERN PetscErrorCode PolderDeflationSpaceIsGeneral(PolderDeflationSpace, PetscBool *);
/* x <- x + Q^T r with Q^T = Z E^-T Z^T. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceApplyQTransposeAdd(PolderDeflationSpace, Vec r, Vec x);
/* PolderDeflationSpaceSetUp() for callers that handle matrices with entries that are not finite: *finite = FALSE, and the space is not set up. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceTrySetUp(PolderDeflationSpace, Mat, PetscBool *finite);
/* y <- P^T y + Q r with one coarse solve. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceCorrect(PolderDeflationSpace, Vec r, Vec y);

/*
  deflationapply.c: w <- P w for w = A p. *dot, where the vector is, changes from the local part of (p, w) to that of (p, P w). summed: the runs hold the sums
  of w, or on the host the sums that GetSums() has given. Collective
*/
PETSC_INTERN PetscErrorCode PolderDeflationSpaceApplyPDot(PolderDeflationSpace, Vec w, PetscBool summed, PetscScalar *dot);
/* w <- P w for w = A z. The riders' sums come with that of Z^T w; their energy is (z, A z) - (z, P A z) for a symmetric A. s->d is not zero. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceApplyPSum(PolderDeflationSpace, Vec w, PetscBool summed, const PolderCoarseRiders *);
/* The runs whose sums ApplyPDot() and ApplyPSum() expect with summed, for a device vector; NULL: none */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceGetRuns(PolderDeflationSpace, const PolderRuns **runs);
/* The same on the host, with n = 0 where there are none, and their sums, which are zero */
PETSC_INTERN PetscErrorCode PolderDeflationSpaceGetSums(PolderDeflationSpace, PolderLabelRuns *runs, PetscScalar **sum);

/* deflationlabels.c: labels of the local rows (global numbers 0 .. d-1, none of them empty; -1: in no vector); sets chosen and reason. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationMakeLabels(PolderDeflationSpace, Mat, const PolderCSR *, PetscInt label[], PetscInt *d);
/* The same labels in device memory from device arrays; done = FALSE when the device has no implementation, for METIS parts. Collective */
PETSC_INTERN PetscErrorCode PolderDeflationMakeLabelsDevice(PolderDeflationSpace, Mat, const PolderCSR *, PetscInt label[], PetscInt *d, PetscBool *done);
