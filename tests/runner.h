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
