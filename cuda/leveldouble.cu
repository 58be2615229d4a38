/* The steps of a level with entries in double precision. */
#include "levelsteps.cuh"

template struct LevelSteps<LEVEL_5, PetscScalar, PetscScalar>;
template struct LevelSteps<LEVEL_7, PetscScalar, PetscScalar>;
template struct LevelSteps<LEVEL_SMALL5, PetscScalar, PetscScalar>;
template struct LevelSteps<LEVEL_SMALL7, PetscScalar, PetscScalar>;
template struct LevelSteps<LEVEL_OTHERS, PetscScalar, PetscScalar>;
