/* The check of the rows of a matrix on the host. */
#include "rowcheck.h"

void PolderRowsCheck_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[], const PetscScalar ba[],
                          PetscInt *bad)
{
  for (PetscInt i = 0; i < m; ++i) {
    const int kind = PolderRowKind(i, ai, aj, aa, bi, ba);

    if (kind != POLDER_ROW_GOOD && POLDER_ROW_GOOD * i + kind < *bad) *bad = POLDER_ROW_GOOD * i + kind;
  }
}
