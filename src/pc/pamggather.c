/* Pairwise-aggregation multigrid on several processes: a small level whole on every process, so that those below it cost no messages. */
#include "pamg.h"
#include "../ksp/gather.h"

/* The entries of row i of both blocks in the order of their global columns: val[], and col[] unless that is NULL. Returns how many */
static PetscInt PamgMergeRow(const PamgLevel *C, PetscInt i, PetscInt col[], PetscScalar val[])
{
  PetscInt n = 0, b = C->bi[i];

  for (; b < C->bi[i + 1] && C->garray[C->bj[b]] < C->rstart; ++b, ++n) {
    if (col) col[n] = C->garray[C->bj[b]];
    val[n] = C->ba[b];
  }
  for (PetscInt a = C->ai[i]; a < C->ai[i + 1]; ++a, ++n) {
    if (col) col[n] = C->rstart + C->aj[a];
    val[n] = C->aa[a];
  }
  for (; b < C->bi[i + 1]; ++b, ++n) {
    if (col) col[n] = C->garray[C->bj[b]];
    val[n] = C->ba[b];
  }
  return n;
}

/* Which rows are whose */
static PetscErrorCode PamgGatherLayout(MPI_Comm comm, PamgLevel *C)
{
  PetscMPIInt size, n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMPIIntCast(C->nown, &n));
  PetscCall(PetscMalloc2(size, &C->counts, size, &C->displs));
  PetscCallMPI(MPI_Allgather(&n, 1, MPI_INT, C->counts, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0, first = 0; r < size; first += C->counts[r++]) C->displs[r] = first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherMatrix_Private(MPI_Comm comm, PamgLevel *C)
{
  const PetscInt n = C->nown, most = C->ai[n] + C->bi[n];
  PetscInt      *length, *col, *all, nz = 0, N;
  PetscScalar   *val;

  PetscFunctionBegin;
  C->gathered = PETSC_TRUE;
  PetscCall(PamgGatherLayout(comm, C));
  PetscCall(PetscMalloc3(n, &length, most, &col, most, &val));
  for (PetscInt i = 0; i < n; ++i) {
    length[i] = PamgMergeRow(C, i, col + nz, val + nz);
    nz += length[i];
  }
  PetscCall(PolderGatherAll(comm, n, length, sizeof(*length), &N, &all));
  PetscCall(PetscMalloc1(N + 1, &C->gi));
  C->gi[0] = 0;
  for (PetscInt i = 0; i < N; ++i) C->gi[i + 1] = C->gi[i] + all[i];
  PetscCall(PetscFree(all));
  PetscCall(PolderGatherAll(comm, nz, col, sizeof(*col), &N, &C->gj));
  PetscCall(PolderGatherAll(comm, nz, val, sizeof(*val), &N, &C->ga));
  PetscCall(PetscFree3(length, col, val));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, C->N, C->N, C->gi, C->gj, C->ga, &C->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherValues_Private(MPI_Comm comm, PamgLevel *C)
{
  PetscScalar *val, *all;
  PetscInt     nz = 0, total;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(C->ai[C->nown] + C->bi[C->nown], &val));
  for (PetscInt i = 0; i < C->nown; ++i) nz += PamgMergeRow(C, i, NULL, val + nz);
  PetscCall(PolderGatherAll(comm, nz, val, sizeof(*val), &total, &all));
  PetscCall(PetscArraycpy(C->ga, all, total));
  PetscCall(PetscFree(all));
  PetscCall(PetscFree(val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherPlaces_Private(MPI_Comm comm, const PamgLevel *C, PetscInt64 **place)
{
  PetscMPIInt all = *place || !C->nown;
  PetscInt    N;
  PetscInt64 *places = NULL;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  if (all) PetscCall(PolderGatherAll(comm, C->nown, *place, sizeof(**place), &N, &places));
  PetscCall(PetscFree(*place));
  *place = places;
  PetscFunctionReturn(PETSC_SUCCESS);
}
