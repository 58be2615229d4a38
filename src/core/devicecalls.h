/* Operations that device.c needs from the device: from CUDA (devicecuda*.c) or, in tests, from an emulated device (tests/emulated/device.c). Sizes are
   positive and pointers are valid. */
#pragma once

#include "device.h"

/* Copies of at most this size are logged as copies of scalars */
#define POLDER_SCALAR_BYTES 256

PETSC_INTERN PetscErrorCode PolderDeviceCallMalloc(size_t bytes, void *ptr);
PETSC_INTERN PetscErrorCode PolderDeviceCallFree(void *there);
PETSC_INTERN PetscErrorCode PolderDeviceCallZero(void *there, size_t bytes);
/* Within the device, to the host, from the host */
PETSC_INTERN PetscErrorCode PolderDeviceCallCopy(void *to, const void *from, size_t bytes);
PETSC_INTERN PetscErrorCode PolderDeviceCallTake(void *to, const void *from, size_t bytes);
PETSC_INTERN PetscErrorCode PolderDeviceCallPut(void *to, const void *from, size_t bytes);
/* Page-locked memory; *ptr is NULL when the system refuses */
PETSC_INTERN PetscErrorCode PolderDeviceCallLock(size_t bytes, void *ptr);
PETSC_INTERN PetscErrorCode PolderDeviceCallUnlock(void *ptr);
/* Send begins a copy out of a buffer of page-locked memory, and Bring one into it, in the order of the stream; Arrive waits until the last one is complete */
#define POLDER_DEVICE_BUFFERS 32
/* Bytes of these buffers for so many threads */
PETSC_INTERN size_t         PolderDeviceBuffersBytes(size_t threads);
PETSC_INTERN PetscErrorCode PolderDeviceCallSend(int buffer, void *to, const void *from, size_t bytes);
PETSC_INTERN PetscErrorCode PolderDeviceCallBring(int buffer, void *to, const void *from, size_t bytes);
PETSC_INTERN PetscErrorCode PolderDeviceCallArrive(int buffer);
/* Further buffers, for short arrays (deviceshort.c) */
#define POLDER_DEVICE_SHORTS 8
/* A buffer for an array of so many bytes; *buffer = -1: the array is not short, or all are kept. keep: nobody else gets the buffer before it is given back,
   otherwise before the copy out of it is complete */
PETSC_INTERN PetscErrorCode PolderShortTake(size_t bytes, PetscBool keep, int *buffer, void **there);
PETSC_INTERN PetscErrorCode PolderShortGive(int buffer);
PETSC_INTERN PetscErrorCode PolderShortFinalize(void);
PETSC_INTERN PetscErrorCode PolderDeviceCallFinalize(void);

/* Properties that differ between devices; rank is the rank of the process in its group */
typedef struct {
  char id[16];
} PolderDeviceName;
PETSC_INTERN PetscErrorCode PolderDeviceCallName(PetscMPIInt rank, PolderDeviceName *);
/* Bytes that can be allocated, without unused ones of the pool */
PETSC_INTERN PetscErrorCode PolderDeviceCallAvailable(size_t *bytes);
/* A handle by which another process of the host can map an allocation */
typedef struct {
  char bytes[64];
} PolderShareHandle;
/* Zeroed memory for other processes, in an allocation of its own; *ptr is NULL when the driver refuses. Unexport frees the memory, after all other processes
   have unimported it */
PETSC_INTERN PetscErrorCode PolderDeviceCallExport(size_t bytes, void **ptr, PolderShareHandle *);
PETSC_INTERN PetscErrorCode PolderDeviceCallUnexport(void *ptr);
/* Maps the allocation of another process; *ptr is NULL when it cannot be mapped */
PETSC_INTERN PetscErrorCode PolderDeviceCallImport(const PolderShareHandle *, void **ptr);
PETSC_INTERN PetscErrorCode PolderDeviceCallUnimport(void *ptr);
