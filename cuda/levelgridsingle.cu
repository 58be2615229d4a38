/* Set-up of levels that are grids whose entries are by diagonals in single precision. */
#include "levelgridsteps.cuh"

template struct GridSteps<GRID_SINGLE>;
