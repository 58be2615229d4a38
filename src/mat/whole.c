/*
  All rows of a parallel matrix on the GPU of each process. The rows of the processes one after the other are those of the whole, so the values are gathered as
  they are, after each process has put those of its two blocks in the order of their columns.
*/
#include "whole.h"
#include "aijderived.h"
#include "core/devicecalls.h"
#include "core/gather.h"
#include "core/keep.h"
#include "core/peers.h"
#include "kernels/csr.h"
#include <petsc/private/matimpl.h>

/* With more entries a row than this on a process, on average, its rows are too long */
#define POLDER_WHOLE_MEAN 200
/* Bytes of the matrix, by rows and by diagonals, and of a multigrid hierarchy, for an entry and for a row; they may take a half of what is free */
#define POLDER_WHOLE_ENTRY 40.0
#define POLDER_WHOLE_ROW   200.0

struct _n_PolderWhole {
  PetscInt         refct;
  Mat              A;
  PolderReplica    replica;
  PetscInt         nz[POLDER_PEERS_MOST]; /* entries of each process */
  PetscInt        *order;                 /* device: entry k of this process is entry order[k] of the two blocks, one after the other */
  PolderWholeStamp stamp;
};

static const char PolderWholeKey[] = "__Polder_whole";

PetscErrorCode PolderWholeDestroy(PolderWhole *whole)
{
  PolderWhole old = *whole;

  PetscFunctionBegin;
  *whole = NULL;
  if (!old || --old->refct) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&old->A));
  PetscCall(PolderReplicaDestroy(&old->replica));
  PetscCall(PolderDeviceFree(&old->order));
  PetscCall(PetscFree(old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Mat PolderWholeMat(PolderWhole whole)
{
  return whole->A;
}

PolderReplica PolderWholeReplica(PolderWhole whole)
{
  return whole->replica;
}

PetscErrorCode PolderMatWantsWhole(Mat A, PetscInt most, PetscBool *wants)
{
  const MPI_Comm      comm = PetscObjectComm((PetscObject)A);
  const PolderFormat *format;
  PolderLayout        layout;
  PolderPeers         peers;
  PetscMPIInt         size;
  PetscBool           bound;
  PetscInt            least, N;

  PetscFunctionBegin;
  *wants = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PolderFormatOf(A, &format, &layout));
  PetscCall(MatBoundToCPU(A, &bound));
  if (size == 1 || size > POLDER_PEERS_MOST || !format || bound) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderPeersGetLeastRows(comm, &least));
  PetscCall(PolderPeersGet(comm, &peers));
  PetscCall(MatGetSize(A, &N, NULL));
  if (least < 0) *wants = (PetscBool)(peers && N <= most); // otherwise processes may share a GPU, which would have to do all of the work several times
  else *wants = (PetscBool)(N / size < least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of the rows of this process, and of one block */
static PetscErrorCode PolderWholePattern_Private(Mat block, PetscInt *m, const PetscInt *ai[], const PetscInt *aj[])
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, m, ai, aj, &done)); // on the host, where PETSc always keeps it
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix type %s does not give out its rows", ((PetscObject)block)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderWholeRestore_Private(Mat block, PetscInt *m, const PetscInt *ai[], const PetscInt *aj[])
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatRestoreRowIJ(block, 0, PETSC_FALSE, PETSC_FALSE, m, ai, aj, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of entries of each process. *good = PETSC_FALSE, on all of them: no process may have all */
static PetscErrorCode PolderWholeCounts_Private(MPI_Comm comm, PetscInt m, PetscInt nz, PetscInt entries[], PetscBool *good)
{
  PetscInt64  mine[3] = {m, nz, 0}, all[3 * POLDER_PEERS_MOST], sum[2] = {0, 0};
  PetscMPIInt size;
  size_t      available;

  PetscFunctionBegin;
  PetscCall(PolderDeviceCallAvailable(&available));
  mine[2] = (PetscInt64)available;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Allgather(mine, 3, MPIU_INT64, all, 3, MPIU_INT64, comm));
  *good = PETSC_TRUE;
  for (PetscMPIInt r = 0; r < size; ++r) {
    entries[r] = (PetscInt)all[3 * r + 1];
    if (entries[r] > POLDER_WHOLE_MEAN * all[3 * r]) *good = PETSC_FALSE;
    for (int k = 0; k < 2; ++k) sum[k] += all[3 * r + k];
  }
  if (sum[1] > PETSC_MPI_INT_MAX) *good = PETSC_FALSE; // PETSc's indices may have more bits
  for (PetscMPIInt r = 0; r < size; ++r) {
    if (POLDER_WHOLE_ENTRY * (double)sum[1] + POLDER_WHOLE_ROW * (double)sum[0] > 0.5 * (double)all[3 * r + 2]) *good = PETSC_FALSE;
  }
  if (!*good)
    PetscCall(PetscInfo(NULL, "No whole matrix of %" PetscInt64_FMT " rows and %" PetscInt64_FMT " entries on each GPU: too large, or rows too long\n", sum[0],
                        sum[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of the rows of this process in the order of their columns, with global columns; order[] numbers those of the blocks one after the other */
static PetscErrorCode PolderWholeJoin_Private(const PolderCSR *csr, PetscInt length[], PetscInt col[], PetscInt order[])
{
  const PetscInt *ai, *aj, *bi = NULL, *bj = NULL;
  PetscInt        m, n, k = 0, nz;

  PetscFunctionBegin;
  PetscCall(PolderWholePattern_Private(csr->diag, &m, &ai, &aj));
  PetscCall(PolderWholePattern_Private(csr->offdiag, &n, &bi, &bj));
  nz = ai[m];
  for (PetscInt i = 0; i < m; ++i) {
    PetscInt b = bi[i];

    length[i] = ai[i + 1] - ai[i] + bi[i + 1] - bi[i];
    for (; b < bi[i + 1] && csr->garray[bj[b]] < csr->rstart; ++b) {
      col[k]     = csr->garray[bj[b]];
      order[k++] = nz + b;
    }
    for (PetscInt a = ai[i]; a < ai[i + 1]; ++a) {
      col[k]     = csr->rstart + aj[a];
      order[k++] = a;
    }
    for (; b < bi[i + 1]; ++b) {
      col[k]     = csr->garray[bj[b]];
      order[k++] = nz + b;
    }
  }
  PetscCall(PolderWholeRestore_Private(csr->offdiag, &n, &bi, &bj));
  PetscCall(PolderWholeRestore_Private(csr->diag, &m, &ai, &aj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of all rows, whose values are zero until the first ones are gathered */
static PetscErrorCode PolderWholeCreateMat_Private(PolderWhole whole, Mat A, const PolderCSR *csr)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PolderAIJ      aij, all;
  PetscInt      *length, *col, *order, *lengths, *cols, n;
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMalloc3(csr->m, &length, whole->nz[rank], &col, whole->nz[rank], &order));
  PetscCall(PolderWholeJoin_Private(csr, length, col, order));
  PetscCall(PolderGatherAll(comm, csr->m, length, sizeof(*length), &n, &lengths));
  PetscCall(PolderGatherAll(comm, whole->nz[rank], col, sizeof(*col), &n, &cols));
  PetscCall(PolderDeviceUpload(sizeof(PetscInt) * (size_t)whole->nz[rank], order, &whole->order));
  PetscCall(MatCreate(PETSC_COMM_SELF, &whole->A));
  PetscCall(MatSetSizes(whole->A, csr->M, csr->M, csr->M, csr->M));
  PetscCall(PolderAIJContext(A, &aij));
  PetscCall(MatSetType(whole->A, aij->format->seq));
  PetscCall(PolderAIJContext(whole->A, &all));
  PetscCall(PolderAIJSetOptions(all, &aij->opts));
  PetscCall(MatSetVecType(whole->A, POLDER_VEC_DEVICE));
  PetscCall(MatSeqAIJSetPreallocation(whole->A, 0, lengths));
  PetscCall(MatSeqAIJSetColumnIndices(whole->A, cols));
  PetscCall(PolderAIJZero(whole->A));
  PetscCall(PetscFree3(length, col, order));
  PetscCall(PetscFree(lengths));
  PetscCall(PetscFree(cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderWholeValues_Private(PolderWhole whole, Mat A, const PolderCSR *csr)
{
  PolderAIJ    all;
  PetscScalar *own; // in the order of their columns
  PetscMPIInt  rank;
  PetscBool    assembled;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceMalloc(sizeof(*own) * (size_t)whole->nz[rank], &own));
  PolderLaunch(PolderGatherJoined_CUDA(whole->nz[rank], whole->order, csr->nz, csr->aa, csr->ba, own, stream));
  PetscCall(PolderAIJContext(whole->A, &all));
  PetscCall(PolderMirrorUpdatePattern(&all->rows, whole->A, PETSC_FALSE));
  PetscCall(PolderReplicaGatherMany(whole->replica, whole->nz, own, all->rows->aa));
  PetscCall(PolderDeviceFree(&own));
  PetscCall(PolderAIJNewestOnDevice(whole->A));
  PetscCall(MatAssembled(whole->A, &assembled));
  if (!assembled) {
    PetscCall(MatAssemblyBegin(whole->A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(whole->A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(MatPropagateSymmetryOptions(A, whole->A));
  whole->A->spd         = A->spd;
  whole->A->spd_eternal = A->spd_eternal;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *all <- the null space with its vectors gathered */
static PetscErrorCode PolderWholeNullSpace_Private(PolderWhole whole, MatNullSpace own, MatNullSpace *all)
{
  const PetscScalar *from;
  PetscScalar       *to, *standin = NULL;
  const Vec         *v;
  Vec               *w = NULL, like;
  PetscBool          constant;
  PetscInt           n;

  PetscFunctionBegin;
  *all = NULL;
  if (!own) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(own, &constant, &n, &v));
  if (n) {
    PetscCall(MatCreateVecs(whole->A, &like, NULL));
    PetscCall(PolderVecDuplicateVecs(like, n, &w));
    PetscCall(VecDestroy(&like));
  }
  for (PetscInt k = 0; k < n; ++k) {
    PetscCall(PolderPlaceVecGetRead(&PolderOnDevice, v[k], &standin, &from));
    PetscCall(PolderVecGetDeviceWrite(w[k], &to));
    PetscCall(PolderReplicaGather(whole->replica, from, to));
    PetscCall(PolderVecRestoreDeviceWrite(w[k], &to));
    PetscCall(PolderPlaceVecRestoreRead(&PolderOnDevice, v[k], standin, &from));
  }
  PetscCall(PolderDeviceFree(&standin));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, constant, n, w, all));
  if (n) PetscCall(VecDestroyVecs(n, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Null spaces may change without the matrix */
static PetscErrorCode PolderWholeNullSpaces_Private(PolderWhole whole, Mat A)
{
  MatNullSpace attached, all;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(A, &attached));
  PetscCall(PolderWholeNullSpace_Private(whole, attached, &all));
  PetscCall(MatSetNullSpace(whole->A, all));
  PetscCall(MatNullSpaceDestroy(&all));
  PetscCall(MatGetNearNullSpace(A, &attached));
  PetscCall(PolderWholeNullSpace_Private(whole, attached, &all));
  PetscCall(MatSetNearNullSpace(whole->A, all));
  PetscCall(MatNullSpaceDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderWholeFree_Private(PolderCtxArg(ctx))
{
  PolderWhole whole = (PolderWhole)PolderCtx(ctx);

  PetscFunctionBegin;
  PetscCall(PolderWholeDestroy(&whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the pattern, and keeps *whole with A in place of what was kept. NULL on all processes: there is no room, or their GPUs are unlike */
static PetscErrorCode PolderWholeCreate_Private(Mat A, const PolderCSR *csr, PolderWhole *whole)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  PolderWhole new;
  PetscBool   good = PETSC_FALSE;
  MatInfo     info;
  PetscMPIInt rank;

  PetscFunctionBegin;
  *whole = NULL;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscObjectCompose((PetscObject)A, PolderWholeKey, NULL));
  PetscCall(PetscNew(&new));
  new->refct = 1;
  PetscCall(MatGetInfo(csr->offdiag, MAT_LOCAL, &info));
  PetscCall(PolderWholeCounts_Private(comm, csr->m, csr->nz + (PetscInt)info.nz_used, new->nz, &good));
  if (good) PetscCall(PolderReplicaCreate(comm, csr->m, new->nz[rank], NULL, &new->replica));
  if (!new->replica) {
    PetscCall(PolderWholeDestroy(&new));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderWholeCreateMat_Private(new, A, csr));
  PetscCall(PolderKeep((PetscObject)A, PolderWholeKey, new, PolderWholeFree_Private));
  *whole = new;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderWholeNow(Mat A, PolderWholeStamp *now)
{
  const PolderFormat *format;
  PolderLayout        layout;
  Mat                 block[2];

  PetscFunctionBegin;
  PetscCall(PolderFormatOf(A, &format, &layout));
  now->format = format;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  PetscCall(MatGetNonzeroState(A, &now->nonzerostate));
  PetscCall(PetscObjectStateGet((PetscObject)A, &now->state[2]));
  for (int k = 0; k < 2; ++k) {
    PetscCall(PetscObjectGetId((PetscObject)block[k], &now->block[k]));
    PetscCall(PetscObjectStateGet((PetscObject)block[k], &now->state[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderWholeChanged(Mat A, const PolderWholeStamp *old, int changed[3])
{
  PolderWholeStamp now;

  PetscFunctionBegin;
  changed[0] = changed[1] = !old;
  if (old) {
    PetscCall(PolderWholeNow(A, &now));
    for (int k = 0; k < 2; ++k) changed[0] = changed[0] || old->block[k] != now.block[k];
    for (int k = 0; k < 3; ++k) changed[1] = changed[1] || old->state[k] != now.state[k];
    if (old->format != now.format || old->nonzerostate != now.nonzerostate) changed[0] = 1;
  }
  PetscCallAllreduce(MPI_IN_PLACE, changed, 3, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can the processes have all rows, as far as the type of A says? */
static PetscErrorCode PolderWholePossible_Private(Mat A, PetscBool *possible)
{
  const PolderFormat *format;
  PolderLayout        layout;
  PetscLayout         rows, columns;
  MatNullSpace        attached;

  PetscFunctionBegin;
  *possible = PETSC_FALSE;
  PetscCall(PolderFormatOf(A, &format, &layout));
  if (!format || layout != POLDER_MPI || !A->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLayouts(A, &rows, &columns));
  PetscCall(PetscLayoutCompare(rows, columns, possible));
  PetscCall(MatGetNullSpace(A, &attached));
  if (attached && attached->remove) *possible = PETSC_FALSE; // a function of the user for vectors in parts
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderMatGetWhole(Mat A, PolderWhole *whole)
{
  PetscBool possible;
  PolderCSR csr;
  int       changed[3] = {0};

  PetscFunctionBegin;
  *whole = NULL;
  PetscCall(PolderWholePossible_Private(A, &possible));
  if (!possible) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderKept((PetscObject)A, PolderWholeKey, whole));
  PetscCall(PolderWholeChanged(A, *whole ? &(*whole)->stamp : NULL, changed));
  if (changed[0] || changed[1]) {
    PetscCall(PolderMatGetCSRAlike(A, PETSC_TRUE, &csr));
    if (!csr.device) *whole = NULL;
    else if (changed[0]) PetscCall(PolderWholeCreate_Private(A, &csr, whole));
    if (*whole) PetscCall(PolderWholeValues_Private(*whole, A, &csr));
    PetscCall(PolderMatRestoreCSRAt(A, &csr));
    if (*whole) PetscCall(PolderWholeNow(A, &(*whole)->stamp));
  }
  if (!*whole) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderWholeNullSpaces_Private(*whole, A));
  ++(*whole)->refct;
  PetscFunctionReturn(PETSC_SUCCESS);
}
