/*
  Pairwise-aggregation multigrid: levels whose strong couplings lie in lines of changing direction, as on grids that are stretched or in polar coordinates.
  Pairs along these lines with linear interpolation between them take the place of larger aggregates with constants.
*/
#include "pamgsetup.h"
#include "core/compat.h"

/* The first level with lines has this part of its rows in one, and this part of the rows of the matrix: below there is little to gain */
#define PAMG_LINES_LEAST 0.15
#define PAMG_LINES_ROWS  0.2

/* count[] <- what the survey of the rows of a level finds, on all processes */
static PetscErrorCode PamgSurveyLines(const PC_PAMG *pamg, const PamgLevel *L, PetscInt64 count[POLDER_LINES_COUNTS])
{
  const PetscInt   none[POLDER_LINES_COUNTS] = {0};
  const PolderRows A                         = PCPAMGRowsToPair(pamg, L);
  PetscInt         mine[POLDER_LINES_COUNTS], *there, *strong;

  PetscFunctionBegin;
  PetscCall(PolderPlaceUpload(pamg->place, sizeof(none), none, &there));
  PetscCall(PolderPlaceMalloc(pamg->place, 2 * (size_t)A.n, &strong));
  PolderRun(pamg->place, PolderLevelLinesSurvey, &A, pamg->excess, strong, there);
  PolderRun(pamg->place, PolderLevelLinesCount, A.n, strong, there);
  PetscCall(pamg->place->free(&strong));
  PetscCall(PolderPlaceFetch(pamg->place, sizeof(mine), &there, mine));
  for (int k = 0; k < POLDER_LINES_COUNTS; ++k) count[k] = mine[k];
  PetscCallAllreduce(MPI_IN_PLACE, count, POLDER_LINES_COUNTS, MPIU_INT64, MPI_SUM, L->comm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFindLines(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel *L     = &pamg->level[l];
  PetscBool  above = (PetscBool)(pamg->wantlines == 1);
  PetscInt64 count[POLDER_LINES_COUNTS];

  PetscFunctionBegin;
  L->islines = PETSC_FALSE;
  for (PetscInt k = 0; k < l; ++k) above = (PetscBool)(above || pamg->level[k].islines);
  if (!pamg->symmetric && pamg->drop > 0) PetscFunctionReturn(PETSC_SUCCESS); // skew.soft has the entries that are dropped
  if (!pamg->wantlines || PamgEliminatedAbove(pamg, l) || (!above && L->N < PAMG_LINES_ROWS * pamg->level->N)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgSurveyLines(pamg, L, count));
  PetscCall(PetscInfo(NULL, "Level %" PetscInt_FMT ": %" PetscInt64_FMT " of %" PetscInt_FMT " rows lie in lines of strong couplings\n", l, count[0], L->N));
  L->islines = (PetscBool)((above || (PetscReal)count[0] >= PAMG_LINES_LEAST * L->N) && !count[1] && !count[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGLinesHold(PC_PAMG *pamg, const PamgLevel *L, PetscBool *holds)
{
  PetscInt64 count[POLDER_LINES_COUNTS];
  PetscBool  found;

  PetscFunctionBegin;
  if (!pamg->symmetric) PetscCall(PCPAMGFindSkew(pamg, L, &found));
  PetscCall(PamgSurveyLines(pamg, L, count));
  *holds = (PetscBool)(!count[1] && !count[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGMakeLines(const PC_PAMG *pamg, PamgLevel *L, const PolderAggregates *P, const PolderRows *A, PetscBool keep, PetscScalar **scaled)
{
  const PolderPlace *place = pamg->place;
  PolderLevelLines  *lines = &L->lines;
  PolderLineRule     rule  = {.parts = (PetscBool) !!L->halo, .keep = keep};

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(place, A->n, &rule.inner));
  PetscCall(PolderPlaceMalloc(place, A->nz, &rule.scaled));
  lines->n   = P->m;
  lines->nc  = P->n;
  lines->agg = P->agg;
  if (!keep) {
    PetscInt *scratch = NULL;

    PetscCall(PolderPlaceMalloc(place, P->m, &lines->beside));
    PetscCall(PolderPlaceMalloc(place, P->m, &lines->single));
    PetscCall(PolderPlaceMalloc(place, P->m, &lines->weight));
    PetscCall(PolderPlaceMalloc(place, 3 * (size_t)P->n, &scratch));
    PolderRun(place, PolderLevelLinesSingle, lines, P, A, scratch);
    PetscCall(place->free(&scratch));
  }
  PolderRun(place, PolderLevelLinesInner, P, A, &rule);
  PolderRun(place, PolderLevelLinesRows, lines, P, A, &rule);
  PetscCall(place->free(&rule.inner));
  *scaled = rule.scaled;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFreeLines(const PC_PAMG *pamg, PolderLevelLines *lines)
{
  PetscFunctionBegin;
  PetscCall(pamg->place->free(&lines->beside));
  PetscCall(pamg->place->free(&lines->single));
  PetscCall(pamg->place->free(&lines->weight));
  PetscCall(pamg->place->free(&lines->tptr));
  PetscCall(pamg->place->free(&lines->trow));
  PetscFunctionReturn(PETSC_SUCCESS);
}
