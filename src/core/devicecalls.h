/* What device.c asks of the device: of CUDA (devicecuda.c) or, for tests, of an emulated one (tests/emulated/device.c). Sizes are positive, pointers lead
   somewhere. */
#pragma once

#include "device.h"

/* Up to here a copy counts as one of scalars */
#define POLDER_SCALAR_BYTES 256

PETSC_INTERN PetscErrorCode PolderDeviceCallMalloc(size_t bytes, void *ptr);
PETSC_INTERN PetscErrorCode PolderDeviceCallFree(void *there);
PETSC_INTERN PetscErrorCode PolderDeviceCallZero(void *there, size_t bytes);
/* Within the device, to the host, from the host */
PETSC_INTERN PetscErrorCode PolderDeviceCallCopy(void *to, const void *from, size_t bytes);
PETSC_INTERN PetscErrorCode PolderDeviceCallTake(void *to, const void *from, size_t bytes);
PETSC_INTERN PetscErrorCode PolderDeviceCallPut(void *to, const void *from, size_t bytes);
PETSC_INTERN PetscErrorCode PolderDeviceCallFinalize(void);
