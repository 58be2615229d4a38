static char help[] = "Input that CG on the first Schur complement refuses.\n\n";

#include <polder.h>
#include <petsc/private/kspimpl.h>
#include "bubbles.h"
#include "rrbproblems.h"
#include "message.h"

typedef enum {
  NINE_POINTS,
  THREE_DIMENSIONS,
  OTHER_PC,
  TWO_MATRICES,
  OLD_VALUES,
  PRECONDITIONED,
  NOTFINITE,
  SCALED,
  SCALED_DCG,
  NBAD
} Bad;
static const char *const names[] = {"9-point stencil",     "3-D stencil",  "another preconditioner", "two matrices",           "factor of older values",
                                    "preconditioned norm", "not a number", "diagonal scaling",       "diagonal scaling of dcg"};

static PetscErrorCode SolveBad(Bad bad, Mat A, Mat B, KSP ksp, Vec b, Vec x)
{
  const Problem other = {RANDOM5, 12, 10, 2};
  PC            pc;

  PetscFunctionBeginUser;
  PetscCall(KSPSetType(ksp, bad == SCALED_DCG ? KSPDCG : KSPRRBCG));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetOperators(ksp, A, bad == TWO_MATRICES ? B : A));
  PetscCall(KSPGetPC(ksp, &pc));
  if (bad == OTHER_PC) PetscCall(PCSetType(pc, PCICC));
  if (bad >= SCALED) PetscCall(PolderPCSetDiagonalScale(pc, b));
  if (bad == PRECONDITIONED) PetscCall(KSPSetNormType(ksp, KSP_NORM_PRECONDITIONED));
  if (bad == OLD_VALUES) PetscCall(KSPSolve(ksp, b, x));
  if (bad == OLD_VALUES) {
    PetscCall(Fill(&other, A));
    PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  }
  if (bad == NOTFINITE) PetscCall(MatSetValue(A, 50, 50, NAN, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPSolve(ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  PetscBool scaled;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-scaled", &scaled));
  for (int bad = scaled ? SCALED : 0; bad < (scaled ? NBAD : SCALED); ++bad) {
    const Problem  p     = {bad == NINE_POINTS ? NINE : RANDOM5, 12, 10, 1};
    const Bubbles  space = {.dim = 3, .n = 6, .k = 0, .radius = 0.1, .inside = 1, .scale = 1, .dirichlet = PETSC_TRUE};
    Mat            A     = NULL, B;
    KSP            ksp;
    Vec            x, b;
    PetscErrorCode ierr;

    if (bad == THREE_DIMENSIONS) PetscCall(BubblesAssemble(&space, PETSC_COMM_WORLD, &A, NULL));
    else PetscCall(CreateMatrix(&p, &A));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(CreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    message[0] = 0;
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    ierr = SolveBad((Bad)bad, A, B, ksp, b, x);
    PetscCall(PetscPopErrorHandler());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", names[bad], ierr ? message : "NOT AN ERROR"));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     suffix: bad
     nsize: {{1 3}}

   test:
     suffix: scaled
     requires: !since_3.26
     args: -scaled

   test:
     suffix: pc
     program: examples/poisson
     args: -ksp_type rrbcg -pc_type jacobi
     fails: use -pc_type rrb

TEST*/
