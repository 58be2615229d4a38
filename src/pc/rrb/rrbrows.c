/* Distribution of the rows of the matrix of PC rrb over the processes. */
#include "rrbimpl.h"
#include <petsc/private/pcimpl.h>
#include <petscdmda.h>

PetscErrorCode PCRRBRowsFree(RRBRows *rows)
{
  PetscFunctionBegin;
  for (int d = 0; d < 2; ++d) PetscCall(PetscFree(rows->start[d]));
  PetscCall(PetscFree(rows->range));
  PetscCall(PetscFree(rows->ghost));
  *rows = (RRBRows){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the boxes of the DMDA; raises an error when its processes have other numbers of rows */
static PetscErrorCode PCRRBRowsFromDM_Private(PC pc, DM dm, PetscMPIInt size)
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  RRBRows        *rows = &((PC_RRB *)pc->data)->rows;
  const PetscInt *l[2];
  PetscInt        dim, n[2];

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, &dim, &n[0], &n[1], NULL, &rows->np[0], &rows->np[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(dm, &l[0], &l[1], NULL));
  PetscCheck(rows->np[0] * rows->np[1] == size, comm, PETSC_ERR_ARG_WRONG,
             "The DMDA is on %" PetscInt_FMT " by %" PetscInt_FMT " processes and the matrix on %d: use a DMDA of the same processes", rows->np[0], rows->np[1],
             size);
  rows->natural = PETSC_FALSE;
  for (int d = 0; d < 2; ++d) {
    PetscCall(PetscMalloc1(rows->np[d] + 1, &rows->start[d]));
    rows->start[d][0] = 0;
    for (PetscInt i = 0; i < rows->np[d]; ++i) rows->start[d][i + 1] = rows->start[d][i] + (d < dim ? l[d][i] : 1);
  }
  for (PetscInt r = 0; r < size; ++r) {
    const PetscInt i = r % rows->np[0], j = r / rows->np[0], nodes = (rows->start[0][i + 1] - rows->start[0][i]) * (rows->start[1][j + 1] - rows->start[1][j]);

    PetscCheck(rows->range[r + 1] - rows->range[r] == nodes, comm, PETSC_ERR_ARG_WRONG,
               "The DMDA has %" PetscInt_FMT " nodes on process %" PetscInt_FMT ", and the matrix has %" PetscInt_FMT
               " rows there: make the matrix with DMCreateMatrix(), or take the DMDA away from the solver if its rows are in natural order",
               nodes, r, rows->range[r + 1] - rows->range[r]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBRowsCreate(PC pc, DM dm, const PolderCSR *csr)
{
  PC_RRB         *rrb  = (PC_RRB *)pc->data;
  RRBRows        *rows = &rrb->rows;
  const PetscInt *range;
  PetscMPIInt     size;

  PetscFunctionBegin;
  PetscCall(PCRRBRowsFree(rows));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rows->rank));
  PetscCall(MatGetOwnershipRanges(pc->pmat, &range));
  PetscCall(PetscMalloc1(size + 1, &rows->range));
  PetscCall(PetscArraycpy(rows->range, range, size + 1));
  rows->natural = PETSC_TRUE;
  rows->np[0]   = 1;
  rows->np[1]   = size;
  if (dm && size > 1) PetscCall(PCRRBRowsFromDM_Private(pc, dm, size));
  PetscCall(PetscMalloc1(csr->nghost, &rows->ghost));
  for (PetscInt k = 0; k < csr->nghost; ++k) rows->ghost[k] = PCRRBNodeOfRow(rrb, csr->garray[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last i < n with start[i] <= value */
static PetscInt PCRRBFind_Private(PetscInt n, const PetscInt start[], PetscInt value)
{
  PetscInt low = 0;

  while (n - low > 1) {
    const PetscInt middle = low + (n - low) / 2;

    if (start[middle] <= value) low = middle;
    else n = middle;
  }
  return low;
}

PetscInt PCRRBRowOfNode(const PC_RRB *rrb, PetscInt node)
{
  const RRBRows *rows = &rrb->rows;
  const PetscInt x = node % rrb->nx, y = node / rrb->nx;
  PetscInt       i, j;

  if (rows->natural) return node;
  i = PCRRBFind_Private(rows->np[0], rows->start[0], x);
  j = PCRRBFind_Private(rows->np[1], rows->start[1], y);
  return rows->range[j * rows->np[0] + i] + (y - rows->start[1][j]) * (rows->start[0][i + 1] - rows->start[0][i]) + x - rows->start[0][i];
}

PetscInt PCRRBNodeOfRow(const PC_RRB *rrb, PetscInt row)
{
  const RRBRows *rows = &rrb->rows;
  PetscInt       rank, i, j, width;

  if (rows->natural) return row;
  rank  = PCRRBFind_Private(rows->np[0] * rows->np[1], rows->range, row);
  i     = rank % rows->np[0];
  j     = rank / rows->np[0];
  width = rows->start[0][i + 1] - rows->start[0][i];
  row -= rows->range[rank];
  return (rows->start[1][j] + row / width) * rrb->nx + rows->start[0][i] + row % width;
}

/* The part of line y on this process */
RRBLine PCRRBLine(const PC_RRB *rrb, PetscInt y)
{
  const RRBRows *rows = &rrb->rows;
  RRBLine        line = {0};

  if (rows->natural) {
    const PetscInt begin = rows->range[rows->rank], end = rows->range[rows->rank + 1];

    line.first = y * rrb->nx - begin;
    line.ld    = rrb->nx;
    line.a     = PetscMin(PetscMax(-line.first, 0), rrb->nx);
    line.b     = PetscMax(PetscMin(end - begin - line.first, rrb->nx), line.a);
    line.row   = line.first + line.a;
  } else {
    const PetscInt *x = rows->start[0] + rows->rank % rows->np[0], *lines = rows->start[1] + rows->rank / rows->np[0];

    line.ld    = x[1] - x[0];
    line.first = line.row = (y - lines[0]) * line.ld;
    line.a                = x[0];
    line.b                = y >= lines[0] && y < lines[1] ? x[1] : x[0];
  }
  return line;
}
