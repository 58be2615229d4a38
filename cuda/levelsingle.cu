/* The steps of a level with entries in single precision. */
#include "levelsteps.cuh"

template struct LevelSteps<LEVEL_5, float, float>;
template struct LevelSteps<LEVEL_7, float, float>;
template struct LevelSteps<LEVEL_SMALL5, float, float>;
template struct LevelSteps<LEVEL_SMALL7, float, float>;
template struct LevelSteps<LEVEL_OTHERS, float, float>;
