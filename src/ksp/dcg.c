/*
  Deflated preconditioned conjugate gradients (DEF1). In exact arithmetic the recursive residual is the true residual of the corrected
  solution x + Q(b - Ax); the solver checks it when the iteration ends and goes on from the true residual where rounding made them differ.
*/
#include "dcg.h"
#include "../options.h"
#include "../refusal.h"

/* Iterates from the deflated residual r, or resumes, until the convergence test, or a breakdown, sets ksp->reason */
static PetscErrorCode KSPDCGCycle_Private(KSP ksp, Vec r, Vec z, Vec p, Vec w)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  if (dcg->resume) PetscCall(KSPDCGResume_Private(ksp, r));
  else PetscCall(KSPDCGStart_Private(ksp, r, p));
  if (!ksp->reason) PetscCall(KSPDCGPrecondition_Private(ksp, r, z, w)); // z <- M^-1 r,  rho <- (r, z)
  while (!ksp->reason) {
    if (dcg->steps >= ksp->max_it) {
      ksp->reason = KSP_DIVERGED_ITS;
      break;
    }
    PetscCall(KSPDCGDirection_Private(ksp, r, z, p)); // p <- z + beta p,  beta <- rho / rho_old
    PetscCall(KSPDCGProduct_Private(ksp, p, w));      // w <- P A p
    if (ksp->reason) break;
    PetscCall(KSPDCGStep_Private(ksp, p, w, r)); // x <- x + alpha p,  r <- r - alpha w,  alpha <- rho / (p, w)
    PetscCall(KSPDCGCheck_Private(ksp, r, z));
    if (ksp->reason) break;
    PetscCall(KSPDCGPrecondition_Private(ksp, r, z, w)); // z <- M^-1 r,  rho <- (r, z)
    PetscCall(KSPDCGCatchUp_Private(ksp));
  }
  PetscCall(KSPDCGFinish_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGMatResidual_Private(KSP ksp, Mat A, Vec b, Vec x, Vec r)
{
  PetscFunctionBegin;
  if (!ksp->transpose_solve) PetscCall(MatResidual(A, b, x, r));
  else {
    PetscCall(MatMultTranspose(A, x, r));
    PetscCall(VecAYPX(r, -1.0, b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- b - A x */
static PetscErrorCode KSPDCGResidual_Private(KSP ksp, Vec x, Vec r)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(KSPDCGMatResidual_Private(ksp, dcg->A, dcg->b, x, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same at the end of a cycle, and the norm */
static PetscErrorCode KSPDCGTrueResidual_Private(KSP ksp, Vec x, Vec r, PetscReal *norm)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  if (dcg->trueresidual) PetscCall((*dcg->trueresidual)(ksp, x, ksp->normtype == KSP_NORM_UNPRECONDITIONED ? NULL : r, norm));
  else {
    PetscCall(KSPDCGResidual_Private(ksp, x, r));
    PetscCall(PolderVecNorm(r, norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the solutions the smallest: it rounds least */
static PetscErrorCode KSPDCGSmallest_Private(KSP ksp, Vec x)
{
  KSP_DCG     *dcg = (KSP_DCG *)ksp->data;
  MatNullSpace attached;
  PetscBool    constant = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(dcg->A, &attached));
  if (attached) PetscCall(MatNullSpaceGetVecs(attached, &constant, NULL, NULL));
  if (dcg->space->nullspace && !constant) PetscCall(KSPDCGRemoveMean_Private(x));
  PetscCall(KSP_RemoveNullSpace(ksp, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  y <- x + sol (in the first cycle y is x, which is sol), corrected by Q; r <- b - A y. E is rounded, so that one correction may leave something along Z:
  as many as help to reach the norm wanted. In a correction cycle sol takes the correction, so that y is rounded once.
*/
static PetscErrorCode KSPDCGCorrect_Private(KSP ksp, PetscReal wanted, Vec y, Vec r, PetscReal *norm)
{
  KSP_DCG        *dcg   = (KSP_DCG *)ksp->data;
  const PetscBool first = (PetscBool)(dcg->sol == dcg->x);
  Vec             sol   = first ? y : dcg->sol;
  PetscReal       last;

  PetscFunctionBegin;
  if (!first) PetscCall(VecWAXPY(y, 1.0, sol, dcg->x));
  PetscCall(KSPDCGTrueResidual_Private(ksp, y, r, norm));
  if (!dcg->space->d) PetscFunctionReturn(PETSC_SUCCESS);
  do {
    last = *norm;
    PetscCall(PolderDeflationSpaceApplyQAdd(dcg->space, r, sol)); // x <- x + Q (b - A x)
    PetscCall(KSPDCGSmallest_Private(ksp, sol));
    if (!first) PetscCall(VecWAXPY(y, 1.0, sol, dcg->x));
    PetscCall(KSPDCGTrueResidual_Private(ksp, y, r, norm));
  } while (*norm > wanted && *norm < 0.5 * last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No cycle improves x any more: either at the floor of double precision, or broken down for the given reason */
static PetscErrorCode KSPDCGStop_Private(KSP ksp, KSPConvergedReason reason)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  dcg->floor  = (PetscBool)(dcg->residual <= 10 * dcg->bound);
  ksp->reason = dcg->floor ? KSP_CONVERGED_HAPPY_BREAKDOWN : reason;
  PetscCall(PetscInfo(ksp, "Stopped at the true residual %g, rounding bound eps |A||x| %g, norm of b %g\n", (double)dcg->residual, (double)dcg->bound, (double)dcg->bnorm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the true residual must come down to: the tolerance, as far as it is known */
static PetscReal KSPDCGWanted_Private(KSP ksp, PetscReal claimed)
{
  const PetscBool known = (PetscBool)(ksp->converged == KSPConvergedDefault && ksp->normtype == KSP_NORM_UNPRECONDITIONED);

  return known ? PetscMax(claimed, ksp->ttol) : claimed;
}

/* And the recursive one then, rounding errors of x being what they are: |true|^2 = |recursive|^2 + gap^2. 0: they are too large, or the test looks at something else */
static PetscReal KSPDCGAfterwards_Private(KSP ksp, PetscReal claimed, PetscReal rnorm)
{
  const PetscReal wanted = KSPDCGWanted_Private(ksp, claimed), left = PetscSqr(wanted) - (PetscSqr(rnorm) - PetscSqr(claimed));

  if (ksp->normtype != KSP_NORM_UNPRECONDITIONED || left < PetscSqr(0.3 * wanted)) return 0;
  return 0.8 * PetscSqrtReal(left);
}

/*
  The cycle has ended with ksp->reason. Its solution is kept if it has the smaller true residual, and the reason if the true residual confirms it.
  *again: the true residual t calls for another cycle, or where little is missing for more of the same one (dcg->resume, once). A cycle that does not halve the
  residual is the last one.
*/
static PetscErrorCode KSPDCGVerify_Private(KSP ksp, Vec t, Vec z, Vec y, PetscBool *again)
{
  KSP_DCG                 *dcg     = (KSP_DCG *)ksp->data;
  const PetscBool          first   = (PetscBool)(dcg->sol == dcg->x);
  const PetscReal          claimed = ksp->rnorm, before = dcg->residual;
  const KSPConvergedReason reason  = ksp->reason;
  const PetscBool          broken  = (PetscBool)(reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_INDEFINITE_PC); // by rounding, perhaps
  const PetscBool          resumed = dcg->resume;
  PetscReal                rnorm, norm;
  Mat                      A;

  PetscFunctionBegin;
  *again      = PETSC_FALSE;
  dcg->resume = PETSC_FALSE;
  PetscCall(KSPDCGCorrect_Private(ksp, PetscMax(1.01 * claimed, KSPDCGWanted_Private(ksp, claimed)), first ? dcg->x : y, t, &rnorm));
  if (PetscIsInfOrNanReal(rnorm) || reason == KSP_DIVERGED_NANORINF || reason == KSP_DIVERGED_PC_FAILED) PetscFunctionReturn(PETSC_SUCCESS);
  if (first || rnorm < before) {
    if (!first) PetscCall(VecCopy(y, dcg->x));
    dcg->residual = rnorm;
    if (ksp->normtype == KSP_NORM_NONE || reason == KSP_CONVERGED_ITS) PetscFunctionReturn(PETSC_SUCCESS);
    ksp->reason = KSP_CONVERGED_ITERATING;
    PetscCall(KSPDCGNorm_Private(ksp, t, z, rnorm, &norm));
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
    dcg->norm = norm;
    if (reason > 0 || broken) PetscCall(KSPDCGTest_Private(ksp, norm));
    if (ksp->reason > 0) PetscFunctionReturn(PETSC_SUCCESS);
  }
  ksp->reason = reason;
  ksp->rnorm  = dcg->norm;
  if (reason < 0 && !broken) PetscFunctionReturn(PETSC_SUCCESS);
  if (first && !resumed && reason > 0 && !dcg->flexible) dcg->target = KSPDCGAfterwards_Private(ksp, claimed, rnorm);
  if (first && !resumed && dcg->target > 0) {
    PetscCall(PetscInfo(ksp, "Recursive residual %g but true residual %g after %" PetscInt_FMT " iterations: going on to %g\n", (double)claimed, (double)rnorm, ksp->its, (double)dcg->target));
    ksp->reason = KSP_CONVERGED_ITERATING;
    dcg->resume = *again = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(PolderMatRoundingBound(A, ksp->vec_sol, &dcg->bound));
  if (first || rnorm < 0.5 * before) {
    dcg->target = 0.5 * claimed;
    if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) dcg->target = PetscMax(dcg->target, 0.1 * dcg->bound);
    PetscCall(PetscInfo(ksp, "Recursive residual %g but true residual %g after %" PetscInt_FMT " iterations: going on from the true one\n", (double)claimed, (double)dcg->norm, ksp->its));
    ksp->reason = KSP_CONVERGED_ITERATING;
    *again      = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPDCGStop_Private(ksp, reason > 0 ? KSP_DIVERGED_BREAKDOWN : reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- b - A x */
static PetscErrorCode KSPDCGFirstResidual_Private(KSP ksp, Vec r)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  if (ksp->guess_zero) PetscCall(VecCopy(dcg->b, r));
  else PetscCall(KSPDCGResidual_Private(ksp, dcg->x, r));
  PetscCall(PolderVecFlag(r, dcg->failed)); // the first norm tells all processes
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For b = 0 the tests are relative to the residual of the guess, and not to what P leaves of it: rounding errors when the guess lies in Z */
static PetscErrorCode KSPDCGTestGuess_Private(KSP ksp, Vec r, Vec z)
{
  PetscReal rnorm, norm;

  PetscFunctionBegin;
  PetscCall(KSPDCGFirstResidual_Private(ksp, r));
  PetscCall(PolderVecNorm(r, &rnorm));
  KSPCheckNorm(ksp, rnorm);
  PetscCall(KSPDCGNorm_Private(ksp, r, z, rnorm, &norm));
  if (!ksp->reason) PetscCall(KSPDCGTest_Private(ksp, norm));
  ((KSP_DCG *)ksp->data)->residual = rnorm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDCGRun_Private(KSP ksp, Vec r, Vec z, Vec p, Vec w)
{
  KSP_DCG  *dcg = (KSP_DCG *)ksp->data;
  PetscReal rnorm, norm;
  PetscBool again = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(KSPDCGFirstResidual_Private(ksp, r));
  PetscCall(KSPDCGProject_Private(ksp, r)); // r <- P (b - A x)
  PetscCall(PolderVecNormBegin(r));
  PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &dcg->bnorm)); // while a device makes r
  PetscCall(PolderVecNormEnd(r, &rnorm));
  if (dcg->bnorm == 0) {
    PetscCall(KSPDCGTestGuess_Private(ksp, r, z));
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(KSPDCGProject_Private(ksp, r));
    PetscCall(PolderVecNorm(r, &rnorm));
  }
  KSPCheckNorm(ksp, rnorm);
  PetscCall(KSPDCGNorm_Private(ksp, r, z, rnorm, &norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, 0, norm));
  PetscCall(KSPDCGTest_Private(ksp, norm));
  while (1) {
    if (!ksp->reason) PetscCall(KSPDCGCycle_Private(ksp, r, z, p, w));
    PetscCall(KSPDCGVerify_Private(ksp, w, z, p, &again));
    if (!again) break;
    if (dcg->resume) continue;
    ++dcg->restarts;
    if (!dcg->correction) PetscCall(PolderVecDuplicate(dcg->x, &dcg->correction));
    dcg->sol = dcg->correction; // the next cycle solves A correction = r, so that x is rounded once and not in every step
    PetscCall(VecZeroEntries(dcg->sol));
    if (dcg->trueresidual) PetscCall((*dcg->trueresidual)(ksp, NULL, r, NULL));
    else PetscCall(VecCopy(w, r));
    PetscCall(KSPDCGProject_Private(ksp, r));
    if (ksp->normtype != KSP_NORM_UNPRECONDITIONED) PetscCall(KSPDCGNorm_Private(ksp, r, z, 0, &norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGSolve_Private(KSP ksp)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  dcg->floor = dcg->tested = dcg->resume = PETSC_FALSE;
  dcg->failed                            = (PetscBool)(ksp->reason == KSP_DIVERGED_PC_FAILED);
  dcg->restarts = dcg->nritz = ksp->its = 0;
  dcg->residual = dcg->bound = -1;
  dcg->target                = 0;
  ksp->reason                = KSP_CONVERGED_ITERATING;
  dcg->sol                   = dcg->x;
  PetscCall(KSPDCGRun_Private(ksp, ksp->work[0], ksp->work[1], ksp->work[2], ksp->work[3]));
  dcg->sol = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *finite = PETSC_FALSE, on all processes, and the reason is set: nothing can be projected */
static PetscErrorCode KSPDCGSetUpSpace_Private(KSP ksp, Mat A, PetscBool *finite)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(PolderForgive((PetscObject)ksp));
  PetscCall(PolderDeflationSpaceTrySetUp(dcg->space, A, finite));
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
  KSP_DCG  *dcg = (KSP_DCG *)ksp->data;
  PetscBool diagonalscale, changed, finite;

  PetscFunctionBegin;
  PetscCall(PolderPCGetDiagonalScale(ksp->pc, &diagonalscale));
  PetscCheck(!diagonalscale, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP, "dcg does not work with the diagonal scaling of PCSetDiagonalScale(): leave it out");
  PetscCall(PCGetOperators(ksp->pc, &dcg->A, NULL));
  PetscCall(PolderMatCatchUp(dcg->A, &changed));
  if (changed) PetscCall(PCSetUp(ksp->pc));
  PetscCall(KSPDCGSetUpSpace_Private(ksp, dcg->A, &finite)); // the level set may have moved since KSPSetUp()
  if (!finite) PetscFunctionReturn(PETSC_SUCCESS);
  dcg->pc = ksp->pc;
  dcg->b  = ksp->vec_rhs;
  dcg->x  = ksp->vec_sol;
  PetscCall(KSPDCGSolve_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGSetWorkVecs_Private(KSP ksp, Vec like)
{
  PetscFunctionBegin;
  PetscCall(VecDestroyVecs(ksp->nwork, &ksp->work));
  ksp->nwork = 4;
  PetscCall(PolderVecDuplicateVecs(like, ksp->nwork, &ksp->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_DCG(KSP ksp)
{
  KSP_DCG  *dcg = (KSP_DCG *)ksp->data;
  Mat       A;
  Vec       like;
  PetscBool finite;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (ksp->vec_rhs) PetscCall(PetscObjectReference((PetscObject)(like = ksp->vec_rhs)));
  else PetscCall(MatCreateVecs(A, NULL, &like));
  PetscCall(KSPDCGSetWorkVecs_Private(ksp, like));
  PetscCall(VecDestroy(&like));
  PetscCall(PolderDeflationSpaceSetDM(dcg->space, ksp->dm));
  PetscCall(KSPDCGSetUpSpace_Private(ksp, A, &finite)); // the solve does without, once more
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v <- the corrected solution, without touching the vectors of the running cycle */
static PetscErrorCode KSPDCGBuild_Private(KSP ksp, Vec v, Vec r)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  if (dcg->sol == dcg->x) PetscCall(VecCopy(dcg->sol, v));
  else PetscCall(VecWAXPY(v, 1.0, dcg->sol, dcg->x));
  PetscCall(KSPDCGResidual_Private(ksp, v, r));
  PetscCall(PolderDeflationSpaceApplyQAdd(dcg->space, r, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* During a solve the vector of the cycle is not yet the solution */
static PetscErrorCode KSPBuildSolution_DCG(KSP ksp, Vec v, Vec *V)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;
  Vec      r;

  PetscFunctionBegin;
  if (dcg->sol) PetscCall(KSPDCGFinish_Private(ksp));
  if (!dcg->sol || (!dcg->space->d && dcg->sol == dcg->x)) {
    PetscCall(KSPBuildSolutionDefault(ksp, v, V));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!v) {
    if (!dcg->built) PetscCall(VecDuplicate(ksp->vec_sol, &dcg->built));
    v = dcg->built;
  }
  PetscCall(VecDuplicate(v, &r));
  PetscCall(KSPDCGBuild_Private(ksp, v, r));
  PetscCall(VecDestroy(&r));
  if (V) *V = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_DCG(KSP ksp, PolderOptionItems PetscOptionsObject)
{
  KSP_DCG    *dcg = (KSP_DCG *)ksp->data;
  const char *prefix;
  PetscInt    check = dcg->check;
  PetscBool   set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Deflated CG options");
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-ksp_dcg_check", "With device vectors the host may be so many steps behind, 0: automatic", "KSPDCG", 0, KSP_DCG_CHECK_MAX, &check, &set));
  PolderCheckBounds(PetscObjectComm((PetscObject)ksp), "-ksp_dcg_check", check, 0, KSP_DCG_CHECK_MAX);
  if (set) dcg->check = check;
  PetscCall(PetscOptionsBool("-ksp_dcg_flexible", "Beta of Polak and Ribiere, for preconditioners that change from step to step", "KSPDCGSetFlexible", dcg->flexible, &dcg->flexible, NULL));
  PetscOptionsHeadEnd();
  PetscCall(KSPGetOptionsPrefix(ksp, &prefix));
  PetscCall(PolderDeflationSpaceSetOptionsPrefix(dcg->space, prefix));
  PetscCall(PolderDeflationSpaceSetFromOptions(dcg->space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPReset_DCG(KSP ksp)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(PolderDeflationSpaceReset(dcg->space));
  PetscCall(PolderDeflationSpaceSetDM(dcg->space, NULL));
  PetscCall(VecDestroy(&dcg->correction));
  PetscCall(VecDestroy(&dcg->built));
  PetscCall(KSPDCGDeviceDestroy_Private(&dcg->device));
  PetscCall(PetscFree2(dcg->d, dcg->e));
  dcg->nritz = dcg->maxritz = 0;
  dcg->sol                  = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDestroy_DCG(KSP ksp)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(KSPReset_DCG(ksp));
  PetscCall(PolderDeflationSpaceDestroy(&dcg->space));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPDCGGetDeflationSpace_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPDCGSetFlexible_C", NULL));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDCGGetDeflationSpace_DCG(KSP ksp, PolderDeflationSpace *space)
{
  PetscFunctionBegin;
  *space = ((KSP_DCG *)ksp->data)->space;
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

static PetscErrorCode KSPDCGSetFlexible_DCG(KSP ksp, PetscBool flexible)
{
  PetscFunctionBegin;
  ((KSP_DCG *)ksp->data)->flexible = flexible;
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

/*MC
   KSPDCG - Deflated preconditioned conjugate gradients for symmetric positive (semi-)definite systems

   Options Database Keys:
+  -deflation_space <type> - the deflation vectors, see `PolderDeflationSpaceSetFromOptions()` for this and the other options of the space
.  -ksp_dcg_check <0>      - with CUDA vectors the host may be so many steps behind the device; 0: chosen for the problem
-  -ksp_dcg_flexible       - for preconditioners that change from step to step

   Level: beginner

   Notes:
   Solves P A x = P b, P = I - A Z (Z^T A Z)^{-1} Z^T, and corrects x once at the end. Without deflation vectors it is CG with fused updates.

   Stops relative to the norm of b, whatever the initial guess. Before it returns, the residual of the corrected solution is computed and
   compared with the tolerance; where rounding made the recursive residual lie, the iteration goes on with a correction of the solution. When
   the tolerance is below what rounding the solution to double precision allows (the norm of eps |A||x|) it stops there with
   `KSP_CONVERGED_HAPPY_BREAKDOWN` and says which residual was reached.

   On CUDA vectors the scalars of the iteration stay on the device and the host follows the norms without making it wait, with the residual norm
   of the convergence test unpreconditioned or none; other norms and `KSPDCGSetFlexible()` work through the operations of the vectors. The result,
   the history and the count do not depend on how far the host is behind, and are the same bit for bit from run to run.

   A constant kernel of the operator is noticed with or without `MatSetNullSpace()`; the solution then has mean zero.

   References:
+  * - Gupta (2015), GPU acceleration of preconditioned solvers for ill-conditioned linear systems, algorithm 3
-  * - Tang, Nabben, Vuik, Erlangga (2009), Comparison of two-level preconditioners, J. Sci. Comput. 39 (method DEF1)

.seealso: `KSPCreate()`, `KSPSetType()`, `PCLEVELSET`, `PCTNS`, `KSPDCGGetDeflationSpace()`
M*/
PetscErrorCode KSPCreate_DCG(KSP ksp)
{
  KSP_DCG *dcg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&dcg));
  ksp->data = dcg;
  PetscCall(PolderDeflationSpaceCreate(PetscObjectComm((PetscObject)ksp), &dcg->space));
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
  ksp->ops->computeeigenvalues           = KSPComputeEigenvalues_DCG;
  ksp->ops->computeextremesingularvalues = KSPComputeExtremeSingularValues_DCG;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPDCGGetDeflationSpace_C", KSPDCGGetDeflationSpace_DCG));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPDCGSetFlexible_C", KSPDCGSetFlexible_DCG));
  PetscCall(KSPConvergedReasonViewSet(ksp, KSPDCGConvergedReasonView_Private, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
