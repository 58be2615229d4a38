/* Pairwise-aggregation multigrid: what its options and view (pamg.c), its set-up (pamgsetup.c) and its cycle (pamgcycle.c) share. */
#pragma once

#include "core/place.h"
#include "kernels/levelmatrix.h"
#include "kernels/levelrow.h"
#include "kernels/levelscalars.h"
#include "coarse/coarse.h"
#include "mat/dia.h"
#include "mat/halo.h"
#include <petscksp.h>

#define PAMG_LEVELS 64
/* Passes a level, smoothing steps on either side, and rows of a level that is whole on each process, at most */
#define PAMG_PASSES 3
#define PAMG_STEPS  100
#define PAMG_GATHER 10000000

typedef enum {
  PAMG_V,
  PAMG_W,
  PAMG_K
} PamgCycle;

typedef enum {
  PAMG_JACOBI,
  PAMG_L1JACOBI,
  PAMG_CHEBYSHEV,
  PAMG_SGS
} PamgSmoother;

typedef enum {
  PAMG_HANDSHAKE,
  PAMG_GREEDY
} PamgMatching;

typedef enum {
  PAMG_DOUBLE,
  PAMG_SINGLE
} PamgPrecision;

typedef enum {
  PAMG_COARSE_AUTO,
  PAMG_COARSE_CHOLESKY,
  PAMG_COARSE_INVERSE,
  PAMG_COARSE_KSP
} PamgCoarse;

/* On the device, of a level that is on several processes: the entries to others, by the rows that have any. They are few, so that the host has them too */
typedef struct {
  PetscInt        n, nz;
  PetscInt       *row, *ptr, *col; /* [n], [n + 1], [nz]; the columns are ghosts */
  PetscScalar    *val;             /* [nz] */
  PetscInt        ntarget;
  PetscInt       *target, *at, *member; /* [ntarget], [ntarget + 1], [n] aggregates of these rows: member[at[t] .. at[t + 1]) are the places of those of target[t] */
  PolderOuterRows rows;                 /* the same in device memory */
  PetscInt       *target_d, *at_d, *member_d;
  void           *dinv; /* [nghost] of the ghosts, in device memory */
} PamgOuter;

/*
  One level. Its matrix is an AIJ matrix of ours, so that diagonals and neighbour values come from where they come for every
  matrix. The matrix of the first level is that of the PC; the others have arrays of rows that are ours. On the device only the
  first level has a matrix: M and the arrays beside it are the level. Arrays are where the levels are unless a comment says otherwise.
*/
typedef struct {
  Mat               A;
  MPI_Comm          comm;     /* of the processes that share it; its own on each when it is whole there */
  PetscInt          n, N;     /* rows, here and on all processes */
  PetscInt          nc;       /* aggregates of this process */
  PetscInt64        nz;       /* entries of the local block */
  PetscInt64        nzouter;  /* entries of the rows of this process to other processes */
  PolderLevelMatrix M;        /* the local block; on the first level its arrays of the matrix are set while a cycle runs */
  PolderCSR         csr;      /* the same by rows, and on the host the entries to other processes */
  PolderHalo        halo;     /* NULL where this process has all rows */
  PetscBool         ownshalo; /* else the halo is that of A */
  PetscInt         *ai, *aj, *bi, *bj;
  PetscScalar      *aa, *ba;
  PetscInt         *agg;             /* [n] aggregate, nc for none; NULL on the last level */
  PetscInt         *ptr, *row;       /* on the device: the rows of aggregate a are row[ptr[a] .. ptr[a + 1]); [nc + 2], [n] */
  PetscInt         *ghostagg;        /* [nghost] host array: column of the off-process block of the next level, its number of ghosts for none */
  PetscInt         *diag;            /* [n] on the host: position of the diagonal entry; NULL with diagonals */
  PetscInt          ncolour;         /* on the device, for Gauss-Seidel */
  PetscInt         *colour, *order;  /* the rows of colour c are order[colour[c] .. colour[c + 1]); colour is a host array */
  void             *dinv;            /* [n] inverse of the diagonal */
  float            *rounded;         /* in single precision: the entries, by rows or by diagonals */
  const void      **val;             /* [nd] host array: where each diagonal is */
  void             *b, *x;           /* [n + 1] right-hand side and solution; NULL on the first level in double precision */
  void             *iterate;         /* [n + 1] the other of the two vectors between which a smoother goes to and fro; A times what the second step of a K-cycle adds */
  void             *product;         /* [n + 1] A times what the first step of a K-cycle adds */
  void             *correction;      /* [n + 1] what a second visit adds; on the first level in single precision, what the last steps add */
  void             *localrhs;        /* [n + 1] right-hand side less what the values of other processes have to it */
  void             *ghost;           /* [nghost + 1] values of other processes */
  PetscInt         *keptoff;         /* [nd] host array, in single precision: offsets of the diagonals, for when the matrix takes another type */
  PetscInt         *ownoff;          /* [nd] host array: offsets of diagonals of our own, where the matrix keeps none though it has few */
  PetscScalar      *ownval;          /* their entries */
  PetscBool         half;            /* of a symmetric matrix only the main and the upper diagonals are stored */
  PetscReal         eigenvalue;      /* the largest of D^-1 A, estimated for Chebyshev */
  PetscReal         bound;           /* Gershgorin's for it, on this process; 0: not computed */
  PetscBool         bydiagonals;     /* the local block is kept by diagonals */
  PetscBool         manydiagonals;   /* on the device: they were counted, and are too many */
  PetscBool         longrows;        /* on the device: there are rows of more than POLDER_COARSE_ROW entries */
  PetscBool         singleprecision; /* of M and of vectors */
  PetscInt64        bytes;
  /* On several processes: the rows of this process as they come from the level before, ai .. ba, nown of them from rstart on, with the global
     columns garray[nghost] of the second block */
  PetscInt     nown, rstart, nghost, *garray;
  PetscBool    gathered; /* A is all of it, gi, gj, ga, on every process */
  PetscInt    *gi, *gj;
  PetscScalar *ga;
  PamgOuter    outer;
  PetscReal    sum[POLDER_KSUMS]; /* on the device: those of the K-cycle over all processes, on the host */
  void        *stage;             /* on the device: [N + nown], or [n] on the last level, for what goes by way of the host */
  PetscMPIInt *counts, *displs;   /* rows of each process, and its first one */
  void        *part;              /* [nown + 1] what a vector of a gathered level has for this process */
} PamgLevel;

/* What the cycle does on a level, see pamgsteps.h, and what the set-up does, see pamgsetup.h */
typedef struct _PamgSteps      PamgSteps;
typedef struct _PamgSetUpSteps PamgSetUpSteps;

/* What a set-up was made from */
typedef struct {
  PetscObjectId      mat, blocks[2];
  PetscObjectState   nonzerostate;
  const PolderPlace *place;
} PamgKeys;

typedef struct {
  PetscInt      passes, maxlevels, coarselimit, gatherlimit, klevels;
  PetscInt      wantsmoother, wantpre, wantpost, wantk; /* as asked for, PETSC_DECIDE: by where the levels are */
  PetscInt      pre, post;
  PamgCycle     cycle;
  PamgSmoother  smoother;
  PamgMatching  matching;
  PamgPrecision precision;
  PamgCoarse    coarsetype;
  PetscReal     damping, overcorrection, threshold, kappa, kthreshold, drop;
  PetscBool     reuse;

  const PolderPlace    *place; /* where the levels are; a PC that is not set up has the host */
  const PamgSetUpSteps *setup; /* what the set-up does there */
  const PamgSteps      *steps; /* and the cycle, in its precision */

  PetscInt           nlevel;
  PamgLevel         *level;
  PolderCoarse       coarse; /* the solver of the last level when it is small */
  KSP                ksp;    /* else */
  Vec                coarseb, coarsex;
  const PolderPlace *coarseplace;  /* where that solver takes and leaves vectors: on the host if several processes share the level */
  PetscScalar       *coarsebuf[2]; /* [n + nghost] of the last level, there */
  PetscBool          direct;
  PolderStream       stream;   /* of a set-up on the device */
  PetscReal         *ksum;     /* on the device, the sums of the K-cycle on each level; NULL on the host */
  PetscScalar       *result;   /* in single precision: where the last step on the first level leaves its result in double precision; NULL: in its x */
  PolderDeviceGraph  graph;    /* on the device, all levels but the first */
  PetscInt           recorded; /* the sets-up and refreshes before it */
  PetscBool          stalled;
  PetscBool          uncoloured; /* the rows of a level have no colours for Gauss-Seidel: levels are on the host until the options or the PC are reset */
  PetscBool          symmetric;  /* the matrix is, to rounding */
  PetscBool          warned[3];  /* K-cycle in a method that is not flexible, not symmetric, blocks */
  PetscInt          *mate;       /* of the rows of a level while it is aggregated, with what a pair is judged by; NULL afterwards */
  PetscReal         *diagonal, *sum;
  PetscReal         *excess, *magnitude; /* of the rows of the level that was made or refreshed last (excessrow.h), until its solver has them */
  PetscInt64        *gridplace;          /* of the rows of this process in a grid, as long as levels are made; NULL: none is known */
  PamgKeys           keys;
  PetscInt           nsetup, nrefresh;
} PC_PAMG;

/* The K-cycle may be wanted at level l, which is not the first */
static inline PetscBool PamgVisitsTwice(const PC_PAMG *pamg, PetscInt l)
{
  return (PetscBool)(l + 1 < pamg->nlevel && (pamg->cycle == PAMG_W || (pamg->cycle == PAMG_K && l <= pamg->klevels)));
}

/* Factor of the correction that comes to level l from the next. Energy that a piecewise constant has too much of makes the plain correction
   too short; the K-cycle scales by itself */
static inline PetscReal PamgOvercorrection(const PC_PAMG *pamg, PetscInt l)
{
  static const PetscReal chosen[2][3] = {
    {1.35, 1.7, 2.0}, // V
    {1.15, 1.3, 1.4}  // W
  };

  if (pamg->cycle == PAMG_K && PamgVisitsTwice(pamg, l + 1)) return 1;
  if (pamg->overcorrection > 0) return pamg->overcorrection;
  return chosen[pamg->cycle == PAMG_W][pamg->passes - 1];
}

/* Entries of the rows of this process */
static inline PetscLogDouble PamgLocalEntries(const PamgLevel *L)
{
  return (PetscLogDouble)(L->nz + L->nzouter);
}

static inline size_t PamgValueSize(const PC_PAMG *pamg)
{
  return pamg->precision == PAMG_SINGLE ? sizeof(float) : sizeof(PetscScalar);
}

/* pamgsetup.c */
/* The rows of the matrix where the levels can be, and the steps of a set-up there */
PETSC_INTERN PetscErrorCode PCPAMGGetRows(PC, const PamgSetUpSteps **, PolderCSR *);
/* The levels are to be there */
PETSC_INTERN void           PCPAMGSetPlace(PC_PAMG *, const PamgSetUpSteps *);
PETSC_INTERN PetscErrorCode PCPAMGSetUpLevels(PC);

/* pamglevel.c */
PETSC_INTERN PetscErrorCode PCPAMGFree(PC_PAMG *);
PETSC_INTERN PetscErrorCode PCPAMGFreeLevel(const PC_PAMG *, PamgLevel *, PetscBool first);
/* Work vectors of each level, and the bytes of all */
PETSC_INTERN PetscErrorCode PCPAMGSetUpWork(PC_PAMG *);
/* Inverse diagonal and, when the level is to be aggregated, what pairs are judged by; and the entries as the cycle reads them. Refused for
   rows or values that cannot be used */
PETSC_INTERN PetscErrorCode PCPAMGSetUpRows(PC, PetscInt l, PetscBool refresh);
PETSC_INTERN PetscErrorCode PCPAMGSetUpValues(PC, PetscInt l);
/* C->garray <- the global aggregates that theirs[n] names, ascending, -1 for none; theirs[k] <- its place among them, their number for none */
PETSC_INTERN PetscErrorCode PCPAMGNumberGhosts(PetscInt n, PetscInt theirs[], PamgLevel *C);

/* pamgdiagonals.c: local blocks by diagonals, on the host */
#define PAMG_DIAGONALS 32
/* Has the local block about as few diagonals as a row has entries? So many at most */
static inline PetscInt PamgMostDiagonals(PetscInt n, PetscInt64 nz)
{
  return n ? (PetscInt)PetscMin(PAMG_DIAGONALS, 2 * nz / n + 1) : 0;
}
/* val[] <- where each of nd diagonals is, those from first on stored ld values of so many bytes apart; the lower ones lead into the upper ones */
static inline void PamgPointDiagonals(PetscInt nd, PetscInt first, const PetscInt off[], size_t size, const void *stored, PetscInt ld, const void *val[])
{
  for (PetscInt d = nd - 1; d >= 0; --d) val[d] = d < first ? (const char *)val[nd - 1 - d] + (ptrdiff_t)size * off[d] : (const char *)stored + size * (size_t)(d - first) * (size_t)ld;
}
/* Has the local block so few? off[PAMG_DIAGONALS] <- these, as they come */
PETSC_INTERN PetscBool PamgIsRegular(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt *nd, PetscInt off[]);
/* Room for the diagonals ownoff[], half of them when the offsets are symmetric and half is set; the lower ones lead into the upper ones then */
PETSC_INTERN PetscErrorCode PCPAMGPlaceDiagonals(const PC_PAMG *, PamgLevel *, PolderDia *, PetscBool half);
/* In single precision: the level knows its diagonals without the matrix */
PETSC_INTERN PetscErrorCode PCPAMGKeepDiagonals(PamgLevel *);
/* diag[] of a level whose matrix has no diagonals, or another type by now: the cycle then reads its rows */
PETSC_INTERN PetscErrorCode PCPAMGFindDiagonal(PamgLevel *);
/* Where the cycle reads the entries; *fits: single precision can hold them */
PETSC_INTERN PetscErrorCode PCPAMGSetUpValuesHost(PC_PAMG *, PetscInt l, PetscBool *fits);

/* pamgexcess.c: the diagonal of coarse rows where it is the small rest of large entries */
/* Excess of the rows of the first level; kernel: the constant is in that of the matrix */
PETSC_INTERN PetscErrorCode PCPAMGFindExcess(PC_PAMG *, PetscBool kernel);
/* Of the rows of level l + 1, whose entries to all processes are there, and their diagonal from it */
PETSC_INTERN PetscErrorCode PCPAMGMendCoarse(PC_PAMG *, PetscInt l);
/* Of all rows of a level that is gathered */
PETSC_INTERN PetscErrorCode PCPAMGGatherExcess(PC_PAMG *, MPI_Comm, const PamgLevel *);
/* The solver of the last level is to use it */
PETSC_INTERN PetscErrorCode PCPAMGHandExcess(PC_PAMG *, const PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGFreeExcess(PC_PAMG *);

/* pamgaggregate.c */
/* gridplace[] of the rows of the first level */
PETSC_INTERN PetscErrorCode PCPAMGFindGrid(PC_PAMG *, const PolderCSR *);
/* What rows are judged by while they are aggregated */
PETSC_INTERN PetscErrorCode PCPAMGMallocJudged(PC_PAMG *, PetscInt n);
PETSC_INTERN PetscErrorCode PCPAMGFreeJudged(PC_PAMG *);
/* Aggregates of the rows of level l, and the local block of the matrix of the next */
PETSC_INTERN PetscErrorCode PCPAMGAggregate(PC_PAMG *, PetscInt l);
/* The rows of each aggregate, as in ptr[] and row[] of a level: those that it keeps, or made for the time being on the host */
PETSC_INTERN PetscErrorCode PCPAMGGetMembers(const PamgLevel *, PetscInt **ptr, PetscInt **row);
PETSC_INTERN PetscErrorCode PCPAMGRestoreMembers(const PamgLevel *, PetscInt **ptr, PetscInt **row);

/* pamgcoarse.c: the solver of the last level */
/* Is the constant in the kernel of the matrix? */
PETSC_INTERN PetscErrorCode PCPAMGHasConstant(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCPAMGSetUpCoarse(PC);
/* Its factor on the host, from the rows of all processes */
PETSC_INTERN PetscErrorCode PCPAMGFactorRows(PC_PAMG *, const PolderCSR *, PetscBool constant);

/* A bound up to this is the estimate: no product is needed to find a better one */
#define PAMG_BOUND 2.05
/* Else that many steps of the power method, after which the estimate is a tenth more */
#define PAMG_POWER 10
static inline PetscReal PamgEigenvalue(PetscReal bound, PetscReal power)
{
  const PetscReal most = bound > 0 ? bound : 2;

  return power > 0 ? PetscMin(most, 1.1 * power) : most;
}

/* pamgdevice.c */
/* The matrix of level l from what is on the device */
PETSC_INTERN PetscErrorCode PCPAMGMatrixFromDevice(PC_PAMG *, PetscInt l);

/* pamgouter.c: what several processes add on the device */
/* The entries to others on the first level, and new values of them */
PETSC_INTERN PetscErrorCode PCPAMGFindOuter(PC_PAMG *);
PETSC_INTERN PetscErrorCode PCPAMGRefreshOuter(PC_PAMG *);
/* Those of level l + 1, whose local block is there, or all of its rows where it is small, and new values of what it is */
PETSC_INTERN PetscErrorCode PCPAMGCoarseOuter(PC_PAMG *, PetscInt l);
PETSC_INTERN PetscErrorCode PCPAMGCoarseOuterValues(PC_PAMG *, PetscInt l);
PETSC_INTERN PetscErrorCode PCPAMGFreeOuter(PamgLevel *);
/* Copies on the host of the rows of this process, of a level that is on several or is gathered */
PETSC_INTERN PetscErrorCode PCPAMGRowsToHost(const PamgLevel *, PolderCSR *);
PETSC_INTERN PetscErrorCode PCPAMGFreeRowsOnHost(PolderCSR *);

/* pamggather.c */
/* The entries of row i of both blocks in the order of their global columns: val[], and col[] unless that is NULL. Returns how many */
PETSC_INTERN PetscInt PamgMergeRow(const PolderCSR *own, PetscInt i, PetscInt col[], PetscScalar val[]);
/* gi, gj and ga of a level from the rows that the processes have, all on the host; and new values of ga in an array to be freed */
PETSC_INTERN PetscErrorCode PCPAMGGatherRows(MPI_Comm, const PolderCSR *own, PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGGatherValues(MPI_Comm, const PolderCSR *own, PetscInt *total, PetscScalar **all);
/* place[] of this process, on the host, becomes that of all, NULL unless all have places */
PETSC_INTERN PetscErrorCode PCPAMGGatherPlaces(MPI_Comm, const PamgLevel *, PetscInt64 **place);

/* pamgcycle.c: x = M^-1 b with vectors like those of the first level */
PETSC_INTERN PetscErrorCode PCPAMGCycle(PC_PAMG *, const void *b, void *x);
/* Its flops on this process without those of the last level, which its solver logs; *last: the latter, when that is a product with the inverse */
PETSC_INTERN PetscLogDouble PCPAMGFlops(const PC_PAMG *, PetscLogDouble *last);

/* pamghost.c, pamglaunch.c: on the host and on the device */
/* z = M^-1 r */
PETSC_INTERN PetscErrorCode PCPAMGApplyHost(PC, Vec r, Vec z);
PETSC_INTERN PetscErrorCode PCPAMGApplyDevice(PC, Vec r, Vec z);
/* Estimates the largest eigenvalue of D^-1 A on all levels but the last, while the first one has its rows */
PETSC_INTERN PetscErrorCode PCPAMGEstimateHost(PC);
PETSC_INTERN PetscErrorCode PCPAMGEstimateDevice(PC);
