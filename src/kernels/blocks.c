/* Host kernels for rows whose columns lie in two blocks. */
#include "blocks.h"
#include "blockrow.h"

void PolderBlocksJoin_Host(PetscInt m, PolderBlockRows A, PolderBlockRows B, PetscInt ptr[], PetscInt col[], PetscScalar val[])
{
  ptr[0] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    ptr[i + 1] = A.i[i + 1] + B.i[i + 1];
    PolderBlocksJoinRow(i, m, &A, &B, col, val);
  }
}

void PolderEdgesAcross_Host(PetscInt m, PolderBlockRows B, PolderAcross across, PetscInt edge[])
{
  for (PetscInt i = 0; i < m; ++i) PolderEdgesAcrossRow(i, &B, &across, edge);
}
