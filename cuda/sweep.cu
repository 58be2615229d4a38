/* Sweeps by levels and their factors, one thread a row. */
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/sweep.h"

int PolderSweepWidths_CUDA(const PolderSweep *sweep, const PolderSweepEntries *entries, PetscInt width[], PetscInt *sum, PolderStream stream)
{
  const PolderSweep        S      = *sweep;
  const PolderSweepEntries E      = *entries;
  const PetscInt           slices = PolderSweepSlices(S.n);

  return PolderForEach(S.n, stream, [=] __device__(PetscInt p) {
    PetscInt count[2];

    PolderSweepCount(&E, S.n, S.row[p], count);
    for (int t = 0; t < 2; ++t) PolderAtomicMax(width + t * slices + p / POLDER_SWEEP_SLICE, count[t]);
    PolderAtomicAdd(sum, count[0] + count[1]);
  });
}

int PolderSweepPattern_CUDA(const PolderSweep *sweep, const PolderSweepEntries *entries, PolderStream stream)
{
  const PolderSweep        S = *sweep;
  const PolderSweepEntries E = *entries;

  return PolderForEach(S.n, stream, [=] __device__(PetscInt p) { PolderSweepColumns(&E, &S, p); });
}

int PolderSweepValues_CUDA(const PolderSweep *sweep, PolderRows own, PolderRows ghosts, PolderStream stream)
{
  const PolderSweep S = *sweep;

  return PolderForEach(S.n, stream, [=] __device__(PetscInt p) { PolderSweepValuesRow(&S, p, &own, &ghosts); });
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
