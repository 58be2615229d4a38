/* Rows of the factorised sparse approximate inverse on the host. */
#include "fsai.h"

void PolderFsaiRows_Host(const PolderFsai *F, PetscInt threads, PetscScalar work[], PetscScalar val[], PetscInt *bad)
{
  (void)threads;
  for (PetscInt i = 0; i < F->n; ++i) {
    if (!PolderFsaiRow(F, i, 1, work, val + F->gi[i]) && i < *bad) *bad = i;
  }
}
