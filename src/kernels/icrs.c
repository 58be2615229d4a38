/* Products with interleaved compressed rows: slices of POLDER_ICRS_ROWS rows, in which the k-th entries of all rows are adjacent. */
#include "slices.h"

/* Prefetch distance in entries */
#define POLDER_ICRS_AHEAD 1024

void PolderIcrsMult_Host(PetscInt m, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscScalar alpha, const PetscScalar x[],
                         const PetscScalar y[], PetscScalar z[])
{
  for (PetscInt r0 = 0, s = 0; r0 < m; r0 += POLDER_ICRS_ROWS, ++s) {
    const PetscInt     len                   = m - r0 < POLDER_ICRS_ROWS ? m - r0 : POLDER_ICRS_ROWS;
    const PetscInt    *c                     = col + (size_t)POLDER_ICRS_ROWS * ptr[s];
    const PetscScalar *v                     = val + (size_t)POLDER_ICRS_ROWS * ptr[s];
    PetscScalar        sum[POLDER_ICRS_ROWS] = {0.0};

    for (PetscInt k = ptr[s]; k < ptr[s + 1]; ++k, c += POLDER_ICRS_ROWS, v += POLDER_ICRS_ROWS) {
      __builtin_prefetch(v + POLDER_ICRS_AHEAD);
      __builtin_prefetch(c + POLDER_ICRS_AHEAD);
      for (int r = 0; r < POLDER_ICRS_ROWS; ++r) sum[r] += v[r] * x[c[r]];
    }
    for (PetscInt r = 0; r < len; ++r) z[r0 + r] = (y ? y[r0 + r] : 0.0) + alpha * sum[r];
  }
}
