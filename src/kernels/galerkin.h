/*
  The rows of P^T A P, and what a level needs beside its rows. agg[] < n are the aggregates of m rows, n stands for none; PolderMembers_Host() gives their
  members ptr[], row[].
*/
#pragma once

#include "launcher.h"
#include "levelrow.h"

/*
  ci, cj, ca <- the sums of the rows of each aggregate by the aggregate agg[] < nc of the column, columns ascending; cj and ca have room for all entries of
  A. square: row and column aggregates are the same, and a diagonal entry that cancels becomes zero. place[nc] is scratch. Returns the number of entries
*/
PETSC_INTERN PetscInt PolderGalerkin_Host(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscInt nc, const PetscInt agg[], PetscBool square, PetscInt place[], PetscInt ci[], PetscInt cj[], PetscScalar ca[]);
/* New values in the same pattern; an entry that it has no place for (square) goes to the diagonal */
PETSC_INTERN void PolderGalerkinValues_Host(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscInt nc, const PetscInt agg[], PetscBool square, PetscInt place[], const PetscInt ci[], const PetscInt cj[], PetscScalar ca[]);

/*
  Device: the same in parts. Rows of more entries than POLDER_COARSE_ROW are left to a warp each: so many warps at most, a multiple of 8, each with scratch
  of width entries
*/
#define POLDER_COARSE_FEW   16 /* that a thread keeps in registers */
#define POLDER_COARSE_ROW   48
#define POLDER_COARSE_WARPS 4096
/*
  length[a + 1] <- entries of coarse row a, -1 for one of more than POLDER_COARSE_ROW; info, zero on entry <- how many of these, the most entries of A that
  one of them sums up
*/
POLDER_LAUNCHER int PolderCoarseRowsCount_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscInt agg[], PetscInt length[], PetscInt info[2], PolderStream stream);
/* The lengths that are -1; scratch[warps * width] */
POLDER_LAUNCHER int PolderCoarseRowsCountLong_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscInt agg[], PetscInt length[], PetscInt warps, PetscInt width, PetscInt scratch[], PolderStream stream);
/* cj, ca <- the rows, columns ascending; warps = 0: no row is long, else also scratchval[warps * width] */
POLDER_LAUNCHER int PolderCoarseRowsFill_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscInt ci[], PetscInt cj[], PetscScalar ca[], PetscInt warps, PetscInt width, PetscInt scratch[], PetscScalar scratchval[], PolderStream stream);
/* New values in the same pattern; an entry without a place goes to the diagonal. wide: there are rows of more than POLDER_COARSE_ROW entries */
POLDER_LAUNCHER int PolderCoarseRowsValues_CUDA(PetscInt n, PetscBool wide, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscInt ci[], const PetscInt cj[], PetscScalar ca[], PolderStream stream);
/* ptr[0] <- 0, ptr[a + 1] <- sum of the lengths up to there, from the lengths in ptr[1 .. n] */
POLDER_LAUNCHER int PolderPointers_CUDA(PetscInt n, PetscInt ptr[], void *work, size_t bytes, PolderStream stream);
/* Keys i * n + j of the entries of n rows, and their number */
POLDER_LAUNCHER int PolderRowsKeys_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt64 key[], PetscInt *count, PolderStream stream);

/* Host: moves the entries |a_ij| <= drop min(a_ii, a_jj) beside the diagonal onto it, in place; d[n] is scratch. Returns the number of entries left */
PETSC_INTERN PetscInt PolderDropWeak_Host(PetscInt n, PetscReal drop, PetscReal d[], PetscInt ai[], PetscInt aj[], PetscScalar aa[]);
/* Device: the same with d the diagonal: length[i + 1] <- entries of row i that stay, then these, the others added to the diagonal */
POLDER_LAUNCHER int PolderDropWeakCount_CUDA(PetscInt n, PetscReal drop, const PetscReal d[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscInt length[], PolderStream stream);
POLDER_LAUNCHER int PolderDropWeakFill_CUDA(PetscInt n, PetscReal drop, const PetscReal d[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt ci[], PetscInt cj[], PetscScalar ca[], PolderStream stream);

/* d[i] <- diagonal entry, sum[i] <- sum of the row */
PETSC_INTERN void   PolderRowSums_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscReal d[], PetscReal sum[]);
POLDER_LAUNCHER int PolderRowSums_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscReal d[], PetscReal sum[], PolderStream stream);
/*
  The sums of the rows in single precision: to[i] or, rows set, where the diagonal entry of compressed rows is. Host: also of those of a second block unless
  bi is NULL, and PETSC_FALSE when one is too large; device: *bad is raised then
*/
PETSC_INTERN PetscBool PolderRowTotals_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[], const PetscScalar ba[], PetscBool rows, float to[]);
POLDER_LAUNCHER int    PolderRowTotals_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool rows, float to[], int *bad, PolderStream stream);
/*
  diag[i] <- position of the diagonal entry of row i, dinv[i] <- its inverse or, l1 set, that of the sum of |a_ij| (bi = NULL: no second block); l1 = 0 with
  zero: a row whose diagonal is zero gets 0. sum[i] (NULL: not wanted) <- sum of the row, mate[i] (NULL: not wanted) <- POLDER_PAIR_LONE when the diagonal
  is more than lone times the sum of the others' magnitudes, else POLDER_PAIR_FREE. *bound <- Gershgorin's for the eigenvalues of D^-1 A. Host: returns
  the first row that cannot be used, n for none, and what it has. Device: no second block, and diag may be NULL; *bound is raised to Gershgorin's; *bad
  becomes the least of 8 i + kind over the rows i that cannot be used, if it was larger
*/
PETSC_INTERN PetscInt PolderLevelRows_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[], const PetscScalar ba[], PetscBool zero, PetscBool l1, PetscReal lone, PetscInt diag[], PetscReal dinv[], PetscReal d[], PetscReal sum[], PetscInt mate[], PetscReal *bound, PolderRowKind *kind);
POLDER_LAUNCHER int   PolderLevelRows_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool zero, PetscBool l1, PetscReal lone, PetscInt diag[], PetscReal dinv[], PetscReal d[], PetscReal sum[], PetscInt mate[], PetscReal *bound, PetscInt64 *bad, PolderStream stream);
/* The inverse diagonal alone, from the entries aa[diag[i]], or aa[i] when diag is NULL */
PETSC_INTERN PetscInt PolderLevelDiagonal_Host(PetscInt n, const PetscInt diag[], const PetscScalar aa[], PetscBool zero, PetscReal dinv[], PolderRowKind *kind);
POLDER_LAUNCHER int   PolderLevelDiagonal_CUDA(PetscInt n, const PetscInt diag[], const PetscScalar aa[], PetscBool zero, PetscReal dinv[], PetscInt64 *bad, PolderStream stream);
