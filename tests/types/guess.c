static char
  help[] = "Tests relative to the residual of the guess: dcg and rrbcg mean the user's guess, not what the deflation space or the elimination makes of it.\n\n";

#include "bubbles.h"

/* ||b - A x|| */
static PetscErrorCode ResidualNorm(Mat A, Vec b, Vec x, PetscReal *norm)
{
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(VecNorm(r, NORM_2, norm));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

/* The norm that the solver compares with, least: the smaller one of |b| and the residual of the guess */
static PetscErrorCode Solve(Mat A, Vec b, PetscBool least, PetscInt guess, PetscReal *first, PetscReal *ratio)
{
  const PetscReal rtol = 1e-3;
  KSP             ksp;
  Vec             x;
  PetscReal       norm, bnorm;
  void           *test;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, NULL));
  PetscCall(VecZeroEntries(x));
  if (guess) PetscCall(FillRandom(x, guess));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, rtol, 1e-50, PETSC_CURRENT, 2000));
  PetscCall(KSPSetInitialGuessNonzero(ksp, (PetscBool)(guess != 0)));
  PetscCall(KSPConvergedDefaultCreate(&test));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedDefault, test, KSPConvergedDefaultDestroy));
  if (least) PetscCall(KSPConvergedDefaultSetUMIRNorm(ksp));
  else PetscCall(KSPConvergedDefaultSetUIRNorm(ksp));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(ResidualNorm(A, b, x, first));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  if (least) *first = PetscMin(*first, bnorm);
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(ResidualNorm(A, b, x, &norm));
  *ratio = norm / (rtol * *first);
  PetscCheck(*ratio <= 1.0001, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The residual is %g times what the tolerance and the guess allow", (double)*ratio);
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Bubbles   bubbles;
  Mat       A = NULL;
  Vec       b;
  PetscInt  guesses = 3; /* the first one is zero */
  PetscReal first, ratio, nearest = 0;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-guesses", &guesses, NULL));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, NULL));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(CreateVecs(A, &b, NULL));
  PetscCall(VecSet(b, 1)); /* P b is larger, and so is b after the elimination of black nodes */
  for (PetscInt guess = 0; guess < guesses; ++guess) {
    for (int least = 0; least < 2; ++least) {
      PetscCall(Solve(A, b, (PetscBool)least, guess, &first, &ratio));
      nearest = PetscMax(nearest, ratio);
    }
  }
  PetscCheck(nearest > 0.1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "All solves went on to %g of the residual asked for", (double)nearest);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "guess ok\n"));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2}}
    args: -dim 2 -n 20 -dirichlet -inside {{1 1e3}}
    output_file: output/guess_1.out
    test:
      suffix: dcg
      args: -ksp_type dcg -pc_type jacobi -deflation_space {{none levelset rank}}
    test:
      suffix: levelset
      args: -guesses 1 -ksp_type {{dcg cg}} -deflation_space rank -ksp_norm_type unpreconditioned -pc_type levelset -levelset_pc_type jacobi
    test:
      suffix: rrbcg
      args: -ksp_type rrbcg -pc_type rrb

TEST*/
