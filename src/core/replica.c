/* Gathers the values of all processes on the device of each: between peers by stores into each other's memory, otherwise by NCCL or MPI. */
#include "replica.h"
#include "peers.h"
#include "kernels/cg.h"

struct _n_PolderReplica {
  MPI_Comm     comm;
  PolderPeers  peers; /* that store into each other's memory; NULL: NCCL or MPI gathers */
  PolderNccl   nccl;  /* NULL: MPI gathers */
  PolderPiece  room;  /* message numbers and two buffers, or cells */
  PolderGather g;
  PetscInt     N;
  const char  *transport;
  uint64_t    *counters;                 /* on the device */
  PetscScalar *buffer;                   /* on the device, without peers */
  PetscScalar *packed;                   /* on the device: the values of this process, which lie elsewhere */
  PetscScalar *own, *all;                /* on the host, for an MPI that takes no device pointers */
  PetscInt     round[POLDER_PEERS_MOST]; /* values of each process that a buffer has room for */
  PetscMPIInt  count[POLDER_PEERS_MOST], displ[POLDER_PEERS_MOST];
};

/* Up to so many values of a process travel as cells, which are twice as large but need no fence */
#define POLDER_GATHER_CELLS 65536
/* For many arrays at a time the buffers have room for at most so many values of all processes */
#define POLDER_GATHER_ROOM 4194304

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
static PetscErrorCode PolderReplicaLayout_Private(PolderReplica replica, PetscInt n, PetscInt many, const PolderReplicaLines *lines)
{
  PolderGather *g      = &replica->g;
  PetscInt      mine[] = {n, lines ? lines->first : 0, lines ? PetscMax(lines->width, 1) : PetscMax(n, 1), lines ? lines->ld : 0, many};
  PetscInt      all[5 * POLDER_PEERS_MOST], most = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allgather(mine, 5, MPIU_INT, all, 5, MPIU_INT, replica->comm));
  for (int r = 0; r < g->size; ++r) most = PetscMax(most, all[5 * r]);
  for (int r = 0; r < g->size; ++r) {
    g->n[r]           = all[5 * r];
    g->first[r]       = lines ? all[5 * r + 1] : replica->N;
    g->width[r]       = all[5 * r + 2];
    g->ld[r]          = all[5 * r + 3];
    g->begin[r]       = g->half;
    replica->round[r] = PetscMax(g->n[r], PetscMin(all[5 * r + 4], most > POLDER_GATHER_CELLS ? POLDER_GATHER_ROOM / g->size : POLDER_GATHER_CELLS));
    g->half += (PetscMax(replica->round[r], 1) + 1) / 2 * 2;
    replica->N += g->n[r];
    PetscCall(PetscMPIIntCast(g->n[r], &replica->count[r]));
    PetscCall(PetscMPIIntCast(g->begin[r], &replica->displ[r]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory that the peers write to, and where theirs is */
static PetscErrorCode PolderReplicaMeet_Private(PolderReplica replica)
{
  PolderGather *g    = &replica->g;
  PetscInt      most = 0;
  PetscInt64    mine[2], all[2 * POLDER_PEERS_MOST];
  size_t        offset, value, bytes;

  PetscFunctionBegin;
  for (int r = 0; r < g->size; ++r) most = PetscMax(most, g->n[r]);
  offset = most > POLDER_GATHER_CELLS ? sizeof(uint64_t) * POLDER_PEERS_MOST : 0;
  value  = offset ? sizeof(PetscScalar) : sizeof(PolderCell);
  bytes  = offset + 2 * value * (size_t)g->half;
  PetscCall(PolderPeersMalloc(replica->peers, bytes, offset ? offset : bytes, &replica->room)); // of message numbers, or of cells, which have theirs
  mine[0] = replica->room.slab;
  mine[1] = (PetscInt64)replica->room.offset;
  PetscCallMPI(MPI_Allgather(mine, 2, MPIU_INT64, all, 2, MPIU_INT64, PolderPeersComm(replica->peers)));
  for (int r = 0; r < g->size; ++r) {
    char *there = (char *)PolderPeersAddress(replica->peers, r, (PetscInt)all[2 * r], (size_t)all[2 * r + 1]);

    if (!offset) g->cell[r] = (PolderCell *)there;
    else {
      g->arrived[r] = (uint64_t *)there;
      g->buffer[r]  = (PetscScalar *)(there + offset);
    }
  }
  g->patience = PolderPeersPatience(replica->peers);
  PetscCall(PolderDeviceMalloc(4 * sizeof(uint64_t), &replica->counters));
  PetscCall(PolderDeviceZero(replica->counters, 4 * sizeof(uint64_t)));
  g->count    = replica->counters;
  g->finished = (unsigned int *)(replica->counters + 2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaCreate(MPI_Comm comm, PetscInt n, PetscInt many, const PolderReplicaLines *lines, PolderReplica *replica)
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
  PetscCall(PolderReplicaLayout_Private(new, n, many, lines));
  PetscCall(PolderPeersGet(comm, &new->peers));
  new->nccl = PolderPeersGetNccl(new->peers);
  if (new->nccl) new->peers = NULL;
  PetscCall(PolderPeersGetTransport(comm, &new->transport));
  if (new->peers) PetscCall(PolderReplicaMeet_Private(new));
  else {
    PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t) new->g.half, &new->buffer));
    new->g.buffer[rank] = new->buffer;
    if (!new->nccl && !PolderDeviceMPI()) PetscCall(PetscMalloc2(new->round[rank], &new->own, new->g.half, &new->all));
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
  PetscCall(PolderDeviceFree(&(*replica)->packed));
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

/* By MPI: the buffer of this process <- the values of all, count[] of them */
static PetscErrorCode PolderReplicaFill_Private(PolderReplica replica, const PetscMPIInt count[], const PetscScalar own[])
{
  const PolderGather *g    = &replica->g;
  const size_t        mine = sizeof(*own) * (size_t)count[g->rank];
  const PetscScalar  *from = replica->own ? replica->own : own;
  PetscScalar        *to   = replica->all ? replica->all : replica->buffer;

  PetscFunctionBegin;
  if (PolderDeviceMPI()) PetscCall(PolderDeviceSynchronize());
  else PetscCall(PolderDeviceToHost(replica->own, own, mine));
  PetscCallMPI(MPI_Allgatherv(from, count[g->rank], MPIU_SCALAR, to, count, replica->displ, MPIU_SCALAR, replica->comm));
  if (!PolderDeviceMPI()) PetscCall(PolderDeviceFromHost(replica->buffer, replica->all, sizeof(*own) * (size_t)g->half));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all <- count[r] values of each process, at most as many as the replica has, where g puts them */
static PetscErrorCode PolderReplicaRound_Private(PolderReplica replica, const PolderGather *g, const PetscMPIInt count[], const PetscScalar own[],
                                                 PetscScalar all[])
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (replica->peers) PetscCall(PolderPeersCheck(replica->peers));
  if (g->cell[0]) {
    PolderLaunch(PolderGatherCells_CUDA(g, own, all, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (replica->peers) PolderLaunch(PolderGatherSend_CUDA(g, own, stream));
  else if (replica->nccl) PetscCall(PolderNcclGather(replica->nccl, own, count, replica->displ, replica->buffer, stream));
  else PetscCall(PolderReplicaFill_Private(replica, count, own));
  PolderLaunch(PolderGatherReceive_CUDA(g, own, all, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaGather(PolderReplica replica, const PetscScalar own[], PetscScalar all[])
{
  PetscFunctionBegin;
  PetscCall(PolderReplicaRound_Private(replica, &replica->g, replica->count, own, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaGatherMany(PolderReplica replica, const PetscInt total[], const PetscScalar own[], PetscScalar all[])
{
  PolderGather g                        = replica->g;
  PetscMPIInt  count[POLDER_PEERS_MOST] = {0};
  size_t       taken                    = 0;
  PetscBool    more                     = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscInt round = 0; more; ++round) {
    PetscInt begin = 0;

    more = PETSC_FALSE;
    for (int r = 0; r < g.size; ++r) {
      const PetscInt   room = replica->round[r];
      const PetscInt64 done = PetscMin((PetscInt64)round * room, (PetscInt64)total[r]);

      g.n[r]     = (PetscInt)PetscMin(total[r] - done, room);
      g.width[r] = PetscMax(g.n[r], 1);
      g.first[r] = begin + (PetscInt)done;
      count[r]   = (PetscMPIInt)g.n[r];
      more       = (PetscBool)(more || (room && total[r] > done + room));
      begin += total[r];
    }
    PetscCall(PolderReplicaRound_Private(replica, &g, count, own + taken, all));
    taken += (size_t)g.n[g.rank];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaGatherColumns(PolderReplica replica, PetscInt columns, const PetscScalar own[], PetscScalar all[])
{
  const PetscInt *n                        = replica->g.n;
  PolderGather    g                        = replica->g;
  PetscMPIInt     count[POLDER_PEERS_MOST] = {0};
  PetscInt        most                     = columns; // of a round

  PetscFunctionBegin;
  for (int r = 0; r < g.size; ++r) {
    if (n[r]) most = PetscMin(most, replica->round[r] / n[r]);
    g.ld[r] = replica->N; // lines of n[r] values
  }
  for (PetscInt c = 0; c < columns; c += most) {
    for (int r = 0; r < g.size; ++r) {
      g.n[r]   = PetscMin(most, columns - c) * n[r];
      count[r] = (PetscMPIInt)g.n[r];
    }
    PetscCall(PolderReplicaRound_Private(replica, &g, count, own + (size_t)c * (size_t)n[g.rank], all + (size_t)c * (size_t)replica->N));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaSpread(PolderReplica replica, PetscScalar all[])
{
  const PolderGather *g = &replica->g;

  PetscFunctionBegin;
  if (g->cell[0]) PetscCall(PolderReplicaGather(replica, NULL, all));
  else PetscCall(PolderReplicaSpreadPart(replica, all + g->first[g->rank], all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaSpreadPart(PolderReplica replica, const PetscScalar part[], PetscScalar all[])
{
  PolderGather g = replica->g;
  PolderStream stream;

  PetscFunctionBegin;
  g.first[g.rank] = 0;
  PetscCall(PolderDeviceGetStream(&stream));
  if (!replica->packed) PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)g.n[g.rank], &replica->packed));
  PolderLaunch(PolderGatherTake_CUDA(&g, part, replica->packed, stream));
  PetscCall(PolderReplicaGather(replica, replica->packed, all));
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
