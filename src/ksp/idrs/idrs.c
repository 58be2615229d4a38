/* The solver idrs: its settings, and what PETSc asks of a type. */
#include "idrsimpl.h"
#include "core/device.h"
#include "core/options.h"

const char *const KSPIDRSVariants[] = {"minsync", "biortho", "KSPIDRSVariant", "KSP_IDRS_", NULL};

static PetscErrorCode KSPSetUp_IDRS(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(PolderKSPSetWorkVecs(ksp, 3, NULL));
  PetscCall(KSPIDRSFreeSpaces((KSP_IDRS *)ksp->data));
  PetscCall(KSPIDRSMakeSpaces(ksp, ksp->work[0], 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_IDRS(KSP ksp, PetscViewer viewer)
{
  KSP_IDRS *idrs = (KSP_IDRS *)ksp->data;
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  IDR(%" PetscInt_FMT "), %s: %s\n", idrs->n ? idrs->n : idrs->s, KSPIDRSVariants[idrs->variant],
                                   idrs->variant == KSP_IDRS_MINSYNC ? "one reduction a step" : "inner products one at a time"));
  if (idrs->n && idrs->n < idrs->s) PetscCall(PetscViewerASCIIPrintf(viewer, "  of %" PetscInt_FMT " as asked for, since there are no more rows\n", idrs->s));
  if (idrs->restarts) PetscCall(PetscViewerASCIIPrintf(viewer, "  restarts from the true residual in the last solve: %" PetscInt_FMT "\n", idrs->restarts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_IDRS(KSP ksp, PolderOptionItems PetscOptionsObject)
{
  KSP_IDRS      *idrs    = (KSP_IDRS *)ksp->data;
  PetscInt       s       = idrs->s;
  KSPIDRSVariant variant = idrs->variant;
  PetscBool      set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "IDR(s) options");
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-ksp_idrs_s", "Vectors of the shadow space", "KSPIDRSSetS", 1, IDRS_S_MAX, &s, &set));
  if (set) PetscCall(KSPIDRSSetS(ksp, s));
  PetscCall(PetscOptionsEnum("-ksp_idrs_variant", "minsync: one reduction a step, biortho: inner products one at a time", "KSPIDRSSetVariant", KSPIDRSVariants,
                             (PetscEnum)variant, (PetscEnum *)&variant, &set));
  if (set) PetscCall(KSPIDRSSetVariant(ksp, variant));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x is the solution at any time, also with the preconditioner on the right, where PETSc's default takes it for one to be preconditioned */
static PetscErrorCode KSPBuildSolution_IDRS(KSP ksp, Vec v, Vec *V)
{
  PetscFunctionBegin;
  if (v) PetscCall(VecCopy(ksp->vec_sol, v));
  else v = ksp->vec_sol;
  if (V) *V = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_IDRS(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPIDRSFreeSpaces((KSP_IDRS *)ksp->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPIDRSSetS_IDRS(KSP ksp, PetscInt s)
{
  KSP_IDRS *idrs = (KSP_IDRS *)ksp->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)ksp), "-ksp_idrs_s", s, 1, IDRS_S_MAX);
  idrs->s = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPIDRSGetS_IDRS(KSP ksp, PetscInt *s)
{
  PetscFunctionBegin;
  *s = ((KSP_IDRS *)ksp->data)->s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPIDRSSetVariant_IDRS(KSP ksp, KSPIDRSVariant variant)
{
  PetscFunctionBegin;
  PetscCheck(variant == KSP_IDRS_MINSYNC || variant == KSP_IDRS_BIORTHO, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE,
             "-ksp_idrs_variant %d is neither minsync (0) nor biortho (1)", (int)variant);
  ((KSP_IDRS *)ksp->data)->variant = variant;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPIDRSGetVariant_IDRS(KSP ksp, KSPIDRSVariant *variant)
{
  PetscFunctionBegin;
  *variant = ((KSP_IDRS *)ksp->data)->variant;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPIDRSSetS - sets the number of vectors of the shadow space of `KSPIDRS`

   Logically Collective

   Input Parameters:
+  ksp - the solver
-  s   - how many, 1 to 64; on fewer rows as many as there are rows

   Options Database Key:
.  -ksp_idrs_s <4> - the same

   Level: intermediate

   Note:
   More vectors mean fewer products and more memory and work for each: 3 s + 3 vectors are kept, and about 3.5 s + 10 vectors are read in an iteration.
   1 is about as good as `KSPBCGS`, 8 nears the products of `KSPGMRES` without restart.

.seealso: `KSPIDRS`, `KSPIDRSGetS()`, `KSPIDRSSetVariant()`
@*/
PetscErrorCode KSPIDRSSetS(KSP ksp, PetscInt s)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ksp, s, 2);
  PetscTryMethod(ksp, "KSPIDRSSetS_C", (KSP, PetscInt), (ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPIDRSGetS - gets the number of vectors of the shadow space of `KSPIDRS`

   Not Collective

   Input Parameter:
.  ksp - the solver

   Output Parameter:
.  s - how many were asked for

   Level: intermediate

.seealso: `KSPIDRS`, `KSPIDRSSetS()`
@*/
PetscErrorCode KSPIDRSGetS(KSP ksp, PetscInt *s)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscAssertPointer(s, 2);
  PetscUseMethod(ksp, "KSPIDRSGetS_C", (KSP, PetscInt *), (ksp, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPIDRSSetVariant - sets how `KSPIDRS` makes its inner products

   Logically Collective

   Input Parameters:
+  ksp     - the solver
-  variant - `KSP_IDRS_MINSYNC` or `KSP_IDRS_BIORTHO`

   Options Database Key:
.  -ksp_idrs_variant <minsync, biortho> - the same

   Level: intermediate

.seealso: `KSPIDRS`, `KSPIDRSVariant`, `KSPIDRSGetVariant()`, `KSPIDRSSetS()`
@*/
PetscErrorCode KSPIDRSSetVariant(KSP ksp, KSPIDRSVariant variant)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ksp, variant, 2);
  PetscTryMethod(ksp, "KSPIDRSSetVariant_C", (KSP, KSPIDRSVariant), (ksp, variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPIDRSGetVariant - gets how `KSPIDRS` makes its inner products

   Not Collective

   Input Parameter:
.  ksp - the solver

   Output Parameter:
.  variant - `KSP_IDRS_MINSYNC` or `KSP_IDRS_BIORTHO`

   Level: intermediate

.seealso: `KSPIDRS`, `KSPIDRSVariant`, `KSPIDRSSetVariant()`
@*/
PetscErrorCode KSPIDRSGetVariant(KSP ksp, KSPIDRSVariant *variant)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscAssertPointer(variant, 2);
  PetscUseMethod(ksp, "KSPIDRSGetVariant_C", (KSP, KSPIDRSVariant *), (ksp, variant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PolderSetter KSPIDRSSetters[] = {POLDER_SETTER(KSPIDRSSetS, IDRS), POLDER_SETTER(KSPIDRSGetS, IDRS), POLDER_SETTER(KSPIDRSSetVariant, IDRS),
                                              POLDER_SETTER(KSPIDRSGetVariant, IDRS)};

static PetscErrorCode KSPDestroy_IDRS(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_IDRS(ksp));
  PetscCall(PolderComposeSetters((PetscObject)ksp, PETSC_STATIC_ARRAY_LENGTH(KSPIDRSSetters), KSPIDRSSetters, PETSC_FALSE));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPIDRS - Induced dimension reduction, IDR(s), for general matrices

   Options Database Keys:
+  -ksp_idrs_s <4>                      - vectors of the shadow space, see `KSPIDRSSetS()`
-  -ksp_idrs_variant <minsync, biortho> - one reduction a step, or inner products one at a time, see `KSPIDRSSetVariant()`

   Level: beginner

   Notes:
   An iteration is one product with the matrix and one apply of the preconditioner. Every s + 1 of them make a cycle. The work and the memory of an iteration do
   not grow, as those of `KSPGMRES` do.

   By default the preconditioner is applied on the right and the norm tested is that of b - A x; on the left (`-ksp_pc_side left`) it is the
   preconditioned one. The operator must not change from step to step, and so the preconditioner should not.

   Before it claims convergence it computes the residual anew from the solution. Where that misses the tolerance it restarts from there; a breakdown restarts
   with another shadow space. After 3 runs in a row that did not halve the residual (10 where they broke down) it ends with `KSP_DIVERGED_BREAKDOWN`, or with
   `KSP_CONVERGED_HAPPY_BREAKDOWN` at a residual that rounding the solution to double precision allows (the norm of eps |A||x|). `-info` says what has happened.

   The shadow space is random but always the same, on any number of processes.

   Residuals go up in between, on hard problems to 1e5 times the first, with s = 1 above all: raise `-ksp_divtol`, or s, where a solve ends with
   `KSP_DIVERGED_DTOL`.

   With `KSP_NORM_NONE` nothing is claimed and the residual is not computed anew.

   PETSc 3.26 has a `KSP` named idr, in the bi-orthogonal form.

   Errors:
   s that is not between 1 and 64; `PCSetDiagonalScale()`.

   References:
+  * - Sonneveld, van Gijzen (2008), IDR(s): a family of simple and fast algorithms for solving large nonsymmetric systems, SIAM J. Sci. Comput. 31
.  * - van Gijzen, Sonneveld (2011), Algorithm 913: an elegant IDR(s) variant that efficiently exploits biorthogonality properties, ACM Trans. Math. Softw. 38
.  * - Collignon, van Gijzen (2011), Minimizing synchronization in IDR(s), Numer. Linear Algebra Appl. 18
.  * - Sleijpen, van der Vorst (1995), Maintaining convergence properties of BiCGstab methods in finite precision arithmetic, Numer. Algorithms 10
-  * - Gupta (2015), GPU acceleration of preconditioned solvers for ill-conditioned linear systems, appendix A

.seealso: `KSPCreate()`, `KSPSetType()`, `KSPBCGS`, `KSPFGMRES`, `KSPIDRSSetS()`, `KSPIDRSSetVariant()`
M*/
PETSC_INTERN PetscErrorCode KSPCreate_IDRS(KSP ksp)
{
  KSP_IDRS *idrs;

  PetscFunctionBegin;
  PetscCall(PetscNew(&idrs));
  ksp->data = idrs;
  idrs->s   = 4;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup          = KSPSetUp_IDRS;
  ksp->ops->solve          = KSPSolve_IDRS;
  ksp->ops->reset          = KSPReset_IDRS;
  ksp->ops->destroy        = KSPDestroy_IDRS;
  ksp->ops->view           = KSPView_IDRS;
  ksp->ops->setfromoptions = KSPSetFromOptions_IDRS;
  ksp->ops->buildsolution  = KSPBuildSolution_IDRS;
  ksp->ops->buildresidual  = KSPBuildResidualDefault;
  PetscCall(PolderComposeSetters((PetscObject)ksp, PETSC_STATIC_ARRAY_LENGTH(KSPIDRSSetters), KSPIDRSSetters, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
