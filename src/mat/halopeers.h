/* A halo whose processes store values directly into each other's device memory. */
#pragma once

#include "halosteps.h"

typedef struct _n_PolderHaloPeers *PolderHaloPeers;

/* Sets up the exchange; NULL when the processes do not store into each other's memory. width: values a ghost; those with more than one are exchanged by kernels
   of their own. Collective */
PETSC_INTERN PetscErrorCode PolderHaloPeersCreate(const PolderHaloGraph *, int width, PolderHaloPeers *);
PETSC_INTERN PetscErrorCode PolderHaloPeersDestroy(PolderHaloPeers *);
/* What kernels that exchange need: value w of ghost g arrives in cell width g + w. NULL: no peers, or the ghosts are not in the order of their columns */
PETSC_INTERN const PolderExchange *PolderHaloPeersGetExchange(PolderHaloPeers);
