/* The work on a row of levelwhole.h, which host and device share. */
#pragma once

#include "levelgridrow.h"
#include "levelwhole.h"

/* Row i of n */
POLDER_BODY void PolderLevelWholeTakeRow(const PolderRows *A, const PetscInt stride[3], PetscInt i, PetscScalar entry[])
{
  POLDER_UNROLL
  for (int d = 0; d < 4; ++d) {
    PetscScalar a = 0;

    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
      if (A->j[k] - i == (d < 3 ? stride[d] : 0)) a = A->a[k];
    }
    entry[d * A->n + i] = a;
  }
}

/* Row k of those with off-process entries */
POLDER_BODY void PolderLevelWholeTakeOuterRow(const PolderSparseRows *A, PetscInt below, PetscInt k, PetscScalar up[])
{
  for (PetscInt e = A->ptr[k]; e < A->ptr[k + 1]; ++e) {
    if (A->col[e] >= below) up[A->row[k]] = A->val[e];
  }
}

/* Row c */
POLDER_BODY void PolderLevelWholeRow(const PolderLevelGrid *G, PetscInt c, const PetscScalar entry[], PetscBool pattern, PetscInt ai[], PetscInt aj[],
                                     PetscScalar aa[])
{
  PetscInt at[3], k = PolderLevelGridRowStart(G, c);

  PolderLevelGridAt(G->csize, c, at);
  if (pattern) ai[c] = k;
  POLDER_UNROLL
  for (int e = 0; e < 7; ++e) { // columns ascend
    const int      d = e < 3 ? 2 - e : e - 4, side = e < 3 ? -1 : 1;
    const PetscInt j = e == 3 ? c : PolderLevelGridNeighbour(G->csize, G->nc, c, at, d, side);

    if (j < 0) continue;
    if (pattern) aj[k] = j;
    aa[k++] = e == 3 ? entry[3 * G->nc + c] : entry[d * G->nc + (side > 0 ? c : j)];
  }
  if (pattern && c == G->nc - 1) ai[G->nc] = k;
}
