/* Where the entries of a row of incomplete factors are. */
#pragma once

#include "ilu.h"
#include "rowseek.h"

POLDER_BODY PetscInt PolderIluSlices(PetscInt nrow)
{
  return (nrow + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE;
}

/* Entries p, p + step, ... below end */
typedef struct {
  PetscInt p, end, step;
} PolderIluSpan;

/* Of row i of triangle t */
POLDER_BODY PolderIluSpan PolderIluSpanOf(const PolderIlu *ilu, int t, PetscInt i)
{
  const PetscInt s = i / POLDER_ILU_SLICE, lane = i % POLDER_ILU_SLICE, a = ilu->apart ? ilu->apart[t * PolderIluSlices(ilu->nrow) + s] : 0;
  PolderIluSpan  span;

  span.p    = a ? ilu->apart[a + lane] : ilu->start[t][s] + lane;
  span.end  = a ? ilu->apart[a + lane + 1] : ilu->start[t][s + 1];
  span.step = a ? 1 : POLDER_ILU_SLICE;
  return span;
}

/* Where the rows of slice s of triangle t begin that are stored one after the other. entries[t nrow + order[i]]: of row i; order = NULL: order[i] = i */
POLDER_BODY void PolderIluPoint(PetscInt nrow, const PetscInt entries[], const PetscInt order[], int t, PetscInt s, PetscInt start, PetscInt apart[])
{
  PetscInt *first = apart + apart[t * PolderIluSlices(nrow) + s], at = start;

  if (first == apart) return;
  for (PetscInt lane = 0, i = s * POLDER_ILU_SLICE; lane <= POLDER_ILU_SLICE; ++lane, ++i) {
    first[lane] = at;
    if (i < nrow) at += entries[t * nrow + (order ? order[i] : i)];
  }
}
