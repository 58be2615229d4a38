/* The excess of a row, the sum of its entries, which a hierarchy keeps for each row; row bodies that host and device share. */
#pragma once

#include "levelrow.h"

/*
  Where weights range over many decades, the diagonal of a coarse row is a sum of much larger entries that cancel, and only rounding is left of it. The
  diagonal also equals the excess of the row minus its other entries. Neither sum cancels when the excess is not negative and the off-diagonal entries are not
  positive: the excess of a coarse row is the sum of the excesses of its rows.
  This value marks an excess that is negative or was itself lost by cancellation.
*/
#define POLDER_EXCESS_UNKNOWN (-PETSC_MAX_REAL)
/*
  Relative rounding error of first-level rows within an aggregate. Coarse rows with smaller couplings are left out: they are below the rounding errors of
  products with the matrix
*/
#define POLDER_EXCESS_ROUNDING (100 * PETSC_MACHINE_EPSILON)

/*
  The excess from the sum of a row of the first level and the sum of its n magnitudes. A value within rounding of zero is not negative; it is zero if the
  constant is known to be in the kernel
*/
POLDER_LEVELROW PetscReal PolderExcessOf(PetscReal total, PetscReal all, PetscInt n, PetscBool kernel)
{
  const PetscReal rounding = (PetscReal)n * PETSC_MACHINE_EPSILON * all;

  if (total >= 0) return kernel && total <= rounding ? 0 : total;
  return total >= -rounding ? 0 : POLDER_EXCESS_UNKNOWN;
}

/* The excess minus that of entries that leave the row, given their sum and the sum of their magnitudes */
POLDER_LEVELROW PetscReal PolderExcessLess(PetscReal excess, PetscReal sum, PetscReal all)
{
  const PetscReal left = excess - sum;

  return excess >= 0 && 8 * left >= excess + all ? left : POLDER_EXCESS_UNKNOWN;
}

/* Adds an entry to a sum of entries and to one of their magnitudes */
POLDER_LEVELROW void PolderExcessAdd(PetscReal a, PetscReal sums[2])
{
  sums[0] += a;
  sums[1] += a < 0 ? -a : a;
}

/* The excess of coarse row i without that of its entries to rows in no aggregate, lone[], and in here[] without that of its off-process entries, outer[] */
POLDER_LEVELROW void PolderExcessLeaveRow(PetscInt i, const PetscReal lone[2], const PetscReal outer[2], PetscReal excess[], PetscReal here[])
{
  if (lone[1] > 0) excess[i] = PolderExcessLess(excess[i], lone[0], lone[1]);
  here[i] = PolderExcessLess(excess[i], outer[0], outer[1]);
}

/* The diagonal entry of a coarse row, given the sum of its other entries here and of their magnitudes; rounding: that of the summands of the excess */
POLDER_LEVELROW PetscReal PolderExcessPivot(PetscReal pivot, PetscReal excess, PetscReal sum, PetscReal all, PetscReal rounding)
{
  const PetscReal exact = PolderExcessLess(excess, sum, all), p = exact >= 0 ? exact : pivot;

  if (!(rounding <= PETSC_MAX_REAL)) return pivot; // entries that are not finite are kept, so that they are detected
  return p <= rounding && p >= -rounding ? 0 : p;
}

/* Excess of aggregate a; entries to rows in no aggregate are subtracted */
POLDER_LEVELROW void PolderExcessSum(PetscInt a, const PolderAggregates *P, const PolderRows *A, const PetscReal excess[], const PetscReal size[],
                                     PetscReal coarse[], PetscReal coarsesize[])
{
  const PetscBool lone = (PetscBool)(P->ptr[P->n + 1] > P->ptr[P->n]);
  PetscReal       sum = 0, all = 0, to = 0, toall = 0;

  for (PetscInt r = P->ptr[a]; r < P->ptr[a + 1]; ++r) {
    const PetscInt i = P->row[r];

    sum += excess[i];
    all += size[i];
    for (PetscInt k = A->i[i]; lone && k < A->i[i + 1]; ++k) {
      const PetscReal v = PetscRealPart(A->a[k]);

      if (P->agg[A->j[k]] < P->n) continue;
      to += v;
      toall += v < 0 ? -v : v;
    }
  }
  coarse[a]     = toall > 0 ? PolderExcessLess(sum, to, toall) : sum;
  coarsesize[a] = all;
}

/* Replaces the diagonal entry of row i */
POLDER_LEVELROW void PolderExcessMend(PetscInt i, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[], PetscScalar aa[])
{
  PetscReal sum = 0, all = 0;
  PetscInt  at = -1;

  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
    const PetscReal a = PetscRealPart(aa[k]);

    if (aj[k] == i) at = k;
    else {
      sum += a;
      all += a < 0 ? -a : a;
    }
  }
  if (at >= 0) aa[at] = PolderExcessPivot(PetscRealPart(aa[at]), excess[i], sum, all, POLDER_EXCESS_ROUNDING * size[i]);
}
