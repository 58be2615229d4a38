/* Definitions shared by the solvers for E. */
#pragma once

#include "coarse.h"
#include "coarsedevice.h"
#include "core/place.h"
#include <petscksp.h>
#include <petscsf.h>

/* A pivot of E, scaled to unit diagonal, below minus this is no rounding of zero */
#define POLDER_COARSE_NEGATIVE 1e-3

/* A diagonal entry of E below this fraction of the largest one counts as zero */
#define POLDER_COARSE_ZERO (5 * PETSC_MACHINE_EPSILON)

/*
  Accepted relative residual of a solve with the inverse, which is up to cond(E) eps. The remaining component along Z is projected out every few steps, so up
  to this residual the iterations equal those of exact solves, even for smaller tolerances
*/
#define POLDER_COARSE_LOSS 1e-7
/* E counts as singular when a coarse solve has fewer than three correct digits */
#define POLDER_COARSE_SINGULAR 1e-3
/* Maximum number of columns of a dense E on the device, and of one that is not symmetric: its LU factors take three matrices and are slower than the sweep */
#define POLDER_COARSE_DENSE   12000
#define POLDER_COARSE_GENERAL 5000

typedef enum {
  COARSE_INVERSE,
  COARSE_CHOLESKY,
  COARSE_KSP
} PolderCoarseType;

/* A solver for E */
typedef struct {
  PetscErrorCode (*solve)(PolderCoarse, const PetscScalar a1[], PetscScalar a2[]);                        /* see PolderCoarseSolve() */
  PetscErrorCode (*solvedevice)(PolderCoarse, const PetscScalar a1[], PetscScalar a2[], PetscBool early); /* see PolderCoarseSolveDevice() */
  PetscErrorCode (*view)(PolderCoarse, PetscViewer);                                                      /* prints one line with the kind of solver */
  PetscErrorCode (*viewmore)(PolderCoarse, PetscViewer); /* prints more after the condition of E; NULL: nothing */
} PolderCoarseSolver;

struct _n_PolderCoarse {
  MPI_Comm                  comm;
  const PolderPlace        *place; /* memory of the vectors */
  char                     *prefix;
  PolderCoarseType          type;
  PetscBool                 chosen;                 /* type was requested by an option */
  PetscBool                 general;                /* E is not symmetric */
  PetscBool                 transposes, transposed; /* solves with E^T are wanted as well; the next ones are */
  const PolderCoarseSolver *solver;                 /* chosen in the set-up; NULL before */
  PetscBool                 setup;
  PetscBool                 bad; /* E has an entry that is not finite */
  PetscInt                  d, nl, *gl;
  PetscInt                  nleftnull, nleftzero, nleftdep; /* columns left out: kernel of A, zero, dependent on others */
  PetscReal                 cond, resid;                    /* of E scaled to unit diagonal; cond < 0: unknown */
  PetscReal                 leastpivot;                     /* the smallest pivot of E scaled to unit diagonal, if that is negative, on the host */
  /* Types inverse and cholesky on the host: S = D^-1/2 E D^-1/2, renumbered for a small envelope */
  PetscInt                 *ei, *ej;       /* E as CSR in the renumbered columns, the same on every process */
  PetscScalar              *ev;            /* values of S */
  PetscInt                 *order, *first; /* order[column] = row of S */
  size_t                   *ptr;
  PetscReal                *scale; /* [d] by row of S: E_ii^-1/2, 0 where the column is left out */
  char                     *drop;
  PetscReal                *excess;   /* [d] row sums of E, by column before a set-up and by row of S during it; NULL: only the entries are known */
  PetscBool                 onlyhost; /* the inverse on the device was dominated by rounding: solve on the host */
  PetscScalar              *L, *inverse;
  PetscScalar              *b, *x, *y; /* [d] work; b has room for the riders */
  const PolderCoarseRiders *riders;    /* of the next solve; NULL: none */
  /* Types inverse and cholesky on the device */
  PolderCoarseDevice device; /* reused by later set-ups */
  PolderCoarseReport report;
  PetscScalar       *d1, *d2; /* [d] work in device memory */
  /* Type ksp */
  KSP      ksp;
  Mat      E;
  Vec      bvec, xvec, used; /* used: 0 where a column is left out, else 1 */
  PetscSF  sf;
  PetscInt nsolve, nits, nfailed;
};

/* Does a dense E have a Cholesky factor? By default it has an inverse */
static inline PetscBool PolderCoarseFactorsDense(PolderCoarse c)
{
  return (PetscBool)(c->chosen && c->type == COARSE_CHOLESKY && !c->general);
}

/* The largest d of a dense E that no option asks for */
static inline PetscInt PolderCoarseMostDense(PolderCoarse c)
{
  return c->general ? POLDER_COARSE_GENERAL : POLDER_COARSE_DENSE;
}

/* Entry i of the right-hand side of a test solve */
static inline PetscReal PolderCoarseTestValue(PetscInt i)
{
  return PetscSinReal((PetscReal)(1 + i) * (PetscReal)12.9898);
}

/* coarse.c: has the explicit inverse lost so many digits that the view warns? */
PETSC_INTERN PetscBool PolderCoarseInverseInaccurate(PolderCoarse);
/* Is the constant in the kernel of E, as far as the sums of its rows tell? */
PETSC_INTERN PetscBool PolderCoarseSumsVanish(PolderCoarse);
/* Is the last column left out, as with nullspace of PolderCoarseSetUp()? */
PETSC_INTERN PetscBool PolderCoarseLeavesLast(PolderCoarse, PetscBool nullspace);
/* Reports the result of a set-up by PetscInfo() */
PETSC_INTERN PetscErrorCode PolderCoarseInfo(PolderCoarse);
/* Frees the result of the set-up; the options stay */
PETSC_INTERN PetscErrorCode PolderCoarseReset(PolderCoarse);
/* b <- its sum over the processes, and the riders' sums */
PETSC_INTERN PetscErrorCode PolderCoarseReduce(PolderCoarse);
/* PolderCoarseSolveDevice() for solvers with E on the host */
PETSC_INTERN PetscErrorCode PolderCoarseSolveThroughHost(PolderCoarse, const PetscScalar a1[], PetscScalar a2[], PetscBool early);

/* coarseredundant.c: E with its envelope Cholesky factor or its inverse on every process, from the contribution of each process, see PolderCoarseSetUp() */
PETSC_INTERN const PolderCoarseSolver PolderCoarseRedundant;
PETSC_INTERN PetscErrorCode PolderCoarseSetUp_Redundant(PolderCoarse, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace);

/* coarsedense.c: a dense E on the device of every process */
PETSC_INTERN const PolderCoarseSolver PolderCoarseDense;
/* Is E dense on the device for d columns? */
PETSC_INTERN PetscBool PolderCoarseWantsDense(PolderCoarse, PetscInt d);
/* Set-up from the replicated E in ei, ej, ev */
PETSC_INTERN PetscErrorCode PolderCoarseSetUp_Dense(PolderCoarse, PetscBool nullspace);

/* coarseksp.c: the type ksp */
PETSC_INTERN const PolderCoarseSolver PolderCoarseNested;
PETSC_INTERN PetscErrorCode PolderCoarseSetUp_KSP(PolderCoarse, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace);
