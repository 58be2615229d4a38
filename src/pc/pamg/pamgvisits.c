/* Pairwise-aggregation multigrid: the coarse levels that a cycle visits twice. */
#include "pamgsetup.h"
#include "pamgsteps.h"
#include "kernels/level.h"

/* The first level that a V-cycle visits twice has at most this part of the rows, and further ones this part of those of the level before: visits stay cheap */
#define PAMG_TWICE_PART 10
#define PAMG_TWICE_NEXT 3
/* The polynomial of the two visits is that of an interval whose ends have this ratio */
#define PAMG_TWICE_RATIO 7
/* The interval for levels that are grids, on which a visit lengthens no vector more than this. Others are asked by so many steps of the power method */
#define PAMG_TWICE_LONGEST 2.5
#define PAMG_TWICE_STEPS   12
/* Up to this two steps of length 1 do: they are definite up to 2 */
#define PAMG_TWICE_PLAIN 1.5

/* Do levels from l on have pairs? */
static PetscBool PamgPairsFrom(const PC_PAMG *pamg, PetscInt l)
{
  while (l + 1 < pamg->nlevel && pamg->level[l].isgrid) ++l;
  return (PetscBool)(l + 1 < pamg->nlevel);
}

/* The first level that a V-cycle visits twice; 0: none. Poisson's equation on grids in two dimensions takes no iteration less */
static PetscInt PamgFirstTwice(const PC_PAMG *pamg)
{
  const PamgLevel *L = pamg->level;
  PetscMPIInt      size;
  PetscInt         l = 1;

  if (pamg->wanttwice >= 0) return pamg->wanttwice;
  (void)MPI_Comm_size(L->comm, &size);
  if (L->eliminates || L->N / size < (pamg->symmetric ? pamg->setup->twicefrom : pamg->setup->skewtwicefrom)) return 0;
  while (l + 1 < pamg->nlevel && L[l].N > L->N / PAMG_TWICE_PART) ++l;
  if (l + 1 >= pamg->nlevel || (!PamgPairsFrom(pamg, l) && !(L[l].grid.join[0] && L[l].grid.join[1] && L[l].grid.join[2]))) return 0;
  return l;
}

/* What eliminated rows leave is as far from solved as the level that they belong to: one of the two may do the second visit */
void PCPAMGChooseVisits(PC_PAMG *pamg)
{
  const PetscInt first = pamg->cycle == PC_PAMG_CYCLE_V ? PamgFirstTwice(pamg) : 1;

  for (PetscInt l = 1; l + 1 < pamg->nlevel; ++l) {
    PamgLevel *L = &pamg->level[l];

    L->twice = PETSC_FALSE;
    if (!first || l < first || L[-1].eliminates) continue;
    if (pamg->cycle == PC_PAMG_CYCLE_V) L->twice = (PetscBool)(l == first || (pamg->setup->pairstwice && !L->isgrid && L->N <= L[-1].N / PAMG_TWICE_NEXT));
    else L->twice = (PetscBool)(pamg->cycle == PC_PAMG_CYCLE_W || l <= pamg->klevels);
  }
}

/*
  The power method for B A, where B is one visit of the level: an estimate from below of the largest eigenvalue, which is that of the symmetric matrix whose
  quotient is (x, A x) / (x, b) with x = B b
*/
static PetscErrorCode PamgStretch(PC_PAMG *pamg, PetscInt l, PetscReal *longest)
{
  PamgLevel *L = &pamg->level[l];
  PetscReal *sum, here[POLDER_KSUMS_FIRST];
  void      *b[2] = {L->b, L->correction};

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(pamg->place, POLDER_KSUMS_FIRST, &sum));
  PolderRun(pamg->place, PolderLevelSeed, L->singleprecision, L->n, L->x);
  PetscCall(pamg->steps->dots(L, L->x, L->x, NULL, b[0], sum)); // b = A x has the magnitude of A
  for (PetscInt k = 0; k < PAMG_TWICE_STEPS; ++k) {
    PetscCall(PCPAMGCycleOnce(pamg, l, b[k % 2], L->x));
    PetscCall(pamg->steps->dots(L, L->x, b[k % 2], NULL, b[1 - k % 2], sum));
  }
  PetscCall(PolderPlaceTake(pamg->place, POLDER_KSUMS_FIRST, sum, here));
  PetscCall((*pamg->place->free)(&sum));
  *longest = here[1] > 0 ? here[0] / here[1] : 0;
  PetscCall(PetscInfo(NULL, "Level %" PetscInt_FMT ": a visit lengthens a vector %g times\n", l, (double)*longest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetLengths(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  for (PetscInt l = pamg->nlevel - 2; l > 0 && pamg->cycle != PC_PAMG_CYCLE_K; --l) { // a visit contains those of coarser levels
    PamgLevel *L       = &pamg->level[l];
    PetscReal  longest = 0;

    if (!L->twice) continue;
    if (!pamg->symmetric) { // the quotients of the power method bound no eigenvalue
      L->length[0] = L->length[1] = 1;
      continue;
    }
    if (pamg->cycle == PC_PAMG_CYCLE_V && !PamgPairsFrom(pamg, l)) {
      PolderVisitLengths(PAMG_TWICE_LONGEST / PAMG_TWICE_RATIO, PAMG_TWICE_LONGEST, L->length);
      continue;
    }
    PetscCall(PamgStretch(pamg, l, &longest));
    if (longest <= PAMG_TWICE_PLAIN) L->length[0] = L->length[1] = 1;
    else {
      const PetscReal top = PetscFloorReal(4 * 1.5 * longest + 0.5) / 4; // in quarters: hardly changed by the numbering of rows and processes

      PolderVisitLengths(top / PAMG_TWICE_RATIO, top, L->length);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
