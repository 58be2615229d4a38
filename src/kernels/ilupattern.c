/* Patterns of incomplete factors. */
#include "ilupatternrow.h"

void PolderIluInvert_Host(PetscInt n, const PetscInt list[], PetscInt to[])
{
  for (PetscInt k = 0; k < n; ++k) to[list[k]] = k;
}

void PolderIluGather_Host(PetscInt n, const PetscInt list[], const PetscInt from[], PetscInt to[])
{
  for (PetscInt k = 0; k < n; ++k) to[k] = from[list[k]];
}

void PolderIluLevels_Host(const PolderIluGraph *g, PetscInt level[], PetscInt number[], PetscInt entries[])
{
  for (PetscInt b = 0; b < g->nblock; ++b) {
    const PetscInt r0 = g->block[b], r1 = g->block[b + 1];

    for (PetscInt p = r0; p < r1; ++p) {
      const PetscInt *e = PolderIluEntries(g, p);
      PetscInt        l = level[p], lower = 0, upper = 0;

      for (PetscInt k = e[0]; k < e[1]; ++k) {
        const PetscInt q = PolderIluColumn(g, p, k);

        if (q < r0 || q >= p) continue;
        l = PetscMax(l, level[q] + 1);
        ++lower;
      }
      level[p]  = l++;
      number[b] = PetscMax(number[b], l);
      for (PetscInt k = e[0]; k < e[1]; ++k) {
        const PetscInt q = PolderIluColumn(g, p, k);

        if (q <= p || q >= r1) continue;
        if (level[q] < l) level[q] = l;
        ++upper;
      }
      entries[p]           = lower;
      entries[g->nrow + p] = upper;
    }
  }
}

void PolderIluNumberLevels_Host(const PolderIluGraph *g, const PetscInt first[], PetscInt level[])
{
  for (PetscInt b = 0; b < g->nblock; ++b)
    for (PetscInt p = g->block[b]; p < g->block[b + 1]; ++p) level[p] += first[b];
}

void PolderIluWidths_Host(PetscInt nrow, const PetscInt entries[], const PetscInt number[], PetscInt width[], PetscInt sum[])
{
  const PetscInt slices = PolderIluSlices(nrow);

  for (int t = 0; t < 2; ++t) {
    for (PetscInt p = 0; p < nrow; ++p) {
      const PetscInt n = entries[t * nrow + p], s = t * slices + (number ? number[p] : p) / POLDER_ILU_SLICE;

      width[s] = PetscMax(width[s], n);
      sum[s] += n;
    }
  }
}

void PolderIluPoint_Host(PetscInt nrow, const PetscInt entries[], const PetscInt order[], const PetscInt start[], PetscInt apart[])
{
  const PetscInt slices = PolderIluSlices(nrow);

  for (int t = 0; t < 2; ++t)
    for (PetscInt s = 0; s < slices; ++s) PolderIluPoint(nrow, entries, order, t, s, start[t * (slices + 1) + s], apart);
}

void PolderIluPattern_Host(const PolderIluGraph *g, const PolderIlu *ilu, const PetscInt order[], const PetscInt place[], PetscInt col[], PetscInt source[])
{
  for (PetscInt b = 0; b < g->nblock; ++b)
    for (PetscInt a = g->block[b]; a < g->block[b + 1]; ++a) PolderIluPatternRow(g, ilu, g->block[b], g->block[b + 1], a, order, place, col, source);
  for (PetscInt a = ilu->nrow; a % POLDER_ILU_SLICE; ++a) PolderIluPatternLane(ilu, a, col, source);
}
