/* The repeated red-black factorisation: its arrays and unknowns are those of rrbrow.h. */
#pragma once

#include "cg.h"
#include "rrbrow.h"

/*
  rrbfactor: the factorisation of one grid; c, x are its RRB_NCOEF, RRB_NWORK arrays. First rows are put, then black nodes lumped, inverted, eliminated, r1
  inverted, rows of the next grid taken, and at last the couplings scaled. Device: bits RRB_SEEN_... of *seen are raised
*/
/* Row y of a matrix in natural order: row[RRB_C][x] is the diagonal of node x, the others its couplings to the E, N, NE and SE */
PETSC_INTERN void PolderRRBPutRow_Host(const PolderRRBGrid *g, PetscInt y, PetscScalar *const row[], PetscScalar c[], PetscScalar x[]);
PETSC_INTERN void PolderRRBLump_Host(const PolderRRBGrid *g, PetscReal omega, PetscScalar c[], const PetscScalar x[]);
/* lump: also the couplings of r1 among themselves */
PETSC_INTERN void PolderRRBEliminateBlack_Host(const PolderRRBGrid *g, PetscBool lump, PetscReal omega, PetscScalar c[], PetscScalar x[]);
/* d becomes 1 / d in the nx by ny nodes of a quarter; returns how many are not positive */
PETSC_INTERN PetscInt PolderRRBInvert_Host(const PolderRRBGrid *g, PetscInt nx, PetscInt ny, PetscScalar d[]);
/* Row v of the next grid */
PETSC_INTERN void PolderRRBCoarseRow_Host(const PolderRRBGrid *g, PetscInt v, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[]);
/* Row y of the nodes left by the elimination of the black ones: r1 (y even) or r2, with couplings E and N over two nodes */
PETSC_INTERN void PolderRRBSkewRow_Host(const PolderRRBGrid *g, PetscInt y, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[]);
/* Couplings become entries of the factor. Device: single != NULL: there, in single precision */
PETSC_INTERN void   PolderRRBScale_Host(const PolderRRBGrid *g, PetscScalar c[]);
POLDER_LAUNCHER int PolderRRBScale_CUDA(const PolderRRBGrid *g, PetscScalar c[], float single[], int *seen, PolderStream stream);
/* The nodes of neighbours in the border */
PETSC_INTERN void PolderRRBScaleBorder_Host(const PolderRRBGrid *g, PetscScalar c[]);
/* The factor in single precision, with the border; PETSC_FALSE: it does not hold all values */
PETSC_INTERN PetscBool PolderRRBRound_Host(const PolderRRBGrid *g, const PetscScalar c[], float single[]);
/*
  Looks at the rows of a matrix on diagonals (as in dia.h) or compressed rows; row[f] != NULL: they become RRB_NROW arrays in natural order. half: the lower
  diagonals lead into the upper ones
*/
#define POLDER_RRB_DIAGONALS 32
POLDER_LAUNCHER int PolderRRBRowsDia_CUDA(PetscInt nx, PetscInt ny, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscBool half, PetscScalar *const row[], int *seen, PolderStream stream);
POLDER_LAUNCHER int PolderRRBRowsCsr_CUDA(PetscInt nx, PetscInt ny, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar *const row[], int *seen, PolderStream stream);
/* Rows into the arrays c and x (of which only RRB_R2D is used), black pivots lumped and inverted */
POLDER_LAUNCHER int PolderRRBBlack_CUDA(const PolderRRBGrid *g, const PolderRRBEntries *rows, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen, PolderStream stream);
/* Black nodes are eliminated from the red ones; unless half, r1 pivots lumped and inverted */
POLDER_LAUNCHER int PolderRRBRed_CUDA(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen, PolderStream stream);
/* What is left as rows: of the next grid, ld apart; half: of the rest, one after the other */
POLDER_LAUNCHER int PolderRRBNext_CUDA(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[], PetscInt ld, PolderStream stream);
/*
  E, ld by ld, <- the rows of the rest as a symmetric matrix, zero around it; plus shift[part] where two unknowns are of the same part (part = NULL: none;
  -1: of none)
*/
POLDER_LAUNCHER int PolderRRBRest_CUDA(PetscInt nx, PetscInt ny, PetscBool skew, PetscScalar *const row[], const PetscInt part[], const PetscScalar shift[], PetscInt ld, PetscScalar E[], PolderStream stream);

/*
  rrb.cu: a sweep over one grid with its coefficients c, double or float (single). Vectors are in natural order, rows ld apart; those of the next grid, rows
  ldnext apart. half: only black nodes are eliminated, and what is next is the rest, its unknowns in the order of PolderRRBUnknown()
*/
typedef struct {
  PolderRRBGrid      g;
  PetscBool          half;
  const void        *c;
  const PetscScalar *r; /* right-hand side and solution */
  PetscScalar       *x;
  PetscInt           ld;
  PetscScalar       *rnext;
  const PetscScalar *xnext;
  PetscInt           ldnext;
} PolderRRBStep;

/*
  Host: z <- r, in natural order with rows ld apart, with the grid's nodes eliminated (half: the black ones only); then the way back, scaled by the pivots,
  into x. z: RRB_NVEC arrays. Device: rnext <- r with the grid's nodes eliminated; x <- the way back from xnext. rho != NULL: (r, x) and the sum of x are
  those of a state
*/
PETSC_INTERN void   PolderRRBForward_Host(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], const PetscScalar r[], PetscInt ld, PetscScalar z[]);
POLDER_LAUNCHER int PolderRRBForward_CUDA(PetscBool single, const PolderRRBStep *step, PolderStream stream);
PETSC_INTERN void   PolderRRBBackward_Host(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], PetscScalar z[], PetscScalar x[], PetscInt ld);
POLDER_LAUNCHER int PolderRRBBackward_CUDA(PetscBool single, const PolderRRBStep *step, const PolderCGRho *rho, void *work, PolderStream stream);
/* ny rows of nx values, so far apart */
PETSC_INTERN void PolderRRBCopy_Host(PetscInt nx, PetscInt ny, const PetscScalar from[], PetscInt ldfrom, PetscScalar to[], PetscInt ldto);
/*
  The nodes that a grid of odd size lacks are zero, and what is computed there is again, until a vector that is not finite passes: back to zero. Each way of
  loading does it
*/
PETSC_INTERN void PolderRRBClearMissing_Host(const PolderRRBGrid *g, PetscScalar z[]);
/*
  The phases one by one, between which neighbours exchange values in the border of the arrays: forward, load of b1 and b2 next to the border, then load of
  all and r1, then r2; backward r1, then what is left as for half. Load alone, and what r2 takes from r1 alone, are for vectors without black nodes
*/
PETSC_INTERN void PolderRRBLoad_Host(const PolderRRBGrid *g, const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBLoadBorder_Host(const PolderRRBGrid *g, const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardR1_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardRed_Host(const PolderRRBGrid *g, const PetscScalar c[], PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardR2_Host(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], PetscScalar z[]);
PETSC_INTERN void PolderRRBBackwardR1_Host(const PolderRRBGrid *g, const PetscScalar c[], PetscScalar z[]);
/* The same with the factor in single precision */
PETSC_INTERN void PolderRRBForwardR1Single_Host(const PolderRRBGrid *g, const float c[], const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardRedSingle_Host(const PolderRRBGrid *g, const float c[], PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardR2Single_Host(const PolderRRBGrid *g, PetscBool half, const float c[], PetscScalar z[]);
PETSC_INTERN void PolderRRBBackwardR1Single_Host(const PolderRRBGrid *g, const float c[], PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardSingle_Host(const PolderRRBGrid *g, PetscBool half, const float c[], const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBBackwardSingle_Host(const PolderRRBGrid *g, PetscBool half, const float c[], PetscScalar z[], PetscScalar x[], PetscInt ld);

/*
  Device: small grids, one after the other, in one kernel: nodes of the largest, and number of them, at most. Each has the next one's r and x as rnext and
  xnext
*/
#define POLDER_RRB_SMALL       65536
#define POLDER_RRB_SMALL_GRIDS 12
/* Unknowns of a rest that this kernel solves for: more are better left to PolderDenseMult_CUDA() */
#define POLDER_RRB_SMALL_REST 1536
typedef enum {
  RRB_SMALL_ALL,     /* forward, x <- inverse b, backward */
  RRB_SMALL_FORWARD, /* one of them only */
  RRB_SMALL_BACKWARD
} PolderRRBPart;
POLDER_LAUNCHER int PolderRRBSmall_CUDA(PetscBool single, PolderRRBPart part, PetscInt ngrid, const PolderRRBStep step[], PetscInt n, PetscInt ld, const PetscScalar inverse[], const PetscScalar b[], PetscScalar x[], PolderStream stream);

/*
  rrbtail.cu: T, n by n with rows ld apart, <- the symmetric matrix of what the sweeps over these grids, and the inverse of the rest after them, make of a
  vector of the first grid in natural order; red: of its red nodes, in the order of PolderRRBUnknown(). Of the steps only g, half and c are used
*/
#define POLDER_RRB_TAIL 1024 /* n at most */
POLDER_LAUNCHER int PolderRRBTail_CUDA(PetscBool single, PetscBool red, PetscInt ngrid, const PolderRRBStep step[], PetscInt nrest, PetscInt ldrest, const PetscScalar inverse[], PetscInt n, PetscInt ld, PetscScalar T[], PolderStream stream);

/*
  rrbreduced: the first Schur complement S of a 5-point matrix on vectors of the red nodes, see rrbreduced.h; a: its RRB_NREDUCED arrays, whose borders are
  zero on the device
*/
/*
  Host: after PolderRRBEliminateBlack_Host() without lump; lump: then the couplings of r1 among themselves, as there.
  Device: after PolderRRBRed_CUDA() with half; unless half, r1 pivots are then lumped and inverted
*/
PETSC_INTERN void   PolderRRBReducedFill_Host(const PolderRRBGrid *g, PetscBool lump, PetscReal omega, PetscScalar c[], const PetscScalar x[], PetscScalar a[]);
POLDER_LAUNCHER int PolderRRBReducedFill_CUDA(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], const PetscScalar x[], PetscScalar a[], int *seen, PolderStream stream);
/* y = S x; dot != NULL: becomes (x, y) */
PETSC_INTERN void   PolderRRBReducedMult_Host(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot);
POLDER_LAUNCHER int PolderRRBReducedMult_CUDA(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream);
/* x with a border, see PolderRRBBorderRows() */
PETSC_INTERN void PolderRRBReducedMultBorder_Host(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot);
/*
  With c, the factor of the first grid in double precision, vectors in natural order with rows ld apart: r = b_r - S_rb D_b^-1 b_b; x = r on red nodes and
  D_b^-1 (b_b - S_br r) on black ones
*/
PETSC_INTERN void   PolderRRBReduce_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar b[], PetscInt ld, PetscScalar r[]);
POLDER_LAUNCHER int PolderRRBReduce_CUDA(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar b[], PetscInt ld, PetscScalar r[], PolderStream stream);
PETSC_INTERN void   PolderRRBExpand_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar b[], const PetscScalar r[], PetscScalar x[], PetscInt ld);
POLDER_LAUNCHER int PolderRRBExpand_CUDA(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar b[], const PetscScalar r[], PetscScalar x[], PetscInt ld, PolderStream stream);
/* r = x on red nodes */
PETSC_INTERN void   PolderRRBPick_Host(const PolderRRBGrid *g, const PetscScalar x[], PetscInt ld, PetscScalar r[]);
POLDER_LAUNCHER int PolderRRBPick_CUDA(const PolderRRBGrid *g, const PetscScalar x[], PetscInt ld, PetscScalar r[], PolderStream stream);
/*
  Host: r2 of z <- what is left of r when the r1 are eliminated; the way back, scaled by the pivots, into the r1 of z. Device, in rrb.cu:
  PolderRRBForward_CUDA() and PolderRRBBackward_CUDA() with vectors r and z of the red nodes, r1 and then r2, instead of r and x, on a grid that is not half
*/
PETSC_INTERN void   PolderRRBReducedForward_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar r[], PetscScalar z[]);
POLDER_LAUNCHER int PolderRRBReducedForward_CUDA(PetscBool single, const PolderRRBStep *step, const PetscScalar r[], PolderStream stream);
PETSC_INTERN void   PolderRRBReducedBackward_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar r[], PetscScalar z[]);
POLDER_LAUNCHER int PolderRRBReducedBackward_CUDA(PetscBool single, const PolderRRBStep *step, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho, void *work, PolderStream stream);
/* The same with the factor in single precision */
PETSC_INTERN void PolderRRBReducedForwardSingle_Host(const PolderRRBGrid *g, const float c[], const PetscScalar r[], PetscScalar z[]);
PETSC_INTERN void PolderRRBReducedBackwardSingle_Host(const PolderRRBGrid *g, const float c[], const PetscScalar r[], PetscScalar z[]);

/*
  rrbcg.cu: what conjugate gradients on the first Schur complement S need of PC rrb. One grid at least, and that not half; r and x of its step are not used
*/
typedef struct {
  PetscBool            single;
  PetscInt             ngrid;
  const PolderRRBStep *step;  /* [ngrid] on the host */
  PetscInt             n, ld; /* the rest, as in PolderRRBSmall_CUDA() */
  const PetscScalar   *inverse, *b;
  PetscScalar         *x;
  const PetscScalar   *S; /* see rrbreduced.cu */
} PolderRRBSystem;
/*
  prepare: z <- M^-1 r and rho (first: beta is 0). Then up to so many steps: p <- z - mean + beta p (first: z - mean), w <- S p, x <- x + alpha p, r <- r -
  alpha w, the norm, z <- M^-1 r, rho. Where the state is frozen nothing happens any more, so that z and rho may be those of the step before. Vectors of the
  red nodes as above
*/
POLDER_LAUNCHER int PolderRRBCG_CUDA(const PolderRRBSystem *system, PetscBool prepare, PetscBool first, PetscInt count, PetscScalar x[], PetscScalar r[], PetscScalar z[], PetscScalar p[], PetscScalar w[], PolderCGState *state, void *work, PolderStream stream);
/* The most unknowns that it is meant for; 0: the device has no such kernels */
POLDER_LAUNCHER PetscInt PolderRRBCGMost_CUDA(void);
