/* METIS parts of the graph of all processes, for rows in an order that has nothing to do with the graph: parts of the rows of a process would be far apart. */
#include "deflationlabels.h"
#include <petsc/private/matimpl.h>

PetscErrorCode PolderMatShareOutside(Mat A, PetscReal *share)
{
  const PetscInt *garray;
  PetscLogDouble  entries[3] = {0, 0, A->rmap->n}; // in both blocks, rows
  Mat             block[2];
  MatInfo         info;

  PetscFunctionBegin;
  PetscCall(PolderMatGetBlocks(A, &block[0], &block[1], &garray));
  for (int k = 0; k < 2; ++k) {
    if (!block[k]) continue;
    PetscCall(MatGetInfo(block[k], MAT_LOCAL, &info));
    entries[k] = info.nz_used;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, entries, 3, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)A)));
  *share = (PetscReal)(entries[1] / PetscMax(1, entries[0] + entries[1] - entries[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *graph <- all rows of A on the first process, no row on the others */
static PetscErrorCode PolderGatherGraph(Mat A, Mat **graph)
{
  PetscMPIInt rank;
  IS          all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, rank ? 0 : A->rmap->N, 0, 1, &all));
  PetscCall(MatCreateSubMatrices(A, 1, &all, &all, MAT_INITIAL_MATRIX, graph));
  PetscCall(ISDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* part[] of all rows, on the first process */
static PetscErrorCode PolderCutGraph(Mat graph, PetscInt bs, PetscInt vertices, PetscInt nparts, PetscInt part[], PetscInt *failed)
{
  PolderCSR csr;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(graph, &csr));
  PetscCall(PolderRowsPartition(&csr, bs, vertices, nparts, part, failed));
  PetscCall(PolderMatRestoreCSR(graph, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mine[] <- of all[], which the first process has, what belongs to the rows of this process */
static PetscErrorCode PolderScatterParts(PetscLayout rows, const PetscInt all[], PetscInt mine[])
{
  PetscMPIInt size, *n, *begin;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(rows->comm, &size));
  PetscCall(PetscMalloc2(size, &n, size, &begin));
  for (PetscMPIInt r = 0; r < size; ++r) {
    PetscCall(PetscMPIIntCast(rows->range[r + 1] - rows->range[r], &n[r]));
    PetscCall(PetscMPIIntCast(rows->range[r], &begin[r]));
  }
  PetscCallMPI(MPI_Scatterv(all, n, begin, MPIU_INT, mine, (PetscMPIInt)rows->n, MPIU_INT, 0, rows->comm));
  PetscCall(PetscFree2(n, begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatPartitionWhole(Mat A, PetscInt bs, PetscInt vertices, PetscInt nparts, PetscInt part[], PetscInt *failed)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscInt      *all  = NULL;
  PetscMPIInt    rank;
  Mat           *graph;

  PetscFunctionBegin;
  *failed = 0;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PolderGatherGraph(A, &graph));
  if (!rank) PetscCall(PetscMalloc1(A->rmap->N, &all));
  if (!rank) PetscCall(PolderCutGraph(graph[0], bs, vertices, nparts, all, failed));
  PetscCall(MatDestroySubMatrices(1, &graph));
  PetscCallMPI(MPI_Bcast(failed, 1, MPIU_INT, 0, comm));
  if (!*failed) PetscCall(PolderScatterParts(A->rmap, all, part));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
