/* Integers that the user gives, by options or calls, and their bounds. */
#pragma once

#include "core.h"

/* what: the name of the option, which the call that it belongs to sets as well */
#define PolderCheckBounds(comm, what, value, lowest, highest) \
  PetscCheck((value) >= (lowest) && (value) <= (highest), comm, PETSC_ERR_ARG_OUTOFRANGE, \
             "%s %" PetscInt_FMT " is not between %" PetscInt_FMT " and %" PetscInt_FMT, what, value, (PetscInt)(lowest), (PetscInt)(highest))

/* PetscOptionsInt() whose help tells the bounds, and that PETSC_DECIDE, when that is the lowest, stands for automatic; it does not check them */
PETSC_INTERN PetscErrorCode PolderOptionsInt(PolderOptionItems, const char name[], const char text[], const char man[], PetscInt lowest, PetscInt highest,
                                             PetscInt *value, PetscBool *set);
