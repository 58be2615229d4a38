/* Restriction and interpolation on levels that are grids and joined in direction 2, for vectors in single precision. */
#include "levelgridcycle.cuh"
#include "module.cuh"

template struct GridCycle<float, true>;

POLDER_MODULE(LevelGridCycle3D)
