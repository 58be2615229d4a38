/*
  Stencils on a grid in natural order that reach up to two points far, along diagonals of cells as well: 9, 19 and 27 points, finite elements, differences of
  fourth order. A star is the 3-, 5- or 7-point stencil of their grid that gives linear functions the same energy. Host only.
*/
#pragma once

#include "views.h"

/* How far a stencil reaches in each direction */
#define POLDER_STAR_REACH 2
/* As many offsets to later rows such a stencil may have */
#define POLDER_STAR_OFFSETS 62
/* A row is unlike its star: the directions are coupled by more than this part of the geometric mean of both; a coupling of the star that would be positive, in
   parts of the largest; a negative sum of the row, in parts of its diagonal */
#define POLDER_STAR_CROSS    0.3
#define POLDER_STAR_POSITIVE 0.1
#define POLDER_STAR_NEGATIVE 0.1
/* A row is soft: its diagonal entry is at most this part of that of its star, which so overrates what oscillates, and the second of its directions has at least
   this part of the coupling in the first */
#define POLDER_STAR_SOFT   0.75
#define POLDER_STAR_SECOND 0.25

/* Row x + n[0] (y + n[1] z) is point (x, y, z) */
typedef struct {
  PetscInt n[3];
} PolderStarGrid;

/* The grid of N rows, from the positive offsets off[], ascending, of entries; PETSC_FALSE: there is none, or they are those of a star */
PETSC_INTERN PetscBool PolderStarGridFind_Host(PetscInt n, const PetscInt off[], PetscInt N, PolderStarGrid *);
/*
  What rows contribute to their star: half[6 i + 2 d + k], the part of row i in its coupling to the next point in direction d, backward for k = 0, never
  positive; sum[i], the sum of its entries, never negative; diagonal[i]. How many rows are unlike their star, and how many are soft
*/
typedef struct {
  PetscReal *half, *sum, *diagonal;
  PetscInt   unlike, soft;
} PolderStarParts;
/* Those of the rows from number `first` on of a matrix on that grid, in two blocks. PETSC_FALSE: an entry reaches elsewhere */
PETSC_INTERN PetscBool PolderStarParts_Host(const PolderStarGrid *, PetscInt first, PolderRows A, PolderRows ghosts, const PetscInt garray[],
                                            PolderStarParts *);
/* The neighbour of point `row` in direction d, backward for k = 0; -1: there is none */
static inline PetscInt PolderStarNeighbour(const PolderStarGrid *G, PetscInt row, int d, int k)
{
  const PetscInt step = d == 0 ? 1 : d == 1 ? G->n[0] : G->n[0] * G->n[1], at = row / step % G->n[d];

  if (k ? at == G->n[d] - 1 : at == 0) return -1;
  return k ? row + step : row - step;
}
/*
  The star: entry (i, j) is the mean of the parts of both rows, the sums of rows are sum[]. The parts of row there[g] of another process are
  beyond[6 g ..], there[] ascends. ptr[n + 1], col[] in global numbers, ascending, and val[]
*/
PETSC_INTERN void PolderStarFill_Host(const PolderStarGrid *, PetscInt first, PetscInt n, const PolderStarParts *, PetscInt nthere, const PetscInt there[],
                                      const PetscScalar beyond[], PetscInt ptr[], PetscInt col[], PetscScalar val[]);
/* z += d r, entry by entry */
PETSC_INTERN void PolderStarAdd_Host(PetscInt n, const PetscScalar d[], const PetscScalar r[], PetscScalar z[]);
