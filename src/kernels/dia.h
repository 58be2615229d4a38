/*
  Diagonals: val[d][i] is entry (i, i + off[d]) of an m by n matrix, read only where row and column exist; off ascends. Device: off and val are on the host,
  val[d] on the device.
*/
#pragma once

#include "launcher.h"

/* z = y + alpha A x; y = NULL stands for zero and may be z. Device: dot != NULL: *dot becomes (x, A x), with PolderDiaMultWork_CUDA() bytes of work */
PETSC_INTERN void PolderDiaMult_Host(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[]);
POLDER_LAUNCHER int PolderDiaMult_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work, PolderStream stream);
POLDER_LAUNCHER size_t PolderDiaMultWork_CUDA(PetscInt m);
/* The same with the diagonals in single precision */
POLDER_LAUNCHER int PolderDiaMultSingle_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const float *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderStream stream);
/*
  Copies CSR values into the diagonals first .. nd, zero where there is no entry; those below first are compared with what their pointers lead to. Host:
  FALSE, device: *bad is raised, when columns do not ascend, when an entry lies on no diagonal, and when one of the diagonals below first is not the mirror
  image, up to tol. Device: tol = infinity: entries there are not looked at
*/
PETSC_INTERN PetscBool PolderDiaFill_Host(PetscInt m, PetscInt nd, PetscInt first, const PetscInt off[], PetscScalar *const val[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscReal tol);
POLDER_LAUNCHER int    PolderDiaFill_CUDA(PetscInt m, PetscInt nd, PetscInt first, const PetscInt off[], PetscScalar *const val[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscReal tol, int *bad, PolderStream stream);
/* seen[j - i + m] = 1 for each entry (i, j); seen[] has m + n bytes, zero before */
POLDER_LAUNCHER int PolderDiaOffsets_CUDA(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], unsigned char seen[], PolderStream stream);
/* s = v. Host: FALSE, device: *bad is raised, when a finite value is too large for single precision */
PETSC_INTERN PetscBool PolderToSingle_Host(size_t n, const PetscScalar v[], float s[]);
POLDER_LAUNCHER int    PolderToSingle_CUDA(size_t n, const PetscScalar v[], float s[], int *bad, PolderStream stream);
