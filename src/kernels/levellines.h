/*
  Levels whose strong couplings lie in lines: interpolation that is linear along them, between aggregates of pairs. The couplings of a level are not positive
  there, and its row sums are not negative; a coupling is minus an entry.
*/
#pragma once

#include "launcher.h"
#include "views.h"

/*
  Row i of n belongs to aggregate agg[i] < nc, or to none if agg[i] = nc. A coupling a between two aggregates is in a line if it is the only one. The ends of
  such a line from the middle of an aggregate to that of the next are resistances: 1 / (2 a_in) within each, with the coupling a_in of the row to its own
  aggregate, 0 where it is alone, and 1 / a. The coupling of the next level is

      s = max(1 / (1 / (2 a_in of i) + 1 / a + 1 / (2 a_in of j)), a / 2),

  that of aggregates with several couplings is their sum, and row sums add up. Of its aggregates beside in a line a row has the one with the largest weight:

      (P u)_i = u_C + w (u_N - u_C),  w = min(g_N / (g_C + g_N), s / (2 a_max)),  g_C = 2 a_in,  1 / g_N = 1 / a + 1 / (2 a_in of j)

  The second bound, with the strongest coupling a_max of the row, bounds the energy of P u by that of u on the next level. For equal couplings s is a / 2 and
  w is 1/4. The coupling is never below half of that of P with unit entries, whose matrix is definite.
*/
typedef struct {
  PetscInt        n, nc;
  const PetscInt *agg;
  PetscInt       *beside;      /* [n] the aggregate beside, nc: none */
  unsigned       *single;      /* [n] bit k: entry k of the row is the only one between its aggregate and another */
  float          *weight;      /* [n] its weight, 0: none */
  const PetscInt *ptr, *row;   /* device: the rows of each aggregate, as in PolderAggregates */
  PetscInt       *tptr, *trow; /* device: the rows that it is beside */
} PolderLevelLines;

/* How the rows of the next level are made */
typedef struct {
  PetscBool    parts;  /* rows may have off-process couplings */
  PetscBool    keep;   /* beside[] is known */
  PetscReal   *inner;  /* [n] see PolderLineInner() */
  PetscScalar *scaled; /* [nz] the entries whose sums are those of the next level */
} PolderLineRule;

/*
  A row lies in a line if its two strongest couplings are most of all and are the strongest of the rows that they lead to, too; strong[2 n] <- these rows, or
  -1. count[1] += the rows with a positive coupling, count[2] += those whose excess (see excessrow.h) is negative or not known; then count[0] += those in a line
*/
#define POLDER_LINES_COUNTS 3
PETSC_INTERN void   PolderLevelLinesSurvey_Host(const PolderRows *A, const PetscReal excess[], PetscInt strong[], PetscInt count[]);
POLDER_LAUNCHER int PolderLevelLinesSurvey_CUDA(const PolderRows *A, const PetscReal excess[], PetscInt strong[], PetscInt count[], PolderStream stream);
PETSC_INTERN void   PolderLevelLinesCount_Host(PetscInt n, const PetscInt strong[], PetscInt count[]);
POLDER_LAUNCHER int PolderLevelLinesCount_CUDA(PetscInt n, const PetscInt strong[], PetscInt count[], PolderStream stream);
/* Computes rule->inner */
PETSC_INTERN void   PolderLevelLinesInner_Host(const PolderAggregates *P, const PolderRows *A, const PolderLineRule *rule);
POLDER_LAUNCHER int PolderLevelLinesInner_CUDA(const PolderAggregates *P, const PolderRows *A, const PolderLineRule *rule, PolderStream stream);
/* Computes single[]. Host: scratch[3 nc] */
PETSC_INTERN void   PolderLevelLinesSingle_Host(const PolderLevelLines *, const PolderAggregates *P, const PolderRows *A, PetscInt scratch[]);
POLDER_LAUNCHER int PolderLevelLinesSingle_CUDA(const PolderLevelLines *, const PolderAggregates *P, const PolderRows *A, PetscInt scratch[],
                                                PolderStream stream);
/* Computes rule->scaled, weight[] and, unless it is kept, beside[] */
PETSC_INTERN void   PolderLevelLinesRows_Host(const PolderLevelLines *, const PolderAggregates *P, const PolderRows *A, const PolderLineRule *rule);
POLDER_LAUNCHER int PolderLevelLinesRows_CUDA(const PolderLevelLines *, const PolderAggregates *P, const PolderRows *A, const PolderLineRule *rule,
                                              PolderStream stream);

/* bc = P^T r, x += P xc. bc has nc + 1 entries, of which the last becomes zero. Rows: bc += the part of the rows i0 .. i0 + n; r[0] is of row i0 */
PETSC_INTERN void   PolderLevelLinesRestrict_Host(const PolderLevelLines *, const PetscScalar r[], PetscScalar bc[]);
PETSC_INTERN void   PolderLevelLinesRestrictSingle_Host(const PolderLevelLines *, const float r[], float bc[]);
PETSC_INTERN void   PolderLevelLinesRestrictRows_Host(const PolderLevelLines *, PetscInt i0, PetscInt n, const PetscScalar r[], PetscScalar bc[]);
PETSC_INTERN void   PolderLevelLinesRestrictRowsSingle_Host(const PolderLevelLines *, PetscInt i0, PetscInt n, const float r[], float bc[]);
POLDER_LAUNCHER int PolderLevelLinesRestrict_CUDA(PetscBool single, const PolderLevelLines *, const void *r, void *bc, PolderStream stream);
PETSC_INTERN void   PolderLevelLinesProlong_Host(const PolderLevelLines *, const PetscScalar xc[], PetscScalar x[]);
PETSC_INTERN void   PolderLevelLinesProlongSingle_Host(const PolderLevelLines *, const float xc[], float x[]);
PETSC_INTERN void   PolderLevelLinesProlongRows_Host(const PolderLevelLines *, PetscInt i0, PetscInt n, const PetscScalar xc[], PetscScalar x[]);
PETSC_INTERN void   PolderLevelLinesProlongRowsSingle_Host(const PolderLevelLines *, PetscInt i0, PetscInt n, const float xc[], float x[]);
POLDER_LAUNCHER int PolderLevelLinesProlong_CUDA(PetscBool single, const PolderLevelLines *, const void *xc, void *x, PolderStream stream);
