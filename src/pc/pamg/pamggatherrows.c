/*
  Pairwise-aggregation multigrid on several devices: a gathered level of any rows, which go from device to device with what is known of them, and places in a
  grid.
*/
#include "pamgsetup.h"
#include "kernels/splitrows.h"

/* The rows of this process, and the numbers of its ghosts on the device, which the caller frees */
static PetscErrorCode PamgSplitRows(const PamgLevel *C, PolderSplitRows *A, PetscInt **ghost)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceUpload(sizeof(**ghost) * (size_t)C->nghost, C->garray, ghost));
  *A = (PolderSplitRows){
    .n = C->nown, .first = C->rstart, .own = {.n = C->nown, .i = C->ai, .j = C->aj, .a = C->aa},
            .outer = C->outer.rows_d, .ghost = *ghost
  };
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *values <- the nown values of all processes, in place of those of this one */
static PetscErrorCode PamgGatherReals(const PamgLevel *C, PetscReal **values)
{
  PetscReal *all;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(*all) * (size_t)C->N, &all));
  PetscCall(PolderReplicaGather(C->wholevalues, *values, all));
  PetscCall(PolderDeviceFree(values));
  *values = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C->gi and C->nz, memory for the rows, and C->total */
static PetscErrorCode PamgPointers(PC_PAMG *pamg, MPI_Comm comm, PamgLevel *C, const PolderSplitRows *A)
{
  PetscReal  *own, *all;
  PetscInt    mine = (PetscInt)(C->nz + C->nzouter), nz;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(size, &C->total));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPIU_INT, C->total, 1, MPIU_INT, comm));
  PetscCall(PolderDeviceMalloc(sizeof(*own) * (size_t)C->nown, &own));
  PetscCall(PolderDeviceMalloc(sizeof(*all) * (size_t)C->N, &all));
  PetscCall(PolderDeviceMalloc(sizeof(*C->gi) * (size_t)(C->N + 1), &C->gi));
  PolderLaunch(PolderSplitRowsLength_CUDA(A, own, pamg->stream));
  PetscCall(PolderReplicaGather(C->wholevalues, own, all));
  PolderLaunch(PolderIndexOfReals_CUDA(C->N, all, C->gi + 1, pamg->stream));
  PetscCall(PCPAMGSumUp(pamg, C->N, C->gi, &nz));
  C->nz = nz;
  PetscCall(PolderDeviceMalloc(sizeof(*C->gj) * (size_t)nz, &C->gj));
  PetscCall(PolderDeviceMalloc(sizeof(*C->ga) * (size_t)nz, &C->ga));
  PetscCall(PolderDeviceFree(&own));
  PetscCall(PolderDeviceFree(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of all rows; pattern: and their columns */
static PetscErrorCode PamgFillRows(PC_PAMG *pamg, PamgLevel *C, const PolderSplitRows *A, PetscInt mine, PetscBool pattern)
{
  PetscReal   *col = NULL, *all;
  PetscScalar *val;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(*val) * (size_t)mine, &val));
  if (pattern) PetscCall(PolderDeviceMalloc(sizeof(*col) * (size_t)mine, &col));
  PolderLaunch(PolderSplitRowsMerge_CUDA(A, C->gi + C->rstart, col, val, pamg->stream));
  PetscCall(PolderReplicaGatherMany(C->wholevalues, C->total, val, C->ga));
  PetscCall(PolderDeviceFree(&val));
  if (!pattern) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceMalloc(sizeof(*all) * (size_t)C->nz, &all));
  PetscCall(PolderReplicaGatherMany(C->wholevalues, C->total, col, all));
  PolderLaunch(PolderIndexOfReals_CUDA((PetscInt)C->nz, all, C->gj, pamg->stream));
  PetscCall(PolderDeviceFree(&col));
  PetscCall(PolderDeviceFree(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* pamg->gridplace <- the places of all rows, if those of every process are known */
static PetscErrorCode PamgPlaces(PC_PAMG *pamg, MPI_Comm comm, PamgLevel *C)
{
  PetscInt64 *places = NULL;
  PetscBool   all;

  PetscFunctionBegin;
  PetscCall(PCPAMGNeedPlaces(pamg));
  PetscCall(PCPAMGAgreePlaces(comm, C, (PetscBool)(pamg->gridplace || !C->nown), &all));
  if (all) { // they have the size of a real number, and nothing reads them as one
    PetscCall(PolderDeviceMalloc(sizeof(*places) * (size_t)C->N, &places));
    PetscCall(PolderReplicaGather(C->wholevalues, (const PetscScalar *)pamg->gridplace, (PetscScalar *)places));
  }
  PetscCall(PCPAMGFreePlaces(pamg));
  pamg->gridplace = places;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherRowsDevice(PC_PAMG *pamg, MPI_Comm comm, PamgLevel *C, PetscBool *done)
{
  const PetscInt  mine = (PetscInt)(C->nz + C->nzouter);
  PolderSplitRows A;
  PetscInt       *ghost;

  PetscFunctionBegin;
  PetscCall(PolderReplicaCreate(comm, C->nown, mine, NULL, &C->wholevalues));
  *done = (PetscBool) !!C->wholevalues;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgSplitRows(C, &A, &ghost));
  PetscCall(PamgPointers(pamg, comm, C, &A));
  PetscCall(PamgFillRows(pamg, C, &A, mine, PETSC_TRUE));
  PetscCall(PolderDeviceFree(&ghost));
  PetscCall(PamgGatherReals(C, &pamg->excess));
  PetscCall(PamgGatherReals(C, &pamg->magnitude));
  PetscCall(PamgPlaces(pamg, comm, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherRowsValues(PC_PAMG *pamg, MPI_Comm comm, PamgLevel *C)
{
  PolderSplitRows A;
  PetscInt       *ghost;
  PetscMPIInt     rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PamgSplitRows(C, &A, &ghost));
  PetscCall(PamgFillRows(pamg, C, &A, C->total[rank], PETSC_FALSE));
  PetscCall(PolderDeviceFree(&ghost));
  PetscCall(PamgGatherReals(C, &pamg->excess));
  PetscCall(PamgGatherReals(C, &pamg->magnitude));
  PetscFunctionReturn(PETSC_SUCCESS);
}
