/* Set-up of levels that are grids whose entries are in compressed rows. */
#include "levelgridsteps.cuh"

template struct GridSteps<GRID_ROWS>;
