/* The steps of labelling on the device, where all rows belong to one process. */
#include "deflationlabels.h"
#include "kernels/labels.h"

/* Numbers the pairs by a table of all pairs or, when the table would be too long, by sorting the pairs that occur */
static PetscErrorCode PolderLabelsCompress_Device(const PolderLabelRows *rows, PolderPairs pairs, PetscInt label[], PetscInt *d)
{
  const PetscInt   m     = rows->csr->m;
  const PetscInt64 npair = pairs.npart * pairs.ncomp, longest = PetscMin(PetscMax(4 * (PetscInt64)m, 1 << 20), PETSC_MAX_INT - 1);
  PetscInt        *number, count[2];
  PetscInt64      *key, *sorted;
  size_t           bytes;
  void            *work;
  PolderStream     stream;

  PetscFunctionBegin;
  *d = 0;
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  bytes = npair <= longest ? PolderWorkSize(PolderKeysScanWork_CUDA((PetscInt)npair + 1)) : PolderWorkSize(PolderKeysSortWork_CUDA(m));
  PetscCall(PolderDeviceMalloc(bytes, &work));
  if (npair <= longest) {
    PetscCall(PolderDeviceMalloc(sizeof(*number) * ((size_t)npair + 1), &number));
    PetscCall(PolderDeviceZero(number, sizeof(*number) * ((size_t)npair + 1)));
    PolderLaunch(PolderKeysMark_CUDA(m, pairs.part, pairs.ncomp, pairs.comp, number, stream));
    PolderLaunch(PolderKeysScan_CUDA((PetscInt)npair + 1, number, work, bytes, stream));
    PolderLaunch(PolderKeysLabel_CUDA(m, pairs.part, pairs.ncomp, pairs.comp, number, label, stream));
    PetscCall(PolderDeviceToHost(d, number + npair, sizeof(*d)));
  } else {
    PetscCall(PolderDeviceMalloc(sizeof(count), &number));
    PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)m, &key));
    PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)m, &sorted));
    PolderLaunch(PolderKeysSort_CUDA(m, pairs.part, pairs.npart, pairs.ncomp, pairs.comp, key, sorted, number, work, bytes, stream));
    PolderLaunch(PolderKeysFind_CUDA(m, pairs.part, pairs.npart, pairs.ncomp, pairs.comp, sorted, number, label, number + 1, stream));
    PetscCall(PolderDeviceToHost(count, number, sizeof(count)));
    *d = count[1];
    PetscCall(PolderDeviceFree(&sorted));
    PetscCall(PolderDeviceFree(&key));
  }
  PetscCall(PolderDeviceFree(&number));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderComponentsCount_Device(const PolderLabelRows *rows, PetscInt comp[], PetscInt *n, PetscInt *bound)
{
  PetscFunctionBegin;
  PetscCall(PolderLabelsCompress(rows, (PolderPairs){.npart = 1, .ncomp = rows->csr->M + 1, .comp = comp}, comp, n));
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

/* Always runs all rounds: an empty round is cheaper than testing for one on the host */
static PetscErrorCode PolderRegionsAbsorb_Device(const PolderLabelRows *rows, PetscInt next[], PetscInt comp[])
{
  const PolderCSR *csr = rows->csr;
  PolderStream     stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  for (int round = 0; round < POLDER_REGION_ROUNDS; ++round) {
    PolderLaunch(PolderRegionsNext_CUDA(csr->m, csr->ai, csr->aj, csr->aa, comp, next, stream));
    PolderLaunch(PolderRegionsJoin_CUDA(csr->m, next, comp, stream));
  }
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
  .countcomponents = PolderComponentsCount_Device,
  .numberregions   = PolderRegionsNumber_Device,
  .absorbregions   = PolderRegionsAbsorb_Device,
  .nameregion      = PolderRegionsName_Device,
  .renumber        = PolderRegionsRenumber_Device,
};
