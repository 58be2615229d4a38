/* excess.cu */
#include "emulated.h"
#include "kernels/excess.h"

PolderEmulate(PolderExcessRows,
              (PetscInt n, const PetscInt ai[], PetscBool kernel, const PetscReal sum[], const PetscReal size[], PetscReal excess[], PolderStream stream), n,
              ai, kernel, sum, size, excess);
PolderEmulate(PolderExcessAggregates,
              (const PolderAggregates *P, const PolderRows *A, const PetscReal excess[], const PetscReal size[], PetscReal coarse[], PetscReal coarsesize[],
               PolderStream stream),
              P, A, excess, size, coarse, coarsesize);
PolderEmulate(PolderExcessDiagonal,
              (PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[], PetscScalar aa[], PolderStream stream),
              n, ai, aj, excess, size, aa);
