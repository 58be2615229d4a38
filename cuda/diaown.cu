/* Diagonals of a matrix of all processes from the rows of one. */
#include "launch.cuh"
#include "kernels/dia.h"

struct DiaOwn {
  int          nd;
  PetscInt     off[POLDER_DIA_OWN];
  PetscScalar *val[POLDER_DIA_OWN];
};

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderDiaOwnRowsKernel(const __grid_constant__ DiaOwn D, const __grid_constant__ PolderRows rows, const __grid_constant__ PolderRows ghosts,
                         const PetscInt *__restrict__ garray, PetscInt start)
{
  const PetscInt i = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x);

  if (i >= rows.n) return;
  for (int d = 0; d < D.nd; ++d) { // the few entries of a row stay in the cache
    PetscScalar value = 0;

    for (PetscInt k = rows.i[i]; k < rows.i[i + 1]; ++k)
      if (rows.j[k] - i == D.off[d]) value = rows.a[k];
    for (PetscInt k = ghosts.i ? ghosts.i[i] : 0; ghosts.i && k < ghosts.i[i + 1]; ++k)
      if (garray[ghosts.j[k]] - start - i == D.off[d]) value = ghosts.a[k];
    D.val[d][i] = value;
  }
}

int PolderDiaOwnRows_CUDA(const PolderDia *D, PetscScalar *const val[], PolderRows rows, PolderRows ghosts, const PetscInt garray[], PetscInt start,
                          PolderStream stream)
{
  DiaOwn own = {};

  if (D->nd > POLDER_DIA_OWN) return cudaErrorInvalidValue;
  own.nd = (int)D->nd;
  for (int d = 0; d < own.nd; ++d) {
    own.off[d] = D->off[d];
    own.val[d] = val[d];
  }
  if (rows.n) PolderDiaOwnRowsKernel<<<PolderBlocks(rows.n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(own, rows, ghosts, garray, start);
  return cudaGetLastError();
}
