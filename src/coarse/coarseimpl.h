/* What the solvers for E share. */
#pragma once

#include "coarse.h"
#include "coarsedevice.h"
#include "core/place.h"
#include <petscksp.h>
#include <petscsf.h>

/* A diagonal entry of E that is so much smaller than the largest one counts as zero */
#define POLDER_COARSE_ZERO (5 * PETSC_MACHINE_EPSILON)

/* The product with an inverse leaves a residual of up to cond(E) eps relative to the right-hand side. What it leaves along Z is projected out every few
   steps, so that with this much of it the iterations are those of exact solves, also for tolerances below it */
#define POLDER_COARSE_LOSS 1e-7
/* With fewer than three digits left in a coarse solve E is taken for singular */
#define POLDER_COARSE_SINGULAR 1e-3
/* More columns than this are no dense matrix on the device */
#define POLDER_COARSE_DENSE 12000

typedef enum {
  COARSE_INVERSE,
  COARSE_CHOLESKY,
  COARSE_KSP
} PolderCoarseType;

/* A solver for E */
typedef struct {
  PetscErrorCode (*solve)(PolderCoarse, const PetscScalar a1[], PetscScalar a2[]);                        /* see PolderCoarseSolve() */
  PetscErrorCode (*solvedevice)(PolderCoarse, const PetscScalar a1[], PetscScalar a2[], PetscBool early); /* see PolderCoarseSolveDevice() */
  PetscErrorCode (*view)(PolderCoarse, PetscViewer);                                                      /* one line: what it is */
  PetscErrorCode (*viewmore)(PolderCoarse, PetscViewer);                                                  /* after the condition of E; NULL: nothing */
} PolderCoarseSolver;

struct _n_PolderCoarse {
  MPI_Comm                  comm;
  const PolderPlace        *place; /* of the vectors */
  char                     *prefix;
  PolderCoarseType          type;
  PetscBool                 chosen; /* type was asked for */
  const PolderCoarseSolver *solver; /* chosen in the set-up; NULL before */
  PetscBool                 setup;
  PetscBool                 bad; /* E has an entry that is not finite */
  PetscInt                  d, nl, *gl;
  PetscInt                  nleftnull, nleftzero, nleftdep; /* columns left out: kernel of A, zero, dependent on others */
  PetscReal                 cond, resid;                    /* of E with unit diagonal; cond < 0: not known */
  /* inverse, cholesky: S = D^-1/2 E D^-1/2, renumbered for a small envelope */
  PetscInt    *ei, *ej;       /* E as CSR in the renumbered columns, the same on every process */
  PetscScalar *ev;            /* values of S */
  PetscInt    *order, *first; /* order[column] = row of S */
  size_t      *ptr;
  PetscReal   *scale; /* [d] by row of S: E_ii^-1/2, 0 where the column is left out */
  char        *drop;
  PetscReal   *excess;   /* [d] sums of the rows of E, by column before a set-up and by row of S in it; NULL: known from the entries alone */
  PetscBool    onlyhost; /* the inverse on the device is rounding */
  PetscScalar *L, *inverse;
  PetscScalar *b, *x, *y; /* [d] work */
  /* on the device, in place of these */
  PolderCoarseDevice device; /* kept for its arrays */
  PolderCoarseReport report;
  PetscScalar       *d1, *d2; /* [d] work of the device */
  /* ksp */
  KSP      ksp;
  Mat      E;
  Vec      bvec, xvec, used; /* used: 0 where a column is left out, else 1 */
  PetscSF  sf;
  PetscInt nsolve, nits, nfailed;
};

/* A right-hand side to test a solve with */
static inline PetscReal PolderCoarseTestValue(PetscInt i)
{
  return PetscSinReal((PetscReal)(1 + i) * (PetscReal)12.9898);
}

/* coarse.c: the explicit inverse has lost digits that the view warns of */
PETSC_INTERN PetscBool PolderCoarseInverseInaccurate(PolderCoarse);
/* Says what a set-up found */
PETSC_INTERN PetscErrorCode PolderCoarseInfo(PolderCoarse);
/* Makes it as it was before a set-up, but for the options */
PETSC_INTERN PetscErrorCode PolderCoarseReset(PolderCoarse);
/* b <- its sum over the processes */
PETSC_INTERN PetscErrorCode PolderCoarseReduce(PolderCoarse);
/* PolderCoarseSolveDevice() of a solver whose E is on the host */
PETSC_INTERN PetscErrorCode PolderCoarseSolveThroughHost(PolderCoarse, const PetscScalar a1[], PetscScalar a2[], PetscBool early);

/* coarseredundant.c: E and its envelope Cholesky factor, or the inverse, on every process. From the share of each process, see PolderCoarseSetUp() */
PETSC_INTERN const PolderCoarseSolver PolderCoarseRedundant;
PETSC_INTERN PetscErrorCode           PolderCoarseSetUp_Redundant(PolderCoarse, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace);

/* coarsedense.c: a dense E on the device of every process */
PETSC_INTERN const PolderCoarseSolver PolderCoarseDense;
/* Will the device hold a dense E of d columns? */
PETSC_INTERN PetscBool PolderCoarseWantsDense(PolderCoarse, PetscInt d);
/* From E as it is on every process, as ei, ej, ev */
PETSC_INTERN PetscErrorCode PolderCoarseSetUp_Dense(PolderCoarse, PetscBool nullspace);

/* coarseksp.c: the type ksp */
PETSC_INTERN const PolderCoarseSolver PolderCoarseNested;
PETSC_INTERN PetscErrorCode           PolderCoarseSetUp_KSP(PolderCoarse, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace);
