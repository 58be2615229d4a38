/* The local block of a level of a hierarchy, as the kernels of the cycle read it. */
#pragma once

#include "cg.h"
#include "peers.h"
#include "views.h"

/*
  Values, inverse diagonal and vectors have the precision of the cycle; with bfloat, the vectors and the inverse diagonal are in single precision and the values
  in bfloat16. The matrix is stored by diagonals when nd > 0, else by compressed rows.
  In single precision the sum of the row, over all processes, is stored as diagonal entry, and products are s_i x_i + sum over j != i of a_ij (x_j - x_i).
  Where coefficients jump, rounded entries of a row would otherwise add up to more than its coupling to the next coefficient, and the near-kernel of the part
  with large coefficients would be lost. x^T A x is then the sum of s_i x_i^2 and of -a_ij (x_j - x_i)^2 over the couplings, each of which bfloat16 changes by a
  factor within 1 - 2^-8 .. 1 + 2^-8, so the condition number of the preconditioned system changes by less than a percent.
*/
typedef struct {
  PetscInt                n;
  PetscInt                nd, main; /* entry (i, i + off[d]) is val[d][i], as in PolderDia */
  const PetscInt         *off;
  const void *const      *val;
  const PetscInt         *ai, *aj, *diag; /* diag[i]: position of the diagonal entry of row i */
  const void             *aa;
  PetscInt                nz; /* number of entries of the compressed rows; set on the device only */
  PetscBool               bfloat;
  const void             *dinv; /* inverse of the diagonal (or of its substitute in a smoother), 0 where that is zero */
  const unsigned char    *code; /* device, in single precision: NULL, or the classes of the rows with their dinv */
  const PolderDiaClasses *classes;
} PolderLevelMatrix;

/* Device: where sums go, and the scratch of their reduction */
typedef struct {
  PetscReal *sum;
  void      *work;
} PolderLevelSums;

/*
  What the last step on the first level does besides. wide: the matrix is in single precision, and the result z, multiplied by unit, is stored here in double
  precision instead of in y. base: with wide, the steps compute a correction of base, and the result is base plus correction. parts, instead of wide: z is not
  stored but left in the parts of PolderCGParts, of which y gets the correction: to base, or to x if base is NULL. r: (r, z) and the sum of z go to rho in the
  same pass, on the device; in a parallel state only the sums of this process are stored. NULL: none of it
*/
typedef struct {
  PetscScalar       *wide;
  PetscBool          parts;
  PetscReal          unit;
  const void        *base;
  const PetscScalar *r;
  PolderCGRho        rho;
} PolderLevelEnd;

/*
  Step k of a diagonal smoother: x_{k+1} = x_k + beta (x_k - x_{k-1}) + scale D^-1 (b - A x_k), with beta = 0 for k = 0. zero: x_0 = 0 and x_1 = start D^-1 b,
  which the device recomputes in the steps 1 and 2 that read it.
*/
typedef struct {
  PetscInt       k;
  PetscBool      zero;
  PetscReal      start, beta, scale;
  PolderLevelEnd end;
} PolderLevelStep;

/*
  The off-process term of the rows that have off-process entries B, whose columns are ghosts: z_i += scale d_i (B ghost)_i, d = 1 if dinv is NULL. In single
  precision the entries multiply ghost_j - x_i, where x is own or, with start != 0, start D^-1 own; then ghost_j is start ghostdinv_j times the ghost, too. With
  r, dots[0] += unit (r, change of z), dots[1] += the same with ones
*/
typedef struct {
  PetscReal          scale, start;
  const void        *dinv, *own, *ghostdinv;
  PolderGhosts       ghosts;
  PetscScalar       *wide; /* single precision: the vector to add unit times the term to, in double precision, instead of z; NULL: z */
  PetscReal          unit;
  const PetscScalar *r;
  PetscScalar       *dots;
  void              *work; /* device: the scratch of the sums */
} PolderOuterSum;
