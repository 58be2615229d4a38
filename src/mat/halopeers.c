/* A halo whose processes store values directly into each other's device memory; sets up the lists, buffers and addresses of kernels/peers.h. */
#include "halopeers.h"
#include "csr.h"

enum {
  FORWARD,  /* owned values to ghosts */
  BACKWARD, /* ghosts to owned values */
  DIRECTIONS
};
/* Lists and counters of both directions, and where each begins in device memory: at a cache line of its own */
#define LISTS 18
#define LINE  128

struct _n_PolderHaloPeers {
  PolderPeers    peers;
  PolderPiece    room; /* two buffers of cells for each direction: of the values, and a token for each neighbour */
  PolderExchange at[DIRECTIONS];
  void          *lists;   /* what at[] points to, in device memory */
  PetscBool      inorder; /* value k of a received message is ghost k */
  PolderSends    sends;   /* n = 0: not possible */
};

/* What a process tells a neighbour: the offsets in a slab at which the neighbour stores its values and its token, and the cells to the second buffer */
typedef struct {
  PetscInt64 slab, value[DIRECTIONS], token[DIRECTIONS], half[DIRECTIONS];
} PolderAddress;

/* Lists on their way to device memory. They go there together: a copy of its own for each would take longer than the first message */
typedef struct {
  PetscSegBuffer bytes;
  size_t         size;
  int            n;
  void          *to[LISTS]; /* the pointers to them */
  size_t         first[LISTS];
} PolderHaloLists;

/* *to <- the address of a copy in device memory, when the lists are sent there */
static PetscErrorCode PolderHaloListsAdd_Private(PolderHaloLists *lists, size_t bytes, const void *from, void *to)
{
  const size_t lines = (bytes + LINE - 1) / LINE * LINE;
  char        *copy;

  PetscFunctionBegin;
  lists->first[lists->n] = lists->size;
  lists->to[lists->n++]  = to;
  lists->size += lines;
  PetscCall(PetscSegBufferGet(lists->bytes, lines, &copy));
  PetscCall(PetscMemcpy(copy, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloListsSend_Private(PolderHaloLists *lists, void **there)
{
  char *all;

  PetscFunctionBegin;
  PetscCall(PetscSegBufferExtractInPlace(lists->bytes, &all));
  PetscCall(PolderDeviceUpload(lists->size, all, there));
  for (int k = 0; k < lists->n; ++k) *(void **)lists->to[k] = (char *)*there + lists->first[k];
  PetscCall(PetscSegBufferDestroy(&lists->bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lists of a side */
static PetscErrorCode PolderHaloPeersList_Private(PolderHaloLists *lists, PetscMPIInt n, const PetscMPIInt rank[], const PolderHaloSide *side, PetscInt ptr[],
                                                  const PetscInt **dptr, const PetscInt **didx, PetscInt *most)
{
  PetscInt *idx;

  PetscFunctionBegin;
  PetscCall(PolderHaloByNeighbour(side, n, rank, ptr, &idx, most));
  PetscCall(PolderHaloListsAdd_Private(lists, sizeof(*ptr) * (size_t)(n + 1), ptr, (void *)dptr));
  PetscCall(PolderHaloListsAdd_Private(lists, sizeof(*idx) * (size_t)ptr[n], idx, (void *)didx));
  PetscCall(PetscFree(idx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges with the neighbours the offsets at which values are stored */
static PetscErrorCode PolderHaloPeersMeet_Private(PolderHaloPeers h, PetscMPIInt n, const PetscMPIInt rank[], const PetscInt *const recvptr[],
                                                  PolderAddress theirs[])
{
  MPI_Comm       comm = PolderPeersComm(h->peers);
  PolderAddress *mine;
  MPI_Request   *request;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &mine, 2 * n, &request));
  for (PetscMPIInt k = 0; k < n; ++k) {
    mine[k].slab = h->room.slab;
    for (int d = 0; d < DIRECTIONS; ++d) {
      const PetscInt64 first = h->at[d].here - (PolderCell *)h->room.here;

      mine[k].value[d] = (PetscInt64)h->room.offset + (PetscInt64)sizeof(PolderCell) * (first + h->at[d].width * (PetscInt64)recvptr[d][k]);
      mine[k].token[d] = (PetscInt64)h->room.offset + (PetscInt64)sizeof(PolderCell) * (first + h->at[d].width * (PetscInt64)recvptr[d][n] + k);
      mine[k].half[d]  = (PetscInt64)h->at[d].halfhere;
    }
    PetscCallMPI(MPI_Irecv(&theirs[k], sizeof(*theirs), MPI_BYTE, rank[k], 0, comm, &request[2 * k]));
    PetscCallMPI(MPI_Isend(&mine[k], sizeof(*mine), MPI_BYTE, rank[k], 0, comm, &request[2 * k + 1]));
  }
  PetscCallMPI(MPI_Waitall(2 * n, request, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree2(mine, request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The addresses of a direction and the counters of its messages */
static PetscErrorCode PolderHaloPeersAim_Private(PolderHaloPeers h, PolderHaloLists *lists, int d, PetscMPIInt n, const PetscMPIInt rank[],
                                                 const PolderAddress theirs[])
{
  PolderExchange *e = &h->at[d];
  PolderCell    **there, **token;
  uint64_t       *zero;
  size_t         *half;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n, &there, n, &token, n, &half));
  PetscCall(PetscCalloc1(2 * n, &zero));
  for (PetscMPIInt k = 0; k < n; ++k) {
    there[k] = (PolderCell *)PolderPeersAddress(h->peers, rank[k], (PetscInt)theirs[k].slab, (size_t)theirs[k].value[d]);
    token[k] = (PolderCell *)PolderPeersAddress(h->peers, rank[k], (PetscInt)theirs[k].slab, (size_t)theirs[k].token[d]);
    half[k]  = (size_t)theirs[k].half[d];
  }
  e->n        = n;
  e->patience = PolderPeersPatience(h->peers);
  PetscCall(PolderHaloListsAdd_Private(lists, sizeof(*there) * (size_t)n, there, (void *)&e->there));
  PetscCall(PolderHaloListsAdd_Private(lists, sizeof(*half) * (size_t)n, half, (void *)&e->half));
  PetscCall(PolderHaloListsAdd_Private(lists, sizeof(*token) * (size_t)n, token, (void *)&e->token));
  PetscCall(PolderHaloListsAdd_Private(lists, sizeof(*rank) * (size_t)n, rank, (void *)&e->rank));
  PetscCall(PolderHaloListsAdd_Private(lists, sizeof(*zero) * (size_t)n, zero, (void *)&e->sent));
  PetscCall(PolderHaloListsAdd_Private(lists, sizeof(*zero) * (size_t)n, zero, (void *)&e->received));
  PetscCall(PolderHaloListsAdd_Private(lists, sizeof(unsigned int) * 2 * (size_t)n, zero, (void *)&e->finished));
  PetscCall(PetscFree3(there, token, half));
  PetscCall(PetscFree(zero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kernels may send what they compute when each neighbour gets consecutive rows */
static void PolderHaloPeersFindSends_Private(PolderHaloPeers h, const PolderHaloSide *side, const PetscMPIInt rank[], const PolderAddress theirs[])
{
  PolderSends *sends = &h->sends;
  const int    n     = h->at[FORWARD].n;

  if (!h->inorder || n > POLDER_SENDS || h->at[FORWARD].width > 1) return;
  for (int k = 0; k < n; ++k) {
    sends->count[k] = 0;
    for (PolderRankCount s = 0; s < side->n; ++s) {
      if (side->rank[s] != rank[k]) continue;
      sends->first[k] = side->idx[side->ptr[s]];
      sends->count[k] = side->ptr[s + 1] - side->ptr[s];
      if (!PolderConsecutive(sends->count[k], sends->first[k], side->idx + side->ptr[s])) return;
    }
    sends->there[k] = (PolderCell *)PolderPeersAddress(h->peers, rank[k], (PetscInt)theirs[k].slab, (size_t)theirs[k].value[FORWARD]);
    sends->token[k] = (PolderCell *)PolderPeersAddress(h->peers, rank[k], (PetscInt)theirs[k].slab, (size_t)theirs[k].token[FORWARD]);
    sends->half[k]  = (size_t)theirs[k].half[FORWARD];
  }
  sends->sent = h->at[FORWARD].sent;
  sends->n    = n;
}

PetscErrorCode PolderHaloPeersCreate(const PolderHaloGraph *graph, int width, PolderHaloPeers *halo)
{
  const PolderHaloSide side[DIRECTIONS] = {graph->sent, graph->received}; /* [FORWARD]: what is sent forward and received backward */
  PolderHaloPeers      h;
  PolderPeers          peers;
  PolderAddress        theirs[2 * POLDER_PEERS_MOST];
  size_t               bytes;
  PolderHaloLists      lists = {.n = 0};
  PetscMPIInt          n, *rank;
  PetscInt             sendptr[2 * POLDER_PEERS_MOST + 1], recvptr[2 * POLDER_PEERS_MOST + 1];
  const PetscInt      *from[DIRECTIONS] = {recvptr, sendptr};

  PetscFunctionBegin;
  *halo = NULL;
  PetscCall(PolderPeersGet(graph->comm, &peers));
  if (!PolderPeersGetView(peers)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&h));
  *halo    = h;
  h->peers = peers;
  PetscCall(PolderHaloNeighbours(graph, &n, &rank));
  PetscCall(PetscSegBufferCreate(1, 65536, &lists.bytes));
  PetscCall(PolderHaloPeersList_Private(&lists, n, rank, &side[FORWARD], sendptr, &h->at[FORWARD].sendptr, &h->at[FORWARD].sendidx, &h->at[FORWARD].mostsent));
  PetscCall(
    PolderHaloPeersList_Private(&lists, n, rank, &side[BACKWARD], recvptr, &h->at[FORWARD].recvptr, &h->at[FORWARD].recvidx, &h->at[FORWARD].mostreceived));
  h->inorder = (PetscBool)(!side[BACKWARD].n || PolderConsecutive(side[BACKWARD].ptr[side[BACKWARD].n], 0, side[BACKWARD].idx));
  for (PolderRankCount s = 1; s < side[BACKWARD].n; ++s) h->inorder = (PetscBool)(h->inorder && side[BACKWARD].rank[s - 1] < side[BACKWARD].rank[s]);
  for (int d = 0; d < DIRECTIONS; ++d) {
    h->at[d].width    = width;
    h->at[d].nsent    = d == FORWARD ? sendptr[n] : recvptr[n];
    h->at[d].halfhere = (size_t)width * (size_t)from[d][n] + (size_t)n;
  }
  bytes = 2 * sizeof(PolderCell) * (h->at[FORWARD].halfhere + h->at[BACKWARD].halfhere);
  PetscCall(PolderPeersMalloc(peers, bytes, bytes, &h->room));
  h->at[FORWARD].here  = (PolderCell *)h->room.here;
  h->at[BACKWARD].here = h->at[FORWARD].here + 2 * h->at[FORWARD].halfhere;
  PetscCall(PolderHaloPeersMeet_Private(h, n, rank, from, theirs));
  for (int d = 0; d < DIRECTIONS; ++d) PetscCall(PolderHaloPeersAim_Private(h, &lists, d, n, rank, theirs));
  PetscCall(PolderHaloListsSend_Private(&lists, &h->lists));
  h->at[BACKWARD].sendptr      = h->at[FORWARD].recvptr;
  h->at[BACKWARD].sendidx      = h->at[FORWARD].recvidx;
  h->at[BACKWARD].mostsent     = h->at[FORWARD].mostreceived;
  h->at[BACKWARD].recvptr      = h->at[FORWARD].sendptr;
  h->at[BACKWARD].recvidx      = h->at[FORWARD].sendidx;
  h->at[BACKWARD].mostreceived = h->at[FORWARD].mostsent;
  PolderHaloPeersFindSends_Private(h, &side[FORWARD], rank, theirs);
  PetscCall(PetscFree(rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloPeersDestroy(PolderHaloPeers *halo)
{
  PolderHaloPeers h = *halo;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceFree(&h->lists));
  PetscCall(PolderPeersFree(h->peers, &h->room));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloSend_Peer(void *link, int bytes, const void *owned)
{
  PolderHaloPeers h = (PolderHaloPeers)link;
  PolderStream    stream;

  PetscFunctionBegin;
  PetscCall(PolderPeersCheck(h->peers));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderExchangeSend_CUDA(&h->at[FORWARD], bytes, owned, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PolderSends *PolderHaloSends_Peer(void *link)
{
  return &((PolderHaloPeers)link)->sends;
}

static PetscErrorCode PolderHaloReceive_Peer(void *link, int bytes, void *ghost)
{
  PolderHaloPeers h = (PolderHaloPeers)link;
  PolderStream    stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderExchangeReceive_CUDA(&h->at[FORWARD], bytes, ghost, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloReduce_Peer(void *link, const PetscScalar ghost[], PetscScalar owned[])
{
  PolderHaloPeers h = (PolderHaloPeers)link;
  PolderStream    stream;

  PetscFunctionBegin;
  PetscCall(PolderPeersCheck(h->peers));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderExchangeSend_CUDA(&h->at[BACKWARD], (int)sizeof(*ghost), ghost, stream));
  for (int k = 0; k < h->at[BACKWARD].n; ++k) PolderLaunch(PolderExchangeAdd_CUDA(&h->at[BACKWARD], k, owned, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel needs ghosts in the order of their columns */
static PetscBool PolderHaloAdds_Peer(void *link)
{
  return ((PolderHaloPeers)link)->inorder;
}

static PetscErrorCode PolderHaloMultAdd_Peer(void *link, const PolderGhostRows *rows, const PetscScalar p[], PetscScalar z[], PetscScalar *dot, PetscBool sum)
{
  PolderHaloPeers h = (PolderHaloPeers)link;
  PolderStream    stream;
  void           *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PolderLaunch(PolderExchangeMultAdd_CUDA(&h->at[FORWARD], rows, sum ? PolderPeersGetView(h->peers) : NULL, p, z, dot, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderExchange *PolderHaloPeersGetExchange(PolderHaloPeers h)
{
  return h && h->inorder ? &h->at[FORWARD] : NULL;
}

static PetscErrorCode PolderHaloExchange_Peer(void *link, const PolderExchange **e)
{
  PolderHaloPeers h = (PolderHaloPeers)link;

  PetscFunctionBegin;
  PetscCall(PolderPeersCheck(h->peers));
  *e = PolderHaloPeersGetExchange(h);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloCreate_Peer(const PolderHaloGraph *graph, void **link)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloPeersCreate(graph, 1, (PolderHaloPeers *)link));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloDestroy_Peer(void **link)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloPeersDestroy((PolderHaloPeers *)link));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderHaloSteps PolderHaloStepsPeer = {
  .create   = PolderHaloCreate_Peer,
  .destroy  = PolderHaloDestroy_Peer,
  .send     = PolderHaloSend_Peer,
  .receive  = PolderHaloReceive_Peer,
  .reduce   = PolderHaloReduce_Peer,
  .exchange = PolderHaloExchange_Peer,
  .adds     = PolderHaloAdds_Peer,
  .multadd  = PolderHaloMultAdd_Peer,
  .sends    = PolderHaloSends_Peer,
  .launches = PETSC_TRUE,
};
