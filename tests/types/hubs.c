static char help[] = "A matrix with rows of thousands of entries: preconditioners that would fill it refuse it on all processes, and take it without fill.\n\n";

#include "core/compat.h"
#include "graphs.h"
#include "vecs.h"
#include <petscksp.h>

#define N 2400

/* A chain of rows in each process, and a first row that is joined to all of them: its elimination fills everything */
static PetscErrorCode CreateHubs(Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, N, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, N, NULL, 0, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    PetscCall(MatSetValue(*A, i, i, i == start ? 2 * N : 4, INSERT_VALUES));
    if (i == start) continue;
    if (i > start + 1) {
      PetscCall(MatSetValue(*A, i, i - 1, -1, INSERT_VALUES));
      PetscCall(MatSetValue(*A, i - 1, i, -1, INSERT_VALUES));
    }
    PetscCall(MatSetValue(*A, i, start, -1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, start, i, -1, INSERT_VALUES));
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, const char options[])
{
  PetscOptions       own;
  KSP                ksp;
  Vec                b, x;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&own));
  PetscCall(PetscOptionsInsertString(own, options));
  PetscCall(PetscOptionsPush(own));
  PetscCall(CreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", options, reason > 0 ? "converged" : KSPConvergedReasons[reason]));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&own));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const cases[] = {"-pc_type nras -pc_nras_form symmetric",
                                      "-pc_type nras -pc_nras_form symmetric -pc_nras_levels 1",
                                      "-pc_type nras -pc_nras_form symmetric -pc_nras_blocks 300 -pc_nras_inner_overlap 2",
                                      "-pc_type iluc",
                                      "-pc_type iluc -pc_iluc_levels 1",
                                      "-pc_type meilu -pc_meilu_sets 1",
                                      "-pc_type meilu -pc_meilu_sets 2",
                                      "-pc_type fsai -pc_fsai_power 2",
                                      "-pc_type mcsgs"};
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(CreateHubs(&A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); ++k) PetscCall(Solve(A, cases[k]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
     args: -mat_type {{aij aijicrs}}
     test:
       suffix: all
     test:
       suffix: parts
       nsize: 2

   test:
     suffix: cuda
     requires: cuda
     args: -mat_type aijcusparse -vec_type cuda -use_gpu_aware_mpi 0
     output_file: output/hubs_all.out

TEST*/
