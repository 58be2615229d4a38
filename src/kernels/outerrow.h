/* Row bodies for rows with off-process entries, which host and device share. */
#pragma once

#include "excessrow.h"
#include "levelmatrix.h"
#include "levelrow.h"

/* Surveys row k of the rows with off-process entries: these and the entries of the local block */
POLDER_BODY PolderRowSurvey PolderOuterLook(const PolderSparseRows *O, PetscInt k, const PolderRows *A)
{
  const PetscInt  i = O->row[k];
  PolderRowSurvey s = {0, 0, 0, -1};

  PolderRowLookAll(i, A, &s);
  for (PetscInt e = O->ptr[k]; e < O->ptr[k + 1]; ++e) PolderRowLook(i, e, -1, PetscRealPart(O->val[e]), &s);
  return s;
}

/* The strongest off-process coupling of row k */
POLDER_BODY PetscReal PolderOuterStrongest(const PolderSparseRows *O, PetscInt k)
{
  PetscReal strongest = 0;

  for (PetscInt e = O->ptr[k]; e < O->ptr[k + 1]; ++e) {
    if (-PetscRealPart(O->val[e]) > strongest) strongest = -PetscRealPart(O->val[e]);
  }
  return strongest;
}

/* The excess of coarse row C->row[t], see excess.h */
POLDER_BODY void PolderOuterExcess(PetscInt t, const PolderSparseRows *C, const PolderSparseRows *O, const PolderAggregates *P, const PetscInt agg[],
                                   PetscInt nc, PetscReal excess[], PetscReal here[])
{
  PetscReal lone[2] = {0, 0}, outer[2] = {0, 0};

  for (PetscInt e = C->ptr[t]; e < C->ptr[t + 1]; ++e) PolderExcessAdd(PetscRealPart(C->val[e]), outer);
  for (PetscInt m = P->ptr[t]; agg && m < P->ptr[t + 1]; ++m) {
    for (PetscInt e = O->ptr[P->row[m]]; e < O->ptr[P->row[m] + 1]; ++e) {
      if (agg[O->col[e]] >= nc) PolderExcessAdd(PetscRealPart(O->val[e]), lone);
    }
  }
  PolderExcessLeaveRow(C->row[t], lone, outer, excess, here);
}
