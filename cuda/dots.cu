/* Inner products of one vector with two or more. */
#include "dots.cuh"

/* At most N products */
template <int N>
static int PolderDotsUpTo(PetscInt n, PetscInt count, const PetscScalar x[], const PetscScalar *const y[], const PolderDotsTo *to, void *work,
                          PolderStream stream)
{
  if constexpr (N > 2) {
    if (count < N) return PolderDotsUpTo<N - 1>(n, count, x, y, to, work, stream);
  }
  return PolderDots<N>(n, x, y, to, work, stream);
}

int PolderDotsMore(PetscInt n, PetscInt count, const PetscScalar x[], const PetscScalar *const y[], const PolderDotsTo *to, void *work, PolderStream stream)
{
  return PolderDotsUpTo<POLDER_DOTS>(n, count, x, y, to, work, stream);
}
