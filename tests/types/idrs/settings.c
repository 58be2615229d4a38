/* Options and calls of idrs, and what any KSP must do. */
#include "idrs.h"
#include "message.h"

static const Flow Easy = {2, 15, 20, 0, PETSC_FALSE, PETSC_FALSE};

/* By call and by option, before a solve and between solves */
PetscErrorCode TestSettings(void)
{
  Mat            A;
  KSP            ksp;
  Vec            x, b;
  Outcome        bycall, byoption, again;
  PetscInt       s;
  KSPIDRSVariant variant;

  PetscFunctionBeginUser;
  PetscCall(CreateFlow(&Easy, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillVec(b, 3));
  PetscCall(CreateSolver(A, "-t_ksp_type idrs -t_pc_type none", &ksp));
  PetscCall(KSPIDRSGetS(ksp, &s));
  PetscCall(KSPIDRSGetVariant(ksp, &variant));
  PetscCheck(s == 4 && variant == KSP_IDRS_MINSYNC, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Other defaults");
  PetscCall(Solve(ksp, A, b, x, &again));
  PetscCall(KSPIDRSSetS(ksp, 2)); /* after a solve */
  PetscCall(KSPIDRSSetVariant(ksp, KSP_IDRS_BIORTHO));
  PetscCall(KSPIDRSGetS(ksp, &s));
  PetscCall(KSPIDRSGetVariant(ksp, &variant));
  PetscCheck(s == 2 && variant == KSP_IDRS_BIORTHO, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The setters do nothing");
  PetscCall(Solve(ksp, A, b, x, &bycall));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CreateSolver(A, "-t_ksp_type idrs -t_pc_type none -t_ksp_idrs_s 2 -t_ksp_idrs_variant biortho", &ksp));
  PetscCall(Solve(ksp, A, b, x, &byoption));
  PetscCall(Judge((PetscBool)(bycall.its == byoption.its && bycall.its != again.its), &bycall, "calls do what options do"));
  PetscCall(Solve(ksp, A, b, x, &again));
  PetscCall(Judge((PetscBool)(again.its == byoption.its && again.residual == byoption.residual), &again, "the same solve once more is the same"));
  PetscCall(KSPReset(ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(CreateDense(7, 5, PETSC_FALSE, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillVec(b, 3));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPIDRSSetS(ksp, 20));
  PetscCall(Solve(ksp, A, b, x, &again));
  PetscCall(Judge((PetscBool)(again.reason == KSP_CONVERGED_RTOL && again.its <= 9), &again, "another size after KSPReset(), with more vectors than rows"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestBad(void)
{
  static const PetscInt bad[] = {0, -3, 65};
  KSP                   ksp;
  char                  what[64];

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPIDRS));
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(bad); ++k) {
    PetscCall(PetscSNPrintf(what, sizeof(what), "s = %" PetscInt_FMT, bad[k]));
    PetscCall(PrintMessage(what, KSPIDRSSetS(ksp, bad[k]), ""));
  }
  PetscCall(PrintMessage("variant 2", KSPIDRSSetVariant(ksp, (KSPIDRSVariant)2), ""));
  PetscCall(PetscPopErrorHandler());
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPIDRSSetS(ksp, 2)); /* nothing to another type */
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountSteps(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  PetscInt *count = (PetscInt *)ctx;

  PetscFunctionBeginUser;
  PetscCheck(it == *count && (norm > 0 || ksp), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The monitor sees iteration %" PetscInt_FMT " after %" PetscInt_FMT, it,
             *count);
  ++*count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* History, monitors and the residual of PETSc's own kind */
static PetscErrorCode CheckHistory(Mat A, Vec b, Vec x)
{
  KSP              ksp;
  Vec              r, built;
  Outcome          outcome;
  const PetscReal *history;
  PetscReal        norm, last;
  PetscInt         length, count = 0;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, "-t_ksp_type idrs -t_pc_type jacobi -t_ksp_rtol 1e-9", &ksp));
  PetscCall(KSPSetResidualHistory(ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
  PetscCall(KSPMonitorSet(ksp, CountSteps, &count, NULL));
  PetscCall(Solve(ksp, A, b, x, &outcome));
  PetscCall(KSPGetResidualHistory(ksp, &history, &length));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(KSPGetResidualNorm(ksp, &last));
  PetscCall(Judge((PetscBool)(length == outcome.its + 1 && count == length), &outcome, "one entry of the history and one call of the monitor an iteration"));
  PetscCall(Judge((PetscBool)(PetscAbsReal(history[0] / norm - 1) < 1e-12 && PetscAbsReal(last / norm / outcome.residual - 1) < 1e-6 &&
                              PetscAbsReal(history[length - 1] / last - 1) < 1e-4),
                  &outcome, "from the norm of b to that of the true residual"));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(KSPBuildResidual(ksp, NULL, r, &built));
  PetscCall(VecNorm(built, NORM_2, &norm));
  PetscCall(Judge((PetscBool)(PetscAbsReal(norm / last - 1) < 1e-6), &outcome, "which KSPBuildResidual() gives"));
  PetscCall(KSPBuildSolution(ksp, r, &built));
  PetscCall(VecAXPY(r, -1, x));
  PetscCall(VecNorm(r, NORM_INFINITY, &norm));
  PetscCall(Judge((PetscBool)(norm == 0), &outcome, "and KSPBuildSolution() the solution"));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckGuess(Mat A, Vec b, Vec x)
{
  KSP     ksp;
  Outcome zero, guess;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, "-t_ksp_type idrs -t_pc_type jacobi -t_ksp_rtol 1e-9", &ksp));
  PetscCall(VecSet(x, 1e3)); /* not a guess */
  PetscCall(Solve(ksp, A, b, x, &zero));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(Solve(ksp, A, b, x, &guess));
  PetscCall(Judge((PetscBool)(guess.reason == KSP_CONVERGED_RTOL && guess.its == 0 && guess.products == 1), &guess, "the solution as guess"));
  PetscCall(VecShift(x, 1e-4));
  PetscCall(Solve(ksp, A, b, x, &guess));
  PetscCall(Judge((PetscBool)(guess.reason == KSP_CONVERGED_RTOL && guess.its < 0.9 * zero.its && guess.residual <= 1e-9), &guess, "a good guess"));
  PetscCall(VecSet(b, 0));
  PetscCall(Solve(ksp, A, b, x, &guess));
  PetscCall(VecNorm(x, NORM_2, &guess.residual));
  PetscCall(Judge((PetscBool)(guess.reason == KSP_CONVERGED_RTOL && guess.residual < 1e-4), &guess, "b = 0 from a guess"));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  PetscCall(Solve(ksp, A, b, x, &guess));
  PetscCall(VecNorm(x, NORM_2, &guess.residual));
  PetscCall(Judge((PetscBool)(guess.reason > 0 && guess.its == 0 && guess.residual == 0), &guess, "b = 0"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sides, norms, limits */
static PetscErrorCode CheckNorms(Mat A, Vec b, Vec x)
{
  static const struct {
    const char        *options;
    KSPConvergedReason reason;
    PetscInt           its; /* -1: any */
    PetscReal          residual;
  } table[] = {
    {"-t_ksp_pc_side left -t_ksp_norm_type preconditioned",                                             KSP_CONVERGED_RTOL, -1, 1e-8},
    {"-t_ksp_norm_type preconditioned -t_ksp_idrs_variant biortho",                                     KSP_CONVERGED_RTOL, -1, 1e-8},
    {"-t_ksp_pc_side right",                                                                            KSP_CONVERGED_RTOL, -1, 1e-9},
    {"-t_ksp_norm_type none -t_ksp_convergence_test skip -t_ksp_max_it 30",                             KSP_CONVERGED_ITS,  30, 0.1 },
    {"-t_ksp_norm_type none -t_ksp_convergence_test skip -t_ksp_max_it 30 -t_ksp_idrs_variant biortho", KSP_CONVERGED_ITS,  30, 0.1 },
    {"-t_ksp_norm_type none -t_ksp_convergence_test skip -t_ksp_pc_side left -t_ksp_max_it 30",         KSP_CONVERGED_ITS,  30, 0.1 },
    {"-t_ksp_max_it 7",                                                                                 KSP_DIVERGED_ITS,   7,  1e9 },
    {"-t_ksp_max_it 0",                                                                                 KSP_DIVERGED_ITS,   0,  1   },
    {"-t_ksp_atol 1e30",                                                                                KSP_CONVERGED_ATOL, 0,  1   },
    {"-t_pc_type none -t_ksp_idrs_s 64",                                                                KSP_CONVERGED_RTOL, -1, 1e-9}
  };
  KSP     ksp;
  Outcome outcome;
  char    options[256];

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(table); ++k) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-t_ksp_type idrs -t_pc_type jacobi -t_ksp_rtol 1e-9 %s", table[k].options));
    PetscCall(CreateSolver(A, options, &ksp));
    PetscCall(Solve(ksp, A, b, x, &outcome));
    PetscCall(
      Judge((PetscBool)(outcome.reason == table[k].reason && (table[k].its < 0 || outcome.its == table[k].its) && outcome.residual <= table[k].residual),
            &outcome, "%s: %s", table[k].options, KSPConvergedReasons[table[k].reason]));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckTranspose(Mat A, Vec b, Vec x)
{
  KSP       ksp;
  Vec       r;
  PetscReal norm, bnorm;
  Outcome   outcome = {0};

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, "-t_ksp_type idrs -t_pc_type jacobi -t_ksp_rtol 1e-9", &ksp));
  PetscCall(KSPSolveTranspose(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &outcome.reason));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMultTranspose(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(Judge((PetscBool)(outcome.reason == KSP_CONVERGED_RTOL && norm <= 1e-9 * bnorm), &outcome, "KSPSolveTranspose()"));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors that consist of two, with no operations but those of PETSc */
static PetscErrorCode CheckNest(Mat A)
{
  Mat     nest, blocks[4];
  Vec     x, b;
  KSP     ksp;
  Outcome outcome;

  PetscFunctionBeginUser;
  blocks[0] = blocks[3] = A;
  blocks[2]             = NULL;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &blocks[1]));
  PetscCall(MatScale(blocks[1], 0.5));
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, blocks, &nest));
  PetscCall(MatCreateVecs(nest, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, nest, nest));
  PetscCall(KSPSetType(ksp, KSPIDRS));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(PetscOptionsInsertString(NULL, "-nest_pc_type none"));
  PetscCall(KSPSetOptionsPrefix(ksp, "nest_"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Solve(ksp, nest, b, x, &outcome));
  PetscCall(Judge((PetscBool)(outcome.reason == KSP_CONVERGED_RTOL && outcome.residual <= 1e-9), &outcome, "vectors of two parts"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&nest));
  PetscCall(MatDestroy(&blocks[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestKSP(void)
{
  Mat A;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateFlow(&Easy, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillVec(b, 3));
  PetscCall(CheckHistory(A, b, x));
  PetscCall(CheckNorms(A, b, x));
  PetscCall(CheckTranspose(A, b, x));
  PetscCall(CheckGuess(A, b, x));
  PetscCall(CheckNest(A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TestView(void)
{
  Mat     A;
  Vec     x, b;
  KSP     ksp;
  Outcome outcome;

  PetscFunctionBeginUser;
  PetscCall(CreateDense(3, 5, PETSC_FALSE, &A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(CreateSolver(A, "-t_ksp_type idrs -t_pc_type jacobi", &ksp));
  PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(Solve(ksp, A, b, x, &outcome));
  PetscCall(KSPIDRSSetVariant(ksp, KSP_IDRS_BIORTHO));
  PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
