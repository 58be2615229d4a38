/* The repeated red-black preconditioner: data and functions shared by its files. */
#pragma once

#include "core/core.h"
#include "core/methods.h"
#include "core/peers.h"
#include "core/place.h"
#include "core/replica.h"
#include "kernels/rrb.h"
#include "kernels/rrbreduced.h"
#include "mat/csr.h"
#include "mat/halo.h"
#include <petscdm.h>
#include <petscsf.h>

/* Maximum number of half levels: more than any grid has, so that a program can request all of them */
#define PC_RRB_LEVELS_MAX 1000
/* Maximum number of grids whose lines are shared */
#define PC_RRB_SHARED_MAX 8

/* What a grid that is visited twice has, see rrbvisits.c; a = NULL: it is visited once */
typedef struct {
  PolderRRBPlane plane;     /* the grid */
  PolderRRBPlane own, near; /* the lines of it that count for this process in a sum; these, and a line on both sides */
  PetscInt       first;     /* the first of these */
  PetscBool      summed;    /* a sum is over all processes */
  PetscScalar   *a;         /* [RRB_NROW plane.size] the matrix of the grid */
  PetscScalar   *v, *d;     /* [plane.size] the first visit, and the residual that it leaves */
  PetscReal      top;       /* upper end of the interval */
  PetscReal      length[2]; /* of the visits; length[1] = 0: one of length 1 */
  PetscSF        halo;      /* on a grid in boxes: the border of a plane; otherwise NULL */
} RRBTwice;

/* Lines y0 <= y < y1 of a plane */
static inline PolderRRBPlane RRBPlaneLines(PolderRRBPlane g, PetscInt y0, PetscInt y1)
{
  g.origin += (size_t)y0 * (size_t)g.pitch;
  g.ny = y1 - y0;
  return g;
}

typedef struct {
  PolderRRBGrid g;
  RRBTwice      twice;
  PetscBool     half;   /* only the black nodes are eliminated */
  PetscReal     flops;  /* of a visit, without coarser grids */
  PetscScalar  *coef;   /* [RRB_NCOEF g.size] factor; NULL after the set-up when it is kept in single precision */
  float        *single; /* [RRB_NCOEF g.size] */
  PetscScalar  *z;      /* [RRB_NVEC g.size] values of a vector */
  PetscBool    *same;   /* [g.hy] does row v equal the one before? */
  ptrdiff_t    *shift;  /* [g.hy] of g, if any row shares the coefficients of another */
} RRBGrid;

/* The rest: the system that remains after the last level, solved exactly */
typedef struct {
  PetscInt     nx, ny;        /* grid of the rest */
  PetscBool    skew;          /* only the red nodes are unknowns, with couplings E and N over two nodes */
  PetscInt     n, band, npin; /* npin: number of connected parts that are singular; the factor leaves out one unknown of each */
  PetscScalar *row[RRB_NROW]; /* [nx ny] the matrix */
  PetscInt    *number;        /* [nx ny] unknown of a node, -1: none */
  size_t      *place;         /* [n] position of an unknown in the values of the last grid or, without grids, in the vector */
  PetscInt    *part;          /* [n] singular part of an unknown, -1: none; npin = 0: not in use */
  PetscInt    *pin;           /* [npin] the unknown left out of a part */
  PetscInt    *size;          /* [npin] number of unknowns of a part */
  PetscReal   *mean;          /* [npin] mean of the values of a part */
  PetscReal   *kernel;        /* [npin] the mean before the solve */
  PetscReal   *gain;          /* [npin] gain times kernel[] is added to each unknown of the part */
  PetscScalar *factor;        /* [n (band + 1)] */
  PetscScalar *x;             /* [n] */
} RRBRest;

/* Additional data for CG on the first Schur complement S of a 5-point matrix; coef: NULL unless requested */
typedef struct {
  PetscBool    wanted;
  PetscBool    valid; /* the matrix of the factor has 5 points */
  PetscScalar *coef;  /* [RRB_NREDUCED grid[0].g.size] */
  size_t      *place; /* [rest.n] position of an unknown of the rest in a reduced vector, when there is only one grid */
  PetscSF      halo;  /* several processes: copies values of a vector to the border of x */
  PetscScalar *x;     /* [2 (hx + 2) (hy + 2)] a vector with border, see PolderRRBBorderRows() */
} RRBReduced;

/* Source of the grid size */
typedef enum {
  RRB_GRID_GIVEN,
  RRB_GRID_DM,
  RRB_GRID_MATRIX
} RRBGridOrigin;

/* Properties of the matrix */
typedef struct {
  PetscBool nine;
  PetscBool singular; /* all rows with couplings add up to zero */
  PetscInt  positive; /* first row with a positive coupling, -1: none */
  PetscInt  deficit;  /* first row with a negative sum, -1: none */
} RRBMatrix;

/* Nodes x0 <= x < x1, y0 <= y < y1 of a grid */
typedef struct {
  PetscInt x0, x1, y0, y1;
} RRBBox;

/* Distribution of the rows of the matrix: in natural order, cut anywhere, or by boxes of a grid of processes, as a DMDA numbers them */
typedef struct {
  PetscBool   natural;
  PetscInt    np[2];    /* processes in x and y; natural order: 1 by the number of processes */
  PetscInt   *start[2]; /* [np + 1] first node of each; natural order: NULL */
  PetscInt   *range;    /* [processes + 1] first row of each */
  PetscInt   *ghost;    /* node, y nx + x, of each ghost column of the matrix */
  PetscMPIInt rank;     /* this process */
} RRBRows;

/* The nodes a <= x < b of a line whose rows are on this process. These are the local rows row, row + 1, ...; lines have ld rows, and this line begins with
   row `first` */
typedef struct {
  PetscInt a, b, row, first, ld;
} RRBLine;

/* Entries of a row by direction, W to E within S to N: (dy + 1) * 3 + dx + 1 */
enum {
  RRB_NENTRY = 9
};

/* Kinds of exchanges between neighbours on a grid */
typedef enum {
  RRB_EXCHANGE_PUT,    /* in the set-up: couplings, to the node that is eliminated first */
  RRB_EXCHANGE_WORK,   /* couplings in the work arrays */
  RRB_EXCHANGE_BLACK,  /* black nodes with inverse pivots */
  RRB_EXCHANGE_R1,     /* r1 with inverse pivots */
  RRB_EXCHANGE_ZBLACK, /* values of the vector */
  RRB_EXCHANGE_ZR1,
  RRB_EXCHANGE_ZR2,
  RRB_EXCHANGE_REDUCED, /* S, see RRBReduced */
  RRB_NEXCHANGE
} RRBExchange;

/*
  On several processes each process has a box of the grid. Boxes begin at multiples of 2^ngrid, so the first ngrid grids are cut between cells of r1, b1, b2,
  r2. All coarser grids are replicated on every process
*/
typedef struct {
  PetscInt  size;                     /* number of processes; 0: one process, and nothing of this is in use */
  PetscInt  ngrid;                    /* number of grids in boxes */
  PetscInt  whole;                    /* the first replicated grid: ngrid or, when the last grid in boxes is half, the red nodes of that grid */
  PetscInt  np[2];                    /* number of boxes in x and y, at most one per process */
  PetscInt *cut[2];                   /* [np + 1] first node of each box */
  PetscInt *index[2];                 /* [np] column and line in RRBRows of the process that holds the box */
  PetscInt  at[2];                    /* box of this process; -1: none */
  PetscSF (*exchange)[RRB_NEXCHANGE]; /* [ngrid] */
  PetscSF      fetch;                 /* rows of other processes that this one reads, RRB_NENTRY values each */
  PetscInt     nsend, *send;          /* rows of this one that others read */
  PetscScalar *sent, *fetched;
  MPI_Datatype unit;
  PetscSF      move;          /* moves vectors between their rows and the boxes; NULL: the rows of each process are those of its box */
  PetscScalar *box;           /* [nodes of the box] a vector in box order, if move is used */
  PetscMPIInt *count, *displ; /* [size] contribution of each process to the first replicated grid, in nodes */
  PetscScalar *part;          /* [RRB_NROW nodes] contribution of this process to that grid */
  PetscScalar *parts, *all;   /* [nodes], [RRB_NROW nodes] that grid, ordered by process and in natural order */
} RRBRanks;

/* The first pivot that is not positive */
typedef struct {
  PetscInt  half, k, x, y; /* half: position in the order of elimination, PETSC_MAX_INT: all pivots are positive; x, y: node of grid k */
  PetscReal value;
} RRBPivot;

/* Temporary arrays of a set-up on the device */
enum {
  RRB_TEMP_ROWS, /* of the matrix */
  RRB_TEMP_NEXT, /* of two coarser grids */
  RRB_TEMP_R2D,
  RRB_TEMP_COEF, /* in double precision, when the factor is stored in single precision */
  RRB_NTEMP
};

/* Data on the device */
typedef struct {
  PetscBool      valid;          /* this is the factor of the last set-up */
  PetscInt       nx, ny, levels; /* size that the arrays are allocated for; levels = PETSC_DECIDE: not allocated */
  PetscBool      single;
  PetscInt       nfactor;      /* number of grids of the factor */
  PetscInt       ngrid, small; /* number of grids that are swept over, and the first of the small grids that share one kernel */
  PetscInt       tail;         /* first grid of the dense matrix: all of it or, if it is swept over and half, its red nodes; nfactor: the rest only */
  PolderRRBStep *step;         /* [nfactor], on the host; r and x of the first are vectors */
  RRBTwice      *twice;        /* [nfactor]; a: nine planes, the last four being v, d and the r and x of the step */
  unsigned       layout, both; /* bit k: grid k may be, and is, visited twice */
  PetscInt       n, ld;        /* of the dense matrix */
  PetscScalar   *inverse;      /* [ld ld] M^-1 on the unknowns of the dense matrix */
  PetscScalar   *b, *x;        /* [n] */
  PetscInt       nrest;
  PetscScalar   *rows;    /* [RRB_NROW nrest] rows of the rest, followed by the bits RRB_SEEN_... */
  PetscScalar   *reduced; /* for rrbcg [RRB_NREDUCED of the first grid]; NULL unless requested */
  PetscScalar   *first;   /* for rrbcg, when the factor is in single precision: the factor of the first grid in double precision */
  PetscScalar   *temp[RRB_NTEMP];
  size_t         bytes;  /* of factor, inverse, and vectors between grids */
  PetscBool      filled; /* the arrays of the factor have values */
} RRBDevice;

/* The factor of the first grid in double precision */
static inline const PetscScalar *RRBFirstFactor(const RRBDevice *d)
{
  return d->first ? d->first : (const PetscScalar *)d->step[0].c;
}

/* Several GPUs that share the lines of the first grids in the reduced system, see rrbshared.c; ngrid = 0: they do not */
typedef struct {
  PetscInt      ngrid;
  PetscInt      y0, y1;                  /* lines of this process on the first grid */
  PetscInt      below, beyond;           /* 1: there are processes with lines below, above */
  PolderRRBGrid g;                       /* these lines */
  PolderReplica rows;                    /* values at both ends of the rows of a process, in the order of all nodes: as many as the factor needs */
  PolderReplica nodes, lines;            /* values at both ends of its rows, and of its lines: as many as vectors need */
  PolderReplica r1, ends;                /* the first row of r1, and the rows at both ends of a reduced vector, by process */
  PolderReplica near[PC_RRB_SHARED_MAX]; /* lines of r at both ends on grid k */
  PolderReplica next;                    /* the right-hand side of the first grid that is not shared */
  PetscScalar  *own, *all, *above;       /* ends of this process, of all; r1 of all */
  PetscScalar  *b, *x;                   /* reduced vectors of own lines, for PCRRBSharedApplyAll() */
} RRBShared;

/* Several GPUs that have the whole grid each; replica = NULL: one GPU, or none */
typedef struct {
  PolderReplica      replica;
  PolderRRBOwn       box;   /* of this process */
  PetscInt          *node;  /* node of each ghost column */
  PetscScalar       *r, *z; /* [nodes] vectors */
  PetscScalar       *own;   /* during a set-up: [POLDER_RRB_DIRECTIONS m] the rows of this process by directions */
  PetscScalar       *rows;  /* and the diagonals of all */
  PolderDia          dia;
  PetscInt           off[POLDER_RRB_DIRECTIONS];
  const PetscScalar *val[POLDER_RRB_DIRECTIONS];
  RRBShared          shared;
} RRBWhole;

typedef struct {
  PetscInt         given[2];  /* grid size given by the user, 0: none */
  PetscInt         wanted;    /* requested number of half levels, PETSC_DECIDE: automatic */
  PetscInt         wanttwice; /* requested first grid that is visited twice, 0: none, PETSC_DECIDE: automatic */
  PetscBool        once;      /* second visits did not suit a matrix with this pattern */
  unsigned         twice;     /* of the current layout on the host: bit k: grid k may be visited twice */
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
  PetscReal        latency; /* cost of the exchanges on a grid, in nodes swept in that time */
  RRBPivot         bad;
  PetscObjectId    mat; /* identifies the pattern that the grid was found in; 0: none */
  PetscObjectState nonzerostate;
  PetscLogDouble   flops;
  PetscScalar     *scratch[4]; /* of the factorisation; stored here so that nothing leaks after an error */
  PetscBool        valid;      /* the factor on the host is that of the last set-up */
  PetscObjectState state;      /* of the matrix at that set-up */
  RRBDevice        device;
  RRBWhole         whole;
} PC_RRB;

/* rrbhost.c */
PETSC_INTERN PetscErrorCode PCRRBSetUpHost(PC);

/* rrb.c */
/* Finds the grid of the matrix, once for each pattern; csr->device: the arrays are in device memory */
PETSC_INTERN PetscErrorCode PCRRBUpdateGrid(PC, const PolderCSR *);

/* The steps that differ between host and device */
typedef struct {
  const PolderPlace *place;
  /* Sets up M at this place; *done = PETSC_FALSE: the matrix is not there */
  PetscErrorCode (*setup)(PC, PetscBool *done);
  /* Call before an apply: makes sure that M, and S if `reduced` is set, is at this place */
  PetscErrorCode (*ready)(PC, PetscBool reduced);
  /* z = M^-1 r; rho != NULL, on the device only: see PolderPCFused */
  PetscErrorCode (*apply)(PC, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho);
  /* Bytes of the factor, its work arrays and the rest on this process */
  PetscLogDouble (*bytes)(const PC_RRB *);
  PetscErrorCode (*describerest)(const PC_RRB *, size_t len, char text[]);
  PetscErrorCode (*view)(const PC_RRB *, PetscViewer);
} RRBSteps;
PETSC_INTERN const RRBSteps RRBStepsOnHost, RRBStepsOnDevice;
/* The place where M and both vectors (z = NULL: only r) are: the device if possible */
PETSC_INTERN PetscErrorCode PCRRBChoose(PC, Vec r, Vec z, const RRBSteps **);
PETSC_INTERN PetscErrorCode PCRRBApplyAt(PC, const RRBSteps *, Vec r, Vec z, const PolderCGRho *rho);

/* rrbdevicesetup.c */
PETSC_INTERN PetscErrorCode PCRRBFreeDevice(RRBDevice *);
PETSC_INTERN PetscErrorCode PCRRBSetUpDevice(PC, PetscBool *done);
/* Makes grids and rest for the current grid and number of levels, and reuses existing ones if they fit. *done = PETSC_FALSE: the rest is too large for an
   inverse */
PETSC_INTERN PetscErrorCode PCRRBLayoutDevice(PC, PetscBool *done);
/* Computes the factor and the dense matrix of the tail; device.valid: no row and no pivot was refused. Of csr, all rows are read if dia is NULL, else only
   their number */
PETSC_INTERN PetscErrorCode PCRRBFactorDevice(PC, const PolderCSR *csr, const PolderDia *dia);

/* rrbwhole.c: several GPUs with the whole grid each. On one GPU the arrays of this process are the whole ones, and nothing is copied */
PETSC_INTERN PetscErrorCode PCRRBWholeFree(RRBWhole *);
/* *done = PETSC_FALSE, on all processes: this is not possible. Collective */
PETSC_INTERN PetscErrorCode PCRRBWholeSetUp(PC, const PolderCSR *, PetscBool *done);
/* *all: the values of all nodes; Put instead of Gather: those of this process, the others are undefined */
PETSC_INTERN PetscErrorCode PCRRBWholeGather(PC_RRB *, const PetscScalar own[], const PetscScalar **all);
PETSC_INTERN PetscErrorCode PCRRBWholePut(PC_RRB *, const PetscScalar own[], const PetscScalar **all);
/* The array of all nodes to write to; own <- its part of it */
PETSC_INTERN PetscScalar   *PCRRBWholeResult(const PC_RRB *, PetscScalar own[]);
PETSC_INTERN PetscErrorCode PCRRBWholeTake(PC_RRB *, PetscScalar own[]);

/* rrbshared.c: which lines, and what brings the others. Chooses whether lines are shared, after the layout of the grids; collective */
PETSC_INTERN PetscErrorCode PCRRBSharedSetUp(PC);
PETSC_INTERN PetscErrorCode PCRRBSharedFree(RRBShared *);
/* Lines y[0] <= y < y[1] of grid k that are those of this process; all lines where they are not shared */
PETSC_INTERN void PCRRBSharedLines(const PC_RRB *, PetscInt k, PetscInt y[2]);
/* The part of grid k that this process factorises: its lines and some beside them, and the first of these */
PETSC_INTERN PolderRRBGrid PCRRBSharedPart(const PC_RRB *, PetscInt k, PetscInt *first);
/* After the factor of grid k: the rows of the next grid, which those that are not shared need from all processes */
PETSC_INTERN PetscErrorCode PCRRBSharedNextRows(PC_RRB *, PetscInt k, PetscScalar *const row[]);
/* Zeros in the lines of z, a vector of all nodes, that go to neighbours beside own ones, where not all of them are written */
PETSC_INTERN PetscErrorCode PCRRBSharedClear(const PC_RRB *, PetscScalar z[]);

/* rrbsharedapply.c: operations of the reduced system on distributed vectors of red nodes: those of own lines, r1 and then r2 */
/* Number of red nodes of this process */
PETSC_INTERN PetscInt       PCRRBSharedSize(const PC_RRB *);
PETSC_INTERN PetscErrorCode PCRRBSharedReduce(PC_RRB *, const PetscScalar b[], PetscScalar r[]);
PETSC_INTERN PetscErrorCode PCRRBSharedExpand(PC_RRB *, const PetscScalar b[], const PetscScalar r[], PetscScalar x[]);
/* n passes over grids after the first */
PETSC_INTERN PetscErrorCode PCRRBSharedPasses(PC_RRB *, PetscInt n, const PolderRRBPass pass[], PolderStream);
PETSC_INTERN PetscErrorCode PCRRBSharedPick(PC_RRB *, const PetscScalar x[], PetscScalar r[]);
/* *dot: the part of this process */
PETSC_INTERN PetscErrorCode PCRRBSharedMult(PC_RRB *, const PetscScalar x[], PetscScalar y[], PetscScalar *dot);
/* With rho, the sums are those of all processes */
PETSC_INTERN PetscErrorCode PCRRBSharedApply(PC, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho);
/* z <- M^-1 r on all nodes */
PETSC_INTERN PetscErrorCode PCRRBSharedApplyAll(PC, const PetscScalar r[], PetscScalar z[]);

/* rrbdevice.c */
/* Sweeps forward from grid `first` on and back again; r is the right-hand side of that grid */
PETSC_INTERN PetscErrorCode PCRRBSweepDevice(RRBDevice *, PetscInt first, const PolderCGRho *rho, PolderStream);
/* A pass over a grid by a kernel of its own, on the lines 2 from <= y < 2 to of its step; rho: for the first grid alone */
PETSC_INTERN PetscErrorCode PCRRBRunPass(PetscBool single, PolderRRBPass, const PolderRRBStep *, const PolderCGRho *rho, PolderStream);
/* n passes, those on small grids that follow each other in one kernel. No sweep of grid `first`, or a finer one, with vectors of a solver is among them */
PETSC_INTERN PetscErrorCode PCRRBRunPasses(const RRBDevice *, PetscInt first, PetscInt n, const PolderRRBPass pass[], const PolderCGRho *rho, PolderStream);
/* One visit of grid k; vectors with rows as far apart as those of its step. See PCRRBVisit() */
PETSC_INTERN PetscErrorCode PCRRBVisitDevice(PC, PetscInt k, const PetscScalar r[], PetscInt ldr, PetscScalar z[], PetscInt ldz);
/* For solvers of the first Schur complement: z = M^-1 r on the red nodes, in device memory, in the order of PolderRRBUnknown() with skew. Requires at least
   one half level, or two if rho is not NULL */
PETSC_INTERN PetscErrorCode PCRRBApplyReducedDevice(PC, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho);
/* Steps of CG on r and the rest, see PolderRRBCG_CUDA(): v = x, r, z, p, w on the device. count = 0: *done tells whether such a kernel exists for the factor */
PETSC_INTERN PetscErrorCode PCRRBReducedManySteps(PC, PetscBool prepare, PetscBool first, PetscInt count, Vec v[5], PolderCGState *state, PetscBool *done);
/* z = M^-1 r together with (r, z); not available where the sums would take a separate pass */
PETSC_INTERN PetscErrorCode PCRRBGetFused(PC, const PolderPCFused **);

/* rrbrows.c */
/* dm: a DMDA whose order the rows have; NULL: natural order. Collective */
PETSC_INTERN PetscErrorCode PCRRBRowsCreate(PC, DM dm, const PolderCSR *);
PETSC_INTERN PetscErrorCode PCRRBRowsFree(RRBRows *);
/* Row of node y nx + x, and the inverse */
PETSC_INTERN PetscInt PCRRBRowOfNode(const PC_RRB *, PetscInt node);
PETSC_INTERN PetscInt PCRRBNodeOfRow(const PC_RRB *, PetscInt row);
PETSC_INTERN RRBLine  PCRRBLine(const PC_RRB *, PetscInt y);

/* rrbranks.c */
/* Makes boxes for this number of half levels. Collective */
PETSC_INTERN PetscErrorCode PCRRBRanksLayout(PC, PetscInt levels);
PETSC_INTERN PetscErrorCode PCRRBRanksFree(RRBRanks *);
/* The nodes of grid k on this process, or on the process of box i, j */
PETSC_INTERN RRBBox      PCRRBBox(const PC_RRB *, PetscInt k);
PETSC_INTERN RRBBox      PCRRBBoxAt(const RRBRanks *, PetscInt k, PetscInt i, PetscInt j);
PETSC_INTERN PetscMPIInt PCRRBRankAt(const PC_RRB *, PetscInt i, PetscInt j);
/* Number of nodes of a line of the first grid on this process */
PETSC_INTERN PetscInt PCRRBWidth(const PC_RRB *);
/* The nodes whose rows this process reads: its box, and the surrounding nodes that the symmetry check needs */
PETSC_INTERN RRBBox PCRRBReach(const PC_RRB *);
/* Gathers n values of each node from ranks.part of every process in ranks.all */
PETSC_INTERN PetscErrorCode PCRRBGather(PC_RRB *, MPI_Comm, int n);
/* Copies a vector to natural order of the box of this process, in ranks.box; if the rows are those of the box, *box is rows itself. FromBox() copies back */
PETSC_INTERN PetscErrorCode PCRRBToBox(PC_RRB *, const PetscScalar rows[], const PetscScalar **box);
PETSC_INTERN PetscErrorCode PCRRBFromBox(PC_RRB *, PetscScalar rows[]);
/* PCRRBSweeps() and PCRRBVisit() on several processes; each process passes its box of the vectors */
PETSC_INTERN PetscErrorCode PCRRBSweepsRanks(PC, PetscInt from, const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN PetscErrorCode PCRRBVisitBox(PC, PetscInt k, const PetscScalar r[], PetscInt ldr, PetscScalar z[], PetscInt ldz);

/* rrbexchange.c */
PETSC_INTERN PetscErrorCode PCRRBExchangeCreate(PC);
/* Copies values of neighbours to the border of the arrays of grid k, which begin at data; does nothing if the grid is replicated */
PETSC_INTERN PetscErrorCode PCRRBExchange(const PC_RRB *, PetscInt k, RRBExchange, PetscScalar data[]);
/* Copies values of neighbours to the border of a plane of grid k. Collective */
PETSC_INTERN PetscErrorCode PCRRBPlaneExchangeCreate(PC, PetscInt k, PetscSF *);

/* rrbmatrix.c: sets rrb->nx, ny, origin, rows to the grid of the matrix; raises an error when there is none */
PETSC_INTERN PetscErrorCode PCRRBFindGrid(PC, const PolderCSR *);
/* Flops of the factorisation of the grids relative to those of an apply. Per node: 25 (an inverse, four ratios and ten pairs of neighbours) and 17 */
#define RRB_FACTOR (25.0 / 17.0)
/* Calls put(y, row, ctx) for the rows y of the box of this process, in ascending order. Fills rrb->matrix; refuses a matrix that is not symmetric on the
   grid. work: this many zeros for a box of width nx */
#define RRB_VISITWORK(nx) ((size_t)((nx) + 2) * (RRB_NROW + 6))
PETSC_INTERN PetscErrorCode PCRRBVisitRows(PC, const PolderCSR *, PetscScalar work[], PetscErrorCode (*put)(PetscInt y, PetscScalar *const row[], void *ctx),
                                           void *ctx);

/* rrbhost.c: both sweeps from grid `from` on, and the solve with the rest; r and z in natural order of that grid, with rows ld apart */
PETSC_INTERN PetscErrorCode PCRRBSweeps(PC, PetscInt from, const PetscScalar r[], PetscInt ld, PetscScalar z[]);
/* The same with one visit of grid k, whatever the visits of the grids below it */
PETSC_INTERN PetscErrorCode PCRRBVisit(PC, PetscInt k, const PetscScalar r[], PetscInt ldr, PetscScalar z[], PetscInt ldz);

/* rrbvisits.c: second visits */
typedef PetscErrorCode (*RRBGridVisit)(PC, PetscInt k, const PetscScalar r[], PetscInt ldr, PetscScalar z[], PetscInt ldz);
/* Those of the first n grids to visit twice, as requested or chosen: bit k for grid k */
PETSC_INTERN unsigned PCRRBTwiceGrids(const PC_RRB *, PetscInt n, PetscBool device);
/* How often grid k is visited then */
PETSC_INTERN PetscReal      PCRRBVisits(unsigned twice, PetscInt k);
PETSC_INTERN PetscErrorCode PCRRBTwiceLayout(PC, PetscInt k);
/* Lines y0 <= y < y1 of the plane are those of this process */
PETSC_INTERN void           PCRRBTwiceOwn(RRBTwice *, PetscInt y0, PetscInt y1);
PETSC_INTERN PetscErrorCode PCRRBTwiceFree(RRBTwice *);
/* Lengths of the visits of grid k, once those of coarser grids are known and its matrix is stored */
PETSC_INTERN PetscErrorCode PCRRBTwiceSetUp(PC, const PolderPlace *, PetscInt k, RRBTwice *, RRBGridVisit);
PETSC_INTERN PetscErrorCode PCRRBTwiceView(const RRBTwice *, PetscInt k, PetscViewer);
/* z <- the visit, or both, of r on grid k, on the host */
PETSC_INTERN PetscErrorCode PCRRBSolveGrid(PC, PetscInt k, RRBGridVisit, const PetscScalar r[], PetscInt ldr, PetscScalar z[], PetscInt ldz);

/* rrbfactor.c */
PETSC_INTERN PolderRRBGrid  PCRRBShape(PetscInt nx, PetscInt ny);
PETSC_INTERN PolderRRBPlane PCRRBPlane(PetscInt nx, PetscInt ny);
PETSC_INTERN PetscErrorCode PCRRBLayout(PC);
PETSC_INTERN PetscErrorCode PCRRBFreeLayout(PC_RRB *);
PETSC_INTERN PetscErrorCode PCRRBFactor(PC, const PolderCSR *);

/* rrbrest.c */
PETSC_INTERN PetscErrorCode PCRRBRestLayout(PC, PetscInt nx, PetscInt ny, PetscBool skew, const PolderRRBGrid *);
PETSC_INTERN PetscErrorCode PCRRBRestFree(RRBRest *);
/* Finds and numbers the singular parts */
PETSC_INTERN PetscErrorCode PCRRBRestParts(PC);
PETSC_INTERN PetscErrorCode PCRRBRestFactor(PC);
/* Solves the rest. Unknown k is read from from[place[k]], and the solution is stored in to[place[k]] */
PETSC_INTERN PetscErrorCode PCRRBRestSolve(RRBRest *, const size_t place[], const PetscScalar from[], PetscScalar to[]);
/* Number of unknowns and half bandwidth of the rest after this many half levels; PETSC_FALSE when there are fewer half levels */
PETSC_INTERN PetscBool PCRRBRestSize(PetscInt nx, PetscInt ny, PetscInt levels, PetscReal *n, PetscReal *band);
/* The node y nx + x of the first grid that node (x, y) of grid k stands for */
PETSC_INTERN PetscInt PCRRBNode(const PC_RRB *, PetscInt k, PetscInt x, PetscInt y);
/* Refuses the matrix for a pivot that is not positive */
PETSC_INTERN PetscErrorCode PCRRBPivotRefuse(PC, const RRBPivot *);

/* rrbordering.c */
PETSC_INTERN PetscErrorCode PCRRBGetOrdering_RRB(PC, IS *places);

/*
  rrbreduced.c: the reduced system on the red nodes, for CG on S. Its vectors hold the red nodes in the order of rrbreduced.h
*/
PETSC_INTERN PetscErrorCode PCRRBGetReduction(PC, const PolderPCReduction **);
/* Requests the reduced system from the next set-up on */
PETSC_INTERN PetscErrorCode PCRRBReducedWant(PC);
/* Call before a solve with vectors like this one: updates S to the current operator at their place, or raises an error */
PETSC_INTERN PetscErrorCode PCRRBReducedBegin(PC, Vec like);
/* Number of red nodes that this process has in a reduced system for vectors like this one, and the communicator of that system */
PETSC_INTERN PetscErrorCode PCRRBReducedSize(PC, Vec like, MPI_Comm *comm, PetscInt *n);
/* The number, on the host */
PETSC_INTERN PetscInt       PCRRBReducedSizeHost(const PC_RRB *);
PETSC_INTERN PetscErrorCode PCRRBReducedLayout(PC);
PETSC_INTERN PetscErrorCode PCRRBReducedFree(PC_RRB *);
PETSC_INTERN PetscErrorCode PCRRBReducedView(const PC_RRB *, PetscViewer);
/* r <- b_r - S_rb D_b^-1 b_b */
PETSC_INTERN PetscErrorCode PCRRBReduce(PC, Vec b, Vec r);
/* x <- r and, on black nodes, D_b^-1 (b_b - S_br r) */
PETSC_INTERN PetscErrorCode PCRRBExpand(PC, Vec b, Vec r, Vec x);
/* r <- x on red nodes */
PETSC_INTERN PetscErrorCode PCRRBPick(PC, Vec x, Vec r);
/* y <- S x; dot != NULL: also the contribution of this process to (x, y), stored where the vectors are. *done = PETSC_FALSE, possible only with dot: nothing
   is done, since the factor is not where the vectors are */
PETSC_INTERN PetscErrorCode PCRRBReducedMult(PC, Vec x, Vec y, PetscScalar *dot, PetscBool *done);
/* z <- M^-1 r for the reduced system */
PETSC_INTERN PetscErrorCode PCRRBReducedApply(PC, Vec r, Vec z);
/* applyrho of PolderPCFused for the reduced system; *done = PETSC_FALSE: nothing is done */
PETSC_INTERN PetscErrorCode PCRRBReducedApplyRho(PC, Vec r, Vec z, const PolderCGRho *rho, PetscBool *done);

/* rrbreducedranks.c: the same on several processes, each of which has the red nodes of its box */
PETSC_INTERN PetscErrorCode PCRRBReducedRanksLayout(PC);
PETSC_INTERN PetscErrorCode PCRRBReduceRanks(PC_RRB *, const PetscScalar b[], PetscScalar r[]);
PETSC_INTERN PetscErrorCode PCRRBExpandRanks(PC_RRB *, const PetscScalar b[], const PetscScalar r[], PetscScalar x[]);
PETSC_INTERN PetscErrorCode PCRRBPickRanks(PC_RRB *, const PetscScalar x[], PetscScalar r[]);
PETSC_INTERN PetscErrorCode PCRRBReducedMultRanks(PC_RRB *, const PetscScalar x[], PetscScalar y[], PetscScalar *dot);
PETSC_INTERN PetscErrorCode PCRRBReducedApplyRanks(PC, const PetscScalar r[], PetscScalar z[]);
