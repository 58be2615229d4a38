/* Solves with E = Z^T A Z: dense on every process, or distributed through a nested KSP. */
#pragma once

#include "core/core.h"

typedef struct _n_PolderCoarse *PolderCoarse;

#define POLDER_COARSE_BADTEXT "The coarse matrix E of the deflation space has an entry that is infinite or not a number: check the entries of the system matrix"

PETSC_INTERN PetscErrorCode PolderCoarseCreate(MPI_Comm, PolderCoarse *);
PETSC_INTERN PetscErrorCode PolderCoarseDestroy(PolderCoarse *);
/*
  Options -deflation_coarse inverse|cholesky|ksp, and those of the nested KSP with the prefix deflation_coarse_, all behind the given prefix; changed: the
  solver must be set up again
*/
PETSC_INTERN PetscErrorCode PolderCoarseSetOptionsPrefix(PolderCoarse, const char[]);
PETSC_INTERN PetscErrorCode PolderCoarseSetFromOptions(PolderCoarse, PetscBool *changed);
/* Uses the inverse instead of the factor by default. Call before the set-up */
PETSC_INTERN PetscErrorCode PolderCoarseSetInverse(PolderCoarse);
/*
  This process touches the columns gl[0..nl) of the d columns of Z and adds the entries (gl[k], gl[col]) = val of the CSR
  matrix ptr, col, val (nl rows, local columns) to E. nullspace: E is singular with the constant as kernel, so one column
  (the last) is left out. Columns that are zero or depend on others are left out as well. Collective.
*/
PETSC_INTERN PetscErrorCode PolderCoarseSetUp(PolderCoarse, PetscInt d, PetscInt nl, const PetscInt gl[], const PetscInt ptr[], const PetscInt col[],
                                              const PetscScalar val[], PetscBool nullspace);
/*
  Sets the excess (row sum) of the rows of E for the next set-up, of d columns: excess[n] of the columns from first on, negative where unknown. The
  off-diagonal entries of E are then not positive, and these sums are more accurate than sums of the entries. If an ordinary factor turns out to be dominated
  by rounding, the factor is computed from these sums without a subtraction. Of a general E they tell only whether the
  constant is in its kernel. Collective
*/
PETSC_INTERN PetscErrorCode PolderCoarseSetExcess(PolderCoarse, PetscInt d, PetscInt first, PetscInt n, const PetscReal excess[], const PetscReal rounding[]);
/*
  general: E is not symmetric. On the device its solver is the dense inverse, unless E is large, the type is ksp, or solves with E^T are wanted as well
  (transposes); otherwise a nested KSP solves with it, by default with an LU factor. Call before the set-up
*/
PETSC_INTERN PetscErrorCode PolderCoarseSetGeneral(PolderCoarse, PetscBool general, PetscBool transposes);
/* The vectors are on the device, so E and its solver are placed there too. Call before the set-up */
PETSC_INTERN PetscErrorCode PolderCoarseSetDevice(PolderCoarse, PetscBool);
/* Set-up from the *n entries that this process adds to E: key = i * d + j (ascending; d * d marks unused entries) of E in device memory */
PETSC_INTERN PetscErrorCode PolderCoarseSetUpDevice(PolderCoarse, PetscInt d, const PetscInt *n, const PetscInt64 key[], const PetscScalar val[],
                                                    PetscBool nullspace);
/*
  The largest d, for connected parts of a domain of dimension dim, whose solve moves at most `bytes` bytes and whose set-up takes at most `flops` flops. If
  the vectors are on the device, the solver is the dense inverse there
*/
PETSC_INTERN PetscErrorCode PolderCoarseGetLimit(PolderCoarse, PetscInt dim, PetscReal bytes, PetscReal flops, PetscInt *d);
/* FALSE: E has an infinite entry or NaN, the set-up ended early, and a solve is an error. The same on all processes */
PETSC_INTERN PetscErrorCode PolderCoarseIsFinite(PolderCoarse, PetscBool *);
/* FALSE: the factor on the host has met a pivot that is negative beyond rounding, and left out its column. The same on all processes */
PETSC_INTERN PetscErrorCode PolderCoarseIsSemidefinite(PolderCoarse, PetscBool *);
/* Number of columns in use: d minus those left out */
PETSC_INTERN PetscErrorCode PolderCoarseGetRank(PolderCoarse, PetscInt *);
/* a2 <- E^-1 (sum over processes of a1), both in the local numbering gl[0..nl); a2 is zero where a column is left out. Collective */
PETSC_INTERN PetscErrorCode PolderCoarseSolve(PolderCoarse, const PetscScalar a1[], PetscScalar a2[]);
/* The same with E^-T, after a set-up for a general E and transposes */
PETSC_INTERN PetscErrorCode PolderCoarseSetTranspose(PolderCoarse, PetscBool);
/* PolderCoarseSolve() with device arrays of all d columns, aligned to 16 bytes; early: see kernels/deflation.h */
PETSC_INTERN PetscErrorCode PolderCoarseSolveDevice(PolderCoarse, const PetscScalar a1[], PetscScalar a2[], PetscBool early);
/* Values that the sum over processes in a solve takes along, where the vectors are */
typedef struct {
  PetscInt     n;
  PetscScalar *sum;    /* sum[0 .. n) <- the sum over processes, n <= POLDER_COARSE_RIDERS */
  PetscScalar *energy; /* <- (a1, E^-1 a1) with the sum of a1 */
} PolderCoarseRiders;
#define POLDER_COARSE_RIDERS 8
/* The next solve takes these along: no message of their own, unless the type is ksp */
PETSC_INTERN PetscErrorCode PolderCoarseCarry(PolderCoarse, const PolderCoarseRiders *);
/* Does the device solve consist of Polder's own kernel launches only, so that it can be recorded and replayed? */
PETSC_INTERN PetscErrorCode PolderCoarseOnlyLaunches(PolderCoarse, PetscBool *);
PETSC_INTERN PetscErrorCode PolderCoarseView(PolderCoarse, PetscViewer);
