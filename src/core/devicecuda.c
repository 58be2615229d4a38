/* The device layer on CUDA: all calls of CUDA. device.c is built on it; an emulated device replaces it (tests/emulated). */
#include "devicecalls.h"
#include "keep.h"
#include "kernels/vec.h"
#include "peers.h"
#include <petsclog.h>

#if defined(POLDER_HAVE_CUDA)
  #include "devicecuda.h"
  #include <petscdm.h>
  #include <petsctime.h>
  #include <petsc/private/matimpl.h>
  #include <petsc/private/petscimpl.h> // use_gpu_aware_mpi

static void *PolderWork = NULL;
/* Shared memory in which the host waits for data: a real that signals arrival, followed by the data */
static PetscReal *PolderMailHost = NULL, *PolderMailDevice;
/* Recorded behind the last copy out of each buffer, or into it */
static cudaEvent_t PolderSent[POLDER_DEVICE_BUFFERS + POLDER_DEVICE_SHORTS];
/* The second stream, and what it and the first one wait for */
static cudaStream_t PolderSecond = NULL;
static cudaEvent_t  PolderForked, PolderJoined;

const char *PolderDeviceErrorString(int err)
{
  return cudaGetErrorString((cudaError_t)err);
}

PetscBool PolderDeviceMPI(void)
{
  return use_gpu_aware_mpi;
}

PetscErrorCode PolderDevicePresent(PetscBool *present)
{
  int count = 0;

  PetscFunctionBegin;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    count = 0;
  }
  *present = count > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceIsPointer(const void *p, PetscBool *is)
{
  struct cudaPointerAttributes a;
  PetscBool                    present;

  PetscFunctionBegin;
  *is = PETSC_FALSE;
  PetscCall(PolderDevicePresent(&present));
  if (!p || !present) PetscFunctionReturn(PETSC_SUCCESS);
  if (cudaPointerGetAttributes(&a, p) != cudaSuccess) (void)cudaGetLastError();
  else *is = a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceInUse(PetscBool *use)
{
  PetscFunctionBegin;
  *use = PetscDeviceInitialized(PETSC_DEVICE_CUDA);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecOnDevice(Vec v, PetscBool *is)
{
  PetscBool cuda, bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecBoundToCPU(v, &bound));
  *is = (PetscBool)(cuda && !bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderImageGetRows(Mat A, const PetscInt **ai, const PetscInt **aj, const PetscScalar **aa, PetscBool *done)
{
  const int *i, *j;

  PetscFunctionBegin;
  *done = sizeof(PetscInt) == sizeof(int) ? PETSC_TRUE : PETSC_FALSE;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j)); /* all rows, also when PETSc leaves out empty rows */
  *ai = (const PetscInt *)i;
  *aj = (const PetscInt *)j;
  PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &i, &j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderImageGetValues(Mat A, PetscScalar **a)
{
  const PetscScalar *there;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &there)); /* allocates the device arrays */
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(A, &there));
  PetscCall(MatSeqAIJCUSPARSEGetArrayWrite(A, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderImageRestoreValues(Mat A, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(MatSeqAIJCUSPARSERestoreArrayWrite(A, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderFreeValues_Private(PolderCtxArg(ctx))
{
  void *values = PolderCtx(ctx);

  PetscFunctionBegin;
  PetscCall(PolderDeviceFree(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A CUDA vector whose array is freed with it */
static PetscErrorCode PolderVecCreateDevice_Private(MPI_Comm comm, PetscLayout layout, PetscBool seq, Vec *w)
{
  PetscScalar *a;
  PetscInt     n, N, bs;

  PetscFunctionBegin;
  PetscCall(PetscLayoutGetLocalSize(layout, &n));
  PetscCall(PetscLayoutGetSize(layout, &N));
  PetscCall(PetscLayoutGetBlockSize(layout, &bs));
  PetscCall(PolderDeviceMalloc(sizeof(*a) * (size_t)n, &a));
  if (seq) PetscCall(VecCreateSeqCUDAWithArray(comm, bs, n, a, w));
  else PetscCall(VecCreateMPICUDAWithArray(comm, bs, n, N, a, w));
  PetscCall(VecSetLayout(*w, layout));
  PetscCall(PolderKeep((PetscObject)*w, "PolderValues", a, PolderFreeValues_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecCreate(MPI_Comm comm, PetscLayout layout, VecType type, Vec *v)
{
  PetscScalar *a;
  PetscMPIInt  size;
  PetscInt     n;
  PetscBool    device, mpi;

  PetscFunctionBegin;
  PetscCall(PetscStrendswith(type, POLDER_VEC_DEVICE, &device));
  if (!device) {
    PetscCall(VecCreate(comm, v));
    PetscCall(VecSetLayout(*v, layout));
    PetscCall(VecSetType(*v, type));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PolderDeviceBegin());
  PetscCall(PetscLayoutSetUp(layout));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscStrcmp(type, VECMPICUDA, &mpi));
  PetscCall(PolderVecCreateDevice_Private(comm, layout, (PetscBool)(size == 1 && !mpi), v));
  PetscCall(VecGetLocalSize(*v, &n));
  PetscCall(PolderVecGetDeviceWrite(*v, &a));
  PetscCall(PolderDeviceZero(a, sizeof(*a) * (size_t)n));
  PetscCall(PolderVecRestoreDeviceWrite(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecDuplicate(Vec v, Vec *w)
{
  PetscBool   device, seq;
  PetscLayout layout;
  DM          dm;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(v, &device));
  if (!device) {
    PetscCall(VecDuplicate(v, w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)v, VECSEQCUDA, &seq));
  PetscCall(VecGetLayout(v, &layout));
  PetscCall(PolderVecCreateDevice_Private(PetscObjectComm((PetscObject)v), layout, seq, w));
  PetscCall(VecGetDM(v, &dm));
  if (dm) PetscCall(VecSetDM(*w, dm)); // preconditioners may ask the vector for its DM
  PetscCall(PolderVecTakeOperations(*w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecGetDeviceRead(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecRestoreDeviceRead(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(VecCUDARestoreArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecGetDeviceWrite(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayWrite(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecRestoreDeviceWrite(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(VecCUDARestoreArrayWrite(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecGetDeviceArray(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(VecCUDAGetArray(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecRestoreDeviceArray(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(VecCUDARestoreArray(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceGetStream(PolderStream *stream)
{
  PetscFunctionBegin;
  PetscCall(PolderCudaGetRecorder(stream));
  if (*stream) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscGetCurrentCUDAStream(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for an event, or NULL: for a stream. While kernels of NCCL may wait for another process, the host does not block */
static PetscErrorCode PolderDeviceAwait_Private(PolderStream stream, cudaEvent_t event)
{
  cudaError_t    err = cudaErrorNotReady;
  PetscBool      watching;
  PetscLogDouble begin, now;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(PolderPeersWatch(0, &watching));
  while (watching && (err = event ? cudaEventQuery(event) : cudaStreamQuery(stream)) == cudaErrorNotReady) {
    PetscCall(PetscTime(&now));
    PetscCall(PolderPeersWatch((PetscReal)(now - begin), &watching));
  }
  if (!watching) err = event ? cudaEventSynchronize(event) : cudaStreamSynchronize(stream);
  PolderLaunch(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceSynchronize(void)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceAwait_Private(stream, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Its kernels begin before those of the first stream that have not begun: they wait for other devices, and the sooner they begin the more they overlap */
static PetscErrorCode PolderDeviceSecond_Private(void)
{
  int least, greatest;

  PetscFunctionBegin;
  if (PolderSecond) PetscFunctionReturn(PETSC_SUCCESS);
  PolderLaunch(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  PolderLaunch(cudaStreamCreateWithPriority(&PolderSecond, cudaStreamNonBlocking, greatest));
  PolderLaunch(cudaEventCreateWithFlags(&PolderForked, cudaEventDisableTiming));
  PolderLaunch(cudaEventCreateWithFlags(&PolderJoined, cudaEventDisableTiming));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceFork(PolderStream *second)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceSecond_Private());
  PolderLaunch(cudaEventRecord(PolderForked, stream));
  PolderLaunch(cudaStreamWaitEvent(PolderSecond, PolderForked, 0));
  *second = PolderSecond;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceJoin(void)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(cudaEventRecord(PolderJoined, PolderSecond));
  PolderLaunch(cudaStreamWaitEvent(stream, PolderJoined, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Receives a few numbers through pinned memory; a copy to pageable memory and the wait for it take three times as long */
static PetscErrorCode PolderDeviceReceive_Private(void *to, const void *from, size_t bytes, PolderStream stream)
{
  const volatile int *mail;
  int                 words[POLDER_SCALAR_BYTES / 4];
  PetscReal           arrived;

  PetscFunctionBegin;
  if (!PolderMailHost) PetscCall(PolderDeviceMallocShared(sizeof(*PolderMailHost) + POLDER_SCALAR_BYTES, &PolderMailHost, &PolderMailDevice));
  *(volatile PetscReal *)PolderMailHost = NAN;
  PolderLaunch(PolderSend_CUDA((int)(bytes / 4), from, PolderMailDevice + 1, PolderMailDevice, stream));
  PetscCall(PolderDeviceWaitReal(PolderMailHost, &arrived));
  mail = (const volatile int *)(PolderMailHost + 1);
  for (size_t k = 0; k < bytes / 4; ++k) words[k] = mail[k];
  PetscCall(PetscMemcpy(to, words, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallCopy(void *to, const void *from, size_t bytes)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallTake(void *to, const void *from, size_t bytes)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (bytes <= POLDER_SCALAR_BYTES && bytes % 4 == 0) PetscCall(PolderDeviceReceive_Private(to, from, bytes, stream));
  else {
    PetscCall(PolderDeviceAwait_Private(stream, NULL)); // a copy to pageable memory blocks
    PolderLaunch(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
    PolderLaunch(cudaStreamSynchronize(stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallPut(void *to, const void *from, size_t bytes)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream)); // pageable memory: staged before the call returns
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderDeviceMove_Private(int buffer, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (!PolderSent[buffer]) PolderLaunch(cudaEventCreateWithFlags(&PolderSent[buffer], cudaEventDisableTiming));
  PolderLaunch(cudaMemcpyAsync(to, from, bytes, kind, stream));
  PolderLaunch(cudaEventRecord(PolderSent[buffer], stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallSend(int buffer, void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceMove_Private(buffer, to, from, bytes, cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallBring(int buffer, void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceMove_Private(buffer, to, from, bytes, cudaMemcpyDeviceToHost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallArrive(int buffer)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceAwait_Private(NULL, PolderSent[buffer]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceWaitReal(const volatile PetscReal *slot, PetscReal *value)
{
  PolderStream   stream;
  cudaError_t    err = cudaErrorNotReady;
  PetscBool      watching;
  PetscLogDouble begin, now;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PetscTime(&begin));
  while (PetscIsNanReal(*value = *slot)) {
    PetscCheck(err != cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The device is idle and has not sent the value that is waited for");
    for (int spin = 0; spin < 10000 && PetscIsNanReal(*slot); ++spin)
      ;
    if (PetscIsNanReal(*slot) && (err = cudaStreamQuery(stream)) != cudaErrorNotReady) PolderLaunch(err); // a kernel may have failed
    PetscCall(PetscTime(&now));
    PetscCall(PolderPeersWatch((PetscReal)(now - begin), &watching));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceGetWork(void **work)
{
  PetscFunctionBegin;
  if (!PolderWork) {
    PetscCall(PolderDeviceMalloc(PolderReduceWork_CUDA(), &PolderWork));
    PetscCall(PolderDeviceZero(PolderWork, PolderReduceWork_CUDA()));
  }
  *work = PolderWork;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallFinalize(void)
{
  PetscFunctionBegin;
  PetscCall(PolderCudaBeginFinalize());
  if (PolderMailHost) PetscCall(PolderDeviceFreeShared(&PolderMailHost));
  for (size_t b = 0; b < PETSC_STATIC_ARRAY_LENGTH(PolderSent); ++b) {
    if (PolderSent[b]) PolderLaunch(cudaEventDestroy(PolderSent[b]));
    PolderSent[b] = NULL;
  }
  PetscCall(PolderCudaGraphFinalize());
  if (PolderSecond) {
    PolderLaunch(cudaStreamDestroy(PolderSecond));
    PolderLaunch(cudaEventDestroy(PolderForked));
    PolderLaunch(cudaEventDestroy(PolderJoined));
  }
  PolderSecond = NULL;
  PetscCall(PolderDeviceFree(&PolderWork));
  PetscCall(PolderCudaMemoryFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
