/* Set-up of levels that are grids, one thread a cell. Counters are integers and the order of each sum is fixed, so results do not depend on that of threads. */
#include "count.cuh"
#include "foreach.cuh"
#include "module.cuh"
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
#define GRID_FIT     6
#define GRID_BOX_FIT 4
/* Up to so many boxes each of their cells has a thread, as a thread for a box would wait for one load after the other */
#define GRID_FEW 50000

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
  PolderAddCounts(own, count);
}

int PolderLevelGridSurvey_CUDA(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, PetscInt count[],
                               PolderStream stream)
{
  if (G->n <= 0) return cudaGetLastError();
  return GridKinds(G, A, [=](auto kind, const PolderLevelGridEntries &B) {
    PolderLevelGridSurveyKernel<decltype(kind)::value><<<PolderStrideBlocks(G->n), POLDER_BLOCK, 0, stream>>>(*G, B, *rule, count);
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

/* The cell of a box that a lane has: its bits are those of the joined directions; -1: there are fewer cells */
static __device__ __forceinline__ int GridCellOf(const PolderLevelGrid &G, int lane)
{
  int cell = 0, bit = 0;

#pragma unroll
  for (int d = 0; d < 3; ++d) {
    if (G.join[d]) cell |= (lane >> bit++ & 1) << d;
  }
  return lane >> bit ? -1 : cell;
}

/* What all lanes of a box have together */
template <int LANES, class V, class Join>
static __device__ __forceinline__ V GridOfBox(V own, Join join)
{
#pragma unroll
  for (int o = LANES / 2; o > 0; o /= 2) own = join(own, __shfl_xor_sync(0xffffffffu, own, o));
  return own;
}

/* As PolderLevelGridBridges() for the boxes. LANES: at least the cells of a box, each of which has a thread */
template <int KIND, int LANES>
static __global__ void __launch_bounds__(POLDER_BLOCK, GRID_BOX_FIT)
  PolderLevelGridSplitKernel(const __grid_constant__ PolderLevelGrid G, const __grid_constant__ PolderLevelGridEntries entries, const PolderLevelGridRule rule,
                             PetscInt *count)
{
  const PolderLevelGridEntries A    = GridOf<KIND>(entries);
  const PetscInt               c    = (PetscInt)blockIdx.x * (POLDER_BLOCK / LANES) + (PetscInt)threadIdx.x / LANES;
  const int                    lane = (int)threadIdx.x % LANES, cell = c < G.nc ? GridCellOf(G, lane) : -1;
  PetscInt                     at[3], from[3], mine = -1;
  PetscReal                    strongest = 0, most[3], top;
  unsigned                     word      = 0; // a byte for the strong cells, and one a direction for those that are coupled to their upper neighbours
  int                          bit       = 0;

  PolderLevelGridAt(G.csize, G.cshift + c, at);
  if (cell >= 0) mine = PolderLevelGridCell(&G, rule.mate, at, cell, from);
  if (mine >= 0) strongest = PolderLevelGridMost(&G, &A, rule.mate, mine, from, most);
  top = GridOfBox<LANES>(strongest, [](PetscReal x, PetscReal y) { return y > x ? y : x; });
  if (!(strongest >= rule.split * top)) strongest = 0;
  if (strongest > 0) word = 1u << cell;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    const PetscReal other = __shfl_sync(0xffffffffu, strongest, lane | 1 << bit, LANES);
    const PetscInt  next  = __shfl_sync(0xffffffffu, mine, lane | 1 << bit, LANES);

    if (!G.join[d]) continue;
    ++bit;
    if (cell >> d & 1 || !(strongest > 0) || !(other > 0)) continue;
    if (PolderLevelGridCoupling(&G, &A, mine, next, d) >= rule.split * (strongest < other ? strongest : other)) word |= 1u << (8 * (d + 1) + cell);
  }
  word = GridOfBox<LANES>(word, [](unsigned x, unsigned y) { return x | y; });
  if (lane) return;
  const unsigned good[3] = {word >> 8 & 255, word >> 16 & 255, word >> 24};
  if (PolderLevelGridFalls(word & 255, good)) PolderAtomicAdd(count, 1);
}

/* The sum of what the lanes of a box have, in their order, as one thread would add it up */
template <int LANES>
static __device__ __forceinline__ PetscReal GridSum(PetscReal own)
{
  PetscReal sum = 0;

#pragma unroll
  for (int k = 0; k < LANES; ++k) sum += __shfl_sync(0xffffffffu, own, k, LANES);
  return sum;
}

/* Rows of the next level. LANES as above */
template <int KIND, int LANES>
static __global__ void __launch_bounds__(POLDER_BLOCK, GRID_BOX_FIT)
  PolderLevelGridCoarseRowsKernel(const __grid_constant__ PolderLevelGrid G, const __grid_constant__ PolderLevelGridEntries entries,
                                  const __grid_constant__ PolderLevelGridRows R)
{
  const PolderLevelGridEntries A    = GridOf<KIND>(entries);
  const PetscInt               c    = (PetscInt)blockIdx.x * (POLDER_BLOCK / LANES) + (PetscInt)threadIdx.x / LANES;
  const int                    lane = (int)threadIdx.x % LANES, cell = c < G.nc ? GridCellOf(G, lane) : -1;
  PolderLevelGridCollected     all = {};
  PetscInt                     at[3];

  PolderLevelGridAt(G.csize, G.cshift + c, at);
  if (cell >= 0) PolderLevelGridCollectCell(&G, &A, &R, at, cell, &all);
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    all.to[d][0] = GridSum<LANES>(all.to[d][0]);
    all.to[d][1] = GridSum<LANES>(all.to[d][1]);
  }
  all.lone   = GridSum<LANES>(all.lone);
  all.excess = GridSum<LANES>(all.excess);
  all.size   = GridSum<LANES>(all.size);
  if (cell == 0) PolderLevelGridStoreRow(&G, &R, c, at, all, PolderLevelGridRowStart(&G, c));
}

/* act(kind, lanes, blocks, entries) for kernels with lanes a box */
template <class Do>
static int GridOfBoxes(const PolderLevelGrid *G, const PolderLevelGridEntries *entries, Do act)
{
  const int joined = G->join[0] + G->join[1] + G->join[2];

  if (G->nc <= 0) return cudaGetLastError();
  return GridKinds(G, entries, [=](auto kind, const PolderLevelGridEntries &A) {
    if (joined == 3) act(kind, std::integral_constant<int, 8>(), PolderBlocks(G->nc, POLDER_BLOCK / 8), A);
    else if (joined == 2) act(kind, std::integral_constant<int, 4>(), PolderBlocks(G->nc, POLDER_BLOCK / 4), A);
    else act(kind, std::integral_constant<int, 2>(), PolderBlocks(G->nc, POLDER_BLOCK / 2), A);
    return (int)cudaGetLastError();
  });
}

int PolderLevelGridSplit_CUDA(const PolderLevelGrid *G, const PolderLevelGridEntries *entries, const PolderLevelGridRule *rules, PetscInt *count,
                              PolderStream stream)
{
  const PolderLevelGridRule rule = *rules;

  if (G->nc > GRID_FEW)
    return GridKinds(G, entries, [=](auto kind, const PolderLevelGridEntries &B) {
      return LevelGridEach<true, 4>(G, stream, GridSplit<decltype(kind)::value>{B, rule, count});
    });
  return GridOfBoxes(G, entries, [=](auto kind, auto lanes, unsigned int blocks, const PolderLevelGridEntries &A) {
    PolderLevelGridSplitKernel<decltype(kind)::value, decltype(lanes)::value><<<blocks, POLDER_BLOCK, 0, stream>>>(*G, A, rule, count);
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

int PolderLevelGridCoarseRows_CUDA(const PolderLevelGrid *G, const PolderLevelGridEntries *entries, const PolderLevelGridRows *rows, PolderStream stream)
{
  const PolderLevelGridRows R = *rows;

  if (G->nc > GRID_FEW)
    return GridKinds(G, entries, [=](auto kind, const PolderLevelGridEntries &B) {
      return LevelGridEach<true>(G, stream, GridCoarseRows<decltype(kind)::value>{B, R});
    });
  return GridOfBoxes(G, entries, [=](auto kind, auto lanes, unsigned int blocks, const PolderLevelGridEntries &A) {
    PolderLevelGridCoarseRowsKernel<decltype(kind)::value, decltype(lanes)::value><<<blocks, POLDER_BLOCK, 0, stream>>>(*G, A, R);
  });
}

int PolderLevelGridPlaces_CUDA(const PolderLevelGrid *grid, PetscInt64 place[], PolderStream stream)
{
  return LevelGridEach<true>(grid, stream, [=] __device__(const PolderLevelGrid &, PetscInt c, const PetscInt at[3]) { place[c] = PolderLevelGridPlace(at); });
}

POLDER_MODULE(LevelGrid)
