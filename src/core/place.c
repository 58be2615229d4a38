/* The two places, host and device, and access to vectors that are not at a place. */
#include "place.h"
#include "kernels/shadow.h"

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
  (void)flops; // without CUDA there is nothing to count
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
  .mataij          = MATAIJ,
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
  .mataij          = POLDER_MATAIJ_DEVICE,
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

/* Is the array of v not accessible at this place? On the host the array of any vector is */
static PetscErrorCode PolderPlaceVecElsewhere_Private(const PolderPlace *place, Vec v, PetscBool *elsewhere)
{
  PetscBool ondevice = PETSC_TRUE;

  PetscFunctionBegin;
  if (place->device) PetscCall(PolderVecOnDevice(v, &ondevice));
  *elsewhere = (PetscBool)!ondevice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *standin <- the values of v */
static PetscErrorCode PolderPlaceVecStandIn_Private(const PolderPlace *place, Vec v, PetscScalar **standin)
{
  const PetscScalar *va;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  if (!*standin) PetscCall(PolderPlaceMalloc(place, n, standin));
  PetscCall(VecGetArrayRead(v, &va));
  PetscCall(PolderPlacePut(place, n, va, *standin));
  PetscCall(VecRestoreArrayRead(v, &va));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPlaceVecGetRead(const PolderPlace *place, Vec v, PetscScalar **standin, const PetscScalar **a)
{
  PetscBool elsewhere = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderPlaceVecElsewhere_Private(place, v, &elsewhere));
  if (elsewhere) {
    PetscCall(PolderPlaceVecStandIn_Private(place, v, standin));
    *a = *standin;
  } else PetscCall((*place->vecgetread)(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPlaceVecRestoreRead(const PolderPlace *place, Vec v, PetscScalar *standin, const PetscScalar **a)
{
  PetscFunctionBegin;
  if (!standin || *a != standin) PetscCall((*place->vecrestoreread)(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPlaceVecGet(const PolderPlace *place, Vec v, PetscScalar **standin, PetscScalar **a)
{
  PetscBool elsewhere = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderPlaceVecElsewhere_Private(place, v, &elsewhere));
  if (elsewhere) {
    PetscCall(PolderPlaceVecStandIn_Private(place, v, standin));
    *a = *standin;
  } else PetscCall((*place->vecget)(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPlaceVecRestore(const PolderPlace *place, Vec v, PetscScalar *standin, PetscScalar **a)
{
  PetscScalar *va;
  PetscInt     n;

  PetscFunctionBegin;
  if (!standin || *a != standin) {
    PetscCall((*place->vecrestore)(v, a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &va));
  PetscCall(PolderPlaceTake(place, n, standin, va));
  PetscCall(VecRestoreArrayWrite(v, &va));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecFill(Vec v, PetscInt seed, PetscInt column)
{
  const PolderPlace *place = NULL;
  PetscScalar       *a;
  PetscInt           start, end;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(PolderPlaceOfVecs(v, NULL, &place));
  PetscCall((*place->vecgetwrite)(v, &a));
  PolderRun(place, PolderShadowFill, seed, column, start, end - start, a);
  PetscCall((*place->vecrestorewrite)(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
