/*
  Pairwise-aggregation multigrid on several devices: a gathered level that is a grid of which each process has whole planes. Its rows follow from a few arrays,
  which go from device to device.
*/
#include "pamgsetup.h"
#include "kernels/levelgridrow.h"
#include "kernels/levelwhole.h"

/* Arrays of a level: entries in three directions and on the diagonal, the excess of its rows and the sizes that its rounding is measured by */
#define PAMG_ENTRIES 4
#define PAMG_ARRAYS  6

PetscErrorCode PCPAMGFreeGathers(PamgLevel *L)
{
  PetscFunctionBegin;
  if (L->wholevectors != L->wholevalues) PetscCall(PolderReplicaDestroy(&L->wholevectors));
  PetscCall(PolderReplicaDestroy(&L->wholevalues));
  PetscCall(PetscFree(L->total));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C->whole <- the sizes of the level; C->grid.thin[] <- those of the last process */
static PetscErrorCode PamgWholeGrid(const PamgLevel *L, PamgLevel *C)
{
  PetscInt all[6] = {0};

  PetscFunctionBegin;
  for (int d = 0; d < 2 && C->nown; ++d) all[d] = C->grid.size[d];
  if (C->nown) all[2] = L->border.B.dir;
  for (int d = 0; d < 3; ++d) all[3 + d] = C->grid.thin[d] && C->nown && C->rstart + C->nown == C->N;
  PetscCallAllreduce(MPI_IN_PLACE, all, 6, MPIU_INT, MPI_MAX, L->comm);
  for (int d = 0; d < 3; ++d) C->grid.thin[d] = (int)all[3 + d];
  C->whole = (PolderLevelGrid){
    .nc = C->N, .csize = {all[0], all[2] > 1 ? all[1] : C->N / all[0], all[2] > 1 ? C->N / (all[0] * all[1]) : 1}
  };
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *values, of the rows of this process, <- those of all rows */
static PetscErrorCode PamgReplaceReals(const PamgLevel *C, const PetscReal all[], PetscReal **values)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceFree(values));
  PetscCall(PolderDeviceMalloc(sizeof(*all) * (size_t)C->N, values));
  PetscCall(PolderDeviceToDevice(*values, all, sizeof(*all) * (size_t)C->N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the whole level from those of all processes, and their excess. All arrays travel as one message */
static PetscErrorCode PamgFillWhole(PC_PAMG *pamg, const PamgLevel *L, PamgLevel *C, PetscBool pattern)
{
  const PetscInt   dir       = C->whole.csize[2] > 1 || L->border.B.dir > 1 ? 2 : 1;
  const PetscInt   stride[3] = {1, C->whole.csize[0], C->whole.csize[0] * C->whole.csize[1]};
  const size_t     bytes     = sizeof(PetscReal) * (size_t)C->nown;
  const PolderRows A         = {.n = C->nown, .i = C->ai, .j = C->aj, .a = C->aa};
  PetscScalar     *own, *all;
  PetscInt         below;
  PolderStream     stream;

  PetscFunctionBegin;
  PetscCall(PolderGhostsBelow(C->nghost, C->garray, C->rstart, &below));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(PAMG_ARRAYS * bytes, &own));
  PetscCall(PolderDeviceMalloc(sizeof(*all) * PAMG_ARRAYS * (size_t)C->N, &all));
  PolderLaunch(PolderLevelWholeTake_CUDA(&A, stride, own, stream));
  PolderLaunch(PolderLevelWholeTakeOuter_CUDA(&C->outer.rows_d, below, own + dir * C->nown, stream));
  PetscCall(PolderDeviceToDevice(own + PAMG_ENTRIES * C->nown, pamg->excess, bytes));
  PetscCall(PolderDeviceToDevice(own + (PAMG_ENTRIES + 1) * C->nown, pamg->magnitude, bytes));
  PetscCall(PolderReplicaGather(C->wholevalues, own, all));
  PolderLaunch(PolderLevelWholeRows_CUDA(&C->whole, all, pattern, C->gi, C->gj, C->ga, stream));
  PetscCall(PamgReplaceReals(C, all + PAMG_ENTRIES * C->N, &pamg->excess));
  PetscCall(PamgReplaceReals(C, all + (PAMG_ENTRIES + 1) * C->N, &pamg->magnitude));
  PetscCall(PolderDeviceFree(&own));
  PetscCall(PolderDeviceFree(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherGrid(PC_PAMG *pamg, PetscInt l, PetscBool *done)
{
  PamgLevel               *L = &pamg->level[l], *C = L + 1;
  const PolderReplicaLines lines = {.first = C->rstart, .width = C->nown, .ld = C->N};

  PetscFunctionBegin;
  if (L->border.B.dir) PetscCall(PolderReplicaCreate(L->comm, PAMG_ARRAYS * C->nown, 0, &lines, &C->wholevalues));
  *done = (PetscBool) !!C->wholevalues;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgWholeGrid(L, C));
  C->nz = PolderLevelGridCoarseEntries(&C->whole, C->N);
  PetscCall(PolderDeviceMalloc(sizeof(*C->gi) * (size_t)(C->N + 1), &C->gi));
  PetscCall(PolderDeviceMalloc(sizeof(*C->gj) * (size_t)C->nz, &C->gj));
  PetscCall(PolderDeviceMalloc(sizeof(*C->ga) * (size_t)C->nz, &C->ga));
  PetscCall(PamgFillWhole(pamg, L, C, PETSC_TRUE));
  C->csr = (PolderCSR){.m = C->N, .M = C->N, .ai = C->gi, .aj = C->gj, .aa = C->ga, .device = PETSC_TRUE};
  for (int d = 0; d < 3; ++d) {
    C->grid.size[d] = C->whole.csize[d];
    C->grid.join[d] = 0;
  }
  C->grid.n     = C->N;
  C->grid.shift = 0;
  PetscCall(PCPAMGFreePlaces(pamg));
  pamg->boxes = &C->whole;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherGridValues(PC_PAMG *pamg, PetscInt l)
{
  PetscFunctionBegin;
  PetscCall(PamgFillWhole(pamg, &pamg->level[l], &pamg->level[l + 1], PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherVectors(PC_PAMG *pamg, MPI_Comm comm, PamgLevel *C)
{
  PetscMPIInt odd = C->nown % 2;

  PetscFunctionBegin;
  if (pamg->precision != PAMG_DOUBLE) { // two values travel as one in double precision
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &odd, 1, MPI_INT, MPI_MAX, comm));
    if (!odd) PetscCall(PolderReplicaCreate(comm, C->nown / 2, 0, NULL, &C->wholevectors));
  } else if (C->total) C->wholevectors = C->wholevalues;
  else PetscCall(PolderReplicaCreate(comm, C->nown, 0, NULL, &C->wholevectors));
  if (!C->wholevectors) PetscCall(PolderHaloCreateAll(comm, C->nown, &C->all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
