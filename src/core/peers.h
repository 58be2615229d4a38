/* Processes of one host that write to each other's device memory, each with a GPU of its own: what kernels/peers.h needs to exchange without a host. */
#pragma once

#include "device.h"
#include "kernels/peers.h"

/* How values go from one process' GPU to another's, -polder_transport */
typedef enum {
  POLDER_TRANSPORT_AUTO, /* peer where it is possible, otherwise what PETSc does: mpi where it takes device pointers, or else host */
  POLDER_TRANSPORT_PEER,
  POLDER_TRANSPORT_MPI,
  POLDER_TRANSPORT_HOST
} PolderTransport;

typedef struct _n_PolderPeers *PolderPeers;

/* Memory that the peers write to */
typedef struct {
  PetscInt slab;   /* which of the group's allocations */
  size_t   offset; /* from its beginning, on this process */
  size_t   bytes;
  void    *here;
} PolderPiece;

/* The group of a communicator; NULL where its processes do not reach each other's memory. Kept with the communicator. Collective */
PETSC_INTERN PetscErrorCode PolderPeersGet(MPI_Comm, PolderPeers *);
/* How the processes of a communicator exchange values on devices: "peer", "mpi" or "host". Collective */
PETSC_INTERN PetscErrorCode PolderPeersGetTransport(MPI_Comm, const char **name);
/* Zeroed memory, of as many bytes as each process wants, none included. Collective; waits for the device */
PETSC_INTERN PetscErrorCode PolderPeersMalloc(PolderPeers, size_t bytes, PolderPiece *);
PETSC_INTERN PetscErrorCode PolderPeersFree(PolderPeers, PolderPiece *);
/* The address here of what that process has at that offset of that slab */
PETSC_INTERN void *PolderPeersAddress(PolderPeers, PetscMPIInt rank, PetscInt slab, size_t offset);
/* The communicator for messages about the group; its ranks are those of the one the group was made for */
PETSC_INTERN MPI_Comm       PolderPeersComm(PolderPeers);
PETSC_INTERN PolderPatience PolderPeersPatience(PolderPeers);
/* What kernels that sum on their way need; NULL: no peers */
PETSC_INTERN const PolderPeersView *PolderPeersGetView(PolderPeers);
/* An error when a kernel has waited for a process in vain. Sums are NaN from then on, and ghost values old ones */
PETSC_INTERN PetscErrorCode PolderPeersCheck(PolderPeers);
/* value[k] <- the sum of value[k] over all processes, in device memory; launched, not awaited. The same bits on every process and in every run */
PETSC_INTERN PetscErrorCode PolderPeersSum(PolderPeers, PetscInt n, PetscScalar value[]);
/* With the library's finaliser. Collective over the communicators that have groups */
PETSC_INTERN PetscErrorCode PolderPeersFinalize(void);
