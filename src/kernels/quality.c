/* Does each aggregate have a bounded two-grid condition number? */
#include "qualityrow.h"

static PetscBool QualityHolds(const PolderAggregates *P, PetscInt a, const PolderRows *A, const PolderQuality *q)
{
  const PetscInt first = P->ptr[a], *row = P->row + first, m = P->ptr[a + 1] - first;
  PetscReal      W[POLDER_QUALITY_ROWS][POLDER_QUALITY_ROWS], c[POLDER_QUALITY_ROWS], share[POLDER_QUALITY_ROWS], total = 0;

  for (PetscInt r = 0; r < m; ++r) total += c[r] = PolderQualityCoupled(row[r], q);
  for (PetscInt r = 0; r < m; ++r) share[r] = total > 0 ? c[r] / total : 0;
  for (PetscInt r = 0; r < m; ++r) PolderQualityRow(row[r], first, m, P->at, c[r], share, A, q->kappa, W[r]);
  for (PetscInt k = 0; k + 1 < m; ++k) {
    const PetscReal pivot = PolderQualityPivot(k, m, W[k]);

    if (pivot < 0) return PETSC_FALSE;
    for (PetscInt r = k + 1; r < m; ++r) PolderQualityEliminate(k, m, pivot, W[k], W[r]);
  }
  return PETSC_TRUE;
}

void PolderQualityCheck_Host(const PolderAggregates *P, const PolderRows *A, const PolderQuality *q, PetscInt bad[])
{
  for (PetscInt a = 0; a < P->n; ++a) {
    const PetscInt m = P->ptr[a + 1] - P->ptr[a];

    if (q->some && !bad[a]) continue;
    bad[a] = m > POLDER_QUALITY_ROWS ? q->large : m > 1 && !QualityHolds(P, a, A, q);
  }
}

void PolderQualityJoined_Host(PetscInt m, const PetscInt join[], const PetscInt agg[], PetscInt bad[])
{
  for (PetscInt i = 0; i < m; ++i) {
    if (join[i] != i) bad[agg[i]] = 1;
  }
}

void PolderQualityUndo_Host(PetscInt m, const PetscInt agg[], PetscInt n, const PetscInt bad[], PetscInt mate[], PetscInt join[])
{
  for (PetscInt i = 0; i < m; ++i) PolderQualityUndoRow(i, agg, n, bad, mate, join);
}
