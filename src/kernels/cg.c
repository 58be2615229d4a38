/* Host kernel for the vector updates of a step of conjugate gradients. */
#include "cg.h"

PetscReal PolderCGUpdate_Host(PetscInt n, PetscScalar alpha, const PetscScalar *restrict p, const PetscScalar *restrict w, PetscScalar *restrict x,
                              PetscScalar *restrict r)
{
  enum {
    LANES = 8
  };
  PetscReal sum[LANES] = {0}, total = 0;
  PetscInt  i;

  for (i = 0; i + LANES <= n; i += LANES) {
    for (int l = 0; l < LANES; ++l) {
      x[i + l] += alpha * p[i + l];
      r[i + l] -= alpha * w[i + l];
      sum[l] += r[i + l] * r[i + l];
    }
  }
  for (int l = 0; l < LANES; ++l) total += sum[l];
  for (; i < n; ++i) {
    x[i] += alpha * p[i];
    r[i] -= alpha * w[i];
    total += r[i] * r[i];
  }
  return total;
}
