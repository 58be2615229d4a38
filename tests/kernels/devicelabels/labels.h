/* What the parts of devicelabels.c share. */
#pragma once

#include "../devicetest.h"

PetscErrorCode Compare(PetscInt n, const PetscInt host[], const PetscInt device[], PetscInt *wrong);
/* n numbers from least to below - 1, in host and device memory */
PetscErrorCode RandomIndices(PetscInt n, PetscInt least, PetscInt below, PetscInt **host, PetscInt **device);
PetscErrorCode TestBlocks(void *work, PolderStream stream);
PetscErrorCode TestSpaces(void *work, PolderStream stream);
PetscErrorCode TestLeft(void *work, PolderStream stream);
