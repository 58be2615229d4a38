/* A halo whose processes store values directly into each other's device memory. */
#pragma once

#include "core/peers.h"
#include <petscsf.h>

typedef struct _n_PolderHaloPeers *PolderHaloPeers;

/* Sets up the exchange of sf (roots: owned columns, leaves: ghosts); NULL when the processes cannot access each other's memory. width: values a ghost; those
   with more than one are exchanged by kernels of their own. Collective */
PETSC_INTERN PetscErrorCode PolderHaloPeersCreate(PetscSF sf, int width, PolderHaloPeers *);
PETSC_INTERN PetscErrorCode PolderHaloPeersDestroy(PolderHaloPeers *);
/* ghost <- owned values of others, split into send and receive. A value has 4 or 8 bytes */
PETSC_INTERN PetscErrorCode PolderHaloPeersSend(PolderHaloPeers, int bytes, const void *owned);
PETSC_INTERN PetscErrorCode PolderHaloPeersReceive(PolderHaloPeers, int bytes, void *ghost);
/* For a kernel that sends the values itself as it computes them; n = 0: not possible */
PETSC_INTERN const PolderSends *PolderHaloPeersGetSends(PolderHaloPeers);
/* owned += the values that other processes hold as ghosts */
PETSC_INTERN PetscErrorCode PolderHaloPeersReduce(PolderHaloPeers, const PetscScalar ghost[], PetscScalar owned[]);
/* Replaces the receive, see PolderExchangeMultAdd_CUDA(); *dot is summed over all processes when sum is set. done = PETSC_FALSE, and nothing is done, when
   the ghosts are not in the order of their columns */
PETSC_INTERN PetscErrorCode PolderHaloPeersMultAdd(PolderHaloPeers, const PolderGhostRows *, const PetscScalar p[], PetscScalar z[], PetscScalar *dot,
                                                   PetscBool sum, PetscBool *done);
/* What kernels that exchange need: value w of ghost g arrives in cell width g + w. NULL: no peers, or the ghosts are not in the order of their columns */
PETSC_INTERN const PolderExchange *PolderHaloPeersGetExchange(PolderHaloPeers);
