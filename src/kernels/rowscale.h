/*
  Factors d_i of the rows of a matrix with d_i a_ij = d_j a_ji for all entries, if there are such: finite volumes whose equations were divided by the volume or
  the density of their cell. Rows that a path of entries connects have the same factors but for a common one.
*/
#pragma once

#include "launcher.h"
#include "views.h"

/* d_i a_ij and d_j a_ji may differ by this part: paths of entries add up roundings */
#define POLDER_SCALE 1e-9

/* Disjoint sets of n rows with known ratios: ratio[i] = d_i / d_parent[i], where a root is its own parent */
typedef struct {
  PetscInt   n, *parent;
  PetscReal *ratio;
} PolderScaledSets;

/* Host only. One set a row */
PETSC_INTERN void PolderScaledBegin_Host(PolderScaledSets *);
/* The root of row i; *d <- d_i over that of the root */
PETSC_INTERN PetscInt PolderScaledFind_Host(PolderScaledSets *, PetscInt i, PetscReal *d);
/* d_i a = d_j b: unites the sets of i and j; PETSC_FALSE: what is known, or a sign, or a zero, says otherwise */
PETSC_INTERN PetscBool PolderScaledJoin_Host(PolderScaledSets *, PetscInt i, PetscInt j, PetscReal a, PetscReal b);
/* All entries between the rows of A, whose columns ascend; those beyond its rows are left out. PETSC_FALSE: there are no such factors */
PETSC_INTERN PetscBool PolderScaledRows_Host(const PolderRows *A, PolderScaledSets *);
