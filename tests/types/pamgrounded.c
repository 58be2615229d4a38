static char help[] = "Multigrid in single precision under conjugate gradients on a device, which store r rounded as they update it and take z in parts: the "
                     "same solves as where each "
                     "apply rounds r itself.\n\n";

#include "pc/pamg/pamgimpl.h"
#include "pamgproblems.h"
#include "runner.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include <polder.h>

/* The same preconditioner behind a shell, which offers nothing but applies, or as it is */
typedef struct {
  KSP      ksp;
  PC       pamg;
  PetscInt its, rounds, applies, stores; /* of the last solve; stores: of z in a vector of the solver */
} Solver;

/* How often the vector that a solver has for z has been changed */
static PetscErrorCode Changes(KSP ksp, PetscInt *changes)
{
  PetscObjectState state = 0;

  PetscFunctionBeginUser;
  if (ksp->work) PetscCall(PetscObjectStateGet((PetscObject)ksp->work[1], &state));
  *changes = (PetscInt)state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellApply(PC shell, Vec r, Vec z)
{
  PC pamg;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(shell, &pamg));
  PetscCall(PCApply(pamg, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellPreSolve(PC shell, KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PC pamg;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(shell, &pamg));
  PetscCall(PCPreSolve(pamg, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellPostSolve(PC shell, KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PC pamg;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(shell, &pamg));
  PetscCall(PCPostSolve(pamg, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolverCreate(Mat A, PetscBool shell, const char options[], Solver *s)
{
  PC           pc;
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(CreatePC(A, options, &s->pamg));
  PetscCall(PetscOptionsCreate(&own));
  PetscCall(PetscOptionsInsertString(own, options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &s->ksp));
  PetscCall(PetscObjectSetOptions((PetscObject)s->ksp, own));
  PetscCall(KSPSetOperators(s->ksp, A, A));
  PetscCall(KSPSetType(s->ksp, KSPDCG));
  PetscCall(KSPSetNormType(s->ksp, KSP_NORM_UNPRECONDITIONED));
  if (shell) {
    PetscCall(KSPGetPC(s->ksp, &pc));
    PetscCall(PCSetType(pc, PCSHELL));
    PetscCall(PCShellSetContext(pc, s->pamg));
    PetscCall(PCShellSetApply(pc, ShellApply));
    PetscCall(PCShellSetPreSolve(pc, ShellPreSolve));
    PetscCall(PCShellSetPostSolve(pc, ShellPostSolve));
  } else PetscCall(KSPSetPC(s->ksp, s->pamg));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscCall(PetscObjectSetOptions((PetscObject)s->ksp, NULL));
  PetscCall(PetscOptionsDestroy(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolverDestroy(Solver *s)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(PCDestroy(&s->pamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Count(const char name[], PetscInt *count)
{
  PetscEventPerfInfo info;
  PetscLogEvent      event;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- A^-1 b to rtol; how often r was rounded in a pass of its own, and the true residual over b */
static PetscErrorCode SolverSolve(Solver *s, PetscReal rtol, Mat A, Vec b, Vec x, PetscReal *residual)
{
  PetscInt           before[3];
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(Count("PolderPAMGRound", &before[0]));
  PetscCall(Count("PolderPAMGApply", &before[1]));
  PetscCall(KSPSetTolerances(s->ksp, rtol, 0, PETSC_DEFAULT, 200));
  PetscCall(KSPSetUp(s->ksp));
  PetscCall(Changes(s->ksp, &before[2]));
  PetscCall(KSPSolve(s->ksp, b, x));
  PetscCall(KSPGetConvergedReason(s->ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s", KSPConvergedReasons[reason]);
  PetscCall(KSPGetIterationNumber(s->ksp, &s->its));
  PetscCall(Count("PolderPAMGRound", &s->rounds));
  PetscCall(Count("PolderPAMGApply", &s->applies));
  s->rounds -= before[0];
  s->applies -= before[1];
  PetscCall(Changes(s->ksp, &s->stores));
  s->stores -= before[2];
  PetscCall(TrueResidual(A, b, x, residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do kernels bring the values of other processes? PETSC_FALSE where this is not known. *joined: the solver keeps r rounded, as they do or as it is alone */
static PetscErrorCode FindExchange(const Solver *s, PetscBool *launches, PetscBool *joined)
{
  const PamgLevel *level = ((PC_PAMG *)s->pamg->data)->level; // NULL: each process has the whole problem

  PetscFunctionBeginUser;
  *launches = (PetscBool)(level && (!level->halo || PolderHaloOnlyLaunches(level->halo)));
  *joined   = (PetscBool)(*launches || !level);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Solves with both from the same guess: as many iterations, and the same residual. every: r is rounded in a pass of its own once, and again each time it is
  projected, after so many steps; 0: it never is, negative: not compared. z is stored in a vector only where its mean is needed before it is known
*/
static PetscErrorCode Compare(const char what[], Solver s[2], PetscReal rtol, Mat A, Vec b, Vec x, PetscInt every)
{
  const PetscBool floor = (PetscBool)(rtol < 1e-12); // of double precision, where rounding errors decide
  PetscReal       residual[2];
  PetscBool       launches, joined;
  Vec             other;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &other));
  PetscCall(VecCopy(x, other));
  PetscCall(SolverSolve(&s[0], rtol, A, b, other, &residual[0]));
  PetscCall(SolverSolve(&s[1], rtol, A, b, x, &residual[1]));
  PetscCall(VecDestroy(&other));
  PetscCall(PetscInfo(NULL,
                      "%s: %" PetscInt_FMT " and %" PetscInt_FMT " iterations, residuals %.15g and %.15g, %" PetscInt_FMT " of %" PetscInt_FMT
                      " applies and %" PetscInt_FMT " of %" PetscInt_FMT " round, z is stored %" PetscInt_FMT " and %" PetscInt_FMT " times\n",
                      what, s[0].its, s[1].its, (double)residual[0], (double)residual[1], s[0].rounds, s[0].applies, s[1].rounds, s[1].applies, s[0].stores,
                      s[1].stores));
  PetscCheck(PetscAbs(s[0].its - s[1].its) <= (floor ? 2 : 0) && PetscAbsReal(residual[0] - residual[1]) <= (floor ? 1 : 0.1) * residual[0], PETSC_COMM_WORLD,
             PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations to %g, not %" PetscInt_FMT " to %g", what, s[1].its, (double)residual[1], s[0].its,
             (double)residual[0]);
  PetscCheck(s[0].rounds == s[0].applies, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " of %" PetscInt_FMT " applies round by themselves", what,
             s[0].rounds, s[0].applies);
  PetscCall(FindExchange(&s[0], &launches, &joined));
  PetscCheck(every < 0 || !launches || s[0].stores == s[0].applies, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: z is stored in %" PetscInt_FMT " of %" PetscInt_FMT " applies", what, s[0].stores, s[0].applies);
  PetscCheck(joined || (s[1].rounds == s[1].applies && s[1].stores == s[0].stores), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " of %" PetscInt_FMT " applies round, and z is stored in %" PetscInt_FMT " and %" PetscInt_FMT, what, s[1].rounds,
             s[1].applies, s[0].stores, s[1].stores);
  PetscCheck(every < 0 || !joined || s[1].stores <= (every ? 1 : 0), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: z is stored in %" PetscInt_FMT " of %" PetscInt_FMT " applies", what, s[1].stores, s[1].applies);
  PetscCheck(every < 0 || !joined || (s[1].applies == s[1].its + 1 && s[1].rounds == 1 + (every ? s[1].its / every : 0)), PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%s: %" PetscInt_FMT " of %" PetscInt_FMT " applies round in %" PetscInt_FMT " iterations", what, s[1].rounds, s[1].applies, s[1].its);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Right-hand sides of any size, a guess, and a tolerance that calls for a second cycle */
static PetscErrorCode CompareSolves(const char what[], Solver s[2], PetscReal rtol, Mat A, PetscInt every)
{
  static const PetscReal scales[] = {1, 1e30, 1e-30};
  char                   text[200];
  Vec                    x, b;
  MatNullSpace           nullspace;

  PetscFunctionBeginUser;
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(MatGetNullSpace(A, &nullspace));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(scales); ++k) {
    for (int guess = 0; guess < 2; ++guess) {
      PetscCall(PetscSNPrintf(text, sizeof(text), "%s, times %g%s", what, (double)scales[k], guess ? ", with a guess" : ""));
      PetscCall(FillRandom(b, 7));
      if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, b));
      PetscCall(FillRandom(x, 3));
      PetscCall(VecScale(b, scales[k]));
      PetscCall(VecScale(x, 1e-4 * scales[k]));
      for (int i = 0; i < 2; ++i) PetscCall(KSPSetInitialGuessNonzero(s[i].ksp, (PetscBool)guess));
      PetscCall(Compare(text, s, rtol, A, b, x, every));
    }
  }
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s, to the floor", what));
  PetscCall(VecScale(b, 1e30));
  for (int i = 0; i < 2; ++i) PetscCall(KSPSetInitialGuessNonzero(s[i].ksp, PETSC_FALSE));
  PetscCall(Compare(text, s, 1e-15, A, b, x, -1));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolves(void)
{
  static const struct {
    const char *kind;
    PetscInt    dim, n;
    PetscReal   jump;
  } problems[] = {
    {"poisson", 2, 61, 1  },
    {"poisson", 3, 18, 1  },
    {"bubbles", 2, 64, 1e3},
    {"bubbles", 3, 20, 1e3},
    {"bubbles", 2, 64, 1e6}
  };
  static const char *const precisions[] = {"half", "single"};

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); ++k) {
    Mat A;

    PetscCall(ProblemCreate(problems[k].kind, problems[k].dim, problems[k].n, problems[k].jump, &A));
    for (int p = 0; p < 2; ++p) {
      char   what[100], options[100];
      Solver s[2];

      PetscCall(PetscSNPrintf(what, sizeof(what), "%s %" PetscInt_FMT "-D %g, %s", problems[k].kind, problems[k].dim, (double)problems[k].jump, precisions[p]));
      PetscCall(PetscSNPrintf(options, sizeof(options), "-deflation_space none -pc_pamg_precision %s", precisions[p]));
      for (int i = 0; i < 2; ++i) PetscCall(SolverCreate(A, (PetscBool)!i, options, &s[i]));
      PetscCall(CompareSolves(what, s, problems[k].jump > 1e3 ? 1e-6 : 1e-8, A, problems[k].kind[0] == 'b' ? 8 : 0));
      for (int i = 0; i < 2; ++i) PetscCall(SolverDestroy(&s[i]));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "r is rounded with its update, z is stored nowhere, and the solves are the same\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the preconditioner to another vector, or makes it anew, while a solve goes on */
static PetscErrorCode Interfere(KSP ksp, PetscInt it, PETSC_UNUSED PetscReal norm, void *ctx)
{
  PC  pamg = ((Solver *)ctx)->pamg;
  Vec r, z;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, NULL, &A));
  PetscCall(CreateVecs(A, &r, &z));
  PetscCall(FillRandom(r, (int)it));
  PetscCall(PCApply(pamg, r, z));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  if (it % 3 == 2) PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other cycles, norms and deflation, with and without a monitor that uses the preconditioner meanwhile */
static PetscErrorCode TestOthers(void)
{
  static const char *const options[] = {"-deflation_space none -pc_pamg_post 1",
                                        "-deflation_space none -pc_pamg_post 3",
                                        "-deflation_space none -ksp_norm_type natural",
                                        "-deflation_space none -ksp_dcg_check 4",
                                        "-deflation_space none -pc_pamg_smoother l1jacobi -pc_pamg_cycle w",
                                        "-deflation_space subdomain -deflation_boxes 2,2 -deflation_grid 48,48",
                                        "-deflation_space none -pc_pamg_reuse 0",
                                        "-deflation_space none -pc_pamg_smoother sgs"};

  PetscFunctionBeginUser;
  PetscCall(PetscLogDefaultBegin());
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); ++o) {
    for (int singular = 0; singular < 2; ++singular) {
      Mat    A;
      Vec    x, b;
      Solver s[2];
      char   text[200];

      PetscCall(ProblemCreate(singular ? "bubbles" : "poisson", 2, 48, singular ? 1e3 : 1, &A));
      PetscCall(PetscSNPrintf(text, sizeof(text), "%s -pc_pamg_precision single", options[o]));
      for (int i = 0; i < 2; ++i) PetscCall(SolverCreate(A, (PetscBool)!i, text, &s[i]));
      PetscCall(CreateVecs(A, &x, &b));
      PetscCall(FillRandom(x, 5));
      PetscCall(MatMult(A, x, b));
      PetscCall(Compare(options[o], s, 1e-8, A, b, x, -1));
      for (int i = 0; i < 2; ++i) PetscCall(KSPMonitorSet(s[i].ksp, Interfere, &s[i], NULL));
      PetscCall(Compare(options[o], s, 1e-8, A, b, x, -1));
      for (int i = 0; i < 2; ++i) PetscCall(SolverDestroy(&s[i]));
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "other cycles, norms and monitors make no difference\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Test tests[] = {
    {"-solves", TestSolves},
    {"-others", TestOthers},
  };

  return RunProgram(argc, args, help, PetscDLLibraryRegister_polder, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  build: internal

  testset:
    requires: gpu log
    nsize: {{1 2}}
    args: -mat_type {{aijdia aijicrs}} -polder_min_rows_per_gpu 0
    test:
      suffix: solves
      args: -solves
    test:
      suffix: others
      args: -others

  # as where two processes share a GPU
  test:
    suffix: host
    requires: gpu log
    nsize: 2
    args: -solves -mat_type {{aijdia aijicrs}} -polder_transport host -use_gpu_aware_mpi 0 -polder_min_rows_per_gpu {{0 100000}}
    output_file: output/pamgrounded_solves.out

  # the whole problem on each GPU
  test:
    suffix: whole
    requires: gpu log
    nsize: 2
    args: -solves -mat_type aijdia -polder_min_rows_per_gpu 100000
    output_file: output/pamgrounded_solves.out

TEST*/
