/* What a row says with its entries to other processes; bodies that host and device share. */
#pragma once

#include "levelmatrix.h"
#include "levelrow.h"

/* Row k of those that have such entries, with these and those of the local block */
POLDER_LEVELROW PolderRowSurvey PolderOuterLook(const PolderOuterRows *O, PetscInt k, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[])
{
  const PetscInt  i = O->row[k];
  PolderRowSurvey s = {0, 0, 0, -1};

  for (PetscInt e = ai[i]; e < ai[i + 1]; ++e) PolderRowLook(i, e, aj[e], PetscRealPart(aa[e]), &s);
  for (PetscInt e = O->ptr[k]; e < O->ptr[k + 1]; ++e) PolderRowLook(i, e, -1, PetscRealPart(O->val[e]), &s);
  return s;
}

/* The strongest of its couplings to other processes */
POLDER_LEVELROW PetscReal PolderOuterStrongest(const PolderOuterRows *O, PetscInt k)
{
  PetscReal strongest = 0;

  for (PetscInt e = O->ptr[k]; e < O->ptr[k + 1]; ++e) {
    if (-PetscRealPart(O->val[e]) > strongest) strongest = -PetscRealPart(O->val[e]);
  }
  return strongest;
}
