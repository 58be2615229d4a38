/* Numbers that look random. */
#include "shadow.h"

void PolderShadowFill_Host(PetscInt seed, PetscInt column, PetscInt first, PetscInt n, PetscScalar a[])
{
  for (PetscInt i = 0; i < n; ++i) a[i] = PolderShadowNumber(seed, column, first + i);
}
