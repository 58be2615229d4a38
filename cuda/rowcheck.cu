/* The check of the rows of a matrix, one thread a row. */
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/rowcheck.h"

int PolderRowsCheck_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[], const PetscScalar ba[],
                         PetscInt *bad, PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const int kind = PolderRowKind(i, ai, aj, aa, bi, ba);

    if (kind != POLDER_ROW_GOOD) PolderAtomicMin(bad, POLDER_ROW_GOOD * i + kind);
  });
}
