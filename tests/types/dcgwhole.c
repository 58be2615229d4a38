static char
  help[] = "Small problems that every process solves as a whole on its own GPU, against the same solve on one process: counts, histories and solutions\n"
           "to the last bit; changed values and patterns, kernels, guesses, restarts, monitors, and what excludes it.\n"
           "  -n <20> : points in each direction of a square; -pc_type <type> : this one, instead of jacobi and none\n\n";

#include "vecs.h"
#include <petscksp.h>
#include "core/compat.h"

/* A square of n by n points, y lines of which have couplings of this size; Dirichlet values at x = 0 only, or none at all; wide: couplings over three points */
typedef struct {
  PetscInt  n;
  PetscReal across;
  PetscBool singular, wide;
} Square;

static PetscErrorCode Fill(const Square *s, Mat A)
{
  const PetscInt n = s->n, far[] = {1, n, 3};
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    PetscScalar diagonal = s->singular || i % n ? 0 : 2;

    for (int k = 0; k < (s->wide ? 3 : 2); ++k) {
      for (int side = -1; side <= 1; side += 2) {
        const PetscInt    j     = i + side * far[k];
        const PetscScalar value = -(k == 1 ? s->across : 1) * (1 + 0.25 * (PetscReal)(PetscMin(i, j) % 5));

        if (j < 0 || j >= n * n || (k != 1 && j / n != i / n)) continue;
        PetscCall(MatSetValue(A, i, j, value, INSERT_VALUES));
        diagonal -= value;
      }
    }
    PetscCall(MatSetValue(A, i, i, diagonal, INSERT_VALUES));
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several processes the second one has no rows, and the others have odd numbers of them */
static PetscErrorCode Create(MPI_Comm comm, const Square *s, Mat *A)
{
  const PetscInt N = s->n * s->n;
  PetscInt       m = N;
  PetscMPIInt    rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) m = rank == 1 ? 0 : rank ? N / size / 2 * 2 + 1 : N - (size - 2) * (N / size / 2 * 2 + 1);
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, m, m, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 7, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(s, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum {
  HISTORY = 1000
};

/* A solver with its system, on one process or on all */
typedef struct {
  Mat       A;
  KSP       ksp;
  Vec       b, x;
  PetscReal history[HISTORY];
  PetscReal seen; /* norm of the solutions that the monitor has built */
} Side;

static PetscErrorCode Look(KSP ksp, PETSC_UNUSED PetscInt it, PETSC_UNUSED PetscReal rnorm, void *ctx)
{
  Side     *side = (Side *)ctx;
  Vec       x;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  side->seen += norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Begin(Mat A, const char pctype[], Side *side)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectReference((PetscObject)A));
  side->A = A;
  PetscCall(CreateVecs(side->A, &side->x, &side->b));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &side->ksp));
  PetscCall(KSPSetType(side->ksp, "dcg"));
  PetscCall(KSPSetTolerances(side->ksp, 1e-10, PETSC_DEFAULT, 1e20, HISTORY - 1));
  PetscCall(KSPSetResidualHistory(side->ksp, side->history, HISTORY, PETSC_TRUE));
  PetscCall(KSPGetPC(side->ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSetFromOptions(side->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(Side *side)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&side->x));
  PetscCall(VecDestroy(&side->b));
  PetscCall(MatDestroy(&side->A));
  PetscCall(KSPDestroy(&side->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b, with a sum of zero, and a guess whose size is `guess` */
static PetscErrorCode Solve(Side *side, PetscReal guess)
{
  PetscInt     start, end, N;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(side->b, &start, &end));
  PetscCall(VecGetSize(side->b, &N));
  PetscCall(VecGetArray(side->b, &v));
  for (PetscInt i = start; i < end; ++i) v[i - start] = (PetscReal)(i * 7 % 16 - N + 1 - (N - 1 - i) * 7 % 16 + N - 1) / 8;
  PetscCall(VecRestoreArray(side->b, &v));
  PetscCall(VecGetArray(side->x, &v));
  for (PetscInt i = start; i < end; ++i) v[i - start] = guess * (PetscReal)(i * 5 % 32 - 16) / 16;
  PetscCall(VecRestoreArray(side->x, &v));
  PetscCall(KSPSetInitialGuessNonzero(side->ksp, (PetscBool)(guess != 0)));
  PetscCall(KSPSetOperators(side->ksp, side->A, side->A));
  side->seen = 0;
  PetscCall(KSPSolve(side->ksp, side->b, side->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that differ between the solves, on all processes together */
static PetscErrorCode Compare(Side *all, Side *one, const char what[])
{
  PetscInt           its[2], start, end, wrong = 0;
  PetscReal          norm[2];
  const PetscScalar *u, *v;
  KSPConvergedReason reason[2];

  PetscFunctionBeginUser;
  PetscCall(KSPGetIterationNumber(all->ksp, &its[0]));
  PetscCall(KSPGetIterationNumber(one->ksp, &its[1]));
  PetscCall(KSPGetResidualNorm(all->ksp, &norm[0]));
  PetscCall(KSPGetResidualNorm(one->ksp, &norm[1]));
  PetscCall(KSPGetConvergedReason(all->ksp, &reason[0]));
  PetscCall(KSPGetConvergedReason(one->ksp, &reason[1]));
  wrong += its[0] != its[1] || its[0] < 2 || norm[0] != norm[1] || reason[0] != reason[1] || reason[0] < 0;
  for (PetscInt k = 0; k <= PetscMin(its[0], its[1]); ++k) wrong += all->history[k] != one->history[k];
  wrong += PetscAbsReal(all->seen - one->seen) > 1e-12 * one->seen;
  PetscCall(VecGetOwnershipRange(all->x, &start, &end));
  PetscCall(VecGetArrayRead(all->x, &u));
  PetscCall(VecGetArrayRead(one->x, &v));
  for (PetscInt i = start; i < end; ++i) wrong += u[i - start] != v[i];
  PetscCall(VecRestoreArrayRead(one->x, &v));
  PetscCall(VecRestoreArrayRead(all->x, &u));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (wrong)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " differ, %" PetscInt_FMT " and %" PetscInt_FMT " its, reasons %d and %d\n", what, wrong,
                          its[0], its[1], reason[0], reason[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Both(Side *all, Side *one, PetscReal guess, const char what[])
{
  PetscFunctionBeginUser;
  PetscCall(Solve(all, guess));
  PetscCall(Solve(one, guess));
  PetscCall(Compare(all, one, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Kernel(Side *side, PetscBool on)
{
  MatNullSpace kernel = NULL;

  PetscFunctionBeginUser;
  if (on) PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)side->A), PETSC_TRUE, 0, NULL, &kernel));
  PetscCall(MatSetNullSpace(side->A, kernel));
  PetscCall(MatNullSpaceDestroy(&kernel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Second solvers for the matrices, by turns with the first ones, and without them */
static PetscErrorCode TestSecond(Square *s, const char pctype[], Side *all, Side *one)
{
  Side *all2, *one2;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&all2));
  PetscCall(PetscNew(&one2));
  PetscCall(Begin(all->A, pctype, all2));
  PetscCall(Begin(one->A, pctype, one2));
  PetscCall(Both(all2, one2, 0, "second solver"));
  s->across = 0.7;
  PetscCall(Fill(s, all->A));
  PetscCall(Fill(s, one->A));
  PetscCall(Both(all2, one2, 0, "second solver, new values"));
  PetscCall(Both(all, one, 0, "first solver, its values by the second"));
  PetscCall(KSPReset(all->ksp));
  PetscCall(KSPReset(one->ksp));
  PetscCall(Both(all2, one2, 1, "second solver without the first"));
  PetscCall(End(all2));
  PetscCall(End(one2));
  PetscCall(PetscFree(all2));
  PetscCall(PetscFree(one2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPC(PetscInt n, const char pctype[])
{
  Square s = {.n = n, .across = 1};
  Side  *all, *one;
  Mat    A, B;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&all));
  PetscCall(PetscNew(&one));
  PetscCall(Create(PETSC_COMM_WORLD, &s, &A));
  PetscCall(Create(PETSC_COMM_SELF, &s, &B));
  PetscCall(Begin(A, pctype, all));
  PetscCall(Begin(B, pctype, one));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(Both(all, one, 0, "zero guess"));
  PetscCall(Both(all, one, 1, "guess"));
  PetscCall(Both(all, one, 1e7, "large guess"));
  s.across = 0.3;
  PetscCall(Fill(&s, all->A));
  PetscCall(Fill(&s, one->A));
  PetscCall(Both(all, one, 0, "new values"));
  s.wide = PETSC_TRUE;
  PetscCall(Fill(&s, all->A));
  PetscCall(Fill(&s, one->A));
  PetscCall(Both(all, one, 0, "new pattern"));
  PetscCall(KSPMonitorSet(all->ksp, Look, all, NULL));
  PetscCall(KSPMonitorSet(one->ksp, Look, one, NULL));
  PetscCall(Both(all, one, 0, "monitors that build the solution"));
  PetscCall(KSPMonitorCancel(all->ksp));
  PetscCall(KSPMonitorCancel(one->ksp));
  s.singular = PETSC_TRUE;
  PetscCall(Fill(&s, all->A));
  PetscCall(Fill(&s, one->A));
  PetscCall(Both(all, one, 0, "singular"));
  PetscCall(Kernel(all, PETSC_TRUE));
  PetscCall(Kernel(one, PETSC_TRUE));
  PetscCall(Both(all, one, 0, "singular, kernel attached"));
  PetscCall(Kernel(all, PETSC_FALSE));
  PetscCall(Kernel(one, PETSC_FALSE));
  s.singular = PETSC_FALSE;
  PetscCall(Fill(&s, all->A));
  PetscCall(Fill(&s, one->A));
  PetscCall(KSPSetNormType(all->ksp, KSP_NORM_NATURAL)); // in parts, and back
  PetscCall(Solve(all, 0));
  PetscCall(KSPSetNormType(all->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(Both(all, one, 0, "after another norm"));
  PetscCall(KSPReset(all->ksp));
  PetscCall(KSPReset(one->ksp));
  PetscCall(Both(all, one, 0, "after a reset"));
  PetscCall(TestSecond(&s, pctype, all, one));
  PetscCall(End(all));
  PetscCall(End(one));
  PetscCall(PetscFree(all));
  PetscCall(PetscFree(one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  n = 20;
  char      pctype[64];
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc_type", pctype, sizeof(pctype), &given));
  if (given) PetscCall(TestPC(n, pctype));
  else {
    PetscCall(TestPC(n, PCJACOBI));
    PetscCall(TestPC(n, PCNONE));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "compared with one process\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: gpu
    args: -mat_type aijdia -deflation_space none
    output_file: output/dcgwhole.out

    test:
      suffix: same
      nsize: {{1 2 3 4}}
    test:
      suffix: transport
      nsize: 3
      args: -n 13 -polder_transport host -polder_min_rows_per_gpu 100
    test:
      suffix: nccl
      requires: emulated
      nsize: 3
      args: -n 13 -polder_transport nccl -polder_nccl ${POLDER_BUILD}/tests/nccl/libnccl-emulated.so
    test:
      suffix: shared
      requires: emulated
      nsize: 2
      args: -emulated_gpus 1

  # as above, with a preconditioner that has all rows on each GPU; where processes share one, because the option says so
  testset:
    requires: gpu
    args: -deflation_space none -pc_type pamg -pc_pamg_coarse_limit 40 -polder_min_rows_per_gpu 1000
    output_file: output/dcgwhole.out

    test:
      suffix: pamg
      nsize: {{2 3 4}}
      args: -mat_type {{aijdia aijicrs aijhec}}
    test:
      suffix: pamg_cycles
      nsize: 2
      args: -mat_type aijdia -pc_pamg_precision {{double half}} -pc_pamg_smoother {{chebyshev sgs}}
    test:
      suffix: pamg_flexible
      nsize: 3
      args: -mat_type aijdia -pc_pamg_cycle k -ksp_dcg_flexible -pc_pamg_reuse {{0 1}}
    test:
      suffix: pamg_transport
      nsize: 3
      args: -mat_type aijdia -polder_transport host
    test:
      suffix: pamg_nccl
      requires: emulated
      nsize: 3
      args: -mat_type aijdia -polder_transport nccl -polder_nccl ${POLDER_BUILD}/tests/nccl/libnccl-emulated.so
    test:
      suffix: pamg_shared
      requires: emulated
      nsize: 2
      args: -mat_type aijdia -emulated_gpus 1

TEST*/
