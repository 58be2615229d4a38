/* What rounding a solution to double precision may leave as residual. */
#include "rounding.h"
#include "halo.h"
#include "core/device.h"
#include "kernels/csr.h"

/* y: in length || |A| |x| ||, from the norm of A by a few steps of the power method */
static PetscErrorCode PolderMatNormTimes_Private(Mat A, Vec x, Vec y)
{
  Vec       v;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &v));
  PetscCall(VecSetRandom(v, NULL));
  for (PetscInt k = 0; k < 8; ++k) {
    PetscCall(VecNormalize(v, NULL));
    PetscCall(MatMult(A, v, y));
    PetscCall(VecCopy(y, v));
  }
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecScale(y, norm));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = |A| |x| for an AIJ matrix */
static PetscErrorCode PolderMatMagnitude_Private(Mat A, Vec x, Vec y)
{
  const PetscScalar *xa;
  PetscScalar       *ya, *ghost;
  PolderHalo         halo;
  PolderCSR          csr;

  PetscFunctionBegin;
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PolderMatGetCSR(A, &csr));
  PetscCall(PetscMalloc1(csr.nghost, &ghost));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(PolderHaloExchange(halo, MPIU_SCALAR, xa, ghost));
  PetscCall(VecGetArrayWrite(y, &ya));
  PolderCsrMagnitude_Host(csr.m, csr.ai, csr.aj, csr.aa, xa, PETSC_FALSE, ya);
  if (csr.bi) PolderCsrMagnitude_Host(csr.m, csr.bi, csr.bj, csr.ba, ghost, PETSC_TRUE, ya);
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(PetscFree(ghost));
  PetscCall(PolderMatRestoreCSR(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on the device, where A and x are there */
static PetscErrorCode PolderMatMagnitudeDevice_Private(Mat A, Vec x, Vec y, PetscBool *done)
{
  const PetscScalar *xa;
  PetscScalar       *ya, *ghost = NULL;
  PolderHalo         halo;
  PolderCSR          csr;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(x, done));
  if (*done) PetscCall(PolderMatGetDeviceCSR(A, &csr, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetHalo(A, &halo));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*ghost) * (size_t)csr.nghost, &ghost));
  PetscCall(PolderVecGetDeviceRead(x, &xa));
  PetscCall(PolderVecGetDeviceWrite(y, &ya));
  PetscCall(PolderHaloBeginDevice(halo, MPIU_SCALAR, xa, ghost));
  PolderLaunch(PolderCsrMagnitude_CUDA(csr.m, csr.ai, csr.aj, csr.aa, xa, PETSC_FALSE, ya, stream));
  PetscCall(PolderHaloEndDevice(halo, MPIU_SCALAR, xa, ghost));
  if (csr.bi) PolderLaunch(PolderCsrMagnitude_CUDA(csr.m, csr.bi, csr.bj, csr.ba, ghost, PETSC_TRUE, ya, stream));
  PetscCall(PolderVecRestoreDeviceWrite(y, &ya));
  PetscCall(PolderVecRestoreDeviceRead(x, &xa));
  PetscCall(PolderDeviceFree(&ghost));
  PetscCall(PolderMatRestoreDeviceCSR(A, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ||eps |A| |x| || with the unit roundoff eps; for matrices whose entries cannot be read, of diag(A) twice, its size for diagonally dominant ones, or else of ||A|| */
PetscErrorCode PolderMatRoundingBound(Mat A, Vec x, PetscReal *bound)
{
  Vec       y;
  PetscBool aij, diagonal, device;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &y));
  PetscCall(MatHasOperation(A, MATOP_GET_DIAGONAL, &diagonal));
  PetscCall(PolderMatIsAIJ(A, &aij));
  if (aij) {
    PetscCall(PolderMatMagnitudeDevice_Private(A, x, y, &device));
    if (!device) PetscCall(PolderMatMagnitude_Private(A, x, y));
  } else if (!diagonal) PetscCall(PolderMatNormTimes_Private(A, x, y));
  else {
    PetscCall(MatGetDiagonal(A, y));
    PetscCall(VecPointwiseMult(y, y, x));
    PetscCall(VecScale(y, 2.0));
  }
  PetscCall(VecNorm(y, NORM_2, bound));
  *bound *= PETSC_MACHINE_EPSILON / 2;
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
