/* The excess of a row, the sum of its entries, kept beside a hierarchy; bodies that host and device share. */
#pragma once

#include "levelrow.h"

/*
  Where weights range over many decades, the diagonal of a coarse row, a sum of much larger entries that cancel, is rounding. It is also the excess of the row less its other entries,
  and those two sums do not cancel when the excess is not negative and the entries beside the diagonal are not positive: the excess of a coarse row is the sum of those of its rows.
  This stands for an excess that is negative or cancelled itself.
*/
#define POLDER_EXCESS_UNKNOWN (-PETSC_MAX_REAL)
/* Rounding of what the first level has in an aggregate, relative to its magnitudes. A coarse row that couples by less is left out: products with the matrix know nothing of it */
#define POLDER_EXCESS_ROUNDING (30 * PETSC_MACHINE_EPSILON)

/* From the sum of a row of the first level and of its n magnitudes; what is within rounding of zero is not negative, and is zero when the kernel is known to be there */
POLDER_LEVELROW PetscReal PolderExcessOf(PetscReal total, PetscReal all, PetscInt n, PetscBool kernel)
{
  const PetscReal rounding = (PetscReal)n * PETSC_MACHINE_EPSILON * all;

  if (total >= 0) return kernel && total <= rounding ? 0 : total;
  return total >= -rounding ? 0 : POLDER_EXCESS_UNKNOWN;
}

/* Less entries with this sum, and this sum of magnitudes, that leave the row */
POLDER_LEVELROW PetscReal PolderExcessLess(PetscReal excess, PetscReal sum, PetscReal all)
{
  const PetscReal left = excess - sum;

  return excess >= 0 && 8 * left >= excess + all ? left : POLDER_EXCESS_UNKNOWN;
}

/* The diagonal entry of a coarse row whose other entries here have this sum, and this sum of magnitudes; rounding: of what it was added up from */
POLDER_LEVELROW PetscReal PolderExcessPivot(PetscReal pivot, PetscReal excess, PetscReal sum, PetscReal all, PetscReal rounding)
{
  const PetscReal exact = PolderExcessLess(excess, sum, all), p = exact >= 0 ? exact : pivot;

  if (!(rounding <= PETSC_MAX_REAL)) return pivot; // entries that are not finite stay what they are, to be found
  return p <= rounding && p >= -rounding ? 0 : p;
}

/* Row i of the first level, its local part: excess and size, both still sums */
POLDER_LEVELROW void PolderExcessLook(PetscInt i, const PetscInt ai[], const PetscScalar aa[], PetscReal excess[], PetscReal size[])
{
  PetscReal total = 0, all = 0;

  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
    const PetscReal a = PetscRealPart(aa[k]);

    total += a;
    all += a < 0 ? -a : a;
  }
  excess[i] = total;
  size[i]   = all;
}

/* Aggregate a of n; entries to rows in no aggregate, which are the last of the members, leave it */
POLDER_LEVELROW void PolderExcessSum(PetscInt a, PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscReal excess[], const PetscReal size[], PetscReal coarse[], PetscReal coarsesize[])
{
  const PetscBool lone = (PetscBool)(ptr[n + 1] > ptr[n]);
  PetscReal       sum = 0, all = 0, to = 0, toall = 0;

  for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
    const PetscInt i = row[r];

    sum += excess[i];
    all += size[i];
    for (PetscInt k = ai[i]; lone && k < ai[i + 1]; ++k) {
      const PetscReal v = PetscRealPart(aa[k]);

      if (agg[aj[k]] < n) continue;
      to += v;
      toall += v < 0 ? -v : v;
    }
  }
  coarse[a]     = toall > 0 ? PolderExcessLess(sum, to, toall) : sum;
  coarsesize[a] = all;
}

/* The diagonal entry of row i */
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
