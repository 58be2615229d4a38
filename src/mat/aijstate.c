/*
  Changes of values of which PETSc says nothing.

  Our arrays, preconditioners and deflation spaces follow a matrix by its object state, but some operations of PETSc write values and leave the state as it is:
  MatRetrieveValues(), and MatCreateSubMatrices() of a whole parallel matrix with MAT_REUSE_MATRIX. For our types they raise it here. These two and MatStoreValues()
  use the host's array itself instead of asking for it, so that values that are newer on the device must be on the host before.
*/
#include "aijderived.h"
#include <petsc/private/matimpl.h>

static PetscErrorCode PolderAIJHostFirst_Private(Mat A)
{
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (format && layout == POLDER_SEQ) PetscCall(PolderAIJNewestOnHost(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host's values are new */
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

/* Of a parallel matrix PETSc calls MatRetrieveValues() for each block */
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

PetscErrorCode MatCreateSubMatrices_MPIPolder(Mat A, PetscInt n, const IS row[], const IS col[], MatReuse reuse, Mat *sub[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && reuse == MAT_REUSE_MATRIX; ++k) PetscCall(PolderAIJHostFirst_Private((*sub)[k]));
  PetscCall((*PolderAIJBase(POLDER_MPI)->ops->createsubmatrices)(A, n, row, col, reuse, sub));
  for (PetscInt k = 0; k < n && reuse == MAT_REUSE_MATRIX; ++k) PetscCall(PolderAIJTell_Private((*sub)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
