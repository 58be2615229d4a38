/* Off-process entries between planes: host kernels. */
#include "planesrow.h"

void PolderPlanesEntries_Host(const PolderPlanes *at, const PolderSparseRows *O)
{
  O->ptr[0] = 0;
  for (PetscInt k = 0; k < at->below + at->above; ++k) PolderPlanesEntry(k, at, O);
}

void PolderPlanesBoxes_Host(const PolderPlanesLevels *L, PetscInt target[], const PolderAggregates *P)
{
  P->ptr[0] = P->ptr[1] = 0;
  for (PetscInt t = 0; t < L->coarse.below + L->coarse.above; ++t) PolderPlanesBox(t, L, target, P);
}

void PolderPlanesSums_Host(const PolderAggregates *P, const PetscScalar from[], PetscScalar to[])
{
  for (PetscInt t = 0; t < P->n; ++t) to[t] = PolderPlanesSum(t, P, from);
}

void PolderPlanesLone_Host(const PolderPlanes *at, const PetscInt agg[], PetscInt nc, PetscInt *some)
{
  for (PetscInt k = 0; k < at->below + at->above; ++k) {
    if (agg[PolderPlanesRow(k, at)] >= nc) *some = 1;
  }
}
