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

/* The entries of block row p, and the block row of the column of one */
POLDER_ROW const PetscInt *PolderIluEntries(const PolderIluGraph *g, PetscInt p)
{
  return g->i + (g->row ? g->row[p] : p);
}

POLDER_ROW PetscInt PolderIluColumn(const PolderIluGraph *g, PetscInt k)
{
  return g->column ? g->column[g->j[k]] : g->j[k];
}

/* Entries of row p of block b in triangle t */
POLDER_ROW PetscInt PolderIluRowWidth(const PolderIluGraph *g, PetscInt b, PetscInt p, int t)
{
  const PetscInt *e = PolderIluEntries(g, p), begin = t ? p + 1 : g->block[b], end = t ? g->block[b + 1] : p;
  PetscInt        n = 0;

  for (PetscInt k = e[0]; k < e[1]; ++k) {
    const PetscInt q = PolderIluColumn(g, k);

    n += q >= begin && q < end;
  }
  return n;
}

/* Sorts n pairs, a slice apart, by their columns: Shell's method, which is insertion for up to four */
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

/* Row a in the order of levels; a lane without a row, a >= nrow, gets entries that only fill its slice */
POLDER_ROW void PolderIluPatternRow(const PolderIluGraph *g, const PolderIlu *ilu, PetscInt a, const PetscInt order[], const PetscInt place[], PetscInt col[],
                                    PetscInt source[])
{
  const PetscBool some = (PetscBool)(a < ilu->nrow);
  const PetscInt  p = some ? order[a] : 0, b = some ? PolderIluBlockOf(g->nblock, g->block, p) : 0, r0 = g->block[b], r1 = g->block[b + 1];
  const PetscInt *e = PolderIluEntries(g, p), s = a / POLDER_ILU_SLICE, lane = a % POLDER_ILU_SLICE;

  for (int t = 0; t < 2; ++t) {
    const PetscInt first = ilu->start[t][s] + lane, end = ilu->start[t][s + 1];
    PetscInt       at = first;

    for (PetscInt k = e[0]; some && k < e[1]; ++k) {
      const PetscInt q = PolderIluColumn(g, k);

      if (q < r0 || q >= r1 || (t ? q <= p : q >= p)) continue;
      col[at]    = place[q] - r0;
      source[at] = g->source ? g->source[k] : k;
      at += POLDER_ILU_SLICE;
    }
    PolderIluSort((at - first) / POLDER_ILU_SLICE, col + first, source + first);
    for (; at < end; at += POLDER_ILU_SLICE) {
      col[at]    = some ? a - r0 : 0;
      source[at] = -1;
    }
  }
  if (!some) return;
  source[ilu->nz + a] = -1;
  for (PetscInt k = e[0]; k < e[1]; ++k) {
    if (PolderIluColumn(g, k) == p) source[ilu->nz + a] = g->source ? g->source[k] : k;
  }
}

/* Is column j of a block among the entries of a row in one triangle, which begin at p and ascend? p moves on to it */
POLDER_ROW PetscBool PolderIluFind(const PetscInt col[], PetscInt j, PetscInt end, PetscInt *p)
{
  while (*p < end && col[*p] < j) *p += POLDER_ILU_SLICE;
  return (PetscBool)(*p < end && col[*p] == j);
}

/* How many entries row a has in both triangles, and how many updates its elimination makes: for each l_ic, one for each entry of row c of U that it has too */
POLDER_ROW void PolderIluCountRowOf(const PolderIlu *ilu, PetscInt a, PetscInt64 *entries, PetscInt64 *updates)
{
  const PetscInt *col = ilu->col, r0 = ilu->row[PolderIluBlockOf(ilu->nblock, ilu->row, a)], me = a - r0, s = a / POLDER_ILU_SLICE;
  const PetscInt  lend = ilu->start[0][s + 1], ubegin = ilu->start[1][s] + a % POLDER_ILU_SLICE, uend = ilu->start[1][s + 1];

  for (PetscInt u = ubegin; u < uend && col[u] != me; u += POLDER_ILU_SLICE) ++*entries;
  for (PetscInt p = ilu->start[0][s] + a % POLDER_ILU_SLICE; p < lend && col[p] != me; p += POLDER_ILU_SLICE) {
    const PetscInt c = col[p], row = r0 + c, end = ilu->start[1][row / POLDER_ILU_SLICE + 1];
    PetscInt       l = p, u = ubegin;

    ++*entries;
    for (PetscInt q = ilu->start[1][row / POLDER_ILU_SLICE] + row % POLDER_ILU_SLICE; q < end && col[q] != c; q += POLDER_ILU_SLICE) {
      const PetscInt j = col[q];

      *updates += j == me || (j < me ? PolderIluFind(col, j, lend, &l) : PolderIluFind(col, j, uend, &u));
    }
  }
}
