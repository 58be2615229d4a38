/* The repeated red-black preconditioner: what its files share. */
#pragma once

#include "core/core.h"
#include "core/methods.h"
#include "core/place.h"
#include "kernels/rrb.h"
#include "kernels/rrbreduced.h"
#include "mat/halo.h"
#include <petscdm.h>
#include <petscsf.h>

/* Half levels: more than any grid has, so that a program may ask for all of them */
#define PC_RRB_LEVELS_MAX 1000

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

/* What CG on the first Schur complement S of a 5-point matrix needs besides; coef: NULL while nobody wants it */
typedef struct {
  PetscBool    wanted;
  PetscBool    valid; /* the matrix of the factor has 5 points */
  PetscScalar *coef;  /* [RRB_NREDUCED grid[0].g.size] */
  size_t      *place; /* [rest.n] of an unknown of the rest in a reduced vector, when there is one grid only */
  PetscSF      halo;  /* several processes: from a vector to the border of x */
  PetscScalar *x;     /* [2 (hx + 2) (hy + 2)] a vector with border, see PolderRRBBorderRows() */
} RRBReduced;

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

/* Nodes x0 <= x < x1, y0 <= y < y1 of a grid */
typedef struct {
  PetscInt x0, x1, y0, y1;
} RRBBox;

/* Where the rows of the matrix lie: in natural order, cut anywhere, or box after box of a grid of processes, as a DMDA numbers them */
typedef struct {
  PetscBool   natural;
  PetscInt    np[2];    /* processes in x and y; natural order: 1 and all of them */
  PetscInt   *start[2]; /* [np + 1] first node of each; natural order: NULL */
  PetscInt   *range;    /* [processes + 1] first row of each */
  PetscInt   *ghost;    /* node, y nx + x, of each ghost column of the matrix */
  PetscMPIInt rank;     /* this process */
} RRBRows;

/* The nodes a <= x < b of a line that this process has the rows of: rows row, row + 1, ... of this process, where lines have ld rows and this one begins
   with first */
typedef struct {
  PetscInt a, b, row, first, ld;
} RRBLine;

/* Entries of a row by direction, W to E within S to N: (dy + 1) * 3 + dx + 1 */
enum {
  RRB_NENTRY = 9
};

/* What neighbours exchange on a grid */
typedef enum {
  RRB_EXCHANGE_PUT,    /* in the set-up: couplings, to the end that is eliminated first */
  RRB_EXCHANGE_WORK,   /* those of the work arrays */
  RRB_EXCHANGE_BLACK,  /* black nodes with inverse pivots */
  RRB_EXCHANGE_R1,     /* r1 with inverse pivots */
  RRB_EXCHANGE_ZBLACK, /* values of the vector */
  RRB_EXCHANGE_ZR1,
  RRB_EXCHANGE_ZR2,
  RRB_EXCHANGE_REDUCED, /* S, see RRBReduced */
  RRB_NEXCHANGE
} RRBExchange;

/*
  On several processes each has a box of the grid. Boxes begin at multiples of 2^ngrid, so that the first ngrid grids are cut between cells of r1, b1, b2, r2;
  what follows is on every process
*/
typedef struct {
  PetscInt  size;                     /* processes; 0: one, and nothing of this is in use */
  PetscInt  ngrid;                    /* grids in boxes */
  PetscInt  whole;                    /* the first grid that every process has: ngrid or, when the last one in boxes is half, what is left of that */
  PetscInt  np[2];                    /* boxes in x and y, at most one a process */
  PetscInt *cut[2];                   /* [np + 1] where they begin */
  PetscInt *index[2];                 /* [np] column and line of RRBRows whose process holds them */
  PetscInt  at[2];                    /* those of this process; -1: it has none */
  PetscSF (*exchange)[RRB_NEXCHANGE]; /* [ngrid] */
  PetscSF      fetch;                 /* rows of other processes that this one reads, RRB_NENTRY values each */
  PetscInt     nsend, *send;          /* rows of this one that others read */
  PetscScalar *sent, *fetched;
  MPI_Datatype unit;
  PetscSF      move;          /* vectors from their rows into boxes; NULL: the rows of each process are those of its box */
  PetscScalar *box;           /* [nodes of the box] a vector, when they move */
  PetscMPIInt *count, *displ; /* [size] nodes of the first grid on every process that come from each */
  PetscScalar *part;          /* [RRB_NROW nodes] of that grid that come from this process */
  PetscScalar *parts, *all;   /* [nodes], [RRB_NROW nodes] of that grid in the order of processes, and in natural order */
} RRBRanks;

/* The first pivot that is not positive */
typedef struct {
  PetscInt  half, k, x, y; /* set of nodes, in order of elimination; node of grid k. half = PETSC_MAX_INT: all are positive */
  PetscReal value;
} RRBPivot;

/* Arrays that a set-up on the device needs for a while */
enum {
  RRB_TEMP_ROWS, /* of the matrix */
  RRB_TEMP_NEXT, /* of two coarser grids */
  RRB_TEMP_R2D,
  RRB_TEMP_COEF, /* in double precision, when the factor is single */
  RRB_NTEMP
};

/* All on the device */
typedef struct {
  PetscBool      valid;          /* this is the factor of the last set-up */
  PetscInt       nx, ny, levels; /* what the arrays are made for; levels = PETSC_DECIDE: there are none */
  PetscBool      single;
  PetscInt       nfactor;      /* grids of the factor */
  PetscInt       ngrid, small; /* those that are swept over, and the first of those that one kernel does */
  PetscInt       tail;  /* with the red nodes of this grid, when it is swept over and half, or all of it begins what is one matrix; nfactor: only the rest is */
  PolderRRBStep *step;  /* [nfactor], on the host; r and x of the first are vectors */
  PetscInt       n, ld; /* of that matrix */
  PetscScalar   *inverse; /* [ld ld] M^-1 there */
  PetscScalar   *b, *x;   /* [n] */
  PetscInt       nrest;
  PetscScalar   *rows;    /* [RRB_NROW nrest] rows of the rest, then bits of what was seen */
  PetscScalar   *reduced; /* for rrbcg [RRB_NREDUCED of the first grid]; NULL while nobody wants it */
  PetscScalar   *first;   /* and, when the factor is single, that of the first grid in double precision */
  PetscScalar   *temp[RRB_NTEMP];
  size_t         bytes; /* of factor and inverse, and vectors between grids */
} RRBDevice;

typedef struct {
  PetscInt         given[2]; /* grid of the user, 0: none */
  PetscInt         wanted;   /* half levels, PETSC_DECIDE: chosen */
  PetscReal        omega;
  PetscBool        single;
  RRBGridOrigin    origin;
  PetscInt         nx, ny, levels, ngrid;
  RRBGrid         *grid;
  RRBRest          rest;
  RRBReduced       reduced;
  RRBMatrix        matrix;
  RRBRows          rows;
  RRBRanks         ranks;
  PetscReal        latency; /* of the exchanges on a grid, in nodes swept meanwhile */
  RRBPivot         bad;
  PetscObjectId    mat; /* the pattern that the grid was found in; 0: none */
  PetscObjectState nonzerostate;
  PetscLogDouble   flops;
  PetscScalar     *scratch[4]; /* of the factorisation; held here so that an error leaves nothing behind */
  PetscBool        valid;      /* the factor on the host is that of the last set-up */
  PetscObjectState state;      /* of the matrix then */
  RRBDevice        device;
} PC_RRB;

/* rrbhost.c */
PETSC_INTERN PetscErrorCode PCRRBSetUpHost(PC);

/* rrb.c */
/* The grid of the matrix, looked for once for each pattern; csr->device: arrays of the device */
PETSC_INTERN PetscErrorCode PCRRBUpdateGrid(PC, const PolderCSR *);

/* What differs between host and device */
typedef struct {
  const PolderPlace *place;
  /* *done: the matrix is there, and M is made there */
  PetscErrorCode (*setup)(PC, PetscBool *done);
  /* Before an apply: M is there, and S if the apply is one of that */
  PetscErrorCode (*ready)(PC, PetscBool reduced);
  /* z = M^-1 r; rho != NULL, on the device only: see PolderPCFused */
  PetscErrorCode (*apply)(PC, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho);
  /* Bytes of the factor, its work arrays and the rest on this process */
  PetscLogDouble (*bytes)(const PC_RRB *);
  PetscErrorCode (*describerest)(const PC_RRB *, size_t len, char text[]);
  PetscErrorCode (*view)(const PC_RRB *, PetscViewer);
} RRBSteps;
PETSC_INTERN const RRBSteps RRBStepsOnHost, RRBStepsOnDevice;
/* Where M and both vectors (z = NULL: one of them) are: the device, if it can */
PETSC_INTERN PetscErrorCode PCRRBChoose(PC, Vec r, Vec z, const RRBSteps **);
PETSC_INTERN PetscErrorCode PCRRBApplyAt(PC, const RRBSteps *, Vec r, Vec z, const PolderCGRho *rho);

/* rrbdevicesetup.c */
PETSC_INTERN PetscErrorCode PCRRBFreeDevice(RRBDevice *);
PETSC_INTERN PetscErrorCode PCRRBSetUpDevice(PC, PetscBool *done);

/* rrbdevice.c */
/* For solvers of the first Schur complement: z = M^-1 r for the red nodes, in device memory, in the order of PolderRRBUnknown(), skew. At least one half
   level, two unless rho is NULL */
PETSC_INTERN PetscErrorCode PCRRBApplyReducedDevice(PC, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho);
/* Steps of CG on r and the rest, see PolderRRBCG_CUDA(): v = x, r, z, p, w on the device. count = 0: *done says whether there is such a kernel for the
   factor */
PETSC_INTERN PetscErrorCode PCRRBReducedManySteps(PC, PetscBool prepare, PetscBool first, PetscInt count, Vec v[5], PolderCGState *state, PetscBool *done);
/* z = M^-1 r with (r, z) on the way; not where the sums would take a pass of their own */
PETSC_INTERN PetscErrorCode PCRRBGetFused(PC, const PolderPCFused **);

/* rrbrows.c */
/* dm: a DMDA in whose order the rows are; NULL: natural order. Collective */
PETSC_INTERN PetscErrorCode PCRRBRowsCreate(PC, DM dm, const PolderCSR *);
PETSC_INTERN PetscErrorCode PCRRBRowsFree(RRBRows *);
/* Row of node y nx + x, and the way back */
PETSC_INTERN PetscInt PCRRBRowOfNode(const PC_RRB *, PetscInt node);
PETSC_INTERN PetscInt PCRRBNodeOfRow(const PC_RRB *, PetscInt row);
PETSC_INTERN RRBLine  PCRRBLine(const PC_RRB *, PetscInt y);

/* rrbranks.c */
/* Boxes for so many half levels. Collective */
PETSC_INTERN PetscErrorCode PCRRBRanksLayout(PC, PetscInt levels);
PETSC_INTERN PetscErrorCode PCRRBRanksFree(RRBRanks *);
/* The nodes of grid k on this process, or on that of box i, j */
PETSC_INTERN RRBBox      PCRRBBox(const PC_RRB *, PetscInt k);
PETSC_INTERN RRBBox      PCRRBBoxAt(const RRBRanks *, PetscInt k, PetscInt i, PetscInt j);
PETSC_INTERN PetscMPIInt PCRRBRankAt(const PC_RRB *, PetscInt i, PetscInt j);
/* Nodes of a line of the first grid on this process */
PETSC_INTERN PetscInt PCRRBWidth(const PC_RRB *);
/* The nodes whose rows this process reads: its box and those around that symmetry is checked with */
PETSC_INTERN RRBBox PCRRBReach(const PC_RRB *);
/* n values of each node from ranks.part of every process into ranks.all */
PETSC_INTERN PetscErrorCode PCRRBGather(PC_RRB *, MPI_Comm, int n);
/* A vector in natural order of the box of this process, in ranks.box unless the rows are those of the box; and the way back, which then has nothing to do */
PETSC_INTERN PetscErrorCode PCRRBToBox(PC_RRB *, const PetscScalar rows[], const PetscScalar **box);
PETSC_INTERN PetscErrorCode PCRRBFromBox(PC_RRB *, PetscScalar rows[]);
/* PCRRBSweeps() on several processes, each of which has its box of the vectors */
PETSC_INTERN PetscErrorCode PCRRBSweepsRanks(PC, PetscInt from, const PetscScalar r[], PetscInt ld, PetscScalar z[]);

/* rrbexchange.c */
PETSC_INTERN PetscErrorCode PCRRBExchangeCreate(PC);
/* Values of neighbours into the border of the arrays of grid k, which begin at data; nothing to do where the grid is on every process */
PETSC_INTERN PetscErrorCode PCRRBExchange(const PC_RRB *, PetscInt k, RRBExchange, PetscScalar data[]);

/* rrbmatrix.c: the grid of the matrix into rrb->nx, ny, origin, rows; errors when there is none */
PETSC_INTERN PetscErrorCode PCRRBFindGrid(PC, const PolderCSR *);
/* Flops of the factorisation of the grids for each of an apply: a node has 25, its inverse, four ratios and ten pairs of neighbours, and 17 */
#define RRB_FACTOR (25.0 / 17.0)
/* Row y of the box of this process goes to put(y, row, ctx), in ascending order; fills rrb->matrix, errors when the matrix is not a symmetric one on the
   grid. work: so many zeros for a box nx wide */
#define RRB_VISITWORK(nx) ((size_t)((nx) + 2) * (RRB_NROW + 6))
PETSC_INTERN PetscErrorCode PCRRBVisitRows(PC, const PolderCSR *, PetscScalar work[], PetscErrorCode (*put)(PetscInt y, PetscScalar *const row[], void *ctx),
                                           void *ctx);

/* rrbhost.c: both sweeps from grid `from` on, and the rest; r and z in natural order of that grid, rows ld apart */
PETSC_INTERN PetscErrorCode PCRRBSweeps(PC_RRB *, PetscInt from, const PetscScalar r[], PetscInt ld, PetscScalar z[]);

/* rrbfactor.c */
PETSC_INTERN PolderRRBGrid  PCRRBShape(PetscInt nx, PetscInt ny);
PETSC_INTERN PetscErrorCode PCRRBLayout(PC);
PETSC_INTERN PetscErrorCode PCRRBFreeLayout(PC_RRB *);
PETSC_INTERN PetscErrorCode PCRRBFactor(PC, const PolderCSR *);

/* rrbrest.c */
PETSC_INTERN PetscErrorCode PCRRBRestLayout(PC, PetscInt nx, PetscInt ny, PetscBool skew, const PolderRRBGrid *);
PETSC_INTERN PetscErrorCode PCRRBRestFree(RRBRest *);
/* Numbers the singular parts */
PETSC_INTERN PetscErrorCode PCRRBRestParts(PC);
PETSC_INTERN PetscErrorCode PCRRBRestFactor(PC);
/* Solves for the unknowns that lie in from[], into to[], at place[] */
PETSC_INTERN PetscErrorCode PCRRBRestSolve(RRBRest *, const size_t place[], const PetscScalar from[], PetscScalar to[]);
/* Unknowns and half bandwidth of the rest after so many half levels; PETSC_FALSE when the grids end before */
PETSC_INTERN PetscBool PCRRBRestSize(PetscInt nx, PetscInt ny, PetscInt levels, PetscReal *n, PetscReal *band);
/* The node of grid k is this node, y nx + x, of the first grid */
PETSC_INTERN PetscInt PCRRBNode(const PC_RRB *, PetscInt k, PetscInt x, PetscInt y);
/* Refuses the matrix for a pivot that is not positive */
PETSC_INTERN PetscErrorCode PCRRBPivotRefuse(PC, const RRBPivot *);

/* rrbordering.c */
PETSC_INTERN PetscErrorCode PCRRBGetOrdering_RRB(PC, IS *places);

/*
  rrbreduced.c: the system without its black nodes, for CG on S. Its vectors hold the red nodes in the order of rrbreduced.h
*/
PETSC_INTERN PetscErrorCode PCRRBGetReduction(PC, const PolderPCReduction **);
/* From the next set-up on */
PETSC_INTERN PetscErrorCode PCRRBReducedWant(PC);
/* Before a solve with such vectors: S of the operator as it is where they are, or an error */
PETSC_INTERN PetscErrorCode PCRRBReducedBegin(PC, Vec like);
/* Red nodes of this process */
PETSC_INTERN PetscErrorCode PCRRBReducedSize(PC, PetscInt *n);
PETSC_INTERN PetscErrorCode PCRRBReducedLayout(PC);
PETSC_INTERN PetscErrorCode PCRRBReducedFree(PC_RRB *);
PETSC_INTERN PetscErrorCode PCRRBReducedView(const PC_RRB *, PetscViewer);
/* r <- b_r - S_rb D_b^-1 b_b */
PETSC_INTERN PetscErrorCode PCRRBReduce(PC, Vec b, Vec r);
/* x <- r and, on black nodes, D_b^-1 (b_b - S_br r) */
PETSC_INTERN PetscErrorCode PCRRBExpand(PC, Vec b, Vec r, Vec x);
/* r <- x on red nodes */
PETSC_INTERN PetscErrorCode PCRRBPick(PC, Vec x, Vec r);
/* y <- S x; dot != NULL: and, where the vectors are, the part of this process of (x, y). *done = PETSC_FALSE, only with dot: nothing is done, since the
   factor is not where the vectors are */
PETSC_INTERN PetscErrorCode PCRRBReducedMult(PC, Vec x, Vec y, PetscScalar *dot, PetscBool *done);
/* z <- what M^-1 makes of r */
PETSC_INTERN PetscErrorCode PCRRBReducedApply(PC, Vec r, Vec z);
/* As applyrho of PolderPCFused; *done = PETSC_FALSE: nothing is done */
PETSC_INTERN PetscErrorCode PCRRBReducedApplyRho(PC, Vec r, Vec z, const PolderCGRho *rho, PetscBool *done);

/* rrbreducedranks.c: the same on several processes, each of which has the red nodes of its box */
PETSC_INTERN PetscErrorCode PCRRBReducedRanksLayout(PC);
PETSC_INTERN PetscErrorCode PCRRBReduceRanks(PC_RRB *, const PetscScalar b[], PetscScalar r[]);
PETSC_INTERN PetscErrorCode PCRRBExpandRanks(PC_RRB *, const PetscScalar b[], const PetscScalar r[], PetscScalar x[]);
PETSC_INTERN PetscErrorCode PCRRBPickRanks(PC_RRB *, const PetscScalar x[], PetscScalar r[]);
PETSC_INTERN PetscErrorCode PCRRBReducedMultRanks(PC_RRB *, const PetscScalar x[], PetscScalar y[], PetscScalar *dot);
PETSC_INTERN PetscErrorCode PCRRBReducedApplyRanks(PC, const PetscScalar r[], PetscScalar z[]);
