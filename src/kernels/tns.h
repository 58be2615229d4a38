/* Triangular sweeps. T is the strictly lower or upper part of a matrix of m rows, dinv the inverse of its diagonal. */
#pragma once

#include "cg.h"

/*
  Host: sweeps y[k+1] = y[0] - dinv (T y[k]), k = 0 .. q-1. All sweeps are done in one pass over the matrix, block by block, since a row of T reads only rows
  of earlier blocks. r != NULL: y[0] = dinv r first.
*/
/* diag[i]: position of the diagonal entry of row i; columns ascend within a row */
PETSC_INTERN void PolderTriSweepsCSR_Host(PetscBool upper, PetscInt m, PetscInt q, const PetscInt ai[], const PetscInt diag[], const PetscInt aj[],
                                          const PetscScalar aa[], const PetscScalar dinv[], const PetscScalar r[], PetscScalar *const y[]);
/* nd diagonals of T: row i has val[d][i] in column i + off[d] */
PETSC_INTERN void PolderTriSweepsDIA_Host(PetscBool upper, PetscInt m, PetscInt q, PetscInt nd, const PetscInt off[], const PetscScalar *const val[],
                                          const PetscScalar dinv[], const PetscScalar r[], PetscScalar *const y[]);
/* y = c - dinv (T x) on the rows row[0..n) */
PETSC_INTERN void PolderTriRowsCSR_Host(PetscBool upper, PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt diag[], const PetscInt aj[],
                                        const PetscScalar aa[], const PetscScalar dinv[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[]);
/* y -= dinv (B ghost) on the rows row[0..n), B being the columns 0 .. nlow (lower) or nlow and above (upper) of the CSR matrix bi, bj, ba */
PETSC_INTERN void PolderTriGhostRows_Host(PetscBool upper, PetscInt n, const PetscInt row[], PetscInt nlow, const PetscInt bi[], const PetscInt bj[],
                                          const PetscScalar ba[], const PetscScalar dinv[], const PetscScalar ghost[], PetscScalar y[]);
/* The same with T and dinv in single precision; the entries passed as PetscScalar are rounded to it */
PETSC_INTERN void PolderTriSweepsCSRSingle_Host(PetscBool upper, PetscInt m, PetscInt q, const PetscInt ai[], const PetscInt diag[], const PetscInt aj[],
                                                const float aa[], const float dinv[], const PetscScalar r[], PetscScalar *const y[]);
PETSC_INTERN void PolderTriSweepsDIASingle_Host(PetscBool upper, PetscInt m, PetscInt q, PetscInt nd, const PetscInt off[], const float *const val[],
                                                const float dinv[], const PetscScalar r[], PetscScalar *const y[]);
PETSC_INTERN void PolderTriRowsCSRSingle_Host(PetscBool upper, PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt diag[],
                                              const PetscInt aj[], const PetscScalar aa[], const float dinv[], const PetscScalar c[], const PetscScalar x[],
                                              PetscScalar y[]);
PETSC_INTERN void PolderTriGhostRowsSingle_Host(PetscBool upper, PetscInt n, const PetscInt row[], PetscInt nlow, const PetscInt bi[], const PetscInt bj[],
                                                const PetscScalar ba[], const float dinv[], const PetscScalar ghost[], PetscScalar y[]);

/* Device: one sweep a kernel; single: T and dinv are stored as float */
/* y = c - dinv (T x); c = NULL and x = NULL stand for dinv r. T by nd diagonals, as in dia.h */
POLDER_LAUNCHER int PolderTriSweepDIA_CUDA(PetscBool single, PetscInt m, PetscInt nd, const PetscInt off[], const void *const val[], const void *dinv,
                                           const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* The same; diag[i] is the position of the diagonal entry of row i in CSR arrays with nz entries, columns ascend */
POLDER_LAUNCHER int PolderTriSweepCSR_CUDA(PetscBool single, PetscBool upper, PetscInt m, PetscInt nz, const PetscInt ai[], const PetscInt diag[],
                                           const PetscInt aj[], const void *aa, const void *dinv, const PetscScalar r[], const PetscScalar c[],
                                           const PetscScalar x[], PetscScalar y[], PolderStream stream);
/* Can two sweeps be fused? For the triangles of 5- and 7-point stencils: offsets -far, -near, -1 or 1, near, far */
static inline PetscBool PolderTriPairFits(PetscInt nd, const PetscInt off[])
{
  return (PetscBool)((nd == 2 || nd == 3) && (off[0] > 0 ? off[0] == 1 : off[nd - 1] == -1));
}
/*
  z = c - dinv (T (c - dinv (T c))) with c = dinv in for a lower triangle and c = in for an upper one. rho != NULL (lower only): (z, z / dinv) becomes (r, z)
  of the state. It equals (in, K^T z), where K is defined by z = dinv K in.
*/
POLDER_LAUNCHER int PolderTriPair_CUDA(PetscBool single, PetscInt m, PetscInt nd, const PetscInt off[], const void *const val[], const void *dinv,
                                       const PetscScalar in[], PetscScalar z[], const PolderCGRho *rho, void *work, PolderStream stream);
/*
  The same for an upper triangle, fused with the direction of conjugate gradients: x <- x + alpha p with the old p, p <- z + beta (p - pmean), first: p <- z;
  then pmean <- the mean of p if the constant is in the kernel of A. Nothing changes once the state is frozen.
*/
POLDER_LAUNCHER int PolderTriPairDirection_CUDA(PetscBool single, PetscInt m, PetscInt nd, const PetscInt off[], const void *const val[], const void *dinv,
                                                const PetscScalar in[], PetscBool first, PetscScalar p[], PetscScalar x[], PolderCGState *state, void *work,
                                                PolderStream stream);
/* y = dinv r */
POLDER_LAUNCHER int PolderTriScale_CUDA(PetscBool single, PetscInt m, const void *dinv, const PetscScalar r[], PetscScalar y[], PolderStream stream);
/* y -= dinv (B ghost), with B as in PolderTriGhostRows_Host(), rounded like T */
POLDER_LAUNCHER int PolderTriGhosts_CUDA(PetscBool single, PetscBool upper, PetscInt m, PetscInt nlow, const PetscInt bi[], const PetscInt bj[],
                                         const PetscScalar ba[], const void *dinv, const PetscScalar ghost[], PetscScalar y[], PolderStream stream);
/* diag[i]: position of the diagonal entry of row i; sets *bad when one is missing or columns do not ascend */
POLDER_LAUNCHER int PolderTriDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt diag[], int *bad, PolderStream stream);
/* dinv[i] = 1 / aa[diag[i]] (diag = NULL: 1 / aa[i]); sets *bad when one is not positive and finite */
POLDER_LAUNCHER int PolderTriInverse_CUDA(PetscBool single, PetscInt m, const PetscInt diag[], const PetscScalar aa[], void *dinv, int *bad,
                                          PolderStream stream);
