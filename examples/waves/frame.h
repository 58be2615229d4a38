/* The loops of a frame over the nodes of a process, each on the host and on a GPU. They take arrays and sizes, no PETSc objects. */
#pragma once

#include "row.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* b and the initial guess of psi */
void           WavesRhs_Host(const WavesRhs *);
PetscErrorCode WavesRhs_CUDA(const WavesRhs *);
/* zeta and phi of the next frame, without incoming waves and ships */
void           WavesStep_Host(const WavesStep *);
PetscErrorCode WavesStep_CUDA(const WavesStep *);
/* The contribution of incoming waves to zeta and phi, on the nodes of a box */
void           WavesIncoming_Host(const WavesStep *, const WavesIncoming *, const WavesBox *);
PetscErrorCode WavesIncoming_CUDA(const WavesStep *, const WavesIncoming *, const WavesBox *);
/* The contribution of a ship to phi, in a box around it */
void           WavesShip_Host(const WavesStep *, const WavesShip *, const WavesBox *);
PetscErrorCode WavesShip_CUDA(const WavesStep *, const WavesShip *, const WavesBox *);
/* h and D at the own nodes and their neighbours */
void           WavesDepth_Host(const WavesDepth *);
PetscErrorCode WavesDepth_CUDA(const WavesDepth *);
/* The entries of S */
void           WavesMatrix_Host(const WavesMatrix *);
PetscErrorCode WavesMatrix_CUDA(const WavesMatrix *);
/* Zeros on land in six fields */
void           WavesDry_Host(const WavesGrid *, PetscScalar *const field[6]);
PetscErrorCode WavesDry_CUDA(const WavesGrid *, PetscScalar *const field[6]);
/* Waits for the GPU */
void           WavesWait_Host(void);
PetscErrorCode WavesWait_CUDA(void);
/* The part of the memory of the GPU that is in use, at least for what this program has had there; host: 0, that is not known */
void           WavesMemory_Host(PetscReal *used);
PetscErrorCode WavesMemory_CUDA(PetscReal *used);

#if defined(__cplusplus)
}
#endif

/* Calls the version for the memory of the vectors of a sea */
#if defined(EXAMPLES_HAVE_CUDA)
  #define WavesDo(s, name, ...) \
    do { \
      if ((s)->device) PetscCall(name##_CUDA(__VA_ARGS__)); \
      else name##_Host(__VA_ARGS__); \
    } while (0)
#else
  #define WavesDo(s, name, ...) name##_Host(__VA_ARGS__)
#endif
