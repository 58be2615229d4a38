/* Diagonals and compressed rows on the host and on the device, and tests with them. Parts of devicestencil.c. */
#pragma once

#include "../devicetest.h"
#include "kernels/dia.h"

/* Values beside an array, which stay as they are: NaN */
#define GUARD 32

/* nd diagonals of an m by n matrix on the host and on the device, NaN where row or column does not exist */
typedef struct {
  PetscInt     m, n, nd, off[80];
  PetscScalar *all, *alld, *val[80], *vald[80];
  float       *alls, *allsd, *vals[80], *valsd[80];
} Diagonals;

/* Grids: rows, near, far. The first are small enough for the kernel of any offsets, the others take tiles */
static const PetscInt Grids[][3] = {
  {4096,   16,  256   },
  {343000, 70,  4900  },
  {300007, 0,   4711  },
  {16129,  0,   127   },
  {300000, 37,  1369  },
  {310001, 7,   100003},
  {301234, 129, 12345 },
  {360000, 0,   600   },
  {300500, 0,   100007}
};

/* CSR arrays of the diagonals on the host and on the device, every third entry left out but those of the main diagonal */
typedef struct {
  PetscInt    *ai, *aj, *aid, *ajd;
  PetscScalar *aa, *aad;
} Rows;

PetscErrorCode DiagonalsCreate(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], PetscBool half, Diagonals *D);
/* The diagonals on the host and on the device */
static inline PolderDia DiagonalsHere(const Diagonals *D)
{
  return (PolderDia){.m = D->m, .n = D->n, .nd = D->nd, .off = D->off, .val = (const PetscScalar *const *)D->val};
}

static inline PolderDia DiagonalsThere(const Diagonals *D)
{
  return (PolderDia){.m = D->m, .n = D->n, .nd = D->nd, .off = D->off, .val = (const PetscScalar *const *)D->vald};
}

PetscErrorCode DiagonalsDestroy(Diagonals *D);
PetscErrorCode OutputCreate(PetscInt n, const PetscScalar content[], PetscScalar **z);
PetscErrorCode OutputCheck(PetscInt n, PetscScalar **z, const PetscScalar want[], PetscReal tol, PetscInt *wrong);
PetscErrorCode Tell(const char *what, const Diagonals *D, int form, PetscInt before, PetscInt wrong);
PetscInt       Stencil(PetscInt near, PetscInt far, PetscInt off[]);
PetscInt       RandomOffsets(PetscInt m, PetscInt n, PetscInt want, PetscInt off[]);
PetscErrorCode RowsCreate(const Diagonals *D, Rows *R);
/* The m rows on the host and on the device */
static inline PolderRows RowsHere(PetscInt m, const Rows *R)
{
  return (PolderRows){m, R->ai, R->aj, R->aa, R->ai[m]};
}

static inline PolderRows RowsThere(PetscInt m, const Rows *R)
{
  return (PolderRows){m, R->aid, R->ajd, R->aad, R->ai[m]};
}

PetscErrorCode RowsDestroy(Rows *R);
PetscErrorCode TestTriDia(void *work, PolderStream stream);
PetscErrorCode TestTriCSR(void *work, PolderStream stream);
PetscErrorCode TestRefused(void *work, PolderStream stream);
