/* The deflation space as an object, and what the user asks for. */
#include "deflationspace.h"
#include "core/options.h"

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

static const char *const PolderDeflationTypes[] = {POLDERDEFLATIONAUTO,
                                                   POLDERDEFLATIONNONE,
                                                   POLDERDEFLATIONSUBDOMAIN,
                                                   POLDERDEFLATIONSTRIPE,
                                                   POLDERDEFLATIONPLANE,
                                                   POLDERDEFLATIONLEVELSET,
                                                   POLDERDEFLATIONLEVELSETSUBDOMAIN,
                                                   POLDERDEFLATIONRANK,
                                                   POLDERDEFLATIONPARTITION,
                                                   POLDERDEFLATIONNEARNULLSPACE,
                                                   POLDERDEFLATIONUSER};

/*@
   PolderDeflationSpaceSetFromOptions - sets a space from the options database

   Collective

   Input Parameter:
.  space - the space

   Options Database Keys:
+  -deflation_space <type>          - see `PolderDeflationSpaceType`
.  -deflation_boxes <px,py[,pz]>    - number of boxes in each direction of the grid
.  -deflation_grid <nx,ny[,nz]>     - size of the grid when there is no DM: rows numbered naturally, x fastest; default: found from a 5- or 7-point
                                      stencil
.  -deflation_count <d>             - number of stripes, planes or parts
.  -deflation_levelset <auto|file>  - regions from the matrix, or a level set in a PETSc binary file; default: the vector composed on the operator as
                                      `levelset`, else auto
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
  PetscCall(PetscOptionsEList("-deflation_space", "Kind of deflation vectors", "PolderDeflationSpaceSetType", PolderDeflationTypes,
                              PETSC_STATIC_ARRAY_LENGTH(PolderDeflationTypes), s->type, &choice, &flag));
  if (flag) PetscCall(PolderDeflationSpaceSetType(s, PolderDeflationTypes[choice]));
  PetscCall(PetscArraycpy(values, s->boxes, 3)); // the default that -help prints
  PetscCall(PetscOptionsIntArray("-deflation_boxes", "Boxes in each direction; not given: automatic", "PolderDeflationSpaceSetBoxes", values, &n, &flag));
  if (flag) PetscCall(PolderDeflationSpaceSetBoxes(s, n, values));
  n = 3;
  PetscCall(PetscArraycpy(values, s->grid, 3));
  PetscCall(PetscOptionsIntArray("-deflation_grid", "Grid points in each direction when there is no DM; not given: automatic", "PolderDeflationSpaceSetGrid",
                                 values, &n, &flag));
  if (flag) PetscCall(PolderDeflationSpaceSetGrid(s, n, values));
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-deflation_count", "Number of stripes, planes or parts, 0: automatic", "PolderDeflationSpaceSetCount", 0,
                             POLDER_DEFLATION_MAX, &count, &flag));
  if (flag) PetscCall(PolderDeflationSpaceSetCount(s, count));
  PetscCall(PetscOptionsString("-deflation_levelset", "auto or a PETSc binary file; not given: what is composed on the operator, else auto",
                               "PolderDeflationSpaceSetLevelSet", s->levelsetfrom, levelset, sizeof(levelset), &flag));
  if (flag) {
    PetscCall(PetscStrncpy(s->levelsetfrom, levelset, sizeof(s->levelsetfrom)));
    s->labelsvalid = s->setup = PETSC_FALSE;
  }
  PetscCall(PetscOptionsEList("-deflation_levelset_vectors", "Kind levelset: a vector a region, or the fewer of Gupta (2015)",
                              "PolderDeflationSpaceSetFromOptions", vectors, 2, vectors[s->thesis], &choice, &flag));
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

PetscErrorCode PolderDeflationSpaceSetFromOptionsOf(PolderDeflationSpace s, PetscObject solver)
{
  PetscOptions options;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetOptions(solver, &options));
  if (options) PetscCall(PetscOptionsPush(options));
  PetscCall(PolderDeflationSpaceSetFromOptions(s));
  if (options) PetscCall(PetscOptionsPop());
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

static PetscErrorCode PolderDeflationCopySizes_Private(PolderDeflationSpace s, const char what[], PetscInt dim, const PetscInt n[], PetscInt *sdim,
                                                       PetscInt sn[])
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
