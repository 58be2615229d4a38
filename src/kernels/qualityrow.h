/* Bodies of the check of aggregates that host and device share. */
#pragma once

#include "pairrow.h"
#include "quality.h"

/* Loops whose bounds are constants where a device calls: arrays in registers need that they are unrolled */
#if defined(__CUDA_ARCH__)
  #define POLDER_UNROLL _Pragma("unroll")
#else
  #define POLDER_UNROLL
#endif

/* The part of the diagonal of row i that couples it to others */
POLDER_BODY PetscReal PolderQualityCoupled(PetscInt i, const PolderQuality *q)
{
  const PetscReal c = PolderPairCoupled(q->d[i], q->s[i]);

  return c > 0 ? c : 0;
}

/*
  The bound holds if kappa / 2 times the Laplacian of the couplings within the aggregate minus C + c c^T / total is positive semi-definite, where C =
  diag(c) and total is the sum of c. This is a Laplacian as well, with weights of both signs, and stays one when rows are eliminated. So the weights alone
  are stored: pivots are their sums, and neither loses digits where couplings range over decades. W[k] <- the weights of row r of the m rows row[] of an
  aggregate; share[k] = c_k / total, 0 where total is
*/
POLDER_BODY void PolderQualityRow(PetscInt r, PetscInt m, const PetscInt row[], PetscReal c, const PetscReal share[], const PolderRows *A, PetscReal kappa,
                                  PetscReal W[])
{
  POLDER_UNROLL
  for (PetscInt k = 0; k < m; ++k) W[k] = k != r ? -c * share[k] : 0;
  for (PetscInt e = A->i[row[r]]; e < A->i[row[r] + 1]; ++e) {
    const PetscInt  j = A->j[e];
    const PetscReal w = kappa / 2 * PetscRealPart(A->a[e]);

    POLDER_UNROLL
    for (PetscInt k = 0; k < m; ++k) {
      if (k != r && row[k] == j) W[k] -= w;
    }
  }
}

/* The pivot of row k with the weights W[k + 1 .. m), negative if the bound does not hold */
POLDER_BODY PetscReal PolderQualityPivot(PetscInt k, PetscInt m, const PetscReal W[])
{
  PetscReal sum = 0, size = 0;

  POLDER_UNROLL
  for (PetscInt j = k + 1; j < m; ++j) {
    sum += W[j];
    size += W[j] < 0 ? -W[j] : W[j];
  }
  size *= POLDER_QUALITY_ZERO;
  return sum > size ? sum : sum >= -size ? size : -1;
}

/* Eliminates row k from row r > k: the weights V[] of row k */
POLDER_BODY void PolderQualityEliminate(PetscInt k, PetscInt r, PetscInt m, PetscReal pivot, const PetscReal V[], PetscReal W[])
{
  const PetscReal f = pivot > 0 ? W[k] / pivot : 0;

  POLDER_UNROLL
  for (PetscInt j = k + 1; j < m; ++j) {
    if (j != r) W[j] += f * V[j];
  }
}

/* Undoes what made a bad aggregate of row i */
POLDER_BODY void PolderQualityUndoRow(PetscInt i, const PetscInt agg[], PetscInt n, const PetscInt bad[], PetscInt mate[], PetscInt join[])
{
  if (!(agg[i] < n && bad[agg[i]])) return;
  if (join) join[i] = i;
  else mate[i] = i;
}
