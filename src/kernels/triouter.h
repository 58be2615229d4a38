/*
  Two sweeps over a triangle whose rows have entries in ghost columns. One kernel makes both sweeps on the rows of the process alone (PolderTriPair_CUDA()).
  Since a sweep is linear in the ghost values, what they add follows afterwards, on the few rows that depend on them:

    y_0 = c, y_1 = c - dinv (T y_0 + G g_0), y_2 = c - dinv (T y_1 + G g_1)        with the ghost values g_0 and g_1 of y_0 and y_1
    d_1 = -dinv G g_0, d_2 = -dinv (G g_1 + T d_1)                                 is what they add to y_1 and y_2

  with c = dinv in for a lower triangle and c = in for an upper one. A process sends y_0 and y_1 of a row in one message, before the sweeps. If some process
  sends a row that has an entry in a ghost column of the triangle itself, y_1 of that row is not known before: then all send a second time, after the sweeps.
*/
#pragma once

#include "cg.h"

/* Maximum number of diagonals: those of a triangle of a 7-point stencil */
#define POLDER_TRI_DIAGONALS 3

/* A triangle of few diagonals as in PolderTriangle, and the entries of its rows in ghost columns, which are rounded like those of T. off[] is part
   of the struct, val[] points to memory of the place */
typedef struct {
  PetscBool   single, upper;
  int         rank; /* of this process: the rows of the lower triangle read ghosts of lower ranks, those of the upper one ghosts of higher ranks */
  PetscInt    m, nd, nlow;
  PetscInt    off[POLDER_TRI_DIAGONALS];
  const void *val[POLDER_TRI_DIAGONALS], *dinv;
  PolderRows  ghosts; /* the columns before nlow belong to the lower triangle, the others to the upper one; i = NULL: none */
} PolderTriOuter;

/* What the d_2 belong to */
typedef enum {
  POLDER_TRI_PLAIN,    /* a vector */
  POLDER_TRI_RHO,      /* s of PolderTriPair_CUDA(): sum[1] of the state, still the part of this process, is completed, and rho with it */
  POLDER_TRI_DIRECTION /* p of PolderTriPairDirection_CUDA(): pmean of the state, still the sum of p on this process, is completed */
} PolderTriKind;

typedef struct {
  PolderTriKind          kind;
  PetscBool              first;
  PolderCGState         *state;
  const PolderPeersView *peers; /* host variable */
} PolderTriEnd;

/* The exchange has two values a ghost, y_0 and y_1. Neighbours whose triangle has no such ghosts get an empty message */
PETSC_INTERN void   PolderTriOuterSend_Host(const PolderExchange *e, const PolderTriOuter *T, const PetscScalar in[]);
POLDER_LAUNCHER int PolderTriOuterSend_CUDA(const PolderExchange *e, const PolderTriOuter *T, const PetscScalar in[], PolderStream stream);
/* The second time: takes the messages, then sends the same values, to which the ghost values now contribute */
PETSC_INTERN void   PolderTriOuterResend_Host(const PolderExchange *e, const PolderTriOuter *T, const PetscScalar in[]);
POLDER_LAUNCHER int PolderTriOuterResend_CUDA(const PolderExchange *e, const PolderTriOuter *T, const PetscScalar in[], PolderStream stream);
/*
  z += d_2 on these rows, once the messages have arrived. Host: returns the sum of what that adds to (z, z / dinv), or for a direction to the elements of z.
  Device: also completes the state; nothing changes in a direction once the state is frozen
*/
PETSC_INTERN PetscScalar PolderTriOuterAdd_Host(const PolderExchange *e, const PolderTriOuter *T, PolderRowList rows, PolderTriKind kind, PetscScalar z[]);
POLDER_LAUNCHER int      PolderTriOuterAdd_CUDA(const PolderExchange *e, const PolderTriOuter *T, PolderRowList rows, const PolderTriEnd *end, PetscScalar z[],
                                                void *work, PolderStream stream);
/* *sent = 1 when a row whose values are sent has an entry in a ghost column of the triangle */
PETSC_INTERN void   PolderTriOuterCheck_Host(const PolderExchange *e, const PolderTriOuter *T, int *sent);
POLDER_LAUNCHER int PolderTriOuterCheck_CUDA(const PolderExchange *e, const PolderTriOuter *T, int *sent, PolderStream stream);
/* depends[i]: 1 when y_2 of row i depends on a ghost value, else 0 */
PETSC_INTERN void   PolderTriOuterReach_Host(const PolderTriOuter *T, PetscInt depends[]);
POLDER_LAUNCHER int PolderTriOuterReach_CUDA(const PolderTriOuter *T, PetscInt depends[], PolderStream stream);
/* These rows, ascending; scan[i]: 2^32 times the number of those up to and including row i, and anything (see PolderRowsScan_CUDA()) */
PETSC_INTERN void   PolderTriOuterRows_Host(PetscInt m, const PetscInt depends[], const PetscInt64 scan[], PetscInt row[]);
POLDER_LAUNCHER int PolderTriOuterRows_CUDA(PetscInt m, const PetscInt depends[], const PetscInt64 scan[], PetscInt row[], PolderStream stream);
