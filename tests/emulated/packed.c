/* packed.cu by its host twin */
#include "emulated.h"
#include "kernels/packed.h"

PolderEmulate(PolderUnpackCounts, (const PolderPacked *P, const void *packed, PetscInt ai[], PolderStream stream), P, packed, ai);
PolderEmulate(PolderUnpackRows, (const PolderPacked *P, const void *packed, const PetscInt ai[], PetscInt aj[], PetscScalar aa[], PolderStream stream), P,
              packed, ai, aj, aa);
