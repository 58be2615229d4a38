/* The preconditioner nras, for the files of this folder. */
#pragma once

#include "core/core.h"
#include "core/place.h"
#include "deflation/deflationspace.h"
#include "kernels/ilupattern.h"
#include "kernels/iluspan.h"
#include "mat/csr.h"
#include "mat/halo.h"
#include <petsc/private/pcimpl.h>

#define NRAS_OVERLAP_MAX 100
#define NRAS_LEVELS_MAX  100
#define NRAS_BLOCKS_MAX  10000000
#define NRAS_SWEEPS_MAX  1000
/* The factors of a process, and the rows of its blocks, are at most so many times its entries and rows; rows of thousands of entries could fill everything */
#define NRAS_FILL_MAX 100

typedef struct {
  PetscInt        blocks; /* of each process; PETSC_DECIDE: automatic */
  PCNRASPartition partition;
  PetscInt        grid[3], griddim; /* griddim = 0: not given */
  PetscInt        outer, inner;     /* layers of overlap; PETSC_DECIDE: automatic */
  PCNRASForm      form;
  PetscInt        levels; /* of fill */
  PetscBool       single, shift;
  PetscReal       drop;   /* 0: nothing is dropped */
  PetscBool       jacobi; /* solves by sweeps */
  PetscInt        sweeps;
} NRASSettings;

/*
  The rows of the outer block, by ascending global number: first nlow rows of other processes, then the n rows of this process, then others. Of a vector, entry
  e is the row e of this process for e < n, else the ghost e - n; ghosts ascend.
*/
typedef struct {
  PetscInt   n, nlow, nghost, rstart;
  PetscInt  *garray;
  IS         is;
  Mat       *sub;  /* the matrix of the outer block; NULL: without overlap, where it is the diagonal block of the process */
  PolderHalo halo; /* NULL: no process has ghosts */
} NRASOuter;

static inline PetscInt NRASEntry(const NRASOuter *o, PetscInt row)
{
  return row < o->nlow ? o->n + row : row < o->nlow + o->n ? row - o->nlow : row;
}

static inline PetscInt NRASGlobal(const NRASOuter *o, PetscInt entry)
{
  return entry < o->n ? o->rstart + entry : o->garray[entry - o->n];
}

/* The pattern of the matrix of the outer block */
typedef struct {
  PetscInt        m;
  const PetscInt *ai, *aj;
} NRASGraph;

/* The most entries of the factors, of a matrix with so many entries and rows */
static inline PetscInt64 NRASFillMost(PetscInt nz, PetscInt m)
{
  return NRAS_FILL_MAX * ((PetscInt64)nz + m);
}

/* The inner blocks: block b has the rows row[ptr[b]] .. row[ptr[b + 1] - 1] of the outer one, and owns those with part[row] = b. row[] is at a place */
typedef struct {
  PetscInt  n;
  PetscInt *ptr, *row, *part;
} NRASBlocks;

/* The arrays of integers that follow from the pattern */
enum {
  NRAS_ROW,
  NRAS_LEVEL,
  NRAS_FIRST,
  NRAS_START, /* of both triangles */
  NRAS_APART, /* length 0: all slices are interleaved */
  NRAS_COL,
  NRAS_SOURCE,
  NRAS_NUMBER, /* the rows of each block as they were before the levels ordered them, and as NRAS_FROM and NRAS_TO have them */
  NRAS_FROM,
  NRAS_TO,  /* length 0: results are summed */
  NRAS_PTR, /* of each entry: where the results that are summed begin in NRAS_LIST */
  NRAS_LIST,
  NRAS_NARRAY
};

/* The slices of both triangles: start[2 (number of slices + 1)] and apart[napart] of PolderIlu at a place, and how many entries rows have in all */
typedef struct {
  PetscInt   nz, nstart, napart, *start, *apart;
  PetscInt64 entries;
} NRASSlices;

/* At a place */
typedef struct {
  PolderIlu    ilu, kept; /* kept: what is solved with; without dropping the same */
  NRASSlices   keptslices;
  PetscInt    *keptcol;
  PetscInt    *array[NRAS_NARRAY];
  PetscScalar *weight;                         /* [n + nghost] of the symmetric form: multiplicity^-1/2; NULL: 1 */
  PetscScalar *x, *sweepx[2], *ghost, *ghostz; /* work */
  void        *val;
  PetscBool    pattern, values; /* what is up to date */
} NRASAt;

/* Of this process, for the view */
typedef struct {
  PetscInt   smallest, nshifted;
  PetscBool  full;            /* the factors would have too many entries: there are none */
  PetscInt64 levels;          /* of all blocks */
  PetscInt64 entries, filled; /* of the factors with their diagonals; of the slices */
  PetscInt64 matrix;          /* of the diagonal block of the process */
  PetscReal  shift;           /* the largest */
} NRASCounts;

/* Identifies a pattern; mat = 0: none */
typedef struct {
  PetscObjectId    mat, blocks[2];
  PetscObjectState nonzerostate;
} NRASKeys;

typedef struct {
  NRASSettings       set;
  NRASKeys           keys;
  NRASOuter          outer;
  PetscInt           length[NRAS_NARRAY];
  NRASAt             at[2]; /* on the host, on the device */
  const PolderPlace *made;  /* where the arrays that follow from the pattern were made */
  const PolderPlace *place; /* of the last set-up or apply */
  NRASCounts         counts;
  PetscInt           outerlayers, innerlayers; /* of overlap, in use */
  PCNRASPartition    partition;                /* in use: that of the settings, or what auto has chosen */
  PolderGrid         grid;                     /* for the partition boxes */
  PetscBool          cutbyrows;                /* METIS failed, and the blocks are runs of rows */
  PetscBool          device;                   /* the matrix is on the device */
  PetscBool          tested, symmetric;        /* was the matrix of the last set-up tested for symmetry, and is it symmetric? */
  PetscLogDouble     flops;                    /* of an apply */
} PC_NRAS;

/* nrasblocks.c */
/* Chooses the layers of overlap that the user leaves open. Collective */
PETSC_INTERN PetscErrorCode PCNRASFindLayers(PC);
/* The rows of the outer block. Collective */
PETSC_INTERN PetscErrorCode PCNRASSetUpOuter(PC);
PETSC_INTERN PetscErrorCode PCNRASDestroyOuter(NRASOuter *);
/* New values in the same pattern. Collective */
PETSC_INTERN PetscErrorCode PCNRASRefreshOuter(PC);
/* Its pattern on the host, which the caller gives back */
PETSC_INTERN PetscErrorCode PCNRASGetGraph(PC, PolderCSR *, NRASGraph *);
PETSC_INTERN PetscErrorCode PCNRASRestoreGraph(PC, PolderCSR *);
/* Cuts its rows into inner blocks: n, part[] and, without overlap, ptr[]. Collective */
PETSC_INTERN PetscErrorCode PCNRASSetUpBlocks(PC, const PolderCSR *, NRASBlocks *);
/* Their rows on the host, with the overlap, ascending in each; counts.full: they would be too many */
PETSC_INTERN PetscErrorCode PCNRASSetUpRows(PC, const NRASGraph *, NRASBlocks *);
PETSC_INTERN PetscErrorCode PCNRASDestroyBlocks(const PolderPlace *, NRASBlocks *);

/*
  nrascut.c: the partition in use, and the grid for boxes: the one that the user gave, or that of the DM, or the one that a 3-, 5- or 7-point stencil shows.
  Without one auto takes metis, and boxes are an error. Collective
*/
PETSC_INTERN PetscErrorCode PCNRASFindGrid(PC, const PolderCSR *);
/* part[i] below nblock, of each row of this process. Collective */
PETSC_INTERN PetscErrorCode PCNRASCut(PC, const PolderCSR *, PetscInt nblock, PetscInt part[]);

/* nrassymbolic.c: the pattern of the factors of all blocks, on the host. Nothing but counts.full when they would be too large */
PETSC_INTERN PetscErrorCode PCNRASSymbolic(PC, const NRASGraph *, NRASBlocks *);

/* nraspattern.c */
/* The same for ILU(0) of blocks without overlap, whose entries are those of the matrix, from its rows at a place */
PETSC_INTERN PetscErrorCode PCNRASDirect(PC, const PolderPlace *, const PolderCSR *, NRASBlocks *);
/* The same for ILU(k). done = PETSC_FALSE: a row reaches too many others, and there is no pattern. Nothing but counts.full when it would be too large */
PETSC_INTERN PetscErrorCode PCNRASFill(PC, const PolderPlace *, const PolderCSR *, NRASBlocks *, PetscBool *done);
/* The arrays of the factors at a place, from the entries of the blocks there; the rows of the blocks in the order of levels; counts */
PETSC_INTERN PetscErrorCode PCNRASPattern(PC, const PolderPlace *, const PolderIluGraph *, NRASBlocks *);
PETSC_INTERN void           PCNRASPointToArrays(const PC_NRAS *, NRASAt *);
/* The slices for rows with so many entries, at a place; number, order: of the rows by block rows and of block rows by rows, NULL: they are the same */
PETSC_INTERN PetscErrorCode PCNRASCutSlices(const PC_NRAS *, const PolderPlace *, PetscInt nrow, const PetscInt entries[], const PetscInt number[],
                                            const PetscInt order[], NRASSlices *);
/* The slices become those of the factors */
PETSC_INTERN void PCNRASPointToSlices(const NRASSlices *, PolderIlu *);
/* Raises PETSC_ERR_ARG_OUTOFRANGE unless a PetscInt counts to n */
PETSC_INTERN PetscErrorCode PCNRASCheckEntries(PetscInt64 n);

/* nrasvalues.c */
/* Which entries of the vectors the rows of the blocks read and write, where the pattern was made. Collective */
PETSC_INTERN PetscErrorCode PCNRASSetUpVectors(PC, const NRASBlocks *);
/* Brings pattern and factors at a place up to date; sets pc->failedreason. Collective */
PETSC_INTERN PetscErrorCode PCNRASUpdate(PC, const PolderPlace *);
PETSC_INTERN PetscErrorCode PCNRASFreeAt(PC_NRAS *, const PolderPlace *);
/* Frees all that the settings and the matrix decide */
PETSC_INTERN PetscErrorCode PCNRASFree(PC_NRAS *);
PETSC_INTERN PetscErrorCode PCSetFromOptions_NRAS(PC, PolderOptionItems);
/* Composes the calls that change settings with the preconditioner, or removes them */
PETSC_INTERN PetscErrorCode PCNRASComposeSetters(PC, PetscBool there);

/* nrasdrop.c */
/* *packed and at->kept <- the factors val[] without their zeros */
PETSC_INTERN PetscErrorCode PCNRASPack(PC_NRAS *, const PolderPlace *, const PetscScalar val[], PetscScalar **packed);
PETSC_INTERN PetscErrorCode PCNRASFreeKept(const PolderPlace *, NRASAt *);
/* Copies the pattern of those factors from one place to another */
PETSC_INTERN PetscErrorCode PCNRASCopyKept(PC_NRAS *, const PolderPlace *from, const PolderPlace *to);

/* nrasview.c */
PETSC_INTERN PetscErrorCode    PCView_NRAS(PC, PetscViewer);
PETSC_INTERN const char *const NRASPrecisions[2], *const NRASSolves[2];
