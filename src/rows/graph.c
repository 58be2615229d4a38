/* The pattern of the rows of a process: colours, levels, fill. */
#include "graph.h"
#include "core/refusal.h"
#include <stdint.h>
#include <petsc/private/pcimpl.h>

PetscErrorCode PolderGraphCreate(const PolderCSR *csr, PetscBool ghosts, PolderGraph *g)
{
  const PetscBool both = (PetscBool)(ghosts && csr->bi);

  PetscFunctionBegin;
  *g = (PolderGraph){.n = csr->m, .nz = csr->nz, .begin = csr->ai, .end = csr->ai + 1, .j = csr->aj};
  if (both) {
    g->nghost = csr->nghost;
    g->bi     = csr->bi;
    g->bj     = csr->bj;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGraphDestroy(PolderGraph *g)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(g->ownbegin));
  PetscCall(PetscFree(g->ownend));
  PetscCall(PetscFree(g->ownj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the graph arrays of its own */
static PetscErrorCode PolderGraphOwn_Private(PolderGraph *g, PetscInt *begin, PetscInt *end, PetscInt nz, PetscInt *j)
{
  PetscFunctionBegin;
  PetscCall(PolderGraphDestroy(g));
  g->begin = g->ownbegin = begin;
  g->end = g->ownend = end;
  g->j = g->ownj = j;
  g->own         = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends j to seen[] when row i meets it for the first time */
static inline void PolderGraphMeet(PetscInt j, PetscInt i, PetscInt mark[], PetscInt seen[], PetscInt *n)
{
  if (mark[j] == i) return;
  mark[j]      = i;
  seen[(*n)++] = j;
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
      const PetscInt r = seen[first];

      if (r >= g->n) continue;
      for (PetscInt k = g->begin[r]; k < g->end[r]; ++k) PolderGraphMeet(g->j[k], i, mark, seen, &n);
      for (PetscInt k = g->bi ? g->bi[r] : 0; g->bi && k < g->bi[r + 1]; ++k) PolderGraphMeet(g->n + g->bj[k], i, mark, seen, &n);
    }
  }
  return n;
}

/* The colours below this are bits of a word */
#define POLDER_GRAPH_BITS 64

/* The colours of the neighbours of row i as bits; *more: one is too large for that */
static inline uint64_t PolderGraphTaken(const PolderGraph *g, PetscInt i, const PetscInt colour[], PetscBool *more)
{
  uint64_t taken = 0;
  int      large = 0;

  for (PetscInt k = g->begin[i]; k < g->end[i]; ++k) {
    const PetscInt c = colour[g->j[k]];

    taken |= (uint64_t)(c >= 0) << (c & (POLDER_GRAPH_BITS - 1));
    large |= c >= POLDER_GRAPH_BITS;
  }
  for (PetscInt k = g->bi ? g->bi[i] : 0; g->bi && k < g->bi[i + 1]; ++k) {
    const PetscInt c = colour[g->n + g->bj[k]];

    taken |= (uint64_t)(c >= 0) << (c & (POLDER_GRAPH_BITS - 1));
    large |= c >= POLDER_GRAPH_BITS;
  }
  *more = (PetscBool)large;
  return taken;
}

/* Work for rows with many colours around them or in a wide neighbourhood */
typedef struct {
  PetscInt *mark, *seen, *taken;
} PolderColouring;

static PetscErrorCode PolderColouringCreate_Private(PetscInt all, PolderColouring *w)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc3(all, &w->mark, all, &w->seen, all + 1, &w->taken));
  for (PetscInt i = 0; i < all; ++i) w->mark[i] = -1;
  for (PetscInt i = 0; i <= all; ++i) w->taken[i] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt PolderGraphFirstColour(const PolderGraph *g, PetscInt q, PetscInt i, const PetscInt colour[], PolderColouring *w)
{
  const PetscInt n = PolderGraphNear(g, i, q, w->mark, w->seen), all = g->n + g->nghost;
  PetscInt       c = 0;

  for (PetscInt k = 1; k < n; ++k) {
    if (colour[w->seen[k]] >= 0 && colour[w->seen[k]] <= all) w->taken[colour[w->seen[k]]] = i;
  }
  while (w->taken[c] == i) ++c;
  return c;
}

PetscErrorCode PolderGraphColour(const PolderGraph *g, PetscInt q, PetscInt colour[], PetscInt *count)
{
  PolderColouring w    = {NULL, NULL, NULL};
  PetscInt        most = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < g->n; ++i) {
    if (colour[i] == -1) {
      PetscBool more  = PETSC_TRUE;
      uint64_t  taken = q == 1 ? PolderGraphTaken(g, i, colour, &more) : 0;
      PetscInt  c     = 0;

      if (!more) {
        for (; taken & 1; taken >>= 1) ++c;
      } else {
        if (!w.mark) PetscCall(PolderColouringCreate_Private(g->n + g->nghost, &w));
        c = PolderGraphFirstColour(g, q, i, colour, &w);
      }
      colour[i] = c;
    }
    most = PetscMax(most, colour[i] + 1);
  }
  *count = most;
  PetscCall(PetscFree3(w.mark, w.seen, w.taken));
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

/* One more than the largest level of the neighbours of row i */
static inline PetscInt PolderGraphLevel(const PolderGraph *g, PetscInt i, const PetscInt level[])
{
  PetscInt own = -1;

  for (PetscInt k = g->begin[i]; k < g->end[i]; ++k) own = PetscMax(own, level[g->j[k]]);
  return own + 1;
}

PetscErrorCode PolderGraphLevels(const PolderGraph *g, const PetscInt key[], PetscInt level[], PetscInt *count)
{
  PetscInt *order = NULL, most = 0;

  PetscFunctionBegin;
  if (key) {
    PetscCall(PetscMalloc1(g->n, &order));
    PetscCall(PolderGraphOrder_Private(g, key, order));
  }
  for (PetscInt i = 0; i < g->n; ++i) level[i] = -1;
  for (PetscInt p = 0; p < g->n; ++p) {
    const PetscInt i = order ? order[p] : p;

    level[i] = PolderGraphLevel(g, i, level);
    most     = PetscMax(most, level[i] + 1);
  }
  *count = most;
  PetscCall(PetscFree(order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns that grow row by row */
typedef struct {
  PetscInt n, size, *j, *level;
} PolderGrowing;

/* Room for `more` entries */
static PetscErrorCode PolderGrow_Private(PolderGrowing *grow, PetscInt more)
{
  PetscFunctionBegin;
  if (grow->n + more > grow->size) {
    grow->size += grow->size / 2 + more + 1024;
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)grow->size, &grow->j));
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)grow->size, &grow->level));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of one row while its fill is found */
typedef struct {
  PetscInt  n, *list;     /* the places of its entries, unordered */
  PetscInt *level;        /* [rows] by place; -1: no entry */
  PetscInt  nheap, *heap; /* the places that are still to be eliminated, the smallest first */
} PolderFillRow;

static void PolderFillAdd(PolderFillRow *row, PetscInt q, PetscInt level, PetscBool wait)
{
  if (row->level[q] >= 0) {
    row->level[q] = PetscMin(row->level[q], level);
    return;
  }
  row->level[q]       = level;
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

/* An elimination: the rows in their order, and by places the columns with fill of each, as far as they are known */
typedef struct {
  PetscInt      most, end; /* level of fill; the places below this are eliminated */
  PetscInt     *order, *place, *start;
  PolderGrowing grow;
  PolderFillRow row;
} PolderElimination;

static PetscErrorCode PolderFillRow_Private(const PolderGraph *g, PetscInt p, PolderElimination *f)
{
  const PetscInt i = f->order[p], wait = PetscMin(p, f->end);
  PolderFillRow *row = &f->row;

  PetscFunctionBegin;
  row->n = row->nheap = 0;
  for (PetscInt k = g->begin[i]; k < g->end[i]; ++k) {
    const PetscInt q = f->place[g->j[k]];

    if (q != p) PolderFillAdd(row, q, 0, (PetscBool)(q < wait));
  }
  while (row->nheap) {
    const PetscInt q = PolderFillNext(row);

    for (PetscInt k = f->start[q]; k < f->start[q + 1]; ++k) {
      const PetscInt to = f->place[f->grow.j[k]], level = row->level[q] + f->grow.level[k] + 1;

      if (to > q && to != p && level <= f->most) PolderFillAdd(row, to, level, (PetscBool)(to < wait));
    }
  }
  PetscCall(PolderGrow_Private(&f->grow, row->n));
  for (PetscInt k = 0; k < row->n; ++k) {
    f->grow.j[f->grow.n]       = f->order[row->list[k]];
    f->grow.level[f->grow.n++] = row->level[row->list[k]];
    row->level[row->list[k]]   = -1;
  }
  f->start[p + 1] = f->grow.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph takes the columns, which lie in the order of the places */
static PetscErrorCode PolderGraphReplace_Private(PolderGraph *g, PolderElimination *f)
{
  PetscInt *begin, *end;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->n, &begin));
  PetscCall(PetscMalloc1(g->n, &end));
  for (PetscInt i = 0; i < g->n; ++i) {
    begin[i] = f->start[f->place[i]];
    end[i]   = f->start[f->place[i] + 1];
  }
  PetscCall(PolderGraphOwn_Private(g, begin, end, f->grow.n, f->grow.j));
  f->grow.j = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGraphFill(PolderGraph *g, const PetscInt key[], PetscInt end, PetscInt most)
{
  PolderElimination f = {.most = most};

  PetscFunctionBegin;
  PetscCheck(!g->nghost, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Fill is found in the local block alone");
  PetscCall(PetscMalloc3(g->n, &f.order, g->n, &f.place, g->n + 1, &f.start));
  PetscCall(PetscMalloc3(g->n, &f.row.list, g->n, &f.row.level, g->n, &f.row.heap));
  PetscCall(PolderGraphOrder_Private(g, key, f.order));
  for (PetscInt p = 0; p < g->n; ++p) {
    f.place[f.order[p]] = p;
    f.row.level[p]      = -1;
    if (key[f.order[p]] < end) f.end = p + 1;
  }
  f.start[0] = 0;
  for (PetscInt p = 0; p < g->n && !g->full; ++p) {
    PetscCall(PolderFillRow_Private(g, p, &f));
    g->full = (PetscBool)((PetscInt64)f.grow.n > POLDER_GRAPH_FILL_MAX * (PetscInt64)g->nz);
  }
  if (!g->full) PetscCall(PolderGraphReplace_Private(g, &f));
  PetscCall(PetscFree(f.grow.j));
  PetscCall(PetscFree(f.grow.level));
  PetscCall(PetscFree3(f.row.list, f.row.level, f.row.heap));
  PetscCall(PetscFree3(f.order, f.place, f.start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGraphBlocks(PolderGraph *g, PetscInt n, PetscInt *nblock)
{
  const PetscInt block = g->n ? (g->n - 1) / n + 1 : 1;
  PetscInt      *begin, *end, *j, nz = 0;

  PetscFunctionBegin;
  *nblock = (g->n + block - 1) / block;
  if (n <= 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(g->n, &begin));
  PetscCall(PetscMalloc1(g->n, &end));
  PetscCall(PetscMalloc1(g->nz, &j));
  for (PetscInt i = 0; i < g->n; ++i) {
    begin[i] = nz;
    for (PetscInt k = g->begin[i]; k < g->end[i]; ++k) {
      if (i / block == g->j[k] / block) j[nz++] = g->j[k];
    }
    end[i] = nz;
  }
  PetscCall(PolderGraphOwn_Private(g, begin, end, nz, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderGraphCheckFill(PC pc, const PolderGraph *g, const char advice[])
{
  PetscInt entries = g->full ? g->nz : 0;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &entries, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  if (entries)
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_OUTOFRANGE,
                   "PC of type %s: with fill the %" PetscInt_FMT " entries of a process would become more than %d times as many, as with rows of thousands of "
                   "entries: %s",
                   ((PolderRowsPC *)pc->data)->steps->type, entries, POLDER_GRAPH_FILL_MAX, advice);
  PetscFunctionReturn(PETSC_SUCCESS);
}
