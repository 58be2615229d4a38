/* Products with a matrix stored by diagonals: val[d][i] is entry (i, i + off[d]). */
#include "kernels.h"

/* Rows that are worked on together: their sums stay in the first-level cache while all diagonals pass */
#define POLDER_DIA_ROWS 1024

/* s[i] = or += v[i] x[i] for the rows lo .. hi of a block that starts at row r0 */
static inline void DiaOne(PetscInt lo, PetscInt hi, const PetscScalar *restrict v, const PetscScalar *restrict x, PetscScalar *restrict s)
{
  for (PetscInt i = lo; i < hi; ++i) s[i] += v[i] * x[i];
}

static inline void DiaFour(PetscInt lo, PetscInt hi, const PetscScalar *const v[], const PetscScalar *const x[], PetscScalar *restrict s)
{
  const PetscScalar *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3];
  const PetscScalar *restrict x0 = x[0], *restrict x1 = x[1], *restrict x2 = x[2], *restrict x3 = x[3];

  for (PetscInt i = lo; i < hi; ++i) s[i] = (((s[i] + v0[i] * x0[i]) + v1[i] * x1[i]) + v2[i] * x2[i]) + v3[i] * x3[i];
}

/* s[0 .. len) = the rows r0 .. r0 + len of A x, each summed in the order of the diagonals */
static void DiaRows(PetscInt r0, PetscInt len, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscScalar x[], PetscScalar *restrict s)
{
  PetscInt d = 0;

  for (PetscInt i = 0; i < len; ++i) s[i] = 0.0;
  while (d < nd) {
    if (d + 4 <= nd && r0 + off[d] >= 0 && r0 + len + off[d + 3] <= n) {
      const PetscScalar *v[4], *w[4];

      for (PetscInt k = 0; k < 4; ++k) {
        v[k] = val[d + k] + r0;
        w[k] = x + r0 + off[d + k];
      }
      DiaFour(0, len, v, w, s);
      d += 4;
    } else {
      const PetscInt lo = r0 + off[d] < 0 ? -off[d] - r0 : 0, hi = r0 + len + off[d] > n ? n - off[d] - r0 : len;

      if (lo < hi) DiaOne(lo, hi, val[d] + r0, x + r0 + off[d], s);
      ++d;
    }
  }
}

void PolderDiaMult_Host(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[])
{
  PetscScalar s[POLDER_DIA_ROWS];

  for (PetscInt r0 = 0; r0 < m; r0 += POLDER_DIA_ROWS) {
    const PetscInt len = m - r0 < POLDER_DIA_ROWS ? m - r0 : POLDER_DIA_ROWS;

    DiaRows(r0, len, n, nd, off, val, x, s);
    if (y) {
      for (PetscInt i = 0; i < len; ++i) z[r0 + i] = y[r0 + i] + alpha * s[i];
    } else {
      for (PetscInt i = 0; i < len; ++i) z[r0 + i] = alpha * s[i];
    }
  }
}
