/* Restriction and interpolation on levels that are grids and not joined in direction 2, for vectors in single precision. */
#include "levelgridcycle.cuh"
#include "module.cuh"

template struct GridCycle<float, false>;

POLDER_MODULE(LevelGridCycle2D)
