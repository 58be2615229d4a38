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
    const PetscInt q = PolderIluColumn(&g, p, k);

    if (q >= r0 && q < p) l = PetscMax(l, now[q] + 1);
  }
  if (l > before) {
    PolderAtomicMax(level + p, l);
    changed = true;
  }
  for (PetscInt k = e[0]; k < e[1]; ++k) {
    const PetscInt q = PolderIluColumn(&g, p, k);

    if (q <= p || q >= r1 || now[q] > l) continue;
    PolderAtomicMax(level + q, l + 1);
    changed = changed || q < end;
  }
  return changed;
}

/* Entries of row p of the block r0 .. r1 in both triangles */
static __device__ __forceinline__ void IluCountRow(const PolderIluGraph *g, PetscInt r0, PetscInt r1, PetscInt p, PetscInt *lower, PetscInt *upper)
{
  const PetscInt *e    = PolderIluEntries(g, p);
  PetscInt        n[2] = {0, 0};

  for (PetscInt k = e[0]; k < e[1]; ++k) {
    const PetscInt q = PolderIluColumn(g, p, k);

    n[0] += q >= r0 && q < p;
    n[1] += q > p && q < r1;
  }
  *lower = n[0];
  *upper = n[1];
}

/* A thread block for each inner block, which takes a window of its rows at a time: later rows do not change earlier ones */
static __global__ void __launch_bounds__(PATTERN_THREADS) PolderIluLevelsKernel(const PolderIluGraph g, PetscInt level[], PetscInt number[], PetscInt entries[])
{
  const PetscInt b = (PetscInt)blockIdx.x, r0 = g.block[b], r1 = g.block[b + 1];

  for (PetscInt w = r0; w < r1; w += PATTERN_THREADS) {
    const PetscInt p = w + (PetscInt)threadIdx.x;
    bool           changed;

    do changed = p < r1 && IluRaise(g, r0, r1, p, w + PATTERN_THREADS, level);
    while (__syncthreads_or(changed));
    const PetscInt most = PolderWarpMax(p < r1 ? level[p] + 1 : 0);

    if (threadIdx.x % 32 == 0) PolderAtomicMax(number + b, most);
    if (p < r1) IluCountRow(&g, r0, r1, p, &entries[p], &entries[g.nrow + p]);
  }
}

int PolderIluLevels_CUDA(const PolderIluGraph *g, PetscInt level[], PetscInt number[], PetscInt entries[], PolderStream stream)
{
  if (g->nblock) PolderIluLevelsKernel<<<(unsigned int)g->nblock, PATTERN_THREADS, 0, stream>>>(*g, level, number, entries);
  return cudaGetLastError();
}

int PolderIluNumberLevels_CUDA(const PolderIluGraph *graph, const PetscInt first[], PetscInt level[], PolderStream stream)
{
  const PolderIluGraph g = *graph;

  return PolderForEach(g.nrow, stream, [=] __device__(PetscInt p) { level[p] += first[PolderIluBlockOf(g.nblock, g.block, p)]; });
}

int PolderIluWidths_CUDA(PetscInt nrow, const PetscInt entries[], const PetscInt number[], PetscInt width[], PetscInt sum[], PolderStream stream)
{
  const PetscInt slices = PolderIluSlices(nrow);

  return PolderForEach(nrow, stream, [=] __device__(PetscInt p) {
    for (int t = 0; t < 2; ++t) {
      const PetscInt n = entries[t * nrow + p], s = t * slices + (number ? number[p] : p) / POLDER_ILU_SLICE;

      PolderAtomicMax(width + s, n);
      PolderAtomicAdd(sum + s, n);
    }
  });
}

int PolderIluPoint_CUDA(PetscInt nrow, const PetscInt entries[], const PetscInt order[], const PetscInt start[], PetscInt apart[], PolderStream stream)
{
  const PetscInt slices = PolderIluSlices(nrow);

  return PolderForEach(slices, stream, [=] __device__(PetscInt s) {
    for (int t = 0; t < 2; ++t) PolderIluPoint(nrow, entries, order, t, s, start[t * (slices + 1) + s], apart);
  });
}

int PolderIluPattern_CUDA(const PolderIluGraph *graph, const PolderIlu *factors, const PetscInt order[], const PetscInt place[], PetscInt col[],
                          PetscInt source[], PolderStream stream)
{
  const PolderIluGraph g   = *graph;
  const PolderIlu      ilu = *factors;
  const PetscInt       n   = (ilu.nrow + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE * POLDER_ILU_SLICE;

  return PolderForEach(n, stream, [=] __device__(PetscInt a) {
    if (a < ilu.nrow) {
      const PetscInt b = PolderIluBlockOf(g.nblock, g.block, a);

      PolderIluPatternRow(&g, &ilu, g.block[b], g.block[b + 1], a, order, place, col, source);
    } else PolderIluPatternLane(&ilu, a, col, source);
  });
}
