/* Set-up of levels that are grids whose entries are by diagonals in bfloat16. */
#include "levelgridsteps.cuh"
#include "module.cuh"

template struct GridSteps<GRID_BFLOAT>;

POLDER_MODULE(LevelGridHalf)
