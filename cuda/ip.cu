/* Rows of the incomplete Poisson preconditioner, one thread a row. */
#include "foreach.cuh"
#include "kernels/ip.h"

int PolderIpRows_CUDA(const PolderIp *rows, const PetscScalar aa[], const PetscScalar ba[], const PetscScalar d[], PetscScalar val[], PolderStream stream)
{
  const PolderIp P = *rows;

  return PolderForEach(P.n, stream, [=] __device__(PetscInt i) { PolderIpRow(&P, i, aa, ba, d, val); });
}
