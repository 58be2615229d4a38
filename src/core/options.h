/* Options and setters: bounds of integers, and what objects compose for setters. */
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

/* A setter or getter of a type: the name of the function that is composed with the object, and that function */
typedef struct {
  const char *name;
  void (*call)(void);
} PolderSetter;
#define POLDER_SETTER(function, type) \
  { \
    #function "_C", (void (*)(void))function##_##type \
  }

/* Composes setters with the object; there = PETSC_FALSE: removes them */
PETSC_INTERN PetscErrorCode PolderComposeSetters(PetscObject, size_t n, const PolderSetter setters[], PetscBool there);
