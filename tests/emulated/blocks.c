/* blocks.cu by its host twins */
#include "emulated.h"
#include "kernels/blocks.h"

PolderEmulate(PolderColumnsAcross, (PetscInt nz, const PetscInt j[], const PetscInt garray[], PetscInt first, PetscInt col[], PolderStream stream), nz, j,
              garray, first, col);
PolderEmulate(PolderEdgesAcross, (PolderRows B, PolderAcross across, PetscInt edge[], PolderStream stream), B, across, edge);
