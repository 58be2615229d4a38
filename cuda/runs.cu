/*
  Runs of rows of equal label along the lines of a grid, one thread for each chunk of a line. The chunks of neighbouring lines have consecutive numbers, so
  that a warp reads adjacent memory.
*/
#include "runs.cuh"
#include "kernels/runs.h"

/* The rows of a chunk of a line */
struct RunsRows {
  PetscInt line, i, n;

  __device__ __forceinline__ RunsRows(const PolderRuns &r, PetscInt t) : line(t % r.far), i(0), n(0)
  {
    const int64_t first = (int64_t)(t / r.far) * r.chunk * r.far + line;

    if (first >= r.m) return;
    i = (PetscInt)first;
    n = min((r.m - 1 - i) / r.far + 1, r.chunk);
  }
};

static unsigned int RunsBlocks(const PolderRuns *r)
{
  return PolderBlocks(PolderRunsChunks(r), POLDER_BLOCK);
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderRunsCountKernel(const __grid_constant__ PolderRuns r, PetscInt chunks, const PetscInt *__restrict__ label)
{
  const PetscInt t     = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);
  PetscInt       count = 0;

  if (t >= chunks) return;
  const RunsRows rows(r, t);
  unsigned int  *ends = r.ends + ((size_t)(t / r.far) * RunsWords(r) * r.far + rows.line), word = 0;
  PetscInt       own = rows.n ? label[rows.i] : 0;

#pragma unroll 4
  for (PetscInt s = 0; s < rows.n; ++s) {
    const PetscInt next = s + 1 < rows.n ? label[rows.i + (s + 1) * r.far] : 0;
    const bool     end  = s + 1 == rows.n || next != own;

    word |= (unsigned int)end << s % 32;
    count += end;
    own = next;
    if (s % 32 < 31 && s + 1 < rows.n) continue;
    ends[(size_t)(s / 32) * r.far] = word;
    word                           = 0;
  }
  r.first[t] = count;
}

int PolderRunsCount_CUDA(const PolderRuns *runs, const PetscInt label[], PolderStream stream)
{
  if (runs->m) PolderRunsCountKernel<<<RunsBlocks(runs), POLDER_BLOCK, 0, stream>>>(*runs, PolderRunsChunks(runs), label);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderRunsLabelKernel(const __grid_constant__ PolderRuns r, PetscInt chunks, const PetscInt *__restrict__ label, PetscInt *of)
{
  const PetscInt t = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);

  if (t >= chunks) return;
  const RunsRows      rows(r, t);
  const unsigned int *ends = r.ends + ((size_t)(t / r.far) * RunsWords(r) * r.far + rows.line);
  PetscInt            at   = r.first[t];

  for (PetscInt s = 0; s < rows.n; s += 32) {
    for (unsigned int word = ends[(size_t)(s / 32) * r.far]; word; word &= word - 1) of[at++] = label[rows.i + (s + __ffs((int)word) - 1) * r.far];
  }
}

int PolderRunsLabel_CUDA(const PolderRuns *runs, const PetscInt label[], PetscInt of[], PolderStream stream)
{
  if (runs->m) PolderRunsLabelKernel<<<RunsBlocks(runs), POLDER_BLOCK, 0, stream>>>(*runs, PolderRunsChunks(runs), label, of);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderRunsSumKernel(const __grid_constant__ PolderRuns r, PetscInt chunks, const PetscScalar *__restrict__ v)
{
  const PetscInt t = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);
  RunsSum        sums;

  if (t >= chunks) return;
  const RunsRows rows(r, t);

  if (rows.n) sums.begin(r, t / r.far, rows.line);
#pragma unroll 8
  for (PetscInt s = 0; s < rows.n; ++s) sums.add(r, v[rows.i + s * r.far]);
}

int PolderRunsSum_CUDA(const PolderRuns *runs, const PetscScalar v[], PolderStream stream)
{
  if (runs->m) PolderRunsSumKernel<<<RunsBlocks(runs), POLDER_BLOCK, 0, stream>>>(*runs, PolderRunsChunks(runs), v);
  return cudaGetLastError();
}
