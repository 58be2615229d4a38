/* What the tests do with any matrix. */
#pragma once

#include <petscmat.h>

/* Vectors of the type that -vec_type names, for a matrix whose own type says nothing of the device */
static inline PetscErrorCode CreateVecs(Mat A, Vec *right, Vec *left)
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, right, left));
  if (right) PetscCall(VecSetFromOptions(*right));
  if (left) PetscCall(VecSetFromOptions(*left));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}
