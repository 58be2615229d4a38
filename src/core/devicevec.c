/* Duplicates and norms of vectors on the host or the device. */
#include "device.h"
#include "kernels/vec.h"
#include <petsc/private/kspimpl.h>

/* In shared memory: the device writes the norm and the host waits for it */
static PetscReal *PolderNormHost = NULL, *PolderNormDevice;

PetscErrorCode PolderVecNormBegin(Vec v)
{
  PetscBool          device;
  PetscInt           n;
  const PetscScalar *a;
  PolderStream       stream;
  void              *work;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS); // PolderVecNormEnd() calls VecNorm() instead
  if (!PolderNormHost) PetscCall(PolderDeviceMallocShared(sizeof(PetscReal), &PolderNormHost, &PolderNormDevice));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(VecGetLocalSize(v, &n));
  *(volatile PetscReal *)PolderNormHost = NAN;
  PetscCall(PolderVecGetDeviceRead(v, &a));
  PolderLaunch(PolderNorm_CUDA(n, a, PolderNormDevice, work, stream));
  PetscCall(PolderVecRestoreDeviceRead(v, &a));
  PetscCall(PetscLogGpuFlops(2.0 * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecNormEnd(Vec v, PetscReal *norm)
{
  PetscBool device;
  PetscReal here;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &device));
  if (!device) { // the vector type's own norm
    PetscCall(VecNorm(v, NORM_2, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderDeviceWaitReal(PolderNormHost, &here));
  here *= here;
  PetscCallAllreduce(&here, norm, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)v));
  *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ignores VecNormAvailable(): a norm from another kernel differs in the last bits */
PetscErrorCode PolderVecNorm(Vec v, PetscReal *norm)
{
  PetscFunctionBegin;
  PetscCall(PolderVecNormBegin(v));
  PetscCall(PolderVecNormEnd(v, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecNormFinalize(void)
{
  PetscFunctionBegin;
  if (PolderNormHost) PetscCall(PolderDeviceFreeShared(&PolderNormHost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecDuplicateVecs(Vec v, PetscInt n, Vec **w)
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &device));
  if (!device) { // PETSc allocates these vectors as one array
    PetscCall(VecDuplicateVecs(v, n, w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(n, w));
  for (PetscInt k = 0; k < n; ++k) PetscCall(PolderVecDuplicate(v, &(*w)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderKSPSetWorkVecs(KSP ksp, PetscInt n, Vec like)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(VecDestroyVecs(ksp->nwork, &ksp->work));
  ksp->nwork = 0;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!like) like = ksp->vec_rhs;
  if (like) PetscCall(PetscObjectReference((PetscObject)like));
  else {
    PetscCall(PCGetOperators(ksp->pc, &A, NULL));
    PetscCall(MatCreateVecs(A, NULL, &like));
  }
  PetscCall(PolderVecDuplicateVecs(like, n, &ksp->work));
  ksp->nwork = n;
  PetscCall(VecDestroy(&like));
  PetscFunctionReturn(PETSC_SUCCESS);
}
