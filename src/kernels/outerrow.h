/* Row bodies for rows with off-process entries, which host and device share. */
#pragma once

#include "levelmatrix.h"
#include "levelrow.h"

/* Surveys row k of the rows with off-process entries: these and the entries of the local block */
POLDER_LEVELROW PolderRowSurvey PolderOuterLook(const PolderSparseRows *O, PetscInt k, const PolderRows *A)
{
  const PetscInt  i = O->row[k];
  PolderRowSurvey s = {0, 0, 0, -1};

  for (PetscInt e = A->i[i]; e < A->i[i + 1]; ++e) PolderRowLook(i, e, A->j[e], PetscRealPart(A->a[e]), &s);
  for (PetscInt e = O->ptr[k]; e < O->ptr[k + 1]; ++e) PolderRowLook(i, e, -1, PetscRealPart(O->val[e]), &s);
  return s;
}

/* The strongest off-process coupling of row k */
POLDER_LEVELROW PetscReal PolderOuterStrongest(const PolderSparseRows *O, PetscInt k)
{
  PetscReal strongest = 0;

  for (PetscInt e = O->ptr[k]; e < O->ptr[k + 1]; ++e) {
    if (-PetscRealPart(O->val[e]) > strongest) strongest = -PetscRealPart(O->val[e]);
  }
  return strongest;
}
