/* What the files of the device layer on CUDA share. */
#pragma once

#include "device.h"
#include <petscdevice_cuda.h>

/* Least size of a block of memory that the host and the device share */
#define POLDER_SHARED_BYTES 8192

/* The memory pool of the library, which never returns freed memory to the driver by itself */
PETSC_INTERN PetscErrorCode PolderCudaGetPool(cudaMemPool_t *);
/* Memory of freed blocks, see devicecudareuse.c: *bytes is rounded up, and *ptr is NULL if there is no such block. Add tells of new memory, and Free says
   whether the block is kept. GiveBack frees all that are, as Finalize does */
PETSC_INTERN PetscErrorCode PolderReuseMalloc(size_t *bytes, PolderStream, void **ptr);
PETSC_INTERN PetscErrorCode PolderReuseAdd(size_t bytes, PolderStream, void *ptr);
PETSC_INTERN PetscErrorCode PolderReuseFree(PolderStream, void *ptr, PetscBool *kept);
PETSC_INTERN PetscErrorCode PolderReuseGiveBack(PolderStream);
PETSC_INTERN PetscErrorCode PolderReuseFinalize(void);
/* Page-locked memory, and such memory that the device reads and writes; NULL: there is none. They call nothing of PETSc */
PETSC_INTERN void *PolderCudaLock(size_t bytes);
PETSC_INTERN void *PolderCudaMallocShared(size_t bytes);
/* Frees a list of blocks of shared memory, each of which begins with the address of the next one */
PETSC_INTERN PetscErrorCode PolderCudaFreeShared(void *list);
/* After everything is freed */
PETSC_INTERN PetscErrorCode PolderCudaMemoryFinalize(void);

/* Is the pool not ready, so that the first memory from it would take long? Begins what makes it ready */
PETSC_INTERN PetscErrorCode PolderCudaEarly(PetscBool *);
/* Page-locked memory of at least that size, and a list of blocks of shared memory, once PolderDeviceBegin() has made them; else NULL */
PETSC_INTERN PetscErrorCode PolderCudaTakeLocked(size_t bytes, void **);
PETSC_INTERN PetscErrorCode PolderCudaTakeShared(void **);
/* The stream that records launches; NULL: none are recorded */
PETSC_INTERN PetscErrorCode PolderCudaGetRecorder(PolderStream *);
PETSC_INTERN PetscErrorCode PolderCudaGraphFinalize(void);
/* Waits for what PolderDeviceBegin() began */
PETSC_INTERN PetscErrorCode PolderCudaBeginFinalize(void);
