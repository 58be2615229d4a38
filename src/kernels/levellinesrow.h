/* Row bodies for interpolation along lines, which host and device share. */
#pragma once

#include "levellines.h"
#include "levelrow.h"

/* Aggregates of more rows than this, or of rows with more entries, are in no line */
#define POLDER_LINES_ROWS    3
#define POLDER_LINES_ENTRIES 32
/* A row may lie in a line if its two strongest couplings are this part of all, and the second is this part of the first */
#define POLDER_LINES_PART 0.7
#define POLDER_LINES_NEXT 0.25
/* A positive entry of this part of the diagonal is rounding */
#define POLDER_LINES_ROUNDING 1e-12

/*
  to[0], to[1] <- the rows that the two strongest couplings of row i lead to, -1 if it lies in no line. Returns bit 1 if the row has a positive coupling, bit 2
  if its sum is negative, or not known
*/
POLDER_BODY unsigned PolderLineLook(PetscInt i, const PolderRows *A, const PetscReal excess[], PetscInt to[2])
{
  PetscReal strong[2] = {0, 0}, all = 0, positive = 0, diagonal = 0;

  to[0] = to[1] = -1;
  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    const PetscReal a = -PetscRealPart(A->a[k]);

    if (A->j[k] == i) diagonal = -a;
    else if (a < 0) positive = -a > positive ? -a : positive;
    else {
      const int second = !(a > strong[0]);

      all += a;
      if (!second) {
        strong[1] = strong[0];
        to[1]     = to[0];
      }
      if (!second || a > strong[1]) {
        strong[second] = a;
        to[second]     = A->j[k];
      }
    }
  }
  if (!(strong[0] + strong[1] >= POLDER_LINES_PART * all) || !(strong[1] >= POLDER_LINES_NEXT * strong[0])) to[0] = to[1] = -1;
  return (unsigned)(positive > POLDER_LINES_ROUNDING * diagonal) << 1 | (unsigned)(excess[i] < 0) << 2;
}

/* Does row i lie in a line with its neighbours? strong[]: to[] of all rows */
POLDER_BODY unsigned PolderLineHas(PetscInt i, const PetscInt strong[])
{
  for (int k = 0; k < 2; ++k) {
    const PetscInt j = strong[2 * (size_t)i + k];

    if (j < 0 || (strong[2 * (size_t)j] != i && strong[2 * (size_t)j + 1] != i)) return 0;
  }
  return 1;
}

/* Below this part of the couplings within both aggregates a coupling is as weak as those across lines: nothing to scale or to interpolate from */
#define POLDER_LINES_WEAK 0.02
/* Weights that differ by less are equal: rounding does not decide between two aggregates */
#define POLDER_LINES_BETTER 1.15

/* Does row i have part in lines? */
POLDER_BODY PetscBool PolderLineTakes(PetscInt i, const PolderAggregates *P, const PolderRows *A)
{
  const PetscInt a = P->agg[i];

  if (a >= P->n || P->ptr[a + 1] - P->ptr[a] > POLDER_LINES_ROWS) return PETSC_FALSE;
  for (PetscInt r = P->ptr[a]; r < P->ptr[a + 1]; ++r) {
    if (A->i[P->row[r] + 1] - A->i[P->row[r]] > POLDER_LINES_ENTRIES) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The strongest coupling of row i to a row of its aggregate, 0 if it is alone, -1 if the aggregate is in no line */
POLDER_BODY PetscReal PolderLineInner(PetscInt i, const PolderAggregates *P, const PolderRows *A)
{
  PetscReal most = 0;

  if (!PolderLineTakes(i, P, A)) return -1;
  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    if (A->j[k] != i && P->agg[A->j[k]] == P->agg[i] && -PetscRealPart(A->a[k]) > most) most = -PetscRealPart(A->a[k]);
  }
  return most;
}

/* Is entry k of row i the only one that couples the rows of its aggregate to those of aggregate b? That of another row is the likeliest other one */
POLDER_BODY PetscBool PolderLineSingle(PetscInt i, PetscInt k, PetscInt b, const PolderAggregates *P, const PolderRows *A)
{
  const PetscInt a = P->agg[i];

  for (int own = 0; own < 2; ++own) {
    for (PetscInt r = P->ptr[a]; r < P->ptr[a + 1]; ++r) {
      const PetscInt row = P->row[r];

      for (PetscInt q = A->i[row]; (row == i) == own && q < A->i[row + 1]; ++q) {
        if (q != k && P->agg[A->j[q]] == b) return PETSC_FALSE;
      }
    }
  }
  return PETSC_TRUE;
}

/* single[i] of row i */
POLDER_BODY unsigned PolderLineSingles(PetscInt i, const PolderAggregates *P, const PolderRows *A)
{
  unsigned bits = 0;

  if (!PolderLineTakes(i, P, A)) return 0;
  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    const PetscInt b = P->agg[A->j[k]];

    if (b < P->n && b != P->agg[i] && PolderLineSingle(i, k, b, P, A)) bits |= 1u << (k - A->i[i]);
  }
  return bits;
}

/* What the local couplings of row i leave of its strongest coupling: with parts, those to other processes may have all of the rest of the diagonal */
POLDER_BODY PetscReal PolderLineStrongest(PetscInt i, const PolderRows *A, PetscBool parts)
{
  PetscReal most = 0, sum = 0;

  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    const PetscReal a = PetscRealPart(A->a[k]);

    if (A->j[k] != i && -a > most) most = -a;
    sum += a;
  }
  return parts && sum > most ? sum : most;
}

/* The entries of row i for the next level, and the aggregate beside it with its weight */
POLDER_BODY void PolderLineRow(PetscInt i, const PolderLevelLines *L, const PolderAggregates *P, const PolderRows *A, const PolderLineRule *rule)
{
  const PetscReal own = rule->inner[i], here = own > 0 ? 0.5 / own : 0, strongest = PolderLineStrongest(i, A, rule->parts);
  const unsigned  single = L->single[i];
  PetscReal       best = 0, less = 0;
  PetscInt        to = P->n, at = -1;

  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
    const PetscInt  j = A->j[k];
    const PetscReal a = -PetscRealPart(A->a[k]), other = rule->inner[j];
    PetscReal       s = a;

    if (j == i) at = k;
    else if (a > 0 && own >= 0 && other >= 0 && (a > POLDER_LINES_WEAK * own || a > POLDER_LINES_WEAK * other) && single >> (k - A->i[i]) & 1) {
      const PetscReal there = other > 0 ? 0.5 / other : 0, beyond = 1 / (1 / a + there);
      const PetscReal series = 1 / (here + there + 1 / a), half = a / 2;

      s = series > half ? series : half;
      less += a - s;
      if (own > 0 && (!rule->keep || P->agg[j] == L->beside[i])) {
        const PetscReal linear = beyond / (beyond + 2 * own), most = s / (2 * strongest), w = linear < most ? linear : most;

        if (w > POLDER_LINES_BETTER * best) {
          best = w;
          to   = P->agg[j];
        }
      }
    }
    if (j != i) rule->scaled[k] = -s;
  }
  if (at >= 0) rule->scaled[at] = A->a[at] - less;
  if (!rule->keep) L->beside[i] = to;
  L->weight[i] = (float)best;
}
