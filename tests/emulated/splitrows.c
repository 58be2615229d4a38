/* splitrows.cu in plain C */
#include "emulated.h"
#include "kernels/splitrows.h"

PolderEmulate(PolderSplitRowsLength, (const PolderSplitRows *A, PetscReal length[], PolderStream stream), A, length);
PolderEmulate(PolderSplitRowsMerge, (const PolderSplitRows *A, const PetscInt start[], PetscReal col[], PetscScalar val[], PolderStream stream), A, start, col,
              val);
PolderEmulate(PolderIndexOfReals, (PetscInt n, const PetscReal from[], PetscInt to[], PolderStream stream), n, from, to);
