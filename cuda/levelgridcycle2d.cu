/* Restriction and interpolation on levels that are grids and not joined in direction 2, for vectors in single precision. */
#include "levelgridcycle.cuh"
#include "module.cuh"

GRID_CYCLE(float, false)

POLDER_MODULE(LevelGridCycle2D)
