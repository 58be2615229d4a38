/* A preconditioner M^-1 = G^T G by products. */
#include "factored.h"
#include "kernels/csr.h"
#include <petsc/private/pcimpl.h>

static PetscErrorCode PolderFactoredMatrix_Private(PC pc, Mat *G)
{
  MatType  type;
  VecType  vectype;
  PetscInt m, n, M, N;

  PetscFunctionBegin;
  PetscCall(MatGetType(pc->pmat, &type));
  PetscCall(MatGetVecType(pc->pmat, &vectype));
  PetscCall(MatGetLocalSize(pc->pmat, &m, &n));
  PetscCall(MatGetSize(pc->pmat, &M, &N));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)pc), G));
  PetscCall(MatSetSizes(*G, m, n, M, N));
  PetscCall(MatSetType(*G, type));
  PetscCall(MatSetVecType(*G, vectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix whose values come in coordinates, with turned as its transpose; PETSc may change its arguments */
static PetscErrorCode PolderFactoredCoordinates_Private(PC pc, PetscInt m, const PetscInt start[], const PetscInt column[], PetscBool turned, Mat *G)
{
  const PetscInt rstart = ((PolderFactored *)pc->data)->rows.rstart, nz = start[m];
  PetscInt      *i, *j;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(nz, &i, nz, &j));
  for (PetscInt r = 0; r < m; ++r) {
    for (PetscInt k = start[r]; k < start[r + 1]; ++k) {
      i[k] = rstart + r;
      j[k] = column[k];
    }
  }
  PetscCall(PolderFactoredMatrix_Private(pc, G));
  PetscCall(MatSetPreallocationCOO(*G, nz, turned ? j : i, turned ? i : j));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of rows on one process, whose columns ascend */
static PetscErrorCode PolderFactoredRows_Private(PC pc, PetscInt m, const PetscInt start[], const PetscInt column[], Mat *G)
{
  PolderFactored *F = (PolderFactored *)pc->data;
  PetscInt       *length;

  PetscFunctionBegin;
  if (!F->direct) {
    PetscCall(PolderFactoredCoordinates_Private(pc, m, start, column, PETSC_FALSE, G));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderFactoredMatrix_Private(pc, G));
  PetscCall(PetscMalloc1(m, &length));
  for (PetscInt r = 0; r < m; ++r) length[r] = start[r + 1] - start[r];
  PetscCall(MatSeqAIJSetPreallocation(*G, 0, length));
  PetscCall(PetscFree(length));
  PetscCall(MatSeqAIJSetColumnIndices(*G, (PetscInt *)column)); // which PETSc copies
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* G^T on one process, whose rows are all here */
static PetscErrorCode PolderFactoredTurn_Private(PC pc, PetscInt m, const PetscInt start[], const PetscInt column[])
{
  PolderFactored *F = (PolderFactored *)pc->data;
  PetscInt       *next, *row, *source, nz = start[m];

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(m + 2, &next));
  PetscCall(PetscMalloc1(nz, &row));
  PetscCall(PolderPlaceMalloc(&PolderOnHost, nz, &source));
  for (PetscInt k = 0; k < nz; ++k) ++next[column[k] + 2];
  for (PetscInt c = 0; c < m; ++c) next[c + 2] += next[c + 1];
  for (PetscInt r = 0; r < m; ++r) {
    for (PetscInt k = start[r]; k < start[r + 1]; ++k) {
      const PetscInt at = next[column[k] + 1]++;

      row[at]    = r;
      source[at] = k;
    }
  }
  PetscCall(PolderFactoredRows_Private(pc, m, next, row, &F->GT));
  PetscCall(PolderPlaceMove(F->rows.place, sizeof(PetscInt) * (size_t)nz, &source, &F->turned));
  if (!F->direct) PetscCall(PolderPlaceMalloc(F->rows.place, nz, &F->turnedval));
  PetscCall(PetscFree(row));
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFactoredCreate(PC pc, const PetscInt start[], const PetscInt column[], PetscBool transposed)
{
  PolderFactored *F = (PolderFactored *)pc->data;
  PetscInt        m;
  PetscMPIInt     size;
  PetscBool       sequential;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(MatGetLocalSize(pc->pmat, &m, NULL));
  F->nz     = start[m];
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)pc->pmat, MATSEQAIJ, &sequential));
  F->direct = (PetscBool)(sequential && !F->rows.place->device);
  PetscCall(PolderFactoredRows_Private(pc, m, start, column, &F->G));
  if (transposed && size == 1) PetscCall(PolderFactoredTurn_Private(pc, m, start, column));
  else if (transposed) PetscCall(PolderFactoredCoordinates_Private(pc, m, start, column, PETSC_TRUE, &F->GT));
  if (transposed) PetscCall(MatCreateVecs(pc->pmat, NULL, &F->work));
  if (!F->direct) PetscCall(PolderPlaceMalloc(F->rows.place, F->nz, &F->val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFactoredGet(PC pc, PetscScalar **val)
{
  PolderFactored *F = (PolderFactored *)pc->data;

  PetscFunctionBegin;
  if (F->direct) PetscCall(MatSeqAIJGetArrayWrite(F->G, &F->val));
  *val = F->val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values are in the array of G */
static PetscErrorCode PolderFactoredSetRows_Private(PolderFactored *F)
{
  PetscScalar *turnedval;

  PetscFunctionBegin;
  if (F->GT) {
    PetscCall(MatSeqAIJGetArrayWrite(F->GT, &turnedval));
    PolderGather_Host(F->nz, F->turned, F->val, turnedval);
    PetscCall(MatSeqAIJRestoreArrayWrite(F->GT, &turnedval));
    PetscCall(MatAssemblyBegin(F->GT, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(F->GT, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(MatSeqAIJRestoreArrayWrite(F->G, &F->val));
  PetscCall(MatAssemblyBegin(F->G, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(F->G, MAT_FINAL_ASSEMBLY));
  F->val = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFactoredSet(PC pc, PetscScalar **val)
{
  PolderFactored *F = (PolderFactored *)pc->data;

  PetscFunctionBegin;
  *val = NULL;
  if (F->direct) {
    PetscCall(PolderFactoredSetRows_Private(F));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSetValuesCOO(F->G, F->val, INSERT_VALUES));
  if (F->turned) PolderRun(F->rows.place, PolderGather, F->nz, F->turned, F->val, F->turnedval);
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
  if (F->direct) F->val = NULL; // it belongs to G
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
