/* What the set-up of PC pamg does on a level, on the host and on the device. Arrays are where the levels are. */
#pragma once

#include "pamgimpl.h"

/* A row whose diagonal is more than so many times the others' magnitudes needs no coarse rows (Notay 2010) */
#define PAMG_LONE 5.0

/* Rows of the local block of a matrix */
typedef struct {
  PetscInt     n, nz;
  PetscInt    *i, *j;
  PetscScalar *a;
} PamgRows;

PETSC_INTERN PetscErrorCode PCPAMGFreeRows(const PC_PAMG *, PamgRows *);

/* Which aggregate each of n rows is in, nc for none, and the rows of each */
typedef struct {
  PetscInt        n, nc;
  const PetscInt *agg;
  PetscInt       *ptr, *row; /* [nc + 2], [n] */
} PamgAggregates;

/* Work for the aggregation of n rows */
typedef struct {
  PetscInt  *next, *left[2], *agg, *ptr, *row; /* [n], but ptr[n + 2] */
  PetscInt  *greedy;                           /* [3 n + PAMG_DEGREE + 1]; NULL with a handshake */
  PetscInt  *count;                            /* [8]: 0, what is counted; 1 .. 3, directions; 4 and 5, long rows */
  PetscReal *outside[2];                       /* [n] of a pass and of the next, as in PolderPairRule; NULL on one process */
  PetscInt  *mate;                             /* then, [n]: what it was before a pass */
  void      *temp;                             /* of the device's scans and sorts */
  size_t     bytes;
} PamgWork;

struct _PamgSetUpSteps {
  const PolderPlace *place;
  const PamgSteps   *cycle[2]; /* by precision */
  const char        *where;    /* for the view */
  /* Unless the options say otherwise */
  PamgSmoother smoother;
  PetscInt     smoothings, klevels;
  PetscBool    splitrhs; /* every smoother needs L->localrhs, not Gauss-Seidel alone */
  /* Is the matrix symmetric to rounding, as far as that costs little? */
  PetscErrorCode (*symmetric)(Mat, PetscBool *);
  /* Gives the rows of a matrix back */
  PetscErrorCode (*restorerows)(Mat, PolderCSR *);

  /* Levels. Level l, which has its rows, finds their entries and what exchanges their values */
  PetscErrorCode (*beginlevel)(PC_PAMG *, PetscInt l);
  /* Inverse diagonal and, when the level is to be aggregated, what pairs are judged by. In a refresh the diagonal is where it was.
     *row is the first one that cannot be used, n for none */
  PetscErrorCode (*rows)(PC_PAMG *, PetscInt l, PetscBool refresh, PetscInt *row, PolderRowKind *);
  /* Where the cycle reads the entries; *fits: single precision can hold them */
  PetscErrorCode (*values)(PC_PAMG *, PetscInt l, PetscBool *fits);
  /* What Gauss-Seidel needs of the rows; *found = PETSC_FALSE on all processes: the rows of one have no colours */
  PetscErrorCode (*colour)(PC_PAMG *, PetscInt l, PetscBool *found);
  /* Completes level l + 1, whose local block is there: its entries to other processes, its diagonal by the excess, all of its rows
     where it is small, and on the host its matrix */
  PetscErrorCode (*coarselevel)(PC_PAMG *, PetscInt l);
  /* New values of what the first level copies from the matrix, and of the rows of level l + 1 from those of level l */
  PetscErrorCode (*firstvalues)(PC_PAMG *);
  PetscErrorCode (*coarsevalues)(PC_PAMG *, PetscInt l);

  /* Aggregation. Bytes of scratch for n rows; what each row couples to other processes with */
  size_t (*scratch)(PetscInt n);
  PetscErrorCode (*outside)(const PamgLevel *, PetscReal outside[]);
  /* agg[] of n rows from mate[] and join[] and how many aggregates, which comes to w->count */
  PetscErrorCode (*number)(const PC_PAMG *, const PamgWork *w, PetscInt n, const PetscInt join[], PetscInt agg[]);
  /* ptr[] and row[] from agg[] */
  PetscErrorCode (*members)(const PamgWork *, const PamgAggregates *);
  /* C <- P^T A P, with room for C->i there; *longrows as in a level */
  PetscErrorCode (*galerkin)(const PamgWork *, const PamgRows *A, const PamgAggregates *, PamgRows *C, PetscBool *longrows);
  /* Takes weak entries away; d[n] is scratch */
  PetscErrorCode (*dropweak)(const PC_PAMG *, const PamgWork *, PetscReal d[], PamgRows *);
  /* What level l keeps of its aggregates for restriction, and level l + 1 of its rows before it has its other parts */
  PetscErrorCode (*keep)(const PamgWork *, PamgLevel *L);

  /* Excess of rows. What entries to other processes add on the first level, and what the excess of the rows of C is to their local block */
  PetscErrorCode (*outerexcess)(const PamgLevel *, PetscReal excess[], PetscReal magnitude[]);
  PetscErrorCode (*localexcess)(const PamgLevel *L, const PamgLevel *C, PetscReal excess[], PetscReal here[]);

  /* Solvers. The largest eigenvalues of D^-1 A */
  PetscErrorCode (*estimate)(PC);
  /* The factor or the inverse of the last level; and its matrix for a KSP */
  PetscErrorCode (*factor)(PC_PAMG *, PetscBool constant);
  PetscErrorCode (*lastmatrix)(PC_PAMG *);

  /* z = M^-1 r */
  PetscErrorCode (*apply)(PC, Vec r, Vec z);
};

/* pamgsetuphost.c, pamgdevice.c */
PETSC_INTERN const PamgSetUpSteps PamgSetUpHost, PamgSetUpDevice;

/* pamgouter.c, for several processes */
PETSC_INTERN PetscErrorCode PCPAMGOuterExcessDevice(const PamgLevel *, PetscReal excess[], PetscReal magnitude[]);
PETSC_INTERN PetscErrorCode PCPAMGLocalExcessDevice(const PamgLevel *L, const PamgLevel *C, PetscReal excess[], PetscReal here[]);

/* Sums of entries and of their magnitudes */
static inline void PamgAddEntry(PetscScalar a, PetscReal sums[2])
{
  sums[0] += PetscRealPart(a);
  sums[1] += PetscAbsScalar(a);
}
