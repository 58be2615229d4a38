static char help[] = "PETSc starts and ends twice in one process; the library must register its types and events both times.\n\n";

#include <petscksp.h>
#include "vecs.h"

static PetscErrorCode Solve(void)
{
  KSP           ksp;
  PC            pc;
  Mat           A;
  Vec           x, b;
  PetscLogEvent event;
  PetscReal     norm;
  const char   *type;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 5, 5, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatShift(A, 2.0));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 4.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecShift(x, -2.0));
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "pc %s: %s\n", type, norm < 1e-12 ? "solution ok" : "wrong solution"));
  PetscCall(PetscLogEventGetId("PolderTNSApply", &event));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "events %s\n", event >= 0 ? "registered" : "missing"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscCallMPI(MPI_Init(&argc, &argv));
  for (int i = 0; i < 2; ++i) {
    PetscCall(PetscInitialize(&argc, &argv, NULL, help));
    PetscCall(Solve());
    PetscCall(PetscFinalize());
  }
  PetscCallMPI(MPI_Finalize());
  return 0;
}

/*TEST

   test:
     suites: valgrind(+1)
     nsize: {{1 2}}
     args: -ksp_type cg -pc_type tns -mat_type aijdia
   test:
     suffix: help
     args: -help -ksp_type cg -pc_type tns -mat_type aijdia
     filter: grep -oE -e '-(pc_tns_degree|mat_aijdia_max_fill|mat_aijdia_symmetric)' | sort -u

TEST*/
