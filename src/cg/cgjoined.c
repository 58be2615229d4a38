/*
  The steps of conjugate gradients on the host, joined with a preconditioner M^-1 = K^T D^-1 K that offers its halves: r is updated in the pass that makes
  s = D^-1 K r, x and p in the pass that makes M^-1 r = K^T s, which is not stored: the vector z of the cycle holds s. Or with a preconditioner that works in
  single precision and keeps z in parts: the pass that updates r rounds it, x is updated with p, and the vector z is not used.
*/
#include "cg.h"

/* steps <- the table of one of these, if the preconditioner offers it */
static PetscErrorCode PolderCGJoins_Private(KSP ksp, Vec r, const PolderCGSteps **steps)
{
  PolderCG      *cg = (PolderCG *)ksp->data;
  PolderCGKernel kernel;
  PetscBool      joins = PETSC_FALSE, host;

  PetscFunctionBegin;
  if (cg->flexible || ksp->transpose_solve) PetscFunctionReturn(PETSC_SUCCESS);
  if (ksp->normtype != KSP_NORM_UNPRECONDITIONED && ksp->normtype != KSP_NORM_NONE) PetscFunctionReturn(PETSC_SUCCESS); // the others look at z
  PetscCall(PolderCGGetKernel(ksp, &kernel));
  if (kernel == CG_ATTACHED) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->fused->joins) PetscCall((*cg->fused->joins)(cg->pc, r, &joins));
  if (joins) *steps = &PolderCGJoinedOnHost;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)r, &host, VECSEQ, VECMPI, ""));
  if (joins || !host || !cg->fused->applyparts) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*cg->fused->applyparts)(cg->pc, r, PETSC_FALSE, NULL, &joins));
  if (joins) *steps = &PolderCGPartedOnHost;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGChooseJoined(KSP ksp, Vec r)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  cg->steps = &PolderCGStepsOnHost;
  PetscCall(PolderCGJoins_Private(ksp, r, &cg->steps));
  cg->late    = 0;
  cg->pmean   = 0;
  cg->brought = PETSC_FALSE;
  cg->rounded = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- r - alpha w (w = NULL: r stays), s <- D^-1 K r,  ||r|| and rho <- (s, D s) = (r, M^-1 r) */
static PetscErrorCode PolderCGForward_Private(KSP ksp, PetscScalar alpha, Vec w, Vec r, Vec s)
{
  PolderCG   *cg = (PolderCG *)ksp->data;
  PetscScalar sum[2];

  PetscFunctionBegin;
  PetscCall((*cg->fused->forwardupdate)(cg->pc, alpha, w, r, s, sum));
  PetscCallAllreduce(MPI_IN_PLACE, sum, 2, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)r));
  cg->rnorm   = PetscSqrtReal(PetscRealPart(sum[0]));
  cg->rhonext = sum[1];
  cg->brought = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rho, unless the step has brought it; beta <- rho / rho_old */
static PetscErrorCode PolderCGPrecondition_Joined(KSP ksp, Vec r, Vec z, Vec w)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  (void)w;
  if (!cg->brought) PetscCall(PolderCGForward_Private(ksp, 0, NULL, r, z));
  cg->brought = PETSC_FALSE;
  cg->rho     = cg->rhonext;
  PetscCall(PolderCGCheckRho(ksp));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  cg->beta = cg->first ? 0 : cg->rho / cg->rhoold;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- x + alpha p of the last step, p <- K^T s + beta p. Where the constant is in the kernel of A, p should lose the mean of K^T s: it loses its own, one step
   later, when it is known */
static PetscErrorCode PolderCGDirection_Joined(KSP ksp, Vec r, Vec z, Vec p)
{
  PolderCG      *cg = (PolderCG *)ksp->data;
  PolderCGKernel kernel;
  PetscScalar    sum;
  PetscInt       N;

  PetscFunctionBegin;
  (void)r;
  if (cg->first) PetscCall(VecZeroEntries(p));
  PetscCall((*cg->fused->backwarddirection)(cg->pc, cg->late, cg->beta, cg->pmean, z, p, cg->sol, &sum));
  cg->late = 0;
  PetscCall(PolderCGGetKernel(ksp, &kernel));
  if (kernel == CG_REGULAR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallAllreduce(MPI_IN_PLACE, &sum, 1, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)p));
  PetscCall(VecGetSize(p, &N));
  cg->pmean = sum / N;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha <- rho / (p, w), r <- r - alpha w, ||r||, and rho of the next step. A projection comes between r and s */
static PetscErrorCode PolderCGStep_Joined(KSP ksp, PetscBool project, Vec p, Vec w, Vec r)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  PolderCGSetAlpha(cg);
  if (project) PetscCall(PolderCGUpdate(cg->alpha, p, w, cg->sol, r, &cg->rnorm));
  else {
    PetscCall(PolderCGForward_Private(ksp, cg->alpha, w, r, ksp->work[1]));
    cg->late = cg->alpha;
  }
  if (ksp->calc_sings) PetscCall(PolderCGAddRitz(ksp, cg->first, PetscRealPart(cg->alpha), PetscRealPart(cg->beta), PetscRealPart(cg->alphaold)));
  if (project) PetscCall(PolderCGProject(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the last step adds to x */
static PetscErrorCode PolderCGFinish_Joined(KSP ksp)
{
  PolderCG         *cg    = (PolderCG *)ksp->data;
  const PetscScalar alpha = cg->late;

  PetscFunctionBegin;
  cg->late = 0;
  if (alpha != 0) PetscCall(VecAXPY(cg->sol, alpha, ksp->work[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of this step. A test or a monitor that may look at the solution gets the one that belongs to the norm */
static PetscErrorCode PolderCGCheck_Joined(KSP ksp, Vec r, Vec z)
{
  const PetscBool plain = (PetscBool)(ksp->converged == KSPConvergedDefault || ksp->converged == KSPConvergedSkip);

  PetscFunctionBegin;
  if (ksp->numbermonitors || !plain) PetscCall(PolderCGFinish_Joined(ksp));
  PetscCall((*PolderCGStepsOnHost.check)(ksp, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scalars and p are as the cycle left them; z has been used since */
static PetscErrorCode PolderCGResume_Joined(KSP ksp, Vec r)
{
  PetscFunctionBegin;
  (void)r;
  ((PolderCG *)ksp->data)->brought = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderCGSteps PolderCGJoinedOnHost = {
  .resume       = PolderCGResume_Joined,
  .precondition = PolderCGPrecondition_Joined,
  .direction    = PolderCGDirection_Joined,
  .product      = PolderCGProduct_OnHost,
  .step         = PolderCGStep_Joined,
  .check        = PolderCGCheck_Joined,
  .catchup      = PolderCGNothing,
  .finish       = PolderCGFinish_Joined,
};

/* z <- M^-1 r in its parts; rho <- (r, z), without the mean of z where the constant is in the kernel of A, and beta <- rho / rho_old */
static PetscErrorCode PolderCGPrecondition_Parted(KSP ksp, Vec r, Vec z, Vec w)
{
  PolderCG          *cg      = (PolderCG *)ksp->data;
  const PetscBool    rounded = cg->rounded;
  const PetscScalar *ra;
  PetscScalar        sum[3];
  PolderCGKernel     kernel;
  PetscInt           n, N;
  PetscBool          done;

  PetscFunctionBegin;
  cg->rounded    = PETSC_FALSE;
  cg->parts.base = NULL;
  PetscCall((*cg->fused->applyparts)(cg->pc, r, rounded, &cg->parts, &done));
  if (!done) { // the preconditioner has failed
    cg->parts.base = NULL;
    PetscCall((*PolderCGStepsOnHost.precondition)(ksp, r, z, w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderCGGetKernel(ksp, &kernel));
  PetscCall(PolderLogBegin(POLDER_CGDot, r));
  PetscCall(VecGetLocalSize(r, &n));
  PetscCall(VecGetSize(r, &N));
  PetscCall(VecGetArrayRead(r, &ra));
  PolderCGPartsDot_Host(n, ra, &cg->parts, sum);
  PetscCall(VecRestoreArrayRead(r, &ra));
  PetscCallAllreduce(MPI_IN_PLACE, sum, 3, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)r));
  PetscCall(PetscLogFlops(5.0 * n));
  PetscCall(PolderLogEnd(POLDER_CGDot, r));
  cg->pmean = kernel == CG_CONSTANT ? sum[1] / N : 0;
  cg->rho   = sum[0] - cg->pmean * sum[2];
  PetscCall(PolderCGCheckRho(ksp));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  cg->beta = cg->first ? 0 : cg->rho / cg->rhoold;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- x + alpha p of the last step, p <- z + beta p */
static PetscErrorCode PolderCGDirection_Parted(KSP ksp, Vec r, Vec z, Vec p)
{
  PolderCG    *cg = (PolderCG *)ksp->data;
  PetscScalar *pa, *xa;
  PetscInt     n;

  PetscFunctionBegin;
  if (!cg->parts.base) {
    PetscCall(PolderCGFinish_Joined(ksp));
    PetscCall((*PolderCGStepsOnHost.direction)(ksp, r, z, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderLogBegin(POLDER_CGUpdate, p));
  PetscCall(VecGetLocalSize(p, &n));
  PetscCall(VecGetArray(p, &pa));
  PetscCall(VecGetArray(cg->sol, &xa));
  PolderCGPartsDirection_Host(n, cg->first, cg->late, cg->beta, cg->pmean, &cg->parts, pa, xa);
  PetscCall(VecRestoreArray(cg->sol, &xa));
  PetscCall(VecRestoreArray(p, &pa));
  PetscCall(PetscLogFlops((cg->first ? 2.0 : 6.0) * n));
  PetscCall(PolderLogEnd(POLDER_CGUpdate, p));
  cg->late = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha <- rho / (p, w), r <- r - alpha w, ||r||, and r in single precision for the preconditioner, unless a projection follows */
static PetscErrorCode PolderCGStep_Parted(KSP ksp, PetscBool project, Vec p, Vec w, Vec r)
{
  PolderCG          *cg      = (PolderCG *)ksp->data;
  PolderCGRounded    rounded = {NULL, 1};
  const PetscScalar *wa;
  PetscScalar       *ra;
  PetscInt           n;
  PetscReal          norm;

  PetscFunctionBegin;
  (void)p;
  PolderCGSetAlpha(cg);
  cg->late = cg->alpha;
  if (!project) PetscCall((*cg->fused->residual)(cg->pc, PETSC_FALSE, &rounded));
  cg->rounded = (PetscBool)(rounded.to != NULL);
  PetscCall(PolderLogBegin(POLDER_CGUpdate, r));
  PetscCall(VecGetLocalSize(r, &n));
  PetscCall(VecGetArrayRead(w, &wa));
  PetscCall(VecGetArray(r, &ra));
  norm = PolderCGResidual_Host(n, cg->alpha, wa, ra, &rounded);
  PetscCall(VecRestoreArray(r, &ra));
  PetscCall(VecRestoreArrayRead(w, &wa));
  PetscCallAllreduce(MPI_IN_PLACE, &norm, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)r));
  cg->rnorm = PetscSqrtReal(norm);
  PetscCall(PetscLogFlops((cg->rounded ? 5.0 : 4.0) * n));
  PetscCall(PolderLogEnd(POLDER_CGUpdate, r));
  if (ksp->calc_sings) PetscCall(PolderCGAddRitz(ksp, cg->first, PetscRealPart(cg->alpha), PetscRealPart(cg->beta), PetscRealPart(cg->alphaold)));
  if (project) PetscCall(PolderCGProject(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGResume_Parted(KSP ksp, Vec r)
{
  PetscFunctionBegin;
  (void)r;
  ((PolderCG *)ksp->data)->rounded = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderCGSteps PolderCGPartedOnHost = {
  .resume       = PolderCGResume_Parted,
  .precondition = PolderCGPrecondition_Parted,
  .direction    = PolderCGDirection_Parted,
  .product      = PolderCGProduct_OnHost,
  .step         = PolderCGStep_Parted,
  .check        = PolderCGCheck_Joined,
  .catchup      = PolderCGNothing,
  .finish       = PolderCGFinish_Joined,
};
