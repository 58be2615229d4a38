/* Registration and conversion of the matrix types that PETSc treats as AIJ matrices and that multiply with Polder's own arrays. */
#include "core/peers.h"
#include "aijderived.h"
#include <petsc/private/matimpl.h>

/* Original AIJ operations: overrides call them, and conversion to AIJ restores them */
static struct _MatOps PolderBaseOps[2];
static PolderBase     PolderBases[2];

static const PolderFormat *const PolderFormats[] = {&PolderFormatDIA, &PolderFormatICRS, &PolderFormatHEC};

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

/* A header merge by PETSc may have removed Polder's context from a Polder matrix */
PetscErrorCode PolderAIJContext(Mat A, PolderAIJ *aij)
{
  PolderLayout layout;

  PetscFunctionBegin;
  if (!A->spptr) {
    PetscCall(PetscNew(aij));
    PetscCall(PolderFormatOf(A, &(*aij)->format, &layout));
    (*aij)->opts.max_fill  = 3.0;
    (*aij)->opts.symmetric = PETSC_TRUE;
    (*aij)->opts.classes   = PETSC_TRUE;
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
    PetscCall(PolderAIJReset(aij));
    PetscCall(PolderMirrorDestroy(&aij->rows));
    PetscCall(PolderDeviceFree(&aij->ghost));
    PetscCall(PolderCOODestroy(&aij->coo));
    PetscCall(MatDestroy(&aij->image));
  }
  PetscCall(PetscFree(A->spptr));
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
  else PetscCall(PolderAIJChooseVecType(A));
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
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "Matrix options of Polder",
                    "Mat"); /* -help prints each title once, and seqaij has used that of Mat */
  PetscCall(PetscOptionsFList("-mat_vec_type", "Type of the vectors that MatCreateVecs() makes", "MatSetVecType", VecList, A->defaultvectype, type,
                              sizeof(type), &set));
  PetscOptionsEnd();
  if (set) {
    PetscCall(MatSetVecType(A, type));
    aij->vecset = PETSC_TRUE;
  }
  PetscCall(PolderAIJChooseVecType(A));
  if (format != &PolderFormatDIA) PetscFunctionReturn(PETSC_SUCCESS);
  opts = aij->opts;
  PetscOptionsBegin(PetscObjectComm((PetscObject)A), ((PetscObject)A)->prefix, "AIJDIA matrix options",
                    "Mat"); /* -help prints each title once, and seqaij has used that of Mat */
  PetscCall(PetscOptionsReal("-mat_aijdia_max_fill", "Use diagonals while they take at most this many times the nonzeros", "MATAIJDIA", opts.max_fill,
                             &opts.max_fill, NULL));
  PetscCall(PetscOptionsBool("-mat_aijdia_symmetric", "Store half of the matrix when it is symmetric", "MATAIJDIA", opts.symmetric, &opts.symmetric, NULL));
  PetscCall(PetscOptionsBool("-mat_aijdia_classes", "Read one byte in place of the entries of a row that equals many others", "MATAIJDIA", opts.classes,
                             &opts.classes, NULL));
  PetscOptionsEnd();
  PetscCheck(opts.max_fill >= 0.0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_aijdia_max_fill %g is negative: give the largest ratio of stored entries to nonzeros", (double)opts.max_fill);
  PetscCall(PolderAIJSetOptions(aij, &opts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints one line for the whole matrix, with sums over all processes */
static PetscErrorCode PolderAIJView_Private(Mat A, PetscViewer viewer)
{
  PolderAIJ             aij;
  char                  text[128];
  PetscLogDouble        sum[5], total[5];
  MPI_Comm              comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt           size;
  const PolderFormat   *format, *used;
  PolderLayout          layout;
  PolderAIJArrays      *arrays;
  Mat                   block     = A;
  const PolderAIJSteps *steps     = &PolderAIJStepsOnHost;
  const char           *transport = NULL;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (layout == POLDER_MPI) PetscCall(PolderAIJBlock(A, &block));
  PetscCall(PolderAIJContext(block, &aij));
  if (aij->at[PETSC_TRUE].data && !aij->at[PETSC_FALSE].data) steps = &PolderAIJStepsOnDevice; // viewing must not build arrays that nothing else uses
  PetscCall(PolderAIJUpdate(block, steps, &aij, &arrays));
  used = arrays->format;
  PetscCall((*used->at[steps->place->device].describe)(arrays->data, sizeof(text), text, &sum[0], &sum[1]));
  sum[2] = arrays->nz;
  sum[3] = A->rmap->n;
  sum[4] = used != aij->format;
  PetscCallAllreduce(sum, total, 5, MPI_DOUBLE, MPI_SUM, comm);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (steps->place->device && size > 1) PetscCall(PolderPeersGetTransport(comm, &transport));
  PetscCall(PetscViewerASCIIPrintf(viewer, "format: %s%s; %s%s%s%s\n", used->label, steps->where, text, size > 1 ? " (first process)" : "",
                                   transport ? "; values between processes: " : "", transport ? transport : ""));
  if (used != aij->format) PetscCall(PetscViewerASCIIPrintf(viewer, "not %s: %s\n", aij->format->label, arrays->why));
  else if (total[4] > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "not %s on %g of %d processes\n", aij->format->label, total[4], size));
  if (total[2] == 0 || total[3] == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "stored entries: %.2f times the nonzeros; bytes a row: %.1f (AIJ %.1f, kept as well)\n", total[1] / total[2],
                                   total[0] / total[3], sizeof(PetscInt) + (sizeof(PetscScalar) + sizeof(PetscInt)) * total[2] / total[3]));
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

/* PETSc's converters from seqaij or mpiaij that work for Polder matrices unchanged */
static const char *const PolderConverters[2][4] = {
  {"hypre", "is", "seqbaij", "seqsbaij"},
  {"hypre", "is", "mpibaij", "mpisbaij"}
};

static PetscErrorCode PolderAIJConvertBack(Mat, MatType, MatReuse, Mat *);

/* Composes (with add = PETSC_FALSE: removes) the converters from a Polder type */
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

/* Copies the operations that Polder types replace */
static void PolderAIJCopyOps_Private(MatOps to, const struct _MatOps *from)
{
  to->mult                  = from->mult;
  to->multadd               = from->multadd;
  to->multtranspose         = from->multtranspose;
  to->multtransposeadd      = from->multtransposeadd;
  to->residual              = from->residual;
  to->zerorows              = from->zerorows;
  to->getdiagonal           = from->getdiagonal;
  to->bindtocpu             = from->bindtocpu;
  to->getvecs               = from->getvecs;
  to->getdiagonalblock      = from->getdiagonalblock;
  to->zeroentries           = from->zeroentries;
  to->assemblyend           = from->assemblyend;
  to->productsetfromoptions = from->productsetfromoptions;
  PolderMatOpsCopyMemType(to, from);
  to->createsubmatrices = from->createsubmatrices;
  to->duplicate         = from->duplicate;
  to->setfromoptions    = from->setfromoptions;
  to->view              = from->view;
  to->convertfrom       = from->convertfrom;
  to->destroy           = from->destroy;
}

/* Turns a Polder matrix back into a plain AIJ matrix */
static PetscErrorCode PolderAIJUninstall_Private(Mat A)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PolderAIJ           aij = (PolderAIJ)A->spptr;
  Mat                 block;

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  if (layout == POLDER_SEQ) PetscCall(PolderAIJUnhook(A));
  if (aij) PetscCall(PolderCOORelease(A, layout, aij->coo));
  if (layout == POLDER_MPI && A->preallocated) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
    if (block) PetscCall(PolderAIJUninstall_Private(block));
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

/* Converts a Polder matrix to plain AIJ */
static PetscErrorCode PolderAIJConvertBack(Mat A, MatType type, MatReuse reuse, Mat *M)
{
  PetscFunctionBegin;
  (void)type;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, *M, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, M));
  PetscCall(PolderAIJUninstall_Private(*M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts any matrix to a Polder type, through plain AIJ */
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
  PetscCall(PolderDeviceBegin()); // while the host copies
  PetscCall(MatConvert(A, MATAIJ, reuse, &B));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATMPIAIJ, &parallel));
  for (size_t f = 0; f < PETSC_STATIC_ARRAY_LENGTH(PolderFormats) && !format; ++f) {
    PetscCall(PetscStrcmp(type, PolderFormats[f]->root, &root));
    PetscCall(PetscStrcmp(type, PolderFormats[f]->seq, &seq));
    PetscCall(PetscStrcmp(type, PolderFormats[f]->mpi, &mpi));
    PetscCheck(!(seq && parallel) && !(mpi && !parallel), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
               "Cannot convert a %s matrix to %s: ask for type %s", parallel ? MATMPIAIJ : MATSEQAIJ, type, PolderFormats[f]->root);
    if (root || seq || mpi) format = PolderFormats[f];
  }
  if (parallel) layout = POLDER_MPI;
  PetscCall(PolderAIJInstall(B, format, layout));
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

/* Turns a plain AIJ matrix into a Polder matrix; builds no arrays yet */
PetscErrorCode PolderAIJInstall(Mat A, const PolderFormat *format, PolderLayout layout)
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
  PetscCall(MatBindToCPU(A, PETSC_FALSE)); /* with devices, a new matrix is bound to the CPU until its type unbinds it */
  A->ops->mult             = MatMult_Polder;
  A->ops->multadd          = MatMultAdd_Polder;
  A->ops->multtranspose    = MatMultTranspose_Polder;
  A->ops->multtransposeadd = MatMultTransposeAdd_Polder;
  A->ops->residual         = MatResidual_Polder;
  A->ops->zerorows         = MatZeroRows_Polder;
  A->ops->getdiagonal      = MatGetDiagonal_Polder;
  A->ops->bindtocpu        = MatBindToCPU_Polder;
  A->ops->getvecs          = MatCreateVecs_Polder;
  A->ops->getdiagonalblock = MatGetDiagonalBlock_Polder;
  if (layout == POLDER_SEQ) A->ops->zeroentries = MatZeroEntries_Polder;
  PolderMatOpsSetMemType(A->ops, PolderAIJGetMemType);
  if (layout == POLDER_MPI) A->ops->createsubmatrices = MatCreateSubMatrices_MPIPolder;
  if (layout == POLDER_MPI) A->ops->assemblyend = MatAssemblyEnd_MPIPolder;
  A->ops->duplicate      = MatDuplicate_Polder;
  A->ops->setfromoptions = MatSetFromOptions_Polder;
  A->ops->view           = MatView_Polder;
  A->ops->convertfrom    = PolderAIJConvertFrom;
  A->ops->destroy        = layout == POLDER_SEQ ? MatDestroy_SeqPolder : MatDestroy_MPIPolder;
  PetscCall(PolderAIJChooseVecType(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJCreateSeq(Mat A, const PolderFormat *format)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(PolderAIJInstall(A, format, POLDER_SEQ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJCreateMPI(Mat A, const PolderFormat *format)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(PolderAIJInstall(A, format, POLDER_MPI));
  PetscFunctionReturn(PETSC_SUCCESS);
}
