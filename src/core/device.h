/* The only file, with device.c and devicecuda.c, that tests whether CUDA is compiled in: what the rest of the library knows of a GPU. */
#pragma once

#include "compat.h"
#include "kernels/launcher.h"
#include <petscmat.h>

/* A cudaGraphExec_t, without CUDA's headers */
typedef struct CUgraphExec_st *PolderDeviceGraph;

#if defined(POLDER_HAVE_CUDA)
PETSC_INTERN const char *PolderDeviceErrorString(int);
  /* Checks what a launcher of a kernel, or a call of the CUDA run-time library, returns */
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

/* What stands for a device among PETSc's types; an emulated device (tests/emulated) is the host */
#if defined(POLDER_EMULATED)
  #define POLDER_VEC_DEVICE       VECSTANDARD
  #define POLDER_MATSEQAIJ_DEVICE MATSEQAIJPERM
  #define POLDER_MATMPIAIJ_DEVICE MATMPIAIJPERM
  #define POLDER_MATAIJ_DEVICE    MATAIJ
  #define POLDER_SOLVER_DEVICE    MATSOLVERPETSC
  #define POLDER_MEMTYPE_DEVICE   PETSC_MEMTYPE_HOST
#else
  #define POLDER_VEC_DEVICE       VECCUDA
  #define POLDER_MATSEQAIJ_DEVICE MATSEQAIJCUSPARSE
  #define POLDER_MATMPIAIJ_DEVICE MATMPIAIJCUSPARSE
  #define POLDER_MATAIJ_DEVICE    MATAIJCUSPARSE
  #define POLDER_SOLVER_DEVICE    MATSOLVERCUSPARSE
  #define POLDER_MEMTYPE_DEVICE   PETSC_MEMTYPE_CUDA
#endif

/* Bytes that a PolderXxxWork_CUDA() asks for */
#if defined(POLDER_HAVE_CUDA)
  #define PolderWorkSize(call) (call)
#else
  #define PolderWorkSize(call) ((void)sizeof(call), (size_t)0)
#endif

/* A question to the kernels; the answer without CUDA is no */
#if defined(POLDER_HAVE_CUDA)
  #define PolderKernelCan(call) (call)
#else
  #define PolderKernelCan(call) ((void)sizeof(call), PETSC_FALSE)
#endif

/* Is CUDA compiled in? */
PETSC_INTERN PetscBool PolderDeviceCompiled(void);
/* Does PETSc hand device pointers to MPI? */
PETSC_INTERN PetscBool PolderDeviceMPI(void);
/* Is CUDA compiled in, and has the machine a GPU? */
PETSC_INTERN PetscErrorCode PolderDevicePresent(PetscBool *);
/* Does p lead into device memory? */
PETSC_INTERN PetscErrorCode PolderDeviceIsPointer(const void *p, PetscBool *);
/* Does the program use a GPU already (it has made a CUDA vector, say)? Never without CUDA, nor on a machine without a GPU */
PETSC_INTERN PetscErrorCode PolderDeviceInUse(PetscBool *);
/* Is v a CUDA vector whose operations run on the device? Never without CUDA */
PETSC_INTERN PetscErrorCode PolderVecOnDevice(Vec v, PetscBool *);
/* Tells PETSc where the values of a matrix are; nothing to tell without CUDA */
PETSC_INTERN PetscErrorCode PolderMatSetOffload(Mat, PetscOffloadMask);
PETSC_INTERN PetscErrorCode PolderMatGetOffload(Mat, PetscOffloadMask *);
/* The rows of an aijcusparse matrix on the device, for reading; done = PETSC_FALSE when PETSc keeps them in indices of another size */
PETSC_INTERN PetscErrorCode PolderImageGetRows(Mat, const PetscInt **ai, const PetscInt **aj, const PetscScalar **aa, PetscBool *done);
/* The values of an aijcusparse matrix on the device, to be written as a whole */
PETSC_INTERN PetscErrorCode PolderImageGetValues(Mat, PetscScalar **);
PETSC_INTERN PetscErrorCode PolderImageRestoreValues(Mat, PetscScalar **);
/* VecDuplicate() and VecDuplicateVecs(). On the device the values lie in the pool of PolderDeviceMalloc(): PETSc would allocate them when they are first
   written, in the midst of a solve, which takes as long as several products */
PETSC_INTERN PetscErrorCode PolderVecDuplicate(Vec v, Vec *w);
PETSC_INTERN PetscErrorCode PolderVecDuplicateVecs(Vec v, PetscInt n, Vec **w);
/* ||v||, infinity when that is not a number; without the wait for the device that VecNorm() has. Collective */
PETSC_INTERN PetscErrorCode PolderVecNorm(Vec v, PetscReal *norm);
/* The same in two parts, between which the device may be asked for other things; one at a time */
PETSC_INTERN PetscErrorCode PolderVecNormBegin(Vec v);
PETSC_INTERN PetscErrorCode PolderVecNormEnd(Vec v, PetscReal *norm);
PETSC_INTERN PetscErrorCode PolderVecNormFinalize(void);
/* Arrays of a vector on the device: for reading, for writing every entry, for both */
PETSC_INTERN PetscErrorCode PolderVecGetDeviceRead(Vec, const PetscScalar **);
PETSC_INTERN PetscErrorCode PolderVecRestoreDeviceRead(Vec, const PetscScalar **);
PETSC_INTERN PetscErrorCode PolderVecGetDeviceWrite(Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode PolderVecRestoreDeviceWrite(Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode PolderVecGetDeviceArray(Vec, PetscScalar **);
PETSC_INTERN PetscErrorCode PolderVecRestoreDeviceArray(Vec, PetscScalar **);

/* PETSc's current stream, on which everything is launched */
PETSC_INTERN PetscErrorCode PolderDeviceGetStream(PolderStream *);
/* Waits for it */
PETSC_INTERN PetscErrorCode PolderDeviceSynchronize(void);
/* ptr is the address of a pointer. In the order of the stream, from a pool that keeps what is freed, so that a set-up may allocate freely.
   Zero bytes give NULL. PETSC_ERR_MEM, naming the bytes, when the device has no more */
PETSC_INTERN PetscErrorCode PolderDeviceMalloc(size_t bytes, void *ptr);
/* NULL is fine; sets the pointer to NULL */
PETSC_INTERN PetscErrorCode PolderDeviceFree(void *ptr);
/* The scratch that launchers which reduce take as `work`: one for the process, since all run on one stream; belongs to the device */
PETSC_INTERN PetscErrorCode PolderDeviceGetWork(void **work);
PETSC_INTERN PetscErrorCode PolderDeviceZero(void *ptr, size_t bytes);
PETSC_INTERN PetscErrorCode PolderDeviceToDevice(void *to, const void *from, size_t bytes);
/* Counted by -log_view; to the host: complete on return; from the host: `from` may be reused on return */
PETSC_INTERN PetscErrorCode PolderDeviceToHost(void *to, const void *from, size_t bytes);
PETSC_INTERN PetscErrorCode PolderDeviceFromHost(void *to, const void *from, size_t bytes);
/* A copy in device memory; ptr, the address of a pointer, is as for PolderDeviceMalloc() */
static inline PetscErrorCode PolderDeviceUpload(size_t bytes, const void *from, void *ptr)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(bytes, ptr));
  PetscCall(PolderDeviceFromHost(*(void **)ptr, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
/* Pinned memory that the device writes while the host reads: *host and *device are addresses of the same memory */
PETSC_INTERN PetscErrorCode PolderDeviceMallocShared(size_t bytes, void *host, void *device);
PETSC_INTERN PetscErrorCode PolderDeviceFreeShared(void *host);
/* Waits until the device has replaced the NaN at slot, a place in shared memory */
PETSC_INTERN PetscErrorCode PolderDeviceWaitReal(const volatile PetscReal *slot, PetscReal *value);
/*
  What body launches, as one launch: *graph, NULL before, keeps it from the first time on, when body runs. It must not wait, allocate or copy from or to the
  host, and a launch of each of its kernels before this is better: the first one may load it
*/
PETSC_INTERN PetscErrorCode PolderDeviceReplay(PolderDeviceGraph *graph, PetscErrorCode (*body)(void *), void *ctx);
PETSC_INTERN PetscErrorCode PolderDeviceGraphDestroy(PolderDeviceGraph *);
/* With the library's finaliser */
PETSC_INTERN PetscErrorCode PolderDeviceFinalize(void);
