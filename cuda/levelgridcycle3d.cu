/* Restriction and interpolation on levels that are grids and joined in direction 2, for vectors in single precision. */
#include "levelgridcycle.cuh"
#include "module.cuh"

GRID_CYCLE(float, true)

POLDER_MODULE(LevelGridCycle3D)
