static char
  help[] = "Small matrices of which each process has all on its GPU, with PC pamg: solvers that gather their vectors and others, against one process;\n"
           "what excludes it, kept set-ups, changed options, null spaces, another matrix for the preconditioner.\n\n";

#include "vecs.h"
#include <petscksp.h>
#include "core/compat.h"
#include "runner.h"

/* A square of n by n points, Neumann walls; shift is added to the diagonal, skew to the couplings of x on one side */
typedef struct {
  PetscInt  n;
  PetscReal shift, across, skew;
} Square;

static PetscErrorCode Fill(const Square *s, Mat A)
{
  const PetscInt n = s->n;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt next[]   = {i % n ? i - 1 : -1, i % n < n - 1 ? i + 1 : -1, i - n, i + n < n * n ? i + n : -1};
    PetscScalar    diagonal = s->shift;

    for (int k = 0; k < 4; ++k) {
      const PetscReal value = k < 2 ? 1 + 0.25 * (PetscReal)(PetscMin(i, next[k]) % 5) : s->across;

      if (next[k] < 0) continue;
      PetscCall(MatSetValue(A, i, next[k], -value - (k ? 0 : s->skew), INSERT_VALUES));
      diagonal += value;
    }
    PetscCall(MatSetValue(A, i, i, diagonal, INSERT_VALUES));
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMat(MPI_Comm comm, const Square *s, Mat *A)
{
  const PetscInt N = s->n * s->n;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(Fill(s, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on all processes and on one */
typedef struct {
  Mat A[2];
  KSP ksp[2];
  Vec b[2], x[2];
} Pair;

static PetscErrorCode Begin(const Square *s, const char ksptype[], Pair *pair)
{
  PC pc;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    const MPI_Comm comm = k ? PETSC_COMM_SELF : PETSC_COMM_WORLD;

    PetscCall(CreateMat(comm, s, &pair->A[k]));
    PetscCall(CreateVecs(pair->A[k], &pair->x[k], &pair->b[k]));
    PetscCall(KSPCreate(comm, &pair->ksp[k]));
    PetscCall(KSPSetType(pair->ksp[k], ksptype));
    PetscCall(KSPSetTolerances(pair->ksp[k], 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    PetscCall(KSPGetPC(pair->ksp[k], &pc));
    PetscCall(PCSetType(pc, "pamg"));
    PetscCall(KSPSetFromOptions(pair->ksp[k]));
    PetscCall(KSPSetOperators(pair->ksp[k], pair->A[k], pair->A[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(Pair *pair)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    PetscCall(MatDestroy(&pair->A[k]));
    PetscCall(KSPDestroy(&pair->ksp[k]));
    PetscCall(VecDestroy(&pair->b[k]));
    PetscCall(VecDestroy(&pair->x[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A right-hand side with a sum of zero */
static PetscErrorCode FillRight(Vec b)
{
  PetscInt     start, end, N;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(b, &start, &end));
  PetscCall(VecGetSize(b, &N));
  PetscCall(VecGetArray(b, &v));
  for (PetscInt i = start; i < end; ++i) v[i - start] = (PetscReal)(i * 7 % 16 - N + 1 - (N - 1 - i) * 7 % 16 + N - 1) / 8;
  PetscCall(VecRestoreArray(b, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the view say that each process has all? Of the solver, of the preconditioner */
static PetscErrorCode IsWhole(KSP ksp, PetscBool whole[2])
{
  const char *const says[] = {"the whole problem on the GPU of each process", "the whole matrix on the GPU of each process"};
  PetscViewer       viewer;
  PetscMPIInt       rank;
  FILE             *in;
  char              line[1024], *at;
  int               found[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "view", &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    in = fopen("view", "r");
    PetscCheck(in, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No view");
    while (fgets(line, sizeof(line), in)) {
      for (int k = 0; k < 2; ++k) {
        PetscCall(PetscStrstr(line, says[k], &at));
        if (at) found[k] = 1;
      }
    }
    fclose(in);
  }
  PetscCallMPI(MPI_Bcast(found, 2, MPI_INT, 0, PETSC_COMM_WORLD));
  for (int k = 0; k < 2; ++k) whole[k] = (PetscBool)found[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves on both sides. The counts must be the same, the solutions as well, to `near` of their norm; and the solver and its preconditioner whole as expected */
static PetscErrorCode Both(Pair *pair, const PetscBool whole[2], PetscReal near, const char what[])
{
  KSPConvergedReason reason[2];
  PetscInt           its[2], start, end;
  PetscReal          away = 0, norm;
  const PetscScalar *u, *v;
  PetscBool          is[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    PetscCall(FillRight(pair->b[k]));
    PetscCall(VecSet(pair->x[k], 0));
    PetscCall(KSPSolve(pair->ksp[k], pair->b[k], pair->x[k]));
    PetscCall(KSPGetIterationNumber(pair->ksp[k], &its[k]));
    PetscCall(KSPGetConvergedReason(pair->ksp[k], &reason[k]));
  }
  PetscCall(VecNorm(pair->x[1], NORM_INFINITY, &norm));
  PetscCall(VecGetOwnershipRange(pair->x[0], &start, &end));
  PetscCall(VecGetArrayRead(pair->x[0], &u));
  PetscCall(VecGetArrayRead(pair->x[1], &v));
  for (PetscInt i = start; i < end; ++i) away = PetscMax(away, PetscAbsScalar(u[i - start] - v[i]));
  PetscCall(VecRestoreArrayRead(pair->x[1], &v));
  PetscCall(VecRestoreArrayRead(pair->x[0], &u));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &away, 1, MPIU_REAL, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(IsWhole(pair->ksp[0], is));
  if (is[0] != whole[0] || is[1] != whole[1])
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the solver is%s whole, the preconditioner is%s\n", what, is[0] ? "" : " not", is[1] ? "" : " not"));
  if (reason[0] != reason[1] || reason[0] < 0 || (whole[1] && its[0] != its[1]) || !(away <= near * norm))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " and %" PetscInt_FMT " its, reasons %d and %d, away by %g\n", what, its[0], its[1], reason[0],
                          reason[1], (double)(away / norm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PetscBool all[] = {PETSC_TRUE, PETSC_TRUE}, pconly[] = {PETSC_FALSE, PETSC_TRUE}, parts[] = {PETSC_FALSE, PETSC_FALSE};

/* Solvers of PETSC have their vectors in parts */
static PetscErrorCode TestSolvers(void)
{
  const Square      s       = {.n = 40, .shift = 0.01, .across = 1};
  const char *const types[] = {"dcg", KSPCG, KSPGMRES, KSPFCG, KSPRICHARDSON};
  Pair              pair;

  PetscFunctionBeginUser;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); ++t) {
    PetscCall(Begin(&s, types[t], &pair));
    PetscCall(Both(&pair, t ? pconly : all, t ? 1e-9 : 0, types[t]));
    PetscCall(End(&pair));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solvers: as on one process\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What keeps the solver, or the preconditioner as well, in parts; and other options after the set-up */
static PetscErrorCode TestOptions(void)
{
  const Square           s        = {.n = 40, .shift = 0.01, .across = 1};
  const char *const      option[] = {"-pc_pamg_smoother", "-pc_pamg_cycle",      "-pc_pamg_precision",  "-pc_pamg_passes", "-pc_pamg_matching",
                                     "-pc_pamg_matching", "-ksp_dcg_reductions", "-ksp_dcg_reductions", "-ksp_norm_type",  "-ksp_norm_type"};
  const char *const      value[]  = {"sgs", "w", "single", "1", "greedy", "handshake", "1", "2", "natural", "preconditioned"};
  const PetscBool *const whole[]  = {all, all, all, all, parts, all, pconly, all, all, all};
  Pair                   pair;

  PetscFunctionBeginUser;
  PetscCall(Begin(&s, "dcg", &pair));
  PetscCall(Both(&pair, all, 0, "before"));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(option); ++o) {
    PetscCall(PetscOptionsSetValue(NULL, option[o], value[o]));
    for (int k = 0; k < 2; ++k) PetscCall(KSPSetFromOptions(pair.ksp[k]));
    PetscCall(Both(&pair, whole[o], whole[o] == all && o < 6 ? 0 : 1e-6, value[o]));
  }
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(option); ++o) PetscCall(PetscOptionsClearValue(NULL, option[o]));
  PetscCall(End(&pair));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "options: as on one process\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kernels: constant or a vector, attached, detached, of a matrix that has it */
static PetscErrorCode TestKernels(void)
{
  const Square s = {.n = 40, .across = 1};
  MatNullSpace kernel;
  Vec          ones;
  Pair         pair;

  PetscFunctionBeginUser;
  PetscCall(Begin(&s, "dcg", &pair));
  PetscCall(Both(&pair, all, 1e-6, "no kernel attached"));
  for (int vector = 0; vector < 2; ++vector) {
    for (int k = 0; k < 2; ++k) {
      PetscCall(VecDuplicate(pair.b[k], &ones));
      PetscCall(VecSet(ones, 1. / s.n));
      PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)ones), vector ? PETSC_FALSE : PETSC_TRUE, vector, vector ? &ones : NULL, &kernel));
      PetscCall(MatSetNullSpace(pair.A[k], kernel));
      PetscCall(MatNullSpaceDestroy(&kernel));
      PetscCall(VecDestroy(&ones));
    }
    PetscCall(Both(&pair, all, 1e-9, vector ? "a vector" : "the constant"));
  }
  for (int k = 0; k < 2; ++k) PetscCall(MatSetNullSpace(pair.A[k], NULL));
  PetscCall(Both(&pair, all, 1e-6, "detached"));
  PetscCall(End(&pair));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "kernels: as on one process\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A kept set-up follows the values of the matrix, and is made again for another matrix; the preconditioner may have a matrix of its own */
static PetscErrorCode TestKept(void)
{
  const char *const types[] = {"dcg", KSPCG};
  Square            s       = {.n = 40, .shift = 0.01, .across = 1};
  Mat               other[2];
  Pair              pair;

  PetscFunctionBeginUser;
  for (int t = 0; t < 2; ++t) {
    const PetscReal        near  = t ? 1e-9 : 0;
    const PetscBool *const whole = t ? pconly : all;

    s.across = 1;
    PetscCall(Begin(&s, types[t], &pair));
    PetscCall(Both(&pair, whole, near, "new"));
    s.across = 0.8;
    for (int k = 0; k < 2; ++k) {
      PetscCall(KSPSetReusePreconditioner(pair.ksp[k], PETSC_TRUE));
      PetscCall(Fill(&s, pair.A[k]));
      PetscCall(KSPSetOperators(pair.ksp[k], pair.A[k], pair.A[k]));
    }
    PetscCall(Both(&pair, whole, near, "kept"));
    s.n = 44;
    for (int k = 0; k < 2; ++k) {
      PetscCall(CreateMat(k ? PETSC_COMM_SELF : PETSC_COMM_WORLD, &s, &other[k]));
      PetscCall(MatDestroy(&pair.A[k]));
      pair.A[k] = other[k];
      PetscCall(VecDestroy(&pair.x[k]));
      PetscCall(VecDestroy(&pair.b[k]));
      PetscCall(CreateVecs(pair.A[k], &pair.x[k], &pair.b[k]));
      PetscCall(KSPReset(pair.ksp[k]));
      PetscCall(KSPSetReusePreconditioner(pair.ksp[k], PETSC_FALSE));
      PetscCall(KSPSetOperators(pair.ksp[k], pair.A[k], pair.A[k]));
    }
    PetscCall(Both(&pair, whole, near, "another size"));
    s.shift = 0.02;
    for (int k = 0; k < 2; ++k) {
      PetscCall(CreateMat(k ? PETSC_COMM_SELF : PETSC_COMM_WORLD, &s, &other[k]));
      PetscCall(KSPSetOperators(pair.ksp[k], pair.A[k], other[k]));
      PetscCall(MatDestroy(&other[k]));
    }
    PetscCall(Both(&pair, whole, near, "another matrix for the preconditioner"));
    s.n     = 40;
    s.shift = 0.01;
    PetscCall(End(&pair));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "kept set-ups: as on one process\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The default: on devices that exchange without the host */
static PetscErrorCode TestShown(void)
{
  const Square s = {.n = 30, .shift = 0.01, .across = 1};
  PetscBool    is[2];
  Pair         pair;

  PetscFunctionBeginUser;
  PetscCall(Begin(&s, "dcg", &pair));
  PetscCall(FillRight(pair.b[0]));
  PetscCall(KSPSolve(pair.ksp[0], pair.b[0], pair.x[0]));
  PetscCall(IsWhole(pair.ksp[0], is));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the solver is %s, the preconditioner is %s\n", is[0] ? "whole" : "in parts", is[1] ? "whole" : "in parts"));
  PetscCall(End(&pair));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const Test tests[] = {
    {"-solvers", TestSolvers},
    {"-options", TestOptions},
    {"-kernels", TestKernels},
    {"-kept",    TestKept   },
    {"-shown",   TestShown  }
  };

  return RunProgram(argc, argv, help, NULL, PETSC_STATIC_ARRAY_LENGTH(tests), tests);
}

/*TEST

  testset:
    requires: gpu
    nsize: {{2 3}}
    args: -mat_type {{aijdia aijicrs}} -deflation_space none -pc_pamg_coarse_limit 40 -polder_min_rows_per_gpu 2000
    test:
      suffix: solvers
      args: -solvers
    test:
      suffix: options
      args: -options
    test:
      suffix: kernels
      args: -kernels
    test:
      suffix: kept
      args: -kept

  testset:
    requires: gpu
    nsize: 2
    args: -shown -mat_type aijdia -deflation_space none
    test:
      suffix: auto
      requires: emulated
    test:
      suffix: never
      args: -polder_min_rows_per_gpu 0
    test:
      suffix: more
      args: -polder_min_rows_per_gpu 450
      output_file: output/pamgwhole_never.out
    test:
      suffix: fewer
      args: -polder_min_rows_per_gpu 451 -polder_transport {{auto host}}
      output_file: output/pamgwhole_auto.out
    # processes that may share a GPU would do all of the work several times
    test:
      suffix: host
      args: -polder_transport host
      output_file: output/pamgwhole_never.out
    test:
      suffix: memory
      requires: emulated
      args: -emulated_memory 300000
      output_file: output/pamgwhole_never.out
    test:
      suffix: aij
      args: -mat_type aij
      output_file: output/pamgwhole_never.out

TEST*/
