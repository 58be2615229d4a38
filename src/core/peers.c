/* Groups of processes that exchange between their devices without the host: which way they take, allocation of memory that they share, and global sums. */
#include "peers.h"
#include "devicecalls.h"
#include "options.h"

/* Size of the first allocations of a group; each second one doubles it, up to 128 times. Pieces are cut from them, at multiples of POLDER_PIECE */
#define POLDER_SLAB    ((size_t)8 << 20)
#define POLDER_DOUBLED 7
#define POLDER_PIECE   ((size_t)256)
/* Maximum number of allocations of a group */
#define POLDER_SLABS 64

static const char *const PolderTransports[] = {"auto", "peer", "nccl", "mpi", "host", "PolderTransport", "POLDER_TRANSPORT_", NULL};

typedef struct {
  char  *base[POLDER_PEERS_MOST]; /* base address of each process' slab in the address space of this process */
  size_t size, used;              /* of this process */
  int    pieces;                  /* number of pieces in use on this process */
} PolderSlab;

/* A way to exchange between devices without the host */
typedef struct {
  PolderTransport transport;
  /* Collective. why, of PolderPeers, is then the reason why it is not possible, the same on all processes, or empty */
  PetscErrorCode (*open)(PolderPeers);
  PetscErrorCode (*close)(PolderPeers); /* collective; after a successful open() */
  PetscErrorCode (*sum)(PolderPeers, PetscInt n, PetscScalar value[]);
  PetscErrorCode (*check)(PolderPeers);
} PolderPeersWay;

struct _n_PolderPeers {
  MPI_Comm              comm, user;
  PetscMPIInt           rank, size;
  PolderTransport       wanted;
  PetscReal             seconds;
  PetscInt              rows; /* of -polder_min_rows_per_gpu */
  char                  file[PETSC_MAX_PATH_LEN], why[512];
  const PolderPeersWay *way;  /* NULL: PetscSF exchanges, MPI sums */
  PolderNccl            nccl; /* NULL: another way */
  /* processes that store into each other's memory */
  int             nslab;
  PolderSlab      slab[POLDER_SLABS];
  PolderPiece     mail;
  PolderPeersView view;
  int            *lost, *devicelost; /* shared memory */
  PolderPeers     next;
};

static PetscMPIInt PolderPeersKey  = MPI_KEYVAL_INVALID;
static PolderPeers PolderPeersList = NULL;

/* Each process unmaps the memory of the others, then frees its own. Collective */
static PetscErrorCode PolderPeersDropSlab_Private(PolderPeers p, PolderSlab *slab)
{
  PetscFunctionBegin;
  for (PetscMPIInt r = 0; r < p->size; ++r) {
    if (r != p->rank && slab->base[r]) PetscCall(PolderDeviceCallUnimport(slab->base[r]));
  }
  PetscCallMPI(MPI_Barrier(p->comm));
  if (slab->base[p->rank]) PetscCall(PolderDeviceCallUnexport(slab->base[p->rank]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a slab in which each process has at least the number of bytes that it asks for. *done is PETSC_FALSE on all processes when it fails on one.
   Collective */
static PetscErrorCode PolderPeersAddSlab_Private(PolderPeers p, size_t bytes, PetscBool *done)
{
  PolderSlab       *slab = &p->slab[p->nslab];
  PolderShareHandle mine, all[POLDER_PEERS_MOST];
  int               good;

  PetscFunctionBegin;
  PetscCheck(p->nslab < POLDER_SLABS, p->comm, PETSC_ERR_MEM, "More than %d allocations are shared between processes", POLDER_SLABS);
  PetscCall(PetscMemzero(slab, sizeof(*slab)));
  PetscCall(PetscMemzero(&mine, sizeof(mine)));
  slab->size = bytes;
  PetscCall(PolderDeviceCallExport(slab->size, (void **)&slab->base[p->rank], &mine));
  good = slab->base[p->rank] != NULL;
  PetscCallMPI(MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, p->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, p->comm));
  for (PetscMPIInt r = 0; good && r < p->size; ++r) {
    if (r != p->rank) PetscCall(PolderDeviceCallImport(&all[r], (void **)&slab->base[r]));
    if (!slab->base[r]) good = 0;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, p->comm));
  if (good) ++p->nslab;
  else PetscCall(PolderPeersDropSlab_Private(p, slab));
  *done = (PetscBool)good;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective */
static PetscErrorCode PolderPeersRelease_Private(PolderPeers p)
{
  PetscFunctionBegin;
  for (int k = 0; k < p->nslab; ++k) PetscCall(PolderPeersDropSlab_Private(p, &p->slab[k]));
  p->nslab = 0;
  PetscCall(PolderDeviceFreeShared(&p->lost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderPeersDestroy_Private(PolderPeers p)
{
  PolderPeers *link = &PolderPeersList;

  PetscFunctionBegin;
  if (p->way) PetscCall((*p->way->close)(p));
  PetscCallMPI(MPI_Comm_free(&p->comm));
  while (*link != p) link = &(*link)->next;
  *link = p->next;
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called when the communicator is freed or the library is finalised */
static int MPIAPI PolderPeersDelete_Private(MPI_Comm comm, PetscMPIInt key, void *value, void *extra)
{
  (void)comm, (void)key, (void)extra;
  return PolderPeersDestroy_Private((PolderPeers)value) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static PetscErrorCode PolderPeersOptions_Private(PolderPeers p)
{
  PetscFunctionBegin;
  p->wanted  = POLDER_TRANSPORT_AUTO;
  p->seconds = 60;
  p->rows    = PETSC_DECIDE;
  PetscOptionsBegin(p->comm, NULL, "Exchange between the processes of Polder", NULL);
  PetscCall(PetscOptionsEnum("-polder_transport",
                             "How values go between GPUs: stores into each other's memory, NCCL, device pointers for MPI, through the host", NULL,
                             PolderTransports, (PetscEnum)p->wanted, (PetscEnum *)&p->wanted, NULL));
  PetscCall(PetscOptionsString("-polder_nccl", "Library of NCCL", NULL, p->file, p->file, sizeof(p->file), NULL));
  PetscCall(PetscOptionsReal("-polder_timeout", "Seconds that a kernel waits for another process", NULL, p->seconds, &p->seconds, NULL));
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-polder_min_rows_per_gpu",
                             "With fewer rows a GPU, each solves the whole problem (0: never); rrbcg shares grids with this many", NULL, PETSC_DECIDE,
                             PETSC_MAX_INT, &p->rows, NULL));
  PetscOptionsEnd();
  PetscCheck(p->rows >= PETSC_DECIDE, p->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-polder_min_rows_per_gpu %" PetscInt_FMT " is negative: use 0 for never, -1 for automatic", p->rows);
  PetscCheck(p->seconds > 0, p->comm, PETSC_ERR_ARG_OUTOFRANGE, "-polder_timeout %g is not positive", (double)p->seconds);
  PetscCheck(p->wanted != POLDER_TRANSPORT_MPI || PolderDeviceMPI(), p->comm, PETSC_ERR_SUP,
             "-polder_transport mpi needs an MPI that takes device pointers, and PETSc has found that this one does not: use auto, peer, nccl or host");
  PetscCheck(p->wanted != POLDER_TRANSPORT_HOST || !PolderDeviceMPI(), p->comm, PETSC_ERR_SUP,
             "-polder_transport host needs -use_gpu_aware_mpi 0, since PETSc hands device pointers to MPI");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do two processes use the same GPU? Collective */
static PetscErrorCode PolderPeersShareGPU_Private(PolderPeers p, PetscBool *share)
{
  PolderDeviceName mine, *all;

  PetscFunctionBegin;
  *share = PETSC_FALSE;
  PetscCall(PolderDeviceCallName(p->rank, &mine));
  PetscCall(PetscMalloc1(p->size, &all));
  PetscCallMPI(MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, p->comm));
  for (PetscMPIInt r = 0; r < p->size; ++r) {
    for (PetscMPIInt q = 0; q < r; ++q) *share = (PetscBool)(*share || !memcmp(&all[q], &all[r], sizeof(mine)));
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up what kernels need for sums. Collective */
static PetscErrorCode PolderPeersSetView_Private(PolderPeers p)
{
  PetscInt64 mine[2], all[2 * POLDER_PEERS_MOST];

  PetscFunctionBegin;
  PetscCall(PolderDeviceMallocShared(sizeof(int), &p->lost, &p->devicelost));
  *p->lost         = 0;
  p->view.rank     = p->rank;
  p->view.size     = p->size;
  p->view.patience = (PolderPatience){.seconds = p->seconds, .lost = p->devicelost};
  PetscCall(PolderPeersMalloc(p, sizeof(PolderMailbox), sizeof(PolderMailbox), &p->mail));
  mine[0] = p->mail.slab;
  mine[1] = (PetscInt64)p->mail.offset;
  PetscCallMPI(MPI_Allgather(mine, 2, MPIU_INT64, all, 2, MPIU_INT64, p->comm));
  for (PetscMPIInt r = 0; r < p->size; ++r) p->view.box[r] = (PolderMailbox *)PolderPeersAddress(p, r, (PetscInt)all[2 * r], (size_t)all[2 * r + 1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderPeersOpen_Stores(PolderPeers p)
{
  const char *why = NULL;
  MPI_Comm    host;
  PetscMPIInt size;
  PetscBool   share, done;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_split_type(p->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_size(host, &size));
  PetscCallMPI(MPI_Comm_free(&host));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_INT, MPI_MIN, p->comm));
  PetscCall(PolderPeersShareGPU_Private(p, &share));
  if (p->size > POLDER_PEERS_MOST) why = "there are more processes than a kernel waits for";
  else if (size < p->size) why = "they are on several hosts";
  else if (share) why = "some share a GPU, and a kernel of one would wait until the other's turn comes";
  else {
    PetscCall(PolderPeersAddSlab_Private(p, POLDER_SLAB, &done));
    if (!done) {
      why = "the driver does not share memory between them (a container, or CUDA_VISIBLE_DEVICES that differs)";
      PetscCall(PolderPeersRelease_Private(p));
    }
  }
  PetscCall(PetscStrncpy(p->why, why ? why : "", sizeof(p->why)));
  if (!why) PetscCall(PolderPeersSetView_Private(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderPeersCheck_Stores(PolderPeers p)
{
  const int lost = *(volatile int *)p->lost;

  PetscFunctionBegin;
  PetscCheck(!lost, PETSC_COMM_SELF, PETSC_ERR_MPI, "Process %d of %d has not answered for %g seconds: it has failed, or it does other work (-polder_timeout)",
             lost - 1, p->size, (double)p->seconds);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderPeersSum_Stores(PolderPeers p, PetscInt n, PetscScalar value[])
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderPeersCheck_Stores(p));
  PetscCall(PolderDeviceGetStream(&stream));
  for (PetscInt k = 0; k < n; k += POLDER_PEERS_SUMS) PolderLaunch(PolderPeersSum_CUDA(&p->view, PetscMin(POLDER_PEERS_SUMS, n - k), value + k, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderPeersOpen_Nccl(PolderPeers p)
{
  PetscBool share;

  PetscFunctionBegin;
  PetscCall(PolderPeersShareGPU_Private(p, &share));
  if (share) PetscCall(PetscStrncpy(p->why, "some share a GPU", sizeof(p->why)));
  else PetscCall(PolderNcclCreate(p->comm, p->file, p->seconds, &p->nccl, sizeof(p->why), p->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderPeersClose_Nccl(PolderPeers p)
{
  PetscFunctionBegin;
  PetscCall(PolderNcclDestroy(&p->nccl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderPeersCheck_Nccl(PolderPeers p)
{
  PetscFunctionBegin;
  PetscCall(PolderNcclCheck(p->nccl, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderPeersSum_Nccl(PolderPeers p, PetscInt n, PetscScalar value[])
{
  PetscFunctionBegin;
  PetscCall(PolderNcclSum(p->nccl, n, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the order in which `auto` tries them; after these, PETSc's own ways */
static const PolderPeersWay PolderPeersWays[] = {
  {POLDER_TRANSPORT_PEER, PolderPeersOpen_Stores, PolderPeersRelease_Private, PolderPeersSum_Stores, PolderPeersCheck_Stores},
  {POLDER_TRANSPORT_NCCL, PolderPeersOpen_Nccl,   PolderPeersClose_Nccl,      PolderPeersSum_Nccl,   PolderPeersCheck_Nccl  },
};

static PetscErrorCode PolderPeersChoose_Private(PolderPeers p)
{
  PetscFunctionBegin;
  for (size_t k = 0; !p->way && k < PETSC_STATIC_ARRAY_LENGTH(PolderPeersWays); ++k) {
    const PolderPeersWay *way  = &PolderPeersWays[k];
    const char           *name = PolderTransports[way->transport];

    if (p->wanted != POLDER_TRANSPORT_AUTO && p->wanted != way->transport) continue;
    PetscCall((*way->open)(p));
    if (!p->why[0]) p->way = way;
    else PetscCall(PetscInfo(NULL, "-polder_transport %s is not possible for these %d processes: %s\n", name, p->size, p->why));
    PetscCheck(p->way || p->wanted != way->transport, p->user, PETSC_ERR_SUP, "-polder_transport %s is not possible for these %d processes: %s", name, p->size,
               p->why);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *PolderPeersTransportName_Private(PolderPeers p)
{
  return PolderTransports[p && p->way ? p->way->transport : PolderDeviceMPI() ? POLDER_TRANSPORT_MPI : POLDER_TRANSPORT_HOST];
}

static PetscErrorCode PolderPeersCreate_Private(MPI_Comm comm, PolderPeers *peers)
{
  PolderPeers p;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  PetscCallMPI(MPI_Comm_dup(comm, &p->comm));
  PetscCallMPI(MPI_Comm_rank(comm, &p->rank));
  PetscCallMPI(MPI_Comm_size(comm, &p->size));
  p->user         = comm;
  p->next         = PolderPeersList;
  PolderPeersList = p;
  *peers          = p;
  if (PolderPeersKey == MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, PolderPeersDelete_Private, &PolderPeersKey, NULL));
  PetscCallMPI(MPI_Comm_set_attr(comm, PolderPeersKey, p));
  PetscCall(PolderPeersOptions_Private(p));
  PetscCall(PolderPeersChoose_Private(p));
  PetscCall(PetscInfo(NULL, "%d processes exchange between their devices by -polder_transport %s\n", p->size, PolderPeersTransportName_Private(p)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The group that is stored with the communicator; made by the first call. Collective */
static PetscErrorCode PolderPeersFind_Private(MPI_Comm comm, PolderPeers *p)
{
  PetscMPIInt found;

  PetscFunctionBegin;
  *p = NULL;
  if (PolderPeersKey != MPI_KEYVAL_INVALID) {
    PetscCallMPI(MPI_Comm_get_attr(comm, PolderPeersKey, p, &found));
    if (!found) *p = NULL;
  }
  if (!*p) PetscCall(PolderPeersCreate_Private(comm, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPeersGet(MPI_Comm comm, PolderPeers *peers)
{
  PetscMPIInt size;
  PetscBool   use;

  PetscFunctionBegin;
  *peers = NULL;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PolderDeviceInUse(&use));
  if (size == 1 || !use) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPeersFind_Private(comm, peers));
  if (!(*peers)->way) *peers = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPeersGetTransport(MPI_Comm comm, const char **name)
{
  PolderPeers peers;

  PetscFunctionBegin;
  PetscCall(PolderPeersGet(comm, &peers));
  *name = PolderPeersTransportName_Private(peers);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPeersGetLeastRows(MPI_Comm comm, PetscInt *rows)
{
  PolderPeers p;
  PetscMPIInt size;
  PetscBool   use;

  PetscFunctionBegin;
  *rows = 0;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PolderDeviceInUse(&use));
  if (size == 1 || !use) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPeersFind_Private(comm, &p));
  *rows = p->rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a process launches from now on runs after what all of them have launched so far. The hosts do not wait, except for the memory of the sums itself */
static PetscErrorCode PolderPeersWait_Private(PolderPeers p)
{
  PolderStream stream;

  PetscFunctionBegin;
  if (!p->view.box[p->rank]) {
    PetscCall(PolderDeviceSynchronize());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderPeersCheck_Stores(p));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderPeersSum_CUDA(&p->view, 0, NULL, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static size_t PeersPieceSize(size_t bytes)
{
  return (bytes + POLDER_PIECE - 1) / POLDER_PIECE * POLDER_PIECE;
}

PetscErrorCode PolderPeersMallocMany(PolderPeers p, PetscInt count, const size_t bytes[], const size_t zeros[], PolderPiece *const piece[])
{
  size_t      want = 0;
  PolderSlab *slab;
  int         full[POLDER_SLABS], s;
  PetscBool   done = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; ++k) want += PeersPieceSize(bytes[k]);
  for (s = 0; s < p->nslab; ++s) full[s] = p->slab[s].used + want > p->slab[s].size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, full, p->nslab, MPI_INT, MPI_MAX, p->comm));
  for (s = 0; s < p->nslab && full[s]; ++s)
    ;
  if (s == p->nslab) PetscCall(PolderPeersAddSlab_Private(p, PetscMax(want, POLDER_SLAB << PetscMin(s / 2, POLDER_DOUBLED)), &done));
  if (!done) PetscCall(PolderPeersAddSlab_Private(p, PetscMax(want, POLDER_PIECE), &done));
  PetscCheck(done, p->comm, PETSC_ERR_MEM, "No more memory can be shared between the GPUs of %d processes: use -polder_transport host", p->size);
  slab = &p->slab[s];
  for (PetscInt k = 0; k < count; ++k) {
    *piece[k] = (PolderPiece){.slab = s, .offset = slab->used, .bytes = PeersPieceSize(bytes[k]), .here = slab->base[p->rank] + slab->used};
    slab->used += piece[k]->bytes;
    ++slab->pieces;
    PetscCall(PolderDeviceZero(piece[k]->here, zeros[k]));
  }
  PetscCall(PolderPeersWait_Private(p)); // before any process writes to it
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPeersMalloc(PolderPeers p, size_t bytes, size_t zeros, PolderPiece *piece)
{
  PetscFunctionBegin;
  PetscCall(PolderPeersMallocMany(p, 1, &bytes, &zeros, &piece));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pieces may be freed in any order. When a slab has no piece left, its memory is reused from the start */
PetscErrorCode PolderPeersFree(PolderPeers p, PolderPiece *piece)
{
  PolderSlab *slab = &p->slab[piece->slab];

  PetscFunctionBegin;
  if (!piece->here) PetscFunctionReturn(PETSC_SUCCESS);
  piece->here = NULL;
  if (piece->offset + piece->bytes == slab->used) slab->used = piece->offset;
  if (!--slab->pieces) slab->used = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void *PolderPeersAddress(PolderPeers p, PetscMPIInt rank, PetscInt slab, size_t offset)
{
  return p->slab[slab].base[rank] + offset;
}

MPI_Comm PolderPeersComm(PolderPeers p)
{
  return p->comm;
}

PolderPatience PolderPeersPatience(PolderPeers p)
{
  return p->view.patience;
}

const PolderPeersView *PolderPeersGetView(PolderPeers p)
{
  return p && p->view.size ? &p->view : NULL;
}

PolderNccl PolderPeersGetNccl(PolderPeers p)
{
  return p ? p->nccl : NULL;
}

PetscErrorCode PolderPeersCheck(PolderPeers p)
{
  PetscFunctionBegin;
  PetscCall((*p->way->check)(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPeersSum(PolderPeers p, PetscInt n, PetscScalar value[])
{
  PetscFunctionBegin;
  PetscCall((*p->way->sum)(p, n, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCommSum(MPI_Comm comm, PetscInt n, PetscScalar value[], PetscScalar host[])
{
  PolderPeers peers;

  PetscFunctionBegin;
  PetscCall(PolderPeersGet(comm, &peers));
  if (peers) PetscCall(PolderPeersSum(peers, n, value));
  else {
    PetscCall(PolderDeviceToHost(host, value, sizeof(*value) * (size_t)n));
    PetscCallAllreduce(MPI_IN_PLACE, host, (PetscMPIInt)n, MPIU_SCALAR, MPIU_SUM, comm);
    PetscCall(PolderDeviceFromHost(value, host, sizeof(*value) * (size_t)n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCommRho(MPI_Comm comm, const PolderCGRho *rho)
{
  PolderPeers  peers;
  PolderStream stream;
  PetscScalar  host[2];

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderPeersGet(comm, &peers));
  if (PolderPeersGetView(peers)) PolderLaunch(PolderCGSumRho_CUDA(PolderPeersGetView(peers), rho, stream));
  else {
    PetscCall(PolderCommSum(comm, 2, &rho->state->sum[1], host));
    PolderLaunch(PolderCGAdvance_CUDA(PETSC_FALSE, PETSC_TRUE, rho->first, rho->state, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPeersWatch(PetscReal waited, PetscBool *watching)
{
  PetscFunctionBegin;
  *watching = PETSC_FALSE;
  for (PolderPeers p = PolderPeersList; p; p = p->next) {
    if (!p->nccl || PolderNcclLost(p->nccl)) continue;
    *watching = PETSC_TRUE;
    PetscCall(PolderNcclCheck(p->nccl, waited));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderPeersFinalize(void)
{
  PetscFunctionBegin;
  while (PolderPeersList) PetscCallMPI(MPI_Comm_delete_attr(PolderPeersList->user, PolderPeersKey));
  if (PolderPeersKey != MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_free_keyval(&PolderPeersKey));
  PetscFunctionReturn(PETSC_SUCCESS);
}
