/* A halo whose values processes store into each other's device memory. */
#pragma once

#include "core/peers.h"
#include <petscsf.h>

typedef struct _n_PolderHaloPeers *PolderHaloPeers;

/* The exchange along sf (roots: owned columns, leaves: ghosts); NULL where the processes do not reach each other's memory. Collective */
PETSC_INTERN PetscErrorCode PolderHaloPeersCreate(PetscSF sf, PolderHaloPeers *);
PETSC_INTERN PetscErrorCode PolderHaloPeersDestroy(PolderHaloPeers *);
/* ghost <- owned values of others, in two parts: sent and received. A value has 4 or 8 bytes */
PETSC_INTERN PetscErrorCode PolderHaloPeersSend(PolderHaloPeers, int bytes, const void *owned);
PETSC_INTERN PetscErrorCode PolderHaloPeersReceive(PolderHaloPeers, int bytes, void *ghost);
/* owned += what others have as ghosts */
PETSC_INTERN PetscErrorCode PolderHaloPeersReduce(PolderHaloPeers, const PetscScalar ghost[], PetscScalar owned[]);
/* Instead of receiving, see PolderExchangeMultAdd_CUDA(); *dot is summed over all processes when sum is set. done = PETSC_FALSE, and nothing is done, when the
   ghosts are not in the order of their columns */
PETSC_INTERN PetscErrorCode PolderHaloPeersMultAdd(PolderHaloPeers, const PolderGhostRows *, const PetscScalar p[], PetscScalar z[], PetscScalar *dot,
                                                   PetscBool sum, PetscBool *done);
