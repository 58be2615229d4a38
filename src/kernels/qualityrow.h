/* Bodies of the check of aggregates that host and device share. */
#pragma once

#include "pairrow.h"
#include "quality.h"

/* Entries of a row that are loaded, and sums that are added up, beside each other */
#define POLDER_QUALITY_AHEAD 8
#define POLDER_QUALITY_SUMS  4

/* The part of the diagonal of row i that couples it to others */
POLDER_BODY PetscReal PolderQualityCoupled(PetscInt i, const PolderQuality *q)
{
  const PetscReal c = PolderPairCoupled(q->d[i], q->s[i]);

  return c > 0 ? c : 0;
}

/*
  The bound holds if kappa / 2 times the Laplacian of the couplings within the aggregate minus C + c c^T / total is positive semi-definite, where C =
  diag(c) and total is the sum of c. This is a Laplacian as well, with weights of both signs, and stays one when rows are eliminated. So the weights alone
  are stored: pivots are their sums, and neither loses digits where couplings range over decades. W[] <- the weights of row i of
  the m rows from position `first` on, of which that of the row itself is never read; share[k] = c_k / total, 0 where total is
*/
POLDER_BODY void PolderQualityRow(PetscInt i, PetscInt first, PetscInt m, const PetscInt at[], PetscReal c, const PetscReal share[], const PolderRows *A,
                                  PetscReal kappa, PetscReal *PETSC_RESTRICT W)
{
  const PetscInt end = A->i[i + 1];

  for (PetscInt k = 0; k < m; ++k) W[k] = -c * share[k];
  for (PetscInt e = A->i[i]; e < end; e += POLDER_QUALITY_AHEAD) {
    PetscInt  k[POLDER_QUALITY_AHEAD];
    PetscReal w[POLDER_QUALITY_AHEAD];

    for (int s = 0; s < POLDER_QUALITY_AHEAD; ++s) {
      k[s] = e + s < end ? at[A->j[e + s]] - first : -1;
      w[s] = e + s < end ? kappa / 2 * PetscRealPart(A->a[e + s]) : 0;
    }
    for (int s = 0; s < POLDER_QUALITY_AHEAD; ++s) {
      if (k[s] >= 0 && k[s] < m) W[k[s]] -= w[s];
    }
  }
}

/* The pivot of row k with the weights W[k + 1 .. m), negative if the bound does not hold */
POLDER_BODY PetscReal PolderQualityPivot(PetscInt k, PetscInt m, const PetscReal W[])
{
  PetscReal part[POLDER_QUALITY_SUMS] = {0}, parts[POLDER_QUALITY_SUMS] = {0}, sum, size;

  for (PetscInt first = k + 1; first < m; first += POLDER_QUALITY_SUMS) {
    for (int s = 0; s < POLDER_QUALITY_SUMS; ++s) {
      const PetscReal w = first + s < m ? W[first + s] : 0;

      part[s] += w;
      parts[s] += w < 0 ? -w : w;
    }
  }
  sum  = (part[0] + part[1]) + (part[2] + part[3]);
  size = ((parts[0] + parts[1]) + (parts[2] + parts[3])) * POLDER_QUALITY_ZERO;
  return sum > size ? sum : sum >= -size ? size : -1;
}

/* Eliminates row k, with the weights V[], from a row behind it */
POLDER_BODY void PolderQualityEliminate(PetscInt k, PetscInt m, PetscReal pivot, const PetscReal *PETSC_RESTRICT V, PetscReal *PETSC_RESTRICT W)
{
  const PetscReal f = pivot > 0 ? W[k] / pivot : 0;

  for (PetscInt j = k + 1; j < m; ++j) W[j] += f * V[j];
}

/* Undoes what made a bad aggregate of row i */
POLDER_BODY void PolderQualityUndoRow(PetscInt i, const PetscInt agg[], PetscInt n, const PetscInt bad[], PetscInt mate[], PetscInt join[])
{
  if (!(agg[i] < n && bad[agg[i]])) return;
  if (join) join[i] = i;
  else mate[i] = i;
}
