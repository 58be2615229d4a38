/*
  Operations of PETSc that change values without increasing the object state, or without taking back what is known of the matrix.

  Polder's arrays, preconditioners and deflation spaces detect changes of a matrix by its object state. Some operations of PETSc change values without
  increasing it: MatRetrieveValues(), and MatCreateSubMatrices() of a whole parallel matrix with MAT_REUSE_MATRIX. For Polder types this file increases it.
  These two and MatStoreValues() access the host array directly, so values that are newer on the device must be copied to the host first.

  MatAXPY() of parallel matrices with SAME_NONZERO_PATTERN, and changes through the blocks of MatMPIAIJGetSeqAIJ(), increase the states of the blocks only.
  Products detect that. A solver that keeps more than its preconditioner must call PolderMatCatchUp(). MatAXPY() is not replaced, because PETSc then no longer
  adds the blocks, and MatAXPY() of two types would take 30 times as long.
*/
#include "aijderived.h"
#include <petsc/private/matimpl.h>

/* Copies values that are newer on the device to the host */
static PetscErrorCode PolderAIJHostFirst_Private(Mat A)
{
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (format && layout == POLDER_SEQ) PetscCall(PolderAIJNewestOnHost(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records that the values on the host are new */
static PetscErrorCode PolderAIJTell_Private(Mat A)
{
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (format && layout == POLDER_SEQ) PetscCall(PolderMatSetOffload(A, PETSC_OFFLOAD_CPU));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStoreValues_Polder(Mat A)
{
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall(PolderAIJHostFirst_Private(A));
  PetscCall((*PolderAIJBase(layout)->storevalues)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls MatRetrieveValues() of a parallel matrix for each block */
PetscErrorCode MatRetrieveValues_Polder(Mat A)
{
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall(PolderAIJHostFirst_Private(A));
  PetscCall((*PolderAIJBase(layout)->retrievevalues)(A));
  PetscCall(PolderAIJTell_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's leaves the matrix declared symmetric if the program has declared it so; as after an assembly, only what is said for ever stays */
PetscErrorCode MatZeroRows_Polder(Mat A, PetscInt n, const PetscInt rows[], PetscScalar diag, Vec x, Vec b)
{
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall((*PolderAIJBase(layout)->ops->zerorows)(A, n, rows, diag, x, b));
  if (!A->symmetry_eternal) A->symmetric = A->hermitian = PETSC_BOOL3_UNKNOWN;
  if (!A->structural_symmetry_eternal) A->structurally_symmetric = PETSC_BOOL3_UNKNOWN;
  if (!A->spd_eternal) A->spd = PETSC_BOOL3_UNKNOWN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateSubMatrices_MPIPolder(Mat A, PetscInt n, const IS row[], const IS col[], MatReuse reuse, Mat *sub[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && reuse == MAT_REUSE_MATRIX; ++k) PetscCall(PolderAIJHostFirst_Private((*sub)[k]));
  PetscCall((*PolderAIJBase(POLDER_MPI)->ops->createsubmatrices)(A, n, row, col, reuse, sub));
  for (PetscInt k = 0; k < n && reuse == MAT_REUSE_MATRIX; ++k) PetscCall(PolderAIJTell_Private((*sub)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt PolderBlockStates = -1; /* key under which a matrix stores the states of its blocks while its own state is unchanged */

static PetscErrorCode PolderMatCatchUpFinalize_Private(void)
{
  PetscFunctionBegin;
  PolderBlockStates = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number that changes when a block, or the values of a block, change */
static PetscErrorCode PolderMatBlockStates_Private(Mat A, int *states)
{
  Mat              block[2];
  PetscObjectState state;
  PetscObjectId    id;
  unsigned int     sum = 0;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; ++b) {
    PetscCall(PetscObjectStateGet((PetscObject)block[b], &state));
    PetscCall(PetscObjectGetId((PetscObject)block[b], &id));
    sum += (unsigned int)state + 65599u * (unsigned int)id;
  }
  *states = (int)(sum & 0x7fffffff);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PolderMatCatchUp - raises the state of a parallel AIJ matrix whose blocks have changed without it since the last call

  Collective

  Input Parameter:
. A - an assembled matrix of any type

  Output Parameter:
. changed - `PETSC_TRUE` when it did so; the same on all processes

  Level: developer

.seealso: `PolderMatGetCSR()`
*/
PetscErrorCode PolderMatCatchUp(Mat A, PetscBool *changed)
{
  PetscBool parallel, same = PETSC_FALSE;
  int       states = 0, old = 0, quiet;

  PetscFunctionBegin;
  *changed = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (!parallel) PetscFunctionReturn(PETSC_SUCCESS);
  if (PolderBlockStates < 0) {
    PetscCall(PetscObjectComposedDataRegister(&PolderBlockStates));
    PetscCall(PetscRegisterFinalize(PolderMatCatchUpFinalize_Private));
  }
  PetscCall(PolderMatBlockStates_Private(A, &states));
  PetscCall(PetscObjectComposedDataGetInt((PetscObject)A, PolderBlockStates, old, same));
  if (same) {
    quiet = states != old;
    PetscCallAllreduce(MPI_IN_PLACE, &quiet, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A));
    *changed = quiet ? PETSC_TRUE : PETSC_FALSE;
  }
  if (*changed) PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscCall(PetscObjectComposedDataSetInt((PetscObject)A, PolderBlockStates, states));
  PetscFunctionReturn(PETSC_SUCCESS);
}
