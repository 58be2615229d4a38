/* Pairwise-aggregation multigrid: what its options and view (pamg.c), its set-up (pamgsetup.c) and its cycle (pamgcycle.c) share. */
#pragma once

#include "core/device.h"
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
  PetscInt       *row, *ptr, *col;                /* [n], [n + 1], [nz]; the columns are ghosts */
  PetscScalar    *val;                            /* [nz] */
  PetscInt        ntarget, *target, *at, *member; /* the aggregates of these rows: member[at[t] .. at[t + 1]) are the places of those of target[t]; [ntarget], [ntarget + 1], [n] */
  PolderOuterRows rows;                           /* the same in device memory */
  PetscInt       *target_d, *at_d, *member_d;
  void           *dinv; /* [nghost] of the ghosts, in device memory */
} PamgOuter;

/*
  One level. Its matrix is an AIJ matrix of ours, so that diagonals and neighbour values come from where they come for every matrix; on the first level it is that of the PC, on
  the others the arrays of rows are ours. On the device there is no matrix but on the first level: M and the arrays beside it, all in device memory but off and val, are the level.
*/
typedef struct {
  Mat               A;
  MPI_Comm          comm; /* of the processes that share it; its own on each when it is whole there */
  PetscInt          n, N; /* rows, here and on all processes */
  PetscInt          nc;   /* aggregates of this process */
  PetscInt64        nz;   /* entries of all processes */
  PolderLevelMatrix M;    /* the local block; on the first level its arrays of the matrix are set while a cycle runs */
  PolderCSR         csr;  /* the same for the entries to other processes */
  PolderHalo        halo; /* NULL where this process has all rows */
  PetscInt         *ai, *aj, *bi, *bj;
  PetscScalar      *aa, *ba;
  PetscInt         *agg;                   /* [n] aggregate, nc for none; NULL on the last level */
  PetscInt         *ptr, *row;             /* on the device: the rows of aggregate a are row[ptr[a] .. ptr[a + 1]); [nc + 2], [n] */
  PetscInt         *ghostagg;              /* [nghost] column of the off-process block of the next level, its number of ghosts for none */
  PetscInt         *diag;                  /* [n] position of the diagonal entry; NULL with diagonals */
  PetscInt          ncolour;               /* on the device, for Gauss-Seidel */
  PetscInt         *colour, *order;        /* the rows of colour c are order[colour[c] .. colour[c + 1]); colour on the host */
  void             *dinv;                  /* [n] */
  float            *values;                /* in single precision: the entries, by rows or by diagonals */
  const void      **val;                   /* [nd] host array: where each diagonal is */
  void             *b, *x;                 /* [n + 1] right-hand side and solution; NULL on the first level in double precision */
  void             *t, *v, *w, *g, *ghost; /* [n + 1] work: second iterate, two of the K-cycle, right-hand side less what others have to it */
  PetscInt         *kept;                  /* [nd] in single precision: the diagonals in values, since those of the matrix go when it takes another type */
  PetscInt         *off;                   /* [nd] diagonals of our own, where the matrix keeps none though it has few */
  PetscScalar      *own;                   /* their entries */
  PetscBool         half;                  /* the diagonals in values are half of a symmetric matrix */
  PetscReal         eigenvalue;            /* the largest of D^-1 A, estimated for Chebyshev */
  PetscReal         bound;                 /* Gershgorin's for it, on this process; 0: not computed */
  PetscBool         regular;               /* by diagonals */
  PetscBool         scattered;             /* on the device: there are too many diagonals */
  PetscBool         wide;                  /* on the device: there are rows of more than POLDER_COARSE_ROW entries */
  PetscBool         single;                /* on the device: the precision of M and of vectors */
  PetscInt64        bytes;
  /* On several processes: the rows of this process as they come from the level before, ai .. ba, nown of them from rstart on, with the global columns garray[nghost] of the second block */
  PetscInt     nown, rstart, nghost, *garray;
  PetscBool    gathered; /* A is all of it, gi, gj, ga, on every process */
  PetscInt    *gi, *gj;
  PetscScalar *ga;
  PamgOuter    outer;
  PetscReal    sum[POLDER_KSUMS]; /* on the device: those of the K-cycle over all processes, on the host */
  void        *stage;             /* on the device: [N + nown], or [n] on the last level, for what goes by way of the host */
  PetscMPIInt *counts, *displs;   /* rows of each process, and its first one */
  void        *part;              /* [nown + 1] of a vector */
} PamgLevel;

/* What the cycle does on a level, see pamgsteps.h */
typedef struct _PamgSteps PamgSteps;

/* What a set-up was made from */
typedef struct {
  PetscObjectId    mat, blocks[2];
  PetscObjectState nonzerostate;
  PetscInt         device;
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

  PetscInt          nlevel;
  PamgLevel        *level;
  PolderCoarse      coarse; /* the solver of the last level when it is small */
  KSP               ksp;    /* else */
  Vec               cb, cx;
  PetscScalar      *cbuf[2], *hostbuf[2]; /* [n + nghost] of the last level, on the device or, where its solver is, on the host */
  PetscBool         direct;
  PetscBool         device; /* levels are on the device */
  PolderStream      stream;
  PetscReal        *ksum;     /* there, the sums of the K-cycle on each level; NULL on the host */
  const PamgSteps  *steps;    /* while a cycle runs */
  PetscScalar      *wide;     /* in single precision: where the last step on the first level leaves its result in double precision; NULL: in its x */
  PolderDeviceGraph graph;    /* on the device, all levels but the first */
  PetscInt          recorded; /* the sets-up and refreshes before it */
  PetscBool         stalled;
  PetscBool         uncoloured; /* Gauss-Seidel was asked for and the rows of a level have no colours: levels are on the host until the options or the PC are reset */
  PetscBool         symmetric;  /* the matrix is, to rounding */
  PetscBool         warned[3];  /* K-cycle in a method that is not flexible, not symmetric, blocks */
  PetscInt         *mate;       /* of the rows of a level while it is aggregated, with what a pair is judged by; NULL afterwards */
  PetscReal        *diagonal, *sum;
  PetscReal        *excess, *size; /* of the rows of the level that was made or refreshed last (excessrow.h), until its solver has them */
  PetscInt64       *place;         /* of the rows of this process in a grid, as long as levels are made; NULL: none is known */
  PamgKeys          keys;
  PetscInt          nsetup, nrefresh;
} PC_PAMG;

/* The K-cycle may be wanted at level l, which is not the first */
static inline PetscBool PamgVisitsTwice(const PC_PAMG *pamg, PetscInt l)
{
  return (PetscBool)(l + 1 < pamg->nlevel && (pamg->cycle == PAMG_W || (pamg->cycle == PAMG_K && l <= pamg->klevels)));
}

/* Factor of the correction that comes to level l from the next. Energy that a piecewise constant has too much of makes the plain correction too short; the K-cycle scales by itself */
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

/* pamgsetup.c */
/* C->garray <- the global aggregates that theirs[n] names, ascending, -1 for none; theirs[k] <- its place among them, their number for none */
PETSC_INTERN PetscErrorCode PCPAMGNumberGhosts_Private(PetscInt n, PetscInt theirs[], PamgLevel *C);
PETSC_INTERN PetscErrorCode PCPAMGSetUpLevels_Private(PC);
PETSC_INTERN PetscErrorCode PCPAMGFree_Private(PC_PAMG *);
/* Once for each of warned[] */
PETSC_INTERN PetscErrorCode PCPAMGWarn_Private(PC, int which, const char text[]);

/* Has the local block about as few diagonals as a row has entries? So many at most */
#define PAMG_DIAGONALS 32
static inline PetscInt PamgMostDiagonals(PetscInt n, PetscInt64 nz)
{
  return n ? (PetscInt)PetscMin(PAMG_DIAGONALS, 2 * nz / n + 1) : 0;
}
/* val[] <- where each of nd diagonals is, those from first on stored ld values of so many bytes apart; the lower ones lead into the upper ones */
static inline void PamgPointDiagonals(PetscInt nd, PetscInt first, const PetscInt off[], size_t size, const void *stored, PetscInt ld, const void *val[])
{
  for (PetscInt d = nd - 1; d >= 0; --d) val[d] = d < first ? (const char *)val[nd - 1 - d] + (ptrdiff_t)size * off[d] : (const char *)stored + size * (size_t)(d - first) * (size_t)ld;
}
/* Room for the diagonals off[], half of them when the offsets are symmetric and half is set; the lower ones lead into the upper ones then */
PETSC_INTERN PetscErrorCode PCPAMGPlaceDiagonals_Private(const PC_PAMG *, PamgLevel *, PolderDia *, PetscBool half);

/* A kernel that host and device have with the same arguments */
#define PamgKernel(pamg, stem, ...) \
  do { \
    if ((pamg)->device) PolderLaunch(stem##_CUDA(__VA_ARGS__, (pamg)->stream)); \
    else stem##_Host(__VA_ARGS__); \
  } while (0)

/* pamgexcess.c: the diagonal of coarse rows where it is the small rest of large entries */
/* Excess of the rows of the first level; kernel: the constant is in that of the matrix */
PETSC_INTERN PetscErrorCode PCPAMGFindExcess_Private(PC_PAMG *, PetscBool kernel);
/* Of the rows of level l + 1, whose entries to all processes are there, and their diagonal from it */
PETSC_INTERN PetscErrorCode PCPAMGMendCoarse_Private(PC_PAMG *, PetscInt l);
/* Of all rows of a level that is gathered */
PETSC_INTERN PetscErrorCode PCPAMGGatherExcess_Private(PC_PAMG *, MPI_Comm, const PamgLevel *);
/* The solver of the last level is to use it */
PETSC_INTERN PetscErrorCode PCPAMGHandExcess_Private(PC_PAMG *, const PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGFreeExcess_Private(PC_PAMG *);

/* pamgaggregate.c */
/* Memory where the levels are */
PETSC_INTERN PetscErrorCode PCPAMGMalloc_Private(const PC_PAMG *, size_t bytes, void *ptr);
PETSC_INTERN PetscErrorCode PCPAMGFreeArray_Private(const PC_PAMG *, void *ptr);
/* In single precision: the level knows its diagonals without the matrix */
PETSC_INTERN PetscErrorCode PCPAMGKeepDiagonals_Private(PamgLevel *);
/* place[] of the rows of the first level */
PETSC_INTERN PetscErrorCode PCPAMGFindDiagonal_Private(PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGFindGrid_Private(PC_PAMG *, const PolderCSR *);
/* Aggregates of the rows of level l, and the local block of the matrix of the next */
PETSC_INTERN PetscErrorCode PCPAMGAggregate_Private(PC_PAMG *, PetscInt l);
/* New values of the latter */
PETSC_INTERN PetscErrorCode PCPAMGCoarseValues_Private(PC_PAMG *, PetscInt l);

/* pamgdevice.c: what the set-up of a level does in another way on the device */
/* May the levels be there? Then the rows of the matrix are csr */
PETSC_INTERN PetscErrorCode PCPAMGOnDevice_Private(PC, PolderCSR *csr, PetscBool *);
/* Sizes and entries of level l, whose rows are there */
PETSC_INTERN PetscErrorCode PCPAMGBeginLevelDevice_Private(PC_PAMG *, PetscInt l);
/* Inverse diagonal and, when the level is to be aggregated, what pairs are judged by; *row: the first one that cannot be used, n for none */
PETSC_INTERN PetscErrorCode PCPAMGSetUpRowsDevice_Private(PC_PAMG *, PetscInt l, PetscReal lone, PetscBool refresh, PetscInt *row, PolderRowKind *);
/* The rows of a level by colours; *found = PETSC_FALSE: they take more than POLDER_COLOURS, or an entry has no opposite one */
PETSC_INTERN PetscErrorCode PCPAMGColourDevice_Private(PC_PAMG *, PetscInt l, PetscBool *found);
/* Where the cycle reads the entries; *fits: single precision can hold them */
PETSC_INTERN PetscErrorCode PCPAMGSetUpValuesDevice_Private(PC_PAMG *, PetscInt l, PetscBool *fits);
/* The solver of the last level, by its inverse or a factor; and its matrix for a KSP */
PETSC_INTERN PetscErrorCode PCPAMGSetUpCoarseDevice_Private(PC_PAMG *, PetscBool constant);
PETSC_INTERN PetscErrorCode PCPAMGMatrixFromDevice_Private(PC_PAMG *, PetscInt l);

/* A bound up to this is the estimate: no product is needed to find a better one */
#define PAMG_BOUND 2.05
/* Else that many steps of the power method, after which the estimate is a tenth more */
#define PAMG_POWER 10
static inline PetscReal PamgEigenvalue(PetscReal bound, PetscReal power)
{
  const PetscReal most = bound > 0 ? bound : 2;

  return power > 0 ? PetscMin(most, 1.1 * power) : most;
}

/* pamgouter.c: what several processes add on the device */
/* The entries to others on the first level, and new values of them */
PETSC_INTERN PetscErrorCode PCPAMGFindOuter_Private(PC_PAMG *);
PETSC_INTERN PetscErrorCode PCPAMGRefreshOuter_Private(PC_PAMG *);
/* Those of level l + 1, whose local block is there, or all of its rows where it is small, and new values of what it is */
PETSC_INTERN PetscErrorCode PCPAMGCoarseOuter_Private(PC_PAMG *, PetscInt l);
PETSC_INTERN PetscErrorCode PCPAMGCoarseOuterValues_Private(PC_PAMG *, PetscInt l);
PETSC_INTERN PetscErrorCode PCPAMGFreeOuter_Private(PamgLevel *);
/* Copies on the host of the rows of this process, of a level that is on several or is gathered */
PETSC_INTERN PetscErrorCode PCPAMGRowsToHost_Private(const PamgLevel *, PolderCSR *);
PETSC_INTERN PetscErrorCode PCPAMGFreeRowsOnHost_Private(PolderCSR *);

/* pamggather.c */
/* The entries of row i of both blocks in the order of their global columns: val[], and col[] unless that is NULL. Returns how many */
PETSC_INTERN PetscInt PamgMergeRow(const PolderCSR *own, PetscInt i, PetscInt col[], PetscScalar val[]);
/* gi, gj and ga of a level from the rows that the processes have, all on the host; and new values of ga in an array to be freed */
PETSC_INTERN PetscErrorCode PCPAMGGatherRows_Private(MPI_Comm, const PolderCSR *own, PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGGatherValues_Private(MPI_Comm, const PolderCSR *own, PetscInt *total, PetscScalar **all);
/* place[] of this process becomes that of all, NULL unless all have places */
PETSC_INTERN PetscErrorCode PCPAMGGatherPlaces_Private(MPI_Comm, const PamgLevel *, PetscInt64 **place);

/* Entries of the rows of this process */
static inline PetscLogDouble PamgLocalEntries(const PC_PAMG *pamg, const PamgLevel *L)
{
  if (pamg->device) return (PetscLogDouble)(L->nz + L->outer.nz);
  return L->n ? L->csr.ai[L->n] + (L->csr.bi ? (PetscLogDouble)L->csr.bi[L->n] : 0.0) : 0.0;
}

/* pamgcycle.c: x = M^-1 b with vectors like those of the first level */
PETSC_INTERN PetscErrorCode PCPAMGCycle_Private(PC_PAMG *, const void *b, void *x);
/* Its flops on this process without those of the last level, which its solver logs; *last: the latter, when that is a product with the inverse */
PETSC_INTERN PetscLogDouble PCPAMGFlops_Private(const PC_PAMG *, PetscLogDouble *last);

/* pamghost.c */
/* The arrays of the first level, which are the matrix's */
PETSC_INTERN PetscErrorCode PCPAMGBegin_Private(PC);
PETSC_INTERN PetscErrorCode PCPAMGEnd_Private(PC);
/* z = M^-1 r */
PETSC_INTERN PetscErrorCode PCPAMGApplyHost_Private(PC, Vec r, Vec z);
/* Estimates the largest eigenvalue of D^-1 A on level l, between the two above on the first one */
PETSC_INTERN PetscErrorCode PCPAMGEstimate_Private(PC_PAMG *, PetscInt l);

/* pamglaunch.c: the same on the device, where the levels are; the estimates of all levels but the last at once */
PETSC_INTERN PetscErrorCode PCPAMGApplyDevice_Private(PC, Vec r, Vec z);
PETSC_INTERN PetscErrorCode PCPAMGEstimateDevice_Private(PC);
