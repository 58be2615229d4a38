/*
  Exact elimination of rows with few neighbours, in rounds. The rows of a round are not coupled to each other, so each round, and each row of it, can be taken
  in any order. A round makes the Schur complement A_CC - A_CF D_F^-1 A_FC of the rows that stay, whose rows are sums over the neighbours of each, and the next
  round eliminates from it (partial Cholesky in rounds: Livne and Brandt, SIAM J. Sci. Comput. 34, 2012). On a tree nothing but its root is left.
*/
#pragma once

#include "launcher.h"
#include "levelrow.h"

/* A symmetric matrix by rows, columns ascending, with its diagonal entries, and of each row the excess and the size (excessrow.h) */
typedef struct {
  PetscInt     n;
  PetscInt    *i, *j;
  PetscScalar *a;
  PetscReal   *excess, *size;
} PolderEliminateRows;

/*
  m rows that have been eliminated, in the order of rounds: round r has the rows start[r] .. start[r + 1) of this list. Row k of the list was row[k] of n, with
  the inverse pivot dinv[k] and the couplings to the rows col[] divided by the pivot, ptr[k] .. ptr[k + 1)
*/
typedef struct {
  PetscInt     m, rounds;
  PetscInt    *start, *row, *ptr, *col;
  PetscScalar *val, *dinv;
} PolderEliminated;

/* Has row i at most `most` neighbours and, unless bi is NULL, none of other processes? Each row has a diagonal entry */
POLDER_BODY PetscBool PolderShortRow(PetscInt i, const PetscInt ai[], const PetscInt bi[], PetscInt most)
{
  return (PetscBool)(ai[i + 1] - ai[i] <= most + 1 && !(bi && bi[i + 1] > bi[i]));
}

/* *count <- the number of rows with one to `most` neighbours among these n and, unless bi is NULL, none of other processes */
PETSC_INTERN void   PolderShortRows_Host(PetscInt n, const PetscInt ai[], const PetscInt bi[], PetscInt most, PetscInt *count);
POLDER_LAUNCHER int PolderShortRows_CUDA(PetscInt n, const PetscInt ai[], const PetscInt bi[], PetscInt most, PetscInt *count, PolderStream stream);
/*
  next[i] <- -1 for the rows of a round: those with at most `most` neighbours that come before each such neighbour, by their numbers of neighbours and then by
  a hash; for the others their number among them. fixed[i]: row i stays. Returns the number of rows that stay
*/
PETSC_INTERN PetscInt PolderEliminateChoose_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt most, const PetscBool fixed[], PetscInt next[]);
/* pivot[i] <- the inverse pivot of each row of a round, 0 where it is below rounding; *negative is set where there is a negative one */
PETSC_INTERN void PolderEliminatePivots_Host(const PolderEliminateRows *, const PetscInt next[], PetscScalar pivot[], PetscBool *negative);
/* C <- the Schur complement. C->j and C->a have space for PolderEliminateSpace_Host() entries; place[n] is scratch. Returns the number of entries */
PETSC_INTERN PetscInt PolderEliminateSpace_Host(PetscInt n, const PetscInt ai[], const PetscInt next[]);
PETSC_INTERN PetscInt PolderEliminateSchur_Host(const PolderEliminateRows *, const PetscInt next[], const PetscScalar pivot[], PetscInt place[],
                                                PolderEliminateRows *C);

/*
  r = b, then each round r_C -= A_CF D_F^-1 r_F; bc <- r on the rows agg[i] < nc that stay. And x = D_F^-1 r_F - D_F^-1 A_FC x_C, round by round backward, from
  xc: together the exact solution if xc is that of the Schur complement
*/
PETSC_INTERN void PolderEliminateForward_Host(PetscInt n, const PolderEliminated *, const PetscInt agg[], PetscInt nc, const PetscScalar b[], PetscScalar r[],
                                              PetscScalar bc[]);
PETSC_INTERN void PolderEliminateForwardSingle_Host(PetscInt n, const PolderEliminated *, const PetscInt agg[], PetscInt nc, const float b[], float r[],
                                                    float bc[]);
PETSC_INTERN void PolderEliminateBackward_Host(PetscInt n, const PolderEliminated *, const PetscInt agg[], PetscInt nc, const PetscScalar r[],
                                               const PetscScalar xc[], PetscScalar x[]);
PETSC_INTERN void PolderEliminateBackwardSingle_Host(PetscInt n, const PolderEliminated *, const PetscInt agg[], PetscInt nc, const float r[], const float xc[],
                                                     float x[]);
