/* Pairwise-aggregation multigrid: the diagonal of coarse rows, computed from row sums where the sum of their entries cancels. */
#include "pamgsetup.h"
#include "kernels/excessrow.h"
#include "core/gather.h"
#include "kernels/excess.h"

PetscErrorCode PCPAMGFreeExcess(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  PetscCall(pamg->place->free(&pamg->excess));
  PetscCall(pamg->place->free(&pamg->magnitude));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGMallocExcess(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGFreeExcess(pamg));
  PetscCall(PolderPlaceMalloc(pamg->place, pamg->level->n, &pamg->excess));
  PetscCall(PolderPlaceMalloc(pamg->place, pamg->level->n, &pamg->magnitude));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PetscReal *PCPAMGSums(const PC_PAMG *pamg, PetscInt l)
{
  return pamg->sum || l ? pamg->sum : pamg->excess;
}

PolderLevelSurvey PCPAMGSurvey(const PC_PAMG *pamg, PetscInt l)
{
  return (PolderLevelSurvey){.zero = (PetscBool)(l > 0),
                             .l1   = (PetscBool)(pamg->smoother == PAMG_L1JACOBI),
                             .lone = PAMG_LONE,
                             .d    = pamg->diagonal,
                             .sum  = (PetscReal *)PCPAMGSums(pamg, l),
                             .all  = l ? NULL : pamg->magnitude,
                             .mate = pamg->mate};
}

PetscErrorCode PCPAMGFindExcess(PC_PAMG *pamg, PetscBool kernel)
{
  const PamgLevel *L = pamg->level;

  PetscFunctionBegin;
  PolderRun(pamg->place, PolderExcessRows, L->n, L->csr.ai, kernel, PCPAMGSums(pamg, 0), pamg->magnitude, pamg->excess);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the excess of the rows of level L by that of its aggregates */
static PetscErrorCode PamgCoarseExcess(PC_PAMG *pamg, const PamgLevel *L)
{
  const PolderRows A = PolderOwnRows(&L->csr);
  PolderAggregates P;
  PetscReal       *excess, *magnitude;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(pamg->place, L->nc, &excess));
  PetscCall(PolderPlaceMalloc(pamg->place, L->nc, &magnitude));
  PetscCall(PCPAMGGetAggregates(L, &P));
  PolderRun(pamg->place, PolderExcessAggregates, &P, &A, pamg->excess, pamg->magnitude, excess, magnitude);
  PetscCall(PCPAMGRestoreAggregates(L, &P));
  PetscCall(PCPAMGFreeExcess(pamg));
  pamg->excess    = excess;
  pamg->magnitude = magnitude;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGMendCoarse(PC_PAMG *pamg, PetscInt l)
{
  const PolderPlace *place = pamg->place;
  const PamgLevel   *L = &pamg->level[l], *C = L + 1;
  PetscReal         *here = NULL;

  PetscFunctionBegin;
  if (!L->isgrid && !L->eliminates) PetscCall(PamgCoarseExcess(pamg, L));
  else if (L->isgrid && !L->halo) PetscFunctionReturn(PETSC_SUCCESS); // made with the rows
  if (L->halo) {
    PetscCall(PolderPlaceMalloc(place, L->nc, &here));
    PetscCall(pamg->setup->localexcess(L, C, pamg->excess, here));
  }
  PolderRun(place, PolderExcessDiagonal, L->nc, C->ai, C->aj, here ? here : pamg->excess, pamg->magnitude, C->aa);
  PetscCall(place->free(&here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *values <- the n values of each process, gathered on all */
static PetscErrorCode PamgGatherReal(const PolderPlace *place, MPI_Comm comm, PetscInt n, PetscReal **values)
{
  PetscReal *mine, *all;
  PetscInt   N;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &mine));
  PetscCall(PolderPlaceTake(place, n, *values, mine));
  PetscCall(place->free(values));
  PetscCall(PolderGatherAll(comm, n, mine, sizeof(*mine), &N, &all));
  PetscCall(PetscFree(mine));
  PetscCall(PolderPlaceMalloc(place, N, values));
  PetscCall(PolderPlacePut(place, N, all, *values));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGGatherExcess(PC_PAMG *pamg, MPI_Comm comm, const PamgLevel *C)
{
  PetscFunctionBegin;
  PetscCall(PamgGatherReal(pamg->place, comm, C->nown, &pamg->excess));
  PetscCall(PamgGatherReal(pamg->place, comm, C->nown, &pamg->magnitude));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGHandExcess(PC_PAMG *pamg, const PamgLevel *L)
{
  PetscReal *excess, *rounding;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(L->n, &excess, L->n, &rounding));
  PetscCall(PolderPlaceTake(pamg->place, L->n, pamg->excess, excess));
  PetscCall(PolderPlaceTake(pamg->place, L->n, pamg->magnitude, rounding));
  for (PetscInt i = 0; i < L->n; ++i) rounding[i] *= POLDER_EXCESS_ROUNDING;
  PetscCall(PolderCoarseSetExcess(pamg->coarse, L->N, L->csr.rstart, L->n, excess, rounding));
  PetscCall(PetscFree2(excess, rounding));
  PetscFunctionReturn(PETSC_SUCCESS);
}
