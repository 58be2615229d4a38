/* The steps of a small level with 5 diagonals, with entries in half precision and vectors in single precision. */
#include "levelsteps.cuh"
#include "module.cuh"

template struct LevelSteps<LEVEL_SMALL5, float, PolderBfloat>;

POLDER_MODULE(LevelHalfSmall5)
