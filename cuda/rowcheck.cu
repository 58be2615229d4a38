/* The check of the rows of a matrix, one thread a row. */
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/rowcheck.h"

int PolderRowsCheck_CUDA(const PolderRows *rows, const PolderRows *ghosts, PetscInt64 *bad, PolderStream stream)
{
  const PolderRows A = *rows, B = *ghosts;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) { PolderFirstBad(bad, PolderRowCheck(i, &A, &B)); });
}
