/* When the arrays of a sequential Polder matrix are built, refreshed and dropped, on the host and on the device. */
#include "aijderived.h"
#include <petsc/private/matimpl.h>

static PetscErrorCode PolderAIJResetArrays_Private(PolderAIJArrays *arrays, const PolderPlace *place)
{
  PetscFunctionBegin;
  if (arrays->data) PetscCall((*arrays->format->at[place->device].destroy)(&arrays->data));
  arrays->format        = NULL;
  arrays->why[0]        = 0;
  arrays->stamp.pattern = arrays->stamp.values = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJReset(PolderAIJ aij)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJResetArrays_Private(&aij->at[PETSC_FALSE], &PolderOnHost));
  PetscCall(PolderAIJResetArrays_Private(&aij->at[PETSC_TRUE], &PolderOnDevice));
  aij->told = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJSetOptions(PolderAIJ aij, const PolderAIJOptions *opts)
{
  PetscFunctionBegin;
  if (aij->opts.max_fill != opts->max_fill || aij->opts.symmetric != opts->symmetric || aij->opts.classes != opts->classes) PetscCall(PolderAIJReset(aij));
  aij->opts = *opts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds new arrays in the type's format. A matrix that does not suit it gets the next format that it suits; the last format takes every matrix */
static PetscErrorCode PolderAIJBuild_Private(Mat A, PolderAIJ aij, const PolderAIJSteps *steps, const PolderCSR *csr)
{
  const PolderFormat *const tries[] = {aij->format, &PolderFormatICRS, &PolderFormatHEC, &PolderFormatRows};
  PolderAIJArrays          *arrays  = &aij->at[steps->place->device];
  char                      why[sizeof(arrays->why)];

  PetscFunctionBegin;
  PetscCall(PolderAIJResetArrays_Private(arrays, steps->place));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(tries) && !arrays->data; ++f) {
    const PolderFormatSteps *format = &tries[f]->at[steps->place->device];

    if (!format->build) continue;
    why[0]         = 0;
    arrays->format = tries[f]; /* if build() fails half-way, the format's destructor frees what it has allocated */
    PetscCall((*format->build)(A, aij, csr, &arrays->data, sizeof(why), why));
    if (f == 0) PetscCall(PetscStrncpy(arrays->why, why, sizeof(arrays->why)));
    if (!arrays->data) PetscCall(PetscInfo(A, "%s: not %s%s: %s\n", ((PetscObject)A)->type_name, tries[f]->label, steps->where, why));
  }
  PetscCheck(arrays->data, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No format takes the matrix");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJUpdate(Mat A, const PolderAIJSteps *steps, PolderAIJ *ctx, PolderAIJArrays **result)
{
  PolderAIJ        aij;
  PolderAIJArrays *arrays;
  PolderCSR        csr;
  PolderStamp      now;
  PetscBool        done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderAIJContext(A, &aij));
  *ctx    = aij;
  *result = arrays = &aij->at[steps->place->device];
  PetscCall((*steps->stamp)(A, aij, &now));
  if (arrays->data && arrays->stamp.pattern == now.pattern && arrays->stamp.values == now.values) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_MatConvert, A));
  PetscCall((*steps->getrows)(A, aij, &csr));
  if (arrays->data && arrays->stamp.pattern == now.pattern && arrays->nz == csr.nz)
    PetscCall((*arrays->format->at[steps->place->device].refresh)(A, aij, &csr, arrays->data, &done));
  arrays->stamp.pattern = -1;
  if (!done) PetscCall(PolderAIJBuild_Private(A, aij, steps, &csr));
  arrays->nz = csr.nz;
  PetscCall(PolderMatRestoreCSRAt(A, &csr));
  arrays->stamp = now;
  PetscCall(PolderLogEnd(POLDER_MatConvert, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PolderMatSymmetricEternal(Mat A)
{
  return (PetscBool)((A->symmetric == PETSC_BOOL3_TRUE && A->symmetry_eternal) || (A->spd == PETSC_BOOL3_TRUE && A->spd_eternal));
}

/*
  The diagonal block of a parallel Polder matrix, converted to Polder's sequential type. PETSc replaces the block when the matrix is preallocated again. Some
  mpiaij operations change the block's values without increasing the block's state; the parent's state reveals these.
*/
PetscErrorCode PolderAIJBlock(Mat A, Mat *block)
{
  PolderAIJ           aij, baij;
  PetscObjectState    state;
  const PolderFormat *format;
  PolderLayout        layout;
  PetscBool           set, symmetric, bound, same;

  PetscFunctionBegin;
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(MatMPIAIJGetSeqAIJ(A, block, NULL, NULL));
  PetscCall(PolderFormatOf(*block, &format, &layout));
  if (format != aij->format) {
    PetscBool plain;

    PetscCall(PetscObjectTypeCompare((PetscObject)*block, MATSEQAIJ, &plain));
    if (!plain) PetscCall(MatConvert(*block, MATSEQAIJ, MAT_INPLACE_MATRIX, block));
    PetscCall(PolderAIJInstall(*block, aij->format, POLDER_SEQ));
  }
  PetscCall(PolderAIJContext(*block, &baij));
  PetscCall(PolderAIJSetOptions(baij, &aij->opts));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(MatBindToCPU(*block, bound));
  PetscCall(PolderAIJChooseVecType(A));
  PetscCall(PetscStrcmp((*block)->defaultvectype, A->defaultvectype, &same));
  if (!same) PetscCall(MatSetVecType(*block, A->defaultvectype));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (state != aij->told || !baij->block) {
    baij->at[PETSC_FALSE].stamp.values = -1;
    if (baij->rows) baij->rows->state = -1;
    if (aij->rows && state != aij->kept) aij->rows->state = -1;
    aij->told = state;
    PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
    baij->block     = PETSC_TRUE;
    baij->symmetric = (PetscBool)(set && symmetric);
    baij->eternal   = PolderMatSymmetricEternal(A);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJGet(Mat A, const PolderAIJSteps *steps, PolderAIJArrays **arrays)
{
  PolderAIJ           aij;
  const PolderFormat *format;
  PolderLayout        layout;
  Mat                 block = A;
  PetscBool           available;

  PetscFunctionBegin;
  *arrays = NULL;
  PetscCall((*steps->available)(A, &available));
  if (!available) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  if (layout == POLDER_MPI) PetscCall(PolderAIJBlock(A, &block));
  PetscCall(PolderAIJUpdate(block, steps, &aij, arrays));
  PetscFunctionReturn(PETSC_SUCCESS);
}
