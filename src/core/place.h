/* Where arrays are stored and kernels run: the host or the device. The place is chosen once, when a matrix, a preconditioner or a solver is set up. All
   later work goes through the functions of that place. */
#pragma once

#include "device.h"

typedef struct {
  const char *name;
  PetscBool   device;
  MatType     mataij; /* the AIJ type whose products run at this place */
  /* ptr is the address of a pointer. Zero bytes give NULL on the device and may give NULL on the host, so a NULL array of length 0 is valid */
  PetscErrorCode (*malloc)(size_t bytes, void *ptr);
  /* Accepts NULL; sets the pointer to NULL */
  PetscErrorCode (*free)(void *ptr);
  PetscErrorCode (*zero)(void *there, size_t bytes);
  PetscErrorCode (*copy)(void *to, const void *from, size_t bytes); /* within the place */
  /* put: copies from host memory, which may be reused on return; take: copies to host memory, complete on return */
  PetscErrorCode (*put)(void *there, const void *here, size_t bytes);
  PetscErrorCode (*take)(void *here, const void *there, size_t bytes);
  /* The array of a vector at this place: to read, to write every entry, to read and write */
  PetscErrorCode (*vecgetread)(Vec, const PetscScalar **);
  PetscErrorCode (*vecrestoreread)(Vec, const PetscScalar **);
  PetscErrorCode (*vecgetwrite)(Vec, PetscScalar **);
  PetscErrorCode (*vecrestorewrite)(Vec, PetscScalar **);
  PetscErrorCode (*vecget)(Vec, PetscScalar **);
  PetscErrorCode (*vecrestore)(Vec, PetscScalar **);
  PetscErrorCode (*logflops)(PetscLogDouble);
  /* Enclose work on a GPU, for -log_view; on the host they do nothing */
  PetscErrorCode (*timebegin)(void);
  PetscErrorCode (*timeend)(void);
  PetscMemType memtype; /* the corresponding memory type of PetscSF */
} PolderPlace;

PETSC_INTERN const PolderPlace PolderOnHost, PolderOnDevice;

static inline const PolderPlace *PolderPlaceOf(PetscBool device)
{
  return device ? &PolderOnDevice : &PolderOnHost;
}

/* The device when both vectors are there (v = NULL: only u counts), else the host */
PETSC_INTERN PetscErrorCode PolderPlaceOfVecs(Vec u, Vec v, const PolderPlace **);
/* Fills v, where it is, with numbers that look random (kernels/shadow.h); VecSetRandom() would take them from the host */
PETSC_INTERN PetscErrorCode PolderVecFill(Vec v, PetscInt seed, PetscInt column);

/* Runs the kernel of that stem where the arrays are: the launcher stem_CUDA(..., stream) or its host twin stem_Host(...) */
#define PolderRun(place, stem, ...) \
  do { \
    if ((place)->device) { \
      PolderStream polder_stream_; \
      PetscCall(PolderDeviceGetStream(&polder_stream_)); \
      PolderLaunch(stem##_CUDA(__VA_ARGS__, polder_stream_)); \
    } else stem##_Host(__VA_ARGS__); \
  } while (0)

/* The same for kernels that compute sums, whose launchers take scratch before the stream */
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

/* Allocates n values of the type that *ptr points to */
#define PolderPlaceMalloc(place, n, ptr) ((*(place)->malloc)(sizeof(**(ptr)) * (size_t)(n), (ptr)))

/* Put copies n values from host memory to an array at the place, Take copies them back */
#define PolderPlacePut(place, n, here, there)  ((*(place)->put)((there), (here), sizeof(*(there)) * (size_t)(n)))
#define PolderPlaceTake(place, n, there, here) ((*(place)->take)((here), (there), sizeof(*(here)) * (size_t)(n)))

/* Upload allocates an array at the place and copies `here` from the host into it; Fetch copies it back and frees it. ptr is the address of the pointer to
   the array */
static inline PetscErrorCode PolderPlaceUpload(const PolderPlace *place, size_t bytes, const void *here, void *ptr)
{
  PetscFunctionBegin;
  PetscCall((*place->malloc)(bytes, ptr));
  PetscCall((*place->put)(*(void **)ptr, here, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Move makes an array at the place of one that PolderOnHost has allocated, which is then gone */
static inline PetscErrorCode PolderPlaceMove(const PolderPlace *place, size_t bytes, void *here, void *ptr)
{
  PetscFunctionBegin;
  if (place->device) {
    PetscCall(PolderPlaceUpload(place, bytes, *(void **)here, ptr));
    PetscCall((*PolderOnHost.free)(here));
  } else {
    *(void **)ptr  = *(void **)here;
    *(void **)here = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lend gives the place an array of the host to read, until Return */
static inline PetscErrorCode PolderPlaceLend(const PolderPlace *place, size_t bytes, const void *here, void *ptr)
{
  PetscFunctionBegin;
  if (place->device) PetscCall(PolderPlaceUpload(place, bytes, here, ptr));
  else *(const void **)ptr = here;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode PolderPlaceReturn(const PolderPlace *place, void *ptr)
{
  PetscFunctionBegin;
  if (place->device) PetscCall((*place->free)(ptr));
  *(void **)ptr = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode PolderPlaceFetch(const PolderPlace *place, size_t bytes, void *ptr, void *here)
{
  PetscFunctionBegin;
  PetscCall((*place->take)(here, *(void **)ptr, bytes));
  PetscCall((*place->free)(ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The array of a vector that may be elsewhere. In that case *standin, an array at the place that is allocated at its first use, replaces it; restoring
   copies the result to the vector */
PETSC_INTERN PetscErrorCode PolderPlaceVecGetRead(const PolderPlace *, Vec, PetscScalar **standin, const PetscScalar **);
PETSC_INTERN PetscErrorCode PolderPlaceVecRestoreRead(const PolderPlace *, Vec, PetscScalar *standin, const PetscScalar **);
PETSC_INTERN PetscErrorCode PolderPlaceVecGet(const PolderPlace *, Vec, PetscScalar **standin, PetscScalar **);
PETSC_INTERN PetscErrorCode PolderPlaceVecRestore(const PolderPlace *, Vec, PetscScalar *standin, PetscScalar **);
