/* Coarse matrices: skyline factors on the host; dense n x n matrices in ld x ld arrays on the device. */
#pragma once

#include "launcher.h"
#include "views.h"

/* Host: row i of a lower triangle is L[ptr[i] .. ptr[i+1]), columns first[i] .. i */
/*
  Cholesky factorisation in place. Rows with drop[i] set, and rows whose pivot is at most tol, become rows of the identity. Returns the number of rows dropped
  because of their pivot. *least <- the smallest pivot, if that is smaller
*/
PETSC_INTERN PetscInt PolderSkylineFactor_Host(PetscInt n, const PetscInt first[], const size_t ptr[], PetscReal tol, PetscScalar L[], char drop[],
                                               PetscReal *least);
/*
  The same for a matrix S with nonpositive off-diagonal entries, computed from S v = f with v > 0, f >= 0. It makes no subtraction, so each entry is accurate
  to rounding. A pivot of at most noise[] counts as zero; eliminating a row adds its noise to the rows it updates. f[] and noise[] are overwritten.
*/
PETSC_INTERN PetscInt PolderSkylineFactorExcess_Host(PetscInt n, const PetscInt first[], const size_t ptr[], PetscReal f[], const PetscReal v[],
                                                     PetscReal noise[], PetscScalar L[], char drop[]);
/* x <- (L L^T)^-1 x */
PETSC_INTERN void PolderSkylineSolve_Host(PetscInt n, const PetscInt first[], const size_t ptr[], const PetscScalar L[], PetscScalar x[]);

/* Device: ld is a multiple of POLDER_SWEEP; info[] is copied to the host by the caller */
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
/* E (zeroed before) <- the *n entries key = i * E.n + j; keys from E.n * E.n on are unused */
POLDER_LAUNCHER int PolderCoarseDense_CUDA(const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PolderDense E, PolderStream stream);
/*
  E <- (E + E^T)/2, S = D E D; S has the ld of E. scale is the diagonal of D: E_ii^-1/2, but 0 where E_ii is at most `zero` times the largest and, with
  nullspace, in the last column. Sets NZERO, NNULL, NDEP, BAD.
*/
POLDER_LAUNCHER int PolderCoarseScale_CUDA(PolderDense E, PetscReal zero, PetscBool nullspace, PetscScalar scale[], PetscScalar S[], PetscScalar info[],
                                           PolderStream stream);
/* coarseinverse.cu: A <- D A^-1 D without the columns whose scale is 0 or whose pivot is at most tol; the latter get scale 0 and count in NDEP */
POLDER_LAUNCHER size_t PolderCoarseInvertWork_CUDA(PetscInt ld);
POLDER_LAUNCHER int    PolderCoarseInvert_CUDA(PolderDense A, PetscReal tol, PetscScalar scale[], PetscScalar info[], void *work, PolderStream stream);
/*
  The scale of an E that is not symmetric: rows[i] = 1 / max_j |E_ij|, the diagonal of R, and cols[j] = 1 / max_i rows[i] |E_ij|, that of C, so that no entry of
  R E C exceeds 1. Both are 0 where row and column are at most `zero` times the largest entry or one of them has no entry and, with nullspace, in the last
  column. Sets NZERO, NNULL, NDEP, BAD.
*/
POLDER_LAUNCHER int PolderCoarseEquilibrate_CUDA(PolderDense E, PetscReal zero, PetscBool nullspace, PetscScalar rows[], PetscScalar cols[], PetscScalar info[],
                                                 PolderStream stream);
/*
  With R = C = D where E is symmetric: b <- a test vector on the columns in use; norms[0 .. n) and norms[n .. 2 n) <- the row sums of |R E C| and of its inverse
  |C^-1 X R^-1|; X has the ld of E
*/
POLDER_LAUNCHER int PolderCoarseNorms_CUDA(PolderDense E, const PetscScalar X[], const PetscScalar rows[], const PetscScalar cols[], PetscScalar b[],
                                           PetscScalar norms[], PolderStream stream);
/* COND = max norms * max norms, RESID = |R (b - y)| / |R b| */
POLDER_LAUNCHER int PolderCoarseAssess_CUDA(PetscInt d, const PetscScalar rows[], const PetscScalar norms[], const PetscScalar b[], const PetscScalar y[],
                                            PetscScalar info[], PolderStream stream);
/* L <- R E C with rows and columns of the identity where rows[] and cols[] are 0; L has the ld of E */
POLDER_LAUNCHER int PolderCoarseIdentity_CUDA(PolderDense E, const PetscScalar rows[], const PetscScalar cols[], PetscScalar L[], PolderStream stream);
/* z = x .* y */
POLDER_LAUNCHER int PolderPointwiseMult_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderStream stream);
/* Cholesky factor of one triangle by cuSOLVER, in place (work bytes), and x <- (L L^T)^-1 x with this factor */
POLDER_LAUNCHER size_t PolderCholeskyFactorWork_CUDA(PetscInt n, PetscInt ld);
POLDER_LAUNCHER int    PolderCholeskyFactor_CUDA(PolderDense A, size_t bytes, void *work, PolderStream stream);
POLDER_LAUNCHER int    PolderCholeskySolve_CUDA(PolderDense L, PetscScalar x[], PolderStream stream);
/*
  X <- C A^-1 R by cuSOLVER's LU factors, with the ld of A, which they overwrite. A pivot of at most tol becomes 1, and its column gets rows = cols = 0 and
  counts in NDEP, unless that is 0 already. X is then zero in this row and column, but the inverse of the others takes another call without them
*/
POLDER_LAUNCHER size_t PolderLUInverseWork_CUDA(PetscInt n, PetscInt ld);
POLDER_LAUNCHER int PolderLUInverse_CUDA(PolderDense A, PetscReal tol, PetscScalar rows[], PetscScalar cols[], PetscScalar X[], PetscScalar info[], void *work,
                                         PolderStream stream);

/* z = y + alpha A x; y = NULL stands for zero and may be z. x is aligned to 16 bytes; early: see deflation.h */
POLDER_LAUNCHER int PolderDenseMult_CUDA(PolderDense A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscBool early,
                                         PolderStream stream);
/*
  Product with a symmetric A for large n. Host: y <- A x with a full A. Device: reads half the bytes of PolderDenseMult_CUDA(); entries beyond n must be
  finite, and the work of PolderSymmetricMultWork_CUDA() bytes must be zero at first.
*/
#define POLDER_SYMMETRIC_LEAST 1024
PETSC_INTERN void      PolderSymmetricMult_Host(PetscInt n, const PetscScalar A[], const PetscScalar x[], PetscScalar y[]);
POLDER_LAUNCHER int    PolderSymmetricMult_CUDA(PolderDense A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], void *work,
                                                PetscBool early, PolderStream stream);
POLDER_LAUNCHER size_t PolderSymmetricMultWork_CUDA(PetscInt ld);
