/* The steps of labelling on the device. */
#include "deflationlabels.h"
#include "core/gather.h"
#include "kernels/labels.h"

/* Several processes combine tables of all pairs up to this length, and lists of the pairs that occur beyond it */
#define POLDER_SHARED_TABLE (1 << 16)

static int PolderPairCompare(const void *x, const void *y)
{
  const PetscInt64 a = *(const PetscInt64 *)x, b = *(const PetscInt64 *)y;

  return (a > b) - (a < b);
}

/* label[] of ranks among the n sorted keys of this process becomes that of ranks among the keys of all processes, of which there are *d */
static PetscErrorCode PolderKeysShare(const PolderLabelRows *rows, PetscInt n, const PetscInt64 sorted[], PetscInt label[], PetscInt *d)
{
  PetscInt64 *mine, *all;
  PetscInt   *number, *there, total, nu = 0, at = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &mine, n, &number));
  PetscCall(PolderPlaceTake(rows->place, n, sorted, mine));
  PetscCall(PolderGatherAll(rows->comm, n, mine, sizeof(*mine), &total, &all));
  if (total) qsort(all, (size_t)total, sizeof(*all), PolderPairCompare);
  for (PetscInt k = 0; k < total; ++k) {
    if (!nu || all[nu - 1] != all[k]) all[nu++] = all[k];
  }
  for (PetscInt k = 0; k < n; ++k) {
    while (all[at] != mine[k]) ++at;
    number[k] = at;
  }
  PetscCall(PolderPlaceUpload(rows->place, sizeof(*number) * (size_t)n, number, &there));
  PolderRun(rows->place, PolderKeysLabel, rows->csr->m, NULL, n, label, there, label);
  PetscCall((*rows->place->free)(&there));
  PetscCall(PetscFree(all));
  PetscCall(PetscFree2(mine, number));
  *d = nu;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers the pairs by a table of all pairs */
static PetscErrorCode PolderLabelsByTable(const PolderLabelRows *rows, PolderPairs pairs, PetscInt label[], PetscInt *d)
{
  const PetscInt m = rows->csr->m, npair = (PetscInt)(pairs.npart * pairs.ncomp);
  const size_t   bytes = PolderWorkSize(PolderKeysScanWork_CUDA(npair + 1));
  PetscInt      *number;
  void          *work;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PetscCall(PolderDeviceMalloc(sizeof(*number) * ((size_t)npair + 1), &number));
  PetscCall(PolderDeviceZero(number, sizeof(*number) * ((size_t)npair + 1)));
  PolderLaunch(PolderKeysMark_CUDA(m, pairs.part, pairs.ncomp, pairs.comp, number, stream));
  PetscCall(PolderLabelsReduce(rows, npair, MPI_MAX, number));
  PolderLaunch(PolderKeysScan_CUDA(npair + 1, number, work, bytes, stream));
  PolderLaunch(PolderKeysLabel_CUDA(m, pairs.part, pairs.ncomp, pairs.comp, number, label, stream));
  PetscCall(PolderDeviceToHost(d, number + npair, sizeof(*d)));
  PetscCall(PolderDeviceFree(&number));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers the pairs by sorting those that occur */
static PetscErrorCode PolderLabelsBySorting(const PolderLabelRows *rows, PolderPairs pairs, PetscInt label[], PetscInt *d)
{
  const PetscInt m     = rows->csr->m;
  const size_t   bytes = PolderWorkSize(PolderKeysSortWork_CUDA(m));
  PetscInt      *number, count[2];
  PetscInt64    *key, *sorted;
  void          *work;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PetscCall(PolderDeviceMalloc(sizeof(count), &number));
  PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)m, &key));
  PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)m, &sorted));
  PolderLaunch(PolderKeysSort_CUDA(m, pairs, key, sorted, number, work, bytes, stream));
  PolderLaunch(PolderKeysFind_CUDA(m, pairs, sorted, number, label, number + 1, stream));
  PetscCall(PolderDeviceToHost(count, number, sizeof(count)));
  *d = count[1];
  if (rows->size > 1) PetscCall(PolderKeysShare(rows, count[1], sorted, label, d));
  PetscCall(PolderDeviceFree(&sorted));
  PetscCall(PolderDeviceFree(&key));
  PetscCall(PolderDeviceFree(&number));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderLabelsCompress_Device(const PolderLabelRows *rows, PolderPairs pairs, PetscInt label[], PetscInt *d)
{
  PetscInt64 longest = PetscMin(PetscMax(4 * (PetscInt64)rows->csr->m, 1 << 20), PETSC_MAX_INT - 1);

  PetscFunctionBegin;
  *d = 0;
  if (!rows->csr->m) PetscFunctionReturn(PETSC_SUCCESS);
  if (rows->size > 1) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &pairs.npart, 1, MPIU_INT64, MPI_MAX, rows->comm)); // a process may know its own parts only
    longest = POLDER_SHARED_TABLE;
  }
  if (pairs.npart * pairs.ncomp <= longest) PetscCall(PolderLabelsByTable(rows, pairs, label, d));
  else PetscCall(PolderLabelsBySorting(rows, pairs, label, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Components numbered from 0, since there are fewer of them than rows */
static PetscErrorCode PolderComponentsLocal_Device(const PolderLabelRows *rows, PetscInt comp[], PetscInt *first, PetscInt *n)
{
  PolderLabelRows alone = *rows;

  PetscFunctionBegin;
  alone.comm = PETSC_COMM_SELF;
  alone.size = 1;
  PetscCall(PolderLabelsCompress(&alone, (PolderPairs){.npart = 1, .ncomp = rows->csr->m, .comp = comp}, comp, n));
  PetscCallMPI(MPI_Scan(n, first, 1, MPIU_INT, MPI_SUM, rows->comm));
  *first -= *n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderComponentsCount_Device(const PolderLabelRows *rows, PetscInt comp[], PetscInt *n, PetscInt *bound)
{
  PetscFunctionBegin;
  PetscCall(PolderLabelsCompress(rows, (PolderPairs){.npart = 1, .ncomp = *bound, .comp = comp}, comp, n));
  *bound = PetscMax(*n, 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The regions were numbered from 0 when they were counted */
static PetscErrorCode PolderRegionsNumber_Device(const PolderLabelRows *rows, PetscInt bound, PetscInt comp[], PetscInt **label, PetscInt *n)
{
  PetscFunctionBegin;
  (void)rows;
  (void)bound;
  (void)n;
  *label = comp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderRegionsName_Device(const PolderLabelRows *rows, PetscInt k, const PetscInt comp[], PetscInt **label, PetscInt *name)
{
  PetscFunctionBegin;
  (void)rows;
  (void)comp;
  *label = NULL; // *label is comp[]
  *name  = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderRegionsRenumber_Device(const PolderLabelRows *rows, PetscInt comp[], PetscInt *bound)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(PolderComponentsCount_Device(rows, comp, &n, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderLabelSteps PolderLabelsOnDevice = {
  .place           = &PolderOnDevice,
  .compress        = PolderLabelsCompress_Device,
  .findgrid        = PolderGridFind_Device,
  .partition       = NULL,
  .localcomponents = PolderComponentsLocal_Device,
  .countcomponents = PolderComponentsCount_Device,
  .numberregions   = PolderRegionsNumber_Device,
  .nameregion      = PolderRegionsName_Device,
  .renumber        = PolderRegionsRenumber_Device,
};
