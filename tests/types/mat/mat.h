/* What the parts of mat.c share. */
#pragma once

#include <polder.h>

typedef enum {
  STENCIL,
  CONVECTION,
  RANDOM,
  IRREGULAR,
  WIDE,
  TALL,
  EMPTYROWS,
  NODIAGONAL,
  TINY,
  EMPTY,
  LONG
} Kind;
extern const char *const Kinds[];

PetscScalar    Hash(PetscInt i, PetscInt j);
PetscErrorCode Create(Kind kind, MatType type, PetscBool options, Mat *A);
