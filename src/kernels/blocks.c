/* Host kernels for rows whose columns lie in two blocks. */
#include "blocks.h"
#include "blockrow.h"

void PolderColumnsAcross_Host(PetscInt nz, const PetscInt j[], const PetscInt garray[], PetscInt first, PetscInt col[])
{
  for (PetscInt k = 0; k < nz; ++k) col[k] = garray[j[k]] - first;
}

void PolderEdgesAcross_Host(PolderRows B, PolderAcross across, PetscInt edge[])
{
  for (PetscInt i = 0; i < B.n; ++i) PolderEdgesAcrossRow(i, &B, &across, edge);
}
