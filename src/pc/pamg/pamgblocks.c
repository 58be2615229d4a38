/* Pairwise-aggregation multigrid: blocks of rows that smoothing solves exactly, where couplings are strongly positive; their steps of a set-up on the host. */
#include "pamgsetup.h"
#include "kernels/csr.h"
#include "kernels/outer.h"

/* A coupling this strong, of at most sqrt(a_ii a_jj), joins two rows to a block */
#define PAMG_BLOCK 0.25
/* Number of steps in 1 */
#define PAMG_BLOCK_DIGITS 536870912.0

PetscErrorCode PCPAMGFreeBlocks(const PC_PAMG *pamg, PamgLevel *L)
{
  PolderLevelBlocks *B = &L->blocks, *D = &L->blocks_d;
  PolderSparseRows  *C       = &L->blockrows;
  PetscInt **const   here[]  = {&B->ptr, &B->row, &B->at, &B->order, &B->colour};
  PetscInt **const   there[] = {&D->ptr, &D->at, &D->order, &C->row, &C->ptr, &C->col};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(here); ++k) PetscCall(PetscFree(*here[k]));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(there); ++k) PetscCall(pamg->place->free(there[k]));
  PetscCall(PetscFree(B->factor));
  PetscCall(pamg->place->free(&D->factor));
  PetscCall(pamg->place->free(&C->val));
  PetscCall(pamg->place->free(&L->blocksums));
  PetscCall(PetscMemzero(B, sizeof(*B)));
  PetscCall(PetscMemzero(D, sizeof(*D)));
  C->n         = 0;
  L->hasblocks = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGStrongHost(PETSC_UNUSED const PC_PAMG *pamg, const PamgLevel *L, PetscReal theta, PamgCouplings *P)
{
  const PolderRows A = PolderOwnRows(&L->csr);
  PetscReal       *d;

  PetscFunctionBegin;
  P->rows = L->n;
  PetscCall(PetscMalloc1(L->n, &d));
  PolderCsrDiagonal_Host(L->n, A.i, A.j, A.a, d);
  if (PolderBlockPairs_Host(&A, d, theta, &P->count, NULL, NULL)) {
    PetscCall(PetscMalloc1(2 * P->count, &P->pair));
    PetscCall(PetscMalloc1(P->count, &P->strength));
    (void)PolderBlockPairs_Host(&A, d, theta, &P->count, P->pair, P->strength);
  } else P->count = 0;
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGBlockRowsHost(PETSC_UNUSED const PC_PAMG *pamg, PamgLevel *L, PolderRows *A)
{
  PetscFunctionBegin;
  *A = PolderOwnRows(&L->csr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGRestoreBlockRowsHost(PolderRows *A)
{
  PetscFunctionBegin;
  *A = (PolderRows){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGKeepBlocksHost(PETSC_UNUSED PamgLevel *L)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of the magnitudes of the off-process entries of row i */
static PetscReal PamgOutside(const PamgLevel *L, PetscInt i)
{
  PetscReal all = 0;

  for (PetscInt k = L->csr.bi[i]; k < L->csr.bi[i + 1]; ++k) all += PetscAbsScalar(L->csr.ba[k]);
  return all;
}

void PCPAMGShiftInverses(const PC_PAMG *pamg, PetscInt n, const PetscReal shift[], void *dinv)
{
  for (PetscInt i = 0; i < n; ++i) {
    if (!(shift[i] > 0)) continue;
    if (pamg->precision == PAMG_DOUBLE) ((PetscReal *)dinv)[i] /= 1 + shift[i] * ((PetscReal *)dinv)[i];
    else ((float *)dinv)[i] = (float)(((float *)dinv)[i] / (1 + shift[i] * ((float *)dinv)[i]));
  }
}

/*
  A sweep of each process over its own rows reduces the error if 2 (D + S) - B is definite, with the diagonal D, its shift S and the off-process entries B
  (Baker, Falgout, Kolev and Yang, SIAM J. Sci. Comput. 33, 2011): here by Gershgorin. A row without positive couplings has that with S = 0
*/
PetscErrorCode PCPAMGShiftHost(const PC_PAMG *pamg, PamgLevel *L)
{
  PetscBool  any = PETSC_FALSE;
  PetscReal *d;

  PetscFunctionBegin;
  if (!L->hasblocks && pamg->smoother != PAMG_SGS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(L->n, &d));
  PolderCsrDiagonal_Host(L->n, L->csr.ai, L->csr.aj, L->csr.aa, d);
  PetscCall(PetscMalloc1(L->n, &L->shift));
  for (PetscInt i = 0; i < L->n; ++i) L->shift[i] = PetscMax(0, (PamgOutside(L, i) - PetscMax(0, d[i])) / 2);
  for (PetscInt i = 0; i < L->n && !any; ++i) any = (PetscBool)(L->shift[i] > 0);
  if (any && pamg->smoother == PAMG_SGS) PCPAMGShiftInverses(pamg, L->n, L->shift, L->dinv);
  if (!any) PetscCall(PetscFree(L->shift));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* order[] <- the pairs, the strongest one first. Strengths are compared in steps, since equal ones may differ by rounding; no definite matrix has one of -2 */
static PetscErrorCode PamgSortPairs(PetscInt count, const PetscReal strength[], PetscInt order[])
{
  PetscInt *key, *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(count, &key, 3 * count, &work));
  for (PetscInt k = 0; k < count; ++k) key[k] = (PetscInt)(PAMG_BLOCK_DIGITS * PetscMax(strength[k], -2));
  PolderIndexSort_Host(count, key, order, work);
  PetscCall(PetscFree2(key, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks from couplings, without colours and factors */
static PetscErrorCode PamgMakeBlocks(const PamgCouplings *P, PolderLevelBlocks *B)
{
  PetscInt *order, *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(P->count, &order, 3 * P->rows, &work));
  PetscCall(PetscMalloc1(P->count + 1, &B->ptr));
  PetscCall(PetscMalloc1(2 * P->count, &B->row));
  PetscCall(PetscMalloc1(P->count + 1, &B->at));
  PetscCall(PamgSortPairs(P->count, P->strength, order));
  PolderBlockJoin_Host(P->rows, P->count, order, P->pair, work, B);
  for (PetscInt r = 0; P->row && r < B->ptr[B->n]; ++r) B->row[r] = P->row[B->row[r]];
  PetscCall(PetscMalloc1(B->at[B->n], &B->factor));
  PetscCall(PetscMalloc1(B->n, &B->order));
  PetscCall(PetscMalloc1(POLDER_BLOCK_COLOURS + 1, &B->colour));
  PetscCall(PetscFree2(order, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks for blocks; L->hasblocks is that of all processes */
static PetscErrorCode PamgFindBlocks(const PC_PAMG *pamg, PamgLevel *L)
{
  PamgCouplings P = {0};
  PetscMPIInt   has;

  PetscFunctionBegin;
  PetscCall(pamg->setup->strong(pamg, L, PAMG_BLOCK, &P));
  if (P.count) PetscCall(PamgMakeBlocks(&P, &L->blocks));
  PetscCall(PetscFree(P.pair));
  PetscCall(PetscFree(P.row));
  PetscCall(PetscFree(P.strength));
  has = L->blocks.n > 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &has, 1, MPI_INT, MPI_MAX, L->comm));
  L->hasblocks = (PetscBool)has;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgColourBlocks(PetscInt n, const PolderRows *A, PolderLevelBlocks *B)
{
  PetscInt *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n + B->n, &work));
  PolderBlockColour_Host(n, A, work, B);
  PetscCall(PetscFree(work));
  B->flops = 4.0 * B->at[B->n];
  for (PetscInt r = 0; r < B->ptr[B->n]; ++r) {
    const PetscInt i = B->own ? r : B->row[r];

    B->flops += 2.0 * (A->i[i + 1] - A->i[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpBlocks(const PC_PAMG *pamg, PamgLevel *L, PetscBool refresh)
{
  PolderLevelBlocks *B = &L->blocks;
  PolderRows         A;

  PetscFunctionBegin;
  if (!refresh) PetscCall(PCPAMGFreeBlocks(pamg, L));
  PetscCall(PetscFree(L->shift));
  if (!pamg->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  if (!refresh && pamg->precision != PAMG_HALF) PetscCall(PamgFindBlocks(pamg, L));
  if (L->halo) PetscCall(pamg->setup->shift(pamg, L));
  B->shift = L->shift;
  if (!B->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(pamg->setup->blockrows(pamg, L, &A));
  if (!refresh) PetscCall(PamgColourBlocks(L->n, &A, B));
  PolderBlockFactor_Host(&A, B);
  PetscCall(pamg->setup->restoreblockrows(&A));
  PetscCall(pamg->setup->keepblocks(L));
  PetscFunctionReturn(PETSC_SUCCESS);
}
