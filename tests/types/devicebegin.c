static char
  help[] = "The first memory of a program on a device, before and after its pool is ready: arrays keep their values, whatever is freed beside them.\n\n";

#include "core/device.h"
#include <polder.h>
#if defined(POLDER_HAVE_CUDA) && !defined(POLDER_EMULATED)
  #include "kernels/modules.h"
#endif

enum {
  ARRAYS = 48,
  MOST   = 131072 /* numbers of the largest array: all of them together are more than the memory from before the pool */
};

/* Array k has the values k, k + 1, ... */
static PetscErrorCode Fill(PetscInt k, PetscInt n, PetscScalar host[], PetscScalar **array)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; ++i) host[i] = k + i;
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * n, host, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(PetscInt k, PetscInt n, PetscScalar host[], const PetscScalar array[], PetscInt *wrong)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceToHost(host, array, sizeof(PetscScalar) * n));
  for (PetscInt i = 0; i < n; ++i) *wrong += host[i] != k + i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes from one number to MOST of them */
static PetscInt Size(PetscInt k)
{
  return k % 3 ? MOST - k : 1 + k;
}

int main(int argc, char **argv)
{
  PetscScalar *host, *array[ARRAYS];
  PolderStream stream;
  PetscInt     wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscDLLibraryRegister_polder());
  PetscCall(PolderDeviceGetStream(&stream)); // the program uses the device from now on
  PetscCall(PolderDeviceBegin());
  PetscCall(PolderDeviceBegin()); // once more does nothing
  PetscCall(PetscMalloc1(MOST, &host));
  for (PetscInt k = 0; k < ARRAYS; ++k) PetscCall(Fill(k, Size(k), host, &array[k]));
  for (int round = 0; round < 3; ++round) {
    for (PetscInt k = round; k < ARRAYS; k += 4) { // those with another size may take the place of these
      PetscCall(PolderDeviceFree(&array[k]));
      PetscCall(Fill(k, Size(k), host, &array[k]));
    }
    for (PetscInt k = 0; k < ARRAYS; ++k) PetscCall(Compare(k, Size(k), host, array[k], &wrong));
  }
  for (PetscInt k = 0; k < ARRAYS; ++k) PetscCall(PolderDeviceFree(&array[k]));
  PetscCall(PetscFree(host));
#if defined(POLDER_HAVE_CUDA) && !defined(POLDER_EMULATED)
  {
    static int (*const modules[])(void) = {POLDER_MODULES(POLDER_MODULE_NAME)};

    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(modules); ++k) PolderLaunch((*modules[k])());
  }
#endif
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " wrong values\n", wrong));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build: internal

   test:
     requires: gpu
     args: -polder_threads {{1 2 4}}

TEST*/
