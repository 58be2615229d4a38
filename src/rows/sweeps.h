/* M = (D + L) D^-1 (D + U) in an order of levels: memory, values and solves of kernels/sweep.h at a place. */
#pragma once

#include "graph.h"
#include "kernels/sweep.h"

typedef struct {
  PetscInt     nlevel, *first;  /* host: [nlevel + 1] the first place of each level */
  PetscInt     eliminate;       /* the rows of this many levels are eliminated: 0 for Gauss-Seidel, nlevel for an incomplete factor */
  PetscReal    omega;           /* of what falls outside of the pattern goes to the diagonal */
  PetscInt     entries, nblock; /* nblock: of rows without entries between them, on this process */
  PolderHalo   halo;            /* owned; NULL: a block a process */
  PolderSweep  S;               /* arrays at the place */
  PetscInt    *bad;
  PetscScalar *x, *rstandin, *zstandin; /* x: [n + nghost] */
} PolderSweeps;

/* level[]: of each row and ghost, below nlevel; entries between rows of one level are left out. csr: the rows at the place, whose pattern the graph has unless
   it has one of its own. halo: the ghosts take part, and W takes the halo. Every process calls it with the same nlevel when halo is not NULL */
PETSC_INTERN PetscErrorCode PolderSweepsCreate(PolderSweeps *, const PolderPlace *, const PolderGraph *, const PolderCSR *, const PetscInt level[],
                                               PetscInt nlevel, PolderHalo halo);
/* The values from those of the matrix; *bad <- the first row without a positive pivot, or PETSC_MAX_INT */
PETSC_INTERN PetscErrorCode PolderSweepsValues(PolderSweeps *, const PolderPlace *, const PolderCSR *, PetscInt *bad);
/* z = M^-1 r. Collective with a halo */
PETSC_INTERN PetscErrorCode PolderSweepsApply(PolderSweeps *, const PolderPlace *, Vec r, Vec z);
PETSC_INTERN PetscErrorCode PolderSweepsDestroy(PolderSweeps *, const PolderPlace *);
/* "  3 levels of 10 to 20 rows, 5 entries a row", summed over the processes. Collective */
PETSC_INTERN PetscErrorCode PolderSweepsView(const PolderSweeps *, const char levels[], PetscViewer);
