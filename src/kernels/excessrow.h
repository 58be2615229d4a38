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
POLDER_BODY PetscReal PolderExcessOf(PetscReal total, PetscReal all, PetscInt n, PetscBool kernel)
{
  const PetscReal rounding = (PetscReal)n * PETSC_MACHINE_EPSILON * all;

  if (total >= 0) return kernel && total <= rounding ? 0 : total;
  return total >= -rounding ? 0 : POLDER_EXCESS_UNKNOWN;
}

/* The excess minus that of entries that leave the row, given their sum and the sum of their magnitudes */
POLDER_BODY PetscReal PolderExcessLess(PetscReal excess, PetscReal sum, PetscReal all)
{
  const PetscReal left = excess - sum;

  return excess >= 0 && 8 * left >= excess + all ? left : POLDER_EXCESS_UNKNOWN;
}

/* Adds an entry to a sum of entries and to one of their magnitudes */
POLDER_BODY void PolderExcessAdd(PetscReal a, PetscReal sums[2])
{
  sums[0] += a;
  sums[1] += a < 0 ? -a : a;
}

/* The excess of coarse row i without that of its entries to rows in no aggregate, lone[], and in here[] without that of its off-process entries, outer[] */
POLDER_BODY void PolderExcessLeaveRow(PetscInt i, const PetscReal lone[2], const PetscReal outer[2], PetscReal excess[], PetscReal here[])
{
  if (lone[1] > 0) excess[i] = PolderExcessLess(excess[i], lone[0], lone[1]);
  here[i] = PolderExcessLess(excess[i], outer[0], outer[1]);
}

/* The diagonal entry of a coarse row, given the sum of its other entries here and of their magnitudes; rounding: that of the summands of the excess */
POLDER_BODY PetscReal PolderExcessPivot(PetscReal pivot, PetscReal excess, PetscReal sum, PetscReal all, PetscReal rounding)
{
  const PetscReal exact = PolderExcessLess(excess, sum, all), p = exact >= 0 ? exact : pivot;

  if (!(rounding <= PETSC_MAX_REAL)) return pivot; // entries that are not finite are kept, so that they are detected
  return p <= rounding && p >= -rounding ? 0 : p;
}

/*
  What lane of so many adds to part[] for aggregate a: the excess and the size of its rows, the entries to rows in no aggregate and their magnitudes
*/
POLDER_BODY void PolderExcessParts(PetscInt a, const PolderAggregates *P, const PolderRows *A, const PetscReal excess[], const PetscReal size[], int lane,
                                   int lanes, PetscReal part[4])
{
  const PetscBool lone = (PetscBool)(P->ptr[P->n + 1] > P->ptr[P->n]);

  for (PetscInt r = P->ptr[a]; r < P->ptr[a + 1]; ++r) {
    const PetscInt i = P->row[r];

    if (lane == 0) {
      part[0] += excess[i];
      part[1] += size[i];
    }
    for (PetscInt k = A->i[i] + lane; lone && k < A->i[i + 1]; k += lanes) {
      if (P->agg[A->j[k]] >= P->n) PolderExcessAdd(PetscRealPart(A->a[k]), part + 2);
    }
  }
}

/* Excess of aggregate a from the sums of these parts; entries to rows in no aggregate are subtracted */
POLDER_BODY void PolderExcessPut(PetscInt a, const PetscReal part[4], PetscReal coarse[], PetscReal coarsesize[])
{
  coarse[a]     = part[3] > 0 ? PolderExcessLess(part[0], part[2], part[3]) : part[0];
  coarsesize[a] = part[1];
}

/* What lane of so many adds to part[] for row i: its other entries and their magnitudes. *at <- where the diagonal entry is, if this lane meets it */
POLDER_BODY void PolderExcessOthers(PetscInt i, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], int lane, int lanes, PetscReal part[2],
                                    PetscInt *at)
{
  for (PetscInt k = ai[i] + lane; k < ai[i + 1]; k += lanes) {
    if (aj[k] == i) *at = k;
    else PolderExcessAdd(PetscRealPart(aa[k]), part);
  }
}

/* Replaces the diagonal entry of row i, given the sums of these parts */
POLDER_BODY void PolderExcessMend(PetscInt i, const PetscReal part[2], const PetscReal excess[], const PetscReal size[], PetscScalar *diagonal)
{
  *diagonal = PolderExcessPivot(PetscRealPart(*diagonal), excess[i], part[0], part[1], POLDER_EXCESS_ROUNDING * size[i]);
}
