/* Kernels of deflation with labels: sums over labels, prolongation of label values to rows, the products AZ and Z^T A Z. */
#pragma once

#include "launcher.h"
#include "views.h"

/* Host: a[label] += sum of v over the rows of each run; the caller zeroes a */
PETSC_INTERN void PolderRunsRestrict_Host(const PolderLabelRuns *, const PetscScalar v[], PetscScalar a[]);
/* The same of the rows lo .. hi only, where lo lies in run r or begins it; returns the run of row hi */
PETSC_INTERN PetscInt PolderRunsRestrictRows_Host(const PolderLabelRuns *, PetscInt r, PetscInt lo, PetscInt hi, const PetscScalar v[], PetscScalar a[]);
/* x += a[label] over each run */
PETSC_INTERN void PolderRunsProlongAdd_Host(const PolderLabelRuns *, const PetscScalar a[], PetscScalar x[]);

/*
  Device: n items (rows, or runs of rows) in nlabel labels. The items of a label lie together in item[], cut into segments: those of label k are first[k] ..
  first[k + 1], segment s has the positions ptr[s] .. ptr[s + 1] of item[] and belongs to label[s]. Every label has a segment, perhaps an empty one.
*/
typedef struct {
  PetscInt      n, nlabel, most; /* most: an upper bound of the number of segments */
  PetscBool     blocks;          /* a block sums a segment, instead of a warp */
  PetscInt     *item, *first, *ptr, *label;
  PetscScalar  *weight;  /* [n] factors of the items; NULL: all are 1 */
  PetscScalar  *sum;     /* [most] scratch */
  unsigned int *counter; /* [nlabel] zero before and after a sum */
} PolderSegments;

/* row[] <- the rows with label[] >= 0, sorted by label and within a label by row; those of label k are start[k] .. start[k + 1] */
POLDER_LAUNCHER size_t PolderLabelsSortWork_CUDA(PetscInt n, PetscInt nlabel);
POLDER_LAUNCHER int    PolderLabelsSort_CUDA(PetscInt n, PetscInt nlabel, const PetscInt label[], PetscInt row[], PetscInt start[], size_t bytes, void *work,
                                             PolderStream stream);
/* Segments of at most `length` items: first[nlabel + 1], and ptr[], label[] for at most n / length + nlabel segments */
POLDER_LAUNCHER int PolderSegmentsMake_CUDA(PetscInt nlabel, PetscInt length, const PetscInt start[], PetscInt first[], PetscInt ptr[], PetscInt label[],
                                            PolderStream stream);
/*
  a[k] = y[k] (NULL: 0; y may be a) + alpha times the sum over the items of label k of weight times v[item].
  early, also for PolderRowsMultAdd_CUDA() and PolderDenseMult_CUDA(): these short kernels follow each other in every step. With early, all inputs but the
  vectors are older than the solve, so the kernel may read them while the launches before it finish.
*/
POLDER_LAUNCHER int PolderSegmentSums_CUDA(const PolderSegments *s, const PetscScalar v[], PetscScalar alpha, const PetscScalar y[], PetscScalar a[],
                                           PetscBool early, PolderStream stream);
/* x[i] += alpha a[label[i]] where label[i] >= 0 */
POLDER_LAUNCHER int PolderLabelsProlongAdd_CUDA(PetscInt n, const PetscInt label[], PetscScalar alpha, const PetscScalar a[], PetscScalar x[],
                                                PolderStream stream);

/* A dot product on the side: *dot += the factor of the kernel times (b, a), of n terms */
typedef struct {
  PetscInt           n;
  const PetscScalar *b;
  PetscScalar       *dot; /* NULL: not computed */
} PolderCoarseDot;
/* v += alpha W a. Device: also the dot with this a, with the factor alpha */
PETSC_INTERN void   PolderRowsMultAdd_Host(const PolderSparseRows *W, PetscScalar alpha, const PetscScalar a[], PetscScalar v[]);
POLDER_LAUNCHER int PolderRowsMultAdd_CUDA(const PolderSparseRows *W, PetscScalar alpha, const PetscScalar a[], PetscScalar v[], PolderCoarseDot dot,
                                           PetscBool early, PolderStream stream);
/* a += W^T v */
PETSC_INTERN void PolderRowsMultTransposeAdd_Host(const PolderSparseRows *W, const PetscScalar v[], PetscScalar a[]);

/*
  The product AZ for labels. label[] (of the local rows) and ghostlabel[] (of the ghost columns of the block B; B.i = NULL: none) are local column numbers of
  Z, -1 for none. count[i] is the number of entries of row i of AZ, 0 where it vanishes to rounding.
  Host: col[] and val[] are work arrays as long as the number of labels; returns whether all row sums of A vanish to rounding.
  Device: flags[0] is raised when a row sum does not vanish, flags[1] when a row has no label
*/
PETSC_INTERN PetscBool PolderLabelRowsCount_Host(PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], PetscInt col[],
                                                 PetscScalar val[], PetscInt count[]);
POLDER_LAUNCHER int    PolderLabelRowsCount_CUDA(PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], PetscInt count[], int flags[],
                                                 PolderStream stream);
/* Row i is the k-th with entries, k = scan[i] >> 32, and these begin at scan[i] & 0xffffffff: both less what row i itself adds, since scan[] includes it */
POLDER_LAUNCHER size_t PolderRowsScanWork_CUDA(PetscInt m);
POLDER_LAUNCHER int    PolderRowsScan_CUDA(PetscInt m, const PetscInt count[], PetscInt64 scan[], size_t bytes, void *work, PolderStream stream);
/*
  The entries of the W->n rows of AZ that have any. Host: W->row[] and W->ptr[] are given. Device: they are found, from count[] and scan[]; the owner sets
  W->ptr[0] = 0
*/
PETSC_INTERN void   PolderLabelRowsFill_Host(PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], const PolderSparseRows *W);
POLDER_LAUNCHER int PolderLabelRowsFill_CUDA(PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], const PetscInt count[],
                                             const PetscInt64 scan[], const PolderSparseRows *W, PolderStream stream);
/* The same two with the own columns from diagonals of a square matrix, of which zeros are no entries. nd is at most POLDER_LABEL_DIAGONALS */
#define POLDER_LABEL_DIAGONALS 32
POLDER_LAUNCHER int PolderLabelRowsCountDia_CUDA(const PolderDia *A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], PetscInt count[],
                                                 int flags[], PolderStream stream);
POLDER_LAUNCHER int PolderLabelRowsFillDia_CUDA(const PolderDia *A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], const PetscInt count[],
                                                const PetscInt64 scan[], const PolderSparseRows *W, PolderStream stream);

/*
  One row of E = Z^T W: the sum over k of weight[k] (NULL: 1) times the entries that W has at the number row[k] of its rows, gathered in col[], val[] (nc
  entries on return). position[] is -1 for every column on entry and on return.
*/
PETSC_INTERN void PolderGalerkinRow_Host(PolderRowList rows, const PetscScalar weight[], const PolderSparseRows *W, PetscInt *nc, PetscInt position[],
                                         PetscInt col[], PetscScalar val[]);
/* The *n entries of a d by d matrix with the keys i * d + j, ascending */
typedef struct {
  PetscInt    *n;
  PetscInt64  *key;
  PetscScalar *val;
} PolderKeyedEntries;
/* E = Z^T W for labels; E has room for W->nz + 1 entries. W->ptr[W->n] = W->nz */
POLDER_LAUNCHER size_t PolderGalerkinWork_CUDA(PetscInt d, PetscInt nz);
POLDER_LAUNCHER int    PolderGalerkin_CUDA(PetscInt d, const PetscInt label[], const PolderSparseRows *W, PolderKeyedEntries E, size_t bytes, void *work,
                                           PolderStream stream);
/* item[p], weight[p] <- row and value of the entry[p]-th of the entries of W */
POLDER_LAUNCHER int PolderEntriesGather_CUDA(const PolderSparseRows *W, const PetscInt entry[], PetscInt item[], PetscScalar weight[], PolderStream stream);
