/* Compressed rows from rows packed by diagonals. */
#include "foreach.cuh"
#include "module.cuh"
#include "kernels/packedrow.h"

int PolderUnpackCounts_CUDA(const PolderPacked *packing, const void *packed, PetscInt ai[], PolderStream stream)
{
  const PolderPacked P = *packing;

  return PolderForEach(P.m + 1, stream, [=] __device__(PetscInt i) { ai[i] = i < P.m ? PolderPackedCount(PolderPackedBits(&P, packed, i)) : 0; });
}

int PolderUnpackRows_CUDA(const PolderPacked *packing, const void *packed, const PetscInt ai[], PetscInt aj[], PetscScalar aa[], PolderStream stream)
{
  const PolderPacked P = *packing;

  return PolderForEach(P.m, stream, [=] __device__(PetscInt i) { PolderUnpackRow(&P, packed, i, ai[i], aj, aa); });
}

POLDER_MODULE(Packed)
