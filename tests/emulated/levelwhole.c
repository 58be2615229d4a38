/* levelwhole.cu in plain C */
#include "emulated.h"
#include "kernels/levelwhole.h"

PolderEmulate(PolderLevelWholeTake, (const PolderRows *A, const PetscInt stride[3], PetscScalar entry[], PolderStream stream), A, stride, entry);
PolderEmulate(PolderLevelWholeTakeOuter, (const PolderSparseRows *A, PetscInt below, PetscScalar up[], PolderStream stream), A, below, up);
PolderEmulate(PolderLevelWholeRows,
              (const PolderLevelGrid *G, const PetscScalar entry[], PetscBool pattern, PetscInt ai[], PetscInt aj[], PetscScalar aa[], PolderStream stream), G,
              entry, pattern, ai, aj, aa);
