/*
  Stencils on a grid in natural order that reach up to two points far, along diagonals of cells as well: 9, 19 and 27 points, finite elements, differences of
  fourth order. A star is the 3-, 5- or 7-point stencil of their grid that gives linear functions the same energy.
*/
#pragma once

#include "launcher.h"
#include "planes.h"

/* How far a stencil reaches in each direction */
#define POLDER_STAR_REACH 2
/* The most entries of a row of a star */
#define POLDER_STAR_POINTS 7
/* As many offsets to later rows such a stencil may have */
#define POLDER_STAR_OFFSETS 62

/* Row x + n[0] (y + n[1] z) is point (x, y, z) */
typedef struct {
  PetscInt n[3];
} PolderStarGrid;

/* Host only. The grid of N rows, from the positive offsets off[], ascending, of entries; PETSC_FALSE: there is none, or they are those of a star */
PETSC_INTERN PetscBool PolderStarGridFind_Host(PetscInt n, const PetscInt off[], PetscInt N, PolderStarGrid *);
/*
  What rows contribute to their star: half[6 i + 2 d + k], the part of row i in its coupling to the next point in direction d, backward for k = 0, never
  positive; sum[i], the sum of its entries, never negative; diagonal[i]
*/
typedef struct {
  PetscReal *half, *sum, *diagonal;
} PolderStarParts;
/* Rows that are unlike their star, that are soft, see starrow.h, and that have an entry elsewhere, or no diagonal that is positive */
enum {
  POLDER_STAR_UNLIKE,
  POLDER_STAR_SOFT,
  POLDER_STAR_ASTRAY,
  POLDER_STAR_COUNTS
};
/* The parts of the rows from number `first` on of a matrix on that grid, in two blocks, and how many rows are so; count[] is zero before */
PETSC_INTERN void PolderStarRows_Host(const PolderStarGrid *, PetscInt first, PolderRows A, PolderRows ghosts, const PetscInt garray[], const PolderStarParts *,
                                      PetscInt count[]);
POLDER_LAUNCHER int PolderStarRows_CUDA(const PolderStarGrid *, PetscInt first, PolderRows A, PolderRows ghosts, const PetscInt garray[],
                                        const PolderStarParts *, PetscInt count[], PolderStream stream);
/* The pattern of n rows of the star: ptr[n + 1], and col[] in global numbers, ascending */
PETSC_INTERN void   PolderStarPattern_Host(const PolderStarGrid *, PetscInt first, PetscInt n, PetscInt ptr[], PetscInt col[]);
POLDER_LAUNCHER int PolderStarPattern_CUDA(const PolderStarGrid *, PetscInt first, PetscInt n, PetscInt ptr[], PetscInt col[], PolderStream stream);
/*
  Its values: entry (i, j) is the mean of the parts of both rows, the sums of rows are sum[]. The parts of row there[g] of another process are beyond[6 g ..],
  there[] ascends. Device: there is no other process, see PolderStarAcross_Host()
*/
PETSC_INTERN void   PolderStarValues_Host(const PolderStarGrid *, PetscInt first, PetscInt n, const PolderStarParts *, PetscInt nthere, const PetscInt there[],
                                          const PetscScalar beyond[], const PetscInt ptr[], PetscScalar val[]);
POLDER_LAUNCHER int PolderStarValues_CUDA(const PolderStarGrid *, PetscInt first, PetscInt n, const PolderStarParts *, PetscInt nthere, const PetscInt there[],
                                          const PetscScalar beyond[], const PetscInt ptr[], PetscScalar val[], PolderStream stream);
/* Rows at the border of two processes that have whole planes. edge[i] <- the part of row i of the first and the last plane in its coupling to the plane beyond,
   in direction d */
PETSC_INTERN void   PolderStarEdges_Host(const PolderPlanes *, int d, const PetscReal half[], PetscScalar edge[]);
POLDER_LAUNCHER int PolderStarEdges_CUDA(const PolderPlanes *, int d, const PetscReal half[], PetscScalar edge[], PolderStream stream);
/* Entry k across the border: outer[k] <- the coupling, the mean of edge[] of the row and of its neighbour's, which is beyond[k]; the diagonal entry of the row
   in val[] loses it. own: the grid of the rows of this process, whose star ptr[] and val[] are */
PETSC_INTERN void   PolderStarAcross_Host(const PolderPlanes *, const PolderStarGrid *own, const PetscScalar edge[], const PetscScalar beyond[],
                                          const PetscInt ptr[], PetscScalar outer[], PetscScalar val[]);
POLDER_LAUNCHER int PolderStarAcross_CUDA(const PolderPlanes *, const PolderStarGrid *own, const PetscScalar edge[], const PetscScalar beyond[],
                                          const PetscInt ptr[], PetscScalar outer[], PetscScalar val[], PolderStream stream);
/* d <- damping over the diagonal entry of a row, zero where that is not positive */
PETSC_INTERN void   PolderStarStep_Host(PetscInt n, PetscReal damping, const PetscReal diagonal[], PetscScalar d[]);
POLDER_LAUNCHER int PolderStarStep_CUDA(PetscInt n, PetscReal damping, const PetscReal diagonal[], PetscScalar d[], PolderStream stream);
/* z += d r, entry by entry */
PETSC_INTERN void   PolderStarAdd_Host(PetscInt n, const PetscScalar d[], const PetscScalar r[], PetscScalar z[]);
POLDER_LAUNCHER int PolderStarAdd_CUDA(PetscInt n, const PetscScalar d[], const PetscScalar r[], PetscScalar z[], PolderStream stream);
