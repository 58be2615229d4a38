/* Pairwise-aggregation multigrid on several processes: replicates a small level on every process, so that the levels below it need no messages. */
#include "pamgimpl.h"
#include "core/gather.h"

PetscInt PamgMergeRow(const PolderCSR *own, PetscInt i, PetscInt col[], PetscScalar val[])
{
  PetscInt n = 0, b = own->bi[i];

  for (; b < own->bi[i + 1] && own->garray[own->bj[b]] < own->rstart; ++b, ++n) {
    if (col) col[n] = own->garray[own->bj[b]];
    val[n] = own->ba[b];
  }
  for (PetscInt a = own->ai[i]; a < own->ai[i + 1]; ++a, ++n) {
    if (col) col[n] = own->rstart + own->aj[a];
    val[n] = own->aa[a];
  }
  for (; b < own->bi[i + 1]; ++b, ++n) {
    if (col) col[n] = own->garray[own->bj[b]];
    val[n] = own->ba[b];
  }
  return n;
}

/* The distribution of the rows of a gathered level */
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

PetscErrorCode PCPAMGGatherRows(MPI_Comm comm, const PolderCSR *own, PamgLevel *C)
{
  const PetscInt n = own->m, most = own->ai[n] + own->bi[n];
  PetscInt      *length, *col, *all, nz = 0, N;
  PetscScalar   *val;

  PetscFunctionBegin;
  C->gathered = PETSC_TRUE;
  PetscCall(PamgGatherLayout(comm, C));
  PetscCall(PetscMalloc3(n, &length, most, &col, most, &val));
  for (PetscInt i = 0; i < n; ++i) {
    length[i] = PamgMergeRow(own, i, col + nz, val + nz);
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
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherValues(MPI_Comm comm, const PolderCSR *own, PetscInt *total, PetscScalar **all)
{
  PetscScalar *val;
  PetscInt     nz = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(own->ai[own->m] + own->bi[own->m], &val));
  for (PetscInt i = 0; i < own->m; ++i) nz += PamgMergeRow(own, i, NULL, val + nz);
  PetscCall(PolderGatherAll(comm, nz, val, sizeof(*val), total, all));
  PetscCall(PetscFree(val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGAgreePlaces(MPI_Comm comm, PamgLevel *C, PetscBool known, PetscBool *all)
{
  PetscMPIInt both = known;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &both, 1, MPI_INT, MPI_MIN, comm));
  *all = (PetscBool)both;
  for (int d = 0; d < 3; ++d) C->grid.thin[d] = C->grid.thin[d] && C->nown && C->rstart + C->nown == C->N; // the last cells are those of the last process
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, C->grid.thin, 3, MPI_INT, MPI_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherPlaces(MPI_Comm comm, PamgLevel *C, PetscInt64 **place)
{
  PetscInt    N;
  PetscInt64 *places = NULL;
  PetscBool   all;

  PetscFunctionBegin;
  PetscCall(PCPAMGAgreePlaces(comm, C, (PetscBool)(*place || !C->nown), &all));
  if (all) PetscCall(PolderGatherAll(comm, C->nown, *place, sizeof(**place), &N, &places));
  PetscCall(PetscFree(*place));
  *place = places;
  PetscFunctionReturn(PETSC_SUCCESS);
}
