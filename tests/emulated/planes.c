/* planes.cu in plain C */
#include "emulated.h"
#include "kernels/planes.h"

PolderEmulate(PolderPlanesEntries, (const PolderPlanes *at, const PolderSparseRows *O, PolderStream stream), at, O);
PolderEmulate(PolderPlanesBoxes, (const PolderPlanesLevels *L, PetscInt target[], const PolderAggregates *P, PolderStream stream), L, target, P);
PolderEmulate(PolderPlanesSums, (const PolderAggregates *P, const PetscScalar from[], PetscScalar to[], PolderStream stream), P, from, to);
PolderEmulate(PolderPlanesLone, (const PolderPlanes *at, const PetscInt agg[], PetscInt nc, PetscInt *some, PolderStream stream), at, agg, nc, some);
