/*
  A device that is the host: what devicecalls.h and device.h promise and, in the other files of this folder, every launcher in plain C. A library built from
  these instead of src/core/devicecuda*.c and cuda/ takes every vector for a device vector, so that the suite runs the device side of the library on a machine
  without a GPU.
*/
#define _GNU_SOURCE // memfd_create()
#include "core/devicecalls.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char Work[1];
/* What is recorded may launch, nothing else */
static PetscBool Recording = PETSC_FALSE;
static size_t    Launches; /* while that is true */
#define NotRecorded() PetscCheck(!Recording, PETSC_COMM_SELF, PETSC_ERR_PLIB, "This cannot be replayed on a device")

const char *PolderDeviceErrorString(int err)
{
  (void)err;
  return "no error of an emulated device";
}

PetscBool PolderDeviceMPI(void)
{
  return PETSC_FALSE;
}

PetscErrorCode PolderDevicePresent(PetscBool *is)
{
  PetscFunctionBegin;
  *is = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All memory is that of the device */
PetscErrorCode PolderDeviceIsPointer(const void *p, PetscBool *is)
{
  PetscFunctionBegin;
  *is = p ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing here takes longer the first time */
PetscErrorCode PolderDeviceBegin(void)
{
  PetscBool use;
  size_t    threads;

  PetscFunctionBegin;
  PetscCall(PolderDeviceInUse(&use));
  if (use) PetscCall(PolderDeviceThreads(&threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceInUse(PetscBool *is)
{
  PetscFunctionBegin;
  *is = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecOnDevice(Vec v, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, is, VECSEQ, VECMPI, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscCall(PolderVecTakeOperations(*w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderImageGetRows(Mat A, const PetscInt **ai, const PetscInt **aj, const PetscScalar **aa, PetscBool *done)
{
  PetscFunctionBegin;
  (void)A;
  (void)ai;
  (void)aj;
  (void)aa;
  *done = PETSC_FALSE; // a plain matrix is not on the device
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderImageGetValues(Mat A, PetscScalar **values)
{
  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayWrite(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderImageRestoreValues(Mat A, PetscScalar **values)
{
  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayWrite(A, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecGetDeviceRead(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  NotRecorded();
  PetscCall(VecGetArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecRestoreDeviceRead(Vec v, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(VecRestoreArrayRead(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is not written shows */
PetscErrorCode PolderVecGetDeviceWrite(Vec v, PetscScalar **a)
{
  PetscInt n;

  PetscFunctionBegin;
  NotRecorded();
  PetscCall(VecGetArrayWrite(v, a));
  PetscCall(VecGetLocalSize(v, &n));
  for (PetscInt i = 0; i < n; ++i) (*a)[i] = NAN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecRestoreDeviceWrite(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(VecRestoreArrayWrite(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecGetDeviceArray(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  NotRecorded();
  PetscCall(VecGetArray(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderVecRestoreDeviceArray(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(VecRestoreArray(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceGetStream(PolderStream *stream)
{
  PetscFunctionBegin;
  Launches += Recording;
  *stream = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceSynchronize(void)
{
  PetscFunctionBegin;
  NotRecorded();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is given to the second stream must be joined */
static PetscBool Forked = PETSC_FALSE;

PetscErrorCode PolderDeviceFork(PolderStream *stream)
{
  PetscFunctionBegin;
  NotRecorded();
  PetscCheck(!Forked, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The second stream has not been joined");
  Forked  = PETSC_TRUE;
  *stream = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceJoin(void)
{
  PetscFunctionBegin;
  NotRecorded();
  PetscCheck(Forked, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The second stream has no work");
  Forked = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own memory, so that -malloc_dump tells what was not freed; aligned like that of a device, and filled with NaN */
enum {
  ALIGNMENT = 256
};

/* Tests set it: so many allocations more until there is no room; negative: there is always */
PETSC_EXTERN PetscInt PolderEmulatedRoom;
PetscInt              PolderEmulatedRoom = -1;

PetscErrorCode PolderDeviceCallMalloc(size_t bytes, void *ptr)
{
  char *mine;

  PetscFunctionBegin;
  NotRecorded();
  PetscCheck(PolderEmulatedRoom, PETSC_COMM_SELF, PETSC_ERR_MEM, "The GPU has no room for %zu bytes", bytes);
  if (PolderEmulatedRoom > 0) --PolderEmulatedRoom;
  PetscCall(PetscMalloc1(bytes + ALIGNMENT + sizeof(mine), &mine));
  *(char **)ptr        = (char *)(((size_t)mine + sizeof(mine) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  (*(char ***)ptr)[-1] = mine; // just before
  memset(*(void **)ptr, 0xff, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallFree(void *there)
{
  char *mine = ((char **)there)[-1];

  PetscFunctionBegin;
  NotRecorded();
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallZero(void *there, size_t bytes)
{
  PetscFunctionBegin;
  memset(there, 0, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallCopy(void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  memcpy(to, from, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallTake(void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  NotRecorded();
  memcpy(to, from, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallPut(void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  NotRecorded();
  memcpy(to, from, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallLock(size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, (void **)ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallUnlock(void *ptr)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy is complete at once. What overwrites a buffer before its copy has arrived shows all the same: its sum changes */
static struct {
  const unsigned char *from;
  size_t               bytes;
  uint64_t             sum;
} Sent[POLDER_DEVICE_BUFFERS + POLDER_DEVICE_SHORTS];

static uint64_t Sum(size_t bytes, const unsigned char from[])
{
  uint64_t sum = 14695981039346656037u;

  for (size_t k = 0; k < bytes; ++k) sum = (sum ^ from[k]) * 1099511628211u;
  return sum;
}

PetscErrorCode PolderDeviceCallSend(int buffer, void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  NotRecorded();
  PetscCheck(!Sent[buffer].bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Buffer %d is sent twice", buffer);
  memcpy(to, from, bytes);
  Sent[buffer].from  = (const unsigned char *)from;
  Sent[buffer].bytes = bytes;
  Sent[buffer].sum   = Sum(bytes, Sent[buffer].from);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallBring(int buffer, void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  NotRecorded();
  PetscCheck(!Sent[buffer].bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Buffer %d is written to before it has been sent", buffer);
  memcpy(to, from, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallArrive(int buffer)
{
  PetscFunctionBegin;
  PetscCheck(Sum(Sent[buffer].bytes, Sent[buffer].from) == Sent[buffer].sum || !Sent[buffer].bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "Buffer %d was overwritten before its copy had arrived", buffer);
  Sent[buffer].bytes = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -emulated_gpus n: so many devices for all processes; every process has one of its own unless it is set, and 0 refuses to share memory */
static PetscErrorCode Devices(PetscMPIInt *n)
{
  PetscInt given = -1;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-emulated_gpus", &given, NULL));
  *n = (PetscMPIInt)given;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallName(PetscMPIInt rank, PolderDeviceName *name)
{
  PetscMPIInt n = -1;

  PetscFunctionBegin;
  PetscCall(Devices(&n));
  PetscCall(PetscMemzero(name, sizeof(*name)));
  PetscCall(PetscSNPrintf(name->id, sizeof(name->id), "emulated %d", n > 0 ? rank % n : rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -emulated_memory n: so many bytes can be allocated, as far as anybody asks */
PetscErrorCode PolderDeviceCallAvailable(size_t *bytes)
{
  PetscReal given = 1e12;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-emulated_memory", &given, NULL));
  *bytes = (size_t)given;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -emulated_shared n: so many allocations of this process can be shared at the same time */
static PetscInt Shared = 0;

/* Memory without a name in a file system: nothing is left of it when a test is killed. Its first bytes are its size */
PetscErrorCode PolderDeviceCallExport(size_t bytes, void **ptr, PolderShareHandle *handle)
{
  PetscMPIInt  n    = -1;
  PetscInt     most = PETSC_MAX_INT;
  const size_t size = bytes + ALIGNMENT;
  int          file;
  char        *memory;

  PetscFunctionBegin;
  *ptr = NULL;
  PetscCall(Devices(&n));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-emulated_shared", &most, NULL));
  if (!n || Shared >= most) PetscFunctionReturn(PETSC_SUCCESS);
  ++Shared;
  file = memfd_create("polder", 0);
  PetscCheck(file >= 0 && !ftruncate(file, (off_t)size), PETSC_COMM_SELF, PETSC_ERR_SYS, "No memory to share");
  memory = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  PetscCheck(memory != MAP_FAILED, PETSC_COMM_SELF, PETSC_ERR_SYS, "No memory to share");
  ((size_t *)memory)[0] = size;
  ((int *)memory)[2]    = file;
  *ptr                  = memory + ALIGNMENT;
  PetscCall(PetscSNPrintf(handle->bytes, sizeof(handle->bytes), "/proc/%d/fd/%d", (int)getpid(), file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallUnimport(void *ptr)
{
  char *memory = (char *)ptr - ALIGNMENT;

  PetscFunctionBegin;
  (void)munmap(memory, *(size_t *)memory);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceCallUnexport(void *ptr)
{
  const int file = ((int *)((char *)ptr - ALIGNMENT))[2];

  PetscFunctionBegin;
  PetscCall(PolderDeviceCallUnimport(ptr));
  (void)close(file);
  --Shared;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -emulated_apart r: process r cannot open the memory of others, as when no link leads from its device to theirs */
PetscErrorCode PolderDeviceCallImport(const PolderShareHandle *handle, void **ptr)
{
  PetscMPIInt rank;
  PetscInt    apart = -1;
  int         file;
  struct stat info;
  char       *memory = (char *)MAP_FAILED;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-emulated_apart", &apart, NULL));
  file = rank == apart ? -1 : open(handle->bytes, O_RDWR);
  if (file >= 0 && !fstat(file, &info)) memory = (char *)mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) (void)close(file);
  *ptr = memory == MAP_FAILED ? NULL : memory + ALIGNMENT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of shared memory. They are not PETSc's: some last as long as the library, and grow */
static int SharedBlocks = 0;

PetscErrorCode PolderDeviceCallFinalize(void)
{
  PetscFunctionBegin;
  PetscCheck(!SharedBlocks, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d blocks of shared memory are left", SharedBlocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceGetWork(void **work)
{
  PetscFunctionBegin;
  *work = Work;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceMallocShared(size_t bytes, void *host, void *device)
{
  PetscFunctionBegin;
  NotRecorded();
  *(void **)host = malloc(bytes);
  PetscCheck(*(void **)host, PETSC_COMM_SELF, PETSC_ERR_MEM, "No shared memory of %zu bytes", bytes);
  *(void **)device = *(void **)host;
  ++SharedBlocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceFreeShared(void *host)
{
  PetscFunctionBegin;
  NotRecorded();
  SharedBlocks -= *(void **)host != NULL;
  free(*(void **)host);
  *(void **)host = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceWaitReal(const volatile PetscReal *slot, PetscReal *value)
{
  PetscFunctionBegin;
  NotRecorded();
  *value = *slot;
  PetscCheck(!PetscIsNanReal(*value), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The value that is waited for was never sent");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceReplay(PolderDeviceGraph *graph, PetscErrorCode (*body)(void *), void *ctx)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  Launches  = 0;
  Recording = PETSC_TRUE;
  ierr      = body(ctx);
  Recording = PETSC_FALSE;
  PetscCall(ierr);
  if (!*graph) {
    PetscCall(PetscMalloc(sizeof(Launches), graph));
    *(size_t *)*graph = Launches;
  }
  PetscCheck(*(size_t *)*graph == Launches, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu launches were recorded, and %zu are to be replayed", *(size_t *)*graph,
             Launches);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderDeviceGraphDestroy(PolderDeviceGraph *graph)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}
