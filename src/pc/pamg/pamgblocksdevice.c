/*
  Pairwise-aggregation multigrid: blocks of rows that smoothing solves exactly, on the device. The host joins rows to blocks, gives these colours and computes
  their factors. It sees the strong couplings near positive ones, 16 bytes each, and the rows of the blocks, and nothing of a level without strong positive
  couplings
*/
#include "pamgsetup.h"
#include "kernels/csr.h"
#include "kernels/galerkin.h"
#include "kernels/labels.h"
#include "kernels/pairs.h"

/* Rounds in which the marks of rows spread. In a line of a strongly anisotropic grid they would go on and on */
#define PAMG_BLOCK_REACH 40

PetscErrorCode PCPAMGSumUp(const PC_PAMG *pamg, PetscInt n, PetscInt ptr[], PetscInt *total)
{
  const size_t bytes = PolderWorkSize(PolderPairsWork_CUDA(n));
  void        *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(bytes, &work));
  PolderLaunch(PolderPointers_CUDA(n, ptr, work, bytes, pamg->stream));
  PetscCall(PolderDeviceToHost(total, ptr + n, sizeof(*total)));
  PetscCall(PolderDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mark[] <- is a row connected to a positive pair? After PAMG_BLOCK_REACH pairs in a row all rows count as connected */
static PetscErrorCode PamgReach(const PC_PAMG *pamg, PetscInt n, PetscInt count, const PetscInt pair[], PetscInt mark[])
{
  PetscInt more = 1, *there;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(more), &there));
  PetscCall(PolderDeviceZero(mark, sizeof(*mark) * (size_t)n));
  PolderLaunch(PolderBlockSeed_CUDA(count, pair, mark, pamg->stream));
  for (PetscInt round = 0; more && round < PAMG_BLOCK_REACH; ++round) {
    PetscCall(PolderDeviceZero(there, sizeof(more)));
    PolderLaunch(PolderBlockSpread_CUDA(count, pair, mark, there, pamg->stream));
    PetscCall(PolderDeviceToHost(&more, there, sizeof(more)));
  }
  if (more) PolderLaunch(PolderIndexFill_CUDA(n, 1, mark, pamg->stream));
  PetscCall(PolderDeviceFree(&there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The couplings on their way to the host, without those that no block can have */
static PetscErrorCode PamgReached(const PC_PAMG *pamg, PetscInt n, PetscInt count, const PetscInt pair[], const PetscReal strength[], PamgCouplings *P)
{
  PetscInt  *number, *keep, *kept, *row;
  PetscReal *keptstrength;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(*number) * (size_t)(n + 1), &number));
  PetscCall(PolderDeviceMalloc(sizeof(*keep) * (size_t)(count + 1), &keep));
  PetscCall(PamgReach(pamg, n, count, pair, number + 1));
  PolderLaunch(PolderBlockKeep_CUDA(count, pair, number + 1, keep, pamg->stream));
  PetscCall(PCPAMGSumUp(pamg, count, keep, &P->count));
  PetscCall(PCPAMGSumUp(pamg, n, number, &P->rows));
  PetscCall(PolderDeviceMalloc(2 * sizeof(*kept) * (size_t)P->count, &kept));
  PetscCall(PolderDeviceMalloc(sizeof(*keptstrength) * (size_t)P->count, &keptstrength));
  PetscCall(PolderDeviceMalloc(sizeof(*row) * (size_t)P->rows, &row));
  PolderLaunch(PolderBlockTake_CUDA(count, pair, strength, number, keep, kept, keptstrength, pamg->stream));
  PolderLaunch(PolderBlockMarked_CUDA(n, number, row, pamg->stream));
  PetscCall(PetscMalloc1(2 * P->count, &P->pair));
  PetscCall(PetscMalloc1(P->count, &P->strength));
  PetscCall(PetscMalloc1(P->rows, &P->row));
  PetscCall(PolderDeviceToHost(P->pair, kept, 2 * sizeof(*kept) * (size_t)P->count));
  PetscCall(PolderDeviceToHost(P->strength, keptstrength, sizeof(*keptstrength) * (size_t)P->count));
  PetscCall(PolderDeviceToHost(P->row, row, sizeof(*row) * (size_t)P->rows));
  PetscCall(PolderDeviceFree(&number));
  PetscCall(PolderDeviceFree(&keep));
  PetscCall(PolderDeviceFree(&kept));
  PetscCall(PolderDeviceFree(&keptstrength));
  PetscCall(PolderDeviceFree(&row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGStrongDevice(const PC_PAMG *pamg, const PamgLevel *L, PetscReal theta, PamgCouplings *P)
{
  const PolderRows A = PolderOwnRows(&L->csr);
  PetscInt        *ptr, *pairs, positive = 0, count, *there;
  PetscReal       *d, *strengths;

  PetscFunctionBegin;
  PetscCall(PolderDeviceMalloc(sizeof(*d) * (size_t)L->n, &d));
  PetscCall(PolderDeviceMalloc(sizeof(*ptr) * (size_t)(L->n + 1), &ptr));
  PetscCall(PolderDeviceUpload(sizeof(positive), &positive, &there));
  PolderLaunch(PolderCsrDiagonal_CUDA(L->n, A.i, A.j, A.a, d, pamg->stream));
  PolderLaunch(PolderBlockCount_CUDA(&A, d, theta, ptr, there, pamg->stream));
  PetscCall(PolderDeviceToHost(&positive, there, sizeof(positive)));
  if (positive) {
    PetscCall(PCPAMGSumUp(pamg, L->n, ptr, &count));
    PetscCall(PolderDeviceMalloc(2 * sizeof(*pairs) * (size_t)count, &pairs));
    PetscCall(PolderDeviceMalloc(sizeof(*strengths) * (size_t)count, &strengths));
    PolderLaunch(PolderBlockFill_CUDA(&A, d, theta, ptr, pairs, strengths, pamg->stream));
    PetscCall(PamgReached(pamg, L->n, count, pairs, strengths, P));
    PetscCall(PolderDeviceFree(&pairs));
    PetscCall(PolderDeviceFree(&strengths));
  }
  PetscCall(PolderDeviceFree(&there));
  PetscCall(PolderDeviceFree(&ptr));
  PetscCall(PolderDeviceFree(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGBlockRowsDevice(const PC_PAMG *pamg, PamgLevel *L, PolderRows *A)
{
  const PolderRows  from = PolderOwnRows(&L->csr);
  PolderSparseRows *C    = &L->blockrows;
  const PetscInt    n    = L->blocks.ptr[L->blocks.n];
  PetscInt         *i, *j;
  PetscScalar      *a;

  PetscFunctionBegin;
  if (!C->ptr) {
    C->n = n;
    PetscCall(PolderDeviceUpload(sizeof(*C->row) * (size_t)n, L->blocks.row, &C->row));
    PetscCall(PolderDeviceMalloc(sizeof(*C->ptr) * (size_t)(n + 1), &C->ptr));
    PolderLaunch(PolderRowsLength_CUDA(&from, C, pamg->stream));
    PetscCall(PCPAMGSumUp(pamg, n, C->ptr, &C->nz));
    PetscCall(PolderDeviceMalloc(sizeof(*C->col) * (size_t)C->nz, &C->col));
    PetscCall(PolderDeviceMalloc(sizeof(*C->val) * (size_t)C->nz, &C->val));
  }
  PolderLaunch(PolderRowsTake_CUDA(&from, C, pamg->stream));
  PetscCall(PetscMalloc1(n + 1, &i));
  PetscCall(PetscMalloc1(C->nz, &j));
  PetscCall(PetscMalloc1(C->nz, &a));
  PetscCall(PolderDeviceToHost(i, C->ptr, sizeof(*i) * (size_t)(n + 1)));
  PetscCall(PolderDeviceToHost(j, C->col, sizeof(*j) * (size_t)C->nz));
  PetscCall(PolderDeviceToHost(a, C->val, sizeof(*a) * (size_t)C->nz));
  *A            = (PolderRows){n, i, j, a, C->nz};
  L->blocks.own = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGRestoreBlockRowsDevice(PolderRows *A)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(A->i));
  PetscCall(PetscFree(A->j));
  PetscCall(PetscFree(A->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In single precision off-process entries multiply differences, in the right-hand side, so that the sums of them belong to the diagonal */
static PetscErrorCode PamgKeepSums(PamgLevel *L)
{
  const PolderSparseRows *O = &L->outer.rows;
  PetscReal              *sum;

  PetscFunctionBegin;
  PetscCall(PolderDeviceFree(&L->blocksums));
  L->blocks_d.shift = NULL;
  if (!L->halo || !L->singleprecision) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGNeedOuter(L));
  PetscCall(PetscCalloc1(L->n, &sum));
  for (PetscInt r = 0; r < O->n; ++r) {
    for (PetscInt k = O->ptr[r]; k < O->ptr[r + 1]; ++k) sum[O->row[r]] += PetscRealPart(O->val[k]);
  }
  PetscCall(PolderDeviceUpload(sizeof(*sum) * (size_t)L->n, sum, &L->blocksums));
  PetscCall(PetscFree(sum));
  L->blocks_d.shift = L->blocksums;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGKeepBlocksDevice(PamgLevel *L)
{
  const PolderLevelBlocks *B = &L->blocks;
  PolderLevelBlocks       *D = &L->blocks_d;
  const size_t             n = (size_t)B->n, bytes = sizeof(*B->factor) * (size_t)B->at[n];

  PetscFunctionBegin;
  if (!D->ptr) {
    *D = *B;
    PetscCall(PolderDeviceUpload(sizeof(*B->ptr) * (n + 1), B->ptr, &D->ptr));
    PetscCall(PolderDeviceUpload(sizeof(*B->at) * (n + 1), B->at, &D->at));
    PetscCall(PolderDeviceUpload(sizeof(*B->order) * n, B->order, &D->order));
    PetscCall(PolderDeviceMalloc(bytes, &D->factor));
    D->row = L->blockrows.row;
  }
  PetscCall(PamgKeepSums(L)); // and no shift: a row changes once in a step
  PetscCall(PolderDeviceFromHost(D->factor, B->factor, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sweeps add the inverse times a residual, in which the diagonal has no shift: they need no more than these inverses */
static PetscErrorCode PamgShiftInversesDevice(const PC_PAMG *pamg, PamgLevel *L)
{
  const size_t bytes = PamgValueSize(pamg) * (size_t)L->n;
  void        *dinv;

  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, &dinv));
  PetscCall(PolderDeviceToHost(dinv, L->dinv, bytes));
  PCPAMGShiftInverses(pamg, L->n, L->shift, dinv);
  PetscCall(PolderDeviceFromHost(L->dinv, dinv, bytes));
  PetscCall(PetscFree(dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PCPAMGShiftHost() */
PetscErrorCode PCPAMGShiftDevice(const PC_PAMG *pamg, PamgLevel *L)
{
  const PolderSparseRows *O     = &L->outer.rows;
  const size_t            bytes = sizeof(PetscReal) * (size_t)O->n;
  PetscBool               any   = PETSC_FALSE;
  PetscReal              *all, *d, *own;

  PetscFunctionBegin;
  if (!L->blocks.n && pamg->smoother != PAMG_SGS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGNeedOuter(L));
  PetscCall(PetscCalloc1(L->n, &L->shift));
  PetscCall(PetscMalloc1(O->n, &d));
  PetscCall(PolderDeviceMalloc(sizeof(*all) * (size_t)L->n, &all));
  PetscCall(PolderDeviceMalloc(bytes, &own));
  PolderLaunch(PolderCsrDiagonal_CUDA(L->n, L->csr.ai, L->csr.aj, L->csr.aa, all, pamg->stream));
  PolderLaunch(PolderGather_CUDA(O->n, L->outer.rows_d.row, all, own, pamg->stream));
  PetscCall(PolderDeviceToHost(d, own, bytes));
  for (PetscInt r = 0; r < O->n; ++r) {
    PetscReal outside = 0;

    for (PetscInt k = O->ptr[r]; k < O->ptr[r + 1]; ++k) outside += PetscAbsScalar(O->val[k]);
    L->shift[O->row[r]] = PetscMax(0, (outside - PetscMax(0, d[r])) / 2);
    any                 = (PetscBool)(any || L->shift[O->row[r]] > 0);
  }
  if (any && pamg->smoother == PAMG_SGS) PetscCall(PamgShiftInversesDevice(pamg, L));
  if (!any) PetscCall(PetscFree(L->shift));
  PetscCall(PolderDeviceFree(&own));
  PetscCall(PolderDeviceFree(&all));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
