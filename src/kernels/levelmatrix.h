/* The rows of a process on one level of a hierarchy, as the kernels of its cycle read them. */
#pragma once

#include <petscsys.h>

/*
  In the precision of the cycle: values, inverse diagonal, vectors. By diagonals when nd > 0, else by compressed rows. In single precision the sum of the row, over all processes, stands in the place of
  the diagonal entry, and products are s_i x_i + sum over j != i of a_ij (x_j - x_i): where coefficients jump, rounded entries would add up to more than what couples to the next
  coefficient, and the near-kernel of the heavy part be lost
*/
typedef struct {
  PetscInt           n;
  PetscInt           nd, main; /* entry (i, i + off[d]) is val[d][i], as in PolderDia */
  const PetscInt    *off;
  const void *const *val;
  const PetscInt    *ai, *aj, *diag; /* diag[i]: position of the diagonal entry of row i */
  const void        *aa;
  PetscInt           nz;   /* entries of the compressed rows; known on the device only */
  const void        *dinv; /* inverse of the diagonal (or of what a smoother puts in its place), 0 where it is zero */
} PolderLevelMatrix;

/*
  Step k of a diagonal smoother, x_{k+1} = x_k + beta (x_k - x_{k-1}) + scale D^-1 (b - A x_k), with beta = 0 for k = 0. zero: x_0 = 0 and x_1 = start D^-1 b, which a device
  makes on the way in the steps 1 and 2 that read it
*/
typedef struct {
  PetscInt     k;
  PetscBool    zero;
  PetscReal    start, beta, scale;
  PetscScalar *wide; /* with a matrix in single precision: where the result goes instead of to y, in double precision, as x and what is added to it; NULL: to y */
  const void  *base; /* with wide: what the vectors of the steps are a correction of, so that the result is base and the correction; NULL: nothing */
} PolderLevelStep;

/* On a device: the rows that have entries to other processes, and these entries alone. Row k of them is row[k], with the entries ptr[k] .. ptr[k + 1) in the columns col[] of the ghosts */
typedef struct {
  PetscInt           n;
  const PetscInt    *row, *ptr, *col;
  const PetscScalar *val;
} PolderOuterRows;

/* What is added in them: z_i += scale d_i (B ghost)_i, d = 1 when dinv is NULL. In single precision the entries multiply ghost_j - x_i, x being own or, start != 0, start D^-1 own */
typedef struct {
  PetscReal    scale, start;
  const void  *dinv, *own, *ghost;
  PetscScalar *wide; /* in single precision: where it is added instead of to z, in double precision; NULL: to z */
} PolderOuterSum;
