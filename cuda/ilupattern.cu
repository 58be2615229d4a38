/* Patterns of incomplete factors. */
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/ilupatternrow.h"

#define PATTERN_THREADS 512

int PolderIluInvert_CUDA(PetscInt n, const PetscInt list[], PetscInt to[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt k) { to[list[k]] = k; });
}

int PolderIluGather_CUDA(PetscInt n, const PetscInt list[], const PetscInt from[], PetscInt to[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt k) { to[k] = from[list[k]]; });
}

/* Brings the level of row p of the block r0 .. r1 above those before it, and those behind it above its own; did one of p .. end - 1 change? */
static __device__ __forceinline__ bool IluRaise(const PolderIluGraph &g, PetscInt r0, PetscInt r1, PetscInt p, PetscInt end, PetscInt level[])
{
  volatile PetscInt *now = level; // other threads raise it
  const PetscInt    *e = PolderIluEntries(&g, p), before = now[p];
  PetscInt           l       = before;
  bool               changed = false;

  for (PetscInt k = e[0]; k < e[1]; ++k) {
    const PetscInt q = PolderIluColumn(&g, k);

    if (q >= r0 && q < p) l = PetscMax(l, now[q] + 1);
  }
  if (l > before) {
    PolderAtomicMax(level + p, l);
    changed = true;
  }
  for (PetscInt k = e[0]; k < e[1]; ++k) {
    const PetscInt q = PolderIluColumn(&g, k);

    if (q <= p || q >= r1 || now[q] > l) continue;
    PolderAtomicMax(level + q, l + 1);
    changed = changed || q < end;
  }
  return changed;
}

/* A thread block for each inner block, which takes a window of its rows at a time: later rows do not change earlier ones */
static __global__ void __launch_bounds__(PATTERN_THREADS) PolderIluLevelsKernel(const PolderIluGraph g, PetscInt level[], PetscInt number[])
{
  const PetscInt b = (PetscInt)blockIdx.x, r0 = g.block[b], r1 = g.block[b + 1];

  for (PetscInt w = r0; w < r1; w += PATTERN_THREADS) {
    const PetscInt p = w + (PetscInt)threadIdx.x;
    bool           changed;

    do changed = p < r1 && IluRaise(g, r0, r1, p, w + PATTERN_THREADS, level);
    while (__syncthreads_or(changed));
    const PetscInt most = PolderWarpMax(p < r1 ? level[p] + 1 : 0);

    if (threadIdx.x % 32 == 0) PolderAtomicMax(number + b, most);
  }
}

int PolderIluLevels_CUDA(const PolderIluGraph *g, PetscInt level[], PetscInt number[], PolderStream stream)
{
  if (g->nblock) PolderIluLevelsKernel<<<(unsigned int)g->nblock, PATTERN_THREADS, 0, stream>>>(*g, level, number);
  return cudaGetLastError();
}

int PolderIluNumberLevels_CUDA(const PolderIluGraph *graph, const PetscInt first[], PetscInt level[], PolderStream stream)
{
  const PolderIluGraph g = *graph;

  return PolderForEach(g.nrow, stream, [=] __device__(PetscInt p) { level[p] += first[PolderIluBlockOf(g.nblock, g.block, p)]; });
}

int PolderIluPatternWidths_CUDA(const PolderIluGraph *graph, const PetscInt order[], PetscInt width[], PolderStream stream)
{
  const PolderIluGraph g      = *graph;
  const PetscInt       slices = (g.nrow + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE;

  return PolderForEach(g.nrow, stream, [=] __device__(PetscInt a) {
    const PetscInt b = PolderIluBlockOf(g.nblock, g.block, a);

    for (int t = 0; t < 2; ++t) PolderAtomicMax(width + t * slices + a / POLDER_ILU_SLICE, PolderIluRowWidth(&g, b, order[a], t));
  });
}

int PolderIluPattern_CUDA(const PolderIluGraph *graph, const PolderIlu *factors, const PetscInt order[], const PetscInt place[], PetscInt col[],
                          PetscInt source[], PolderStream stream)
{
  const PolderIluGraph g   = *graph;
  const PolderIlu      ilu = *factors;
  const PetscInt       n   = (ilu.nrow + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE * POLDER_ILU_SLICE;

  return PolderForEach(n, stream, [=] __device__(PetscInt a) { PolderIluPatternRow(&g, &ilu, a, order, place, col, source); });
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderIluCountKernel(const PolderIlu ilu, PetscInt64 *count)
{
  const PetscInt a      = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PetscInt64     sum[2] = {0, 0};

  if (a < ilu.nrow) PolderIluCountRowOf(&ilu, a, &sum[0], &sum[1]);
  for (int k = 0; k < 2; ++k) {
    for (int o = 16; o > 0; o >>= 1) sum[k] += __shfl_down_sync(0xffffffffu, sum[k], o);
    if (threadIdx.x % 32 == 0) atomicAdd((unsigned long long *)count + k, (unsigned long long)sum[k]);
  }
}

int PolderIluCount_CUDA(const PolderIlu *ilu, PetscInt64 count[2], PolderStream stream)
{
  if (ilu->nrow) PolderIluCountKernel<<<PolderBlocks(ilu->nrow, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*ilu, count);
  return cudaGetLastError();
}
