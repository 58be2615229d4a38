/* Products with a Polder matrix: the matrix operations, and their host implementation. */
#include "aijderived.h"
#include <petsc/private/matimpl.h>

PetscErrorCode PolderAIJChoose(Mat A, Vec x, Vec y, Vec z, const PolderAIJSteps **steps)
{
  const Vec v[] = {x, y, z};
  PetscBool bound, there = PETSC_FALSE;

  PetscFunctionBegin;
  *steps = &PolderAIJStepsOnHost;
  PetscCall(MatBoundToCPU(A, &bound));
  if (bound) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 3; ++k) {
    if (!v[k]) continue;
    PetscCall(PolderVecOnDevice(v[k], &there));
    if (!there) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *steps = &PolderAIJStepsOnDevice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJGetOperands(const PolderPlace *place, Vec x, Vec y, Vec z, PolderAIJOperands *v)
{
  PetscFunctionBegin;
  v->y = NULL;
  PetscCall((*place->vecgetread)(x, &v->x));
  if (y && y != z) PetscCall((*place->vecgetread)(y, &v->y));
  PetscCall((*(y == z ? place->vecget : place->vecgetwrite))(z, &v->z));
  if (y == z) v->y = v->z;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJRestoreOperands(const PolderPlace *place, Vec x, Vec y, Vec z, PolderAIJOperands *v)
{
  PetscFunctionBegin;
  if (y && y != z) PetscCall((*place->vecrestoreread)(y, &v->y));
  PetscCall((*(y == z ? place->vecrestore : place->vecrestorewrite))(z, &v->z));
  PetscCall((*place->vecrestoreread)(x, &v->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product of plain AIJ */
static PetscErrorCode PolderAIJApplyBase_Private(Mat A, PolderLayout layout, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z)
{
  const struct _MatOps *ops = PolderAIJBase(layout)->ops;

  PetscFunctionBegin;
  if (transpose && y) PetscCall((*ops->multtransposeadd)(A, x, y, z));
  else if (transpose) PetscCall((*ops->multtranspose)(A, x, z));
  else if (!y) PetscCall((*ops->mult)(A, x, z));
  else if (alpha == 1.0) PetscCall((*ops->multadd)(A, x, y, z));
  else {
    PetscCall((*ops->mult)(A, x, z));
    PetscCall(VecAYPX(z, alpha, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJApplyHost_Private(Mat A, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z, PolderProductDot *dot)
{
  PolderAIJ                aij;
  PolderAIJArrays         *arrays;
  PolderAIJOperands        v;
  const PolderFormat      *format;
  const PolderFormatSteps *steps;
  PolderLayout             layout;
  Mat                      block;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (layout == POLDER_MPI) {
    PetscCall(PolderAIJBlock(A, &block));
    PetscCall(PolderAIJApplyBase_Private(A, layout, transpose, alpha, x, y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderAIJUpdate(A, &PolderAIJStepsOnHost, &aij, &arrays));
  steps = &arrays->format->at[PETSC_FALSE];
  if (transpose && !steps->multtranspose) {
    PetscCall(PolderAIJApplyBase_Private(A, layout, transpose, alpha, x, y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderAIJGetOperands(&PolderOnHost, x, y, z, &v));
  if (transpose) PetscCall((*steps->multtranspose)(arrays->data, v.x, v.y, v.z));
  else PetscCall((*steps->mult)(arrays->data, alpha, v.x, v.y, v.z, dot ? dot->value : NULL));
  PetscCall(PolderAIJRestoreOperands(&PolderOnHost, x, y, z, &v));
  PetscCall(PetscLogFlops(PetscMax(2.0 * arrays->nz - (y ? 0 : A->rmap->n), 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJGetDiagonalHost_Private(Mat A, Vec d)
{
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall((*PolderAIJBase(layout)->ops->getdiagonal)(A, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJAvailableHost_Private(Mat A, PetscBool *available)
{
  PetscFunctionBegin;
  (void)A;
  *available = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJStampHost_Private(Mat A, PolderAIJ aij, PolderStamp *stamp)
{
  PetscObjectState state;

  PetscFunctionBegin;
  (void)aij;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *stamp = (PolderStamp){.pattern = A->nonzerostate, .values = state};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJGetRowsHost_Private(Mat A, PolderAIJ aij, PolderCSR *csr)
{
  PetscFunctionBegin;
  (void)aij;
  PetscCall(PolderMatGetCSR(A, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderAIJSteps PolderAIJStepsOnHost = {
  .place       = &PolderOnHost,
  .where       = "",
  .available   = PolderAIJAvailableHost_Private,
  .stamp       = PolderAIJStampHost_Private,
  .getrows     = PolderAIJGetRowsHost_Private,
  .apply       = PolderAIJApplyHost_Private,
  .getdiagonal = PolderAIJGetDiagonalHost_Private,
};

/* z = y + alpha A x, or z = y + A^T x (alpha = 1); y = NULL stands for zero, y may equal z when alpha = 1 */
static PetscErrorCode PolderAIJApply_Private(Mat A, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z)
{
  const PolderAIJSteps *steps;

  PetscFunctionBegin;
  PetscCall(PolderAIJChoose(A, x, y, z, &steps));
  PetscCall((*steps->apply)(A, transpose, alpha, x, y, z, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMult_Polder(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJApply_Private(A, PETSC_FALSE, 1.0, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultAdd_Polder(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJApply_Private(A, PETSC_FALSE, 1.0, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatResidual_Polder(Mat A, Vec b, Vec x, Vec r)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJApply_Private(A, PETSC_FALSE, -1.0, x, b, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTranspose_Polder(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJApply_Private(A, PETSC_TRUE, 1.0, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTransposeAdd_Polder(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJApply_Private(A, PETSC_TRUE, 1.0, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetDiagonal_Polder(Mat A, Vec d)
{
  const PolderAIJSteps *steps;

  PetscFunctionBegin;
  PetscCall(PolderAIJChoose(A, d, NULL, NULL, &steps));
  PetscCall((*steps->getdiagonal)(A, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
