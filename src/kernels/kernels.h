/* Host kernels: sizes and raw pointers, no PETSc objects, no allocation. Grouped by file; each is the twin of a device launcher of the same stem. */
#pragma once

#include <petscsys.h>
#include "../../cuda/kernels.h" /* PolderSlices */
#include "colourrow.h"
#include "levelmatrix.h"
#include "levelrow.h"
#include "pairrow.h"
#include "rrbrow.h"

/* vec.c */
/* x += alpha p, r -= alpha w; returns (r, r) */
PETSC_INTERN PetscReal PolderCGUpdate_Host(PetscInt n, PetscScalar alpha, const PetscScalar p[], const PetscScalar w[], PetscScalar x[], PetscScalar r[]);
/* (x, y) */
PETSC_INTERN PetscReal PolderDot_Host(PetscInt n, const PetscScalar x[], const PetscScalar y[]);

/* deflation.c: nrun runs of rows runstart[r] .. runstart[r+1] of one label */
/* a[runlabel] += sum of v over each run; the caller zeroes a */
PETSC_INTERN void PolderRunsRestrict_Host(PetscInt nrun, const PetscInt runstart[], const PetscInt runlabel[], const PetscScalar v[], PetscScalar a[]);
/* x += a[runlabel] over each run */
PETSC_INTERN void PolderRunsProlongAdd_Host(PetscInt nrun, const PetscInt runstart[], const PetscInt runlabel[], const PetscScalar a[], PetscScalar x[]);
/* v[row[k]] += alpha * (CSR row k) . a, for n rows; row = NULL: row k is k */
PETSC_INTERN void PolderRowsMultAdd_Host(PetscInt n, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscScalar alpha, const PetscScalar a[], PetscScalar v[]);
/* a += (CSR)^T v restricted to the rows row[k] */
PETSC_INTERN void PolderRowsMultTransposeAdd_Host(PetscInt n, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], const PetscScalar v[], PetscScalar a[]);

/* skyline.c: rows of a lower triangle as L[ptr[i] .. ptr[i+1]), columns first[i] .. i */
/* Cholesky in place; rows with drop[i] set, and those whose pivot falls to tol or below, become rows of the identity. Returns the number of rows found to drop */
PETSC_INTERN PetscInt PolderSkylineFactor_Host(PetscInt n, const PetscInt first[], const size_t ptr[], PetscReal tol, PetscScalar L[], char drop[]);
/* x <- (L L^T)^-1 x */
/* The same for a matrix whose entries beside the diagonal are not positive, without a subtraction and so exact to rounding in each entry, from S v = f with v > 0, f >= 0. A pivot
   of no more than noise[] counts as zero; the noise of a row goes to those that it is eliminated into. f[] and noise[] are overwritten */
PETSC_INTERN PetscInt PolderSkylineFactorExcess_Host(PetscInt n, const PetscInt first[], const size_t ptr[], PetscReal f[], const PetscReal v[], PetscReal noise[], PetscScalar L[], char drop[]);
PETSC_INTERN void     PolderSkylineSolve_Host(PetscInt n, const PetscInt first[], const size_t ptr[], const PetscScalar L[], PetscScalar x[]);
/* y <- A x for a full symmetric A */
PETSC_INTERN void PolderSymmetricMult_Host(PetscInt n, const PetscScalar A[], const PetscScalar x[], PetscScalar y[]);

/*
  tns.c: sweeps y[k+1] = y[0] - dinv (T y[k]), k = 0 .. q-1, with T the strictly lower or upper part of a matrix of m rows; all
  sweeps in one pass over the matrix, block of rows after block, because a row of T reads only rows of earlier blocks.
  r != NULL: y[0] = dinv r first.
*/
/* diag[i]: position of the diagonal entry of row i; columns ascend within a row */
PETSC_INTERN void PolderTriSweepsCSR_Host(PetscBool upper, PetscInt m, PetscInt q, const PetscInt ai[], const PetscInt diag[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar dinv[], const PetscScalar r[], PetscScalar *const y[]);
/* nd diagonals of T: row i has val[d][i] in column i + off[d] */
PETSC_INTERN void PolderTriSweepsDIA_Host(PetscBool upper, PetscInt m, PetscInt q, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscScalar dinv[], const PetscScalar r[], PetscScalar *const y[]);
/* y = c - dinv (T x) on the rows row[0..n) */
PETSC_INTERN void PolderTriRowsCSR_Host(PetscBool upper, PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt diag[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar dinv[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[]);
/* y -= dinv (B ghost) on the rows row[0..n), B being the columns 0 .. nlow (lower) or nlow and above (upper) of the CSR matrix bi, bj, ba */
PETSC_INTERN void PolderTriGhostRows_Host(PetscBool upper, PetscInt n, const PetscInt row[], PetscInt nlow, const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[], const PetscScalar dinv[], const PetscScalar ghost[], PetscScalar y[]);
/* The same with T and dinv in single precision; what is PetscScalar here is rounded to it */
PETSC_INTERN void PolderTriSweepsCSRSingle_Host(PetscBool upper, PetscInt m, PetscInt q, const PetscInt ai[], const PetscInt diag[], const PetscInt aj[], const float aa[], const float dinv[], const PetscScalar r[], PetscScalar *const y[]);
PETSC_INTERN void PolderTriSweepsDIASingle_Host(PetscBool upper, PetscInt m, PetscInt q, PetscInt nd, const PetscInt off[], const float *const val[], const float dinv[], const PetscScalar r[], PetscScalar *const y[]);
PETSC_INTERN void PolderTriRowsCSRSingle_Host(PetscBool upper, PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt diag[], const PetscInt aj[], const PetscScalar aa[], const float dinv[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[]);
PETSC_INTERN void PolderTriGhostRowsSingle_Host(PetscBool upper, PetscInt n, const PetscInt row[], PetscInt nlow, const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[], const float dinv[], const PetscScalar ghost[], PetscScalar y[]);
/* s = v; FALSE when a finite value is too large for single precision */
PETSC_INTERN PetscBool PolderToSingle_Host(size_t n, const PetscScalar v[], float s[]);

/* dia.c: val[d][i] is entry (i, i + off[d]) of an m by n matrix, read only where row and column exist; off ascends */
/* z = y + alpha A x; y = NULL stands for zero and may be z */
PETSC_INTERN void PolderDiaMult_Host(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
/* Copies CSR values into the diagonals first .. nd, zero where there is no entry; those below first are compared with what their pointers lead to. FALSE when an
   entry lies on no diagonal (or columns do not ascend), or when one of the latter is not the mirror image up to tol */
PETSC_INTERN PetscBool PolderDiaFill_Host(PetscInt m, PetscInt nd, PetscInt first, const PetscInt off[], PetscScalar *const val[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscReal tol);

/* icrs.c: slices of POLDER_ICRS_ROWS rows, each ptr[s + 1] - ptr[s] entries wide; entry k of row r of slice s is at POLDER_ICRS_ROWS * (ptr[s] + k) + r.
   The last slice is stored whole; padding has the value zero and a column that exists */
#define POLDER_ICRS_ROWS 8
/* z = y + alpha A x for m rows; y = NULL stands for zero and may be z */
PETSC_INTERN void PolderIcrsMult_Host(PetscInt m, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
/* components.c: connected components of the rows of a CSR matrix; parent[i] <- the smallest row of the component of row i */
/* an entry joins its row and column when their class is the same; rows of negative class get -1 */
PETSC_INTERN void PolderComponentsByClass_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt cls[], PetscInt parent[]);
/* a nonzero entry joins its row and column when their scales differ by at most the factor jump; rows of scale 0 get -1 */
PETSC_INTERN void PolderComponentsByScale_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar scale[], PetscReal jump, PetscInt parent[]);
/* scale[i] = max(scale[i], max_j |a_ij|), j != i when skipdiag is set */
PETSC_INTERN void PolderRowScale_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool skipdiag, PetscScalar scale[]);

/* labels.c; m rows, unless said otherwise */
PETSC_INTERN void PolderIndexFill_Host(PetscInt m, PetscInt value, PetscInt a[]);
/* a[i] == from becomes to */
PETSC_INTERN void PolderIndexReplace_Host(PetscInt m, PetscInt from, PetscInt to, PetscInt a[]);
/* range <- least and greatest of its entries and of a[] */
PETSC_INTERN void PolderIndexRange_Host(PetscInt m, const PetscInt a[], PetscInt range[2]);
/* cls[i] = 1 where the level set is positive, else outside; *bad is raised when a value is not a number */
PETSC_INTERN void PolderLevelSetClass_Host(PetscInt m, const PetscScalar phi[], PetscInt outside, PetscInt cls[], PetscInt *bad);
/* cls[i] = -1 for rows that couple to no other; bi = NULL: no second block */
PETSC_INTERN void PolderLoneRows_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt bi[], PetscInt cls[]);
/* label[i] = v[i] rounded, -2 where that is no label */
PETSC_INTERN void PolderLabelsRound_Host(PetscInt m, const PetscScalar v[], PetscInt label[]);
/*
  Row i is unknown first + i, dof of them a point, of the points lo <= x < hi (x fastest) of a grid of n points, cut into boxes:
  part[i] = number of its box (x fastest) * dof + place in the point
*/
PETSC_INTERN void PolderGridBoxes_Host(PetscInt m, PetscInt first, PetscInt dof, const PetscInt lo[3], const PetscInt hi[3], const PetscInt n[3], const PetscInt boxes[3], PetscInt part[]);
/* part[i] = point * dof + c becomes r * dof + c, r being the one of count runs of the points in which point lies */
PETSC_INTERN void PolderGridRuns_Host(PetscInt m, PetscInt dof, PetscInt64 points, PetscInt count, PetscInt part[]);
/* The key of row i is part[i] * ncomp + comp[i], none where one is negative; NULL stands for zeros. mark[key] <- 1 */
PETSC_INTERN void PolderKeysMark_Host(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt mark[]);
/* mark[0..n) <- sums of the entries before each */
PETSC_INTERN void PolderKeysScan_Host(PetscInt n, PetscInt mark[]);
/* label[i] <- number[key], -1 for a row without key; label may be part or comp */
PETSC_INTERN void PolderKeysLabel_Host(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], const PetscInt number[], PetscInt label[]);
/* sorted[0..*nunique) <- the keys that occur, ascending; npart * ncomp at the end when a row has no key. key[m] is scratch */
PETSC_INTERN void PolderKeysSort_Host(PetscInt m, const PetscInt part[], PetscInt64 npart, PetscInt ncomp, const PetscInt comp[], PetscInt64 key[], PetscInt64 sorted[], PetscInt *nunique);
/* label[i] <- place of the key of row i in sorted[], -1 for a row without key; *d <- number of keys (not written when m is 0) */
PETSC_INTERN void PolderKeysFind_Host(PetscInt m, const PetscInt part[], PetscInt64 npart, PetscInt ncomp, const PetscInt comp[], const PetscInt64 sorted[], const PetscInt *nunique, PetscInt label[], PetscInt *d);
/* count[label[i]] += 1 */
PETSC_INTERN void PolderRegionSizes_Host(PetscInt m, const PetscInt label[], PetscInt count[]);
/* summary <- how many of the n counts are at least tiny; the first of the largest, -1 when n is 0 */
PETSC_INTERN void PolderRegionSummary_Host(PetscInt n, const PetscInt count[], PetscInt tiny, PetscInt summary[2]);
/* comp[i] = -2 in regions of fewer than tiny rows */
PETSC_INTERN void PolderRegionsMarkTiny_Host(PetscInt m, const PetscInt label[], const PetscInt count[], PetscInt tiny, PetscInt comp[]);
/* next[i] <- the region with comp >= 0 to which row i has its strongest entry (the smallest of equal ones), -1 when there is none; rows of comp[i] = -2 only.
   ghost[]: the regions of the columns of the block bi, bj, ba; bi = NULL: none */
PETSC_INTERN void PolderRegionsNext_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[], const PetscInt comp[], const PetscInt ghost[], PetscInt next[]);
/* comp[i] <- next[i] where comp[i] = -2 and next[i] >= 0; returns how many rows keep -2 */
PETSC_INTERN PetscInt PolderRegionsJoin_Host(PetscInt m, const PetscInt next[], PetscInt comp[]);
/* Distances |j - i| of the entries: near[0] <- 1 when one is 1, near[1] <- the smallest above 1, near[2] <- the largest, unless the value there is larger (near[1]: smaller) */
PETSC_INTERN void PolderStencilStrides_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt near[3]);
/* *bad is raised when an entry is not on the diagonal, has none of the distances 1, near[1], near[2], or couples the end of a line (plane) with the start of the next */
PETSC_INTERN void PolderStencilCheck_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt *bad);

/*
  The product AZ for labels. label[] (of the m local rows) and ghostlabel[] (of the ghost columns of the block bi, bj, ba; bi = NULL: none)
  are local column numbers of Z, -1 for none. count[i] is the number of entries of row i of AZ, 0 where it vanishes to rounding.
  col[] and val[] are work arrays as long as the number of labels. Returns whether all row sums of A vanish to rounding.
*/
PETSC_INTERN PetscBool PolderLabelRowsCount_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[], const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[], const PetscInt ghostlabel[], PetscInt col[], PetscScalar val[], PetscInt count[]);
/* The entries of the n rows row[] at ptr[k] .. ptr[k+1] of col[] and val[] */
PETSC_INTERN void PolderLabelRowsFill_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[], const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[], const PetscInt ghostlabel[], const PetscInt ptr[], PetscInt col[], PetscScalar val[]);
/*
  One row of E = Z^T W: the sum over k of weight[k] (NULL: 1) times row row[k] of the CSR matrix W, gathered in col[], val[] (nc entries on return).
  position[] is -1 for every column on entry and on return.
*/
PETSC_INTERN void PolderGalerkinRow_Host(PetscInt nrow, const PetscInt row[], const PetscScalar weight[], const PetscInt wi[], const PetscInt wj[], const PetscScalar wv[], PetscInt *nc, PetscInt position[], PetscInt col[], PetscScalar val[]);

/* pairs.c: n rows row[] (NULL: 0 .. n) of a CSR matrix find partners among each other; mate[i] = j and mate[j] = i, or one of POLDER_PAIR_FREE, POLDER_PAIR_LONE, or i: alone
   in its aggregate. sum[] and diag[]: row sums and diagonal, NULL when rule->kappa is 0 */
/* outside[i] <- the largest coupling of row i in the block to other processes; next[] <- the largest of each of nc aggregates of the rows row[ptr[a] .. ptr[a + 1]), which is what the coarse row
   has there at least */
PETSC_INTERN void PolderPairsOutside_Host(PetscInt n, const PetscInt bi[], const PetscScalar ba[], PetscReal outside[]);
PETSC_INTERN void PolderPairsNextOutside_Host(PetscInt nc, const PetscInt ptr[], const PetscInt row[], const PetscReal outside[], PetscReal next[]);
/* next[i] <- the partner that row i would have, or POLDER_PAIR_NONE */
PETSC_INTERN void PolderPairsPropose_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[], const PolderPairRule *rule, const PetscInt mate[], PetscInt next[]);
/* place[i] <- that of row shift + i in a grid with the strides near[] of PolderStencilStrides_Host(); *bad is raised when an entry joins no neighbours */
PETSC_INTERN void PolderPairsPlaces_Host(PetscInt m, PetscInt shift, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt64 place[], PetscInt *bad);
/* On a grid: count[d] <- how many proposals go along direction d; all rows, none paired yet */
PETSC_INTERN void PolderPairsDirections_Host(PetscInt m, const PolderPairRule *rule, const PetscInt next[], PetscInt count[3]);
/* next[i] <- the partner with which pairs line up along the direction of the largest count, or POLDER_PAIR_WAIT */
PETSC_INTERN void PolderPairsAlign_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PolderPairRule *rule, const PetscInt count[3], const PetscInt mate[], PetscInt next[]);
/* Pairs where both would, a row alone where it has no one; left[*count] <- the rows that are free still (may be row on the host) */
PETSC_INTERN void PolderPairsMatch_Host(PetscInt n, const PetscInt row[], const PetscInt next[], PetscInt mate[], PetscInt left[], PetscInt *count);
/* Leaves the rows row[] alone */
PETSC_INTERN void PolderPairsSingle_Host(PetscInt n, const PetscInt row[], PetscInt mate[]);
/* The same one after another, rows with the fewest free strong neighbours first (Notay, ETNA 37, 2010), counted up to most; work[3 m + most + 1] */
PETSC_INTERN void PolderPairsGreedy_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[], const PolderPairRule *rule, PetscInt most, PetscInt mate[], PetscInt work[]);
/* join[i] <- for a row alone, its strongest neighbour if that has a partner; else i */
PETSC_INTERN void PolderPairsJoin_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[], const PolderPairRule *rule, const PetscInt mate[], PetscInt join[]);
/* agg[i] <- number of the pair of row i, or of that of join[i] (NULL: no one joins), ascending with its first row; rows in none get the number of pairs, which is *count */
PETSC_INTERN void PolderPairsNumber_Host(PetscInt m, const PetscInt mate[], const PetscInt join[], PetscInt agg[], PetscInt *count);
/* next[] (may be place[] on the host) <- the places of the pairs, made along the direction of the largest count */
PETSC_INTERN void PolderPairsNextPlaces_Host(PetscInt m, const PetscInt mate[], const PetscInt join[], const PetscInt agg[], const PetscInt count[3], const PetscInt64 place[], PetscInt64 next[]);
/* agg[i] <- next[agg[i]], nc where agg[i] = n is none */
PETSC_INTERN void PolderPairsCompose_Host(PetscInt m, PetscInt n, const PetscInt next[], PetscInt nc, PetscInt agg[]);

/* galerkin.c: agg[] < n are the aggregates of m rows, n stands for none */
/* row[ptr[a] .. ptr[a + 1]) <- the rows of aggregate a, ascending; ptr[n + 2] */
PETSC_INTERN void PolderMembers_Host(PetscInt m, const PetscInt agg[], PetscInt n, PetscInt ptr[], PetscInt row[]);
/* ci, cj, ca <- the sums of the rows of each aggregate by the aggregate agg[] < nc of the column, columns ascending; cj and ca have room for all entries of A. square: row and
   column aggregates are the same, and a diagonal entry that cancels becomes zero. place[nc] is scratch. Returns the number of entries */
PETSC_INTERN PetscInt PolderGalerkin_Host(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscInt nc, const PetscInt agg[], PetscBool square, PetscInt place[], PetscInt ci[], PetscInt cj[], PetscScalar ca[]);
/* Moves the entries |a_ij| <= drop min(a_ii, a_jj) beside the diagonal onto it, in place; d[n] is scratch. Returns the number of entries left */
PETSC_INTERN PetscInt PolderDropWeak_Host(PetscInt n, PetscReal drop, PetscReal d[], PetscInt ai[], PetscInt aj[], PetscScalar aa[]);
/* New values in the same pattern; an entry that it has no place for (square) goes to the diagonal */
PETSC_INTERN void PolderGalerkinValues_Host(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscInt nc, const PetscInt agg[], PetscBool square, PetscInt place[], const PetscInt ci[], const PetscInt cj[], PetscScalar ca[]);
/* d[i] <- diagonal entry, sum[i] <- sum of the row */
PETSC_INTERN void PolderRowSums_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscReal d[], PetscReal sum[]);
/*
  diag[i] <- position of the diagonal entry of row i, dinv[i] <- its inverse or, l1 set, that of the sum of |a_ij| (bi = NULL: no second block); l1 = 0 with zero: a row whose
  diagonal is zero gets 0. sum[i] (NULL: not wanted) <- sum of the row, mate[i] (NULL: not wanted) <- POLDER_PAIR_LONE when the diagonal is more than lone times the sum of the
  others' magnitudes, else POLDER_PAIR_FREE. *bound <- Gershgorin's for the eigenvalues of D^-1 A. Returns the first row that cannot be used, n for none, and what it has
*/
PETSC_INTERN PetscInt PolderLevelRows_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[], const PetscScalar ba[], PetscBool zero, PetscBool l1, PetscReal lone, PetscInt diag[], PetscReal dinv[], PetscReal d[], PetscReal sum[], PetscInt mate[], PetscReal *bound, PolderRowKind *kind);
/* The inverse diagonal alone, from the entries aa[diag[i]], or aa[i] when diag is NULL */
PETSC_INTERN PetscInt PolderLevelDiagonal_Host(PetscInt n, const PetscInt diag[], const PetscScalar aa[], PetscBool zero, PetscReal dinv[], PolderRowKind *kind);

/* The sums of the rows, and of those of a second block unless bi is NULL, in single precision: to[i] or, rows set, where the diagonal entry of compressed rows is. PETSC_FALSE when one is too large */
PETSC_INTERN PetscBool PolderRowTotals_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[], const PetscScalar ba[], PetscBool rows, float to[]);

/* excess.c: the excess of the rows of a hierarchy (excessrow.h). Of the first level, and of the magnitudes in its rows: the local part, then what leads to others (before ai's rows only in the sum), then what they are */
PETSC_INTERN void PolderExcessRows_Host(PetscInt n, const PetscInt ai[], const PetscScalar aa[], PetscReal excess[], PetscReal size[]);
PETSC_INTERN void PolderExcessOuterRows_Host(const PolderOuterRows *, PetscReal excess[], PetscReal size[]);
PETSC_INTERN void PolderExcessEnd_Host(PetscInt n, const PetscInt ai[], PetscBool kernel, PetscReal excess[], const PetscReal size[]);
/* Of n aggregates whose members, and those in none behind them, PolderMembers_Host() gives */
PETSC_INTERN void PolderExcessAggregates_Host(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscReal excess[], const PetscReal size[], PetscReal coarse[], PetscReal coarsesize[]);
/* In n coarse rows that have entries to other processes: lone, the sum and the sum of magnitudes of those to rows in no aggregate; outer, of the others. here <- what the excess is to the local block */
PETSC_INTERN void PolderExcessLeave_Host(PetscInt n, const PetscInt row[], const PetscReal lone[], const PetscReal outer[], PetscReal excess[], PetscReal here[]);
/* The diagonal entries of a coarse matrix's local block */
PETSC_INTERN void PolderExcessDiagonal_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[], PetscScalar aa[]);

/* outer.c: entries to other processes by the rows that have any, as a device has them, beside the rows ai, aj, aa of the local block */
/* row[k], start[k] <- the rows that have entries and where these begin; *count: how many */
PETSC_INTERN void PolderOuterFind_Host(PetscInt n, const PetscInt ptr[], PetscInt row[], PetscInt start[], PetscInt *count);
/* to[k] = from[index[k]] */
PETSC_INTERN void PolderIndexGather_Host(PetscInt n, const PetscInt index[], const PetscInt from[], PetscInt to[]);
/* outside[] of PolderPairsOutside_Host() in these rows; the others stay as they are */
PETSC_INTERN void PolderOuterStrength_Host(const PolderOuterRows *, PetscReal outside[]);
/* What PolderLevelRows_Host() and PolderRowTotals_Host() say of these rows; d, sum and mate may be NULL. *bound is raised, *bad becomes the least of 8 i + kind over the rows i that cannot be used, if it
   was larger; *large is raised when a sum is too large */
PETSC_INTERN void PolderOuterLevelRows_Host(const PolderOuterRows *, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool zero, PetscBool l1, PetscReal lone, PetscReal dinv[], PetscReal d[], PetscReal sum[], PetscInt mate[], PetscReal *bound, PetscInt64 *bad);
PETSC_INTERN void PolderOuterTotals_Host(const PolderOuterRows *, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool rows, float to[], int *large);

/* colours.c: n rows row[] (NULL: 0 .. n) of a CSR matrix with a symmetric pattern; colours and row bodies in colourrow.h */
/* Colours those rows whose neighbours before them have their colour; left[*count] <- the others (may be row on the host). All are POLDER_COLOUR_NONE before the first round */
PETSC_INTERN void PolderColoursRound_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], PetscInt colour[], PetscInt left[], PetscInt *count);
/* Two colours by the places of the rows in a grid */
PETSC_INTERN void PolderColoursPlaces_Host(PetscInt n, const PetscInt64 place[], PetscInt colour[]);
/* *bad is raised when an entry joins two rows of a colour, or when a row has none */
PETSC_INTERN void PolderColoursCheck_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[], PetscInt *bad);

/* smoothers.c: the rows of one level in double precision and, as ...Single_Host, with matrix and vectors in single precision */
#define POLDER_LEVEL_KERNELS(type, name) \
  /* x = (D + L)^-1 b; agg != NULL: bc = P^T (b - A x) */ \
  PETSC_INTERN void PolderLevelForward##name(const PolderLevelMatrix *, const type b[], type x[], const PetscInt agg[], PetscInt nc, type bc[]); \
  /* agg != NULL: x += scale P xc first; a Gauss-Seidel sweep over x */ \
  PETSC_INTERN void PolderLevelSweep##name(const PolderLevelMatrix *, PetscBool backward, const PetscInt agg[], type scale, const type xc[], const type b[], type x[]); \
  /* The part of a multicoloured Gauss-Seidel sweep on the n rows row[] of a colour: x += D^-1 (b - A x) there */ \
  PETSC_INTERN void PolderLevelColour##name(const PolderLevelMatrix *, PetscInt n, const PetscInt row[], const type b[], type x[]); \
  /* How a sweep over zero begins: x = D^-1 b on the first rows of row[], zero on the others, of all rows */ \
  PETSC_INTERN void PolderLevelColourFirst##name(const PolderLevelMatrix *, PetscInt first, const PetscInt row[], const type b[], type x[]); \
  /* x = scale D^-1 b */ \
  PETSC_INTERN void PolderLevelScale##name(PetscInt n, type scale, const type dinv[], const type b[], type x[]); \
  /* x += scale P xc */ \
  PETSC_INTERN void PolderLevelProlong##name(PetscInt n, const PetscInt agg[], type scale, const type xc[], type x[]); \
  /* b - A x: to r (NULL: not wanted) and, agg != NULL, bc = P^T of it */ \
  PETSC_INTERN void PolderLevelResidual##name(const PolderLevelMatrix *, const type b[], const type x[], type r[], const PetscInt agg[], PetscInt nc, type bc[]); \
  /* y = x + beta (x - y) + scale D^-1 (b - A x); first: zero instead of y, which is not read then, nor when beta is 0. wide != NULL: there instead of to y, base + y when that is not NULL */ \
  PETSC_INTERN void PolderLevelJacobi##name(const PolderLevelMatrix *, PetscBool first, type beta, type scale, const type b[], const type x[], type y[], const type base[], PetscScalar wide[]); \
  /* v = (add: v) + A x; sum <- (x, v), (x, b), and (x, w) or, without w, (b, b), (b, v), (v, v): three or five */ \
  PETSC_INTERN void PolderLevelMultDots##name(const PolderLevelMatrix *, PetscBool add, const type x[], const type b[], const type w[], type v[], PetscReal sum[]); \
  /* y = alpha x + beta y */ \
  PETSC_INTERN void PolderLevelCombine##name(PetscInt n, type alpha, type beta, const type x[], type y[]); \
  /* Between the steps of a K-cycle and after them, with the sums and scalars of levelscalars.h: b -= (alpha / rho) v; x = c[0] x + c[1] w */ \
  PETSC_INTERN void PolderLevelKFirst##name(PetscInt n, PetscReal threshold, const PetscReal sum[], const type v[], type b[]); \
  PETSC_INTERN void PolderLevelKSecond##name(PetscInt n, PetscReal threshold, const PetscReal sum[], const type w[], type x[]); \
  /* z = y + scale B ghost or, own != NULL and in single precision, the entries b_ij times ghost_j - own_i; y = NULL stands for zero. bc -= P^T B ghost */ \
  PETSC_INTERN void PolderLevelGhosts##name(PetscInt n, const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[], type scale, const type ghost[], const type own[], const type y[], type z[]); \
  PETSC_INTERN void PolderLevelGhostsRestrict##name(PetscInt n, const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[], const type ghost[], const PetscInt agg[], type bc[]); \
  /* The same by the rows that have such entries, as the device has them. z += what is said in PolderOuterSum */ \
  PETSC_INTERN void PolderLevelOuterAdd##name(const PolderOuterRows *, const PolderOuterSum *, type z[]); \
  /* bc[target[t]] -= the sum of B ghost over the rows member[ptr[t] .. ptr[t + 1]) of them */ \
  PETSC_INTERN void PolderLevelOuterRestrict##name(const PolderOuterRows *, PetscInt n, const PetscInt target[], const PetscInt ptr[], const PetscInt member[], const type own[], const type ghost[], type bc[]); \
  /* v += B ghost, and sum[] of PolderLevelMultDots() with the v before (second: with w) becomes that of the new one */ \
  PETSC_INTERN void PolderLevelOuterDots##name(const PolderOuterRows *, PetscBool second, const type ghost[], const type x[], const type b[], type v[], PetscReal sum[]);
POLDER_LEVEL_KERNELS(PetscScalar, _Host)
POLDER_LEVEL_KERNELS(float, Single_Host)

/* csr.c */
/* z[i] = y[i] + alpha (row i of a CSR matrix) . x for the n rows i = row[k]; row = NULL: i = k. y = NULL stands for zero and may be z.
   dot != NULL: becomes (row = NULL) or is raised by the sum of p[i] (row i) . x */
PETSC_INTERN void PolderCsrMult_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], const PetscScalar p[], PetscScalar *dot);
/* d[i] = entry (i, i), zero where there is none */
/* y[i] = (add: y[i], else 0) + sum |a_ij x_j| */
PETSC_INTERN void PolderCsrMagnitude_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar x[], PetscBool add, PetscScalar y[]);
PETSC_INTERN void PolderCsrDiagonal_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[]);
/* aa[k] = (insert: 0, else aa[k]) + the sum of v[perm[e]], e = map[k] .. map[k+1] */
PETSC_INTERN void PolderCooSum_Host(PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[]);
PETSC_INTERN void PolderCooTake_Host(PetscInt nz, PetscInt n, const PetscInt first[], const PetscInt skip[], const PetscScalar v[], PetscBool insert, PetscScalar aa[]);

/* hec.c: m rows of width entries, entry k of row i at k * ld + i; padding has the value zero and a column that exists */
/* z = y + alpha A x; y = NULL stands for zero and may be z */
PETSC_INTERN void PolderEllMult_Host(PetscInt m, PetscInt width, PetscInt ld, const PetscInt col[], const PetscScalar val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);

/* slices.c: the arrays of PolderSlices, see cuda/kernels.h */
PETSC_INTERN void PolderScan_Host(PetscInt n, int a[]);
PETSC_INTERN void PolderRowHistogram_Host(PetscInt m, const PetscInt ai[], int nbin, int count[]);
PETSC_INTERN void PolderSlicesSort_Host(PetscInt m, int cap, const PetscInt ai[], int row[]);
PETSC_INTERN void PolderSlicesSize_Host(PetscInt m, int nslice, const int row[], const PetscInt ai[], const PetscInt aj[], int ptr[], int unit[]);
PETSC_INTERN void PolderSlicesFill_Host(PetscInt m, int nslice, const int row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const int ptr[], const int unit[], int base[], unsigned short col[], PetscScalar val[]);
PETSC_INTERN void PolderLongRowsCount_Host(PetscInt m, int cap, const PetscInt ai[], int entry[], int segment[], int lrow[]);
PETSC_INTERN void PolderLongRowsMake_Host(PetscInt m, const int entry[], const int segment[], const int lrow[], int row[], int first[], int owner[], int start[]);
PETSC_INTERN void PolderLongRowsFill_Host(int nseg, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const int row[], const int first[], const int owner[], const int start[], int col[], PetscScalar val[]);
PETSC_INTERN void PolderSlicesMult_Host(const PolderSlices *S, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot);

/* rrb.c: one grid of the repeated red-black factorisation; c, x, z are its RRB_NCOEF, RRB_NWORK, RRB_NVEC arrays, see rrbrow.h. First rows are put, then
   black nodes lumped, inverted, eliminated, r1 inverted, rows of the next grid taken, and at last the couplings scaled */
/* Row y of a matrix in natural order: row[RRB_C][x] is the diagonal of node x, the others its couplings to the E, N, NE and SE */
PETSC_INTERN void PolderRRBPutRow_Host(const PolderRRBGrid *g, PetscInt y, PetscScalar *const row[], PetscScalar c[], PetscScalar x[]);
PETSC_INTERN void PolderRRBLump_Host(const PolderRRBGrid *g, PetscReal omega, PetscScalar c[], const PetscScalar x[]);
/* lump: also the couplings of r1 among themselves */
PETSC_INTERN void PolderRRBEliminateBlack_Host(const PolderRRBGrid *g, PetscBool lump, PetscReal omega, PetscScalar c[], PetscScalar x[]);
/* d becomes 1 / d in the nx by ny nodes of a quarter; returns how many are not positive */
PETSC_INTERN PetscInt PolderRRBInvert_Host(const PolderRRBGrid *g, PetscInt nx, PetscInt ny, PetscScalar d[]);
/* Row v of the next grid */
PETSC_INTERN void PolderRRBCoarseRow_Host(const PolderRRBGrid *g, PetscInt v, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[]);
/* Row y of the nodes left by the elimination of the black ones: r1 (y even) or r2, with couplings E and N over two nodes */
PETSC_INTERN void PolderRRBSkewRow_Host(const PolderRRBGrid *g, PetscInt y, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[]);
PETSC_INTERN void PolderRRBScale_Host(const PolderRRBGrid *g, PetscScalar c[]);
/* The nodes of neighbours in the border */
PETSC_INTERN void PolderRRBScaleBorder_Host(const PolderRRBGrid *g, PetscScalar c[]);
/* The factor in single precision, with the border; PETSC_FALSE: it does not hold all values */
PETSC_INTERN PetscBool PolderRRBRound_Host(const PolderRRBGrid *g, const PetscScalar c[], float single[]);
/* ny rows of nx values, so far apart */
PETSC_INTERN void PolderRRBCopy_Host(PetscInt nx, PetscInt ny, const PetscScalar from[], PetscInt ldfrom, PetscScalar to[], PetscInt ldto);
/* z <- r, in natural order with rows ld apart, with the grid's nodes eliminated (half: the black ones only); then the way back, scaled by the pivots, into x */
PETSC_INTERN void PolderRRBForward_Host(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBBackward_Host(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], PetscScalar z[], PetscScalar x[], PetscInt ld);
/* The nodes that a grid of odd size lacks are zero, and what is computed there is again, until a vector that is not finite passes: back to zero. Each way of loading does it */
PETSC_INTERN void PolderRRBClearMissing_Host(const PolderRRBGrid *g, PetscScalar z[]);
/* The phases one by one, between which neighbours exchange values in the border of the arrays: forward, load of b1 and b2 next to the border, then load of all and r1, then r2;
   backward r1, then what is left as for half. Load alone, and what r2 takes from r1 alone, are for vectors without black nodes */
PETSC_INTERN void PolderRRBLoad_Host(const PolderRRBGrid *g, const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBLoadBorder_Host(const PolderRRBGrid *g, const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardR1_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardRed_Host(const PolderRRBGrid *g, const PetscScalar c[], PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardR2_Host(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], PetscScalar z[]);
PETSC_INTERN void PolderRRBBackwardR1_Host(const PolderRRBGrid *g, const PetscScalar c[], PetscScalar z[]);
/* The same with the factor in single precision */
PETSC_INTERN void PolderRRBForwardR1Single_Host(const PolderRRBGrid *g, const float c[], const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardRedSingle_Host(const PolderRRBGrid *g, const float c[], PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardR2Single_Host(const PolderRRBGrid *g, PetscBool half, const float c[], PetscScalar z[]);
PETSC_INTERN void PolderRRBBackwardR1Single_Host(const PolderRRBGrid *g, const float c[], PetscScalar z[]);
PETSC_INTERN void PolderRRBForwardSingle_Host(const PolderRRBGrid *g, PetscBool half, const float c[], const PetscScalar r[], PetscInt ld, PetscScalar z[]);
PETSC_INTERN void PolderRRBBackwardSingle_Host(const PolderRRBGrid *g, PetscBool half, const float c[], PetscScalar z[], PetscScalar x[], PetscInt ld);

/* rrbreduced.c: the first Schur complement S of a 5-point matrix on vectors of the red nodes, see rrbreduced.h; a: its RRB_NREDUCED arrays */
/* After PolderRRBEliminateBlack_Host() without lump; lump: then the couplings of r1 among themselves, as there */
PETSC_INTERN void PolderRRBReducedFill_Host(const PolderRRBGrid *g, PetscBool lump, PetscReal omega, PetscScalar c[], const PetscScalar x[], PetscScalar a[]);
/* y = S x; dot != NULL: becomes (x, y) */
PETSC_INTERN void PolderRRBReducedMult_Host(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot);
/* x with a border, see PolderRRBBorderRows() */
PETSC_INTERN void PolderRRBReducedMultBorder_Host(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot);
/* With the factor of the first grid, vectors in natural order with rows ld apart: r = b_r - S_rb D_b^-1 b_b; x = r on red nodes and D_b^-1 (b_b - S_br r) on black ones */
PETSC_INTERN void PolderRRBReduce_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar b[], PetscInt ld, PetscScalar r[]);
PETSC_INTERN void PolderRRBExpand_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar b[], const PetscScalar r[], PetscScalar x[], PetscInt ld);
/* r = x on red nodes */
PETSC_INTERN void PolderRRBPick_Host(const PolderRRBGrid *g, const PetscScalar x[], PetscInt ld, PetscScalar r[]);
/* r2 of z <- what is left of r when the r1 are eliminated; the way back, scaled by the pivots, into the r1 of z */
PETSC_INTERN void PolderRRBReducedForward_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar r[], PetscScalar z[]);
PETSC_INTERN void PolderRRBReducedBackward_Host(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar r[], PetscScalar z[]);
/* The same with the factor in single precision */
PETSC_INTERN void PolderRRBReducedForwardSingle_Host(const PolderRRBGrid *g, const float c[], const PetscScalar r[], PetscScalar z[]);
PETSC_INTERN void PolderRRBReducedBackwardSingle_Host(const PolderRRBGrid *g, const float c[], const PetscScalar r[], PetscScalar z[]);
