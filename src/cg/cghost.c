/* The steps of conjugate gradients on the host, and with vectors of other packages. */
#include "cg.h"
#include "mat/dia.h"

PetscErrorCode PolderCGUpdate(PetscScalar alpha, Vec p, Vec w, Vec x, Vec r, PetscReal *norm)
{
  const PetscScalar *pa, *wa;
  PetscScalar       *xa, *ra;
  PetscInt           n;
  PetscBool          host;
  PetscReal          here;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)r, &host, VECSEQ, VECMPI, ""));
  if (!host) {
    PetscCall(VecAXPY(x, alpha, p));
    PetscCall(VecAXPY(r, -alpha, w));
    PetscCall(VecNorm(r, NORM_2, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderLogBegin(POLDER_CGUpdate, r));
  PetscCall(VecGetLocalSize(r, &n));
  PetscCall(VecGetArrayRead(p, &pa));
  PetscCall(VecGetArrayRead(w, &wa));
  PetscCall(VecGetArray(x, &xa));
  PetscCall(VecGetArray(r, &ra));
  here = PolderCGUpdate_Host(n, alpha, pa, wa, xa, ra);
  PetscCall(VecRestoreArray(r, &ra));
  PetscCall(VecRestoreArray(x, &xa));
  PetscCall(VecRestoreArrayRead(w, &wa));
  PetscCall(VecRestoreArrayRead(p, &pa));
  PetscCallAllreduce(&here, norm, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)r));
  *norm = PetscSqrtReal(*norm);
  PetscCall(PetscLogFlops(6.0 * n));
  PetscCall(PolderLogEnd(POLDER_CGUpdate, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGCheckRho(KSP ksp)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  KSPCheckDot(ksp, cg->rho);
  if (PetscRealPart(cg->rho) <= 0) {
    PetscCall(PetscInfo(ksp, "(r, M^-1 r) = %g: the preconditioner is not positive definite\n", (double)PetscRealPart(cg->rho)));
    ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGCheckCurvature(KSP ksp)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  KSPCheckDot(ksp, cg->pw);
  if (PetscRealPart(cg->pw) <= 0) {
    PetscCall(PetscInfo(ksp, "(p, PA p) = %g: the operator is not positive definite\n", (double)PetscRealPart(cg->pw)));
    ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PolderCGSetAlpha(PolderCG *cg)
{
  cg->alphaold = cg->alpha;
  cg->alpha    = cg->rho / cg->pw;
  cg->rhoold   = cg->rho;
}

/* z <- M^-1 r, rho <- (r, z), unless the norm has already brought them; beta <- rho / rho_old */
static PetscErrorCode PolderCGPrecondition_OnHost(KSP ksp, Vec r, Vec z, Vec w)
{
  PolderCG   *cg = (PolderCG *)ksp->data;
  PetscScalar zw;

  PetscFunctionBegin;
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED || ksp->normtype == KSP_NORM_NONE) {
    PetscCall(PolderCGPCApply(ksp, r, z));
    PetscCall(PolderCGDot(r, z, &cg->rho));
  }
  PetscCall(PolderCGCheckRho(ksp));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->first) cg->beta = 0;
  else if (cg->flexible) { // r - r_old = -alpha w
    PetscCall(PolderCGDot(z, w, &zw));
    cg->beta = -cg->alpha * zw / cg->rhoold;
  } else cg->beta = cg->rho / cg->rhoold;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p <- z + beta p */
static PetscErrorCode PolderCGDirection_OnHost(KSP ksp, Vec r, Vec z, Vec p)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  (void)r;
  if (cg->first) PetscCall(VecCopy(z, p));
  else PetscCall(VecAYPX(p, cg->beta, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w <- P A p, (p, w), for vectors of the host, where the matrix brings A p, (p, A p) and Z^T A p in one pass, or P is the identity: see ApplyPDot() */
static PetscErrorCode PolderCGMultDot_Private(KSP ksp, Vec p, Vec w, PetscScalar *dot, PetscBool *done)
{
  PolderCG       *cg = (PolderCG *)ksp->data;
  PolderLabelRuns runs;
  PetscScalar    *sum;
  PetscBool       device;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PolderVecOnDevice(p, &device));
  if (device || ksp->transpose_solve || (cg->space->d && cg->multdot)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationSpaceGetSums(cg->space, &runs, &sum));
  if (cg->space->d && !sum) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->multdot) PetscCall((*cg->multdot)(cg->A, p, w, dot, done));
  else PetscCall(PolderMatMultDotHost(cg->A, p, w, sum ? &runs : NULL, sum, dot, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationSpaceApplyPDot(cg->space, w, PETSC_TRUE, dot));
  PetscCallAllreduce(MPI_IN_PLACE, dot, 1, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)cg->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w <- P A p, (p, w) */
PetscErrorCode PolderCGProduct_OnHost(KSP ksp, Vec p, Vec w)
{
  PolderCG *cg = (PolderCG *)ksp->data;
  PetscBool dotted;

  PetscFunctionBegin;
  PetscCall(PolderCGMultDot_Private(ksp, p, w, &cg->pw, &dotted));
  if (!dotted) {
    PetscCall(KSP_MatMult(ksp, cg->A, p, w));
    PetscCall(PolderDeflationSpaceApplyP(cg->space, w));
    PetscCall(PolderCGDot(p, w, &cg->pw));
  }
  PetscCall(PolderCGCheckCurvature(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha <- rho / (p, w), x <- x + alpha p, r <- r - alpha w, ||r|| */
static PetscErrorCode PolderCGStep_OnHost(KSP ksp, PetscBool project, Vec p, Vec w, Vec r)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  PolderCGSetAlpha(cg);
  PetscCall(PolderCGUpdate(cg->alpha, p, w, cg->sol, r, &cg->rnorm));
  if (ksp->calc_sings) PetscCall(PolderCGAddRitz(ksp, cg->first, PetscRealPart(cg->alpha), PetscRealPart(cg->beta), PetscRealPart(cg->alphaold)));
  if (project) PetscCall(PolderCGProject(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of this step */
static PetscErrorCode PolderCGCheck_OnHost(KSP ksp, Vec r, Vec z)
{
  PolderCG *cg = (PolderCG *)ksp->data;
  PetscReal norm;

  PetscFunctionBegin;
  ++ksp->its;
  PetscCall(PolderCGNorm(ksp, r, z, cg->rnorm, &norm));
  if (!ksp->reason) PetscCall(PolderCGReport(ksp, cg->rnorm, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rho, beta and the vectors are as the cycle left them */
static PetscErrorCode PolderCGResume_OnHost(KSP ksp, Vec r)
{
  PetscFunctionBegin;
  (void)ksp, (void)r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderCGSteps PolderCGStepsOnHost = {
  .resume       = PolderCGResume_OnHost,
  .precondition = PolderCGPrecondition_OnHost,
  .direction    = PolderCGDirection_OnHost,
  .product      = PolderCGProduct_OnHost,
  .step         = PolderCGStep_OnHost,
  .check        = PolderCGCheck_OnHost,
  .catchup      = PolderCGNothing, // no norm is outstanding, and nothing is missing in the solution
  .finish       = PolderCGNothing,
};
