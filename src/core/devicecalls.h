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

/* What is different on different devices; rank is that of the process in its group */
typedef struct {
  char id[16];
} PolderDeviceName;
PETSC_INTERN PetscErrorCode PolderDeviceCallName(PetscMPIInt rank, PolderDeviceName *);
/* By which another process of the host reaches an allocation */
typedef struct {
  char bytes[64];
} PolderShareHandle;
/* Zeroed memory for other processes, an allocation of its own; *ptr is NULL when the driver refuses. Unexport frees it, after all others have unimported it */
PETSC_INTERN PetscErrorCode PolderDeviceCallExport(size_t bytes, void **ptr, PolderShareHandle *);
PETSC_INTERN PetscErrorCode PolderDeviceCallUnexport(void *ptr);
/* The allocation of another process; *ptr is NULL when it cannot be reached */
PETSC_INTERN PetscErrorCode PolderDeviceCallImport(const PolderShareHandle *, void **ptr);
PETSC_INTERN PetscErrorCode PolderDeviceCallUnimport(void *ptr);
