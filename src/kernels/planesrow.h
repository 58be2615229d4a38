/* Bodies for the entries and boxes of planes that host and device share. */
#pragma once

#include "levelrow.h"
#include "planes.h"

/* The row of entry k */
POLDER_BODY PetscInt PolderPlanesRow(PetscInt k, const PolderPlanes *at)
{
  return k < at->below ? k : at->n - at->below - at->above + k;
}

POLDER_BODY void PolderPlanesEntry(PetscInt k, const PolderPlanes *at, const PolderSparseRows *O)
{
  O->row[k]     = PolderPlanesRow(k, at);
  O->col[k]     = k;
  O->ptr[k + 1] = k + 1;
}

/* The cells of a box that begins at cell x of n */
POLDER_BODY PetscInt PolderPlanesSpan(PetscInt x, PetscInt join, PetscInt n)
{
  return x + join < n ? 1 + join : 1;
}

/* Box t of both planes */
POLDER_BODY void PolderPlanesBox(PetscInt t, const PolderPlanesLevels *L, PetscInt target[], const PolderAggregates *P)
{
  const PetscInt upper = t >= L->coarse.below, box = upper ? t - L->coarse.below : t, first = upper ? L->fine.below : 0;
  const PetscInt x = box % L->boxes << L->along, y = box / L->boxes << L->across;
  const PetscInt width = PolderPlanesSpan(x, L->along, L->wide), height = PolderPlanesSpan(y, L->across, L->high);
  PetscInt       to = first + L->wide * y + height * x;

  target[t] = PolderPlanesRow(t, &L->coarse);
  P->ptr[t] = to;
  for (PetscInt dy = 0; dy < height; ++dy) {
    for (PetscInt dx = 0; dx < width; ++dx) P->row[to++] = first + L->wide * (y + dy) + x + dx;
  }
  if (t == L->coarse.below + L->coarse.above - 1) P->ptr[t + 1] = P->ptr[t + 2] = to; // all rows are in aggregates
}

POLDER_BODY PetscScalar PolderPlanesSum(PetscInt t, const PolderAggregates *P, const PetscScalar from[])
{
  PetscScalar sum = 0;

  for (PetscInt k = P->ptr[t]; k < P->ptr[t + 1]; ++k) sum += from[P->row[k]];
  return sum;
}
