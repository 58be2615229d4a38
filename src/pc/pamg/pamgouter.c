/*
  Pairwise-aggregation multigrid on several devices: off-process entries, which are few and pass through the host when a level is made, and small levels that
  are gathered.
*/
#include "pamgsetup.h"
#include "kernels/galerkin.h"
#include "kernels/outer.h"
#include <petsc/private/matimpl.h>

/* Copies device memory to a new host array, which the caller frees */
static PetscErrorCode PamgDownload(size_t bytes, const void *device, void *host)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, host));
  PetscCall(PolderDeviceToHost(*(void **)host, device, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFreeOuter(PamgLevel *L)
{
  PamgOuter *O       = &L->outer;
  void     **array[] = {(void **)&O->rows_d.row, (void **)&O->rows_d.ptr, (void **)&O->rows_d.col, (void **)&O->rows_d.val,
                        (void **)&O->target_d,   (void **)&O->to_d.ptr,   (void **)&O->to_d.row,   &O->dinv};

  PetscFunctionBegin;
  PetscCall(PetscFree(O->rows.row));
  PetscCall(PetscFree(O->rows.ptr));
  PetscCall(PetscFree(O->rows.col));
  PetscCall(PetscFree(O->rows.val));
  PetscCall(PetscFree(O->target));
  PetscCall(PetscFree(O->to.ptr));
  PetscCall(PetscFree(O->to.row));
  PetscCall(PetscFree(O->agg));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(array); ++k) PetscCall(PolderDeviceFree(array[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the off-process entries on the device and copies their pattern there. row, col: the same lists where the device has them already, or NULL */
static PetscErrorCode PamgUploadOuter(PamgOuter *O, const PetscInt *row, const PetscInt *col)
{
  const size_t index = sizeof(PetscInt), rows = index * (size_t)O->rows.n, entries = index * (size_t)O->rows.nz;

  PetscFunctionBegin;
  O->rows_d.n  = O->rows.n;
  O->rows_d.nz = O->rows.nz;
  PetscCall(PolderDeviceUpload(index * (size_t)(O->rows.n + 1), O->rows.ptr, &O->rows_d.ptr));
  if (row) {
    PetscCall(PolderDeviceMalloc(rows, &O->rows_d.row));
    PetscCall(PolderDeviceToDevice(O->rows_d.row, row, rows));
  } else PetscCall(PolderDeviceUpload(rows, O->rows.row, &O->rows_d.row));
  if (col) {
    PetscCall(PolderDeviceMalloc(entries, &O->rows_d.col));
    PetscCall(PolderDeviceToDevice(O->rows_d.col, col, entries));
  } else PetscCall(PolderDeviceUpload(entries, O->rows.col, &O->rows_d.col));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)O->rows.nz, &O->rows_d.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgOuterPattern(PetscInt m, const PetscInt bi[], const PetscInt bj[], PolderSparseRows *rows)
{
  PetscFunctionBegin;
  PetscCall(PolderCSRListRows(m, bi, rows));
  PetscCall(PetscMalloc1(rows->nz, &rows->col));
  PetscCall(PetscMalloc1(rows->nz, &rows->val));
  PetscCall(PetscArraycpy(rows->col, bj, rows->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGNeedOuter(PamgLevel *L)
{
  const PolderSparseRows *D = &L->outer.rows_d;
  PolderSparseRows       *H = &L->outer.rows;

  PetscFunctionBegin;
  if (!L->outer.planes || H->ptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgDownload(sizeof(*H->row) * (size_t)H->n, D->row, &H->row));
  PetscCall(PamgDownload(sizeof(*H->ptr) * (size_t)(H->n + 1), D->ptr, &H->ptr));
  PetscCall(PamgDownload(sizeof(*H->col) * (size_t)H->nz, D->col, &H->col));
  PetscCall(PamgDownload(sizeof(*H->val) * (size_t)H->nz, D->val, &H->val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the first level that have off-process entries, from the pattern of the matrix, which is on the host, too */
static PetscErrorCode PamgFindPattern(PamgLevel *L)
{
  const PetscInt *bi, *bj;
  PetscInt        m;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(L->csr.offdiag, 0, PETSC_FALSE, PETSC_FALSE, &m, &bi, &bj, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix type %s does not give out its rows", ((PetscObject)L->csr.offdiag)->type_name);
  PetscCall(PCPAMGFindPlanes(L, bi, bj));
  if (!L->outer.planes) {
    PetscCall(PamgOuterPattern(m, bi, bj, &L->outer.rows));
    PetscCall(PamgUploadOuter(&L->outer, NULL, L->csr.bj));
  }
  PetscCall(MatRestoreRowIJ(L->csr.offdiag, 0, PETSC_FALSE, PETSC_FALSE, &m, &bi, &bj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFindOuter(PC_PAMG *pamg)
{
  PamgLevel *L = pamg->level;

  PetscFunctionBegin;
  if (pamg->given) PetscCall(PCPAMGTakePlanes(L, &pamg->given->at));
  else PetscCall(PamgFindPattern(L));
  L->nzouter = L->outer.rows.nz;
  PetscCall(PolderDeviceMalloc(PamgValueSize(pamg) * (size_t)(L->csr.nghost + 1), &L->outer.dinv));
  PetscCall(PCPAMGRefreshOuter(pamg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGRefreshOuter(PC_PAMG *pamg)
{
  PamgLevel   *L     = pamg->level;
  PamgOuter   *O     = &L->outer;
  const size_t bytes = sizeof(*O->rows.val) * (size_t)O->rows.nz;

  PetscFunctionBegin;
  if (O->rows.val) PetscCall(PolderDeviceToHost(O->rows.val, L->csr.ba, bytes));
  PetscCall(PolderDeviceToDevice(O->rows_d.val, L->csr.ba, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGLocalExcessDevice(const PamgLevel *L, const PamgLevel *C, PetscReal excess[], PetscReal here[])
{
  const PamgOuter *O   = &L->outer;
  PetscInt         far = 0, *agg = NULL;
  PolderStream     stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  for (PetscInt g = 0; g < L->csr.nghost && L->ghostagg; ++g) far += L->ghostagg[g] >= C->nghost;
  if (far) PetscCall(PolderDeviceUpload(sizeof(*agg) * (size_t)L->csr.nghost, L->ghostagg, &agg));
  PetscCall(PolderDeviceToDevice(here, excess, sizeof(*here) * (size_t)L->nc));
  PolderLaunch(PolderOuterExcess_CUDA(&C->outer.rows_d, &O->rows_d, &O->to_d, agg, C->nghost, excess, here, stream));
  PetscCall(PolderDeviceFree(&agg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGRowsToHost(PamgLevel *L, PolderCSR *own)
{
  const PamgOuter *O = &L->outer;
  const PetscInt   n = L->gathered ? L->nown : L->csr.m;
  PetscInt        *bi, nz = 0;

  PetscFunctionBegin;
  PetscCall(PCPAMGNeedOuter(L));
  *own = (PolderCSR){.m      = n,
                     .M      = L->N,
                     .rstart = L->gathered ? L->rstart : L->csr.rstart,
                     .nghost = L->gathered ? L->nghost : L->csr.nghost,
                     .garray = L->gathered ? L->garray : L->csr.garray,
                     .bj     = O->rows.col,
                     .ba     = O->rows.val};
  if (n) {
    PetscCall(PamgDownload(sizeof(nz) * (size_t)(n + 1), L->gathered ? L->ai : L->csr.ai, &own->ai));
    nz = own->ai[n];
  } else PetscCall(PetscCalloc1(1, (PetscInt **)&own->ai));
  PetscCall(PamgDownload(sizeof(nz) * (size_t)nz, L->gathered ? L->aj : L->csr.aj, &own->aj));
  PetscCall(PamgDownload(sizeof(PetscScalar) * (size_t)nz, L->gathered ? L->aa : L->csr.aa, &own->aa));
  PetscCall(PetscMalloc1(n + 1, &bi));
  for (PetscInt i = 0, k = 0; i <= n; ++i) {
    bi[i] = O->rows.ptr[k];
    if (k < O->rows.n && O->rows.row[k] == i) ++k;
  }
  own->bi = bi;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFreeRowsOnHost(PolderCSR *own)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(own->ai));
  PetscCall(PetscFree(own->aj));
  PetscCall(PetscFree(own->aa));
  PetscCall(PetscFree(own->bi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the aggregates of the rows with off-process entries, given the aggregate of each */
static PetscErrorCode PamgTargets(PamgLevel *L)
{
  PamgOuter     *O    = &L->outer;
  const PetscInt rows = O->rows.n;
  PetscInt      *work, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(3 * rows, &work));
  PetscCall(PetscMalloc1(rows, &O->target));
  PetscCall(PetscMalloc1(rows + 2, &O->to.ptr));
  PetscCall(PetscMalloc1(rows, &O->to.row));
  PolderIndexSort_Host(rows, O->agg, O->to.row, work);
  for (; n < rows && O->agg[n] < L->nc; ++n) {
    if (n && O->agg[n] == O->agg[n - 1]) continue;
    O->to.ptr[O->to.n]   = n;
    O->target[O->to.n++] = O->agg[n];
  }
  O->to.ptr[O->to.n] = O->to.ptr[O->to.n + 1] = n; // rows in no aggregate are not listed
  PetscCall(PetscFree(work));
  PetscCall(PetscFree(O->agg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgUploadTargets(PamgOuter *O)
{
  const size_t   index = sizeof(PetscInt);
  const PetscInt n     = O->to.ptr[O->to.n];

  PetscFunctionBegin;
  PetscCall(PolderDeviceUpload(index * (size_t)O->to.n, O->target, &O->target_d));
  PetscCall(PolderDeviceUpload(index * (size_t)(O->to.n + 2), O->to.ptr, &O->to_d.ptr));
  PetscCall(PolderDeviceUpload(index * (size_t)n, O->to.row, &O->to_d.row));
  O->to_d.m = n;
  O->to_d.n = O->to.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L->ghostagg <- the global aggregate of each ghost, -1 for none; C->rstart <- the first one of this process */
static PetscErrorCode PamgGhostAggregates(const PamgLevel *L, PamgLevel *C, PetscInt theirs[])
{
  const PetscInt n = L->csr.nghost, mine[2] = {L->n, L->nc};
  PetscInt      *there, *all, rows = 0, aggregates = 0;
  PetscMPIInt    size, rank, r = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(L->comm, &size));
  PetscCallMPI(MPI_Comm_rank(L->comm, &rank));
  PetscCall(PetscMalloc1(2 * size, &all));
  PetscCallMPI(MPI_Allgather(mine, 2, MPIU_INT, all, 2, MPIU_INT, L->comm));
  PetscCall(PolderDeviceMalloc(sizeof(*there) * (size_t)n, &there));
  PetscCall(PolderHaloExchangeDevice(L->halo, MPIU_INT, L->agg, there));
  PetscCall(PolderDeviceToHost(theirs, there, sizeof(*there) * (size_t)n));
  PetscCall(PolderDeviceFree(&there));
  for (PetscInt k = 0; k < n; ++k) {
    for (; L->csr.garray[k] >= rows + all[2 * r]; ++r) {
      rows += all[2 * r];
      aggregates += all[2 * r + 1];
    }
    theirs[k] = theirs[k] < all[2 * r + 1] ? aggregates + theirs[k] : -1;
  }
  C->rstart = 0;
  for (r = 0; r < rank; ++r) C->rstart += all[2 * r + 1];
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgUploadOuterValues(const PamgOuter *O)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceFromHost(O->rows_d.val, O->rows.val, sizeof(*O->rows.val) * (size_t)O->rows.nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGOuterAggregates(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel   *L     = &pamg->level[l];
  PamgOuter   *O     = &L->outer;
  const size_t bytes = sizeof(PetscInt) * (size_t)O->rows.n;
  PetscInt    *there;

  PetscFunctionBegin;
  if (!L->halo || L->border.lists) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGNeedOuter(L));
  PetscCall(PolderDeviceMalloc(bytes, &there));
  PolderLaunch(PolderIndexGather_CUDA(O->rows.n, O->rows_d.row, L->agg, there, pamg->stream));
  PetscCall(PamgDownload(bytes, there, &O->agg));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PetscMalloc1(L->csr.nghost, &L->ghostagg));
  PetscCall(PamgGhostAggregates(L, L + 1, L->ghostagg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P^T B P of the off-process entries B */
static PetscErrorCode PamgGalerkinOuter(const PamgLevel *L, PamgLevel *C)
{
  const PamgOuter *O = &L->outer;
  PamgOuter       *D = &C->outer;
  PetscInt        *place;
  const PolderRows B = PamgScaledEntries(L, PolderRowsOf(&O->rows));

  PetscFunctionBegin;
  D->rows.n = O->to.n;
  PetscCall(PetscMalloc1(D->rows.n, &D->rows.row));
  PetscCall(PetscArraycpy(D->rows.row, O->target, D->rows.n));
  PetscCall(PetscMalloc1(D->rows.n + 1, &D->rows.ptr));
  PetscCall(PetscMalloc1(O->rows.nz, &D->rows.col));
  PetscCall(PetscMalloc1(O->rows.nz, &D->rows.val));
  PetscCall(PetscMalloc1(PetscMax(D->rows.n, C->nghost), &place));
  D->rows.nz = PolderGalerkin_Host(&O->to, &B, C->nghost, L->ghostagg, PETSC_FALSE, place, &D->rows);
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the rows of all processes on each through the host */
static PetscErrorCode PamgGatherByHost(PC_PAMG *pamg, MPI_Comm comm, PamgLevel *C)
{
  const size_t index = sizeof(PetscInt);
  PetscInt    *gi, *gj;
  PetscScalar *ga;
  PetscInt64  *place = NULL;
  PolderCSR    own;

  PetscFunctionBegin;
  PetscCall(PCPAMGRowsToHost(C, &own));
  PetscCall(PCPAMGGatherRows(comm, &own, C));
  PetscCall(PCPAMGGatherExcess(pamg, comm, C));
  PetscCall(PCPAMGFreeRowsOnHost(&own));
  gi    = C->gi;
  gj    = C->gj;
  ga    = C->ga;
  C->nz = gi[C->N];
  PetscCall(PolderDeviceUpload(index * (size_t)(C->N + 1), gi, &C->gi));
  PetscCall(PolderDeviceUpload(index * (size_t)C->nz, gj, &C->gj));
  PetscCall(PolderDeviceUpload(sizeof(*ga) * (size_t)C->nz, ga, &C->ga));
  PetscCall(PetscFree(gi));
  PetscCall(PetscFree(gj));
  PetscCall(PetscFree(ga));
  PetscCall(PCPAMGNeedPlaces(pamg));
  if (pamg->gridplace) PetscCall(PamgDownload(sizeof(*place) * (size_t)C->nown, pamg->gridplace, &place));
  PetscCall(PCPAMGFreePlaces(pamg));
  PetscCall(PCPAMGGatherPlaces(comm, C, &place));
  if (place) PetscCall(PolderDeviceUpload(sizeof(*place) * (size_t)C->N, place, &pamg->gridplace));
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the rows of all processes on each */
static PetscErrorCode PamgGatherDevice(PC_PAMG *pamg, const PamgLevel *L, PamgLevel *C)
{
  PetscBool done;

  PetscFunctionBegin;
  C->gathered = PETSC_TRUE;
  C->nzouter  = C->outer.rows.nz;
  PetscCall(PCPAMGGatherGrid(pamg, (PetscInt)(L - pamg->level), &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGGatherRowsDevice(pamg, L->comm, C, &done));
  if (!done) PetscCall(PamgGatherByHost(pamg, L->comm, C));
  C->csr = (PolderCSR){.m = C->N, .M = C->N, .ai = C->gi, .aj = C->gj, .aa = C->ga, .device = PETSC_TRUE};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The off-process entries of level C. The work of the host comes first, while the device makes the rows */
static PetscErrorCode PamgSortOuter(PamgLevel *L, PamgLevel *C, PetscBool gather)
{
  PetscFunctionBegin;
  PetscCall(PamgTargets(L));
  PetscCall(PCPAMGNumberGhosts(L->csr.nghost, L->ghostagg, C));
  PetscCall(PamgGalerkinOuter(L, C));
  if (!gather) PetscCall(PolderHaloCreate(L->comm, C->nown, C->nghost, C->garray, &C->halo));
  PetscCall(PamgUploadTargets(&L->outer));
  PetscCall(PamgUploadOuter(&C->outer, L->outer.target_d, NULL));
  PetscCall(PamgUploadOuterValues(&C->outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGCoarseOuter(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel      *L = &pamg->level[l], *C = L + 1;
  const PetscBool gather = PamgGathers(pamg, L, C->N);

  PetscFunctionBegin;
  C->nown = L->nc;
  if (L->border.lists) PetscCall(PCPAMGPlanesCoarse(pamg, l, gather));
  else PetscCall(PamgSortOuter(L, C, gather));
  PetscCall(PCPAMGMendCoarse(pamg, l));
  if (gather) PetscCall(PamgGatherDevice(pamg, L, C));
  else {
    C->csr.M      = C->N;
    C->csr.rstart = C->rstart;
    C->csr.nghost = C->nghost;
    C->csr.garray = C->garray;
    C->ownshalo   = PETSC_TRUE;
    PetscCall(PolderDeviceMalloc(PamgValueSize(pamg) * (size_t)(C->nghost + 1), &C->outer.dinv));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of the off-process entries of level C */
static PetscErrorCode PamgSortedValues(const PamgLevel *L, PamgLevel *C)
{
  const PamgOuter *O = &L->outer;
  PamgOuter       *D = &C->outer;
  const PolderRows B = PamgScaledEntries(L, PolderRowsOf(&O->rows));
  PetscInt        *place;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(PetscMax(D->rows.n, C->nghost), &place));
  PolderGalerkinValues_Host(&O->to, &B, C->nghost, L->ghostagg, PETSC_FALSE, place, &D->rows);
  PetscCall(PetscFree(place));
  PetscCall(PamgUploadOuterValues(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGCoarseOuterValues(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel *L = &pamg->level[l], *C = L + 1;

  PetscFunctionBegin;
  if (L->border.lists) PetscCall(PCPAMGPlanesValues(pamg, l));
  else PetscCall(PamgSortedValues(L, C));
  PetscCall(PCPAMGMendCoarse(pamg, l));
  if (C->total) PetscCall(PCPAMGGatherRowsValues(pamg, L->comm, C));
  else if (C->wholevalues) PetscCall(PCPAMGGatherGridValues(pamg, l));
  else if (C->gathered) {
    PolderCSR    own;
    PetscScalar *ga;
    PetscInt     nz;

    PetscCall(PCPAMGRowsToHost(C, &own));
    PetscCall(PCPAMGGatherValues(L->comm, &own, &nz, &ga));
    PetscCall(PolderDeviceFromHost(C->ga, ga, sizeof(*ga) * (size_t)nz));
    PetscCall(PetscFree(ga));
    PetscCall(PCPAMGFreeRowsOnHost(&own));
    PetscCall(PCPAMGGatherExcess(pamg, L->comm, C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
