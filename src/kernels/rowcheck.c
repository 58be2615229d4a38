/* The check of the rows of a matrix on the host. */
#include "rowcheck.h"

void PolderRowsCheck_Host(const PolderRows *A, const PolderRows *B, PetscInt64 *bad)
{
  for (PetscInt i = 0; i < A->n; ++i) *bad = PetscMin(*bad, PolderRowCheck(i, A, B));
}
