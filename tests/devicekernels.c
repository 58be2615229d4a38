static char help[] = "Device kernels against their host twins: awkward sizes, poisoned output.\n\n";

#include "../src/device.h"
#include "../src/kernels/kernels.h"

static const PetscInt Sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1025, 4097, 100003, 1 << 21};
static unsigned int   seed    = 12345;

static unsigned int Next(unsigned int below)
{
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % below;
}

static PetscScalar Number(void)
{
  return Next(2000) / 1000.0 - 1.0;
}

/* n random values on the host, and a copy on the device */
static PetscErrorCode Random(PetscInt n, PetscScalar **host, PetscScalar **device)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, host));
  for (PetscInt i = 0; i < n; ++i) (*host)[i] = Number();
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * n, device));
  PetscCall(PolderDeviceFromHost(*device, *host, sizeof(PetscScalar) * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a further than tol from those of b, or not written (NaN) */
static PetscInt Wrong(PetscInt n, const PetscScalar a[], const PetscScalar b[], PetscReal tol)
{
  PetscInt wrong = 0;

  for (PetscInt i = 0; i < n; ++i) wrong += !(PetscAbsScalar(a[i] - b[i]) <= tol);
  return wrong;
}

static PetscErrorCode Report(const char *what, PetscInt wrong)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", what, wrong ? "WRONG" : "ok"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
