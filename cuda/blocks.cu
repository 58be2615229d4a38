/* Device kernels for rows whose columns lie in two blocks. */
#include "foreach.cuh"
#include "kernels/blocks.h"
#include "kernels/blockrow.h"

int PolderColumnsAcross_CUDA(PetscInt nz, const PetscInt j[], const PetscInt garray[], PetscInt first, PetscInt col[], PolderStream stream)
{
  return PolderForEach(nz, stream, [=] __device__(PetscInt k) { col[k] = garray[j[k]] - first; });
}

int PolderEdgesAcross_CUDA(PolderRows B, PolderAcross across, PetscInt edge[], PolderStream stream)
{
  return PolderForEach(B.n, stream, [=] __device__(PetscInt i) { PolderEdgesAcrossRow(i, &B, &across, edge); });
}
