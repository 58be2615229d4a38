/* Restriction and interpolation on levels that are grids, for vectors in double precision. */
#include "levelgridcycle.cuh"

template struct GridCycle<PetscScalar, false>;
template struct GridCycle<PetscScalar, true>;
