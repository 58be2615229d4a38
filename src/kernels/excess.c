/* The excess (sum of entries) of the rows of a hierarchy, and the diagonal of coarse rows computed from it. */
#include "excess.h"
#include "excessrow.h"

void PolderExcessRows_Host(PetscInt n, const PetscInt ai[], PetscBool kernel, const PetscReal sum[], const PetscReal size[], PetscReal excess[])
{
  for (PetscInt i = 0; i < n; ++i) excess[i] = PolderExcessOf(sum[i], size[i], ai[i + 1] - ai[i] + 1, kernel);
}

void PolderExcessAggregates_Host(const PolderAggregates *P, const PolderRows *A, const PetscReal excess[], const PetscReal size[], PetscReal coarse[],
                                 PetscReal coarsesize[])
{
  for (PetscInt a = 0; a < P->n; ++a) {
    PetscReal part[4] = {0};

    PolderExcessParts(a, P, A, excess, size, 0, 1, part);
    PolderExcessPut(a, part, coarse, coarsesize);
  }
}

void PolderExcessLeave_Host(PetscInt n, const PetscReal lone[], const PetscReal outer[], PetscReal excess[], PetscReal here[])
{
  for (PetscInt i = 0; i < n; ++i) PolderExcessLeaveRow(i, lone + 2 * i, outer + 2 * i, excess, here);
}

void PolderExcessDiagonal_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[], PetscScalar aa[])
{
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal part[2] = {0};
    PetscInt  at      = -1;

    PolderExcessOthers(i, ai, aj, aa, 0, 1, part, &at);
    if (at >= 0) PolderExcessMend(i, part, excess, size, aa + at);
  }
}
