/*
  Pairwise-aggregation multigrid on several devices: off-process entries, which are few and pass through the host when a level is made, and small levels that
  are gathered.
*/
#include "pamgsetup.h"
#include "kernels/excess.h"
#include "kernels/galerkin.h"
#include "kernels/outer.h"

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
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(array); ++k) PetscCall(PolderDeviceFree(array[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the off-process entries to the device and allocates the level's ghost arrays there */
static PetscErrorCode PamgUploadOuter(const PC_PAMG *pamg, PamgLevel *L)
{
  PamgOuter   *O     = &L->outer;
  const size_t index = sizeof(PetscInt), size = PamgValueSize(pamg);

  PetscFunctionBegin;
  O->rows_d.n = O->rows.n;
  PetscCall(PolderDeviceUpload(index * (size_t)O->rows.n, O->rows.row, &O->rows_d.row));
  PetscCall(PolderDeviceUpload(index * (size_t)(O->rows.n + 1), O->rows.ptr, &O->rows_d.ptr));
  PetscCall(PolderDeviceUpload(index * (size_t)O->rows.nz, O->rows.col, &O->rows_d.col));
  PetscCall(PolderDeviceUpload(sizeof(PetscScalar) * (size_t)O->rows.nz, O->rows.val, &O->rows_d.val));
  PetscCall(PolderDeviceMalloc(size * (size_t)(L->csr.nghost + 1), &O->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFindOuter(PC_PAMG *pamg)
{
  PamgLevel       *L     = pamg->level;
  PamgOuter       *O     = &L->outer;
  const PolderCSR *csr   = &L->csr;
  const size_t     index = sizeof(PetscInt);
  PetscInt        *row, *start, *there;

  PetscFunctionBegin;
  PetscCall(PolderMatGetHalo(L->A, &L->halo));
  if (csr->bi && csr->m) PetscCall(PolderDeviceToHost(&O->rows.nz, csr->bi + csr->m, index));
  if (O->rows.nz) {
    PetscCall(PolderDeviceMalloc(index * (size_t)O->rows.nz, &row));
    PetscCall(PolderDeviceMalloc(index * (size_t)O->rows.nz, &start));
    PetscCall(PolderDeviceMalloc(index, &there));
    PolderLaunch(PolderOuterFind_CUDA(csr->m, csr->bi, row, start, there, pamg->stream));
    PetscCall(PolderDeviceToHost(&O->rows.n, there, index));
    PetscCall(PamgDownload(index * (size_t)O->rows.n, row, &O->rows.row));
    PetscCall(PetscMalloc1(O->rows.n + 1, &O->rows.ptr));
    PetscCall(PolderDeviceToHost(O->rows.ptr, start, index * (size_t)O->rows.n));
    PetscCall(PolderDeviceFree(&row));
    PetscCall(PolderDeviceFree(&start));
    PetscCall(PolderDeviceFree(&there));
    PetscCall(PetscSortInt(O->rows.n, O->rows.row));
    PetscCall(PetscSortInt(O->rows.n, O->rows.ptr));
  } else PetscCall(PetscMalloc1(1, &O->rows.ptr));
  O->rows.ptr[O->rows.n] = O->rows.nz;
  PetscCall(PamgDownload(index * (size_t)O->rows.nz, csr->bj, &O->rows.col));
  PetscCall(PamgDownload(sizeof(*O->rows.val) * (size_t)O->rows.nz, csr->ba, &O->rows.val));
  PetscCall(PamgUploadOuter(pamg, L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGRefreshOuter(PC_PAMG *pamg)
{
  PamgLevel   *L     = pamg->level;
  PamgOuter   *O     = &L->outer;
  const size_t bytes = sizeof(*O->rows.val) * (size_t)O->rows.nz;

  PetscFunctionBegin;
  PetscCall(PolderDeviceToHost(O->rows.val, L->csr.ba, bytes));
  PetscCall(PolderDeviceToDevice(O->rows_d.val, L->csr.ba, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For the coarse rows with off-process entries, those of C->outer: the sum of the entries to rows outside all aggregates, and of the others */
static void PamgSumOuter(const PamgLevel *L, const PamgLevel *C, PetscReal lone[], PetscReal outer[])
{
  const PamgOuter *O = &L->outer, *D = &C->outer;

  for (PetscInt t = 0; t < D->rows.n; ++t) {
    for (PetscInt k = D->rows.ptr[t]; k < D->rows.ptr[t + 1]; ++k) PamgAddEntry(D->rows.val[k], outer + 2 * t);
    for (PetscInt m = O->to.ptr[t]; m < O->to.ptr[t + 1]; ++m) {
      for (PetscInt k = O->rows.ptr[O->to.row[m]]; k < O->rows.ptr[O->to.row[m] + 1]; ++k) {
        if (L->ghostagg[O->rows.col[k]] >= C->nghost) PamgAddEntry(O->rows.val[k], lone + 2 * t);
      }
    }
  }
}

PetscErrorCode PCPAMGLocalExcessDevice(const PamgLevel *L, const PamgLevel *C, PetscReal excess[], PetscReal here[])
{
  const PetscInt n     = C->outer.rows.n;
  const size_t   pairs = 2 * sizeof(*here) * (size_t)n;
  PetscReal     *lone, *outer, *there[2];
  PetscInt      *row;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PetscCalloc2(2 * n, &lone, 2 * n, &outer));
  PamgSumOuter(L, C, lone, outer);
  PetscCall(PolderDeviceToDevice(here, excess, sizeof(*here) * (size_t)L->nc));
  PetscCall(PolderDeviceUpload(pairs, lone, &there[0]));
  PetscCall(PolderDeviceUpload(pairs, outer, &there[1]));
  PetscCall(PolderDeviceUpload(sizeof(*row) * (size_t)n, C->outer.rows.row, &row));
  PolderLaunch(PolderExcessLeave_CUDA(n, row, there[0], there[1], excess, here, stream));
  for (int k = 0; k < 2; ++k) PetscCall(PolderDeviceFree(&there[k]));
  PetscCall(PolderDeviceFree(&row));
  PetscCall(PetscFree2(lone, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGRowsToHost(const PamgLevel *L, PolderCSR *own)
{
  const PamgOuter *O = &L->outer;
  const PetscInt   n = L->gathered ? L->nown : L->csr.m;
  PetscInt        *bi, nz = 0;

  PetscFunctionBegin;
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

/* Lists the aggregates of the rows with off-process entries */
static PetscErrorCode PamgTargets(const PC_PAMG *pamg, PamgLevel *L)
{
  PamgOuter   *O     = &L->outer;
  const size_t index = sizeof(PetscInt), bytes = index * (size_t)O->rows.n;
  PetscInt    *there, *agg, *place, n = 0;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(bytes, &there));
  PolderLaunch(PolderIndexGather_CUDA(O->rows.n, O->rows_d.row, L->agg, there, pamg->stream));
  PetscCall(PamgDownload(bytes, there, &agg));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PetscMalloc1(O->rows.n, &O->target));
  PetscCall(PetscMalloc1(O->rows.n + 2, &O->to.ptr));
  PetscCall(PetscMalloc1(O->rows.n, &O->to.row));
  PetscCall(PetscMalloc1(O->rows.n, &place));
  for (PetscInt k = 0; k < O->rows.n; ++k) place[k] = k;
  PetscCall(PetscSortIntWithArray(O->rows.n, agg, place));
  while (n < O->rows.n && agg[n] < L->nc) ++n;
  for (PetscInt k = 0; k < n; ++k) {
    if (!k || agg[k] > agg[k - 1]) {
      O->to.ptr[O->to.n]   = k;
      O->target[O->to.n++] = agg[k];
    }
    O->to.row[k] = place[k];
  }
  O->to.ptr[O->to.n] = O->to.ptr[O->to.n + 1] = n; // rows in no aggregate are not listed
  for (PetscInt t = 0; t < O->to.n; ++t) PetscCall(PetscSortInt(O->to.ptr[t + 1] - O->to.ptr[t], O->to.row + O->to.ptr[t]));
  PetscCall(PetscFree(agg));
  PetscCall(PetscFree(place));
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

/* P^T B P of the off-process entries B */
static PetscErrorCode PamgGalerkinOuter(const PamgLevel *L, PamgLevel *C)
{
  const PamgOuter *O = &L->outer;
  PamgOuter       *D = &C->outer;
  PetscInt        *place;
  const PolderRows B = PolderRowsOf(&O->rows);

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

/* Gathers the rows of all processes on each */
static PetscErrorCode PamgGatherDevice(PC_PAMG *pamg, const PamgLevel *L, PamgLevel *C)
{
  const size_t index = sizeof(PetscInt);
  PetscInt    *gi, *gj;
  PetscScalar *ga;
  PetscInt64  *place = NULL;
  PolderCSR    own;

  PetscFunctionBegin;
  C->gathered = PETSC_TRUE;
  PetscCall(PCPAMGRowsToHost(C, &own));
  PetscCall(PCPAMGGatherRows(L->comm, &own, C));
  PetscCall(PCPAMGGatherExcess(pamg, L->comm, C));
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
  C->csr = (PolderCSR){.m = C->N, .M = C->N, .ai = C->gi, .aj = C->gj, .aa = C->ga, .device = PETSC_TRUE};
  if (pamg->gridplace) PetscCall(PamgDownload(sizeof(*place) * (size_t)C->nown, pamg->gridplace, &place));
  PetscCall(PolderDeviceFree(&pamg->gridplace));
  PetscCall(PCPAMGGatherPlaces(L->comm, C, &place));
  if (place) PetscCall(PolderDeviceUpload(sizeof(*place) * (size_t)C->N, place, &pamg->gridplace));
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGCoarseOuter(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel     *L = &pamg->level[l], *C = L + 1;
  const PetscInt n = L->csr.nghost;

  PetscFunctionBegin;
  C->nown = L->nc;
  PetscCall(PamgTargets(pamg, L));
  PetscCall(PetscMalloc1(n, &L->ghostagg));
  PetscCall(PamgGhostAggregates(L, C, L->ghostagg));
  PetscCall(PCPAMGNumberGhosts(n, L->ghostagg, C));
  PetscCall(PamgGalerkinOuter(L, C));
  PetscCall(PCPAMGMendCoarse(pamg, l));
  if (C->N <= pamg->gatherlimit) PetscCall(PamgGatherDevice(pamg, L, C));
  else {
    C->csr.M      = C->N;
    C->csr.rstart = C->rstart;
    C->csr.nghost = C->nghost;
    C->csr.garray = C->garray;
    PetscCall(PolderHaloCreate(L->comm, C->nown, C->nghost, C->garray, &C->halo));
    C->ownshalo = PETSC_TRUE;
    PetscCall(PamgUploadOuter(pamg, C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGCoarseOuterValues(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel       *L = &pamg->level[l], *C = L + 1;
  PamgOuter       *O = &L->outer, *D = &C->outer;
  const PolderRows B = PolderRowsOf(&O->rows);
  PetscInt        *place;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(PetscMax(D->rows.n, C->nghost), &place));
  PolderGalerkinValues_Host(&O->to, &B, C->nghost, L->ghostagg, PETSC_FALSE, place, &D->rows);
  PetscCall(PetscFree(place));
  PetscCall(PCPAMGMendCoarse(pamg, l));
  if (C->gathered) {
    PolderCSR    own;
    PetscScalar *ga;
    PetscInt     nz;

    PetscCall(PCPAMGRowsToHost(C, &own));
    PetscCall(PCPAMGGatherValues(L->comm, &own, &nz, &ga));
    PetscCall(PolderDeviceFromHost(C->ga, ga, sizeof(*ga) * (size_t)nz));
    PetscCall(PetscFree(ga));
    PetscCall(PCPAMGFreeRowsOnHost(&own));
    PetscCall(PCPAMGGatherExcess(pamg, L->comm, C));
  } else PetscCall(PolderDeviceFromHost(D->rows_d.val, D->rows.val, sizeof(*D->rows.val) * (size_t)D->rows.nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}
