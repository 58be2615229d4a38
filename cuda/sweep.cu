/* Sweeps by levels and their factors, one thread a row. */
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/sweep.h"

int PolderSweepTake_CUDA(PetscInt n, const PetscInt source[], PetscInt split, const PetscScalar aa[], const PetscScalar ba[], PetscScalar val[],
                         PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt k) { val[k] = source[k] < 0 ? 0 : source[k] < split ? aa[source[k]] : ba[source[k] - split]; });
}

int PolderSweepFactor_CUDA(const PolderSweep *sweep, PetscInt first, PetscInt last, PetscInt eliminate, PetscReal omega, PetscInt *bad, PolderStream stream)
{
  const PolderSweep S = *sweep;

  return PolderForEach(last - first, stream, [=] __device__(PetscInt k) {
    if (!PolderSweepFactorRow(&S, first + k, eliminate, omega)) PolderAtomicMin(bad, S.row[first + k]);
  });
}

int PolderSweepForward_CUDA(const PolderSweep *sweep, PetscInt first, PetscInt last, const PetscScalar r[], PetscScalar x[], PolderStream stream)
{
  const PolderSweep S = *sweep;

  return PolderForEach(last - first, stream, [=] __device__(PetscInt k) {
    const PetscInt p = first + k, i = S.row[p];

    x[i] = S.val[S.nz + p] * (r[i] - PolderSweepSum(&S, POLDER_SWEEP_LOWER, p, x));
  });
}

int PolderSweepBackward_CUDA(const PolderSweep *sweep, PetscInt first, PetscInt last, PetscScalar x[], PetscScalar z[], PolderStream stream)
{
  const PolderSweep S = *sweep;

  return PolderForEach(last - first, stream, [=] __device__(PetscInt k) {
    const PetscInt p = first + k, i = S.row[p];

    z[i] = x[i] -= S.val[S.nz + p] * PolderSweepSum(&S, POLDER_SWEEP_UPPER, p, x);
  });
}
