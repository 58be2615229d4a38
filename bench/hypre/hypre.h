/* What the programs for hypre's solvers share: its memory, its clock, and the residual that is found with the rows of the problem. */
#pragma once

#include "../graphs.h"
#include <petscksp.h>
#include <HYPRE.h>
#include <HYPRE_config.h>
#include <HYPRE_utilities.h>

#define CheckHypre(call) PetscCheck(!(call), PETSC_COMM_SELF, PETSC_ERR_LIB, "hypre: " #call)

/* What one solver, with one set of its options, has taken: the best of several set-ups and solves, in seconds. its = 0: it does not converge */
typedef struct {
  char      name[128];
  PetscInt  its;
  PetscReal setup, solve, residual;
} Outcome;

/* A copy of from[] where hypre wants it */
PetscErrorCode Place(size_t n, const void *from, size_t size, void **to);
/* Frees it; to != NULL: copies it back before */
PetscErrorCode Unplace(size_t n, void *a, size_t size, void *to);
/* The time when all processes have come here and the device has nothing left to do */
PetscErrorCode Now(PetscLogDouble *t);
/* |b - A x| / |b| for the rows x[] of this process */
PetscErrorCode Residual(const Problem *p, const Rows *A, const HYPRE_Real x[], PetscReal *residual);
/* *best <- *found if its residual is small enough and it takes less in all; prints what it takes */
PetscErrorCode Better(const Outcome *found, Outcome *best);

/* The best of the combinations of the solver's options */
PetscErrorCode SolvePFMG(const Problem *p, const Rows *A, PetscInt repeats, Outcome *best);
PetscErrorCode SolveBoomerAMG(const Problem *p, const Rows *A, PetscInt repeats, Outcome *best);
