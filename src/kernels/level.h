/*
  Kernels of a multigrid cycle on one level, see levelmatrix.h and levelscalars.h. Host kernels exist in double precision, in single precision (...Single_Host)
  and, where they read the matrix, in single precision with entries in bfloat16 (...Half_Host). Device kernels take the argument single and tell bfloat16 from
  the matrix. Output vectors are distinct from input vectors unless stated otherwise.
*/
#pragma once

#include "launcher.h"
#include "levelgrid.h"
#include "levellines.h"

/* Maximum number of diagonals of the device kernels; a matrix with more is read by rows */
#define POLDER_LEVEL_DIAGONALS 32

/* The interpolation P from the nc rows of the next level: that of a grid, along lines or, where both are NULL, by aggregates */
typedef struct {
  const PetscInt         *agg;
  PetscInt                nc;
  const PolderLevelGrid  *grid;
  const PolderLevelLines *lines;
} PolderLevelTransfer;

/* x = (D + L)^-1 b; bc = P^T (b - A x) or, with P = NULL, b - A x, unless bc is NULL */
PETSC_INTERN void PolderLevelForward_Host(const PolderLevelMatrix *, const PetscScalar b[], PetscScalar x[], const PolderLevelTransfer *P, PetscScalar bc[]);
PETSC_INTERN void PolderLevelForwardSingle_Host(const PolderLevelMatrix *, const float b[], float x[], const PolderLevelTransfer *P, float bc[]);
PETSC_INTERN void PolderLevelForwardHalf_Host(const PolderLevelMatrix *, const float b[], float x[], const PolderLevelTransfer *P, float bc[]);
/* A Gauss-Seidel sweep over x; P != NULL: after x += scale P xc, with scale = 1 on a grid and along lines */
PETSC_INTERN void PolderLevelSweep_Host(const PolderLevelMatrix *, PetscBool backward, const PolderLevelTransfer *P, PetscScalar scale, const PetscScalar xc[],
                                        const PetscScalar b[], PetscScalar x[]);
PETSC_INTERN void PolderLevelSweepSingle_Host(const PolderLevelMatrix *, PetscBool backward, const PolderLevelTransfer *P, float scale, const float xc[],
                                              const float b[], float x[]);
PETSC_INTERN void PolderLevelSweepHalf_Host(const PolderLevelMatrix *, PetscBool backward, const PolderLevelTransfer *P, float scale, const float xc[],
                                            const float b[], float x[]);
/*
  dinv <- the inverse diagonal that the rounded entries imply: the sum of the row minus all couplings, the off-process ones bi, ba (or NULL) included. A sweep,
  which does not form differences, needs one that agrees with them. Zeros stay, and so does the rest where the result is not positive
*/
PETSC_INTERN void PolderLevelPivotsHalf_Host(const PolderLevelMatrix *, const PetscInt bi[], const PetscScalar ba[], float dinv[]);
/* A multicolour Gauss-Seidel sweep on the n rows row[] of one colour, none of which is coupled to another: x += D^-1 (b - A x) on these rows */
PETSC_INTERN void   PolderLevelColour_Host(const PolderLevelMatrix *, PetscInt n, const PetscInt row[], const PetscScalar b[], PetscScalar x[]);
PETSC_INTERN void   PolderLevelColourSingle_Host(const PolderLevelMatrix *, PetscInt n, const PetscInt row[], const float b[], float x[]);
PETSC_INTERN void   PolderLevelColourHalf_Host(const PolderLevelMatrix *, PetscInt n, const PetscInt row[], const float b[], float x[]);
POLDER_LAUNCHER int PolderLevelColour_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt n, const PetscInt row[], const void *b, void *x,
                                           PolderStream stream);
/* Starts a sweep with zero initial guess, on all rows: x = D^-1 b on the first rows of row[], zero on the others */
PETSC_INTERN void   PolderLevelColourFirst_Host(const PolderLevelMatrix *, PetscInt first, const PetscInt row[], const PetscScalar b[], PetscScalar x[]);
PETSC_INTERN void   PolderLevelColourFirstSingle_Host(const PolderLevelMatrix *, PetscInt first, const PetscInt row[], const float b[], float x[]);
POLDER_LAUNCHER int PolderLevelColourFirst_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt first, const PetscInt row[], const void *b, void *x,
                                                PolderStream stream);
/* x = scale D^-1 b */
PETSC_INTERN void   PolderLevelScale_Host(PetscInt n, PetscScalar scale, const PetscScalar dinv[], const PetscScalar b[], PetscScalar x[]);
PETSC_INTERN void   PolderLevelScaleSingle_Host(PetscInt n, float scale, const float dinv[], const float b[], float x[]);
POLDER_LAUNCHER int PolderLevelScale_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscReal scale, const void *b, void *x, PolderStream stream);
/* x += scale P xc; device: only where agg[i] < nc */
PETSC_INTERN void   PolderLevelProlong_Host(PetscInt n, const PetscInt agg[], PetscScalar scale, const PetscScalar xc[], PetscScalar x[]);
PETSC_INTERN void   PolderLevelProlongSingle_Host(PetscInt n, const PetscInt agg[], float scale, const float xc[], float x[]);
POLDER_LAUNCHER int PolderLevelProlong_CUDA(PetscBool single, PetscInt n, const PetscInt agg[], PetscInt nc, PetscReal scale, const void *xc, void *x,
                                            PolderStream stream);
/*
  b - A x: stored in r (NULL: not stored) and, with agg != NULL, restricted to bc = P^T (b - A x). Device: r may be b. Instead of agg it takes the rows of each
  aggregate a < P->n, and bc[P->n] = 0. It computes r or, with P, bc. With sends, the kernel that computes r sends x to the neighbours first; PolderGhosts count
  the messages.
*/
PETSC_INTERN void   PolderLevelResidual_Host(const PolderLevelMatrix *, const PetscScalar b[], const PetscScalar x[], PetscScalar r[], const PetscInt agg[],
                                             PetscInt nc, PetscScalar bc[]);
PETSC_INTERN void   PolderLevelResidualSingle_Host(const PolderLevelMatrix *, const float b[], const float x[], float r[], const PetscInt agg[], PetscInt nc,
                                                   float bc[]);
PETSC_INTERN void   PolderLevelResidualHalf_Host(const PolderLevelMatrix *, const float b[], const float x[], float r[], const PetscInt agg[], PetscInt nc,
                                                 float bc[]);
POLDER_LAUNCHER int PolderLevelResidual_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *b, const void *x, void *r, const PolderAggregates *P,
                                             void *bc, const PolderExchange *sends, PolderStream stream);
/*
  A step of a diagonal smoother: y = x_{k+1} from x = x_k. Before it y holds x_{k-1} if k > 0 and beta != 0; x_0 = 0 need not be stored. step->end.wide !=
  NULL: the result is stored there instead of in y. Device: with zero, x is not read in step 1 nor y in step 2, and step->end.r needs work as for sums. sends:
  as for the residual; in step 1 after zero it is b that is sent.
*/
PETSC_INTERN void PolderLevelJacobi_Host(const PolderLevelMatrix *, const PolderLevelStep *step, const PetscScalar b[], const PetscScalar x[], PetscScalar y[]);
PETSC_INTERN void PolderLevelJacobiSingle_Host(const PolderLevelMatrix *, const PolderLevelStep *step, const float b[], const float x[], float y[]);
PETSC_INTERN void PolderLevelJacobiHalf_Host(const PolderLevelMatrix *, const PolderLevelStep *step, const float b[], const float x[], float y[]);
POLDER_LAUNCHER int PolderLevelJacobi_CUDA(PetscBool single, const PolderLevelMatrix *A, const PolderLevelStep *step, const void *b, const void *x, void *y,
                                           void *work, const PolderExchange *sends, PolderStream stream);
/*
  v = A x, or v += A x with add. sum <- (x, v), (x, b), and (x, w) or, without w, (b, b), (b, v), (v, v): three or five sums
*/
PETSC_INTERN void   PolderLevelMultDots_Host(const PolderLevelMatrix *, PetscBool add, const PetscScalar x[], const PetscScalar b[], const PetscScalar w[],
                                             PetscScalar v[], PetscReal sum[]);
PETSC_INTERN void   PolderLevelMultDotsSingle_Host(const PolderLevelMatrix *, PetscBool add, const float x[], const float b[], const float w[], float v[],
                                                   PetscReal sum[]);
PETSC_INTERN void   PolderLevelMultDotsHalf_Host(const PolderLevelMatrix *, PetscBool add, const float x[], const float b[], const float w[], float v[],
                                                 PetscReal sum[]);
POLDER_LAUNCHER int PolderLevelMultDots_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *x, const void *b, const void *w, void *v,
                                             PolderLevelSums sums, PolderStream stream);
/* y = alpha x + beta y */
PETSC_INTERN void   PolderLevelCombine_Host(PetscInt n, PetscScalar alpha, PetscScalar beta, const PetscScalar x[], PetscScalar y[]);
PETSC_INTERN void   PolderLevelCombineSingle_Host(PetscInt n, float alpha, float beta, const float x[], float y[]);
POLDER_LAUNCHER int PolderLevelCombine_CUDA(PetscBool single, PetscInt n, PetscReal alpha, PetscReal beta, const void *x, void *y, PolderStream stream);
/* K-cycle, with the sums and scalars of levelscalars.h. After the first step: b -= (alpha / rho) v. After the second: x = c[0] x + c[1] w */
PETSC_INTERN void   PolderLevelKFirst_Host(PetscInt n, PetscReal threshold, const PetscReal sum[], const PetscScalar v[], PetscScalar b[]);
PETSC_INTERN void   PolderLevelKFirstSingle_Host(PetscInt n, PetscReal threshold, const PetscReal sum[], const float v[], float b[]);
POLDER_LAUNCHER int PolderLevelKFirst_CUDA(PetscBool single, PetscInt n, PetscReal threshold, const PetscReal sum[], const void *v, void *b,
                                           PolderStream stream);
PETSC_INTERN void   PolderLevelKSecond_Host(PetscInt n, PetscReal threshold, const PetscReal sum[], const PetscScalar w[], PetscScalar x[]);
PETSC_INTERN void   PolderLevelKSecondSingle_Host(PetscInt n, PetscReal threshold, const PetscReal sum[], const float w[], float x[]);
POLDER_LAUNCHER int PolderLevelKSecond_CUDA(PetscBool single, PetscInt n, PetscReal threshold, const PetscReal sum[], const void *w, void *x,
                                            PolderStream stream);

/*
  z = y + scale B ghost; y = NULL stands for zero. In single precision with own != NULL the entries b_ij multiply ghost_j - own_i. Restriction: bc -= P^T B
  ghost
*/
PETSC_INTERN void PolderLevelGhosts_Host(PolderRows B, PetscScalar scale, const PetscScalar ghost[], const PetscScalar own[], const PetscScalar y[],
                                         PetscScalar z[]);
PETSC_INTERN void PolderLevelGhostsSingle_Host(PolderRows B, float scale, const float ghost[], const float own[], const float y[], float z[]);
PETSC_INTERN void PolderLevelGhostsRestrict_Host(PolderRows B, const PetscScalar ghost[], const PetscInt agg[], PetscScalar bc[]);
PETSC_INTERN void PolderLevelGhostsRestrictSingle_Host(PolderRows B, const float ghost[], const PetscInt agg[], float bc[]);
/* The same with B stored by the rows that have off-process entries (cuda/outer.cu). z += the term described at PolderOuterSum */
PETSC_INTERN void   PolderLevelOuterAdd_Host(const PolderSparseRows *, const PolderOuterSum *, PetscScalar z[]);
PETSC_INTERN void   PolderLevelOuterAddSingle_Host(const PolderSparseRows *, const PolderOuterSum *, float z[]);
POLDER_LAUNCHER int PolderLevelOuterAdd_CUDA(PetscBool single, const PolderSparseRows *, const PolderOuterSum *, void *z, PolderStream stream);
/* bc[target[t]] -= the sum of B ghost over the rows of aggregate t of P, which are positions among the rows of B; own is x */
PETSC_INTERN void   PolderLevelOuterRestrict_Host(const PolderSparseRows *B, const PolderAggregates *P, const PetscInt target[], const PetscScalar own[],
                                                  const PetscScalar ghost[], PetscScalar bc[]);
PETSC_INTERN void   PolderLevelOuterRestrictSingle_Host(const PolderSparseRows *B, const PolderAggregates *P, const PetscInt target[], const float own[],
                                                        const float ghost[], float bc[]);
POLDER_LAUNCHER int PolderLevelOuterRestrict_CUDA(PetscBool single, const PolderSparseRows *B, const PolderAggregates *P, const PetscInt target[],
                                                  const void *own, const void *ghost, void *bc, PolderStream stream);
/* v += B ghost, and updates the sums of MultDots, computed with the old v, to the new v; b = NULL: the sums are those with w */
PETSC_INTERN void PolderLevelOuterDots_Host(const PolderSparseRows *B, const PetscScalar ghost[], const PetscScalar x[], const PetscScalar b[], PetscScalar v[],
                                            PetscReal sum[]);
PETSC_INTERN void PolderLevelOuterDotsSingle_Host(const PolderSparseRows *B, const float ghost[], const float x[], const float b[], float v[], PetscReal sum[]);
POLDER_LAUNCHER int PolderLevelOuterDots_CUDA(PetscBool single, const PolderSparseRows *B, const void *ghost, const void *x, const void *b, void *v,
                                              PolderLevelSums sums, PolderStream stream);

/*
  The bits of the least and of the largest positive dinv[i] of the rows with agg[i] < nc, which as integers are in the order of the numbers: span[0] is lowered
  and span[1] is raised to them, span[2] to the largest ratio of two such neighbours among the rows of a line
*/
PETSC_INTERN void   PolderLevelSpan_Host(PetscInt n, PetscInt line, const float dinv[], const PetscInt agg[], PetscInt nc, PetscInt span[3]);
POLDER_LAUNCHER int PolderLevelSpan_CUDA(PetscInt n, PetscInt line, const float dinv[], const PetscInt agg[], PetscInt nc, PetscInt span[3],
                                         PolderStream stream);
/* y = scale x, converted to the other precision; scale = 1 in the other direction */
PETSC_INTERN void   PolderLevelRound_Host(PetscInt n, PetscScalar scale, const PetscScalar x[], float y[]);
POLDER_LAUNCHER int PolderLevelRound_CUDA(PetscInt n, PetscScalar scale, const PetscScalar x[], float y[], PolderStream stream);
POLDER_LAUNCHER int PolderLevelWiden_CUDA(PetscInt n, const float x[], PetscScalar y[], PolderStream stream);
/* y = x minus its mean, converted to the other precision; small n, which a single block of the device takes */
PETSC_INTERN void   PolderLevelWidenCentred_Host(PetscInt n, const float x[], PetscScalar y[]);
POLDER_LAUNCHER int PolderLevelWidenCentred_CUDA(PetscInt n, const float x[], PetscScalar y[], PolderStream stream);
PETSC_INTERN void   PolderLevelRoundCentred_Host(PetscInt n, const PetscScalar x[], float y[]);
POLDER_LAUNCHER int PolderLevelRoundCentred_CUDA(PetscInt n, const PetscScalar x[], float y[], PolderStream stream);
/*
  Step k of the power method: y = D^-1 A x, where x is divided by its norm sqrt(norm[k]), and norm[k + 1] = (y, y). k = 0: x is the start vector of the host
  version and is not normalised.
*/
POLDER_LAUNCHER int PolderLevelPower_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt k, const void *x, void *y, PetscReal norm[], void *work,
                                          PolderStream stream);
/* Computes this start vector */
PETSC_INTERN void   PolderLevelSeed_Host(PetscBool single, PetscInt n, void *x);
POLDER_LAUNCHER int PolderLevelSeed_CUDA(PetscBool single, PetscInt n, void *x, PolderStream stream);
