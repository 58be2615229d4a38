/* Where arrays live and kernels run: the host or the device. Chosen once, when a matrix, a preconditioner or a solver is set up; from then on the algorithm
   asks its place. */
#pragma once

#include "device.h"

typedef struct {
  const char *name;
  PetscBool   device;
  MatType     mataij; /* the AIJ type whose products run there */
  /* ptr is the address of a pointer. Zero bytes give NULL on the device and may on the host: a NULL array of length 0 means nothing */
  PetscErrorCode (*malloc)(size_t bytes, void *ptr);
  /* NULL is fine; sets the pointer to NULL */
  PetscErrorCode (*free)(void *ptr);
  PetscErrorCode (*zero)(void *there, size_t bytes);
  PetscErrorCode (*copy)(void *to, const void *from, size_t bytes); /* within the place */
  /* From host memory, which may be reused on return, and to host memory, complete on return */
  PetscErrorCode (*put)(void *there, const void *here, size_t bytes);
  PetscErrorCode (*take)(void *here, const void *there, size_t bytes);
  /* The array of a vector that is there: for reading, for writing every entry, for both */
  PetscErrorCode (*vecgetread)(Vec, const PetscScalar **);
  PetscErrorCode (*vecrestoreread)(Vec, const PetscScalar **);
  PetscErrorCode (*vecgetwrite)(Vec, PetscScalar **);
  PetscErrorCode (*vecrestorewrite)(Vec, PetscScalar **);
  PetscErrorCode (*vecget)(Vec, PetscScalar **);
  PetscErrorCode (*vecrestore)(Vec, PetscScalar **);
  PetscErrorCode (*logflops)(PetscLogDouble);
  /* Around what a GPU computes, for -log_view; on the host nothing */
  PetscErrorCode (*timebegin)(void);
  PetscErrorCode (*timeend)(void);
  PetscMemType memtype; /* what PetscSF calls it */
} PolderPlace;

PETSC_INTERN const PolderPlace PolderOnHost, PolderOnDevice;

static inline const PolderPlace *PolderPlaceOf(PetscBool device)
{
  return device ? &PolderOnDevice : &PolderOnHost;
}

/* The device when both vectors are there, v = NULL counting as there */
PETSC_INTERN PetscErrorCode PolderPlaceOfVecs(Vec u, Vec v, const PolderPlace **);

/* The kernel of that stem where the arrays are: the launcher stem_CUDA(..., stream) or its host twin stem_Host(...) */
#define PolderRun(place, stem, ...) \
  do { \
    if ((place)->device) { \
      PolderStream polder_stream_; \
      PetscCall(PolderDeviceGetStream(&polder_stream_)); \
      PolderLaunch(stem##_CUDA(__VA_ARGS__, polder_stream_)); \
    } else stem##_Host(__VA_ARGS__); \
  } while (0)

/* The same for kernels that sum, whose launcher takes scratch before the stream */
#define PolderRunSum(place, stem, ...) \
  do { \
    if ((place)->device) { \
      PolderStream polder_stream_; \
      void        *polder_work_; \
      PetscCall(PolderDeviceGetStream(&polder_stream_)); \
      PetscCall(PolderDeviceGetWork(&polder_work_)); \
      PolderLaunch(stem##_CUDA(__VA_ARGS__, polder_work_, polder_stream_)); \
    } else stem##_Host(__VA_ARGS__); \
  } while (0)

/* Room for n values of the type that *ptr leads to */
#define PolderPlaceMalloc(place, n, ptr) ((*(place)->malloc)(sizeof(**(ptr)) * (size_t)(n), (ptr)))

/* n values copied from host memory to an array there, and an array made for them */
#define PolderPlacePut(place, n, here, there)  ((*(place)->put)((there), (here), sizeof(*(there)) * (size_t)(n)))
#define PolderPlaceTake(place, n, there, here) ((*(place)->take)((here), (there), sizeof(*(here)) * (size_t)(n)))

/* An array there with a copy of what is here on the host, ptr being the address of a pointer; and the way back, which frees that array */
static inline PetscErrorCode PolderPlaceUpload(const PolderPlace *place, size_t bytes, const void *here, void *ptr)
{
  PetscFunctionBegin;
  PetscCall((*place->malloc)(bytes, ptr));
  PetscCall((*place->put)(*(void **)ptr, here, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode PolderPlaceFetch(const PolderPlace *place, size_t bytes, void *ptr, void *here)
{
  PetscFunctionBegin;
  PetscCall((*place->take)(here, *(void **)ptr, bytes));
  PetscCall((*place->free)(ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The array of a vector that may be elsewhere: then *standin, an array there that is made at its first use, stands for it, and is copied to it in the end */
PETSC_INTERN PetscErrorCode PolderPlaceVecGetRead(const PolderPlace *, Vec, PetscScalar **standin, const PetscScalar **);
PETSC_INTERN PetscErrorCode PolderPlaceVecRestoreRead(const PolderPlace *, Vec, PetscScalar *standin, const PetscScalar **);
PETSC_INTERN PetscErrorCode PolderPlaceVecGet(const PolderPlace *, Vec, PetscScalar **standin, PetscScalar **);
PETSC_INTERN PetscErrorCode PolderPlaceVecRestore(const PolderPlace *, Vec, PetscScalar *standin, PetscScalar **);
