/* Matrices and vectors for idrs, and a solve that counts products. */
#include "idrs.h"
#include <petsc/private/petscimpl.h>

PetscReal Random(PetscInt seed, PetscInt i)
{
  uint32_t h = (uint32_t)i * 2654435761u + (uint32_t)seed * 40503u + 12345u;

  for (int k = 0; k < 3; ++k) {
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
  }
  return (PetscReal)h / 2147483648.0 - 1;
}

PetscErrorCode FillVec(Vec v, PetscInt seed)
{
  PetscScalar *a;
  PetscInt     start, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = start; i < end; ++i) a[i - start] = Random(seed, i);
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateFlow(const Flow *f, Mat *A)
{
  const PetscReal h = 1. / (PetscReal)(f->n + 1), length = PetscSqrtReal(f->dim == 2 ? 5 : 5.25), velocity[] = {1 / length, 2 / length, 0.5 / length};
  PetscInt        N = 1, start, end;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < f->dim; ++d) N *= f->n;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 7, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; ++row) {
    PetscReal diagonal = -f->reaction * h * h; // all times h^2

    for (PetscInt d = 0, stride = 1; d < f->dim; ++d, stride *= f->n) {
      const PetscInt  i    = row / stride % f->n;
      const PetscReal wind = f->peclet * velocity[d] * h, less = -1 - (f->upwind ? wind : wind / 2), more = -1 + (f->upwind ? 0 : wind / 2);

      diagonal += 2 + (f->upwind ? wind : 0);
      if (i > 0) PetscCall(MatSetValue(*A, row, row - stride, less, INSERT_VALUES));
      if (i < f->n - 1) PetscCall(MatSetValue(*A, row, row + stride, more, INSERT_VALUES));
    }
    PetscCall(MatSetValue(*A, row, row, diagonal, INSERT_VALUES));
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateDense(PetscInt n, PetscReal shift, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, n, NULL, n, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i)
    for (PetscInt j = 0; j < n; ++j) PetscCall(MatSetValue(*A, i, j, Random(1, i * n + j) + (i == j ? shift : 0), INSERT_VALUES));
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products with A so far: of the operator itself, which stands behind a shell that counts */
static PetscInt Products;

static PetscErrorCode MultCount(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  ++Products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(Mat A, const char options[], Outcome *outcome)
{
  Mat       S;
  KSP       ksp;
  Vec       x, b, r;
  PetscInt  m, n;
  PetscReal bnorm;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, m, n, PETSC_DETERMINE, PETSC_DETERMINE, A, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))MultCount));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(FillVec(x, 7));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "t_"));
  PetscCall(KSPSetOperators(ksp, S, A));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPSetFromOptions(ksp));
  Products = 0;
  PetscCall(KSPSolve(ksp, b, x));
  outcome->products = Products;
  PetscCall(KSPGetConvergedReason(ksp, &outcome->reason));
  PetscCall(KSPGetIterationNumber(ksp, &outcome->its));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &outcome->residual));
  outcome->residual /= bnorm;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}
