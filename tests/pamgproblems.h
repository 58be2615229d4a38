/* Systems for the tests of the pairwise-aggregation multigrid, and what they ask of a solve. */
#pragma once

#include <polder.h>
#include <petscksp.h>
#include "bubbles.h"
#include "tetrahedra.h"

/* The last level is the same on the host and on a device, so that the iterations are */
#define LASTLEVEL "-pc_pamg_coarse_limit 400 "

/* Cell-centred Poisson, homogeneous Dirichlet, n cells a direction, the couplings along x times aniso; the type is that of -mat_type */
static inline PetscErrorCode PoissonAssemble(MPI_Comm comm, PetscInt dim, PetscInt n, PetscReal aniso, Mat *A)
{
  const PetscInt N = dim == 1 ? n : dim == 2 ? n * n : n * n * n;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 2 * dim + 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 2 * dim + 1, NULL, 2 * dim, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    PetscInt    col[7], nc       = 0;
    PetscScalar val[7], diagonal = 0;

    for (PetscInt d = 0, stride = 1; d < dim; ++d, stride *= n) {
      const PetscReal a = d ? 1 : aniso;

      for (PetscInt side = -1; side <= 1; side += 2) {
        const PetscInt at = i / stride % n + side;

        diagonal += at < 0 || at >= n ? 2 * a : a;
        if (at < 0 || at >= n) continue;
        col[nc]   = i + side * stride;
        val[nc++] = -a;
      }
    }
    col[nc]   = i;
    val[nc++] = diagonal;
    PetscCall(MatSetValues(*A, 1, &i, nc, col, val, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode AttachConstant(Mat A)
{
  MatNullSpace constant;

  PetscFunctionBeginUser;
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)A), PETSC_TRUE, 0, NULL, &constant));
  PetscCall(MatSetNullSpace(A, constant));
  PetscCall(MatNullSpaceDestroy(&constant));
  PetscFunctionReturn(0);
}

/* kind: poisson, bubbles (Neumann) or tetrahedra; jump: ratio of directions, or contrast */
static inline PetscErrorCode ProblemCreate(const char kind[], PetscInt dim, PetscInt n, PetscReal jump, Mat *A)
{
  PetscFunctionBeginUser;
  *A = NULL;
  if (kind[0] == 'p') PetscCall(PoissonAssemble(PETSC_COMM_WORLD, dim, n, jump, A));
  else if (kind[0] == 't') PetscCall(TetrahedraAssemble(PETSC_COMM_WORLD, n, jump, A));
  else {
    const Bubbles b = {.dim       = dim,
                       .n         = n,
                       .k         = dim == 2 ? 4 : 2,
                       .radius    = dim == 2 ? 0.075 : 0.15,
                       .inside    = jump,
                       .scale     = 1,
                       .centre    = PETSC_FALSE,
                       .dirichlet = PETSC_FALSE};

    PetscCall(BubblesAssemble(&b, PETSC_COMM_WORLD, A, NULL));
    PetscCall(AttachConstant(*A));
  }
  PetscFunctionReturn(0);
}

/* Solves A x = b, b random, or smooth and without mean for a singular A, with a fresh solver of the options and of those in extra; its, and
   the true residual */
static inline PetscErrorCode ProblemSolve(Mat A, const char extra[], KSP *ksp, PetscInt *its, PetscReal *residual)
{
  MatNullSpace       nullspace;
  KSPConvergedReason reason;
  Vec                x, b;
  PetscOptions       options;
  KSP                own;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillRandom(b, 7));
  PetscCall(MatGetNullSpace(A, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, b));
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, LASTLEVEL));
  PetscCall(PetscOptionsInsertString(options, extra));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &own));
  PetscCall(PetscObjectSetOptions((PetscObject)own, options));
  PetscCall(KSPSetOperators(own, A, A));
  PetscCall(KSPSetTolerances(own, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 300));
  PetscCall(KSPSetNormType(own, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(own));
  PetscCall(KSPSolve(own, b, x));
  PetscCall(KSPGetIterationNumber(own, its));
  PetscCall(KSPGetConvergedReason(own, &reason));
  PetscCheck(reason > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_NOT_CONVERGED, "%s: %s after %" PetscInt_FMT " iterations", extra,
             KSPConvergedReasons[reason], *its);
  PetscCall(TrueResidual(A, b, x, residual));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(PetscObjectSetOptions((PetscObject)own, NULL));
  if (ksp) *ksp = own;
  else PetscCall(KSPDestroy(&own));
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(0);
}

/* Pairwise-aggregation multigrid of the options in extra, set up */
static inline PetscErrorCode CreatePC(Mat A, const char extra[], PC *pc)
{
  PetscOptions options;
  Vec          x;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, NULL)); // the levels go to a device that is in use
  PetscCall(VecDestroy(&x));
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, LASTLEVEL));
  PetscCall(PetscOptionsInsertString(options, extra));
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), pc));
  PetscCall(PetscObjectSetOptions((PetscObject)*pc, options));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCPAMG));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PetscObjectSetOptions((PetscObject)*pc, NULL));
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(0);
}
