/* Ghost values and CSR access of an AIJ matrix, through PETSc's public calls only. */
#include "halo.h"
#include "halopeers.h"
#include <petsc/private/matimpl.h>
#include <petscsf.h>

struct _n_PolderHalo {
  PetscSF          sf;        /* roots: owned columns, leaves: ghosts; NULL on one process */
  PolderHaloPeers  peers;     /* for arrays on devices: NULL when PetscSF exchanges these as well */
  PetscBool        connected; /* peers has been determined */
  PetscInt         nghost;
  PetscInt        *garray; /* own copy: the matrix frees its array when the pattern changes */
  PetscObjectState nonzerostate;
  PetscObjectId    id; /* of the off-diagonal block: a new preallocation makes a new block and counts its states from zero again */
};

static const char PolderHaloKey[] = "__Polder_halo";

static PetscErrorCode PolderHaloReset_Private(PolderHalo halo)
{
  PetscFunctionBegin;
  PetscCall(PolderHaloPeersDestroy(&halo->peers));
  PetscCall(PetscSFDestroy(&halo->sf));
  halo->connected = PETSC_FALSE;
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

PetscErrorCode PolderMatIsAIJ(Mat A, PetscBool *is)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, is, MATSEQAIJ, MATMPIAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of A; *offdiag and *garray are NULL for a sequential type */
static PetscErrorCode PolderMatGetBlocks_Private(Mat A, Mat *diag, Mat *offdiag, const PetscInt *garray[])
{
  PetscBool is, parallel;

  PetscFunctionBegin;
  PetscCall(PolderMatIsAIJ(A, &is));
  PetscCheck(is, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Matrix of type %s is not an AIJ matrix: use -mat_type aij (or aijdia, aijicrs, aijhec), or MatConvert() it", ((PetscObject)A)->type_name);
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix is not assembled: call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  *diag    = A;
  *offdiag = NULL;
  *garray  = NULL;
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, diag, offdiag, garray));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ghost[place[k]] stands for column garray[k]; place = NULL: ghost[k]. Collective: the pattern must change on every process or on none */
static PetscErrorCode PolderHaloConnect_Private(PolderHalo halo, PetscLayout layout, PetscInt nghost, const PetscInt garray[], PetscInt *place)
{
  PetscFunctionBegin;
  halo->nghost = nghost;
  PetscCall(PetscMalloc1(nghost, &halo->garray));
  PetscCall(PetscArraycpy(halo->garray, garray, nghost));
  if (layout->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFCreate(layout->comm, &halo->sf));
  PetscCall(PetscSFSetGraphLayout(halo->sf, layout, nghost, place, PETSC_COPY_VALUES, halo->garray));
  PetscCall(PetscSFSetUp(halo->sf));
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
  PetscCall(PetscNew(halo));
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
  PetscCall(PetscNew(halo));
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
  PetscCall(PolderMatGetBlocks_Private(A, &diag, &offdiag, &garray));
  PetscCall(MatGetNonzeroState(A, &state));
  if (offdiag) PetscCall(PetscObjectGetId((PetscObject)offdiag, &id));
  PetscCall(PetscObjectQuery((PetscObject)A, PolderHaloKey, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)halo));
  else {
    PetscCall(PetscNew(halo));
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

/* The exchange of arrays at a place: peers, or PetscSF when *peers is NULL. Determined at the first exchange. Collective */
static PetscErrorCode PolderHaloGetPeers_Private(PolderHalo halo, const PolderPlace *place, PolderHaloPeers *peers)
{
  PetscFunctionBegin;
  if (place->device && !halo->connected) {
    PetscCall(PolderHaloPeersCreate(halo->sf, &halo->peers));
    halo->connected = PETSC_TRUE;
  }
  *peers = place->device ? halo->peers : NULL;
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
  PolderHaloPeers peers = NULL;
  int             bytes;

  PetscFunctionBegin;
  if (!halo->sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloGetPeers_Private(halo, place, &peers));
  if (peers) {
    PetscCall(PolderUnitSize_Private(unit, &bytes));
    PetscCall(PolderHaloPeersSend(peers, bytes, owned));
  } else PetscCall(PetscSFBcastWithMemTypeBegin(halo->sf, unit, place->memtype, owned, place->memtype, ghost, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloEndAt(PolderHalo halo, const PolderPlace *place, MPI_Datatype unit, const void *owned, void *ghost)
{
  PolderHaloPeers peers = NULL;
  int             bytes;

  PetscFunctionBegin;
  if (!halo->sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloGetPeers_Private(halo, place, &peers));
  if (peers) {
    PetscCall(PolderUnitSize_Private(unit, &bytes));
    PetscCall(PolderHaloPeersReceive(peers, bytes, ghost));
  } else PetscCall(PolderHaloEnd(halo, unit, owned, ghost));
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
  PetscCall(PolderHaloBeginDevice(halo, unit, owned, ghost));
  PetscCall(PolderHaloEndDevice(halo, unit, owned, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderHaloEndMultAdd(PolderHalo halo, const PolderGhostRows *rows, const PetscScalar p[], PetscScalar z[], PetscScalar *dot, PetscBool sum,
                                    PetscBool *done)
{
  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (halo->peers) PetscCall(PolderHaloPeersMultAdd(halo->peers, rows, p, z, dot, sum, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool PolderHaloOnlyLaunches(PolderHalo halo)
{
  return (PetscBool)(!halo->sf || (halo->connected && halo->peers));
}

PetscErrorCode PolderHaloReduceAt(PolderHalo halo, const PolderPlace *place, const PetscScalar ghost[], PetscScalar owned[])
{
  PolderHaloPeers peers = NULL;

  PetscFunctionBegin;
  if (!halo->sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloGetPeers_Private(halo, place, &peers));
  if (peers) PetscCall(PolderHaloPeersReduce(peers, ghost, owned));
  else {
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

static PetscErrorCode PolderBlockGetCSR_Private(Mat block, const PetscInt *ai[], const PetscInt *aj[], const PetscScalar *aa[])
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, ai, aj, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix type %s does not give out its rows", ((PetscObject)block)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(block, aa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderBlockRestoreCSR_Private(Mat block, const PetscInt *ai[], const PetscInt *aj[], const PetscScalar *aa[])
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(block, aa));
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, &n, ai, aj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PolderMatGetCSR - the rows of this process as compressed rows, in host memory

  Logically Collective

  Input Parameter:
. A - an assembled AIJ matrix of any subtype, sequential or parallel

  Output Parameter:
. csr - the arrays, for reading only

  Level: developer

  Note:
  Nothing is copied, except the values of a matrix that keeps them on a device. Columns ascend within a row of a block, as PETSc keeps them.

.seealso: `PolderMatRestoreCSR()`, `PolderMatIsAIJ()`, `PolderMatGetHalo()`
*/
PetscErrorCode PolderMatGetCSR(Mat A, PolderCSR *csr)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(csr, sizeof(*csr)));
  PetscCall(PolderMatGetBlocks_Private(A, &csr->diag, &csr->offdiag, &csr->garray));
  PetscCall(MatGetLocalSize(A, &csr->m, NULL));
  PetscCall(MatGetSize(A, &csr->M, NULL));
  PetscCall(MatGetOwnershipRange(A, &csr->rstart, NULL));
  PetscCall(PolderBlockGetCSR_Private(csr->diag, &csr->ai, &csr->aj, &csr->aa));
  csr->nz = csr->ai[csr->m];
  if (csr->offdiag) {
    PetscCall(MatGetSize(csr->offdiag, NULL, &csr->nghost));
    PetscCall(PolderBlockGetCSR_Private(csr->offdiag, &csr->bi, &csr->bj, &csr->ba));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PolderMatRestoreCSR - gives back the arrays of `PolderMatGetCSR()`

  Logically Collective

  Input Parameters:
+ A   - the matrix
- csr - the arrays

  Level: developer

.seealso: `PolderMatGetCSR()`
*/
PetscErrorCode PolderMatRestoreCSR(Mat A, PolderCSR *csr)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PolderBlockRestoreCSR_Private(csr->diag, &csr->ai, &csr->aj, &csr->aa));
  if (csr->offdiag) PetscCall(PolderBlockRestoreCSR_Private(csr->offdiag, &csr->bi, &csr->bj, &csr->ba));
  PetscCall(PetscMemzero(csr, sizeof(*csr)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderMatGetHostCSR_Private(Mat A, PolderCSR *csr, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(A, csr));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetCSRAt(Mat A, const PolderPlace *place, PolderCSR *csr, PetscBool *done)
{
  static PetscErrorCode (*const get[])(Mat, PolderCSR *, PetscBool *) = {PolderMatGetHostCSR_Private, PolderMatGetDeviceCSR};

  PetscFunctionBegin;
  PetscCall((*get[place->device])(A, csr, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatRestoreCSRAt(Mat A, PolderCSR *csr)
{
  static PetscErrorCode (*const restore[])(Mat, PolderCSR *) = {PolderMatRestoreCSR, PolderMatRestoreDeviceCSR};

  PetscFunctionBegin;
  PetscCall((*restore[csr->device])(A, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
