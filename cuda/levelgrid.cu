/*
  Set-up of levels that are grids, one thread a cell, and the choice of kernels by where the entries are. Counters are integers and the order of each sum is
  fixed, so results do not depend on that of threads
*/
#include "levelgrid.cuh"
#include "module.cuh"

/* act(steps, entries) with the steps for the kind of the entries */
template <class Do>
static int GridKinds(const PolderLevelGrid *G, const PolderLevelGridEntries *entries, Do act)
{
  PolderLevelGridEntries A   = *entries;
  const void            *any = A.up[0] ? A.up[0] : A.up[1] ? A.up[1] : A.up[2];
  bool                   all = any != NULL;

  for (int d = 0; d < 3; ++d) {
    if (!A.up[d] && G->size[d] > 1) all = false;
  }
  if (!all) return act(GridSteps<GRID_ROWS>(), A);
  for (int d = 0; d < 3; ++d) {
    if (!A.up[d]) A.up[d] = any;
  }
  if (A.bfloat) return act(GridSteps<GRID_BFLOAT>(), A);
  if (A.single) return act(GridSteps<GRID_SINGLE>(), A);
  return act(GridSteps<GRID_DOUBLE>(), A);
}

int PolderLevelGridSurvey_CUDA(const PolderLevelGrid *G, const PolderLevelGridEntries *entries, const PolderLevelGridRule *rule, PetscInt count[],
                               PolderStream stream)
{
  return GridKinds(G, entries, [=](auto steps, const PolderLevelGridEntries &A) { return steps.survey(G, A, *rule, count, stream); });
}

int PolderLevelGridSplit_CUDA(const PolderLevelGrid *G, const PolderLevelGridEntries *entries, const PolderLevelGridRule *rule, PetscInt *count,
                              PolderStream stream)
{
  return GridKinds(G, entries, [=](auto steps, const PolderLevelGridEntries &A) { return steps.split(G, A, *rule, count, stream); });
}

int PolderLevelGridWeights_CUDA(const PolderLevelGrid *G, const PolderLevelGridEntries *entries, const PetscInt agg[], PolderStream stream)
{
  return GridKinds(G, entries, [=](auto steps, const PolderLevelGridEntries &A) { return steps.weights(G, A, agg, stream); });
}

int PolderLevelGridCoarseRows_CUDA(const PolderLevelGrid *G, const PolderLevelGridEntries *entries, const PolderLevelGridRows *rows, PolderStream stream)
{
  return GridKinds(G, entries, [=](auto steps, const PolderLevelGridEntries &A) { return steps.coarseRows(G, A, *rows, stream); });
}

int PolderLevelGridBoxes_CUDA(const PolderLevelGrid *grid, const PetscInt mate[], PetscInt agg[], PolderStream stream)
{
  return LevelGridEach<false>(grid, stream, [=] __device__(const PolderLevelGrid &G, PetscInt i, const PetscInt at[3]) {
    agg[i] = mate[i] == POLDER_PAIR_LONE ? G.nc : PolderLevelGridBox(&G, at);
  });
}

int PolderLevelGridPlaces_CUDA(const PolderLevelGrid *grid, PetscInt64 place[], PolderStream stream)
{
  return LevelGridEach<true>(grid, stream, [=] __device__(const PolderLevelGrid &, PetscInt c, const PetscInt at[3]) { place[c] = PolderLevelGridPlace(at); });
}

POLDER_MODULE(LevelGrid)
