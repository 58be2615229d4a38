/* Kernels of the repeated red-black factorisation; rrbrow.h describes its arrays and unknowns. */
#pragma once

#include "cg.h"
#include "views.h"
#include "rrbreduced.h"

/*
  rrbfactor: the factorisation of one grid; c and x are its RRB_NCOEF and RRB_NWORK arrays. The order of the calls: rows are put; black nodes are lumped,
  inverted and eliminated; r1 is lumped and inverted; the rows of the next grid are computed; the couplings are scaled. Device: sets bits RRB_SEEN_... of
  *seen. Host: row by row; each kernel reads the rows v - 1, v and v + 1 as the kernels before it in this order have left them.
*/
/* Puts row y of a matrix in natural order: row[RRB_C][x] is the diagonal of node x, the other arrays are its couplings to E, N, NE and SE */
PETSC_INTERN void PolderRRBPutRow_Host(const PolderRRBGrid *g, PetscInt y, PetscScalar *const row[], PetscScalar c[], PetscScalar x[]);
PETSC_INTERN void PolderRRBLumpRow_Host(const PolderRRBGrid *g, PetscInt v, PetscReal omega, PetscScalar c[], const PetscScalar x[]);
/* d <- 1 / d on the first n nodes of row v of a quarter; returns the number of pivots that are not positive */
PETSC_INTERN PetscInt PolderRRBInvertRow_Host(const PolderRRBGrid *g, PetscInt n, PetscInt v, PetscScalar d[]);
/* Eliminates the black nodes from row v of r1; from row v of r2 */
PETSC_INTERN void PolderRRBBlackFromR1Row_Host(const PolderRRBGrid *g, PetscInt v, PetscScalar c[]);
PETSC_INTERN void PolderRRBBlackFromR2Row_Host(const PolderRRBGrid *g, PetscInt v, const PetscScalar c[], PetscScalar x[]);
/* Lumps the couplings of r1 among themselves */
PETSC_INTERN void PolderRRBLumpR1Row_Host(const PolderRRBGrid *g, PetscInt v, PetscReal omega, PetscScalar c[]);
/* Computes row v of the next grid */
PETSC_INTERN void PolderRRBCoarseRow_Host(const PolderRRBGrid *g, PetscInt v, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[]);
/* Computes row y of the Schur complement on the red nodes: r1 (y even) or r2, with couplings E and N over two nodes */
PETSC_INTERN void PolderRRBSkewRow_Host(const PolderRRBGrid *g, PetscInt y, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[]);
/* Scales the couplings to entries of the factor. Device: single != NULL: stores them there, in single precision */
PETSC_INTERN void   PolderRRBScaleRow_Host(const PolderRRBGrid *g, PetscInt v, PetscScalar c[]);
POLDER_LAUNCHER int PolderRRBScale_CUDA(const PolderRRBGrid *g, PetscScalar c[], float single[], int *seen, PolderStream stream);
/* The same for the border, which holds nodes of neighbour processes */
PETSC_INTERN void PolderRRBScaleBorder_Host(const PolderRRBGrid *g, PetscScalar c[]);
/* Rounds the factor with its border to single precision; PETSC_FALSE: a value is out of range */
PETSC_INTERN PetscBool PolderRRBRound_Host(const PolderRRBGrid *g, const PetscScalar c[], float single[]);
/*
  Surveys the rows of a matrix by diagonals (as in dia.h), those of the lines from <= y < to, or compressed rows; row[f] != NULL: stores them as RRB_NROW
  arrays in natural order.
*/
#define POLDER_RRB_DIAGONALS 32
POLDER_LAUNCHER int PolderRRBRowsDia_CUDA(PetscInt nx, PetscInt ny, PetscInt from, PetscInt to, const PolderDia *A, PetscScalar *const row[], int *seen,
                                          PolderStream stream);
POLDER_LAUNCHER int PolderRRBRowsCsr_CUDA(PetscInt nx, PetscInt ny, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar *const row[],
                                          int *seen, PolderStream stream);
/*
  entry[d][i] <- the entry of own row i in direction d, RRB_TO_SW ... RRB_TO_NE, unless entry[d] = NULL; column k of ghosts is node[k] = y nx + x. seen:
  RRB_SEEN_BAD for an entry that couples no neighbours, RRB_SEEN_NINE; on the host, too
*/
#define POLDER_RRB_DIRECTIONS 9
PETSC_INTERN void   PolderRRBOwnRows_Host(const PolderRRBOwn *own, PolderRows rows, PolderRows ghosts, const PetscInt node[], PetscScalar *const entry[],
                                          int *seen);
POLDER_LAUNCHER int PolderRRBOwnRows_CUDA(const PolderRRBOwn *own, PolderRows rows, PolderRows ghosts, const PetscInt node[], PetscScalar *const entry[],
                                          int *seen, PolderStream stream);
/* Puts the rows into the arrays c and x (of which only RRB_R2D is used); lumps and inverts the black pivots */
POLDER_LAUNCHER int PolderRRBBlack_CUDA(const PolderRRBGrid *g, const PolderRRBEntries *rows, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen,
                                        PolderStream stream);
/* Eliminates the black nodes; unless half, lumps and inverts the r1 pivots */
POLDER_LAUNCHER int PolderRRBRed_CUDA(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen,
                                      PolderStream stream);
/* Computes the remaining rows: of the next grid, ld apart; half: of the rest, contiguous */
POLDER_LAUNCHER int PolderRRBNext_CUDA(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[],
                                       PetscInt ld, PolderStream stream);
/*
  E <- the E.n rows of the rest as a symmetric matrix, padded with zeros to E.ld by E.ld, plus shift[part] where two unknowns are in the same part (part = NULL:
  none; part -1: in no part).
*/
POLDER_LAUNCHER int PolderRRBRest_CUDA(PetscInt nx, PetscInt ny, PetscBool skew, PetscScalar *const row[], const PetscInt part[], const PetscScalar shift[],
                                       PolderDense E, PolderStream stream);

/*
  rrb.cu: a sweep over one grid with its coefficients c, double or float (single). Vectors are in natural order with rows ld apart; those of the next grid
  have rows ldnext apart. half: only black nodes are eliminated, and the next vectors are those of the rest, numbered by PolderRRBUnknown().
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
  PetscInt           from, to; /* the kernels of one grid compute the lines 2 from <= y < 2 to alone, or what they give to the next grid; to = 0: all */
  PolderRRBEnds      ends;     /* of vectors of red nodes */
  /* of a grid that is visited twice: r, x, v and d are planes, ld apart, and point to node (0, 0) */
  PetscScalar *v, *d;     /* the first visit, and the residual that it leaves */
  PetscReal    length[2]; /* of the visits */
  /* its matrix */
  PolderRRBPlane     plane;
  const PetscScalar *a;
} PolderRRBStep;

/* The passes of an apply, one after the other */
typedef enum {
  RRB_PASS_FORWARD,
  RRB_PASS_REST,
  RRB_PASS_BACKWARD,
  RRB_PASS_RESIDUAL, /* d <- r - length[0] A v */
  RRB_PASS_COMBINE   /* x <- length[0] v + length[1] x */
} PolderRRBPassType;

typedef struct {
  unsigned char type, grid;
  unsigned char visit; /* of a sweep: 0: the only one, from r to x; 1: the first one, from r to v; 2: the second one, from d to x */
} PolderRRBPass;

/* Maximum number of passes of the device */
#define POLDER_RRB_PASSES 128
/* Stores the passes of a visit of grid k, and of those below it, in pass[] and returns their number; bit k of `twice`: grid k is visited twice. pass = NULL:
   returns the number alone */
PETSC_INTERN PetscInt PolderRRBPassesOfVisit(PetscInt k, PetscInt ngrid, unsigned twice, int visit, PolderRRBPass pass[]);
/* The same for a solve on grid k, of both visits if there are two */
PETSC_INTERN PetscInt PolderRRBPassesOfGrid(PetscInt k, PetscInt ngrid, unsigned twice, PolderRRBPass pass[]);

/* The step of a sweep: its vectors are those of the visit */
POLDER_BODY_INLINE PolderRRBStep PolderRRBVisitStep(PolderRRBStep s, int visit)
{
  if (visit == 1) s.x = s.v;
  if (visit == 2) s.r = s.d;
  return s;
}

/*
  Host: z <- r, in natural order with rows ld apart, with the grid's nodes eliminated (half: the black ones only); backward, with scaling by the pivots, into
  x. z: RRB_NVEC arrays. Device: rnext <- r with the grid's nodes eliminated; x <- backward substitution from xnext. rho != NULL: (r, x) and the sum of x
  become those of a state.
*/
PETSC_INTERN void   PolderRRBForward_Host(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], const PetscScalar r[], PetscInt ld, PetscScalar z[]);
POLDER_LAUNCHER int PolderRRBForward_CUDA(PetscBool single, const PolderRRBStep *step, PolderStream stream);
PETSC_INTERN void   PolderRRBBackward_Host(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], PetscScalar z[], PetscScalar x[], PetscInt ld);
POLDER_LAUNCHER int PolderRRBBackward_CUDA(PetscBool single, const PolderRRBStep *step, const PolderCGRho *rho, void *work, PolderStream stream);
/*
  rrbvisits: second visits of a grid. a: the RRB_NROW arrays of its matrix; v and other vectors without a distance of rows are planes as well, whose border is
  read but not written
*/
/* d <- r - alpha A v; r, with rows ld apart, = NULL: zero */
PETSC_INTERN void   PolderRRBResidual_Host(const PolderRRBPlane *g, const PetscScalar a[], const PetscScalar r[], PetscInt ld, PetscReal alpha,
                                           const PetscScalar v[], PetscScalar d[]);
POLDER_LAUNCHER int PolderRRBResidual_CUDA(const PolderRRBPlane *g, const PetscScalar a[], const PetscScalar r[], PetscInt ld, PetscReal alpha,
                                           const PetscScalar v[], PetscScalar d[], PolderStream stream);
/* z <- alpha (v - gamma w) + beta z; w = NULL: zero; rows of z are ld apart */
PETSC_INTERN void PolderRRBCombine_Host(const PolderRRBPlane *g, PetscReal alpha, const PetscScalar v[], PetscReal gamma, const PetscScalar w[], PetscReal beta,
                                        PetscScalar z[], PetscInt ld);
POLDER_LAUNCHER int PolderRRBCombine_CUDA(const PolderRRBPlane *g, PetscReal alpha, const PetscScalar v[], PetscReal gamma, const PetscScalar w[],
                                          PetscReal beta, PetscScalar z[], PetscInt ld, PolderStream stream);
/* v <- random signs divided by the square root of the diagonal; node (0, 0) is number `first` of a grid with lines of nx nodes */
PETSC_INTERN void   PolderRRBSigns_Host(const PolderRRBPlane *g, PetscInt nx, PetscInt first, const PetscScalar a[], PetscScalar v[]);
POLDER_LAUNCHER int PolderRRBSigns_CUDA(const PolderRRBPlane *g, PetscInt nx, PetscInt first, const PetscScalar a[], PetscScalar v[], PolderStream stream);
/* *dot <- (u, v) on the nodes of planes */
PETSC_INTERN void   PolderRRBPlaneDot_Host(const PolderRRBPlane *g, const PetscScalar u[], const PetscScalar v[], PetscScalar *dot);
POLDER_LAUNCHER int PolderRRBPlaneDot_CUDA(const PolderRRBPlane *g, const PetscScalar u[], const PetscScalar v[], PetscScalar *dot, void *work,
                                           PolderStream stream);
/* Copies ny rows of nx values between arrays with different distances between rows */
PETSC_INTERN void PolderRRBCopy_Host(PetscInt nx, PetscInt ny, const PetscScalar from[], PetscInt ldfrom, PetscScalar to[], PetscInt ldto);
/* Zeros in the border, and in the outermost nodes, of n arrays of a grid: what a set-up, or a load, does not write. single: of floats */
PETSC_INTERN void   PolderRRBClearEdges_Host(const PolderRRBGrid *g, int n, PetscScalar a[]);
POLDER_LAUNCHER int PolderRRBClearEdges_CUDA(const PolderRRBGrid *g, int n, PetscBool single, void *a, PolderStream stream);
/* Does row v > 0 of n arrays equal row v - 1, each with the values beside it? */
PETSC_INTERN PetscBool PolderRRBSameRow_Host(const PolderRRBGrid *g, PetscInt v, int n, const PetscScalar a[]);
/* shift[v] as in PolderRRBGrid, given which rows equal the one before; returns the number of rows that read those of another */
PETSC_INTERN PetscInt PolderRRBShareRows_Host(const PolderRRBGrid *g, const PetscBool same[], ptrdiff_t shift[]);
/* Nodes that a grid of odd size lacks are stored as zeros and stay zero, except after a vector that is not finite: this resets them. Every load calls it. */
PETSC_INTERN void PolderRRBClearMissing_Host(const PolderRRBGrid *g, PetscScalar z[]);
/*
  The single phases, between which processes exchange the borders of the arrays. Forward: load b1 and b2 next to the border, then load the rest of the nodes
  and do r1, then r2. Backward: r1, then the nodes as for half. Loading alone, and the update of r2 from r1 alone, serve vectors without black nodes.
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

/* Grids, one below the other, and the rest below them. x and r of each grid but the first are xnext and rnext of the one above */
typedef struct {
  PetscBool            single;
  PetscInt             ngrid;
  const PolderRRBStep *step;  /* [ngrid] on the host */
  PetscInt             n, ld; /* of the rest: unknowns, distance between the rows of its inverse */
  const PetscScalar   *b;
  PetscScalar         *inverse, *x; /* x: inverse b */
  const PetscScalar   *S;           /* the first Schur complement of the first grid, see rrbreduced.cu; read by PolderRRBCG_CUDA() alone */
  PetscInt             npass, base; /* what to do with these grids; the number of the first one in these passes */
  const PolderRRBPass *pass;        /* [npass] on the host */
} PolderRRBSystem;

/*
  Device: the passes on small grids in one kernel. Limits: nodes of the largest grid, and number of grids.
*/
#define POLDER_RRB_SMALL       65536
#define POLDER_RRB_SMALL_GRIDS 12
/* Maximum size of the rest for this kernel: beyond it PolderDenseMult_CUDA() is faster */
#define POLDER_RRB_SMALL_REST 1536
POLDER_LAUNCHER int PolderRRBSmall_CUDA(const PolderRRBSystem *small, PolderStream stream);

/*
  rrbtail.cu: T <- the symmetric matrix that applies the sweeps over these grids, with the inverse of the rest, to a vector of the first grid in natural
  order; red: to a vector of its red nodes, numbered by PolderRRBUnknown(). Of the steps only g, half and c are used, and b and x are not.
*/
#define POLDER_RRB_TAIL 1024 /* maximum size of T */
POLDER_LAUNCHER int PolderRRBTail_CUDA(const PolderRRBSystem *grids, PetscBool red, PolderDense T, PolderStream stream);

/*
  rrbreduced: the first Schur complement S of a 5-point matrix on vectors of the red nodes, see rrbreduced.h; a: its RRB_NREDUCED arrays, on the device with
  zero borders.
*/
/*
  Host: row v, after the elimination of the black nodes from the rows v and v + 1 of r1 and row v of r2, before r1 is lumped.
  Device: after PolderRRBRed_CUDA() with half; unless half, r1 pivots are then lumped and inverted
*/
PETSC_INTERN void   PolderRRBReducedFillRow_Host(const PolderRRBGrid *g, PetscInt v, const PetscScalar c[], const PetscScalar x[], PetscScalar a[]);
POLDER_LAUNCHER int PolderRRBReducedFill_CUDA(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], const PetscScalar x[], PetscScalar a[],
                                              int *seen, PolderStream stream);
/* y = S x; dot != NULL: becomes (x, y) */
PETSC_INTERN void   PolderRRBReducedMult_Host(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot);
POLDER_LAUNCHER int PolderRRBReducedMult_CUDA(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot,
                                              void *work, PolderStream stream);
/*
  The same for a part of a grid: g has its lines alone, with the size, pitch and an origin of the whole. Ends: the first row of r1 and of r2, then the last
  ones, 2 (hx + nx / 2) values. The sweeps below use step->ends, above for the way down; below says that xnext goes on below, for the way back.
*/
PETSC_INTERN void   PolderRRBReducedMultPart_Host(const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar a[], const PetscScalar x[], PetscScalar y[],
                                                  PetscScalar *dot);
POLDER_LAUNCHER int PolderRRBReducedMultPart_CUDA(const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar a[], const PetscScalar x[], PetscScalar y[],
                                                  PetscScalar *dot, void *work, PolderStream stream);
PETSC_INTERN void   PolderRRBReducedEnds_Host(const PolderRRBGrid *g, const PetscScalar x[], PetscScalar ends[]);
POLDER_LAUNCHER int PolderRRBReducedEnds_CUDA(const PolderRRBGrid *g, const PetscScalar x[], PetscScalar ends[], PolderStream stream);
/* x has a border, see PolderRRBBorderRows() */
PETSC_INTERN void PolderRRBReducedMultBorder_Host(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot);
/*
  Condenses the right-hand side and expands the solution, with c the factor of the first grid in double precision, for a grid or a part of one:
  r = b_r - S_rb D_b^-1 b_b; x = r on red nodes and D_b^-1 (b_b - S_br r) on black nodes. ends: of r. Lines of x are in own and all where those of b are.
*/
PETSC_INTERN void   PolderRRBReduce_Host(const PolderRRBGrid *g, const PetscScalar c[], PolderRRBNodes b, PetscScalar r[]);
POLDER_LAUNCHER int PolderRRBReduce_CUDA(const PolderRRBGrid *g, const PetscScalar c[], PolderRRBNodes b, PetscScalar r[], PolderStream stream);
PETSC_INTERN void   PolderRRBExpand_Host(const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar c[], PolderRRBNodes b, const PetscScalar r[],
                                         PetscScalar own[], PetscScalar all[]);
POLDER_LAUNCHER int PolderRRBExpand_CUDA(const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar c[], PolderRRBNodes b, const PetscScalar r[],
                                         PetscScalar own[], PetscScalar all[], PolderStream stream);
/* r = x on red nodes */
PETSC_INTERN void   PolderRRBPick_Host(const PolderRRBGrid *g, PolderRRBNodes x, PetscScalar r[]);
POLDER_LAUNCHER int PolderRRBPick_CUDA(const PolderRRBGrid *g, PolderRRBNodes x, PetscScalar r[], PolderStream stream);
/*
  Host: r2 of z <- r with the r1 eliminated; backward, with scaling by the pivots, into the r1 of z. Device, in rrb.cu: PolderRRBForward_CUDA() and
  PolderRRBBackward_CUDA(), with vectors r and z of the red nodes (r1, then r2) instead of r and x, on a grid that is not half.
*/
PETSC_INTERN void   PolderRRBReducedForward_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar r[], PetscScalar z[]);
POLDER_LAUNCHER int PolderRRBReducedForward_CUDA(PetscBool single, const PolderRRBStep *step, const PetscScalar r[], PolderStream stream);
PETSC_INTERN void   PolderRRBReducedBackward_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar r[], PetscScalar z[]);
POLDER_LAUNCHER int PolderRRBReducedBackward_CUDA(PetscBool single, const PolderRRBStep *step, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho,
                                                  void *work, PolderStream stream);
/* The same with the factor in single precision */
PETSC_INTERN void PolderRRBReducedForwardSingle_Host(const PolderRRBGrid *g, const float c[], const PetscScalar r[], PetscScalar z[]);
PETSC_INTERN void PolderRRBReducedBackwardSingle_Host(const PolderRRBGrid *g, const float c[], const PetscScalar r[], PetscScalar z[]);

/*
  rrbcg.cu: conjugate gradients on the first Schur complement S with the sweeps of PC rrb, whose passes are those of the grids after the first. There is at
  least one grid that is not half; r and x of its step are not used. prepare: z <- M^-1 r and rho (first: beta is 0). Then at most `count` steps:
  p <- z - mean + beta p (first: z - mean), w <- S p, x <- x + alpha p, r <- r - alpha w, the norm, z <- M^-1 r, rho. Once the state is frozen nothing changes,
  so z and rho may be those of the step before. Vectors are those of the red nodes, as above.
*/
POLDER_LAUNCHER int PolderRRBCG_CUDA(const PolderRRBSystem *system, PetscBool prepare, PetscBool first, PetscInt count, const PolderCGVectors *vectors,
                                     PolderCGState *state, void *work, PolderStream stream);
/* Maximum number of unknowns for this kernel; 0: not available on this device */
POLDER_LAUNCHER PetscInt PolderRRBCGMost_CUDA(void);
