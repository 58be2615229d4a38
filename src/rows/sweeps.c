/* Sweeps in an order of levels: memory, values, solves. */
#include "sweeps.h"

/* The places of the rows, level after level, and where each level begins */
static PetscErrorCode PolderSweepsOrder_Private(PolderSweeps *W, const PolderPlace *there, PetscInt n, const PetscInt level[])
{
  PetscInt *row, *place, *next;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(W->nlevel + 1, &W->first));
  PetscCall(PetscMalloc1(W->nlevel + 1, &next));
  PetscCall(PolderPlaceMalloc(&PolderOnHost, n, &row));
  PetscCall(PolderPlaceMalloc(&PolderOnHost, n, &place));
  for (PetscInt i = 0; i < n; ++i) ++W->first[level[i] + 1];
  for (PetscInt l = 0; l < W->nlevel; ++l) W->first[l + 1] += W->first[l];
  PetscCall(PetscArraycpy(next, W->first, W->nlevel + 1));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt p = next[level[i]]++;

    place[i] = p;
    row[p]   = i;
  }
  PetscCall(PetscFree(next));
  PetscCall(PolderPlaceMove(there, sizeof(PetscInt) * (size_t)n, &row, &W->S.row));
  PetscCall(PolderPlaceMove(there, sizeof(PetscInt) * (size_t)n, &place, &W->S.place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* start[] of both triangles and the numbers of entries */
static PetscErrorCode PolderSweepsStart_Private(PolderSweeps *W, const PolderPlace *there, const PolderSweepEntries *E)
{
  const PetscInt slices = PolderSweepSlices(W->S.n);
  PetscInt      *width, *start, *widththere;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * slices + 1, &width));
  PetscCall(PolderPlaceMalloc(there, 2 * slices + 1, &widththere));
  PetscCall((*there->zero)(widththere, sizeof(PetscInt) * (size_t)(2 * slices + 1)));
  PolderRun(there, PolderSweepWidths, &W->S, E, widththere, widththere + 2 * slices);
  PetscCall(PolderPlaceFetch(there, sizeof(PetscInt) * (size_t)(2 * slices + 1), &widththere, width));
  W->entries = width[2 * slices];
  W->S.nz    = 0;
  for (int t = 0; t < 2; ++t) {
    PetscCall(PolderPlaceMalloc(&PolderOnHost, slices + 1, &start));
    for (PetscInt s = 0; s < slices; ++s) {
      start[s] = W->S.nz;
      W->S.nz += width[t * slices + s] * POLDER_SWEEP_SLICE;
    }
    start[slices] = W->S.nz;
    PetscCall(PolderPlaceMove(there, sizeof(PetscInt) * (size_t)(slices + 1), &start, &W->S.start[t]));
  }
  PetscCall(PetscFree(width));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSweepsCreate(PolderSweeps *W, const PolderPlace *there, const PolderGraph *g, const PolderCSR *csr, const PetscInt level[],
                                  PetscInt nlevel, PolderHalo halo)
{
  PolderSweepEntries E   = {.begin = csr->ai, .end = csr->ai + 1, .j = csr->aj, .bi = g->bi ? csr->bi : NULL, .bj = csr->bj};
  const PetscBool    own = (PetscBool)(g->ownj != NULL);

  PetscFunctionBegin;
  W->nlevel = nlevel;
  W->halo   = halo;
  W->S.n    = g->n;
  PetscCall(PolderSweepsOrder_Private(W, there, g->n, level));
  PetscCall(PolderPlaceLend(there, sizeof(PetscInt) * (size_t)(g->n + g->nghost), level, &E.level));
  if (own) {
    PetscCall(PolderPlaceLend(there, sizeof(PetscInt) * (size_t)g->n, g->begin, &E.begin));
    PetscCall(PolderPlaceLend(there, sizeof(PetscInt) * (size_t)g->n, g->end, &E.end));
    PetscCall(PolderPlaceLend(there, sizeof(PetscInt) * (size_t)g->own, g->j, &E.j));
  }
  PetscCall(PolderSweepsStart_Private(W, there, &E));
  PetscCall(PolderPlaceMalloc(there, W->S.nz, &W->S.col));
  PolderRun(there, PolderSweepPattern, &W->S, &E);
  if (own) {
    PetscCall(PolderPlaceReturn(there, &E.begin));
    PetscCall(PolderPlaceReturn(there, &E.end));
    PetscCall(PolderPlaceReturn(there, &E.j));
  }
  PetscCall(PolderPlaceReturn(there, &E.level));
  PetscCall(PolderPlaceMalloc(there, W->S.nz + g->n, &W->S.val));
  PetscCall(PolderPlaceMalloc(there, 1, &W->bad));
  PetscCall(PolderPlaceMalloc(there, g->n + g->nghost, &W->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSweepsValues(PolderSweeps *W, const PolderPlace *place, const PolderCSR *csr, PetscInt *bad)
{
  const PolderRows none = {.i = NULL};
  const PetscInt   all = PetscMin(W->eliminate, W->nlevel), end = W->first[all];

  PetscFunctionBegin;
  *bad = PETSC_MAX_INT;
  PetscCall(PolderPlacePut(place, 1, bad, W->bad));
  if (!place->device) PetscCall(PetscCalloc1(W->S.n, &W->S.where));
  PolderRun(place, PolderSweepValues, &W->S, PolderOwnRows(csr), W->halo ? PolderGhostColumns(csr) : none);
  if (W->S.where) PetscCall(PetscArrayzero(W->S.where, W->S.n));
  for (PetscInt l = 0; l < all; ++l) PolderRun(place, PolderSweepFactor, &W->S, W->first[l], W->first[l + 1], end, W->omega, W->bad);
  PolderRun(place, PolderSweepFactor, &W->S, end, W->S.n, end, W->omega, W->bad);
  PetscCall(PetscFree(W->S.where));
  PetscCall(PolderPlaceTake(place, 1, W->bad, bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the other processes that the next level reads */
static PetscErrorCode PolderSweepsExchange_Private(PolderSweeps *W, const PolderPlace *place)
{
  PetscFunctionBegin;
  if (W->halo) PetscCall(PolderHaloExchangeAt(W->halo, place, MPIU_SCALAR, W->x, W->x + W->S.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSweepsApply(PolderSweeps *W, const PolderPlace *place, Vec r, Vec z)
{
  const PetscInt    *first = W->first;
  const PetscScalar *rr;
  PetscScalar       *zz;

  PetscFunctionBegin;
  PetscCall(PolderPlaceVecGetRead(place, r, &W->rstandin, &rr));
  PetscCall(PolderPlaceVecGet(place, z, &W->zstandin, &zz));
  PetscCall((*place->timebegin)());
  for (PetscInt l = 0; l < W->nlevel; ++l) {
    if (l) PetscCall(PolderSweepsExchange_Private(W, place));
    PolderRun(place, PolderSweepForward, &W->S, first[l], first[l + 1], rr, W->x);
  }
  for (PetscInt l = W->nlevel - 1; l >= 0; --l) {
    PolderRun(place, PolderSweepBackward, &W->S, first[l], first[l + 1], W->x, zz);
    if (l) PetscCall(PolderSweepsExchange_Private(W, place));
  }
  PetscCall((*place->timeend)());
  PetscCall(PolderPlaceVecRestore(place, z, W->zstandin, &zz));
  PetscCall(PolderPlaceVecRestoreRead(place, r, W->rstandin, &rr));
  PetscCall((*place->logflops)(2.0 * W->entries + 3.0 * W->S.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSweepsDestroy(PolderSweeps *W, const PolderPlace *place)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(W->first));
  PetscCall((*place->free)(&W->S.row));
  PetscCall((*place->free)(&W->S.place));
  for (int t = 0; t < 2; ++t) PetscCall((*place->free)(&W->S.start[t]));
  PetscCall((*place->free)(&W->S.col));
  PetscCall((*place->free)(&W->S.val));
  PetscCall((*place->free)(&W->bad));
  PetscCall((*place->free)(&W->x));
  PetscCall((*place->free)(&W->rstandin));
  PetscCall((*place->free)(&W->zstandin));
  PetscCall(PolderHaloDestroy(&W->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSweepsView(const PolderSweeps *W, const char levels[], PetscViewer viewer)
{
  PetscInt64 sum[3]    = {W->entries, W->S.n, W->nblock};
  PetscInt   most[2]   = {W->nlevel, W->nblock};
  char       where[64] = "in one block a process";

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, sum, 3, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)viewer));
  PetscCallAllreduce(MPI_IN_PLACE, most, 2, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)viewer));
  if (W->halo) PetscCall(PetscStrncpy(where, "across all processes", sizeof(where)));
  else if (most[1] > 1) PetscCall(PetscSNPrintf(where, sizeof(where), "in %" PetscInt64_FMT " blocks", sum[2]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " %s, %.3g entries a row besides the diagonal, %s\n", most[0], levels,
                                   (double)sum[0] / (double)PetscMax(1, sum[1]), where));
  PetscFunctionReturn(PETSC_SUCCESS);
}
