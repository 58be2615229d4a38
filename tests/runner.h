/* Tests of one program, each behind an option. */
#pragma once

#include <petscsys.h>
#include "core/compat.h"
#include "parts.h"

/* The tests of a program, each by its option */
typedef struct {
  const char *option;
  PetscErrorCode (*run)(void);
} Test;

static inline PetscErrorCode RunTests(size_t n, const Test tests[])
{
  PetscBool wanted;

  PetscFunctionBeginUser;
  PetscCall(LookForParts());
  for (size_t k = 0; k < n; ++k) {
    PetscCall(PetscOptionsHasName(NULL, NULL, tests[k].option, &wanted));
    if (wanted) PetscCall(tests[k].run());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A main that does nothing else. types: PetscDLLibraryRegister_polder() in a program with a library of its own, else NULL */
static inline int RunProgram(int argc, char **argv, const char help[], PetscErrorCode (*types)(void), size_t n, const Test tests[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  if (types) PetscCall((*types)());
  PetscCall(RunTests(n, tests));
  PetscCall(PetscFinalize());
  return 0;
}
