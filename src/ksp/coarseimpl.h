/* What the solvers for E share. */
#pragma once

#include "deflationcoarse.h"
#include "coarsedevice.h"
#include <petscksp.h>
#include <petscsf.h>

/* A diagonal entry of E that is so much smaller than the largest one counts as zero */
#define POLDER_COARSE_ZERO (5 * PETSC_MACHINE_EPSILON)

typedef enum {
  COARSE_INVERSE,
  COARSE_CHOLESKY,
  COARSE_KSP
} PolderCoarseType;
struct _n_PolderCoarse {
  MPI_Comm         comm;
  char            *prefix;
  PolderCoarseType type;
  PetscBool        chosen; /* type was asked for */
  PetscBool        setup;
  PetscBool        bad; /* E has an entry that is not finite */
  PetscInt         d, nl, *gl;
  PetscInt         nleftnull, nleftzero, nleftdep; /* columns left out: kernel of A, zero, dependent on others */
  PetscReal        cond, resid;                    /* of E with unit diagonal; cond < 0: not known */
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
  PetscBool          ondevice; /* the vectors are there */
  PolderCoarseDevice device;   /* kept for its arrays */
  PetscBool          dense;    /* device is what solves */
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

/* coarseksp.c: the type ksp */
PETSC_INTERN PetscErrorCode PolderCoarseSetUp_KSP(PolderCoarse, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace);
PETSC_INTERN PetscErrorCode PolderCoarseSolve_KSP(PolderCoarse, const PetscScalar a1[], PetscScalar a2[]);
/* a2 <- E^-1 a1 without a copy through the host, when there is one process and E lies on the device */
PETSC_INTERN PetscErrorCode PolderCoarseSolveDevice_KSP(PolderCoarse, const PetscScalar a1[], PetscScalar a2[], PetscBool *done);
/* Condition number of E with unit diagonal: a few steps of the power method with E and with its solver. Only a view asks for it */
PETSC_INTERN PetscErrorCode PolderCoarseCondition_KSP(PolderCoarse);
