/* Pairwise-aggregation multigrid: the diagonal of coarse rows from the excess of rows, where it is the small rest of entries of many sizes. */
#include "pc/pamg/pamgimpl.h"
#include "kernels/excessrow.h"
#include "core/gather.h"
#include "kernels/excess.h"
#include "kernels/pairs.h"

PetscErrorCode PCPAMGFreeExcess_Private(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGFreeArray_Private(pamg, &pamg->excess));
  PetscCall(PCPAMGFreeArray_Private(pamg, &pamg->size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgMallocExcess(const PC_PAMG *pamg, PetscInt n, PetscReal **excess, PetscReal **size)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGMalloc_Private(pamg, sizeof(**excess) * (size_t)n, excess));
  PetscCall(PCPAMGMalloc_Private(pamg, sizeof(**size) * (size_t)n, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFindExcess_Private(PC_PAMG *pamg, PetscBool kernel)
{
  const PamgLevel *L   = pamg->level;
  const PolderCSR *csr = &L->csr;

  PetscFunctionBegin;
  PetscCall(PCPAMGFreeExcess_Private(pamg));
  PetscCall(PamgMallocExcess(pamg, L->n, &pamg->excess, &pamg->size));
  PamgKernel(pamg, PolderExcessRows, L->n, csr->ai, csr->aa, pamg->excess, pamg->size);
  if (pamg->device && L->halo) PolderLaunch(PolderExcessOuterRows_CUDA(&L->outer.rows, pamg->excess, pamg->size, pamg->stream));
  for (PetscInt i = 0; !pamg->device && csr->bi && i < L->n; ++i) {
    for (PetscInt k = csr->bi[i]; k < csr->bi[i + 1]; ++k) {
      pamg->excess[i] += PetscRealPart(csr->ba[k]);
      pamg->size[i] += PetscAbsScalar(csr->ba[k]);
    }
  }
  PamgKernel(pamg, PolderExcessEnd, L->n, csr->ai, kernel, pamg->excess, pamg->size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline void PamgAddEntry(PetscScalar a, PetscReal sums[2])
{
  sums[0] += PetscRealPart(a);
  sums[1] += PetscAbsScalar(a);
}

/* By the coarse rows that have entries to other processes: sums of what leads to rows in no aggregate, and of the others; on the device these rows are those of C->outer, on the host all */
static PetscErrorCode PamgSumOuter(const PC_PAMG *pamg, const PamgLevel *L, const PamgLevel *C, PetscReal lone[], PetscReal outer[])
{
  const PamgOuter *O = &L->outer, *D = &C->outer;

  PetscFunctionBegin;
  for (PetscInt t = 0; pamg->device && t < D->n; ++t) {
    for (PetscInt k = D->ptr[t]; k < D->ptr[t + 1]; ++k) PamgAddEntry(D->val[k], outer + 2 * t);
    for (PetscInt m = O->at[t]; m < O->at[t + 1]; ++m) {
      for (PetscInt k = O->ptr[O->member[m]]; k < O->ptr[O->member[m] + 1]; ++k) {
        if (L->ghostagg[O->col[k]] >= C->nghost) PamgAddEntry(O->val[k], lone + 2 * t);
      }
    }
  }
  if (pamg->device) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt a = 0; a < L->nc; ++a) {
    for (PetscInt k = C->bi[a]; k < C->bi[a + 1]; ++k) PamgAddEntry(C->ba[k], outer + 2 * a);
  }
  for (PetscInt i = 0; i < L->n; ++i) {
    for (PetscInt k = L->csr.bi[i]; L->agg[i] < L->nc && k < L->csr.bi[i + 1]; ++k) {
      if (L->ghostagg[L->csr.bj[k]] >= C->nghost) PamgAddEntry(L->csr.ba[k], lone + 2 * L->agg[i]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *here <- what the excess of the rows of C is to their local block */
static PetscErrorCode PamgLocalExcess(PC_PAMG *pamg, const PamgLevel *L, const PamgLevel *C, PetscReal **here)
{
  const PetscInt n     = pamg->device ? C->outer.n : L->nc;
  const size_t   bytes = sizeof(**here) * (size_t)L->nc, pairs = 2 * sizeof(**here) * (size_t)n;
  PetscReal     *lone, *outer, *there[2];
  PetscInt      *all, *row;

  PetscFunctionBegin;
  PetscCall(PCPAMGMalloc_Private(pamg, bytes, here));
  PetscCall(PetscCalloc2(2 * n, &lone, 2 * n, &outer));
  PetscCall(PamgSumOuter(pamg, L, C, lone, outer));
  if (pamg->device) {
    PetscCall(PolderDeviceToDevice(*here, pamg->excess, bytes));
    PetscCall(PolderDeviceUpload(pairs, lone, &there[0]));
    PetscCall(PolderDeviceUpload(pairs, outer, &there[1]));
    PetscCall(PolderDeviceUpload(sizeof(*row) * (size_t)n, C->outer.row, &row));
    PolderLaunch(PolderExcessLeave_CUDA(n, row, there[0], there[1], pamg->excess, *here, pamg->stream));
    for (int k = 0; k < 2; ++k) PetscCall(PolderDeviceFree(&there[k]));
    PetscCall(PolderDeviceFree(&row));
  } else {
    PetscCall(PetscMalloc1(n, &all));
    for (PetscInt a = 0; a < n; ++a) all[a] = a;
    PolderExcessLeave_Host(n, all, lone, outer, pamg->excess, *here);
    PetscCall(PetscFree(all));
  }
  PetscCall(PetscFree2(lone, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGMendCoarse_Private(PC_PAMG *pamg, PetscInt l)
{
  const PamgLevel *L = &pamg->level[l], *C = L + 1;
  const PolderCSR *csr = &L->csr;
  PetscInt        *ptr = L->ptr, *row = L->row;
  PetscReal       *excess, *size, *here = NULL;

  PetscFunctionBegin;
  PetscCall(PamgMallocExcess(pamg, L->nc, &excess, &size));
  if (!pamg->device) {
    PetscCall(PetscMalloc2(L->nc + 2, &ptr, L->n, &row));
    PolderMembers_Host(L->n, L->agg, L->nc, ptr, row);
  }
  PamgKernel(pamg, PolderExcessAggregates, L->nc, ptr, row, csr->ai, csr->aj, csr->aa, L->agg, pamg->excess, pamg->size, excess, size);
  if (!pamg->device) PetscCall(PetscFree2(ptr, row));
  PetscCall(PCPAMGFreeExcess_Private(pamg));
  pamg->excess = excess;
  pamg->size   = size;
  if (L->halo) PetscCall(PamgLocalExcess(pamg, L, C, &here));
  PamgKernel(pamg, PolderExcessDiagonal, L->nc, C->ai, C->aj, here ? here : excess, size, C->aa);
  PetscCall(PCPAMGFreeArray_Private(pamg, &here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *values <- those of all processes, of n on this one */
static PetscErrorCode PamgGatherReal(const PC_PAMG *pamg, MPI_Comm comm, PetscInt n, PetscReal **values)
{
  PetscReal *mine = *values, *all;
  PetscInt   N;

  PetscFunctionBegin;
  if (pamg->device) {
    PetscCall(PetscMalloc1(n, &mine));
    PetscCall(PolderDeviceToHost(mine, *values, sizeof(*mine) * (size_t)n));
    PetscCall(PolderDeviceFree(values));
  }
  PetscCall(PolderGatherAll(comm, n, mine, sizeof(*mine), &N, &all));
  PetscCall(PetscFree(mine));
  *values = all;
  if (!pamg->device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceUpload(sizeof(*all) * (size_t)N, all, values));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherExcess_Private(PC_PAMG *pamg, MPI_Comm comm, const PamgLevel *C)
{
  PetscFunctionBegin;
  PetscCall(PamgGatherReal(pamg, comm, C->nown, &pamg->excess));
  PetscCall(PamgGatherReal(pamg, comm, C->nown, &pamg->size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGHandExcess_Private(PC_PAMG *pamg, const PamgLevel *L)
{
  const size_t bytes = sizeof(*pamg->excess) * (size_t)L->n;
  PetscReal   *excess, *rounding;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(L->n, &excess, L->n, &rounding));
  if (pamg->device) {
    PetscCall(PolderDeviceToHost(excess, pamg->excess, bytes));
    PetscCall(PolderDeviceToHost(rounding, pamg->size, bytes));
  } else {
    PetscCall(PetscMemcpy(excess, pamg->excess, bytes));
    PetscCall(PetscMemcpy(rounding, pamg->size, bytes));
  }
  for (PetscInt i = 0; i < L->n; ++i) rounding[i] *= POLDER_EXCESS_ROUNDING;
  PetscCall(PolderCoarseSetExcess(pamg->coarse, L->N, L->csr.rstart, L->n, excess, rounding));
  PetscCall(PetscFree2(excess, rounding));
  PetscFunctionReturn(PETSC_SUCCESS);
}
