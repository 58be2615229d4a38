/* The device side of a deflation space: set-up from a matrix that is there, or from what was set up on the host, and the steps of the operators. */
#include "deflationdevice.h"
#include "mat/dia.h"
#include "kernels/deflation.h"

/* Threads that keep the device busy with the sums of Z^T v, and the least and the most items of each. Labels of so many items on average take a block a segment, so that most of them have
   one, and nothing waits for the other segments of a label; below, it is a warp */
#define POLDER_SEGMENT_THREADS 262144
#define POLDER_SEGMENT_LEAST   8
#define POLDER_SEGMENT_MOST    64
#define POLDER_SEGMENT_WIDE    512

static PetscErrorCode PolderSegmentsDestroy(PolderSegments *s)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceFree(&s->item));
  PetscCall(PolderDeviceFree(&s->first));
  PetscCall(PolderDeviceFree(&s->ptr));
  PetscCall(PolderDeviceFree(&s->label));
  PetscCall(PolderDeviceFree(&s->weight));
  PetscCall(PolderDeviceFree(&s->sum));
  PetscCall(PolderDeviceFree(&s->counter));
  s->n = s->nlabel = s->most = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSegmentsBuild(PetscInt n, PetscInt nlabel, const PetscInt label[], PolderSegments *s)
{
  const PetscBool wide   = (PetscBool)(n / PetscMax(nlabel, 1) >= POLDER_SEGMENT_WIDE);
  const PetscInt  length = (wide ? 256 : 32) * PetscClipInterval(n / POLDER_SEGMENT_THREADS, POLDER_SEGMENT_LEAST, POLDER_SEGMENT_MOST), most = n / length + nlabel;
  const size_t    bytes = PolderWorkSize(PolderLabelsSortWork_CUDA(n, nlabel));
  PetscInt       *start;
  void           *work;
  PolderStream    stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceFree(&s->weight));
  if (n != s->n || nlabel != s->nlabel) {
    PetscCall(PolderSegmentsDestroy(s));
    s->n      = n;
    s->nlabel = nlabel;
    s->most   = most;
    s->wide   = wide;
    PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)n, &s->item));
    PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * ((size_t)nlabel + 1), &s->first));
    PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * ((size_t)most + 1), &s->ptr));
    PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)most, &s->label));
    PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)most, &s->sum));
    PetscCall(PolderDeviceMalloc(sizeof(unsigned int) * (size_t)nlabel, &s->counter));
    PetscCall(PolderDeviceZero(s->counter, sizeof(unsigned int) * (size_t)nlabel));
  }
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * ((size_t)nlabel + 1), &start));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderLabelsSort_CUDA(n, nlabel, label, s->item, start, bytes, work, stream));
  PolderLaunch(PolderSegmentsMake_CUDA(nlabel, length, start, s->first, s->ptr, s->label, stream));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PolderDeviceFree(&start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of a CSR matrix of nrow rows row[] with nz entries */
static PetscErrorCode PolderSegmentsBuildColumns(PetscInt nrow, PetscInt nz, PetscInt ncol, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PolderSegments *s)
{
  PetscInt    *item;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderSegmentsBuild(nz, ncol, col, s));
  PetscCall(PolderDeviceMalloc(sizeof(*item) * (size_t)nz, &item));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)nz, &s->weight));
  PolderLaunch(PolderEntriesGather_CUDA(nz, nrow, row, ptr, val, s->item, item, s->weight, stream));
  PetscCall(PolderDeviceFree(&s->item));
  s->item = item;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a <- y + alpha times the sums over the columns */
static PetscErrorCode PolderSegmentsSum(const PolderSegments *s, const PetscScalar v[], PetscScalar alpha, const PetscScalar y[], PetscScalar a[], PetscBool early)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderSegmentSums_CUDA(s->nlabel, s->most, s->wide, s->first, s->ptr, s->label, s->item, s->weight, v, s->sum, s->counter, alpha, y, a, early, stream));
  PetscCall(PetscLogGpuFlops((s->weight ? 2.0 : 1.0) * s->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationDeviceReset(PolderDeflationDevice g)
{
  PetscFunctionBegin;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceFree(&g->zi));
  PetscCall(PolderDeviceFree(&g->zj));
  PetscCall(PolderDeviceFree(&g->zv));
  PetscCall(PolderDeviceFree(&g->wrow));
  PetscCall(PolderDeviceFree(&g->wi));
  PetscCall(PolderDeviceFree(&g->wj));
  PetscCall(PolderDeviceFree(&g->wv));
  PetscCall(PolderSegmentsDestroy(&g->wcolumns));
  PetscCall(PolderDeviceFree(&g->a1));
  PetscCall(PolderDeviceFree(&g->a2));
  PetscCall(PolderDeviceFree(&g->v));
  g->nz = g->nw = g->wnz = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationDeviceDestroy(PolderDeflationDevice *device)
{
  PetscFunctionBegin;
  if (!*device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationDeviceReset(*device));
  PetscCall(PolderDeviceFree(&(*device)->label));
  PetscCall(PolderDeflationDestroyRuns(*device));
  PetscCall(PolderSegmentsDestroy(&(*device)->columns));
  PetscCall(PetscFree(*device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationWork_Private(PolderDeflationDevice g, PetscInt d)
{
  PetscFunctionBegin;
  g->d = d;
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)d, &g->a1));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)d, &g->a2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------ set-up on the device ------------------------------------------------ */

/* g->label and the rows by label; kinds that have no device path are labelled on the host */
static PetscErrorCode PolderDeflationLabels_Private(PolderDeflationSpace s, Mat A, const PolderCSR *csr)
{
  PolderDeflationDevice g    = s->dev;
  PetscBool             made = s->labelsvalid, runs = PETSC_FALSE;
  PolderCSR             host;

  PetscFunctionBegin;
  if (s->labelsvalid && g->label) PetscFunctionReturn(PETSC_SUCCESS);
  if (!g->label) PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)s->m, &g->label));
  PetscCall(PolderLogBegin(POLDER_DeflationLabels, (PetscObject)A));
  if (!made) {
    PetscCall(PetscFree(s->label));
    PetscCall(PolderDeflationMakeLabelsDevice(s, A, csr, g->label, &s->d, &made));
    if (!made) {
      PetscCall(PetscMalloc1(s->m, &s->label));
      PetscCall(PolderMatGetCSR(A, &host));
      PetscCall(PolderDeflationMakeLabels(s, A, &host, s->label, &s->d));
      PetscCall(PolderMatRestoreCSR(A, &host));
    }
  }
  if (s->label) PetscCall(PolderDeviceFromHost(g->label, s->label, sizeof(*s->label) * (size_t)s->m));
  g->d = s->d;
  if (s->d) PetscCall(PolderDeflationMakeRuns(g, A, &runs));
  if (s->d && !runs) PetscCall(PolderSegmentsBuild(s->m, s->d, g->label, &g->columns));
  PetscCall(PolderLogEnd(POLDER_DeflationLabels, (PetscObject)A));
  s->labelsvalid = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AZ on the rows where it is not zero; whether the constant vector lies in the kernel of A, and whether every row has a label */
static PetscErrorCode PolderDeflationMakeAZ_Private(PolderDeflationSpace s, Mat A, const PolderCSR *csr)
{
  PolderDeflationDevice g     = s->dev;
  const size_t          bytes = PolderWorkSize(PolderRowsScanWork_CUDA(s->m));
  const PolderDia      *dia;
  PetscInt             *count;
  PetscInt64           *scan, *found, host[2]; /* found: entries and rows of AZ, two flags */
  int                   flags[2];
  void                 *work;
  PolderStream          stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*count) * (size_t)s->m, &count));
  PetscCall(PolderDeviceMalloc(sizeof(*scan) * (size_t)s->m, &scan));
  PetscCall(PolderDeviceMalloc(sizeof(host), &found));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PetscCall(PolderDeviceZero(found, sizeof(host)));
  PetscCall(PolderMatGetDeviceDia(A, &dia)); // half the bytes of compressed rows
  if (dia && dia->nd > POLDER_LABEL_DIAGONALS) dia = NULL;
  if (dia) PolderLaunch(PolderLabelRowsCountDia_CUDA(s->m, dia->nd, dia->off, dia->val, g->label, count, (int *)(found + 1), stream));
  else PolderLaunch(PolderLabelRowsCount_CUDA(s->m, csr->ai, csr->aj, csr->aa, g->label, count, (int *)(found + 1), stream));
  PolderLaunch(PolderRowsScan_CUDA(s->m, count, scan, bytes, work, stream));
  PetscCall(PolderDeviceToDevice(found, scan + s->m - 1, sizeof(*scan)));
  PetscCall(PolderDeviceToHost(host, found, sizeof(host)));
  PetscCall(PetscMemcpy(flags, host + 1, sizeof(flags)));
  s->nullspace = (PetscBool)!flags[0];
  s->covers    = (PetscBool)!flags[1];
  g->nw        = (PetscInt)(host[0] >> 32);
  g->wnz       = (PetscInt)(host[0] & 0xffffffff);
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)g->nw, &g->wrow));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * ((size_t)g->nw + 1), &g->wi));
  PetscCall(PolderDeviceMalloc(sizeof(PetscInt) * (size_t)g->wnz, &g->wj));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)g->wnz, &g->wv));
  PetscCall(PolderDeviceZero(g->wi, sizeof(PetscInt)));
  if (dia) PolderLaunch(PolderLabelRowsFillDia_CUDA(s->m, dia->nd, dia->off, dia->val, g->label, count, scan, g->nw, g->wrow, g->wi, g->wj, g->wv, stream));
  else PolderLaunch(PolderLabelRowsFill_CUDA(s->m, csr->ai, csr->aj, csr->aa, g->label, count, scan, g->nw, g->wrow, g->wi, g->wj, g->wv, stream));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PolderDeviceFree(&found));
  PetscCall(PolderDeviceFree(&scan));
  PetscCall(PolderDeviceFree(&count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E = Z^T (AZ) and its solver */
static PetscErrorCode PolderDeflationMakeE_Private(PolderDeflationSpace s, PetscBool drop)
{
  PolderDeflationDevice g     = s->dev;
  const size_t          bytes = PolderWorkSize(PolderGalerkinWork_CUDA(s->d, g->wnz));
  PetscInt             *n;
  PetscInt64           *key;
  PetscScalar          *val;
  void                 *work;
  PolderStream          stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*n), &n));
  PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)g->wnz, &key));
  PetscCall(PolderDeviceMalloc(sizeof(*val) * (size_t)g->wnz, &val));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderGalerkin_CUDA(s->d, g->nw, g->wnz, g->label, g->wrow, g->wi, g->wj, g->wv, n, key, val, bytes, work, stream));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PolderCoarseSetUpDevice(s->coarse, s->d, n, key, val, drop));
  PetscCall(PolderDeviceFree(&val));
  PetscCall(PolderDeviceFree(&key));
  PetscCall(PolderDeviceFree(&n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSetUpDevice(PolderDeflationSpace s, Mat A, const PolderCSR *csr, PetscBool *done)
{
  PetscMPIInt size;
  PetscBool   drop = PETSC_FALSE;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(s->comm, &size));
  if (s->weighted || size > 1 || !s->m) PetscFunctionReturn(PETSC_SUCCESS);
  *done = PETSC_TRUE;
  if (!s->dev) PetscCall(PetscNew(&s->dev));
  s->dev->m = s->m;
  PetscCall(PolderDeflationLabels_Private(s, A, csr));
  if (s->d) {
    PetscCall(PolderLogBegin(POLDER_DeflationSetUp, (PetscObject)A));
    PetscCall(PolderDeflationWork_Private(s->dev, s->d));
    PetscCall(PolderDeflationMakeAZ_Private(s, A, csr));
    PetscCall(PolderDeflationLeavesOneOut(s, &drop));
    PetscCall(PolderDeflationMakeE_Private(s, drop));
    PetscCall(PolderLogEnd(POLDER_DeflationSetUp, (PetscObject)A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------ from the host ------------------------------------------------ */

/* n entries; local columns become global ones */
static PetscErrorCode PolderUploadColumns_Private(PolderDeflationSpace s, PetscInt n, const PetscInt col[], PetscInt **there)
{
  PetscInt *global;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &global));
  for (PetscInt k = 0; k < n; ++k) global[k] = s->gl[col[k]];
  PetscCall(PolderDeviceUpload(sizeof(*global) * (size_t)n, global, there));
  PetscCall(PetscFree(global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationUpload(PolderDeflationSpace s)
{
  PolderDeflationDevice g;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  s->dev = g;
  g->m   = s->m;
  PetscCall(PolderDeflationWork_Private(g, s->d));
  if (s->zi) {
    g->nz = s->zi[s->m];
    PetscCall(PolderDeviceUpload(sizeof(PetscInt) * ((size_t)s->m + 1), s->zi, &g->zi));
    PetscCall(PolderUploadColumns_Private(s, g->nz, s->zj, &g->zj));
    PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)g->nz, s->zv, &g->zv));
    PetscCall(PolderSegmentsBuildColumns(s->m, g->nz, s->d, NULL, g->zi, g->zj, g->zv, &g->columns));
  } else {
    PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)s->m, s->label, &g->label));
    PetscCall(PolderSegmentsBuild(s->m, s->d, g->label, &g->columns));
  }
  g->nw  = s->nw;
  g->wnz = s->wi[s->nw];
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)s->nw, s->wrow, &g->wrow));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * ((size_t)s->nw + 1), s->wi, &g->wi));
  PetscCall(PolderUploadColumns_Private(s, g->wnz, s->wj, &g->wj));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)g->wnz, s->wv, &g->wv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------ steps ------------------------------------------------ */

static PetscErrorCode PolderDeflationGetRead_Private(PolderDeflationSpace s, Vec v, const PetscScalar **a)
{
  PetscBool          ondevice;
  const PetscScalar *va;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &ondevice));
  if (ondevice) PetscCall(PolderVecGetDeviceRead(v, a));
  else {
    if (!s->dev->v) PetscCall(PolderDeviceMalloc(sizeof(*va) * (size_t)s->m, &s->dev->v));
    PetscCall(VecGetArrayRead(v, &va));
    PetscCall(PolderDeviceFromHost(s->dev->v, va, sizeof(*va) * (size_t)s->m));
    PetscCall(VecRestoreArrayRead(v, &va));
    *a = s->dev->v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationRestoreRead_Private(PolderDeflationSpace s, Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  if (*a != s->dev->v) PetscCall(PolderVecRestoreDeviceRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationGetArray_Private(PolderDeflationSpace s, Vec v, PetscScalar **a)
{
  PetscBool ondevice;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &ondevice));
  if (ondevice) PetscCall(PolderVecGetDeviceArray(v, a));
  else PetscCall(PolderDeflationGetRead_Private(s, v, (const PetscScalar **)a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationRestoreArray_Private(PolderDeflationSpace s, Vec v, PetscScalar **a)
{
  PetscScalar *va;

  PetscFunctionBegin;
  if (*a != s->dev->v) PetscCall(PolderVecRestoreDeviceArray(v, a));
  else {
    PetscCall(VecGetArrayWrite(v, &va));
    PetscCall(PolderDeviceToHost(va, *a, sizeof(*va) * (size_t)s->m));
    PetscCall(VecRestoreArrayWrite(v, &va));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a1 <- Z^T v */
static PetscErrorCode PolderDeflationRestrict_Private(PolderDeflationSpace s, const PetscScalar v[], PetscBool summed, PetscBool early)
{
  PolderDeflationDevice g = s->dev;
  PolderStream          stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (g->runs.m && !summed) {
    PolderLaunch(PolderRunsSum_CUDA(&g->runs, v, stream));
    early = PETSC_TRUE;
  }
  PetscCall(PolderSegmentsSum(&g->columns, g->runs.m ? g->runs.sum : v, 1, NULL, g->a1, early));
  PetscCall(PetscLogGpuFlops(g->runs.m ? 1.0 * g->m : 0.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationRestrict_Device(PolderDeflationSpace s, Vec v)
{
  const PetscScalar *va;

  PetscFunctionBegin;
  PetscCall(PolderDeflationGetRead_Private(s, v, &va));
  PetscCall(PolderDeflationRestrict_Private(s, va, PETSC_FALSE, PETSC_FALSE));
  PetscCall(PolderDeflationRestoreRead_Private(s, v, &va));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationRestrictAZ_Device(PolderDeflationSpace s, Vec x, PetscBool subtract)
{
  PolderDeflationDevice g = s->dev;
  const PetscScalar    *xa;

  PetscFunctionBegin;
  if (!g->wcolumns.nlabel) PetscCall(PolderSegmentsBuildColumns(g->nw, g->wnz, g->d, g->wrow, g->wi, g->wj, g->wv, &g->wcolumns));
  PetscCall(PolderDeflationGetRead_Private(s, x, &xa));
  PetscCall(PolderSegmentsSum(&g->wcolumns, xa, subtract ? -1 : 1, subtract ? g->a1 : NULL, g->a1, PETSC_FALSE));
  PetscCall(PolderDeflationRestoreRead_Private(s, x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationProlongAdd_Device(PolderDeflationSpace s, PetscScalar alpha, Vec x)
{
  PolderDeflationDevice g = s->dev;
  PetscScalar          *xa;
  PolderStream          stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeflationGetArray_Private(s, x, &xa));
  if (g->zi) PolderLaunch(PolderRowsMultAdd_CUDA(g->m, NULL, g->zi, g->zj, g->zv, alpha, g->a2, xa, 0, NULL, NULL, PETSC_FALSE, stream));
  else PolderLaunch(PolderLabelsProlongAdd_CUDA(g->m, g->label, alpha, g->a2, xa, stream));
  PetscCall(PolderDeflationRestoreArray_Private(s, x, &xa));
  PetscCall(PetscLogGpuFlops(g->zi ? 2.0 * g->nz : 2.0 * g->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationApplyP_Device(PolderDeflationSpace s, Vec v, PetscBool summed, PetscBool early, PetscScalar *dot)
{
  PolderDeflationDevice g = s->dev;
  PetscScalar          *va;
  PolderStream          stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeflationGetArray_Private(s, v, &va));
  PetscCall(PolderDeflationRestrict_Private(s, va, summed, early));                                                               // a1 <- Z^T v
  PetscCall(PolderCoarseSolveDevice(s->coarse, g->a1, g->a2, PETSC_TRUE));                                                        // a2 <- E^-1 a1
  PolderLaunch(PolderRowsMultAdd_CUDA(g->nw, g->wrow, g->wi, g->wj, g->wv, -1, g->a2, va, g->d, g->a1, dot, PETSC_TRUE, stream)); // v <- v - AZ a2
  PetscCall(PolderDeflationRestoreArray_Private(s, v, &va));
  PetscCall(PetscLogGpuFlops(2.0 * g->wnz + (dot ? 2.0 * g->d : 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationUnit_Device(PolderDeflationSpace s, PetscInt k)
{
  const PetscScalar one = 1;

  PetscFunctionBegin;
  PetscCall(PolderDeviceZero(s->dev->a2, sizeof(one) * (size_t)s->d));
  PetscCall(PolderDeviceFromHost(s->dev->a2 + k, &one, sizeof(one)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationBytes_Device(PolderDeflationSpace s, PetscReal *bytes)
{
  const PolderDeflationDevice g = s->dev;

  PetscFunctionBegin;
  *bytes = (PetscReal)g->columns.n * (sizeof(PetscInt) + (g->runs.m ? sizeof(PetscScalar) : 0)) + (PetscReal)g->runs.m / 8 + (PetscReal)g->m * sizeof(PetscInt) + (PetscReal)g->nw * 2 * sizeof(PetscInt) + (PetscReal)g->wnz * (sizeof(PetscInt) + sizeof(PetscScalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}
