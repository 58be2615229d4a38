/* The rows of a process on one level of a hierarchy, as the kernels of its cycle read them. */
#pragma once

#include <petscsys.h>

/* In the precision of the cycle: values, inverse diagonal, vectors. By diagonals when nd > 0, else by compressed rows */
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
