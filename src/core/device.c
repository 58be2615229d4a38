/* The part of the device layer that is the same for a GPU and an emulated device, and the stubs of a library without CUDA. */
#include "devicecalls.h"
#include "peers.h"
#include <petsclog.h>

#if defined(POLDER_HAVE_CUDA)
  #include <petsc/private/matimpl.h>

PetscBool PolderDeviceCompiled(void)
{
  return PETSC_TRUE;
}

PetscErrorCode PolderMatSetOffload(Mat A, PetscOffloadMask mask)
{
  PetscFunctionBegin;
  A->offloadmask = mask;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetOffload(Mat A, PetscOffloadMask *mask)
{
  PetscFunctionBegin;
  *mask = A->offloadmask;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceMalloc(size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  *(void **)ptr = NULL;
  if (bytes) PetscCall(PolderDeviceCallMalloc(bytes, ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceFree(void *ptr)
{
  PetscFunctionBegin;
  if (*(void **)ptr) PetscCall(PolderDeviceCallFree(*(void **)ptr));
  *(void **)ptr = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceZero(void *ptr, size_t bytes)
{
  PetscFunctionBegin;
  if (bytes) PetscCall(PolderDeviceCallZero(ptr, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceToDevice(void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  if (bytes) PetscCall(PolderDeviceCallCopy(to, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceToHost(void *to, const void *from, size_t bytes)
{
  PolderFetch fetch;

  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceFetchBegin(bytes, from, &fetch));
  PetscCall(PolderDeviceFetchEnd(&fetch, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceFetchBegin(size_t bytes, const void *from, PolderFetch *fetch)
{
  PetscFunctionBegin;
  *fetch = (PolderFetch){.from = from, .bytes = bytes, .buffer = -1};
  if (bytes > POLDER_SCALAR_BYTES) PetscCall(PolderShortTake(bytes, PETSC_TRUE, &fetch->buffer, &fetch->there));
  if (fetch->buffer >= 0) PetscCall(PolderDeviceCallBring(fetch->buffer, fetch->there, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceFetchEnd(PolderFetch *fetch, void *to)
{
  const size_t bytes = fetch->bytes;

  PetscFunctionBegin;
  if (fetch->buffer < 0) PetscCall(PolderDeviceCallTake(to, fetch->from, bytes));
  else {
    PetscCall(PolderDeviceCallArrive(fetch->buffer));
    (void)memcpy(to, fetch->there, bytes);
    PetscCall(PolderShortGive(fetch->buffer));
  }
  if (bytes <= POLDER_SCALAR_BYTES) PetscCall(PetscLogGpuToCpuScalar((PetscLogDouble)bytes));
  else PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool PolderFillCopy_Private(const void *ctx, size_t at, size_t n, void *there)
{
  (void)memcpy(there, (const char *)ctx + at, n);
  return PETSC_TRUE;
}

PetscErrorCode PolderDeviceFromHost(void *to, const void *from, size_t bytes)
{
  PetscBool done = PETSC_FALSE;
  void     *there;
  int       buffer;

  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  if (bytes >= PolderDeviceLimits.least) PetscCall(PolderDeviceStream(bytes, PolderDeviceLimits.piece, PolderFillCopy_Private, from, to, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderShortTake(bytes, PETSC_FALSE, &buffer, &there));
  if (buffer < 0) PetscCall(PolderDeviceCallPut(to, from, bytes));
  else {
    (void)memcpy(there, from, bytes);
    PetscCall(PolderDeviceCallSend(buffer, to, there, bytes));
  }
  if (bytes <= POLDER_SCALAR_BYTES) PetscCall(PetscLogCpuToGpuScalar((PetscLogDouble)bytes));
  else PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceFinalize(void)
{
  PetscFunctionBegin;
  PetscCall(PolderVecNormFinalize());
  PetscCall(PolderVecOperationsFinalize());
  PetscCall(PolderPeersFinalize());
  PolderDeviceLimits.threads = 0; // an option of the next PetscInitialize() may set it
  PetscCall(PolderShortFinalize());
  PetscCall(PolderDeviceCallFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

PetscBool PolderDeviceCompiled(void)
{
  return PETSC_FALSE;
}

PetscBool PolderDeviceMPI(void)
{
  return PETSC_FALSE;
}

/* Without CUDA no vector is on a device, so only the first of these functions are ever reached */
PetscErrorCode PolderDevicePresent(PetscBool *present)
{
  PetscFunctionBegin;
  *present = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceIsPointer(const void *p, PetscBool *is)
{
  PetscFunctionBegin;
  (void)p;
  *is = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceBegin(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceInUse(PetscBool *use)
{
  PetscFunctionBegin;
  *use = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecOnDevice(Vec v, PetscBool *is)
{
  PetscFunctionBegin;
  (void)v;
  *is = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatSetOffload(Mat A, PetscOffloadMask mask)
{
  PetscFunctionBegin;
  (void)A;
  (void)mask;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetOffload(Mat A, PetscOffloadMask *mask)
{
  PetscFunctionBegin;
  (void)A;
  *mask = PETSC_OFFLOAD_CPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

  #define PolderNoDevice(name, ...) \
    PetscErrorCode name(__VA_ARGS__) \
    { \
      PetscFunctionBegin; \
      PolderLaunch(0); \
      PetscFunctionReturn(PETSC_SUCCESS); \
    }

  #pragma GCC diagnostic ignored "-Wunused-parameter"
PolderStreamLimits PolderDeviceLimits;
PolderNoDevice(PolderImageGetRows, Mat A, const PetscInt **ai, const PetscInt **aj, const PetscScalar **aa, PetscBool *done);
PolderNoDevice(PolderImageGetValues, Mat A, PetscScalar **a);
PolderNoDevice(PolderImageRestoreValues, Mat A, PetscScalar **a);
PolderNoDevice(PolderVecGetDeviceRead, Vec v, const PetscScalar **a);
PolderNoDevice(PolderVecRestoreDeviceRead, Vec v, const PetscScalar **a);
PolderNoDevice(PolderVecGetDeviceWrite, Vec v, PetscScalar **a);
PolderNoDevice(PolderVecRestoreDeviceWrite, Vec v, PetscScalar **a);
PolderNoDevice(PolderVecGetDeviceArray, Vec v, PetscScalar **a);
PolderNoDevice(PolderVecRestoreDeviceArray, Vec v, PetscScalar **a);
PolderNoDevice(PolderDeviceGetStream, PolderStream *stream);
PolderNoDevice(PolderDeviceSynchronize, void);
PolderNoDevice(PolderDeviceFork, PolderStream *stream);
PolderNoDevice(PolderDeviceJoin, void);
PolderNoDevice(PolderDeviceMalloc, size_t bytes, void *ptr);
PolderNoDevice(PolderDeviceGetWork, void **work);
PolderNoDevice(PolderDeviceZero, void *ptr, size_t bytes);
PolderNoDevice(PolderDeviceToDevice, void *to, const void *from, size_t bytes);
PolderNoDevice(PolderDeviceToHost, void *to, const void *from, size_t bytes);
PolderNoDevice(PolderDeviceFetchBegin, size_t bytes, const void *from, PolderFetch *fetch);
PolderNoDevice(PolderDeviceFetchEnd, PolderFetch *fetch, void *to);
PolderNoDevice(PolderDeviceFromHost, void *to, const void *from, size_t bytes);
PolderNoDevice(PolderDeviceStream, size_t bytes, size_t piece, PolderDeviceFill fill, const void *ctx, void *to, PetscBool *done);
PolderNoDevice(PolderDeviceMallocShared, size_t bytes, void *host, void *device);
PolderNoDevice(PolderDeviceFreeShared, void *host);
PolderNoDevice(PolderDeviceWaitReal, const volatile PetscReal *slot, PetscReal *value);
PolderNoDevice(PolderDeviceCallName, PetscMPIInt rank, PolderDeviceName *name);
PolderNoDevice(PolderDeviceCallAvailable, size_t *bytes);
PolderNoDevice(PolderDeviceCallExport, size_t bytes, void **ptr, PolderShareHandle *handle);
PolderNoDevice(PolderDeviceCallUnexport, void *ptr);
PolderNoDevice(PolderDeviceCallImport, const PolderShareHandle *handle, void **ptr);
PolderNoDevice(PolderDeviceCallUnimport, void *ptr);
PolderNoDevice(PolderDeviceReplay, PolderDeviceGraph *graph, PetscErrorCode (*body)(void *), void *ctx);

PetscErrorCode PolderVecCreate(MPI_Comm comm, PetscLayout layout, VecType type, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(comm, v));
  PetscCall(VecSetLayout(*v, layout));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecDuplicate(Vec v, Vec *w)
{
  PetscFunctionBegin;
  PetscCall(VecDuplicate(v, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceFree(void *ptr)
{
  PetscFunctionBegin;
  (void)ptr; // nothing was allocated
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceGraphDestroy(PolderDeviceGraph *graph)
{
  PetscFunctionBegin;
  (void)graph; // nothing was recorded
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceFinalize(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
