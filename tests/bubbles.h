/* A small system for the tests: bubbles on a lattice of the unit box, cell-centred, harmonic face means, natural numbering. */
#pragma once

#include <polder.h>
#include "core/compat.h"
#include "vecs.h"

typedef struct {
  PetscInt  dim, n, k;      /* cells a direction; bubbles a direction, 0: none */
  PetscReal radius, inside; /* coefficient in the bubbles, 1 outside */
  PetscReal scale;          /* of all coefficients */
  PetscBool centre;         /* one more bubble in the middle */
  PetscBool dirichlet;      /* on the face x = 0; Neumann elsewhere */
} Bubbles;

static inline PetscErrorCode BubblesFromOptions(Bubbles *b)
{
  PetscFunctionBegin;
  *b = (Bubbles){.dim = 3, .n = 16, .k = 2, .radius = 0.15, .inside = 1e3, .scale = 1, .centre = PETSC_FALSE, .dirichlet = PETSC_FALSE};
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &b->dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &b->n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-k", &b->k, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-radius", &b->radius, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-inside", &b->inside, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-centre", &b->centre, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-dirichlet", &b->dirichlet, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Distance to the nearest bubble's surface, positive inside */
static inline PetscReal BubblesLevelSet(const Bubbles *b, PetscInt cell)
{
  PetscReal x[3], nearest = 2, r2 = 0, centre2 = 0;

  for (PetscInt d = 0; d < b->dim; ++d, cell /= b->n) {
    x[d] = (cell % b->n + 0.5) / b->n;
    if (b->k) r2 += PetscSqr(x[d] - (PetscFloorReal(x[d] * b->k) + 0.5) / b->k);
    centre2 += PetscSqr(x[d] - 0.5);
  }
  if (b->k) nearest = PetscSqrtReal(r2);
  if (b->centre) nearest = PetscMin(nearest, PetscSqrtReal(centre2));
  return b->radius - nearest;
}

static inline PetscReal BubblesCoefficient(const Bubbles *b, PetscInt cell)
{
  return b->scale * (BubblesLevelSet(b, cell) > 0 ? b->inside : 1);
}

/* Fills A; makes it when *A is NULL. phi (may be NULL): the level set */
static inline PetscErrorCode BubblesAssemble(const Bubbles *b, MPI_Comm comm, Mat *A, Vec *phi)
{
  PetscInt N = b->dim == 2 ? b->n * b->n : b->n * b->n * b->n, start, end;

  PetscFunctionBegin;
  if (!*A) {
    PetscCall(MatCreate(comm, A));
    PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
    PetscCall(MatSetType(*A, MATAIJ));
    PetscCall(MatSetFromOptions(*A));
    PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 6, NULL));
  }
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  if (phi) PetscCall(CreateVecs(*A, phi, NULL));
  for (PetscInt i = start; i < end; ++i) {
    PetscReal diagonal = 0, own = BubblesCoefficient(b, i);

    for (PetscInt d = 0, stride = 1; d < b->dim; ++d, stride *= b->n) {
      for (PetscInt side = -1; side <= 1; side += 2) {
        const PetscInt at = i / stride % b->n + side, j = i + side * stride;
        PetscReal      face;

        if (at < 0 || at >= b->n) {
          if (b->dirichlet && d == 0 && side < 0) diagonal += 2 * own;
          continue;
        }
        face = 2 / (1 / own + 1 / BubblesCoefficient(b, j));
        diagonal += face;
        PetscCall(MatSetValue(*A, i, j, -face, INSERT_VALUES));
      }
    }
    PetscCall(MatSetValue(*A, i, i, diagonal, INSERT_VALUES));
    if (phi) PetscCall(VecSetValue(*phi, i, BubblesLevelSet(b, i), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (phi) {
    PetscCall(VecAssemblyBegin(*phi));
    PetscCall(VecAssemblyEnd(*phi));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A reproducible number in [-1, 1) for each row, independent of the number of processes */
static inline PetscErrorCode FillRandom(Vec v, PetscInt seed)
{
  PetscInt     start, end;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(VecGetArray(v, &a));
  for (PetscInt i = start; i < end; ++i) {
    unsigned long long h = (unsigned long long)i * 0x9E3779B97F4A7C15ull + (unsigned long long)seed * 0xD1B54A32D192ED03ull;

    h            = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ull;
    h            = (h ^ (h >> 27)) * 0x94D049BB133111EBull;
    a[i - start] = (PetscReal)((h ^ (h >> 31)) >> 11) / 4503599627370496.0 - 1;
  }
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b = A x of a random x, and x <- 0 */
static inline PetscErrorCode MakeRhs(Mat A, PetscInt seed, Vec *b, Vec *x)
{
  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, x, b));
  PetscCall(FillRandom(*x, seed));
  PetscCall(MatMult(A, *x, *b));
  PetscCall(VecZeroEntries(*x));
  PetscFunctionReturn(0);
}

/* The singular system of bubbles in a square: its matrix with the constant as kernel, and f = cos(pi x) + cos(2 pi y), which adds up to zero */
static inline PetscErrorCode BubblesNeumann(const Bubbles *b, MPI_Comm comm, Mat *A, Vec *f)
{
  PetscInt     start, end;
  PetscScalar *a;
  MatNullSpace null;

  PetscFunctionBegin;
  *A = NULL;
  PetscCall(BubblesAssemble(b, comm, A, NULL));
  PetscCall(MatNullSpaceCreate(comm, PETSC_TRUE, 0, NULL, &null));
  PetscCall(MatSetNullSpace(*A, null));
  PetscCall(MatNullSpaceDestroy(&null));
  PetscCall(CreateVecs(*A, f, NULL));
  PetscCall(VecGetOwnershipRange(*f, &start, &end));
  PetscCall(VecGetArrayWrite(*f, &a));
  for (PetscInt i = start; i < end; ++i) a[i - start] = PetscCosReal(PETSC_PI * (i % b->n + 0.5) / b->n) + PetscCosReal(2 * PETSC_PI * (i / b->n + 0.5) / b->n);
  PetscCall(VecRestoreArrayWrite(*f, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ||b - A x|| / ||b|| */
static inline PetscErrorCode TrueResidual(Mat A, Vec b, Vec x, PetscReal *residual)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
