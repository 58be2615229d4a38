/* Numbers that look random. */
#include "foreach.cuh"
#include "kernels/shadow.h"

int PolderShadowFill_CUDA(PetscInt seed, PetscInt column, PetscInt first, PetscInt n, PetscScalar a[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) { a[i] = PolderShadowNumber(seed, column, first + i); });
}
