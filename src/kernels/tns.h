/* Triangular sweeps. T is the strictly lower or upper part of a matrix of m rows, dinv the inverse of its diagonal. */
#pragma once

#include "cg.h"
#include "views.h"

/*
  A triangle T and dinv. The functions of diagonals read nd, off and val, those of compressed rows i, diag, j and a, which have all entries of the matrix with
  columns in ascending order. val[d], a and dinv are arrays of float if single is set, else of PetscScalar. Device: off and val are host arrays.
*/
typedef struct {
  PetscBool               single, upper;
  PetscInt                m;
  const void             *dinv;
  PetscInt                nd; /* diagonals of T alone: row i has val[d][i] in column i + off[d], as in PolderDia */
  const PetscInt         *off;
  const void *const      *val;
  const unsigned char    *code; /* device: NULL, or the classes of the rows of a matrix of 5 or 7 diagonals, which fused sweeps read */
  const PolderDiaClasses *classes;
  const PetscInt         *i, *diag, *j; /* diag[i]: position of the diagonal entry of row i */
  const void             *a;
  PetscInt                nz; /* entries of the compressed rows; read on the device only */
} PolderTriangle;

/*
  Host: sweeps y[k+1] = y[0] - dinv (T y[k]), k = 0 .. q-1. All sweeps are done in one pass over the matrix, block by block, since a row of T reads only rows
  of earlier blocks. r != NULL: y[0] = dinv r first.
*/
PETSC_INTERN void PolderTriSweepsCSR_Host(const PolderTriangle *T, PetscInt q, const PetscScalar r[], PetscScalar *const y[]);
PETSC_INTERN void PolderTriSweepsDIA_Host(const PolderTriangle *T, PetscInt q, const PetscScalar r[], PetscScalar *const y[]);
/* The scalars and vectors of a direction of conjugate gradients: x += alpha p, p = z + beta (p - mean) */
typedef struct {
  PetscScalar  alpha, beta, mean;
  PetscScalar *p, *x;
} PolderTriStep;
/*
  The same passes with the vector updates of conjugate gradients in them. Lower: r -= alpha w first (w = NULL: r stays), y[0] = dinv r, then the sweeps;
  sum[0] = (r, r), sum[1] = (s, s / dinv) with s = y[q]. Upper: the sweeps, the last of which makes z of the step and is not stored; returns the sum of p
*/
PETSC_INTERN void        PolderTriForwardDIA_Host(const PolderTriangle *T, PetscInt q, PetscScalar alpha, const PetscScalar w[], PetscScalar r[],
                                                  PetscScalar *const y[], PetscReal sum[2]);
PETSC_INTERN PetscScalar PolderTriDirectionDIA_Host(const PolderTriangle *T, PetscInt q, PetscScalar *const y[], PolderTriStep step);
/* y = c - dinv (T x) on these rows; the entries are those of aa, rounded to the precision of T, in place of T->a */
PETSC_INTERN void PolderTriRowsCSR_Host(const PolderTriangle *T, PolderRowList rows, const PetscScalar aa[], const PetscScalar c[], const PetscScalar x[],
                                        PetscScalar y[]);
/* y -= dinv (B ghost) on these rows, with the columns 0 .. nlow (lower) or nlow and above (upper) of B, rounded likewise; of T, only dinv is read */
PETSC_INTERN void PolderTriGhostRows_Host(const PolderTriangle *T, PolderRowList rows, PetscInt nlow, PolderRows B, const PetscScalar ghost[], PetscScalar y[]);

/* Device: one sweep a kernel */
/* y = c - dinv (T x); c = NULL and x = NULL stand for dinv r */
POLDER_LAUNCHER int PolderTriSweepDIA_CUDA(const PolderTriangle *T, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[],
                                           PolderStream stream);
POLDER_LAUNCHER int PolderTriSweepCSR_CUDA(const PolderTriangle *T, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[],
                                           PolderStream stream);
/* Can two sweeps be fused? For the triangles of 5- and 7-point stencils: offsets -far, -near, -1 or 1, near, far */
static inline PetscBool PolderTriPairFits(PetscInt nd, const PetscInt off[])
{
  return (PetscBool)((nd == 2 || nd == 3) && (off[0] > 0 ? off[0] == 1 : off[nd - 1] == -1));
}
/*
  z = c - dinv (T (c - dinv (T c))) with c = dinv in for a lower triangle and c = in for an upper one, T by diagonals. rho != NULL (lower only): (z, z / dinv)
  becomes (r, z) of the state. It equals (in, K^T z), where K is defined by z = dinv K in. In a parallel state it is only stored, as the part of this process:
  PolderTriOuterAdd_CUDA() completes it.
*/
POLDER_LAUNCHER int PolderTriPair_CUDA(const PolderTriangle *T, const PetscScalar in[], PetscScalar z[], const PolderCGRho *rho, void *work,
                                       PolderStream stream);
/*
  The same for an upper triangle, fused with the direction of conjugate gradients: x <- x + alpha p with the old p, p <- z + beta (p - pmean), first: p <- z;
  then pmean <- the mean of p if the constant is in the kernel of A. In a parallel state pmean <- the sum of p on this process, which
  PolderTriOuterAdd_CUDA() completes. Nothing changes once the state is frozen.
*/
POLDER_LAUNCHER int PolderTriPairDirection_CUDA(const PolderTriangle *T, const PetscScalar in[], PetscBool first, PetscScalar p[], PetscScalar x[],
                                                PolderCGState *state, void *work, PolderStream stream);
/* y = dinv r */
POLDER_LAUNCHER int PolderTriScale_CUDA(PetscBool single, PetscInt m, const void *dinv, const PetscScalar r[], PetscScalar y[], PolderStream stream);
/* y -= dinv (B ghost) on all rows, as PolderTriGhostRows_Host() does */
POLDER_LAUNCHER int PolderTriGhosts_CUDA(const PolderTriangle *T, PetscInt nlow, PolderRows B, const PetscScalar ghost[], PetscScalar y[], PolderStream stream);
/* diag[i]: position of the diagonal entry of row i; sets *bad when one is missing or columns do not ascend */
POLDER_LAUNCHER int PolderTriDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt diag[], int *bad, PolderStream stream);
/* dinv[i] = 1 / aa[diag[i]] (diag = NULL: 1 / aa[i]); sets *bad when one is not positive and finite */
POLDER_LAUNCHER int PolderTriInverse_CUDA(PetscBool single, PetscInt m, const PetscInt diag[], const PetscScalar aa[], void *dinv, int *bad,
                                          PolderStream stream);
