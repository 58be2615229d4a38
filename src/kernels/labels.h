/* Kernels that compute labels of m rows. All sizes are on the host. */
#pragma once

#include "launcher.h"
#include "views.h"

/* a[i] = value */
PETSC_INTERN void   PolderIndexFill_Host(PetscInt m, PetscInt value, PetscInt a[]);
POLDER_LAUNCHER int PolderIndexFill_CUDA(PetscInt m, PetscInt value, PetscInt a[], PolderStream stream);
/* Replaces the value `from` by `to` in a[] */
PETSC_INTERN void   PolderIndexReplace_Host(PetscInt m, PetscInt from, PetscInt to, PetscInt a[]);
POLDER_LAUNCHER int PolderIndexReplace_CUDA(PetscInt m, PetscInt from, PetscInt to, PetscInt a[], PolderStream stream);
/* range <- minimum and maximum of the values in range and in a[] */
PETSC_INTERN void   PolderIndexRange_Host(PetscInt m, const PetscInt a[], PetscInt range[2]);
POLDER_LAUNCHER int PolderIndexRange_CUDA(PetscInt m, const PetscInt a[], PetscInt range[2], PolderStream stream);
/* cls[i] = 1 where the level set is positive, else outside; sets *bad when a value is not a number */
PETSC_INTERN void   PolderLevelSetClass_Host(PetscInt m, const PetscScalar phi[], PetscInt outside, PetscInt cls[], PetscInt *bad);
POLDER_LAUNCHER int PolderLevelSetClass_CUDA(PetscInt m, const PetscScalar phi[], PetscInt outside, PetscInt cls[], PetscInt *bad, PolderStream stream);
/* cls[i] = -1 for rows that couple to no other; bi = NULL: no second block */
PETSC_INTERN void   PolderLoneRows_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt bi[], PetscInt cls[]);
POLDER_LAUNCHER int PolderLoneRows_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt bi[], PetscInt cls[], PolderStream stream);
/* label[i] = v[i] rounded, -2 where v[i] is not a label */
PETSC_INTERN void   PolderLabelsRound_Host(PetscInt m, const PetscScalar v[], PetscInt label[]);
POLDER_LAUNCHER int PolderLabelsRound_CUDA(PetscInt m, const PetscScalar v[], PetscInt label[], PolderStream stream);

/* The pair (part[i], comp[i]) of each row, below npart and ncomp; NULL: all zeros. Its key is part ncomp + comp; a row with a negative number has none */
typedef struct {
  PetscInt64      npart;
  const PetscInt *part;
  PetscInt        ncomp;
  const PetscInt *comp;
} PolderPairs;

/* The points lo <= x < hi (x fastest) of a grid of n points, dof unknowns each; the first row is unknown `first` of these points */
typedef struct {
  PetscInt first, dof, lo[3], hi[3], n[3];
} PolderGridPart;
/* The grid is cut into boxes: part[i], i < m, = number of the box of row i (x fastest) * dof + place in the point */
PETSC_INTERN void   PolderGridBoxes_Host(PetscInt m, const PolderGridPart *grid, const PetscInt boxes[3], PetscInt part[]);
POLDER_LAUNCHER int PolderGridBoxes_CUDA(PetscInt m, const PolderGridPart *grid, const PetscInt boxes[3], PetscInt part[], PolderStream stream);
/* part[i] = point * dof + c becomes r * dof + c, where r is the number of the run that contains the point, of `count` runs */
PETSC_INTERN void   PolderGridRuns_Host(PetscInt m, PetscInt dof, PetscInt64 points, PetscInt count, PetscInt part[]);
POLDER_LAUNCHER int PolderGridRuns_CUDA(PetscInt m, PetscInt dof, PetscInt64 points, PetscInt count, PetscInt part[], PolderStream stream);

/* The key of row i is part[i] * ncomp + comp[i]; it has none when either is negative; NULL stands for zeros. mark[key] <- 1 */
PETSC_INTERN void   PolderKeysMark_Host(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt mark[]);
POLDER_LAUNCHER int PolderKeysMark_CUDA(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt mark[], PolderStream stream);
/* mark[0..n) <- exclusive prefix sums; device: work of PolderKeysScanWork_CUDA() bytes */
PETSC_INTERN void      PolderKeysScan_Host(PetscInt n, PetscInt mark[]);
POLDER_LAUNCHER int    PolderKeysScan_CUDA(PetscInt n, PetscInt mark[], void *work, size_t bytes, PolderStream stream);
POLDER_LAUNCHER size_t PolderKeysScanWork_CUDA(PetscInt n);
/* label[i] <- number[key], -1 for a row without key; label may be part or comp */
PETSC_INTERN void   PolderKeysLabel_Host(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], const PetscInt number[], PetscInt label[]);
POLDER_LAUNCHER int PolderKeysLabel_CUDA(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], const PetscInt number[], PetscInt label[],
                                         PolderStream stream);
/*
  sorted[0..*nunique) <- the keys of m rows that occur, ascending, followed by npart * ncomp when a row has no key. key[m] is scratch; device: work of
  PolderKeysSortWork_CUDA() bytes, too.
*/
PETSC_INTERN void      PolderKeysSort_Host(PetscInt m, PolderPairs pairs, PetscInt64 key[], PetscInt64 sorted[], PetscInt *nunique);
POLDER_LAUNCHER int    PolderKeysSort_CUDA(PetscInt m, PolderPairs pairs, PetscInt64 key[], PetscInt64 sorted[], PetscInt *nunique, void *work, size_t bytes,
                                           PolderStream stream);
POLDER_LAUNCHER size_t PolderKeysSortWork_CUDA(PetscInt m);
/* label[i] <- position of the key of row i in sorted[], -1 for a row without key; *d <- number of keys (not written when m is 0) */
PETSC_INTERN void   PolderKeysFind_Host(PetscInt m, PolderPairs pairs, const PetscInt64 sorted[], const PetscInt *nunique, PetscInt label[], PetscInt *d);
POLDER_LAUNCHER int PolderKeysFind_CUDA(PetscInt m, PolderPairs pairs, const PetscInt64 sorted[], const PetscInt *nunique, PetscInt label[], PetscInt *d,
                                        PolderStream stream);

/* count[label[i]] += 1 */
PETSC_INTERN void   PolderRegionSizes_Host(PetscInt m, const PetscInt label[], PetscInt count[]);
POLDER_LAUNCHER int PolderRegionSizes_CUDA(PetscInt m, const PetscInt label[], PetscInt count[], PolderStream stream);
/* summary <- the number of counts that are at least tiny, and the index of the first of the largest counts, -1 when n is 0 */
PETSC_INTERN void   PolderRegionSummary_Host(PetscInt n, const PetscInt count[], PetscInt tiny, PetscInt summary[2]);
POLDER_LAUNCHER int PolderRegionSummary_CUDA(PetscInt n, const PetscInt count[], PetscInt tiny, PetscInt summary[2], PolderStream stream);
/* comp[i] = -2 in regions of fewer than `tiny` rows */
PETSC_INTERN void   PolderRegionsMarkTiny_Host(PetscInt m, const PetscInt label[], const PetscInt count[], PetscInt tiny, PetscInt comp[]);
POLDER_LAUNCHER int PolderRegionsMarkTiny_CUDA(PetscInt m, const PetscInt label[], const PetscInt count[], PetscInt tiny, PetscInt comp[], PolderStream stream);
/*
  next[i] <- the region with comp >= 0 to which row i has its strongest entry (the smallest of equal ones), -1 when there is none; rows of comp[i] = -2 only.
  ghost[] has the regions of the columns of the block B; B.i = NULL: none
*/
PETSC_INTERN void   PolderRegionsNext_Host(PolderRows A, PolderRows B, const PetscInt comp[], const PetscInt ghost[], PetscInt next[]);
POLDER_LAUNCHER int PolderRegionsNext_CUDA(PolderRows A, PolderRows B, const PetscInt comp[], const PetscInt ghost[], PetscInt next[], PolderStream stream);
/* comp[i] <- next[i] where comp[i] = -2 and next[i] >= 0 */
PETSC_INTERN void   PolderRegionsJoin_Host(PetscInt m, const PetscInt next[], PetscInt comp[]);
POLDER_LAUNCHER int PolderRegionsJoin_CUDA(PetscInt m, const PetscInt next[], PetscInt comp[], PolderStream stream);

/*
  Strides of a stencil, the distances |j - i| of its entries: near[0] <- 1 when one of them is 1, near[1] <- the smallest above 1, near[2] <- the largest,
  combined with the values already in near[].
*/
PETSC_INTERN void   PolderStencilStrides_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt near[3]);
POLDER_LAUNCHER int PolderStencilStrides_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt near[3], PolderStream stream);
/*
  Sets *bad when an off-diagonal entry has none of the distances 1, near[1], near[2], or couples the end of a line (plane) to the start of the next. Row i and
  column j are the points first + i and first + j
*/
PETSC_INTERN void   PolderStencilCheck_Host(PetscInt m, PetscInt first, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt *bad);
POLDER_LAUNCHER int PolderStencilCheck_CUDA(PetscInt m, PetscInt first, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt *bad,
                                            PolderStream stream);
