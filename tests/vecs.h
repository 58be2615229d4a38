/* Vectors of the type that -vec_type names, for a matrix whose own type says nothing of the device. */
#pragma once

#include <petscmat.h>

static inline PetscErrorCode CreateVecs(Mat A, Vec *right, Vec *left)
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, right, left));
  if (right) PetscCall(VecSetFromOptions(*right));
  if (left) PetscCall(VecSetFromOptions(*left));
  PetscFunctionReturn(0);
}
