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

void PolderIluLevels_Host(const PolderIluGraph *g, PetscInt level[], PetscInt number[])
{
  for (PetscInt b = 0; b < g->nblock; ++b) {
    const PetscInt r0 = g->block[b], r1 = g->block[b + 1];

    for (PetscInt p = r0; p < r1; ++p) {
      const PetscInt *e = PolderIluEntries(g, p);

      for (PetscInt k = e[0]; k < e[1]; ++k) {
        const PetscInt q = PolderIluColumn(g, k);

        if (q >= r0 && q < p) level[p] = PetscMax(level[p], level[q] + 1);
      }
      for (PetscInt k = e[0]; k < e[1]; ++k) {
        const PetscInt q = PolderIluColumn(g, k);

        if (q > p && q < r1) level[q] = PetscMax(level[q], level[p] + 1);
      }
      number[b] = PetscMax(number[b], level[p] + 1);
    }
  }
}

void PolderIluNumberLevels_Host(const PolderIluGraph *g, const PetscInt first[], PetscInt level[])
{
  for (PetscInt b = 0; b < g->nblock; ++b)
    for (PetscInt p = g->block[b]; p < g->block[b + 1]; ++p) level[p] += first[b];
}

void PolderIluPatternWidths_Host(const PolderIluGraph *g, const PetscInt order[], PetscInt width[])
{
  const PetscInt slices = (g->nrow + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE;

  for (PetscInt b = 0; b < g->nblock; ++b) {
    for (PetscInt a = g->block[b]; a < g->block[b + 1]; ++a) {
      for (int t = 0; t < 2; ++t) {
        PetscInt *w = &width[t * slices + a / POLDER_ILU_SLICE];

        *w = PetscMax(*w, PolderIluRowWidth(g, b, order[a], t));
      }
    }
  }
}

void PolderIluPattern_Host(const PolderIluGraph *g, const PolderIlu *ilu, const PetscInt order[], const PetscInt place[], PetscInt col[], PetscInt source[])
{
  const PetscInt n = (ilu->nrow + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE * POLDER_ILU_SLICE;

  for (PetscInt a = 0; a < n; ++a) PolderIluPatternRow(g, ilu, a, order, place, col, source);
}

void PolderIluCount_Host(const PolderIlu *ilu, PetscInt64 count[2])
{
  for (PetscInt a = 0; a < ilu->nrow; ++a) PolderIluCountRowOf(ilu, a, &count[0], &count[1]);
}
