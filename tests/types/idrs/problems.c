/* Matrices and vectors for idrs, and a solve that counts products. */
#include "idrs.h"
#include <petsc/private/petscimpl.h>
#include <stdarg.h>

static PetscReal Random(PetscInt seed, PetscInt i)
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

/* The two neighbours of a point in one direction */
static PetscErrorCode SetNeighbours(Mat A, const Flow *f, PetscInt row, PetscInt stride, PetscReal less, PetscReal more)
{
  const PetscInt i = row / stride % f->n, around = stride * f->n;

  PetscFunctionBeginUser;
  if (i > 0 || f->periodic) PetscCall(MatSetValue(A, row, i > 0 ? row - stride : row - stride + around, less, ADD_VALUES));
  if (i < f->n - 1 || f->periodic) PetscCall(MatSetValue(A, row, i < f->n - 1 ? row + stride : row + stride - around, more, ADD_VALUES));
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
      const PetscReal wind = f->peclet * velocity[d] * h;

      diagonal += 2 + (f->upwind ? wind : 0);
      PetscCall(SetNeighbours(*A, f, row, stride, -1 - (f->upwind ? wind : wind / 2), -1 + (f->upwind ? 0 : wind / 2)));
    }
    PetscCall(MatSetValue(*A, row, row, diagonal, ADD_VALUES));
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateDense(PetscInt n, PetscReal shift, PetscBool skew, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, n, NULL, n, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    for (PetscInt j = 0; j < n; ++j) {
      const PetscReal a = !skew ? Random(1, i * n + j) : i < j ? Random(1, i * n + j) : i > j ? -Random(1, j * n + i) : 0;

      PetscCall(MatSetValue(*A, i, j, a + (i == j ? shift : 0), INSERT_VALUES));
    }
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the operator, which stands behind a shell that counts */
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

static PetscErrorCode MultTransposeCount(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMultTranspose(A, x, y));
  ++Products;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetDiagonalShell(Mat S, Vec d)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatGetDiagonal(A, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateSolver(Mat A, const char options[], KSP *ksp)
{
  static const char *const names[] = {"-t_ksp_type",      "-t_pc_type",          "-t_ksp_rtol",          "-t_ksp_pc_side",
                                      "-t_ksp_norm_type", "-t_ksp_max_it",       "-t_ksp_atol",          "-t_ksp_divtol",
                                      "-t_ksp_idrs_s",    "-t_ksp_idrs_variant", "-t_ksp_gmres_restart", "-t_ksp_convergence_test"};
  Mat                      S;
  MatNullSpace             space;
  PetscInt                 m, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, m, n, PETSC_DETERMINE, PETSC_DETERMINE, A, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))MultCount));
  PetscCall(MatShellSetOperation(S, MATOP_MULT_TRANSPOSE, (void (*)(void))MultTransposeCount));
  PetscCall(MatShellSetOperation(S, MATOP_GET_DIAGONAL, (void (*)(void))GetDiagonalShell));
  PetscCall(MatGetNullSpace(A, &space));
  PetscCall(MatSetNullSpace(S, space));
  PetscCall(MatGetTransposeNullSpace(A, &space));
  PetscCall(MatSetTransposeNullSpace(S, space));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "t_"));
  PetscCall(KSPSetOperators(*ksp, S, A));
  PetscCall(MatDestroy(&S));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); ++k) PetscCall(PetscOptionsClearValue(NULL, names[k]));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Solve(KSP ksp, Mat A, Vec b, Vec x, Outcome *outcome)
{
  Vec       r;
  PetscReal bnorm;

  PetscFunctionBeginUser;
  PetscCall(KSPSetUp(ksp));
  Products            = 0;
  outcome->reductions = petsc_allreduce_ct;
  PetscCall(KSPSolve(ksp, b, x));
  outcome->reductions = petsc_allreduce_ct - outcome->reductions;
  outcome->products   = Products;
  PetscCall(KSPGetConvergedReason(ksp, &outcome->reason));
  PetscCall(KSPGetIterationNumber(ksp, &outcome->its));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &outcome->residual));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  if (bnorm > 0) outcome->residual /= bnorm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveRandom(Mat A, const char options[], Outcome *outcome)
{
  KSP ksp;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillVec(x, 7));
  PetscCall(MatMult(A, x, b));
  PetscCall(CreateSolver(A, options, &ksp));
  PetscCall(Solve(ksp, A, b, x, outcome));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Judge(PetscBool ok, const Outcome *outcome, const char format[], ...)
{
  char    what[256];
  va_list list;

  PetscFunctionBeginUser;
  va_start(list, format);
  vsnprintf(what, sizeof(what), format, list);
  va_end(list);
  if (ok) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: ok\n", what));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%s: NO: %s after %" PetscInt_FMT " iterations, %" PetscInt_FMT " products, %g reductions at the true residual %g\n", what,
                          KSPConvergedReasons[outcome->reason], outcome->its, outcome->products, outcome->reductions, (double)outcome->residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}
