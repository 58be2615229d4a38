/* What the tests of device kernels share. */
#pragma once

#include "../src/device.h"
#include "../src/kernels/kernels.h"

static unsigned int seed = 12345;

static inline PetscInt Next(PetscInt below)
{
  seed = seed * 1664525u + 1013904223u;
  return (PetscInt)((seed >> 8) % (unsigned int)below);
}

static inline PetscScalar Number(void)
{
  return Next(2000) / 1000.0 - 1.0;
}

/* device, the address of a pointer <- a copy of the bytes */
static inline PetscErrorCode Upload(size_t bytes, const void *host, void *device)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMalloc(bytes, device));
  PetscCall(PolderDeviceFromHost(*(void **)device, host, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n random values on the host, and a copy on the device */
static inline PetscErrorCode Random(PetscInt n, PetscScalar **host, PetscScalar **device)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, host));
  for (PetscInt i = 0; i < n; ++i) (*host)[i] = Number();
  PetscCall(Upload(sizeof(PetscScalar) * n, *host, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a further than tol from those of b, or not written (NaN) */
static inline PetscInt Wrong(PetscInt n, const PetscScalar a[], const PetscScalar b[], PetscReal tol)
{
  PetscInt wrong = 0;

  for (PetscInt i = 0; i < n; ++i) wrong += !(PetscAbsScalar(a[i] - b[i]) <= tol);
  return wrong;
}

static inline PetscErrorCode Report(const char *what, PetscInt wrong)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", what, wrong ? "WRONG" : "ok"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
