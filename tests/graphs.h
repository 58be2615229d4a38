/* Random graphs with weights, for the tests. */
#pragma once

#include <petscmat.h>
#include "core/compat.h"

/* A matrix of N rows, n of them on this process, of the type that the options name, with room for any entries */
static inline PetscErrorCode CreateEmpty(PetscInt n, PetscInt N, Mat *A)
{
  const PetscInt nz = PetscMin(N, 30);

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, n, n, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, nz, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, nz, NULL, nz, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/* Two triangles in each cell of width x n / width points; the direction of large conductivity is up or down by 30 degrees */
static inline PetscErrorCode AddRotated(Mat A, PetscInt n, PetscInt width, PetscReal up)
{
  static const PetscReal g[2][3][2] = {
    {{-1, 0}, {1, -1}, {0, 1} },
    {{0, -1}, {1, 0},  {-1, 1}}
  }; // gradients of the corners of both triangles
  const PetscReal c = PetscSqrtReal(0.75), s = 0.5 * up, eps = 0.01;
  const PetscReal K[2][2] = {
    {c * c + eps * s * s, (1 - eps) * c * s  },
    {(1 - eps) * c * s,   s * s + eps * c * c}
  };
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  for (PetscInt i = 0; i + width < n && !rank; ++i) {
    if (i % width == width - 1) continue;
    for (int t = 0; t < 2; ++t) {
      const PetscInt at[3] = {i, t ? i + width + 1 : i + 1, t ? i + width : i + width + 1};
      PetscScalar    val[3][3];

      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          val[a][b] = 0;
          for (int d = 0; d < 4; ++d) val[a][b] += 0.5 * g[t][a][d / 2] * K[d / 2][d % 2] * g[t][b][d % 2];
        }
      }
      PetscCall(MatSetValues(A, 3, at, 3, at, &val[0][0], ADD_VALUES));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
