/* Row bodies of the kernels for two blocks that host and device share. */
#pragma once

#include "blocks.h"
#include "labelrow.h"

/* The edges of the entries of row i of B */
POLDER_BODY void PolderEdgesAcrossRow(PetscInt i, const PolderRows *B, const PolderAcross *across, PetscInt edge[])
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
