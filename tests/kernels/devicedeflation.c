static const char help[] = "Device kernels of deflation and of its coarse solver against their host twins.\n\n";

#include "devicedeflation/rows.h"
#include "kernels/coarse.h"
#include "kernels/vec.h"

static const PetscInt Sizes[] = {0, 1, 31, 33, 257, 1025, 4097, 100003};

/* Z^T v and Z a by segments against runs of labels */
static PetscErrorCode TestSegments(PetscInt n, PetscInt d, PetscInt length, PetscInt *wrong)
{
  const size_t    bytes = PolderWorkSize(PolderLabelsSortWork_CUDA(n, d));
  const PetscInt  most  = n / length + d;
  PolderLabelRuns runs;
  PetscInt       *label, *start, *dlabel, *item, *dstart, *first, *ptr, *seg;
  PetscScalar    *v, *a, *b, *x, *dv, *da, *dx, *sum;
  unsigned int   *counter;
  void           *work;
  PolderStream    stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PetscCalloc6(n, &label, n + 1, &start, n, &v, d, &a, d, &b, n, &x));
  for (PetscInt i = 0; i < n; ++i) {
    label[i] = i && Next(4) ? label[i - 1] : Next(d + 1) - 1;
    v[i]     = Next(2000) / 1000.0 - 1;
    start[i] = i;
  }
  start[n] = n;
  runs     = (PolderLabelRuns){n, start, label};
  PetscCall(PolderDeviceUpload(sizeof(*label) * n, label, &dlabel));
  PetscCall(PolderDeviceUpload(sizeof(*v) * n, v, &dv));
  PetscCall(PolderDeviceUpload(sizeof(*v) * n, v, &dx));
  PetscCall(Poisoned(sizeof(*item) * n, &item));
  PetscCall(Poisoned(sizeof(*dstart) * (d + 1), &dstart));
  PetscCall(Poisoned(sizeof(*first) * (d + 1), &first));
  PetscCall(Poisoned(sizeof(*ptr) * (most + 1), &ptr));
  PetscCall(Poisoned(sizeof(*seg) * most, &seg));
  PetscCall(Poisoned(sizeof(*sum) * most, &sum));
  PetscCall(Poisoned(sizeof(*da) * d, &da));
  PetscCall(PolderDeviceMalloc(sizeof(*counter) * d, &counter));
  PetscCall(PolderDeviceZero(counter, sizeof(*counter) * d));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderLabelsSort_CUDA(n, d, dlabel, item, dstart, bytes, work, stream));
  PolderLaunch(PolderSegmentsMake_CUDA(d, length, dstart, first, ptr, seg, stream));
  PolderRunsRestrict_Host(&runs, v, a);
  for (int again = 0; again < 4; ++again) { // the counters are ready for the next sum
    const PolderSegments s = {n, d, most, (PetscBool)(again < 2), item, first, ptr, seg, NULL, sum, counter};

    PolderLaunch(PolderSegmentSums_CUDA(&s, dv, 1, NULL, da, PETSC_FALSE, stream));
    PetscCall(PolderDeviceToHost(b, da, sizeof(*b) * d));
    for (PetscInt k = 0; k < d; ++k) *wrong += !(PetscAbsScalar(a[k] - b[k]) <= 1e-12 * (1 + n));
  }
  PolderLaunch(PolderLabelsProlongAdd_CUDA(n, dlabel, -2, da, dx, stream));
  PetscCall(PolderDeviceToHost(x, dx, sizeof(*x) * n));
  for (PetscInt k = 0; k < d; ++k) a[k] *= -2;
  PolderRunsProlongAdd_Host(&runs, a, v);
  for (PetscInt i = 0; i < n; ++i) *wrong += !(PetscAbsScalar(x[i] - v[i]) <= 1e-12 * (1 + n));
  PetscCall(PolderDeviceFree(&dlabel));
  PetscCall(PolderDeviceFree(&dv));
  PetscCall(PolderDeviceFree(&dx));
  PetscCall(PolderDeviceFree(&item));
  PetscCall(PolderDeviceFree(&dstart));
  PetscCall(PolderDeviceFree(&first));
  PetscCall(PolderDeviceFree(&ptr));
  PetscCall(PolderDeviceFree(&seg));
  PetscCall(PolderDeviceFree(&sum));
  PetscCall(PolderDeviceFree(&da));
  PetscCall(PolderDeviceFree(&counter));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PetscFree6(label, start, v, a, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device makes the AZ that the host made; without it there is nothing more to compare */
static PetscErrorCode TestAZ(Rows *r, PolderStream stream, PetscInt *wrong)
{
  const size_t           bytes    = PolderWorkSize(PolderRowsScanWork_CUDA(r->m));
  const PolderDia        dia      = DiagonalsThere(r);
  const PolderSparseRows W        = ProductThere(r);
  int                    flags[2] = {0, 0}, *dflags;
  PetscInt              *index, nz = r->ptr[r->nw], before = *wrong;
  PetscScalar           *val;
  void                  *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(PetscMax(r->m, nz) + 1, &index, nz, &val));
  PetscCall(PolderDeviceUpload(sizeof(flags), flags, &dflags));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  if (r->half) PolderLaunch(PolderLabelRowsCountDia_CUDA(&dia, r->dlabel, GhostsThere(r), r->dghostlabel, r->dcount, dflags, stream));
  else PolderLaunch(PolderLabelRowsCount_CUDA(RowsThere(r), r->dlabel, GhostsThere(r), r->dghostlabel, r->dcount, dflags, stream));
  PolderLaunch(PolderRowsScan_CUDA(r->m, r->dcount, r->dscan, bytes, work, stream));
  PetscCall(PolderDeviceToHost(index, r->dcount, sizeof(*index) * r->m));
  PetscCall(PolderDeviceToHost(flags, dflags, sizeof(flags)));
  for (PetscInt i = 0; i < r->m; ++i) *wrong += index[i] != r->count[i] || (r->label[i] < 0 && !flags[1]);
  *wrong += r->m && r->null == (PetscBool)flags[0];
  PetscCheck(*wrong == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "AZ of %" PetscInt_FMT " rows has other entries on the device", r->m);
  if (r->half) PolderLaunch(PolderLabelRowsFillDia_CUDA(&dia, r->dlabel, GhostsThere(r), r->dghostlabel, r->dcount, r->dscan, &W, stream));
  else PolderLaunch(PolderLabelRowsFill_CUDA(RowsThere(r), r->dlabel, GhostsThere(r), r->dghostlabel, r->dcount, r->dscan, &W, stream));
  PetscCall(PolderDeviceToHost(index, r->drow, sizeof(*index) * r->nw));
  for (PetscInt k = 0; k < r->nw; ++k) *wrong += index[k] != r->row[k];
  PetscCall(PolderDeviceToHost(index, r->dptr, sizeof(*index) * (r->nw + 1)));
  for (PetscInt k = 0; k <= r->nw; ++k) *wrong += index[k] != r->ptr[k];
  PetscCall(PolderDeviceToHost(index, r->dcol, sizeof(*index) * nz));
  PetscCall(PolderDeviceToHost(val, r->dval, sizeof(*val) * nz));
  for (PetscInt k = 0; k < nz; ++k) *wrong += index[k] != r->col[k] || !(PetscAbsScalar(val[k] - r->val[k]) <= 1e-12);
  PetscCheck(*wrong == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "AZ of %" PetscInt_FMT " rows has other values on the device", r->m);
  PetscCall(PolderDeviceFree(&dflags));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PetscFree2(index, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestE(const Rows *r, PolderStream stream, PetscInt *wrong)
{
  const PolderSparseRows W = ProductThere(r);
  const PetscInt         d = r->d, nz = W.nz;
  const size_t           bytes = PolderWorkSize(PolderGalerkinWork_CUDA(d, nz));
  PetscInt               n, *dn;
  PetscInt64            *key, *dkey;
  PetscScalar           *E, *size, *val, *dval;
  void                  *work;

  PetscFunctionBegin;
  PetscCall(PetscCalloc4((size_t)d * d, &E, (size_t)d * d, &size, nz + 1, &key, nz + 1, &val));
  PetscCall(Poisoned(sizeof(*dkey) * (nz + 1), &dkey));
  PetscCall(Poisoned(sizeof(*dval) * (nz + 1), &dval));
  PetscCall(Poisoned(sizeof(*dn), &dn));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderGalerkin_CUDA(d, r->dlabel, &W, (PolderKeyedEntries){dn, dkey, dval}, bytes, work, stream));
  PetscCall(PolderDeviceToHost(&n, dn, sizeof(n)));
  PetscCall(PolderDeviceToHost(key, dkey, sizeof(*key) * n));
  PetscCall(PolderDeviceToHost(val, dval, sizeof(*val) * n));
  for (PetscInt k = 0; k < r->nw; ++k) {
    for (PetscInt j = r->ptr[k]; j < r->ptr[k + 1]; ++j) {
      const size_t at = (size_t)r->label[r->row[k]] * d + r->col[j];

      if (r->label[r->row[k]] < 0) continue;
      E[at] += r->val[j];
      size[at] += PetscAbsScalar(r->val[j]);
    }
  }
  for (PetscInt k = 0; k < n; ++k) {
    *wrong += k && key[k] <= key[k - 1];
    if (key[k] < (PetscInt64)d * d) E[key[k]] -= val[k];
  }
  for (PetscInt k = 0; k < d * d; ++k) *wrong += !(PetscAbsScalar(E[k]) <= 1e-14 * (1 + size[k]));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PolderDeviceFree(&dkey));
  PetscCall(PolderDeviceFree(&dval));
  PetscCall(PolderDeviceFree(&dn));
  PetscCall(PetscFree4(E, size, key, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v - AZ a with the dot, then all rows in order without it */
static PetscErrorCode TestRowsMult(const Rows *r, PolderStream stream, PetscInt *wrong)
{
  PolderSparseRows W = ProductHere(r), Wd = ProductThere(r);
  PetscScalar     *a, *b, *v, *x, *da, *db, *dv, *ddot, dot = 3, expected = 3;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(r->d, &a, r->d, &b, r->m, &v, r->m, &x));
  for (PetscInt k = 0; k < r->d; ++k) {
    a[k] = Next(2000) / 1000.0 - 1;
    b[k] = Next(2000) / 1000.0 - 1;
    expected -= a[k] * b[k];
  }
  for (PetscInt i = 0; i < r->m; ++i) v[i] = Next(2000) / 1000.0 - 1;
  PetscCall(PolderDeviceUpload(sizeof(*a) * r->d, a, &da));
  PetscCall(PolderDeviceUpload(sizeof(*v) * r->m, v, &dv));
  PetscCall(PolderDeviceUpload(sizeof(*b) * r->d, b, &db));
  PetscCall(PolderDeviceUpload(sizeof(dot), &dot, &ddot));
  PolderLaunch(PolderRowsMultAdd_CUDA(&Wd, -1, da, dv, (PolderCoarseDot){r->d, db, ddot}, PETSC_FALSE, stream));
  PolderRowsMultAdd_Host(&W, -1, a, v);
  W.row = Wd.row = NULL;
  PolderLaunch(PolderRowsMultAdd_CUDA(&Wd, 0.5, da, dv, (PolderCoarseDot){0}, PETSC_FALSE, stream));
  PolderRowsMultAdd_Host(&W, 0.5, a, v);
  PetscCall(PolderDeviceToHost(x, dv, sizeof(*x) * r->m));
  PetscCall(PolderDeviceToHost(&dot, ddot, sizeof(dot)));
  for (PetscInt i = 0; i < r->m; ++i) *wrong += !(PetscAbsScalar(x[i] - v[i]) <= 1e-11);
  *wrong += !(PetscAbsScalar(dot - expected) <= 1e-12 * (1 + r->d));
  PetscCall(PolderDeviceFree(&da));
  PetscCall(PolderDeviceFree(&dv));
  PetscCall(PolderDeviceFree(&db));
  PetscCall(PolderDeviceFree(&ddot));
  PetscCall(PetscFree4(a, b, v, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRows(PetscInt m, PetscInt width, PetscInt half, PetscInt d, PetscInt nghost, PetscInt *wrong)
{
  Rows         r;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(RowsCreate(m, width, half, d, nghost, &r));
  PetscCall(TestAZ(&r, stream, wrong));
  PetscCall(TestE(&r, stream, wrong));
  PetscCall(TestRowsMult(&r, stream, wrong));
  PetscCall(RowsDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A random positive definite matrix; awkward: with a zero column and two equal ones */
static PetscErrorCode RandomDefinite(PetscInt d, PetscBool awkward, PetscScalar E[])
{
  PetscScalar *G;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(d * 8, &G));
  for (PetscInt k = 0; k < 8 * d; ++k) G[k] = Next(2000) / 1000.0 - 1;
  for (PetscInt i = 0; i < d; ++i) { // G G^T + tridiag + diagonal of any size
    for (PetscInt j = 0; j < d; ++j) {
      PetscScalar s = (i == j ? 4 + i % 3 : 0) - (PetscAbsInt(i - j) == 1);

      for (PetscInt k = 0; k < 8; ++k) s += G[8 * i + k] * G[8 * j + k];
      E[(size_t)i * d + j] = s * (1 + i % 5) * (1 + j % 5);
    }
  }
  if (awkward && d > 40) { // column 7 is zero, column 33 repeats column 5
    for (PetscInt k = 0; k < d; ++k) E[7 * (size_t)d + k] = E[(size_t)k * d + 7] = 0;
    for (PetscInt k = 0; k < d; ++k) E[33 * (size_t)d + k] = E[5 * (size_t)d + k];
    for (PetscInt k = 0; k < d; ++k) E[(size_t)k * d + 33] = E[(size_t)k * d + 5];
  }
  PetscCall(PetscFree(G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E X = 1 on the columns in use, X zero outside and symmetric where E is; scale: 0 for a column that is left out */
static void CheckInverse(PetscInt d, const PetscScalar E[], PetscBool symmetric, PolderDense X, const PetscScalar scale[], PetscInt *wrong, PetscReal *worst)
{
  PetscReal error = 0;

  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt t = 0; t < 5; ++t) {
      const PetscInt j = t ? Next(d) : i;
      PetscScalar    s = 0;

      for (PetscInt k = 0; k < d; ++k) s += E[(size_t)i * d + k] * X.a[(size_t)k * X.ld + j];
      if (scale[i] != 0 && scale[j] != 0) error = PetscMax(error, PetscAbsScalar(s - (i == j)));
      *wrong += scale[i] * scale[j] == 0 && X.a[(size_t)i * X.ld + j] != 0;
      *wrong += symmetric && X.a[(size_t)i * X.ld + j] != X.a[(size_t)j * X.ld + i];
    }
  }
  *wrong += !(error <= 1e-10);
  *worst = PetscMax(*worst, error);
}

/* Products with E, of which A is the copy on the device */
static PetscErrorCode TestProducts(const PetscScalar E[], PolderDense A, PolderStream stream, PetscInt *wrong)
{
  const PetscInt d     = A.n;
  const size_t   bytes = PolderWorkSize(PolderSymmetricMultWork_CUDA(A.ld));
  PetscScalar   *x, *y, *z, *dx, *dy;
  void          *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(d, &x, d, &y, d, &z));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PetscCall(PolderDeviceZero(work, bytes));
  for (PetscInt i = 0; i < d; ++i) {
    x[i] = Next(2000) / 1000.0 - 1;
    y[i] = Next(2000) / 1000.0 - 1;
  }
  PetscCall(PolderDeviceUpload(sizeof(*x) * d, x, &dx));
  PetscCall(PolderDeviceUpload(sizeof(*y) * d, y, &dy));
  PolderLaunch(PolderDenseMult_CUDA(A, -2, dx, dy, dy, PETSC_FALSE, stream));
  PolderLaunch(PolderSymmetricMult_CUDA(A, 3, dx, dy, dy, work, PETSC_FALSE, stream));
  PolderSymmetricMult_Host(d, E, x, z);
  PetscCall(PolderDeviceToHost(x, dy, sizeof(*x) * d));
  for (PetscInt i = 0; i < d; ++i) *wrong += !(PetscAbsScalar(x[i] - (y[i] + z[i])) <= 1e-10 * (1 + d));
  PolderLaunch(PolderSymmetricMult_CUDA(A, 1, dx, NULL, dy, work, PETSC_TRUE, stream)); // its counters are ready again
  PetscCall(PolderDeviceToHost(x, dy, sizeof(*x) * d));
  for (PetscInt i = 0; i < d; ++i) *wrong += !(PetscAbsScalar(x[i] - z[i]) <= 1e-10 * (1 + d));
  PetscCall(PolderDeviceFree(&dx));
  PetscCall(PolderDeviceFree(&dy));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PetscFree3(x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inverse of a random positive definite matrix with a zero column, two equal ones and, for Neumann, the last one left out; and Cholesky */
static PetscErrorCode TestInverse(PetscInt d, PetscBool awkward, PetscInt *wrong, PetscReal *worst)
{
  const PetscInt ld = (d + POLDER_SWEEP - 1) / POLDER_SWEEP * POLDER_SWEEP;
  PetscScalar   *E, *X, *full, *dE, *dX, *scale, *hscale, *dinfo, info[POLDER_COARSE_INFO];
  PetscInt       left = 0;
  void          *work;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PetscCalloc4((size_t)ld * ld, &full, (size_t)d * d, &E, (size_t)ld * ld, &X, ld, &hscale));
  PetscCall(RandomDefinite(d, awkward, E));
  for (PetscInt i = 0; i < d; ++i) PetscCall(PetscArraycpy(full + (size_t)i * ld, E + (size_t)i * d, d));
  PetscCall(PolderDeviceUpload(sizeof(*full) * ld * ld, full, &dE));
  PetscCall(Poisoned(sizeof(*dX) * ld * ld, &dX));
  PetscCall(Poisoned(sizeof(*scale) * ld, &scale));
  PetscCall(Poisoned(sizeof(info), &dinfo));
  PetscCall(PolderDeviceMalloc(PolderWorkSize(PolderCoarseInvertWork_CUDA(ld)), &work));
  PolderLaunch(PolderCoarseScale_CUDA((PolderDense){d, ld, dE}, 1e-15, awkward, scale, dX, dinfo, stream));
  PolderLaunch(PolderCoarseInvert_CUDA((PolderDense){d, ld, dX}, 1e-11, scale, dinfo, work, stream));
  PetscCall(PolderDeviceToHost(full, dX, sizeof(*X) * ld * ld));
  PolderLaunch(PolderCoarseScale_CUDA((PolderDense){d, ld, dE}, 1e-15, awkward, scale, dX, dinfo, stream));
  PolderLaunch(PolderCoarseInvert_CUDA((PolderDense){d, ld, dX}, 1e-11, scale, dinfo, work, stream));
  PetscCall(PolderDeviceToHost(X, dX, sizeof(*X) * ld * ld));
  *wrong += d && memcmp(X, full, sizeof(*X) * ld * ld) != 0; // the same to the bit
  PetscCall(PolderDeviceToHost(hscale, scale, sizeof(*X) * d));
  PetscCall(PolderDeviceToHost(info, dinfo, sizeof(info)));
  for (PetscInt i = 0; i < d; ++i) left += hscale[i] == 0;
  if (d)
    *wrong += left != (awkward ? (d > 40 ? 3 : 1) : 0) || info[POLDER_COARSE_BAD] != 0 || info[POLDER_COARSE_NNULL] != awkward ||
              info[POLDER_COARSE_NZERO] + info[POLDER_COARSE_NNULL] + info[POLDER_COARSE_NDEP] != left;
  CheckInverse(d, E, PETSC_TRUE, (PolderDense){d, ld, X}, hscale, wrong, worst);
  PetscCall(TestProducts(E, (PolderDense){d, ld, dE}, stream, wrong));
  PetscCall(PolderDeviceFree(&dE));
  PetscCall(PolderDeviceFree(&dX));
  PetscCall(PolderDeviceFree(&scale));
  PetscCall(PolderDeviceFree(&dinfo));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PetscFree4(full, E, X, hscale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  GENERAL_PIVOTS, /* a small diagonal, rows and columns of any size */
  GENERAL_SUMS,   /* rows that sum to zero: the last pivot is one of rounding */
  GENERAL_PARTS,  /* two of those that have nothing to do with each other */
  GENERAL_HOLES,  /* column 7 is zero, and so are row 20 and row and column 33; the last column is left out */
  GENERAL_KINDS
} General;

/* A random matrix that is not symmetric; *left: columns that its inverse leaves out */
static void RandomGeneral(PetscInt d, General kind, PetscScalar E[], PetscInt *left)
{
  const PetscBool sums = (PetscBool)(kind == GENERAL_SUMS || kind == GENERAL_PARTS);
  const PetscInt  cut  = kind == GENERAL_PARTS ? d / 3 : 0;

  for (PetscInt i = 0; i < d; ++i) {
    PetscScalar sum = 0;

    for (PetscInt j = 0; j < d; ++j) {
      const PetscScalar e = Next(2000) / 1000.0 - 1;

      if (sums) E[(size_t)i * d + j] = i == j || (i < cut) != (j < cut) ? 0 : -(1 + e) * (1 + i % 5);
      else if (kind == GENERAL_HOLES && d > 40 && (j == 7 || i == 20 || i == 33 || j == 33)) E[(size_t)i * d + j] = 0;
      else E[(size_t)i * d + j] = (i == j && d > 1 ? 1e-14 : e + (PetscAbsInt(i - j) == 1)) * (1 + i % 5) * (1 + j % 3);
      sum += E[(size_t)i * d + j];
    }
    if (sums) E[(size_t)i * d + i] = -sum;
  }
  *left = sums ? (cut ? 2 : 1) : (kind == GENERAL_HOLES ? (d > 40 ? 4 : 1) : 0);
}

/* The inverse by LU: columns whose pivot is zero are left out, and the rest has an inverse then. The same to the bit the second time */
static PetscErrorCode TestGeneral(PetscInt d, General kind, PetscInt *wrong, PetscReal *worst)
{
  const PetscInt ld = (d + POLDER_SWEEP - 1) / POLDER_SWEEP * POLDER_SWEEP;
  PolderDense    A = {d, ld, NULL}, B = A;
  PetscScalar   *E, *X, *Y, *full, *dX, *rows, *hrows, *dinfo, info[POLDER_COARSE_INFO];
  PetscInt       expected, left = 0;
  void          *work;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PetscCalloc5((size_t)ld * ld, &full, (size_t)d * d, &E, (size_t)ld * ld, &X, (size_t)ld * ld, &Y, ld, &hrows));
  RandomGeneral(d, kind, E, &expected);
  for (PetscInt i = 0; i < d; ++i) PetscCall(PetscArraycpy(full + (size_t)i * ld, E + (size_t)i * d, d));
  PetscCall(PolderDeviceUpload(sizeof(*full) * ld * ld, full, &A.a));
  PetscCall(PolderDeviceUpload(sizeof(*full) * ld * ld, full, &dX));
  PetscCall(Poisoned(sizeof(*full) * ld * ld, &B.a));
  PetscCall(Poisoned(sizeof(*rows) * 2 * ld, &rows));
  PetscCall(Poisoned(sizeof(info), &dinfo));
  PetscCall(PolderDeviceMalloc(PolderWorkSize(PolderLUInverseWork_CUDA(d, ld)), &work));
  for (int again = 0; again < 2; ++again) {
    PolderLaunch(PolderCoarseEquilibrate_CUDA(A, 1e-15, (PetscBool)(kind == GENERAL_HOLES), rows, rows + ld, dinfo, stream));
    for (int round = 0; round < 2; ++round) {
      PolderLaunch(PolderCoarseIdentity_CUDA(A, rows, rows + ld, B.a, stream));
      PolderLaunch(PolderLUInverse_CUDA(B, 1e-12, rows, rows + ld, dX, dinfo, work, stream));
    }
    PetscCall(PolderDeviceToHost(again ? Y : X, dX, sizeof(*X) * ld * ld));
  }
  *wrong += d && memcmp(X, Y, sizeof(*X) * ld * ld) != 0;
  PetscCall(PolderDeviceToHost(hrows, rows, sizeof(*X) * d));
  PetscCall(PolderDeviceToHost(info, dinfo, sizeof(info)));
  for (PetscInt i = 0; i < d; ++i) left += hrows[i] == 0;
  if (d)
    *wrong += left != expected || info[POLDER_COARSE_BAD] != 0 || info[POLDER_COARSE_NNULL] != (kind == GENERAL_HOLES) ||
              info[POLDER_COARSE_NZERO] + info[POLDER_COARSE_NNULL] + info[POLDER_COARSE_NDEP] != left;
  CheckInverse(d, E, PETSC_FALSE, (PolderDense){d, ld, X}, hrows, wrong, worst);
  PetscCall(PolderDeviceFree(&A.a));
  PetscCall(PolderDeviceFree(&B.a));
  PetscCall(PolderDeviceFree(&dX));
  PetscCall(PolderDeviceFree(&rows));
  PetscCall(PolderDeviceFree(&dinfo));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PetscFree5(full, E, X, Y, hrows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of E go where their keys say, and those of no column nowhere */
static PetscErrorCode TestDense(PetscInt d, PetscInt *wrong)
{
  const PetscInt ld = (d + POLDER_SWEEP - 1) / POLDER_SWEEP * POLDER_SWEEP, n = 3 * d + 1;
  PetscInt64    *key, *dkey;
  PetscInt      *dn;
  PetscScalar   *val, *expected, *E, *dval, *dE;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PetscCalloc4(n, &key, n, &val, (size_t)ld * ld + 1, &expected, (size_t)ld * ld + 1, &E));
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt i = k / 3, j = (7 * i + 5 * (k % 3)) % PetscMax(d, 1);

    key[k] = k + 1 < n ? (PetscInt64)i * d + j : (PetscInt64)d * d;
    val[k] = 1 + j + d * i;
    if (k + 1 < n) expected[(size_t)i * ld + j] = val[k];
  }
  PetscCall(PolderDeviceUpload(sizeof(*key) * n, key, &dkey));
  PetscCall(PolderDeviceUpload(sizeof(*val) * n, val, &dval));
  PetscCall(PolderDeviceUpload(sizeof(n), &n, &dn));
  PetscCall(PolderDeviceUpload(sizeof(*E) * ((size_t)ld * ld + 1), E, &dE));
  PolderLaunch(PolderCoarseDense_CUDA(dn, dkey, dval, (PolderDense){d, ld, dE}, stream));
  PetscCall(PolderDeviceToHost(E, dE, sizeof(*E) * ((size_t)ld * ld + 1)));
  for (size_t k = 0; k <= (size_t)ld * ld; ++k) *wrong += E[k] != expected[k];
  PetscCall(PolderDeviceFree(&dkey));
  PetscCall(PolderDeviceFree(&dval));
  PetscCall(PolderDeviceFree(&dn));
  PetscCall(PolderDeviceFree(&dE));
  PetscCall(PetscFree4(key, val, expected, E));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestKernels(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  const PetscInt dims[]   = {0, 1, 2, 31, 63, 64, 65, 135, 200, 515, 1000};
  PetscInt       wrong[4] = {0, 0, 0, 0};
  PetscReal      worst    = 0;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Sizes); ++k) {
    PetscCall(TestSegments(Sizes[k], 1, 32, &wrong[0]));
    PetscCall(TestSegments(Sizes[k], 7, 64, &wrong[0]));
    PetscCall(TestSegments(Sizes[k], 1500, 32, &wrong[0]));
    for (PetscInt nghost = 0; nghost <= 13; nghost += 13) {
      PetscCall(TestRows(Sizes[k], 7, 0, 1, nghost, &wrong[1]));
      PetscCall(TestRows(Sizes[k], 5, 0, 9, nghost, &wrong[1]));
      PetscCall(TestRows(Sizes[k], 40, 0, 300, nghost, &wrong[1]));
      PetscCall(TestRows(Sizes[k], 7, 3, 11, nghost, &wrong[1]));
      PetscCall(TestRows(Sizes[k], 27, 13, 300, nghost, &wrong[1]));
    }
  }
  PetscCall(Report("segments", wrong[0]));
  PetscCall(Report("AZ and E", wrong[1]));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(dims); ++k) {
    PetscCall(TestDense(dims[k], &wrong[2]));
    PetscCall(TestInverse(dims[k], PETSC_FALSE, &wrong[2], &worst));
    PetscCall(TestInverse(dims[k], PETSC_TRUE, &wrong[2], &worst));
  }
  if (wrong[2]) PetscCall(PetscPrintf(PETSC_COMM_SELF, "worst |E X - 1| %g\n", (double)worst));
  PetscCall(Report("inverse", wrong[2]));
  worst = 0;
  for (size_t k = 0; dims[k] < 1000; ++k)
    for (int kind = 0; kind < GENERAL_KINDS; ++kind) PetscCall(TestGeneral(dims[k], (General)kind, &wrong[3], &worst));
  if (wrong[3]) PetscCall(PetscPrintf(PETSC_COMM_SELF, "worst |E X - 1| %g\n", (double)worst));
  PetscCall(Report("inverse of a matrix that is not symmetric", wrong[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const DeviceTests DeviceProgram = {help, {TestKernels}};

/*TEST

  build: internal

  test:
    suites: memcheck racecheck
    requires: cuda

TEST*/
