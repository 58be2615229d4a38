/* The deflation space as an object: what the user asks for, and when it must be set up again. */
#include "deflationdevice.h"
#include "../options.h"

/*@
   PolderDeflationSpaceCreate - creates a deflation space: the columns of Z in P = I - A Z (Z^T A Z)^{-1} Z^T

   Collective

   Input Parameter:
.  comm - the communicator of the matrices it is used with

   Output Parameter:
.  space - the space, of type `auto` until `PolderDeflationSpaceSetType()` or the option says otherwise

   Level: advanced

   Note:
   `KSPDCG` and `PCLEVELSET` own one each; a space of one's own is useful to look at its vectors and operators.

.seealso: `KSPDCGGetDeflationSpace()`, `PCLevelSetGetDeflationSpace()`, `PolderDeflationSpaceSetUp()`, `PolderDeflationSpaceDestroy()`
@*/
PetscErrorCode PolderDeflationSpaceCreate(MPI_Comm comm, PolderDeflationSpace *space)
{
  PolderDeflationSpace s;

  PetscFunctionBegin;
  PetscAssertPointer(space, 2);
  PetscCall(PetscNew(&s));
  PetscCall(PetscCommDuplicate(comm, &s->comm, NULL));
  PetscCall(PetscStrncpy(s->type, POLDERDEFLATIONAUTO, sizeof(s->type)));
  PetscCall(PolderCoarseCreate(s->comm, &s->coarse));
  *space = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationFreeOperators_Private(PolderDeflationSpace s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(s->gl));
  PetscCall(PetscFree2(s->runstart, s->runlabel));
  PetscCall(PetscFree(s->zi));
  PetscCall(PetscFree2(s->zj, s->zv));
  PetscCall(PetscFree2(s->wrow, s->wi));
  PetscCall(PetscFree2(s->wj, s->wv));
  PetscCall(PetscFree2(s->a1, s->a2));
  s->nl = s->nrun = s->nw = 0;
  PetscCall(PolderDeflationDeviceReset(s->dev));
  s->setup = s->nullspace = s->covers = s->onhost = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what set-up made; what the user asked for stays */
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

/*@
   PolderDeflationSpaceDestroy - destroys a space made by `PolderDeflationSpaceCreate()`

   Collective

   Input Parameter:
.  space - the space; set to `NULL`

   Level: advanced

.seealso: `PolderDeflationSpaceCreate()`
@*/
PetscErrorCode PolderDeflationSpaceDestroy(PolderDeflationSpace *space)
{
  PolderDeflationSpace s = *space;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationSpaceReset(s));
  PetscCall(VecDestroy(&s->levelset));
  PetscCall(ISDestroy(&s->labels));
  PetscCall(MatDestroy(&s->Zuser));
  PetscCall(DMDestroy(&s->dm));
  PetscCall(PolderCoarseDestroy(&s->coarse));
  PetscCall(PetscFree(s->prefix));
  PetscCall(PetscCommDestroy(&s->comm));
  PetscCall(PetscFree(s));
  *space = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   PolderDeflationSpaceSetOptionsPrefix - sets the prefix of the options of a space, that of the solver it belongs to

   Logically Collective

   Input Parameters:
+  space  - the space
-  prefix - the prefix, or `NULL`

   Level: advanced

.seealso: `PolderDeflationSpaceSetFromOptions()`
@*/
PetscErrorCode PolderDeflationSpaceSetOptionsPrefix(PolderDeflationSpace s, const char prefix[])
{
  PetscFunctionBegin;
  PetscCall(PetscFree(s->prefix));
  PetscCall(PetscStrallocpy(prefix, &s->prefix));
  PetscCall(PolderCoarseSetOptionsPrefix(s->coarse, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const PolderDeflationTypes[] = {POLDERDEFLATIONAUTO, POLDERDEFLATIONNONE,      POLDERDEFLATIONSUBDOMAIN,     POLDERDEFLATIONSTRIPE, POLDERDEFLATIONPLANE, POLDERDEFLATIONLEVELSET, POLDERDEFLATIONLEVELSETSUBDOMAIN,
                                                   POLDERDEFLATIONRANK, POLDERDEFLATIONPARTITION, POLDERDEFLATIONNEARNULLSPACE, POLDERDEFLATIONUSER};

/*@
   PolderDeflationSpaceSetFromOptions - sets a space from the options database

   Collective

   Input Parameter:
.  space - the space

   Options Database Keys:
+  -deflation_space <type>          - see `PolderDeflationSpaceType`
.  -deflation_boxes <px,py[,pz]>    - number of boxes in each direction of the grid
.  -deflation_grid <nx,ny[,nz]>     - size of the grid when there is no DM: rows numbered naturally, x fastest; default: the grid that a 5- or 7-point stencil shows
.  -deflation_count <d>             - number of stripes, planes or parts
.  -deflation_levelset <auto|file>  - regions from the matrix, or a level set in a PETSc binary file; default: the vector composed on the operator as `levelset`, else auto
.  -deflation_levelset_vectors <regions|thesis> - kind `levelset`: one vector for each region of either sign; or as Gupta (2015) counts them, without the
                                      regions outside, and one less when the constant is in the kernel of the operator
.  -deflation_weighted              - entries weighted by the coefficients on rows that two regions share
-  -deflation_coarse <cholesky|inverse|ksp> - how systems with Z^T A Z are solved

   Level: advanced

.seealso: `PolderDeflationSpaceSetType()`, `PolderDeflationSpaceSetUp()`
@*/
PetscErrorCode PolderDeflationSpaceSetFromOptions(PolderDeflationSpace s)
{
  const char *const vectors[] = {"regions", "thesis"};
  PetscInt          choice, n = 3, values[3], count = s->count;
  char              levelset[sizeof(s->levelsetfrom)];
  PetscBool         flag;

  PetscFunctionBegin;
  PetscOptionsBegin(s->comm, s->prefix, "Deflation space", "PC");
  PetscCall(PetscOptionsEList("-deflation_space", "Kind of deflation vectors", "PolderDeflationSpaceSetType", PolderDeflationTypes, PETSC_STATIC_ARRAY_LENGTH(PolderDeflationTypes), s->type, &choice, &flag));
  if (flag) PetscCall(PolderDeflationSpaceSetType(s, PolderDeflationTypes[choice]));
  PetscCall(PetscArraycpy(values, s->boxes, 3)); // what -help prints
  PetscCall(PetscOptionsIntArray("-deflation_boxes", "Boxes in each direction; not given: automatic", "PolderDeflationSpaceSetBoxes", values, &n, &flag));
  if (flag) PetscCall(PolderDeflationSpaceSetBoxes(s, n, values));
  n = 3;
  PetscCall(PetscArraycpy(values, s->grid, 3));
  PetscCall(PetscOptionsIntArray("-deflation_grid", "Grid points in each direction when there is no DM; not given: automatic", "PolderDeflationSpaceSetGrid", values, &n, &flag));
  if (flag) PetscCall(PolderDeflationSpaceSetGrid(s, n, values));
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-deflation_count", "Number of stripes, planes or parts, 0: automatic", "PolderDeflationSpaceSetCount", 0, POLDER_DEFLATION_MAX, &count, &flag));
  if (flag) PetscCall(PolderDeflationSpaceSetCount(s, count));
  PetscCall(PetscOptionsString("-deflation_levelset", "auto or a PETSc binary file; not given: what is composed on the operator, else auto", "PolderDeflationSpaceSetLevelSet", s->levelsetfrom, levelset, sizeof(levelset), &flag));
  if (flag) {
    PetscCall(PetscStrncpy(s->levelsetfrom, levelset, sizeof(s->levelsetfrom)));
    s->labelsvalid = s->setup = PETSC_FALSE;
  }
  PetscCall(PetscOptionsEList("-deflation_levelset_vectors", "Kind levelset: a vector a region, or the fewer of Gupta (2015)", "PolderDeflationSpaceSetFromOptions", vectors, 2, vectors[s->thesis], &choice, &flag));
  if (flag) {
    s->thesis      = (PetscBool)choice;
    s->labelsvalid = s->setup = PETSC_FALSE;
  }
  PetscCall(PetscOptionsBool("-deflation_weighted", "Coefficient-weighted entries on rows that two regions share", "", s->weighted, &s->weighted, &flag));
  if (flag) s->setup = PETSC_FALSE;
  PetscOptionsEnd();
  PetscCall(PolderCoarseSetFromOptions(s->coarse, &flag));
  if (flag) s->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   PolderDeflationSpaceSetType - sets the kind of deflation vectors

   Logically Collective

   Input Parameters:
+  space - the space
-  type  - the kind, see `PolderDeflationSpaceType`

   Options Database Key:
.  -deflation_space <type> - the kind

   Level: intermediate

.seealso: `PolderDeflationSpaceType`, `PolderDeflationSpaceGetType()`
@*/
PetscErrorCode PolderDeflationSpaceSetType(PolderDeflationSpace s, PolderDeflationSpaceType type)
{
  PetscBool known = PETSC_FALSE;

  PetscFunctionBegin;
  PetscAssertPointer(type, 2);
  for (size_t i = 0; !known && i < PETSC_STATIC_ARRAY_LENGTH(PolderDeflationTypes); ++i) PetscCall(PetscStrcmp(type, PolderDeflationTypes[i], &known));
  PetscCheck(known, s->comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "There is no deflation space '%s': docs/options.md lists them", type);
  PetscCall(PetscStrncpy(s->type, type, sizeof(s->type)));
  s->labelsvalid = s->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   PolderDeflationSpaceGetType - gets the kind of deflation vectors

   Not Collective

   Input Parameter:
.  space - the space

   Output Parameter:
.  type - the kind that was asked for

   Level: intermediate

.seealso: `PolderDeflationSpaceSetType()`
@*/
PetscErrorCode PolderDeflationSpaceGetType(PolderDeflationSpace s, PolderDeflationSpaceType *type)
{
  PetscFunctionBegin;
  PetscAssertPointer(type, 2);
  *type = s->type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationCopySizes_Private(PolderDeflationSpace s, const char what[], PetscInt dim, const PetscInt n[], PetscInt *sdim, PetscInt sn[])
{
  PetscFunctionBegin;
  PetscAssertPointer(n, 4);
  PetscCheck(dim >= 1 && dim <= 3, s->comm, PETSC_ERR_ARG_OUTOFRANGE, "%s need one, two or three numbers, not %" PetscInt_FMT, what, dim);
  for (PetscInt i = 0, product = 1; i < dim; product *= n[i++]) {
    PetscCheck(n[i] > 0, s->comm, PETSC_ERR_ARG_OUTOFRANGE, "%s must be positive: direction %" PetscInt_FMT " has %" PetscInt_FMT, what, i, n[i]);
    PetscCheck(n[i] <= PETSC_MAX_INT / product, s->comm, PETSC_ERR_ARG_OUTOFRANGE, "%s: their product is more than the integers of this PETSc count", what);
  }
  *sdim = dim;
  for (PetscInt i = 0; i < 3; ++i) sn[i] = i < dim ? n[i] : 1;
  s->labelsvalid = s->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceSetGrid - sets the size of the structured grid behind a matrix without a DM

   Logically Collective

   Input Parameters:
+  space - the space
.  dim   - number of directions, 1 to 3
-  n     - points in each direction; rows are numbered naturally, x fastest, the unknowns of a point together

   Options Database Key:
.  -deflation_grid <nx,ny[,nz]> - the sizes

   Level: intermediate

.seealso: `PolderDeflationSpaceSetBoxes()`
@*/
PetscErrorCode PolderDeflationSpaceSetGrid(PolderDeflationSpace s, PetscInt dim, const PetscInt n[])
{
  PetscFunctionBegin;
  PetscCall(PolderDeflationCopySizes_Private(s, "Grid sizes", dim, n, &s->griddim, s->grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceSetBoxes - sets how many boxes the grid is cut into

   Logically Collective

   Input Parameters:
+  space - the space
.  dim   - number of directions, that of the grid
-  boxes - boxes in each direction

   Options Database Key:
.  -deflation_boxes <px,py[,pz]> - the numbers

   Level: intermediate

.seealso: `PolderDeflationSpaceSetGrid()`
@*/
PetscErrorCode PolderDeflationSpaceSetBoxes(PolderDeflationSpace s, PetscInt dim, const PetscInt boxes[])
{
  PetscFunctionBegin;
  PetscCall(PolderDeflationCopySizes_Private(s, "Boxes", dim, boxes, &s->nboxes, s->boxes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceSetCount - sets the number of stripes, planes or parts

   Logically Collective

   Input Parameters:
+  space - the space
-  count - the number, at most ten millions; 0, the default: what suits the kind and the problem

   Options Database Key:
.  -deflation_count <d> - the number

   Level: intermediate

.seealso: `PolderDeflationSpaceSetType()`
@*/
PetscErrorCode PolderDeflationSpaceSetCount(PolderDeflationSpace s, PetscInt count)
{
  PetscFunctionBegin;
  PolderCheckBounds(s->comm, "-deflation_count", count, 0, POLDER_DEFLATION_MAX);
  s->count       = count;
  s->labelsvalid = s->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceSetLevelSet - sets the level-set function that tells the regions of the coefficient apart

   Collective

   Input Parameters:
+  space    - the space
-  levelset - one value a row, in the layout of the matrix: positive inside the inclusions; `NULL` takes it away again

   Level: intermediate

   Note:
   The space is set up again when the values of the vector change. A program that cannot call this function composes the vector on the
   operator: `PetscObjectCompose((PetscObject)A, "levelset", (PetscObject)levelset)`.

.seealso: `PolderDeflationSpaceSetType()`, `PolderDeflationSpaceSetLabels()`
@*/
PetscErrorCode PolderDeflationSpaceSetLevelSet(PolderDeflationSpace s, Vec levelset)
{
  PetscFunctionBegin;
  if (levelset) PetscValidHeaderSpecific(levelset, VEC_CLASSID, 2);
  PetscCall(PetscObjectReference((PetscObject)levelset));
  PetscCall(VecDestroy(&s->levelset));
  s->levelset    = levelset;
  s->labelsvalid = s->setup = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceSetLabels - sets the deflation vectors by one label a row, and the type to `user`

   Collective

   Input Parameters:
+  space  - the space
-  labels - one label for each local row, from 0 on: rows with the same label form a vector; -1 says that the row is in no vector

   Level: intermediate

   Note:
   A program that cannot call this function composes the labels, an `IS` or a `Vec`, on the operator under the name `deflation_labels`.

.seealso: `PolderDeflationSpaceSetMatrix()`, `PolderDeflationSpaceSetLevelSet()`
@*/
PetscErrorCode PolderDeflationSpaceSetLabels(PolderDeflationSpace s, IS labels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(labels, IS_CLASSID, 2);
  PetscCall(PetscObjectReference((PetscObject)labels));
  PetscCall(ISDestroy(&s->labels));
  PetscCall(MatDestroy(&s->Zuser));
  s->labels = labels;
  PetscCall(PolderDeflationSpaceSetType(s, POLDERDEFLATIONUSER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PolderDeflationSpaceSetMatrix - sets the deflation vectors as the columns of a matrix, and the type to `user`

   Collective

   Input Parameters:
+  space - the space
-  Z     - the matrix, sparse or dense, with the row layout of the operator

   Level: intermediate

   Note:
   A program that cannot call this function composes Z on the operator under the name `deflation_matrix`.

.seealso: `PolderDeflationSpaceSetLabels()`
@*/
PetscErrorCode PolderDeflationSpaceSetMatrix(PolderDeflationSpace s, Mat Z)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(Z, MAT_CLASSID, 2);
  PetscCall(PetscObjectReference((PetscObject)Z));
  PetscCall(MatDestroy(&s->Zuser));
  PetscCall(ISDestroy(&s->labels));
  s->Zuser = Z;
  PetscCall(PolderDeflationSpaceSetType(s, POLDERDEFLATIONUSER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeflationSpaceSetDM(PolderDeflationSpace s, DM dm)
{
  PetscFunctionBegin;
  if (dm == s->dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)dm));
  PetscCall(DMDestroy(&s->dm));
  s->dm          = dm;
  s->labelsvalid = s->setup = PETSC_FALSE;
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
    PetscCheck(*source, s->comm, PETSC_ERR_ARG_WRONGSTATE, "-deflation_space user needs labels or a matrix Z: call PolderDeflationSpaceSetLabels() or PolderDeflationSpaceSetMatrix(), or compose them on the operator as deflation_labels or deflation_matrix");
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
  if (Astate != s->Astate && !source) { // regions are then found from the values of the matrix
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

static PetscErrorCode PolderDeflationMakeLabels_Private(PolderDeflationSpace s, Mat A, const PolderCSR *csr)
{
  const PetscBool ondevice = (PetscBool)(s->dev && s->dev->label && !s->label); // where the matrix was when they were made

  PetscFunctionBegin;
  if (s->labelsvalid && !ondevice) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(s->label));
  PetscCall(PetscMalloc1(s->m, &s->label));
  if (s->labelsvalid) {
    PetscCall(PolderDeviceToHost(s->label, s->dev->label, sizeof(*s->label) * (size_t)s->m));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderLogBegin(POLDER_DeflationLabels, (PetscObject)A));
  PetscCall(PolderDeflationMakeLabels(s, A, csr, s->label, &s->d));
  PetscCall(PolderLogEnd(POLDER_DeflationLabels, (PetscObject)A));
  s->labelsvalid = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* General form from a matrix Z: checks its layout, turns it into an AIJ matrix */
static PetscErrorCode PolderDeflationSetUpZ_Private(PolderDeflationSpace s, Mat A, Mat Z)
{
  PetscInt  m, here, wrong, N, M;
  PetscBool aij;
  Mat       Zaij;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(Z, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetSize(Z, NULL, &N));
  here = m != s->m;
  PetscCallAllreduce(&here, &wrong, 1, MPIU_INT, MPI_MAX, s->comm);
  PetscCheck(!wrong, s->comm, PETSC_ERR_ARG_SIZ, "The deflation matrix Z must have the row layout of the operator");
  PetscCheck(N <= M, s->comm, PETSC_ERR_ARG_SIZ, "There are more deflation vectors (%" PetscInt_FMT ") than rows (%" PetscInt_FMT ")", N, M);
  PetscCall(PolderMatIsAIJ(Z, &aij));
  if (aij) {
    PetscCall(PetscObjectReference((PetscObject)Z));
    Zaij = Z;
  } else PetscCall(MatConvert(Z, MATAIJ, MAT_INITIAL_MATRIX, &Zaij));
  s->d = N;
  PetscCall(PolderDeflationSetUpMatrix(s, A, Zaij));
  PetscCall(MatDestroy(&Zaij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeflationBuild_Private(PolderDeflationSpace s, Mat A, PetscObject source)
{
  PetscBool nearnull, matrix = PETSC_FALSE, done = PETSC_FALSE;
  PolderCSR csr;
  Mat       Z = NULL;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONNEARNULLSPACE, &nearnull));
  if (source) {
    PetscClassId id;

    PetscCall(PetscObjectGetClassId(source, &id));
    matrix = (PetscBool)(id == MAT_CLASSID);
  }
  PetscCall(PolderMatGetDeviceCSR(A, &csr, &s->device));
  PetscCall(PolderCoarseSetDevice(s->coarse, s->device));
  if (s->device) {
    if (!nearnull && !matrix) PetscCall(PolderDeflationSetUpDevice(s, A, &csr, &done));
    PetscCall(PolderMatRestoreDeviceCSR(A, &csr));
  }
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  s->onhost = PETSC_TRUE;
  if (nearnull || matrix) {
    PetscCall(PolderDeflationDeviceDestroy(&s->dev));
    PetscCall(PetscStrncpy(s->chosen, s->type, sizeof(s->chosen)));
    PetscCall(PetscStrncpy(s->why, "as asked", sizeof(s->why)));
    if (nearnull) PetscCall(PolderDeflationNearNullSpace(A, &Z));
    PetscCall(PolderLogBegin(POLDER_DeflationSetUp, (PetscObject)A));
    PetscCall(PolderDeflationSetUpZ_Private(s, A, nearnull ? Z : (Mat)source));
    PetscCall(PolderLogEnd(POLDER_DeflationSetUp, (PetscObject)A));
  } else {
    PetscCall(PolderMatGetCSR(A, &csr));
    PetscCall(PolderDeflationMakeLabels_Private(s, A, &csr));
    PetscCall(PolderDeflationDeviceDestroy(&s->dev));
    PetscCall(PolderLogBegin(POLDER_DeflationSetUp, (PetscObject)A));
    if (s->d && s->weighted) {
      PetscCall(PolderDeflationWeightedMatrix(s, A, &csr, &Z));
      PetscCall(PolderDeflationSetUpZ_Private(s, A, Z));
    } else if (s->d) PetscCall(PolderDeflationSetUpLabels(s, A, &csr));
    PetscCall(PolderLogEnd(POLDER_DeflationSetUp, (PetscObject)A));
    PetscCall(PolderMatRestoreCSR(A, &csr));
  }
  PetscCall(MatDestroy(&Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The objects composed on A that tell the regions, on its AIJ image as well */
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

PetscErrorCode PolderDeflationSpaceTrySetUp(PolderDeflationSpace s, Mat A, PetscBool *finite)
{
  PetscBool   none, automatic, aij, shell, assembled;
  PetscInt    M, N;
  PetscObject source;
  Mat         Aij = A;

  PetscFunctionBegin;
  *finite = PETSC_TRUE;
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONNONE, &none));
  PetscCall(PetscStrcmp(s->type, POLDERDEFLATIONAUTO, &automatic));
  PetscCall(PolderMatIsAIJ(A, &aij));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSHELL, &shell));
  if (none || (automatic && shell)) {
    PetscCall(PolderDeflationSpaceReset(s));
    PetscCall(PetscStrncpy(s->chosen, POLDERDEFLATIONNONE, sizeof(s->chosen)));
    PetscCall(PetscStrncpy(s->why, none ? "as asked" : "the operator is matrix-free and deflation needs its entries", sizeof(s->why)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetSize(A, &M, &N));
  PetscCheck(M == N, s->comm, PETSC_ERR_ARG_SIZ, "Deflation needs a square matrix, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", M, N);
  PetscCall(MatAssembled(A, &assembled));
  PetscCheck(assembled, s->comm, PETSC_ERR_ARG_WRONGSTATE, "Deflation needs an assembled matrix: call MatAssemblyBegin() and MatAssemblyEnd()");
  PetscCheck(!shell, s->comm, PETSC_ERR_SUP, "Deflation needs the entries of the matrix and this one is matrix-free: use -deflation_space none, or give an assembled matrix");
  PetscCall(PolderDeflationSource_Private(s, A, &source));
  PetscCall(PolderDeflationCheckState_Private(s, A, source));
  if (s->setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationFreeOperators_Private(s));
  if (!aij) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &Aij));
    if (source) PetscCall(PolderDeflationShareSource_Private(A, Aij));
  }
  PetscCall(MatGetLocalSize(Aij, &s->m, NULL));
  PetscCall(PolderDeflationBuild_Private(s, Aij, source));
  if (!aij) PetscCall(MatDestroy(&Aij));
  if (s->d) PetscCall(PolderCoarseIsFinite(s->coarse, finite));
  s->setup = *finite;
  PetscCall(PetscInfo(A, "Deflation space %s with %" PetscInt_FMT " vectors: %s\n", s->chosen, s->d, s->why));
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
  PetscCall(PetscViewerASCIIPrintf(viewer, "deflation space: %s (%s)\n", s->chosen, s->why));
  if (!s->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationSpaceGetSize(s, &used));
  here[0] = s->onhost ? s->nw : s->dev->nw;
  if (!s->onhost) PetscCall(PolderDeflationBytes_Device(s, &here[1]));
  else {
    here[1] = s->zi ? (PetscReal)s->zi[s->m] * (sizeof(PetscInt) + sizeof(PetscScalar)) : (PetscReal)s->nrun * 2 * sizeof(PetscInt);
    here[1] += (PetscReal)s->nw * 2 * sizeof(PetscInt) + (PetscReal)s->wi[s->nw] * (sizeof(PetscInt) + sizeof(PetscScalar));
  }
  PetscCallAllreduce(here, all, 2, MPIU_REAL, MPIU_SUM, s->comm);
  PetscCall(PolderDeflationLeavesOneOut(s, &less));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  vectors: %" PetscInt_FMT "%s; Z stored as %s; AZ on %.0f rows; %.3g MB for Z and AZ\n", used, !s->zi && less ? ", one left out since the operator has the constant kernel" : "", s->zi ? "a sparse matrix" : (s->onhost ? "runs of equal labels" : "labels on the device"), (double)all[0], (double)all[1] / 1e6));
  PetscCall(PolderCoarseView(s->coarse, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
