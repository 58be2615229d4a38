static char help[] = "A program that is linked with the library and needs no -dll_append: it registers the types itself and calls setters.\n\n";

#include <polder.h>

/* The Laplacian in one dimension, with Dirichlet boundaries */
static PetscErrorCode CreateLaplacian(PetscInt n, Mat *A)
{
  PetscInt rstart, rend;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATAIJDIA));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &rstart, &rend));
  for (PetscInt i = rstart; i < rend; ++i) {
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, -1, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i, 2, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt       n = 60, boxes = 6;
  PolderDeflationSpace space;
  KSP                  ksp;
  PC                   pc;
  Mat                  A;
  Vec                  x, b;
  PetscInt             d;
  PetscReal            norm;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (int twice = 0; twice < 2; ++twice) PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(CreateLaplacian(n, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPDCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTNS));
  PetscCall(PCTNSSetDegree(pc, 1));
  PetscCall(KSPDCGGetDeflationSpace(ksp, &space));
  PetscCall(PolderDeflationSpaceSetType(space, POLDERDEFLATIONSUBDOMAIN));
  PetscCall(PolderDeflationSpaceSetGrid(space, 1, &n));
  PetscCall(PolderDeflationSpaceSetBoxes(space, 1, &boxes));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PolderDeflationSpaceGetSize(space, &d));
  PetscCall(VecScale(b, -1));
  PetscCall(MatMultAdd(A, x, b, b));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " deflation vectors, residual %s\n", d, norm < 1e-7 ? "ok" : "TOO LARGE"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
     nsize: {{1 2}}
     load: no

TEST*/
