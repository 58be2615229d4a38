/* Row bodies of the parts of a matrix that is not symmetric, which host and device share. */
#pragma once

#include "pairrow.h"
#include "rowseek.h"
#include "skew.h"

POLDER_BODY PetscReal PolderSize(PetscReal a)
{
  return a < 0 ? -a : a;
}

POLDER_BODY PetscReal PolderLarger(PetscReal a, PetscReal b)
{
  return a > b ? a : b;
}

/* The position of column c in row r, whose columns ascend, or -1 */
POLDER_BODY PetscInt PolderRowFind(PetscInt r, PetscInt c, const PolderRows *A)
{
  const PetscInt end = A->i[r + 1], at = PolderRowSeek(A->j, A->i[r], end, c);

  return at < end && A->j[at] == c ? at : -1;
}

/* Row i of the symmetric part; is a partner missing? */
POLDER_BODY unsigned PolderSymmetricPartRow(PetscInt i, const PolderRows *A, const PetscReal sum[], PetscScalar s[], PetscReal mean[])
{
  unsigned  missing = 0;
  PetscReal more    = 0;

  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    const PetscInt at = PolderRowFind(A->j[k], i, A);

    if (at < 0) missing = 1;
    s[k] = (A->a[k] + (at < 0 ? 0 : A->a[at])) / 2;
    more += PetscRealPart(s[k] - A->a[k]);
  }
  if (mean) mean[i] = sum[i] + more;
  return missing;
}

POLDER_BODY void PolderSoftenRow(PetscInt i, const PolderRows *A, PetscReal factor, const PetscScalar soft[], PetscScalar c[])
{
  PetscInt  diagonal = -1;
  PetscReal change   = 0;

  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    const PetscInt  at = PolderRowFind(A->j[k], i, A);
    const PetscReal a = PetscRealPart(A->a[k]), b = at < 0 ? 0 : PetscRealPart(A->a[at]), s = -(a + b) / 2, t = (a - b) / 2;

    c[k] = A->a[k];
    if (A->j[k] == i) diagonal = k;
    else if (PolderSize(t) < s) {
      c[k] = t - PolderLarger(soft ? -PetscRealPart(soft[k]) : s / factor, PolderSize(t));
      change += a - PetscRealPart(c[k]);
    }
  }
  if (diagonal >= 0) c[diagonal] += change;
}

/* Bit 0: an entry of row i differs from its partner by more than rounding of the largest entry; bit 1: their ratio is large */
POLDER_BODY unsigned PolderSkewRow(PetscInt i, const PolderRows *A)
{
  PetscReal largest = 0, most = 0;
  unsigned  jumps = 0;

  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    const PetscInt  at = PolderRowFind(A->j[k], i, A);
    const PetscReal a = PetscRealPart(A->a[k]), b = at < 0 ? 0 : PetscRealPart(A->a[at]);

    largest = PolderLarger(largest, PolderSize(a));
    most    = PolderLarger(most, PolderSize(a - b));
    if (a * b > 0 && (a / b > POLDER_JUMP || b / a > POLDER_JUMP)) jumps = 2;
  }
  return jumps | (most > POLDER_SKEW * largest);
}
