/* The pattern of the rows of a process: colours, levels, fill. */
#include "graph.h"
#include "core/refusal.h"
#include <petsc/private/pcimpl.h>

PetscErrorCode PolderGraphCreate(const PolderCSR *csr, PetscBool ghosts, PolderGraph *g)
{
  const PetscInt *bi = ghosts ? csr->bi : NULL;
  PetscInt        nz = csr->nz + (bi ? bi[csr->m] : 0);

  PetscFunctionBegin;
  *g = (PolderGraph){.n = csr->m, .nghost = bi ? csr->nghost : 0, .split = csr->nz};
  PetscCall(PetscMalloc1(csr->m + 1, &g->i));
  PetscCall(PetscMalloc1(csr->m, &g->diagonal));
  PetscCall(PetscMalloc1(nz, &g->j));
  PetscCall(PetscMalloc1(nz, &g->source));
  nz = 0;
  for (PetscInt i = 0; i < csr->m; ++i) {
    g->i[i]        = nz;
    g->diagonal[i] = -1;
    for (PetscInt k = csr->ai[i]; k < csr->ai[i + 1]; ++k) {
      if (csr->aj[k] == i) g->diagonal[i] = k;
      else {
        g->j[nz]        = csr->aj[k];
        g->source[nz++] = k;
      }
    }
    for (PetscInt k = bi ? bi[i] : 0; bi && k < bi[i + 1]; ++k) {
      g->j[nz]        = csr->m + csr->bj[k];
      g->source[nz++] = csr->nz + k;
    }
  }
  g->i[csr->m] = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGraphDestroy(PolderGraph *g)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(g->i));
  PetscCall(PetscFree(g->j));
  PetscCall(PetscFree(g->source));
  PetscCall(PetscFree(g->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows within q edges of row i, and row i itself: seen[0 .. n), marked by i */
static PetscInt PolderGraphNear(const PolderGraph *g, PetscInt i, PetscInt q, PetscInt mark[], PetscInt seen[])
{
  PetscInt n = 1, first = 0;

  seen[0] = i;
  mark[i] = i;
  for (PetscInt d = 0; d < q; ++d) {
    const PetscInt last = n;

    for (; first < last; ++first) {
      for (PetscInt k = seen[first] < g->n ? g->i[seen[first]] : 0; seen[first] < g->n && k < g->i[seen[first] + 1]; ++k) {
        if (mark[g->j[k]] == i) continue;
        mark[g->j[k]] = i;
        seen[n++]     = g->j[k];
      }
    }
  }
  return n;
}

PetscErrorCode PolderGraphColour(const PolderGraph *g, PetscInt q, PetscInt colour[], PetscInt *count)
{
  const PetscInt all = g->n + g->nghost;
  PetscInt      *mark, *seen, *taken;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(all, &mark, all, &seen, all + 1, &taken));
  for (PetscInt i = 0; i < all; ++i) mark[i] = -1;
  for (PetscInt i = 0; i <= all; ++i) taken[i] = -1;
  *count = 0;
  for (PetscInt i = 0; i < g->n; ++i) {
    if (colour[i] == -1) {
      const PetscInt n = PolderGraphNear(g, i, q, mark, seen);
      PetscInt       c = 0;

      for (PetscInt k = 1; k < n; ++k) {
        if (colour[seen[k]] >= 0 && colour[seen[k]] <= all) taken[colour[seen[k]]] = i;
      }
      while (taken[c] == i) ++c;
      colour[i] = c;
    }
    *count = PetscMax(*count, colour[i] + 1);
  }
  PetscCall(PetscFree3(mark, seen, taken));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* order[] <- the rows in ascending key[], and then in their own order; key = NULL: in their own order */
static PetscErrorCode PolderGraphOrder_Private(const PolderGraph *g, const PetscInt key[], PetscInt order[])
{
  PetscInt most = -1, *next;

  PetscFunctionBegin;
  for (PetscInt i = 0; key && i < g->n; ++i) most = PetscMax(most, key[i]);
  PetscCall(PetscCalloc1(most + 3, &next));
  for (PetscInt i = 0; i < g->n; ++i) ++next[key ? key[i] + 1 : 0];
  for (PetscInt k = 0; key && k <= most; ++k) next[k + 1] += next[k];
  if (!key) next[0] = 0;
  for (PetscInt i = 0; i < g->n; ++i) order[next[key ? key[i] : 0]++] = i;
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGraphLevels(const PolderGraph *g, const PetscInt key[], PetscInt level[], PetscInt *count)
{
  PetscInt *order;

  PetscFunctionBegin;
  *count = 0;
  PetscCall(PetscMalloc1(g->n, &order));
  PetscCall(PolderGraphOrder_Private(g, key, order));
  for (PetscInt i = 0; i < g->n; ++i) level[i] = -1;
  for (PetscInt p = 0; p < g->n; ++p) {
    const PetscInt i   = order[p];
    PetscInt       own = 0;

    for (PetscInt k = g->i[i]; k < g->i[i + 1]; ++k) {
      if (g->j[k] < g->n) own = PetscMax(own, level[g->j[k]] + 1);
    }
    level[i] = own;
    *count   = PetscMax(*count, own + 1);
  }
  PetscCall(PetscFree(order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of growing length */
typedef struct {
  PetscInt n, size, *j, *source, *level;
} PolderGrowing;

static PetscErrorCode PolderGrow_Private(PolderGrowing *grow, PetscInt j, PetscInt source, PetscInt level)
{
  PetscFunctionBegin;
  if (grow->n == grow->size) {
    const PetscInt size = grow->size + grow->size / 2 + 1024;

    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)size, &grow->j));
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)size, &grow->source));
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)size, &grow->level));
    grow->size = size;
  }
  grow->j[grow->n]       = j;
  grow->source[grow->n]  = source;
  grow->level[grow->n++] = level;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of one row while its fill is found */
typedef struct {
  PetscInt  n, *list;     /* the places of its entries, unordered */
  PetscInt *source;       /* [rows] by place */
  PetscInt *level;        /* [rows] by place; -1: no entry */
  PetscInt  nheap, *heap; /* the places that are still to be eliminated, the smallest first */
} PolderFillRow;

static void PolderFillAdd(PolderFillRow *row, PetscInt q, PetscInt source, PetscInt level, PetscBool wait)
{
  if (row->level[q] >= 0) {
    row->level[q] = PetscMin(row->level[q], level);
    return;
  }
  row->level[q]       = level;
  row->source[q]      = source;
  row->list[row->n++] = q;
  if (wait) {
    PetscInt at = row->nheap++;

    for (; at && row->heap[(at - 1) / 2] > q; at = (at - 1) / 2) row->heap[at] = row->heap[(at - 1) / 2];
    row->heap[at] = q;
  }
}

static PetscInt PolderFillNext(PolderFillRow *row)
{
  const PetscInt first = row->heap[0], last = row->heap[--row->nheap];
  PetscInt       at = 0;

  for (PetscInt child = 1; child < row->nheap; child = 2 * at + 1) {
    if (child + 1 < row->nheap && row->heap[child + 1] < row->heap[child]) ++child;
    if (row->heap[child] >= last) break;
    row->heap[at] = row->heap[child];
    at            = child;
  }
  row->heap[at] = last;
  return first;
}

/* An elimination: the rows in their order, and their pattern with fill by places, as far as it is known */
typedef struct {
  PetscInt      most, end; /* level of fill; the places below this are eliminated */
  PetscInt     *order, *place, *start;
  PolderGrowing grow;
  PolderFillRow row;
} PolderElimination;

static PetscErrorCode PolderFillRow_Private(const PolderGraph *g, PetscInt p, PolderElimination *f)
{
  const PetscInt i   = f->order[p];
  PolderFillRow *row = &f->row;

  PetscFunctionBegin;
  row->n = row->nheap = 0;
  for (PetscInt k = g->i[i]; k < g->i[i + 1]; ++k) {
    const PetscInt q = f->place[g->j[k]];

    PolderFillAdd(row, q, g->source[k], 0, (PetscBool)(q < PetscMin(p, f->end)));
  }
  while (row->nheap) {
    const PetscInt q = PolderFillNext(row);

    for (PetscInt k = f->start[q]; k < f->start[q + 1]; ++k) {
      const PetscInt to = f->grow.j[k], level = row->level[q] + f->grow.level[k] + 1;

      if (to > q && to != p && level <= f->most) PolderFillAdd(row, to, -1, level, (PetscBool)(to < PetscMin(p, f->end)));
    }
  }
  PetscCall(PetscSortInt(row->n, row->list));
  for (PetscInt k = 0; k < row->n; ++k) {
    PetscCall(PolderGrow_Private(&f->grow, row->list[k], row->source[row->list[k]], row->level[row->list[k]]));
    row->level[row->list[k]] = -1;
  }
  f->start[p + 1] = f->grow.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Back from places to rows */
static PetscErrorCode PolderGraphReplace_Private(PolderGraph *g, const PolderElimination *f)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  PetscCall(PetscFree(g->j));
  PetscCall(PetscFree(g->source));
  PetscCall(PetscMalloc1(f->grow.n, &g->j));
  PetscCall(PetscMalloc1(f->grow.n, &g->source));
  for (PetscInt i = 0; i < g->n; ++i) {
    g->i[i] = nz;
    for (PetscInt k = f->start[f->place[i]]; k < f->start[f->place[i] + 1]; ++k) {
      g->j[nz]        = f->order[f->grow.j[k]];
      g->source[nz++] = f->grow.source[k];
    }
  }
  g->i[g->n] = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGraphFill(PolderGraph *g, const PetscInt key[], PetscInt end, PetscInt most)
{
  PolderElimination f = {.most = most};

  PetscFunctionBegin;
  PetscCheck(!g->nghost, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Fill is found in the local block alone");
  PetscCall(PetscMalloc3(g->n, &f.order, g->n, &f.place, g->n + 1, &f.start));
  PetscCall(PetscMalloc4(g->n, &f.row.list, g->n, &f.row.source, g->n, &f.row.level, g->n, &f.row.heap));
  PetscCall(PolderGraphOrder_Private(g, key, f.order));
  for (PetscInt p = 0; p < g->n; ++p) {
    f.place[f.order[p]] = p;
    f.row.level[p]      = -1;
    if (key[f.order[p]] < end) f.end = p + 1;
  }
  f.start[0] = 0;
  for (PetscInt p = 0; p < g->n && !g->full; ++p) {
    PetscCall(PolderFillRow_Private(g, p, &f));
    g->full = (PetscBool)((PetscInt64)f.grow.n > POLDER_GRAPH_FILL_MAX * (PetscInt64)g->split);
  }
  if (!g->full) PetscCall(PolderGraphReplace_Private(g, &f));
  PetscCall(PetscFree(f.grow.j));
  PetscCall(PetscFree(f.grow.source));
  PetscCall(PetscFree(f.grow.level));
  PetscCall(PetscFree4(f.row.list, f.row.source, f.row.level, f.row.heap));
  PetscCall(PetscFree3(f.order, f.place, f.start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the entries between rows that both have key[] >= end or, with key = NULL, between blocks of `block` rows */
static void PolderGraphRemove_Private(PolderGraph *g, const PetscInt key[], PetscInt end, PetscInt block)
{
  PetscInt nz = 0, first = 0;

  for (PetscInt i = 0; i < g->n; ++i) {
    const PetscInt last = g->i[i + 1];

    for (PetscInt k = first; k < last; ++k) {
      if (key ? key[i] >= end && key[g->j[k]] >= end : i / block != g->j[k] / block) continue;
      g->j[nz]        = g->j[k];
      g->source[nz++] = g->source[k];
    }
    first       = last;
    g->i[i + 1] = nz;
  }
}

PetscErrorCode PolderGraphCut(PolderGraph *g, const PetscInt key[], PetscInt end)
{
  PetscFunctionBegin;
  PolderGraphRemove_Private(g, key, end, 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGraphBlocks(PolderGraph *g, PetscInt n)
{
  PetscFunctionBegin;
  if (n > 1 && g->n) PolderGraphRemove_Private(g, NULL, 0, (g->n - 1) / n + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGraphCheckFill(PC pc, const PolderGraph *g, const char advice[])
{
  PetscInt entries = g->full ? g->split : 0;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &entries, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  if (entries)
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_OUTOFRANGE,
                   "PC of type %s: with fill the %" PetscInt_FMT " entries of a process would become more than %d times as many, as with rows of thousands of "
                   "entries: %s",
                   ((PolderRowsPC *)pc->data)->steps->type, entries, POLDER_GRAPH_FILL_MAX, advice);
  PetscFunctionReturn(PETSC_SUCCESS);
}
