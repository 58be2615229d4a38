/* Kernels of deflation with labels: sums over labels, prolongation of label values to rows, the products AZ and Z^T A Z. */
#pragma once

#include "launcher.h"

/* Host: nrun runs of rows runstart[r] .. runstart[r+1] of one label */
/* a[runlabel] += sum of v over each run; the caller zeroes a */
PETSC_INTERN void PolderRunsRestrict_Host(PetscInt nrun, const PetscInt runstart[], const PetscInt runlabel[], const PetscScalar v[], PetscScalar a[]);
/* x += a[runlabel] over each run */
PETSC_INTERN void PolderRunsProlongAdd_Host(PetscInt nrun, const PetscInt runstart[], const PetscInt runlabel[], const PetscScalar a[], PetscScalar x[]);

/*
  Device: n rows in nlabel labels. The rows of a label lie together in item[], cut into segments: those of label k are first[k] .. first[k + 1],
  segment s has the positions ptr[s] .. ptr[s + 1] of item[] and belongs to label[s]. Every label has a segment, perhaps an empty one.
*/
/* row[] <- the rows with label[] >= 0, sorted by label and within a label by row; those of label k are start[k] .. start[k + 1] */
POLDER_LAUNCHER size_t PolderLabelsSortWork_CUDA(PetscInt n, PetscInt nlabel);
POLDER_LAUNCHER int    PolderLabelsSort_CUDA(PetscInt n, PetscInt nlabel, const PetscInt label[], PetscInt row[], PetscInt start[], size_t bytes, void *work,
                                             PolderStream stream);
/* Segments of at most `length` items: first[nlabel + 1], and ptr[], label[] for at most n / length + nlabel segments */
POLDER_LAUNCHER int PolderSegmentsMake_CUDA(PetscInt nlabel, PetscInt length, const PetscInt start[], PetscInt first[], PetscInt ptr[], PetscInt label[],
                                            PolderStream stream);
/*
  a[k] = y[k] (NULL: 0; y may be a) + alpha times the sum over the items of label k of weight (NULL: 1) times v[item]. most: an upper bound of the number of
  segments; wide: a block sums a segment, instead of a warp; sum[most] is scratch; counter[nlabel] is zero before and after.
  early, also for PolderRowsMultAdd_CUDA() and PolderDenseMult_CUDA(): these short kernels follow each other in every step. With early, all inputs but the
  vectors are older than the preceding launch, so the kernel may read them while that launch finishes.
*/
POLDER_LAUNCHER int PolderSegmentSums_CUDA(PetscInt nlabel, PetscInt most, PetscBool wide, const PetscInt first[], const PetscInt ptr[], const PetscInt label[],
                                           const PetscInt item[], const PetscScalar weight[], const PetscScalar v[], PetscScalar sum[], unsigned int counter[],
                                           PetscScalar alpha, const PetscScalar y[], PetscScalar a[], PetscBool early, PolderStream stream);
/* x[i] += alpha a[label[i]] where label[i] >= 0 */
POLDER_LAUNCHER int PolderLabelsProlongAdd_CUDA(PetscInt n, const PetscInt label[], PetscScalar alpha, const PetscScalar a[], PetscScalar x[],
                                                PolderStream stream);

/* v[row[k]] += alpha * (CSR row k) . a, for n rows; row = NULL: row k is k. Device: dot != NULL: *dot += alpha (b, a), d terms */
PETSC_INTERN void   PolderRowsMultAdd_Host(PetscInt n, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[],
                                           PetscScalar alpha, const PetscScalar a[], PetscScalar v[]);
POLDER_LAUNCHER int PolderRowsMultAdd_CUDA(PetscInt n, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[],
                                           PetscScalar alpha, const PetscScalar a[], PetscScalar v[], PetscInt d, const PetscScalar b[], PetscScalar *dot,
                                           PetscBool early, PolderStream stream);
/* a += (CSR)^T v restricted to the rows row[k] */
PETSC_INTERN void PolderRowsMultTransposeAdd_Host(PetscInt n, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[],
                                                  const PetscScalar v[], PetscScalar a[]);

/*
  The product AZ for labels. label[] (of the m local rows) and ghostlabel[] (of the ghost columns of the block bi, bj, ba; bi = NULL: none)
  are local column numbers of Z, -1 for none. count[i] is the number of entries of row i of AZ, 0 where it vanishes to rounding.
  Host: col[] and val[] are work arrays as long as the number of labels; returns whether all row sums of A vanish to rounding.
  Device: no second block; flags[0] is raised when a row sum does not vanish, flags[1] when a row has no label
*/
PETSC_INTERN PetscBool PolderLabelRowsCount_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[],
                                                 const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[], const PetscInt ghostlabel[], PetscInt col[],
                                                 PetscScalar val[], PetscInt count[]);
POLDER_LAUNCHER int    PolderLabelRowsCount_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[],
                                                 PetscInt count[], int flags[], PolderStream stream);
/* Row i is the k-th with entries, k = scan[i] >> 32, and these begin at scan[i] & 0xffffffff: both less what row i itself adds, since scan[] includes it */
POLDER_LAUNCHER size_t PolderRowsScanWork_CUDA(PetscInt m);
POLDER_LAUNCHER int    PolderRowsScan_CUDA(PetscInt m, const PetscInt count[], PetscInt64 scan[], size_t bytes, void *work, PolderStream stream);
/*
  The entries of AZ. Host: of the n rows row[], at ptr[k] .. ptr[k+1] of col[] and val[]. Device: row[k], ptr[k + 1], col[], val[] of the nrow rows with
  entries; the owner sets ptr[0] = 0
*/
PETSC_INTERN void   PolderLabelRowsFill_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[],
                                             const PetscInt label[], const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[],
                                             const PetscInt ghostlabel[], const PetscInt ptr[], PetscInt col[], PetscScalar val[]);
POLDER_LAUNCHER int PolderLabelRowsFill_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[],
                                             const PetscInt count[], const PetscInt64 scan[], PetscInt nrow, PetscInt row[], PetscInt ptr[], PetscInt col[],
                                             PetscScalar val[], PolderStream stream);
/* The same two from diagonals (PolderDia; off and val are host arrays, val of device pointers); zeros are no entries. nd is at most POLDER_LABEL_DIAGONALS */
#define POLDER_LABEL_DIAGONALS 32
POLDER_LAUNCHER int PolderLabelRowsCountDia_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscInt label[],
                                                 PetscInt count[], int flags[], PolderStream stream);
POLDER_LAUNCHER int PolderLabelRowsFillDia_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const dia[], const PetscInt label[],
                                                const PetscInt count[], const PetscInt64 scan[], PetscInt nrow, PetscInt row[], PetscInt ptr[], PetscInt col[],
                                                PetscScalar val[], PolderStream stream);

/*
  One row of E = Z^T W: the sum over k of weight[k] (NULL: 1) times row row[k] of the CSR matrix W, gathered in col[], val[] (nc entries on return).
  position[] is -1 for every column on entry and on return.
*/
PETSC_INTERN void PolderGalerkinRow_Host(PetscInt nrow, const PetscInt row[], const PetscScalar weight[], const PetscInt wi[], const PetscInt wj[],
                                         const PetscScalar wv[], PetscInt *nc, PetscInt position[], PetscInt col[], PetscScalar val[]);
/* E = Z^T (AZ) for labels: the *n entries ekey = i * d + j (ascending), eval; room for nz + 1. ptr[nrow] = nz */
POLDER_LAUNCHER size_t PolderGalerkinWork_CUDA(PetscInt d, PetscInt nz);
POLDER_LAUNCHER int    PolderGalerkin_CUDA(PetscInt d, PetscInt nrow, PetscInt nz, const PetscInt label[], const PetscInt row[], const PetscInt ptr[],
                                           const PetscInt col[], const PetscScalar val[], PetscInt *n, PetscInt64 ekey[], PetscScalar eval[], size_t bytes,
                                           void *work, PolderStream stream);
/* item[p], weight[p] <- row and value of the entry[p]-th entry of a CSR matrix of nrow rows (row = NULL: row k is k) */
POLDER_LAUNCHER int PolderEntriesGather_CUDA(PetscInt nz, PetscInt nrow, const PetscInt row[], const PetscInt ptr[], const PetscScalar val[],
                                             const PetscInt entry[], PetscInt item[], PetscScalar weight[], PolderStream stream);
