static char help[] = "Deflated CG: agreement with CG, true residuals, Ritz values, restarts at the floor of double precision, breakdowns.\n\n";

#include "bubbles.h"
#include "vecs.h"

static PetscErrorCode MakeSolver(Mat A, KSP *ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPDCG));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 5000));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without vectors dcg is CG: same number of iterations, same residuals */
static PetscErrorCode CompareWithCG(Mat A, Vec b, Vec x)
{
  KSP              ksp;
  PetscInt         its[2], n[2];
  const PetscReal *history[2];
  PetscReal        first[2][10];

  PetscFunctionBegin;
  for (int k = 0; k < 2; ++k) {
    PetscCall(MakeSolver(A, &ksp));
    if (k == 0) PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetResidualHistory(ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCall(KSPGetResidualHistory(ksp, &history[k], &n[k]));
    PetscCheck(n[k] == its[k] + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "History of %" PetscInt_FMT " values for %" PetscInt_FMT " iterations", n[k], its[k]);
    for (int i = 0; i < 10; ++i) first[k][i] = history[k][i];
    PetscCall(KSPDestroy(&ksp));
  }
  for (int i = 0; i < 10; ++i)
    PetscCheck(PetscAbsReal(first[0][i] - first[1][i]) <= 1e-9 * first[0][0], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Residual %d is %g with cg, %g with dcg", i,
               (double)first[0][i], (double)first[1][i]);
  PetscCheck(PetscAbsInt(its[0] - its[1]) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations with cg, %" PetscInt_FMT " with dcg", its[0],
             its[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The recursive residual is that of the corrected solution, at every step */
static PetscErrorCode CheckBuiltSolution(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  Mat       A;
  Vec       b, x;
  PetscReal residual, bnorm;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(TrueResidual(A, b, x, &residual));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCheck(PetscAbsReal(residual - norm / bnorm) <= 1e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "Iteration %" PetscInt_FMT ": recursive residual %g, true residual of the solution built %g", it, (double)(norm / bnorm), (double)residual);
  ++*(PetscInt *)ctx;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves and compares reason and true residual with what is claimed */
static PetscErrorCode CheckSolve(KSP ksp, Mat A, Vec b, Vec x, PetscReal tolerance, PetscInt *its)
{
  KSPConvergedReason reason;
  PetscReal          residual;

  PetscFunctionBegin;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(TrueResidual(A, b, x, &residual));
  PetscCheck(reason == KSP_CONVERGED_RTOL, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reason %s after %" PetscInt_FMT " iterations, true residual %g",
             KSPConvergedReasons[reason], *its, (double)residual);
  PetscCheck(residual <= tolerance, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Convergence claimed at the true residual %g, tolerance %g", (double)residual,
             (double)tolerance);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolver(Bubbles *bubbles, Mat A, Vec b, Vec x)
{
  KSP         ksp;
  PetscInt    its, again, monitored = 0;
  KSPNormType type;
  PetscReal   exact;
  Vec         y;

  PetscFunctionBegin;
  PetscCall(MakeSolver(A, &ksp));
  PetscCall(KSPGetNormType(ksp, &type));
  exact = type == KSP_NORM_UNPRECONDITIONED || type == KSP_NORM_DEFAULT ? 1.0000001e-8 : 1e-4;
  if (exact < 1e-7) PetscCall(KSPMonitorSet(ksp, CheckBuiltSolution, &monitored, NULL));
  PetscCall(CheckSolve(ksp, A, b, x, exact, &its));
  PetscCheck(exact > 1e-7 || monitored == its + 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Monitor called %" PetscInt_FMT " times in %" PetscInt_FMT " iterations",
             monitored, its);
  PetscCall(KSPMonitorCancel(ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE)); // the solution as guess: nothing to do
  PetscCall(CheckSolve(ksp, A, b, x, exact, &again));
  PetscCheck(again <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations from the solution", again);
  PetscCall(FillRandom(x, 5));
  PetscCall(CheckSolve(ksp, A, b, x, exact, &again));
  PetscCheck(again <= 2 * its, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations from a random guess, %" PetscInt_FMT " from zero", again, its);
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  bubbles->scale = 100; // other values in place: the solution scales, the iterations stay
  PetscCall(BubblesAssemble(bubbles, PETSC_COMM_WORLD, &A, NULL));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecCopy(x, y));
  PetscCall(CheckSolve(ksp, A, b, x, exact, &again));
  PetscCheck(PetscAbsInt(again - its) <= 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " iterations after scaling the matrix, %" PetscInt_FMT " before",
             again, its);
  bubbles->scale = 1;
  PetscCall(BubblesAssemble(bubbles, PETSC_COMM_WORLD, &A, NULL));
  PetscCall(VecDestroy(&y));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* k bubbles of high coefficient, Neumann: k - 1 small eigenvalues beside the zero one, gone after deflation */
static PetscErrorCode CheckRitz(Mat A, Vec b, Vec x)
{
  PetscReal           *r, *c, threshold, smallest[2], largest, emax, emin;
  PetscInt             n, small[2] = {0, 0};
  static const char   *kinds[] = {POLDERDEFLATIONNONE, POLDERDEFLATIONLEVELSET};
  KSP                  ksp;
  PolderDeflationSpace space;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(5000, &r, 5000, &c));
  for (int k = 0; k < 2; ++k) {
    PetscCall(MakeSolver(A, &ksp));
    PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
    PetscCall(PolderDeflationSpaceSetType(space, kinds[k]));
    PetscCall(KSPSetComputeEigenvalues(ksp, PETSC_TRUE));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPComputeEigenvalues(ksp, 5000, r, c, &n));
    PetscCall(KSPComputeExtremeSingularValues(ksp, &emax, &emin));
    largest   = r[n - 1];
    threshold = 0.002 * largest;
    PetscCheck(emax == largest && emin == r[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Extreme values %g %g, Ritz values %g %g", (double)emin, (double)emax,
               (double)r[0], (double)largest);
    smallest[k] = r[0];
    for (PetscInt i = 0; i < n; ++i) small[k] += r[i] < threshold && (i == 0 || r[i] > r[i - 1] * 1.0001);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCheck(small[0] >= 1 && smallest[0] < threshold, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No small Ritz values without deflation: %g", (double)smallest[0]);
  PetscCheck(small[1] == 0 && smallest[1] > 5 * smallest[0], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " small Ritz values left by deflation, smallest %g", small[1], (double)smallest[1]);
  PetscCall(PetscFree2(r, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More digits than double precision has: stops at the floor and says so */
static PetscErrorCode CheckFloor(Mat A, Vec b, Vec x)
{
  KSP                ksp;
  KSPConvergedReason reason;
  PetscReal          residual;

  PetscFunctionBegin;
  PetscCall(MakeSolver(A, &ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-17, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(TrueResidual(A, b, x, &residual));
  PetscCheck(reason == KSP_CONVERGED_HAPPY_BREAKDOWN, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reason %s at the true residual %g", KSPConvergedReasons[reason],
             (double)residual);
  PetscCheck(residual < 1e-12, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Stopped at the true residual %g", (double)residual);
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectReason(KSP ksp, Vec b, Vec x, KSPConvergedReason expected)
{
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason == expected, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reason %s, expected %s", KSPConvergedReasons[reason], KSPConvergedReasons[expected]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckBreakdowns(Mat A, Vec b, Vec x)
{
  KSP       ksp;
  Mat       B;
  Vec       bad;
  PetscReal residual;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, -1));
  PetscCall(MakeSolver(B, &ksp));
  PetscCall(ExpectReason(ksp, b, x, KSP_DIVERGED_INDEFINITE_PC)); // jacobi of a negative diagonal
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_type", "none"));
  PetscCall(MakeSolver(B, &ksp));
  PetscCall(ExpectReason(ksp, b, x, KSP_DIVERGED_INDEFINITE_MAT));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));
  PetscCall(MakeSolver(A, &ksp));
  PetscCall(VecDuplicate(b, &bad));
  PetscCall(VecCopy(b, bad));
  PetscCall(VecSetValue(bad, 3, NAN, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(bad));
  PetscCall(VecAssemblyEnd(bad));
  PetscCall(ExpectReason(ksp, bad, x, KSP_DIVERGED_NANORINF));
  PetscCall(VecZeroEntries(x));
  PetscCall(VecZeroEntries(bad));
  PetscCall(ExpectReason(ksp, bad, x, KSP_CONVERGED_ATOL)); // b = 0
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, 3));
  PetscCall(ExpectReason(ksp, b, x, KSP_DIVERGED_ITS));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE)); // a coarse solver of multigrid: no test, more steps than there are rows
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, 10000));
  PetscCall(ExpectReason(ksp, b, x, KSP_CONVERGED_ATOL));
  PetscCall(TrueResidual(A, b, x, &residual));
  PetscCheck(residual < 1e-12, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Without a test the true residual ends at %g", (double)residual);
  PetscCall(VecDestroy(&bad));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b = 0 and a guess: a constant, all of which lies in Z, and a random one; the residual of the guess is what the tolerance is relative to */
static PetscErrorCode CheckHomogeneous(Mat A, Vec b, Vec x)
{
  KSP                ksp;
  KSPConvergedReason reason;
  PetscRandom        random;
  PetscReal          before, after;

  PetscFunctionBegin;
  PetscCall(VecZeroEntries(b));
  PetscCall(MakeSolver(A, &ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  for (int k = 0; k < 2; ++k) {
    PetscCall(VecSet(x, 3));
    if (k) PetscCall(VecSetRandom(x, random));
    PetscCall(MatMult(A, x, b));
    PetscCall(VecNorm(b, NORM_2, &before));
    PetscCall(VecZeroEntries(b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason == KSP_CONVERGED_RTOL || reason == KSP_CONVERGED_ATOL, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reason %s", KSPConvergedReasons[reason]);
    PetscCall(MatMult(A, x, b));
    PetscCall(VecNorm(b, NORM_2, &after));
    PetscCheck(after < 1e-4 * before, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Residual %g of the guess, %g at the end", (double)before, (double)after);
    PetscCall(VecZeroEntries(b));
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How far the host is behind the device changes nothing: not the solution, not the history, not the count */
static PetscErrorCode CheckBehind(Mat A, Vec b, Vec x)
{
  const PetscInt   behind[] = {1, 2, 5, 32, 0};
  KSP              ksp;
  PetscInt         its[2], n[2];
  const PetscReal *history;
  PetscReal        first[2000], difference;
  Vec              x0;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &x0));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(behind); ++k) {
    char value[16];

    PetscCall(PetscSNPrintf(value, sizeof(value), "%" PetscInt_FMT, behind[k]));
    PetscCall(PetscOptionsSetValue(NULL, "-ksp_dcg_check", value));
    PetscCall(MakeSolver(A, &ksp));
    PetscCall(KSPSetResidualHistory(ksp, NULL, 2000, PETSC_TRUE));
    PetscCall(VecZeroEntries(x));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[k > 0]));
    PetscCall(KSPGetResidualHistory(ksp, &history, &n[k > 0]));
    if (k == 0) {
      PetscCall(PetscArraycpy(first, history, n[0]));
      PetscCall(VecCopy(x, x0));
    } else {
      PetscCheck(its[0] == its[1] && n[0] == n[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "%" PetscInt_FMT " iterations, %" PetscInt_FMT " norms, with -ksp_dcg_check 1; %" PetscInt_FMT " and %" PetscInt_FMT " with %s", its[0], n[0],
                 its[1], n[1], value);
      for (PetscInt i = 0; i < n[0]; ++i)
        PetscCheck(first[i] == history[i], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Norm %" PetscInt_FMT " is %.17g with -ksp_dcg_check 1, %.17g with %s", i,
                   (double)first[i], (double)history[i], value);
      PetscCall(VecAXPY(x, -1, x0));
      PetscCall(VecNorm(x, NORM_INFINITY, &difference));
      PetscCheck(difference == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The solution with -ksp_dcg_check %s differs by %g", value, (double)difference);
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&x0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat       A = NULL;
  Vec       phi, b, x;
  Bubbles   bubbles;
  char      check[16] = "solver";
  PetscBool is[7];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-check", check, sizeof(check), NULL));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, &phi));
  PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)phi));
  PetscCall(MakeRhs(A, 1, &b, &x));
  PetscCall(PetscStrcmp(check, "solver", &is[0]));
  PetscCall(PetscStrcmp(check, "cg", &is[1]));
  PetscCall(PetscStrcmp(check, "ritz", &is[2]));
  PetscCall(PetscStrcmp(check, "floor", &is[3]));
  PetscCall(PetscStrcmp(check, "breakdown", &is[4]));
  PetscCall(PetscStrcmp(check, "homogeneous", &is[5]));
  PetscCall(PetscStrcmp(check, "behind", &is[6]));
  if (is[0]) PetscCall(CheckSolver(&bubbles, A, b, x));
  else if (is[1]) PetscCall(CompareWithCG(A, b, x));
  else if (is[2]) PetscCall(CheckRitz(A, b, x));
  else if (is[3]) PetscCall(CheckFloor(A, b, x));
  else if (is[4]) PetscCall(CheckBreakdowns(A, b, x));
  else if (is[5]) PetscCall(CheckHomogeneous(A, b, x));
  else if (is[6]) PetscCall(CheckBehind(A, b, x));
  else SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_USER, "There is no check %s", check);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s ok\n", check));
  PetscCall(VecDestroy(&phi));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    args: -n 13 -pc_type jacobi -deflation_grid 13,13,13
    output_file: output/dcg_solver.out
    test:
      suites: valgrind(+2) memcheck(+1)
      suffix: auto
    test:
      suites: valgrind(+2) memcheck(+1) racecheck(+1)
      suffix: none
      args: -deflation_space none
    test:
      suites: valgrind(+2) memcheck(+1)
      suffix: lssd
      args: -deflation_space levelset_subdomain -deflation_boxes 2,2,2
    test:
      suffix: dirichlet
      args: -dirichlet -deflation_space levelset_subdomain -deflation_boxes 2,2,2
    test:
      suffix: preconditioned
      args: -ksp_norm_type preconditioned -deflation_space levelset
    test:
      suffix: natural
      args: -ksp_norm_type natural -deflation_space levelset
    test:
      suffix: tns
      args: -pc_type tns -deflation_space levelset
    test:
      suffix: flexible
      args: -ksp_dcg_flexible -pc_type ksp -ksp_ksp_max_it 5 -ksp_ksp_type cg -ksp_pc_type jacobi -deflation_space levelset -dirichlet
    test:
      suffix: user_coarse
      args: -deflation_space subdomain -deflation_boxes 3,3,3 -deflation_coarse ksp -deflation_coarse_ksp_type dcg
        -deflation_coarse_ksp_rtol 1e-13 -deflation_coarse_pc_type jacobi -deflation_coarse_deflation_space none

  testset:
    nsize: {{1 2}}
    args: -n 13 -pc_type jacobi
    test:
      suffix: cg
      args: -check cg -deflation_space none -ksp_norm_type {{unpreconditioned preconditioned natural}}
    test:
      suffix: ritz
      args: -check ritz -radius 0.2
    test:
      suffix: floor
      args: -check floor
    test:
      suffix: breakdown
      args: -check breakdown -dirichlet -deflation_space none
    test:
      suffix: behind
      args: -check behind -deflation_space {{none levelset}} -pc_type {{jacobi tns}}
    test:
      suffix: homogeneous
      args: -check homogeneous -dirichlet -deflation_space {{none rank}} -ksp_norm_type {{unpreconditioned preconditioned natural}} -ksp_rtol 1e-6

TEST*/
