static const char
  help[] = "Interpolation along lines: the device kernels against their host twins, and restriction against the transpose of interpolation.\n\n";

#include "devicetest.h"
#include "kernels/excessrow.h"
#include "kernels/levellinesrow.h"
#include "kernels/pairs.h"

/* A grid of lines with couplings that are 1000 times those between them, in one half of it in one direction and in the other half in the other one */
typedef struct {
  PetscInt     n, nz, nc;
  PetscInt    *ai, *aj, *agg, *ptr, *row;
  PetscScalar *aa;
  PetscReal   *excess;
} Rows;

/* What the kernels write */
typedef struct {
  PetscInt     count[POLDER_LINES_COUNTS], *strong, *beside, *tptr, *trow;
  PetscReal   *inner;
  PetscScalar *scaled;
  unsigned    *single;
  float       *weight;
} Made;

static PetscErrorCode RowsCreate(PetscInt m, Rows *r)
{
  PetscFunctionBeginUser;
  r->n = m * m;
  PetscCall(PetscMalloc3(r->n + 1, &r->ai, 5 * r->n, &r->aj, 5 * r->n, &r->aa));
  PetscCall(PetscMalloc2(r->n, &r->agg, r->n, &r->excess));
  r->nz = r->ai[0] = r->nc = 0;
  for (PetscInt i = 0; i < r->n; ++i) {
    const PetscInt step[] = {-m, -1, 0, 1, m};
    PetscScalar    sum    = 0;
    PetscInt       at     = -1;

    for (int k = 0; k < 5; ++k) {
      const PetscInt  j      = i + step[k];
      const PetscBool across = (PetscBool)(step[k] == 1 || step[k] == -1);

      if (j < 0 || j >= r->n || (across && j / m != i / m)) continue;
      if (!step[k]) at = r->nz;
      r->aj[r->nz] = j;
      r->aa[r->nz] = step[k] ? -(across == (i < r->n / 2) ? 1000 : 1) * (1.5 + Number()) : 0;
      sum -= r->aa[r->nz++];
    }
    r->excess[i] = i % 50 ? 0 : i % 100 ? POLDER_EXCESS_UNKNOWN : 1;
    if (i % 70 == 3) r->aa[r->ai[i]] = 0.1;
    r->aa[at]    = sum + (r->excess[i] > 0 ? r->excess[i] : 0);
    r->ai[i + 1] = r->nz;
  }
  for (PetscInt i = 0; i < r->n; ++i) r->agg[i] = -1;
  for (PetscInt i = 0; i < r->n; ++i) { // pairs along the lines, some rows alone, some in none, and one aggregate of four
    const PetscInt j = i + (i < r->n / 2 ? 1 : m);

    if (r->agg[i] >= 0) continue;
    r->agg[i] = i % 41 == 7 ? r->n : r->nc++;
    if (i % 41 != 7 && i % 13 && j < r->n && r->agg[j] < 0) r->agg[j] = r->agg[i];
  }
  for (PetscInt i = 0; i < r->n; ++i) {
    if (r->agg[i] == r->n) r->agg[i] = r->nc;
    if (r->agg[i] == 3) r->agg[i] = 2;
  }
  PetscCall(PetscMalloc2(r->nc + 2, &r->ptr, r->n, &r->row));
  PolderMembers_Host(&(PolderAggregates){r->n, r->nc, r->agg, r->ptr, r->row, NULL});
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSetUp(const Rows *r, const Rows *d, Made *h, Made *there, PolderStream stream, PetscInt *wrong)
{
  const PolderRows       A = {r->n, r->ai, r->aj, r->aa, r->nz}, B = {r->n, d->ai, d->aj, d->aa, r->nz};
  const PolderAggregates P = {r->n, r->nc, r->agg, r->ptr, r->row, NULL}, Q = {r->n, r->nc, d->agg, d->ptr, d->row, NULL};
  PetscInt              *count;
  unsigned              *single;
  float                 *weight;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(h->count, POLDER_LINES_COUNTS));
  PetscCall(PolderDeviceUpload(sizeof(h->count), h->count, &count));
  PolderLevelLinesSurvey_Host(&A, r->excess, h->strong, h->count);
  PolderLevelLinesCount_Host(r->n, h->strong, h->count);
  PolderLaunch(PolderLevelLinesSurvey_CUDA(&B, d->excess, there->strong, count, stream));
  PolderLaunch(PolderLevelLinesCount_CUDA(r->n, there->strong, count, stream));
  PetscCall(SameIndices("counts", POLDER_LINES_COUNTS, h->count, count, wrong));
  PetscCall(SameIndices("strongest neighbours", 2 * r->n, h->strong, there->strong, wrong));
  PetscCall(PolderDeviceFree(&count));
  PetscCall(PetscMalloc1(3 * r->nc, &count));
  PolderLevelLinesSingle_Host(&(PolderLevelLines){.n = r->n, .single = h->single}, &P, &A, count);
  PetscCall(PetscFree(count));
  PolderLaunch(PolderLevelLinesSingle_CUDA(&(PolderLevelLines){.n = r->n, .single = there->single}, &Q, &B, NULL, stream));
  PetscCall(PetscMalloc1(r->n, &single));
  PetscCall(PolderDeviceToHost(single, there->single, sizeof(*single) * (size_t)r->n));
  for (PetscInt i = 0; i < r->n; ++i) *wrong += single[i] != h->single[i];
  PetscCall(PetscFree(single));
  for (int keep = 0; keep < 2; ++keep) {
    const PolderLineRule   mine = {PETSC_TRUE, (PetscBool)keep, h->inner, h->scaled}, far = {PETSC_TRUE, (PetscBool)keep, there->inner, there->scaled};
    const PolderLevelLines L = {.n = r->n, .nc = r->nc, .agg = r->agg, .beside = h->beside, .single = h->single, .weight = h->weight};
    const PolderLevelLines K = {.n = r->n, .nc = r->nc, .agg = d->agg, .beside = there->beside, .single = there->single, .weight = there->weight};

    PolderLevelLinesInner_Host(&P, &A, &mine);
    PolderLevelLinesRows_Host(&L, &P, &A, &mine);
    PolderLaunch(PolderLevelLinesInner_CUDA(&Q, &B, &far, stream));
    PolderLaunch(PolderLevelLinesRows_CUDA(&K, &Q, &B, &far, stream));
    PetscCall(SameScalars("couplings within aggregates", r->n, h->inner, there->inner, 0, wrong));
    PetscCall(SameScalars("entries for the next level", r->nz, h->scaled, there->scaled, 1e-12, wrong));
    PetscCall(SameIndices("aggregates beside", r->n, h->beside, there->beside, wrong));
    PetscCall(PetscMalloc1(r->n, &weight));
    PetscCall(PolderDeviceToHost(weight, there->weight, sizeof(*weight) * (size_t)r->n));
    for (PetscInt i = 0; i < r->n; ++i) *wrong += !(PetscAbsReal(weight[i] - h->weight[i]) <= 1e-7);
    PetscCall(PetscFree(weight));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In either precision, with the weights of the host in both places; (P^T r, x) = (r, P x) */
static PetscErrorCode TestApply(const Rows *r, const Rows *d, Made *h, Made *there, PolderStream stream, PetscInt wrong[2])
{
  PolderLevelLines L = {.n = r->n, .nc = r->nc, .agg = r->agg, .beside = h->beside, .single = h->single, .weight = h->weight}, K;
  PetscScalar     *b[2], *x[2], *bc[2], *xc[2], one = 0, other = 0;
  float           *fb, *fx, *fbc, *db, *dx, *dbc;

  PetscFunctionBeginUser;
  PetscCall(PolderDeviceUpload(sizeof(float) * (size_t)r->n, h->weight, &there->weight));
  PolderMembers_Host(&(PolderAggregates){r->n, r->nc, h->beside, h->tptr, h->trow, NULL});
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(r->nc + 2), h->tptr, &there->tptr));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)r->n, h->trow, &there->trow));
  K = (PolderLevelLines){r->n, r->nc, d->agg, there->beside, there->single, there->weight, d->ptr, d->row, there->tptr, there->trow};
  PetscCall(Random(r->n, &b[0], &b[1]));
  PetscCall(Random(r->n, &x[0], &x[1]));
  PetscCall(Random(r->nc + 1, &bc[0], &bc[1]));
  PetscCall(Random(r->nc + 1, &xc[0], &xc[1]));
  xc[0][r->nc] = 0;
  PolderLevelLinesRestrict_Host(&L, b[0], bc[0]);
  PolderLaunch(PolderLevelLinesRestrict_CUDA(PETSC_FALSE, &K, b[1], bc[1], stream));
  PetscCall(SameScalars("restriction", r->nc + 1, bc[0], bc[1], 1e-13, &wrong[0]));
  for (PetscInt a = 0; a < r->nc; ++a) one += bc[0][a] * xc[0][a];
  for (PetscInt i = 0; i < r->n; ++i) other -= b[0][i] * x[0][i];
  PolderLevelLinesProlong_Host(&L, xc[0], x[0]);
  PolderLaunch(PolderLevelLinesProlong_CUDA(PETSC_FALSE, &K, xc[1], x[1], stream));
  PetscCall(SameScalars("interpolation", r->n, x[0], x[1], 1e-13, &wrong[0]));
  for (PetscInt i = 0; i < r->n; ++i) other += b[0][i] * x[0][i];
  wrong[1] += PetscAbsScalar(one - other) > 1e-10 * r->n;
  PetscCall(PetscMalloc3(r->n, &fb, r->n, &fx, r->nc + 1, &fbc));
  for (PetscInt i = 0; i < r->n; ++i) fb[i] = (float)b[0][i];
  PetscCall(PolderDeviceUpload(sizeof(float) * (size_t)r->n, fb, &db));
  PetscCall(PolderDeviceUpload(sizeof(float) * (size_t)r->n, fb, &dx));
  PetscCall(PolderDeviceUpload(sizeof(float) * (size_t)(r->nc + 1), fbc, &dbc));
  PolderLevelLinesRestrictSingle_Host(&L, fb, fbc);
  PolderLaunch(PolderLevelLinesRestrict_CUDA(PETSC_TRUE, &K, db, dbc, stream));
  PetscCall(PetscArraycpy(fx, fb, r->n));
  PolderLevelLinesProlongSingle_Host(&L, fbc, fx);
  PolderLaunch(PolderLevelLinesProlong_CUDA(PETSC_TRUE, &K, dbc, dx, stream));
  PetscCall(PolderDeviceToHost(fb, dx, sizeof(float) * (size_t)r->n));
  for (PetscInt i = 0; i < r->n; ++i) wrong[0] += PetscAbsReal(fb[i] - fx[i]) > 1e-5;
  for (int k = 0; k < 2; ++k) {
    PetscScalar **const all[] = {&b[k], &x[k], &bc[k], &xc[k]};

    for (int q = 0; q < 4; ++q) {
      if (k) PetscCall(PolderDeviceFree(all[q]));
      else PetscCall(PetscFree(*all[q]));
    }
  }
  PetscCall(PolderDeviceFree(&db));
  PetscCall(PolderDeviceFree(&dx));
  PetscCall(PolderDeviceFree(&dbc));
  PetscCall(PetscFree3(fb, fx, fbc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCase(PetscInt m, PolderStream stream, PetscInt wrong[3])
{
  Rows r, d;
  Made h, there = {0};

  PetscFunctionBeginUser;
  PetscCall(RowsCreate(m, &r));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(r.n + 1), r.ai, &d.ai));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)r.nz, r.aj, &d.aj));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)r.nz, r.aa, &d.aa));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)r.n, r.agg, &d.agg));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)(r.nc + 2), r.ptr, &d.ptr));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)r.n, r.row, &d.row));
  PetscCall(PolderDeviceUpload(sizeof(PetscReal) * (size_t)r.n, r.excess, &d.excess));
  PetscCall(PetscMalloc6(2 * r.n, &h.strong, r.n, &h.beside, r.n, &h.inner, r.nz, &h.scaled, r.n, &h.single, r.n, &h.weight));
  PetscCall(PetscMalloc2(r.nc + 2, &h.tptr, r.n, &h.trow));
  PetscCall(PolderDeviceMalloc(2 * sizeof(PetscInt) * (size_t)r.n, &there.strong));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)r.n, &there.beside));
  PetscCall(PolderDeviceMalloc(sizeof(PetscReal) * (size_t)r.n, &there.inner));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)r.nz, &there.scaled));
  PetscCall(PolderDeviceMalloc(sizeof(unsigned) * (size_t)r.n, &there.single));
  PetscCall(PolderDeviceMalloc(sizeof(float) * (size_t)r.n, &there.weight));
  PetscCall(TestSetUp(&r, &d, &h, &there, stream, &wrong[0]));
  PetscCall(PolderDeviceFree(&there.weight));
  PetscCall(TestApply(&r, &d, &h, &there, stream, &wrong[1]));
  {
    void *const all[] = {&d.ai,         &d.aj,        &d.aa,         &d.agg,        &d.ptr,        &d.row,      &d.excess,  &there.strong,
                         &there.beside, &there.inner, &there.scaled, &there.single, &there.weight, &there.tptr, &there.trow};

    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(all); ++k) PetscCall(PolderDeviceFree(all[k]));
  }
  PetscCall(PetscFree6(h.strong, h.beside, h.inner, h.scaled, h.single, h.weight));
  PetscCall(PetscFree2(h.tptr, h.trow));
  PetscCall(PetscFree2(r.ptr, r.row));
  PetscCall(PetscFree2(r.agg, r.excess));
  PetscCall(PetscFree3(r.ai, r.aj, r.aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLines(void *work, PolderStream stream)
{
  PetscInt wrong[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  (void)work;
  PetscCall(TestCase(7, stream, wrong));
  PetscCall(TestCase(30, stream, wrong));
  if (!small) PetscCall(TestCase(1500, stream, wrong));
  PetscCall(Report("rows of the next level", wrong[0]));
  PetscCall(Report("restriction and interpolation", wrong[1]));
  PetscCall(Report("transpose", wrong[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestLines}};

/*TEST

  build: internal

  test:
    requires: gpu

  test:
    suites: memcheck racecheck
    suffix: small
    requires: gpu
    args: -small
    output_file: output/devicelevellines_1.out

TEST*/
