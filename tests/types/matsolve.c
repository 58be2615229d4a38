static char help[] = "PETSc's own preconditioners on matrices of Polder: the same iterations as on plain AIJ.\n\
  -type <type>: the type under test\n\
  -n <n>      : grid points in each direction\n\n";

#include <polder.h>
#include "vecs.h"

/* 7-point stencil with a coefficient that varies by cell, assembled in the matrix's own numbering */
static PetscErrorCode Create(MatType type, PetscInt n, Mat *A)
{
  const PetscInt N = n * n * n, step[] = {n * n, n, 1};
  PetscInt       rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 7, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 7, NULL, 7, NULL));
  PetscCall(MatGetOwnershipRange(*A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    const PetscInt at[] = {i / n / n, i / n % n, i % n};
    PetscScalar    diag = 0.0;

    for (int d = 0; d < 3; ++d) {
      for (int side = -1; side <= 1; side += 2) {
        const PetscInt    j = i + side * step[d];
        const PetscScalar v = 1.0 + 0.5 * ((PetscMin(i, j) * 7 + d) % 5);

        diag += v;
        if (at[d] + side >= 0 && at[d] + side < n) PetscCall(MatSetValue(*A, i, j, -v, INSERT_VALUES));
      }
    }
    PetscCall(MatSetValue(*A, i, i, diag, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat                A[2];
  Vec                x[2], b;
  KSP                ksp[2];
  PC                 pc;
  PCType             pctype;
  PetscInt           n = 10, its[2];
  PetscReal          diff, norm;
  KSPConvergedReason reason[2];
  char               type[64] = "aijdia";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  for (int k = 0; k < 2; ++k) {
    PetscCall(Create(k ? type : MATAIJ, n, &A[k]));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[k]));
    PetscCall(KSPSetOperators(ksp[k], A[k], A[k]));
    PetscCall(KSPSetType(ksp[k], KSPCG));
    PetscCall(KSPSetTolerances(ksp[k], 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSetFromOptions(ksp[k]));
    PetscCall(CreateVecs(A[k], &x[k], NULL));
  }
  PetscCall(VecDuplicate(x[0], &b));
  PetscCall(KSPGetPC(ksp[0], &pc));
  PetscCall(PCGetType(pc, &pctype));
  PetscCall(VecSet(b, 1.0));
  for (int pass = 0; pass < 3; ++pass) {
    for (int k = 0; k < 2; ++k) {
      if (pass) PetscCall(pass == 1 ? MatShift(A[k], 0.5) : MatScale(A[k], 3.0));
      PetscCall(KSPSolve(ksp[k], b, x[k]));
      PetscCall(KSPGetIterationNumber(ksp[k], &its[k]));
      PetscCall(KSPGetConvergedReason(ksp[k], &reason[k]));
    }
    PetscCall(VecNorm(x[0], NORM_2, &norm));
    PetscCall(VecAXPY(x[1], -1.0, x[0]));
    PetscCall(VecNorm(x[1], NORM_2, &diff));
    if (its[0] != its[1] || reason[0] != reason[1] || reason[0] < 0 || !(diff <= 1e-8 * norm))
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: iterations %" PetscInt_FMT " and %" PetscInt_FMT ", reasons %d and %d, difference %g\n", pctype, its[0],
                            its[1], (int)reason[0], (int)reason[1], (double)(diff / norm)));
    else
      PetscCall(
        PetscPrintf(PETSC_COMM_WORLD, "%s: same iterations, same solution\n", pass == 0 ? "first solve" : (pass == 1 ? "shifted matrix" : "scaled matrix")));
  }
  for (int k = 0; k < 2; ++k) {
    PetscCall(KSPDestroy(&ksp[k]));
    PetscCall(MatDestroy(&A[k]));
    PetscCall(VecDestroy(&x[k]));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
     args: -type {{aijdia aijicrs aijhec}}
     nsize: {{1 2}}
     output_file: output/matsolve_same.out
     test:
       suffix: gamg
       args: -pc_type gamg
     test:
       suffix: hypre
       args: -pc_type hypre
       requires: hypre
     test:
       suffix: asm
       args: -pc_type asm -sub_pc_type icc
     test:
       suffix: lu
       args: -pc_type bjacobi -sub_pc_type lu
     test:
       suffix: icc
       args: -pc_type bjacobi -sub_pc_type icc
     test:
       suffix: jacobi
       args: -pc_type jacobi

   test:
     suffix: gamg_deep
     args: -type aijdia -n 16 -pc_type gamg -pc_gamg_coarse_eq_limit 10 -mg_coarse_pc_type redundant -mg_coarse_redundant_pc_type lu
     nsize: 3
     output_file: output/matsolve_same.out

   test:
     suffix: inner
     args: -type aijdia -ksp_type fcg -pc_type bjacobi -sub_ksp_type cg -sub_ksp_rtol 1e-10 -sub_pc_type jacobi
     nsize: 2
     output_file: output/matsolve_same.out

TEST*/
