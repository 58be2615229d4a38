/* A preconditioner M^-1 = G^T G by products. */
#include "factored.h"
#include "kernels/csr.h"
#include <petsc/private/pcimpl.h>

/* A matrix whose values come in coordinates; PETSc may change these */
static PetscErrorCode PolderFactoredCoordinates_Private(PC pc, PetscInt nz, PetscInt i[], PetscInt j[], Mat *G)
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
  PetscCall(MatSetPreallocationCOO(*G, nz, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same from rows; swap: the transpose */
static PetscErrorCode PolderFactoredExpand_Private(PC pc, const PetscInt start[], const PetscInt column[], PetscBool swap, Mat *G)
{
  PolderFactored *F = (PolderFactored *)pc->data;
  PetscInt       *i, *j;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(F->nz, &i, F->nz, &j));
  for (PetscInt r = 0; r < F->m; ++r) {
    for (PetscInt k = start[r]; k < start[r + 1]; ++k) i[k] = F->rows.rstart + r;
  }
  PetscCall(PetscArraycpy(j, column, F->nz));
  PetscCall(PolderFactoredCoordinates_Private(pc, F->nz, swap ? j : i, swap ? i : j, G));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that shares the arrays of rows, with the values allocated */
static PetscErrorCode PolderFactoredShare_Private(PC pc, PolderFactoredRows *rows, Mat *G)
{
  PolderFactored *F = (PolderFactored *)pc->data;
  MatType         type;
  VecType         vectype;

  PetscFunctionBegin;
  PetscCall(MatGetType(pc->pmat, &type));
  PetscCall(MatGetVecType(pc->pmat, &vectype));
  PetscCall(PolderPlaceMalloc(&PolderOnHost, F->nz, &rows->a));
  PetscCall(MatCreateSeqAIJWithArrays(PetscObjectComm((PetscObject)pc), F->m, F->m, rows->i, rows->j, rows->a, G));
  PetscCall(MatConvert(*G, type, MAT_INPLACE_MATRIX, G));
  PetscCall(MatSetVecType(*G, vectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* next[c] <- where row c of the transpose begins; next[m + 2] */
static void PolderFactoredNext(const PolderFactored *F, const PetscInt column[], PetscInt next[])
{
  for (PetscInt c = 0; c < F->m + 2; ++c) next[c] = 0;
  for (PetscInt k = 0; k < F->nz; ++k) ++next[column[k] + 2];
  for (PetscInt c = 0; c < F->m; ++c) next[c + 2] += next[c + 1];
}

/* The pattern of the transpose on one process, whose rows are all here: rows[2] <- start and columns. source[k] <- its entry k in G; NULL: not asked for */
static PetscErrorCode PolderFactoredTurn_Private(const PolderFactored *F, const PetscInt start[], const PetscInt column[], PolderFactoredRows *turned,
                                                 PetscInt source[])
{
  PetscInt *next;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(&PolderOnHost, F->m + 2, &turned->i));
  PetscCall(PolderPlaceMalloc(&PolderOnHost, F->nz, &turned->j));
  PolderFactoredNext(F, column, turned->i);
  next = turned->i + 1; // and then where the rows begin, for the row before
  for (PetscInt r = 0; r < F->m; ++r) {
    for (PetscInt k = start[r]; k < start[r + 1]; ++k) {
      const PetscInt at = next[column[k]]++;

      turned->j[at] = r;
      if (source) source[at] = k;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* G^T on the device of one process: its coordinates in their order need no sorting by PETSc */
static PetscErrorCode PolderFactoredTurnThere_Private(PC pc, const PetscInt start[], const PetscInt column[])
{
  PolderFactored    *F = (PolderFactored *)pc->data;
  PolderFactoredRows turned;
  PetscInt          *source;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(&PolderOnHost, F->nz, &source));
  PetscCall(PolderFactoredTurn_Private(F, start, column, &turned, source));
  PetscCall(PolderFactoredExpand_Private(pc, turned.i, turned.j, PETSC_FALSE, &F->GT));
  PetscCall((*PolderOnHost.free)(&turned.i));
  PetscCall((*PolderOnHost.free)(&turned.j));
  PetscCall(PolderPlaceMove(F->rows.place, sizeof(PetscInt) * (size_t)F->nz, &source, &F->turned));
  PetscCall(PolderPlaceMalloc(F->rows.place, F->nz, &F->turnedval));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFactoredCreate(PC pc, PetscInt **start, PetscInt **column, PetscBool transposed)
{
  PolderFactored *F = (PolderFactored *)pc->data;
  PetscMPIInt     size;
  PetscBool       sequential;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)pc->pmat, MATSEQAIJ, &sequential));
  PetscCall(MatGetLocalSize(pc->pmat, &F->m, NULL));
  F->nz     = (*start)[F->m];
  F->direct = (PetscBool)(sequential && !F->rows.place->device);
  if (transposed) PetscCall(MatCreateVecs(pc->pmat, NULL, &F->work));
  if (F->direct) {
    F->here[0].i = F->start = *start;
    F->here[0].j            = *column;
    *start = *column = NULL;
    PetscCall(PolderFactoredShare_Private(pc, &F->here[0], &F->G));
    if (!transposed) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PolderFactoredTurn_Private(F, F->here[0].i, F->here[0].j, &F->here[1], NULL));
    PetscCall(PolderFactoredShare_Private(pc, &F->here[1], &F->GT));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderFactoredExpand_Private(pc, *start, *column, PETSC_FALSE, &F->G));
  if (transposed && size == 1) PetscCall(PolderFactoredTurnThere_Private(pc, *start, *column));
  else if (transposed) PetscCall(PolderFactoredExpand_Private(pc, *start, *column, PETSC_TRUE, &F->GT));
  PetscCall(PolderPlaceMalloc(F->rows.place, F->nz, &F->val));
  PetscCall(PolderPlaceMove(F->rows.place, sizeof(PetscInt) * (size_t)(F->m + 1), start, &F->start));
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
  const PetscInt *column = F->here[0].j;
  PetscScalar    *turned;
  PetscInt       *next;

  PetscFunctionBegin;
  if (F->GT) {
    PetscCall(PetscMalloc1(F->m, &next));
    PetscCall(PetscArraycpy(next, F->here[1].i, F->m));
    PetscCall(MatSeqAIJGetArrayWrite(F->GT, &turned));
    for (PetscInt k = 0; k < F->nz; ++k) turned[next[column[k]]++] = F->val[k];
    PetscCall(MatSeqAIJRestoreArrayWrite(F->GT, &turned));
    PetscCall(PetscFree(next));
  }
  PetscCall(MatSeqAIJRestoreArrayWrite(F->G, &F->val));
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
  PolderFactored    *F     = (PolderFactored *)pc->data;
  const PolderPlace *place = F->rows.place;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&F->G));
  PetscCall(MatDestroy(&F->GT));
  PetscCall(VecDestroy(&F->work));
  if (F->direct) F->start = NULL; // freed below
  else PetscCall((*place->free)(&F->val));
  PetscCall((*place->free)(&F->start));
  PetscCall((*place->free)(&F->turned));
  PetscCall((*place->free)(&F->turnedval));
  for (int t = 0; t < 2; ++t) {
    PetscCall((*PolderOnHost.free)(&F->here[t].i));
    PetscCall((*PolderOnHost.free)(&F->here[t].j));
    PetscCall((*PolderOnHost.free)(&F->here[t].a));
  }
  F->direct = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderFactoredView(PC pc, PetscViewer viewer)
{
  PolderFactored *F  = (PolderFactored *)pc->data;
  PetscInt64      nz = F->nz;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &nz, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s, %.3g entries a row, across all processes\n",
                                   F->GT ? "products with a triangle and its transpose" : "one product", (double)nz / (double)PetscMax(1, F->rows.M)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
