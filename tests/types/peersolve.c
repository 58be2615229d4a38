static char help[] = "Solves whose processes exchange between their devices, against the same solves through the host: empty processes, patterns that change,\n"
                     "two communicators at once, and PETSc started anew each time.\n"
                     "  -by <peer> : the transport, -within <1> : agreement of the iteration counts\n"
                     "  -says <words> : what the view of the first solve must also say with these processes as peers\n\n";

#include "bubbles.h"

enum {
  WHOLE,   /* a system of all processes */
  CHANGED, /* the same with other couplings */
  BACK,    /* and without them again: the values of the first, in a wider pattern */
  HALF,    /* a system of every second process, solved in the monitor of the last one, between two of its iterations */
  SOLVES
};

typedef struct {
  PetscInt  its[SOLVES];
  PetscReal residual[SOLVES], norm[SOLVES];
} Outcome;

/* Every third process has no rows, the others different numbers of them */
static PetscErrorCode MakeMatrix(MPI_Comm comm, const Bubbles *bubbles, Mat *A)
{
  const PetscInt N = bubbles->n * bubbles->n * bubbles->n;
  PetscMPIInt    rank, size;
  PetscInt       shares = 0, m, before = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  for (PetscMPIInt r = 0; r < size; ++r) shares += r % 3 == 1 ? 0 : 1 + r % 2;
  for (PetscMPIInt r = 0; r < rank; ++r) before += r % 3 == 1 ? 0 : 1 + r % 2;
  m = rank % 3 == 1 ? 0 : 1 + rank % 2;
  m = N * (before + m) / shares - N * before / shares;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, m, m, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 9, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 9, NULL, 9, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(BubblesAssemble(bubbles, comm, A, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A <- A + scale times the graph of some edges between rows far from each other */
static PetscErrorCode AddEdges(Mat A, PetscReal scale)
{
  PetscInt start, end, N;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, &N, NULL));
  for (PetscInt i = 5; i < N / 2; i += 17) {
    const PetscInt ij[] = {i, N - 1 - i};

    for (int k = 0; k < 2; ++k) {
      if (ij[k] < start || ij[k] >= end) continue;
      PetscCall(MatSetValue(A, ij[k], ij[k], scale, ADD_VALUES));
      PetscCall(MatSetValue(A, ij[k], ij[1 - k], -scale, ADD_VALUES));
    }
  }
  PetscCall(Assemble(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeSolver(MPI_Comm comm, Mat A, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(comm, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPDCG));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(KSP ksp, Mat A, int which, Outcome *outcome)
{
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(MakeRhs(A, 1 + which, &b, &x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &outcome->its[which]));
  PetscCall(TrueResidual(A, b, x, &outcome->residual[which]));
  PetscCall(VecNorm(x, NORM_2, &outcome->norm[which]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A system of another communicator, with exchanges and sums of its own */
typedef struct {
  KSP      ksp;
  Mat      A;
  Outcome *outcome;
  PetscInt solved;
} Other;

static PetscErrorCode SolveOther(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  Other *other = (Other *)ctx;

  PetscFunctionBeginUser;
  (void)ksp, (void)norm;
  if (it % 3 != 1 || other->solved > 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Solve(other->ksp, other->A, HALF, other->outcome));
  ++other->solved;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the view of the solver contain these words? */
static PetscErrorCode CheckView(KSP ksp, const char words[])
{
  PetscViewer viewer;
  char        line[512], *found = NULL;
  PetscMPIInt rank;
  FILE       *file;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpen(PetscObjectComm((PetscObject)ksp), "view.txt", &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)ksp), &rank));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFOpen(PETSC_COMM_SELF, "view.txt", "r", &file));
  while (!found && fgets(line, sizeof(line), file)) PetscCall(PetscStrstr(line, words, &found));
  PetscCall(PetscFClose(PETSC_COMM_SELF, file));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The view does not say: %s", words);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does it name that transport, and what goes with peers? */
static PetscErrorCode CheckTransport(KSP ksp, const char transport[])
{
  char      words[64], says[64];
  PetscBool peer, given;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(words, sizeof(words), "values between processes: %s", transport));
  PetscCall(CheckView(ksp, words));
  PetscCall(PetscStrcmp(transport, "peer", &peer));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-says", says, sizeof(says), &given));
  if (peer && given) PetscCall(CheckView(ksp, says));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const char transport[], Outcome *outcome)
{
  const MPI_Comm comm = PETSC_COMM_WORLD;
  MPI_Comm       half;
  PetscMPIInt    rank;
  Bubbles        bubbles;
  Mat            A;
  KSP            ksp;
  Other          other = {.outcome = outcome};

  PetscFunctionBeginUser;
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_split(comm, rank % 2, rank, &half));
  PetscCall(MakeMatrix(comm, &bubbles, &A));
  PetscCall(MakeSolver(comm, A, &ksp));
  PetscCall(Solve(ksp, A, WHOLE, outcome));
  PetscCall(CheckTransport(ksp, transport));
  PetscCall(AddEdges(A, 1));
  PetscCall(Solve(ksp, A, CHANGED, outcome));
  PetscCall(AddEdges(A, -1));
  PetscCall(MakeMatrix(half, &bubbles, &other.A));
  PetscCall(MakeSolver(half, other.A, &other.ksp));
  PetscCall(KSPMonitorSet(ksp, SolveOther, &other, NULL));
  PetscCall(Solve(ksp, A, BACK, outcome));
  PetscCheck(other.solved == 3, comm, PETSC_ERR_PLIB, "The other system has been solved %" PetscInt_FMT " times", other.solved);
  PetscCall(KSPDestroy(&other.ksp));
  PetscCall(MatDestroy(&other.A));
  PetscCallMPI(MPI_Comm_free(&half));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char     by[16]       = "peer";
  char    *transports[] = {"host", by, by};
  Outcome  outcome[3];
  PetscInt within = 1;

  PetscCallMPI(MPI_Init(&argc, &argv));
  for (int k = 0; k < 3; ++k) {
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, help));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-by", by, sizeof(by), NULL));
    PetscCall(PetscOptionsSetValue(NULL, "-polder_transport", transports[k]));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-within", &within, NULL));
    PetscCall(Run(transports[k], &outcome[k]));
    for (int s = 0; s < SOLVES; ++s) {
      PetscCheck(outcome[k].residual[s] <= 1.0000001e-9, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, solve %d: true residual %g", transports[k], s,
                 (double)outcome[k].residual[s]);
      PetscCheck(PetscAbsInt(outcome[k].its[s] - outcome[0].its[s]) <= within, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Solve %d: %" PetscInt_FMT " iterations with %s, %" PetscInt_FMT " with %s", s, outcome[k].its[s], transports[k], outcome[0].its[s],
                 transports[0]);
      PetscCheck(PetscAbsReal(outcome[k].norm[s] - outcome[0].norm[s]) <= 1e-6 * outcome[0].norm[s], PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "Solve %d: norm %g with %s, %g with %s", s, (double)outcome[k].norm[s], transports[k], (double)outcome[0].norm[s], transports[0]);
      if (k == 2) /* and in the same way the same bits */
        PetscCheck(outcome[2].norm[s] == outcome[1].norm[s], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Solve %d: norm %.17g and %.17g", s, (double)outcome[1].norm[s],
                   (double)outcome[2].norm[s]);
    }
    if (k == 2) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "as through the host\n"));
    PetscCall(PetscFinalize());
  }
  PetscCallMPI(MPI_Finalize());
  return 0;
}

/*TEST

  testset:
    requires: emulated
    nsize: {{3 5}}
    args: -n 9 -dirichlet
    output_file: output/peersolve.out
    args: -by {{peer nccl}} -polder_nccl ${POLDER_BUILD}/tests/nccl/libnccl-emulated.so
    test:
      suffix: formats
      args: -mat_type {{aijdia aijicrs aijhec}} -pc_type jacobi -deflation_space none -polder_min_rows_per_gpu 0
    test:
      suffix: preconditioners
      args: -mat_type aijdia -pc_type tns -deflation_space none -ksp_dcg_reductions {{1 2}} -polder_min_rows_per_gpu 0
    test:
      suffix: levels
      args: -mat_type aijdia -pc_type pamg -pc_pamg_coarse_limit 400 -deflation_space none -ksp_dcg_reductions {{1 2}} -polder_min_rows_per_gpu 0
    test:
      suffix: deflated
      args: -mat_type aijdia -pc_type tns -deflation_space subdomain -deflation_boxes 2,2,2 -deflation_grid 9,9,9 -ksp_dcg_reductions {{1 2}}
    test:
      suffix: kcycle
      args: -mat_type aijdia -pc_type pamg -pc_pamg_cycle k -pc_pamg_coarse_limit 20 -ksp_dcg_flexible -deflation_space none -polder_min_rows_per_gpu 0

  testset:
    requires: emulated
    args: -mat_type aijdia -pc_type tns
    output_file: output/peersolve.out
    test:
      suffix: sweeps
      nsize: {{2 3 4}}
      args: -n 12 -inside 10 -says "an exchange during it" -ksp_dcg_reductions {{1 2}} -pc_tns_precision {{double single}} -deflation_space none
    test:
      suffix: sweeps_deflated
      nsize: {{2 4}}
      args: -n 12 -inside 10 -says "an exchange during it" -ksp_dcg_reductions 2 -deflation_space subdomain -deflation_boxes 2,2,2 -deflation_grid 12,12,12
    test:
      suffix: sweeps_full
      nsize: 3
      args: -n 12 -dirichlet -mat_aijdia_symmetric 0 -says "an exchange during it" -ksp_dcg_reductions {{1 2}} -deflation_space none
    test:
      suffix: sweeps_thin
      nsize: 6
      args: -n 9 -dirichlet -says "one after it" -ksp_dcg_reductions {{1 2}} -deflation_space none

TEST*/
