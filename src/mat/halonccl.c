/* A halo whose values NCCL carries between devices: packed into a buffer, sent to all neighbours at the same time, unpacked. */
#include "halosteps.h"
#include "kernels/messages.h"

enum {
  SENT, /* forward: owned values; backward: ghosts come back */
  RECEIVED,
  SIDES
};

typedef struct {
  PolderPeers    peers;
  PetscMPIInt    n, *rank;      /* neighbours: those with values on either side */
  PetscInt      *ptr[SIDES];    /* [n + 1] of the messages, on the host */
  PolderMessages at[SIDES];     /* the same on the device */
  char          *buffer[SIDES]; /* forward, values go from buffer[SENT] to buffer[RECEIVED] of another process */
} PolderHaloNccl;

/* The messages of a side, and their buffer */
static PetscErrorCode PolderHaloNcclMessages_Private(PolderHaloNccl *h, const PolderHaloSide *side, int s)
{
  PetscInt *idx, *ptr;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(h->n + 1, &ptr));
  PetscCall(PolderHaloByNeighbour(side, h->n, h->rank, ptr, &idx, &h->at[s].most));
  h->ptr[s]  = ptr;
  h->at[s].n = h->n;
  PetscCall(PolderDeviceUpload(sizeof(*ptr) * (size_t)(h->n + 1), ptr, (void *)&h->at[s].ptr));
  PetscCall(PolderDeviceUpload(sizeof(*idx) * (size_t)ptr[h->n], idx, (void *)&h->at[s].idx));
  PetscCall(PolderDeviceMalloc(PolderMessageAt(ptr[h->n], h->n), &h->buffer[s]));
  PetscCall(PetscFree(idx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloCreate_Nccl(const PolderHaloGraph *graph, void **link)
{
  const PolderHaloSide side[SIDES] = {graph->sent, graph->received};
  PolderHaloNccl      *h;
  PolderPeers          peers;

  PetscFunctionBegin;
  *link = NULL;
  PetscCall(PolderPeersGet(graph->comm, &peers));
  if (!PolderPeersGetNccl(peers)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&h));
  *link    = h;
  h->peers = peers;
  PetscCall(PolderHaloNeighbours(graph, &h->n, &h->rank));
  for (int s = 0; s < SIDES; ++s) PetscCall(PolderHaloNcclMessages_Private(h, &side[s], s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloDestroy_Nccl(void **link)
{
  PolderHaloNccl *h = (PolderHaloNccl *)*link;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  for (int s = 0; s < SIDES; ++s) {
    PetscCall(PetscFree(h->ptr[s]));
    PetscCall(PolderDeviceFree((void *)&h->at[s].ptr));
    PetscCall(PolderDeviceFree((void *)&h->at[s].idx));
    PetscCall(PolderDeviceFree(&h->buffer[s]));
  }
  PetscCall(PetscFree(h->rank));
  PetscCall(PetscFree(*link));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* from: the side whose values are sent */
static PetscErrorCode PolderHaloNcclExchange_Private(PolderHaloNccl *h, int from, int bytes, PolderStream stream)
{
  const PolderNcclMessages messages = {.n          = h->n,
                                       .bytes      = bytes,
                                       .rank       = h->rank,
                                       .sendptr    = h->ptr[from],
                                       .receiveptr = h->ptr[SIDES - 1 - from],
                                       .send       = h->buffer[from],
                                       .receive    = h->buffer[SIDES - 1 - from]};

  PetscFunctionBegin;
  PetscCall(PolderNcclExchange(PolderPeersGetNccl(h->peers), &messages, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values are under way beside the work of the first stream */
static PetscErrorCode PolderHaloSend_Nccl(void *link, int bytes, const void *owned)
{
  PolderHaloNccl *h = (PolderHaloNccl *)link;
  PolderStream    stream, second;

  PetscFunctionBegin;
  if (!h->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderMessagesPack_CUDA(&h->at[SENT], bytes, owned, h->buffer[SENT], stream));
  PetscCall(PolderDeviceFork(&second));
  PetscCall(PolderHaloNcclExchange_Private(h, SENT, bytes, second));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloReceive_Nccl(void *link, int bytes, void *ghost)
{
  PolderHaloNccl *h = (PolderHaloNccl *)link;
  PolderStream    stream;

  PetscFunctionBegin;
  if (!h->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceJoin());
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderMessagesUnpack_CUDA(&h->at[RECEIVED], bytes, h->buffer[RECEIVED], ghost, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloReduce_Nccl(void *link, const PetscScalar ghost[], PetscScalar owned[])
{
  PolderHaloNccl *h = (PolderHaloNccl *)link;
  PolderStream    stream;

  PetscFunctionBegin;
  if (!h->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderMessagesPack_CUDA(&h->at[RECEIVED], (int)sizeof(*ghost), ghost, h->buffer[RECEIVED], stream));
  PetscCall(PolderHaloNcclExchange_Private(h, RECEIVED, (int)sizeof(*ghost), stream));
  for (int k = 0; k < h->n; ++k) PolderLaunch(PolderMessagesAdd_CUDA(&h->at[SENT], k, h->buffer[SENT], owned, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Not recorded: a communicator of NCCL does not end before the graphs that have recorded it */
const PolderHaloSteps PolderHaloStepsNccl = {
  .create  = PolderHaloCreate_Nccl,
  .destroy = PolderHaloDestroy_Nccl,
  .send    = PolderHaloSend_Nccl,
  .receive = PolderHaloReceive_Nccl,
  .reduce  = PolderHaloReduce_Nccl,
};
