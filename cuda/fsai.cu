/* Rows of the factorised sparse approximate inverse, one thread a row. The small matrices of the threads are interleaved. */
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/fsai.h"

int PolderFsaiRows_CUDA(const PolderFsai *rows, PetscInt threads, PetscScalar work[], PetscScalar val[], PetscInt *bad, PolderStream stream)
{
  const PolderFsai F = *rows;

  return PolderForEach(threads, stream, [=] __device__(PetscInt t) {
    for (PetscInt i = t; i < F.n; i += threads) {
      if (!PolderFsaiRow(&F, i, threads, work + t, val + F.gi[i])) PolderAtomicMin(bad, i);
    }
  });
}
