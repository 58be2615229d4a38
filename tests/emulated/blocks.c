/* blocks.cu by its host twins */
#include "emulated.h"
#include "kernels/blocks.h"

PolderEmulate(PolderBlocksJoin, (PolderRows A, PolderRows B, PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream), A, B, ptr, col, val);
PolderEmulate(PolderEdgesAcross, (PolderRows B, PolderAcross across, PetscInt edge[], PolderStream stream), B, across, edge);
