/* blocks.cu by its host twins */
#include "emulated.h"
#include "kernels/blocks.h"

PolderEmulate(PolderBlocksJoin, (PetscInt m, PolderBlockRows A, PolderBlockRows B, PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream), m,
              A, B, ptr, col, val);
PolderEmulate(PolderEdgesAcross, (PetscInt m, PolderBlockRows B, PolderAcross across, PetscInt edge[], PolderStream stream), m, B, across, edge);
