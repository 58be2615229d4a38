/*
  Launchers of the device kernels, grouped by file. Sizes, raw device pointers and a stream: no PETSc objects, no allocation, no waiting.
  Each returns a cudaError_t as int and is the twin of the host kernel of the same stem (src/kernels/kernels.h).
*/
#pragma once

#include "../src/kernels/pairrow.h"
#include "../src/kernels/levelmatrix.h"
#include "../src/kernels/rrbrow.h"

typedef struct CUstream_st *PolderStream;

#if defined(__cplusplus)
  #define POLDER_LAUNCHER extern "C" PETSC_VISIBILITY_INTERNAL
#else
  #define POLDER_LAUNCHER PETSC_INTERN
#endif

/* Bytes of scratch of any launcher that reduces; zeroed once by its owner, left as it was by every launch, so that it can be shared on one stream */
POLDER_LAUNCHER size_t PolderReduceWork_CUDA(void);

/* vec.cu */
/* *dot = (x, y), a device scalar */
POLDER_LAUNCHER int PolderDot_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream);
/* *norm, in shared memory, <- ||x||, infinity for NaN */
POLDER_LAUNCHER int PolderNorm_CUDA(PetscInt n, const PetscScalar x[], volatile PetscReal *norm, void *work, PolderStream stream);

/* Words of 32 bits from device memory into shared memory, and then zero into *arrived there */
POLDER_LAUNCHER int PolderSend_CUDA(int words, const void *from, void *to, volatile PetscReal *arrived, PolderStream stream);

/* csr.cu */
/*
  z[i] = y[i] + alpha (row i of a CSR matrix) . x for the n rows i = row[k]; row = NULL: i = k. y = NULL stands for zero and may be z. nz tells how long rows are:
  it is their number of entries in all. dot != NULL: a device scalar that becomes (row = NULL) or is raised by the sum of p[i] (row i) . x
*/
POLDER_LAUNCHER int PolderCsrMult_CUDA(PetscInt n, const PetscInt row[], PetscInt nz, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], const PetscScalar p[], PetscScalar *dot, void *work, PolderStream stream);
/* d[i] = entry (i, i), zero where there is none */
POLDER_LAUNCHER int PolderCsrDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[], PolderStream stream);
/* y[i] = (add: y[i], else 0) + sum |a_ij x_j| */
POLDER_LAUNCHER int PolderCsrMagnitude_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar x[], PetscBool add, PetscScalar y[], PolderStream stream);
/* y[k] = x[index[k]] */
POLDER_LAUNCHER int PolderGather_CUDA(PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* aa[k] = (insert: 0, else aa[k]) + the sum of v[perm[e]], e = map[k] .. map[k+1]; map = NULL: v[k] */
POLDER_LAUNCHER int PolderCooSum_CUDA(PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[], PolderStream stream);
/* aa[k] = (insert: 0, else aa[k]) + v[k + skip[s]] in the stretch first[s] <= k < first[s+1] of n, first[n] = nz */
POLDER_LAUNCHER int PolderCooTake_CUDA(PetscInt nz, PetscInt n, const PetscInt first[], const PetscInt skip[], const PetscScalar v[], PetscBool insert, PetscScalar aa[], PolderStream stream);
/* The numbers k < n with mark[k] != 0, in any order, as far as `most` goes; *count, zero on entry, becomes the number of all */
POLDER_LAUNCHER int PolderMarkedList_CUDA(PetscInt n, const char mark[], PetscInt most, PetscInt list[], PetscInt *count, PolderStream stream);
/*
  cg.cu: conjugate gradients whose scalars stay on the device. The host reads a norm a step from a ring in pinned memory that the device writes.
  A step that the tolerance, or a breakdown, forbids changes nothing: the state is frozen, so the host may be any number of steps behind.
*/
#define POLDER_CG_RING 1024
/* So many steps apart r loses its mean in kernels that make many, where the constant is the kernel of A */
#define POLDER_CG_MEAN 8
enum {
  POLDER_CG_RUNNING = 0,
  POLDER_CG_TOLERANCE,      /* norm <= tol or norm >= divtol */
  POLDER_CG_INDEFINITE_MAT, /* (p, w) <= 0 */
  POLDER_CG_INDEFINITE_PC,  /* (r, z) <= 0 */
  POLDER_CG_NOTFINITE       /* one of them is not a number */
};

typedef struct {
  PetscScalar         rho, rhoold, beta, alpha, pw; /* alpha: of the last step, not yet in x */
  PetscScalar         mean, pmean;                  /* of z, to be taken from it; of p, to be taken from it in the next direction instead */
  PetscScalar         lastalpha, lastbeta;          /* of the last step and its direction, for the Ritz values */
  PetscScalar         sum[4];                       /* of this process: (r, r), (r, z), sum z, sum r */
  PetscReal           tol, divtol;
  PetscInt            its, minits, N;
  int                 frozen, nullspace; /* nullspace: the constant is the kernel of A */
  int                 natural;           /* the norm is sqrt((r, z)), else that of r */
  volatile PetscReal *ring;              /* the norm of step k at k % POLDER_CG_RING: NaN until it is there, infinity for NaN, -POLDER_CG_... for a breakdown */
} PolderCGState;

/* For kernels that make z and its sums on the way: (r, z) goes to sum[1], the sum of z, where they make it, to sum[2], and rho, mean and beta follow as in PolderCGRho_CUDA() */
typedef struct {
  PolderCGState *state;
  PetscBool      first;
} PolderCGRho;

/* *state <- *from, which is on the host, without waiting */
POLDER_LAUNCHER int PolderCGBegin_CUDA(const PolderCGState *from, PolderCGState *state, PolderStream stream);
/* Of the preconditioned residual: z or, when dinv != NULL, dinv z */
/* p <- z - mean + beta p and x <- x + alpha p with the old p; first: p <- z - mean */
POLDER_LAUNCHER int PolderCGDirection_CUDA(PetscInt n, PetscBool first, const PetscScalar z[], const PetscScalar dinv[], PetscScalar p[], PetscScalar x[], PolderCGState *state, PolderStream stream);
/* alpha <- rho / pw, r <- r - alpha w and the sums; diagonal: z is r times dinv (NULL: r itself), so all four sums, else (r, r) and sum r */
POLDER_LAUNCHER int PolderCGUpdate_CUDA(PetscInt n, const PetscScalar w[], PetscScalar r[], PetscBool diagonal, const PetscScalar dinv[], PetscBool parallel, PolderCGState *state, void *work, PolderStream stream);
/* The sums (r, z), sum z, sum r, then rho, mean and beta; first: beta is 0 */
POLDER_LAUNCHER int PolderCGRho_CUDA(PetscInt n, const PetscScalar r[], const PetscScalar z[], const PetscScalar dinv[], PetscBool first, PetscBool parallel, PolderCGState *state, void *work, PolderStream stream);
/* parallel: what the two above leave to do when sum[] holds the sums over all processes */
POLDER_LAUNCHER int PolderCGAdvance_CUDA(PetscBool update, PetscBool rho, PetscBool first, PolderCGState *state, PolderStream stream);
/* x <- x + alpha p, alpha <- 0 */
POLDER_LAUNCHER int PolderCGFinish_CUDA(PetscInt n, const PetscScalar p[], PetscScalar x[], PolderCGState *state, PolderStream stream);
/* r <- r - sum r / N with the sum of the last step, unless that is nothing beside the norm of r */
#define POLDER_CG_NOMEAN 1e-10 /* the norm of the mean over that of r */
POLDER_LAUNCHER int PolderCGRemoveMean_CUDA(PetscInt n, PetscScalar r[], const PolderCGState *state, PolderStream stream);
/* components.cu: connected components of the rows of a CSR matrix; parent[i] <- the smallest row of the component of row i */
/* an entry joins its row and column when their class is the same; rows of negative class get -1 */
POLDER_LAUNCHER int PolderComponentsByClass_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt cls[], PetscInt parent[], PolderStream stream);
/* a nonzero entry joins its row and column when their scales differ by at most the factor jump; rows of scale 0 get -1 */
POLDER_LAUNCHER int PolderComponentsByScale_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar scale[], PetscReal jump, PetscInt parent[], PolderStream stream);
/* scale[i] = max(scale[i], max_j |a_ij|), j != i when skipdiag is set */
POLDER_LAUNCHER int PolderRowScale_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool skipdiag, PetscScalar scale[], PolderStream stream);

/* labels.cu; m rows, unless said otherwise. Results in device memory, like everything but sizes */
POLDER_LAUNCHER int PolderIndexFill_CUDA(PetscInt m, PetscInt value, PetscInt a[], PolderStream stream);
/* a[i] == from becomes to */
POLDER_LAUNCHER int PolderIndexReplace_CUDA(PetscInt m, PetscInt from, PetscInt to, PetscInt a[], PolderStream stream);
/* range <- least and greatest of its entries and of a[] */
POLDER_LAUNCHER int PolderIndexRange_CUDA(PetscInt m, const PetscInt a[], PetscInt range[2], PolderStream stream);
/* cls[i] = 1 where the level set is positive, else outside; *bad is raised when a value is not a number */
POLDER_LAUNCHER int PolderLevelSetClass_CUDA(PetscInt m, const PetscScalar phi[], PetscInt outside, PetscInt cls[], PetscInt *bad, PolderStream stream);
/* cls[i] = -1 for rows that couple to no other; bi = NULL: no second block */
POLDER_LAUNCHER int PolderLoneRows_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt bi[], PetscInt cls[], PolderStream stream);
/* label[i] = v[i] rounded, -2 where that is no label */
POLDER_LAUNCHER int PolderLabelsRound_CUDA(PetscInt m, const PetscScalar v[], PetscInt label[], PolderStream stream);
/*
  Row i is unknown first + i, dof of them a point, of the points lo <= x < hi (x fastest) of a grid of n points, cut into boxes:
  part[i] = number of its box (x fastest) * dof + place in the point. All sizes are on the host
*/
POLDER_LAUNCHER int PolderGridBoxes_CUDA(PetscInt m, PetscInt first, PetscInt dof, const PetscInt lo[3], const PetscInt hi[3], const PetscInt n[3], const PetscInt boxes[3], PetscInt part[], PolderStream stream);
/* part[i] = point * dof + c becomes r * dof + c, r being the one of count runs of the points in which point lies */
POLDER_LAUNCHER int PolderGridRuns_CUDA(PetscInt m, PetscInt dof, PetscInt64 points, PetscInt count, PetscInt part[], PolderStream stream);
/* The key of row i is part[i] * ncomp + comp[i], none where one is negative; NULL stands for zeros. mark[key] <- 1 */
POLDER_LAUNCHER int PolderKeysMark_CUDA(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt mark[], PolderStream stream);
/* mark[0..n) <- sums of the entries before each; work of PolderKeysScanWork_CUDA() bytes */
POLDER_LAUNCHER int    PolderKeysScan_CUDA(PetscInt n, PetscInt mark[], void *work, size_t bytes, PolderStream stream);
POLDER_LAUNCHER size_t PolderKeysScanWork_CUDA(PetscInt n);
/* label[i] <- number[key], -1 for a row without key; label may be part or comp */
POLDER_LAUNCHER int PolderKeysLabel_CUDA(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], const PetscInt number[], PetscInt label[], PolderStream stream);
/* sorted[0..*nunique) <- the keys that occur, ascending; npart * ncomp at the end when a row has no key. key[m] is scratch, as is work of PolderKeysSortWork_CUDA() bytes */
POLDER_LAUNCHER int    PolderKeysSort_CUDA(PetscInt m, const PetscInt part[], PetscInt64 npart, PetscInt ncomp, const PetscInt comp[], PetscInt64 key[], PetscInt64 sorted[], PetscInt *nunique, void *work, size_t bytes, PolderStream stream);
POLDER_LAUNCHER size_t PolderKeysSortWork_CUDA(PetscInt m);
/* label[i] <- place of the key of row i in sorted[], -1 for a row without key; *d <- number of keys (not written when m is 0) */
POLDER_LAUNCHER int PolderKeysFind_CUDA(PetscInt m, const PetscInt part[], PetscInt64 npart, PetscInt ncomp, const PetscInt comp[], const PetscInt64 sorted[], const PetscInt *nunique, PetscInt label[], PetscInt *d, PolderStream stream);
/* count[label[i]] += 1 */
POLDER_LAUNCHER int PolderRegionSizes_CUDA(PetscInt m, const PetscInt label[], PetscInt count[], PolderStream stream);
/* summary <- how many of the n counts are at least tiny; the first of the largest, -1 when n is 0 */
POLDER_LAUNCHER int PolderRegionSummary_CUDA(PetscInt n, const PetscInt count[], PetscInt tiny, PetscInt summary[2], PolderStream stream);
/* comp[i] = -2 in regions of fewer than tiny rows */
POLDER_LAUNCHER int PolderRegionsMarkTiny_CUDA(PetscInt m, const PetscInt label[], const PetscInt count[], PetscInt tiny, PetscInt comp[], PolderStream stream);
/* next[i] <- the region with comp >= 0 to which row i has its strongest entry (the smallest of equal ones), -1 when there is none; rows of comp[i] = -2 only */
POLDER_LAUNCHER int PolderRegionsNext_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt comp[], PetscInt next[], PolderStream stream);
/* comp[i] <- next[i] where comp[i] = -2 and next[i] >= 0 */
POLDER_LAUNCHER int PolderRegionsJoin_CUDA(PetscInt m, const PetscInt next[], PetscInt comp[], PolderStream stream);
/* Distances |j - i| of the entries: near[0] <- 1 when one is 1, near[1] <- the smallest above 1, near[2] <- the largest, unless the value there is larger (near[1]: smaller) */
POLDER_LAUNCHER int PolderStencilStrides_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt near[3], PolderStream stream);
/* *bad is raised when an entry is not on the diagonal, has none of the distances 1, near[1], near[2], or couples the end of a line (plane) with the start of the next */
POLDER_LAUNCHER int PolderStencilCheck_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt *bad, PolderStream stream);
/* pairs.cu, as on the host (src/kernels/pairs.c); counts, near[] but that of PolderPairsPlaces_CUDA(), and bad are device memory. *bad: zero on entry */
POLDER_LAUNCHER int PolderPairsPropose_CUDA(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[], const PolderPairRule *rule, const PetscInt mate[], PetscInt next[], PolderStream stream);
/* left[], in any order, is not row[] */
POLDER_LAUNCHER int PolderPairsMatch_CUDA(PetscInt n, const PetscInt row[], const PetscInt next[], PetscInt mate[], PetscInt left[], PetscInt *count, PolderStream stream);
POLDER_LAUNCHER int PolderPairsSingle_CUDA(PetscInt n, const PetscInt row[], PetscInt mate[], PolderStream stream);
POLDER_LAUNCHER int PolderPairsDirections_CUDA(PetscInt m, const PolderPairRule *rule, const PetscInt next[], PetscInt count[3], PolderStream stream);
POLDER_LAUNCHER int PolderPairsAlign_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PolderPairRule *rule, const PetscInt count[3], const PetscInt mate[], PetscInt next[], PolderStream stream);
POLDER_LAUNCHER int PolderPairsPlaces_CUDA(PetscInt m, PetscInt shift, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt64 place[], PetscInt *bad, PolderStream stream);
/* next[] is not place[] */
POLDER_LAUNCHER int PolderPairsNextPlaces_CUDA(PetscInt m, const PetscInt mate[], const PetscInt join[], const PetscInt agg[], const PetscInt count[3], const PetscInt64 place[], PetscInt64 next[], PolderStream stream);
POLDER_LAUNCHER int PolderPairsJoin_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[], const PolderPairRule *rule, const PetscInt mate[], PetscInt join[], PolderStream stream);
POLDER_LAUNCHER int PolderPairsCompose_CUDA(PetscInt m, PetscInt n, const PetscInt next[], PetscInt nc, PetscInt agg[], PolderStream stream);
/* work of PolderPairsWork_CUDA() bytes for m rows, also for PolderPointers_CUDA() of up to m + 1 */
POLDER_LAUNCHER size_t PolderPairsWork_CUDA(PetscInt m);
POLDER_LAUNCHER int    PolderPairsNumber_CUDA(PetscInt m, const PetscInt mate[], const PetscInt join[], PetscInt agg[], PetscInt *count, void *work, size_t bytes, PolderStream stream);
/* row[ptr[a] .. ptr[a + 1]) <- the rows of aggregate a, ascending; agg[i] = n is none, ptr[n + 2]; key[m] and number[m] are scratch */
POLDER_LAUNCHER int PolderMembers_CUDA(PetscInt m, const PetscInt agg[], PetscInt n, PetscInt ptr[], PetscInt row[], PetscInt key[], PetscInt number[], void *work, size_t bytes, PolderStream stream);
/* colours.cu, as on the host (src/kernels/colours.c); counts and bad are device memory. *bad: zero on entry */
POLDER_LAUNCHER int PolderColoursRound_CUDA(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], PetscInt colour[], PetscInt left[], PetscInt *count, PolderStream stream);
POLDER_LAUNCHER int PolderColoursPlaces_CUDA(PetscInt n, const PetscInt64 place[], PetscInt colour[], PolderStream stream);
POLDER_LAUNCHER int PolderColoursCheck_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[], PetscInt *bad, PolderStream stream);
/* excess.cu: as on the host (src/kernels/excess.c) */
POLDER_LAUNCHER int PolderExcessRows_CUDA(PetscInt n, const PetscInt ai[], const PetscScalar aa[], PetscReal excess[], PetscReal size[], PolderStream stream);
POLDER_LAUNCHER int PolderExcessOuterRows_CUDA(const PolderOuterRows *, PetscReal excess[], PetscReal size[], PolderStream stream);
POLDER_LAUNCHER int PolderExcessEnd_CUDA(PetscInt n, const PetscInt ai[], PetscBool kernel, PetscReal excess[], const PetscReal size[], PolderStream stream);
POLDER_LAUNCHER int PolderExcessAggregates_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscReal excess[], const PetscReal size[], PetscReal coarse[], PetscReal coarsesize[], PolderStream stream);
POLDER_LAUNCHER int PolderExcessLeave_CUDA(PetscInt n, const PetscInt row[], const PetscReal lone[], const PetscReal outer[], PetscReal excess[], PetscReal here[], PolderStream stream);
POLDER_LAUNCHER int PolderExcessDiagonal_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[], PetscScalar aa[], PolderStream stream);

/* outer.cu: entries to other processes by the rows that have any, as on the host (src/kernels/outer.c); PolderOuterRows and PolderOuterSum are on the host, what they lead to on the device */
/* row[] and start[] in any order, which is the same for both; room for as many as there are entries */
POLDER_LAUNCHER int PolderOuterFind_CUDA(PetscInt n, const PetscInt ptr[], PetscInt row[], PetscInt start[], PetscInt *count, PolderStream stream);
POLDER_LAUNCHER int PolderIndexGather_CUDA(PetscInt n, const PetscInt index[], const PetscInt from[], PetscInt to[], PolderStream stream);
POLDER_LAUNCHER int PolderOuterStrength_CUDA(const PolderOuterRows *, PetscReal outside[], PolderStream stream);
POLDER_LAUNCHER int PolderPairsNextOutside_CUDA(PetscInt nc, const PetscInt ptr[], const PetscInt row[], const PetscReal outside[], PetscReal next[], PolderStream stream);
POLDER_LAUNCHER int PolderOuterLevelRows_CUDA(const PolderOuterRows *, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool zero, PetscBool l1, PetscReal lone, PetscReal dinv[], PetscReal d[], PetscReal sum[], PetscInt mate[], PetscReal *bound, PetscInt64 *bad, PolderStream stream);
POLDER_LAUNCHER int PolderOuterTotals_CUDA(const PolderOuterRows *, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool rows, float to[], int *large, PolderStream stream);
/* Of a level of a cycle, see level.cu for single and work; in PolderLevelOuterRestrict_CUDA() own is x */
POLDER_LAUNCHER int PolderLevelOuterAdd_CUDA(PetscBool single, const PolderOuterRows *, const PolderOuterSum *, void *z, PolderStream stream);
POLDER_LAUNCHER int PolderLevelOuterRestrict_CUDA(PetscBool single, const PolderOuterRows *, PetscInt n, const PetscInt target[], const PetscInt ptr[], const PetscInt member[], const void *own, const void *ghost, void *bc, PolderStream stream);
POLDER_LAUNCHER int PolderLevelOuterDots_CUDA(PetscBool single, const PolderOuterRows *, PetscBool second, const void *ghost, const void *x, const void *b, void *v, PetscReal sum[], void *work, PolderStream stream);
/* galerkin.cu: the rows of P^T A P, see src/kernels/galerkin.c; n aggregates, agg[] = n for none */
/* ptr[0] <- 0, ptr[a + 1] <- sum of the lengths up to there, from the lengths in ptr[1 .. n] */
POLDER_LAUNCHER int PolderPointers_CUDA(PetscInt n, PetscInt ptr[], void *work, size_t bytes, PolderStream stream);
/* Rows of more entries than POLDER_COARSE_ROW are left to a warp each: so many warps at most, a multiple of 8, each with scratch of width entries */
#define POLDER_COARSE_FEW   16 /* that a thread keeps in registers */
#define POLDER_COARSE_ROW   48
#define POLDER_COARSE_WARPS 4096
/* length[a + 1] <- entries of coarse row a, -1 for one of more than POLDER_COARSE_ROW; info, zero on entry <- how many of these, the most entries of A that one of them sums up */
POLDER_LAUNCHER int PolderCoarseRowsCount_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscInt agg[], PetscInt length[], PetscInt info[2], PolderStream stream);
/* The lengths that are -1; scratch[warps * width] */
POLDER_LAUNCHER int PolderCoarseRowsCountLong_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscInt agg[], PetscInt length[], PetscInt warps, PetscInt width, PetscInt scratch[], PolderStream stream);
/* cj, ca <- the rows, columns ascending; warps = 0: no row is long, else also scratchval[warps * width] */
POLDER_LAUNCHER int PolderCoarseRowsFill_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscInt ci[], PetscInt cj[], PetscScalar ca[], PetscInt warps, PetscInt width, PetscInt scratch[], PetscScalar scratchval[], PolderStream stream);
/* New values in the same pattern; an entry without a place goes to the diagonal. wide: there are rows of more than POLDER_COARSE_ROW entries */
POLDER_LAUNCHER int PolderCoarseRowsValues_CUDA(PetscInt n, PetscBool wide, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscInt ci[], const PetscInt cj[], PetscScalar ca[], PolderStream stream);
/* d[i] <- diagonal entry, sum[i] <- sum of the row */
POLDER_LAUNCHER int PolderRowSums_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscReal d[], PetscReal sum[], PolderStream stream);
/* to[i] or, rows set, the place of the diagonal entry <- sum of the row in single precision; *bad is raised when it is too large */
POLDER_LAUNCHER int PolderRowTotals_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool rows, float to[], int *bad, PolderStream stream);
/* As PolderLevelRows_Host() and PolderLevelDiagonal_Host() without a second block; diag may be NULL. *bound is raised to
   Gershgorin's. *bad becomes the least of 8 i + kind over the rows i that cannot be used, if
   it was larger */
POLDER_LAUNCHER int PolderLevelRows_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool zero, PetscBool l1, PetscReal lone, PetscInt diag[], PetscReal dinv[], PetscReal d[], PetscReal sum[], PetscInt mate[], PetscReal *bound, PetscInt64 *bad, PolderStream stream);
POLDER_LAUNCHER int PolderLevelDiagonal_CUDA(PetscInt n, const PetscInt diag[], const PetscScalar aa[], PetscBool zero, PetscReal dinv[], PetscInt64 *bad, PolderStream stream);
/* Entries |a_ij| <= drop min(d_i, d_j) beside the diagonal: length[i + 1] <- entries of row i that stay, then these, the others added to the diagonal */
POLDER_LAUNCHER int PolderDropWeakCount_CUDA(PetscInt n, PetscReal drop, const PetscReal d[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscInt length[], PolderStream stream);
POLDER_LAUNCHER int PolderDropWeakFill_CUDA(PetscInt n, PetscReal drop, const PetscReal d[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt ci[], PetscInt cj[], PetscScalar ca[], PolderStream stream);
/* Keys i * n + j of the entries of n rows, and their number */
POLDER_LAUNCHER int PolderRowsKeys_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt64 key[], PetscInt *count, PolderStream stream);
/* dia.cu: val[d][i] is entry (i, i + off[d]) of an m by n matrix, read only where row and column exist; off (on the host) ascends, val is a host array of device pointers */
POLDER_LAUNCHER size_t PolderDiaMultWork_CUDA(PetscInt m);
/* z = y + alpha A x; y = NULL stands for zero and may be z. dot != NULL: *dot, on the device, is (x, A x); work is its scratch */
POLDER_LAUNCHER int PolderDiaMult_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work, PolderStream stream);
/* The same with the diagonals in single precision */
POLDER_LAUNCHER int PolderDiaMultSingle_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const float *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderStream stream);
/* s = v; *bad is raised when a finite value is too large for single precision */
POLDER_LAUNCHER int PolderToSingle_CUDA(size_t n, const PetscScalar v[], float s[], int *bad, PolderStream stream);
/* seen[j - i + m] = 1 for each entry (i, j); seen[] has m + n bytes, zero before */
POLDER_LAUNCHER int PolderDiaOffsets_CUDA(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], unsigned char seen[], PolderStream stream);
/* The values of the diagonals first .. nd, zero where there is no entry; *bad is raised when columns do not ascend, when an entry lies on no diagonal and
   when one of the diagonals below first is not the mirror image, up to tol, of what its pointer leads to; tol = infinity: entries there are not looked at */
POLDER_LAUNCHER int PolderDiaFill_CUDA(PetscInt m, PetscInt nd, PetscInt first, const PetscInt off[], PetscScalar *const val[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscReal tol, int *bad, PolderStream stream);

/* tns.cu: T is the strictly lower or upper part of a matrix of m rows, dinv the inverse of its diagonal; single: T and dinv are stored as float */
/* y = c - dinv (T x); c = NULL and x = NULL stand for dinv r. T by nd diagonals, as in dia.cu */
POLDER_LAUNCHER int PolderTriSweepDIA_CUDA(PetscBool single, PetscInt m, PetscInt nd, const PetscInt off[], const void *const val[], const void *dinv, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* Can two sweeps be fused? For the triangles of 5- and 7-point stencils: offsets -far, -near, -1 or 1, near, far */
static inline PetscBool PolderTriPairFits(PetscInt nd, const PetscInt off[])
{
  return (PetscBool)((nd == 2 || nd == 3) && (off[0] > 0 ? off[0] == 1 : off[nd - 1] == -1));
}
/* z = c - dinv (T (c - dinv (T c))) with c = dinv in for a lower triangle and c = in for an upper one. rho != NULL (lower only): (z, z / dinv), which is (in, K^T z)
   with the K of z = dinv K in, is the (r, z) of a state */
POLDER_LAUNCHER int PolderTriPair_CUDA(PetscBool single, PetscInt m, PetscInt nd, const PetscInt off[], const void *const val[], const void *dinv, const PetscScalar in[], PetscScalar z[], const PolderCGRho *rho, void *work, PolderStream stream);
/* The same for an upper triangle, but z goes at once into the direction of conjugate gradients: x <- x + alpha p and p <- z + beta (p - pmean) with the old p, or
   first: p <- z; then pmean <- the mean of p where the constant is the kernel of A. A state that is frozen stops that, too */
POLDER_LAUNCHER int PolderTriPairDirection_CUDA(PetscBool single, PetscInt m, PetscInt nd, const PetscInt off[], const void *const val[], const void *dinv, const PetscScalar in[], PetscBool first, PetscScalar p[], PetscScalar x[], PolderCGState *state, void *work, PolderStream stream);
/* y = dinv r */
POLDER_LAUNCHER int PolderTriScale_CUDA(PetscBool single, PetscInt m, const void *dinv, const PetscScalar r[], PetscScalar y[], PolderStream stream);
/* y = c - dinv (T x) as above; diag[i] is the position of the diagonal entry of row i in CSR arrays with nz entries, columns ascend */
POLDER_LAUNCHER int PolderTriSweepCSR_CUDA(PetscBool single, PetscBool upper, PetscInt m, PetscInt nz, const PetscInt ai[], const PetscInt diag[], const PetscInt aj[], const void *aa, const void *dinv, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* y -= dinv (B ghost), B being the columns 0 .. nlow (lower) or nlow and above (upper) of the CSR matrix bi, bj, ba, rounded as T is */
POLDER_LAUNCHER int PolderTriGhosts_CUDA(PetscBool single, PetscBool upper, PetscInt m, PetscInt nlow, const PetscInt bi[], const PetscInt bj[], const PetscScalar ba[], const void *dinv, const PetscScalar ghost[], PetscScalar y[], PolderStream stream);
/* diag[i]: position of the diagonal entry of row i; *bad is raised when there is none or columns do not ascend */
POLDER_LAUNCHER int PolderTriDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt diag[], int *bad, PolderStream stream);
/* dinv[i] = 1 / aa[diag[i]] (diag = NULL: 1 / aa[i]); *bad is raised when one is not positive and finite */
POLDER_LAUNCHER int PolderTriInverse_CUDA(PetscBool single, PetscInt m, const PetscInt diag[], const PetscScalar aa[], void *dinv, int *bad, PolderStream stream);
/*
  deflation.cu: n rows in nlabel labels. The rows of a label lie together in item[], cut into segments: those of label k are first[k] .. first[k + 1],
  segment s has the positions ptr[s] .. ptr[s + 1] of item[] and belongs to label[s]. Every label has a segment, perhaps an empty one.
*/
/* row[] <- the rows with label[] >= 0, sorted by label, in each by row; those of label k are start[k] .. start[k + 1] */
POLDER_LAUNCHER size_t PolderLabelsSortWork_CUDA(PetscInt n, PetscInt nlabel);
POLDER_LAUNCHER int    PolderLabelsSort_CUDA(PetscInt n, PetscInt nlabel, const PetscInt label[], PetscInt row[], PetscInt start[], size_t bytes, void *work, PolderStream stream);
/* Segments of at most length items: first[nlabel + 1], and ptr[], label[] for at most n / length + nlabel of them */
POLDER_LAUNCHER int PolderSegmentsMake_CUDA(PetscInt nlabel, PetscInt length, const PetscInt start[], PetscInt first[], PetscInt ptr[], PetscInt label[], PolderStream stream);
/*
  This and the two others that have `early`, PolderRowsMultAdd_CUDA() and PolderDenseMult_CUDA(), are short, and follow each other in every step. early: everything but the vectors
  that they work on is older than the last launch, so that it may be read while that one ends
*/
/* a[k] = y[k] (NULL: 0; y may be a) + alpha times the sum over the items of label k of weight (NULL: 1) times v[item]; most: at least the number of segments; wide: a block makes the sum of one, not a warp; sum[most]; counter[nlabel] is zero before and after */
POLDER_LAUNCHER int PolderSegmentSums_CUDA(PetscInt nlabel, PetscInt most, PetscBool wide, const PetscInt first[], const PetscInt ptr[], const PetscInt label[], const PetscInt item[], const PetscScalar weight[], const PetscScalar v[], PetscScalar sum[], unsigned int counter[], PetscScalar alpha, const PetscScalar y[], PetscScalar a[], PetscBool early, PolderStream stream);

/*
  runs.cu: runs of rows i, i + far, i + 2 far, ... of one label. Such a line is cut into chunks of `chunk` rows, and a run does not go beyond its chunk. Line l is that of row
  l < far; its chunk k has number k far + l, and its runs follow each other
*/
typedef struct {
  PetscInt      m, far, chunk;
  unsigned int *ends;  /* bit s % 32 of word (k W + s / 32) far + l, W = ceil(chunk / 32): a run ends with row s of the chunk */
  PetscInt     *first; /* [PolderRunsChunks() + 1] run that a chunk begins with; in the end their number */
  PetscScalar  *sum;   /* of the rows of a run */
} PolderRuns;

static inline PetscInt PolderRunsChunks(const PolderRuns *r)
{
  const PetscInt steps = r->m ? (r->m - 1) / r->far + 1 : 0;

  return (steps + r->chunk - 1) / r->chunk * r->far;
}
/* ends[], and in first[] the number of runs of each chunk */
POLDER_LAUNCHER int PolderRunsCount_CUDA(const PolderRuns *, const PetscInt label[], PolderStream stream);
/* of[run] = its label */
POLDER_LAUNCHER int PolderRunsLabel_CUDA(const PolderRuns *, const PetscInt label[], PetscInt of[], PolderStream stream);
/* sum[] of v */
POLDER_LAUNCHER int PolderRunsSum_CUDA(const PolderRuns *, const PetscScalar v[], PolderStream stream);
/* Is the product with such diagonals made line by line? Then the chunks of the runs that PolderDiaMultRuns_CUDA() takes */
POLDER_LAUNCHER PetscBool PolderDiaRuns_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscInt *far, PetscInt *chunk);
/* y = A x, *dot = (x, y) and sum[] of y */
POLDER_LAUNCHER int PolderDiaMultRuns_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot, const PolderRuns *, void *work, PolderStream stream);
/* x[i] += alpha a[label[i]] where label[i] >= 0 */
POLDER_LAUNCHER int PolderLabelsProlongAdd_CUDA(PetscInt n, const PetscInt label[], PetscScalar alpha, const PetscScalar a[], PetscScalar x[], PolderStream stream);
/* v[row[k]] += alpha * (CSR row k) . a for n rows (NULL: row k is k); dot != NULL: *dot += alpha (b, a), d terms */
POLDER_LAUNCHER int PolderRowsMultAdd_CUDA(PetscInt n, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscScalar alpha, const PetscScalar a[], PetscScalar v[], PetscInt d, const PetscScalar b[], PetscScalar *dot, PetscBool early, PolderStream stream);
/* AZ for labels: count[i] entries of row i, 0 where it vanishes to rounding; flags[0] is raised when a row sum does not vanish, flags[1] when a row has no label */
POLDER_LAUNCHER int PolderLabelRowsCount_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[], PetscInt count[], int flags[], PolderStream stream);
/* row i is the k-th with entries, k = scan[i] >> 32, and these begin at scan[i] & 0xffffffff: both less what row i itself adds, since scan[] includes it */
POLDER_LAUNCHER size_t PolderRowsScanWork_CUDA(PetscInt m);
POLDER_LAUNCHER int    PolderRowsScan_CUDA(PetscInt m, const PetscInt count[], PetscInt64 scan[], size_t bytes, void *work, PolderStream stream);
/* row[k], ptr[k + 1], col[], val[] of the nrow rows with entries; the owner sets ptr[0] = 0 */
POLDER_LAUNCHER int PolderLabelRowsFill_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[], const PetscInt count[], const PetscInt64 scan[], PetscInt nrow, PetscInt row[], PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream);
/* The same two from diagonals (PolderDia; off and val are host arrays, val of device pointers); zeros are no entries. nd is at most POLDER_LABEL_DIAGONALS */
#define POLDER_LABEL_DIAGONALS 32
POLDER_LAUNCHER int PolderLabelRowsCountDia_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscInt label[], PetscInt count[], int flags[], PolderStream stream);
POLDER_LAUNCHER int PolderLabelRowsFillDia_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const dia[], const PetscInt label[], const PetscInt count[], const PetscInt64 scan[], PetscInt nrow, PetscInt row[], PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream);
/* E = Z^T (AZ) for labels: the *n entries ekey = i * d + j (ascending), eval; room for nz + 1. ptr[nrow] = nz */
POLDER_LAUNCHER size_t PolderGalerkinWork_CUDA(PetscInt d, PetscInt nz);
POLDER_LAUNCHER int    PolderGalerkin_CUDA(PetscInt d, PetscInt nrow, PetscInt nz, const PetscInt label[], const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscInt *n, PetscInt64 ekey[], PetscScalar eval[], size_t bytes, void *work, PolderStream stream);
/* item[p], weight[p] <- row and value of the entry[p]-th entry of a CSR matrix of nrow rows (row = NULL: row k is k) */
POLDER_LAUNCHER int PolderEntriesGather_CUDA(PetscInt nz, PetscInt nrow, const PetscInt row[], const PetscInt ptr[], const PetscScalar val[], const PetscInt entry[], PetscInt item[], PetscScalar weight[], PolderStream stream);

/* coarse.cu, and coarseinverse.cu for the inverse: dense symmetric d x d matrices in arrays of ld x ld, ld a multiple of POLDER_SWEEP; info[] is for the host */
#define POLDER_SWEEP 64
enum {
  POLDER_COARSE_NZERO,
  POLDER_COARSE_NNULL,
  POLDER_COARSE_NDEP, /* columns left out: zero, kernel, dependent */
  POLDER_COARSE_BAD,  /* an entry is infinite or not a number */
  POLDER_COARSE_COND,
  POLDER_COARSE_RESID,
  POLDER_COARSE_INFO
};
/* E (zeroed) <- the *n entries key = i * d + j; keys d * d and above are none */
POLDER_LAUNCHER int PolderCoarseDense_CUDA(PetscInt d, PetscInt ld, const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PetscScalar E[], PolderStream stream);
/* E <- (E + E^T)/2, S = D E D; scale: the diagonal of D, E_ii^-1/2, or 0 where E_ii is at most zero times the largest, and for nullspace in the last column. Sets NZERO, NNULL, NDEP, BAD */
POLDER_LAUNCHER int PolderCoarseScale_CUDA(PetscInt d, PetscInt ld, PetscReal zero, PetscBool nullspace, PetscScalar E[], PetscScalar scale[], PetscScalar S[], PetscScalar info[], PolderStream stream);
/* A <- D A^-1 D without the columns whose scale is 0 or whose pivot falls to tol: these get scale 0 and count in NDEP */
POLDER_LAUNCHER size_t PolderCoarseInvertWork_CUDA(PetscInt ld);
POLDER_LAUNCHER int    PolderCoarseInvert_CUDA(PetscInt d, PetscInt ld, PetscReal tol, PetscScalar A[], PetscScalar scale[], PetscScalar info[], void *work, PolderStream stream);
/* z = y + alpha A x; y = NULL stands for zero and may be z. x is aligned to 16 bytes */
POLDER_LAUNCHER int PolderDenseMult_CUDA(PetscInt n, PetscInt ld, PetscScalar alpha, const PetscScalar A[], const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscBool early, PolderStream stream);
/* symmetric.cu: the same where A is symmetric, with half the bytes; for large n. What fills A beyond n is finite; the work begins as zeros */
#define POLDER_SYMMETRIC_LEAST 1024
POLDER_LAUNCHER size_t PolderSymmetricMultWork_CUDA(PetscInt ld);
POLDER_LAUNCHER int    PolderSymmetricMult_CUDA(PetscInt n, PetscInt ld, PetscScalar alpha, const PetscScalar A[], const PetscScalar x[], const PetscScalar y[], PetscScalar z[], void *work, PetscBool early, PolderStream stream);
/* b <- a test vector on the columns in use; norms[0 .. d), [d .. 2 d) <- the row sums of |D E D| and of its inverse D^-1 X D^-1 */
POLDER_LAUNCHER int PolderCoarseNorms_CUDA(PetscInt d, PetscInt ld, const PetscScalar E[], const PetscScalar X[], const PetscScalar scale[], PetscScalar b[], PetscScalar norms[], PolderStream stream);
/* COND = max norms * max norms, RESID = |D (b - y)| / |D b| */
POLDER_LAUNCHER int PolderCoarseAssess_CUDA(PetscInt d, const PetscScalar scale[], const PetscScalar norms[], const PetscScalar b[], const PetscScalar y[], PetscScalar info[], PolderStream stream);
/* L <- D E D with rows and columns of the identity where scale is 0 */
POLDER_LAUNCHER int PolderCoarseIdentity_CUDA(PetscInt d, PetscInt ld, const PetscScalar E[], const PetscScalar scale[], PetscScalar L[], PolderStream stream);
/* z = x .* y */
POLDER_LAUNCHER int PolderPointwiseMult_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderStream stream);
/* cuSOLVER's Cholesky factor of one triangle, in place (work bytes), and x <- (L L^T)^-1 x with it */
POLDER_LAUNCHER size_t PolderCholeskyFactorWork_CUDA(PetscInt n, PetscInt ld);
POLDER_LAUNCHER int    PolderCholeskyFactor_CUDA(PetscInt n, PetscInt ld, PetscScalar A[], size_t bytes, void *work, PolderStream stream);
POLDER_LAUNCHER int    PolderCholeskySolve_CUDA(PetscInt n, PetscInt ld, const PetscScalar L[], PetscScalar x[], PolderStream stream);
/* icrs.cu: what a product of aijicrs and aijhec reads on the device, filled by the launchers below; rows and columns are ints there */
#define POLDER_SEGMENT 1024 /* entries of a segment, at most */
typedef struct {
  PetscInt              m;
  int                   nslice;
  const int            *row;  /* [m] row at each place of the slices, -1 for none; NULL: rows in their order */
  const int            *ptr;  /* [nslice + 1] first step of each slice; a step holds an entry of each of 32 rows */
  const int            *unit; /* [nslice + 1] first unit of 64 bytes of its columns: one a step when they are 16-bit distances from base, else two */
  const int            *base; /* least column of each step */
  const unsigned short *col;
  const PetscScalar    *val;
  int                   nlong, nseg;   /* rows that are no part of slices, and segments that they are cut into */
  const int            *lrow, *first;  /* [nlong] the row, [nlong + 1] its first segment */
  const int            *owner, *start; /* [nseg] number of the long row, [nseg + 1] first entry */
  const int            *lcol;
  const PetscScalar    *lval;
  PetscScalar          *part;    /* [nseg] scratch */
  unsigned int         *counter; /* [nlong] scratch, zero between launches */
} PolderSlices;

/* a[0] = 0, a[k] <- a[1] + .. + a[k] for k = 1 .. n; work of PolderScanWork_CUDA(n) bytes */
POLDER_LAUNCHER size_t PolderScanWork_CUDA(PetscInt n);
POLDER_LAUNCHER int    PolderScan_CUDA(PetscInt n, int a[], void *work, size_t bytes, PolderStream stream);
/* count[min(length, nbin - 1)] += rows of that length */
POLDER_LAUNCHER int PolderRowHistogram_CUDA(PetscInt m, const PetscInt ai[], int nbin, int count[], PolderStream stream);
/* row[]: the rows of each window of 1024 in the order of falling length; those longer than cap (< 2^20) last, as -1 */
POLDER_LAUNCHER int PolderSlicesSort_CUDA(PetscInt m, int cap, const PetscInt ai[], int row[], PolderStream stream);
/* Counts for PolderScan_CUDA(): ptr[s + 1] = steps of slice s, unit[s + 1] = units of its columns */
POLDER_LAUNCHER int PolderSlicesSize_CUDA(PetscInt m, int nslice, const int row[], const PetscInt ai[], const PetscInt aj[], int ptr[], int unit[], PolderStream stream);
/* Columns and values; col = NULL: values only */
POLDER_LAUNCHER int PolderSlicesFill_CUDA(PetscInt m, int nslice, const int row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const int ptr[], const int unit[], int base[], unsigned short col[], PetscScalar val[], PolderStream stream);
/* Counts for PolderScan_CUDA(): entries, segments and 1 for rows longer than cap, else 0 */
POLDER_LAUNCHER int PolderLongRowsCount_CUDA(PetscInt m, int cap, const PetscInt ai[], int entry[], int segment[], int lrow[], PolderStream stream);
/* From their sums */
POLDER_LAUNCHER int PolderLongRowsMake_CUDA(PetscInt m, const int entry[], const int segment[], const int lrow[], int row[], int first[], int owner[], int start[], PolderStream stream);
/* Columns and values; col = NULL: values only */
POLDER_LAUNCHER int PolderLongRowsFill_CUDA(int nseg, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const int row[], const int first[], const int owner[], const int start[], int col[], PetscScalar val[], PolderStream stream);
/* z = y + alpha A x; y = NULL stands for zero and may be z; dot != NULL: *dot = (x, A x) */
POLDER_LAUNCHER int PolderSlicesMult_CUDA(const PolderSlices *S, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work, PolderStream stream);

/* cgsmall.cu: for a diagonal preconditioner and at most POLDER_CGSMALL_DIAGONALS diagonals, many steps in one kernel */
#define POLDER_CGSMALL_DIAGONALS 9
/* Largest number of rows that this device takes; 0: none */
POLDER_LAUNCHER PetscInt PolderCGSmallMost_CUDA(void);
/* count steps, or as many as the tolerance allows; alpha p is in x already. off and val on the host, val[d] on the device as for PolderDiaMult_CUDA() */
POLDER_LAUNCHER int PolderCGSmall_CUDA(PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscScalar dinv[], PetscBool first, PetscInt count, PetscScalar x[], PetscScalar r[], PetscScalar p[], PolderCGState *state, void *work, PolderStream stream);

/*
  level.cu: one level of a multigrid cycle, see levelmatrix.h and levelscalars.h: matrix and vectors in double precision or, single, in float. Vectors that are written are none of
  those that are read, unless said otherwise
*/
/* Diagonals that these kernels take; a matrix of more is read by rows */
#define POLDER_LEVEL_DIAGONALS 32
/* x = scale D^-1 b */
POLDER_LAUNCHER int PolderLevelScale_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscReal scale, const void *b, void *x, PolderStream stream);
/* y = x_{k+1} from x = x_k; y = x_{k-1} before when k > 1 (zero: k > 2), and beta != 0. zero: x is not read in step 1. step->wide != NULL: there instead of to y */
POLDER_LAUNCHER int PolderLevelJacobi_CUDA(PetscBool single, const PolderLevelMatrix *A, const PolderLevelStep *step, const void *b, const void *x, void *y, PolderStream stream);
/* A colour of a Gauss-Seidel sweep, x += D^-1 (b - A x) on its n rows row[], none of which reads another; and x = D^-1 b on the first rows of row[], zero on the others, of all rows */
POLDER_LAUNCHER int PolderLevelColour_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt n, const PetscInt row[], const void *b, void *x, PolderStream stream);
POLDER_LAUNCHER int PolderLevelColourFirst_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt first, const PetscInt row[], const void *b, void *x, PolderStream stream);
/* b - A x: to r (NULL: not wanted; may be b) and, ptr != NULL, summed over the rows row[ptr[a] .. ptr[a + 1]) to bc[a], a < nc; bc[nc] = 0. r and bc not both */
POLDER_LAUNCHER int PolderLevelResidual_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *b, const void *x, void *r, const PetscInt ptr[], const PetscInt row[], PetscInt nc, void *bc, PolderStream stream);
/* x += scale xc[agg[i]] where agg[i] < nc */
POLDER_LAUNCHER int PolderLevelProlong_CUDA(PetscBool single, PetscInt n, const PetscInt agg[], PetscInt nc, PetscReal scale, const void *xc, void *x, PolderStream stream);
/* v = A x; sum, in device memory, <- (x, v), (x, b), and (x, w) or, without w, (b, b), (b, v), (v, v) */
POLDER_LAUNCHER int PolderLevelMultDots_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *x, const void *b, const void *w, void *v, PetscReal sum[], void *work, PolderStream stream);
/* y = alpha x + beta y */
POLDER_LAUNCHER int PolderLevelCombine_CUDA(PetscBool single, PetscInt n, PetscReal alpha, PetscReal beta, const void *x, void *y, PolderStream stream);
POLDER_LAUNCHER int PolderLevelKFirst_CUDA(PetscBool single, PetscInt n, PetscReal threshold, const PetscReal sum[], const void *v, void *b, PolderStream stream);
POLDER_LAUNCHER int PolderLevelKSecond_CUDA(PetscBool single, PetscInt n, PetscReal threshold, const PetscReal sum[], const void *w, void *x, PolderStream stream);
/* y = x in the other precision */
POLDER_LAUNCHER int PolderLevelRound_CUDA(PetscInt n, const PetscScalar x[], float y[], PolderStream stream);
POLDER_LAUNCHER int PolderLevelWiden_CUDA(PetscInt n, const float x[], PetscScalar y[], PolderStream stream);
/* Step k of the power method: y = D^-1 A x, with x in the length sqrt(norm[k]) divided by that, and norm[k + 1] = (y, y). k = 0: x is the start that the host takes, in its own length */
POLDER_LAUNCHER int PolderLevelPower_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt k, const void *x, void *y, PetscReal norm[], void *work, PolderStream stream);
/* That start */
POLDER_LAUNCHER int PolderLevelSeed_CUDA(PetscBool single, PetscInt n, void *x, PolderStream stream);

/*
  rrb.cu: the sweeps of PC rrb over one grid with its coefficients c, double or float (single), as RRB_NCOEF arrays of rrbrow.h. Vectors are in natural order, rows ld apart; those of
  the next grid, rows ldnext apart. half: only black nodes are eliminated, and what is next is the rest, its unknowns in the order of PolderRRBUnknown()
*/
typedef struct {
  PolderRRBGrid      g;
  PetscBool          half;
  const void        *c;
  const PetscScalar *r; /* right-hand side and solution */
  PetscScalar       *x;
  PetscInt           ld;
  PetscScalar       *rnext;
  const PetscScalar *xnext;
  PetscInt           ldnext;
} PolderRRBStep;

/* rnext <- r with the grid's nodes eliminated */
POLDER_LAUNCHER int PolderRRBForward_CUDA(PetscBool single, const PolderRRBStep *step, PolderStream stream);
/* x <- the way back from xnext; rho != NULL: (r, x) and the sum of x are those of a state */
POLDER_LAUNCHER int PolderRRBBackward_CUDA(PetscBool single, const PolderRRBStep *step, const PolderCGRho *rho, void *work, PolderStream stream);
/* The same with vectors r and z of the red nodes, r1 and then r2, instead of r and x, on a grid that is not half */
POLDER_LAUNCHER int PolderRRBReducedForward_CUDA(PetscBool single, const PolderRRBStep *step, const PetscScalar r[], PolderStream stream);
POLDER_LAUNCHER int PolderRRBReducedBackward_CUDA(PetscBool single, const PolderRRBStep *step, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho, void *work, PolderStream stream);
/* Small grids, one after the other, in one kernel: nodes of the largest, and number of them, at most. Each has the next one's r and x as rnext and xnext */
#define POLDER_RRB_SMALL       65536
#define POLDER_RRB_SMALL_GRIDS 12
/* Unknowns of a rest that this kernel solves for: more are better left to PolderDenseMult_CUDA() */
#define POLDER_RRB_SMALL_REST 1536
typedef enum {
  RRB_SMALL_ALL,     /* forward, x <- inverse b, backward */
  RRB_SMALL_FORWARD, /* one of them only */
  RRB_SMALL_BACKWARD
} PolderRRBPart;
POLDER_LAUNCHER int PolderRRBSmall_CUDA(PetscBool single, PolderRRBPart part, PetscInt ngrid, const PolderRRBStep step[], PetscInt n, PetscInt ld, const PetscScalar inverse[], const PetscScalar b[], PetscScalar x[], PolderStream stream);

/*
  rrbtail.cu: T, n by n with rows ld apart, <- the symmetric matrix of what the sweeps over these grids, and the inverse of the rest after them, make of a vector of the first grid in natural
  order; red: of its red nodes, in the order of PolderRRBUnknown(). Of the steps only g, half and c are used
*/
#define POLDER_RRB_TAIL 1024 /* n at most */
POLDER_LAUNCHER int PolderRRBTail_CUDA(PetscBool single, PetscBool red, PetscInt ngrid, const PolderRRBStep step[], PetscInt nrest, PetscInt ldrest, const PetscScalar inverse[], PetscInt n, PetscInt ld, PetscScalar T[], PolderStream stream);

/* rrbcg.cu: what conjugate gradients on the first Schur complement S need of PC rrb. One grid at least, and that not half; r and x of its step are not used */
typedef struct {
  PetscBool            single;
  PetscInt             ngrid;
  const PolderRRBStep *step;  /* [ngrid] on the host */
  PetscInt             n, ld; /* the rest, as in PolderRRBSmall_CUDA() */
  const PetscScalar   *inverse, *b;
  PetscScalar         *x;
  const PetscScalar   *S; /* see rrbreduced.cu */
} PolderRRBSystem;
/*
  prepare: z <- M^-1 r and rho (first: beta is 0). Then up to so many steps: p <- z - mean + beta p (first: z - mean), w <- S p, x <- x + alpha p, r <- r - alpha w, the norm, z <- M^-1 r, rho.
  Where the state is frozen nothing happens any more, so that z and rho may be those of the step before.
  Vectors of the red nodes as above
*/
POLDER_LAUNCHER int PolderRRBCG_CUDA(const PolderRRBSystem *system, PetscBool prepare, PetscBool first, PetscInt count, PetscScalar x[], PetscScalar r[], PetscScalar z[], PetscScalar p[], PetscScalar w[], PolderCGState *state, void *work, PolderStream stream);
/* The most unknowns that it is meant for; 0: the device has no such kernels */
POLDER_LAUNCHER PetscInt PolderRRBCGMost_CUDA(void);

/* rrbfactor.cu: the factorisation. *seen: bits RRB_SEEN_... are raised */
/* Looks at the rows of a matrix on diagonals (as in dia.cu) or compressed rows; row[f] != NULL: they become RRB_NROW arrays in natural order. half: the lower diagonals lead into the upper ones */
#define POLDER_RRB_DIAGONALS 32
POLDER_LAUNCHER int PolderRRBRowsDia_CUDA(PetscInt nx, PetscInt ny, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscBool half, PetscScalar *const row[], int *seen, PolderStream stream);
POLDER_LAUNCHER int PolderRRBRowsCsr_CUDA(PetscInt nx, PetscInt ny, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar *const row[], int *seen, PolderStream stream);
/* Rows into the arrays c and x (of which only RRB_R2D is used), black pivots lumped and inverted */
POLDER_LAUNCHER int PolderRRBBlack_CUDA(const PolderRRBGrid *g, const PolderRRBEntries *rows, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen, PolderStream stream);
/* Black nodes are eliminated from the red ones; unless half, r1 pivots lumped and inverted */
POLDER_LAUNCHER int PolderRRBRed_CUDA(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen, PolderStream stream);
/* What is left as rows: of the next grid, ld apart; half: of the rest, one after the other */
POLDER_LAUNCHER int PolderRRBNext_CUDA(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[], PetscInt ld, PolderStream stream);
/* Couplings become entries of the factor; single != NULL: there, in single precision */
POLDER_LAUNCHER int PolderRRBScale_CUDA(const PolderRRBGrid *g, PetscScalar c[], float single[], int *seen, PolderStream stream);
/* E, ld by ld, <- the rows of the rest as a symmetric matrix, zero around it; plus shift[part] where two unknowns are of the same part (part = NULL: none; -1: of none) */
POLDER_LAUNCHER int PolderRRBRest_CUDA(PetscInt nx, PetscInt ny, PetscBool skew, PetscScalar *const row[], const PetscInt part[], const PetscScalar shift[], PetscInt ld, PetscScalar E[], PolderStream stream);

/* rrbreduced.cu: the first Schur complement of a 5-point matrix on vectors of the red nodes, see src/kernels/rrbreduced.h; a: its RRB_NREDUCED arrays, whose borders are zero */
/* After PolderRRBRed_CUDA() with half; unless half, r1 pivots are then lumped and inverted */
POLDER_LAUNCHER int PolderRRBReducedFill_CUDA(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], const PetscScalar x[], PetscScalar a[], int *seen, PolderStream stream);
/* y = S x; dot != NULL: a device scalar, becomes (x, y) */
POLDER_LAUNCHER int PolderRRBReducedMult_CUDA(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream);
/* c: the factor of the grid in double precision. Right-hand side to the red nodes, solution from them, and what a vector has on them */
POLDER_LAUNCHER int PolderRRBReduce_CUDA(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar b[], PetscInt ld, PetscScalar r[], PolderStream stream);
POLDER_LAUNCHER int PolderRRBExpand_CUDA(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar b[], const PetscScalar r[], PetscScalar x[], PetscInt ld, PolderStream stream);
POLDER_LAUNCHER int PolderRRBPick_CUDA(const PolderRRBGrid *g, const PetscScalar x[], PetscInt ld, PetscScalar r[], PolderStream stream);
