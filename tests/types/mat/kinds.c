/* The matrices of mat.c, of several kinds. */
#include "mat.h"

const char *const Kinds[] = {"stencil", "convection", "random", "irregular", "wide", "tall", "empty rows", "no diagonal", "tiny", "empty", "long"};

PetscScalar Hash(PetscInt i, PetscInt j)
{
  const unsigned int h = (unsigned int)(i * 2654435761u + j * 40503u) * 2246822519u;

  return 0.25 + (h >> 12) / (PetscReal)(1 << 20);
}

#define Put(j, v) \
  do { \
    cols[n]   = (j); \
    vals[n++] = (v); \
  } while (0)

/* The 7-point stencil of a grid with so many rows in a line and in a plane */
static PetscInt StencilRow(Kind kind, PetscInt i, PetscInt N, PetscInt line, PetscInt plane, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt step[] = {-plane, -line, -1, 0, 1, line, plane};
  PetscInt       n      = 0;

  for (PetscInt k = 0; k < 7; ++k) {
    const PetscInt j = i + step[k];

    if (j >= 0 && j < N) Put(j, k == 3 ? 10.0 : -Hash(PetscMin(i, j), PetscMax(i, j)) - (kind == CONVECTION && k > 3 ? 0.5 : 0.0));
  }
  return n;
}

/* Diagonals far from each other */
static PetscInt LongRow(PetscInt i, PetscInt N, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt step[] = {-700, -1, 0, 1, 700};
  PetscInt       n      = 0;

  for (PetscInt k = 0; k < 5; ++k) {
    if (i + step[k] >= 0 && i + step[k] < N) Put(i + step[k], step[k] ? -Hash(PetscMin(i, i + step[k]), PetscAbs(step[k])) : 8.0);
  }
  return n;
}

/* Row i of a matrix; returns the number of entries */
static PetscInt Row(Kind kind, PetscInt i, PetscInt M, PetscInt N, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt nx = 6, ny = 5;
  PetscInt       n = 0;

  switch (kind) {
  case STENCIL:
  case CONVECTION:
    return StencilRow(kind, i, N, nx, nx * ny, cols, vals);
  case RANDOM:
    for (PetscInt k = 0; k < 5; ++k) Put((7 * i + 11 * k * k + (i * i) % 13) % N, Hash(i, k));
    break;
  case IRREGULAR:
    if (i == M / 2) {
      for (PetscInt j = 0; j < N; ++j) Put(j, Hash(i, j));
    } else {
      for (PetscInt k = 0; k <= i % 4; ++k) Put((i + k * k) % N, Hash(i, k));
    }
    break;
  case WIDE:
  case TALL:
    for (PetscInt j = i - 1; j < i + 4; j += 2) {
      if (j >= 0 && j < N) Put(j, Hash(i, j));
    }
    break;
  case EMPTYROWS:
    if (i % 3 == 1) break;
    Put(i, 2.0);
    if (i + 4 < N) Put(i + 4, Hash(i, 4));
    break;
  case NODIAGONAL:
    Put((i + 1) % N, Hash(i, 1));
    Put((i + N - 1) % N, Hash((i + N - 1) % N, 1));
    break;
  case TINY:
    Put(i, 3.0);
    Put((i + 1) % N, -1.0);
    break;
  case EMPTY:
    break;
  case LONG:
    return LongRow(i, N, cols, vals);
  }
  return n;
}

PetscErrorCode Create(Kind kind, MatType type, PetscBool options, Mat *A)
{
  const PetscInt M = kind == TINY ? 2 : (kind == WIDE ? 30 : (kind == TALL ? 47 : (kind == LONG ? 2601 : 120)));
  const PetscInt N = kind == WIDE ? 47 : (kind == TALL ? 30 : M);
  PetscInt       rstart, rend, cols[256];
  PetscScalar    vals[256];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, M, N));
  PetscCall(MatSetType(*A, type));
  if (options) PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 8, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 8, NULL, 8, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    const PetscInt n = Row(kind, i, M, N, cols, vals);

    PetscCall(MatSetValues(*A, 1, &i, n, cols, vals, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}
