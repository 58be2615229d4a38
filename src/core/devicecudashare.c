/* The device layer on CUDA: memory that several processes of a host use. */
#include "devicecalls.h"

#if defined(POLDER_HAVE_CUDA)
  #include <petscdevice_cuda.h>

PetscErrorCode PolderDeviceCallName(PetscMPIInt rank, PolderDeviceName *name)
{
  struct cudaDeviceProp props;
  int                   device;

  PetscFunctionBegin;
  (void)rank;
  PolderLaunch(cudaGetDevice(&device));
  PolderLaunch(cudaGetDeviceProperties(&props, device));
  PetscCall(PetscMemcpy(name->id, props.uuid.bytes, sizeof(name->id)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallAvailable(size_t *bytes)
{
  size_t total;

  PetscFunctionBegin;
  PolderLaunch(cudaMemGetInfo(bytes, &total));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not from the pool, because handles exist only for whole allocations of cudaMalloc() */
PetscErrorCode PolderDeviceCallExport(size_t bytes, void **ptr, PolderShareHandle *handle)
{
  cudaIpcMemHandle_t ipc;

  PetscFunctionBegin;
  *ptr = NULL;
  if (cudaMalloc(ptr, bytes) != cudaSuccess) *ptr = NULL;
  else if (cudaIpcGetMemHandle(&ipc, *ptr) != cudaSuccess) {
    PolderLaunch(cudaFree(*ptr));
    *ptr = NULL;
  }
  (void)cudaGetLastError();
  if (!*ptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemcpy(handle->bytes, &ipc, sizeof(ipc)));
  PolderLaunch(cudaMemset(*ptr, 0, bytes));
  PolderLaunch(cudaDeviceSynchronize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallUnexport(void *ptr)
{
  PetscFunctionBegin;
  PolderLaunch(cudaFree(ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallImport(const PolderShareHandle *handle, void **ptr)
{
  cudaIpcMemHandle_t ipc;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&ipc, handle->bytes, sizeof(ipc)));
  if (cudaIpcOpenMemHandle(ptr, ipc, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) *ptr = NULL;
  (void)cudaGetLastError();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallUnimport(void *ptr)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceSynchronize());
  PolderLaunch(cudaIpcCloseMemHandle(ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
