/*
  Products with matrices stored by diagonals: val[d][i] is entry (i, i + off[d]) of an m by n matrix, read only where row and column exist; off ascends.
  Device: off and val are host arrays, val[d] are device pointers.
*/
#pragma once

#include "bfloat.h"
#include "launcher.h"

/* z = y + alpha A x; y = NULL stands for zero and may be z. Device: dot != NULL: *dot becomes (x, A x), with PolderDiaMultWork_CUDA() bytes of work */
PETSC_INTERN void      PolderDiaMult_Host(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscScalar alpha,
                                          const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
POLDER_LAUNCHER int    PolderDiaMult_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscScalar alpha,
                                          const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work, PolderStream stream);
POLDER_LAUNCHER size_t PolderDiaMultWork_CUDA(PetscInt m);
/* The same with the diagonals in single precision */
POLDER_LAUNCHER int PolderDiaMultSingle_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const float *const val[], PetscScalar alpha,
                                             const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderStream stream);
/*
  Copies CSR values into the diagonals first .. nd, with zero where there is no entry. Entries of the diagonals below `first` are compared with the mirror
  images to which val[] points. Failure (host: returns FALSE, device: sets *bad): columns do not ascend, an entry lies on no diagonal, or an entry below
  `first` differs from its mirror image by more than tol. Device: tol = infinity skips the comparison.
*/
PETSC_INTERN PetscBool PolderDiaFill_Host(PetscInt m, PetscInt nd, PetscInt first, const PetscInt off[], PetscScalar *const val[], const PetscInt ai[],
                                          const PetscInt aj[], const PetscScalar aa[], PetscReal tol);
POLDER_LAUNCHER int    PolderDiaFill_CUDA(PetscInt m, PetscInt nd, PetscInt first, const PetscInt off[], PetscScalar *const val[], const PetscInt ai[],
                                          const PetscInt aj[], const PetscScalar aa[], PetscReal tol, int *bad, PolderStream stream);
/* seen[j - i + m] = 1 for each entry (i, j); seen[] has m + n bytes and is zero before */
POLDER_LAUNCHER int PolderDiaOffsets_CUDA(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], unsigned char seen[], PolderStream stream);
/* s = v. Failure (host: returns FALSE, device: sets *bad): a finite value is too large for single precision */
PETSC_INTERN PetscBool PolderToSingle_Host(size_t n, const PetscScalar v[], float s[]);
POLDER_LAUNCHER int    PolderToSingle_CUDA(size_t n, const PetscScalar v[], float s[], int *bad, PolderStream stream);
/* a = s in bfloat16; sets *bad if a finite value becomes infinite */
PETSC_INTERN void   PolderToBfloat_Host(size_t n, const float s[], PolderBfloat a[], int *bad);
POLDER_LAUNCHER int PolderToBfloat_CUDA(size_t n, const float s[], PolderBfloat a[], int *bad, PolderStream stream);
