/* Set-up of levels that are grids, where it reads entries: one thread a cell or a box. Each sum has a fixed order. */
#pragma once

#include "count.cuh"
#include "levelgrid.cuh"

/* The same entries, of which the compiler knows the kind. The diagonals of directions of one cell are not there, nor are they read */
template <GridKind KIND>
static __device__ __forceinline__ PolderLevelGridEntries GridOf(const PolderLevelGridEntries &A)
{
  PolderLevelGridEntries B = A;

  if (KIND == GRID_ROWS) return B;
  B.single = KIND == GRID_SINGLE ? PETSC_TRUE : PETSC_FALSE;
  B.bfloat = KIND == GRID_BFLOAT ? PETSC_TRUE : PETSC_FALSE;
  for (int d = 0; d < 3; ++d) __builtin_assume(B.up[d] != NULL);
  return B;
}

/* Resident blocks: with fewer registers than the compiler would take, more threads wait for memory at a time */
#define GRID_FIT     6
#define GRID_BOX_FIT 4
/* Up to so many boxes each of their cells has a thread, as a thread for a box would wait for one load after the other */
#define GRID_FEW 50000

template <GridKind KIND>
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

template <GridKind KIND>
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

template <GridKind KIND>
struct GridWeights {
  PolderLevelGridEntries entries;
  const PetscInt        *agg;

  __device__ __forceinline__ void operator()(const PolderLevelGrid &G, PetscInt i, const PetscInt at[3]) const
  {
    const PolderLevelGridEntries A = GridOf<KIND>(entries);

    PolderLevelGridSetWeights(&G, &A, agg, i, at);
  }
};

template <GridKind KIND>
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
template <GridKind KIND, int LANES>
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
template <GridKind KIND, int LANES>
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

/* act(lanes, blocks) for kernels with lanes a box */
template <class Do>
static int GridOfBoxes(const PolderLevelGrid *G, Do act)
{
  const int joined = G->join[0] + G->join[1] + G->join[2];

  if (G->nc <= 0) return cudaGetLastError();
  if (joined == 3) act(std::integral_constant<int, 8>(), PolderBlocks(G->nc, POLDER_BLOCK / 8));
  else if (joined == 2) act(std::integral_constant<int, 4>(), PolderBlocks(G->nc, POLDER_BLOCK / 4));
  else act(std::integral_constant<int, 2>(), PolderBlocks(G->nc, POLDER_BLOCK / 2));
  return (int)cudaGetLastError();
}

template <GridKind KIND>
int GridSteps<KIND>::survey(const PolderLevelGrid *G, const PolderLevelGridEntries &A, const PolderLevelGridRule &rule, PetscInt count[], cudaStream_t stream)
{
  if (G->n > 0) PolderLevelGridSurveyKernel<KIND><<<PolderStrideBlocks(G->n), POLDER_BLOCK, 0, stream>>>(*G, A, rule, count);
  return cudaGetLastError();
}

template <GridKind KIND>
int GridSteps<KIND>::split(const PolderLevelGrid *G, const PolderLevelGridEntries &A, const PolderLevelGridRule &rule, PetscInt *count, cudaStream_t stream)
{
  if (G->nc > GRID_FEW) return LevelGridEach<true, 4>(G, stream, GridSplit<KIND>{A, rule, count});
  return GridOfBoxes(G, [&](auto lanes, unsigned int blocks) {
    PolderLevelGridSplitKernel<KIND, decltype(lanes)::value><<<blocks, POLDER_BLOCK, 0, stream>>>(*G, A, rule, count);
  });
}

template <GridKind KIND>
int GridSteps<KIND>::weights(const PolderLevelGrid *G, const PolderLevelGridEntries &A, const PetscInt agg[], cudaStream_t stream)
{
  return LevelGridEach<false, GRID_FIT>(G, stream, GridWeights<KIND>{A, agg});
}

template <GridKind KIND>
int GridSteps<KIND>::coarseRows(const PolderLevelGrid *G, const PolderLevelGridEntries &A, const PolderLevelGridRows &R, cudaStream_t stream)
{
  if (G->nc > GRID_FEW) return LevelGridEach<true>(G, stream, GridCoarseRows<KIND>{A, R});
  return GridOfBoxes(G, [&](auto lanes, unsigned int blocks) {
    PolderLevelGridCoarseRowsKernel<KIND, decltype(lanes)::value><<<blocks, POLDER_BLOCK, 0, stream>>>(*G, A, R);
  });
}
