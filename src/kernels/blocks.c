/* Host kernels for rows whose columns lie in two blocks. */
#include "blocks.h"
#include "blockrow.h"

void PolderBlocksJoin_Host(PolderRows A, PolderRows B, PetscInt ptr[], PetscInt col[], PetscScalar val[])
{
  ptr[0] = 0;
  for (PetscInt i = 0; i < A.n; ++i) {
    ptr[i + 1] = A.i[i + 1] + B.i[i + 1];
    PolderBlocksJoinRow(i, A.n, &A, &B, col, val);
  }
}

void PolderEdgesAcross_Host(PolderRows B, PolderAcross across, PetscInt edge[])
{
  for (PetscInt i = 0; i < B.n; ++i) PolderEdgesAcrossRow(i, &B, &across, edge);
}
