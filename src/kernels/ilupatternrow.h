/* Row bodies of the patterns of incomplete factors that host and device share. */
#pragma once

#include "ilupattern.h"
#include "iluspan.h"

/* The block of entry n of an ascending list of first entries */
POLDER_BODY PetscInt PolderIluBlockOf(PetscInt nblock, const PetscInt block[], PetscInt n)
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
POLDER_BODY const PetscInt *PolderIluEntries(const PolderIluGraph *g, PetscInt p)
{
  return g->i + (g->row ? g->row[p] : p);
}

POLDER_BODY PetscInt PolderIluColumn(const PolderIluGraph *g, PetscInt p, PetscInt k)
{
  return g->column ? g->column[g->j[k]] : p + g->j[k];
}

POLDER_BODY PetscInt PolderIluSource(const PolderIluGraph *g, PetscInt p, PetscInt k)
{
  return g->column ? k : g->base && g->source[k] >= 0 ? g->base[p] + g->source[k] : g->source[k];
}

/* Rows up to this width are sorted as their entries come, which are nearly in order */
#define POLDER_ILU_NARROW 64

/* Sorts n pairs, a step apart, by their columns: Shell's method */
POLDER_BODY void PolderIluSort(PetscInt n, PetscInt step, PetscInt col[], PetscInt source[])
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

/* A row of a triangle that is being filled: entries up to `at` are there; narrow: each goes where it belongs */
typedef struct {
  PolderIluSpan span;
  PetscInt      at;
  PetscBool     narrow;
} PolderIluFilled;

POLDER_BODY PolderIluFilled PolderIluBegin(const PolderIlu *ilu, int t, PetscInt a)
{
  PolderIluFilled row;

  row.span   = PolderIluSpanOf(ilu, t, a);
  row.at     = row.span.p;
  row.narrow = (PetscBool)(row.span.end - row.span.p <= POLDER_ILU_NARROW * row.span.step);
  return row;
}

POLDER_BODY void PolderIluInsert(PolderIluFilled *row, PetscInt c, PetscInt s, PetscInt col[], PetscInt source[])
{
  const PetscInt step = row->span.step;
  PetscInt       at   = row->at;

  for (; row->narrow && at > row->span.p && col[at - step] > c; at -= step) {
    col[at]    = col[at - step];
    source[at] = source[at - step];
  }
  col[at]    = c;
  source[at] = s;
  row->at += step;
}

/* Sorts the entries of row `me` of its block, and fills up the slice */
POLDER_BODY void PolderIluEnd(const PolderIluFilled *row, PetscInt me, PetscInt col[], PetscInt source[])
{
  const PetscInt first = row->span.p, step = row->span.step;

  if (!row->narrow) PolderIluSort((row->at - first) / step, step, col + first, source + first);
  for (PetscInt l = row->at; l < row->span.end; l += step) {
    col[l]    = me;
    source[l] = -1;
  }
}

/* Row a in the order of levels, of the block r0 .. r1. The rows that it has entries of L with come before it in that order, those of U behind it */
POLDER_BODY void PolderIluPatternRow(const PolderIluGraph *g, const PolderIlu *ilu, PetscInt r0, PetscInt r1, PetscInt a, const PetscInt order[],
                                     const PetscInt place[], PetscInt col[], PetscInt source[])
{
  const PetscInt  p = order[a], *e = PolderIluEntries(g, p), *of = g->column ? place : place + p;
  PolderIluFilled lower = PolderIluBegin(ilu, 0, a), upper = PolderIluBegin(ilu, 1, a);
  PetscInt        diagonal = -1;

  for (PetscInt k = e[0]; k < e[1]; ++k) {
    const PetscInt c = of[g->j[k]];

    if (c < r0 || c >= r1) continue;
    if (c < a) PolderIluInsert(&lower, c - r0, PolderIluSource(g, p, k), col, source);
    else if (c > a) PolderIluInsert(&upper, c - r0, PolderIluSource(g, p, k), col, source);
    else diagonal = PolderIluSource(g, p, k);
  }
  source[ilu->nz + a] = diagonal;
  PolderIluEnd(&lower, a - r0, col, source);
  PolderIluEnd(&upper, a - r0, col, source);
}

/* Lane a without a row, a >= nrow, gets entries that only fill its slice */
POLDER_BODY void PolderIluPatternLane(const PolderIlu *ilu, PetscInt a, PetscInt col[], PetscInt source[])
{
  for (int t = 0; t < 2; ++t) {
    const PolderIluSpan row = PolderIluSpanOf(ilu, t, a);

    for (PetscInt l = row.p; l < row.end; l += row.step) {
      col[l]    = 0;
      source[l] = -1;
    }
  }
}
