/* Ways to exchange the values of a halo between devices without the host, each a table of steps. */
#pragma once

#include "core/peers.h"
#include <petscsf.h>

typedef struct {
  /* Sets up the exchange of sf (roots: owned columns, leaves: ghosts); NULL when the processes take another way. Collective */
  PetscErrorCode (*create)(PetscSF sf, void **link);
  PetscErrorCode (*destroy)(void **link);
  /* ghost <- owned values of others, split into send and receive. A value has 4 or 8 bytes */
  PetscErrorCode (*send)(void *link, int bytes, const void *owned);
  PetscErrorCode (*receive)(void *link, int bytes, void *ghost);
  /* owned += the values that other processes hold as ghosts */
  PetscErrorCode (*reduce)(void *link, const PetscScalar ghost[], PetscScalar owned[]);
  /* For kernels that send and read the values themselves; *e = NULL: not possible. NULL: never */
  PetscErrorCode (*exchange)(void *link, const PolderExchange **e);
  /* Can multadd() replace the receive, see PolderHaloEndMultAdd()? NULL: never */
  PetscBool (*adds)(void *link);
  PetscErrorCode (*multadd)(void *link, const PolderGhostRows *, const PetscScalar p[], PetscScalar z[], PetscScalar *dot, PetscBool sum);
  /* For a kernel that sends the values itself as it computes them; n = 0: not possible. NULL: never */
  const PolderSends *(*sends)(void *link);
  PetscBool launches; /* they consist of kernel launches only */
} PolderHaloSteps;

PETSC_INTERN const PolderHaloSteps PolderHaloStepsPeer, PolderHaloStepsNccl;
