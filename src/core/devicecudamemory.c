/* The device layer on CUDA: memory of the device, and page-locked memory of the host. */
#include "devicecalls.h"

#if defined(POLDER_HAVE_CUDA)
  #include "devicecuda.h"
  #include <stdlib.h>
  #include <sys/mman.h>

static cudaMemPool_t PolderPool = NULL;
  /* Memory from before the pool is ready (devicecudabegin.c). Each part is used once: what is freed comes back at the end of the program */
  #define POLDER_FIRST_BYTES ((size_t)32 << 20)
  #define POLDER_ALIGNED     256
static char  *PolderFirst     = NULL;
static size_t PolderFirstUsed = 0;
/* Free list of shared memory, in blocks of at least POLDER_SHARED_BYTES; each free block begins with the address of the next one. Pinning memory takes longer
   than solving a small system */
static void *PolderShared = NULL;

PetscErrorCode PolderCudaGetPool(cudaMemPool_t *pool)
{
  struct cudaMemPoolProps props = {0};
  unsigned long long      keep  = ~0ull;

  PetscFunctionBegin;
  if (!PolderPool) {
    props.allocType     = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    PolderLaunch(cudaGetDevice(&props.location.id));
    PolderLaunch(cudaMemPoolCreate(&PolderPool, &props));
    PolderLaunch(cudaMemPoolSetAttribute(PolderPool, cudaMemPoolAttrReleaseThreshold, &keep));
  }
  *pool = PolderPool;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes bytes from the first memory; PETSC_FALSE: not so early, or they do not fit */
static PetscErrorCode PolderFirstMalloc_Private(size_t bytes, void **ptr, PetscBool *got)
{
  const size_t aligned = (bytes + POLDER_ALIGNED - 1) / POLDER_ALIGNED * POLDER_ALIGNED;
  PetscBool    early;

  PetscFunctionBegin;
  *got = PETSC_FALSE;
  PetscCall(PolderCudaEarly(&early));
  if (!early || aligned > POLDER_FIRST_BYTES - PolderFirstUsed) PetscFunctionReturn(PETSC_SUCCESS);
  if (!PolderFirst && cudaMalloc((void **)&PolderFirst, POLDER_FIRST_BYTES) != cudaSuccess) {
    PolderFirst = NULL;
    (void)cudaGetLastError();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *ptr = PolderFirst + PolderFirstUsed;
  *got = PETSC_TRUE;
  PolderFirstUsed += aligned;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallMalloc(size_t bytes, void *ptr)
{
  PolderStream  stream;
  cudaMemPool_t pool;
  cudaError_t   err;
  size_t        available = 0, total = 0;
  PetscBool     got;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderFirstMalloc_Private(bytes, (void **)ptr, &got));
  if (got) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderReuseMalloc(&bytes, stream, (void **)ptr));
  if (*(void **)ptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderCudaGetPool(&pool));
  err = cudaMallocFromPoolAsync((void **)ptr, bytes, pool, stream);
  if (err == cudaErrorMemoryAllocation) { // retries after releasing the unused memory of the pool
    (void)cudaGetLastError();
    PetscCall(PolderReuseGiveBack(stream));
    PolderLaunch(cudaStreamSynchronize(stream));
    PolderLaunch(cudaMemPoolTrimTo(pool, 0));
    err = cudaMallocFromPoolAsync((void **)ptr, bytes, pool, stream);
  }
  if (err == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    *(void **)ptr = NULL;
    (void)cudaMemGetInfo(&available, &total);
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "The GPU has no room for %zu bytes (%zu of its %zu are free): use a smaller problem, more GPUs, or CPU types",
            bytes, available, total);
  }
  PolderLaunch(err);
  PetscCall(PolderReuseAdd(bytes, stream, *(void **)ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallFree(void *there)
{
  PolderStream stream;
  PetscBool    kept;

  PetscFunctionBegin;
  if (PolderFirst && (char *)there >= PolderFirst && (char *)there < PolderFirst + POLDER_FIRST_BYTES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderReuseFree(stream, there, &kept));
  if (!kept) PolderLaunch(cudaFreeAsync(there, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallZero(void *there, size_t bytes)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(cudaMemsetAsync(there, 0, bytes, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In large pages, which are locked much sooner than small ones */
void *PolderCudaLock(size_t bytes)
{
  const size_t page = 2 << 20, whole = (bytes + page - 1) / page * page;
  void        *memory;

  if (posix_memalign(&memory, page, whole)) return NULL;
  (void)madvise(memory, whole, MADV_HUGEPAGE);
  if (!cudaHostRegister(memory, whole, cudaHostRegisterPortable)) return memory;
  (void)cudaGetLastError();
  free(memory);
  return NULL;
}

PetscErrorCode PolderDeviceCallLock(size_t bytes, void *ptr)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream)); // initialises the device
  PetscCall(PolderCudaTakeLocked(bytes, (void **)ptr));
  if (!*(void **)ptr) *(void **)ptr = PolderCudaLock(bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallUnlock(void *ptr)
{
  PetscFunctionBegin;
  PolderLaunch(cudaHostUnregister(ptr));
  free(ptr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void *PolderCudaMallocShared(size_t bytes)
{
  void *memory;

  return cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable) ? NULL : memory;
}

PetscErrorCode PolderDeviceMallocShared(size_t bytes, void *host, void *device)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream)); // initialises the device
  if (!PolderShared) PetscCall(PolderCudaTakeShared(&PolderShared));
  if (PolderShared && bytes <= POLDER_SHARED_BYTES) {
    *(void **)host = PolderShared;
    PolderShared   = *(void **)PolderShared;
  } else *(void **)host = PolderCudaMallocShared(PetscMax(bytes, POLDER_SHARED_BYTES));
  if (!*(void **)host) PolderLaunch(cudaGetLastError());
  PolderLaunch(cudaHostGetDevicePointer((void **)device, *(void **)host, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceFreeShared(void *host)
{
  PetscFunctionBegin;
  if (!*(void **)host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceSynchronize()); // no kernel writes to it any more
  **(void ***)host = PolderShared;
  PolderShared     = *(void **)host;
  *(void **)host   = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCudaFreeShared(void *list)
{
  PetscFunctionBegin;
  while (list) {
    void *next = *(void **)list;

    PolderLaunch(cudaFreeHost(list));
    list = next;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCudaMemoryFinalize(void)
{
  PetscFunctionBegin;
  PetscCall(PolderReuseFinalize());
  PetscCall(PolderCudaFreeShared(PolderShared));
  PolderShared = NULL;
  if (PolderPool) PolderLaunch(cudaMemPoolDestroy(PolderPool));
  PolderPool = NULL;
  if (PolderFirst) PolderLaunch(cudaFree(PolderFirst));
  PolderFirst     = NULL;
  PolderFirstUsed = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
