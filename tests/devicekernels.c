static char help[] = "Device kernels against their host twins: awkward sizes, poisoned output.\n\n";

#include "../src/kernels/kernels.h"
#include "devicetest.h"

static const PetscInt Sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1025, 4097, 100003, 1 << 21};

static PetscErrorCode TestDot(void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    const PetscInt n = Sizes[s];
    PetscScalar   *x, *y, *xd, *yd, *dotd, dot = NAN, expected;

    PetscCall(Random(n, &x, &xd));
    PetscCall(Random(n, &y, &yd));
    PetscCall(PolderDeviceMalloc(sizeof(dot), &dotd));
    PetscCall(PolderDeviceFromHost(dotd, &dot, sizeof(dot)));
    PolderLaunch(PolderDot_CUDA(n, xd, yd, dotd, work, stream));
    PetscCall(PolderDeviceToHost(&dot, dotd, sizeof(dot)));
    expected = PolderDot_Host(n, x, y);
    wrong += Wrong(1, &dot, &expected, 1e-14 * (n + 1));
    PetscCall(PolderDeviceFree(&dotd));
    PetscCall(PolderDeviceFree(&xd));
    PetscCall(PolderDeviceFree(&yd));
    PetscCall(PetscFree(x));
    PetscCall(PetscFree(y));
  }
  PetscCall(Report("dot", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PolderStream stream;
  void        *work;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(TestDot(work, stream));
  PetscCall(PolderDeviceFinalize());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: cuda internal

TEST*/
