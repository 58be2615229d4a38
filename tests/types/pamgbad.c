static char help[] = "Input that the pairwise-aggregation multigrid refuses, and odd input that it must take.\n\n";

#include "pc/pamg/pamgimpl.h"
#include "pamgproblems.h"
#include "parts.h"
#include <petsc/private/pcimpl.h>
#include "message.h"
#include <polder.h>

typedef enum {
  /* refused */
  ZERO,
  MISSING,
  NEGATIVE,
  NOTANUMBER,
  INFINITE,
  INDEFINITE,
  INDEFINITE_LAST, // the first level is the last
  SHELL,
  NONSQUARE,
  SINGLE,
  HALF_COARSE, // the couplings of its levels double from one to the next
  LARGE_LAST,
  NREFUSED,
  /* taken */
  POSITIVE = NREFUSED,
  DISCONNECTED,
  ONE,
  EMPTY,
  SINGULAR,
  LEVELS,
  IDENTITY,
  DIRICHLET,
  NBAD
} Bad;
static const char *const names[] = {"zero diagonal",
                                    "missing diagonal",
                                    "negative diagonal",
                                    "not a number",
                                    "infinite",
                                    "not definite",
                                    "not definite in one row",
                                    "shell matrix",
                                    "not square",
                                    "single precision",
                                    "half precision on a coarse level",
                                    "large last level",
                                    "positive couplings",
                                    "disconnected",
                                    "one row",
                                    "empty processes",
                                    "singular",
                                    "many levels",
                                    "identity",
                                    "rows of the identity"};

/* Local rows of this process: all on the last one, or as PETSc likes it */
static PetscErrorCode LocalRows(Bad bad, PetscInt N, PetscInt *n)
{
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  *n = bad != EMPTY ? PETSC_DECIDE : rank == size - 1 ? N : 0;
  PetscFunctionReturn(0);
}

/* 5-point stencil on nx by ny nodes, spoilt */
static PetscErrorCode CreateBad(Bad bad, Mat *A)
{
  const PetscInt nx = bad == ONE                           ? 1
                    : bad == LARGE_LAST                    ? 240
                    : bad == INDEFINITE_LAST               ? 18
                    : bad == POSITIVE || bad == INDEFINITE ? 90
                                                           : 30,
                 ny = nx, N = nx * ny, row = N / 2;
  PetscInt start, end, n;
  char     type[64] = MATAIJ;

  PetscFunctionBeginUser;
  PetscCall(LocalRows(bad, N, &n));
  if (bad == SHELL) {
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, N, N, NULL, A));
    PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))MultShell));
    PetscFunctionReturn(0);
  }
  if (bad == HALF_COARSE) {
    PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 3, 16, 1, A));
    PetscCall(MatScale(*A, 2.5e37));
    PetscFunctionReturn(0);
  }
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, n, n, N, bad == NONSQUARE ? N + 1 : N, 5, NULL, 5, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt  x = i % nx, y = i / nx, next[] = {x ? i - 1 : -1, x < nx - 1 ? i + 1 : -1, y ? i - nx : -1, y < ny - 1 ? i + nx : -1};
    const PetscBool fixed    = (PetscBool)(bad == IDENTITY || (bad == DIRICHLET && x == 0));
    PetscScalar     diagonal = 0, scale = bad == SINGLE ? 1e45 : 1;

    for (int k = 0; k < 4; ++k) {
      PetscScalar value = bad == POSITIVE ? 1 : bad == INDEFINITE ? -1.6 : -1;

      if (next[k] < 0) {
        diagonal += bad == SINGULAR || bad == DISCONNECTED ? 0 : 1;
        continue;
      }
      diagonal += 1;
      if (bad == DISCONNECTED && (k < 2 ? (x + k) % 10 == 0 : (y + k - 2) % 10 == 0)) { // boxes of 10 by 10
        diagonal -= 1;
        continue;
      }
      if (fixed || (bad == DIRICHLET && next[k] % nx == 0)) continue;
      if (bad == NOTANUMBER && i == row && k == 2) value = NAN;
      if (bad == INFINITE && i == row && k == 2) value = INFINITY;
      PetscCall(MatSetValue(*A, i, next[k], scale * value, INSERT_VALUES));
    }
    if (i == row && bad == ZERO) diagonal = 0;
    if (i == row && bad == NEGATIVE) diagonal = -4;
    if (i == row && bad == INDEFINITE_LAST) diagonal = 0.1;
    if (fixed) diagonal = 1;
    if (i != row || bad != MISSING) PetscCall(MatSetValue(*A, i, i, scale * diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  PetscCall(MatConvert(*A, type, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(0);
}

static const char *Options(Bad bad)
{
  if (bad == SINGLE) return "-pc_pamg_precision single";
  if (bad == HALF_COARSE) return "-pc_pamg_precision half -pc_pamg_coarse_limit 40";
  if (bad == LARGE_LAST) return "-pc_pamg_levels 1 -pc_pamg_coarse cholesky";
  if (bad == LEVELS) return "-pc_pamg_levels 64 -pc_pamg_coarse_limit 1";
  return "";
}

static PetscErrorCode TestRefused(Bad bad, Mat A)
{
  PetscOptions   options;
  PC             pc;
  PCFailedReason reason;
  PetscErrorCode ierr       = PETSC_SUCCESS;
  char           failed[64] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, Options(bad)));
  PETSC_STDERR = fopen("/dev/null", "w"); // the warning of a set-up that fails
  for (int error = 0; error < 2; ++error) {
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PetscObjectSetOptions((PetscObject)pc, options));
    PetscCall(PCSetErrorIfFailure(pc, (PetscBool)error));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetType(pc, PCPAMG));
    PetscCall(PCSetFromOptions(pc));
    message[0] = 0;
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    ierr = PCSetUp(pc);
    PetscCall(PetscPopErrorHandler());
    PetscCall(PCGetFailedReason(pc, &reason));
    if (!error && !ierr) PetscCall(PetscSNPrintf(failed, sizeof(failed), "[%s] ", PCFailedReasons[reason]));
    PetscCall(PCDestroy(&pc));
  }
  fclose(PETSC_STDERR);
  PETSC_STDERR = stderr;
  PetscCall(PrintMessage(names[bad], ierr, failed));
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(0);
}

/* Solved, with what is known of the hierarchy */
static PetscErrorCode TestTaken(Bad bad, Mat A)
{
  KSP       ksp;
  PC        pc;
  PC_PAMG  *pamg;
  PetscInt  its, last, rank = -1;
  PetscReal residual;
  char      options[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type fcg -ksp_max_it 2000 -pc_type pamg -pc_pamg_cycle k %s", Options(bad)));
  if (bad == DISCONNECTED || bad == SINGULAR) { // a kernel of nine vectors, or of one, that nobody told of: a right-hand side in the range
    Vec x, b;

    PetscCall(CreateVecs(A, &x, &b));
    PetscCall(FillRandom(x, 3));
    PetscCall(MatMult(A, x, b));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPFCG));
    PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCPAMG));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(TrueResidual(A, b, x, &residual));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
  } else PetscCall(ProblemSolve(A, options, &ksp, &its, &residual));
  PetscCall(KSPGetPC(ksp, &pc));
  pamg = (PC_PAMG *)pc->data;
  last = pamg->level[pamg->nlevel - 1].N;
  if (pamg->direct) PetscCall(PolderCoarseGetRank(pamg->coarse, &rank));
  PetscCheck(residual < 1.1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: true residual %g", names[bad], (double)residual);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: solved%s%s%s\n", names[bad], pamg->stalled && bad != LEVELS ? ", no coarse level" : "",
                        pamg->direct ? "" : ", last level not factorised", pamg->direct && rank < last ? ", singular last level" : ""));
  PetscCheck(its <= (bad == POSITIVE ? 150 : 15), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " iterations", names[bad], its);
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* Each of the warnings once: on stderr, which the golden file has as well */
static PetscErrorCode TestWarnings(void)
{
  Mat       A;
  PetscInt  its;
  PetscReal residual;
  KSP       ksp;
  Vec       x, b;

  PetscFunctionBeginUser;
  PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 2, 12, 1, &A));
  PetscCall(ProblemSolve(A, "-ksp_type cg -pc_type pamg -pc_pamg_cycle k", &ksp, &its, &residual));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x)); // without a word
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 2, 12, 1, &A));
  PetscCall(MatSetBlockSize(A, 2));
  PetscCall(ProblemSolve(A, "-ksp_type cg -pc_type pamg", NULL, &its, &residual));
  PetscCall(MatDestroy(&A));
  PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 2, 12, 1, &A));
  PetscCall(VecSet(x, 1));
  PetscCall(FillRandom(x, 1));
  PetscCall(VecScale(x, 0.05));
  PetscCall(VecShift(x, 1));
  PetscCall(MatDiagonalScale(A, x, NULL));
  PetscCall(ProblemSolve(A, "-ksp_type gmres -pc_type pamg", NULL, &its, &residual)); // without a word
  PetscCall(ProblemSolve(A, "-ksp_type cg -pc_type pamg", NULL, &its, &residual));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_FALSE)); // known: the same words
  PetscCall(ProblemSolve(A, "-ksp_type cg -pc_type pamg", NULL, &its, &residual));
  PetscCall(MatDestroy(&A));
  PetscCall(PoissonAssemble(PETSC_COMM_WORLD, 2, 12, 1, &A));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_FALSE)); // as a program says that has not looked: no words
  PetscCall(ProblemSolve(A, "-ksp_type cg -pc_type pamg", NULL, &its, &residual));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **args)
{
  Mat       A;
  PetscBool warnings;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(LookForParts());
  PetscCall(PetscOptionsHasName(NULL, NULL, "-warnings", &warnings));
  if (warnings) PetscCall(TestWarnings());
  for (int bad = 0; bad < NBAD && !warnings; ++bad) {
    PetscCall(CreateBad((Bad)bad, &A));
    if (bad < NREFUSED) PetscCall(TestRefused((Bad)bad, A));
    else PetscCall(TestTaken((Bad)bad, A));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:
    suffix: bad
    nsize: {{1 3}}
    args: -mat_type {{aij aijdia}} -polder_min_rows_per_gpu 0

  test:
    suites: valgrind(+1)
    suffix: warnings
    nsize: {{1 2}}
    args: -warnings

TEST*/
