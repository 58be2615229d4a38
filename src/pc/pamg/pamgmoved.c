/*
  Pairwise-aggregation multigrid on several processes: rows in an order that has nothing to do with the graph, as those of a mesh from a file, or red and black
  points. Aggregates stay within a process, and there would be hardly any. So each process gets a METIS part of the graph, and a PC has the levels of its rows.
*/
#include "pamgimpl.h"
#include "deflation/deflationlabels.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* More than so many rows are moved where more than this part of the couplings is to rows of other processes, since the first level that has hardly any
   aggregates would be too large to be replicated; fewer rows where POLDER_SCATTERED says so */
#define PAMG_LARGE   1000000
#define PAMG_SCATTER 0.1
/* METIS works on aggregates of rows, at least so many for each process */
#define PAMG_METIS_VERTICES 2000

PetscErrorCode PCPAMGMovedFree(PC_PAMG *pamg)
{
  PamgMoved *moved = &pamg->moved;

  PetscFunctionBegin;
  PetscCall(PCPAMGFreeInner(&moved->inner));
  PetscCall(MatDestroy(&moved->matrix));
  PetscCall(ISDestroy(&moved->rows));
  PetscCall(VecScatterDestroy(&moved->scatter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Small matrices have their first coarse level on each process */
static PetscErrorCode PamgWantsMove(PC pc, PetscBool *wants)
{
  PC_PAMG       *pamg = (PC_PAMG *)pc->data;
  const PetscInt N = pc->pmat->rmap->N, least = PetscMax(pamg->gatherlimit, PAMG_GATHER_HOST);
  PetscMPIInt    size;

  PetscFunctionBegin;
  *wants = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size == 1 || !pamg->wantrepartition || N < size || (pamg->wantrepartition < 0 && N <= least)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatShareOutside(pc->pmat, &pamg->moved.before));
  *wants = (PetscBool)(pamg->wantrepartition > 0 || pamg->moved.before > (N > PAMG_LARGE ? PAMG_SCATTER : POLDER_SCATTERED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* moved->rows <- the numbers of the rows that this process gets, in order; NULL on all processes: METIS cannot cut the graph */
static PetscErrorCode PamgFindRows(PC pc)
{
  PamgMoved     *moved = &((PC_PAMG *)pc->data)->moved;
  const MPI_Comm comm  = PetscObjectComm((PetscObject)pc);
  PetscInt      *part, failed;
  PetscMPIInt    size;
  IS             to;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(pc->pmat->rmap->n, &part));
  PetscCall(PolderMatPartitionWhole(pc->pmat, 1, PAMG_METIS_VERTICES, size, part, &failed));
  if (failed) {
    PetscCall(PetscFree(part));
    PetscCall(PetscInfo(pc, "METIS cannot cut the graph: the rows stay where they are\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ISCreateGeneral(comm, pc->pmat->rmap->n, part, PETSC_OWN_POINTER, &to));
  PetscCall(ISBuildTwoSided(to, NULL, &moved->rows));
  PetscCall(ISSort(moved->rows));
  PetscCall(ISDestroy(&to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What pamg asks its matrix for, beside entries */
static PetscErrorCode PamgCopyProperties(PC pc, Mat B)
{
  MatNullSpace constants = NULL;
  PetscBool    constant;

  PetscFunctionBegin;
  PetscCall(MatPropagateSymmetryOptions(pc->pmat, B));
  PetscCall(PCPAMGHasConstant(pc, &constant));
  if (constant) PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)B), PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(B, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the matrix, where they are to be */
static PetscErrorCode PamgMoveRows(PC pc)
{
  PC_PAMG   *pamg  = (PC_PAMG *)pc->data;
  PamgMoved *moved = &pamg->moved;
  const Mat  A     = pc->pmat;
  const IS   rows  = moved->rows;
  Vec template;

  PetscFunctionBegin;
  if (moved->matrix) PetscCall(MatCreateSubMatrix(A, rows, rows, MAT_REUSE_MATRIX, &moved->matrix));
  else {
    PetscCall(MatCreateSubMatrix(A, rows, rows, MAT_INITIAL_MATRIX, &moved->matrix));
    PetscCall(PolderMatShareOutside(moved->matrix, &moved->after));
    PetscCall(MatCreateVecs(moved->matrix, &moved->inner.r, &moved->inner.z));
    PetscCall(MatCreateVecs(A, &template, NULL));
    PetscCall(VecScatterCreate(template, rows, moved->inner.r, NULL, &moved->scatter));
    PetscCall(VecDestroy(&template));
  }
  PetscCall(PamgCopyProperties(pc, moved->matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGMovedSetUp(PC pc, PetscBool *done)
{
  PC_PAMG   *pamg  = (PC_PAMG *)pc->data;
  PamgMoved *moved = &pamg->moved;
  PetscBool  same, wants, failed;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PCPAMGSamePattern(pc, &same));
  if (!same) { // the pattern alone decides
    PetscCall(PCPAMGMovedFree(pamg));
    PetscCall(PamgWantsMove(pc, &wants));
    if (wants) PetscCall(PamgFindRows(pc));
  }
  if (!moved->rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgMoveRows(pc));
  PetscCall(PCPAMGSetUpInner(pc, moved->matrix, NULL, PETSC_FALSE, &moved->inner.pc, &failed));
  if (failed) { // the set-up of the rows where they are tells the numbers that the user knows
    PetscCall(PCPAMGMovedFree(pamg));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCPAMGFree(pamg)); // the levels of a set-up without moving
  PetscCall(PCPAMGInnerKeys(pc));
  PetscCall(PetscInfo(pc, "%g of the couplings were to other processes, %g after rows have been moved\n", (double)moved->before, (double)moved->after));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGMovedApply(PC pc, Vec r, Vec z)
{
  PamgMoved *moved = &((PC_PAMG *)pc->data)->moved;
  PamgInner *inner = &moved->inner;

  PetscFunctionBegin;
  PetscCall(VecScatterBegin(moved->scatter, r, inner->r, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(moved->scatter, r, inner->r, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(PCApply(inner->pc, inner->r, inner->z));
  PetscCall(VecScatterBegin(moved->scatter, inner->z, z, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(moved->scatter, inner->z, z, INSERT_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGMovedView(PC pc, PetscViewer viewer)
{
  const PamgMoved *moved = &((PC_PAMG *)pc->data)->moved;
  const PC         inner = moved->inner.pc;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  rows moved to METIS parts of the graph, a process each: %.1f %% of the couplings were to other processes, now %.1f %%\n",
                                   100 * (double)moved->before, 100 * (double)moved->after));
  PetscCall((*inner->ops->view)(inner, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
