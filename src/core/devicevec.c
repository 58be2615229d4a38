/* Duplicates, norms and inner products of vectors on the host or the device. */
#include "device.h"
#include "kernels/vec.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/vecimpl.h>

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

static PetscErrorCode PolderVecMDotDevice_Private(Vec x, PetscInt n, const Vec y[], PetscScalar dots[])
{
  const PetscScalar *xa, *ya[POLDER_DOTS];
  PetscScalar       *there;
  PetscInt           m;
  PolderStream       stream;
  void              *work;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PolderDeviceMalloc(sizeof(*there) * (size_t)n, &there));
  PetscCall(PolderVecGetDeviceRead(x, &xa));
  PetscCall(PetscLogGpuTimeBegin());
  for (PetscInt k = 0; k < n; k += POLDER_DOTS) {
    const PetscInt count = PetscMin(n - k, POLDER_DOTS);

    for (PetscInt i = 0; i < count; ++i) PetscCall(PolderVecGetDeviceRead(y[k + i], &ya[i]));
    PolderLaunch(PolderDots_CUDA(m, count, xa, ya, there + k, work, stream));
    for (PetscInt i = 0; i < count; ++i) PetscCall(PolderVecRestoreDeviceRead(y[k + i], &ya[i]));
  }
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderVecRestoreDeviceRead(x, &xa));
  PetscCall(PolderDeviceToHost(dots, there, sizeof(*there) * (size_t)n));
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PetscLogGpuFlops(2.0 * m * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->mdot_local */
static PetscErrorCode VecMDotLocal_Polder(Vec x, PetscInt n, const Vec y[], PetscScalar dots[])
{
  PetscInt m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &m));
  if (m) PetscCall(PolderVecMDotDevice_Private(x, n, y, dots));
  else PetscCall(PetscArrayzero(dots, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v->ops->mdot */
static PetscErrorCode VecMDot_Polder(Vec x, PetscInt n, const Vec y[], PetscScalar dots[])
{
  PetscFunctionBegin;
  PetscCall(VecMDotLocal_Polder(x, n, y, dots));
  PetscCallAllreduce(MPI_IN_PLACE, dots, (PetscMPIInt)n, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecMDot(Vec x, PetscInt n, const Vec y[], PetscScalar dots[])
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(x, &device));
  if (!device) {
    PetscCall(VecMDot(x, n, y, dots));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventBegin(VEC_MDot, x, y[0], 0, 0));
  PetscCall(VecMDot_Polder(x, n, y, dots));
  PetscCall(PetscLogEventEnd(VEC_MDot, x, y[0], 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecTakeMDot(Vec v)
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  v->ops->mdot       = VecMDot_Polder; // PETSc gives duplicates the operations of their vector, and a vector that is bound to the host other ones
  v->ops->mdot_local = VecMDotLocal_Polder;
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
