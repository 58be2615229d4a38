/* Sweeps by levels and their factors on the host. */
#include "sweep.h"

void PolderSweepWidths_Host(const PolderSweep *S, const PolderSweepEntries *E, PetscInt width[], PetscInt *entries)
{
  const PetscInt slices = PolderSweepSlices(S->n);
  PetscInt       sum    = 0;

  for (PetscInt i = 0; i < S->n; ++i) {
    const PetscInt slice = S->place[i] / POLDER_SWEEP_SLICE;
    PetscInt       count[2];

    PolderSweepCount(E, S->n, i, count);
    for (int t = 0; t < 2; ++t) width[t * slices + slice] = PetscMax(width[t * slices + slice], count[t]);
    sum += count[0] + count[1];
  }
  *entries += sum;
}

void PolderSweepPattern_Host(const PolderSweep *S, const PolderSweepEntries *E)
{
  for (PetscInt i = 0; i < S->n; ++i) PolderSweepColumns(E, S, S->place[i]); // the rows of the matrix lie in their own order
}

void PolderSweepValues_Host(const PolderSweep *S, PolderRows own, PolderRows ghosts)
{
  for (PetscInt i = 0; i < S->n; ++i) PolderSweepValuesRow(S, S->place[i], &own, &ghosts);
}

void PolderSweepFactor_Host(const PolderSweep *S, PetscInt first, PetscInt last, PetscInt eliminate, PetscReal omega, PetscInt *bad)
{
  const PetscBool many = (PetscBool)(16 * (last - first) > S->n); // then in the order of the matrix, whose rows share what they read

  for (PetscInt k = many ? 0 : first; k < (many ? S->n : last); ++k) {
    const PetscInt p = many ? S->place[k] : k;

    if (p < first || p >= last) continue;
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
