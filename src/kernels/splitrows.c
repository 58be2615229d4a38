/* Rows of a process in two parts, on the way to one matrix of all rows. */
#include "splitrow.h"

void PolderSplitRowsLength_Host(const PolderSplitRows *A, PetscReal length[])
{
  for (PetscInt i = 0; i < A->n; ++i) length[i] = (PetscReal)PolderSplitLength(A, i);
}

void PolderSplitRowsMerge_Host(const PolderSplitRows *A, const PetscInt start[], PetscReal col[], PetscScalar val[])
{
  for (PetscInt i = 0; i < A->n; ++i) PolderSplitMerge(A, i, start, col, val);
}

void PolderIndexOfReals_Host(PetscInt n, const PetscReal from[], PetscInt to[])
{
  for (PetscInt k = 0; k < n; ++k) to[k] = (PetscInt)from[k];
}
