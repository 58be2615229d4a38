/*
  Deflated preconditioned conjugate gradients (DEF1). In exact arithmetic the recursive residual is the true residual of the corrected
  solution x + Q(b - Ax); the solver checks it when the iteration ends and goes on from the true residual where rounding made them differ.

  The steps of the cycle come from one of four tables: host or device, and two reductions a step or one. With one (Chronopoulos and Gear, s-step iterative
  methods for symmetric linear systems, J. Comput. Appl. Math. 25, 1989) the product is that of z, and A p follows p by the same recurrence, so that (r, z),
  (z, P A z), the norm, and the right-hand side Z^T A z of the coarse solve travel in one message, after the preconditioner; the norm of a step is then
  known one half step later.
*/
#include "cg.h"
#include "core/refusal.h"
#include "mat/rounding.h"

/* After that many steps r is projected again: the iteration cannot reduce what rounding left of r along Z */
#define POLDER_CG_REPROJECT 8

/* A cycle begins from the deflated residual r */
static PetscErrorCode PolderCGStart_Private(KSP ksp, Vec r, Vec p)
{
  PolderCG      *cg = (PolderCG *)ksp->data;
  PolderCGKernel kernel;

  PetscFunctionBegin;
  PetscCall(PolderCGGetKernel(ksp, &kernel));
  cg->projects = (PetscBool)(kernel != CG_REGULAR || cg->space->d);
  cg->first    = PETSC_TRUE;
  cg->since    = 0;
  cg->begun    = ksp->its;
  if (ksp->normtype == KSP_NORM_NONE) {
    PetscCall(PolderVecNorm(r, &cg->rnorm));
    if (cg->rnorm <= ksp->abstol) ksp->reason = KSP_CONVERGED_ATOL;
  }
  PetscCall(PolderCGChooseSteps(ksp, r, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cycle that has converged goes on, to cg->target */
static PetscErrorCode PolderCGResume_Private(KSP ksp, Vec r)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  cg->begun = ksp->its; // of those that the device did not make any more
  PetscCall((*cg->steps->resume)(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGStep_Private(KSP ksp, Vec p, Vec w, Vec r)
{
  PolderCG *cg      = (PolderCG *)ksp->data;
  PetscBool project = (PetscBool)(cg->projects && ++cg->since == POLDER_CG_REPROJECT);

  PetscFunctionBegin;
  if (project) cg->since = 0;
  PetscCall((*cg->steps->step)(ksp, project, p, w, r));
  cg->first = PETSC_FALSE;
  ++cg->begun;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates from the deflated residual r, or resumes, until the convergence test, or a breakdown, sets ksp->reason */
static PetscErrorCode PolderCGCycle_Private(KSP ksp, Vec r, Vec z, Vec p, Vec w)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  if (cg->resume) PetscCall(PolderCGResume_Private(ksp, r));
  else PetscCall(PolderCGStart_Private(ksp, r, p));
  if (!ksp->reason) PetscCall((*cg->steps->precondition)(ksp, r, z, w)); // z <- M^-1 r,  rho <- (r, z)
  while (!ksp->reason) {
    if (cg->begun >= ksp->max_it) {
      ksp->reason = KSP_DIVERGED_ITS;
      break;
    }
    PetscCall((*cg->steps->direction)(ksp, r, z, p)); // p <- z + beta p,  beta <- rho / rho_old
    PetscCall((*cg->steps->product)(ksp, p, w));      // w <- P A p,  or by recurrence P A z + beta w
    if (ksp->reason) break;
    PetscCall(PolderCGStep_Private(ksp, p, w, r)); // x <- x + alpha p,  r <- r - alpha w,  alpha <- rho / (p, w)
    PetscCall((*cg->steps->check)(ksp, r, z));
    if (ksp->reason) break;
    PetscCall((*cg->steps->precondition)(ksp, r, z, w)); // z <- M^-1 r,  rho <- (r, z)
    PetscCall((*cg->steps->catchup)(ksp));
  }
  PetscCall((*cg->steps->finish)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGMatResidual(KSP ksp, Mat A, Vec b, Vec x, Vec r)
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
static PetscErrorCode PolderCGResidual_Private(KSP ksp, Vec x, Vec r)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(PolderCGMatResidual(ksp, cg->A, cg->b, x, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same at the end of a cycle, and the norm */
static PetscErrorCode PolderCGTrueResidual_Private(KSP ksp, Vec x, Vec r, PetscReal *norm)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  if (cg->trueresidual) PetscCall((*cg->trueresidual)(ksp, x, ksp->normtype == KSP_NORM_UNPRECONDITIONED ? NULL : r, norm));
  else {
    PetscCall(PolderCGResidual_Private(ksp, x, r));
    PetscCall(PolderVecNorm(r, norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the solutions the smallest: it rounds least */
static PetscErrorCode PolderCGSmallest_Private(KSP ksp, Vec x)
{
  PolderCG    *cg = (PolderCG *)ksp->data;
  MatNullSpace attached;
  PetscBool    constant = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(cg->A, &attached));
  if (attached) PetscCall(MatNullSpaceGetVecs(attached, &constant, NULL, NULL));
  if (cg->space->nullspace && !constant) PetscCall(PolderVecRemoveMean(x));
  PetscCall(KSP_RemoveNullSpace(ksp, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  y <- x + sol (in the first cycle y is x, which is sol), corrected by Q; r <- b - A y. E is rounded, so that one correction may leave something along Z:
  as many as help to reach the norm wanted. In a correction cycle sol takes the correction, so that y is rounded once.
*/
static PetscErrorCode PolderCGCorrect_Private(KSP ksp, PetscReal wanted, Vec y, Vec r, PetscReal *norm)
{
  PolderCG       *cg    = (PolderCG *)ksp->data;
  const PetscBool first = (PetscBool)(cg->sol == cg->x);
  Vec             sol   = first ? y : cg->sol;
  PetscReal       last;

  PetscFunctionBegin;
  if (!first) PetscCall(VecWAXPY(y, 1.0, sol, cg->x));
  PetscCall(PolderCGTrueResidual_Private(ksp, y, r, norm));
  if (!cg->space->d) PetscFunctionReturn(PETSC_SUCCESS);
  do {
    last = *norm;
    PetscCall(PolderDeflationSpaceApplyQAdd(cg->space, r, sol)); // x <- x + Q (b - A x)
    PetscCall(PolderCGSmallest_Private(ksp, sol));
    if (!first) PetscCall(VecWAXPY(y, 1.0, sol, cg->x));
    PetscCall(PolderCGTrueResidual_Private(ksp, y, r, norm));
  } while (*norm > wanted && *norm < 0.5 * last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What rounding of the solution that is kept may leave of the residual. last: it is the one tried last, which a solver of a reduced system has expanded */
static PetscErrorCode PolderCGBound_Private(KSP ksp, PetscBool last)
{
  PolderCG *cg = (PolderCG *)ksp->data;
  PetscReal norm;
  Mat       A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (cg->trueresidual && !last) PetscCall((*cg->trueresidual)(ksp, cg->x, NULL, &norm));
  PetscCall(PolderMatRoundingBound(A, ksp->vec_sol, &cg->bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No cycle improves x any more: either at the floor of double precision, or broken down for the given reason */
static PetscErrorCode PolderCGStop_Private(KSP ksp, KSPConvergedReason reason)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  cg->floor   = (PetscBool)(cg->residual <= 10 * cg->bound && !(ksp->guess_zero && cg->bnorm > 0 && cg->residual >= cg->bnorm)); // zero would be better
  ksp->reason = cg->floor ? KSP_CONVERGED_HAPPY_BREAKDOWN : reason;
  PetscCall(PetscInfo(ksp, "Stopped at the true residual %g, rounding bound eps |A||x| %g, norm of b %g\n", (double)cg->residual, (double)cg->bound,
                      (double)cg->bnorm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the true residual must come down to: the tolerance, as far as it is known */
static PetscReal PolderCGWanted_Private(KSP ksp, PetscReal claimed)
{
  const PetscBool known = (PetscBool)(ksp->converged == KSPConvergedDefault && ksp->normtype == KSP_NORM_UNPRECONDITIONED);

  return known ? PetscMax(claimed, ksp->ttol) : claimed;
}

/* And the recursive one then, rounding errors of x being what they are: |true|^2 = |recursive|^2 + gap^2. 0: they are too large, or the test looks at
   something else */
static PetscReal PolderCGAfterwards_Private(KSP ksp, PetscReal claimed, PetscReal rnorm)
{
  const PetscReal wanted = PolderCGWanted_Private(ksp, claimed), left = PetscSqr(wanted) - (PetscSqr(rnorm) - PetscSqr(claimed));

  if (ksp->normtype != KSP_NORM_UNPRECONDITIONED || left < PetscSqr(0.3 * wanted)) return 0;
  return 0.8 * PetscSqrtReal(left);
}

/*
  The cycle has ended with ksp->reason. Its solution is kept if it has the smaller true residual, and the reason if the true residual confirms it.
  *again: the true residual t calls for another cycle, or where little is missing for more of the same one (cg->resume, once). A cycle that does not halve the
  residual is the last one.
*/
static PetscErrorCode PolderCGVerify_Private(KSP ksp, Vec t, Vec z, Vec y, PetscBool *again)
{
  PolderCG                *cg      = (PolderCG *)ksp->data;
  const PetscBool          first   = (PetscBool)(cg->sol == cg->x);
  const PetscReal          claimed = ksp->rnorm, before = cg->residual;
  const KSPConvergedReason reason  = ksp->reason;
  const PetscBool          broken  = (PetscBool)(reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_INDEFINITE_PC); // by rounding, perhaps
  const PetscBool          resumed = cg->resume;
  PetscReal                rnorm, norm;

  PetscFunctionBegin;
  *again     = PETSC_FALSE;
  cg->resume = PETSC_FALSE;
  PetscCall(PolderCGCorrect_Private(ksp, PetscMax(1.01 * claimed, PolderCGWanted_Private(ksp, claimed)), first ? cg->x : y, t, &rnorm));
  if (PetscIsInfOrNanReal(rnorm) && reason > 0) ksp->reason = KSP_DIVERGED_NANORINF; // the correction by Q has spoilt it
  if (PetscIsInfOrNanReal(rnorm) || reason == KSP_DIVERGED_NANORINF || reason == KSP_DIVERGED_PC_FAILED) PetscFunctionReturn(PETSC_SUCCESS);
  if (first || rnorm < before) {
    if (!first) PetscCall(VecCopy(y, cg->x));
    cg->residual = rnorm;
    if (ksp->normtype == KSP_NORM_NONE || reason == KSP_CONVERGED_ITS) PetscFunctionReturn(PETSC_SUCCESS);
    ksp->reason = KSP_CONVERGED_ITERATING;
    PetscCall(PolderCGNorm(ksp, t, z, rnorm, &norm));
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
    cg->norm = norm;
    if (reason > 0 || broken) PetscCall(PolderCGTest(ksp, norm));
    if (ksp->reason > 0) PetscFunctionReturn(PETSC_SUCCESS);
  }
  ksp->reason = reason;
  ksp->rnorm  = cg->norm;
  if (reason < 0 && !broken) PetscFunctionReturn(PETSC_SUCCESS);
  if (first && !resumed && reason > 0 && !cg->flexible) cg->target = PolderCGAfterwards_Private(ksp, claimed, rnorm);
  if (first && !resumed && cg->target > 0) {
    PetscCall(PetscInfo(ksp, "Recursive residual %g but true residual %g after %" PetscInt_FMT " iterations: going on to %g\n", (double)claimed, (double)rnorm,
                        ksp->its, (double)cg->target));
    ksp->reason = KSP_CONVERGED_ITERATING;
    cg->resume = *again = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderCGBound_Private(ksp, (PetscBool)(first || rnorm < before)));
  if (first || rnorm < 0.5 * before) {
    cg->target = 0.5 * claimed;
    if (ksp->normtype == KSP_NORM_UNPRECONDITIONED) cg->target = PetscMax(cg->target, 0.1 * cg->bound);
    PetscCall(PetscInfo(ksp, "Recursive residual %g but true residual %g after %" PetscInt_FMT " iterations: going on from the true one\n", (double)claimed,
                        (double)cg->norm, ksp->its));
    ksp->reason = KSP_CONVERGED_ITERATING;
    *again      = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderCGStop_Private(ksp, reason > 0 ? KSP_DIVERGED_BREAKDOWN : reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- b - A x */
static PetscErrorCode PolderCGFirstResidual_Private(KSP ksp, Vec r)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  if (ksp->guess_zero) PetscCall(VecCopy(cg->b, r));
  else PetscCall(PolderCGResidual_Private(ksp, cg->x, r));
  PetscCall(PolderVecFlag(r, cg->failed)); // the first norm tells all processes
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the test relative to the residual of the guess? For b = 0, and where the options of the default test say so */
static PetscBool PolderCGRelativeToGuess_Private(KSP ksp)
{
  const KSPConvergedDefaultCtx *test = ksp->converged == KSPConvergedDefault ? (const KSPConvergedDefaultCtx *)ksp->cnvP : NULL;

  return (PetscBool)(((PolderCG *)ksp->data)->bnorm == 0 || (test && (test->initialrtol || test->mininitialrtol)));
}

/*
  The first test sees the residual of the user's guess. P may leave rounding errors of it, when the guess lies in Z, or make it larger, and so may the
  elimination of half of the nodes
*/
static PetscErrorCode PolderCGTestGuess_Private(KSP ksp, Vec r, Vec z)
{
  PolderCG *cg = (PolderCG *)ksp->data;
  PetscReal rnorm, norm;

  PetscFunctionBegin;
  if (cg->guessnorm) {
    PetscCall((*cg->guessnorm)(ksp, &norm));
    KSPCheckNorm(ksp, norm);
    PetscCall(PolderCGTest(ksp, norm));
    if (ksp->reason > 0) ksp->reason = KSP_CONVERGED_ITERATING; // the elimination has changed the guess
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderCGFirstResidual_Private(ksp, r));
  PetscCall(PolderVecNorm(r, &rnorm));
  KSPCheckNorm(ksp, rnorm);
  PetscCall(PolderCGNorm(ksp, r, z, rnorm, &norm));
  if (!ksp->reason) PetscCall(PolderCGTest(ksp, norm));
  cg->residual = rnorm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGRun_Private(KSP ksp, Vec r, Vec z, Vec p, Vec w)
{
  PolderCG *cg = (PolderCG *)ksp->data;
  PetscReal rnorm, norm;
  PetscBool again = PETSC_TRUE;
  Vec       t;

  PetscFunctionBegin;
  PetscCall(PolderCGFirstResidual_Private(ksp, r));
  PetscCall(PolderCGProject(ksp, r)); // r <- P (b - A x)
  PetscCall(PolderVecNormBegin(r));
  PetscCall(PolderVecNormKept(ksp->vec_rhs, &cg->bnorm)); // while a device makes r
  PetscCall(PolderVecNormEnd(r, &rnorm));
  if (PolderCGRelativeToGuess_Private(ksp)) {
    PetscCall(PolderCGTestGuess_Private(ksp, r, z));
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PolderCGProject(ksp, r));
    PetscCall(PolderVecNorm(r, &rnorm));
  }
  KSPCheckNorm(ksp, rnorm);
  PetscCall(PolderCGNorm(ksp, r, z, rnorm, &norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, 0, norm));
  PetscCall(PolderCGTest(ksp, norm));
  while (1) {
    if (!ksp->reason) PetscCall(PolderCGCycle_Private(ksp, r, z, p, w));
    t = cg->once ? cg->v : w; // with one reduction w is needed to resume
    PetscCall(PolderCGVerify_Private(ksp, t, z, p, &again));
    if (!again) break;
    if (cg->resume) continue;
    ++cg->restarts;
    if (!cg->correction) PetscCall(PolderVecDuplicate(cg->x, &cg->correction));
    cg->sol = cg->correction; // the next cycle solves A correction = r, so that x is rounded once and not in every step
    PetscCall(VecZeroEntries(cg->sol));
    if (cg->trueresidual) PetscCall((*cg->trueresidual)(ksp, NULL, r, NULL));
    else PetscCall(VecCopy(t, r));
    PetscCall(PolderCGProject(ksp, r));
    if (ksp->normtype != KSP_NORM_UNPRECONDITIONED) PetscCall(PolderCGNorm(ksp, r, z, 0, &norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGSolve(KSP ksp)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  cg->floor = cg->tested = cg->resume = cg->once = PETSC_FALSE;
  cg->failed                                     = (PetscBool)(ksp->reason == KSP_DIVERGED_PC_FAILED);
  cg->restarts = cg->nritz = ksp->its = 0;
  cg->residual = cg->bound = -1;
  cg->target               = 0;
  ksp->reason              = KSP_CONVERGED_ITERATING;
  cg->sol                  = cg->x;
  cg->steps                = &PolderCGStepsOnHost; // until a cycle begins
  PetscCall(PolderPCGetFused(cg->pc, &cg->fused));
  PetscCall(PetscObjectQueryFunction((PetscObject)cg->A, POLDER_MAT_MULT_DOT, &cg->multdot));
  PetscCall(PolderCGRun_Private(ksp, ksp->work[0], ksp->work[1], ksp->work[2], ksp->work[3]));
  cg->sol = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v <- the corrected solution, without touching the vectors of the running cycle */
static PetscErrorCode PolderCGBuild_Private(KSP ksp, Vec v, Vec r)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  if (cg->sol == cg->x) PetscCall(VecCopy(cg->sol, v));
  else PetscCall(VecWAXPY(v, 1.0, cg->sol, cg->x));
  PetscCall(PolderCGResidual_Private(ksp, v, r));
  PetscCall(PolderDeflationSpaceApplyQAdd(cg->space, r, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* During a solve the vector of the cycle is not yet the solution */
PetscErrorCode PolderCGBuildSolution(KSP ksp, Vec v, Vec *V)
{
  PolderCG *cg = (PolderCG *)ksp->data;
  Vec       r;

  PetscFunctionBegin;
  if (cg->sol) PetscCall((*cg->steps->finish)(ksp));
  if (!cg->sol || (!cg->space->d && cg->sol == cg->x)) {
    PetscCall(KSPBuildSolutionDefault(ksp, v, V));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!v) {
    if (!cg->built) PetscCall(VecDuplicate(ksp->vec_sol, &cg->built));
    v = cg->built;
  }
  PetscCall(VecDuplicate(v, &r));
  PetscCall(PolderCGBuild_Private(ksp, v, r));
  PetscCall(VecDestroy(&r));
  if (V) *V = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGReset(KSP ksp)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(PolderDeflationSpaceReset(cg->space));
  PetscCall(PolderDeflationSpaceSetDM(cg->space, NULL));
  PetscCall(VecDestroy(&cg->correction));
  PetscCall(VecDestroy(&cg->built));
  PetscCall(VecDestroy(&cg->v));
  PetscCall(PolderCGDeviceDestroy(&cg->device));
  PetscCall(PetscFree2(cg->d, cg->e));
  cg->nritz = cg->maxritz = 0;
  cg->sol                 = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGGet_Private(KSP ksp, PolderCG **cg)
{
  PetscFunctionBegin;
  *cg = (PolderCG *)ksp->data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGCreate(KSP ksp, PolderCG *cg)
{
  PetscFunctionBegin;
  ksp->data      = cg;
  cg->residual   = -1;
  cg->reductions = 2;
  PetscCall(PolderDeflationSpaceCreate(PetscObjectComm((PetscObject)ksp), &cg->space));
  PetscCall(KSPConvergedReasonViewSet(ksp, PolderCGConvergedReasonView, NULL, NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, POLDER_KSP_GET_CG, PolderCGGet_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGDestroy(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(PolderCGReset(ksp));
  PetscCall(PolderDeflationSpaceDestroy(&((PolderCG *)ksp->data)->space));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, POLDER_KSP_GET_CG, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
