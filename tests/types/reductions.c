static char
  help[] = "dcg with one sum over the processes in an iteration and with two: the same residuals and counts, true residuals, and how many sums there are.\n"
           "  -sums <two>,<one> : sums in 16 iterations of each form; left out: not counted\n"
           "  -within <1e-7> : agreement of the norms of the first iterations\n"
           "  -guess <0> : size of a random guess; a large one leaves rounding errors in the solution\n"
           "  -close <1> : agreement of the iteration counts\n\n";

#include "bubbles.h"

enum {
  COUNTED = 16, /* iterations whose sums are counted */
  FIRST   = 8   /* norms that are compared */
};

typedef struct {
  KSPConvergedReason reason;
  PetscInt           its;
  PetscReal          residual, norm[FIRST];
  PetscInt           sums;
} Outcome;

static PetscErrorCode MakeSolver(Mat A, const char reductions[], KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsSetValue(NULL, "-ksp_dcg_reductions", reductions));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPDCG));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 5000));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums in `its` iterations and what comes before and after them */
static PetscErrorCode CountSums(Mat A, Vec b, Vec x, const char reductions[], PetscInt its, PetscInt *sums)
{
  KSP            ksp;
  PetscLogDouble before;

  PetscFunctionBeginUser;
  PetscCall(MakeSolver(A, reductions, &ksp));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, its));
  PetscCall(KSPSolve(ksp, b, x)); // the first solve sets up
  before = petsc_allreduce_ct;
  PetscCall(KSPSolve(ksp, b, x));
  *sums = (PetscInt)(petsc_allreduce_ct - before);
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, Vec b, Vec x, PetscReal guess, const char reductions[], Outcome *out)
{
  KSP              ksp;
  PetscInt         n, sums;
  const PetscReal *history;

  PetscFunctionBeginUser;
  PetscCall(MakeSolver(A, reductions, &ksp));
  PetscCall(KSPSetResidualHistory(ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
  PetscCall(KSPSetInitialGuessNonzero(ksp, (PetscBool)(guess != 0)));
  PetscCall(FillRandom(x, 7));
  PetscCall(VecScale(x, guess));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &out->reason));
  PetscCall(KSPGetIterationNumber(ksp, &out->its));
  PetscCall(KSPGetResidualHistory(ksp, &history, &n));
  PetscCheck(n >= FIRST, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " norms", n);
  for (int k = 0; k < FIRST; ++k) out->norm[k] = history[k];
  PetscCall(TrueResidual(A, b, x, &out->residual));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CountSums(A, b, x, reductions, COUNTED, &sums));
  PetscCall(CountSums(A, b, x, reductions, 2 * COUNTED, &out->sums));
  out->sums -= sums;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat         A = NULL;
  Vec         phi, b, x;
  Bubbles     bubbles;
  Outcome     two, one;
  PetscInt    sums[2] = {-1, -1}, n = 2, close = 1;
  PetscReal   within = 1e-7, guess = 0;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sums", sums, &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-within", &within, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-close", &close, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-guess", &guess, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, &phi));
  PetscCall(PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)phi));
  PetscCall(MakeRhs(A, 1, &b, &x));
  PetscCall(Solve(A, b, x, guess, "2", &two));
  PetscCall(Solve(A, b, x, guess, "1", &one));
  PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " and %" PetscInt_FMT " iterations, true residuals %g and %g, sums %" PetscInt_FMT " and %" PetscInt_FMT "\n",
                      two.its, one.its, (double)two.residual, (double)one.residual, two.sums, one.sums));
  PetscCheck(one.reason == two.reason, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Reason %s with two sums, %s with one", KSPConvergedReasons[two.reason],
             KSPConvergedReasons[one.reason]);
  PetscCheck(PetscAbsInt(one.its - two.its) <= close, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " iterations with two sums, %" PetscInt_FMT " with one", two.its, one.its);
  PetscCheck(two.residual <= 1.0000001e-8 && one.residual <= 1.0000001e-8, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "True residual %g with two sums, %g with one",
             (double)two.residual, (double)one.residual);
  for (int k = 0; k < FIRST; ++k)
    PetscCheck(PetscAbsReal(one.norm[k] - two.norm[k]) <= within * two.norm[k], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Norm %d is %g with two sums, %g with one", k,
               (double)two.norm[k], (double)one.norm[k]);
  if (n == 2 && size > 1)
    PetscCheck(two.sums == sums[0] && one.sums == sums[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               "In %d iterations %" PetscInt_FMT " sums with two, %" PetscInt_FMT " with one", COUNTED, two.sums, one.sums);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "one sum as two\n"));
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
    args: -n 14 -deflation_grid 14,14,14
    output_file: output/reductions.out
    test:
      suffix: poisson
      args: -dirichlet -k 0 -deflation_space none -pc_type {{jacobi tns none}}
    test:
      suffix: bubbles
      args: -dirichlet -inside {{1e3 1e6}} -deflation_space none -pc_type {{jacobi tns}}
    test:
      suffix: singular
      args: -inside {{1e3 1e6}} -pc_type pamg -deflation_space none -within 1e-4
    test:
      suffix: deflated
      args: -inside {{1e3 1e6}} -pc_type {{jacobi tns}} -deflation_space levelset_subdomain -deflation_boxes 2,2,2
    test:
      suffix: deflated_regular
      args: -dirichlet -inside 1e6 -pc_type tns -deflation_space levelset_subdomain -deflation_boxes 3,3,3 -mat_type aijdia
    test:
      suffix: flexible
      args: -dirichlet -ksp_dcg_flexible -pc_type pamg -pc_pamg_cycle k
    # rounding errors of the guess: the iteration goes on to a smaller residual, and from the true one
    test:
      suffix: resumed
      args: -dirichlet -pc_type tns -mat_type aijdia -deflation_space none -guess {{3e7 4e7}} -close 4 -ksp_divtol 1e20
    test:
      suffix: restarted
      args: -dirichlet -pc_type tns -mat_type aijdia -deflation_space none -guess 1e8 -close 15 -ksp_divtol 1e20
    test:
      suffix: coarse_ksp
      args: -pc_type jacobi -deflation_space subdomain -deflation_boxes 3,3,3 -deflation_coarse ksp

  # sums in 16 iterations; with deflation vectors the residual is projected every 8 iterations
  testset:
    nsize: 3
    args: -n 14 -deflation_grid 14,14,14 -dirichlet
    output_file: output/reductions.out
    test:
      suffix: sums
      requires: !gpu
      args: -deflation_space none -pc_type {{jacobi tns}} -sums 48,16
    test:
      suffix: sums_deflated
      requires: !gpu
      args: -deflation_space subdomain -deflation_boxes 3,3,3 -pc_type {{jacobi tns}} -sums 66,18
    test:
      suffix: sums_host
      requires: emulated
      args: -polder_min_rows_per_gpu 0 -deflation_space none -pc_type jacobi -mat_type aijdia -polder_transport host -sums 32,16
    test:
      suffix: sums_host_deflated
      requires: emulated
      args: -deflation_space subdomain -deflation_boxes 3,3,3 -pc_type tns -mat_type aijdia -polder_transport host -sums 66,18
    test:
      suffix: sums_peers
      requires: emulated
      args: -deflation_space {{none subdomain}} -pc_type {{jacobi tns}} -mat_type aijdia -sums 0,0

TEST*/
