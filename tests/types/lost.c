static char help[] = "A process that is killed, or ends with an error, in the middle of a solve: the others name it and end, without help of the launcher.\n"
                     "  -who <1> : the process, -at <5> : its iteration, -how <killed|error>\n\n";

#include "bubbles.h"
#include <signal.h>
#include <unistd.h>

static char Message[512]; /* of the first error of this process */

static PetscErrorCode Remember(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n, PetscErrorType type, const char *mess,
                               void *ctx)
{
  (void)comm, (void)line, (void)function, (void)file, (void)ctx;
  if (type == PETSC_ERROR_INITIAL) (void)PetscStrncpy(Message, mess ? mess : "", sizeof(Message));
  return n;
}

typedef struct {
  PetscMPIInt rank;
  PetscInt    who, at;
  PetscBool   killed;
} Plan;

static PetscErrorCode Fail(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  const Plan *plan = (const Plan *)ctx;

  PetscFunctionBeginUser;
  (void)ksp, (void)norm;
  if (plan->rank != plan->who || it != plan->at) PetscFunctionReturn(PETSC_SUCCESS);
  if (plan->killed) (void)raise(SIGKILL);
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_USER, "This process does not go on");
}

int main(int argc, char **argv)
{
  Mat            A = NULL;
  Vec            b, x;
  KSP            ksp;
  Bubbles        bubbles;
  Plan           plan    = {.who = 1, .at = 5};
  char           how[16] = "killed";
  PetscErrorCode err;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(BubblesFromOptions(&bubbles));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-who", &plan.who, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-at", &plan.at, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-how", how, sizeof(how), NULL));
  PetscCall(PetscStrcmp(how, "killed", &plan.killed));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &plan.rank));
  PetscCall(BubblesAssemble(&bubbles, PETSC_COMM_WORLD, &A, NULL));
  PetscCall(MakeRhs(A, 1, &b, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPDCG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPMonitorSet(ksp, Fail, &plan, NULL));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscPushErrorHandler(Remember, NULL));
  err = KSPSolve(ksp, b, x);
  printf("process %d: error %d: %s\n", plan.rank, (int)err, Message);
  (void)fflush(stdout);
  _exit(0); // nothing of MPI works any more
}

/*TEST

  # the launcher must not end the others: Open MPI can be told so
  testset:
    nsize: 3
    requires: emulated openmpi
    env: OMPI_MCA_orte_enable_recovery=1
    args: -n 10 -dirichlet -mat_type aijdia -polder_transport peer -polder_timeout 2 -polder_min_rows_per_gpu 0
    test:
      suffix: killed
      args: -pc_type {{jacobi tns pamg}} -deflation_space none -ksp_dcg_reductions {{1 2}}
    test:
      suffix: error
      args: -how error -pc_type tns -deflation_space {{none subdomain}} -deflation_boxes 2,2,2 -deflation_grid 10,10,10 -ksp_dcg_reductions {{1 2}}

  testset:
    nsize: 3
    requires: emulated openmpi
    env: OMPI_MCA_orte_enable_recovery=1 EMULATED_NCCL_SECONDS=2
    args: -n 10 -dirichlet -mat_type aijdia -polder_min_rows_per_gpu 0 -polder_transport nccl -polder_nccl ${POLDER_BUILD}/tests/nccl/libnccl-emulated.so
    test:
      suffix: nccl
      args: -pc_type {{jacobi tns pamg}} -deflation_space none -ksp_dcg_reductions {{1 2}}

TEST*/
