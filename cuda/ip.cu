/* Rows of the incomplete Poisson preconditioner, one thread a row. */
#include "foreach.cuh"
#include "kernels/ip.h"

int PolderIpRows_CUDA(const PolderIp *matrix, PolderRows rows, PolderRows ghosts, const PetscScalar d[], PetscScalar val[], PolderStream stream)
{
  const PolderIp P = *matrix;

  return PolderForEach(P.n, stream, [=] __device__(PetscInt i) { PolderIpRow(&P, i, &rows, &ghosts, d, val); });
}
