/* The device side of a deflation space: set-up from a matrix on the device, copies of a set-up made on the host, and the steps of the operators. */
#include "deflationdevice.h"
#include "deflationsteps.h"
#include "mat/dia.h"
#include "kernels/deflation.h"

/*
  Threads that keep the device busy with the sums of Z^T v, and the minimum and maximum number of items of a thread. From this average number of items a label
  on, a segment is summed by a block: most labels then have one segment and need no second stage. Below it, a segment is summed by a warp
*/
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
  const PetscBool blocks = (PetscBool)(n / PetscMax(nlabel, 1) >= POLDER_SEGMENT_WIDE);
  const PetscInt  length = (blocks ? 256 : 32) * PetscClipInterval(n / POLDER_SEGMENT_THREADS, POLDER_SEGMENT_LEAST, POLDER_SEGMENT_MOST),
                 most    = n / length + nlabel;
  const size_t bytes     = PolderWorkSize(PolderLabelsSortWork_CUDA(n, nlabel));
  PetscInt    *start;
  void        *work;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceFree(&s->weight));
  if (n != s->n || nlabel != s->nlabel) {
    PetscCall(PolderSegmentsDestroy(s));
    s->n      = n;
    s->nlabel = nlabel;
    s->most   = most;
    s->blocks = blocks;
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

/* Builds the segments of the ncol columns of sparse rows */
static PetscErrorCode PolderSegmentsBuildColumns(const PolderSparseRows *rows, PetscInt ncol, PolderSegments *s)
{
  PetscInt    *item;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderSegmentsBuild(rows->nz, ncol, rows->col, s));
  PetscCall(PolderPlaceMalloc(&PolderOnDevice, rows->nz, &item));
  PetscCall(PolderPlaceMalloc(&PolderOnDevice, rows->nz, &s->weight));
  PolderLaunch(PolderEntriesGather_CUDA(rows, s->item, item, s->weight, stream));
  PetscCall(PolderDeviceFree(&s->item));
  s->item = item;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a <- y + alpha times the sums over the columns */
static PetscErrorCode PolderSegmentsSum(const PolderSegments *s, const PetscScalar v[], PetscScalar alpha, const PetscScalar y[], PetscScalar a[],
                                        PetscBool early)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderSegmentSums_CUDA(s, v, alpha, y, a, early, stream));
  PetscCall(PetscLogGpuFlops((s->weight ? 2.0 : 1.0) * s->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationDeviceReset(PolderDeflationDevice g)
{
  PetscFunctionBegin;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderSparseRowsDestroy(&PolderOnDevice, &g->Z));
  PetscCall(PolderSparseRowsDestroy(&PolderOnDevice, &g->AZ));
  PetscCall(PolderSegmentsDestroy(&g->wcolumns));
  PetscCall(PolderDeviceFree(&g->a1));
  PetscCall(PolderDeviceFree(&g->a2));
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

/* Makes g->label and the rows by label; kinds without a device implementation are labelled on the host */
static PetscErrorCode PolderDeflationMakeLabels_Device(PolderDeflationSpace s, Mat A, const PolderCSR *csr)
{
  PolderDeflationDevice g;
  PetscBool             made = s->labelsvalid, runs = PETSC_FALSE;
  PolderCSR             host;

  PetscFunctionBegin;
  if (!s->dev) PetscCall(PetscNew(&s->dev));
  g    = s->dev;
  g->m = s->m;
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
  if (s->d) PetscCall(PolderDeflationMakeRuns(g, A, &runs)); // the product makes their sums
  if (s->d && !runs) PetscCall(PolderSegmentsBuild(s->m, s->d, g->label, &g->columns));
  PetscCall(PolderLogEnd(POLDER_DeflationLabels, (PetscObject)A));
  s->labelsvalid = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of A and the labels of their columns */
typedef struct {
  const PolderDia *dia; /* the own columns; NULL: own */
  PolderRows       own, ghosts;
  const PetscInt  *label, *ghostlabel;
} PolderLabelled;

/* Counts the entries of the rows of AZ, and raises flags[0] for a row sum of A that is not zero and flags[1] for a row without a label */
static PetscErrorCode PolderAZCount_Private(const PolderLabelled *A, PetscInt count[], int flags[])
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (A->dia) PolderLaunch(PolderLabelRowsCountDia_CUDA(A->dia, A->label, A->ghosts, A->ghostlabel, count, flags, stream));
  else PolderLaunch(PolderLabelRowsCount_CUDA(A->own, A->label, A->ghosts, A->ghostlabel, count, flags, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The nonzero rows of AZ, from the counts and what PolderRowsScan_CUDA() makes of them */
static PetscErrorCode PolderAZFill_Private(const PolderLabelled *A, const PetscInt count[], const PetscInt64 scan[], PolderSparseRows *AZ)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceZero(AZ->ptr, sizeof(*AZ->ptr)));
  if (A->dia) PolderLaunch(PolderLabelRowsFillDia_CUDA(A->dia, A->label, A->ghosts, A->ghostlabel, count, scan, AZ, stream));
  else PolderLaunch(PolderLabelRowsFill_CUDA(A->own, A->label, A->ghosts, A->ghostlabel, count, scan, AZ, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes AZ on its nonzero rows; finds whether the constant vector is in the kernel of A and whether every row has a label */
static PetscErrorCode PolderDeflationMakeAZDevice_Private(PolderDeflationSpace s, Mat A, const PolderCSR *csr)
{
  PolderDeflationDevice g     = s->dev;
  const size_t          bytes = PolderWorkSize(PolderRowsScanWork_CUDA(s->m));
  PolderLabelled        rows  = {.own = PolderOwnRows(csr), .ghosts = PolderGhostColumns(csr), .label = g->label};
  PolderHalo            halo;
  PetscInt             *count, *ghostlabel;
  PetscInt64           *scan, *found, host[2]; /* found: number of entries and of rows of AZ, and two flags */
  int                   flags[2];
  void                 *work;
  PolderStream          stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderMatGetDeviceDia(A, &rows.dia)); // half the bytes of compressed rows
  if (rows.dia && rows.dia->nd > POLDER_LABEL_DIAGONALS) rows.dia = NULL;
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PolderPlaceMalloc(&PolderOnDevice, csr->nghost, &ghostlabel));
  PetscCall(PolderHaloExchangeDevice(halo, MPIU_INT, g->label, ghostlabel));
  rows.ghostlabel = ghostlabel;
  PetscCall(PolderDeviceMalloc(sizeof(*count) * (size_t)s->m, &count));
  PetscCall(PolderDeviceMalloc(sizeof(*scan) * (size_t)s->m, &scan));
  PetscCall(PolderDeviceMalloc(sizeof(host), &found));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PetscCall(PolderDeviceZero(found, sizeof(host)));
  PetscCall(PolderAZCount_Private(&rows, count, (int *)(found + 1)));
  PolderLaunch(PolderRowsScan_CUDA(s->m, count, scan, bytes, work, stream));
  PetscCall(PolderDeviceToDevice(found, scan + s->m - 1, sizeof(*scan)));
  PetscCall(PolderDeviceToHost(host, found, sizeof(host)));
  PetscCall(PetscMemcpy(flags, host + 1, sizeof(flags)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MAX, s->comm));
  s->nullspace = (PetscBool)!flags[0];
  s->covers    = (PetscBool)!flags[1];
  PetscCall(PolderSparseRowsCreate(&PolderOnDevice, (PetscInt)(host[0] >> 32), (PetscInt)(host[0] & 0xffffffff), PETSC_TRUE, &g->AZ));
  PetscCall(PolderAZFill_Private(&rows, count, scan, &g->AZ));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PolderDeviceFree(&found));
  PetscCall(PolderDeviceFree(&scan));
  PetscCall(PolderDeviceFree(&count));
  PetscCall(PolderDeviceFree(&ghostlabel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E = Z^T (AZ) and its solver */
static PetscErrorCode PolderDeflationMakeE_Private(PolderDeflationSpace s, PetscBool drop)
{
  const PolderSparseRows *AZ    = &s->dev->AZ;
  const size_t            bytes = PolderWorkSize(PolderGalerkinWork_CUDA(s->d, AZ->nz));
  PetscInt               *n;
  PetscInt64             *key;
  PetscScalar            *val;
  void                   *work;
  PolderStream            stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*n), &n));
  PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)AZ->nz, &key));
  PetscCall(PolderDeviceMalloc(sizeof(*val) * (size_t)AZ->nz, &val));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderGalerkin_CUDA(s->d, s->dev->label, AZ, (PolderKeyedEntries){n, key, val}, bytes, work, stream));
  PetscCall(PolderDeviceFree(&work));
  PetscCall(PolderCoarseSetUpDevice(s->coarse, s->d, n, key, val, drop));
  PetscCall(PolderDeviceFree(&val));
  PetscCall(PolderDeviceFree(&key));
  PetscCall(PolderDeviceFree(&n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationMakeOperators_Device(PolderDeflationSpace s, Mat A, const PolderCSR *csr)
{
  PetscBool drop = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderDeflationWork_Private(s->dev, s->d));
  PetscCall(PolderDeflationMakeAZDevice_Private(s, A, csr));
  PetscCall(PolderDeflationLeavesOneOut(s, &drop));
  PetscCall(PolderDeflationMakeE_Private(s, drop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationGetRows_Device(Mat A, PolderCSR *csr)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(PolderMatGetDeviceCSR(A, csr, &done)); // the rows are on the device, since this place was chosen
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationMeasure_Device(PolderDeflationSpace s, PetscReal *rows, PetscReal *bytes)
{
  const PolderDeflationDevice g = s->dev;

  PetscFunctionBegin;
  *rows  = g->AZ.n;
  *bytes = (PetscReal)g->columns.n * (sizeof(PetscInt) + (g->runs.m ? sizeof(PetscScalar) : 0)) + (PetscReal)g->runs.m / 8 + (PetscReal)g->m * sizeof(PetscInt);
  *bytes += (PetscReal)g->AZ.n * 2 * sizeof(PetscInt) + (PetscReal)g->AZ.nz * (sizeof(PetscInt) + sizeof(PetscScalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------ copies from the host ------------------------------------------------ */

PetscErrorCode PolderDeflationUpload(PolderDeflationSpace s)
{
  PolderDeflationDevice g;

  PetscFunctionBegin;
  PetscCall(PetscNew(&g));
  s->dev = g;
  g->m   = s->m;
  PetscCall(PolderDeflationWork_Private(g, s->d));
  if (s->Z.ptr) {
    PetscCall(PolderSparseRowsUpload(&s->Z, s->gl, &g->Z));
    PetscCall(PolderSegmentsBuildColumns(&g->Z, s->d, &g->columns));
  } else {
    PetscCall(PolderPlaceUpload(&PolderOnDevice, sizeof(*s->label) * (size_t)s->m, s->label, &g->label));
    PetscCall(PolderSegmentsBuild(s->m, s->d, g->label, &g->columns));
  }
  PetscCall(PolderSparseRowsUpload(&s->AZ, s->gl, &g->AZ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PolderDeflationDeviceHasLabels(PolderDeflationDevice g)
{
  return (PetscBool)(g && g->label);
}

PetscErrorCode PolderDeflationDownloadLabels(PolderDeflationSpace s, PetscInt label[])
{
  PetscFunctionBegin;
  PetscCall(PolderPlaceTake(&PolderOnDevice, s->m, s->dev->label, label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderRuns *PolderDeflationDeviceRuns(PolderDeflationDevice g)
{
  return g->runs.m ? &g->runs : NULL;
}

/* ------------------------------------------------ steps of the operators ------------------------------------------------ */

static PetscErrorCode PolderDeflationRestrict_Device(PolderDeflationSpace s, const PetscScalar v[], PetscBool summed, PetscBool early)
{
  PolderDeflationDevice g = s->dev;
  PolderStream          stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (g->runs.m && !summed) {
    PetscCall(PolderDeviceZero(g->runs.sum + g->runs.n, sizeof(*g->runs.sum) * (size_t)g->runs.outer));
    PolderLaunch(PolderRunsSum_CUDA(&g->runs, v, stream));
    early = PETSC_TRUE;
  }
  PetscCall(PolderSegmentsSum(&g->columns, g->runs.m ? g->runs.sum : v, 1, NULL, g->a1, early));
  PetscCall(PetscLogGpuFlops(g->runs.m ? 1.0 * g->m : 0.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationRestrictAZ_Device(PolderDeflationSpace s, const PetscScalar x[], PetscBool subtract)
{
  PolderDeflationDevice g = s->dev;

  PetscFunctionBegin;
  if (!g->wcolumns.nlabel) PetscCall(PolderSegmentsBuildColumns(&g->AZ, g->d, &g->wcolumns));
  PetscCall(PolderSegmentsSum(&g->wcolumns, x, subtract ? -1 : 1, subtract ? g->a1 : NULL, g->a1, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationCoarseSolve_Device(PolderDeflationSpace s, PetscBool early)
{
  PetscFunctionBegin;
  PetscCall(PolderCoarseSolveDevice(s->coarse, s->dev->a1, s->dev->a2, early));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationProlongAdd_Device(PolderDeflationSpace s, PetscScalar alpha, PetscScalar x[])
{
  PolderDeflationDevice g = s->dev;
  PolderStream          stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (g->Z.ptr) PolderLaunch(PolderRowsMultAdd_CUDA(&g->Z, alpha, g->a2, x, (PolderCoarseDot){0}, PETSC_FALSE, stream));
  else PolderLaunch(PolderLabelsProlongAdd_CUDA(g->m, g->label, alpha, g->a2, x, stream));
  PetscCall(PetscLogGpuFlops(g->Z.ptr ? 2.0 * g->Z.nz : 2.0 * g->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationSubtractAZ_Device(PolderDeflationSpace s, PetscScalar v[], PetscScalar *dot)
{
  PolderDeflationDevice   g  = s->dev;
  const PolderSparseRows *AZ = &g->AZ;
  PolderStream            stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderRowsMultAdd_CUDA(AZ, -1, g->a2, v, (PolderCoarseDot){g->d, g->a1, dot}, PETSC_TRUE, stream));
  PetscCall(PetscLogGpuFlops(2.0 * AZ->nz + (dot ? 2.0 * g->d : 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationUnit_Device(PolderDeflationSpace s, PetscInt k)
{
  const PetscScalar one = 1;

  PetscFunctionBegin;
  PetscCall(PolderDeviceZero(s->dev->a2, sizeof(one) * (size_t)s->d));
  PetscCall(PolderDeviceFromHost(s->dev->a2 + k, &one, sizeof(one)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderDeflationSteps PolderDeflationOnDevice = {
  .place         = &PolderOnDevice,
  .zform         = "labels on the device",
  .getrows       = PolderDeflationGetRows_Device,
  .restorerows   = PolderMatRestoreDeviceCSR,
  .makelabels    = PolderDeflationMakeLabels_Device,
  .makeoperators = PolderDeflationMakeOperators_Device,
  .measure       = PolderDeflationMeasure_Device,
  .restrictz     = PolderDeflationRestrict_Device,
  .restrictaz    = PolderDeflationRestrictAZ_Device,
  .coarsesolve   = PolderDeflationCoarseSolve_Device,
  .prolongadd    = PolderDeflationProlongAdd_Device,
  .subtractaz    = PolderDeflationSubtractAZ_Device,
  .unit          = PolderDeflationUnit_Device,
};
