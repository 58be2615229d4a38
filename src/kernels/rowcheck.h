/* What a preconditioner that is made from the rows of a matrix must know of them. */
#pragma once

#include "launcher.h"
#include "levelrow.h"

/* What is wrong with row i, which has entries of off-process columns in B (B->i = NULL: none) */
POLDER_LEVELROW PetscInt64 PolderRowCheck(PetscInt i, const PolderRows *A, const PolderRows *B)
{
  PolderRowSurvey s = {0, 0, 0, -1};

  PolderRowLookAll(i, A, &s);
  for (PetscInt k = B->i ? B->i[i] : 0; B->i && k < B->i[i + 1]; ++k) PolderRowLook(-1, k, B->j[k], PetscRealPart(B->a[k]), &s);
  return PolderRowBad(i, PolderRowJudge(&s, PETSC_FALSE));
}

/* *bad <- the smallest of *bad and those of the rows */
PETSC_INTERN void   PolderRowsCheck_Host(const PolderRows *A, const PolderRows *B, PetscInt64 *bad);
POLDER_LAUNCHER int PolderRowsCheck_CUDA(const PolderRows *A, const PolderRows *B, PetscInt64 *bad, PolderStream stream);
