/* Row bodies of the incomplete factorisation that host and device share. */
#pragma once

#include "iluspan.h"
#include <float.h>
#include <math.h>

/* Row i of the factors <- row i of the matrix; returns the sum of its absolute values, which is not finite when an entry is not */
POLDER_BODY PetscReal PolderIluFillRow(const PolderIlu *ilu, PetscInt i, const PetscScalar aa[], PetscScalar val[])
{
  const PetscInt source = ilu->source[ilu->nz + i];
  PetscScalar    v      = source < 0 ? 0 : aa[source];
  PetscReal      sum    = v < 0 ? -v : v;

  val[ilu->nz + i] = v;
  for (int t = 0; t < 2; ++t) {
    const PolderIluSpan row = PolderIluSpanOf(ilu, t, i);

    for (PetscInt p = row.p; p < row.end; p += row.step) {
      const PetscInt from = ilu->source[p];

      v      = from < 0 ? 0 : aa[from];
      val[p] = v;
      sum += v < 0 ? -v : v;
    }
  }
  return sum;
}

/*
  Is the entry v = l_ij d_j, or d_i u_ij, to be dropped? The rule of Munksgaard (ACM Trans. Math. Softw. 6, 1980), with the sums of the absolute values of the
  rows in place of their diagonal entries. It takes both triangles of a symmetric matrix alike, and scaled rows and columns like those before scaling
*/
POLDER_BODY PetscBool PolderIluSmall(const PolderIluPivots *pivots, PetscScalar v, PetscInt i, PetscInt j)
{
  return (PetscBool)((v < 0 ? -v : v) < pivots->drop * (sqrt(pivots->sum[i]) * sqrt(pivots->sum[j])));
}

/* D U -> U */
POLDER_BODY void PolderIluScaleRow(const PolderIlu *ilu, PetscInt i, PetscScalar val[])
{
  const PolderIluSpan row     = PolderIluSpanOf(ilu, 1, i);
  const PetscScalar   inverse = val[ilu->nz + i];

  for (PetscInt p = row.p; p < row.end; p += row.step) val[p] *= inverse;
}

/* The diagonal entry v of a row that sums to sum, moved away from zero or, where pivots must be positive, up */
POLDER_BODY PetscScalar PolderIluShifted(const PolderIluPivots *pivots, PetscScalar v, PetscReal shift, PetscReal sum)
{
  return v < 0 && !pivots->positive ? v - shift * sum : v + shift * sum;
}

/* Neither zero nor, as not a number is, something else that cannot be divided by */
POLDER_BODY PetscBool PolderIluPivotGood(const PolderIluPivots *pivots, PetscScalar pivot, PetscReal sum)
{
  const PetscReal size = pivot < 0 && !pivots->positive ? -pivot : pivot;

  return (PetscBool)(size > pivots->tol * sum && size <= PETSC_MAX_REAL);
}

/* Has row i grown by more than `most` in a solve with sum[]? What is not a number has */
POLDER_BODY PetscBool PolderIluGrown(const PolderIlu *ilu, const PolderIluPivots *pivots, PetscReal most, PetscInt i, const PetscScalar val[],
                                     const PetscScalar x[])
{
  const PetscScalar inverse = val[ilu->nz + i];

  return (PetscBool) !((x[i] < 0 ? -x[i] : x[i]) <= most * pivots->sum[i] * (inverse < 0 ? -inverse : inverse));
}

/* Row i in single precision; is it within its range? */
POLDER_BODY PetscBool PolderIluRoundRow(const PolderIlu *ilu, PetscInt i, const PetscScalar val[], float rounded[])
{
  const float inverse = (float)val[ilu->nz + i];
  PetscBool   good    = (PetscBool)(inverse <= FLT_MAX && inverse >= -FLT_MAX && (inverse == 0) == (val[ilu->nz + i] == 0));

  rounded[ilu->nz + i] = inverse;
  for (int t = 0; t < 2; ++t) {
    const PolderIluSpan row = PolderIluSpanOf(ilu, t, i);

    for (PetscInt p = row.p; p < row.end; p += row.step) {
      rounded[p] = (float)val[p];
      if (!(rounded[p] <= FLT_MAX && rounded[p] >= -FLT_MAX)) good = PETSC_FALSE;
    }
  }
  return good;
}

/* Entries of a row of triangle t that are not zero */
POLDER_BODY PetscInt PolderIluCountRow(const PolderIlu *ilu, int t, PetscInt i, const PetscScalar val[])
{
  const PolderIluSpan row = PolderIluSpanOf(ilu, t, i);
  PetscInt            n   = 0;

  for (PetscInt p = row.p; p < row.end; p += row.step) n += val[p] != 0;
  return n;
}

POLDER_BODY void PolderIluPackRow(const PolderIlu *ilu, PetscInt i, const PetscScalar val[], const PolderIlu *to, PetscInt col[], PetscScalar packed[])
{
  packed[to->nz + i] = val[ilu->nz + i];
  for (int t = 0; t < 2; ++t) {
    const PolderIluSpan row = PolderIluSpanOf(ilu, t, i), less = PolderIluSpanOf(to, t, i);
    PetscInt            q = less.p;

    for (PetscInt p = row.p; p < row.end; p += row.step) {
      if (val[p] == 0) continue;
      col[q]    = ilu->col[p];
      packed[q] = val[p];
      q += less.step;
    }
    for (; q < less.end; q += less.step) {
      col[q]    = row.p < row.end ? ilu->col[row.p] : 0;
      packed[q] = 0;
    }
  }
}

/* Entry e of the right-hand side */
POLDER_BODY PetscScalar PolderIluEntry(const PolderIluVectors *v, PetscInt e)
{
  const PetscScalar value = e < v->n ? v->r[e] : v->ghost[e - v->n];

  return v->weight ? v->weight[e] * value : value;
}

/* x of row number[k] <- the entry that it reads */
POLDER_BODY void PolderIluRead(const PolderIluVectors *v, PetscInt k, PetscScalar x[])
{
  x[v->number[k]] = PolderIluEntry(v, v->from[k]);
}

/* The entry that row number[k] writes, if there is one */
POLDER_BODY void PolderIluWrite(const PolderIluVectors *v, PetscInt k)
{
  if (v->to[k] >= 0) v->z[v->to[k]] = v->x[v->number[k]];
}

/*
  Sweep k of an apply, 0 <= k <= 2 sweeps: first those with L, then D^-1 alone, then those with U. y = c - N x with L, y = D^-1 c - N x with U; x = NULL:
  without N x. c stays as it is through the sweeps of a triangle, and the last y is v->x
*/
typedef struct {
  int                upper;
  const PetscScalar *c, *x;
  PetscScalar       *y;
} PolderIluSweep;

/* The array that receives the right-hand side */
POLDER_BODY PetscScalar *PolderIluSweepFirst(const PolderIluVectors *v)
{
  return v->sweeps % 2 ? v->sweepx[0] : v->x;
}

POLDER_BODY PolderIluSweep PolderIluSweepOf(const PolderIluVectors *v, PetscInt k)
{
  const PetscInt l     = k - v->sweeps;
  PetscScalar   *first = PolderIluSweepFirst(v), *even = v->sweepx[v->sweeps % 2], *odd = v->sweeps % 2 ? v->x : v->sweepx[1];
  PetscScalar   *solved = v->sweeps % 2 ? even : odd, *other = v->sweeps % 2 ? odd : even;
  PolderIluSweep s;

  s.upper = l >= 0;
  if (s.upper) {
    s.c = solved;
    s.x = l == 0 ? NULL : l % 2 ? first : other;
    s.y = l % 2 ? other : first;
  } else {
    s.c = first;
    s.x = k == 0 ? first : k % 2 ? even : odd;
    s.y = k % 2 ? odd : even;
  }
  return s;
}
