/* Pairwise-aggregation multigrid on several processes: replicates a small level on every process, so that the levels below it need no messages. */
#include "pamgimpl.h"
#include "core/gather.h"
#include "kernels/splitrows.h"
#include "mat/csr.h"

PetscErrorCode PCPAMGMergeRows(const PolderCSR *own, PetscInt **start, PetscInt **col, PetscScalar **val)
{
  const PetscInt  n = own->m;
  PetscReal      *length, *real = NULL;
  PetscInt        nz;
  PolderSplitRows A = {
    .n = n, .first = own->rstart, .own = {.n = n, .i = own->ai, .j = own->aj, .a = own->aa},
            .ghost = own->garray
  };

  PetscFunctionBegin;
  PetscCall(PolderCSRListRows(n, own->bi, &A.outer));
  A.outer.col = (PetscInt *)own->bj;
  A.outer.val = (PetscScalar *)own->ba;
  PetscCall(PetscMalloc1(n, &length));
  PetscCall(PetscMalloc1(n + 1, start));
  PolderSplitRowsLength_Host(&A, length);
  (*start)[0] = 0;
  for (PetscInt i = 0; i < n; ++i) (*start)[i + 1] = (*start)[i] + (PetscInt)length[i];
  nz = (*start)[n];
  PetscCall(PetscMalloc1(nz, val));
  if (col) PetscCall(PetscMalloc1(nz, &real));
  PolderSplitRowsMerge_Host(&A, *start, real, *val);
  if (col) {
    PetscCall(PetscMalloc1(nz, col));
    PolderIndexOfReals_Host(nz, real, *col);
  }
  PetscCall(PetscFree(real));
  PetscCall(PetscFree(length));
  PetscCall(PetscFree(A.outer.row));
  PetscCall(PetscFree(A.outer.ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  const PetscInt n = own->m;
  PetscInt      *start, *col, *all, nz, N;
  PetscScalar   *val;

  PetscFunctionBegin;
  C->gathered = PETSC_TRUE;
  PetscCall(PamgGatherLayout(comm, C));
  PetscCall(PCPAMGMergeRows(own, &start, &col, &val));
  nz = start[n];
  for (PetscInt i = 0; i < n; ++i) start[i] = start[i + 1] - start[i]; // lengths from now on
  PetscCall(PolderGatherAll(comm, n, start, sizeof(*start), &N, &all));
  PetscCall(PetscMalloc1(N + 1, &C->gi));
  C->gi[0] = 0;
  for (PetscInt i = 0; i < N; ++i) C->gi[i + 1] = C->gi[i] + all[i];
  PetscCall(PetscFree(all));
  PetscCall(PolderGatherAll(comm, nz, col, sizeof(*col), &N, &C->gj));
  PetscCall(PolderGatherAll(comm, nz, val, sizeof(*val), &N, &C->ga));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherValues(MPI_Comm comm, const PolderCSR *own, PetscInt *total, PetscScalar **all)
{
  PetscInt    *start;
  PetscScalar *val;

  PetscFunctionBegin;
  PetscCall(PCPAMGMergeRows(own, &start, NULL, &val));
  PetscCall(PolderGatherAll(comm, start[own->m], val, sizeof(*val), total, all));
  PetscCall(PetscFree(start));
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
