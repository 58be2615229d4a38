/* What a preconditioner that is made from the rows of a matrix must know of them. */
#pragma once

#include "launcher.h"
#include "levelrow.h"

/* What is wrong with row i, which has entries of off-process columns in B (B->i = NULL: none) */
POLDER_BODY PetscInt64 PolderRowCheck(PetscInt i, const PolderRows *A, const PolderRows *B)
{
  const PolderRowSurvey s = PolderRowSurveyOf(i, A, B);

  return PolderRowBad(i, PolderRowJudge(&s, PETSC_FALSE));
}

/* *bad <- the smallest of *bad and those of the rows */
PETSC_INTERN void   PolderRowsCheck_Host(const PolderRows *A, const PolderRows *B, PetscInt64 *bad);
POLDER_LAUNCHER int PolderRowsCheck_CUDA(const PolderRows *A, const PolderRows *B, PetscInt64 *bad, PolderStream stream);
