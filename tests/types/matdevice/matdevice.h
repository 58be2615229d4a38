/* What the parts of matdevice.c share. */
#pragma once

#include "mat/aijderived.h"
#include <polder.h>
#include <petsc/private/matimpl.h>
#include <petsc/private/vecimpl.h>

typedef struct {
  const char *type;
  PetscInt    n, compared, wrong; /* a grid of n by n */
  PetscInt    ncoo, *i, *j;
  Vec         v;     /* the values of the coordinates, in device memory */
  Mat         A;     /* plain AIJ on the host with the same values */
  PetscBool   empty; /* the second process owns nothing */
} Test;

PetscErrorCode Check(Test *t, const char *what, PetscBool ok);
PetscErrorCode Same(Test *t, const char *what, Vec u, Vec v);
PetscErrorCode SameProduct(Test *t, const char *what, Mat A, Mat B, VecType xtype, VecType ytype);
PetscErrorCode Coordinates(Test *t, PetscInt shift, PetscBool plain);
PetscErrorCode Preallocate(Test *t, Mat B);
PetscErrorCode SetValues(Test *t, Mat B, PetscScalar scale, InsertMode mode);
PetscErrorCode New(Test *t, Mat *B);
