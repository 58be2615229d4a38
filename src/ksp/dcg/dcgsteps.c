/* The steps of dcg. With device vectors the scalars stay on the device (dcgdevice.c). */
#include "dcgimpl.h"
#include "kernels/kernels.h"

/* After so many steps r is projected again: the iteration cannot reduce what rounding left of r along Z */
#define POLDER_DCG_REPROJECT 8

PetscErrorCode KSPDCGRemoveMean_Private(Vec x)
{
  PetscScalar sum;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(VecSum(x, &sum));
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecShift(x, -sum / n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- x + alpha p, r <- r - alpha w, norm <- ||r|| in one pass over host vectors */
static PetscErrorCode KSPDCGUpdate_Private(PetscScalar alpha, Vec p, Vec w, Vec x, Vec r, PetscReal *norm)
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

/* (x, y); the loop of a reference BLAS, which PETSc may have been built with, takes twice as long */
static PetscErrorCode KSPDCGDot_Private(Vec x, Vec y, PetscScalar *dot)
{
  const PetscScalar *xa, *ya;
  PetscInt           n;
  PetscBool          host;
  PetscReal          here;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &host, VECSEQ, VECMPI, ""));
  if (!host) {
    PetscCall(VecDot(x, y, dot));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderLogBegin(POLDER_CGDot, x));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayRead(y, &ya));
  here = PolderDot_Host(n, xa, ya);
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCallAllreduce(&here, dot, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)x));
  PetscCall(PetscLogFlops(PetscMax(2.0 * n - 1, 0)));
  PetscCall(PolderLogEnd(POLDER_CGDot, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGPCApply_Private(KSP ksp, Vec r, Vec z)
{
  KSP_DCG     *dcg = (KSP_DCG *)ksp->data;
  MatNullSpace attached;

  PetscFunctionBegin;
  if (ksp->transpose_solve) {
    PetscCall(PCApplyTranspose(dcg->pc, r, z));
    PetscCall(MatGetTransposeNullSpace(dcg->A, &attached));
  } else {
    PetscCall(PCApply(dcg->pc, r, z));
    PetscCall(MatGetNullSpace(dcg->A, &attached));
  }
  if (attached) PetscCall(MatNullSpaceRemove(attached, z));
  else if (dcg->space->nullspace) PetscCall(KSPDCGRemoveMean_Private(z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- P r, after what lies in the kernel of A: P would put it all into the column that is left out, and nothing reduces it */
PetscErrorCode KSPDCGProject_Private(KSP ksp, Vec r)
{
  KSP_DCG     *dcg = (KSP_DCG *)ksp->data;
  MatNullSpace attached;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(dcg->A, &attached));
  if (dcg->space->nullspace) PetscCall(KSPDCGRemoveMean_Private(r));
  else if (attached) PetscCall(MatNullSpaceRemove(attached, r));
  PetscCall(PolderDeflationSpaceApplyP(dcg->space, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGNorm_Private(KSP ksp, Vec r, Vec z, PetscReal rnorm, PetscReal *norm)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  *norm = 0;
  switch (ksp->normtype) {
  case KSP_NORM_UNPRECONDITIONED:
    *norm = rnorm;
    break;
  case KSP_NORM_PRECONDITIONED:
    PetscCall(KSPDCGPCApply_Private(ksp, r, z));
    PetscCall(VecDotNorm2(r, z, &dcg->rho, norm));
    *norm = PetscSqrtReal(*norm);
    break;
  case KSP_NORM_NATURAL:
    PetscCall(KSPDCGPCApply_Private(ksp, r, z));
    PetscCall(KSPDCGDot_Private(r, z, &dcg->rho));
    *norm = PetscSqrtReal(PetscAbsScalar(dcg->rho));
    break;
  case KSP_NORM_NONE:
    break;
  default:
    SETERRQ(PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP, "dcg does not work with the norm %s", KSPNormTypes[ksp->normtype]);
  }
  KSPCheckNorm(ksp, *norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGTest_Private(KSP ksp, PetscReal norm)
{
  KSP_DCG        *dcg        = (KSP_DCG *)ksp->data;
  const PetscBool guess_zero = ksp->guess_zero;

  PetscFunctionBegin;
  ksp->rnorm = norm;
  /* the default test takes the first residual for b when the guess is zero, but the first residual here is P b */
  if (!dcg->tested) ksp->guess_zero = PETSC_FALSE;
  PetscCall((*ksp->converged)(ksp, dcg->tested ? PetscMax(ksp->its, 1) : 0, norm, &ksp->reason, ksp->cnvP));
  ksp->guess_zero = guess_zero;
  dcg->tested     = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGReport_Private(KSP ksp, PetscReal rnorm, PetscReal norm)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscCall(KSPDCGTest_Private(ksp, norm));
  if (ksp->normtype == KSP_NORM_NONE && rnorm <= ksp->abstol) ksp->reason = KSP_CONVERGED_ATOL; // nothing left to divide by
  if (dcg->target > 0 && ksp->reason >= 0) ksp->reason = norm <= dcg->target ? KSP_CONVERGED_HAPPY_BREAKDOWN : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cycle begins from the deflated residual r */
PetscErrorCode KSPDCGStart_Private(KSP ksp, Vec r, Vec p)
{
  KSP_DCG  *dcg = (KSP_DCG *)ksp->data;
  PetscBool device;

  PetscFunctionBegin;
  dcg->first = PETSC_TRUE;
  dcg->since = 0;
  dcg->steps = ksp->its;
  if (ksp->normtype == KSP_NORM_NONE) {
    PetscCall(PolderVecNorm(r, &dcg->rnorm));
    if (dcg->rnorm <= ksp->abstol) ksp->reason = KSP_CONVERGED_ATOL;
  }
  PetscCall(KSPDCGDeviceStart_Private(ksp, r, p, &device));
  if (!device) PetscCall(KSPDCGDeviceDestroy_Private(&dcg->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGResume_Private(KSP ksp, Vec r)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  dcg->steps = ksp->its; // of those that the device did not make any more
  if (dcg->device) PetscCall(KSPDCGDeviceResume_Private(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- M^-1 r, rho <- (r, z), unless the norm has already brought them; beta <- rho / rho_old */
PetscErrorCode KSPDCGPrecondition_Private(KSP ksp, Vec r, Vec z, Vec w)
{
  KSP_DCG    *dcg = (KSP_DCG *)ksp->data;
  PetscScalar zw;

  PetscFunctionBegin;
  if (dcg->device) {
    PetscCall(KSPDCGDevicePrecondition_Private(ksp, r, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ksp->normtype == KSP_NORM_UNPRECONDITIONED || ksp->normtype == KSP_NORM_NONE) {
    PetscCall(KSPDCGPCApply_Private(ksp, r, z));
    PetscCall(KSPDCGDot_Private(r, z, &dcg->rho));
  }
  KSPCheckDot(ksp, dcg->rho);
  if (PetscRealPart(dcg->rho) <= 0) {
    PetscCall(PetscInfo(ksp, "(r, M^-1 r) = %g: the preconditioner is not positive definite\n", (double)PetscRealPart(dcg->rho)));
    ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (dcg->first) dcg->beta = 0;
  else if (dcg->flexible) { // r - r_old = -alpha w
    PetscCall(KSPDCGDot_Private(z, w, &zw));
    dcg->beta = -dcg->alpha * zw / dcg->rhoold;
  } else dcg->beta = dcg->rho / dcg->rhoold;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p <- z + beta p */
PetscErrorCode KSPDCGDirection_Private(KSP ksp, Vec r, Vec z, Vec p)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  if (dcg->device) PetscCall(KSPDCGDeviceDirection_Private(ksp, r, z, p));
  else if (dcg->first) PetscCall(VecCopy(z, p));
  else PetscCall(VecAYPX(p, dcg->beta, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w <- A p, (p, w) in one pass, for vectors of the host, where the matrix offers it and P is the identity */
static PetscErrorCode KSPDCGMultDot_Private(KSP ksp, Vec p, Vec w, PetscScalar *dot, PetscBool *done)
{
  KSP_DCG *dcg = (KSP_DCG *)ksp->data;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (!dcg->multdot || dcg->space->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderVecOnDevice(p, done));
  if (*done) *done = PETSC_FALSE;
  else PetscCall((*dcg->multdot)(dcg->A, p, w, dot, done));
  if (*done) PetscCallAllreduce(MPI_IN_PLACE, dot, 1, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w <- P A p, (p, w) */
PetscErrorCode KSPDCGProduct_Private(KSP ksp, Vec p, Vec w)
{
  KSP_DCG  *dcg = (KSP_DCG *)ksp->data;
  PetscBool dotted;

  PetscFunctionBegin;
  if (dcg->device) {
    PetscCall(KSPDCGDeviceProduct_Private(ksp, p, w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPDCGMultDot_Private(ksp, p, w, &dcg->pw, &dotted));
  if (!dotted) {
    PetscCall(KSP_MatMult(ksp, dcg->A, p, w));
    PetscCall(PolderDeflationSpaceApplyP(dcg->space, w));
    PetscCall(KSPDCGDot_Private(p, w, &dcg->pw));
  }
  KSPCheckDot(ksp, dcg->pw);
  if (PetscRealPart(dcg->pw) <= 0) {
    PetscCall(PetscInfo(ksp, "(p, PA p) = %g: the operator is not positive definite\n", (double)PetscRealPart(dcg->pw)));
    ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha <- rho / (p, w), x <- x + alpha p, r <- r - alpha w, ||r||; on the device x follows with the next direction */
PetscErrorCode KSPDCGStep_Private(KSP ksp, Vec p, Vec w, Vec r)
{
  KSP_DCG  *dcg     = (KSP_DCG *)ksp->data;
  PetscBool project = (PetscBool)(++dcg->since == POLDER_DCG_REPROJECT);

  PetscFunctionBegin;
  if (project) dcg->since = 0;
  if (dcg->device) PetscCall(KSPDCGDeviceStep_Private(ksp, project, w, r));
  else {
    dcg->alphaold = dcg->alpha;
    dcg->alpha    = dcg->rho / dcg->pw;
    dcg->rhoold   = dcg->rho;
    PetscCall(KSPDCGUpdate_Private(dcg->alpha, p, w, dcg->sol, r, &dcg->rnorm));
    if (ksp->calc_sings) PetscCall(KSPDCGAddRitz_Private(ksp, dcg->first, PetscRealPart(dcg->alpha), PetscRealPart(dcg->beta), PetscRealPart(dcg->alphaold)));
    if (project) PetscCall(KSPDCGProject_Private(ksp, r));
  }
  dcg->first = PETSC_FALSE;
  ++dcg->steps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of this step. On the device it comes later, with KSPDCGCatchUp_Private() */
PetscErrorCode KSPDCGCheck_Private(KSP ksp, Vec r, Vec z)
{
  KSP_DCG  *dcg = (KSP_DCG *)ksp->data;
  PetscReal norm;

  PetscFunctionBegin;
  if (dcg->device) PetscFunctionReturn(PETSC_SUCCESS);
  ++ksp->its;
  PetscCall(KSPDCGNorm_Private(ksp, r, z, dcg->rnorm, &norm));
  if (!ksp->reason) PetscCall(KSPDCGReport_Private(ksp, dcg->rnorm, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norms that the device has sent meanwhile */
PetscErrorCode KSPDCGCatchUp_Private(KSP ksp)
{
  PetscFunctionBegin;
  if (((KSP_DCG *)ksp->data)->device) PetscCall(KSPDCGDeviceCatchUp_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGFinish_Private(KSP ksp)
{
  PetscFunctionBegin;
  if (((KSP_DCG *)ksp->data)->device) PetscCall(KSPDCGDeviceFlush_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
