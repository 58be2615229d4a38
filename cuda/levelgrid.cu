/* Set-up of levels that are grids, one thread a cell. Counters are integers and each sum is made by one thread, so results do not depend on the order. */
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/levelgridrow.h"

/* Where the entries of a level are: in compressed rows, or by diagonals in double precision, single precision or bfloat16 */
enum GridKind {
  GRID_ROWS,
  GRID_DOUBLE,
  GRID_SINGLE,
  GRID_BFLOAT
};

/* The same entries, of which the compiler knows the kind. The diagonals of directions of one cell are not there, nor are they read */
template <int KIND>
static __device__ __forceinline__ PolderLevelGridEntries GridOf(const PolderLevelGridEntries &A)
{
  PolderLevelGridEntries B = A;

  if (KIND == GRID_ROWS) return B;
  B.single = KIND == GRID_SINGLE ? PETSC_TRUE : PETSC_FALSE;
  B.bfloat = KIND == GRID_BFLOAT ? PETSC_TRUE : PETSC_FALSE;
  for (int d = 0; d < 3; ++d) __builtin_assume(B.up[d] != NULL);
  return B;
}

/* act(kind, entries) with the kind of the entries as a constant */
template <class Do>
static int GridKinds(const PolderLevelGrid *G, const PolderLevelGridEntries *entries, Do act)
{
  PolderLevelGridEntries A   = *entries;
  const void            *any = A.up[0] ? A.up[0] : A.up[1] ? A.up[1] : A.up[2];
  bool                   all = any != NULL;

  for (int d = 0; d < 3; ++d) {
    if (!A.up[d] && G->size[d] > 1) all = false;
  }
  if (!all) return act(std::integral_constant<int, GRID_ROWS>(), A);
  for (int d = 0; d < 3; ++d) {
    if (!A.up[d]) A.up[d] = any;
  }
  if (A.bfloat) return act(std::integral_constant<int, GRID_BFLOAT>(), A);
  if (A.single) return act(std::integral_constant<int, GRID_SINGLE>(), A);
  return act(std::integral_constant<int, GRID_DOUBLE>(), A);
}

/* Resident blocks: with fewer registers than the compiler would take, more threads wait for memory at a time */
#define GRID_FIT 6

template <int KIND>
static __global__ void __launch_bounds__(POLDER_BLOCK, GRID_FIT)
  PolderLevelGridSurveyKernel(const __grid_constant__ PolderLevelGrid G, const __grid_constant__ PolderLevelGridEntries entries, const PolderLevelGridRule rule,
                              PetscInt *count)
{
  const PolderLevelGridEntries A                            = GridOf<KIND>(entries);
  const PetscInt               stride                       = (PetscInt)gridDim.x * POLDER_BLOCK;
  int                          own[POLDER_LEVELGRID_COUNTS] = {};

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

  if (G->n <= 0) return cudaGetLastError();
  return GridKinds(G, A, [=](auto kind, const PolderLevelGridEntries &B) {
    PolderLevelGridSurveyKernel<decltype(kind)::value><<<blocks, POLDER_BLOCK, 0, stream>>>(*G, B, *rule, count);
    return (int)cudaGetLastError();
  });
}

/* body(G, i, at) for the cells of a level, or of the next one; FIT as above */
template <bool NEXT, int FIT, class Body>
static __global__ void __launch_bounds__(POLDER_BLOCK, FIT)
  PolderLevelGridCellsKernel(const __grid_constant__ PolderLevelGrid G, const __grid_constant__ Body body)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  PetscInt       at[3];

  if (i >= (NEXT ? G.nc : G.n)) return;
  if (NEXT) PolderLevelGridAt(G.csize, G.cshift + i, at);
  else PolderLevelGridAt(G.size, G.shift + i, at);
  body(G, i, at);
}

template <bool NEXT, int FIT = 1, class Body>
static int LevelGridEach(const PolderLevelGrid *G, PolderStream stream, Body body)
{
  const PetscInt n = NEXT ? G->nc : G->n;

  if (n > 0) PolderLevelGridCellsKernel<NEXT, FIT><<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*G, body);
  return cudaGetLastError();
}

template <int KIND>
struct GridSplit {
  PolderLevelGridEntries entries;
  PolderLevelGridRule    rule;
  PetscInt              *count;

  __device__ __forceinline__ void operator()(const PolderLevelGrid &G, PetscInt, const PetscInt at[3]) const
  {
    const PolderLevelGridEntries A = GridOf<KIND>(entries);

    if (PolderLevelGridBridges(&G, &A, &rule, at)) PolderAtomicAdd(count, 1);
  }
};

template <int KIND>
struct GridWeights {
  PolderLevelGridEntries entries;
  const PetscInt        *agg;

  __device__ __forceinline__ void operator()(const PolderLevelGrid &G, PetscInt i, const PetscInt at[3]) const
  {
    const PolderLevelGridEntries A = GridOf<KIND>(entries);

    PolderLevelGridSetWeights(&G, &A, agg, i, at);
  }
};

template <int KIND>
struct GridCoarseRows {
  PolderLevelGridEntries entries;
  PolderLevelGridRows    rows;

  __device__ __forceinline__ void operator()(const PolderLevelGrid &G, PetscInt c, const PetscInt at[3]) const
  {
    const PolderLevelGridEntries A = GridOf<KIND>(entries);

    PolderLevelGridCoarseRow(&G, &A, &rows, c, at, PolderLevelGridRowStart(&G, c));
  }
};

int PolderLevelGridSplit_CUDA(const PolderLevelGrid *grid, const PolderLevelGridEntries *entries, const PolderLevelGridRule *rules, PetscInt *count,
                              PolderStream stream)
{
  const PolderLevelGridRule rule = *rules;

  return GridKinds(grid, entries, [=](auto kind, const PolderLevelGridEntries &B) {
    return LevelGridEach<true, 4>(grid, stream, GridSplit<decltype(kind)::value>{B, rule, count});
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
  return GridKinds(grid, entries, [=](auto kind, const PolderLevelGridEntries &B) {
    return LevelGridEach<false, GRID_FIT>(grid, stream, GridWeights<decltype(kind)::value>{B, agg});
  });
}

int PolderLevelGridCoarseRows_CUDA(const PolderLevelGrid *grid, const PolderLevelGridEntries *entries, const PolderLevelGridRows *rows, PolderStream stream)
{
  const PolderLevelGridRows R = *rows;

  return GridKinds(grid, entries, [=](auto kind, const PolderLevelGridEntries &B) {
    return LevelGridEach<true>(grid, stream, GridCoarseRows<decltype(kind)::value>{B, R});
  });
}

int PolderLevelGridPlaces_CUDA(const PolderLevelGrid *grid, PetscInt64 place[], PolderStream stream)
{
  return LevelGridEach<true>(grid, stream, [=] __device__(const PolderLevelGrid &, PetscInt c, const PetscInt at[3]) { place[c] = PolderLevelGridPlace(at); });
}
