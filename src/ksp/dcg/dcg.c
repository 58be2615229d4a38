/* The solver dcg: the deflated conjugate gradients of src/cg on the system of the KSP, with a deflation space of its own. */
#include "dcgimpl.h"
#include "core/methods.h"
#include "core/options.h"
#include "core/refusal.h"

/* *finite = PETSC_FALSE, on all processes, and the reason is set: nothing can be projected */
static PetscErrorCode KSPDCGSetUpSpace_Private(KSP ksp, Mat A, PetscBool *finite)
{
  PolderCG            *cg = (PolderCG *)ksp->data;
  const PolderPCFused *fused;

  PetscFunctionBegin;
  PetscCall(PolderForgive((PetscObject)ksp));
  PetscCall(PolderPCGetFused(ksp->pc, &fused));
  PetscCall(PolderDeflationSpaceSetServed(cg->space, fused->coarse));
  PetscCall(PolderDeflationSpaceTrySetUp(cg->space, A, finite));
  if (*finite) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderRefuse((PetscObject)ksp, ksp->errorifnotconverged, PETSC_ERR_FP, POLDER_COARSE_BADTEXT));
  if (ksp->vec_sol) PetscCall(PolderVecFlag(ksp->vec_sol, PETSC_TRUE));
  ksp->reason = KSP_DIVERGED_NANORINF;
  ksp->rnorm  = PETSC_INFINITY;
  ksp->its    = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_DCG(KSP ksp)
{
  PolderCG *cg = (PolderCG *)ksp->data;
  PetscBool diagonalscale, changed, finite;

  PetscFunctionBegin;
  PetscCall(PolderPCGetDiagonalScale(ksp->pc, &diagonalscale));
  PetscCheck(!diagonalscale, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "dcg does not work with the diagonal scaling of PCSetDiagonalScale(): leave it out");
  PetscCall(PCGetOperators(ksp->pc, &cg->A, NULL));
  PetscCall(PolderMatCatchUp(cg->A, &changed));
  if (changed) PetscCall(PCSetUp(ksp->pc));
  PetscCall(KSPDCGSetUpSpace_Private(ksp, cg->A, &finite)); // the level set may have moved since KSPSetUp()
  if (!finite) PetscFunctionReturn(PETSC_SUCCESS);
  cg->pc = ksp->pc;
  cg->b  = ksp->vec_rhs;
  cg->x  = ksp->vec_sol;
  PetscCall(KSPDCGWholeBegin(ksp));
  PetscCall(PolderCGSolve(ksp));
  PetscCall(KSPDCGWholeEnd(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_DCG(KSP ksp)
{
  PolderCG *cg    = (PolderCG *)ksp->data;
  PetscBool whole = PETSC_FALSE, finite;
  Mat       A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PolderKSPSetWorkVecs(ksp, 0, NULL)); // the new matrix may be of another size
  PetscCall(PolderDeflationSpaceSetDM(cg->space, ksp->dm));
  PetscCall(KSPDCGSetUpSpace_Private(ksp, A, &finite));                             // the solve does without, once more
  if (finite && !PolderKSPScales(ksp)) PetscCall(KSPDCGWholeSetUp(ksp, A, &whole)); // which the solve does after the scaling
  if (!whole) PetscCall(PolderKSPSetWorkVecs(ksp, POLDER_CG_WORKVECS, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_DCG(KSP ksp, PetscViewer viewer)
{
  PolderCG *cg = (PolderCG *)ksp->data;
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->flexible) PetscCall(PetscViewerASCIIPrintf(viewer, "  flexible\n"));
  if (cg->once) PetscCall(PetscViewerASCIIPrintf(viewer, "  one sum over the processes an iteration\n"));
  if (cg->device) PetscCall(PolderCGDeviceView(ksp, viewer));
  PetscCall(KSPDCGWholeView(ksp, viewer));
  PetscCall(PolderRefusalView((PetscObject)ksp, viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PolderDeflationSpaceView(cg->space, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscCall(PolderCGView(ksp, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the order of PolderCG.reductions */
static const char *const KSPDCGReductions[] = {"auto", "1", "2"};

static PetscErrorCode KSPSetFromOptions_DCG(KSP ksp, PolderOptionItems PetscOptionsObject)
{
  PolderCG   *cg = (PolderCG *)ksp->data;
  const char *prefix;
  PetscInt    check      = cg->check;
  PetscInt    reductions = cg->reductions;
  PetscBool   set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Deflated CG options");
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-ksp_dcg_check", "With device vectors the host may be so many steps behind, 0: automatic", "KSPDCG", 0,
                             POLDER_CG_CHECK_MAX, &check, &set));
  PolderCheckBounds(PetscObjectComm((PetscObject)ksp), "-ksp_dcg_check", check, 0, POLDER_CG_CHECK_MAX);
  if (set) cg->check = check;
  PetscCall(PetscOptionsBool("-ksp_dcg_flexible", "Beta of Polak and Ribiere, for preconditioners that change from step to step", "KSPDCGSetFlexible",
                             cg->flexible, &cg->flexible, NULL));
  PetscCall(PetscOptionsEList("-ksp_dcg_reductions", "Sums over all processes in an iteration", "KSPDCG", KSPDCGReductions, 3, KSPDCGReductions[reductions],
                              &reductions, NULL));
  cg->reductions = reductions;
  PetscOptionsHeadEnd();
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PolderDeflationSpaceSetOptionsPrefix(cg->space, prefix));
  PetscCall(PolderDeflationSpaceSetFromOptionsOf(cg->space, (PetscObject)ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPBuildSolution_DCG(KSP ksp, Vec v, Vec *V)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  if (dcg->cg.sol && dcg->whole.on) PetscCall(KSPDCGWholeBuildSolution(ksp, v, V));
  else PetscCall(PolderCGBuildSolution(ksp, v, V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_DCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(PolderCGReset(ksp));
  PetscCall(KSPDCGWholeFree(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDCGGetDeflationSpace_DCG(KSP ksp, PolderDeflationSpace *space)
{
  PetscFunctionBegin;
  *space = ((PolderCG *)ksp->data)->space;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDCGGetDeflationSpace - gets the deflation space of a solver of type `KSPDCG`

   Not Collective

   Input Parameter:
.  ksp - the solver

   Output Parameter:
.  space - its space, to be destroyed by nobody but the solver

   Level: intermediate

.seealso: `KSPDCG`, `PolderDeflationSpaceSetType()`, `PolderDeflationSpaceSetLevelSet()`
@*/
PetscErrorCode KSPDCGGetDeflationSpace(KSP ksp, PolderDeflationSpace *space)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscAssertPointer(space, 2);
  PetscUseMethod(ksp, "KSPDCGGetDeflationSpace_C", (KSP, PolderDeflationSpace *), (ksp, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDCGIsFlexible_Private(KSP ksp, PetscBool *flexible)
{
  PetscFunctionBegin;
  *flexible = ((PolderCG *)ksp->data)->flexible;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDCGSetFlexible_DCG(KSP ksp, PetscBool flexible)
{
  PetscFunctionBegin;
  ((PolderCG *)ksp->data)->flexible = flexible;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPDCGSetFlexible - lets the preconditioner of `KSPDCG` change from step to step

   Logically Collective

   Input Parameters:
+  ksp      - the solver
-  flexible - use the beta of Polak and Ribiere, (z, r - r_old) / rho_old; one more inner product a step

   Options Database Key:
.  -ksp_dcg_flexible <bool> - the same

   Level: intermediate

   Reference:
.  Notay (2000), Flexible conjugate gradients, SIAM J. Sci. Comput. 22

.seealso: `KSPDCG`
@*/
PetscErrorCode KSPDCGSetFlexible(KSP ksp, PetscBool flexible)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscValidLogicalCollectiveBool(ksp, flexible, 2);
  PetscTryMethod(ksp, "KSPDCGSetFlexible_C", (KSP, PetscBool), (ksp, flexible));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PolderSetter KSPDCGSetters[] = {POLDER_SETTER(KSPDCGGetDeflationSpace, DCG), POLDER_SETTER(KSPDCGSetFlexible, DCG)};

static PetscErrorCode KSPDestroy_DCG(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPDCGWholeFree(ksp));
  PetscCall(PolderCGDestroy(ksp));
  PetscCall(PolderComposeSetters((PetscObject)ksp, PETSC_STATIC_ARRAY_LENGTH(KSPDCGSetters), KSPDCGSetters, PETSC_FALSE));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, POLDER_KSP_IS_FLEXIBLE, NULL));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPDCG - Deflated preconditioned conjugate gradients for symmetric positive (semi-)definite systems

   Options Database Keys:
+  -deflation_space <type> - the deflation vectors, see `PolderDeflationSpaceSetFromOptions()` for this and the other options of the space
.  -ksp_dcg_check <0>      - with CUDA vectors the host may lag behind the device by this many steps; 0: chosen for the problem
.  -ksp_dcg_flexible       - for preconditioners that change from step to step
-  -ksp_dcg_reductions <auto> - sums over all processes in an iteration, 1 or 2

   Level: beginner

   Notes:
   Solves P A x = P b, P = I - A Z (Z^T A Z)^{-1} Z^T, and corrects x once at the end. Without deflation vectors it is CG with fused updates.

   Stops relative to the norm of b, whatever the initial guess; with `-ksp_converged_use_initial_residual_norm` relative to the residual of the guess, before
   the deflation space corrects it. Before it returns, the residual of the corrected solution is computed and compared
   with the tolerance; where rounding made the recursive residual lie, the iteration goes on with a correction of the solution. When the tolerance is below what
   rounding the solution to double precision allows (the norm of eps |A||x|) it stops there with `KSP_CONVERGED_HAPPY_BREAKDOWN` and says which residual was
   reached.

   On CUDA vectors the scalars of the iteration stay on the device and the host follows the norms without making it wait, with the residual norm
   of the convergence test unpreconditioned or none, and natural beside most preconditioners without deflation vectors. `KSPDCGSetFlexible()` and the
   preconditioned norm work through the operations of the vectors. The result,
   the history and the count do not depend on how far the host is behind, and are the same bit for bit from run to run.

   On several processes with few rows each all inner products of an iteration are made in one sum over the processes (`-ksp_dcg_reductions`).
   With CUDA vectors, without deflation vectors and with `PCJACOBI`, `PCNONE` or `PCPAMG`, a small problem is solved as a whole on the GPU of each process
   (`-polder_min_rows_per_gpu`).

   A constant kernel of the operator is noticed with or without `MatSetNullSpace()`; the solution then has mean zero.

   References:
+  * - Gupta (2015), GPU acceleration of preconditioned solvers for ill-conditioned linear systems, algorithm 3
.  * - Chronopoulos, Gear (1989), s-step iterative methods for symmetric linear systems, J. Comput. Appl. Math. 25 (one reduction a step)
-  * - Tang, Nabben, Vuik, Erlangga (2009), Comparison of two-level preconditioners, J. Sci. Comput. 39 (method DEF1)

.seealso: `KSPCreate()`, `KSPSetType()`, `PCLEVELSET`, `PCTNS`, `KSPDCGGetDeflationSpace()`
M*/
PETSC_INTERN PetscErrorCode KSPCreate_DCG(KSP ksp)
{
  KSP_DCG *dcg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&dcg));
  PetscCall(PolderCGCreate(ksp, &dcg->cg));
  dcg->cg.reductions = 0;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NATURAL, PC_LEFT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->setupnewmatrix                    = PETSC_TRUE; // E depends on the values of the operator
  ksp->ops->setup                        = KSPSetUp_DCG;
  ksp->ops->solve                        = KSPSolve_DCG;
  ksp->ops->reset                        = KSPReset_DCG;
  ksp->ops->destroy                      = KSPDestroy_DCG;
  ksp->ops->view                         = KSPView_DCG;
  ksp->ops->setfromoptions               = KSPSetFromOptions_DCG;
  ksp->ops->buildsolution                = KSPBuildSolution_DCG;
  ksp->ops->buildresidual                = KSPBuildResidualDefault;
  ksp->ops->computeeigenvalues           = PolderCGComputeEigenvalues;
  ksp->ops->computeextremesingularvalues = PolderCGComputeExtremeSingularValues;
  PetscCall(PolderComposeSetters((PetscObject)ksp, PETSC_STATIC_ARRAY_LENGTH(KSPDCGSetters), KSPDCGSetters, PETSC_TRUE));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, POLDER_KSP_IS_FLEXIBLE, KSPDCGIsFlexible_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}
