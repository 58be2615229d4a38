/* Levels that are grids, from the rows of a process to those of the whole grid. */
#include "levelwhole.h"
#include "levelwholerow.h"

void PolderLevelWholeTake_Host(const PolderRows *A, const PetscInt stride[3], PetscScalar entry[])
{
  for (PetscInt i = 0; i < A->n; ++i) PolderLevelWholeTakeRow(A, stride, i, entry);
}

void PolderLevelWholeTakeOuter_Host(const PolderSparseRows *A, PetscInt below, PetscScalar up[])
{
  for (PetscInt k = 0; k < A->n; ++k) PolderLevelWholeTakeOuterRow(A, below, k, up);
}

void PolderLevelWholeRows_Host(const PolderLevelGrid *G, const PetscScalar entry[], PetscBool pattern, PetscInt ai[], PetscInt aj[], PetscScalar aa[])
{
  for (PetscInt c = 0; c < G->nc; ++c) PolderLevelWholeRow(G, c, entry, pattern, ai, aj, aa);
}
