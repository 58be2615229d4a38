/* Row bodies of the kernels for two blocks that host and device share. */
#pragma once

#include "blocks.h"
#include "labelrow.h"

/* Row i of A and B at col[] and val[], which are those of the joined rows */
POLDER_ROW void PolderBlocksJoinRow(PetscInt i, PetscInt m, const PolderRows *A, const PolderRows *B, PetscInt col[], PetscScalar val[])
{
  PetscInt at = A->i[i] + B->i[i];

  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k, ++at) {
    col[at] = A->j[k];
    val[at] = A->a[k];
  }
  for (PetscInt k = B->i[i]; k < B->i[i + 1]; ++k, ++at) {
    col[at] = m + B->j[k];
    val[at] = B->a[k];
  }
}

/* The edges of the entries of row i of B */
POLDER_ROW void PolderEdgesAcrossRow(PetscInt i, const PolderRows *B, const PolderAcross *across, PetscInt edge[])
{
  for (PetscInt k = B->i[i]; k < B->i[i + 1]; ++k) {
    const PetscInt j      = B->j[k];
    PetscBool      joined = PETSC_FALSE;

    if (across->comp[i] >= 0 && across->jump == 0) joined = (PetscBool)(across->cls[i] == across->ghostcls[j]);
    else if (across->comp[i] >= 0) {
      const PetscReal s = PetscRealPart(across->scale[i]), t = PetscRealPart(across->ghostscale[j]);

      joined = (PetscBool)(t >= s / across->jump && t <= s * across->jump && B->a[k] != (PetscScalar)0);
    }
    edge[2 * k]     = joined ? across->comp[i] : -1;
    edge[2 * k + 1] = joined ? across->ghostcomp[j] : -1;
  }
}
