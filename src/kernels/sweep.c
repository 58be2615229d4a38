/* Sweeps by levels and their factors on the host. */
#include "sweep.h"

void PolderSweepTake_Host(PetscInt n, const PetscInt source[], PetscInt split, const PetscScalar aa[], const PetscScalar ba[], PetscScalar val[])
{
  for (PetscInt k = 0; k < n; ++k) val[k] = source[k] < 0 ? 0 : source[k] < split ? aa[source[k]] : ba[source[k] - split];
}

void PolderSweepFactor_Host(const PolderSweep *S, PetscInt first, PetscInt last, PetscInt eliminate, PetscReal omega, PetscInt *bad)
{
  for (PetscInt p = first; p < last; ++p) {
    if (!PolderSweepFactorRow(S, p, eliminate, omega) && S->row[p] < *bad) *bad = S->row[p];
  }
}

void PolderSweepForward_Host(const PolderSweep *S, PetscInt first, PetscInt last, const PetscScalar r[], PetscScalar x[])
{
  for (PetscInt p = first; p < last; ++p) {
    const PetscInt i = S->row[p];

    x[i] = S->val[S->nz + p] * (r[i] - PolderSweepSum(S, POLDER_SWEEP_LOWER, p, x));
  }
}

void PolderSweepBackward_Host(const PolderSweep *S, PetscInt first, PetscInt last, PetscScalar x[], PetscScalar z[])
{
  for (PetscInt p = first; p < last; ++p) {
    const PetscInt i = S->row[p];

    z[i] = x[i] -= S->val[S->nz + p] * PolderSweepSum(S, POLDER_SWEEP_UPPER, p, x);
  }
}
