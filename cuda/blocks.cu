/* Device kernels for rows whose columns lie in two blocks. */
#include "foreach.cuh"
#include "kernels/blocks.h"
#include "kernels/blockrow.h"

int PolderBlocksJoin_CUDA(PolderRows A, PolderRows B, PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream)
{
  const PetscInt m = A.n;

  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    if (i == 0) ptr[0] = 0;
    ptr[i + 1] = A.i[i + 1] + B.i[i + 1];
    PolderBlocksJoinRow(i, m, &A, &B, col, val);
  });
}

int PolderEdgesAcross_CUDA(PolderRows B, PolderAcross across, PetscInt edge[], PolderStream stream)
{
  return PolderForEach(B.n, stream, [=] __device__(PetscInt i) { PolderEdgesAcrossRow(i, &B, &across, edge); });
}
