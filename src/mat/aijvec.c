/* Which vector type belongs to a Polder matrix; this also decides where its products run. */
#include "aijderived.h"
#include <petsc/private/matimpl.h>
#include <petscdm.h>

static PetscErrorCode PolderIsCUDA_Private(VecType type, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscStrendswith(type, POLDER_VEC_DEVICE, is)); /* cuda, seqcuda, mpicuda */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The vectors of a matrix are CUDA vectors in three cases. The user has asked for them with MatSetVecType() or -mat_vec_type. The user has asked for them for
  other vectors of the program with -vec_type or -dm_vec_type, or through the DM of the matrix. Or the program has already made CUDA vectors, because a solver
  that works with those cannot mix them with others.
*/
PetscErrorCode PolderAIJChooseVecType(Mat A)
{
  static const char *const options[] = {"-vec_type", "-dm_vec_type"};
  PolderAIJ                aij;
  const PolderFormat      *format;
  PolderLayout             layout;
  PetscBool                cuda, found;
  char                     type[64];
  DM                       dm;
  VecType                  dmtype;

  PetscFunctionBegin;
  PetscCall(PolderDeviceBegin());
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(PolderIsCUDA_Private(A->defaultvectype, &cuda));
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (cuda && layout == POLDER_SEQ) A->ops->productsetfromoptions = MatProductSetFromOptions_Polder;
  if (aij->vecset || cuda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceInUse(&cuda));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options) && !cuda && PolderDeviceCompiled(); ++o) {
    PetscCall(PetscOptionsGetString(((PetscObject)A)->options, NULL, options[o], type, sizeof(type), &found));
    if (found) PetscCall(PolderIsCUDA_Private(type, &cuda));
  }
  if (!cuda && PolderDeviceCompiled()) {
    PetscCall(MatGetDM(A, &dm));
    if (dm) {
      PetscCall(DMGetVecType(dm, &dmtype));
      if (dmtype) PetscCall(PolderIsCUDA_Private(dmtype, &cuda));
    }
  }
  if (!cuda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetVecType(A, POLDER_VEC_DEVICE));
  if (layout == POLDER_SEQ) A->ops->productsetfromoptions = MatProductSetFromOptions_Polder;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJCreateVec_Private(Mat A, PetscLayout map, Vec *v)
{
  PetscBool bound, propagates;

  PetscFunctionBegin;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderVecCreate(PetscObjectComm((PetscObject)A), map, A->defaultvectype, v));
  PetscCall(PolderVecTakeOperations(*v));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(MatGetBindingPropagates(A, &propagates));
  if (!bound || !propagates) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSetBindingPropagates(*v, PETSC_TRUE));
  PetscCall(VecBindToCPU(*v, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateVecs_Polder(Mat A, Vec *right, Vec *left)
{
  PetscFunctionBegin;
  PetscCheck(A->cmap->n >= 0 && A->rmap->n >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The sizes of the matrix are not set up: call MatSetUp() first");
  PetscCall(PolderAIJChooseVecType(A));
  PetscCall(PolderAIJCreateVec_Private(A, A->cmap, right));
  PetscCall(PolderAIJCreateVec_Private(A, A->rmap, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatVecsOnDevice(Mat A, PetscBool *device)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PetscBool           bound;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (format) PetscCall(PolderAIJChooseVecType(A));
  PetscCall(PolderIsCUDA_Private(A->defaultvectype, device));
  PetscCall(MatBoundToCPU(A, &bound));
  if (bound) *device = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The memory where products run by default: the device when the vectors of the matrix are there */
PetscErrorCode PolderAIJGetMemType(Mat A, PetscMemType *type)
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PolderMatVecsOnDevice(A, &device));
  *type = device ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}
