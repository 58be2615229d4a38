/* Gathers the values of all processes on the device of each: between peers by stores into each other's memory, otherwise by NCCL or MPI. */
#include "replica.h"
#include "peers.h"
#include "kernels/cg.h"

struct _n_PolderReplica {
  MPI_Comm     comm;
  PolderPeers  peers; /* that store into each other's memory; NULL: NCCL or MPI gathers */
  PolderNccl   nccl;  /* NULL: MPI gathers */
  PolderPiece  room;  /* counters, and message numbers and two buffers, or cells */
  PolderGather g;
  PetscInt     N;
  PetscBool    cells; /* the values travel as cells */
  const char  *transport;
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

/* What a process says of its values, and of its GPU: kernels on GPUs with as many multiprocessors add up in the same order */
typedef struct {
  PetscInt n, first, width, ld, many, gpu;
} PolderReplicaPart;

static PolderReplicaPart ReplicaPart(const PolderReplicaWant *want)
{
  PolderReplicaPart part = {.n = want->n, .width = PetscMax(want->n, 1), .many = want->many, .gpu = (PetscInt)PolderWorkSize(PolderCGSmallMost_CUDA())};

  if (want->lines) {
    part.first = want->lines->first;
    part.width = PetscMax(want->lines->width, 1);
    part.ld    = want->lines->ld;
  }
  return part;
}

/* Number and places of the values of all processes, that of process r being all[r * stride] */
static PetscErrorCode PolderReplicaLayout_Private(PolderReplica replica, PetscBool lines, PetscInt stride, const PolderReplicaPart all[])
{
  PolderGather *g    = &replica->g;
  PetscInt      most = 0;

  PetscFunctionBegin;
  for (int r = 0; r < g->size; ++r) most = PetscMax(most, all[r * stride].n);
  for (int r = 0; r < g->size; ++r) {
    const PolderReplicaPart *part = &all[r * stride];

    g->n[r]           = part->n;
    g->first[r]       = lines ? part->first : replica->N;
    g->width[r]       = part->width;
    g->ld[r]          = part->ld;
    g->begin[r]       = g->half;
    replica->round[r] = PetscMax(part->n, PetscMin(part->many, most > POLDER_GATHER_CELLS ? POLDER_GATHER_ROOM / g->size : POLDER_GATHER_CELLS));
    g->half += (PetscMax(replica->round[r], 1) + 1) / 2 * 2;
    replica->N += g->n[r];
    PetscCall(PetscMPIIntCast(g->n[r], &replica->count[r]));
    PetscCall(PetscMPIIntCast(g->begin[r], &replica->displ[r]));
  }
  replica->cells = (PetscBool)(most <= POLDER_GATHER_CELLS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory that the peers write to, and where theirs is */
static PetscErrorCode PolderReplicaMeet_Private(PetscInt count, const PolderReplicaWant want[])
{
  const size_t counters = 4 * sizeof(uint64_t), numbers = sizeof(uint64_t) * POLDER_PEERS_MOST;
  PolderPeers  peers = (*want->replica)->peers;
  PetscInt64   mine[2 * POLDER_REPLICAS], all[2 * POLDER_REPLICAS * POLDER_PEERS_MOST];
  size_t       bytes[POLDER_REPLICAS], zeros[POLDER_REPLICAS];
  PolderPiece *room[POLDER_REPLICAS];
  const int    two = 2 * (int)count;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; ++k) {
    PolderReplica replica = *want[k].replica;

    bytes[k] = counters + (replica->cells ? 0 : numbers) + 2 * (replica->cells ? sizeof(PolderCell) : sizeof(PetscScalar)) * (size_t)replica->g.half;
    zeros[k] = replica->cells ? bytes[k] : counters + numbers; // cells have message numbers of their own
    room[k]  = &replica->room;
  }
  PetscCall(PolderPeersMallocMany(peers, count, bytes, zeros, room));
  for (PetscInt k = 0; k < count; ++k) {
    mine[2 * k]     = room[k]->slab;
    mine[2 * k + 1] = (PetscInt64)room[k]->offset;
  }
  PetscCallMPI(MPI_Allgather(mine, two, MPIU_INT64, all, two, MPIU_INT64, PolderPeersComm(peers)));
  for (PetscInt k = 0; k < count; ++k) {
    PolderReplica replica = *want[k].replica;
    PolderGather *g       = &replica->g;

    for (int r = 0; r < g->size; ++r) {
      const PetscInt64 *at    = &all[r * two + 2 * k];
      char             *there = (char *)PolderPeersAddress(peers, r, (PetscInt)at[0], (size_t)at[1]) + counters;

      if (replica->cells) g->cell[r] = (PolderCell *)there;
      else {
        g->arrived[r] = (uint64_t *)there;
        g->buffer[r]  = (PetscScalar *)(there + numbers);
      }
    }
    g->patience = PolderPeersPatience(peers);
    g->count    = (uint64_t *)room[k]->here;
    g->finished = (unsigned int *)(g->count + 2);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderReplicaBuffer_Private(PolderReplica replica)
{
  PolderGather *g = &replica->g;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)g->half, &replica->buffer));
  g->buffer[g->rank] = replica->buffer;
  if (!replica->nccl && !PolderDeviceMPI()) PetscCall(PetscMalloc2(replica->round[g->rank], &replica->own, g->half, &replica->all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A replica for each want, without memory for the values */
static PetscErrorCode PolderReplicaNew_Private(MPI_Comm comm, PetscInt count, const PolderReplicaWant want[], const PolderReplicaPart all[])
{
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  for (PetscInt k = 0; k < count; ++k) {
    PolderReplica new;

    PetscCall(PetscNew(&new));
    *want[k].replica = new;
    new->comm        = comm;
    new->g.rank      = rank;
    new->g.size      = size;
    PetscCall(PolderReplicaLayout_Private(new, (PetscBool)(want[k].lines != NULL), count, all + k));
    PetscCall(PolderPeersGet(comm, &new->peers));
    new->nccl = PolderPeersGetNccl(new->peers);
    if (new->nccl) new->peers = NULL;
    PetscCall(PolderPeersGetTransport(comm, &new->transport));
    if (!new->peers) PetscCall(PolderReplicaBuffer_Private(new));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaCreateMany(MPI_Comm comm, PetscInt count, const PolderReplicaWant want[])
{
  PolderReplicaPart mine[POLDER_REPLICAS], all[POLDER_REPLICAS * POLDER_PEERS_MOST];
  const int         ints = (int)count * (int)(sizeof(*mine) / sizeof(PetscInt));
  PetscMPIInt       size;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; ++k) *want[k].replica = NULL;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1 || size > POLDER_PEERS_MOST || !count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(count <= POLDER_REPLICAS, comm, PETSC_ERR_PLIB, "No more than %d replicas at a time", POLDER_REPLICAS);
  for (PetscInt k = 0; k < count; ++k) mine[k] = ReplicaPart(&want[k]);
  PetscCallMPI(MPI_Allgather(mine, ints, MPIU_INT, all, ints, MPIU_INT, comm));
  for (PetscMPIInt r = 1; r < size; ++r) {
    if (all[r * count].gpu != all[0].gpu) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderReplicaNew_Private(comm, count, want, all));
  if ((*want->replica)->peers) PetscCall(PolderReplicaMeet_Private(count, want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaCreate(MPI_Comm comm, PetscInt n, PetscInt many, const PolderReplicaLines *lines, PolderReplica *replica)
{
  const PolderReplicaWant want = {.n = n, .many = many, .lines = lines, .replica = replica};

  PetscFunctionBegin;
  PetscCall(PolderReplicaCreateMany(comm, 1, &want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderReplicaDestroy(PolderReplica *replica)
{
  PetscFunctionBegin;
  if (!*replica) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*replica)->peers) PetscCall(PolderPeersFree((*replica)->peers, &(*replica)->room));
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
