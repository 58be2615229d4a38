/* The repeated red-black preconditioner: what its files share. */
#pragma once

#include "../polder.h"
#include "../kernels/kernels.h"
#include "../mat/halo.h"

typedef struct {
  PolderRRBGrid g;
  PetscBool     half;   /* only the black nodes are eliminated */
  PetscScalar  *coef;   /* [RRB_NCOEF g.size] factor; NULL after the set-up when it is kept in single precision */
  float        *single; /* [RRB_NCOEF g.size] */
  PetscScalar  *z;      /* [RRB_NVEC g.size] */
} RRBGrid;

/* What is left after the last level, solved exactly */
typedef struct {
  PetscInt     nx, ny;        /* grid of the rest */
  PetscBool    skew;          /* its red nodes only, with couplings E and N over two nodes */
  PetscInt     n, band, npin; /* npin: connected parts that are singular, one unknown of each left out of the factor */
  PetscScalar *row[RRB_NROW]; /* [nx ny] the matrix */
  PetscInt    *number;        /* [nx ny] unknown of a node, -1: none */
  size_t      *place;         /* [n] of an unknown in the values of the last grid, or in the vector when there is none */
  PetscInt    *part;          /* [n] singular part of an unknown, -1: none; npin = 0: not in use */
  PetscInt    *pin;           /* [npin] the unknown left out of a part */
  PetscInt    *size;          /* [npin] of a part */
  PetscReal   *mean;          /* [npin] of the values of a part */
  PetscReal   *kernel;        /* [npin] the mean before the solve */
  PetscReal   *gain;          /* [npin] what it gives to each unknown */
  PetscScalar *factor;        /* [n (band + 1)] */
  PetscScalar *x;             /* [n] */
} RRBRest;

/* Where the grid comes from */
typedef enum {
  RRB_GRID_GIVEN,
  RRB_GRID_DM,
  RRB_GRID_MATRIX
} RRBGridOrigin;

/* What the matrix is like */
typedef struct {
  PetscBool nine;
  PetscBool singular; /* all rows that couple add up to zero */
  PetscInt  positive; /* first row with a positive coupling, -1: none */
  PetscInt  deficit;  /* first row with a negative sum, -1: none */
} RRBMatrix;

typedef struct {
  PetscInt         given[2]; /* grid of the user, 0: none */
  PetscInt         wanted;   /* half levels, PETSC_DECIDE: chosen */
  PetscReal        omega;
  PetscBool        single;
  RRBGridOrigin    origin;
  PetscInt         nx, ny, levels, ngrid;
  RRBGrid         *grid;
  RRBRest          rest;
  RRBMatrix        matrix;
  PetscObjectId    mat; /* the pattern that the grid was found in; 0: none */
  PetscObjectState nonzerostate;
  PetscLogDouble   flops;
  PetscScalar     *scratch[4]; /* of the factorisation; held here so that an error leaves nothing behind */
} PC_RRB;

/* rrbmatrix.c: the grid of the matrix into rrb->nx, ny, origin; errors when there is none */
PETSC_INTERN PetscErrorCode PCRRBFindGrid_Private(PC, const PolderCSR *);
/* Row y of the grid goes to put(y, row, ctx), in ascending order; fills rrb->matrix, errors when the matrix is not a symmetric one on the grid. work: so many zeros */
#define RRB_VISITWORK(nx) ((size_t)((nx) + 2) * (RRB_NROW + 6))
PETSC_INTERN PetscErrorCode PCRRBVisitRows_Private(PC, const PolderCSR *, PetscScalar work[], PetscErrorCode (*put)(PetscInt y, PetscScalar *const row[], void *ctx), void *ctx);

/* rrbfactor.c */
PETSC_INTERN PetscErrorCode PCRRBLayout_Private(PC);
PETSC_INTERN PetscErrorCode PCRRBFreeLayout_Private(PC_RRB *);
PETSC_INTERN PetscErrorCode PCRRBFactor_Private(PC, const PolderCSR *);

/* rrbrest.c */
PETSC_INTERN PetscErrorCode PCRRBRestLayout_Private(PC, PetscInt nx, PetscInt ny, PetscBool skew, const PolderRRBGrid *);
PETSC_INTERN PetscErrorCode PCRRBRestFree_Private(RRBRest *);
PETSC_INTERN PetscErrorCode PCRRBRestFactor_Private(PC);
/* Solves for the unknowns that lie in from[], into to[] */
PETSC_INTERN PetscErrorCode PCRRBRestSolve_Private(RRBRest *, const PetscScalar from[], PetscScalar to[]);
/* Unknowns and half bandwidth of the rest after so many half levels; PETSC_FALSE when the grids end before */
PETSC_INTERN PetscBool PCRRBRestSize_Private(PetscInt nx, PetscInt ny, PetscInt levels, PetscReal *n, PetscReal *band);
/* The node of grid k stands for this row of the matrix */
PETSC_INTERN PetscInt PCRRBRow_Private(const PC_RRB *, PetscInt k, PetscInt x, PetscInt y);
/* Ends with the error of a pivot that is not positive */
PETSC_INTERN PetscErrorCode PCRRBPivotError_Private(PC, PetscInt k, PetscInt x, PetscInt y, PetscReal pivot);
