/* Levels of fill of incomplete factors, by searches from each row: a warp each, with a table in shared memory. */
#include "kernels/ilufillrow.h"
#include "launch.cuh"

#define FILL_WARPS 4
/* Blocks that a multiprocessor has room for: with the registers of 12 none are spilled, and its shared memory takes 14 of the smallest tables on an H100 */
#define FILL_BLOCKS 12
#define FILL_ALL    0xffffffffu
/* Lanes that go through the entries of a vertex together */
#define FILL_TEAM 8

/* The search for row i of the block r0 .. r1 */
struct FillSearch {
  PetscInt r0, r1;
  int      i, lane;
};

/* -1: this lane found the table full. So each lane adds one vertex to a full table at most, for which there is room */
static __device__ __forceinline__ int FillSlotOf(const PolderIluReached &t, int vertex)
{
  for (int s = PolderIluSlot(&t, vertex);; s = (s + 1) & (t.slots - 1)) {
    const int found = atomicCAS(&t.key[s], -1, vertex);

    if (found == vertex) return s;
    if (found >= 0) continue;
    const int at = atomicAdd(t.n, 1);

    if (at >= t.most) return -1;
    t.before[s] = POLDER_ILU_FILL_NEVER;
    t.used[at]  = (unsigned short)s;
    return s;
  }
}

/* The walks through block row p, the largest vertex on which is `largest`, by a team; last: only entries count, since no walk goes on */
static __device__ __forceinline__ bool FillVisit(const PolderIluGraph &g, const FillSearch &f, PetscInt p, int largest, bool last, const PolderIluReached &t)
{
  const PetscInt *e = PolderIluEntries(&g, p), end = e[1];

  for (PetscInt k = e[0] + f.lane % FILL_TEAM; k < end; k += FILL_TEAM) {
    const PetscInt q = PolderIluColumn(&g, p, k);
    const int      u = (int)(q - f.r0);

    if (q < f.r0 || q >= f.r1 || u == f.i || (last && u <= largest)) continue;
    const int s = FillSlotOf(t, u);

    if (s < 0) return false;
    atomicMin(&t.least[s], largest);
  }
  return true;
}

/* The slots that the next round starts from, and how many they are */
static __device__ __forceinline__ int FillFront(const FillSearch &f, const PolderIluReached &t)
{
  const int n = *t.n;
  int       m = 0;

  for (int first = 0; first < n; first += 32) {
    const int          s       = first + f.lane < n ? t.used[first + f.lane] : -1;
    const bool         renewed = s >= 0 && PolderIluRenewed(&t, f.i, s);
    const unsigned int which   = __ballot_sync(FILL_ALL, renewed);

    if (renewed) t.front[m + __popc(which & ((1u << f.lane) - 1))] = (unsigned short)s;
    m += __popc(which);
  }
  __syncwarp();
  return m;
}

/* The walks of a round through the n vertices that it starts from. They are read before others are added */
static __device__ __forceinline__ void FillRound(const PolderIluGraph &g, const FillSearch &f, int n, bool last, const PolderIluReached &t)
{
  bool room = true;

  for (int first = 0; first < n; first += 32) {
    const int s = first + f.lane < n ? t.front[first + f.lane] : -1, own = s < 0 ? 0 : t.key[s], top = s < 0 ? 0 : PetscMax(t.before[s], own);

    __syncwarp();
    for (int step = 0; step < 32 && first + step < n; step += 32 / FILL_TEAM) {
      const int a = step + f.lane / FILL_TEAM, v = __shfl_sync(FILL_ALL, own, a), largest = __shfl_sync(FILL_ALL, top, a);

      if (room && first + a < n) room = FillVisit(g, f, f.r0 + v, largest, last, t);
    }
    __syncwarp();
  }
}

/* Is the table large enough? */
static __device__ __forceinline__ bool FillReach(const PolderIluGraph &g, const FillSearch &f, PetscInt levels, const PolderIluReached &t)
{
  if (f.lane < FILL_TEAM) (void)FillVisit(g, f, f.r0 + f.i, -1, levels == 0, t);
  __syncwarp();
  for (PetscInt round = 1; round <= levels && *t.n <= t.most; ++round) FillRound(g, f, FillFront(f, t), round == levels, t);
  return *t.n <= t.most;
}

/* An empty table for each warp */
static __device__ __forceinline__ PolderIluReached FillStart(int slots, int memory[])
{
  const PolderIluReached t = PolderIluReachedAt(slots, memory + threadIdx.x / 32 * POLDER_ILU_FILL_INTS(slots));

  for (int s = threadIdx.x % 32; s < slots; s += 32) PolderIluForget(&t, s);
  if (threadIdx.x % 32 == 0) *t.n = 0;
  __syncwarp();
  return t;
}

static __device__ __forceinline__ void FillClear(const FillSearch &f, const PolderIluReached &t)
{
  for (int a = f.lane; a < *t.n; a += 32) PolderIluForget(&t, t.used[a]);
  __syncwarp();
  if (f.lane == 0) *t.n = 0;
  __syncwarp();
}

static __device__ __forceinline__ FillSearch FillRow(const PolderIluGraph &g, PetscInt p)
{
  const PetscInt b = PolderIluBlockOf(g.nblock, g.block, p);

  return {g.block[b], g.block[b + 1], (int)(p - g.block[b]), (int)threadIdx.x % 32};
}

static __device__ __forceinline__ PetscInt FillFirst(void)
{
  return (PetscInt)blockIdx.x * (PetscInt)(blockDim.x / 32) + (PetscInt)(threadIdx.x / 32);
}

static __device__ __forceinline__ PetscInt FillStride(void)
{
  return (PetscInt)gridDim.x * (PetscInt)(blockDim.x / 32);
}

static __global__ void __launch_bounds__(32 * FILL_WARPS, FILL_BLOCKS)
  PolderIluFillCountKernel(const PolderIluGraph g, PetscInt levels, int slots, PetscInt entries[], PetscInt64 all[])
{
  extern __shared__ int  memory[];
  const PolderIluReached t   = FillStart(slots, memory);
  PetscInt64             sum = 0;

  for (PetscInt p = FillFirst(); p < g.nrow; p += FillStride()) {
    const FillSearch f = FillRow(g, p);
    int              n = 0;

    if (__any_sync(FILL_ALL, *(volatile PetscInt64 *)&all[1] != 0)) return;
    if (!FillReach(g, f, levels, t)) {
      if (f.lane == 0) *(volatile PetscInt64 *)&all[1] = 1;
      return;
    }
    for (int a = f.lane; a < *t.n; a += 32) n += PolderIluIsEntry(&t, t.used[a]);
    n = 1 + __reduce_add_sync(FILL_ALL, n);
    if (f.lane == 0) entries[p] = n;
    sum += n;
    FillClear(f, t);
  }
  if (threadIdx.x % 32 == 0) atomicAdd((unsigned long long *)all, (unsigned long long)sum);
}

/* The columns of the entries, ascending, in the place of before[] */
static __device__ __forceinline__ int FillColumns(const FillSearch &f, const PolderIluReached &t)
{
  int *list = t.before, n = 1, length = 1;

  if (f.lane == 0) list[0] = f.i;
  for (int first = 0; first < *t.n; first += 32) {
    const int          s     = first + f.lane < *t.n ? t.used[first + f.lane] : -1;
    const bool         entry = s >= 0 && PolderIluIsEntry(&t, s);
    const unsigned int which = __ballot_sync(FILL_ALL, entry);

    if (entry) list[n + __popc(which & ((1u << f.lane) - 1))] = t.key[s];
    n += __popc(which);
  }
  while (length < n) length *= 2;
  for (int a = n + f.lane; a < length; a += 32) list[a] = POLDER_ILU_FILL_NEVER;
  __syncwarp();
  for (int size = 2; size <= length; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      for (int at = f.lane; at < length / 2; at += 32) PolderIluBitonic(at, size, stride, list);
      __syncwarp();
    }
  }
  return n;
}

static __global__ void __launch_bounds__(32 * FILL_WARPS, FILL_BLOCKS)
  PolderIluFillRowsKernel(const PolderIluGraph g, PetscInt levels, int slots, const PetscInt first[], PetscInt j[], PetscInt source[])
{
  extern __shared__ int  memory[];
  const PolderIluReached t = FillStart(slots, memory);

  for (PetscInt p = FillFirst(); p < g.nrow; p += FillStride()) {
    const FillSearch f = FillRow(g, p);
    const PetscInt  *e = PolderIluEntries(&g, p), to = first[p];

    if (!FillReach(g, f, levels, t)) return;
    const int n = FillColumns(f, t);

    for (int a = f.lane; a < n; a += 32) {
      j[to + a]      = t.before[a] - f.i;
      source[to + a] = -1;
    }
    __syncwarp(); // another lane may write source[] again
    for (PetscInt k = e[0] + f.lane; k < e[1]; k += 32) {
      const PetscInt q = PolderIluColumn(&g, p, k);

      if (q >= f.r0 && q < f.r1) source[to + PolderIluPlaceOf(n, t.before, (int)(q - f.r0))] = k;
    }
    FillClear(f, t);
  }
}

/* The launch of either kernel */
template <class... Args>
static int FillLaunch(void (*kernel)(const PolderIluGraph, PetscInt, int, Args...), const PolderIluGraph *g, PetscInt levels, int slots, PolderStream stream,
                      std::common_type_t<Args>... args)
{
  const int          warps = PetscMin(FILL_WARPS, POLDER_ILU_FILL_MOST / slots), bytes = warps * (int)sizeof(int) * POLDER_ILU_FILL_INTS(slots);
  const PetscInt     most   = FILL_BLOCKS * PolderMultiprocessors();
  const unsigned int blocks = (unsigned int)PetscMin(most, (PetscInt)PolderBlocks(g->nrow, warps));
  cudaError_t        err;

  if (!g->nrow) return cudaSuccess;
  err = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (err) return err;
  kernel<<<blocks, 32 * warps, bytes, stream>>>(*g, levels, slots, args...);
  return cudaGetLastError();
}

int PolderIluFillCount_CUDA(const PolderIluGraph *g, PetscInt levels, PetscInt slots, PetscInt entries[], PetscInt64 all[2], PolderStream stream)
{
  return FillLaunch(PolderIluFillCountKernel, g, levels, (int)slots, stream, entries, all);
}

int PolderIluFillRows_CUDA(const PolderIluGraph *g, PetscInt levels, PetscInt slots, const PetscInt first[], PetscInt j[], PetscInt source[],
                           PolderStream stream)
{
  return FillLaunch(PolderIluFillRowsKernel, g, levels, (int)slots, stream, first, j, source);
}
