/* Restriction and interpolation on levels that are grids, for vectors in double precision. */
#include "levelgridcycle.cuh"

GRID_CYCLE(PetscScalar, false)
GRID_CYCLE(PetscScalar, true)
