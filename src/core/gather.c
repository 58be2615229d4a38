/* Gathers the records of all processes on every process. */
#include "gather.h"

PetscErrorCode PolderGatherAll(MPI_Comm comm, PetscInt n, const void *mine, size_t size, PetscInt *total, void *all)
{
  PetscMPIInt  ranks, count, bytes, *counts, *displs;
  MPI_Datatype record;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(PetscMPIIntCast(n, &count));
  PetscCall(PetscMPIIntCast((PetscInt)size, &bytes));
  PetscCall(PetscMalloc2(ranks, &counts, ranks, &displs));
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, comm));
  *total = 0;
  for (PetscMPIInt r = 0; r < ranks; ++r) {
    PetscCall(PetscMPIIntCast(*total, &displs[r]));
    *total += counts[r];
  }
  PetscCall(PetscMalloc((size_t)*total * size, (void **)all));
  PetscCallMPI(MPI_Type_contiguous(bytes, MPI_BYTE, &record));
  PetscCallMPI(MPI_Type_commit(&record));
  PetscCallMPI(MPI_Allgatherv(mine, count, record, *(void **)all, counts, displs, record, comm));
  PetscCallMPI(MPI_Type_free(&record));
  PetscCall(PetscFree2(counts, displs));
  PetscFunctionReturn(PETSC_SUCCESS);
}
