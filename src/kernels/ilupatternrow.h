/* Row bodies of the patterns of incomplete factors that host and device share. */
#pragma once

#include "ilupattern.h"
#include "labelrow.h"

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

/* Sorts n pairs, a slice apart, by their columns: Shell's method */
POLDER_ROW void PolderIluSort(PetscInt n, PetscInt col[], PetscInt source[])
{
  PetscInt gap = 1;

  while (3 * gap + 1 < n) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (PetscInt k = gap; k < n; ++k) {
      const PetscInt c = col[k * POLDER_ILU_SLICE], s = source[k * POLDER_ILU_SLICE];
      PetscInt       l = k;

      for (; l >= gap && col[(l - gap) * POLDER_ILU_SLICE] > c; l -= gap) {
        col[l * POLDER_ILU_SLICE]    = col[(l - gap) * POLDER_ILU_SLICE];
        source[l * POLDER_ILU_SLICE] = source[(l - gap) * POLDER_ILU_SLICE];
      }
      col[l * POLDER_ILU_SLICE]    = c;
      source[l * POLDER_ILU_SLICE] = s;
    }
  }
}

/* Puts a pair behind others, a slice apart, which begin at `first` and end before `at`; narrow: and where it belongs among them */
POLDER_ROW void PolderIluInsert(PetscBool narrow, PetscInt first, PetscInt at, PetscInt c, PetscInt s, PetscInt col[], PetscInt source[])
{
  for (; narrow && at > first && col[at - POLDER_ILU_SLICE] > c; at -= POLDER_ILU_SLICE) {
    col[at]    = col[at - POLDER_ILU_SLICE];
    source[at] = source[at - POLDER_ILU_SLICE];
  }
  col[at]    = c;
  source[at] = s;
}

/* Row a in the order of levels, of the block r0 .. r1. The rows that it has entries of L with come before it in that order, those of U behind it */
POLDER_ROW void PolderIluPatternRow(const PolderIluGraph *g, const PolderIlu *ilu, PetscInt r0, PetscInt r1, PetscInt a, const PetscInt order[],
                                    const PetscInt place[], PetscInt col[], PetscInt source[])
{
  const PetscInt  p = order[a], s = a / POLDER_ILU_SLICE, lane = a % POLDER_ILU_SLICE, most = POLDER_ILU_NARROW * POLDER_ILU_SLICE;
  const PetscInt *e = PolderIluEntries(g, p), *of = g->column ? place : place + p, first[2] = {ilu->start[0][s] + lane, ilu->start[1][s] + lane};
  const PetscInt  end[2]    = {ilu->start[0][s + 1], ilu->start[1][s + 1]};
  const PetscBool narrow[2] = {(PetscBool)(end[0] - first[0] <= most), (PetscBool)(end[1] - first[1] <= most)};
  PetscInt        at[2] = {first[0], first[1]}, diagonal = -1;

  for (PetscInt k = e[0]; k < e[1]; ++k) {
    const PetscInt c = of[g->j[k]];
    const int      t = c > a;

    if (c < r0 || c >= r1) continue;
    if (c == a) diagonal = PolderIluSource(g, p, k);
    else {
      PolderIluInsert(narrow[t], first[t], at[t], c - r0, PolderIluSource(g, p, k), col, source);
      at[t] += POLDER_ILU_SLICE;
    }
  }
  source[ilu->nz + a] = diagonal;
  for (int t = 0; t < 2; ++t) {
    if (!narrow[t]) PolderIluSort((at[t] - first[t]) / POLDER_ILU_SLICE, col + first[t], source + first[t]);
    for (PetscInt l = at[t]; l < end[t]; l += POLDER_ILU_SLICE) {
      col[l]    = a - r0;
      source[l] = -1;
    }
  }
}

/* Lane a without a row, a >= nrow, gets entries that only fill its slice */
POLDER_ROW void PolderIluPatternLane(const PolderIlu *ilu, PetscInt a, PetscInt col[], PetscInt source[])
{
  const PetscInt s = a / POLDER_ILU_SLICE;

  for (int t = 0; t < 2; ++t) {
    for (PetscInt l = ilu->start[t][s] + a % POLDER_ILU_SLICE; l < ilu->start[t][s + 1]; l += POLDER_ILU_SLICE) {
      col[l]    = 0;
      source[l] = -1;
    }
  }
}
