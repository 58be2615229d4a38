/* skew.cu in plain C */
#include "emulated.h"
#include "kernels/skew.h"

PolderEmulate(PolderSymmetricPart, (const PolderRows *A, const PetscReal sum[], PetscScalar s[], PetscReal mean[], PetscInt *missing, PolderStream stream), A,
              sum, s, mean, missing);
PolderEmulate(PolderSoften, (const PolderRows *A, PetscReal factor, const PetscScalar soft[], PetscScalar c[], PolderStream stream), A, factor, soft, c);
PolderEmulate(PolderSkewRows, (const PolderRows *A, PetscInt step, PetscInt count[], PolderStream stream), A, step, count);
