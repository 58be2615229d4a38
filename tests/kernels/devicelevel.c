static const char help[] = "Device kernels of the levels of PC pamg against their host twins, and its cycle on the device against that on the host.\n\n";

#include "devicetest.h"
#include "pamgproblems.h"
#include "vecs.h"
#include "pc/pamg/pamgsetup.h"
#include "pc/pamg/pamgsteps.h"
#include "kernels/level.h"
#include "kernels/levelscalars.h"
#include "kernels/pairs.h"
#include <polder.h>
#include <petsc/private/pcimpl.h>

/* Values in the precision of a case; on the host they are exact in single precision, so that both see the same */
typedef struct {
  PetscBool single;
  PetscInt  n;
  void     *host, *device;
} Values;

static size_t Size(PetscBool single)
{
  return single ? sizeof(float) : sizeof(PetscScalar);
}

static PetscScalar Get(const Values *v, PetscInt i)
{
  return v->single ? (PetscScalar)((const float *)v->host)[i] : ((const PetscScalar *)v->host)[i];
}

static void Set(Values *v, PetscInt i, PetscScalar value)
{
  if (v->single) ((float *)v->host)[i] = (float)value;
  else ((PetscScalar *)v->host)[i] = value;
}

static PetscErrorCode ValuesCreate(PetscBool single, PetscInt n, Values *v)
{
  PetscFunctionBeginUser;
  *v = (Values){.single = single, .n = n};
  PetscCall(PetscMalloc(Size(single) * (size_t)(n + 1), &v->host));
  PetscCall(PolderDeviceMalloc(Size(single) * (size_t)(n + 1), &v->device));
  for (PetscInt i = 0; i <= n; ++i) Set(v, i, NAN);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ValuesDestroy(Values *v)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(v->host));
  PetscCall(PolderDeviceFree(&v->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToDevice(const Values *v)
{
  PetscFunctionBeginUser;
  PetscCall(PolderDeviceFromHost(v->device, v->host, Size(v->single) * (size_t)(v->n + 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(Values *v)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < v->n; ++i) Set(v, i, Number());
  PetscCall(ToDevice(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN on the device, to be written */
static PetscErrorCode Poison(const Values *v)
{
  Values nothing = *v;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(Size(v->single) * (size_t)(v->n + 1), &nothing.host));
  for (PetscInt i = 0; i <= v->n; ++i) Set(&nothing, i, NAN);
  PetscCall(ToDevice(&nothing));
  PetscCall(PetscFree(nothing.host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the first n values on the device that are not those on the host, up to rounding of so many terms; the one behind all of them must be NaN still */
static PetscErrorCode Differ(const Values *v, PetscInt n, PetscReal terms, PetscInt *wrong)
{
  const PetscReal tol = terms * (v->single ? 1e-6 : 1e-14);
  Values          got = *v;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(Size(v->single) * (size_t)(v->n + 1), &got.host));
  PetscCall(PolderDeviceToHost(got.host, v->device, Size(v->single) * (size_t)(v->n + 1)));
  for (PetscInt i = 0; i < n; ++i) *wrong += !(PetscAbsScalar(Get(&got, i) - Get(v, i)) <= tol * (1 + PetscAbsScalar(Get(v, i))));
  if (n == v->n) *wrong += !PetscIsNanScalar(Get(&got, n));
  PetscCall(PetscFree(got.host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix on the host and on the device, with aggregates */
typedef struct {
  PetscBool         single;
  PetscInt          n, nc, nstored;
  PolderLevelMatrix host, device;
  PetscInt          off[POLDER_LEVEL_DIAGONALS], *ai, *aj, *agg, *ptr, *row;
  PetscInt         *aid, *ajd, *aggd, *ptrd, *rowd;
  const void       *val[2][POLDER_LEVEL_DIAGONALS];
  Values            stored, dinv;
} Level;

static PetscErrorCode AggregatesCreate(Level *L, PetscInt size)
{
  const PetscInt n = L->n;

  PetscFunctionBeginUser;
  L->nc = n / size;
  PetscCall(PetscMalloc3(n, &L->agg, L->nc + 2, &L->ptr, n, &L->row));
  for (PetscInt i = 0; i < n; ++i) L->agg[i] = i % 3 ? PetscMin(i / size, L->nc) : Next(L->nc + 1); // some far away, some empty
  PolderMembers_Host(n, L->agg, L->nc, L->ptr, L->row);
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * n, L->agg, &L->aggd));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (L->nc + 2), L->ptr, &L->ptrd));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * n, L->row, &L->rowd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DiagonalInverseCreate(Level *L)
{
  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(L->single, L->n, &L->dinv));
  for (PetscInt i = 0; i < L->n; ++i) Set(&L->dinv, i, i % 17 == 16 ? 0 : 0.1 + Next(100) / 400.0);
  PetscCall(ToDevice(&L->dinv));
  L->host.dinv   = L->dinv.host;
  L->device.dinv = L->dinv.device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals up[0 .. nup) above the main one, and as many below it; half: these lead into the others. What lies outside the matrix is NaN */
static PetscErrorCode DiagonalsCreate(PetscBool single, PetscBool half, PetscInt n, PetscInt nup, const PetscInt up[], PetscInt size, Level *L)
{
  const PetscInt nd = 2 * nup + 1, ld = n + 32;

  PetscFunctionBeginUser;
  *L = (Level){.single = single, .n = n};
  PetscCall(ValuesCreate(single, nd * ld, &L->stored));
  for (PetscInt d = 0; d < nd; ++d) L->off[d] = d < nup ? -up[nup - 1 - d] : d > nup ? up[d - nup - 1] : 0;
  for (PetscInt d = half ? nup : 0; d < nd; ++d) {
    for (PetscInt i = PetscMax(0, -L->off[d]); i < PetscMin(n, n - L->off[d]); ++i) Set(&L->stored, d * ld + i, d == nup ? 2 * nup : Number());
  }
  PetscCall(ToDevice(&L->stored));
  for (PetscInt d = 0; d < nd; ++d) {
    const PetscInt at = half && d < nup ? (nd - 1 - d) * ld + L->off[d] : d * ld;

    L->val[0][d] = (char *)L->stored.host + (ptrdiff_t)Size(single) * at;
    L->val[1][d] = (char *)L->stored.device + (ptrdiff_t)Size(single) * at;
  }
  L->host   = (PolderLevelMatrix){.n = n, .nd = nd, .main = nup, .off = L->off, .val = L->val[0]};
  L->device = (PolderLevelMatrix){.n = n, .nd = nd, .main = nup, .off = L->off, .val = L->val[1]};
  PetscCall(DiagonalInverseCreate(L));
  PetscCall(AggregatesCreate(L, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compressed rows of random lengths, least .. most */
static PetscErrorCode RowsCreate(PetscBool single, PetscInt n, PetscInt least, PetscInt most, PetscInt size, Level *L)
{
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  *L = (Level){.single = single, .n = n};
  PetscCall(PetscMalloc2(n + 1, &L->ai, n * most, &L->aj));
  for (PetscInt i = 0; i < n; ++i) {
    L->ai[i] = nz;
    for (PetscInt k = least + Next(most - least + 1); k > 0; --k) L->aj[nz++] = Next(n);
  }
  L->ai[n] = nz;
  PetscCall(ValuesCreate(single, nz, &L->stored));
  PetscCall(Fill(&L->stored));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (n + 1), L->ai, &L->aid));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * nz, L->aj, &L->ajd));
  L->host   = (PolderLevelMatrix){.n = n, .nz = nz, .ai = L->ai, .aj = L->aj, .aa = L->stored.host};
  L->device = (PolderLevelMatrix){.n = n, .nz = nz, .ai = L->aid, .aj = L->ajd, .aa = L->stored.device};
  PetscCall(DiagonalInverseCreate(L));
  PetscCall(AggregatesCreate(L, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LevelDestroy(Level *L)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(L->ai, L->aj));
  PetscCall(PetscFree3(L->agg, L->ptr, L->row));
  PetscCall(PolderDeviceFree(&L->aid));
  PetscCall(PolderDeviceFree(&L->ajd));
  PetscCall(PolderDeviceFree(&L->aggd));
  PetscCall(PolderDeviceFree(&L->ptrd));
  PetscCall(PolderDeviceFree(&L->rowd));
  PetscCall(ValuesDestroy(&L->stored));
  PetscCall(ValuesDestroy(&L->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
#define IN(v)  ((const value *)(v).host)
#define OUT(v) ((value *)(v).host)

static PetscErrorCode Tell(const char what[], const Level *L, PetscInt before, PetscInt wrong)
{
  PetscFunctionBeginUser;
  if (wrong > before) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " wrong with %" PetscInt_FMT " rows, %" PetscInt_FMT " diagonals%s\n", what, wrong - before, L->n, L->host.nd, L->single ? ", single" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many terms a row has, for the tolerances */
static PetscReal Terms(const Level *L)
{
  return 4 + (L->host.nd ? L->host.nd : L->n ? 2 * L->host.nz / L->n : 1);
}

/* A step whose result is in double precision: so small a one that rounded it would be lost, of x itself or of a correction of x that is as small; y stays as it is */
static PetscErrorCode CheckWide(const Level *L, const Values *b, const Values *x, const Values *y, PolderStream stream, PetscInt *wrong)
{
  PolderLevelStep step = {.k = 1, .beta = 1e-5, .scale = 1e-5};
  Values          z, w = *x;

  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(PETSC_FALSE, L->n, &z));
  step.wide = (PetscScalar *)z.device;
  for (int zero = 0; zero < 2; ++zero) {
    step.zero  = (PetscBool)zero;
    step.start = 1e-5;
    if (zero) { // x_1 = start D^-1 b
      step.base = x->device;
      PetscCall(ValuesCreate(PETSC_TRUE, L->n, &w));
      PolderLevelScaleSingle_Host(L->n, (float)step.start, (const float *)L->host.dinv, (const float *)b->host, (float *)w.host);
    }
    PetscCall(Poison(&z));
    PolderLevelJacobiSingle_Host(&L->host, step.zero, (float)step.beta, (float)step.scale, (const float *)b->host, (const float *)w.host, (float *)y->host, zero ? (const float *)x->host : NULL, (PetscScalar *)z.host);
    PolderLaunch(PolderLevelJacobi_CUDA(PETSC_TRUE, &L->device, &step, b->device, zero ? NULL : x->device, y->device, stream));
    PetscCall(Differ(&z, L->n, 1e3 * Terms(L), wrong));
    PetscCall(Differ(y, L->n, 0, wrong));
    for (PetscInt i = 0; i < L->n; ++i) *wrong += !(PetscAbsScalar(Get(&z, i) - Get(x, i)) <= 1e-4 * Terms(L));
    if (zero) PetscCall(ValuesDestroy(&w));
  }
  PetscCall(ValuesDestroy(&z));
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
        HOST(L, PolderLevelJacobi, &L->host, (PetscBool)(zero && k == 1), (value)step.beta, (value)step.scale, IN(b), IN(x), OUT(y), NULL, NULL);
        PolderLaunch(PolderLevelJacobi_CUDA(L->single, &L->device, &step, b.device, zero && k == 1 ? NULL : x.device, y.device, stream));
        PetscCall(Differ(&y, L->n, Terms(L), wrong));
        PetscCall(Tell("step", L, before, *wrong));
      }
    }
  }
  if (L->single) {
    PetscCall(Fill(&x));
    PetscCall(Fill(&y));
    PetscCall(CheckWide(L, &b, &x, &y, stream, wrong));
    PetscCall(Tell("step in double precision", L, before, *wrong));
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
    HOST(L, PolderLevelColour, &L->host, n, row, IN(b), OUT(x));
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
  const PetscInt before = *wrong;
  PetscInt       most   = 0;
  Values         b, x, r, bc;

  PetscFunctionBeginUser;
  PetscCall(ValuesCreate(L->single, L->n, &b));
  PetscCall(ValuesCreate(L->single, L->n, &x));
  PetscCall(ValuesCreate(L->single, L->n, &r));
  PetscCall(ValuesCreate(L->single, L->nc + 1, &bc));
  PetscCall(Fill(&b));
  PetscCall(Fill(&x));
  PetscCall(Poison(&r));
  PetscCall(Poison(&bc));
  HOST(L, PolderLevelResidual, &L->host, IN(b), IN(x), OUT(r), L->agg, L->nc, OUT(bc));
  Set(&bc, L->nc, 0); // nobody uses it, but it is a number
  for (PetscInt a = 0; a < L->nc; ++a) most = PetscMax(most, L->ptr[a + 1] - L->ptr[a]);
  PolderLaunch(PolderLevelResidual_CUDA(L->single, &L->device, b.device, x.device, r.device, NULL, NULL, 0, NULL, stream));
  PetscCall(Differ(&r, L->n, Terms(L), wrong));
  PolderLaunch(PolderLevelResidual_CUDA(L->single, &L->device, b.device, x.device, b.device, NULL, NULL, 0, NULL, stream)); // in place
  PetscCall(PolderDeviceToDevice(r.device, b.device, Size(L->single) * (size_t)L->n));
  PetscCall(Differ(&r, L->n, Terms(L), wrong));
  PetscCall(Tell("residual", L, before, *wrong));
  PetscCall(ToDevice(&b));
  PolderLaunch(PolderLevelResidual_CUDA(L->single, &L->device, b.device, x.device, NULL, L->ptrd, L->rowd, L->nc, bc.device, stream));
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
    HOST(L, PolderLevelMultDots, &L->host, PETSC_FALSE, IN(x), IN(b), second ? IN(w) : NULL, OUT(v), sum);
    PolderLaunch(PolderLevelMultDots_CUDA(L->single, &L->device, x.device, b.device, second ? w.device : NULL, v.device, device, work, stream));
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

    HOST(L, PolderLevelMultDots, &L->host, PETSC_FALSE, IN(*from), IN(L->dinv), NULL, OUT(*y), none);
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
  for (PetscInt i = 0; i < n; ++i) Set(&s, i, Get(&d, i));
  PetscCall(ToDevice(&d));
  PetscCall(Poison(&s));
  PolderLaunch(PolderLevelRound_CUDA(n, (const PetscScalar *)d.device, (float *)s.device, stream));
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

static PetscErrorCode CheckLevel(Level *L, void *work, PolderStream stream, PetscInt *wrong)
{
  PetscFunctionBeginUser;
  PetscCall(CheckSteps(L, stream, wrong));
  PetscCall(CheckColours(L, stream, wrong));
  PetscCall(CheckTransfers(L, stream, wrong));
  PetscCall(CheckKCycle(L, work, stream, wrong));
  PetscCall(CheckPower(L, work, stream, wrong));
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

    for (int single = 0; single < 2; ++single) {
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(nups); ++k) {
        for (int half = 0; half < 2; ++half) {
          PetscInt nup = nups[k];

          while (nup && ups[k][nup - 1] >= n) --nup;
          PetscCall(DiagonalsCreate((PetscBool)single, (PetscBool)half, n, nup, ups[k], 1 << (k % 4), &L));
          PetscCall(CheckLevel(&L, work, stream, &wrong[0]));
        }
      }
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lengths) && (n < 100000 || k < 2); ++k) {
        PetscCall(RowsCreate((PetscBool)single, n, lengths[k][0], lengths[k][1], 1 + (PetscInt)k, &L));
        PetscCall(CheckLevel(&L, work, stream, &wrong[1]));
      }
    }
  }
  PetscCall(Report("levels by diagonals", wrong[0]));
  PetscCall(Report("levels by rows", wrong[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy of bytes on the device, which frees itself with the levels */
typedef struct {
  void    *all[1024];
  PetscInt n;
} Memory;

static PetscErrorCode Copy(Memory *memory, size_t bytes, const void *host, void *device)
{
  PetscFunctionBeginUser;
  PetscCheck(memory->n < 1024, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Too many arrays");
  PetscCall(PolderDeviceMalloc(bytes, device));
  memory->all[memory->n++] = *(void **)device;
  if (host) PetscCall(PolderDeviceFromHost(*(void **)device, host, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Level l on the device as the set-up leaves it there; val: room for its diagonals */
static PetscErrorCode CopyLevel(const PC_PAMG *pamg, const PamgLevel *H, PetscBool last, Memory *memory, const void **val, PamgLevel *D)
{
  const size_t size = Size((PetscBool)(pamg->precision == PAMG_SINGLE));
  const size_t n    = (size_t)H->n;

  PetscFunctionBeginUser;
  *D = (PamgLevel){
    .A               = H->A,
    .n               = H->n,
    .N               = H->N,
    .nc              = H->nc,
    .nz              = H->nz,
    .eigenvalue      = H->eigenvalue,
    .bound           = H->bound,
    .singleprecision = (PetscBool)(pamg->precision == PAMG_SINGLE),
    .M               = {.n = H->n, .nz = (PetscInt)H->nz, .nd = H->M.nd, .main = H->M.main, .off = H->M.off}
  };
  PetscCall(Copy(memory, size * n, H->dinv, &D->dinv));
  D->M.dinv = D->dinv;
  D->M.val  = val;
  for (PetscInt d = 0; d < H->M.nd; ++d) {
    const size_t lo = (size_t)PetscMax(0, -H->M.off[d]), hi = (size_t)(H->n - PetscMax(0, H->M.off[d]));
    char        *to;

    PetscCall(Copy(memory, size * (n + 1), NULL, &to));
    PetscCall(PolderDeviceFromHost(to + size * lo, (const char *)H->M.val[d] + size * lo, size * (hi - lo)));
    val[d] = to;
  }
  if (!H->M.nd) {
    PetscCall(Copy(memory, sizeof(PetscInt) * (n + 1), H->M.ai, (void *)&D->M.ai));
    PetscCall(Copy(memory, sizeof(PetscInt) * (size_t)H->M.ai[n], H->M.aj, (void *)&D->M.aj));
    PetscCall(Copy(memory, size * (size_t)H->M.ai[n], H->M.aa, (void *)&D->M.aa));
  }
  PetscCall(Copy(memory, size * (n + 1), NULL, &D->b));
  PetscCall(Copy(memory, size * (n + 1), NULL, &D->x));
  PetscCall(Copy(memory, size * (n + 1), NULL, &D->iterate));
  PetscCall(Copy(memory, size * (n + 1), NULL, &D->product));
  PetscCall(Copy(memory, size * (n + 1), NULL, &D->correction));
  if (!last) {
    PetscInt *ptr, *row;

    PetscCall(PetscMalloc2(H->nc + 2, &ptr, H->n, &row));
    PolderMembers_Host(H->n, H->agg, H->nc, ptr, row);
    PetscCall(Copy(memory, sizeof(PetscInt) * n, H->agg, &D->agg));
    PetscCall(Copy(memory, sizeof(PetscInt) * (size_t)(H->nc + 2), ptr, &D->ptr));
    PetscCall(Copy(memory, sizeof(PetscInt) * n, row, &D->row));
    PetscCall(PetscFree2(ptr, row));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver of the last level, on the device */
static PetscErrorCode CopyCoarse(const PC_PAMG *pamg, PC_PAMG *device)
{
  const PetscInt    *ai, *aj, n = pamg->level[pamg->nlevel - 1].n;
  Mat                A = pamg->level[pamg->nlevel - 1].A;
  const PetscScalar *aa;
  PetscInt          *gl;
  PetscBool          done, constant = PETSC_FALSE;
  MatNullSpace       nullspace;

  PetscFunctionBeginUser;
  PetscCall(MatGetNullSpace(pamg->level->A, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceGetVecs(nullspace, &constant, NULL, NULL));
  PetscCall(PetscMalloc1(n, &gl));
  for (PetscInt i = 0; i < n; ++i) gl[i] = i;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &(PetscInt){0}, &ai, &aj, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &aa));
  PetscCall(PolderCoarseCreate(PETSC_COMM_SELF, &device->coarse));
  PetscCall(PolderCoarseSetInverse(device->coarse));
  PetscCall(PolderCoarseSetDevice(device->coarse, PETSC_TRUE));
  PetscCall(PolderCoarseSetUp(device->coarse, n, n, gl, ai, aj, aa, constant));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &aa));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &(PetscInt){0}, &ai, &aj, &done));
  PetscCall(PetscFree(gl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the cycle of both to r; raises *wrong unless they agree */
static PetscErrorCode CompareApplications(PC pc, PC_PAMG *host, PC_PAMG *device, Vec r, Vec z, Vec rd, Vec zd, PetscInt *wrong)
{
  Vec          copy;
  PetscReal    away, norm;
  MatNullSpace nullspace;

  PetscFunctionBeginUser;
  PetscCall(MatGetNullSpace(pc->pmat, &nullspace));
  pc->data = host;
  PetscCall(PCPAMGApplyHost(pc, r, z));
  PetscCall(VecNorm(z, NORM_2, &norm));
  pc->data = device;
  PetscCall(VecCopy(r, rd));
  PetscCall(VecSet(zd, NAN));
  PetscCall(PCPAMGApplyDevice(pc, rd, zd));
  pc->data = host;
  PetscCall(VecDuplicate(r, &copy));
  PetscCall(VecCopy(zd, copy));
  PetscCall(VecAXPY(copy, -1, z));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, copy)); // about which rounding decides
  PetscCall(VecNorm(copy, NORM_2, &away));
  *wrong += !(away <= (host->precision == PAMG_SINGLE ? 1e-4 : 1e-11) * norm);
  PetscCall(VecCopy(rd, copy));
  PetscCall(VecAXPY(copy, -1, r));
  PetscCall(VecNorm(copy, NORM_2, &away)); // r is as it was
  *wrong += away != 0;
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts what the device does otherwise than the host: cycles launched step by step, as they are recorded and as they are replayed, also after a change; and eigenvalues */
static PetscErrorCode CompareCycles(PC pc, Mat B, Vec r, Vec z, PetscInt *wrong)
{
  PC_PAMG     *host = (PC_PAMG *)pc->data, device = *host;
  const void **val;
  PetscInt     last   = host->nlevel - 1;
  Memory       memory = {{NULL}, 0};
  Vec          rd, zd;

  PetscFunctionBeginUser;
  device.setup       = &PamgSetUpDevice;
  device.place       = &PolderOnDevice;
  device.coarseplace = &PolderOnDevice;
  device.steps       = &PamgStepsDevice;
  PetscCall(PetscMalloc2(host->nlevel, &device.level, host->nlevel * POLDER_LEVEL_DIAGONALS, &val));
  for (PetscInt l = 0; l <= last; ++l) PetscCall(CopyLevel(host, &host->level[l], (PetscBool)(l == last), &memory, val + l * POLDER_LEVEL_DIAGONALS, &device.level[l]));
  device.level->A = B;
  if (host->direct) PetscCall(CopyCoarse(host, &device));
  for (int k = 0; k < 2; ++k) PetscCall(Copy(&memory, sizeof(PetscScalar) * (size_t)(host->level[last].n + 1), NULL, &device.coarsebuf[k]));
  PetscCall(VecCreate(PETSC_COMM_SELF, &rd));
  PetscCall(VecSetSizes(rd, host->level->n, host->level->n));
  PetscCall(VecSetType(rd, POLDER_VEC_DEVICE));
  PetscCall(VecDuplicate(rd, &zd));
  for (int k = 0; k < 6; ++k) {
    if (k == 3) { // as a refresh would
      ++device.nrefresh;
      host->damping = device.damping = 0.8 * host->damping;
      for (PetscInt l = 0; l < last; ++l) host->level[l].eigenvalue = device.level[l].eigenvalue = 1.5 * host->level[l].eigenvalue;
    }
    PetscCall(VecScale(r, -0.5));
    PetscCall(CompareApplications(pc, host, &device, r, z, rd, zd, wrong));
    *wrong += (device.graph != NULL) != (k % 3 && last && host->direct);
  }
  if (host->smoother == PAMG_CHEBYSHEV) {
    pc->data = &device;
    for (PetscInt l = 0; l < last; ++l) device.level[l].eigenvalue = -1;
    PetscCall(PCPAMGEstimateDevice(pc));
    for (PetscInt l = 0; l < last; ++l) *wrong += !(PetscAbsReal(1.5 * device.level[l].eigenvalue - host->level[l].eigenvalue) <= (host->precision == PAMG_SINGLE ? 1e-4 : 1e-10));
    pc->data = host;
  }
  PetscCall(PolderDeviceFree(&device.ksum));
  PetscCall(PolderDeviceGraphDestroy(&device.graph));
  if (host->direct) PetscCall(PolderCoarseDestroy(&device.coarse));
  for (PetscInt k = 0; k < memory.n; ++k) PetscCall(PolderDeviceFree(&memory.all[k]));
  PetscCall(PetscFree2(device.level, val));
  PetscCall(VecDestroy(&rd));
  PetscCall(VecDestroy(&zd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCycles(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const struct {
    const char *kind;
    PetscInt    dim, n;
    PetscReal   jump;
    MatType     type;
    const char *options;
  } cases[] = {
    {"poisson",    3, 16, 1,   MATAIJDIA,  "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2"                  },
    {"poisson",    3, 17, 1,   MATAIJDIA,  "-pc_pamg_smoother chebyshev -pc_pamg_pre 3 -pc_pamg_post 4 -pc_pamg_passes 3"},
    {"poisson",    2, 40, 1,   MATAIJDIA,  "-pc_pamg_smoother chebyshev -pc_pamg_pre 1 -pc_pamg_post 1"                  },
    {"poisson",    2, 63, 1e3, MATAIJDIA,  "-pc_pamg_smoother jacobi -pc_pamg_pre 0 -pc_pamg_post 2"                     },
    {"poisson",    2, 33, 1,   MATAIJICRS, "-pc_pamg_smoother l1jacobi -pc_pamg_pre 2 -pc_pamg_post 1 -pc_pamg_passes 1" },
    {"poisson",    3, 15, 1,   MATAIJDIA,  "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2 -pc_pamg_levels 2"},
    {"poisson",    2, 15, 1,   MATAIJDIA,  "-pc_pamg_smoother jacobi -pc_pamg_levels 1"                                  },
    {"poisson",    1, 1,  1,   MATAIJICRS, "-pc_pamg_smoother jacobi"                                                    },
    {"bubbles",    3, 16, 1e3, MATAIJDIA,  "-pc_pamg_smoother jacobi -pc_pamg_pre 3 -pc_pamg_post 3"                     },
    {"tetrahedra", 3, 12, 1e3, MATAIJICRS, "-pc_pamg_smoother chebyshev -pc_pamg_pre 2 -pc_pamg_post 2"                  },
    {"poisson",    3, 12, 1,   MATAIJDIA,  "-pc_pamg_smoother chebyshev -pc_pamg_coarse ksp -pc_pamg_coarse_limit 100"   },
  };
  static const char *const cycles[] = {"v", "w", "k", "k -pc_pamg_kcycle_threshold 0"};
  PetscInt                 wrong    = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscDLLibraryRegister_polder());
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); ++c) {
    Mat          A, B;
    Vec          r, z;
    MatNullSpace nullspace;

    PetscCall(ProblemCreate(cases[c].kind, cases[c].dim, cases[c].n, cases[c].jump, &A));
    PetscCall(MatConvert(A, cases[c].type, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatCreateVecs(A, &r, &z));
    PetscCall(FillRandom(r, 5));
    PetscCall(MatGetNullSpace(A, &nullspace));
    if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, r));
    for (int k = 0; k < 8; ++k) {
      PetscInt     before = wrong;
      char         options[256];
      PetscOptions db;
      PC           pc;

      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type pamg %s -pc_pamg_coarse_limit 50 -pc_pamg_precision %s -pc_pamg_cycle %s", cases[c].options, k < 4 ? "double" : "single", cycles[k % 4]));
      PetscCall(PetscOptionsCreate(&db));
      PetscCall(PetscOptionsInsertString(db, options));
      PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
      PetscCall(PetscObjectSetOptions((PetscObject)pc, db));
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(PCSetFromOptions(pc));
      PetscCall(PCSetUp(pc));
      PetscCall(CompareCycles(pc, B, r, z, &wrong));
      if (wrong > before) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s %" PetscInt_FMT ", %s: not what the host does\n", cases[c].kind, cases[c].n, options));
      PetscCall(PetscObjectSetOptions((PetscObject)pc, NULL));
      PetscCall(PCDestroy(&pc));
      PetscCall(PetscOptionsDestroy(&db));
    }
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(Report("cycles", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {
  help, {TestKernels, TestCycles}
};

/*TEST

  build: internal

  test:
    requires: cuda
    load: no

  test:
    suites: memcheck
    suffix: small
    requires: gpu
    load: no
    args: -small
    output_file: output/devicelevel_1.out

TEST*/
