/* What the parts of the test of pamg's host kernels share. */
#pragma once

#include "core/compat.h"
#include "kernels/level.h"
#include "kernels/pairs.h"

/* A symmetric matrix of n rows as rows, as diagonals and as half of them, and vectors around it; arrays that are written are poisoned */
typedef struct {
  PetscInt            n, nd, *off, *ai, *aj, *diag, *agg, nc;
  PetscScalar        *aa, *full, *half, *dinv, *b, *x, *xc;
  const PetscScalar **val[2];
  PolderLevelMatrix   M[3];
} Level;

/* Refuses arrays of m values that differ; n, form: the level that they are of */
extern PetscErrorCode Compare(const char what[], PetscInt n, PetscInt form, PetscInt m, const PetscScalar one[], const PetscScalar other[]);
extern void           Poison(PetscInt n, PetscScalar v[]);

/* aggregates.c */
extern PetscErrorCode TestPairs(const Level *L, PetscBool greedy, PetscBool scattered);
extern PetscErrorCode TestGalerkin(const Level *L);
