/* The steps of a small level with 7 diagonals, with entries in half precision and vectors in single precision. */
#include "levelsteps.cuh"
#include "module.cuh"

template struct LevelSteps<LEVEL_SMALL7, float, PolderBfloat>;

POLDER_MODULE(LevelHalfSmall7)
