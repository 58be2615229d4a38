/* Row bodies for blocks of strongly coupled rows that host and device share. */
#pragma once

#include "levelblocks.h"
#include "levelrow.h"

/* Is entry k of row i, in the upper triangle, a coupling of at least theta sqrt(a_ii a_jj)? */
POLDER_BODY PetscBool PolderBlockStrong(PetscInt i, PetscInt k, const PolderRows *A, const PetscReal d[], PetscReal theta)
{
  const PetscInt  j = A->j[k];
  const PetscReal a = PetscRealPart(A->a[k]), size = a < 0 ? -a : a;

  return (PetscBool)(j > i && d[i] > 0 && d[j] > 0 && size > theta * sqrt(d[i]) * sqrt(d[j]));
}

/* Number of such entries; sets *positive if one of them is positive */
POLDER_BODY PetscInt PolderBlockCountRow(PetscInt i, const PolderRows *A, const PetscReal d[], PetscReal theta, PetscInt *positive)
{
  PetscInt count = 0;

  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    if (!PolderBlockStrong(i, k, A, d, theta)) continue;
    if (PetscRealPart(A->a[k]) > 0) *positive = 1;
    ++count;
  }
  return count;
}

/* Stores these entries from number `to` on */
POLDER_BODY void PolderBlockFillRow(PetscInt i, const PolderRows *A, const PetscReal d[], PetscReal theta, PetscInt to, PetscInt pair[], PetscReal strength[])
{
  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    const PetscReal a = PetscRealPart(A->a[k]);

    if (!PolderBlockStrong(i, k, A, d, theta)) continue;
    pair[2 * to]     = i;
    pair[2 * to + 1] = a > 0 ? A->j[k] : -1 - A->j[k];
    strength[to++]   = (a > 0 ? -a : a) / sqrt(d[i]) / sqrt(d[A->j[k]]);
  }
}

/* The second row of a pair */
POLDER_BODY PetscInt PolderBlockSecond(const PetscInt pair[2])
{
  return pair[1] < 0 ? -1 - pair[1] : pair[1];
}

POLDER_BODY void PolderBlockSpreadPair(const PetscInt pair[2], PetscInt mark[], PetscInt *more)
{
  const PetscInt i = pair[0], j = PolderBlockSecond(pair);

  if (mark[i] == mark[j]) return;
  mark[i] = mark[j] = *more = 1;
}

/* Pair k, which becomes pair `to` */
POLDER_BODY void PolderBlockTakePair(const PetscInt pair[2], const PetscInt number[], PetscInt to[2])
{
  const PetscInt j = number[PolderBlockSecond(pair)];

  to[0] = number[pair[0]];
  to[1] = pair[1] < 0 ? -1 - j : j;
}

/* Row k of copies of some rows */
POLDER_BODY void PolderRowsTakeRow(PetscInt k, const PolderRows *A, const PolderSparseRows *C)
{
  const PetscInt first = A->i[C->row[k]];

  for (PetscInt e = C->ptr[k]; e < C->ptr[k + 1]; ++e) {
    C->col[e] = A->j[first + e - C->ptr[k]];
    C->val[e] = A->a[first + e - C->ptr[k]];
  }
}

/* Where the entries of the row at position r of a block are */
POLDER_BODY PetscInt PolderBlockRow(PetscInt r, const PolderLevelBlocks *B)
{
  return B->own ? r : B->row[r];
}
