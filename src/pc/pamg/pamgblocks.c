/* Pairwise-aggregation multigrid: blocks of rows that Gauss-Seidel on the host solves exactly, where couplings are strongly positive. */
#include "pamgsetup.h"

/* A coupling this strong, of at most sqrt(a_ii a_jj), joins two rows to a block */
#define PAMG_BLOCK 0.25

PetscErrorCode PCPAMGFreeBlocks(PolderLevelBlocks *B)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(B->ptr));
  PetscCall(PetscFree(B->row));
  PetscCall(PetscFree(B->at));
  PetscCall(PetscFree(B->factor));
  B->n     = 0;
  B->shift = NULL;
  B->flops = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of the magnitudes of the off-process entries of row i */
static PetscReal PamgOutside(const PamgLevel *L, PetscInt i)
{
  PetscReal all = 0;

  for (PetscInt k = L->csr.bi[i]; k < L->csr.bi[i + 1]; ++k) all += PetscAbsScalar(L->csr.ba[k]);
  return all;
}

/* dinv[i] <- the inverse of the diagonal with the shift of row i */
static void PamgShiftInverse(const PC_PAMG *pamg, PamgLevel *L, PetscInt i)
{
  if (pamg->precision == PAMG_DOUBLE) ((PetscReal *)L->dinv)[i] /= 1 + L->shift[i] * ((PetscReal *)L->dinv)[i];
  else ((float *)L->dinv)[i] = (float)(((float *)L->dinv)[i] / (1 + L->shift[i] * ((float *)L->dinv)[i]));
}

/*
  A sweep of each process over its own rows reduces the error if 2 (D + S) - B is definite, with the diagonal D, its shift S and the off-process entries B
  (Baker, Falgout, Kolev and Yang, SIAM J. Sci. Comput. 33, 2011): here by Gershgorin. A row without positive couplings has that with S = 0
*/
static PetscErrorCode PamgShift(const PC_PAMG *pamg, PamgLevel *L, const PetscReal d[])
{
  PetscBool any = PETSC_FALSE;

  PetscFunctionBegin;
  if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(L->n, &L->shift));
  for (PetscInt i = 0; i < L->n; ++i) L->shift[i] = PetscMax(0, (PamgOutside(L, i) - PetscMax(0, d[i])) / 2);
  for (PetscInt i = 0; i < L->n; ++i) {
    if (!(L->shift[i] > 0)) continue;
    PamgShiftInverse(pamg, L, i);
    any = PETSC_TRUE;
  }
  if (!any) PetscCall(PetscFree(L->shift));
  L->blocks.shift = L->shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks from count pairs, without factors */
static PetscErrorCode PamgMakeBlocks(const PolderRows *A, const PetscReal d[], PetscInt count, PolderLevelBlocks *B)
{
  PetscReal *strength;
  PetscInt  *pair, *order, *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(count, &strength, 2 * count, &pair, count, &order, 3 * A->n, &work));
  PetscCall(PetscMalloc1(count + 1, &B->ptr));
  PetscCall(PetscMalloc1(2 * count, &B->row));
  PetscCall(PetscMalloc1(count + 1, &B->at));
  (void)PolderBlockPairs_Host(A, d, PAMG_BLOCK, &count, pair, strength);
  for (PetscInt k = 0; k < count; ++k) order[k] = k;
  PetscCall(PetscSortRealWithPermutation(count, strength, order));
  PolderBlockJoin_Host(A->n, count, order, pair, work, B);
  PetscCall(PetscMalloc1(B->at[B->n], &B->factor));
  B->flops = 4.0 * B->at[B->n];
  for (PetscInt r = 0; r < B->ptr[B->n]; ++r) B->flops += 2.0 * (A->i[B->row[r] + 1] - A->i[B->row[r]]);
  PetscCall(PetscFree4(strength, pair, order, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpBlocks(const PC_PAMG *pamg, PamgLevel *L)
{
  const PolderRows A = {.n = L->n, .i = L->csr.ai, .j = L->csr.aj, .a = L->csr.aa};
  PetscReal       *d;
  PetscInt         count;

  PetscFunctionBegin;
  PetscCall(PCPAMGFreeBlocks(&L->blocks));
  PetscCall(PetscFree(L->shift));
  if (pamg->place->device || pamg->smoother != PAMG_SGS || !pamg->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  if (pamg->precision == PAMG_HALF && !L->halo) PetscFunctionReturn(PETSC_SUCCESS); // neither blocks nor shifts
  PetscCall(PetscMalloc1(L->n, &d));
  for (PetscInt i = 0; i < L->n; ++i) {
    d[i] = 0;
    for (PetscInt k = A.i[i]; k < A.i[i + 1]; ++k) {
      if (A.j[k] == i) d[i] = PetscRealPart(A.a[k]);
    }
  }
  if (pamg->precision != PAMG_HALF && PolderBlockPairs_Host(&A, d, PAMG_BLOCK, &count, NULL, NULL)) PetscCall(PamgMakeBlocks(&A, d, count, &L->blocks));
  PetscCall(PamgShift(pamg, L, d));
  PolderBlockFactor_Host(&A, &L->blocks);
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
