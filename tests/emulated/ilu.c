/* ilu.cu by its host twins */
#include "emulated.h"
#include "kernels/ilu.h"

PolderEmulate(PolderIluFactor, (const PolderIlu *ilu, const PolderIluPivots *pivots, const PetscScalar aa[], PetscScalar val[], PolderStream stream), ilu,
              pivots, aa, val);
PolderEmulate(PolderIluRound, (const PolderIlu *ilu, const PetscScalar val[], float rounded[], PetscInt *row, PolderStream stream), ilu, val, rounded, row);
PolderEmulate(PolderIluWidths, (const PolderIlu *ilu, const PetscScalar val[], PetscInt width[], PolderStream stream), ilu, val, width);
PolderEmulate(PolderIluPack, (const PolderIlu *ilu, const PetscScalar val[], const PolderIlu *to, PetscInt col[], PetscScalar packed[], PolderStream stream),
              ilu, val, to, col, packed);
PolderEmulate(PolderIluSolve, (const PolderIlu *ilu, PetscBool single, const void *val, const PolderIluVectors *v, PolderStream stream), ilu, single, val, v);
PolderEmulate(PolderIluAdd,
              (PetscInt n, const PetscInt ptr[], const PetscInt list[], const PetscScalar weight[], const PetscScalar x[], PetscScalar z[],
               PolderStream stream),
              n, ptr, list, weight, x, z);
