/* A problem for PC tns, its matrix and the formula, dense. Part of tns.c. */
#pragma once

#include <polder.h>

/* A small 7-point problem with jumps, in natural order whatever the number of processes */
typedef struct {
  PetscInt  n[3], N;
  PetscReal contrast;
  PetscInt  variant; /* another variant: other values, same pattern */
} Problem;

PetscReal      Coefficient(const Problem *p, PetscInt i);
PetscInt       Row(const Problem *p, PetscInt i, PetscInt col[], PetscScalar val[]);
PetscErrorCode Fill(const Problem *p, Mat A);
PetscErrorCode CreateMatrix(const Problem *p, Mat *A);
PetscErrorCode CreateReference(const Problem *p, const Problem *pd, PetscInt degree, Mat *Minv, PetscReal *norm);
PetscErrorCode GetDense(PC pc, PetscInt N, PetscBool transpose, PetscScalar dense[]);
PetscErrorCode CompareDense(const PetscScalar dense[], const Problem *p, const Problem *pd, PetscInt degree, PetscReal *error, PetscReal *norm);
PetscErrorCode GetError(PC pc, const Problem *p, const Problem *pd, PetscInt degree, PetscBool transpose, PetscReal *error, PetscReal *norm);
void           GetDefiniteness(PetscInt N, PetscScalar a[], PetscReal *asymmetry, PetscReal *pivot);
PetscErrorCode Report(const char what[], PetscBool good, PetscReal value);
PetscErrorCode SetDegree(PC pc, PetscInt degree);
