/* Matrix types that are AIJ matrices to PETSc and multiply through arrays of their own. */
#include "aijderived.h"
#include <petsc/private/matimpl.h>
#include <petscdm.h>

/* An override calls these, a conversion back restores them */
static struct _MatOps PolderBaseOps[2];
static PolderBase     PolderBases[2];

static const PolderFormat *const PolderFormats[] = {&PolderFormatDIA, &PolderFormatICRS, &PolderFormatHEC};

static PetscErrorCode PolderAIJDress_Private(Mat, const PolderFormat *, PolderLayout);

const PolderBase *PolderAIJBase(PolderLayout layout)
{
  return &PolderBases[layout];
}

PetscErrorCode PolderFormatOf(Mat A, const PolderFormat **format, PolderLayout *layout)
{
  MatType   type;
  PetscBool seq, mpi;

  PetscFunctionBegin;
  *format = NULL;
  *layout = POLDER_SEQ;
  PetscCall(MatGetType(A, &type));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(PolderFormats); ++f) {
    PetscCall(PetscStrcmp(type, PolderFormats[f]->seq, &seq));
    PetscCall(PetscStrcmp(type, PolderFormats[f]->mpi, &mpi));
    if (!seq && !mpi) continue;
    *format = PolderFormats[f];
    *layout = seq ? POLDER_SEQ : POLDER_MPI;
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJReset_Private(PolderAIJ aij)
{
  PetscFunctionBegin;
  if (aij->data) PetscCall((*aij->used->destroy)(&aij->data));
  aij->used   = NULL;
  aij->why[0] = 0;
  aij->state = aij->nonzerostate = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A header merge by PETSc may have left a matrix of ours without our part */
PetscErrorCode PolderAIJContext(Mat A, PolderAIJ *aij)
{
  PolderLayout layout;

  PetscFunctionBegin;
  if (!A->spptr) {
    PetscCall(PetscNew(aij));
    PetscCall(PolderFormatOf(A, &(*aij)->format, &layout));
    (*aij)->opts.max_fill  = 3.0;
    (*aij)->opts.symmetric = PETSC_TRUE;
    A->spptr               = *aij;
  }
  *aij = (PolderAIJ)A->spptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJDestroyContext_Private(Mat A)
{
  PolderAIJ aij = (PolderAIJ)A->spptr;

  PetscFunctionBegin;
  if (aij) {
    PetscCall(PolderAIJReset_Private(aij));
    PetscCall(PolderAIJResetDevice(aij));
    PetscCall(PolderMirrorDestroy(&aij->rows));
    PetscCall(PolderDeviceFree(&aij->ghost));
    PetscCall(PolderCOODestroy(&aij->coo));
    PetscCall(MatDestroy(&aij->image));
  }
  PetscCall(PetscFree(A->spptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays that were built under other options are dropped */
static PetscErrorCode PolderAIJSetOptions_Private(PolderAIJ aij, const PolderAIJOptions *opts)
{
  PetscFunctionBegin;
  if (aij->opts.max_fill != opts->max_fill || aij->opts.symmetric != opts->symmetric) {
    PetscCall(PolderAIJReset_Private(aij));
    PetscCall(PolderAIJResetDevice(aij));
  }
  aij->opts = *opts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New arrays, in the format of the type or, when the matrix does not suit it, in the next one that it suits; the last takes every matrix */
static PetscErrorCode PolderAIJBuild_Private(Mat A, PolderAIJ aij, const PolderCSR *csr)
{
  const PolderFormat *const tries[] = {aij->format, &PolderFormatICRS, &PolderFormatHEC};
  char                      why[sizeof(aij->why)];

  PetscFunctionBegin;
  PetscCall(PolderAIJReset_Private(aij));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(tries) && !aij->data; ++f) {
    why[0]    = 0;
    aij->used = tries[f]; /* if it fails half-way, its destructor frees what there is */
    PetscCall((*tries[f]->build)(A, aij, csr, &aij->data, sizeof(why), why));
    if (f == 0) PetscCall(PetscStrncpy(aij->why, why, sizeof(aij->why)));
    if (!aij->data) PetscCall(PetscInfo(A, "%s: not %s: %s\n", ((PetscObject)A)->type_name, tries[f]->label, why));
  }
  PetscCheck(aij->data, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No format takes the matrix");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the arrays of a sequential matrix of ours up to date */
static PetscErrorCode PolderAIJUpdate_Private(Mat A, PolderAIJ *ctx)
{
  PolderAIJ        aij;
  PolderCSR        csr;
  PetscObjectState state;
  PetscBool        done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderAIJContext(A, &aij));
  *ctx = aij;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (aij->data && aij->state == state && aij->nonzerostate == A->nonzerostate) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_MatConvert, A));
  PetscCall(PolderMatGetCSR(A, &csr));
  if (aij->data && aij->nonzerostate == A->nonzerostate && aij->nz == csr.ai[csr.m]) PetscCall((*aij->used->refresh)(A, aij, &csr, aij->data, &done));
  if (!done) PetscCall(PolderAIJBuild_Private(A, aij, &csr));
  aij->nz = csr.ai[csr.m];
  PetscCall(PolderMatRestoreCSR(A, &csr));
  aij->nonzerostate = A->nonzerostate;
  PetscCall(PetscObjectStateGet((PetscObject)A, &aij->state));
  PetscCall(PolderLogEnd(POLDER_MatConvert, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderIsCUDA_Private(VecType type, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscStrendswith(type, POLDER_VEC_DEVICE, is)); /* cuda, seqcuda, mpicuda */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Vectors of a matrix are CUDA vectors when the user has asked for them: with MatSetVecType() or -mat_vec_type; with -vec_type or -dm_vec_type, the DM of the
  matrix included, for the other vectors of the program; or when the program has made CUDA vectors already, because a solver that works with those cannot
  mix them with others.
*/
static PetscErrorCode PolderAIJChooseVecType_Private(Mat A)
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

PetscBool PolderMatSymmetricEternal(Mat A)
{
  return (PetscBool)((A->symmetric == PETSC_BOOL3_TRUE && A->symmetry_eternal) || (A->spd == PETSC_BOOL3_TRUE && A->spd_eternal));
}

/*
  The diagonal block of a parallel matrix of ours, turned into our sequential type. PETSc replaces the block when it is preallocated anew, and some
  operations of mpiaij change its values without raising its state: then the parent's state tells.
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
    PetscCall(PolderAIJDress_Private(*block, aij->format, POLDER_SEQ));
  }
  PetscCall(PolderAIJContext(*block, &baij));
  PetscCall(PolderAIJSetOptions_Private(baij, &aij->opts));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(MatBindToCPU(*block, bound));
  PetscCall(PolderAIJChooseVecType_Private(A));
  PetscCall(PetscStrcmp((*block)->defaultvectype, A->defaultvectype, &same));
  if (!same) PetscCall(MatSetVecType(*block, A->defaultvectype));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (state != aij->state) {
    baij->state = -1;
    if (baij->rows) baij->rows->state = -1;
    if (aij->rows) aij->rows->state = -1;
    aij->state = state;
    PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
    baij->symmetric = (PetscBool)(set && symmetric);
    baij->eternal   = PolderMatSymmetricEternal(A);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sequential matrix with host arrays: z = y + alpha A x, or z = y + A^T x; y = NULL stands for zero */
static PetscErrorCode PolderAIJApplyHost_Private(Mat A, PolderAIJ aij, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z)
{
  const PetscScalar *xx, *yy = NULL;
  PetscScalar       *zz;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &xx));
  if (y == z) PetscCall(VecGetArray(z, &zz));
  else PetscCall(VecGetArrayWrite(z, &zz));
  if (y == z) yy = zz;
  else if (y) PetscCall(VecGetArrayRead(y, &yy));
  if (transpose) (*aij->used->multtranspose)(aij->data, xx, yy, zz);
  else (*aij->used->mult)(aij->data, alpha, xx, yy, zz);
  if (y && y != z) PetscCall(VecRestoreArrayRead(y, &yy));
  if (y == z) PetscCall(VecRestoreArray(z, &zz));
  else PetscCall(VecRestoreArrayWrite(z, &zz));
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCall(PetscLogFlops(PetscMax(2.0 * aij->nz - (y ? 0 : A->rmap->n), 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product of AIJ itself */
static PetscErrorCode PolderAIJApplyBase_Private(Mat A, PolderLayout layout, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z)
{
  const struct _MatOps *ops = &PolderBaseOps[layout];

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

/* z = y + alpha A x, or z = y + A^T x (alpha = 1); y = NULL stands for zero, and may be z when alpha = 1 */
static PetscErrorCode PolderAIJApply_Private(Mat A, PetscBool transpose, PetscScalar alpha, Vec x, Vec y, Vec z)
{
  PolderAIJ           aij;
  const PolderFormat *format;
  PolderLayout        layout;
  Mat                 block;
  PetscBool           device;

  PetscFunctionBegin;
  PetscCall(PolderAIJOnDevice(A, x, y, z, &device));
  if (device) {
    PetscCall(PolderAIJApplyDevice(A, transpose, alpha, x, y, z, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (layout == POLDER_MPI) {
    PetscCall(PolderAIJBlock(A, &block));
    PetscCall(PolderAIJApplyBase_Private(A, layout, transpose, alpha, x, y, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderAIJUpdate_Private(A, &aij));
  if (transpose && !aij->used->multtranspose) PetscCall(PolderAIJApplyBase_Private(A, layout, transpose, alpha, x, y, z));
  else PetscCall(PolderAIJApplyHost_Private(A, aij, transpose, alpha, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_Polder(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJApply_Private(A, PETSC_FALSE, 1.0, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_Polder(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJApply_Private(A, PETSC_FALSE, 1.0, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatResidual_Polder(Mat A, Vec b, Vec x, Vec r)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJApply_Private(A, PETSC_FALSE, -1.0, x, b, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_Polder(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJApply_Private(A, PETSC_TRUE, 1.0, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_Polder(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PolderAIJApply_Private(A, PETSC_TRUE, 1.0, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_Polder(Mat A, Vec d)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PetscBool           device;

  PetscFunctionBegin;
  PetscCall(PolderAIJOnDevice(A, d, NULL, NULL, &device));
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (device && A->rmap->n == A->cmap->n) PetscCall(PolderAIJGetDiagonalDevice(A, d));
  else PetscCall((*PolderBaseOps[layout].getdiagonal)(A, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonalBlock_Polder(Mat A, Mat *block)
{
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  *block = A;
  if (layout == POLDER_MPI) PetscCall(PolderAIJBlock(A, block));
  else PetscCall(PolderAIJChooseVecType_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJCreateVec_Private(Mat A, PetscLayout map, Vec *v)
{
  PetscBool bound, propagates;

  PetscFunctionBegin;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreate(PetscObjectComm((PetscObject)A), v));
  PetscCall(VecSetLayout(*v, map));
  PetscCall(VecSetType(*v, A->defaultvectype));
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(MatGetBindingPropagates(A, &propagates));
  if (!bound || !propagates) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSetBindingPropagates(*v, PETSC_TRUE));
  PetscCall(VecBindToCPU(*v, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateVecs_Polder(Mat A, Vec *right, Vec *left)
{
  PetscFunctionBegin;
  PetscCheck(A->cmap->n >= 0 && A->rmap->n >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "The sizes of the matrix are not set up: call MatSetUp() first");
  PetscCall(PolderAIJChooseVecType_Private(A));
  PetscCall(PolderAIJCreateVec_Private(A, A->cmap, right));
  PetscCall(PolderAIJCreateVec_Private(A, A->rmap, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where products run when nobody forces them elsewhere: on the device when the vectors that belong to the matrix are there */
PetscErrorCode PolderAIJGetMemType(Mat A, PetscMemType *type)
{
  PetscBool cuda, bound;

  PetscFunctionBegin;
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(PolderAIJChooseVecType_Private(A));
  PetscCall(PolderIsCUDA_Private(A->defaultvectype, &cuda));
  *type = cuda && !bound ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBindToCPU_Polder(Mat A, PetscBool bind)
{
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (PolderBaseOps[layout].bindtocpu) PetscCall((*PolderBaseOps[layout].bindtocpu)(A, bind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJGet(Mat A, PolderAIJ *aij)
{
  const PolderFormat *format;
  PolderLayout        layout;
  Mat                 block = A;

  PetscFunctionBegin;
  *aij = NULL;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  if (layout == POLDER_MPI) PetscCall(PolderAIJBlock(A, &block));
  PetscCall(PolderAIJUpdate_Private(block, aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_Polder(Mat A, MatDuplicateOption op, Mat *B)
{
  PetscBool           bound;
  PolderAIJ           aij, baij;
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall((*PolderBaseOps[layout].duplicate)(A, op, B));
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(PolderAIJContext(*B, &baij));
  baij->opts = aij->opts;
  PetscCall(MatBoundToCPU(A, &bound));
  PetscCall(MatBindToCPU(*B, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetFromOptions_Polder(Mat A, PolderOptionItems PetscOptionsObject)
{
  char                type[64];
  PetscBool           set;
  PolderAIJ           aij;
  PolderAIJOptions    opts;
  const PolderFormat *format;
  PolderLayout        layout;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall(PolderAIJContext(A, &aij));
  if (PolderBaseOps[layout].setfromoptions) PetscCall((*PolderBaseOps[layout].setfromoptions)(A, PetscOptionsObject));
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "Matrix options of Polder", "Mat"); /* -help prints a title once, and seqaij has used that of Mat */
  PetscCall(PetscOptionsFList("-mat_vec_type", "Type of the vectors that MatCreateVecs() makes", "MatSetVecType", VecList, A->defaultvectype, type, sizeof(type), &set));
  PetscOptionsEnd();
  if (set) {
    PetscCall(MatSetVecType(A, type));
    aij->vecset = PETSC_TRUE;
  }
  PetscCall(PolderAIJChooseVecType_Private(A));
  if (format != &PolderFormatDIA) PetscFunctionReturn(PETSC_SUCCESS);
  opts = aij->opts;
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "AIJDIA matrix options", "Mat"); /* -help prints a title once, and seqaij has used that of Mat */
  PetscCall(PetscOptionsReal("-mat_aijdia_max_fill", "Use diagonals while they take at most this many times the nonzeros", "MATAIJDIA", opts.max_fill, &opts.max_fill, NULL));
  PetscCall(PetscOptionsBool("-mat_aijdia_symmetric", "Store half of the matrix when it is symmetric", "MATAIJDIA", opts.symmetric, &opts.symmetric, NULL));
  PetscOptionsEnd();
  PetscCheck(opts.max_fill >= 0.0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "-mat_aijdia_max_fill %g is negative: give the largest ratio of stored entries to nonzeros", (double)opts.max_fill);
  PetscCall(PolderAIJSetOptions_Private(aij, &opts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One line for the whole matrix: every process adds what it stores */
static PetscErrorCode PolderAIJView_Private(Mat A, PetscViewer viewer)
{
  PolderAIJ           aij;
  char                text[128];
  PetscLogDouble      sum[5], total[5];
  MPI_Comm            comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt         size;
  const PolderFormat *format, *used;
  PolderLayout        layout;
  const char         *why;
  Mat                 block = A;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (layout == POLDER_MPI) PetscCall(PolderAIJBlock(A, &block));
  PetscCall(PolderAIJContext(block, &aij));
  if (aij->ddata && !aij->data) PetscCall(PolderAIJGetDevice(A, &aij));
  else PetscCall(PolderAIJGet(A, &aij));
  if (aij->data) {
    used = aij->used;
    why  = aij->why;
    PetscCall((*used->describe)(aij->data, sizeof(text), text, &sum[0], &sum[1]));
  } else {
    used = aij->dused;
    why  = aij->dwhy;
    PetscCall((*used->describe_device)(aij->ddata, sizeof(text), text, &sum[0], &sum[1]));
  }
  sum[2] = aij->data ? aij->nz : aij->rows->nz;
  sum[3] = A->rmap->n;
  sum[4] = used != aij->format;
  PetscCallAllreduce(sum, total, 5, MPI_DOUBLE, MPI_SUM, comm);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscViewerASCIIPrintf(viewer, "format: %s%s; %s%s\n", used->label, aij->data ? "" : " on the GPU", text, size > 1 ? " (first process)" : ""));
  if (used != aij->format) PetscCall(PetscViewerASCIIPrintf(viewer, "not %s: %s\n", aij->format->label, why));
  else if (total[4] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "not %s on %g of %d processes\n", aij->format->label, total[4], size));
  if (total[2] == 0 || total[3] == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "stored entries: %.2f times the nonzeros; bytes a row: %.1f (AIJ %.1f, kept as well)\n", total[1] / total[2], total[0] / total[3], sizeof(PetscInt) + (sizeof(PetscScalar) + sizeof(PetscInt)) * total[2] / total[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_Polder(Mat A, PetscViewer viewer)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PetscViewerFormat   vformat;
  PetscBool           ascii;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall((*PolderBaseOps[layout].view)(A, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &vformat));
  if (vformat == PETSC_VIEWER_ASCII_INFO || vformat == PETSC_VIEWER_ASCII_INFO_DETAIL) PetscCall(PolderAIJView_Private(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converters of PETSc that suit our matrices as they are, under their name for seqaij or mpiaij */
static const char *const PolderConverters[2][4] = {
  {"hypre", "is", "seqbaij", "seqsbaij"},
  {"hypre", "is", "mpibaij", "mpisbaij"}
};

static PetscErrorCode PolderAIJConvertBack(Mat, MatType, MatReuse, Mat *);

/* Composes (or with add = PETSC_FALSE removes) the converters from a type of ours */
static PetscErrorCode PolderAIJCompose_Private(Mat A, const PolderFormat *format, PolderLayout layout, PetscBool add)
{
  const char *type = layout == POLDER_SEQ ? format->seq : format->mpi, *base = layout == POLDER_SEQ ? MATSEQAIJ : MATMPIAIJ;
  char        name[128];
  PetscErrorCode (*convert)(Mat, MatType, MatReuse, Mat *);

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s_C", type, base));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, name, add ? PolderAIJConvertBack : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", add ? MatSetPreallocationCOO_Polder : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", add ? MatSetValuesCOO_Polder : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStoreValues_C", add ? MatStoreValues_Polder : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatRetrieveValues_C", add ? MatRetrieveValues_Polder : NULL));
  for (int k = 0; k < 4 && layout == POLDER_SEQ && PolderDeviceCompiled(); ++k) { /* gamg's smoothed prolongator is of type aijcusparse */
    const char *other = k % 2 ? POLDER_MATSEQAIJ_DEVICE : MATSEQAIJ;

    PetscCall(PetscSNPrintf(name, sizeof(name), "MatProductSetFromOptions_%s_%s_C", k < 2 ? type : other, k < 2 ? other : type));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, add ? MatProductSetFromOptions_Polder : NULL));
  }
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(PolderConverters[0]); ++c) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s_C", base, PolderConverters[layout][c]));
    PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &convert));
    if (!convert) continue;
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s_C", type, PolderConverters[layout][c]));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, add ? convert : NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of an operation table that our types replace */
static void PolderAIJCopyOps_Private(MatOps to, const struct _MatOps *from)
{
  to->mult                  = from->mult;
  to->multadd               = from->multadd;
  to->multtranspose         = from->multtranspose;
  to->multtransposeadd      = from->multtransposeadd;
  to->residual              = from->residual;
  to->getdiagonal           = from->getdiagonal;
  to->bindtocpu             = from->bindtocpu;
  to->getvecs               = from->getvecs;
  to->getdiagonalblock      = from->getdiagonalblock;
  to->zeroentries           = from->zeroentries;
  to->productsetfromoptions = from->productsetfromoptions;
  PolderMatOpsCopyMemType(to, from);
  to->createsubmatrices = from->createsubmatrices;
  to->duplicate         = from->duplicate;
  to->setfromoptions    = from->setfromoptions;
  to->view              = from->view;
  to->convertfrom       = from->convertfrom;
  to->destroy           = from->destroy;
}

/* Back to a plain AIJ matrix */
static PetscErrorCode PolderAIJUndress_Private(Mat A)
{
  const PolderFormat *format;
  PolderLayout        layout;
  Mat                 block;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  if (layout == POLDER_MPI && A->preallocated) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
    if (block) PetscCall(PolderAIJUndress_Private(block));
  }
  if (layout == POLDER_SEQ) {
    PolderAIJ aij = (PolderAIJ)A->spptr;

    PetscCall(PolderAIJUnhook(A));
    if (aij) PetscCall(PolderCOORelease(A, aij->coo));
  }
  PetscCall(PolderAIJCompose_Private(A, format, layout, PETSC_FALSE));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetPreallocationCOO_C", PolderBases[layout].preallocationcoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSetValuesCOO_C", PolderBases[layout].valuescoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStoreValues_C", PolderBases[layout].storevalues));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatRetrieveValues_C", PolderBases[layout].retrievevalues));
  PetscCall(PolderAIJDestroyContext_Private(A));
  PolderAIJCopyOps_Private(A->ops, &PolderBaseOps[layout]);
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, layout == POLDER_SEQ ? MATSEQAIJ : MATMPIAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatHeaderMerge() calls this for a matrix whose type name it has hidden */
static PetscErrorCode MatDestroy_Private(Mat A, PolderLayout layout)
{
  PolderAIJ aij = (PolderAIJ)A->spptr;

  PetscFunctionBegin;
  if (aij) PetscCall(PolderAIJCompose_Private(A, aij->format, layout, PETSC_FALSE));
  PetscCall(PolderAIJDestroyContext_Private(A));
  PetscCall((*PolderBaseOps[layout].destroy)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SeqPolder(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy_Private(A, POLDER_SEQ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_MPIPolder(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy_Private(A, POLDER_MPI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of ours to plain AIJ */
static PetscErrorCode PolderAIJConvertBack(Mat A, MatType type, MatReuse reuse, Mat *M)
{
  PetscFunctionBegin;
  (void)type;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, *M, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, M));
  PetscCall(PolderAIJUndress_Private(*M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Any matrix to a type of ours, by way of plain AIJ */
static PetscErrorCode PolderAIJConvertFrom(Mat A, MatType type, MatReuse reuse, Mat *M)
{
  Mat                 B      = A;
  const PolderFormat *format = NULL;
  PolderLayout        layout = POLDER_SEQ;
  PetscBool           root, seq, mpi, parallel;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatCopy(B, *M, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatConvert(A, MATAIJ, reuse, &B));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATMPIAIJ, &parallel));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(PolderFormats) && !format; ++f) {
    PetscCall(PetscStrcmp(type, PolderFormats[f]->root, &root));
    PetscCall(PetscStrcmp(type, PolderFormats[f]->seq, &seq));
    PetscCall(PetscStrcmp(type, PolderFormats[f]->mpi, &mpi));
    PetscCheck(!(seq && parallel) && !(mpi && !parallel), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP, "Cannot convert a %s matrix to %s: ask for type %s", parallel ? MATMPIAIJ : MATSEQAIJ, type, PolderFormats[f]->root);
    if (root || seq || mpi) format = PolderFormats[f];
  }
  if (parallel) layout = POLDER_MPI;
  PetscCall(PolderAIJDress_Private(B, format, layout));
  PetscObjectOptionsBegin((PetscObject)A);
  PetscCall(MatSetFromOptions_Polder(B, PetscOptionsObject));
  PetscOptionsEnd();
  *M = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderAIJFinalize_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(PolderBaseOps, PETSC_STATIC_ARRAY_LENGTH(PolderBaseOps)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a plain AIJ matrix one of ours; no arrays are built yet */
static PetscErrorCode PolderAIJDress_Private(Mat A, const PolderFormat *format, PolderLayout layout)
{
  PolderAIJ aij;

  PetscFunctionBegin;
  if (!PolderBaseOps[layout].mult) {
    Mat plain;

    PetscCall(PetscRegisterFinalize(PolderAIJFinalize_Private));
    PetscCall(MatCreate(PETSC_COMM_SELF, &plain));
    PetscCall(MatSetType(plain, layout == POLDER_SEQ ? MATSEQAIJ : MATMPIAIJ));
    PolderBaseOps[layout]   = *plain->ops;
    PolderBases[layout].ops = &PolderBaseOps[layout];
    PetscCall(PetscObjectQueryFunction((PetscObject)plain, "MatSetPreallocationCOO_C", &PolderBases[layout].preallocationcoo));
    PetscCall(PetscObjectQueryFunction((PetscObject)plain, "MatSetValuesCOO_C", &PolderBases[layout].valuescoo));
    PetscCall(PetscObjectQueryFunction((PetscObject)plain, "MatStoreValues_C", &PolderBases[layout].storevalues));
    PetscCall(PetscObjectQueryFunction((PetscObject)plain, "MatRetrieveValues_C", &PolderBases[layout].retrievevalues));
    PetscCall(MatDestroy(&plain));
  }
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, layout == POLDER_SEQ ? format->seq : format->mpi));
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(PolderAIJCompose_Private(A, format, layout, PETSC_TRUE));
  PetscCall(MatBindToCPU(A, PETSC_FALSE)); /* where there may be devices, a new matrix is bound until its type says otherwise */
  A->ops->mult             = MatMult_Polder;
  A->ops->multadd          = MatMultAdd_Polder;
  A->ops->multtranspose    = MatMultTranspose_Polder;
  A->ops->multtransposeadd = MatMultTransposeAdd_Polder;
  A->ops->residual         = MatResidual_Polder;
  A->ops->getdiagonal      = MatGetDiagonal_Polder;
  A->ops->bindtocpu        = MatBindToCPU_Polder;
  A->ops->getvecs          = MatCreateVecs_Polder;
  A->ops->getdiagonalblock = MatGetDiagonalBlock_Polder;
  if (layout == POLDER_SEQ) A->ops->zeroentries = MatZeroEntries_Polder;
  PolderMatOpsSetMemType(A->ops, PolderAIJGetMemType);
  if (layout == POLDER_MPI) A->ops->createsubmatrices = MatCreateSubMatrices_MPIPolder;
  A->ops->duplicate      = MatDuplicate_Polder;
  A->ops->setfromoptions = MatSetFromOptions_Polder;
  A->ops->view           = MatView_Polder;
  A->ops->convertfrom    = PolderAIJConvertFrom;
  A->ops->destroy        = layout == POLDER_SEQ ? MatDestroy_SeqPolder : MatDestroy_MPIPolder;
  PetscCall(PolderAIJChooseVecType_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJCreateSeq(Mat A, const PolderFormat *format)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(PolderAIJDress_Private(A, format, POLDER_SEQ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJCreateMPI(Mat A, const PolderFormat *format)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(PolderAIJDress_Private(A, format, POLDER_MPI));
  PetscFunctionReturn(PETSC_SUCCESS);
}
