/* The truncated Neumann series: data and functions shared by the preconditioner (tns.c) and its work on the host (tnshost.c) and on the device
   (tnsdevice.c). */
#pragma once

#include "core/methods.h"
#include "mat/dia.h"
#include "mat/csr.h"
#include "mat/halo.h"
#include "core/peers.h"
#include "kernels/tns.h"
#include "kernels/triouter.h"
#include <petscpc.h>

/* Maximum degree: on the host each term needs one more vector, and terms of higher degree do not help */
#define PC_TNS_DEGREE_MAX 100

/* The rows of one triangle (lower or upper) that depend on ghost values; empty without halo */
typedef struct {
  PetscInt  nrow;      /* length of row[] */
  PetscInt  nghostrow; /* rows with an off-process entry in the triangle */
  PetscInt *row;       /* first these rows, then the rows that read them, and so on; if not fused, followed by all other rows */
  PetscInt *count;     /* [degree + 1] the first count[k] rows of row[] depend on a ghost value in sweep k */
  PetscBool fused;     /* all sweeps in one pass, then a correction of those rows; FALSE: one pass per sweep, because those rows are too many */
} TNSTriangle;

/* On several devices: how the sweeps over one triangle run; all processes do the same */
typedef struct {
  PetscBool again;      /* a row that is sent depends on ghost values itself: a second exchange before the correction */
  PetscBool paired;     /* the first two in one kernel, then a correction of the rows that depend on ghost values; FALSE: an exchange for each sweep */
  PetscInt  nrow, *row; /* these rows, on the device */
} TNSOuter;

/* Storage form from which the triangles are read */
typedef enum {
  TNS_FORM_CSR,
  TNS_FORM_DIA,
  TNS_FORM_HALF
} TNSForm;

/* Precision of the matrix entries */
typedef enum {
  TNS_DOUBLE,
  TNS_SINGLE
} TNSPrecision;

/* Identifies the matrix of a set-up */
typedef struct {
  PetscObjectId    blocks[2]; /* the pattern; 0: none */
  PetscObjectState nonzerostate;
  PetscObjectId    mat; /* the values; 0: none */
  PetscObjectState state;
} TNSKeys;

/* Data derived from the matrix, in host or in device memory */
typedef struct {
  PetscBool      device;
  TNSKeys        keys;
  TNSForm        form;
  PetscInt       nz;     /* number of entries of the local block as compressed rows */
  PetscInt      *diag;   /* [m] position of the diagonal entry in the local CSR block; on the device only for TNS_FORM_CSR */
  void          *dinv;   /* [m] inverse diagonal, PetscScalar or float */
  float         *values; /* in single precision: the entries of the local block or, by diagonals, of the strict triangles; else NULL */
  const float  **val;    /* [nd] host array: pointer into values for each diagonal */
  PetscInt64     bytes;  /* of these and of the work arrays */
  PetscLogDouble flops;  /* of one apply */
} TNSMatrix;

enum {
  TNS_HOST,
  TNS_DEVICE
};

typedef struct _TNSSteps TNSSteps;

typedef struct {
  PetscInt         degree;
  TNSPrecision     precision;
  const TNSSteps  *steps;     /* of the place of the last set-up or apply */
  PetscBool        symmetric; /* the matrix that was tested last is symmetric */
  PetscObjectId    tested;
  PetscObjectState testedstate;
  PetscInt         m;    /* local rows */
  PetscInt         nlow; /* number of off-process columns before the first local one */
  PolderHalo       halo; /* NULL on one process and for degree 0 */
  TNSMatrix        at[2];
  TNSTriangle      tri[2];                      /* lower, upper */
  PetscScalar     *work;                        /* iterates of the sweeps, in addition to the result vector: TNSWork() */
  PetscScalar    **y;                           /* [degree + 1] their addresses in the current sweep */
  PetscScalar     *ghost;                       /* [nghost] */
  PetscScalar     *devicework[2], *deviceghost; /* on the device, where two vectors and the result suffice for any degree; NULL: not needed */
  PolderPeers      peers;                       /* processes that write to each other's device memory, or NULL */
  PetscMPIInt      rank;
  TNSOuter         outer[2]; /* lower, upper; on the device */
  PetscBool        half;     /* the diagonals of every process are half of a symmetric block */
  int             *bad;      /* on the device: set by a kernel that finds an unusable row */
} PC_TNS;

/* The steps that differ between host and device. The rows, and the diagonals if there are any, are those of the matrix at that place */
struct _TNSSteps {
  const PolderPlace *place;
  PetscErrorCode (*getdia)(Mat, const PolderDia **);
  /* Set up what depends on the pattern, and on the values; pc->failedreason is set for the first unusable row. Collective */
  PetscErrorCode (*pattern)(PC, const PolderCSR *, const PolderDia *);
  PetscErrorCode (*values)(PC, const PolderCSR *, const PolderDia *);
  PetscErrorCode (*apply)(PC, const PolderCSR *, const PolderDia *, const PetscScalar r[], PetscScalar z[]);
  PetscErrorCode (*free)(PC_TNS *);
};
PETSC_INTERN const TNSSteps TNSStepsOnHost, TNSStepsOnDevice;

/* Iterate k of the host's work: not a multiple of the page size from the vectors and from each other, since arrays that a pass reads together would then
   share cache sets. There are TNSWorkSize() values */
#define TNS_APART 96
static inline size_t TNSWorkSize(PetscInt m, PetscInt degree)
{
  return (size_t)degree * ((size_t)m + TNS_APART);
}

static inline PetscScalar *TNSWork(PetscScalar *work, PetscInt m, PetscInt k)
{
  return work + TNSWorkSize(m, k) + TNS_APART;
}

static inline PetscBool TNSSamePattern(const TNSMatrix *M, const TNSKeys *now, TNSForm form)
{
  return (PetscBool)(M->form == form && M->keys.blocks[0] == now->blocks[0] && M->keys.blocks[1] == now->blocks[1] &&
                     M->keys.nonzerostate == now->nonzerostate);
}

/* The same result on all processes, because the state of a matrix is collective */
static inline PetscBool TNSSameValues(const TNSMatrix *M, const TNSKeys *now)
{
  return (PetscBool)(M->keys.mat == now->mat && M->keys.state == now->state);
}

/* New values may destroy the symmetry of the block of a single process, which then stores all diagonals. Collective */
static inline PetscErrorCode TNSSamePatternEverywhere(PC pc, const TNSMatrix *M, const TNSKeys *now, TNSForm form, PetscBool *same)
{
  PetscMPIInt all = TNSSamePattern(M, now, form);

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc));
  *same = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline TNSForm TNSFormOf(const PolderDia *dia)
{
  return !dia ? TNS_FORM_CSR : dia->half ? TNS_FORM_HALF : TNS_FORM_DIA;
}

/* Single precision by diagonals: the number of stored diagonals, and where each is in values when they are ld apart; NULL for the main diagonal */
static inline PetscInt TNSDiagonalsStored(const PolderDia *dia)
{
  return dia->half ? dia->nd - 1 - dia->main : dia->nd - (dia->main >= 0);
}

static inline void TNSPlaceDiagonals(const PolderDia *dia, size_t ld, const float values[], const float *val[])
{
  PetscInt k = 0;

  for (PetscInt d = dia->nd - 1; d >= 0; --d) {
    if (d == dia->main) val[d] = NULL;
    else val[d] = dia->half && d < dia->main ? val[dia->nd - 1 - d] + dia->off[d] : values + ld * (size_t)k++;
  }
}

/* tns.c */
/* Sets the number of local rows and the exchange with other processes. Collective */
PETSC_INTERN PetscErrorCode PCTNSSetHalo(PC, const PolderCSR *);
/* Brings the data derived from the matrix at a place up to date, from its rows there */
PETSC_INTERN PetscErrorCode PCTNSUpdate(PC, const TNSSteps *, const PolderCSR *, const PolderDia *);
/* The same and then, unless r is NULL, z = M^-1 r there. *done = PETSC_FALSE: the matrix is not there */
PETSC_INTERN PetscErrorCode PCTNSSetUpAt(PC, const TNSSteps *, Vec r, Vec z, PetscBool *done);

/* tnshost.c */
/* The same halves for vectors of the host, see PolderPCFused */
PETSC_INTERN PetscErrorCode PCTNSJoins(PC, Vec r, PetscBool *);
PETSC_INTERN PetscErrorCode PCTNSForwardUpdate(PC, PetscScalar alpha, Vec w, Vec r, Vec s, PetscScalar sum[2]);
PETSC_INTERN PetscErrorCode PCTNSBackwardDirection(PC, PetscScalar alpha, PetscScalar beta, PetscScalar mean, Vec s, Vec p, Vec x, PetscScalar *sum);

/* A triangle of the matrix on the device, the off-process columns of its rows, and how its sweeps run */
typedef struct {
  PolderTriangle T;
  PolderRows     ghosts;
  PetscBool      diagonals; /* T is stored by diagonals */
  PetscBool      fused;     /* one kernel makes the first two sweeps */
  PolderStream   stream;
} TNSSweep;

/* tnsouter.c */
/* Sets up how the sweeps run on several devices, once the halo is there. lower, upper: the triangles, or those of no rows. Collective */
PETSC_INTERN PetscErrorCode PCTNSOuterSetUp(PC, const PolderDia *, const TNSSweep *lower, const TNSSweep *upper);
PETSC_INTERN PetscErrorCode PCTNSOuterFree(PC_TNS *);
/* Where two sweeps are one kernel: what the other processes need of them goes out before, what they send is added to z after */
PETSC_INTERN PetscErrorCode PCTNSOuterSend(PC_TNS *, const TNSSweep *, const PetscScalar in[]);
PETSC_INTERN PetscErrorCode PCTNSOuterAdd(PC_TNS *, const TNSSweep *, PolderTriKind, const PolderCGRho *, const PetscScalar in[], PetscScalar z[]);

/* tnsdevice.c */
/* The two halves of M^-1 = K^T D^-1 K, which are fused with the vector updates of conjugate gradients; available for degree 2 only */
PETSC_INTERN PetscErrorCode PCTNSGetFused(PC, const PolderPCFused **);
