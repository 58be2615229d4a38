static char help[] = "Matrices of type aijdia look for classes of equal rows when products with the same values go on.\n\n";

#include "mat/dia.h"
#include <polder.h>
#include <petscksp.h>

/* Five points, on so many lines that kernels read classes */
static PetscErrorCode Create(PetscInt n, Mat *A)
{
  const PetscInt off[] = {-n, -1, 0, 1, n};

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n * n, n * n, n * n, n * n));
  PetscCall(MatSetType(*A, "aijdia"));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  for (PetscInt i = 0; i < n * n; ++i) {
    for (int k = 0; k < 5; ++k) {
      const PetscInt j = i + off[k];

      if (j < 0 || j >= n * n || (PetscAbsInt(off[k]) == 1 && i / n != j / n)) continue;
      PetscCall(MatSetValue(*A, i, j, k == 2 ? 4.5 : -1, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscErrorCode (*get)(Mat, const PolderDia **) = PolderMatGetDia;
  const PolderDia *dia;
  PetscInt         n = 250;
  PetscBool        device, same;
  Mat              A;
  Vec              x, y[3];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PetscOptionsHasName(NULL, NULL, "-device", &device));
  if (device) get = PolderMatGetDeviceDia;
  if (device) n = 600;
  PetscCall(Create(n, &A));
  PetscCall(MatCreateVecs(A, &x, &y[0]));
  for (int k = 1; k < 3; ++k) PetscCall(VecDuplicate(y[0], &y[k]));
  PetscCall(VecSetRandom(x, NULL));
  for (int values = 0; values < 2; ++values) {
    for (int k = 0; k < 3; ++k) {
      PetscCall((*get)(A, &dia));
      PetscCheck(dia && (dia->code != NULL) == (k == 2), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Values %d: %s after %d products", values,
                 dia && dia->code ? "classes" : "no classes", k);
      PetscCall(MatMult(A, x, y[k]));
    }
    for (int k = 1; k < 3; ++k) {
      PetscCall(VecEqual(y[0], y[k], &same));
      PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Values %d: product %d has other bits by classes", values, k);
    }
    PetscCall(MatShift(A, 0.5));
  }
  if (device) {
    PetscCall(PolderMatGetDeviceDiaClassed(A, &dia));
    PetscCheck(dia && dia->code, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No classes for a kernel that asks for them");
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "classes from the second product on\n"));
  for (int k = 0; k < 3; ++k) PetscCall(VecDestroy(&y[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  build: internal

  test:
    suites: valgrind
    requires: !gpu

  test:
    suites: memcheck
    suffix: device
    requires: gpu
    args: -device
    output_file: output/diaclassed_1.out

TEST*/
