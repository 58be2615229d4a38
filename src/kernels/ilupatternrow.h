/* Row bodies of the patterns of incomplete factors that host and device share. */
#pragma once

#include "ilupattern.h"
#include "iluspan.h"

/* The block of entry n of an ascending list of first entries */
POLDER_ROW PetscInt PolderIluBlockOf(PetscInt nblock, const PetscInt block[], PetscInt n)
{
  PetscInt low = 0, high = nblock;

  while (high - low > 1) {
    const PetscInt middle = low + (high - low) / 2;

    if (block[middle] <= n) low = middle;
    else high = middle;
  }
  return low;
}

/* The entries of block row p, the block row of the column of one, and its position in the values of the matrix */
POLDER_ROW const PetscInt *PolderIluEntries(const PolderIluGraph *g, PetscInt p)
{
  return g->i + (g->row ? g->row[p] : p);
}

POLDER_ROW PetscInt PolderIluColumn(const PolderIluGraph *g, PetscInt p, PetscInt k)
{
  return g->column ? g->column[g->j[k]] : p + g->j[k];
}

POLDER_ROW PetscInt PolderIluSource(const PolderIluGraph *g, PetscInt p, PetscInt k)
{
  return g->column ? k : g->base && g->source[k] >= 0 ? g->base[p] + g->source[k] : g->source[k];
}

/* Rows up to this width are sorted as their entries come, which are nearly in order */
#define POLDER_ILU_NARROW 64

/* Sorts n pairs, a step apart, by their columns: Shell's method */
POLDER_ROW void PolderIluSort(PetscInt n, PetscInt step, PetscInt col[], PetscInt source[])
{
  PetscInt gap = 1;

  while (3 * gap + 1 < n) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (PetscInt k = gap; k < n; ++k) {
      const PetscInt c = col[k * step], s = source[k * step];
      PetscInt       l = k;

      for (; l >= gap && col[(l - gap) * step] > c; l -= gap) {
        col[l * step]    = col[(l - gap) * step];
        source[l * step] = source[(l - gap) * step];
      }
      col[l * step]    = c;
      source[l * step] = s;
    }
  }
}

/* Puts a pair at `at`, behind the others of a row; narrow: and where it belongs among them */
POLDER_ROW void PolderIluInsert(PetscBool narrow, const PolderIluSpan *row, PetscInt at, PetscInt c, PetscInt s, PetscInt col[], PetscInt source[])
{
  for (; narrow && at > row->p && col[at - row->step] > c; at -= row->step) {
    col[at]    = col[at - row->step];
    source[at] = source[at - row->step];
  }
  col[at]    = c;
  source[at] = s;
}

/* Row a in the order of levels, of the block r0 .. r1. The rows that it has entries of L with come before it in that order, those of U behind it */
POLDER_ROW void PolderIluPatternRow(const PolderIluGraph *g, const PolderIlu *ilu, PetscInt r0, PetscInt r1, PetscInt a, const PetscInt order[],
                                    const PetscInt place[], PetscInt col[], PetscInt source[])
{
  const PetscInt      p = order[a], *e = PolderIluEntries(g, p), *of = g->column ? place : place + p;
  const PolderIluSpan row[2] = {PolderIluSpanOf(ilu, 0, a), PolderIluSpanOf(ilu, 1, a)};
  PetscBool           narrow[2];
  PetscInt            at[2] = {row[0].p, row[1].p}, diagonal = -1;

  for (int t = 0; t < 2; ++t) narrow[t] = (PetscBool)(row[t].end - row[t].p <= POLDER_ILU_NARROW * row[t].step);
  for (PetscInt k = e[0]; k < e[1]; ++k) {
    const PetscInt c = of[g->j[k]];
    const int      t = c > a;

    if (c < r0 || c >= r1) continue;
    if (c == a) diagonal = PolderIluSource(g, p, k);
    else {
      PolderIluInsert(narrow[t], &row[t], at[t], c - r0, PolderIluSource(g, p, k), col, source);
      at[t] += row[t].step;
    }
  }
  source[ilu->nz + a] = diagonal;
  for (int t = 0; t < 2; ++t) {
    if (!narrow[t]) PolderIluSort((at[t] - row[t].p) / row[t].step, row[t].step, col + row[t].p, source + row[t].p);
    for (PetscInt l = at[t]; l < row[t].end; l += row[t].step) {
      col[l]    = a - r0;
      source[l] = -1;
    }
  }
}

/* Lane a without a row, a >= nrow, gets entries that only fill its slice */
POLDER_ROW void PolderIluPatternLane(const PolderIlu *ilu, PetscInt a, PetscInt col[], PetscInt source[])
{
  for (int t = 0; t < 2; ++t) {
    const PolderIluSpan row = PolderIluSpanOf(ilu, t, a);

    for (PetscInt l = row.p; l < row.end; l += row.step) {
      col[l]    = 0;
      source[l] = -1;
    }
  }
}
