/* Processes, each with its own GPU, that exchange without the host: by stores into each other's device memory, for which this allocates what kernels/peers.h
   needs, or through NCCL. */
#pragma once

#include "nccl.h"
#include "kernels/cg.h"

/* Transport of values between the GPUs of two processes, -polder_transport */
typedef enum {
  POLDER_TRANSPORT_AUTO, /* the first one that is possible */
  POLDER_TRANSPORT_PEER,
  POLDER_TRANSPORT_NCCL,
  POLDER_TRANSPORT_MPI, /* PETSc's choice if MPI takes device pointers */
  POLDER_TRANSPORT_HOST
} PolderTransport;

typedef struct _n_PolderPeers *PolderPeers;

/* A piece of memory that peers write to */
typedef struct {
  PetscInt slab;   /* number of the allocation in the group */
  size_t   offset; /* from the start of the slab on this process */
  size_t   bytes;
  void    *here;
} PolderPiece;

/* The group of a communicator; NULL when its processes exchange by PetscSF and sum by MPI. Stored with the communicator. Collective */
PETSC_INTERN PetscErrorCode PolderPeersGet(MPI_Comm, PolderPeers *);
/* The transport between the devices of a communicator's processes: "peer", "nccl", "mpi" or "host". Collective */
PETSC_INTERN PetscErrorCode PolderPeersGetTransport(MPI_Comm, const char **name);
/* -polder_min_rows_per_gpu: with fewer rows a process, each solves the whole problem on its GPU; 0: never, negative: where that is faster. rrbcg shares grids
   with at least so many rows a process; negative: where that is faster. Collective */
PETSC_INTERN PetscErrorCode PolderPeersGetLeastRows(MPI_Comm comm, PetscInt *rows);
/* Memory of processes that store into each other's, the first `zeros` bytes of it zero; each process chooses its numbers, zero included. Kernels that are
   launched after it may store there. Collective */
PETSC_INTERN PetscErrorCode PolderPeersMalloc(PolderPeers, size_t bytes, size_t zeros, PolderPiece *);
/* The same for `count` pieces at a time */
PETSC_INTERN PetscErrorCode PolderPeersMallocMany(PolderPeers, PetscInt count, const size_t bytes[], const size_t zeros[], PolderPiece *const piece[]);
PETSC_INTERN PetscErrorCode PolderPeersFree(PolderPeers, PolderPiece *);
/* The local address of the memory of process `rank` at this offset of this slab */
PETSC_INTERN void *PolderPeersAddress(PolderPeers, PetscMPIInt rank, PetscInt slab, size_t offset);
/* A communicator for messages about the group, with the ranks of the communicator that the group was made for */
PETSC_INTERN MPI_Comm       PolderPeersComm(PolderPeers);
PETSC_INTERN PolderPatience PolderPeersPatience(PolderPeers);
/* What kernels need to compute global sums; NULL: no processes that store into each other's memory */
PETSC_INTERN const PolderPeersView *PolderPeersGetView(PolderPeers);
/* NULL: not through NCCL */
PETSC_INTERN PolderNccl PolderPeersGetNccl(PolderPeers);
/* Raises an error when a kernel has waited in vain for a process. From then on sums and ghost values are not to be used */
PETSC_INTERN PetscErrorCode PolderPeersCheck(PolderPeers);
/* value[k] <- the sum of value[k] over all processes, in device memory; asynchronous. The result is bitwise the same on every process and in every run */
PETSC_INTERN PetscErrorCode PolderPeersSum(PolderPeers, PetscInt n, PetscScalar value[]);
/* The same over the processes of a communicator. When these are no such group, the values pass through host[n], where their sums remain. Collective */
PETSC_INTERN PetscErrorCode PolderCommSum(MPI_Comm, PetscInt n, PetscScalar value[], PetscScalar host[]);
/* rho, mean and beta from the sums over these processes of sum[1] and sum[2] of the state. Collective */
PETSC_INTERN PetscErrorCode PolderCommRho(MPI_Comm, const PolderCGRho *);
/* Called while the host waits for the device, with the seconds that it has waited. Ends the kernels of NCCL that wait for too long, and raises an error.
   watching: there is something to watch */
PETSC_INTERN PetscErrorCode PolderPeersWatch(PetscReal waited, PetscBool *watching);
/* Called by the library's finaliser. Collective over the communicators that have groups */
PETSC_INTERN PetscErrorCode PolderPeersFinalize(void);
