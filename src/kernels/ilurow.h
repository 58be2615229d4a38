/* Row bodies of the incomplete factorisation that host and device share. */
#pragma once

#include "ilu.h"
#include "labelrow.h"
#include <float.h>

/* Row i of the factors <- row i of the matrix; returns the sum of its absolute values, which is not finite when an entry is not */
POLDER_ROW PetscReal PolderIluFillRow(const PolderIlu *ilu, PetscInt i, const PetscScalar aa[], PetscScalar val[])
{
  const PetscInt s      = i / POLDER_ILU_SLICE;
  const PetscInt source = ilu->source[ilu->nz + i];
  PetscScalar    v      = source < 0 ? 0 : aa[source];
  PetscReal      sum    = v < 0 ? -v : v;

  val[ilu->nz + i] = v;
  for (int t = 0; t < 2; ++t) {
    for (PetscInt p = ilu->start[t][s] + i % POLDER_ILU_SLICE; p < ilu->start[t][s + 1]; p += POLDER_ILU_SLICE) {
      const PetscInt from = ilu->source[p];

      v      = from < 0 ? 0 : aa[from];
      val[p] = v;
      sum += v < 0 ? -v : v;
    }
  }
  return sum;
}

/*
  Eliminates row i of the block that begins at row r0, and returns its pivot. Until the block is done the upper triangle is D U, and
  a_ij <- a_ij - (w_ic w_cj) / d_c, l_ic = w_ic / d_c. This order of the factors makes L = U^T for a symmetric matrix.
*/
POLDER_ROW PetscScalar PolderIluEliminateRow(const PolderIlu *ilu, PetscInt r0, PetscInt i, PetscScalar val[])
{
  const PetscInt *col = ilu->col, *upper = ilu->start[1], s = i / POLDER_ILU_SLICE, me = i - r0;
  const PetscInt  lend = ilu->start[0][s + 1], ubegin = upper[s] + i % POLDER_ILU_SLICE, uend = upper[s + 1];
  PetscScalar     pivot = val[ilu->nz + i];

  for (PetscInt p = ilu->start[0][s] + i % POLDER_ILU_SLICE; p < lend && col[p] != me; p += POLDER_ILU_SLICE) {
    const PetscInt    c = col[p], row = r0 + c, end = upper[row / POLDER_ILU_SLICE + 1];
    const PetscScalar w = val[p], inverse = val[ilu->nz + row];
    PetscInt          l = p + POLDER_ILU_SLICE, u = ubegin;

    for (PetscInt q = upper[row / POLDER_ILU_SLICE] + row % POLDER_ILU_SLICE; q < end && col[q] != c; q += POLDER_ILU_SLICE) {
      const PetscInt    j      = col[q];
      const PetscScalar update = (w * val[q]) * inverse;

      if (j < me) {
        while (l < lend && col[l] < j) l += POLDER_ILU_SLICE;
        if (l < lend && col[l] == j) val[l] -= update;
      } else if (j == me) pivot -= update;
      else {
        while (u < uend && col[u] < j) u += POLDER_ILU_SLICE;
        if (u < uend && col[u] == j) val[u] -= update;
      }
    }
    val[p] = w * inverse;
  }
  return pivot;
}

/* D U -> U */
POLDER_ROW void PolderIluScaleRow(const PolderIlu *ilu, PetscInt i, PetscScalar val[])
{
  const PetscInt    s       = i / POLDER_ILU_SLICE;
  const PetscScalar inverse = val[ilu->nz + i];

  for (PetscInt p = ilu->start[1][s] + i % POLDER_ILU_SLICE; p < ilu->start[1][s + 1]; p += POLDER_ILU_SLICE) val[p] *= inverse;
}

/* The diagonal entry v of a row that sums to sum, moved away from zero or, where pivots must be positive, up */
POLDER_ROW PetscScalar PolderIluShifted(const PolderIluPivots *pivots, PetscScalar v, PetscReal shift, PetscReal sum)
{
  return v < 0 && !pivots->positive ? v - shift * sum : v + shift * sum;
}

/* Neither zero nor, as not a number is, something else that cannot be divided by */
POLDER_ROW PetscBool PolderIluPivotGood(const PolderIluPivots *pivots, PetscScalar pivot, PetscReal sum)
{
  const PetscReal size = pivot < 0 && !pivots->positive ? -pivot : pivot;

  return (PetscBool)(size > pivots->tol * sum && size <= PETSC_MAX_REAL);
}

/* Row i in single precision; is it within its range? */
POLDER_ROW PetscBool PolderIluRoundRow(const PolderIlu *ilu, PetscInt i, const PetscScalar val[], float rounded[])
{
  const PetscInt s       = i / POLDER_ILU_SLICE;
  const float    inverse = (float)val[ilu->nz + i];
  PetscBool      good    = (PetscBool)(inverse <= FLT_MAX && inverse >= -FLT_MAX && (inverse == 0) == (val[ilu->nz + i] == 0));

  rounded[ilu->nz + i] = inverse;
  for (int t = 0; t < 2; ++t) {
    for (PetscInt p = ilu->start[t][s] + i % POLDER_ILU_SLICE; p < ilu->start[t][s + 1]; p += POLDER_ILU_SLICE) {
      rounded[p] = (float)val[p];
      if (!(rounded[p] <= FLT_MAX && rounded[p] >= -FLT_MAX)) good = PETSC_FALSE;
    }
  }
  return good;
}

/* The entry of the right-hand side that a row reads */
POLDER_ROW PetscScalar PolderIluRead(const PolderIluVectors *v, PetscInt i)
{
  const PetscInt    e     = v->from[i];
  const PetscScalar value = e < v->n ? v->r[e] : v->ghost[e - v->n];

  return v->weight ? v->weight[e] * value : value;
}
