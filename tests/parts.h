/* Tests of a preconditioner in parts, on several processes that have a device each. */
#pragma once

#include <petscsys.h>

/* Where there is no device, nothing looks for -polder_min_rows_per_gpu 0, and PETSc would say that it is unused */
static inline PetscErrorCode LookForParts(void)
{
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-polder_min_rows_per_gpu", &given));
  PetscFunctionReturn(PETSC_SUCCESS);
}
