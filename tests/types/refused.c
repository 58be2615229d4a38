static char
  help[] = "A set-up that refuses the values of a matrix ends one solve and not the program; good values afterwards are solved as if nothing had been.\n\n";

#include "bubbles.h"
#include "vecs.h"

/* What is wrong with one row, which lies on the last process */
typedef enum {
  GOOD,
  ZERO,        /* its diagonal */
  NEGATIVE,    /* the same */
  NANDIAGONAL, /* the same */
  INFDIAGONAL, /* the same */
  NANBESIDE,   /* a pair of entries beside the diagonal */
  INFBESIDE,   /* the same */
  NKIND
} Kind;
static const char *const kinds[] = {"good", "zero", "negative", "not a number", "infinite", "not a number beside the diagonal", "infinite beside the diagonal"};

#define NX 26
#define NY 20

/* 5-point stencil with a jump of the coefficient, so that preconditioners matter */
static PetscErrorCode Fill(Kind kind, Mat A)
{
  static const PetscReal bad[] = {0, 0, -4, NAN, INFINITY, NAN, INFINITY};
  const PetscInt         N = NX * NY, row = N - NX / 2;
  PetscInt               start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt x = i % NX, y = i / NX, next[] = {x ? i - 1 : -1, x < NX - 1 ? i + 1 : -1, y ? i - NX : -1, y < NY - 1 ? i + NX : -1};
    PetscScalar    diagonal = 0.05;

    for (int k = 0; k < 4; ++k) {
      PetscScalar value = next[k] >= 0 && (next[k] / NX < NY / 2) != (y < NY / 2) ? -0.1 : -1;

      diagonal -= value;
      if (kind >= NANBESIDE && ((i == row && k == 1) || (i == row + 1 && k == 0))) value = bad[kind];
      if (next[k] >= 0) PetscCall(MatSetValue(A, i, next[k], value, INSERT_VALUES));
    }
    PetscCall(MatSetValue(A, i, i, i == row && kind && kind < NANBESIDE ? bad[kind] : diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, NX * NY, NX * NY));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 4, NULL));
  PetscCall(Fill(GOOD, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(Mat A, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on every process */
static PetscErrorCode Reason(KSP ksp, KSPConvergedReason *reason)
{
  PetscInt two[2];

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(ksp, reason));
  two[0] = (PetscInt)*reason;
  two[1] = -two[0];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, two, 2, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCheck(two[0] == -two[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The processes end with different reasons, %s and %s", KSPConvergedReasons[two[0]],
             KSPConvergedReasons[-two[1]]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of good values: to a true residual, in a count that does not depend on what came before */
static PetscErrorCode SolveGood(KSP ksp, Mat A, Vec b, Vec x, const char when[], PetscInt *its)
{
  KSPConvergedReason reason;
  PetscReal          residual;
  PetscInt           now;

  PetscFunctionBeginUser;
  PetscCall(Fill(GOOD, A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Reason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Good values %s end with %s", when, KSPConvergedReasons[reason]);
  PetscCall(TrueResidual(A, b, x, &residual));
  PetscCheck(residual < 1e-7, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Good values %s: true residual %g", when, (double)residual);
  PetscCall(KSPGetIterationNumber(ksp, &now));
  PetscCheck(*its < 0 || now == *its, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Good values %s take %" PetscInt_FMT " iterations and not %" PetscInt_FMT, when, now,
             *its);
  *its = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveBad(KSP ksp, Vec b, Vec x, KSPConvergedReason *reason)
{
  PC             pc;
  PCFailedReason failed;

  PetscFunctionBeginUser;
  for (int again = 0; again < 2; ++again) { /* the second one has nothing to set up */
    const KSPConvergedReason before = *reason;

    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(Reason(ksp, reason));
    PetscCheck(*reason == KSP_DIVERGED_PC_FAILED || *reason == KSP_DIVERGED_NANORINF, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The solve ends with %s",
               KSPConvergedReasons[*reason]);
    PetscCheck(!again || before == *reason, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The first solve ends with %s, the second with %s", KSPConvergedReasons[before],
               KSPConvergedReasons[*reason]);
  }
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetFailedReason(pc, &failed));
  PetscCheck(*reason != KSP_DIVERGED_PC_FAILED || failed, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The solver ends with %s, the preconditioner with %s",
             KSPConvergedReasons[*reason], PCFailedReasons[failed]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s\n", KSPConvergedReasons[*reason], PCFailedReasons[failed]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestKind(Kind kind, Mat A, Vec b, Vec x, PetscInt its)
{
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  KSP                ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "== %s\n", kinds[kind]));
  PetscCall(CreateSolver(A, &ksp)); /* the first set-up fails */
  PetscCall(Fill(kind, A));
  PetscCall(SolveBad(ksp, b, x, &reason));
  if (reason == KSP_DIVERGED_PC_FAILED) PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD)); /* says why */
  PetscCall(SolveGood(ksp, A, b, x, "after a set-up that failed", &its));
  PetscCall(Fill(kind, A)); /* a later one fails */
  PetscCall(SolveBad(ksp, b, x, &reason));
  PetscCall(SolveGood(ksp, A, b, x, "after another one", &its));
  PetscCall(Fill(kind, A));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A right-hand side that is not finite on the last process */
static PetscErrorCode TestRightHandSide(Mat A, Vec b, Vec x, PetscInt its)
{
  static const PetscReal bad[] = {NAN, INFINITY};
  KSPConvergedReason     reason;
  KSP                    ksp;
  Vec                    c;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, &ksp));
  PetscCall(VecDuplicate(b, &c));
  for (int k = 0; k < 2; ++k) {
    PetscMPIInt rank, size;

    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCall(VecCopy(b, c));
    if (rank == size - 1) PetscCall(VecSetValue(c, NX * NY - 3, bad[k], INSERT_VALUES));
    PetscCall(VecAssemblyBegin(c));
    PetscCall(VecAssemblyEnd(c));
    PetscCall(KSPSolve(ksp, c, x));
    PetscCall(Reason(ksp, &reason));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "right-hand side %s: %s\n", k ? "infinite" : "not a number", KSPConvergedReasons[reason]));
    PetscCall(VecSet(x, 0));
    PetscCall(SolveGood(ksp, A, b, x, "after that right-hand side", &its));
  }
  PetscCall(VecDestroy(&c));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat       A;
  Vec       b, x;
  KSP       ksp;
  PetscInt  its = -1, kind = GOOD;
  PetscBool one;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PETSC_STDERR = PETSC_STDOUT; /* in the order in which they are printed */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-kind", &kind, &one));
  PetscCall(CreateMatrix(&A));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(FillRandom(b, 1));
  PetscCall(CreateSolver(A, &ksp));
  if (one) {
    PetscCall(Fill((Kind)kind, A));
    PetscCall(KSPSolve(ksp, b, x));
  } else PetscCall(SolveGood(ksp, A, b, x, "at first", &its));
  PetscCall(KSPDestroy(&ksp));
  for (kind = GOOD + 1; kind < NKIND && !one; ++kind) PetscCall(TestKind((Kind)kind, A, b, x, its));
  PetscCall(Fill(GOOD, A));
  if (!one) PetscCall(TestRightHandSide(A, b, x, its));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    filter: grep -e DIVERGED -e "WARNING: " -e refuses -e "^==" -e "^\[" | awk '{$1 = $1} 1'
    test:
      suffix: tns
      nsize: {{1 3}}
      args: -ksp_type {{cg dcg}} -pc_type tns -mat_type {{aij aijdia}} -deflation_space none
    test:
      suffix: rrb
      nsize: {{1 3}}
      args: -ksp_type {{cg dcg rrbcg}} -pc_type rrb -pc_rrb_latency {{0 4000}} -mat_type {{aij aijdia}} -deflation_space none
    test:
      suffix: pamg
      nsize: {{1 3}}
      args: -ksp_type {{cg dcg}} -pc_type pamg -pc_pamg_coarse_limit 60 -pc_pamg_gather {{0 8000}} -mat_type {{aij aijdia}} -deflation_space none
    test:
      suffix: nras
      nsize: {{1 3}}
      args: -ksp_type {{cg dcg}} -pc_type nras -pc_nras_form symmetric -pc_nras_shift no -pc_nras_blocks {{1 4}} -mat_type {{aij aijdia}} -deflation_space none
    test:
      suffix: levelset
      nsize: {{1 3}}
      args: -ksp_type {{cg fgmres}} -pc_type levelset -deflation_space rank
    test:
      suffix: deflated
      nsize: {{1 3}}
      args: -ksp_type dcg -pc_type tns -deflation_space subdomain -deflation_grid 26,20 -deflation_boxes 3,2 -deflation_coarse {{cholesky ksp}separate output}
    test:
      suffix: blocks
      nsize: 3
      filter: grep -o "DIVERGED_.*"
      args: -kind 2 -ksp_type {{cg dcg}} -pc_type bjacobi -sub_pc_type tns -deflation_space {{none rank}} -ksp_converged_reason
    test:
      suffix: levelset_blocks
      nsize: 3
      filter: grep -e DIVERGED -e "^==" -e "^\["
      args: -ksp_type {{cg dcg}} -pc_type levelset -levelset_pc_type bjacobi -levelset_sub_pc_type tns -deflation_space none

  testset:
    nsize: {{1 3}}
    args: -ksp_error_if_not_converged -ksp_type {{cg dcg}}
    test:
      suffix: tns_error
      args: -kind 2 -pc_type tns
      fails: PC of type tns needs a positive diagonal and that of row 507 is negative
    test:
      suffix: nras_error
      args: -kind 2 -pc_type nras -pc_nras_form symmetric -pc_nras_shift no -pc_nras_blocks 1
      fails: PC of type nras: the pivot of row 507 is not positive
    test:
      suffix: rrb_error
      args: -kind 2 -pc_type rrb
      fails: PC of type rrb needs a positive diagonal and that of row 507 is negative
    test:
      suffix: pamg_error
      args: -kind 2 -pc_type pamg
      fails: PC of type pamg needs a positive diagonal and that of row 507 is negative
    test:
      suffix: levelset_error
      args: -kind 2 -pc_type levelset -deflation_space none
      fails: PC of type tns needs a positive diagonal and that of row 507 is negative
    test:
      suffix: deflated_error
      args: -kind 3 -pc_type jacobi -ksp_type dcg -deflation_space rank
      fails: is infinite or not a number: check the entries of the system matrix

  test:
    suffix: rrbcg_error
    nsize: {{1 3}}
    args: -kind 2 -ksp_type rrbcg -ksp_error_if_not_converged
    fails: PC of type rrb needs a positive diagonal and that of row 507 is negative

TEST*/
