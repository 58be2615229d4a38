static const char help[] = "Device kernels against their host twins: awkward sizes, poisoned output.\n\n";

#include "devicetest.h"
#include "kernels/level.h"
#include "kernels/shadow.h"
#include "kernels/vec.h"

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
    if (n) x[n / 2] = 0;
    PetscCall(PolderDeviceFromHost(xd, x, sizeof(*x) * (size_t)n));
    PolderReciprocal_Host(n, 0.5, x, y);
    PolderLaunch(PolderReciprocal_CUDA(n, 0.5, xd, yd, stream));
    PetscCall(PolderDeviceToHost(x, yd, sizeof(*x) * (size_t)n));
    wrong += Wrong(n, x, y, 0);
    PetscCall(PolderDeviceFree(&dotd));
    PetscCall(PolderDeviceFree(&xd));
    PetscCall(PolderDeviceFree(&yd));
    PetscCall(PetscFree(x));
    PetscCall(PetscFree(y));
  }
  PetscCall(Report("dot", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several at once: each is that of PolderDot_Host(), and nothing is written behind the last */
static PetscErrorCode TestDots(void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    const PetscInt     n = Sizes[s], shift = 7;
    const PetscScalar *yd[POLDER_DOTS];
    PetscScalar       *x, *xd, *dotsd, dots[POLDER_DOTS + 1], expected[POLDER_DOTS + 1];
    PolderDotsTo       to = {NULL, NULL};

    PetscCall(Random(n + shift * POLDER_DOTS, &x, &xd));
    PetscCall(PolderDeviceMalloc(sizeof(dots), &dotsd));
    to.dots = dotsd;
    for (PetscInt count = 0; count <= POLDER_DOTS; ++count) {
      for (int k = 0; k <= POLDER_DOTS; ++k) dots[k] = expected[k] = 3 + k;
      PetscCall(PolderDeviceFromHost(dotsd, dots, sizeof(dots)));
      for (PetscInt k = 0; k < count; ++k) {
        yd[k]       = xd + shift * k;
        expected[k] = PolderDot_Host(n, x, x + shift * k);
      }
      PolderLaunch(PolderDots_CUDA(n, count, xd, yd, &to, work, stream));
      PetscCall(PolderDeviceToHost(dots, dotsd, sizeof(dots)));
      wrong += Wrong(POLDER_DOTS + 1, dots, expected, 1e-14 * (n + 1));
    }
    PetscCall(PolderDeviceFree(&dotsd));
    PetscCall(PolderDeviceFree(&xd));
    PetscCall(PetscFree(x));
  }
  PetscCall(Report("dots", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Combinations of 0 to POLDER_TERMS vectors, also with no part of the old values, which are not numbers then; what follows their last entry stays as it is */
static PetscErrorCode TestCombine(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    const PetscInt n = Sizes[s], shift = 7;
    PetscScalar   *x, *xd, *y, *yd, *expected;

    PetscCall(Random(n + shift * POLDER_TERMS, &x, &xd));
    PetscCall(Random(n + 1, &y, &yd));
    PetscCall(PetscMalloc1(n + 1, &expected));
    PetscCall(PetscArraycpy(expected, y, n + 1));
    for (PetscInt count = 0; count <= POLDER_TERMS; ++count) {
      PolderTerms here = {.count = count, .own = count % 3 ? 1.25 - count % 2 : 0}, there = here;

      for (PetscInt k = 0; k < count; ++k) {
        here.x[k]  = x + shift * k;
        there.x[k] = xd + shift * k;
        here.a[k] = there.a[k] = (PetscScalar)(k - 9) / 32;
      }
      for (PetscInt i = 0; i < n && here.own == 0; ++i) y[i] = expected[i] = NAN;
      PetscCall(PolderDeviceFromHost(yd, y, sizeof(*y) * (size_t)(n + 1)));
      PolderCombine_Host(n, &here, expected);
      PolderLaunch(PolderCombine_CUDA(n, &there, yd, stream));
      PetscCall(PolderDeviceToHost(y, yd, sizeof(*y) * (size_t)(n + 1)));
      wrong += Wrong(n + 1, y, expected, 1e-11);
    }
    PetscCall(PolderDeviceFree(&yd));
    PetscCall(PolderDeviceFree(&xd));
    PetscCall(PetscFree(expected));
    PetscCall(PetscFree(y));
    PetscCall(PetscFree(x));
  }
  PetscCall(Report("combinations", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies to the host of all lengths around those that have a way of their own; what follows must stay as it is */
static PetscErrorCode TestToHost(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  enum {
    MOST = 300
  };
  unsigned char sent[MOST], got[MOST + 1];
  void         *there;
  PetscInt      wrong = 0;

  PetscFunctionBeginUser;
  for (int k = 0; k < MOST; ++k) sent[k] = (unsigned char)(37 * k + 11);
  PetscCall(PolderDeviceMalloc(MOST, &there));
  PetscCall(PolderDeviceFromHost(there, sent, MOST));
  for (size_t bytes = 0; bytes <= MOST; ++bytes) {
    memset(got, 0xEE, sizeof(got));
    PetscCall(PolderDeviceToHost(got, there, bytes));
    wrong += memcmp(got, sent, bytes) != 0 || got[bytes] != 0xEE;
  }
  PetscCall(PolderDeviceFree(&there));
  PetscCall(Report("to the host", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shadow space of idrs: the same numbers, to the last bit, with nothing written behind them */
static PetscErrorCode TestShadow(PETSC_UNUSED void *work, PolderStream stream)
{
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    const PetscInt n = Sizes[s], seed = 20081 + (PetscInt)s, column = (PetscInt)s, first = 1000003 * column;
    PetscScalar   *got, *expected, *there;

    PetscCall(Random(n + 1, &expected, &there));
    PetscCall(PetscMalloc1(n + 1, &got));
    PolderLaunch(PolderShadowFill_CUDA(seed, column, first, n, there, stream));
    PetscCall(PolderDeviceToHost(got, there, (n + 1) * sizeof(*got)));
    PolderShadowFill_Host(seed, column, first, n, expected);
    wrong += Wrong(n + 1, got, expected, 0);
    PetscCall(PolderDeviceFree(&there));
    PetscCall(PetscFree(got));
    PetscCall(PetscFree(expected));
  }
  PetscCall(Report("shadow", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps of conjugate gradients with their scalars on the device, against plain loops */
typedef struct {
  PetscScalar rr, rz, sumz, sumr;
} CGSums;

static CGSums Sums(PetscInt n, const PetscScalar r[], const PetscScalar z[], const PetscScalar dinv[])
{
  long double rr = 0, rz = 0, sumz = 0, sumr = 0;
  CGSums      s;

  for (PetscInt i = 0; i < n; ++i) {
    const PetscScalar zi = z ? z[i] * (dinv ? dinv[i] : 1) : 0;

    rr += r[i] * r[i];
    rz += r[i] * zi;
    sumz += zi;
    sumr += r[i];
  }
  s.rr   = (PetscScalar)rr;
  s.rz   = (PetscScalar)rz;
  s.sumz = (PetscScalar)sumz;
  s.sumr = (PetscScalar)sumr;
  return s;
}

/* The residual in single precision, rounded as the host does */
static PetscErrorCode CheckRounded(PetscInt n, const PetscScalar r[], const PolderCGRounded *rounded, PetscInt *wrong)
{
  float *got, *expected;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &got, n, &expected));
  PetscCall(PolderDeviceToHost(got, rounded->to, (size_t)n * sizeof(*got)));
  PolderLevelRound_Host(n, rounded->scale, r, expected);
  for (PetscInt i = 0; i < n; ++i) *wrong += got[i] != expected[i];
  PetscCall(PetscFree2(got, expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* more: with a diagonal z is dinv r, without one r is also rounded to single precision, into memory that is aligned to two values or is not */
static PetscErrorCode TestCGUpdate(PetscInt n, PetscBool diagonal, PetscBool more, PolderCGState *stated, PetscReal ring[], void *work, PolderStream stream,
                                   PetscInt *wrong)
{
  const PetscBool     jacobi = (PetscBool)(diagonal && more);
  PolderCGState       state  = {.rho = 0.7, .pw = 0.35, .tol = -1, .divtol = PETSC_INFINITY, .nullspace = 1, .N = n + 1};
  PolderCGReduction   to     = {.state = stated, .work = work};
  PetscScalar        *r, *w, *d, *rd, *wd, *dd, *got;
  volatile PetscReal *devicering;
  CGSums              s;
  PetscReal           eps     = 1e-14 * (n + 1);
  PolderCGRounded     rounded = {.scale = 0.3};
  float              *there   = NULL;

  PetscFunctionBeginUser;
  PetscCall(Random(n, &r, &rd));
  PetscCall(Random(n, &w, &wd));
  PetscCall(Random(n, &d, &dd));
  PetscCall(PetscMalloc1(n, &got));
  PetscCall(PolderDeviceToHost(&devicering, &stated->ring, sizeof(devicering)));
  state.ring = devicering;
  PetscCall(PolderDeviceFromHost(stated, &state, sizeof(state)));
  ring[0] = NAN;
  if (more && !diagonal) {
    PetscCall(PolderDeviceMalloc(sizeof(*there) * (size_t)(n + 1), &there));
    rounded.to = there + n % 4 / 2;
  }
  PolderLaunch(PolderCGUpdate_CUDA(n, wd, rd, diagonal, jacobi ? dd : NULL, more ? &rounded : NULL, &to, stream));
  PetscCall(PolderDeviceToHost(got, rd, n * sizeof(*got)));
  PetscCall(PolderDeviceToHost(&state, stated, sizeof(state)));
  for (PetscInt i = 0; i < n; ++i) r[i] -= 2.0 * w[i];
  s = Sums(n, r, diagonal ? r : NULL, jacobi ? d : NULL);
  if (there) PetscCall(CheckRounded(n, got, &rounded, wrong));
  PetscCall(PolderDeviceFree(&there));
  *wrong += Wrong(n, got, r, 1e-15) + !(PetscAbsReal(ring[0] - PetscSqrtReal(s.rr)) <= eps) + !(PetscAbsScalar(state.alpha - 2.0) <= 1e-15) + (state.its != 1);
  if (diagonal && n > 2) { /* with the mean of z removed; beta = rho / 0.7, unless rho <= 0 froze the state */
    const PetscScalar mean = s.sumz / (n + 1), rho = s.rz - mean * s.sumr;

    *wrong += !(PetscAbsScalar(state.mean - mean) <= eps) + !(PetscAbsScalar(state.rho - rho) <= eps) + !(PetscAbsScalar(state.beta - rho / 0.7) <= 2 * eps) +
              ((state.frozen == POLDER_CG_INDEFINITE_PC) != (rho <= 0));
  }
  PetscCall(PolderDeviceFree(&rd));
  PetscCall(PolderDeviceFree(&wd));
  PetscCall(PolderDeviceFree(&dd));
  PetscCall(PetscFree(got));
  PetscCall(PetscFree(r));
  PetscCall(PetscFree(w));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parts of z on the device: z itself in single precision, and a correction so small that rounded z would lose it; z becomes what they add up to */
static PetscErrorCode PartsCreate(PetscInt n, PetscScalar z[], const PetscScalar small[], PolderCGParts *parts)
{
  float *part[2], *there[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) {
    PetscCall(PetscMalloc1(n, &part[k]));
    for (PetscInt i = 0; i < n; ++i) part[k][i] = (float)(k ? 1e-6 * small[i] : z[i]);
    PetscCall(PolderDeviceUpload(sizeof(float) * (size_t)n, part[k], &there[k]));
  }
  *parts = (PolderCGParts){there[0], there[1], 0.5};
  for (PetscInt i = 0; i < n; ++i) z[i] = 0.5 * ((PetscScalar)part[0][i] + part[1][i]);
  for (int k = 0; k < 2; ++k) PetscCall(PetscFree(part[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* from: 0 z, 1 dinv z, 2 the parts of z */
static PetscErrorCode TestCGDirection(PetscInt n, PetscBool first, int from, PolderCGState *stated, PolderStream stream, PetscInt *wrong)
{
  const PetscInt    shift = (from == 2) == first; /* x is aligned to two values or is not */
  PolderCGState     state = {.alpha = 0.5, .beta = 0.25, .mean = 0.125};
  PolderCGDirection direction;
  PolderCGParts     parts = {0};
  PetscScalar      *z, *d, *p, *x, *zd, *dd, *pd, *xd, *got, *shifted;

  PetscFunctionBeginUser;
  PetscCall(Random(n, &z, &zd));
  PetscCall(Random(n, &d, &dd));
  PetscCall(Random(n, &p, &pd));
  PetscCall(Random(n + 1, &x, &shifted));
  xd = shifted + shift;
  if (from == 2) PetscCall(PartsCreate(n, z, d, &parts));
  PetscCall(PetscMalloc1(n, &got));
  PetscCall(PolderDeviceToHost((void *)&state.ring, &stated->ring, sizeof(state.ring)));
  PetscCall(PolderDeviceFromHost(stated, &state, sizeof(state)));
  direction = (PolderCGDirection){.n = n, .first = first, .z = from == 2 ? NULL : zd, .dinv = from == 1 ? dd : NULL, .parts = parts, .p = pd, .x = xd};
  PolderLaunch(PolderCGDirection_CUDA(&direction, stated, stream));
  PetscCall(PolderDeviceToHost(got, xd, n * sizeof(*got)));
  for (PetscInt i = 0; i < n; ++i) {
    PetscScalar *xi = &x[i + shift];

    *xi += first ? 0 : 0.5 * p[i];
    *wrong += !(PetscAbsScalar(got[i] - *xi) <= 1e-15);
    p[i] = (from == 1 ? d[i] * z[i] : z[i]) - 0.125 + (first ? 0 : 0.25 * p[i]);
  }
  PetscCall(PolderDeviceToHost(got, pd, n * sizeof(*got)));
  *wrong += Wrong(n, got, p, 1e-15);
  PolderLaunch(PolderCGFinish_CUDA(n, pd, xd, stated, stream));
  for (PetscInt i = 0; i < n; ++i) x[i + shift] += 0.5 * p[i];
  PetscCall(PolderDeviceToHost(got, xd, n * sizeof(*got)));
  PetscCall(PolderDeviceToHost(&state, stated, sizeof(state)));
  *wrong += Wrong(n, got, x + shift, 1e-15) + (state.alpha != 0);
  PetscCall(PolderDeviceFree(&parts.base));
  PetscCall(PolderDeviceFree(&parts.correction));
  PetscCall(PolderDeviceFree(&zd));
  PetscCall(PolderDeviceFree(&dd));
  PetscCall(PolderDeviceFree(&pd));
  PetscCall(PolderDeviceFree(&shifted));
  PetscCall(PetscFree(got));
  PetscCall(PetscFree(z));
  PetscCall(PetscFree(d));
  PetscCall(PetscFree(p));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCGRho(PetscInt n, PetscBool jacobi, PolderCGState *stated, void *work, PolderStream stream, PetscInt *wrong)
{
  PolderCGState     state = {.rhoold = 0.5, .N = n + 1, .nullspace = 1};
  PolderCGReduction to    = {.state = stated, .work = work};
  PetscScalar      *r, *z, *d, *rd, *zd, *dd, mean;
  PetscReal         eps = 1e-14 * (n + 1);
  CGSums            s;

  PetscFunctionBeginUser;
  PetscCall(Random(n, &r, &rd));
  PetscCall(Random(n, &z, &zd));
  PetscCall(Random(n, &d, &dd));
  PetscCall(PolderDeviceToHost((void *)&state.ring, &stated->ring, sizeof(state.ring)));
  PetscCall(PolderDeviceFromHost(stated, &state, sizeof(state)));
  PolderLaunch(PolderCGRho_CUDA(n, rd, zd, jacobi ? dd : NULL, PETSC_FALSE, &to, stream));
  PetscCall(PolderDeviceToHost(&state, stated, sizeof(state)));
  s    = Sums(n, r, z, jacobi ? d : NULL);
  mean = s.sumz / (n + 1);
  *wrong += !(PetscAbsScalar(state.rho - (s.rz - mean * s.sumr)) <= eps) + !(PetscAbsScalar(state.mean - mean) <= eps);
  state.frozen   = 0; /* rho may have been negative */
  state.parallel = 1;
  PetscCall(PolderDeviceFromHost(stated, &state, sizeof(state)));
  PolderLaunch(PolderCGRho_CUDA(n, rd, zd, NULL, PETSC_TRUE, &to, stream));
  PetscCall(PolderDeviceToHost(&state, stated, sizeof(state)));
  s = Sums(n, r, z, NULL);
  *wrong += !(PetscAbsScalar(state.sum[1] - s.rz) <= eps) + !(PetscAbsScalar(state.sum[2] - s.sumz) <= eps) + !(PetscAbsScalar(state.sum[3] - s.sumr) <= eps);
  PetscCall(PolderDeviceFree(&rd));
  PetscCall(PolderDeviceFree(&zd));
  PetscCall(PolderDeviceFree(&dd));
  PetscCall(PetscFree(r));
  PetscCall(PetscFree(z));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCG(void *work, PolderStream stream)
{
  PolderCGState *stated, state = {0};
  PetscReal     *ring, *devicering;
  PetscInt       wrong[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMallocShared(POLDER_CG_RING * sizeof(*ring), &ring, &devicering));
  PetscCall(PolderDeviceMalloc(sizeof(*stated), &stated));
  state.ring = devicering;
  PetscCall(PolderDeviceFromHost(stated, &state, sizeof(state)));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++s) {
    for (int form = 0; form < 4; ++form) {
      const PetscBool one = (PetscBool)(form & 1), two = (PetscBool)(form >> 1);

      PetscCall(TestCGUpdate(Sizes[s], one, two, stated, ring, work, stream, &wrong[0]));
      PetscCall(TestCGDirection(Sizes[s], one, two, stated, stream, &wrong[1]));
      if (two) PetscCall(TestCGDirection(Sizes[s], one, 2, stated, stream, &wrong[1]));
      PetscCall(TestCGRho(Sizes[s], one, stated, work, stream, &wrong[2]));
    }
  }
  PetscCall(PolderDeviceFree(&stated));
  PetscCall(PolderDeviceFreeShared(&ring));
  PetscCall(Report("cg update", wrong[0]));
  PetscCall(Report("cg direction and finish", wrong[1]));
  PetscCall(Report("cg rho", wrong[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestDot, TestDots, TestCombine, TestToHost, TestShadow, TestCG}
};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck initcheck
    requires: cuda

TEST*/
