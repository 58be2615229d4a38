/* What the parts of devicelabels.c share. */
#pragma once

#include "../devicetest.h"

PetscErrorCode Compare(PetscInt n, const PetscInt host[], const PetscInt device[], PetscInt *wrong);
PetscErrorCode TestBlocks(void *work, PolderStream stream);
PetscErrorCode TestSpaces(void *work, PolderStream stream);
PetscErrorCode TestLeft(void *work, PolderStream stream);
