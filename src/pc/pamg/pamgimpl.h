/* Pairwise-aggregation multigrid: what its options (pamgoptions.c) and view (pamg.c), its set-up (pamgsetup.c) and its cycle (pamgcycle.c) share. */
#pragma once

#include "core/place.h"
#include "kernels/bfloat.h"
#include "kernels/eliminate.h"
#include "kernels/levelblocks.h"
#include "kernels/levelborder.h"
#include "kernels/levelgrid.h"
#include "kernels/levellines.h"
#include "kernels/levelmatrix.h"
#include "kernels/levelrow.h"
#include "kernels/levelscalars.h"
#include "kernels/planes.h"
#include "coarse/coarse.h"
#include "mat/dia.h"
#include "mat/csr.h"
#include "mat/halo.h"
#include "core/replica.h"
#include "pamginner.h"
#include "pamgreplay.h"
#include <petscksp.h>

#define PAMG_LEVELS 64
/* The largest number of passes a level, of smoothing steps before or after the coarse correction, and of rows of a replicated level */
#define PAMG_PASSES 3
#define PAMG_STEPS  100
#define PAMG_GATHER 10000000
/* Levels that are replicated, see PamgGathers(): rows on devices, on hosts, and where a pass leaves more than this part of the rows */
#define PAMG_GATHER_DEVICE 300000
#define PAMG_GATHER_HOST   8000
#define PAMG_GATHER_POOR   300000
#define PAMG_SMALL         0.7
/* Rows with more neighbours than this are never eliminated: their neighbours would get many entries */
#define PAMG_ELIMINATE 4

/* What levels can have: the values of PCPAMGSmoother and PCPAMGPrecision without auto */
typedef enum {
  PAMG_JACOBI    = PC_PAMG_SMOOTHER_JACOBI,
  PAMG_L1JACOBI  = PC_PAMG_SMOOTHER_L1JACOBI,
  PAMG_CHEBYSHEV = PC_PAMG_SMOOTHER_CHEBYSHEV,
  PAMG_SGS       = PC_PAMG_SMOOTHER_SGS
} PamgSmoother;

typedef enum {
  PAMG_DOUBLE = PC_PAMG_PRECISION_DOUBLE,
  PAMG_SINGLE = PC_PAMG_PRECISION_SINGLE,
  PAMG_HALF   = PC_PAMG_PRECISION_HALF
} PamgPrecision;

typedef enum {
  PAMG_HANDSHAKE,
  PAMG_GREEDY
} PamgMatching;

typedef enum {
  PAMG_COARSE_AUTO,
  PAMG_COARSE_CHOLESKY,
  PAMG_COARSE_INVERSE,
  PAMG_COARSE_KSP
} PamgCoarse;

/*
  Off-process entries of a distributed level on the device, by the rows that have any. They are few, so the host has a copy. planes: they are those of planes,
  whose lists the device makes, and of which the host knows the numbers only until PCPAMGNeedOuter() copies them
*/
typedef struct {
  PolderPlanes     at;
  PetscBool        planes;
  PolderSparseRows rows, rows_d;      /* on the host and on the device; the columns are ghosts */
  PolderAggregates to, to_d;          /* the aggregates of these rows, that is of their positions in rows */
  PetscInt        *target, *target_d; /* [to.n] the numbers of these aggregates on the level */
  PetscInt        *agg;               /* [rows.n] on the host: the aggregate of each row, until these are listed */
  void            *dinv;              /* [nghost] inverse diagonal of the ghosts, in device memory */
} PamgOuter;

/*
  A level that is a grid of which each process has whole planes: interpolation reaches into the processes beside. Arrays are at the place of the level, scaled[]
  on the host
*/
typedef struct {
  PetscMPIInt       beside[2];           /* the processes with the planes before and after, -1 for none */
  PetscInt          before, first;       /* how many processes with rows come before this one; its first box */
  PetscBool         lists;               /* on the device: off-process entries are those of planes on this level and the next one, on all processes */
  PetscScalar      *there;               /* lists: scaled[] on the device, and not on the host */
  PolderLevelBorder B;                   /* B.dir = 0 and all else empty: interpolation stays within the process */
  PolderSparseRows  rows;                /* the rows with off-process entries */
  PetscScalar      *scaled;              /* these entries as the next level adds them up */
  PolderHalo        parts, planes;       /* exchange what is given to boxes of others, and solutions at the border; planes = NULL: the next level is gathered */
  PetscBool         ownsplanes;          /* FALSE: the exchange is that of the next level */
  void             *give, *got, *beyond; /* [2 cplane] */
} PamgBorder;

/*
  The rows that a pass aggregates and their couplings, before and after the pass. A coupling is an off-diagonal entry. irregular: 0 where the pairs line up in
  a grid, else 1
*/
typedef struct {
  PetscInt64 rows, couplings, nextrows, nextcouplings, irregular;
} PamgPass;

/* What the steps of a set-up find on a level */
typedef struct {
  PetscInt64 row;   /* the first unusable row, see PolderRowBad() */
  PetscReal  bound; /* PamgLevel.bound */
  PetscInt   count[POLDER_LEVELGRID_COUNTS], split;
  int        wrong, large; /* entries that its diagonals lack, or that have no mirror image; that its precision lacks */
} PamgFindings;

/*
  One level. Its matrix is an AIJ matrix of Polder, so that diagonals and ghost values are obtained as for every other matrix. The matrix of the first level
  is that of the PC; the matrices of the other levels are built around row arrays of the PC. On the device only the first level has a matrix: M and the arrays
  beside it define the level. Arrays are in the memory of the level's place unless a comment says otherwise.
*/
typedef struct {
  Mat               A;
  MPI_Comm          comm;     /* the processes that share the level; PETSC_COMM_SELF when replicated */
  PetscInt          n, N;     /* rows on this process and on all processes */
  PetscInt          nc;       /* aggregates of this process */
  PetscInt64        nz;       /* entries of the local block */
  PetscInt64        nzouter;  /* off-process entries of the rows of this process */
  PolderLevelMatrix M;        /* the local block; on the first level its arrays are those of the matrix, set only during a cycle */
  PolderCSR         csr;      /* the same as compressed rows, on the host with the off-process entries */
  PolderHalo        halo;     /* NULL where this process has all rows */
  PetscBool         ownshalo; /* FALSE: the halo belongs to A */
  PetscInt         *ai, *aj, *bi, *bj;
  PetscScalar      *aa, *ba;
  PetscInt          ownnz;             /* entries aa[] from aggregates of pairs; nz is that of all processes on a gathered level */
  PamgPass          pass[PAMG_PASSES]; /* of this process */
  PetscReal         overcorrection;    /* factor of the correction from the next level, where its aggregates determine it; 0: they do not */
  PetscInt         *agg;               /* [n] aggregate, nc for none; NULL on the last level */
  PetscInt         *ptr, *row;         /* on the device: the rows of aggregate a are row[ptr[a] .. ptr[a + 1]); [nc + 2], [n] */
  PolderLevelGrid   grid;              /* gridknown: where the rows lie in a grid; isgrid: also how they are coarsened, by boxes of agg[] */
  PetscBool         gridknown, isgrid;
  PetscBool         ahead;  /* the steps of its set-up run before the host knows what those before have found, see PCPAMGGridAhead() */
  PamgFindings      found;  /* on the host, as far as it has asked */
  int               along;  /* gridknown: the direction in which the rows of processes follow each other where each has whole planes: 1 or 2 */
  PamgBorder        border; /* isgrid */
  PolderLevelLines  lines;  /* islines: a correction is interpolated along lines between agg[] */
  PetscBool         islines;
  PolderEliminated  eliminated; /* eliminates: the rows that are eliminated exactly; those that stay are the rows of the next level, agg[] < nc */
  PetscBool         eliminates;
  PolderLevelBlocks blocks;   /* that smoothing solves exactly; arrays on the host */
  PolderLevelBlocks blocks_d; /* on the device: the same there, and their rows */
  PolderSparseRows  blockrows;
  PetscReal        *blocksums; /* [n] sums of off-process entries, in single precision */
  PetscBool         hasblocks; /* a process has some */
  PetscReal        *shift;     /* [n] on the host: what Gauss-Seidel adds to the diagonal for off-process couplings; NULL: nothing */
  PetscInt *ghostagg; /* [nghost] host array: column in the off-process block of the next level; the number of its ghosts for none; NULL with border.lists */
  PetscInt *diag;     /* [n] on the host: position of the diagonal entry; NULL when stored by diagonals */
  PetscInt  ncolour;  /* on the device, for Gauss-Seidel */
  PetscInt *colour, *order; /* the rows of colour c are order[colour[c] .. colour[c + 1]); colour is a host array */
  void     *dinv;           /* [n] inverse of the diagonal */
  float    *rounded;        /* single precision: the entries, by rows or by diagonals; half precision: during the set-up */
  PolderBfloat     *halved; /* half precision: these entries in bfloat16 */
  const void      **val;    /* [nd] host array: pointer to each diagonal */
  unsigned char    *code;   /* [n] on the device: the classes of equal rows of a stencil; NULL: not looked for */
  PolderDiaClasses *classes;
  void             *b, *x;           /* [n + 1] right-hand side and solution; NULL on the first level in double precision */
  void             *iterate;         /* [n + 1] second vector of an alternating smoother; also A times the correction of the second step of a K-cycle */
  void             *product;         /* [n + 1] A times the correction of the first step of a K-cycle */
  void             *correction;      /* [n + 1] correction of a second visit; on the first level in single precision, correction of the post-smoothing */
  void             *localrhs;        /* [n + 1] right-hand side minus off-process contributions */
  void             *ghost;           /* [nghost + 1] off-process values */
  PetscInt         *keptoff;         /* [nd] host array, in single precision: offsets of the diagonals, kept in case the matrix changes its type */
  PetscInt         *ownoff;          /* [nd] host array: offsets of the level's own diagonals, when the matrix has few diagonals but does not store them */
  PetscScalar      *ownval;          /* values of these diagonals */
  PetscBool         half;            /* symmetric matrix of which only the main and the upper diagonals are stored */
  PetscReal         eigenvalue;      /* estimated largest eigenvalue of D^-1 A, for Chebyshev */
  PetscBool         twice;           /* a cycle visits it twice */
  PetscReal         length[2];       /* of the steps of the two visits, but for those of a K-cycle */
  PetscReal         bound;           /* Gershgorin's bound for it, on this process; 0: not computed */
  PetscBool         bydiagonals;     /* the local block is stored by diagonals */
  PetscBool         manydiagonals;   /* on the device: the diagonals were counted and are too many */
  PetscBool         longrows;        /* on the device: there are rows of more than POLDER_COARSE_ROW entries */
  PetscBool         singleprecision; /* the vectors are in single precision, and M is in single or in half precision */
  PetscInt64        bytes;
  /*
    On several processes: the rows of this process as the coarsening produced them, in the arrays ai .. ba: nown rows from rstart on. The columns of the
    second block are garray[nghost], in global numbers
  */
  PetscInt     nown, rstart, nghost, *garray;
  PetscBool    gathered; /* A is the whole matrix, gi, gj, ga, on every process */
  PetscInt    *gi, *gj;
  PetscScalar *ga;
  PamgOuter    outer;
  PetscReal    sum[POLDER_KSUMS]; /* on the device: the sums of the K-cycle over all processes, on the host */
  void        *stage;             /* on the device: [n] on the last level, staging buffer for transfers through the host */
  PetscMPIInt *counts, *displs;   /* number of rows and first row of each process */
  PolderHalo   all;               /* on the device: brings the parts of other processes; NULL: wholevectors does */
  /* On the device, a gathered level: its sizes, in csize[] and nc, if it is a grid; what gathers its values, and vectors */
  PolderLevelGrid whole;
  PolderReplica   wholevalues, wholevectors;
  PetscInt       *total; /* entries of each process; NULL: wholevalues brings a grid, or nothing */
  void           *part;  /* [nown + 1] the part of this process in a vector of a gathered level */
} PamgLevel;

/* The steps of a cycle on a level, see pamgsteps.h, and of a set-up, see pamgsetup.h */
typedef struct _PamgSteps      PamgSteps;
typedef struct _PamgSetUpSteps PamgSetUpSteps;

/*
  The rows of a level that is not symmetric and those of its symmetric part, in one pattern; views of the level, but for own, the rows with a zero for each
  missing partner where the pattern is not symmetric, and the entries of the part. soft, of the local block of the next level: the entries of its symmetric
  part, where interpolation along lines says what they should be
*/
typedef struct {
  PolderRows       rows, part;
  PolderSparseRows own;
  PetscScalar     *values, *soft;
} PamgSkew;

/* The inputs of a set-up, compared to decide whether to repeat it */
typedef struct {
  PetscObjectId      mat, blocks[2];
  PetscObjectState   nonzerostate;
  const PolderPlace *place;
  char               type[32]; /* of the matrix, on the device: the first level reads arrays that are freed when the type changes */
} PamgKeys;

/* The options come first, up to given: a PamgInner gets a copy of them */
struct _PC_PAMG {
  PetscInt passes, maxlevels, coarselimit, gatherlimit, klevels;
  PetscInt eliminate; /* the most neighbours of a row that is eliminated, 0: none */
  /* As requested; PETSC_DECIDE: chosen by the place of the levels */
  PetscInt        wantsmoother, wantpre, wantpost, wantk, wanttwice, wanteliminate, wantlimit, wantlines, wantrepartition, wantstar;
  PetscInt        pre, post;
  PCPAMGCycleType cycle;
  PamgSmoother    smoother;
  PamgMatching    matching;
  PamgPrecision   precision;
  PetscInt        wantprecision; /* as requested; PETSC_DECIDE: chosen in each set-up of a new hierarchy */
  PetscBool       narrow;        /* if so: nothing speaks against half precision yet */
  PetscBool       linear;        /* the solver assumes that the preconditioner is linear, and so does not bear rounding in single precision */
  PamgCoarse      coarsetype;
  PetscReal       damping, overcorrection, threshold, kappa, kthreshold, drop;
  PetscBool       reuse, grids, scales;

  const PamgGiven      *given; /* the rows that the levels are made of, on a device; NULL: those of the matrix */
  const PolderPlace    *place; /* where the levels are; the host before the set-up */
  const PamgSetUpSteps *setup; /* the set-up steps of that place */
  const PamgSteps      *steps; /* the cycle steps of that place, in the precision of the cycle */

  PetscBool              doubtful; /* half precision that nobody asked for, where the slowest vectors decide: see PCPAMGSlowest() */
  PetscBool              broad;    /* they have decided against it */
  PetscInt               nlevel;
  PamgLevel             *level;
  PolderCoarse           coarse; /* solver of the last level when it is small */
  KSP                    ksp;    /* solver of the last level otherwise */
  Vec                    coarseb, coarsex;
  const PolderPlace     *coarseplace;  /* memory of the vectors of that solver: the host if several processes share the level */
  PetscScalar           *coarsebuf[2]; /* [n + nghost] of the last level, in that memory */
  PetscBool              direct;
  PetscBool              centred; /* single precision: the direct solver takes and gives vectors without mean, since the constant is in the kernel */
  PolderStream           stream;  /* stream of a set-up on the device */
  PetscReal              unit;    /* a power of two: in single precision, residuals are taken in units of it */
  PetscReal             *ksum;    /* on the device, the sums of the K-cycle on each level; NULL on the host */
  PetscBool              lent;    /* the solver may have stored r in b of the first level, in single precision */
  PolderLevelEnd         end;     /* of the last step on the first level */
  PolderCGParts          parts;   /* end.parts: its result */
  PamgReplay             replay;
  PetscBool              stalled;
  PetscBool              uncoloured; /* a level has no valid colouring for Gauss-Seidel: the levels stay on the host, see PamgOnlyHost() */
  PetscBool              chains;     /* so do those of a matrix with rows to eliminate */
  PetscBool              tight;      /* chains and trees are many, and the place does not eliminate them: aggregates meet a part of the bound */
  PetscBool              symmetric;  /* the matrix is symmetric to rounding */
  PetscBool              jumps;      /* if not: some rows have entries far from their partners */
  PetscBool              onesided;   /* and those of one that is not and has entries without a partner */
  PamgSkew               skew;       /* of a level during aggregation */
  PetscBool              warned[3];  /* warnings already given: K-cycle in a method that is not flexible, not symmetric, blocks */
  PetscInt              *mate;       /* of the rows of a level during aggregation, with the data that rate a pair; NULL afterwards */
  PetscReal             *diagonal, *sum;
  PetscReal             *excess, *magnitude; /* of the rows of the level made or refreshed last (excessrow.h), until its solver takes them */
  PetscInt64            *gridplace;          /* grid coordinates of the rows of this process during the set-up; NULL: unknown, or not computed yet */
  const PolderLevelGrid *boxes;              /* the next cells of this grid have those coordinates, until PCPAMGNeedPlaces() computes them; NULL: none */
  PamgFindings          *findings;           /* during a set-up, at the place of the levels: [PAMG_LEVELS + 1], the last one for what nobody reads */
  void                  *vectors;            /* those of all levels, see PCPAMGSetUpWork() */
  PamgKeys               keys;
  PetscInt               nsetup, nrefresh;
  PamgWhole              whole;
  PamgMoved              moved;
  PamgScaled             scaled;
  PamgStar               star;
};

/* The PC that has the levels in place of this one; NULL: there is none */
static inline PC PamgGetInner(const PC_PAMG *pamg)
{
  const PC inner[] = {pamg->whole.inner.pc, pamg->moved.inner.pc, pamg->scaled.inner.pc, pamg->star.inner.pc};

  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(inner); ++k) {
    if (inner[k]) return inner[k];
  }
  return NULL;
}

/*
  The next level is replicated if it has at most so many rows. Between devices: what one GPU does below takes less time than the exchanges of several, and pairs
  within a process cost iterations. Pairs pass through the host unless kernels bring them. Where aggregates are that small since the neighbours of many rows are
  on other processes, larger levels are replicated as well: there would soon be no coarser one
*/
static inline PetscBool PamgGathers(const PC_PAMG *pamg, const PamgLevel *L, PetscInt64 count)
{
  const PetscBool device = (PetscBool)(pamg->place->device && (L->border.B.dir > 0 || PolderHaloOnlyLaunches(L->halo)));
  const PetscInt  passes = L->islines ? 1 : pamg->passes;

  if (pamg->gatherlimit >= 0) return (PetscBool)(count <= pamg->gatherlimit);
  if (!L->eliminates && (PetscReal)count > PetscPowRealInt(PAMG_SMALL, passes) * L->N) return (PetscBool)(count <= PAMG_GATHER_POOR);
  return (PetscBool)(count <= (device ? PAMG_GATHER_DEVICE : PAMG_GATHER_HOST));
}

/* Do the levels stay on the host, wherever the rows are, until the options or the PC are reset? */
static inline PetscBool PamgOnlyHost(const PC_PAMG *pamg)
{
  return (PetscBool)(pamg->uncoloured || pamg->chains || pamg->onesided);
}

/* Do the rows of level l come from what an elimination left? */
static inline PetscBool PamgEliminatedAbove(const PC_PAMG *pamg, PetscInt l)
{
  while (l && !pamg->level[l - 1].eliminates) --l;
  return (PetscBool)(l > 0);
}

/* Is the correction of a level more than a constant on each aggregate? Then restriction takes a stored residual */
static inline PetscBool PamgInterpolates(const PamgLevel *L)
{
  return (PetscBool)(L->isgrid || L->islines);
}

/* Number of entries in the rows of this process */
static inline PetscLogDouble PamgLocalEntries(const PamgLevel *L)
{
  return (PetscLogDouble)(L->nz + L->nzouter);
}

/* Has a set-up in half precision, which nobody asked for, found that double precision is needed? */
static inline PetscBool PamgNeedsDouble(const PC_PAMG *pamg)
{
  return (PetscBool)(pamg->wantprecision < 0 && pamg->precision == PAMG_HALF && !pamg->narrow);
}

/* Are the places of the rows in the grid of this level those of the level before? Not where the gathered parts need not line up */
static inline PetscBool PamgKeepsGrid(const PamgLevel *L)
{
  return (PetscBool)(!L->gathered || L->whole.nc);
}

static inline size_t PamgValueSize(const PC_PAMG *pamg)
{
  return pamg->precision != PAMG_DOUBLE ? sizeof(float) : sizeof(PetscScalar);
}

/* pamg.c */
PETSC_INTERN const char *const PamgMatchings[];
PETSC_INTERN PetscErrorCode    PCReset_PAMG(PC);

/* pamgoptions.c */
PETSC_INTERN PetscErrorCode PCSetFromOptions_PAMG(PC, PolderOptionItems);
/* there = PETSC_FALSE: removes the setters */
PETSC_INTERN PetscErrorCode PCPAMGComposeSetters(PC, PetscBool there);

/* pamgsetup.c */
/* Gets the rows of the matrix at the place where the levels can be, and the set-up steps of that place */
PETSC_INTERN PetscErrorCode PCPAMGGetRows(PC, const PamgSetUpSteps **, PolderCSR *);
/* The diagonals of the first level where its rows are those of a matrix that stores them, else NULL */
PETSC_INTERN PetscErrorCode PCPAMGFirstDiagonals(const PC_PAMG *, const PolderDia **);
/* Sets the place of the levels, and their precision */
PETSC_INTERN void           PCPAMGSetPlace(PC_PAMG *, const PamgSetUpSteps *);
PETSC_INTERN void           PCPAMGUsePrecision(PC_PAMG *, PamgPrecision);
PETSC_INTERN PetscErrorCode PCPAMGSetUpLevels(PC);

/* pamgpresolve.c */
/* Prints one warning for each entry of warned[] */
PETSC_INTERN PetscErrorCode PCPAMGWarn(PC, int which, const char text[]);
/* The unit of single precision for this right-hand side; double precision where the solver needs a linear preconditioner; warnings about the solver */
PETSC_INTERN PetscErrorCode PCPAMGPreSolve(PC, KSP, Vec b, Vec x);

/* pamglevel.c */
PETSC_INTERN PetscErrorCode PCPAMGFree(PC_PAMG *);
PETSC_INTERN PetscErrorCode PCPAMGFreeLevel(const PC_PAMG *, PamgLevel *, PetscBool first);
/* Allocates the work vectors of each level and counts the bytes of all levels */
PETSC_INTERN PetscErrorCode PCPAMGSetUpWork(PC_PAMG *);
/*
  Computes the inverse diagonal, the entries as the cycle reads them and, if the level is to be aggregated, the data that rate a pair. Errors for unusable
  rows or values
*/
PETSC_INTERN PetscErrorCode PCPAMGSetUpRows(PC, PetscInt l, PetscBool refresh);
PETSC_INTERN PetscErrorCode PCPAMGSetUpValues(PC, PetscInt l);
/* C->garray <- the global aggregates in theirs[n], ascending, without -1 (none); theirs[k] <- its position in garray, or the length of garray for none */
PETSC_INTERN PetscErrorCode PCPAMGNumberGhosts(PetscInt n, PetscInt theirs[], PamgLevel *C);

/* pamgdiagonals.c: local blocks by diagonals, on the host */
#define PAMG_DIAGONALS 32
/* The largest number of diagonals for which the local block is stored by diagonals: about the entries of a row */
static inline PetscInt PamgMostDiagonals(PetscInt n, PetscInt64 nz)
{
  return n ? (PetscInt)PetscMin(PAMG_DIAGONALS, 2 * nz / n + 1) : 0;
}
/* val[] <- pointer to each of nd diagonals. Diagonals from first on are stored ld values of the given size apart; the lower ones point into the upper ones */
static inline void PamgPointDiagonals(PetscInt nd, PetscInt first, const PetscInt off[], size_t size, const void *stored, PetscInt ld, const void *val[])
{
  for (PetscInt d = nd - 1; d >= 0; --d)
    val[d] = d < first ? (const char *)val[nd - 1 - d] + (ptrdiff_t)size * off[d] : (const char *)stored + size * (size_t)(d - first) * (size_t)ld;
}
/* Has the local block at most PAMG_DIAGONALS diagonals? off[PAMG_DIAGONALS] <- their offsets, unsorted */
PETSC_INTERN PetscBool PamgIsRegular(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt *nd, PetscInt off[]);
/* Allocates the diagonals ownoff[]. half with symmetric offsets: only the upper ones, and the lower ones point into them */
PETSC_INTERN PetscErrorCode PCPAMGPlaceDiagonals(const PC_PAMG *, PamgLevel *, PolderDia *, PetscBool half);
/* Single precision: copies the offsets, so that the level does not need the matrix for them */
PETSC_INTERN PetscErrorCode PCPAMGKeepDiagonals(PamgLevel *);
/* Half precision: replaces the rounded entries by those in bfloat16. *bad, at the place of the levels, is set when one becomes infinite */
PETSC_INTERN PetscErrorCode PCPAMGHalveEntries(const PC_PAMG *, PamgLevel *, int *bad);
/* The same straight from diagonals in double precision, with sums[] of the rows, at the place, in place of the main one */
PETSC_INTERN PetscErrorCode PCPAMGHalveDiagonals(const PC_PAMG *, PamgLevel *, const PolderDia *, const PetscReal sums[], int *bad);
/* Computes diag[] of a level whose matrix does not, or no longer, store diagonals: the cycle then reads its rows */
PETSC_INTERN PetscErrorCode PCPAMGFindDiagonal(PamgLevel *);
/* Sets the arrays from which the cycle reads the entries; *fits: single precision can represent them */
PETSC_INTERN PetscErrorCode PCPAMGSetUpValuesHost(PC_PAMG *, PetscInt l, PetscBool *fits);

/* pamgexcess.c: the diagonal of coarse rows where it is a small difference of large entries */
/* Allocates the excess and the sums of magnitudes of the first level; before its survey, which starts them */
PETSC_INTERN PetscErrorCode PCPAMGMallocExcess(PC_PAMG *);
/* The sums of the rows of level l that its survey has left, NULL if they were not wanted */
PETSC_INTERN const PetscReal *PCPAMGSums(const PC_PAMG *, PetscInt l);
/* Computes the excess of the rows of the first level after their survey; kernel: the constant is in the kernel of the matrix */
PETSC_INTERN PetscErrorCode PCPAMGFindExcess(PC_PAMG *, PetscBool kernel);
/* Computes the excess of the rows of level l + 1, whose entries are complete, and from it their diagonal */
PETSC_INTERN PetscErrorCode PCPAMGMendCoarse(PC_PAMG *, PetscInt l);
/* Gathers the excess of a replicated level */
PETSC_INTERN PetscErrorCode PCPAMGGatherExcess(PC_PAMG *, MPI_Comm, const PamgLevel *);
/* Passes the excess to the solver of the last level */
PETSC_INTERN PetscErrorCode PCPAMGHandExcess(PC_PAMG *, const PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGFreeExcess(PC_PAMG *);

/* pamgslowest.c: an estimate, from below, of the largest (x, D x) / (x, A x), from an application. Where it is more than `most`, a constant in the kernel of
   A that nobody told of is left out, too. Collective */
PETSC_INTERN PetscErrorCode PCPAMGSlowest(PC, PetscReal most, PetscReal *quotient);

/* pamgborder.c: interpolation across the border of a process on levels that are grids */
/* Does the interpolation of level l, whose boxes are known, cross it? Then makes what it needs before the next level exists. Collective */
PETSC_INTERN PetscErrorCode PCPAMGFindBorder(PC_PAMG *, PetscInt l);
/* Makes its exchanges, which the host does while a device makes the rows of the next level, whose `count` rows all processes have. Collective */
PETSC_INTERN PetscErrorCode PCPAMGBorderExchanges(PC_PAMG *, PetscInt l, PetscInt64 count);
/* The weights and the scaled off-process entries of the level; the weights within the process are there */
PETSC_INTERN PetscErrorCode PCPAMGBorderValues(PC_PAMG *, PamgLevel *, const PolderLevelGridEntries *);
/* The exchange of solutions of level l + 1, which is complete, and memory for them. Collective */
PETSC_INTERN PetscErrorCode PCPAMGBorderPlanes(PC_PAMG *, PetscInt l);
PETSC_INTERN PetscErrorCode PCPAMGFreeBorder(const PC_PAMG *, PamgBorder *);
/* The planes of boxes beyond the border of level L in the solution of the next one, after the exchange */
static inline PolderLevelBeyond PamgBeyond(const PamgLevel *L)
{
  const PamgLevel  *C = L + 1;
  const PamgBorder *X = &L->border;

  if (X->planes)
    return (PolderLevelBeyond){
      .ghosts.value = X->beyond, .first = {0, X->B.side[0] ? X->B.cplane : 0}
    };
  return (PolderLevelBeyond){
    .ghosts.value = C->x, .first = {C->rstart - X->B.cplane, C->rstart + C->nown}
  };
}

/* The off-process entries that the next level adds up, given those of the rows */
static inline PolderRows PamgScaledEntries(const PamgLevel *L, PolderRows B)
{
  if (L->border.scaled) B.a = L->border.scaled;
  return B;
}

/* pamgeliminate.c: levels of which rows with few neighbours are eliminated */
/*
  Have many rows of level l so few neighbours that eliminating them pays? Not on grids. Below the first level only where a finer one did. Where rows are not
  eliminated by default, it sets pamg->tight instead, if the graph is mostly chains and trees. Collective
*/
PETSC_INTERN PetscErrorCode PCPAMGHasChains(PC_PAMG *, PetscInt l, PetscBool *chains);
/*
  Eliminates rows of level l and makes the local block of the matrix of the next, and its excess, on the host; *count: its rows on all processes. *done =
  PETSC_FALSE: what is left has too many entries, and the level is as it was
*/
PETSC_INTERN PetscErrorCode PCPAMGEliminate(PC_PAMG *, PetscInt l, PetscInt64 *count, PetscBool *done);
/* The same with new values */
PETSC_INTERN PetscErrorCode PCPAMGEliminateValues(PC_PAMG *, PetscInt l);
PETSC_INTERN PetscErrorCode PCPAMGFreeEliminated(PolderEliminated *);

/* pamgblocks.c: blocks of rows with strong positive couplings. A refresh keeps those that there are. Collective */
PETSC_INTERN PetscErrorCode PCPAMGSetUpBlocks(const PC_PAMG *, PamgLevel *, PetscBool refresh);
PETSC_INTERN PetscErrorCode PCPAMGFreeBlocks(const PC_PAMG *, PamgLevel *);

/* pamgaggregate.c */
/* Allocates the data that rate pairs during aggregation */
PETSC_INTERN PetscErrorCode PCPAMGMallocJudged(PC_PAMG *, PetscInt n);
PETSC_INTERN PetscErrorCode PCPAMGFreeJudged(PC_PAMG *);
/* Aggregates of the rows of level l, and the local block of the matrix of the next; the values of that block from new ones of level l */
PETSC_INTERN PetscErrorCode PCPAMGAggregate(PC_PAMG *, PetscInt l);
PETSC_INTERN PetscErrorCode PCPAMGPairValues(PC_PAMG *, PetscInt l);
/* The aggregates of a level as it keeps them: on the host, and on levels that are grids, without the rows of each */
static inline PolderAggregates PamgAggregatesOf(const PamgLevel *L)
{
  return (PolderAggregates){.m = L->n, .n = L->nc, .agg = L->agg, .ptr = L->ptr, .row = L->row};
}
/* The same with the rows of each, on the host in temporary arrays */
PETSC_INTERN PetscErrorCode PCPAMGGetAggregates(const PamgLevel *, PolderAggregates *);
PETSC_INTERN PetscErrorCode PCPAMGRestoreAggregates(const PamgLevel *, PolderAggregates *);

/* pamgcoarse.c: the solver of the last level */
/* Is the constant in the kernel of the matrix? */
PETSC_INTERN PetscErrorCode PCPAMGHasConstant(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCPAMGSetUpCoarse(PC);
/* Factorises the last level on the host from the rows of all processes */
PETSC_INTERN PetscErrorCode PCPAMGFactorRows(PC_PAMG *, const PolderCSR *, PetscBool constant);

/* pamgdevice.c */
/* Makes the matrix of level l from its device arrays */
PETSC_INTERN PetscErrorCode PCPAMGMatrixFromDevice(PC_PAMG *, PetscInt l);

/* pamgplanes.c: off-process entries of planes */
/* Finds out whether those of the first level are, given their pattern, and makes their lists */
PETSC_INTERN PetscErrorCode PCPAMGFindPlanes(PamgLevel *, const PetscInt bi[], const PetscInt bj[]);
/* Those of a level are these: makes their lists on the device, with room for values */
PETSC_INTERN PetscErrorCode PCPAMGTakePlanes(PamgLevel *, const PolderPlanes *);
/* Are those of level L, whose boxes are known, and of the next one, as far as this process can tell? */
PETSC_INTERN PetscErrorCode PCPAMGKnowsLists(const PC_PAMG *, const PamgLevel *L, PetscBool *knows);
/* The off-process entries of level l + 1, and their exchange unless the level is gathered; their new values */
PETSC_INTERN PetscErrorCode PCPAMGPlanesCoarse(PC_PAMG *, PetscInt l, PetscBool gather);
PETSC_INTERN PetscErrorCode PCPAMGPlanesValues(PC_PAMG *, PetscInt l);

/* pamgouter.c: off-process entries on the device */
/* Copies them to the host, where these are not there */
PETSC_INTERN PetscErrorCode PCPAMGNeedOuter(PamgLevel *);
/* Copies the aggregates of the rows with off-process entries of level l, and those of its ghosts, to the host. Collective */
PETSC_INTERN PetscErrorCode PCPAMGOuterAggregates(PC_PAMG *, PetscInt l);
/* Finds the off-process entries of the first level, and refreshes their values */
PETSC_INTERN PetscErrorCode PCPAMGFindOuter(PC_PAMG *);
PETSC_INTERN PetscErrorCode PCPAMGRefreshOuter(PC_PAMG *);
/* Makes and refreshes the off-process entries of level l + 1, whose local block exists, or all of its rows where it is small */
PETSC_INTERN PetscErrorCode PCPAMGCoarseOuter(PC_PAMG *, PetscInt l);
PETSC_INTERN PetscErrorCode PCPAMGCoarseOuterValues(PC_PAMG *, PetscInt l);
PETSC_INTERN PetscErrorCode PCPAMGFreeOuter(PamgLevel *);
/* Copies the rows of this process to the host, for a distributed or gathered level */
PETSC_INTERN PetscErrorCode PCPAMGRowsToHost(PamgLevel *, PolderCSR *);
PETSC_INTERN PetscErrorCode PCPAMGFreeRowsOnHost(PolderCSR *);

/* pamggathergrid.c: gathered levels that are grids, made on the devices */
/* Gathers level l + 1, whose rows of this process are complete; *done = PETSC_FALSE: they pass through the host instead. Collective */
PETSC_INTERN PetscErrorCode PCPAMGGatherGrid(PC_PAMG *, PetscInt l, PetscBool *done);
PETSC_INTERN PetscErrorCode PCPAMGGatherGridValues(PC_PAMG *, PetscInt l);
/* Makes what gathers vectors of a gathered level on the device. Collective */
PETSC_INTERN PetscErrorCode PCPAMGGatherVectors(PC_PAMG *, MPI_Comm, PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGFreeGathers(PamgLevel *);

/* pamggatherrows.c: other gathered levels, made on the devices */
/* Gathers a level whose rows of this process are complete, its excess and its places in a grid; *done = PETSC_FALSE: through the host instead. Collective */
PETSC_INTERN PetscErrorCode PCPAMGGatherRowsDevice(PC_PAMG *, MPI_Comm, PamgLevel *, PetscBool *done);
PETSC_INTERN PetscErrorCode PCPAMGGatherRowsValues(PC_PAMG *, MPI_Comm, PamgLevel *);

/* pamggather.c */
/* The rows of both blocks, on the host, as one with global columns, whose arrays the caller frees; col = NULL: without these */
PETSC_INTERN PetscErrorCode PCPAMGMergeRows(const PolderCSR *own, PetscInt **start, PetscInt **col, PetscScalar **val);
/* Makes gi, gj and ga of a level from the rows of all processes, all on the host; and gathers new values of ga in an array that the caller frees */
PETSC_INTERN PetscErrorCode PCPAMGGatherRows(MPI_Comm, const PolderCSR *own, PamgLevel *);
PETSC_INTERN PetscErrorCode PCPAMGGatherValues(MPI_Comm, const PolderCSR *own, PetscInt *total, PetscScalar **all);
/* *all: the places are known on all processes; replaces grid.thin[] by that of the whole level */
PETSC_INTERN PetscErrorCode PCPAMGAgreePlaces(MPI_Comm, PamgLevel *, PetscBool known, PetscBool *all);
/* Replaces place[] of this process, on the host, by that of all processes, NULL unless every process has one; and grid.thin[] by that of the whole level */
PETSC_INTERN PetscErrorCode PCPAMGGatherPlaces(MPI_Comm, PamgLevel *, PetscInt64 **place);

/* pamgvisits.c: levels that a cycle visits twice */
/* Which these are, once the number of levels and their sizes are known */
PETSC_INTERN void PCPAMGChooseVisits(PC_PAMG *);
/*
  The lengths of the steps x = length[0] B b and x += length[1] B (b - A x), where B is one visit: those of the Chebyshev polynomial of degree two for the
  eigenvalues of B A. They keep the cycle definite where two steps of length 1 do not, which end with eigenvalues of 2. Collective
*/
PETSC_INTERN PetscErrorCode PCPAMGSetLengths(PC_PAMG *);

/* pamgcycle.c: x = M^-1 b with vectors like those of the first level */
PETSC_INTERN PetscErrorCode PCPAMGCycle(PC_PAMG *, const void *b, void *x);
/* The factor by which the couplings of level l + 1, sums of those of level l, are too strong for smooth vectors */
PETSC_INTERN PetscReal PCPAMGExcessOfEnergy(const PC_PAMG *, PetscInt l);
/* Flops of a cycle on this process without the last level, whose solver logs them; *last: those of the last level if it is a product with the inverse */
PETSC_INTERN PetscLogDouble PCPAMGFlops(const PC_PAMG *, PetscLogDouble *last);

/* pamghost.c, pamgapply.c: the apply on the host and on the device */
/* z = M^-1 r */
PETSC_INTERN PetscErrorCode PCPAMGApplyHost(PC, Vec r, Vec z);
/* The same in single precision, where z is left in parts; rounded: r has been stored as PCPAMGResidual() says */
PETSC_INTERN PetscErrorCode PCPAMGPartsHost(PC, Vec r, PetscBool rounded, PolderCGParts *parts);
PETSC_INTERN PetscErrorCode PCPAMGApplyDevice(PC, Vec r, Vec z);
/* Does the next one bring (r, z) and the scalars that follow from it, with z in parts or in the vector? */
PETSC_INTERN PetscErrorCode PCPAMGBringsRho(PC, PetscBool parts, Vec r, Vec z, PetscBool *brings);
/* Such an apply. rounded: r has been stored as PCPAMGResidual() says; parts: NULL, or z is left there */
PETSC_INTERN PetscErrorCode PCPAMGApplyRho(PC, Vec r, PetscBool rounded, Vec z, PolderCGParts *parts, const PolderCGRho *);
/* Where the next apply takes an r in single precision that is on the device, or on the host; to = NULL: nowhere */
PETSC_INTERN PetscErrorCode PCPAMGResidual(PC, PetscBool device, PolderCGRounded *);
/* Estimates the largest eigenvalue of D^-1 A on all levels but the last, while the arrays of the first level are set */
PETSC_INTERN PetscErrorCode PCPAMGEstimateHost(PC);
PETSC_INTERN PetscErrorCode PCPAMGEstimateDevice(PC);
