/* The lists of off-process entries of a process that has whole planes of a grid, and of its boxes: they follow from the sizes. */
#pragma once

#include "launcher.h"
#include "views.h"

/* The first `below` and the last `above` of n rows have one off-process entry each, in the columns of ghosts 0, 1, 2 and so on */
typedef struct {
  PetscInt n, below, above;
} PolderPlanes;

/* row[], ptr[] and col[] of these entries */
PETSC_INTERN void   PolderPlanesEntries_Host(const PolderPlanes *, const PolderSparseRows *);
POLDER_LAUNCHER int PolderPlanesEntries_CUDA(const PolderPlanes *, const PolderSparseRows *, PolderStream stream);
/* Two levels: a plane has `high` lines of `wide` cells, and `boxes` boxes in a line. Two cells make a box along lines with along = 1, across with across = 1 */
typedef struct {
  PolderPlanes fine, coarse;
  PetscInt     wide, high, boxes, along, across;
} PolderPlanesLevels;
/* The boxes of the rows with entries: target[] <- their numbers on the next level; ptr[] and row[] of P <- where their rows are among those with entries */
PETSC_INTERN void   PolderPlanesBoxes_Host(const PolderPlanesLevels *, PetscInt target[], const PolderAggregates *P);
POLDER_LAUNCHER int PolderPlanesBoxes_CUDA(const PolderPlanesLevels *, PetscInt target[], const PolderAggregates *P, PolderStream stream);
/* to[t] <- the sum of from[] over the rows of aggregate t */
PETSC_INTERN void   PolderPlanesSums_Host(const PolderAggregates *P, const PetscScalar from[], PetscScalar to[]);
POLDER_LAUNCHER int PolderPlanesSums_CUDA(const PolderAggregates *P, const PetscScalar from[], PetscScalar to[], PolderStream stream);
/* *some <- 1 if a row with entries is in no aggregate of nc; the caller zeroes it */
PETSC_INTERN void   PolderPlanesLone_Host(const PolderPlanes *, const PetscInt agg[], PetscInt nc, PetscInt *some);
POLDER_LAUNCHER int PolderPlanesLone_CUDA(const PolderPlanes *, const PetscInt agg[], PetscInt nc, PetscInt *some, PolderStream stream);
