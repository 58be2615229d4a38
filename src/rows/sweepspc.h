/* A preconditioner that is one M = (D + L) D^-1 (D + U): what it has besides its order of the rows. */
#pragma once

#include "sweeps.h"

typedef struct {
  PolderRowsPC rows; // the first
  PolderSweeps sweeps;
  const char  *levels; /* what -ksp_view calls the levels */
  const char  *advice; /* what to do about a pivot that is not positive */
} PolderSweepsPC;

/* Steps of PolderRowsSteps: all but pattern() */
PETSC_INTERN PetscErrorCode PolderSweepsPCValues(PC, const PolderCSR *);
PETSC_INTERN PetscErrorCode PolderSweepsPCApply(PC, Vec r, Vec z);
PETSC_INTERN PetscErrorCode PolderSweepsPCFree(PC);
PETSC_INTERN PetscErrorCode PolderSweepsPCView(PC, PetscViewer);
