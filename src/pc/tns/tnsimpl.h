/* The truncated Neumann series: what the preconditioner (tns.c) and its work on the host (tnshost.c) and on the device (tnsdevice.c) share. */
#pragma once

#include "core/methods.h"
#include "mat/dia.h"
#include "mat/halo.h"
#include <petscpc.h>

/* Terms of the series: each takes a vector more on the host, and later ones help no more */
#define PC_TNS_DEGREE_MAX 100

/* What the halo asks of one triangle of the matrix (lower or upper) on this process; empty without halo */
typedef struct {
  PetscInt  nrow;      /* length of row[] */
  PetscInt  nghostrow; /* rows with an off-process entry in the triangle */
  PetscInt *row;       /* these first, then the rows that read those, and so on; not fused: then the others */
  PetscInt *count;     /* [degree + 1] the first count[k] rows of row[] have an off-process value in sweep k */
  PetscBool fused;     /* all sweeps in one pass, then those rows again; FALSE: one pass a sweep, because they are too many */
} TNSTriangle;

/* Where the triangles are read from */
typedef enum {
  TNS_FORM_CSR,
  TNS_FORM_DIA,
  TNS_FORM_HALF
} TNSForm;

/* In which precision the matrix takes part */
typedef enum {
  TNS_DOUBLE,
  TNS_SINGLE
} TNSPrecision;

/* What a set-up was made from */
typedef struct {
  PetscObjectId    blocks[2]; /* the pattern; 0: none */
  PetscObjectState nonzerostate;
  PetscObjectId    mat; /* the values; 0: none */
  PetscObjectState state;
} TNSKeys;

/* What is kept of the matrix, in host or in device memory */
typedef struct {
  PetscBool      device;
  TNSKeys        keys;
  TNSForm        form;
  PetscInt       nz;     /* entries of the local block as compressed rows */
  PetscInt      *diag;   /* [m] position of the diagonal entry in the local CSR block; on the device for TNS_FORM_CSR only */
  void          *dinv;   /* [m] inverse diagonal, PetscScalar or float */
  float         *values; /* in single precision: the entries of the local block or, by diagonals, of the strict triangles; else NULL */
  const float  **val;    /* [nd] host array: where each diagonal is in values */
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
  const TNSSteps  *steps;     /* of the place where the last set-up or apply was */
  PetscBool        symmetric; /* the matrix that was tested last is */
  PetscObjectId    tested;
  PetscObjectState testedstate;
  PetscInt         m;    /* local rows */
  PetscInt         nlow; /* off-process columns before the first local one */
  PolderHalo       halo; /* NULL on one process and for degree 0 */
  TNSMatrix        at[2];
  TNSTriangle      tri[2];                      /* lower, upper */
  PetscScalar     *work;                        /* [degree m] iterates of the sweeps, with the result vector one more */
  PetscScalar    **y;                           /* [degree + 1] their addresses in the sweep under way */
  PetscScalar     *ghost;                       /* [nghost] */
  PetscScalar     *devicework[2], *deviceghost; /* on the device, where two vectors and the result are enough for any degree; NULL: not needed */
  int             *bad;                         /* on the device: raised by a kernel that meets a row that cannot be used */
} PC_TNS;

/* What differs between host and device, with the rows, and the diagonals if it has them, of the matrix there */
struct _TNSSteps {
  const PolderPlace *place;
  PetscErrorCode (*getdia)(Mat, const PolderDia **);
  /* Whatever depends on the pattern only, and on the values; pc->failedreason for the first row that cannot be used. Collective */
  PetscErrorCode (*pattern)(PC, const PolderCSR *, const PolderDia *);
  PetscErrorCode (*values)(PC, const PolderCSR *, const PolderDia *);
  PetscErrorCode (*apply)(PC, const PolderCSR *, const PolderDia *, const PetscScalar r[], PetscScalar z[]);
  PetscErrorCode (*free)(PC_TNS *);
};
PETSC_INTERN const TNSSteps TNSStepsOnHost, TNSStepsOnDevice;

static inline PetscBool TNSSamePattern(const TNSMatrix *M, const TNSKeys *now, TNSForm form)
{
  return (PetscBool)(M->form == form && M->keys.blocks[0] == now->blocks[0] && M->keys.blocks[1] == now->blocks[1] &&
                     M->keys.nonzerostate == now->nonzerostate);
}

/* On all processes or on none, as PETSc counts the state of a matrix */
static inline PetscBool TNSSameValues(const TNSMatrix *M, const TNSKeys *now)
{
  return (PetscBool)(M->keys.mat == now->mat && M->keys.state == now->state);
}

/* New values may take symmetry, and with it half of the diagonals, from the block of one process only. Collective */
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

/* Single precision by diagonals: how many are stored, and where each is in values when they are ld apart; NULL for the main one */
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
/* Local rows and the exchange with other processes. Collective */
PETSC_INTERN PetscErrorCode PCTNSSetHalo(PC, const PolderCSR *);
/* Brings what is kept of the matrix at a place up to date, from its rows there */
PETSC_INTERN PetscErrorCode PCTNSUpdate(PC, const TNSSteps *, const PolderCSR *, const PolderDia *);
/* The same and then, unless r is NULL, z = M^-1 r there. *done = PETSC_FALSE: the matrix is not there */
PETSC_INTERN PetscErrorCode PCTNSSetUpAt(PC, const TNSSteps *, Vec r, Vec z, PetscBool *done);

/* tnsdevice.c */
/* The two halves of M^-1 = K^T D^-1 K, which join the passes over memory of conjugate gradients; degree 2 alone has them */
PETSC_INTERN PetscErrorCode PCTNSGetFused(PC, const PolderPCFused **);
