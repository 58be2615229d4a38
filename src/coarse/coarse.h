/* Solves with E = Z^T A Z: dense on every process, or distributed through a nested KSP. */
#pragma once

#include "core/core.h"

typedef struct _n_PolderCoarse *PolderCoarse;

#define POLDER_COARSE_BADTEXT "The coarse matrix E of the deflation space has an entry that is infinite or not a number: check the entries of the system matrix"

PETSC_INTERN PetscErrorCode PolderCoarseCreate(MPI_Comm, PolderCoarse *);
PETSC_INTERN PetscErrorCode PolderCoarseDestroy(PolderCoarse *);
/* -deflation_coarse inverse|cholesky|ksp, prefix deflation_coarse_ for the nested KSP, each behind the given prefix; changed: set up again */
PETSC_INTERN PetscErrorCode PolderCoarseSetOptionsPrefix(PolderCoarse, const char[]);
PETSC_INTERN PetscErrorCode PolderCoarseSetFromOptions(PolderCoarse, PetscBool *changed);
/* The inverse on every process instead of the factor, without an option. Before a set-up */
PETSC_INTERN PetscErrorCode PolderCoarseSetInverse(PolderCoarse);
/*
  This process touches the columns gl[0..nl) of the d columns of Z and adds the entries (gl[k], gl[col]) = val of the CSR
  matrix ptr, col, val (nl rows, local columns) to E. nullspace: E is singular with the constant as kernel, so one column
  (the last) is left out. Columns that are zero or depend on others are left out as well. Collective.
*/
PETSC_INTERN PetscErrorCode PolderCoarseSetUp(PolderCoarse, PetscInt d, PetscInt nl, const PetscInt gl[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace);
/*
  E has rows of entries that are not positive beside the diagonal, and the sum of each is known better than from its entries: excess[n] of the columns from first on, negative where it is
  not known. A factor that an ordinary one shows to be rounding is then made from these sums, without a subtraction. For the next set-up, of d columns. Collective
*/
PETSC_INTERN PetscErrorCode PolderCoarseSetExcess(PolderCoarse, PetscInt d, PetscInt first, PetscInt n, const PetscReal excess[], const PetscReal rounding[]);
/* The vectors are on the device: E and its solver shall be there too. Before a set-up */
PETSC_INTERN PetscErrorCode PolderCoarseSetDevice(PolderCoarse, PetscBool);
/* On one process, from the *n entries key = i * d + j (ascending; d * d stands for none) of E in device memory */
PETSC_INTERN PetscErrorCode PolderCoarseSetUpDevice(PolderCoarse, PetscInt d, const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PetscBool nullspace);
/* Largest d, for connected parts of a domain of dimension dim, whose solve moves at most so many bytes and whose set-up takes at most so many flops:
   with the dense inverse on the device where the vectors are there */
PETSC_INTERN PetscErrorCode PolderCoarseGetLimit(PolderCoarse, PetscInt dim, PetscReal bytes, PetscReal flops, PetscInt *d);
/* Otherwise the set-up has ended early, and a solve is an error. The same on all processes */
PETSC_INTERN PetscErrorCode PolderCoarseIsFinite(PolderCoarse, PetscBool *);
/* Columns in use, d less those left out */
PETSC_INTERN PetscErrorCode PolderCoarseGetRank(PolderCoarse, PetscInt *);
/* a2 <- E^-1 (sum over processes of a1), both in the local numbering gl[0..nl); a2 is zero where a column is left out. Collective */
PETSC_INTERN PetscErrorCode PolderCoarseSolve(PolderCoarse, const PetscScalar a1[], PetscScalar a2[]);
/* The same with device arrays of all d columns, aligned to 16 bytes */
PETSC_INTERN PetscErrorCode PolderCoarseSolveDevice(PolderCoarse, const PetscScalar a1[], PetscScalar a2[], PetscBool early);
/* Does that launch kernels of ours and nothing else, so that it can be replayed? */
PETSC_INTERN PetscErrorCode PolderCoarseOnlyLaunches(PolderCoarse, PetscBool *);
PETSC_INTERN PetscErrorCode PolderCoarseView(PolderCoarse, PetscViewer);
