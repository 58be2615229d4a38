/* What the rest of the library knows about a GPU. Only this file, device.c and devicecuda*.c test whether CUDA is compiled in. */
#pragma once

#include "compat.h"
#include "kernels/launcher.h"
#include <petscksp.h>

/* Recorded launches */
typedef struct _n_PolderDeviceGraph *PolderDeviceGraph;

#if defined(POLDER_HAVE_CUDA)
PETSC_INTERN const char *PolderDeviceErrorString(int);
  /* Checks the return value of a kernel launcher or of a CUDA runtime call */
  #define PolderLaunch(...) \
    do { \
      const int polder_err_ = (int)(__VA_ARGS__); \
      PetscCheck(!polder_err_, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA error %d: %s", polder_err_, PolderDeviceErrorString(polder_err_)); \
    } while (0)
#else
  #define PolderLaunch(...) \
    do { \
      (void)sizeof(__VA_ARGS__); \
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "This libpolder.so was built without CUDA: rebuild it with a PETSc that has CUDA"); \
    } while (0)
#endif

/* PETSc's types for a device, and NCCL's library; an emulated device (tests/emulated) uses the host types */
#if defined(POLDER_EMULATED)
  #define POLDER_VEC_DEVICE       VECSTANDARD
  #define POLDER_MATSEQAIJ_DEVICE MATSEQAIJPERM
  #define POLDER_MATMPIAIJ_DEVICE MATMPIAIJPERM
  #define POLDER_MATAIJ_DEVICE    MATAIJ
  #define POLDER_SOLVER_DEVICE    MATSOLVERPETSC
  #define POLDER_MEMTYPE_DEVICE   PETSC_MEMTYPE_HOST
  #define POLDER_NCCL_FILE        "libnccl-emulated.so"
#else
  #define POLDER_VEC_DEVICE       VECCUDA
  #define POLDER_MATSEQAIJ_DEVICE MATSEQAIJCUSPARSE
  #define POLDER_MATMPIAIJ_DEVICE MATMPIAIJCUSPARSE
  #define POLDER_MATAIJ_DEVICE    MATAIJCUSPARSE
  #define POLDER_SOLVER_DEVICE    MATSOLVERCUSPARSE
  #define POLDER_MEMTYPE_DEVICE   PETSC_MEMTYPE_CUDA
  #define POLDER_NCCL_FILE        "libnccl.so.2"
#endif

/* Bytes of scratch that a PolderXxxWork_CUDA() returns */
#if defined(POLDER_HAVE_CUDA)
  #define PolderWorkSize(call) (call)
#else
  #define PolderWorkSize(call) ((void)sizeof(call), (size_t)0)
#endif

/* A query of the kernels that returns a PetscBool; without CUDA the answer is PETSC_FALSE */
#if defined(POLDER_HAVE_CUDA)
  #define PolderKernelCan(call) (call)
#else
  #define PolderKernelCan(call) ((void)sizeof(call), PETSC_FALSE)
#endif

/* Is CUDA compiled in? */
PETSC_INTERN PetscBool PolderDeviceCompiled(void);
/* Does PETSc pass device pointers to MPI? */
PETSC_INTERN PetscBool PolderDeviceMPI(void);
/* Is CUDA compiled in, and does the machine have a GPU? */
PETSC_INTERN PetscErrorCode PolderDevicePresent(PetscBool *);
/* Does p point to device memory? */
PETSC_INTERN PetscErrorCode PolderDeviceIsPointer(const void *p, PetscBool *);
/* Does the program use a GPU already, because it has made a CUDA vector for example? PETSC_FALSE without CUDA and on a machine without a GPU */
PETSC_INTERN PetscErrorCode PolderDeviceInUse(PetscBool *);
/* Begins in a thread what takes a device long the first time, unless that is done or the program uses none. Matrices that may multiply there call it */
PETSC_INTERN PetscErrorCode PolderDeviceBegin(void);
/* Is v a CUDA vector whose operations run on the device? PETSC_FALSE without CUDA */
PETSC_INTERN PetscErrorCode PolderVecOnDevice(Vec v, PetscBool *);
/* Tells PETSc where the values of a matrix are; without CUDA it does nothing */
PETSC_INTERN PetscErrorCode PolderMatSetOffload(Mat, PetscOffloadMask);
PETSC_INTERN PetscErrorCode PolderMatGetOffload(Mat, PetscOffloadMask *);
/* The rows of an aijcusparse matrix on the device, for reading; done = PETSC_FALSE when PETSc keeps them in indices of another size */
PETSC_INTERN PetscErrorCode PolderImageGetRows(Mat, const PetscInt **ai, const PetscInt **aj, const PetscScalar **aa, PetscBool *done);
/* The values of an aijcusparse matrix on the device; the caller must write all of them */
PETSC_INTERN PetscErrorCode PolderImageGetValues(Mat, PetscScalar **);
PETSC_INTERN PetscErrorCode PolderImageRestoreValues(Mat, PetscScalar **);
/* A vector of zeros with this layout and type. PETSc gives a CUDA vector of several processes page-locked memory on the host as well, which takes 40 ms for
   8 million values; here it gets that when it is read on the host. Collective */
PETSC_INTERN PetscErrorCode PolderVecCreate(MPI_Comm, PetscLayout, VecType, Vec *);
/* VecDuplicate() and VecDuplicateVecs(). On the device the values are allocated here, from the pool of PolderDeviceMalloc(). PETSc would allocate them at
   the first write, during a solve, which takes as long as several products. The operations are those of PolderVecTakeOperations() */
PETSC_INTERN PetscErrorCode PolderVecDuplicate(Vec v, Vec *w);
PETSC_INTERN PetscErrorCode PolderVecDuplicateVecs(Vec v, PetscInt n, Vec **w);
/* n work vectors in place of those that the KSP has, like `like`; NULL: like its right-hand side, or like vectors of its operator before there is one */
PETSC_INTERN PetscErrorCode PolderKSPSetWorkVecs(KSP, PetscInt n, Vec like);
/* y = own y + sum of a[k] x[k], n > 0 terms, none of them y; one pass on the device */
PETSC_INTERN PetscErrorCode PolderVecCombine(Vec y, PetscScalar own, PetscInt n, const PetscScalar a[], Vec x[]);
/* If v is on the device, its inner products, norms and linear combinations, and those of its duplicates, become ours, near the bandwidth of the memory */
PETSC_INTERN PetscErrorCode PolderVecTakeOperations(Vec v);
PETSC_INTERN PetscErrorCode PolderVecOperationsFinalize(void);
/* VecNorm(), whose result v keeps, by our kernel if v is on the device. Collective */
PETSC_INTERN PetscErrorCode PolderVecNormKept(Vec v, PetscReal *norm);
/* ||v||, infinity when it is NaN; unlike VecNorm() it does not synchronise with the device. Collective */
PETSC_INTERN PetscErrorCode PolderVecNorm(Vec v, PetscReal *norm);
/* The same in two parts, between which other work can be launched; only one norm at a time */
PETSC_INTERN PetscErrorCode PolderVecNormBegin(Vec v);
PETSC_INTERN PetscErrorCode PolderVecNormEnd(Vec v, PetscReal *norm);
PETSC_INTERN PetscErrorCode PolderVecNormFinalize(void);
/* Device arrays of a vector: to read, to write every entry, to read and write */
PETSC_INTERN PetscErrorCode PolderVecGetDeviceRead(Vec, const PetscScalar **);
PETSC_INTERN PetscErrorCode PolderVecRestoreDeviceRead(Vec, const PetscScalar **);
PETSC_INTERN PetscErrorCode PolderVecGetDeviceWrite(Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode PolderVecRestoreDeviceWrite(Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode PolderVecGetDeviceArray(Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode PolderVecRestoreDeviceArray(Vec, PetscScalar **);

/* PETSc's current stream, on which all kernels are launched */
PETSC_INTERN PetscErrorCode PolderDeviceGetStream(PolderStream *);
/* Waits for this stream */
PETSC_INTERN PetscErrorCode PolderDeviceSynchronize(void);
/* A second stream, whose work may overlap that of the first one. Fork: it goes on after what the first one has been given. Join: the first one goes on after
   what the second one has been given */
PETSC_INTERN PetscErrorCode PolderDeviceFork(PolderStream *);
PETSC_INTERN PetscErrorCode PolderDeviceJoin(void);
/* ptr is the address of a pointer. The allocation is ordered by the stream and comes from a pool that keeps freed memory, so a set-up may allocate often.
   Zero bytes give NULL. PETSC_ERR_MEM, with the number of bytes, when the device has not enough memory */
PETSC_INTERN PetscErrorCode PolderDeviceMalloc(size_t bytes, void *ptr);
/* Accepts NULL; sets the pointer to NULL */
PETSC_INTERN PetscErrorCode PolderDeviceFree(void *ptr);
/* The `work` argument of launchers that reduce. One array per process suffices, since all of them run on one stream; belongs to the device */
PETSC_INTERN PetscErrorCode PolderDeviceGetWork(void **work);
PETSC_INTERN PetscErrorCode PolderDeviceZero(void *ptr, size_t bytes);
PETSC_INTERN PetscErrorCode PolderDeviceToDevice(void *to, const void *from, size_t bytes);
/* Counted by -log_view. To the host: complete on return. From the host: `from` may be reused on return */
PETSC_INTERN PetscErrorCode PolderDeviceToHost(void *to, const void *from, size_t bytes);
/* The same in two steps: between them the host may launch what does not change the array. A short array is on its way then */
typedef struct {
  const void *from;
  size_t      bytes;
  int         buffer;
  void       *there;
} PolderFetch;
PETSC_INTERN PetscErrorCode PolderDeviceFetchBegin(size_t bytes, const void *from, PolderFetch *);
PETSC_INTERN PetscErrorCode PolderDeviceFetchEnd(PolderFetch *, void *to);
PETSC_INTERN PetscErrorCode PolderDeviceFromHost(void *to, const void *from, size_t bytes);
/*
  A large array, made on the host piece by piece while earlier pieces are on their way to the device. fill(ctx, at, n, there) makes the n bytes that begin with
  byte `at`; several threads call it at a time, so it may call nothing of PETSc, and PETSC_FALSE from it ends the copy. All pieces but the last have `piece`
  bytes, at most PolderDeviceLimits.piece. done = PETSC_FALSE: fill() has ended the copy, or there is no page-locked memory
*/
typedef PetscBool (*PolderDeviceFill)(const void *ctx, size_t at, size_t n, void *there);
PETSC_INTERN PetscErrorCode PolderDeviceStream(size_t bytes, size_t piece, PolderDeviceFill fill, const void *ctx, void *to, PetscBool *done);
/* Arrays from `least` bytes on go in pieces; `piece` is the size of a buffer; `threads` make the pieces, 0: not determined yet. Tests change these */
typedef struct {
  size_t   least, piece;
  PetscInt threads;
} PolderStreamLimits;
PETSC_INTERN PolderStreamLimits PolderDeviceLimits;
/* Threads of this process for such work: -polder_threads, or as many as its processors, or its share of those of the node where all processes may run on all
   of them */
PETSC_INTERN PetscErrorCode PolderDeviceThreads(size_t *);
/* Copies an array to device memory; ptr is the address of a pointer, as for PolderDeviceMalloc() */
static inline PetscErrorCode PolderDeviceUpload(size_t bytes, const void *from, void *ptr)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(bytes, ptr));
  PetscCall(PolderDeviceFromHost(*(void **)ptr, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/* Pinned memory that the device writes while the host reads; *host and *device are its addresses on the two */
PETSC_INTERN PetscErrorCode PolderDeviceMallocShared(size_t bytes, void *host, void *device);
PETSC_INTERN PetscErrorCode PolderDeviceFreeShared(void *host);
/* Waits until the device has replaced the NaN at slot, which is in shared memory */
PETSC_INTERN PetscErrorCode PolderDeviceWaitReal(const volatile PetscReal *slot, PetscReal *value);
/*
  Runs body as a single launch. The first call (*graph is NULL) records the launches of body in *graph; later calls launch the graph. body must not wait,
  allocate, or copy from or to the host. Each of its kernels should have been launched before, since the first launch of a kernel may load it.
*/
PETSC_INTERN PetscErrorCode PolderDeviceReplay(PolderDeviceGraph *graph, PetscErrorCode (*body)(void *), void *ctx);
PETSC_INTERN PetscErrorCode PolderDeviceGraphDestroy(PolderDeviceGraph *);
/* Called by the library's finaliser */
PETSC_INTERN PetscErrorCode PolderDeviceFinalize(void);
