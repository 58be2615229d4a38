/* Deflation as a preconditioner: an inner preconditioner M and the coarse correction Q of a deflation space, for any Krylov method. */
#include "deflation/deflationspace.h"
#include "mat/rounding.h"
#include "core/options.h"
#include "core/refusal.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

const char *const PCLevelSetForms[] = {"adef2", "adef1", "balancing", "PCLevelSetForm", "PC_LEVELSET_", NULL};

typedef struct {
  PCLevelSetForm       form;
  PolderDeflationSpace space;
  PC                   inner;
  Vec                  work;
  PetscBool            guess, changed; /* guess: nonzero-guess flag of the KSP before the correction of the initial guess; changed: a correction was made */
  PetscBool            relative;       /* the convergence test was relative to the initial residual before the correction */
  PetscBool            reversed;       /* a solve with A^T is running: the form applies to what PCApplyTranspose() computes */
} PC_LevelSet;

/* The matrix that deflation is applied to */
static Mat PCLevelSetOperator_Private(PC pc)
{
  return pc->useAmat ? pc->mat : pc->pmat;
}

static PetscErrorCode PCLevelSetSetUpSpace_Private(PC pc)
{
  PC_LevelSet *ls = (PC_LevelSet *)pc->data;
  PetscBool    finite;

  PetscFunctionBegin;
  if (pc->dm) PetscCall(PolderDeflationSpaceSetDM(ls->space, pc->dm));
  PetscCall(PolderDeflationSpaceTrySetUp(ls->space, PCLevelSetOperator_Private(pc), &finite));
  if (!finite) PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_FP, POLDER_COARSE_BADTEXT);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks the inner preconditioner on all processes, since the calls that follow are collective */
static PetscErrorCode PCLevelSetCheckInner_Private(PC pc)
{
  PCFailedReason reason;

  PetscFunctionBegin;
  PetscCall(PCGetFailedReason(((PC_LevelSet *)pc->data)->inner, &reason));
  if (reason) PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscCall(PolderPCShareFailure(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_LevelSet(PC pc)
{
  PC_LevelSet *ls = (PC_LevelSet *)pc->data;

  PetscFunctionBegin;
  PetscCall(PolderPCForgive(pc));
  PetscCall(PCLevelSetSetUpSpace_Private(pc));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  if (!ls->work) PetscCall(MatCreateVecs(pc->pmat, NULL, &ls->work));
  PetscCall(PCSetOperators(ls->inner, pc->mat, pc->pmat));
  PetscCall(PCSetErrorIfFailure(ls->inner, pc->erroriffailure));
  PetscCall(PCSetFailedReason(ls->inner, PC_NOERROR)); // PETSc's block preconditioners do not reset it
  PetscCall(PCSetUp(ls->inner));
  PetscCall(PCLevelSetCheckInner_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUpOnBlocks_LevelSet(PC pc)
{
  PC inner = ((PC_LevelSet *)pc->data)->inner;

  PetscFunctionBegin;
  PetscCall(PolderPCSetUpOnBlocks(pc));
  if (pc->failedreason || !inner->ops->setuponblocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUpOnBlocks(inner));
  PetscCall(PCLevelSetCheckInner_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- M^-1 r or M^-T r; a reused outer preconditioner must not let the inner one follow the matrix */
static PetscErrorCode PCLevelSetInner_Private(PC pc, PetscBool transpose, Vec r, Vec z)
{
  PC        inner = ((PC_LevelSet *)pc->data)->inner;
  PetscBool reuse;

  PetscFunctionBegin;
  PetscCall(PCGetReusePreconditioner(inner, &reuse));
  PetscCall(PCSetReusePreconditioner(inner, (PetscBool)(reuse || pc->reusepreconditioner)));
  if (transpose) PetscCall(PCApplyTranspose(inner, r, z));
  else PetscCall(PCApply(inner, r, z));
  PetscCall(PCSetReusePreconditioner(inner, reuse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y <- A x or A^T x */
static PetscErrorCode PCLevelSetMult_Private(Mat A, PetscBool transpose, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (transpose) PetscCall(MatMultTranspose(A, x, y));
  else PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- x + Q r or x + Q^T r */
static PetscErrorCode PCLevelSetAddQ_Private(PC pc, PetscBool transpose, Vec r, Vec x)
{
  PC_LevelSet *ls = (PC_LevelSet *)pc->data;

  PetscFunctionBegin;
  if (transpose) PetscCall(PolderDeflationSpaceApplyQTransposeAdd(ls->space, r, x));
  else PetscCall(PolderDeflationSpaceApplyQAdd(ls->space, r, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v <- r - A x or r - A^T x */
static PetscErrorCode PCLevelSetResidual_Private(PC pc, PetscBool transpose, Vec x, Vec r, Vec v)
{
  PetscFunctionBegin;
  PetscCall(PCLevelSetMult_Private(PCLevelSetOperator_Private(pc), transpose, x, v));
  PetscCall(VecAYPX(v, -1, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same forms with a matrix that is not symmetric, of which the space has no Z^T A: v <- r - A Q r, z <- M^-1 v, z <- z + Q (r - A z) or z + Q r */
static PetscErrorCode PCLevelSetApplyGeneral_Private(PC pc, PetscBool transpose, PetscBool pre, PetscBool post, Vec r, Vec z)
{
  Vec v = ((PC_LevelSet *)pc->data)->work;

  PetscFunctionBegin;
  if (pre) {
    PetscCall(VecZeroEntries(z));
    PetscCall(PCLevelSetAddQ_Private(pc, transpose, r, z));
    PetscCall(PCLevelSetResidual_Private(pc, transpose, z, r, v));
  }
  PetscCall(PCLevelSetInner_Private(pc, transpose, pre ? v : r, z));
  if (post) PetscCall(PCLevelSetResidual_Private(pc, transpose, z, r, v));
  PetscCall(PCLevelSetAddQ_Private(pc, transpose, post ? v : r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  adef2:     z <- P^T M^-1 r + Q r     = y + Q (r - A y) with y = M^-1 r
  adef1:     z <- M^-1 P r + Q r
  balancing: z <- P^T M^-1 P r + Q r

  P^T stands for I - Q A, which it is when A is symmetric. The transpose of each form is then the same sum with P on the other side, of A^T and M^T.
  KSPSolveTranspose() calls PCApplyTranspose(). There the requested form is applied for A^T, because KSPCG needs A-DEF2 with a corrected initial guess in
  this case as well. In such a solve PCApply() is the transpose of that form.
*/
static PetscErrorCode PCLevelSetApply_Private(PC pc, PetscBool transpose, Vec r, Vec z)
{
  PC_LevelSet    *ls    = (PC_LevelSet *)pc->data;
  const PetscBool other = (PetscBool)(transpose != ls->reversed);
  const PetscBool pre   = (PetscBool)(ls->form != (other ? PC_LEVELSET_ADEF1 : PC_LEVELSET_ADEF2));
  const PetscBool post  = (PetscBool)(ls->form != (other ? PC_LEVELSET_ADEF2 : PC_LEVELSET_ADEF1));
  Vec             v     = r;
  PetscBool       failed, general;

  PetscFunctionBegin;
  PetscCall(PolderPCFlag(pc, z, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationSpaceIsGeneral(ls->space, &general));
  if (general) {
    PetscCall(PCLevelSetApplyGeneral_Private(pc, transpose, pre, post, r, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pre) {
    v = ls->work;
    PetscCall(VecCopy(r, v));
    PetscCall(PolderDeflationSpaceApplyP(ls->space, v)); // v <- P r
  }
  PetscCall(PCLevelSetInner_Private(pc, transpose, v, z));           // z <- M^-1 v
  if (post) PetscCall(PolderDeflationSpaceCorrect(ls->space, r, z)); // z <- P^T z + Q r
  else PetscCall(PolderDeflationSpaceApplyQAdd(ls->space, r, z));    // z <- z + Q r
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_LevelSet(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PCLevelSetApply_Private(pc, PETSC_FALSE, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_LevelSet(PC pc, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCall(PCLevelSetApply_Private(pc, PETSC_TRUE, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  For b = 0 and a guess in Z, the corrected guess is zero except for rounding errors. The default convergence test would take these errors for the first
  residual and reduce them. bound: bound of the rounding errors of A times the guess.
*/
static PetscErrorCode PCLevelSetCleanGuess_Private(PC pc, PetscReal bound, Vec x)
{
  PC_LevelSet *ls = (PC_LevelSet *)pc->data;
  PetscReal    norm;

  PetscFunctionBegin;
  PetscCall(PCLevelSetMult_Private(pc->mat, ls->reversed, x, ls->work));
  PetscCall(VecNorm(ls->work, NORM_2, &norm));
  if (norm <= 100 * bound) PetscCall(VecZeroEntries(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the default convergence test relative to the residual of the initial guess, or to b; *before: what it was */
static PetscErrorCode PCLevelSetTest_Private(KSP ksp, PetscBool guess, PetscBool *before)
{
  KSPConvergedDefaultCtx *test = ksp->converged == KSPConvergedDefault ? (KSPConvergedDefaultCtx *)ksp->cnvP : NULL;

  PetscFunctionBegin;
  *before = test ? test->initialrtol : PETSC_FALSE;
  if (test) test->initialrtol = guess;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  x <- x + Q (b - A x): then Z^T (b - A x) = 0, which stays so in CG, and on such residuals A-DEF2 equals the symmetric P^T M^-1 P.
  The level set may have moved since the set-up.
*/
static PetscErrorCode PCPreSolve_LevelSet(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_LevelSet *ls = (PC_LevelSet *)pc->data;
  MatNullSpace nullspace;
  PetscReal    bnorm = 1, bound = 0;
  PetscBool    preonly;

  PetscFunctionBegin;
  ls->changed  = PETSC_FALSE;
  ls->relative = PETSC_FALSE;
  ls->reversed = ksp->transpose_solve;
  if (!pc->reusepreconditioner && !pc->failedreason) PetscCall(PCLevelSetSetUpSpace_Private(pc));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &preonly));
  if (ls->form != PC_LEVELSET_ADEF2 || preonly) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetInitialGuessNonzero(ksp, &ls->guess));
  if (ls->guess) {
    PetscCall(PolderVecNormKept(b, &bnorm));
    if (bnorm == 0) PetscCall(PolderMatRoundingBound(pc->mat, x, &bound));
    PetscCall(PCLevelSetMult_Private(pc->mat, ls->reversed, x, ls->work));
    PetscCall(VecAYPX(ls->work, -1.0, b));
  } else {
    PetscCall(PCLevelSetTest_Private(ksp, PETSC_FALSE, &ls->relative)); // the residual of the user's guess is b, that of the corrected one may be larger
    PetscCall(VecZeroEntries(x));
    PetscCall(VecCopy(b, ls->work));
  }
  if (ls->reversed) PetscCall(MatGetNullSpace(pc->pmat, &nullspace)); // KSPSolve() will remove it from b
  else PetscCall(MatGetTransposeNullSpace(pc->pmat, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, ls->work));
  PetscCall(PCLevelSetAddQ_Private(pc, ls->reversed, ls->work, x));
  if (bnorm == 0) PetscCall(PCLevelSetCleanGuess_Private(pc, bound, x));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  ls->changed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the nonzero-guess flag and the convergence test for the next solve */
static PetscErrorCode PCPostSolve_LevelSet(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_LevelSet *ls = (PC_LevelSet *)pc->data;

  PetscFunctionBegin;
  (void)b, (void)x;
  if (ls->changed) PetscCall(KSPSetInitialGuessNonzero(ksp, ls->guess));
  if (ls->relative) PetscCall(PCLevelSetTest_Private(ksp, PETSC_TRUE, &ls->relative));
  ls->changed = ls->reversed = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_LevelSet(PC pc)
{
  PC_LevelSet *ls = (PC_LevelSet *)pc->data;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&ls->work));
  PetscCall(PCReset(ls->inner));
  PetscCall(PolderDeflationSpaceReset(ls->space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_LevelSet(PC pc, PetscViewer viewer)
{
  static const char *const formula[] = {"P^T M^-1 + Q", "M^-1 P + Q", "P^T M^-1 P + Q"};
  PC_LevelSet             *ls        = (PC_LevelSet *)pc->data;
  PetscBool                ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  form %s: %s\n", PCLevelSetForms[ls->form], formula[ls->form]));
  PetscCall(PolderRefusalView((PetscObject)pc, viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PolderDeflationSpaceView(ls->space, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  inner preconditioner M:\n"));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PCView(ls->inner, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLevelSetSetForm_LevelSet(PC pc, PCLevelSetForm form)
{
  PetscFunctionBegin;
  ((PC_LevelSet *)pc->data)->form = form;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCLevelSetSetForm - chooses how `PCLEVELSET` combines the inner preconditioner and the coarse correction

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner
-  form - `PC_LEVELSET_ADEF2`, `PC_LEVELSET_ADEF1` or `PC_LEVELSET_BALANCING`

   Options Database Key:
.  -pc_levelset_form <adef2> - adef2, adef1 or balancing

   Level: intermediate

.seealso: `PCLEVELSET`, `PCLevelSetForm`
@*/
PetscErrorCode PCLevelSetSetForm(PC pc, PCLevelSetForm form)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, form, 2);
  PetscTryMethod(pc, "PCLevelSetSetForm_C", (PC, PCLevelSetForm), (pc, form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLevelSetGetPC_LevelSet(PC pc, PC *inner)
{
  PetscFunctionBegin;
  *inner = ((PC_LevelSet *)pc->data)->inner;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCLevelSetGetPC - gets the inner preconditioner M of `PCLEVELSET`

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  inner - the inner preconditioner, of type `PCTNS` by default; owned by `pc`, do not destroy it

   Level: intermediate

.seealso: `PCLEVELSET`, `PCLevelSetGetDeflationSpace()`
@*/
PetscErrorCode PCLevelSetGetPC(PC pc, PC *inner)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(inner, 2);
  PetscUseMethod(pc, "PCLevelSetGetPC_C", (PC, PC *), (pc, inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCLevelSetGetDeflationSpace_LevelSet(PC pc, PolderDeflationSpace *space)
{
  PetscFunctionBegin;
  *space = ((PC_LevelSet *)pc->data)->space;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCLevelSetGetDeflationSpace - gets the deflation space of `PCLEVELSET`

   Not Collective

   Input Parameter:
.  pc - the preconditioner

   Output Parameter:
.  space - its space; owned by `pc`, do not destroy it

   Level: intermediate

.seealso: `PCLEVELSET`, `PCLevelSetGetPC()`, `PolderDeflationSpaceSetType()`, `PolderDeflationSpaceSetLevelSet()`
@*/
PetscErrorCode PCLevelSetGetDeflationSpace(PC pc, PolderDeflationSpace *space)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(space, 2);
  PetscUseMethod(pc, "PCLevelSetGetDeflationSpace_C", (PC, PolderDeflationSpace *), (pc, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_LevelSet(PC pc, PolderOptionItems PetscOptionsObject)
{
  PC_LevelSet   *ls   = (PC_LevelSet *)pc->data;
  PCLevelSetForm form = ls->form;
  const char    *prefix;
  PetscBool      set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Level-set deflation options");
  PetscCall(PetscOptionsEnum("-pc_levelset_form", "How inner preconditioner and coarse correction are combined", "PCLevelSetSetForm", PCLevelSetForms,
                             (PetscEnum)form, (PetscEnum *)&form, &set));
  if (set) PetscCall(PCLevelSetSetForm(pc, form));
  PetscOptionsHeadEnd();
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PolderDeflationSpaceSetOptionsPrefix(ls->space, prefix));
  PetscCall(PolderDeflationSpaceSetFromOptionsOf(ls->space, (PetscObject)pc));
  PetscCall(PCSetOptionsPrefix(ls->inner, prefix));
  PetscCall(PCAppendOptionsPrefix(ls->inner, "levelset_"));
  PetscCall(PCSetFromOptions(ls->inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PolderSetter PCLevelSetSetters[] = {POLDER_SETTER(PCLevelSetGetPC, LevelSet), POLDER_SETTER(PCLevelSetGetDeflationSpace, LevelSet),
                                                 POLDER_SETTER(PCLevelSetSetForm, LevelSet)};

static PetscErrorCode PCDestroy_LevelSet(PC pc)
{
  PC_LevelSet *ls = (PC_LevelSet *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCReset_LevelSet(pc));
  PetscCall(PCDestroy(&ls->inner));
  PetscCall(PolderDeflationSpaceDestroy(&ls->space));
  PetscCall(PolderComposeSetters((PetscObject)pc, PETSC_STATIC_ARRAY_LENGTH(PCLevelSetSetters), PCLevelSetSetters, PETSC_FALSE));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCLEVELSET - deflation as a preconditioner around any other one, for any Krylov method

   Options Database Keys:
+  -pc_levelset_form <adef2>  - adef2, adef1 or balancing, see `PCLevelSetForm`
.  -levelset_pc_type <tns>    - the inner preconditioner; all its options have the prefix `levelset_`
-  -deflation_space <auto>    - the deflation space, see `PolderDeflationSpaceSetFromOptions()` for it and its other options

   Level: beginner

   Notes:
   With the columns Z of the deflation space, Q = Z (Z^T A Z)^{-1} Z^T and P = I - A Q; M is the inner preconditioner. All three forms put
   the eigenvalues that belong to the space to one and leave the others to M. `adef2` and `balancing` in `KSPCG` and its relatives need the
   iterations of `KSPDCG` with the same space; `KSPDCG` also checks the true residual.

   `adef2`, P^T M^{-1} + Q, is the two-level form with M before the correction. It is not symmetric; `KSPCG` may use it because the preconditioner corrects
   the start vector, x <- x + Q (b - A x), at the beginning of each `KSPSolve()` and `KSPSolveTranspose()` (Tang et al. 2009, table 1; Gupta 2015, appendix B).
   `adef1`, M^{-1} P + Q, is not symmetric either; `KSPGMRES` and `KSPFCG` do not need symmetry, `KSPCG` converges with it but may take more iterations.
   `balancing`, P^T M^{-1} P + Q, is symmetric and positive definite when M is, for methods that require it. Both cost two coarse solves
   an apply, `adef2` one.

   The matrix must be an AIJ matrix, sequential or parallel. It may have a kernel: set it with `MatSetNullSpace()`.

   With a matrix that is not symmetric, which the set-up tests, P^T in these formulas stands for I - Q A, Z is its own left partner in Z^T A Z, and each
   correction costs a product with A. A nested KSP solves with Z^T A Z, by default with an LU factor (`-deflation_coarse_`). Use `KSPGMRES`, `KSPBCGS` or
   `KSPIDRS`, and an inner preconditioner for such matrices.
   With `-ksp_converged_use_initial_residual_norm` and no guess the solver stops relative to b, and with a guess of the user relative to the residual of the
   guess that `adef2` has corrected.

   With `-pc_use_amat` the operator itself is deflated instead of the matrix that the preconditioner is made from.

   `KSPBCGS` preconditioned from the right keeps the initial guess of a solve, and PETSc (3.18 to 3.24) adds it to the solution of a later one whose guess is
   zero: call `KSPReset()` when a new level set may leave no deflation vector, or use `KSPGMRES`.

   References:
+  * - J. Tang, R. Nabben, C. Vuik, Y. Erlangga, Comparison of two-level preconditioners derived from deflation, domain decomposition and multigrid methods,
       J. Sci. Comput. 39, 2009
-  * - R. Gupta, GPU acceleration of preconditioned solvers for ill-conditioned linear systems, PhD thesis, TU Delft, 2015

.seealso: `PCLevelSetSetForm()`, `PCLevelSetGetPC()`, `PCLevelSetGetDeflationSpace()`, `KSPDCG`, `PCTNS`, `PCDEFLATION`
M*/
PETSC_INTERN PetscErrorCode PCCreate_LevelSet(PC pc)
{
  PC_LevelSet *ls;
  const char  *prefix;

  PetscFunctionBegin;
  PetscCall(PetscNew(&ls));
  pc->data = (void *)ls;
  PetscCall(PolderDeflationSpaceCreate(PetscObjectComm((PetscObject)pc), &ls->space));
  PetscCall(PolderDeflationSpaceAllowGeneral(ls->space));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PolderDeflationSpaceSetOptionsPrefix(ls->space, prefix));
  PetscCall(PCCreate(PetscObjectComm((PetscObject)pc), &ls->inner));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)ls->inner, (PetscObject)pc, 1));
  PetscCall(PCSetOptionsPrefix(ls->inner, prefix));
  PetscCall(PCAppendOptionsPrefix(ls->inner, "levelset_"));
  PetscCall(PCSetType(ls->inner, PCTNS));
  pc->ops->setup          = PCSetUp_LevelSet;
  pc->ops->setuponblocks  = PCSetUpOnBlocks_LevelSet;
  pc->ops->apply          = PCApply_LevelSet;
  pc->ops->applytranspose = PCApplyTranspose_LevelSet;
  pc->ops->presolve       = PCPreSolve_LevelSet;
  pc->ops->postsolve      = PCPostSolve_LevelSet;
  pc->ops->reset          = PCReset_LevelSet;
  pc->ops->destroy        = PCDestroy_LevelSet;
  pc->ops->view           = PCView_LevelSet;
  pc->ops->setfromoptions = PCSetFromOptions_LevelSet;
  PetscCall(PolderComposeSetters((PetscObject)pc, PETSC_STATIC_ARRAY_LENGTH(PCLevelSetSetters), PCLevelSetSetters, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
