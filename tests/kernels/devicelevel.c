static const char help[] = "Device kernels of the levels of PC pamg against their host twins, and its cycle on the device against that on the host.\n\n";

#include "devicelevel/level.h"
#include "kernels/levelscalars.h"

/* Calls a host kernel in the precision of L; IN and OUT are values of v */
#define HOST(L, stem, ...) \
  do { \
    if ((L)->single) { \
      typedef float value; \
      stem##Single_Host(__VA_ARGS__); \
    } else { \
      typedef PetscScalar value; \
      stem##_Host(__VA_ARGS__); \
    } \
  } while (0)
/* The same for a kernel that reads the matrix */
#define EACH(L, stem, ...) \
  do { \
    if ((L)->host.bfloat) { \
      typedef float value; \
      stem##Half_Host(__VA_ARGS__); \
    } else HOST(L, stem, __VA_ARGS__); \
  } while (0)
#define IN(v)  ((const value *)(v).host)
#define OUT(v) ((value *)(v).host)

static PetscErrorCode Tell(const char what[], const Level *L, PetscInt before, PetscInt wrong)
{
  PetscFunctionBeginUser;
  if (wrong > before)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " wrong with %" PetscInt_FMT " rows, %" PetscInt_FMT " diagonals%s\n", what, wrong - before,
                          L->n, L->host.nd,
                          L->host.bfloat ? ", half"
                          : L->single    ? ", single"
                                         : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many terms a row has, for the tolerances */
static PetscReal Terms(const Level *L)
{
  return 4 + (L->host.nd ? L->host.nd : L->n ? 2 * L->host.nz / L->n : 1);
}

/* A step whose result is in double precision: so small a one that rounded it would be lost, of x itself or of a correction of x that is as
   small; y stays as it is */
static PetscErrorCode CheckWide(const Level *L, const Values *b, const Values *x, const Values *y, PolderStream stream, PetscInt *wrong)
{
  PolderLevelStep step = {.k = 1, .beta = 1e-5, .scale = 1e-5}, host;
  Values          z, w = *x;

  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(PETSC_FALSE, L->n, &z));
  step.end.wide = (PetscScalar *)z.device;
  step.end.unit = 0.25;
  for (int zero = 0; zero < 2; ++zero) {
    step.zero  = (PetscBool)zero;
    step.start = 1e-5;
    if (zero) { // x_1 = start D^-1 b
      step.end.base = x->device;
      PetscCall(ValuesCreate(PETSC_TRUE, L->n, &w));
      PolderLevelScaleSingle_Host(L->n, (float)step.start, (const float *)L->host.dinv, (const float *)b->host, (float *)w.host);
    }
    PetscCall(Poison(&z));
    host          = step;
    host.end.base = zero ? x->host : NULL;
    host.end.wide = (PetscScalar *)z.host;
    EACH(L, PolderLevelJacobi, &L->host, &host, IN(*b), IN(w), OUT(*y));
    PolderLaunch(PolderLevelJacobi_CUDA(PETSC_TRUE, &L->device, &step, b->device, zero ? NULL : x->device, y->device, NULL, NULL, stream));
    PetscCall(Differ(&z, L->n, 1e3 * Terms(L), wrong));
    PetscCall(Differ(y, L->n, 0, wrong));
    for (PetscInt i = 0; i < L->n; ++i) *wrong += !(PetscAbsScalar(4 * Get(&z, i) - Get(x, i)) <= 1e-4 * Terms(L));
    if (zero) PetscCall(ValuesDestroy(&w));
  }
  PetscCall(ValuesDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step that leaves its result in parts, with (r, z) and sum z: what it would store in double precision, of x itself and of a correction of x */
static PetscErrorCode CheckParts(const Level *L, const Values *b, const Values *x, PolderStream stream, PetscInt *wrong)
{
  PolderLevelStep step = {.start = 0.8, .beta = 0.3, .scale = 0.7}, host;
  Values          r, y, z, begun;
  PolderCGState  *state;
  void           *work;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(ValuesCreate(PETSC_FALSE, L->n, &r));
  PetscCall(ValuesCreate(PETSC_FALSE, L->n, &z));
  PetscCall(ValuesCreate(PETSC_TRUE, L->n, &y));
  PetscCall(ValuesCreate(PETSC_TRUE, L->n, &begun));
  PetscCall(Fill(&r));
  PolderLevelScaleSingle_Host(L->n, (float)step.start, (const float *)L->host.dinv, (const float *)b->host, (float *)begun.host);
  step.end.unit = 0.5;
  for (int zero = 0; zero < 2; ++zero) {
    PetscScalar sum[2] = {0, 0};

    PetscCall(StateCreate(&state));
    step.k         = zero;
    step.zero      = (PetscBool)zero;
    step.end.base  = zero ? x->device : NULL;
    step.end.r     = NULL;
    step.end.parts = PETSC_FALSE;
    step.end.wide  = (PetscScalar *)z.device;
    PolderLaunch(PolderLevelJacobi_CUDA(PETSC_TRUE, &L->device, &step, b->device, zero ? NULL : x->device, y.device, work, NULL, stream));
    PetscCall(PolderDeviceToHost(z.host, z.device, sizeof(PetscScalar) * (size_t)L->n));
    host           = step;
    host.end.wide  = NULL;
    host.end.parts = PETSC_TRUE;
    step.end       = host.end;
    host.end.base  = zero ? x->host : NULL;
    step.end.r     = (const PetscScalar *)r.device;
    step.end.rho   = (PolderCGRho){state, PETSC_FALSE};
    PetscCall(Poison(&y));
    EACH(L, PolderLevelJacobi, &L->host, &host, IN(*b), IN(zero ? begun : *x), OUT(y));
    PolderLaunch(PolderLevelJacobi_CUDA(PETSC_TRUE, &L->device, &step, b->device, zero ? NULL : x->device, y.device, work, NULL, stream));
    PetscCall(Differ(&y, L->n, Terms(L), wrong));
    PetscCall(PolderDeviceToHost(y.host, y.device, sizeof(float) * (size_t)L->n));
    for (PetscInt i = 0; i < L->n; ++i) {
      *wrong += !(PetscAbsScalar(0.5 * (Get(x, i) + Get(&y, i)) - Get(&z, i)) <= 1e-6 * PetscAbsScalar(Get(&y, i)));
      sum[0] += Get(&r, i) * 0.5 * (Get(x, i) + Get(&y, i));
      sum[1] += 0.5 * (Get(x, i) + Get(&y, i));
    }
    PetscCall(StateCheck(state, 2, sum, 1e-12 * (PetscReal)(1 + L->n), (PetscBool)(L->n > 0), wrong));
    PetscCall(PolderDeviceFree(&state));
  }
  PetscCall(ValuesDestroy(&r));
  PetscCall(ValuesDestroy(&z));
  PetscCall(ValuesDestroy(&y));
  PetscCall(ValuesDestroy(&begun));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step that also brings (r, z) and sum z of its result z, stored in the precision of the level or in double precision */
static PetscErrorCode CheckRho(const Level *L, const Values *b, const Values *x, PolderStream stream, PetscInt *wrong)
{
  PolderLevelStep step = {.start = 0.8, .beta = 0.3, .scale = 0.7};
  PolderCGState   state, begun = {.N = PetscMax(L->n, 1), .nullspace = 1, .rhoold = 2};
  Values          r, z;
  PetscReal      *ring; // where a breakdown is told
  void           *there, *work;

  PetscFunctionBeginUser;
  begun.sum[3] = 3;
  PetscCall(PolderDeviceMalloc(sizeof(*ring) * POLDER_CG_RING, &ring));
  begun.ring = ring;
  PetscCall(ValuesCreate(PETSC_FALSE, L->n, &r));
  PetscCall(Fill(&r));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PolderDeviceMalloc(sizeof(state), &there));
  step.end.r         = (const PetscScalar *)r.device;
  step.end.rho.state = (PolderCGState *)there;
  for (int wide = 0; wide < (L->single ? 2 : 1); ++wide) {
    for (int zero = 0; zero < 2; ++zero) {
      PetscScalar sum[2] = {0, 0}, mean;

      PetscCall(ValuesCreate((PetscBool)(L->single && !wide), L->n, &z));
      step.k        = zero;
      step.zero     = (PetscBool)zero;
      step.end.wide = wide ? (PetscScalar *)z.device : NULL;
      step.end.unit = wide ? 2 : 1;
      PetscCall(PolderDeviceFromHost(there, &begun, sizeof(begun)));
      PolderLaunch(PolderLevelJacobi_CUDA(L->single, &L->device, &step, b->device, zero ? NULL : x->device, z.device, work, NULL, stream));
      PetscCall(PolderDeviceToHost(z.host, z.device, (L->single && !wide ? sizeof(float) : sizeof(PetscScalar)) * (size_t)L->n));
      PetscCall(PolderDeviceToHost(&state, there, sizeof(state)));
      for (PetscInt i = 0; i < L->n; ++i) {
        sum[0] += Get(&r, i) * Get(&z, i);
        sum[1] += Get(&z, i);
      }
      mean = sum[1] / (PetscReal)begun.N;
      *wrong += L->n && !(PetscAbsScalar(state.sum[1] - sum[0]) <= 1e-12 * (PetscReal)L->n);
      *wrong += L->n && !(PetscAbsScalar(state.sum[2] - sum[1]) <= 1e-12 * (PetscReal)L->n);
      *wrong += L->n && !(PetscAbsScalar(state.rho - (sum[0] - 3 * mean)) <= 1e-12 * (PetscReal)L->n);
      PetscCall(ValuesDestroy(&z));
    }
  }
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PolderDeviceFree(&ring));
  PetscCall(ValuesDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSteps(const Level *L, PolderStream stream, PetscInt *wrong)
{
  const PetscInt before = *wrong;
  Values         b, x, y;

  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(L->single, L->n, &b));
  PetscCall(ValuesCreate(L->single, L->n, &x));
  PetscCall(ValuesCreate(L->single, L->n, &y));
  PetscCall(Fill(&b));
  for (int zero = 0; zero < 2; ++zero) {
    for (PetscInt k = zero; k < 4; ++k) {
      for (int plain = k ? 0 : 1; plain < 2; ++plain) {
        const PolderLevelStep step = {.k = k, .zero = (PetscBool)zero, .start = 0.8, .beta = plain ? 0 : 0.3, .scale = 0.7};

        PetscCall(Fill(&x));
        PetscCall(Fill(&y));
        if (zero && k == 1) {
          PetscCall(Poison(&x));
          HOST(L, PolderLevelScale, L->n, (value)step.start, IN(L->dinv), IN(b), OUT(x));
        }
        if (plain || (zero && k < 3)) PetscCall(Poison(&y));
        if (zero && k == 2) HOST(L, PolderLevelScale, L->n, (value)step.start, IN(L->dinv), IN(b), OUT(y));
        EACH(L, PolderLevelJacobi, &L->host, &step, IN(b), IN(x), OUT(y));
        PolderLaunch(PolderLevelJacobi_CUDA(L->single, &L->device, &step, b.device, zero && k == 1 ? NULL : x.device, y.device, NULL, NULL, stream));
        PetscCall(Differ(&y, L->n, Terms(L), wrong));
        PetscCall(Tell("step", L, before, *wrong));
      }
    }
  }
  PetscCall(Fill(&x));
  PetscCall(CheckRho(L, &b, &x, stream, wrong));
  PetscCall(Tell("step with rho", L, before, *wrong));
  if (L->single) {
    PetscCall(Fill(&y));
    PetscCall(CheckWide(L, &b, &x, &y, stream, wrong));
    PetscCall(Tell("step in double precision", L, before, *wrong));
    PetscCall(CheckParts(L, &b, &x, stream, wrong));
    PetscCall(Tell("step in parts", L, before, *wrong));
  }
  PetscCall(Poison(&x));
  HOST(L, PolderLevelScale, L->n, (value)0.8, IN(L->dinv), IN(b), OUT(x));
  PolderLaunch(PolderLevelScale_CUDA(L->single, &L->device, 0.8, b.device, x.device, stream));
  PetscCall(Differ(&x, L->n, 2, wrong));
  PetscCall(Tell("first step", L, before, *wrong));
  PetscCall(ValuesDestroy(&b));
  PetscCall(ValuesDestroy(&x));
  PetscCall(ValuesDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* row[*m] <- some rows of which no entry joins two, as those of a colour, from the last on */
static PetscErrorCode Independent(const Level *L, PetscInt row[], PetscInt *m)
{
  const PolderLevelMatrix *A = &L->host;
  char                    *read; // 1: by a row that is taken; 2: it is taken itself

  PetscFunctionBeginUser;
  *m = 0;
  PetscCall(PetscCalloc1(L->n, &read));
  for (PetscInt i = L->n - 1; i >= 0; --i) {
    PetscBool free = (PetscBool)!read[i];

    for (int take = 0; take < 2 && free; ++take) {
      for (PetscInt k = A->nd ? 0 : A->ai[i]; k < (A->nd ? A->nd : A->ai[i + 1]); ++k) {
        const PetscInt j = A->nd ? i + A->off[k] : A->aj[k];

        if (j < 0 || j >= L->n || j == i) continue;
        if (take) read[j] |= 1;
        else if (read[j] & 2) free = PETSC_FALSE;
      }
    }
    if (!free) continue;
    read[i] |= 2;
    row[(*m)++] = i;
  }
  PetscCall(PetscFree(read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A colour of a Gauss-Seidel sweep, also of no rows, and how a sweep begins */
static PetscErrorCode CheckColours(const Level *L, PolderStream stream, PetscInt *wrong)
{
  const PetscInt before = *wrong;
  PetscInt      *row, *row_d, m;
  Values         b, x;

  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(L->single, L->n, &b));
  PetscCall(ValuesCreate(L->single, L->n, &x));
  PetscCall(Fill(&b));
  PetscCall(Fill(&x));
  PetscCall(PetscMalloc1(L->n, &row));
  PetscCall(Independent(L, row, &m));
  PetscCall(PolderDeviceUpload(sizeof(*row) * (size_t)m, row, &row_d));
  for (PetscInt n = m; n >= 0; n = n ? n / 2 : -1) {
    EACH(L, PolderLevelColour, &L->host, n, row, IN(b), OUT(x));
    PolderLaunch(PolderLevelColour_CUDA(L->single, &L->device, n, row_d, b.device, x.device, stream));
    PetscCall(Differ(&x, L->n, Terms(L), wrong));
    PetscCall(Tell("colour", L, before, *wrong));
  }
  PetscCall(PolderDeviceFree(&row_d));
  for (PetscInt i = 0; i < L->n; ++i) row[i] = (i + 5) % L->n;
  PetscCall(PolderDeviceUpload(sizeof(*row) * (size_t)L->n, row, &row_d));
  for (int k = 0; k < 3; ++k) {
    const PetscInt first = k == 0 ? 0 : k == 1 ? L->n / 2 : L->n;

    PetscCall(Poison(&x));
    HOST(L, PolderLevelColourFirst, &L->host, first, row, IN(b), OUT(x));
    PolderLaunch(PolderLevelColourFirst_CUDA(L->single, &L->device, first, row_d, b.device, x.device, stream));
    PetscCall(Differ(&x, L->n, 2, wrong));
    PetscCall(Tell("first colour", L, before, *wrong));
  }
  PetscCall(PetscFree(row));
  PetscCall(PolderDeviceFree(&row_d));
  PetscCall(ValuesDestroy(&b));
  PetscCall(ValuesDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckTransfers(const Level *L, PolderStream stream, PetscInt *wrong)
{
  const PolderAggregates P      = {.m = L->n, .n = L->nc, .ptr = L->ptrd, .row = L->rowd};
  const PetscInt         before = *wrong;
  PetscInt               most   = 0;
  Values                 b, x, r, bc;

  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(L->single, L->n, &b));
  PetscCall(ValuesCreate(L->single, L->n, &x));
  PetscCall(ValuesCreate(L->single, L->n, &r));
  PetscCall(ValuesCreate(L->single, L->nc + 1, &bc));
  PetscCall(Fill(&b));
  PetscCall(Fill(&x));
  PetscCall(Poison(&r));
  PetscCall(Poison(&bc));
  EACH(L, PolderLevelResidual, &L->host, IN(b), IN(x), OUT(r), L->agg, L->nc, OUT(bc));
  Set(&bc, L->nc, 0); // nobody uses it, but it is a number
  for (PetscInt a = 0; a < L->nc; ++a) most = PetscMax(most, L->ptr[a + 1] - L->ptr[a]);
  PolderLaunch(PolderLevelResidual_CUDA(L->single, &L->device, b.device, x.device, r.device, NULL, NULL, NULL, stream));
  PetscCall(Differ(&r, L->n, Terms(L), wrong));
  PolderLaunch(PolderLevelResidual_CUDA(L->single, &L->device, b.device, x.device, b.device, NULL, NULL, NULL, stream)); // in place
  PetscCall(PolderDeviceToDevice(r.device, b.device, Size(L->single) * (size_t)L->n));
  PetscCall(Differ(&r, L->n, Terms(L), wrong));
  PetscCall(Tell("residual", L, before, *wrong));
  PetscCall(ToDevice(&b));
  PolderLaunch(PolderLevelResidual_CUDA(L->single, &L->device, b.device, x.device, NULL, &P, bc.device, NULL, stream));
  PetscCall(Differ(&bc, L->nc + 1, Terms(L) * (most + 1), wrong));
  PetscCall(Tell("restriction", L, before, *wrong));
  HOST(L, PolderLevelProlong, L->n, L->agg, (value)1.7, IN(bc), OUT(x));
  Set(&bc, L->nc, NAN);
  PetscCall(ToDevice(&bc));
  PolderLaunch(PolderLevelProlong_CUDA(L->single, L->n, L->aggd, L->nc, 1.7, bc.device, x.device, stream));
  PetscCall(Differ(&x, L->n, 2, wrong));
  PetscCall(Tell("prolongation", L, before, *wrong));
  PetscCall(ValuesDestroy(&b));
  PetscCall(ValuesDestroy(&x));
  PetscCall(ValuesDestroy(&r));
  PetscCall(ValuesDestroy(&bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products and sums, and what a K-cycle does with them: with two steps, with one, and with nothing to scale by */
static PetscErrorCode CheckKCycle(const Level *L, void *work, PolderStream stream, PetscInt *wrong)
{
  const PetscReal thresholds[] = {0, 1e10}, tol = (L->single ? 1e-6 : 1e-13) * Terms(L) * (L->n + 1);
  const PetscInt  before = *wrong;
  Values          x, b, w, v;
  PetscReal       sum[POLDER_KSUMS], got[POLDER_KSUMS], *device;

  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(L->single, L->n, &x));
  PetscCall(ValuesCreate(L->single, L->n, &b));
  PetscCall(ValuesCreate(L->single, L->n, &w));
  PetscCall(ValuesCreate(L->single, L->n, &v));
  PetscCall(Fill(&x));
  PetscCall(Fill(&b));
  PetscCall(Fill(&w));
  PetscCall(PolderDeviceMalloc(sizeof(sum), &device));
  for (int second = 0; second < 2; ++second) {
    const PetscInt n = second ? POLDER_KSUMS_SECOND : POLDER_KSUMS_FIRST;

    for (PetscInt k = 0; k < POLDER_KSUMS; ++k) got[k] = -7;
    PetscCall(PolderDeviceFromHost(device, got, sizeof(got)));
    PetscCall(Poison(&v));
    EACH(L, PolderLevelMultDots, &L->host, PETSC_FALSE, IN(x), IN(b), second ? IN(w) : NULL, OUT(v), sum);
    PolderLaunch(
      PolderLevelMultDots_CUDA(L->single, &L->device, x.device, b.device, second ? w.device : NULL, v.device, (PolderLevelSums){device, work}, stream));
    PetscCall(Differ(&v, L->n, Terms(L), wrong));
    PetscCall(PolderDeviceToHost(got, device, sizeof(got)));
    for (PetscInt k = 0; k < POLDER_KSUMS; ++k) *wrong += !(PetscAbsReal(got[k] - (k < n ? sum[k] : -7)) <= tol);
    PetscCall(Tell("product and sums", L, before, *wrong));
  }
  for (int k = 0; k < 3; ++k) {
    for (int s = 0; s < POLDER_KSUMS; ++s) sum[s] = 3 + (s % 5) + 0.1 * s;
    if (k == 2) sum[0] = 0;
    PetscCall(PolderDeviceFromHost(device, sum, sizeof(sum)));
    PetscCall(Fill(&b));
    PetscCall(Fill(&x));
    HOST(L, PolderLevelKFirst, L->n, thresholds[k % 2], sum, IN(w), OUT(b));
    HOST(L, PolderLevelKSecond, L->n, thresholds[k % 2], sum, IN(w), OUT(x));
    PolderLaunch(PolderLevelKFirst_CUDA(L->single, L->n, thresholds[k % 2], device, w.device, b.device, stream));
    if (k) PetscCall(Poison(&w)); // the second step leaves nothing
    PolderLaunch(PolderLevelKSecond_CUDA(L->single, L->n, thresholds[k % 2], device, w.device, x.device, stream));
    PetscCall(ToDevice(&w));
    PetscCall(Differ(&b, L->n, 4, wrong));
    PetscCall(Differ(&x, L->n, 8, wrong));
    PetscCall(Tell("K-cycle", L, before, *wrong));
  }
  HOST(L, PolderLevelCombine, L->n, (value)0.3, (value)-0.6, IN(w), OUT(x));
  PolderLaunch(PolderLevelCombine_CUDA(L->single, L->n, 0.3, -0.6, w.device, x.device, stream));
  PetscCall(Differ(&x, L->n, 8, wrong));
  PetscCall(Tell("sum", L, before, *wrong));
  PetscCall(ValuesDestroy(&x));
  PetscCall(ValuesDestroy(&b));
  PetscCall(ValuesDestroy(&w));
  PetscCall(ValuesDestroy(&v));
  PetscCall(PolderDeviceFree(&device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Three steps of the power method, and the other precision and back */
static PetscErrorCode CheckPower(const Level *L, void *work, PolderStream stream, PetscInt *wrong)
{
  const PetscInt before = *wrong, n = L->n;
  Values         x[2], d, s;
  PetscReal      norm[4] = {1, 0, 0, 0}, got[4], *device, none[POLDER_KSUMS_FIRST];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; ++k) PetscCall(ValuesCreate(L->single, n, &x[k]));
  PetscCall(PolderDeviceMalloc(sizeof(norm), &device));
  for (PetscInt i = 0; i < n; ++i) Set(&x[0], i, PolderPowerStart(i));
  for (PetscInt k = 0; k < 3; ++k) {
    Values *y = &x[1 - k % 2], *from = &x[k % 2];

    EACH(L, PolderLevelMultDots, &L->host, PETSC_FALSE, IN(*from), IN(L->dinv), NULL, OUT(*y), none);
    for (PetscInt i = 0; i < n; ++i) {
      Set(y, i, norm[k] > 0 ? Get(y, i) * Get(&L->dinv, i) / PetscSqrtReal(norm[k]) : 0);
      norm[k + 1] += PetscSqr(Get(y, i));
    }
    PetscCall(Poison(y));
    PolderLaunch(PolderLevelPower_CUDA(L->single, &L->device, k, k ? from->device : NULL, y->device, device, work, stream));
    PetscCall(Differ(y, n, (k + 1) * Terms(L), wrong));
  }
  PetscCall(PolderDeviceToHost(got, device, sizeof(got)));
  for (int k = 1; k < 4; ++k) *wrong += !(PetscAbsReal(got[k] - norm[k]) <= (L->single ? 1e-5 : 1e-12) * Terms(L) * (1 + norm[k]));
  PetscCall(Tell("power method", L, before, *wrong));
  PetscCall(ValuesCreate(PETSC_FALSE, n, &d));
  PetscCall(ValuesCreate(PETSC_TRUE, n, &s));
  for (PetscInt i = 0; i < n; ++i) Set(&d, i, Number() / 3);
  PolderLevelRound_Host(n, 0.7, (const PetscScalar *)d.host, (float *)s.host);
  PetscCall(ToDevice(&d));
  PetscCall(Poison(&s));
  PolderLaunch(PolderLevelRound_CUDA(n, 0.7, (const PetscScalar *)d.device, (float *)s.device, stream));
  PetscCall(Differ(&s, n, 0, wrong));
  for (PetscInt i = 0; i < n; ++i) Set(&d, i, Get(&s, i));
  PetscCall(Poison(&d));
  PolderLaunch(PolderLevelWiden_CUDA(n, (const float *)s.device, (PetscScalar *)d.device, stream));
  PetscCall(Differ(&d, n, 0, wrong));
  PetscCall(Tell("precision", L, before, *wrong));
  for (int k = 0; k < 2; ++k) PetscCall(ValuesDestroy(&x[k]));
  PetscCall(ValuesDestroy(&d));
  PetscCall(ValuesDestroy(&s));
  PetscCall(PolderDeviceFree(&device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors without their mean, into the other precision and back */
static PetscErrorCode CheckCentred(const Level *L, PolderStream stream, PetscInt *wrong)
{
  const PetscInt n = L->n, before = *wrong;
  Values         s, d;

  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(PETSC_TRUE, n, &s));
  PetscCall(ValuesCreate(PETSC_FALSE, n, &d));
  for (PetscInt i = 0; i < n; ++i) Set(&s, i, 3 + Number());
  PetscCall(ToDevice(&s));
  PetscCall(Poison(&d));
  PolderLevelWidenCentred_Host(n, (const float *)s.host, (PetscScalar *)d.host);
  PolderLaunch(PolderLevelWidenCentred_CUDA(n, (const float *)s.device, (PetscScalar *)d.device, stream));
  PetscCall(Differ(&d, n, 10, wrong));
  for (PetscInt i = 0; i < n; ++i) Set(&d, i, 3 + Number());
  PetscCall(ToDevice(&d));
  PetscCall(Poison(&s));
  PolderLevelRoundCentred_Host(n, (const PetscScalar *)d.host, (float *)s.host);
  PolderLaunch(PolderLevelRoundCentred_CUDA(n, (const PetscScalar *)d.device, (float *)s.device, stream));
  PetscCall(Differ(&s, n, 10, wrong));
  PetscCall(Tell("centred", L, before, *wrong));
  PetscCall(ValuesDestroy(&s));
  PetscCall(ValuesDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Extremes of an inverse diagonal over many decades, with zeros and rows that do not count */
static PetscErrorCode CheckSpan(const Level *L, PolderStream stream, PetscInt *wrong)
{
  const PetscInt n = L->n, nc = 5, line = 11, before = *wrong;
  PetscInt       span[3] = {PETSC_MAX_INT, 0, 0}, got[3], *agg, *there, *aggthere;
  PetscReal      least = PETSC_MAX_REAL, most = 0;
  float          ratio = 0;
  Values         d;

  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(PETSC_TRUE, n, &d));
  PetscCall(PetscMalloc1(n, &agg));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscReal value = i % 7 == 3 ? 0 : PetscPowReal(10, 18 * Number()); // and ratios are in the range of single precision

    agg[i] = i % 6;
    Set(&d, i, agg[i] < nc ? value : value > 1 ? 1e35 : 1e-35);
    if (agg[i] < nc && value > 0) least = PetscMin(least, Get(&d, i));
    if (agg[i] < nc) most = PetscMax(most, Get(&d, i));
    const float v    = agg[i] < nc ? (float)Get(&d, i) : 0;
    const float last = i % line && agg[i - 1] < nc ? (float)Get(&d, i - 1) : 0;
    if (v > 0 && last > 0) ratio = PetscMax(ratio, PetscMax(v, last) / PetscMin(v, last));
  }
  PetscCall(ToDevice(&d));
  PetscCall(PolderDeviceUpload(sizeof(*agg) * (size_t)n, agg, &aggthere));
  PetscCall(PolderDeviceUpload(sizeof(span), span, &there));
  PolderLevelSpan_Host(n, line, (const float *)d.host, agg, nc, span);
  *wrong += span[1] != (most > 0 ? PolderBits((float)most) : 0) || (most > 0 && span[0] != PolderBits((float)least)) || span[2] != PolderBits(ratio);
  PolderLaunch(PolderLevelSpan_CUDA(n, line, (const float *)d.device, aggthere, nc, there, stream));
  PetscCall(PolderDeviceToHost(got, there, sizeof(got)));
  *wrong += n && (got[0] != span[0] || got[1] != span[1] || got[2] != span[2]);
  PetscCall(Tell("span", L, before, *wrong));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PolderDeviceFree(&aggthere));
  PetscCall(PetscFree(agg));
  PetscCall(ValuesDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckLevel(Level *L, void *work, PolderStream stream, PetscInt *wrong)
{
  PetscFunctionBeginUser;
  PetscCall(CheckSteps(L, stream, wrong));
  PetscCall(CheckColours(L, stream, wrong));
  PetscCall(CheckTransfers(L, stream, wrong));
  PetscCall(CheckKCycle(L, work, stream, wrong));
  PetscCall(CheckPower(L, work, stream, wrong));
  PetscCall(CheckSpan(L, stream, wrong));
  PetscCall(CheckCentred(L, stream, wrong));
  PetscCall(LevelDestroy(L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestKernels(void *work, PolderStream stream)
{
  static const PetscInt sizes[] = {1, 2, 31, 255, 257, 1025, 4099, 300007}, nups[] = {1, 2, 3, 4, 3, 0, 2, 3};
  static const PetscInt ups[][4] = {
    {1,  0,   0,     0     },
    {1,  17,  0,     0     },
    {1,  70,  4900,  0     },
    {1,  2,   300,   100003},
    {13, 64,  999,   0     },
    {0,  0,   0,     0     },
    {1,  600, 0,     0     },
    {1,  129, 12345, 0     }
  };
  static const PetscInt lengths[][2] = {
    {0,  3  },
    {1,  12 },
    {12, 30 },
    {1,  100},
    {80, 120}
  };
  PetscInt wrong[2] = {0, 0};
  Level    L;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes) - (small ? 2 : 0); ++s) {
    const PetscInt n = sizes[s];

    for (int precision = 0; precision < 3; ++precision) {
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(nups); ++k) {
        for (int half = 0; half < 2; ++half) {
          PetscInt nup = nups[k];

          while (nup && ups[k][nup - 1] >= n) --nup;
          PetscCall(DiagonalsCreate((Precision)precision, (PetscBool)half, n, nup, ups[k], 1 << (k % 4), &L));
          PetscCall(CheckLevel(&L, work, stream, &wrong[0]));
        }
      }
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lengths) && (n < 100000 || k < 2); ++k) {
        PetscCall(RowsCreate((Precision)precision, n, lengths[k][0], lengths[k][1], 1 + (PetscInt)k, &L));
        PetscCall(CheckLevel(&L, work, stream, &wrong[1]));
      }
    }
  }
  PetscCall(Report("levels by diagonals", wrong[0]));
  PetscCall(Report("levels by rows", wrong[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestKernels, TestCycles}
};

/*TEST

  build: internal

  test:
    requires: cuda

  test:
    suites: memcheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/devicelevel_1.out

TEST*/
