/* Device kernels for rows whose columns lie in two blocks. */
#include "foreach.cuh"
#include "kernels/blocks.h"
#include "kernels/blockrow.h"

/* The last of n rows whose entries begin at or before entry k; ptr is in shared memory */
static __device__ __forceinline__ PetscInt PolderRowOfEntry(PetscInt n, const PetscInt *ptr, PetscInt k)
{
  PetscInt lo = 0, hi = n;

  while (hi - lo > 1) {
    const PetscInt mid = (lo + hi) / 2;

    if (ptr[mid] <= k) lo = mid;
    else hi = mid;
  }
  return lo;
}

/* A block has POLDER_BLOCK rows; its threads go over their entries in the order of memory */
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderBlocksJoinKernel(const PolderRows A, const PolderRows B, PetscInt *__restrict__ ptr, PetscInt *__restrict__ col, PetscScalar *__restrict__ val)
{
  __shared__ PetscInt ai[POLDER_BLOCK + 1], bi[POLDER_BLOCK + 1];
  const PetscInt      first = (PetscInt)blockIdx.x * POLDER_BLOCK, n = PetscMin(A.n - first, POLDER_BLOCK), t = (PetscInt)threadIdx.x;

  if (t < n) {
    ai[t] = A.i[first + t];
    bi[t] = B.i[first + t];
  }
  if (t == 0) {
    ai[n] = A.i[first + n];
    bi[n] = B.i[first + n];
  }
  __syncthreads();
  if (t < n) ptr[first + t + 1] = ai[t + 1] + bi[t + 1];
  if (first + t == 0) ptr[0] = 0;
  if (bi[n] == bi[0]) { // rows without columns of B: no entry has to look for its row
    for (PetscInt k = ai[0] + t; k < ai[n]; k += POLDER_BLOCK) {
      col[k + bi[0]] = A.j[k];
      val[k + bi[0]] = A.a[k];
    }
    return;
  }
  for (PetscInt k = ai[0] + t; k < ai[n]; k += POLDER_BLOCK) {
    const PetscInt at = k + bi[PolderRowOfEntry(n, ai, k)];

    col[at] = A.j[k];
    val[at] = A.a[k];
  }
  for (PetscInt k = bi[0] + t; k < bi[n]; k += POLDER_BLOCK) {
    const PetscInt at = k + ai[PolderRowOfEntry(n, bi, k) + 1];

    col[at] = A.n + B.j[k];
    val[at] = B.a[k];
  }
}

int PolderBlocksJoin_CUDA(PolderRows A, PolderRows B, PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream)
{
  if (A.n) PolderBlocksJoinKernel<<<PolderBlocks(A.n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(A, B, ptr, col, val);
  return cudaGetLastError();
}

int PolderColumnsAcross_CUDA(PetscInt nz, const PetscInt j[], const PetscInt garray[], PetscInt first, PetscInt col[], PolderStream stream)
{
  return PolderForEach(nz, stream, [=] __device__(PetscInt k) { col[k] = garray[j[k]] - first; });
}

int PolderEdgesAcross_CUDA(PolderRows B, PolderAcross across, PetscInt edge[], PolderStream stream)
{
  return PolderForEach(B.n, stream, [=] __device__(PetscInt i) { PolderEdgesAcrossRow(i, &B, &across, edge); });
}
