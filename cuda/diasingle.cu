/* Products with matrices stored by diagonals whose entries are also there in single precision. */
#include "diarows.cuh"

int PolderDiaMultSingle_CUDA(const PolderDia *A, const float *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[],
                             PolderStream stream)
{
  return DiaMultLaunch(A, val, x, {alpha, y, z}, {NULL, false, NULL}, {}, stream);
}
