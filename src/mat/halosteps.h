/* Ways to exchange the values of a halo between devices without the host, each a table of steps. */
#pragma once

#include "core/peers.h"

/* One side of an exchange: the values for process rank[k], or those from it, are at the positions idx[ptr[k] .. ptr[k + 1]) */
typedef struct {
  PolderRankCount    n;
  const PetscMPIInt *rank;
  const PetscInt    *ptr, *idx;
} PolderHaloSide;

/* Sent are owned values, received are ghosts */
typedef struct {
  MPI_Comm       comm;
  PolderHaloSide sent, received;
} PolderHaloGraph;

/* The processes that share values with this one on either side, ascending, so that sums of ghosts have the same order in every run. Free rank[] */
PETSC_INTERN PetscErrorCode PolderHaloNeighbours(const PolderHaloGraph *, PetscMPIInt *n, PetscMPIInt *rank[]);
/* One side in the order of n neighbours, some of which may have no values there: ptr[n + 1], idx[], which the caller frees, and the most of one neighbour */
PETSC_INTERN PetscErrorCode PolderHaloByNeighbour(const PolderHaloSide *, PetscMPIInt n, const PetscMPIInt rank[], PetscInt ptr[], PetscInt *idx[],
                                                  PetscInt *most);

typedef struct {
  /* Sets up the exchange; NULL when the processes take another way. Collective */
  PetscErrorCode (*create)(const PolderHaloGraph *, void **link);
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
