/* Row bodies of the label kernels that host and device share. */
#pragma once

#include "launcher.h"
#include "views.h"

/*
  The region to which row i has its strongest entry, among the regions that remain; -1 when there is none. best and found carry over to the second block of
  the row
*/
POLDER_BODY PetscInt PolderStrongestRegion(PetscInt begin, PetscInt end, const PetscInt col[], const PetscScalar val[], const PetscInt region[],
                                           PetscReal *best, PetscInt found)
{
  for (PetscInt k = begin; k < end; ++k) {
    const PetscInt  c = region[col[k]];
    const PetscReal a = PetscAbsScalar(val[k]);

    if (c >= 0 && (a > *best || (a == *best && found > c))) {
      *best = a;
      found = c;
    }
  }
  return found;
}

/* The same among the regions of its own columns and, where B has rows, of the columns of B */
POLDER_BODY PetscInt PolderRegionNext(PetscInt i, const PolderRows *A, const PolderRows *B, const PetscInt region[], const PetscInt ghost[])
{
  PetscReal      best  = 0;
  const PetscInt found = PolderStrongestRegion(A->i[i], A->i[i + 1], A->j, A->a, region, &best, -1);

  return B->i ? PolderStrongestRegion(B->i[i], B->i[i + 1], B->j, B->a, ghost, &best, found) : found;
}

/* A user's label, rounded; -2 for a value that is not a number, or too large */
POLDER_BODY PetscInt PolderLabelOfValue(PetscScalar value)
{
  const PetscReal l = PetscRealPart(value);

  return l >= -1.5 && l < 2147483646.5 ? (PetscInt)floor(l + 0.5) : -2;
}

/* Is entry (i, j) one of a stencil on the grid with the strides near[]: 1 if it has a stride 1, the smallest stride above 1, the largest stride? */
POLDER_BODY PetscBool PolderStencilFits(PetscInt i, PetscInt j, const PetscInt near[3])
{
  const PetscInt d = i < j ? j - i : i - j;

  if (d == 0) return PETSC_TRUE;
  if (d == 1) return (PetscBool)(i / near[1] == j / near[1]);
  if (d == near[1]) return (PetscBool)(near[2] == near[1] || i / near[2] == j / near[2]);
  return (PetscBool)(d == near[2]);
}

/* The box that contains coordinate x of n */
POLDER_BODY PetscInt PolderBoxOf(PetscInt x, PetscInt n, PetscInt boxes)
{
  return (PetscInt)((PetscInt64)x * boxes / n);
}
