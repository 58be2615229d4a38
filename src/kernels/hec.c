/* The ELL part of HEC: entry k of row i is at k * ld + i. PolderRowsMultAdd_Host() adds the overflow entries. */
#include "slices.h"

/* Rows whose sums are kept in registers together */
#define POLDER_ELL_ROWS 8
/* Prefetch distance in rows: the hardware does not prefetch two streams a column by itself */
#define POLDER_ELL_AHEAD 128

void PolderEllMult_Host(PolderEll A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  const PetscInt     m = A.m, width = A.width, ld = A.ld, *col = A.col;
  const PetscScalar *val = A.val;
  PetscInt           r0  = 0;

  for (; r0 + POLDER_ELL_ROWS <= m; r0 += POLDER_ELL_ROWS) {
    PetscScalar s[POLDER_ELL_ROWS] = {0.0};

    for (PetscInt k = 0; k < width; ++k) {
      const PetscInt    *c = col + (size_t)ld * k + r0;
      const PetscScalar *v = val + (size_t)ld * k + r0;

      __builtin_prefetch(v + POLDER_ELL_AHEAD);
      __builtin_prefetch(c + POLDER_ELL_AHEAD);
      for (int r = 0; r < POLDER_ELL_ROWS; ++r) s[r] += v[r] * x[c[r]];
    }
    for (int r = 0; r < POLDER_ELL_ROWS; ++r) z[r0 + r] = (y ? y[r0 + r] : 0.0) + alpha * s[r];
  }
  for (; r0 < m; ++r0) {
    PetscScalar s = 0.0;

    for (PetscInt k = 0; k < width; ++k) s += val[(size_t)ld * k + r0] * x[col[(size_t)ld * k + r0]];
    z[r0] = (y ? y[r0] : 0.0) + alpha * s;
  }
}
