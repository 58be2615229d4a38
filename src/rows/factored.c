/* A preconditioner M^-1 = G^T G by products. */
#include "factored.h"
#include "kernels/sweep.h"
#include <petsc/private/pcimpl.h>

static PetscErrorCode PolderFactoredMatrix_Private(PC pc, PetscInt nz, const PetscInt i[], const PetscInt j[], Mat *G)
{
  MatType   type;
  VecType   vectype;
  PetscInt *row, *column, m, n, M, N;

  PetscFunctionBegin;
  PetscCall(MatGetType(pc->pmat, &type));
  PetscCall(MatGetVecType(pc->pmat, &vectype));
  PetscCall(MatGetLocalSize(pc->pmat, &m, &n));
  PetscCall(MatGetSize(pc->pmat, &M, &N));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)pc), G));
  PetscCall(MatSetSizes(*G, m, n, M, N));
  PetscCall(MatSetType(*G, type));
  PetscCall(MatSetVecType(*G, vectype));
  PetscCall(PetscMalloc2(nz, &row, nz, &column)); // PETSc may change its arguments
  PetscCall(PetscArraycpy(row, i, nz));
  PetscCall(PetscArraycpy(column, j, nz));
  PetscCall(MatSetPreallocationCOO(*G, nz, row, column));
  PetscCall(PetscFree2(row, column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* G^T on one process, whose rows are all here: its coordinates in their order need no sorting by PETSc. i[] ascends */
static PetscErrorCode PolderFactoredTurn_Private(PC pc, PetscInt nz, const PetscInt i[], const PetscInt j[])
{
  PolderFactored *F = (PolderFactored *)pc->data;
  PetscInt       *next, *row, *column, *source;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(F->rows.M + 1, &next));
  PetscCall(PetscMalloc3(nz, &row, nz, &column, nz, &source));
  for (PetscInt k = 0; k < nz; ++k) ++next[j[k] + 1];
  for (PetscInt r = 0; r < F->rows.M; ++r) next[r + 1] += next[r];
  for (PetscInt k = 0; k < nz; ++k) {
    const PetscInt at = next[j[k]]++;

    row[at]    = j[k];
    column[at] = i[k];
    source[at] = k;
  }
  PetscCall(PolderFactoredMatrix_Private(pc, nz, row, column, &F->GT));
  PetscCall(PolderPlaceUpload(F->rows.place, sizeof(PetscInt) * (size_t)nz, source, &F->turned));
  PetscCall(PolderPlaceMalloc(F->rows.place, nz, &F->turnedval));
  PetscCall(PetscFree3(row, column, source));
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFactoredCreate(PC pc, PetscInt nz, const PetscInt i[], const PetscInt j[], PetscBool transposed)
{
  PolderFactored *F = (PolderFactored *)pc->data;
  PetscMPIInt     size;

  PetscFunctionBegin;
  F->nz = nz;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PolderFactoredMatrix_Private(pc, nz, i, j, &F->G));
  if (transposed && size == 1) PetscCall(PolderFactoredTurn_Private(pc, nz, i, j));
  else if (transposed) PetscCall(PolderFactoredMatrix_Private(pc, nz, j, i, &F->GT));
  if (transposed) PetscCall(MatCreateVecs(pc->pmat, NULL, &F->work));
  PetscCall(PolderPlaceMalloc(F->rows.place, nz, &F->val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFactoredSet(PC pc)
{
  PolderFactored *F = (PolderFactored *)pc->data;

  PetscFunctionBegin;
  PetscCall(MatSetValuesCOO(F->G, F->val, INSERT_VALUES));
  if (F->turned) PolderRun(F->rows.place, PolderSweepTake, F->nz, F->turned, F->nz, F->val, NULL, F->turnedval);
  if (F->GT) PetscCall(MatSetValuesCOO(F->GT, F->turned ? F->turnedval : F->val, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFactoredApply(PC pc, Vec r, Vec z)
{
  PolderFactored *F = (PolderFactored *)pc->data;

  PetscFunctionBegin;
  PetscCall(MatMult(F->G, r, F->GT ? F->work : z));
  if (F->GT) PetscCall(MatMult(F->GT, F->work, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFactoredFree(PC pc)
{
  PolderFactored *F = (PolderFactored *)pc->data;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&F->G));
  PetscCall(MatDestroy(&F->GT));
  PetscCall(VecDestroy(&F->work));
  PetscCall((*F->rows.place->free)(&F->val));
  PetscCall((*F->rows.place->free)(&F->turned));
  PetscCall((*F->rows.place->free)(&F->turnedval));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFactoredView(PC pc, PetscViewer viewer)
{
  PolderFactored *F  = (PolderFactored *)pc->data;
  PetscInt        nz = F->nz;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &nz, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)pc));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s, %.3g entries a row, across all processes\n",
                                   F->GT ? "products with a triangle and its transpose" : "one product", (double)nz / (double)PetscMax(1, F->rows.M)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
