/* Set-up of levels that are grids, one thread a cell. Counters are integers and each sum is made by one thread, so results do not depend on the order. */
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/levelgridrow.h"

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLevelGridSurveyKernel(const __grid_constant__ PolderLevelGrid G, const __grid_constant__ PolderLevelGridEntries A, const PolderLevelGridRule rule,
                              PetscInt *count)
{
  const PetscInt stride                       = (PetscInt)gridDim.x * POLDER_BLOCK;
  int            own[POLDER_LEVELGRID_COUNTS] = {};

  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < G.n; i += stride) {
    PetscInt at[3];
    unsigned bits;

    PolderLevelGridAt(G.size, G.shift + i, at);
    bits = PolderLevelGridLook(&G, &A, &rule, i, at);
    for (int k = 0; k < POLDER_LEVELGRID_COUNTS; ++k) own[k] += bits >> k & 1;
  }
  for (int k = 0; k < POLDER_LEVELGRID_COUNTS; ++k) {
    const int all = __reduce_add_sync(0xffffffffu, own[k]);

    if (threadIdx.x % 32 == 0 && all) PolderAtomicAdd(&count[k], all);
  }
}

int PolderLevelGridSurvey_CUDA(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, PetscInt count[],
                               PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(G->n < 1024 * POLDER_BLOCK ? G->n : 1024 * POLDER_BLOCK, POLDER_BLOCK);

  if (G->n > 0) PolderLevelGridSurveyKernel<<<blocks, POLDER_BLOCK, 0, stream>>>(*G, *A, *rule, count);
  return cudaGetLastError();
}

/* body(G, i, at) for the cells of a level, or of the next one */
template <bool NEXT, class Body>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderLevelGridCellsKernel(const __grid_constant__ PolderLevelGrid G, const __grid_constant__ Body body)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  PetscInt       at[3];

  if (i >= (NEXT ? G.nc : G.n)) return;
  if (NEXT) PolderLevelGridAt(G.csize, G.cshift + i, at);
  else PolderLevelGridAt(G.size, G.shift + i, at);
  body(G, i, at);
}

template <bool NEXT, class Body>
static int LevelGridEach(const PolderLevelGrid *G, PolderStream stream, Body body)
{
  const PetscInt n = NEXT ? G->nc : G->n;

  if (n > 0) PolderLevelGridCellsKernel<NEXT><<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*G, body);
  return cudaGetLastError();
}

int PolderLevelGridSplit_CUDA(const PolderLevelGrid *grid, const PolderLevelGridEntries *entries, const PolderLevelGridRule *rules, PetscInt *count,
                              PolderStream stream)
{
  const PolderLevelGridEntries A    = *entries;
  const PolderLevelGridRule    rule = *rules;

  return LevelGridEach<true>(grid, stream, [=] __device__(const PolderLevelGrid &G, PetscInt, const PetscInt at[3]) {
    if (PolderLevelGridBridges(&G, &A, &rule, at)) PolderAtomicAdd(count, 1);
  });
}

int PolderLevelGridBoxes_CUDA(const PolderLevelGrid *grid, const PetscInt mate[], PetscInt agg[], PolderStream stream)
{
  return LevelGridEach<false>(grid, stream, [=] __device__(const PolderLevelGrid &G, PetscInt i, const PetscInt at[3]) {
    agg[i] = mate[i] == POLDER_PAIR_LONE ? G.nc : PolderLevelGridBox(&G, at);
  });
}

int PolderLevelGridWeights_CUDA(const PolderLevelGrid *grid, const PolderLevelGridEntries *entries, const PetscInt agg[], PolderStream stream)
{
  const PolderLevelGridEntries A = *entries;

  return LevelGridEach<false>(grid, stream,
                              [=] __device__(const PolderLevelGrid &G, PetscInt i, const PetscInt at[3]) { PolderLevelGridSetWeights(&G, &A, agg, i, at); });
}

int PolderLevelGridCoarseRows_CUDA(const PolderLevelGrid *grid, const PolderLevelGridEntries *entries, const PolderLevelGridRows *rows, PolderStream stream)
{
  const PolderLevelGridEntries A = *entries;
  const PolderLevelGridRows    R = *rows;

  return LevelGridEach<true>(grid, stream, [=] __device__(const PolderLevelGrid &G, PetscInt c, const PetscInt at[3]) {
    PolderLevelGridCoarseRow(&G, &A, &R, c, at, PolderLevelGridRowStart(&G, c));
  });
}

int PolderLevelGridPlaces_CUDA(const PolderLevelGrid *grid, PetscInt64 place[], PolderStream stream)
{
  return LevelGridEach<true>(grid, stream, [=] __device__(const PolderLevelGrid &, PetscInt c, const PetscInt at[3]) { place[c] = PolderLevelGridPlace(at); });
}
