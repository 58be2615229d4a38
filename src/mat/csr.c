/* The rows of an AIJ matrix, through PETSc's public calls only. */
#include "csr.h"
#include <petsc/private/matimpl.h>

PetscErrorCode PolderMatIsAIJ(Mat A, PetscBool *is)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, is, MATSEQAIJ, MATMPIAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatCheckRows(Mat A, const char type[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PetscLayout    rows, columns;
  PetscInt       M, N;
  PetscBool      is, same;

  PetscFunctionBegin;
  PetscCall(PolderMatIsAIJ(A, &is));
  PetscCheck(is, comm, PETSC_ERR_SUP,
             "PC of type %s needs the entries of the matrix and one of type %s does not give them: use -mat_type aij (or aijdia, aijicrs, aijhec), or hand an "
             "AIJ matrix to KSPSetOperators() as the second one",
             type, ((PetscObject)A)->type_name);
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetLayouts(A, &rows, &columns));
  PetscCall(PetscLayoutCompare(rows, columns, &same));
  PetscCheck(same, comm, PETSC_ERR_ARG_SIZ,
             "PC of type %s needs a square matrix whose rows and columns are distributed alike, and this one is %" PetscInt_FMT " by %" PetscInt_FMT, type, M,
             N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetBlocks(Mat A, Mat *diag, Mat *offdiag, const PetscInt *garray[])
{
  PetscBool is, parallel;

  PetscFunctionBegin;
  PetscCall(PolderMatIsAIJ(A, &is));
  PetscCheck(is, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Matrix of type %s is not an AIJ matrix: use -mat_type aij (or aijdia, aijicrs, aijhec), or MatConvert() it", ((PetscObject)A)->type_name);
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix is not assembled: call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  *diag    = A;
  *offdiag = NULL;
  *garray  = NULL;
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, diag, offdiag, garray));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* aa = NULL: without the values */
static PetscErrorCode PolderBlockGetCSR_Private(Mat block, const PetscInt *ai[], const PetscInt *aj[], const PetscScalar *aa[])
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, ai, aj, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix type %s does not give out its rows", ((PetscObject)block)->type_name);
  if (aa) PetscCall(MatSeqAIJGetArrayRead(block, aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderBlockRestoreCSR_Private(Mat block, const PetscInt *ai[], const PetscInt *aj[], const PetscScalar *aa[])
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  if (*aa) PetscCall(MatSeqAIJRestoreArrayRead(block, aa));
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, ai, aj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderMatGetRows_Private(Mat A, PetscBool values, PolderCSR *csr)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(csr, sizeof(*csr)));
  PetscCall(PolderMatGetBlocks(A, &csr->diag, &csr->offdiag, &csr->garray));
  PetscCall(MatGetLocalSize(A, &csr->m, NULL));
  PetscCall(MatGetSize(A, &csr->M, NULL));
  PetscCall(MatGetOwnershipRange(A, &csr->rstart, NULL));
  PetscCall(PolderBlockGetCSR_Private(csr->diag, &csr->ai, &csr->aj, values ? &csr->aa : NULL));
  csr->nz = csr->ai[csr->m];
  if (csr->offdiag) {
    PetscCall(MatGetSize(csr->offdiag, NULL, &csr->nghost));
    PetscCall(PolderBlockGetCSR_Private(csr->offdiag, &csr->bi, &csr->bj, values ? &csr->ba : NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetPattern(Mat A, PolderCSR *csr)
{
  PetscFunctionBegin;
  PetscCall(PolderMatGetRows_Private(A, PETSC_FALSE, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PolderMatGetCSR - the rows of this process as compressed rows, in host memory

  Logically Collective

  Input Parameter:
. A - an assembled AIJ matrix of any subtype, sequential or parallel

  Output Parameter:
. csr - the arrays, for reading only

  Level: developer

  Note:
  Nothing is copied, except the values of a matrix that keeps them on a device. Columns ascend within a row of a block, as PETSc keeps them.

.seealso: `PolderMatRestoreCSR()`, `PolderMatIsAIJ()`, `PolderMatGetHalo()`
*/
PetscErrorCode PolderMatGetCSR(Mat A, PolderCSR *csr)
{
  PetscFunctionBegin;
  PetscCall(PolderMatGetRows_Private(A, PETSC_TRUE, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PolderMatRestoreCSR - gives back the arrays of `PolderMatGetCSR()`

  Logically Collective

  Input Parameters:
+ A   - the matrix
- csr - the arrays

  Level: developer

.seealso: `PolderMatGetCSR()`
*/
PetscErrorCode PolderMatRestoreCSR(Mat A, PolderCSR *csr)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PolderBlockRestoreCSR_Private(csr->diag, &csr->ai, &csr->aj, &csr->aa));
  if (csr->offdiag) PetscCall(PolderBlockRestoreCSR_Private(csr->offdiag, &csr->bi, &csr->bj, &csr->ba));
  PetscCall(PetscMemzero(csr, sizeof(*csr)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderMatGetHostCSR_Private(Mat A, PolderCSR *csr, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(A, csr));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetCSRAt(Mat A, const PolderPlace *place, PolderCSR *csr, PetscBool *done)
{
  static PetscErrorCode (*const get[])(Mat, PolderCSR *, PetscBool *) = {PolderMatGetHostCSR_Private, PolderMatGetDeviceCSR};

  PetscFunctionBegin;
  PetscCall((*get[place->device])(A, csr, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatRestoreCSRAt(Mat A, PolderCSR *csr)
{
  static PetscErrorCode (*const restore[])(Mat, PolderCSR *) = {PolderMatRestoreCSR, PolderMatRestoreDeviceCSR};

  PetscFunctionBegin;
  PetscCall((*restore[csr->device])(A, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetCSRAlike(Mat A, PetscBool allowed, PolderCSR *csr)
{
  PetscBool   device = PETSC_FALSE;
  PetscMPIInt everywhere;

  PetscFunctionBegin;
  if (allowed) PetscCall(PolderMatGetDeviceCSR(A, csr, &device));
  everywhere = device;
  PetscCallAllreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A));
  if (everywhere) PetscFunctionReturn(PETSC_SUCCESS);
  if (device) PetscCall(PolderMatRestoreDeviceCSR(A, csr));
  PetscCall(PolderMatGetCSR(A, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
