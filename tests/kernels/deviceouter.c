static const char help[] = "Device kernels for entries to other processes against their host twins.\n\n";

#include "devicetest.h"
#include "kernels/eliminate.h"
#include "kernels/levelscalars.h"
#include "kernels/galerkin.h"
#include "kernels/level.h"
#include "kernels/outer.h"
#include "kernels/pairs.h"
#include <float.h>

/* Rows of a local block and, in some of them, entries to ghosts; host and device */
typedef struct {
  PetscInt         n, nz, nghost;
  PetscInt        *ai, *aj, *bi, *aid, *ajd, *bid; /* bi: of all rows */
  PetscScalar     *aa, *aad;
  PetscInt        *row, *ptr, *col;
  PetscScalar     *val;
  PetscReal        most; /* entry to a ghost */
  PolderSparseRows host, device;
} Rows;

static PetscErrorCode RowsCreate(PetscInt n, Rows *A)
{
  PetscInt    outer = 0, nb = 0;
  PetscScalar scale[] = {1, 1e-3, 50};

  PetscFunctionBeginUser;
  *A = (Rows){.n = n, .nghost = n / 2 + 1, .most = 1};
  PetscCall(PetscMalloc4(n + 1, &A->ai, 3 * n, &A->aj, 3 * n, &A->aa, n + 1, &A->bi));
  PetscCall(PetscMalloc4(n, &A->row, n + 1, &A->ptr, 5 * n, &A->col, 5 * n, &A->val));
  A->ai[0] = A->bi[0] = A->ptr[0] = 0;
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt j = PetscMax(0, i - 1); j <= PetscMin(n - 1, i + 1); ++j) {
      A->aj[A->nz]   = j;
      A->aa[A->nz++] = i == j ? 4 : Number();
    }
    A->ai[i + 1] = A->nz;
    for (PetscInt k = i % 3 ? 0 : Next(6); k > 0; --k) {
      A->col[nb]   = Next(A->nghost);
      A->val[nb++] = scale[i % 9 / 3] * Number();
    }
    A->bi[i + 1] = nb;
    if (nb == A->bi[i]) continue;
    A->row[outer]   = i;
    A->ptr[++outer] = nb;
  }
  for (PetscInt k = 0; k < nb; ++k) A->most = PetscMax(A->most, PetscAbsScalar(A->val[k]));
  A->host     = (PolderSparseRows){.n = outer, .row = A->row, .ptr = A->ptr, .col = A->col, .val = A->val};
  A->device.n = outer;
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(n + 1), A->ai, &A->aid));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)A->nz, A->aj, &A->ajd));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)A->nz, A->aa, &A->aad));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(n + 1), A->bi, &A->bid));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)outer, A->row, &A->device.row));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(outer + 1), A->ptr, &A->device.ptr));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)nb, A->col, &A->device.col));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)nb, A->val, &A->device.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *A)
{
  void *device[] = {A->aid, A->ajd, A->aad, A->bid, (void *)A->device.row, (void *)A->device.ptr, (void *)A->device.col, (void *)A->device.val};

  PetscFunctionBeginUser;
  PetscCall(PetscFree4(A->ai, A->aj, A->aa, A->bi));
  PetscCall(PetscFree4(A->row, A->ptr, A->col, A->val));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(device); ++k) PetscCall(PolderDeviceFree(&device[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n values in either precision, up to rounding in sums of terms of up to the given size: those of host and device may be fused or not */
static PetscErrorCode SameSums(PetscBool single, PetscReal size, PetscInt n, const void *host, const void *device, PetscInt *wrong)
{
  const size_t bytes = (single ? sizeof(float) : sizeof(PetscScalar)) * (size_t)n;
  void        *got;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(bytes, &got));
  PetscCall(PolderDeviceToHost(got, device, bytes));
  for (PetscInt k = 0; k < n; ++k) {
    const PetscScalar a = single ? ((float *)got)[k] : ((PetscScalar *)got)[k], b = single ? ((const float *)host)[k] : ((const PetscScalar *)host)[k];

    *wrong += !(PetscAbsScalar(a - b) <= (single ? 1e-5 : 1e-13) * (size + PetscAbsScalar(b)));
  }
  PetscCall(PetscFree(got));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SameValues(PetscBool single, PetscInt n, const void *host, const void *device, PetscInt *wrong)
{
  PetscFunctionBeginUser;
  PetscCall(SameSums(single, 1, n, host, device, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random values in either precision on both sides */
typedef struct {
  void *h, *d;
} Vector;

static PetscErrorCode VectorCreate(PetscBool single, PetscInt n, Vector *v)
{
  const size_t bytes = (single ? sizeof(float) : sizeof(PetscScalar)) * (size_t)n;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(bytes, &v->h));
  for (PetscInt k = 0; k < n; ++k) {
    if (single) ((float *)v->h)[k] = (float)Number();
    else ((PetscScalar *)v->h)[k] = Number();
  }
  PetscCall(PolderDeviceUpload(bytes, v->h, &v->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VectorDestroy(Vector *v)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(v->h));
  PetscCall(PolderDeviceFree(&v->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers gathered from the rows */
static PetscErrorCode TestGather(const Rows *A, PolderStream stream, PetscInt *wrong)
{
  PetscInt *host, *device;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(A->n, &host));
  for (PetscInt i = 0; i < A->n; ++i) host[i] = -7;
  PetscCall(PolderDeviceUpload(sizeof(*host) * (size_t)A->n, host, &device));
  PolderIndexGather_Host(A->host.n, A->row, A->bi, host);
  PolderLaunch(PolderIndexGather_CUDA(A->host.n, A->device.row, A->bid, device, stream));
  PetscCall(SameIndices("gathered indices", A->n, host, device, wrong));
  PetscCall(PetscFree(host));
  PetscCall(PolderDeviceFree(&device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The excess of aggregates of three rows each; lone: some ghosts are in no aggregate */
static PetscErrorCode TestExcess(const Rows *A, PetscBool lone, PolderStream stream, PetscInt *wrong)
{
  const PetscInt   n = A->host.n / 3;
  PetscInt        *list[4], *device[4]; // row, ptr, member, aggregates of ghosts
  PolderSparseRows C, D;
  PolderAggregates P, Q;
  Vector           excess, here, entries;

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; ++k) PetscCall(PetscMalloc1(A->n + 1, &list[k]));
  for (PetscInt t = 0; t <= n; ++t) {
    list[0][t] = 2 * t;
    list[1][t] = 3 * t;
  }
  for (PetscInt m = 0; m < 3 * n; ++m) list[2][m] = A->host.n - 1 - m;
  for (PetscInt g = 0; g < A->nghost; ++g) list[3][g] = Next(n + 2);
  for (int k = 0; k < 4; ++k) PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(A->n + 1), list[k], &device[k]));
  PetscCall(VectorCreate(PETSC_FALSE, A->n, &excess));
  PetscCall(VectorCreate(PETSC_FALSE, A->n, &here));
  PetscCall(VectorCreate(PETSC_FALSE, 3 * n, &entries));
  for (PetscInt i = 0; i < A->n; i += 2) ((PetscReal *)excess.h)[i] += i % 4 ? 5 : 500;
  PetscCall(PolderDeviceFromHost(excess.d, excess.h, sizeof(PetscReal) * (size_t)A->n));
  C = (PolderSparseRows){.n = n, .row = list[0], .ptr = list[1], .val = (PetscScalar *)entries.h};
  D = (PolderSparseRows){.n = n, .row = device[0], .ptr = device[1], .val = (PetscScalar *)entries.d};
  P = (PolderAggregates){.n = n, .ptr = list[1], .row = list[2]};
  Q = (PolderAggregates){.n = n, .ptr = device[1], .row = device[2]};
  PolderOuterExcess_Host(&C, &A->host, &P, lone ? list[3] : NULL, n, (PetscReal *)excess.h, (PetscReal *)here.h);
  PolderLaunch(PolderOuterExcess_CUDA(&D, &A->device, &Q, lone ? device[3] : NULL, n, (PetscReal *)excess.d, (PetscReal *)here.d, stream));
  PetscCall(SameValues(PETSC_FALSE, A->n, excess.h, excess.d, wrong));
  PetscCall(SameValues(PETSC_FALSE, A->n, here.h, here.d, wrong));
  for (int k = 0; k < 4; ++k) {
    PetscCall(PetscFree(list[k]));
    PetscCall(PolderDeviceFree(&device[k]));
  }
  PetscCall(VectorDestroy(&excess));
  PetscCall(VectorDestroy(&here));
  PetscCall(VectorDestroy(&entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows with few neighbours */
static PetscErrorCode TestShort(const Rows *A, PolderStream stream, PetscInt *wrong)
{
  PetscInt *count, n;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceMalloc(sizeof(*count), &count));
  for (PetscInt most = 1; most < 3; ++most) {
    for (int all = 0; all < 2; ++all) {
      PolderShortRows_Host(A->n, A->ai, all ? NULL : A->bi, most, &n);
      PolderLaunch(PolderShortRows_CUDA(A->n, A->aid, all ? NULL : A->bid, most, count, stream));
      PetscCall(SameIndices("short rows", 1, &n, count, wrong));
    }
  }
  *wrong += n != (A->n > 1 ? A->n : 0); // of a chain
  PetscCall(PolderDeviceFree(&count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What they couple to others with, and the pairs of rows of the next pass */
static PetscErrorCode TestStrength(const Rows *A, PolderStream stream, PetscInt *wrong)
{
  const PetscInt nc = A->n / 2;
  PetscInt      *ptr, *row, *ptr_d, *row_d;
  Vector         outside, next, all;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(nc + 1, &ptr, A->n, &row));
  for (PetscInt a = 0; a <= nc; ++a) ptr[a] = 2 * a;
  for (PetscInt i = 0; i < A->n; ++i) row[i] = (i * 7 + 3) % A->n;
  PetscCall(PolderDeviceUpload(sizeof(*ptr) * (size_t)(nc + 1), ptr, &ptr_d));
  PetscCall(PolderDeviceUpload(sizeof(*row) * (size_t)A->n, row, &row_d));
  PetscCall(VectorCreate(PETSC_FALSE, A->n, &outside));
  PetscCall(VectorCreate(PETSC_FALSE, A->n, &all));
  PetscCall(VectorCreate(PETSC_FALSE, nc, &next));
  PolderOuterStrength_Host(&A->host, (PetscReal *)outside.h);
  PolderLaunch(PolderOuterStrength_CUDA(&A->device, (PetscReal *)outside.d, stream));
  PetscCall(SameValues(PETSC_FALSE, A->n, outside.h, outside.d, wrong));
  PolderPairsOutside_Host(A->n, A->bi, A->val, (PetscReal *)all.h);
  for (PetscInt k = 0; k < A->host.n; ++k) *wrong += ((PetscReal *)all.h)[A->row[k]] != ((PetscReal *)outside.h)[A->row[k]];
  PolderPairsNextOutside_Host(nc, ptr, row, (PetscReal *)outside.h, (PetscReal *)next.h);
  PolderLaunch(PolderPairsNextOutside_CUDA(nc, ptr_d, row_d, (PetscReal *)outside.d, (PetscReal *)next.d, stream));
  PetscCall(SameValues(PETSC_FALSE, nc, next.h, next.d, wrong));
  PetscCall(PetscFree2(ptr, row));
  PetscCall(PolderDeviceFree(&ptr_d));
  PetscCall(PolderDeviceFree(&row_d));
  PetscCall(VectorDestroy(&outside));
  PetscCall(VectorDestroy(&next));
  PetscCall(VectorDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the set-up looks at: after both kernels it is what PolderLevelRows_Host() finds with a second block */
static PetscErrorCode TestLevelRows(const Rows *A, PetscBool l1, PolderStream stream, PetscInt *wrong)
{
  const PetscInt    n     = A->n;
  const PetscInt64  none  = (PetscInt64)n * 8;
  const PetscReal   zero  = 0;
  const PolderRows  local = {.n = n, .i = A->ai, .j = A->aj, .a = A->aa}, device = {.n = n, .i = A->aid, .j = A->ajd, .a = A->aad};
  const PolderRows  ghosts = {.n = n, .i = A->bi, .a = A->val};
  PolderLevelSurvey survey;
  Vector            dinv, d, sum, all;
  PetscInt         *mate, *mate_d, *diag, row;
  PetscReal        *bound_d, bound, got;
  PetscInt64       *there, bad;
  PolderRowKind     kind;

  PetscFunctionBeginUser;
  PetscCall(VectorCreate(PETSC_FALSE, n, &dinv));
  PetscCall(VectorCreate(PETSC_FALSE, n, &d));
  PetscCall(VectorCreate(PETSC_FALSE, n, &sum));
  PetscCall(VectorCreate(PETSC_FALSE, n, &all));
  PetscCall(PetscMalloc2(n, &mate, n, &diag));
  PetscCall(PolderDeviceMalloc(sizeof(*mate) * (size_t)n, &mate_d));
  PetscCall(PolderDeviceUpload(sizeof(zero), &zero, &bound_d));
  PetscCall(PolderDeviceUpload(sizeof(none), &none, &there));
  row    = PolderLevelRows_Host(&local, &ghosts,
                                &(PolderLevelSurvey){.l1   = l1,
                                                     .lone = 5,
                                                     .diag = diag,
                                                     .dinv = (PetscReal *)dinv.h,
                                                     .d    = (PetscReal *)d.h,
                                                     .sum  = (PetscReal *)sum.h,
                                                     .all  = (PetscReal *)all.h,
                                                     .mate = mate},
                                &bound, &kind);
  survey = (PolderLevelSurvey){.l1   = l1,
                               .lone = 5,
                               .dinv = (PetscReal *)dinv.d,
                               .d    = (PetscReal *)d.d,
                               .sum  = (PetscReal *)sum.d,
                               .all  = (PetscReal *)all.d,
                               .mate = mate_d};
  PolderLaunch(PolderLevelRows_CUDA(&device, &survey, bound_d, there, stream));
  PolderLaunch(PolderOuterLevelRows_CUDA(&A->device, &device, &survey, bound_d, there, stream));
  PetscCall(PolderDeviceToHost(&got, bound_d, sizeof(got)));
  PetscCall(PolderDeviceToHost(&bad, there, sizeof(bad)));
  *wrong += row != n || bad != none || !(PetscAbsReal(got - bound) <= 1e-13 * bound);
  PetscCall(SameValues(PETSC_FALSE, n, dinv.h, dinv.d, wrong));
  PetscCall(SameValues(PETSC_FALSE, n, d.h, d.d, wrong));
  PetscCall(SameValues(PETSC_FALSE, n, sum.h, sum.d, wrong));
  PetscCall(SameValues(PETSC_FALSE, n, all.h, all.d, wrong));
  PetscCall(SameIndices("rows without a partner", n, mate, mate_d, wrong));
  if (A->host.n > 1) { // an entry that is not finite, in the second of these rows
    const PetscInt    k   = A->ptr[1];
    const PetscScalar nan = NAN;

    PetscCall(PolderDeviceFromHost((PetscScalar *)A->device.val + k, &nan, sizeof(nan)));
    survey = (PolderLevelSurvey){.l1 = l1, .lone = 5, .dinv = (PetscReal *)dinv.d};
    PolderLaunch(PolderOuterLevelRows_CUDA(&A->device, &device, &survey, bound_d, there, stream));
    PetscCall(PolderDeviceToHost(&bad, there, sizeof(bad)));
    *wrong += bad != PolderRowBad(A->row[1], POLDER_ROW_NOTFINITE);
    PetscCall(PolderDeviceFromHost((PetscScalar *)A->device.val + k, A->val + k, sizeof(nan)));
  }
  PetscCall(PetscFree2(mate, diag));
  PetscCall(VectorDestroy(&dinv));
  PetscCall(VectorDestroy(&d));
  PetscCall(VectorDestroy(&sum));
  PetscCall(VectorDestroy(&all));
  PetscCall(PolderDeviceFree(&mate_d));
  PetscCall(PolderDeviceFree(&bound_d));
  PetscCall(PolderDeviceFree(&there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums of the rows in single precision, also one that is too large */
static PetscErrorCode TestTotals(const Rows *A, PetscBool rows, PolderStream stream, PetscInt *wrong)
{
  const PolderRows host = {.n = A->n, .i = A->ai, .j = A->aj, .a = A->aa}, outer = {.n = A->n, .i = A->bi, .a = A->val};
  const PolderRows device = {.n = A->n, .i = A->aid, .j = A->ajd, .a = A->aad};
  const PetscInt   m      = rows ? A->nz : A->n;
  Vector           to;
  int             *large, raised[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(VectorCreate(PETSC_TRUE, m, &to));
  PetscCall(PolderDeviceMalloc(sizeof(*large), &large));
  PetscCall(PolderDeviceZero(large, sizeof(*large)));
  *wrong += !PolderRowTotals_Host(&host, &outer, rows, (float *)to.h);
  PolderLaunch(PolderRowTotals_CUDA(&device, rows, (float *)to.d, large, stream));
  PolderLaunch(PolderOuterTotals_CUDA(&A->device, &device, rows, (float *)to.d, large, stream));
  PetscCall(PolderDeviceToHost(&raised[0], large, sizeof(*large)));
  PetscCall(SameValues(PETSC_TRUE, m, to.h, to.d, wrong));
  if (A->host.n) {
    const PetscScalar huge = 1e39;

    PetscCall(PolderDeviceFromHost((PetscScalar *)A->device.val, &huge, sizeof(huge)));
    PolderLaunch(PolderOuterTotals_CUDA(&A->device, &device, rows, (float *)to.d, large, stream));
    PetscCall(PolderDeviceToHost(&raised[1], large, sizeof(*large)));
    PetscCall(PolderDeviceFromHost((PetscScalar *)A->device.val, A->val, sizeof(huge)));
  }
  *wrong += raised[0] || raised[1] != (A->host.n > 0);
  PetscCall(VectorDestroy(&to));
  PetscCall(PolderDeviceFree(&large));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a smoothing step or a residual gets from others */
static PetscErrorCode TestAdd(const Rows *A, PetscBool single, PolderStream stream, PetscInt *wrong)
{
  Vector      dinv, own, ghost, ghostdinv, z, wide, r;
  PetscScalar dots[2] = {0, 0}, got[2], *sums;
  void       *work;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PolderDeviceUpload(sizeof(dots), dots, &sums));
  PetscCall(VectorCreate(PETSC_FALSE, A->n, &r));
  PetscCall(VectorCreate(single, A->n, &dinv));
  PetscCall(VectorCreate(single, A->n, &own));
  PetscCall(VectorCreate(single, A->nghost, &ghost));
  PetscCall(VectorCreate(single, A->nghost, &ghostdinv));
  PetscCall(VectorCreate(single, A->n, &z));
  PetscCall(VectorCreate(PETSC_FALSE, A->n, &wide));
  for (int k = 0; k < 6; ++k) {
    PolderOuterSum sum = {.scale        = k ? -0.7 : -1,
                          .start        = k == 2 ? 0.6 : 0,
                          .dinv         = k ? dinv.h : NULL,
                          .own          = own.h,
                          .ghosts.value = ghost.h,
                          .ghostdinv    = ghostdinv.h,
                          .wide         = k % 2 && k > 2 && single ? (PetscScalar *)wide.h : NULL,
                          .unit         = 0.5,
                          .r            = k > 3 ? (PetscScalar *)r.h : NULL,
                          .dots         = dots};

    if (single) PolderLevelOuterAddSingle_Host(&A->host, &sum, (float *)z.h);
    else PolderLevelOuterAdd_Host(&A->host, &sum, (PetscScalar *)z.h);
    sum.dinv         = k ? dinv.d : NULL;
    sum.own          = own.d;
    sum.ghosts.value = ghost.d;
    sum.ghostdinv    = ghostdinv.d;
    if (sum.wide) sum.wide = (PetscScalar *)wide.d;
    if (sum.r) sum.r = (PetscScalar *)r.d;
    sum.dots = sums;
    sum.work = work;
    PolderLaunch(PolderLevelOuterAdd_CUDA(single, &A->device, &sum, z.d, stream));
    PetscCall(SameSums(single, A->most, A->n, z.h, z.d, wrong));
  }
  PetscCall(PolderDeviceToHost(got, sums, sizeof(got)));
  for (int k = 0; k < 2; ++k) *wrong += !(PetscAbsScalar(got[k] - dots[k]) <= (single ? 1e-5 : 1e-13) * (1 + A->most) * (1 + A->n));
  PetscCall(PolderDeviceFree(&sums));
  PetscCall(VectorDestroy(&r));
  if (single) { // what is added is of single precision
    PetscScalar *all;

    PetscCall(PetscMalloc1(A->n, &all));
    PetscCall(PolderDeviceToHost(all, wide.d, sizeof(*all) * (size_t)A->n));
    *wrong += Wrong(A->n, all, (PetscScalar *)wide.h, 1e-5 * (1 + A->most));
    PetscCall(PetscFree(all));
  }
  PetscCall(VectorDestroy(&dinv));
  PetscCall(VectorDestroy(&own));
  PetscCall(VectorDestroy(&ghostdinv));
  PetscCall(VectorDestroy(&ghost));
  PetscCall(VectorDestroy(&z));
  PetscCall(VectorDestroy(&wide));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRestrict(const Rows *A, PetscBool single, PolderStream stream, PetscInt *wrong)
{
  const PetscInt   n = A->host.n / 3;
  PetscInt        *list[3], *device[3]; // target, ptr, member
  PolderAggregates host, far;
  Vector           own, ghost, bc;

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; ++k) PetscCall(PetscMalloc1(A->n + 1, &list[k]));
  for (PetscInt t = 0; t <= n; ++t) {
    list[0][t] = 2 * t;
    list[1][t] = 3 * t;
  }
  for (PetscInt m = 0; m < 3 * n; ++m) list[2][m] = A->host.n - 1 - m;
  for (int k = 0; k < 3; ++k) PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(A->n + 1), list[k], &device[k]));
  PetscCall(VectorCreate(single, A->n, &own));
  PetscCall(VectorCreate(single, A->nghost, &ghost));
  PetscCall(VectorCreate(single, A->n, &bc));
  host = (PolderAggregates){.n = n, .ptr = list[1], .row = list[2]};
  far  = (PolderAggregates){.n = n, .ptr = device[1], .row = device[2]};
  if (single) PolderLevelOuterRestrictSingle_Host(&A->host, &host, list[0], (float *)own.h, (float *)ghost.h, (float *)bc.h);
  else PolderLevelOuterRestrict_Host(&A->host, &host, list[0], (PetscScalar *)own.h, (PetscScalar *)ghost.h, (PetscScalar *)bc.h);
  PolderLaunch(PolderLevelOuterRestrict_CUDA(single, &A->device, &far, device[0], own.d, ghost.d, bc.d, stream));
  PetscCall(SameSums(single, A->most, A->n, bc.h, bc.d, wrong));
  for (int k = 0; k < 3; ++k) {
    PetscCall(PetscFree(list[k]));
    PetscCall(PolderDeviceFree(&device[k]));
  }
  PetscCall(VectorDestroy(&own));
  PetscCall(VectorDestroy(&ghost));
  PetscCall(VectorDestroy(&bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums of a K-cycle, which must be those of the vectors */
static PetscErrorCode TestDots(const Rows *A, PetscBool single, void *work, PolderStream stream, PetscInt *wrong)
{
  Vector x, b, v, ghost;

  PetscFunctionBeginUser;
  PetscCall(VectorCreate(single, A->n, &x));
  PetscCall(VectorCreate(single, A->n, &b));
  PetscCall(VectorCreate(single, A->nghost, &ghost));
  PetscCall(VectorCreate(single, A->n, &v));
  for (int second = 0; second < 2; ++second) {
    PetscReal sum[POLDER_KSUMS_FIRST] = {1, 2, 3, 4, 5}, got[POLDER_KSUMS_FIRST], *there;

    PetscCall(PolderDeviceUpload(sizeof(sum), sum, &there));
    if (single) PolderLevelOuterDotsSingle_Host(&A->host, (float *)ghost.h, (float *)x.h, second ? NULL : (float *)b.h, (float *)v.h, sum);
    else PolderLevelOuterDots_Host(&A->host, (PetscScalar *)ghost.h, (PetscScalar *)x.h, second ? NULL : (PetscScalar *)b.h, (PetscScalar *)v.h, sum);
    PolderLaunch(PolderLevelOuterDots_CUDA(single, &A->device, ghost.d, x.d, second ? NULL : b.d, v.d, (PolderLevelSums){there, work}, stream));
    PetscCall(PolderDeviceToHost(got, there, sizeof(got)));
    for (int k = 0; k < POLDER_KSUMS_FIRST; ++k) *wrong += !(PetscAbsReal(got[k] - sum[k]) <= (single ? 1e-4 : 1e-12) * (A->n + PetscAbsReal(sum[k])));
    *wrong += second && (sum[1] != 2 || sum[3] != 4 || sum[4] != 5);
    PetscCall(SameSums(single, A->most, A->n, v.h, v.d, wrong));
    PetscCall(PolderDeviceFree(&there));
  }
  PolderLaunch(PolderLevelSeed_CUDA(single, A->n, v.d, stream));
  for (PetscInt i = 0; i < A->n; ++i) {
    if (single) ((float *)v.h)[i] = (float)PolderPowerStart(i);
    else ((PetscScalar *)v.h)[i] = PolderPowerStart(i);
  }
  PetscCall(SameValues(single, A->n, v.h, v.d, wrong));
  PetscCall(VectorDestroy(&x));
  PetscCall(VectorDestroy(&b));
  PetscCall(VectorDestroy(&ghost));
  PetscCall(VectorDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSizes(void *work, PolderStream stream)
{
  static const PetscInt sizes[]  = {1, 2, 5, 300, 1000, 5000, 300000};
  PetscInt              wrong[4] = {0, 0, 0, 0};

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes) - (small ? 1 : 0); ++s) {
    Rows A;

    PetscCall(RowsCreate(sizes[s], &A));
    PetscCall(TestGather(&A, stream, &wrong[0]));
    PetscCall(TestShort(&A, stream, &wrong[0]));
    PetscCall(TestStrength(&A, stream, &wrong[1]));
    for (int k = 0; k < 2; ++k) {
      PetscCall(TestLevelRows(&A, (PetscBool)k, stream, &wrong[2]));
      PetscCall(TestTotals(&A, (PetscBool)k, stream, &wrong[2]));
      PetscCall(TestExcess(&A, (PetscBool)k, stream, &wrong[2]));
      PetscCall(TestAdd(&A, (PetscBool)k, stream, &wrong[3]));
      PetscCall(TestRestrict(&A, (PetscBool)k, stream, &wrong[3]));
      PetscCall(TestDots(&A, (PetscBool)k, work, stream, &wrong[3]));
    }
    PetscCall(RowsDestroy(&A));
  }
  PetscCall(Report("rows with entries to others", wrong[0]));
  PetscCall(Report("couplings to others", wrong[1]));
  PetscCall(Report("what rows are judged by", wrong[2]));
  PetscCall(Report("a cycle", wrong[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestSizes}};

/*TEST

  build: internal

  test:
    requires: gpu

  test:
    suites: memcheck racecheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/deviceouter_1.out

TEST*/
