/* The steps of a set-up of PC pamg on a level, on the host and on the device. Arrays are in the memory of the levels. */
#pragma once

#include "pamgimpl.h"
#include "kernels/dia.h"

/* A row whose diagonal exceeds this multiple of the sum of its other magnitudes needs no aggregate (Notay 2010) */
#define PAMG_LONE 5.0
/* Rows of the last level where the user names no number: on the host, and below boxes */
#define PAMG_COARSE_LIMIT 400

/* The local block of a level, with the number of its entries */
static inline PolderRows PamgLevelRows(const PamgLevel *L)
{
  return (PolderRows){.n = L->n, .i = L->csr.ai, .j = L->csr.aj, .a = L->csr.aa, .nz = (PetscInt)L->nz};
}

/* What is found of a level before any step: steps add to it */
static const PamgFindings PamgNothing = {.row = POLDER_ROWS_GOOD};

/* May steps have run on a level before the host knew this? */
static inline PetscBool PamgSound(const PamgFindings *found)
{
  return (PetscBool)(found->row == POLDER_ROWS_GOOD && !(found->wrong & POLDER_DIA_WRONG) && !found->large);
}

/* Forgets what has been found of level l, before a step that is repeated */
static inline PetscErrorCode PamgForget(const PC_PAMG *pamg, PetscInt l)
{
  PetscFunctionBegin;
  PetscCall(PolderPlacePut(pamg->place, 1, &PamgNothing, &pamg->findings[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees compressed rows */
PETSC_INTERN PetscErrorCode PCPAMGFreeRows(const PC_PAMG *, PolderSparseRows *);

/* Strong couplings, see PolderBlockPairs_Host(), between the rows row[], `rows` of them, to whose positions pair[] refers; row = NULL: between all rows */
typedef struct {
  PetscInt   count, rows, *pair, *row;
  PetscReal *strength;
} PamgCouplings;

/* Rounds of the handshake; rows that are free after the last one stay single */
#define PAMG_PAIR_ROUNDS 12

/* What a pass counts, at the place */
typedef struct {
  PetscInt pairs, free;  /* aggregates; rows that were free after the round along a direction */
  PetscInt direction[3]; /* proposals along each direction */
  PetscInt coarse[3];    /* see PolderCoarseRowsCount_CUDA() */
  PetscInt seen[PAMG_PAIR_ROUNDS];
} PamgCounters;

/* Work for the aggregation of n rows */
typedef struct {
  PetscInt     *next, *left[2], *agg, *ptr, *row; /* [n]; ptr[n + 2] */
  PetscInt     *greedy;                           /* [3 n + PAMG_DEGREE + 1], for the greedy matching; NULL with a handshake */
  PamgCounters *count;
  PetscReal    *outside[2];     /* [n] off-process coupling in a pass and in the next, see PolderPairRule; NULL on one process */
  PetscInt     *mate;           /* with outside[]: [n] mate[] before a pass */
  PolderRows    level;          /* the rows of the level as its aggregates are judged by */
  PetscInt     *whole;          /* [n] aggregates of these rows, to be judged */
  PetscReal    *diagonal, *sum; /* [n] of the rows of the level, after the first pass */
  void         *temp;           /* scratch of the device's scans and sorts */
  size_t        bytes;
} PamgWork;

struct _PamgSetUpSteps {
  const PolderPlace *place;
  const PamgSteps   *cycle[3]; /* by precision */
  const char        *where;    /* for the view */
  /* Defaults of options */
  PamgSmoother smoother, skewsmoother;                     /* skewsmoother: of matrices that are not symmetric */
  PetscInt     smoothings, klevels, eliminate, pairslimit; /* pairslimit: rows of the last level where the one before has pairs */
  PetscInt     twicefrom, skewtwicefrom;                   /* rows a process from which a V-cycle visits a level twice, and where the matrix is not symmetric */
  PetscBool    pairstwice;                                 /* and then coarser levels of pairs, too */
  PetscBool    splitrhs;                                   /* every smoother, not only Gauss-Seidel, needs L->localrhs */
  /* The diagonals of a matrix that stores them there, else NULL */
  PetscErrorCode (*diagonals)(Mat, const PolderDia **);
  /* Is the matrix symmetric to rounding, as far as a cheap test can tell? NULL: its rows are compared with each other */
  PetscErrorCode (*symmetric)(Mat, PetscBool *);
  /* Restores the rows of a matrix */
  PetscErrorCode (*restorerows)(Mat, PolderCSR *);

  /* Levels. Finds the entries of level l, whose rows exist, and the objects that exchange their values */
  PetscErrorCode (*beginlevel)(PC_PAMG *, PetscInt l);
  /*
    Computes the inverse diagonal and, when the level is to be aggregated, the data that rate a pair. A refresh reuses the positions of the diagonal. *row
    is the first unusable row, n for none
  */
  PetscErrorCode (*rows)(PC_PAMG *, PetscInt l, PetscBool refresh, PetscInt *row, PolderRowKind *);
  /* Sets the arrays from which the cycle reads the entries; *fits: single precision can represent them */
  PetscErrorCode (*values)(PC_PAMG *, PetscInt l, PetscBool *fits);
  /* Prepares Gauss-Seidel; *found = PETSC_FALSE on all processes: the rows of one process have no colouring */
  PetscErrorCode (*colour)(PC_PAMG *, PetscInt l, PetscBool *found);
  /*
    Blocks. The strong couplings of the local block for the host, at least those that are connected to positive ones, none if there is no such one; A <- rows
    for the host that have those of the blocks, new values included, until they are restored; what the cycle needs of L->blocks; L->shift, which is added to
    the diagonal
  */
  PetscErrorCode (*strong)(const PC_PAMG *, const PamgLevel *L, PetscReal theta, PamgCouplings *);
  PetscErrorCode (*blockrows)(const PC_PAMG *, PamgLevel *L, PolderRows *A);
  PetscErrorCode (*restoreblockrows)(PolderRows *A);
  PetscErrorCode (*keepblocks)(PamgLevel *L);
  PetscErrorCode (*shift)(const PC_PAMG *, PamgLevel *L);
  /*
    Completes level l + 1, whose local block exists: off-process entries, diagonal from the excess, all rows where the level is small, and on the host its
    matrix
  */
  PetscErrorCode (*coarselevel)(PC_PAMG *, PetscInt l);
  /* Refreshes the values that the first level copies from the matrix; refreshes the rows of level l + 1 from those of level l */
  PetscErrorCode (*firstvalues)(PC_PAMG *);
  PetscErrorCode (*coarsevalues)(PC_PAMG *, PetscInt l);

  /* Aggregation. Bytes of scratch for n rows; the off-process coupling of each row */
  size_t (*scratch)(PetscInt n);
  PetscErrorCode (*outside)(const PamgLevel *, PetscReal outside[]);
  /* Computes agg[] of n rows from mate[] and join[]; the number of aggregates goes to w->count->pairs */
  PetscErrorCode (*number)(const PC_PAMG *, const PamgWork *w, PetscInt n, const PetscInt join[], PetscInt agg[]);
  /* Computes ptr[] and row[] from agg[] */
  PetscErrorCode (*members)(const PamgWork *, const PolderAggregates *);
  /* C <- P^T A P, where C->ptr has been allocated; *longrows as in a level */
  PetscErrorCode (*galerkin)(const PamgWork *, const PolderRows *A, const PolderAggregates *, PolderSparseRows *C, PetscBool *longrows);
  /* val[] <- new values of the local block of level C, in its pattern, from those of A, of the level before, whose aggregates are P */
  PetscErrorCode (*galerkinvalues)(const PC_PAMG *, const PolderAggregates *P, const PolderRows *A, const PamgLevel *C, PetscScalar val[]);
  /* Moves weak entries to the diagonal; d[n] is scratch */
  PetscErrorCode (*dropweak)(const PC_PAMG *, const PamgWork *, PetscReal d[], PolderSparseRows *);
  /* Keeps what restriction on level l needs of its aggregates, and the rows of level l + 1 until they are completed */
  PetscErrorCode (*keep)(const PamgWork *, PamgLevel *L);
  /* The aggregates of level l are known, and the rows of the next level need not be there: what the host needs of the aggregates. Collective */
  PetscErrorCode (*aggregated)(PC_PAMG *, PetscInt l);

  /* Computes the excess of the rows of C without their off-process entries */
  PetscErrorCode (*localexcess)(const PamgLevel *L, const PamgLevel *C, PetscReal excess[], PetscReal here[]);

  /* Solvers. Estimates the largest eigenvalues of D^-1 A */
  PetscErrorCode (*estimate)(PC);
  /* Makes the factor or the inverse of the last level; makes the matrix of the last level for a KSP */
  PetscErrorCode (*factor)(PC_PAMG *, PetscBool constant);
  PetscErrorCode (*lastmatrix)(PC_PAMG *);

  /* z = M^-1 r */
  PetscErrorCode (*apply)(PC, Vec r, Vec z);
};

/* pamgskew.c: matrices that are not symmetric */
/* Sets pamg->symmetric for the matrix of the PC as it is now; frees levels that were made for a symmetric one. Collective */
PETSC_INTERN PetscErrorCode PCPAMGCheckSymmetry(PC);
/* Makes pamg->skew of level L; *found = PETSC_FALSE on all processes: an entry on the device has no partner. Collective there */
PETSC_INTERN PetscErrorCode PCPAMGFindSkew(PC_PAMG *, const PamgLevel *L, PetscBool *found);
PETSC_INTERN PetscErrorCode PCPAMGFreeSkew(PC_PAMG *);
/* The rows that the aggregates of a level follow: of its symmetric part, whose skew exists then */
PETSC_INTERN PolderRows PCPAMGRowsToPair(const PC_PAMG *, const PamgLevel *);
/* Softens the couplings of the local block of level l + 1, which has those of P^T A P, where the matrix is not symmetric */
PETSC_INTERN PetscErrorCode PCPAMGSoften(PC_PAMG *, PetscInt l);

/* pamggrid.c: levels that are grids */
/* Grid coordinates: computes pamg->gridplace where that is still to be done; frees it */
PETSC_INTERN PetscErrorCode PCPAMGNeedPlaces(PC_PAMG *);
PETSC_INTERN PetscErrorCode PCPAMGFreePlaces(PC_PAMG *);
/*
  A level on a device that was made as a grid mostly needs nothing but what such levels need. So its steps are launched one after the other, up to the survey
  that chooses its boxes, as if all its rows were usable and all directions were coarsened; then the host asks for all findings at once. *sound = PETSC_FALSE,
  and L->ahead with it: something else was found, and the steps have to be repeated with an answer to each
*/
PETSC_INTERN PetscBool      PCPAMGMayRunAhead(const PC_PAMG *, const PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGGridAhead(PC_PAMG *, PetscInt l, PetscBool *sound);
/*
  Sets pamg->gridplace to the grid coordinates of the rows of a 5- or 7-point stencil, relative to the first row of all processes or of this one, and
  L->gridknown, which is the same on all processes
*/
PETSC_INTERN PetscErrorCode PCPAMGFindGrid(PC_PAMG *, PamgLevel *L);
/* Makes the boxes of level l, their weights, and the local block of the matrix of the next; *done = PETSC_FALSE: the level is none for boxes */
PETSC_INTERN PetscErrorCode PCPAMGGridAggregate(PC_PAMG *, PetscInt l, PetscInt64 *count, PetscBool *done);
/* Do the values of the first level, which is a grid, allow half precision? pamg->narrow, and pamg->doubtful */
PETSC_INTERN PetscErrorCode PCPAMGGridNarrow(PC_PAMG *);
/* The same from some rows of the matrix, on the host: they may speak against it */
PETSC_INTERN PetscErrorCode PCPAMGGridSample(PC_PAMG *);
/* The same with new values; do those of the first level allow it? */
PETSC_INTERN PetscErrorCode PCPAMGGridValues(PC_PAMG *, PetscInt l);
PETSC_INTERN PetscErrorCode PCPAMGGridHolds(PC_PAMG *, PetscBool *holds);

/* pamglines.c: levels whose strong couplings lie in lines */
/* Are the aggregates of level l made by one pass, with interpolation along lines? Sets L->islines. Collective */
PETSC_INTERN PetscErrorCode PCPAMGFindLines(PC_PAMG *, PetscInt l);
/* Do its new values allow it as well? Collective */
PETSC_INTERN PetscErrorCode PCPAMGLinesHold(PC_PAMG *, const PamgLevel *, PetscBool *holds);
/* Makes L->lines from the rows A and its aggregates P; *scaled <- their entries as the next level adds them up. keep: with new values */
PETSC_INTERN PetscErrorCode PCPAMGMakeLines(const PC_PAMG *, PamgLevel *L, const PolderAggregates *P, const PolderRows *A, PetscBool keep,
                                            PetscScalar **scaled);
PETSC_INTERN PetscErrorCode PCPAMGFreeLines(const PC_PAMG *, PolderLevelLines *);

/* pamgsetuphost.c, pamgdevice.c */
PETSC_INTERN const PamgSetUpSteps PamgSetUpHost, PamgSetUpDevice;

/* pamgblocks.c, pamgblocksdevice.c */
/* ptr[1 .. n] <- its sums, on the device; *total: the last one */
PETSC_INTERN PetscErrorCode PCPAMGSumUp(const PC_PAMG *, PetscInt n, PetscInt ptr[], PetscInt *total);
PETSC_INTERN PetscErrorCode PCPAMGStrongHost(const PC_PAMG *, const PamgLevel *, PetscReal theta, PamgCouplings *);
PETSC_INTERN PetscErrorCode PCPAMGStrongDevice(const PC_PAMG *, const PamgLevel *, PetscReal theta, PamgCouplings *);
PETSC_INTERN PetscErrorCode PCPAMGBlockRowsHost(const PC_PAMG *, PamgLevel *, PolderRows *);
PETSC_INTERN PetscErrorCode PCPAMGBlockRowsDevice(const PC_PAMG *, PamgLevel *, PolderRows *);
PETSC_INTERN PetscErrorCode PCPAMGRestoreBlockRowsHost(PolderRows *);
PETSC_INTERN PetscErrorCode PCPAMGRestoreBlockRowsDevice(PolderRows *);
PETSC_INTERN PetscErrorCode PCPAMGKeepBlocksHost(PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGKeepBlocksDevice(PamgLevel *);
/* dinv[i] <- the inverse of the diagonal entry of row i with its shift, in the precision of the cycle, on the host */
PETSC_INTERN void           PCPAMGShiftInverses(const PC_PAMG *, PetscInt n, const PetscReal shift[], void *dinv);
PETSC_INTERN PetscErrorCode PCPAMGShiftHost(const PC_PAMG *, PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGShiftDevice(const PC_PAMG *, PamgLevel *);

/* pamgexcess.c: what a survey of the rows of level l looks for, but for dinv[] and diag[] */
PETSC_INTERN PolderLevelSurvey PCPAMGSurvey(const PC_PAMG *, PetscInt l);

/* pamgouter.c: steps for several processes */
PETSC_INTERN PetscErrorCode PCPAMGLocalExcessDevice(const PamgLevel *L, const PamgLevel *C, PetscReal excess[], PetscReal here[]);
