/* Rows with few neighbours, see eliminate.h. */
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/eliminate.h"

int PolderShortRows_CUDA(PetscInt n, const PetscInt ai[], const PetscInt bi[], PetscInt most, PetscInt *count, PolderStream stream)
{
  const int err = cudaMemsetAsync(count, 0, sizeof(*count), stream);

  return err ? err : PolderForEach(n, stream, [=] __device__(PetscInt i) {
    if (ai[i + 1] - ai[i] > 1 && PolderShortRow(i, ai, bi, most)) atomicAdd((PolderAtomicIndex *)count, (PolderAtomicIndex)1);
  });
}
