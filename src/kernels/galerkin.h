/* The rows of P^T A P, and the data of a level derived from its rows. */
#pragma once

#include "launcher.h"
#include "levelrow.h"
#include "views.h"

/*
  C <- the sums of the rows of A in each aggregate of P by the aggregate agg[] < nc of the column, columns ascending; C->col and C->val have space for all
  entries of A. square: rows and columns have the same aggregates, and a diagonal entry that cancels becomes zero. place[nc] is scratch. Returns the number of
  entries.
*/
PETSC_INTERN PetscInt PolderGalerkin_Host(const PolderAggregates *P, const PolderRows *A, PetscInt nc, const PetscInt agg[], PetscBool square, PetscInt place[],
                                          const PolderSparseRows *C);
/* Recomputes the values in the same pattern; an entry without a position (square) is added to the diagonal */
PETSC_INTERN void PolderGalerkinValues_Host(const PolderAggregates *P, const PolderRows *A, PetscInt nc, const PetscInt agg[], PetscBool square,
                                            PetscInt place[], const PolderSparseRows *C);

/* Device: the same in several kernels, for rows and columns in the aggregates P. Rows of more than POLDER_COARSE_ROW entries are processed by a warp each */
#define POLDER_COARSE_ROW   48
#define POLDER_COARSE_WARPS 4096
/* Scratch of the warps, of which at most this number (a multiple of 8) work at a time; 0: no row is long. `width` columns and values for each */
typedef struct {
  PetscInt     warps, width;
  PetscInt    *col;
  PetscScalar *val; /* NULL while rows are counted */
} PolderCoarseScratch;
/*
  length[a + 1] <- number of entries of coarse row a, -1 for one of more than POLDER_COARSE_ROW; info (zero on entry) <- the number of such rows, the
  largest number of entries of A that one of them sums, and the number of entries of all others.
*/
POLDER_LAUNCHER int PolderCoarseRowsCount_CUDA(const PolderAggregates *P, const PolderRows *A, PetscInt length[], PetscInt info[3], PolderStream stream);
/* Computes the lengths that are -1 */
POLDER_LAUNCHER int PolderCoarseRowsCountLong_CUDA(const PolderAggregates *P, const PolderRows *A, const PolderCoarseScratch *, PetscInt length[],
                                                   PolderStream stream);
/* The columns, ascending, and the values of C, whose ptr[] are known */
POLDER_LAUNCHER int PolderCoarseRowsFill_CUDA(const PolderAggregates *P, const PolderRows *A, const PolderCoarseScratch *, const PolderSparseRows *C,
                                              PolderStream stream);
/*
  Recomputes the values in the same pattern; an entry without a position is added to the diagonal. longrows: C has rows of more than POLDER_COARSE_ROW entries
*/
POLDER_LAUNCHER int PolderCoarseRowsValues_CUDA(const PolderAggregates *P, const PolderRows *A, PetscBool longrows, const PolderSparseRows *C,
                                                PolderStream stream);
/* Prefix sum in place: ptr[0] <- 0, ptr[a + 1] <- sum of the lengths in ptr[1 .. a + 1] */
POLDER_LAUNCHER int PolderPointers_CUDA(PetscInt n, PetscInt ptr[], void *work, size_t bytes, PolderStream stream);
/* Keys i * n + j of the entries of n rows, and their number */
POLDER_LAUNCHER int PolderRowsKeys_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt64 key[], PetscInt *count, PolderStream stream);

/*
  Host: adds the off-diagonal entries |a_ij| <= drop min(a_ii, a_jj) to the diagonal entry and removes them, in place; d[n] is scratch. Returns the number of
  remaining entries
*/
PETSC_INTERN PetscInt PolderDropWeak_Host(PetscInt n, PetscReal drop, PetscReal d[], PetscInt ai[], PetscInt aj[], PetscScalar aa[]);
/*
  Device: the same, with the diagonal in d: length[i + 1] <- number of remaining entries of row i; then the entries themselves, in C whose ptr[] are known,
  with the others added to the diagonal
*/
POLDER_LAUNCHER int PolderDropWeakCount_CUDA(const PolderRows *A, PetscReal drop, const PetscReal d[], PetscInt length[], PolderStream stream);
POLDER_LAUNCHER int PolderDropWeakFill_CUDA(const PolderRows *A, PetscReal drop, const PetscReal d[], const PolderSparseRows *C, PolderStream stream);

/* The sums of d[] and of s[] over the rows of each aggregate */
PETSC_INTERN void   PolderMemberSums_Host(const PolderAggregates *, const PetscReal d[], const PetscReal s[], PetscReal dsum[], PetscReal ssum[]);
POLDER_LAUNCHER int PolderMemberSums_CUDA(const PolderAggregates *, const PetscReal d[], const PetscReal s[], PetscReal dsum[], PetscReal ssum[],
                                          PolderStream stream);
/*
  The row sums in single precision: to to[i] or, with rows set, to the position of the diagonal entry in compressed rows. Host: adds the second block B
  unless that is NULL, and returns PETSC_FALSE when a sum is too large; device: sets *bad then.
*/
PETSC_INTERN PetscBool PolderRowTotals_Host(const PolderRows *A, const PolderRows *B, PetscBool rows, float to[]);
POLDER_LAUNCHER int    PolderRowTotals_CUDA(const PolderRows *A, PetscBool rows, float to[], int *bad, PolderStream stream);
/*
  Surveys the rows of a level; B: a second block with other columns, or NULL. *bound <- Gershgorin's bound for the eigenvalues of D^-1 A. Host: returns the
  first unusable row, n for none, and what is wrong with it. Device: no second block; *bound is only raised; *bad <- the minimum of its value and 8 i + kind
  over the unusable rows i.
*/
PETSC_INTERN PetscInt PolderLevelRows_Host(const PolderRows *A, const PolderRows *B, const PolderLevelSurvey *, PetscReal *bound, PolderRowKind *kind);
POLDER_LAUNCHER int   PolderLevelRows_CUDA(const PolderRows *A, const PolderLevelSurvey *, PetscReal *bound, PetscInt64 *bad, PolderStream stream);
/* The same from diagonals, the main one among them, without diag[]. Host: PETSC_FALSE, device: a smaller *bad: some row may be unusable, which the former
   finds out */
PETSC_INTERN PetscBool PolderLevelDiaRows_Host(const PolderDia *, const PolderLevelSurvey *, PetscReal *bound);
POLDER_LAUNCHER int    PolderLevelDiaRows_CUDA(const PolderDia *, const PolderLevelSurvey *, PetscReal *bound, PetscInt64 *bad, PolderStream stream);
/* The inverse diagonal alone, from the entries aa[diag[i]], or aa[i] if diag is NULL */
PETSC_INTERN PetscInt PolderLevelDiagonal_Host(PetscInt n, const PetscInt diag[], const PetscScalar aa[], PetscBool zero, PetscReal dinv[],
                                               PolderRowKind *kind);
