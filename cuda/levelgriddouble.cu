/* Set-up of levels that are grids whose entries are by diagonals in double precision. */
#include "levelgridsteps.cuh"
#include "module.cuh"

template struct GridSteps<GRID_DOUBLE>;

POLDER_MODULE(LevelGridDouble)
