/* The rows of one process of a matrix on a grid by directions, one thread for each row. */
#include "count.cuh"
#include "kernels/rrb.h"

struct RRBEntries {
  PetscScalar *a[POLDER_RRB_DIRECTIONS];
};

/* Puts one entry in its place, in registers; returns bits RRB_SEEN_... */
static __device__ __forceinline__ int RRBOwnEntry(int to, PetscScalar value, PetscScalar (&a)[POLDER_RRB_DIRECTIONS])
{
  if (value == 0) return 0;
#pragma unroll
  for (int d = 0; d < POLDER_RRB_DIRECTIONS; ++d)
    if (d == to) a[d] = value;
  return to < 0 ? RRB_SEEN_BAD : to == RRB_TO_NE || to == RRB_TO_SE || to == RRB_TO_NW || to == RRB_TO_SW ? RRB_SEEN_NINE : 0;
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderRRBOwnRowsKernel(const __grid_constant__ PolderRRBOwn own, const __grid_constant__ PolderRows rows, const __grid_constant__ PolderRows ghosts,
                         const PetscInt *__restrict__ node, const __grid_constant__ RRBEntries entry, int *seen)
{
  const PetscInt i                        = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);
  PetscScalar    a[POLDER_RRB_DIRECTIONS] = {};
  int            bits                     = 0;

  if (i < rows.n) {
    for (PetscInt k = rows.i[i]; k < rows.i[i + 1]; ++k) bits |= RRBOwnEntry(PolderRRBDirectionOwn(&own, i, rows.j[k]), rows.a[k], a);
    for (PetscInt k = ghosts.i ? ghosts.i[i] : 0; ghosts.i && k < ghosts.i[i + 1]; ++k) {
      const PetscInt j = node[ghosts.j[k]];

      bits |= RRBOwnEntry(PolderRRBDirectionFrom(&own, i, j % own.nx, j / own.nx), ghosts.a[k], a);
    }
#pragma unroll
    for (int d = 0; d < POLDER_RRB_DIRECTIONS; ++d)
      if (entry.a[d]) entry.a[d][i] = a[d];
  }
  PolderTell(bits, seen);
}

int PolderRRBOwnRows_CUDA(const PolderRRBOwn *own, PolderRows rows, PolderRows ghosts, const PetscInt node[], PetscScalar *const entry[], int *seen,
                          PolderStream stream)
{
  RRBEntries to;

  for (int d = 0; d < POLDER_RRB_DIRECTIONS; ++d) to.a[d] = entry[d];
  if (rows.n) PolderRRBOwnRowsKernel<<<PolderBlocks(rows.n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*own, rows, ghosts, node, to, seen);
  return cudaGetLastError();
}
