/* Bounds of integer options and parameters. */
#pragma once

#include "core.h"

/* Checks a value against its bounds; what: the name of the option, also used in the error of the corresponding setter */
#define PolderCheckBounds(comm, what, value, lowest, highest) \
  PetscCheck((value) >= (lowest) && (value) <= (highest), comm, PETSC_ERR_ARG_OUTOFRANGE, \
             "%s %" PetscInt_FMT " is not between %" PetscInt_FMT " and %" PetscInt_FMT, what, value, (PetscInt)(lowest), (PetscInt)(highest))

/* PetscOptionsInt() whose help text states the bounds. If the lowest bound is PETSC_DECIDE, the text says that it stands for automatic. The bounds are not
   checked */
PETSC_INTERN PetscErrorCode PolderOptionsInt(PolderOptionItems, const char name[], const char text[], const char man[], PetscInt lowest, PetscInt highest,
                                             PetscInt *value, PetscBool *set);
