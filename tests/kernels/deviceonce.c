static const char help[] = "Conjugate gradients with one reduction a step: vectors, sums and scalars on the device against the host kernels.\n\n";

#include "devicetest.h"
#include "core/place.h"
#include "kernels/cgonce.h"

enum {
  V,
  DINV,
  Z,
  P,
  W,
  X,
  R,
  VECTORS
};

/* A state in the middle of an iteration, and the same with its ring on the device */
static PolderCGState Middle(PetscInt n)
{
  return (PolderCGState){.rho       = 0.7,
                         .pw        = 0.35,
                         .alpha     = 0.5,
                         .beta      = -0.25,
                         .mean      = 0.125,
                         .rmean     = 0.0625,
                         .energy    = 0.01,
                         .tol       = -1,
                         .divtol    = PETSC_INFINITY,
                         .its       = 3,
                         .N         = n + 1,
                         .nullspace = 1};
}

/* form 0: z is stored, 1: z = r, 2: z = dinv r */
static PetscErrorCode TestStep(PetscInt n, PetscBool first, int form, void *work, PolderStream stream, PetscInt *wrong)
{
  PolderCGOnce  host = {.n = n}, there = {.n = n};
  PolderCGState state = Middle(n), *stated;
  PetscScalar  *v[VECTORS], *vd[VECTORS], *got, sum[POLDER_ONCE_SUMS];

  PetscFunctionBeginUser;
  for (int k = 0; k < VECTORS; ++k) PetscCall(Random(n, &v[k], &vd[k]));
  PetscCall(PetscMalloc1(n, &got));
  host  = (PolderCGOnce){.n = n, .v = v[V], .dinv = form == 2 ? v[DINV] : NULL, .z = form == 1 ? NULL : v[Z], .p = v[P], .w = v[W], .x = v[X], .r = v[R]};
  there = (PolderCGOnce){.n    = n,
                         .v    = vd[V],
                         .dinv = form == 2 ? vd[DINV] : NULL,
                         .z    = form == 1 ? NULL : vd[Z],
                         .p    = vd[P],
                         .w    = vd[W],
                         .x    = vd[X],
                         .r    = vd[R]};
  PetscCall(PolderDeviceUpload(sizeof(state), &state, &stated));
  PolderLaunch(PolderCGOnceStep_CUDA(&there, first, (PetscBool)(form > 0), stated, work, stream));
  if (!form) PolderLaunch(PolderCGOnceSums_CUDA(&there, stated, work, stream));
  PolderCGOnceStep_Host(&host, first, &state);
  if (form == 1) host.z = v[R];
  PolderCGOnceSums_Host(&host, sum);
  for (int k = 0; k < VECTORS; ++k) {
    PetscCall(PolderDeviceToHost(got, vd[k], sizeof(*got) * (size_t)n));
    *wrong += Wrong(n, got, v[k], 1e-15);
  }
  PetscCall(PolderDeviceToHost(&state, stated, sizeof(state)));
  *wrong += Wrong(POLDER_ONCE_ZV, state.sum, sum, 4e-15 * (n + 1));
  state.frozen = POLDER_CG_TOLERANCE; // nothing is done any more
  state.sum[0] = 7;
  PetscCall(PolderDeviceFromHost(stated, &state, sizeof(state)));
  PolderLaunch(PolderCGOnceStep_CUDA(&there, first, PETSC_TRUE, stated, work, stream));
  PetscCall(PolderDeviceToHost(got, vd[R], sizeof(*got) * (size_t)n));
  PetscCall(PolderDeviceToHost(&state, stated, sizeof(state)));
  *wrong += Wrong(n, got, v[R], 1e-15) + (state.sum[0] != 7);
  for (int k = 0; k < VECTORS; ++k) {
    PetscCall(PolderDeviceFree(&vd[k]));
    PetscCall(PetscFree(v[k]));
  }
  PetscCall(PolderDeviceFree(&stated));
  PetscCall(PetscFree(got));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSteps(void *work, PolderStream stream)
{
  static const PetscInt sizes[] = {0, 1, 31, 32, 33, 255, 1000, 4097, 700001};
  PetscInt              wrong   = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes) - (small ? 1 : 0); ++s) {
    for (int form = 0; form < 3; ++form) {
      PetscCall(TestStep(sizes[s], PETSC_FALSE, form, work, stream, &wrong));
      PetscCall(TestStep(sizes[s], PETSC_TRUE, form, work, stream, &wrong));
    }
  }
  PetscCall(Report("steps with one reduction", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scalars and the norm from given sums; expected: what stops the iteration */
static PetscErrorCode TestAdvance(const PetscScalar sum[POLDER_ONCE_DEVICE], PetscBool first, PetscBool told, PetscReal tol, int expected, PolderStream stream,
                                  PetscInt *wrong)
{
  PolderCGState state = Middle(100), *stated, got;
  PetscReal    *ring, *devicering;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMallocShared(POLDER_CG_RING * sizeof(*ring), &ring, &devicering));
  for (int k = 0; k < POLDER_CG_RING; ++k) ring[k] = NAN;
  for (int k = 0; k < POLDER_ONCE_DEVICE; ++k) state.sum[k] = sum[k];
  state.tol  = tol;
  state.ring = devicering;
  PetscCall(PolderDeviceUpload(sizeof(state), &state, &stated));
  PolderLaunch(PolderCGOnceAdvance_CUDA(NULL, first, told, stated, stream));
  PetscCall(PolderDeviceToHost(&got, stated, sizeof(got)));
  *wrong += got.frozen != expected;
  *wrong += got.its != (first || told ? 3 : 4);
  if (!first && !told) *wrong += !(PetscAbsReal(ring[3] - PetscSqrtReal(sum[0])) <= 1e-15);
  if (expected == POLDER_CG_INDEFINITE_MAT || expected == POLDER_CG_INDEFINITE_PC) *wrong += ring[got.its] != -expected;
  if (expected == POLDER_CG_RUNNING) {
    const PetscScalar mean = sum[2] / 101, rho = sum[1] - mean * sum[3], beta = first ? 0 : rho / 0.7, pw = sum[4] - 0.01 - beta * beta * 0.35;

    *wrong += !(PetscAbsScalar(got.rho - rho) <= 1e-15) + !(PetscAbsScalar(got.beta - beta) <= 1e-15) + !(PetscAbsScalar(got.pw - pw) <= 1e-14) +
              !(PetscAbsScalar(got.alpha - rho / pw) <= 1e-13) + !(PetscAbsScalar(got.mean - mean) <= 1e-15) + (got.lastalpha != 0.5) + (got.rhoold != 0.7);
    PolderCGOnceUndo(&got);
    *wrong += got.rho != 0.7 || got.pw != 0.35 || got.alpha != 0.5 || got.beta != -0.25;
  }
  PetscCall(PolderDeviceFree(&stated));
  PetscCall(PolderDeviceFreeShared(&ring));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestScalars(PETSC_UNUSED void *work, PolderStream stream)
{
  const PetscScalar good[] = {0.04, 0.3, 0.2, 0.1, 0.9}, negative[] = {0.04, -0.3, 0, 0, 0.9}, indefinite[] = {0.04, 0.3, 0, 0, 0.001};
  PetscInt          wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(TestAdvance(good, PETSC_FALSE, PETSC_FALSE, -1, POLDER_CG_RUNNING, stream, &wrong));
  PetscCall(TestAdvance(good, PETSC_TRUE, PETSC_FALSE, -1, POLDER_CG_RUNNING, stream, &wrong));
  PetscCall(TestAdvance(good, PETSC_FALSE, PETSC_TRUE, 1, POLDER_CG_RUNNING, stream, &wrong));
  PetscCall(TestAdvance(good, PETSC_FALSE, PETSC_FALSE, 0.3, POLDER_CG_TOLERANCE, stream, &wrong));
  PetscCall(TestAdvance(negative, PETSC_FALSE, PETSC_FALSE, -1, POLDER_CG_INDEFINITE_PC, stream, &wrong));
  PetscCall(TestAdvance(indefinite, PETSC_FALSE, PETSC_FALSE, -1, POLDER_CG_INDEFINITE_MAT, stream, &wrong));
  PetscCall(Report("scalars with one reduction", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestSteps, TestScalars}
};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda

TEST*/
