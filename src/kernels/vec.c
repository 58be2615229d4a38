/* Host kernels for vectors. */
#include "vec.h"

PetscReal PolderDot_Host(PetscInt n, const PetscScalar *restrict x, const PetscScalar *restrict y)
{
  enum {
    LANES = 32
  };
  PetscReal sum[LANES] = {0}, total = 0;
  PetscInt  i;

  for (i = 0; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; ++l) sum[l] += x[i + l] * y[i + l];
  for (int l = 0; l < LANES; ++l) total += sum[l];
  for (; i < n; ++i) total += x[i] * y[i];
  return total;
}

void PolderCombine_Host(PetscInt n, const PolderTerms *terms, PetscScalar y[])
{
  for (PetscInt i = 0; i < n; ++i) {
    PetscScalar sum = terms->own != 0 ? terms->own * y[i] : 0;

    for (PetscInt k = 0; k < terms->count; ++k) sum += terms->a[k] * terms->x[k][i];
    y[i] = sum;
  }
}

void PolderReciprocal_Host(PetscInt n, PetscScalar zero, const PetscScalar x[], PetscScalar y[])
{
  for (PetscInt i = 0; i < n; ++i) y[i] = x[i] != 0 ? 1 / x[i] : zero;
}
