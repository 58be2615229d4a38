/* Blocks of strongly coupled rows that a smoother solves exactly: a warp a block, a lane a row. */
#include "foreach.cuh"
#include "kernels/levelblocksrow.h"

#define BLOCK_WARPS 8

/* As PolderBlockCorrect_Host(), for blocks order[0 .. n) */
template <class V>
static __global__ void __launch_bounds__(32 * BLOCK_WARPS) PolderBlockKernel(const __grid_constant__ PolderRows A, const __grid_constant__ PolderLevelBlocks B,
                                                                             PetscInt n, const PetscInt *__restrict__ order, const V *__restrict__ b, V *x)
{
  PolderBegin();
  const int      lane = threadIdx.x % 32;
  const PetscInt w    = (PetscInt)blockIdx.x * BLOCK_WARPS + threadIdx.x / 32;

  if (w >= n) return;
  const PetscInt   k = order[w], first = B.ptr[k], m = B.ptr[k + 1] - first, row = lane < m ? B.row[first + lane] : 0;
  const PetscReal *L = B.factor + B.at[k];
  double           z = 0;

  if (lane < m) {
    const PetscInt i = PolderBlockRow(first + lane, &B), last = A.i[i + 1];

    z = b[row];
    for (PetscInt e = A.i[i]; e < last; ++e) z -= A.a[e] * x[A.j[e]];
    if (B.shift) z -= B.shift[row] * x[row];
  }
  for (PetscInt c = 0; c < m; ++c) {
    const double f = lane >= c && lane < m ? L[lane * (lane + 1) / 2 + c] : 0;

    if (lane == c) z *= f;
    const double zc = __shfl_sync(FULL_WARP, z, (int)c);

    if (lane > c) z -= f * zc;
  }
  for (PetscInt r = m - 1; r >= 0; --r) {
    const double f = lane <= r ? L[r * (r + 1) / 2 + lane] : 0;

    if (lane == r) z *= f;
    const double zr = __shfl_sync(FULL_WARP, z, (int)r);

    if (lane < r) z -= f * zr;
  }
  if (lane < m) x[row] += (V)z;
}

int PolderBlockCorrect_CUDA(PetscBool single, const PolderRows *A, const PolderLevelBlocks *B, PetscInt c, const void *b, void *x, PolderStream stream)
{
  const PetscInt  n     = B->colour[c + 1] - B->colour[c];
  const PetscInt *order = B->order + B->colour[c];

  if (!n) return cudaSuccess;
  if (single)
    PolderLaunchEarly(PolderBlockKernel<float>, PolderBlocks(n, BLOCK_WARPS), 32 * BLOCK_WARPS, stream, *A, *B, n, order, (const float *)b, (float *)x);
  else PolderLaunchEarly(PolderBlockKernel<double>, PolderBlocks(n, BLOCK_WARPS), 32 * BLOCK_WARPS, stream, *A, *B, n, order, (const double *)b, (double *)x);
  return cudaGetLastError();
}

int PolderBlockCount_CUDA(const PolderRows *rows, const PetscReal d[], PetscReal theta, PetscInt ptr[], PetscInt *positive, PolderStream stream)
{
  const PolderRows A = *rows;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) { ptr[i + 1] = PolderBlockCountRow(i, &A, d, theta, positive); });
}

int PolderBlockFill_CUDA(const PolderRows *rows, const PetscReal d[], PetscReal theta, const PetscInt ptr[], PetscInt pair[], PetscReal strength[],
                         PolderStream stream)
{
  const PolderRows A = *rows;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) {
    if (ptr[i + 1] > ptr[i]) PolderBlockFillRow(i, &A, d, theta, ptr[i], pair, strength);
  });
}

int PolderRowsLength_CUDA(const PolderRows *A, const PolderSparseRows *C, PolderStream stream)
{
  const PetscInt *const ai = A->i, *const row = C->row;
  PetscInt *const ptr = C->ptr;

  return PolderForEach(C->n, stream, [=] __device__(PetscInt k) { ptr[k + 1] = ai[row[k] + 1] - ai[row[k]]; });
}

int PolderRowsTake_CUDA(const PolderRows *rows, const PolderSparseRows *to, PolderStream stream)
{
  const PolderRows       A = *rows;
  const PolderSparseRows C = *to;

  return PolderForEach(C.n, stream, [=] __device__(PetscInt k) { PolderRowsTakeRow(k, &A, &C); });
}

int PolderBlockSeed_CUDA(PetscInt count, const PetscInt pair[], PetscInt mark[], PolderStream stream)
{
  return PolderForEach(count, stream, [=] __device__(PetscInt k) {
    if (pair[2 * k + 1] >= 0) mark[pair[2 * k]] = mark[pair[2 * k + 1]] = 1;
  });
}

int PolderBlockSpread_CUDA(PetscInt count, const PetscInt pair[], PetscInt mark[], PetscInt *more, PolderStream stream)
{
  return PolderForEach(count, stream, [=] __device__(PetscInt k) { PolderBlockSpreadPair(pair + 2 * k, mark, more); });
}

int PolderBlockKeep_CUDA(PetscInt count, const PetscInt pair[], const PetscInt mark[], PetscInt keep[], PolderStream stream)
{
  return PolderForEach(count, stream, [=] __device__(PetscInt k) { keep[k + 1] = mark[pair[2 * k]]; });
}

int PolderBlockTake_CUDA(PetscInt count, const PetscInt pair[], const PetscReal strength[], const PetscInt number[], const PetscInt keep[], PetscInt kept[],
                         PetscReal keptstrength[], PolderStream stream)
{
  return PolderForEach(count, stream, [=] __device__(PetscInt k) {
    if (keep[k + 1] == keep[k]) return;
    PolderBlockTakePair(pair + 2 * k, number, kept + 2 * keep[k]);
    keptstrength[keep[k]] = strength[k];
  });
}

int PolderBlockMarked_CUDA(PetscInt n, const PetscInt number[], PetscInt row[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    if (number[i + 1] > number[i]) row[number[i]] = i;
  });
}
