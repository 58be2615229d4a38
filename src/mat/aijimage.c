/*
  Some operations (matrix products, factors) exist in PETSc on the device for aijcusparse only. Polder's sequential types use an image for these: an aijcusparse
  matrix with the same pattern, whose values are copied on the device when they have changed. PETSc's functions test the exact type of their arguments, so the
  image replaces the Polder matrix while they run.
*/
#include "aijderived.h"
#include "core/keep.h"
#include <petsc/private/matimpl.h>

/* Can A take part in products and factors on the device? PETSC_TRUE for a sequential Polder matrix whose vectors are CUDA vectors and for an aijcusparse
   matrix. An empty matrix cannot, because aijcusparse makes no arrays for it, nor can one without values: a solver asks for a factor before these are set,
   to learn its ordering */
static PetscErrorCode PolderAIJHasImage_Private(Mat A, PetscBool *has)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PetscMemType        type;
  MatInfo             info;
  PetscBool           use, bound;

  PetscFunctionBegin;
  *has = PETSC_FALSE;
  PetscCall(PolderDeviceInUse(&use));
  PetscCall(MatBoundToCPU(A, &bound));
  if (!use || bound || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (format && layout == POLDER_SEQ) {
    PetscCall(PolderAIJGetMemType(A, &type));
    *has = PetscMemTypeDevice(type) ? PETSC_TRUE : PETSC_FALSE;
  } else PetscCall(PetscObjectTypeCompare((PetscObject)A, POLDER_MATSEQAIJ_DEVICE, has));
  if (!*has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  if (info.nz_used == 0.0) *has = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The up-to-date image of a Polder matrix; for any other matrix the matrix itself. The image belongs to the matrix */
static PetscErrorCode PolderAIJGetImage_Private(Mat A, Mat *image)
{
  PolderAIJ           aij;
  const PolderFormat *format;
  PolderLayout        layout;
  PolderMirror        r;
  PetscScalar        *values;

  PetscFunctionBegin;
  *image = A;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderAIJGetRows(A, &r));
  PetscCall(PolderAIJContext(A, &aij));
  if (aij->image && aij->imagepattern != r->pattern) PetscCall(MatDestroy(&aij->image));
  if (!aij->image) {
    Mat B;

    PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
    PetscCall(MatConvert(B, MATSEQAIJ, MAT_INPLACE_MATRIX, &B));
    if (!B->nonzerostate) B->nonzerostate = 1; /* state 0 would mean to aijcusparse that its arrays exist already */
    PetscCall(MatConvert(B, POLDER_MATSEQAIJ_DEVICE, MAT_INPLACE_MATRIX, &B));
    aij->image        = B;
    aij->imagepattern = r->pattern;
    aij->imageversion = -1;
  }
  *image = aij->image;
  PetscCall(MatPropagateSymmetryOptions(A, *image));
  if (aij->imageversion == r->version) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderImageGetValues(*image, &values));
  PetscCall(PolderDeviceToDevice(values, r->aa, sizeof(PetscScalar) * r->nz));
  PetscCall(PolderImageRestoreValues(*image, &values));
  aij->imageversion = r->version;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Matrix products */
typedef struct {
  PetscErrorCode (*numeric)(Mat); /* PETSc's, for aijcusparse */
  PetscObjectId id[3];            /* of the images that the symbolic product was computed with */
  PetscInt      version;          /* of the values that the transpose of the transposed factor holds */
} PolderProduct;

static const char PolderProductKey[] = "__Polder_product";

static PetscErrorCode PolderFreeContext_Private(PolderCtxArg(ctx))
{
  PetscFunctionBegin;
  PetscCall(PetscFree(PolderCtx(ctx)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *ctx <- zeroed memory of this size that is composed with A under key and freed with A */
static PetscErrorCode PolderComposeContext_Private(Mat A, const char *key, size_t bytes, void *ctx)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, (void **)ctx));
  PetscCall(PetscMemzero(*(void **)ctx, bytes));
  PetscCall(PolderKeep((PetscObject)A, key, *(void **)ctx, PolderFreeContext_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *ctx <- the memory that is composed with A under key */
static PetscErrorCode PolderQueryContext_Private(Mat A, const char *key, void *ctx)
{
  PetscFunctionBegin;
  PetscCall(PolderKept((PetscObject)A, key, ctx));
  PetscCheck(*(void **)ctx, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Matrix has lost what was kept under %s", key);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the matrices of a product by their images (in), or restores them */
static PetscErrorCode PolderProductSwap_Private(Mat C, Mat with[3], PetscBool in)
{
  Mat_Product *product = C->product;
  Mat         *place[] = {&product->A, &product->B, &product->C};

  PetscFunctionBegin;
  for (int k = 0; k < 3; ++k) {
    Mat old = *place[k];

    if (!old) continue;
    if (in) {
      PetscCall(PolderAIJGetImage_Private(old, place[k]));
      with[k] = old;
    } else *place[k] = with[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc 3.24 updates the transpose of a transposed factor only in the symbolic phase of a product. A product with a vector of ones triggers that update */
static PetscErrorCode PolderProductRefreshTranspose_Private(Mat C, const Mat mine[3], PolderProduct *p)
{
  const MatProductType type = C->product->type;
  const int            k    = type == MATPRODUCT_AtB ? 0 : 1;
  const PolderFormat  *format;
  PolderLayout         layout;
  PolderAIJ            aij;
  Mat                  image, ones, sums;
  PetscInt             m, version;

  PetscFunctionBegin;
  if (type != MATPRODUCT_AtB && type != MATPRODUCT_ABt && type != MATPRODUCT_PtAP && type != MATPRODUCT_RARt) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderFormatOf(mine[k], &format, &layout));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderAIJContext(mine[k], &aij));
  version    = p->version;
  p->version = aij->imageversion;
  if (version == aij->imageversion || version < 0) PetscFunctionReturn(PETSC_SUCCESS);
  image = aij->image;
  PetscCall(MatGetLocalSize(image, &m, NULL));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, 1, 1, NULL, &ones));
  for (PetscInt i = 0; i < m; ++i) PetscCall(MatSetValue(ones, i, 0, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(ones, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(ones, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(ones, POLDER_MATSEQAIJ_DEVICE, MAT_INPLACE_MATRIX, &ones));
  PetscCall(MatTransposeMatMult(image, ones, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &sums));
  PetscCall(MatDestroy(&sums));
  PetscCall(MatDestroy(&ones));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderProductNumeric_Private(Mat);

/*
  Marks an image that is valid on both sides as valid on the device only. When both factors are valid on both sides, the symbolic phase of PETSc 3.24 takes
  their values as final. In a product of three matrices the inner product is valid on both sides before its values are final.
*/
static PetscErrorCode PolderImageHide_Private(Mat image, PetscOffloadMask *mask)
{
  const PetscInt    *ai, *aj;
  const PetscScalar *aa;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(PolderImageGetRows(image, &ai, &aj, &aa, &done)); /* updates the device arrays */
  PetscCall(PolderMatGetOffload(image, mask));
  if (*mask == PETSC_OFFLOAD_BOTH) PetscCall(PolderMatSetOffload(image, PETSC_OFFLOAD_GPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderProductSymbolic_Private(Mat C)
{
  Mat              mine[3] = {NULL, NULL, NULL}, image[3];
  PetscOffloadMask mask[3];
  PolderProduct   *p;

  PetscFunctionBegin;
  PetscCall(PolderProductSwap_Private(C, mine, PETSC_TRUE));
  image[0] = C->product->A;
  image[1] = C->product->B;
  image[2] = C->product->C;
  for (int k = 0; k < 3; ++k) {
    if (image[k]) PetscCall(PolderImageHide_Private(image[k], &mask[k]));
  }
  PetscCall((*image[0]->ops->productsetfromoptions)(C));
  PetscCheck(C->ops->productsymbolic && C->ops->productsymbolic != PolderProductSymbolic_Private, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "PETSc has no product of type %s for aijcusparse matrices", MatProductTypes[C->product->type]);
  PetscCall((*C->ops->productsymbolic)(C));
  for (int k = 0; k < 3; ++k) {
    if (image[k]) PetscCall(PolderMatSetOffload(image[k], mask[k]));
  }
  PetscCall(PolderProductSwap_Private(C, mine, PETSC_FALSE));
  PetscCall(PolderComposeContext_Private(C, PolderProductKey, sizeof(*p), &p));
  p->numeric = C->ops->productnumeric;
  p->version = -1;
  PetscCall(PolderProductRefreshTranspose_Private(C, mine, p));
  for (int k = 0; k < 3; ++k) {
    if (image[k]) PetscCall(PetscObjectGetId((PetscObject)image[k], &p->id[k]));
  }
  C->ops->productnumeric = PolderProductNumeric_Private;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderProductNumeric_Private(Mat C)
{
  Mat            mine[3] = {NULL, NULL, NULL}, image[3];
  PolderProduct *p;
  PetscBool      same = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PolderQueryContext_Private(C, PolderProductKey, &p));
  PetscCall(PolderProductSwap_Private(C, mine, PETSC_TRUE));
  image[0] = C->product->A;
  image[1] = C->product->B;
  image[2] = C->product->C;
  for (int k = 0; k < 3; ++k) {
    PetscObjectId id = 0;

    if (image[k]) PetscCall(PetscObjectGetId((PetscObject)image[k], &id));
    if (id != p->id[k]) same = PETSC_FALSE;
  }
  if (same) PetscCall(PolderProductRefreshTranspose_Private(C, mine, p));
  if (same) PetscCall((*p->numeric)(C));
  PetscCall(PolderProductSwap_Private(C, mine, PETSC_FALSE));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "A product is made again with the matrices that it was made with, in their old nonzero pattern: use MAT_INITIAL_MATRIX for others");
  C->ops->productnumeric = PolderProductNumeric_Private; /* a product of three matrices overwrites this pointer */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatProductSetFromOptions_Polder(Mat C)
{
  Mat_Product *product = C->product;
  const Mat    mats[]  = {product->A, product->B, product->type == MATPRODUCT_ABC ? product->C : NULL};
  PetscBool    images  = PETSC_TRUE;

  PetscFunctionBegin;
  for (int k = 0; k < 3 && images; ++k) {
    if (mats[k]) PetscCall(PolderAIJHasImage_Private(mats[k], &images));
  }
  if (images) C->ops->productsymbolic = PolderProductSymbolic_Private;
  else PetscCall((*PolderAIJBase(POLDER_SEQ)->ops->productsetfromoptions)(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors of Polder matrices */
typedef struct {
  PetscErrorCode (*ilusymbolic)(Mat, Mat, IS, IS, const MatFactorInfo *);
  PetscErrorCode (*lusymbolic)(Mat, Mat, IS, IS, const MatFactorInfo *);
  PetscErrorCode (*iccsymbolic)(Mat, Mat, IS, const MatFactorInfo *);
  PetscErrorCode (*choleskysymbolic)(Mat, Mat, IS, const MatFactorInfo *);
  PetscErrorCode (*lunumeric)(Mat, Mat, const MatFactorInfo *);
  PetscErrorCode (*choleskynumeric)(Mat, Mat, const MatFactorInfo *);
} PolderFactor;

static const char PolderFactorKey[] = "__Polder_factor";

static PetscErrorCode LUNumeric_Private(Mat F, Mat A, const MatFactorInfo *info);
static PetscErrorCode CholeskyNumeric_Private(Mat F, Mat A, const MatFactorInfo *info);

/* PETSc's symbolic functions set the numeric ones; this puts Polder's wrappers before them */
static void PolderFactorWrap_Private(Mat F, PolderFactor *f)
{
  if (F->ops->lufactornumeric && F->ops->lufactornumeric != LUNumeric_Private) {
    f->lunumeric            = F->ops->lufactornumeric;
    F->ops->lufactornumeric = LUNumeric_Private;
  }
  if (F->ops->choleskyfactornumeric && F->ops->choleskyfactornumeric != CholeskyNumeric_Private) {
    f->choleskynumeric            = F->ops->choleskyfactornumeric;
    F->ops->choleskyfactornumeric = CholeskyNumeric_Private;
  }
}

#define PolderFactorStep(name, call, params, args) \
  static PetscErrorCode name params \
  { \
    PolderFactor *f; \
    Mat           image; \
\
    PetscFunctionBegin; \
    PetscCall(PolderQueryContext_Private(F, PolderFactorKey, &f)); \
    PetscCall(PolderAIJGetImage_Private(A, &image)); \
    PetscCall((*f->call)args); \
    PolderFactorWrap_Private(F, f); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

/* clang-format off */
PolderFactorStep(LUNumeric_Private, lunumeric, (Mat F, Mat A, const MatFactorInfo *info), (F, image, info))
PolderFactorStep(CholeskyNumeric_Private, choleskynumeric, (Mat F, Mat A, const MatFactorInfo *info), (F, image, info))
PolderFactorStep(ILUSymbolic_Private, ilusymbolic, (Mat F, Mat A, IS row, IS col, const MatFactorInfo *info), (F, image, row, col, info))
PolderFactorStep(LUSymbolic_Private, lusymbolic, (Mat F, Mat A, IS row, IS col, const MatFactorInfo *info), (F, image, row, col, info))
PolderFactorStep(ICCSymbolic_Private, iccsymbolic, (Mat F, Mat A, IS perm, const MatFactorInfo *info), (F, image, perm, info))
PolderFactorStep(CholeskySymbolic_Private, choleskysymbolic, (Mat F, Mat A, IS perm, const MatFactorInfo *info), (F, image, perm, info))
  /* clang-format on */

  /* PETSc calls this when no package or cusparse is named, because the exact type name is found before the prefix seqaij */
  static PetscErrorCode MatGetFactor_Polder(Mat A, MatFactorType type, Mat *F)
{
  PolderFactor *f;
  Mat           image;
  PetscBool     has;

  PetscFunctionBegin;
  PetscCall(PolderAIJHasImage_Private(A, &has));
  if (!has) {
    PetscCall(MatGetFactor(A, MATSOLVERPETSC, type, F));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderAIJGetImage_Private(A, &image));
  PetscCall(MatGetFactor(image, POLDER_SOLVER_DEVICE, type, F));
  PetscCall(PolderComposeContext_Private(*F, PolderFactorKey, sizeof(*f), &f));
#define Wrap(op, mine, theirs) \
  if ((*F)->ops->op) { \
    f->theirs     = (*F)->ops->op; \
    (*F)->ops->op = mine; \
  }
  Wrap(ilufactorsymbolic, ILUSymbolic_Private, ilusymbolic);
  Wrap(lufactorsymbolic, LUSymbolic_Private, lusymbolic);
  Wrap(iccfactorsymbolic, ICCSymbolic_Private, iccsymbolic);
  Wrap(choleskyfactorsymbolic, CholeskySymbolic_Private, choleskysymbolic);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderAIJRegisterFactors(void)
{
  static const PolderFormat *const formats[] = {&PolderFormatDIA, &PolderFormatICRS, &PolderFormatHEC};
  static const MatFactorType       types[]   = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC};

  PetscFunctionBegin;
  if (!PolderDeviceCompiled()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatInitializePackage()); /* PETSc's own packages must be registered first */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(formats); ++k) {
    for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); ++t)
      PetscCall(MatSolverTypeRegister(POLDER_SOLVER_DEVICE, formats[k]->seq, types[t], MatGetFactor_Polder));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
