/*
  The device layer on CUDA: what takes a device long the first time. The first memory from a pool takes 8 ms, page-locked memory 1 to 3 ms, and each module of
  kernels 0.2 to 2 ms before its first kernel, which is longer than to solve a small system. A thread does all that while the program makes its matrix.
*/
#define _GNU_SOURCE // pthread_sigmask()
#include "devicecalls.h"

#if defined(POLDER_HAVE_CUDA)
  #include "devicecuda.h"
  #include "kernels/modules.h"
  #include <pthread.h>
  #include <signal.h>

  #define POLDER_SHARED_BLOCKS 4

static struct {
  pthread_t     thread;
  PetscBool     begun, running;
  int           device;
  cudaMemPool_t pool;
  int           used, ready, stocked; /* the program uses the device; the pool is ready; locked and shared are there */
  size_t        bytes;                /* of locked memory */
  void         *locked, *shared;
} PolderBeginning;

/* The pool does not return the memory to the driver */
static void PolderBeginPool(void)
{
  cudaStream_t stream;
  void        *some;

  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) return;
  if (!cudaMallocFromPoolAsync(&some, 1, PolderBeginning.pool, stream)) (void)cudaFreeAsync(some, stream);
  (void)cudaStreamDestroy(stream);
}

static void PolderBeginStock(void)
{
  for (int k = 0; k < POLDER_SHARED_BLOCKS; ++k) {
    void **block = (void **)PolderCudaMallocShared(POLDER_SHARED_BYTES);

    if (!block) break;
    *block                 = PolderBeginning.shared;
    PolderBeginning.shared = block;
  }
  PolderBeginning.locked = PolderCudaLock(PolderBeginning.bytes);
  __atomic_store_n(&PolderBeginning.stocked, 1, __ATOMIC_RELEASE);
}

static int PolderBeginUsed(void)
{
  return __atomic_load_n(&PolderBeginning.used, __ATOMIC_RELAXED);
}

/*
  What the thread does. It calls nothing of PETSc, which is not safe for threads. An error here is one of the program as well, which then tells of it. Once the
  program uses the device only the pool does not delay it: the driver loads and locks for one thread at a time
*/
static void *PolderBegin_Thread(void *ctx)
{
  static int (*const modules[])(void) = {POLDER_MODULES(POLDER_MODULE_NAME)};

  (void)ctx;
  (void)cudaSetDevice(PolderBeginning.device);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(modules) && !PolderBeginUsed(); ++k) (void)(*modules[k])();
  if (!PolderBeginUsed()) PolderBeginStock();
  PolderBeginPool();
  __atomic_store_n(&PolderBeginning.ready, 1, __ATOMIC_RELEASE);
  (void)cudaGetLastError();
  return NULL;
}

PetscErrorCode PolderDeviceBegin(void)
{
  PetscBool use;
  size_t    threads;
  sigset_t  all, mine;

  PetscFunctionBegin;
  if (PolderBeginning.begun) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceInUse(&use));
  if (!use) PetscFunctionReturn(PETSC_SUCCESS);
  PolderBeginning.begun = PETSC_TRUE;
  PetscCall(PolderDeviceThreads(&threads));
  if (threads == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PolderLaunch(cudaGetDevice(&PolderBeginning.device));
  PetscCall(PolderCudaGetPool(&PolderBeginning.pool));
  PolderBeginning.bytes = PolderDeviceBuffersBytes(threads);
  (void)sigfillset(&all); // signals are for the program
  (void)pthread_sigmask(SIG_SETMASK, &all, &mine);
  PolderBeginning.running = pthread_create(&PolderBeginning.thread, NULL, PolderBegin_Thread, NULL) ? PETSC_FALSE : PETSC_TRUE;
  (void)pthread_sigmask(SIG_SETMASK, &mine, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCudaEarly(PetscBool *early)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceBegin());
  __atomic_store_n(&PolderBeginning.used, 1, __ATOMIC_RELAXED);
  *early = (PetscBool)(PolderBeginning.running && !__atomic_load_n(&PolderBeginning.ready, __ATOMIC_ACQUIRE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the thread has made, once; NULL: it has not */
static PetscErrorCode PolderBeginTake_Private(void **made, void **taken)
{
  PetscFunctionBegin;
  *taken = NULL;
  if (!__atomic_load_n(&PolderBeginning.stocked, __ATOMIC_ACQUIRE)) PetscFunctionReturn(PETSC_SUCCESS);
  *taken = *made;
  *made  = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCudaTakeLocked(size_t bytes, void **locked)
{
  PetscFunctionBegin;
  *locked = NULL;
  if (bytes <= PolderBeginning.bytes) PetscCall(PolderBeginTake_Private(&PolderBeginning.locked, locked));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCudaTakeShared(void **shared)
{
  PetscFunctionBegin;
  PetscCall(PolderBeginTake_Private(&PolderBeginning.shared, shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCudaBeginFinalize(void)
{
  PetscFunctionBegin;
  if (PolderBeginning.running) (void)pthread_join(PolderBeginning.thread, NULL);
  if (PolderBeginning.locked) PetscCall(PolderDeviceCallUnlock(PolderBeginning.locked));
  PetscCall(PolderCudaFreeShared(PolderBeginning.shared));
  PetscCall(PetscMemzero(&PolderBeginning, sizeof(PolderBeginning)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
