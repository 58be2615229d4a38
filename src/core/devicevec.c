/* What solvers ask of vectors, wherever these are. */
#include "device.h"
#include "kernels/vec.h"

/* In shared memory, where the device writes it and the host waits for it */
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
  if (!device) PetscFunctionReturn(PETSC_SUCCESS); // VecNorm() does it all, in the second part
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
  if (!device) { // the type of the vector may have its own way
    PetscCall(VecNorm(v, NORM_2, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderDeviceWaitReal(PolderNormHost, &here));
  here *= here;
  PetscCallAllreduce(&here, norm, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)v));
  *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Also where VecNormAvailable(): the norm that another kernel has made differs in its last bits */
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
  if (!device) { // PETSc makes them in one piece
    PetscCall(VecDuplicateVecs(v, n, w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(n, w));
  for (PetscInt k = 0; k < n; ++k) PetscCall(PolderVecDuplicate(v, &(*w)[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
