/* The parts of a matrix that is not symmetric, one thread a row. */
#include "count.cuh"
#include "foreach.cuh"
#include "kernels/skewrow.h"

int PolderSymmetricPart_CUDA(const PolderRows *rows, const PetscReal sum[], PetscScalar s[], PetscReal mean[], PetscInt *missing, PolderStream stream)
{
  const PolderRows A = *rows;

  return PolderCountBits<1>(A.n, missing, stream, [=] __device__(PetscInt i) { return PolderSymmetricPartRow(i, &A, sum, s, mean); });
}

int PolderSoften_CUDA(const PolderRows *rows, PetscReal factor, const PetscScalar soft[], PetscScalar c[], PolderStream stream)
{
  const PolderRows A = *rows;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) { PolderSoftenRow(i, &A, factor, soft, c); });
}

int PolderSkewRows_CUDA(const PolderRows *rows, PetscInt step, PetscInt count[], PolderStream stream)
{
  const PolderRows A = *rows;

  return PolderCountBits<2>((A.n + step - 1) / step, count, stream, [=] __device__(PetscInt r) { return PolderSkewRow(r * step, &A); });
}
