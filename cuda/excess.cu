/* The excess of the rows of a hierarchy, and the diagonal of its coarse rows computed from it, as on the host (src/kernels/excess.c). */
#include "kernels/excess.h"
#include "foreach.cuh"
#include "kernels/excessrow.h"

int PolderExcessRows_CUDA(PetscInt n, const PetscInt ai[], PetscBool kernel, const PetscReal sum[], const PetscReal size[], PetscReal excess[],
                          PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) { excess[i] = PolderExcessOf(sum[i], size[i], ai[i + 1] - ai[i] + 1, kernel); });
}

int PolderExcessAggregates_CUDA(const PolderAggregates *aggregates, const PolderRows *rows, const PetscReal excess[], const PetscReal size[],
                                PetscReal coarse[], PetscReal coarsesize[], PolderStream stream)
{
  const PolderAggregates P = *aggregates;
  const PolderRows       A = *rows;

  return PolderForEach(P.n, stream, [=] __device__(PetscInt a) { PolderExcessSum(a, &P, &A, excess, size, coarse, coarsesize); });
}

int PolderExcessDiagonal_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[], PetscScalar aa[],
                              PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) { PolderExcessMend(i, ai, aj, excess, size, aa); });
}
