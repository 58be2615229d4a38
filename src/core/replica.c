/* Gathers the values of all processes on the device of each: between peers by stores into each other's memory, otherwise by NCCL or MPI. */
#include "replica.h"
#include "peers.h"
#include "kernels/cg.h"

struct _n_PolderReplica {
  MPI_Comm     comm;
  PolderPeers  peers; /* that store into each other's memory; NULL: NCCL or MPI gathers */
  PolderNccl   nccl;  /* NULL: MPI gathers */
  PolderPiece  room;  /* message numbers and two buffers */
  PolderGather g;
  PetscInt     N;
  const char  *transport;
  uint64_t    *counters;  /* on the device */
  PetscScalar *buffer;    /* on the device, without peers */
  PetscScalar *own, *all; /* on the host, for an MPI that takes no device pointers */
  PetscMPIInt  count[POLDER_PEERS_MOST], displ[POLDER_PEERS_MOST];
};

/* Do kernels on the GPUs of all processes add up in the same order? */
static PetscErrorCode PolderReplicaAlike_Private(MPI_Comm comm, PetscBool *alike)
{
  PetscInt most = (PetscInt)PolderWorkSize(PolderCGSmallMost_CUDA()), range[2] = {most, -most}; // has the number of multiprocessors

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, range, 2, MPIU_INT, MPI_MIN, comm);
  *alike = (PetscBool)(range[0] == -range[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number and places of the values of all processes */
static PetscErrorCode PolderReplicaLayout_Private(PolderReplica replica, PetscInt n, const PolderReplicaLines *lines)
{
  PolderGather *g      = &replica->g;
  PetscInt      mine[] = {n, lines ? lines->first : 0, lines ? PetscMax(lines->width, 1) : PetscMax(n, 1)}, all[3 * POLDER_PEERS_MOST];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allgather(mine, 3, MPIU_INT, all, 3, MPIU_INT, replica->comm));
  g->ld = lines ? lines->ld : 0;
  for (int r = 0; r < g->size; ++r) {
    g->n[r]     = all[3 * r];
    g->first[r] = lines ? all[3 * r + 1] : replica->N;
    g->width[r] = all[3 * r + 2];
    g->begin[r] = g->half;
    g->half += g->n[r] + g->n[r] % 2;
    replica->N += g->n[r];
    PetscCall(PetscMPIIntCast(g->n[r], &replica->count[r]));
    PetscCall(PetscMPIIntCast(g->begin[r], &replica->displ[r]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory that the peers write to, and where theirs is */
static PetscErrorCode PolderReplicaMeet_Private(PolderReplica replica)
{
  PolderGather *g      = &replica->g;
  const size_t  offset = sizeof(uint64_t) * POLDER_PEERS_MOST;
  PetscInt64    mine[2], all[2 * POLDER_PEERS_MOST];

  PetscFunctionBegin;
  PetscCall(PolderPeersMalloc(replica->peers, offset + 2 * sizeof(PetscScalar) * (size_t)g->half, &replica->room));
  mine[0] = replica->room.slab;
  mine[1] = (PetscInt64)replica->room.offset;
  PetscCallMPI(MPI_Allgather(mine, 2, MPIU_INT64, all, 2, MPIU_INT64, PolderPeersComm(replica->peers)));
  for (int r = 0; r < g->size; ++r) {
    char *there = (char *)PolderPeersAddress(replica->peers, r, (PetscInt)all[2 * r], (size_t)all[2 * r + 1]);

    g->arrived[r] = (uint64_t *)there;
    g->buffer[r]  = (PetscScalar *)(there + offset);
  }
  g->patience = PolderPeersPatience(replica->peers);
  PetscCall(PolderDeviceMalloc(4 * sizeof(uint64_t), &replica->counters));
  PetscCall(PolderDeviceZero(replica->counters, 4 * sizeof(uint64_t)));
  g->count    = replica->counters;
  g->finished = (unsigned int *)(replica->counters + 2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaCreate(MPI_Comm comm, PetscInt n, const PolderReplicaLines *lines, PolderReplica *replica)
{
  PetscMPIInt rank, size;
  PetscBool   alike = PETSC_FALSE;
  PolderReplica new;

  PetscFunctionBegin;
  *replica = NULL;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1 || size > POLDER_PEERS_MOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderReplicaAlike_Private(comm, &alike));
  if (!alike) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&new));
  *replica    = new;
  new->comm   = comm;
  new->g.rank = rank;
  new->g.size = size;
  PetscCall(PolderReplicaLayout_Private(new, n, lines));
  PetscCall(PolderPeersGet(comm, &new->peers));
  new->nccl = PolderPeersGetNccl(new->peers);
  if (new->nccl) new->peers = NULL;
  PetscCall(PolderPeersGetTransport(comm, &new->transport));
  if (new->peers) PetscCall(PolderReplicaMeet_Private(new));
  else {
    PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t) new->g.half, &new->buffer));
    new->g.buffer[rank] = new->buffer;
    if (!new->nccl && !PolderDeviceMPI()) PetscCall(PetscMalloc2(n, &new->own, new->g.half, &new->all));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaDestroy(PolderReplica *replica)
{
  PetscFunctionBegin;
  if (!*replica) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*replica)->peers) PetscCall(PolderPeersFree((*replica)->peers, &(*replica)->room));
  PetscCall(PolderDeviceFree(&(*replica)->counters));
  PetscCall(PolderDeviceFree(&(*replica)->buffer));
  PetscCall(PetscFree2((*replica)->own, (*replica)->all));
  PetscCall(PetscFree(*replica));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *PolderReplicaTransport(PolderReplica replica)
{
  return replica->transport;
}

PetscBool PolderReplicaOnlyLaunches(PolderReplica replica)
{
  return (PetscBool) !!replica->peers;
}

PetscInt PolderReplicaSize(PolderReplica replica)
{
  return replica->N;
}

/* By MPI: the buffer of this process <- the values of all */
static PetscErrorCode PolderReplicaFill_Private(PolderReplica replica, const PetscScalar own[])
{
  const PolderGather *g    = &replica->g;
  const size_t        mine = sizeof(*own) * (size_t)g->n[g->rank];
  const PetscScalar  *from = replica->own ? replica->own : own;
  PetscScalar        *to   = replica->all ? replica->all : replica->buffer;

  PetscFunctionBegin;
  if (PolderDeviceMPI()) PetscCall(PolderDeviceSynchronize());
  else PetscCall(PolderDeviceToHost(replica->own, own, mine));
  PetscCallMPI(MPI_Allgatherv(from, replica->count[g->rank], MPIU_SCALAR, to, replica->count, replica->displ, MPIU_SCALAR, replica->comm));
  if (!PolderDeviceMPI()) PetscCall(PolderDeviceFromHost(replica->buffer, replica->all, sizeof(*own) * (size_t)g->half));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaGather(PolderReplica replica, const PetscScalar own[], PetscScalar all[])
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (replica->peers) {
    PetscCall(PolderPeersCheck(replica->peers));
    PolderLaunch(PolderGatherSend_CUDA(&replica->g, own, stream));
  } else if (replica->nccl) PetscCall(PolderNcclGather(replica->nccl, own, replica->count, replica->displ, replica->buffer, stream));
  else PetscCall(PolderReplicaFill_Private(replica, own));
  PolderLaunch(PolderGatherReceive_CUDA(&replica->g, own, all, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaPut(PolderReplica replica, const PetscScalar own[], PetscScalar all[])
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderGatherPut_CUDA(&replica->g, own, all, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaTake(PolderReplica replica, const PetscScalar all[], PetscScalar own[])
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderGatherTake_CUDA(&replica->g, all, own, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
