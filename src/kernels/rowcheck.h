/* What a preconditioner that is made from the rows of a matrix must know of them. */
#pragma once

#include "launcher.h"

#if defined(__CUDACC__)
  #define POLDER_ROWCHECK static __host__ __device__ __forceinline__
#else
  #define POLDER_ROWCHECK static inline
#endif

/* Why a row cannot be used */
enum {
  POLDER_ROW_NODIAGONAL,
  POLDER_ROW_ZERO,
  POLDER_ROW_NEGATIVE,
  POLDER_ROW_NOTFINITE,
  POLDER_ROW_GOOD
};

/* Entries aa[] of the local block, ba[] of off-process columns (bi = NULL: none) */
POLDER_ROWCHECK int PolderRowKind(PetscInt i, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[], const PetscScalar ba[])
{
  PetscScalar diagonal = 0;
  PetscReal   size     = 0;
  int         found    = 0;

  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
    size += aa[k] < 0 ? -aa[k] : aa[k];
    if (aj[k] != i) continue;
    diagonal = aa[k];
    found    = 1;
  }
  for (PetscInt k = bi ? bi[i] : 0; bi && k < bi[i + 1]; ++k) size += ba[k] < 0 ? -ba[k] : ba[k];
  if (!found) return POLDER_ROW_NODIAGONAL;
  if (!(size <= PETSC_MAX_REAL)) return POLDER_ROW_NOTFINITE;
  if (diagonal < 0) return POLDER_ROW_NEGATIVE;
  return diagonal > 0 && 1 / diagonal <= PETSC_MAX_REAL ? POLDER_ROW_GOOD : POLDER_ROW_ZERO;
}

/* *bad <- the smallest of *bad and POLDER_ROW_GOOD i + kind of the rows i that cannot be used */
PETSC_INTERN void   PolderRowsCheck_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[],
                                         const PetscScalar ba[], PetscInt *bad);
POLDER_LAUNCHER int PolderRowsCheck_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt bi[],
                                         const PetscScalar ba[], PetscInt *bad, PolderStream stream);
