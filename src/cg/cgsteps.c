/* What the steps of conjugate gradients on the host and on a device share. */
#include "cg.h"
#include "kernels/vec.h"

PetscErrorCode PolderVecRemoveMean(Vec x)
{
  PetscScalar sum;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(VecSum(x, &sum));
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecShift(x, -sum / n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (x, y); the loop of a reference BLAS, which PETSc may have been built with, takes twice as long */
PetscErrorCode PolderCGDot(Vec x, Vec y, PetscScalar *dot)
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

PetscErrorCode PolderCGPCApply(KSP ksp, Vec r, Vec z)
{
  PolderCG    *cg = (PolderCG *)ksp->data;
  MatNullSpace attached;

  PetscFunctionBegin;
  if (ksp->transpose_solve) {
    PetscCall(PCApplyTranspose(cg->pc, r, z));
    PetscCall(MatGetTransposeNullSpace(cg->A, &attached));
  } else {
    PetscCall(PCApply(cg->pc, r, z));
    PetscCall(MatGetNullSpace(cg->A, &attached));
  }
  if (attached) PetscCall(MatNullSpaceRemove(attached, z));
  else if (cg->space->nullspace) PetscCall(PolderVecRemoveMean(z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- P r, after what lies in the kernel of A: P would put it all into the column that is left out, and nothing reduces it */
PetscErrorCode PolderCGProject(KSP ksp, Vec r)
{
  PolderCG    *cg = (PolderCG *)ksp->data;
  MatNullSpace attached;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(cg->A, &attached));
  if (cg->space->nullspace) PetscCall(PolderVecRemoveMean(r));
  else if (attached) PetscCall(MatNullSpaceRemove(attached, r));
  PetscCall(PolderDeflationSpaceApplyP(cg->space, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGNorm(KSP ksp, Vec r, Vec z, PetscReal rnorm, PetscReal *norm)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  *norm = 0;
  switch (ksp->normtype) {
  case KSP_NORM_UNPRECONDITIONED:
    *norm = rnorm;
    break;
  case KSP_NORM_PRECONDITIONED:
    PetscCall(PolderCGPCApply(ksp, r, z));
    PetscCall(VecDotNorm2(r, z, &cg->rho, norm));
    *norm = PetscSqrtReal(*norm);
    break;
  case KSP_NORM_NATURAL:
    PetscCall(PolderCGPCApply(ksp, r, z));
    PetscCall(PolderCGDot(r, z, &cg->rho));
    *norm = PetscSqrtReal(PetscAbsScalar(cg->rho));
    break;
  case KSP_NORM_NONE:
    break;
  default:
    SETERRQ(PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP, "dcg does not work with the norm %s", KSPNormTypes[ksp->normtype]);
  }
  KSPCheckNorm(ksp, *norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGTest(KSP ksp, PetscReal norm)
{
  PolderCG       *cg         = (PolderCG *)ksp->data;
  const PetscBool guess_zero = ksp->guess_zero;

  PetscFunctionBegin;
  ksp->rnorm = norm;
  /* the default test takes the first residual for b when the guess is zero, but the first residual here is P b */
  if (!cg->tested) ksp->guess_zero = PETSC_FALSE;
  PetscCall((*ksp->converged)(ksp, cg->tested ? PetscMax(ksp->its, 1) : 0, norm, &ksp->reason, ksp->cnvP));
  ksp->guess_zero = guess_zero;
  cg->tested      = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGReport(KSP ksp, PetscReal rnorm, PetscReal norm)
{
  PolderCG *cg = (PolderCG *)ksp->data;

  PetscFunctionBegin;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  KSPCheckNorm(ksp, rnorm); // whatever the test makes of it: the device has stopped
  PetscCall(PolderCGTest(ksp, norm));
  if (ksp->normtype == KSP_NORM_NONE && rnorm <= ksp->abstol) ksp->reason = KSP_CONVERGED_ATOL; // nothing left to divide by
  if (cg->target > 0 && ksp->reason >= 0) ksp->reason = norm <= cg->target ? KSP_CONVERGED_HAPPY_BREAKDOWN : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGGetKernel(KSP ksp, PolderCGKernel *kernel)
{
  PolderCG    *cg = (PolderCG *)ksp->data;
  MatNullSpace attached;
  PetscBool    constant = PETSC_FALSE;
  PetscInt     nvec     = 0;

  PetscFunctionBegin;
  if (ksp->transpose_solve) PetscCall(MatGetTransposeNullSpace(cg->A, &attached));
  else PetscCall(MatGetNullSpace(cg->A, &attached));
  if (attached) PetscCall(MatNullSpaceGetVecs(attached, &constant, &nvec, NULL));
  *kernel = attached ? (constant && !nvec ? CG_CONSTANT : CG_ATTACHED) : (cg->space->nullspace ? CG_CONSTANT : CG_REGULAR);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGNothing(KSP ksp)
{
  PetscFunctionBegin;
  (void)ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGNothing2(KSP ksp, Vec v, Vec w)
{
  PetscFunctionBegin;
  (void)ksp, (void)v, (void)w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGNothing3(KSP ksp, Vec u, Vec v, Vec w)
{
  PetscFunctionBegin;
  (void)ksp, (void)u, (void)v, (void)w;
  PetscFunctionReturn(PETSC_SUCCESS);
}
