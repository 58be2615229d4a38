/* Random graphs with weights, for the tests. */
#pragma once

#include <petscmat.h>
#include "core/compat.h"

/* In [0, 1), the next of a seed */
static inline PetscReal Next(unsigned long long *state)
{
  unsigned long long z = (*state += 0x9E3779B97F4A7C15ull);

  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return (PetscReal)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* Log-uniform around 1 */
static inline PetscReal Weight(PetscReal decades, unsigned long long *state)
{
  return PetscPowReal(10, decades * (Next(state) - 0.5));
}

/* The first process adds the Laplacian of an edge; a loop adds nothing */
static inline PetscErrorCode Edge(Mat A, PetscInt i, PetscInt j, PetscReal w)
{
  const PetscInt    at[2]  = {i, j};
  const PetscScalar val[4] = {w, -w, -w, w};
  PetscMPIInt       rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  if (!rank && i != j) PetscCall(MatSetValues(A, 2, at, 2, at, val, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}
