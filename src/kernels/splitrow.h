/* The work on a row of splitrows.h, which host and device share. */
#pragma once

#include "levelrow.h"
#include "splitrows.h"

/* Where row i is among those with off-process entries; -1: it has none */
POLDER_BODY PetscInt PolderSplitOuter(const PolderSplitRows *A, PetscInt i)
{
  PetscInt low = 0, high = A->outer.n;

  while (low < high) {
    const PetscInt middle = low + (high - low) / 2;

    if (A->outer.row[middle] < i) low = middle + 1;
    else high = middle;
  }
  return low < A->outer.n && A->outer.row[low] == i ? low : -1;
}

POLDER_BODY PetscInt PolderSplitLength(const PolderSplitRows *A, PetscInt i)
{
  const PetscInt k = PolderSplitOuter(A, i);

  return A->own.i[i + 1] - A->own.i[i] + (k < 0 ? 0 : A->outer.ptr[k + 1] - A->outer.ptr[k]);
}

POLDER_BODY void PolderSplitMerge(const PolderSplitRows *A, PetscInt i, const PetscInt start[], PetscReal col[], PetscScalar val[])
{
  const PetscInt k = PolderSplitOuter(A, i), end = k < 0 ? 0 : A->outer.ptr[k + 1];
  PetscInt       b = k < 0 ? 0 : A->outer.ptr[k], at = start[i] - start[0];

  for (; b < end && A->ghost[A->outer.col[b]] < A->first; ++b, ++at) {
    if (col) col[at] = (PetscReal)A->ghost[A->outer.col[b]];
    val[at] = A->outer.val[b];
  }
  for (PetscInt a = A->own.i[i]; a < A->own.i[i + 1]; ++a, ++at) {
    if (col) col[at] = (PetscReal)(A->first + A->own.j[a]);
    val[at] = A->own.a[a];
  }
  for (; b < end; ++b, ++at) {
    if (col) col[at] = (PetscReal)A->ghost[A->outer.col[b]];
    val[at] = A->outer.val[b];
  }
}
