/* The two places. */
#include "place.h"

static PetscErrorCode PolderHostMalloc_Private(size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHostFree_Private(void *ptr)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*(void **)ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHostZero_Private(void *there, size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(there, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHostCopy_Private(void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(to, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHostFlops_Private(PetscLogDouble flops)
{
  PetscFunctionBegin;
  PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeviceFlops_Private(PetscLogDouble flops)
{
  PetscFunctionBegin;
  (void)flops; // nothing to count without a device
  PetscCall(PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHostTime_Private(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeviceTimeBegin_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeBegin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeviceTimeEnd_Private(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPlaceOfVecs(Vec u, Vec v, const PolderPlace **place)
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(u, &device));
  if (device && v) PetscCall(PolderVecOnDevice(v, &device));
  *place = PolderPlaceOf(device);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderPlace PolderOnHost = {
  .name            = "host",
  .device          = PETSC_FALSE,
  .malloc          = PolderHostMalloc_Private,
  .free            = PolderHostFree_Private,
  .zero            = PolderHostZero_Private,
  .copy            = PolderHostCopy_Private,
  .put             = PolderHostCopy_Private,
  .take            = PolderHostCopy_Private,
  .vecgetread      = VecGetArrayRead,
  .vecrestoreread  = VecRestoreArrayRead,
  .vecgetwrite     = VecGetArrayWrite,
  .vecrestorewrite = VecRestoreArrayWrite,
  .vecget          = VecGetArray,
  .vecrestore      = VecRestoreArray,
  .logflops        = PolderHostFlops_Private,
  .timebegin       = PolderHostTime_Private,
  .timeend         = PolderHostTime_Private,
  .memtype         = PETSC_MEMTYPE_HOST,
};

const PolderPlace PolderOnDevice = {
  .name            = "device",
  .device          = PETSC_TRUE,
  .malloc          = PolderDeviceMalloc,
  .free            = PolderDeviceFree,
  .zero            = PolderDeviceZero,
  .copy            = PolderDeviceToDevice,
  .put             = PolderDeviceFromHost,
  .take            = PolderDeviceToHost,
  .vecgetread      = PolderVecGetDeviceRead,
  .vecrestoreread  = PolderVecRestoreDeviceRead,
  .vecgetwrite     = PolderVecGetDeviceWrite,
  .vecrestorewrite = PolderVecRestoreDeviceWrite,
  .vecget          = PolderVecGetDeviceArray,
  .vecrestore      = PolderVecRestoreDeviceArray,
  .logflops        = PolderDeviceFlops_Private,
  .timebegin       = PolderDeviceTimeBegin_Private,
  .timeend         = PolderDeviceTimeEnd_Private,
  .memtype         = POLDER_MEMTYPE_DEVICE,
};
