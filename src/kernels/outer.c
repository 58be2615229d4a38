/* Off-process entries stored by the rows that have any: host kernels for the set-up of a level. */
#include "outer.h"
#include "pairrow.h"
#include "outerrow.h"
#include <float.h>

void PolderOuterFind_Host(PetscInt n, const PetscInt ptr[], PetscInt row[], PetscInt start[], PetscInt *count)
{
  PetscInt k = 0;

  for (PetscInt i = 0; i < n; ++i) {
    if (ptr[i + 1] == ptr[i]) continue;
    row[k]     = i;
    start[k++] = ptr[i];
  }
  *count = k;
}

void PolderIndexGather_Host(PetscInt n, const PetscInt index[], const PetscInt from[], PetscInt to[])
{
  for (PetscInt k = 0; k < n; ++k) to[k] = from[index[k]];
}

void PolderOuterStrength_Host(const PolderSparseRows *O, PetscReal outside[])
{
  for (PetscInt k = 0; k < O->n; ++k) outside[O->row[k]] = PolderOuterStrongest(O, k);
}

void PolderPairsNextOutside_Host(PetscInt nc, const PetscInt ptr[], const PetscInt row[], const PetscReal outside[], PetscReal next[])
{
  for (PetscInt a = 0; a < nc; ++a) {
    next[a] = 0;
    for (PetscInt k = ptr[a]; k < ptr[a + 1]; ++k) next[a] = PetscMax(next[a], outside[row[k]]);
  }
}

void PolderOuterLevelRows_Host(const PolderSparseRows *O, const PolderRows *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad)
{
  PolderLevelSurvey to = *survey;

  to.diag = NULL;
  for (PetscInt k = 0; k < O->n; ++k) {
    const PetscInt        i    = O->row[k];
    const PolderRowSurvey s    = PolderOuterLook(O, k, A);
    const PolderRowKind   kind = PolderRowJudge(&s, to.zero);

    if (kind != POLDER_ROW_GOOD) *bad = PetscMin(*bad, (PetscInt64)i * 8 + kind);
    PolderRowStore(i, &s, &to);
    *bound = PetscMax(*bound, PolderRowBound(&s));
  }
}

void PolderOuterTotals_Host(const PolderSparseRows *O, const PolderRows *A, PetscBool rows, float to[], int *large)
{
  for (PetscInt k = 0; k < O->n; ++k) {
    PolderRowSurvey s = PolderOuterLook(O, k, A);

    if (!(PetscAbsReal(s.total) <= FLT_MAX)) *large = 1;
    if (!rows) to[O->row[k]] = (float)s.total;
    else if (s.at >= 0) to[s.at] = (float)s.total;
  }
}
