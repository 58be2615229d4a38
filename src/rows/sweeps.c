/* Sweeps in an order of levels: memory, values, solves. */
#include "sweeps.h"

/* The rows in the order of their levels: row[p] is at place p, and place[row[p]] = p */
typedef struct {
  const PetscInt *level;
  PetscInt       *row, *place;
} PolderSweepOrder;

/* The places of the rows, level after level, and where each level begins */
static PetscErrorCode PolderSweepsOrder_Private(PolderSweeps *W, PetscInt n, PolderSweepOrder *order)
{
  const PetscInt *level = order->level;
  PetscInt       *row = order->row, *place = order->place, *next;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(W->nlevel + 1, &W->first));
  PetscCall(PetscMalloc1(W->nlevel + 1, &next));
  for (PetscInt i = 0; i < n; ++i) ++W->first[level[i] + 1];
  for (PetscInt l = 0; l < W->nlevel; ++l) W->first[l + 1] += W->first[l];
  PetscCall(PetscArraycpy(next, W->first, W->nlevel + 1));
  for (PetscInt i = 0; i < n; ++i) {
    place[i]      = next[level[i]]++;
    row[place[i]] = i;
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does entry k of row i belong to the triangle? */
static inline PetscBool PolderSweepsHas(const PolderGraph *g, const PetscInt level[], int triangle, PetscInt i, PetscInt k)
{
  return (PetscBool)(triangle == POLDER_SWEEP_LOWER ? level[g->j[k]] < level[i] : level[g->j[k]] > level[i]);
}

/* start[] of a triangle, from its first entry on; returns where the next triangle begins */
static PetscInt PolderSweepsStart(const PolderGraph *g, const PolderSweepOrder *order, int triangle, PetscInt nz, PetscInt start[])
{
  const PetscInt  slices = (g->n + POLDER_SWEEP_SLICE - 1) / POLDER_SWEEP_SLICE;
  const PetscInt *row    = order->row;

  for (PetscInt s = 0; s < slices; ++s) {
    const PetscInt last  = PetscMin(g->n, (s + 1) * POLDER_SWEEP_SLICE);
    PetscInt       width = 0;

    for (PetscInt p = s * POLDER_SWEEP_SLICE; p < last; ++p) {
      PetscInt count = 0;

      for (PetscInt k = g->i[row[p]]; k < g->i[row[p] + 1]; ++k) count += PolderSweepsHas(g, order->level, triangle, row[p], k);
      width = PetscMax(width, count);
    }
    start[s] = nz;
    nz += width * POLDER_SWEEP_SLICE;
  }
  start[slices] = nz;
  return nz;
}

/* The entries of a triangle of the row at place p, in the order of the places */
static PetscInt PolderSweepsRow(const PolderGraph *g, const PolderSweepOrder *order, int triangle, PetscInt p, PetscInt start, PetscInt col[],
                                PetscInt source[])
{
  const PetscInt  i     = order->row[p];
  const PetscInt *place = order->place;
  PetscInt        n = 0, *c = col + start + p % POLDER_SWEEP_SLICE, *s = source + start + p % POLDER_SWEEP_SLICE;

  for (PetscInt k = g->i[i]; k < g->i[i + 1]; ++k) {
    const PetscInt j = g->j[k];
    PetscInt       at;

    if (!PolderSweepsHas(g, order->level, triangle, i, k)) continue;
    for (at = n++; at && j < g->n && (c[(at - 1) * POLDER_SWEEP_SLICE] >= g->n || place[c[(at - 1) * POLDER_SWEEP_SLICE]] > place[j]); --at) {
      c[at * POLDER_SWEEP_SLICE] = c[(at - 1) * POLDER_SWEEP_SLICE];
      s[at * POLDER_SWEEP_SLICE] = s[(at - 1) * POLDER_SWEEP_SLICE];
    }
    c[at * POLDER_SWEEP_SLICE] = j;
    s[at * POLDER_SWEEP_SLICE] = g->source[k];
  }
  return n;
}

PetscErrorCode PolderSweepsCreate(PolderSweeps *W, const PolderPlace *there, const PolderGraph *g, const PetscInt level[], PetscInt nlevel, PolderHalo halo)
{
  const PetscInt   slices = (g->n + POLDER_SWEEP_SLICE - 1) / POLDER_SWEEP_SLICE;
  PolderSweepOrder order  = {.level = level};
  PetscInt        *start[2], *col, *source, nz = 0;

  PetscFunctionBegin;
  W->nlevel  = nlevel;
  W->halo    = halo;
  W->split   = g->split;
  W->entries = 0;
  PetscCall(PetscMalloc4(g->n, &order.row, g->n, &order.place, slices + 1, &start[0], slices + 1, &start[1]));
  PetscCall(PolderSweepsOrder_Private(W, g->n, &order));
  for (int t = 0; t < 2; ++t) nz = PolderSweepsStart(g, &order, t, nz, start[t]);
  PetscCall(PetscMalloc2(nz, &col, nz + g->n, &source));
  for (PetscInt k = 0; k < nz; ++k) col[k] = source[k] = -1;
  for (PetscInt p = 0; p < g->n; ++p) {
    for (int t = 0; t < 2; ++t) W->entries += PolderSweepsRow(g, &order, t, p, start[t][p / POLDER_SWEEP_SLICE], col, source);
    source[nz + p] = g->diagonal[order.row[p]];
  }
  W->S.n  = g->n;
  W->S.nz = nz;
  PetscCall(PolderPlaceUpload(there, sizeof(PetscInt) * (size_t)g->n, order.row, &W->S.row));
  PetscCall(PolderPlaceUpload(there, sizeof(PetscInt) * (size_t)g->n, order.place, &W->S.place));
  for (int t = 0; t < 2; ++t) PetscCall(PolderPlaceUpload(there, sizeof(PetscInt) * (size_t)(slices + 1), start[t], &W->S.start[t]));
  PetscCall(PolderPlaceUpload(there, sizeof(PetscInt) * (size_t)nz, col, &W->S.col));
  PetscCall(PolderPlaceUpload(there, sizeof(PetscInt) * (size_t)(nz + g->n), source, &W->source));
  PetscCall(PolderPlaceMalloc(there, nz + g->n, &W->S.val));
  PetscCall(PolderPlaceMalloc(there, 1, &W->bad));
  PetscCall(PolderPlaceMalloc(there, g->n + g->nghost, &W->x));
  PetscCall(PetscFree2(col, source));
  PetscCall(PetscFree4(order.row, order.place, start[0], start[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSweepsValues(PolderSweeps *W, const PolderPlace *place, const PolderCSR *csr, PetscInt *bad)
{
  const PetscInt all = PetscMin(W->eliminate, W->nlevel), end = W->first[all];

  PetscFunctionBegin;
  *bad = PETSC_MAX_INT;
  PetscCall(PolderPlacePut(place, 1, bad, W->bad));
  PolderRun(place, PolderSweepTake, W->S.nz + W->S.n, W->source, W->split, csr->aa, csr->ba, W->S.val);
  for (PetscInt l = 0; l < all; ++l) PolderRun(place, PolderSweepFactor, &W->S, W->first[l], W->first[l + 1], end, W->omega, W->bad);
  PolderRun(place, PolderSweepFactor, &W->S, end, W->S.n, end, W->omega, W->bad);
  PetscCall(PolderPlaceTake(place, 1, W->bad, bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the other processes that the next level reads */
static PetscErrorCode PolderSweepsExchange_Private(PolderSweeps *W, const PolderPlace *place)
{
  PetscFunctionBegin;
  if (W->halo) {
    PetscCall(PolderHaloBeginAt(W->halo, place, MPIU_SCALAR, W->x, W->x + W->S.n));
    PetscCall(PolderHaloEndAt(W->halo, place, MPIU_SCALAR, W->x, W->x + W->S.n));
  }
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
  PetscCall((*place->free)(&W->source));
  PetscCall((*place->free)(&W->bad));
  PetscCall((*place->free)(&W->x));
  PetscCall((*place->free)(&W->rstandin));
  PetscCall((*place->free)(&W->zstandin));
  PetscCall(PolderHaloDestroy(&W->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderSweepsView(const PolderSweeps *W, const char levels[], PetscViewer viewer)
{
  PetscInt sum[2] = {W->entries, W->S.n}, most = W->nlevel;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, sum, 2, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)viewer));
  PetscCallAllreduce(MPI_IN_PLACE, &most, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " %s, %.3g entries a row besides the diagonal, %s\n", most, levels,
                                   (double)sum[0] / (double)PetscMax(1, sum[1]), W->halo ? "across all processes" : "in one block a process"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
