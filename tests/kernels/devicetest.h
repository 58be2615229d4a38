/* What the tests of device kernels share. */
#pragma once

#include "random.h"
#include "core/device.h"
#include "kernels/cg.h"

/* A test; work: zeroed memory on the device for the kernels that reduce */
typedef PetscErrorCode (*DeviceTest)(void *work, PolderStream stream);

/* What a program of device tests defines. The main that all of them share, device/main.c, runs the tests in order up to the first NULL. */
typedef struct {
  const char *help;
  DeviceTest  tests[8];
} DeviceTests;
extern const DeviceTests DeviceProgram;

/* -small: no large case, for compute-sanitizer */
extern PetscBool small;

/* n random values on the host, and a copy on the device */
static inline PetscErrorCode Random(PetscInt n, PetscScalar **host, PetscScalar **device)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, host));
  for (PetscInt i = 0; i < n; ++i) (*host)[i] = Number();
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * n, *host, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a further than tol from those of b, or not written (NaN) */
static inline PetscInt Wrong(PetscInt n, const PetscScalar a[], const PetscScalar b[], PetscReal tol)
{
  PetscInt wrong = 0;

  for (PetscInt i = 0; i < n; ++i) wrong += !(PetscAbsScalar(a[i] - b[i]) <= tol);
  return wrong;
}

/* Adds the entries that differ, and says where the first of them are */
static inline PetscErrorCode SameIndices(const char what[], PetscInt n, const PetscInt h[], const PetscInt d[], PetscInt *wrong)
{
  PetscInt *copy, bad = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &copy));
  if (n) PetscCall(PolderDeviceToHost(copy, d, sizeof(*copy) * (size_t)n));
  for (PetscInt i = 0; i < n; ++i) {
    if (copy[i] != h[i] && !bad++)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: entry %" PetscInt_FMT " of %" PetscInt_FMT " is %" PetscInt_FMT ", not %" PetscInt_FMT "\n", what, i, n,
                            copy[i], h[i]));
  }
  *wrong += bad;
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for values, up to tol of their size */
static inline PetscErrorCode SameScalars(const char what[], PetscInt n, const PetscScalar h[], const PetscScalar d[], PetscReal tol, PetscInt *wrong)
{
  PetscScalar *copy;
  PetscInt     bad = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &copy));
  if (n) PetscCall(PolderDeviceToHost(copy, d, sizeof(*copy) * (size_t)n));
  for (PetscInt i = 0; i < n; ++i) {
    if (!(PetscAbsScalar(copy[i] - h[i]) <= tol * (1 + PetscAbsScalar(h[i]))) && !bad++)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: entry %" PetscInt_FMT " of %" PetscInt_FMT " is %g, not %g\n", what, i, n, (double)PetscRealPart(copy[i]),
                            (double)PetscRealPart(h[i])));
  }
  *wrong += bad;
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state of an iteration that has no sums yet; rho of the step before is 3 */
static inline PetscErrorCode StateCreate(PolderCGState **state)
{
  PolderCGState start = {
    .rhoold = 3, .sum = {NAN, NAN, NAN}
  };

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMalloc(sizeof(start) + POLDER_CG_RING * sizeof(PetscReal), state));
  start.ring = (volatile PetscReal *)(*state + 1);
  PetscCall(PolderDeviceFromHost(*state, &start, sizeof(start)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sum[1] and the next, n of them, and what follows from the first; rows: there are some, else nothing does */
static inline PetscErrorCode StateCheck(const PolderCGState *state, PetscInt n, const PetscScalar expected[], PetscReal tol, PetscBool rows, PetscInt *wrong)
{
  PolderCGState now;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceToHost(&now, state, sizeof(now)));
  *wrong += Wrong(n, &now.sum[1], expected, tol);
  if (rows) *wrong += now.rho != now.sum[1] || now.beta != now.rho / 3 || (now.frozen != 0) != (now.rho <= 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Report(const char *what, PetscInt wrong)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", what, wrong ? "WRONG" : "ok"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
