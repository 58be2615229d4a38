/* Ghost values of an AIJ matrix, through PETSc's public calls only. */
#include "halo.h"
#include "csr.h"
#include "halopeers.h"
#include <petsc/private/matimpl.h>
#include <petscsf.h>

/* The exchange of first and last planes: the neighbours, the first position of each in the lists, and the lists of sent and of received values */
typedef struct {
  PetscMPIInt n, rank[2];
  PetscInt    ptr[3], *sent, *received;
} PolderHaloPlanes;

struct _n_PolderHalo {
  MPI_Comm               comm;      /* MPI_COMM_NULL where nothing is exchanged: on one process */
  PetscInt               n;         /* owned columns */
  PetscSF                sf;        /* roots: owned columns, leaves: ghosts; made when it is needed where planes are exchanged */
  PolderHaloPlanes       planes;    /* sent = NULL: the graph is that of sf */
  const PolderHaloSteps *steps;     /* for arrays on devices: NULL when PetscSF exchanges these as well */
  void                  *link;      /* of these steps */
  PetscBool              connected; /* steps have been determined */
  PolderHaloPeers        pairs;     /* those of processes that store into each other's memory, with two values a ghost, on request */
  PetscInt               nghost;
  PetscInt              *garray; /* own copy: the matrix frees its array when the pattern changes */
  PetscObjectState       nonzerostate;
  PetscObjectId          id; /* of the off-diagonal block: a new preallocation makes a new block and counts its states from zero again */
};

static const char PolderHaloKey[] = "__Polder_halo";

static PetscErrorCode PolderHaloReset_Private(PolderHalo halo)
{
  PetscFunctionBegin;
  if (halo->steps) PetscCall((*halo->steps->destroy)(&halo->link));
  halo->steps = NULL;
  PetscCall(PolderHaloPeersDestroy(&halo->pairs));
  PetscCall(PetscSFDestroy(&halo->sf));
  if (halo->comm != MPI_COMM_NULL) PetscCall(PetscCommDestroy(&halo->comm));
  halo->connected = PETSC_FALSE;
  PetscCall(PetscFree2(halo->planes.sent, halo->planes.received));
  PetscCall(PetscFree(halo->garray));
  halo->nghost = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloDestroy_Private(PolderCtxArg(ctx))
{
  PolderHalo halo = (PolderHalo)PolderCtx(ctx);

  PetscFunctionBegin;
  PetscCall(PolderHaloReset_Private(halo));
  PetscCall(PetscFree(halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloNew_Private(PolderHalo *halo)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(halo));
  (*halo)->comm = MPI_COMM_NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The processes of the exchange, the number of owned values, and room for the columns of the ghosts */
static PetscErrorCode PolderHaloSizes_Private(PolderHalo halo, MPI_Comm comm, PetscInt n, PetscInt nghost)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  halo->n      = n;
  halo->nghost = nghost;
  PetscCall(PetscMalloc1(nghost, &halo->garray));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCall(PetscCommDuplicate(comm, &halo->comm, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloMakeSF_Private(PolderHalo halo, PetscLayout layout, PetscInt *place)
{
  PetscFunctionBegin;
  PetscCall(PetscSFCreate(halo->comm, &halo->sf));
  PetscCall(PetscSFSetGraphLayout(halo->sf, layout, halo->nghost, place, PETSC_COPY_VALUES, halo->garray));
  PetscCall(PetscSFSetUp(halo->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ghost[place[k]] stands for column garray[k]; place = NULL: ghost[k]. Collective: the pattern must change on every process or on none */
static PetscErrorCode PolderHaloConnect_Private(PolderHalo halo, PetscLayout layout, PetscInt nghost, const PetscInt garray[], PetscInt *place)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloSizes_Private(halo, layout->comm, layout->n, nghost));
  PetscCall(PetscArraycpy(halo->garray, garray, nghost));
  if (halo->comm != MPI_COMM_NULL) PetscCall(PolderHaloMakeSF_Private(halo, layout, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloSetUp_Private(PolderHalo halo, Mat A, Mat offdiag, const PetscInt garray[])
{
  PetscLayout layout;
  PetscInt    nghost;

  PetscFunctionBegin;
  PetscCall(PolderHaloReset_Private(halo));
  if (!offdiag) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(offdiag, NULL, &nghost));
  PetscCall(MatGetLayouts(A, NULL, &layout));
  PetscCall(PolderHaloConnect_Private(halo, layout, nghost, garray, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloCreate(MPI_Comm comm, PetscInt n, PetscInt nghost, const PetscInt garray[], PolderHalo *halo)
{
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCall(PolderHaloNew_Private(halo));
  PetscCall(PetscLayoutCreateFromSizes(comm, n, PETSC_DETERMINE, 1, &layout));
  PetscCall(PolderHaloConnect_Private(*halo, layout, nghost, garray, NULL));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloCreateAll(MPI_Comm comm, PetscInt n, PolderHalo *halo)
{
  PetscLayout layout;
  PetscInt   *others, count = 0;

  PetscFunctionBegin;
  PetscCall(PolderHaloNew_Private(halo));
  PetscCall(PetscLayoutCreateFromSizes(comm, n, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscMalloc1(layout->N - n, &others));
  for (PetscInt j = 0; j < layout->N; ++j) {
    if (j < layout->rstart || j >= layout->rend) others[count++] = j;
  }
  PetscCall(PolderHaloConnect_Private(*halo, layout, count, others, others));
  PetscCall(PetscFree(others));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* i <- first, first + 1, ... */
static void PolderHaloCount_Private(PetscInt n, PetscInt first, PetscInt i[])
{
  for (PetscInt k = 0; k < n; ++k) i[k] = first + k;
}

PetscErrorCode PolderHaloCreatePlanes(MPI_Comm comm, PetscInt n, PetscInt first, PetscInt plane, const PetscMPIInt beside[2], PolderHalo *halo)
{
  PolderHaloPlanes *P;
  PetscInt          count = 0;

  PetscFunctionBegin;
  PetscCall(PolderHaloNew_Private(halo));
  P = &(*halo)->planes;
  PetscCall(PolderHaloSizes_Private(*halo, comm, n, plane * ((beside[0] >= 0) + (beside[1] >= 0))));
  PetscCall(PetscMalloc2((*halo)->nghost + 1, &P->sent, (*halo)->nghost, &P->received));
  for (int upper = 0; upper < 2; ++upper) {
    if (beside[upper] < 0) continue;
    P->rank[P->n] = beside[upper];
    PolderHaloCount_Private(plane, upper ? first + n : first - plane, (*halo)->garray + count);
    PolderHaloCount_Private(plane, upper ? n - plane : 0, P->sent + count);
    PolderHaloCount_Private(plane, count, P->received + count);
    count += plane;
    P->ptr[++P->n] = count;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloDestroy(PolderHalo *halo)
{
  PetscFunctionBegin;
  if (*halo) PetscCall(PolderHaloReset_Private(*halo));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PolderMatGetHalo - the exchange of the values that the rows of each process need from other processes

  Collective

  Input Parameter:
. A - an assembled AIJ matrix of any subtype, sequential or parallel

  Output Parameter:
. halo - the halo; it belongs to the matrix and must not be destroyed

  Level: developer

  Notes:
  Kept with the matrix and rebuilt by this call when the nonzero pattern has changed since the last one, so call it again
  wherever a set-up follows the matrix; the handle itself stays valid. The halo of a sequential matrix is empty.

.seealso: `PolderHaloBegin()`, `PolderHaloEnd()`, `PolderHaloGetGhosts()`, `PolderMatGetCSR()`
*/
PetscErrorCode PolderMatGetHalo(Mat A, PolderHalo *halo)
{
  PetscContainer   container;
  Mat              diag, offdiag;
  const PetscInt  *garray;
  PetscObjectState state;
  PetscObjectId    id    = 0;
  PetscBool        fresh = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderMatGetBlocks(A, &diag, &offdiag, &garray));
  PetscCall(MatGetNonzeroState(A, &state));
  if (offdiag) PetscCall(PetscObjectGetId((PetscObject)offdiag, &id));
  PetscCall(PetscObjectQuery((PetscObject)A, PolderHaloKey, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)halo));
  else {
    PetscCall(PolderHaloNew_Private(halo));
    PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)A), &container));
    PetscCall(PetscContainerSetPointer(container, *halo));
    PetscCall(PetscContainerSetCtxDestroy(container, PolderHaloDestroy_Private));
    PetscCall(PetscObjectCompose((PetscObject)A, PolderHaloKey, (PetscObject)container));
    PetscCall(PetscContainerDestroy(&container));
    fresh = PETSC_TRUE;
  }
  if (fresh || (*halo)->nonzerostate != state || (*halo)->id != id) {
    PetscCall(PolderHaloSetUp_Private(*halo, A, offdiag, garray));
    (*halo)->nonzerostate = state;
    (*halo)->id           = id;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PolderHaloGetGhosts - the global columns, ascending, that this process needs from others

  Not Collective

  Input Parameter:
. halo - the halo

  Output Parameters:
+ nghost - their number
- garray - their global numbers; belongs to the halo; may be `NULL`

  Level: developer

.seealso: `PolderMatGetHalo()`
*/
PetscErrorCode PolderHaloGetGhosts(PolderHalo halo, PetscInt *nghost, const PetscInt *garray[])
{
  PetscFunctionBegin;
  *nghost = halo->nghost;
  if (garray) *garray = halo->garray;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PetscSF for the exchange of planes. Collective the first time */
static PetscErrorCode PolderHaloNeedSF_Private(PolderHalo halo)
{
  PetscLayout layout;

  PetscFunctionBegin;
  if (halo->sf || halo->comm == MPI_COMM_NULL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLayoutCreateFromSizes(halo->comm, halo->n, PETSC_DETERMINE, 1, &layout));
  PetscCall(PolderHaloMakeSF_Private(halo, layout, NULL));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderHaloGetGraph_Private(PolderHalo halo, PolderHaloGraph *graph)
{
  const PolderHaloPlanes *P = &halo->planes;
  PolderHaloSide         *S = &graph->sent, *R = &graph->received;
  const PetscInt         *remote;

  PetscFunctionBegin;
  graph->comm = halo->comm;
  if (P->sent) {
    *S = (PolderHaloSide){P->n, P->rank, P->ptr, P->sent};
    *R = (PolderHaloSide){P->n, P->rank, P->ptr, P->received};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSFGetLeafRanks(halo->sf, &S->n, &S->rank, &S->ptr, &S->idx));
  PetscCall(PetscSFGetRootRanks(halo->sf, &R->n, &R->rank, &R->ptr, &R->idx, &remote));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PolderHaloBegin - starts ghost[k] <- owned value of global column garray[k]

  Neighbor-wise Collective

  Input Parameters:
+ halo  - the halo
. unit  - `MPIU_SCALAR`, `MPIU_INT` or `MPI_FLOAT`
. owned - values of the columns that this process owns
- ghost - room for one value a ghost

  Level: developer

  Note:
  Neither array may be touched before `PolderHaloEnd()` with the same arguments; any work in between overlaps the exchange.

.seealso: `PolderMatGetHalo()`, `PolderHaloEnd()`
*/
PetscErrorCode PolderHaloBegin(PolderHalo halo, MPI_Datatype unit, const void *owned, void *ghost)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloNeedSF_Private(halo));
  if (halo->sf) PetscCall(PetscSFBcastBegin(halo->sf, unit, owned, ghost, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PolderHaloEnd - ends the exchange that `PolderHaloBegin()` started

  Neighbor-wise Collective

  Input Parameters:
+ halo  - the halo
. unit  - `MPIU_SCALAR`, `MPIU_INT` or `MPI_FLOAT`
. owned - values of the columns that this process owns
- ghost - receives one value a ghost

  Level: developer

.seealso: `PolderMatGetHalo()`, `PolderHaloBegin()`
*/
PetscErrorCode PolderHaloEnd(PolderHalo halo, MPI_Datatype unit, const void *owned, void *ghost)
{
  PetscFunctionBegin;
  if (halo->sf) PetscCall(PetscSFBcastEnd(halo->sf, unit, owned, ghost, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloExchange(PolderHalo halo, MPI_Datatype unit, const void *owned, void *ghost)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloBegin(halo, unit, owned, ghost));
  PetscCall(PolderHaloEnd(halo, unit, owned, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exchange of arrays at a place: steps, or PetscSF when *steps is NULL. Determined at the first exchange. Collective */
static PetscErrorCode PolderHaloGetSteps_Private(PolderHalo halo, const PolderPlace *place, const PolderHaloSteps **steps)
{
  static const PolderHaloSteps *const ways[] = {&PolderHaloStepsPeer, &PolderHaloStepsNccl};
  PolderHaloGraph                     graph;

  PetscFunctionBegin;
  if (place->device && !halo->connected) PetscCall(PolderHaloGetGraph_Private(halo, &graph));
  for (size_t k = 0; place->device && !halo->connected && k < PETSC_STATIC_ARRAY_LENGTH(ways); ++k) {
    PetscCall((*ways[k]->create)(&graph, &halo->link));
    if (halo->link) halo->steps = ways[k];
    halo->connected = (PetscBool)(halo->link || k + 1 == PETSC_STATIC_ARRAY_LENGTH(ways));
  }
  *steps = place->device ? halo->steps : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderUnitSize_Private(MPI_Datatype unit, int *bytes)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_size(unit, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When MPI takes no device pointers (-use_gpu_aware_mpi 0), PetscSF uses host buffers: only the values sent and received cross the bus */
PetscErrorCode PolderHaloBeginAt(PolderHalo halo, const PolderPlace *place, MPI_Datatype unit, const void *owned, void *ghost)
{
  const PolderHaloSteps *steps = NULL;
  int                    bytes;

  PetscFunctionBegin;
  if (halo->comm == MPI_COMM_NULL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloGetSteps_Private(halo, place, &steps));
  if (steps) {
    PetscCall(PolderUnitSize_Private(unit, &bytes));
    PetscCall((*steps->send)(halo->link, bytes, owned));
  } else {
    PetscCall(PolderHaloNeedSF_Private(halo));
    PetscCall(PetscSFBcastWithMemTypeBegin(halo->sf, unit, place->memtype, owned, place->memtype, ghost, MPI_REPLACE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloEndAt(PolderHalo halo, const PolderPlace *place, MPI_Datatype unit, const void *owned, void *ghost)
{
  const PolderHaloSteps *steps = NULL;
  int                    bytes;

  PetscFunctionBegin;
  if (halo->comm == MPI_COMM_NULL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloGetSteps_Private(halo, place, &steps));
  if (steps) {
    PetscCall(PolderUnitSize_Private(unit, &bytes));
    PetscCall((*steps->receive)(halo->link, bytes, ghost));
  } else PetscCall(PolderHaloEnd(halo, unit, owned, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloExchangeAt(PolderHalo halo, const PolderPlace *place, MPI_Datatype unit, const void *owned, void *ghost)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloBeginAt(halo, place, unit, owned, ghost));
  PetscCall(PolderHaloEndAt(halo, place, unit, owned, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloBeginDevice(PolderHalo halo, MPI_Datatype unit, const void *owned, void *ghost)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloBeginAt(halo, &PolderOnDevice, unit, owned, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloEndDevice(PolderHalo halo, MPI_Datatype unit, const void *owned, void *ghost)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloEndAt(halo, &PolderOnDevice, unit, owned, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloExchangeDevice(PolderHalo halo, MPI_Datatype unit, const void *owned, void *ghost)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloExchangeAt(halo, &PolderOnDevice, unit, owned, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloConnectDevice(PolderHalo halo)
{
  const PolderHaloSteps *steps;

  PetscFunctionBegin;
  if (halo->comm != MPI_COMM_NULL) PetscCall(PolderHaloGetSteps_Private(halo, &PolderOnDevice, &steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PolderHaloAddsRows(PolderHalo halo)
{
  return (PetscBool)(halo->steps && halo->steps->adds && (*halo->steps->adds)(halo->link));
}

PetscErrorCode PolderHaloEndMultAdd(PolderHalo halo, const PolderGhostRows *rows, const PetscScalar p[], PetscScalar z[], PetscScalar *dot, PetscBool sum,
                                    PetscBool *done)
{
  PetscFunctionBegin;
  *done = PolderHaloAddsRows(halo);
  if (*done) PetscCall((*halo->steps->multadd)(halo->link, rows, p, z, dot, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloGetPairs(PolderHalo halo, PetscBool make, const PolderExchange **e)
{
  PolderHaloGraph graph;

  PetscFunctionBegin;
  if (make && halo->comm != MPI_COMM_NULL && !halo->pairs) {
    PetscCall(PolderHaloGetGraph_Private(halo, &graph));
    PetscCall(PolderHaloPeersCreate(&graph, 2, &halo->pairs));
  }
  *e = PolderHaloPeersGetExchange(halo->pairs);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloGetExchange(PolderHalo halo, const PolderExchange **e)
{
  const PolderHaloSteps *steps = NULL;

  PetscFunctionBegin;
  *e = NULL;
  if (halo->comm != MPI_COMM_NULL) PetscCall(PolderHaloGetSteps_Private(halo, &PolderOnDevice, &steps));
  if (steps && steps->exchange) PetscCall((*steps->exchange)(halo->link, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloGetSends(PolderHalo halo, PolderSends *sends)
{
  PetscFunctionBegin;
  sends->n = 0;
  if (halo->steps && halo->steps->sends) *sends = *(*halo->steps->sends)(halo->link);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PolderHaloOnlyLaunches(PolderHalo halo)
{
  return (PetscBool)(halo->comm == MPI_COMM_NULL || (halo->steps && halo->steps->launches));
}

PetscErrorCode PolderHaloReduceAt(PolderHalo halo, const PolderPlace *place, const PetscScalar ghost[], PetscScalar owned[])
{
  const PolderHaloSteps *steps = NULL;

  PetscFunctionBegin;
  if (halo->comm == MPI_COMM_NULL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloGetSteps_Private(halo, place, &steps));
  if (steps) PetscCall((*steps->reduce)(halo->link, ghost, owned));
  else {
    PetscCall(PolderHaloNeedSF_Private(halo));
    PetscCall(PetscSFReduceWithMemTypeBegin(halo->sf, MPIU_SCALAR, place->memtype, ghost, place->memtype, owned, MPIU_SUM));
    PetscCall(PetscSFReduceEnd(halo->sf, MPIU_SCALAR, ghost, owned, MPIU_SUM));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloReduceDevice(PolderHalo halo, const PetscScalar ghost[], PetscScalar owned[])
{
  PetscFunctionBegin;
  PetscCall(PolderHaloReduceAt(halo, &PolderOnDevice, ghost, owned));
  PetscFunctionReturn(PETSC_SUCCESS);
}
