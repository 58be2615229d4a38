static char help
  [] = "Inner products of several vectors that belong to a matrix: those of their duplicates, at once and begun before others end, on the host and back.\n\n";

#include "core/compat.h"
#include <petscmat.h>

#define MOST 33

/* The worst difference between VecMDot() of n vectors and VecDot() of each, relative to the norms */
static PetscErrorCode Difference(PetscInt n, Vec x, Vec y[], PetscBool split, PetscReal *worst)
{
  PetscScalar dots[MOST], others[MOST], dot;
  PetscReal   xnorm, ynorm;

  PetscFunctionBeginUser;
  if (split) {
    PetscCall(VecMDotBegin(x, n, y, dots));
    PetscCall(VecMDotBegin(y[0], n, y, others));
    PetscCall(VecMDotEnd(x, n, y, dots));
    PetscCall(VecMDotEnd(y[0], n, y, others));
  } else PetscCall(VecMDot(x, n, y, dots));
  PetscCall(VecNorm(x, NORM_2, &xnorm));
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(VecDot(x, y[k], &dot));
    PetscCall(VecNorm(y[k], NORM_2, &ynorm));
    *worst = PetscMax(*worst, PetscAbsScalar(dots[k] - dot) / (xnorm * ynorm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a matrix with m rows on this process */
static PetscErrorCode Products(PetscInt m, PetscRandom random, PetscReal *worst)
{
  static const PetscInt counts[] = {1, 2, 7, 8, 9, 16, MOST};
  Mat                   A;
  Vec                   x, *y;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, m, m, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecDuplicateVecs(x, MOST, &y));
  PetscCall(VecSetRandom(x, random));
  for (int k = 0; k < MOST; ++k) PetscCall(VecSetRandom(y[k], random));
  PetscCall(VecCopy(x, y[4]));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(counts); ++c) {
    for (int split = 0; split < 2; ++split) PetscCall(Difference(counts[c], x, y, (PetscBool)split, worst));
  }
  for (int bind = 1; bind >= 0; --bind) { // to the host, and back
    PetscCall(VecBindToCPU(x, (PetscBool)bind));
    for (int k = 0; k < MOST; ++k) PetscCall(VecBindToCPU(y[k], (PetscBool)bind));
    PetscCall(Difference(MOST, x, y, PETSC_FALSE, worst));
  }
  PetscCall(VecDestroyVecs(MOST, &y));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt sizes[] = {1, 257, 10007};
  PetscRandom    random;
  PetscMPIInt    rank;
  PetscReal      worst = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); ++s) {
    PetscCall(Products(sizes[s] + rank, random, &worst));
    PetscCall(Products(rank == 1 ? 0 : sizes[s], random, &worst)); // the second process has no rows
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "inner products %s\n", worst < 1e-13 ? "ok" : "WRONG"));
  if (worst >= 1e-13) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  a difference of %.3e\n", (double)worst));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     args: -mat_type {{aijdia aijicrs aijhec}}
     nsize: {{1 2 3}}

TEST*/
