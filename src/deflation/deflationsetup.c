/* Set-up of a deflation space: whether to repeat it, at which place, and its result. */
#include "deflationsteps.h"
#include "mat/symmetry.h"

static PetscErrorCode PolderDeflationFreeOperators_Private(PolderDeflationSpace s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(s->gl));
  PetscCall(PetscFree2(s->runstart, s->runlabel));
  PetscCall(PolderSparseRowsDestroy(&PolderOnHost, &s->Z));
  PetscCall(PolderSparseRowsDestroy(&PolderOnHost, &s->AZ));
  PetscCall(PetscFree2(s->a1, s->a2));
  s->nl = s->nrun = 0;
  PetscCall(PolderDeflationDeviceReset(s->dev));
  PetscCall(PolderDeviceFree(&s->standin));
  s->setup = s->nullspace = s->covers = PETSC_FALSE;
  s->made = s->steps = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the result of the set-up; the user's settings stay */
PetscErrorCode PolderDeflationSpaceReset(PolderDeflationSpace s)
{
  PetscFunctionBegin;
  PetscCall(PolderDeflationFreeOperators_Private(s));
  PetscCall(PolderDeflationDeviceDestroy(&s->dev));
  PetscCall(PetscFree(s->label));
  s->labelsvalid = PETSC_FALSE;
  s->d           = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The object whose change makes the labels or Z invalid: what was set, else what is composed on the operator */
static PetscErrorCode PolderDeflationSource_Private(PolderDeflationSpace s, Mat A, PetscObject *source)
{
  PetscBool user, nearnull;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONUSER, &user));
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONNEARNULLSPACE, &nearnull));
  *source = NULL;
  if (user) {
    *source = s->Zuser ? (PetscObject)s->Zuser : (PetscObject)s->labels;
    if (!*source) PetscCall(PetscObjectQuery((PetscObject)A, "deflation_matrix", source));
    if (!*source) PetscCall(PetscObjectQuery((PetscObject)A, "deflation_labels", source));
    PetscCheck(*source, s->comm, PETSC_ERR_ARG_WRONGSTATE,
               "-deflation_space user needs labels or a matrix Z: call PolderDeflationSpaceSetLabels() or PolderDeflationSpaceSetMatrix(), or compose them on "
               "the operator as deflation_labels or deflation_matrix");
  } else if (nearnull) {
    MatNullSpace sp;

    PetscCall(MatGetNearNullSpace(A, &sp));
    *source = (PetscObject)sp;
  } else if (s->levelset) {
    *source = (PetscObject)s->levelset;
  } else if (!s->levelsetfrom[0]) {
    PetscCall(PetscObjectQuery((PetscObject)A, "levelset", source));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the state of the matrix and of the source of the labels with those of the last set-up */
static PetscErrorCode PolderDeflationCheckState_Private(PolderDeflationSpace s, Mat A, PetscObject source)
{
  PetscObjectId    Aid, sourceid = 0;
  PetscObjectState Astate, Anonzero, sourcestate = 0;
  PetscBool        sameA, samesource, found;
  const char      *regional[] = {POLDERDEFLATIONAUTO, POLDERDEFLATIONLEVELSET, POLDERDEFLATIONLEVELSETSUBDOMAIN};

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &Aid));
  PetscCall(PetscObjectStateGet((PetscObject)A, &Astate));
  PetscCall(MatGetNonzeroState(A, &Anonzero));
  if (source) {
    PetscCall(PetscObjectGetId(source, &sourceid));
    PetscCall(PetscObjectStateGet(source, &sourcestate));
  }
  sameA      = (PetscBool)(Aid == s->Aid && Anonzero == s->Anonzerostate);
  samesource = (PetscBool)(sourceid == s->sourceid && sourcestate == s->sourcestate);
  if (!sameA || !samesource || Astate != s->Astate) s->setup = PETSC_FALSE;
  if (!sameA || !samesource) s->labelsvalid = PETSC_FALSE;
  if (Astate != s->Astate && !source) { // without a source, the regions depend on the values of the matrix
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(regional); ++i) {
      PetscCall(PetscStrcmp(s->type, regional[i], &found));
      if (found) s->labelsvalid = PETSC_FALSE;
    }
  }
  s->Aid           = Aid;
  s->Astate        = Astate;
  s->Anonzerostate = Anonzero;
  s->sourceid      = sourceid;
  s->sourcestate   = sourcestate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Z is a matrix: the near null space, or the user's Z */
static PetscErrorCode PolderDeflationBuildMatrix_Private(PolderDeflationSpace s, Mat A, Mat Zuser)
{
  Mat Z = NULL;

  PetscFunctionBegin;
  PetscCall(PolderDeflationDeviceDestroy(&s->dev));
  PetscCall(PetscStrncpy(s->chosen, s->type, sizeof(s->chosen)));
  PetscCall(PetscStrncpy(s->reason, "as asked", sizeof(s->reason)));
  if (!Zuser) PetscCall(PolderDeflationNearNullSpace(A, &Z));
  PetscCall(PolderLogBegin(POLDER_DeflationSetUp, (PetscObject)A));
  PetscCall(PolderDeflationSetUpMatrix(s, A, Zuser ? Zuser : Z));
  PetscCall(PolderLogEnd(POLDER_DeflationSetUp, (PetscObject)A));
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Z is defined by labels */
static PetscErrorCode PolderDeflationBuildLabels_Private(PolderDeflationSpace s, Mat A)
{
  PolderCSR csr;

  PetscFunctionBegin;
  PetscCall((*s->made->getrows)(A, &csr));
  PetscCall((*s->made->makelabels)(s, A, &csr));
  if (s->d) {
    PetscCall(PolderLogBegin(POLDER_DeflationSetUp, (PetscObject)A));
    PetscCall((*s->made->makeoperators)(s, A, &csr));
    PetscCall(PolderLogEnd(POLDER_DeflationSetUp, (PetscObject)A));
  }
  PetscCall((*s->made->restorerows)(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets s->device when some process has its rows on the device, since those without rows follow it; everywhere: each process has rows there */
static PetscErrorCode PolderDeflationFindPlace_Private(PolderDeflationSpace s, Mat A, PetscBool *everywhere)
{
  PolderCSR csr;
  PetscInt  have[2], all[2];

  PetscFunctionBegin;
  PetscCall(PolderMatGetDeviceCSR(A, &csr, &s->device));
  PetscCall(PolderMatRestoreDeviceCSR(A, &csr));
  have[0] = s->device;
  have[1] = !s->device || !s->m;
  PetscCallAllreduce(have, all, 2, MPIU_INT, MPI_MAX, s->comm);
  s->device   = (PetscBool)all[0];
  *everywhere = (PetscBool)!all[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationBuild_Private(PolderDeflationSpace s, Mat A, PetscObject source)
{
  PetscBool    nearnull, everywhere, matrix = PETSC_FALSE;
  PetscClassId id;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONNEARNULLSPACE, &nearnull));
  if (source) {
    PetscCall(PetscObjectGetClassId(source, &id));
    matrix = (PetscBool)(id == MAT_CLASSID);
  }
  PetscCall(PolderDeflationFindPlace_Private(s, A, &everywhere));
  PetscCall(PolderCoarseSetDevice(s->coarse, s->device));
  /* the device sets up label spaces; the operators of other spaces are copied to the device */
  s->made = everywhere && !nearnull && !matrix && !s->weighted ? &PolderDeflationOnDevice : &PolderDeflationOnHost;
  if (nearnull || matrix) PetscCall(PolderDeflationBuildMatrix_Private(s, A, nearnull ? NULL : (Mat)source));
  else PetscCall(PolderDeflationBuildLabels_Private(s, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The test of symmetry takes two products */
static PetscErrorCode PolderDeflationTestSymmetry_Private(PolderDeflationSpace s, Mat A)
{
  PetscBool set, symmetric = PETSC_TRUE;

  PetscFunctionBegin;
  if (s->allowgeneral) {
    PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
    if (!set || !symmetric) PetscCall(PolderMatProductsSymmetric(A, &symmetric));
  }
  s->general = (PetscBool)!symmetric;
  PetscCall(PolderCoarseSetGeneral(s->coarse, s->general, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceAllowGeneral(PolderDeflationSpace s)
{
  PetscFunctionBegin;
  s->allowgeneral = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceSetServed(PolderDeflationSpace s, PetscBool served)
{
  PetscFunctionBegin;
  s->served = served;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceIsGeneral(PolderDeflationSpace s, PetscBool *general)
{
  PetscFunctionBegin;
  *general = s->general;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Composes the objects on A that define the regions on its AIJ image as well */
static PetscErrorCode PolderDeflationShareSource_Private(Mat A, Mat Aij)
{
  const char *const names[] = {"levelset", "deflation_labels"};
  PetscObject       object;
  MatNullSpace      nearnull;

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(names); ++i) {
    PetscCall(PetscObjectQuery((PetscObject)A, names[i], &object));
    if (object) PetscCall(PetscObjectCompose((PetscObject)Aij, names[i], object));
  }
  PetscCall(MatGetNearNullSpace(A, &nearnull));
  if (nearnull) PetscCall(MatSetNearNullSpace(Aij, nearnull));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is no space wanted, and why? */
static PetscErrorCode PolderDeflationNone_Private(const struct _n_PolderDeflationSpace *s, Mat A, const char **why)
{
  const PetscBool given = (PetscBool)(s->nboxes || s->count || s->weighted || s->levelset || s->levelsetfrom[0]);
  PetscBool       none, automatic, shell;

  PetscFunctionBegin;
  *why = NULL;
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONNONE, &none));
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONAUTO, &automatic));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSHELL, &shell));
  if (none) *why = "as asked";
  else if (automatic && shell) *why = "the operator is matrix-free and deflation needs its entries";
  else if (automatic && s->served && !given) *why = "the preconditioner has coarse levels, so that vectors do not pay";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceTrySetUp(PolderDeflationSpace s, Mat A, PetscBool *finite)
{
  const char *why;
  PetscBool   aij, shell, assembled;
  PetscInt    M, N;
  PetscObject source;
  Mat         Aij = A;

  PetscFunctionBegin;
  *finite = PETSC_TRUE;
  PetscCall(PolderMatIsAIJ(A, &aij));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSHELL, &shell));
  PetscCall(PolderDeflationNone_Private(s, A, &why));
  if (why) {
    PetscCall(PolderDeflationSpaceReset(s));
    PetscCall(PetscStrncpy(s->chosen, POLDERDEFLATIONNONE, sizeof(s->chosen)));
    PetscCall(PetscStrncpy(s->reason, why, sizeof(s->reason)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetSize(A, &M, &N));
  PetscCheck(M == N, s->comm, PETSC_ERR_ARG_SIZ, "Deflation needs a square matrix, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", M, N);
  PetscCall(MatAssembled(A, &assembled));
  PetscCheck(assembled, s->comm, PETSC_ERR_ARG_WRONGSTATE, "Deflation needs an assembled matrix: call MatAssemblyBegin() and MatAssemblyEnd()");
  PetscCheck(!shell, s->comm, PETSC_ERR_SUP,
             "Deflation needs the entries of the matrix and this one is matrix-free: use -deflation_space none, or give an assembled matrix");
  PetscCall(PolderDeflationSource_Private(s, A, &source));
  PetscCall(PolderDeflationCheckState_Private(s, A, source));
  if (s->setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationFreeOperators_Private(s));
  if (!aij) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &Aij));
    if (source) PetscCall(PolderDeflationShareSource_Private(A, Aij));
  }
  PetscCall(MatGetLocalSize(Aij, &s->m, NULL));
  PetscCall(PolderDeflationTestSymmetry_Private(s, Aij));
  PetscCall(PolderDeflationBuild_Private(s, Aij, source));
  if (!aij) PetscCall(MatDestroy(&Aij));
  if (s->d) PetscCall(PolderCoarseIsFinite(s->coarse, finite));
  s->setup = *finite;
  PetscCall(PetscInfo(A, "Deflation space %s with %" PetscInt_FMT " vectors: %s\n", s->chosen, s->d, s->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceSetUp - makes the deflation vectors, AZ and the factor of Z^T A Z

   Collective

   Input Parameters:
+  space - the space
-  A     - the operator, symmetric

   Level: advanced

   Notes:
   Does nothing when neither the matrix nor the level set (labels, Z) has changed; keeps the labels when only the values of the matrix have,
   unless the regions are found from these values.

   When the constant vector lies in the kernel of A and the columns add up to it, one column is left out, whether or not a null space is attached: the
   operators P and Q A stay what they are with the pseudo-inverse of Z^T A Z.

.seealso: `PolderDeflationSpaceSetFromOptions()`, `PolderDeflationSpaceApplyP()`, `PolderDeflationSpaceApplyQAdd()`
@*/
PetscErrorCode PolderDeflationSpaceSetUp(PolderDeflationSpace s, Mat A)
{
  PetscBool finite;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 2);
  PetscCall(PolderDeflationSpaceTrySetUp(s, A, &finite));
  PetscCheck(finite, s->comm, PETSC_ERR_FP, POLDER_COARSE_BADTEXT);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationLeavesOneOut(PolderDeflationSpace s, PetscBool *drop)
{
  PetscBool levelset;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(s->chosen, POLDERDEFLATIONLEVELSET, &levelset));
  *drop = (PetscBool)(s->nullspace && (s->covers || (levelset && s->thesis)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceGetSize - gets the number of deflation vectors in use

   Not Collective

   Input Parameter:
.  space - the space, set up

   Output Parameter:
.  d - columns of Z less those that were left out (because the operator is singular, or because they depend on others)

   Level: intermediate

.seealso: `PolderDeflationSpaceGetVector()`
@*/
PetscErrorCode PolderDeflationSpaceGetSize(PolderDeflationSpace s, PetscInt *d)
{
  PetscFunctionBegin;
  PetscAssertPointer(d, 2);
  *d = 0;
  if (s->d) PetscCall(PolderCoarseGetRank(s->coarse, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   PolderDeflationSpaceView - prints what the space consists of and why

   Collective

   Input Parameters:
+  space  - the space
-  viewer - the viewer; only ASCII viewers print

   Level: advanced

.seealso: `PolderDeflationSpaceSetUp()`
@*/
PetscErrorCode PolderDeflationSpaceView(PolderDeflationSpace s, PetscViewer viewer)
{
  PetscBool ascii, less = PETSC_FALSE;
  PetscInt  used;
  PetscReal here[2], all[2];

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!s->chosen[0]) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "deflation space: %s, not yet set up\n", s->type));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "deflation space: %s (%s)\n", s->chosen, s->reason));
  if (!s->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationSpaceGetSize(s, &used));
  PetscCall((*s->made->measure)(s, &here[0], &here[1]));
  PetscCallAllreduce(here, all, 2, MPIU_REAL, MPIU_SUM, s->comm);
  PetscCall(PolderDeflationLeavesOneOut(s, &less));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  vectors: %" PetscInt_FMT "%s; Z stored as %s; AZ on %.0f rows; %.3g MB for Z and AZ\n", used,
                                   !s->Z.ptr && less ? ", one left out since the operator has the constant kernel" : "",
                                   s->Z.ptr ? "a sparse matrix" : s->made->zform, (double)all[0], (double)all[1] / 1e6));
  PetscCall(PolderCoarseView(s->coarse, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
