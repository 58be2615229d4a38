/*
  ILU(k) of the inner blocks on the host, where they overlap or k is not zero: which entries the factors have. Rows that have the same entries, relative to
  their diagonals, share one row of entries, as most rows of a grid do.
*/
#include "nrasimpl.h"

/* Numbers 0 to n - 1 by keys that need not differ: those of a key are among a list, from head[key modulo nhead] on, which next[] = -1 ends */
typedef struct {
  PetscInt      n, room, nhead, *head, *next;
  unsigned int *key;
} NRASTable;

/*
  Shared row c has the entries ptr[c] .. ptr[c + 1] - 1, ascending, with the diagonal entry at diag[c], and always one. Entry k is offset[k] columns behind
  the diagonal, has fill[k] as its level of fill, which is below 2 NRAS_LEVELS_MAX, and is entry source[k] of the row of the matrix, none for -1. The row at
  hand has that of an earlier block row, row[e] for some e of `before`, if both have the same entries in the matrix and eliminate with the same shared rows
*/
typedef struct {
  NRASTable      rows, before;
  PetscInt       room;
  PetscInt      *ptr, *diag, *row, *offset, *source;
  unsigned char *fill;
} NRASShared;

/* Of the row at hand: its entries in the matrix, n of them, and a list of those in the factors, on the row numbers of a block of m rows, from next[m] to m */
typedef struct {
  PetscInt       n, *offset, *source; /* as in NRASShared */
  PetscInt      *local, *next, *from; /* local: row numbers within the block, of those of the outer one; from: entry of the matrix */
  unsigned char *fill;
} NRASWork;

static PetscErrorCode NRASCreateTable_Private(PetscInt nhead, NRASTable *t)
{
  PetscFunctionBegin;
  *t = (NRASTable){.nhead = nhead};
  PetscCall(PetscMalloc1(nhead, &t->head));
  for (PetscInt k = 0; k < nhead; ++k) t->head[k] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NRASDestroyTable_Private(NRASTable *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(t->head));
  PetscCall(PetscFree(t->next));
  PetscCall(PetscFree(t->key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number n gets a key; *more <- for how many numbers other arrays need room now, 0: for no more than before */
static PetscErrorCode NRASAddKey_Private(NRASTable *t, unsigned int key, PetscInt *more)
{
  PetscInt *head = &t->head[key % (unsigned int)t->nhead];

  PetscFunctionBegin;
  *more = 0;
  if (t->n == t->room) {
    *more = t->room = 2 * t->room + 64;
    PetscCall(PetscRealloc(sizeof(*t->next) * (size_t)t->room, &t->next));
    PetscCall(PetscRealloc(sizeof(*t->key) * (size_t)t->room, &t->key));
  }
  t->key[t->n]  = key;
  t->next[t->n] = *head;
  *head         = t->n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first number of the list from k on that has a key, -1: none */
static PetscInt NRASNextOfKey(const NRASTable *t, unsigned int key, PetscInt k)
{
  while (k >= 0 && t->key[k] != key) k = t->next[k];
  return k;
}

static PetscInt NRASFirstOfKey(const NRASTable *t, unsigned int key)
{
  return NRASNextOfKey(t, key, t->head[key % (unsigned int)t->nhead]);
}

static unsigned int NRASMix(unsigned int key, PetscInt number)
{
  key = (key ^ (unsigned int)number) * 0x9e3779b1u;
  return key ^ key >> 15;
}

/* Room for n more entries behind those of the shared rows */
static PetscErrorCode NRASGrow_Private(NRASShared *f, PetscInt n)
{
  const PetscInt used = f->ptr[f->rows.n];

  PetscFunctionBegin;
  PetscCall(PCNRASCheckEntries((PetscInt64)used + n));
  if (used + n <= f->room) PetscFunctionReturn(PETSC_SUCCESS);
  f->room = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, PetscMax((PetscInt64)used + n, 2 * (PetscInt64)f->room + 1024));
  PetscCall(PetscRealloc(sizeof(*f->offset) * (size_t)f->room, &f->offset));
  PetscCall(PetscRealloc(sizeof(*f->source) * (size_t)f->room, &f->source));
  PetscCall(PetscRealloc(sizeof(*f->fill) * (size_t)f->room, &f->fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of row i of a block in its columns, ascending; is that all the same as for the row before? */
static PetscBool NRASRowOfA(const NRASGraph *A, PetscInt row, PetscInt i, NRASWork *w)
{
  PetscInt  n    = 0;
  PetscBool same = PETSC_TRUE;

  for (PetscInt k = A->ai[row]; k < A->ai[row + 1]; ++k) {
    const PetscInt j = w->local[A->aj[k]], offset = j - i, source = k - A->ai[row];
    PetscInt       at = n;

    if (j < 0) continue;
    for (; at > 0 && w->offset[at - 1] > offset; --at) { /* the columns of the matrix do not ascend */
      w->offset[at] = w->offset[at - 1];
      w->source[at] = w->source[at - 1];
      same          = PETSC_FALSE;
    }
    same          = (PetscBool)(same && n < w->n && w->offset[at] == offset && w->source[at] == source);
    w->offset[at] = offset;
    w->source[at] = source;
    ++n;
  }
  same = (PetscBool)(same && n == w->n);
  w->n = n;
  return same;
}

/* Would eliminating block row p, of the block from r0 on, be as that of block row q, both having the same entries in the matrix? */
static PetscBool NRASSameElimination(const NRASShared *f, const PetscInt shared[], PetscInt r0, PetscInt p, PetscInt q)
{
  const PetscInt *now = shared + p, *then = shared + q, c = *then;

  if (p + f->offset[f->ptr[c]] < r0) return PETSC_FALSE;
  for (PetscInt k = f->ptr[c]; k < f->diag[c]; ++k) {
    if (now[f->offset[k]] != then[f->offset[k]]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Has shared row c the entries in the matrix that the row at hand has? */
static PetscBool NRASSameMatrix(const NRASShared *f, PetscInt c, const NRASWork *w)
{
  PetscInt n = 0;

  for (PetscInt k = f->ptr[c]; k < f->ptr[c + 1]; ++k) {
    if (f->source[k] < 0) continue;
    if (n == w->n || w->offset[n] != f->offset[k] || w->source[n] != f->source[k]) return PETSC_FALSE;
    ++n;
  }
  return (PetscBool)(n == w->n);
}

/* A key of the row at hand, block row p: of its entries in the matrix, and of the shared rows that it eliminates with by them */
static unsigned int NRASKeyOfRow(const NRASWork *w, const PetscInt shared[], PetscInt p)
{
  unsigned int key = 0;

  for (PetscInt k = 0; k < w->n; ++k) {
    key = NRASMix(key, w->offset[k]);
    if (w->offset[k] < 0) key = NRASMix(key, shared[p + w->offset[k]]);
  }
  return key;
}

/* The list of the row at hand, row i of m, as it is in the matrix, and a diagonal entry in any case; returns its length */
static PetscInt NRASListRow(PetscInt i, PetscInt m, NRASWork *w)
{
  PetscInt  at = m, n = 0;
  PetscBool diagonal = PETSC_FALSE;

  for (PetscInt k = 0; k <= w->n; ++k) {
    const PetscInt j = k < w->n ? i + w->offset[k] : m;

    if (j >= i && !diagonal) {
      diagonal   = PETSC_TRUE;
      w->fill[i] = 0;
      w->from[i] = -1;
      at = w->next[at] = i;
      ++n;
    }
    if (j < m && j != at) {
      at = w->next[at] = j;
      ++n;
    }
    if (j == m) break;
    w->fill[j] = 0;
    w->from[j] = w->source[k];
  }
  w->next[at] = m;
  return n;
}

/* Adds the entries that eliminating row i of a block (m rows from r0 on) creates up to level k: fill(i, j) = min over p of fill(i, p) + fill(p, j) + 1 */
static PetscInt NRASFillRow(const NRASShared *f, const PetscInt shared[], PetscInt m, PetscInt i, PetscInt levels, NRASWork *w)
{
  PetscInt n = 0;

  for (PetscInt p = w->next[m]; p < i; p = w->next[p]) {
    const PetscInt c = shared[p], left = levels - w->fill[p] - 1;
    PetscInt       at = p;

    for (PetscInt q = f->diag[c] + 1; q < f->ptr[c + 1] && left >= 0; ++q) {
      const PetscInt      j    = p + f->offset[q];
      const unsigned char fill = (unsigned char)(w->fill[p] + f->fill[q] + 1);

      if (f->fill[q] > left) continue;
      while (w->next[at] < j) at = w->next[at];
      if (w->next[at] == j) w->fill[j] = PetscMin(w->fill[j], fill);
      else {
        w->next[j]  = w->next[at];
        w->next[at] = j;
        w->fill[j]  = fill;
        w->from[j]  = -1;
        ++n;
      }
    }
  }
  return n;
}

/* The shared row with the entries of the list of the row at hand, row i of m; it has n of them */
static PetscErrorCode NRASShareRow_Private(PetscInt i, PetscInt m, PetscInt n, const NRASWork *w, NRASShared *f, PetscInt *shared)
{
  unsigned int key = 0;
  PetscInt     begin, at, c, more;

  PetscFunctionBegin;
  PetscCall(NRASGrow_Private(f, n));
  begin = at = f->ptr[f->rows.n];
  for (PetscInt j = w->next[m]; j < m; j = w->next[j], ++at) {
    f->offset[at] = j - i;
    f->fill[at]   = w->fill[j];
    f->source[at] = w->from[j];
    key           = NRASMix(NRASMix(key, j - i), w->fill[j]);
  }
  for (c = NRASFirstOfKey(&f->rows, key); c >= 0; c = NRASNextOfKey(&f->rows, key, f->rows.next[c])) {
    const PetscInt k    = f->ptr[c];
    PetscBool      same = (PetscBool)(f->ptr[c + 1] - k == n);

    if (same) PetscCall(PetscArraycmp(f->offset + k, f->offset + begin, n, &same));
    if (same) PetscCall(PetscArraycmp(f->source + k, f->source + begin, n, &same));
    if (same) PetscCall(PetscArraycmp(f->fill + k, f->fill + begin, n, &same));
    if (same) break;
  }
  *shared = c < 0 ? f->rows.n : c;
  if (c >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NRASAddKey_Private(&f->rows, key, &more));
  if (more) {
    PetscCall(PetscRealloc(sizeof(*f->ptr) * (size_t)(more + 1), &f->ptr));
    PetscCall(PetscRealloc(sizeof(*f->diag) * (size_t)more, &f->diag));
  }
  f->ptr[f->rows.n] = at;
  for (at = begin; f->offset[at]; ++at) continue;
  f->diag[f->rows.n - 1] = at;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shared row of the row at hand, row i of a block of m, from its entries in the matrix */
static PetscErrorCode NRASFindShared_Private(PetscInt r0, PetscInt i, PetscInt m, PetscInt levels, NRASShared *f, NRASWork *w, PetscInt shared[])
{
  const unsigned int key = NRASKeyOfRow(w, shared, r0 + i);
  PetscInt           n, more;

  PetscFunctionBegin;
  for (PetscInt e = NRASFirstOfKey(&f->before, key); e >= 0; e = NRASNextOfKey(&f->before, key, f->before.next[e])) {
    shared[r0 + i] = shared[f->row[e]];
    if (NRASSameMatrix(f, shared[r0 + i], w) && NRASSameElimination(f, shared, r0, r0 + i, f->row[e])) PetscFunctionReturn(PETSC_SUCCESS);
  }
  n = NRASListRow(i, m, w);
  if (levels) n += NRASFillRow(f, shared + r0, m, i, levels, w);
  PetscCall(NRASShareRow_Private(i, m, n, w, f, &shared[r0 + i]));
  PetscCall(NRASAddKey_Private(&f->before, key, &more));
  if (more) PetscCall(PetscRealloc(sizeof(*f->row) * (size_t)more, &f->row));
  f->row[f->before.n - 1] = r0 + i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the block that begins with block row r0; *left <- how many more entries the factors may have, negative: there were too many */
static PetscErrorCode NRASFillBlock_Private(const NRASGraph *A, PetscInt r0, PetscInt m, const PetscInt rows[], PetscInt levels, NRASShared *f, NRASWork *w,
                                            PetscInt shared[], PetscInt64 *left)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; ++i) w->local[rows[i]] = i;
  w->n = -1;
  for (PetscInt i = 0; i < m && *left >= 0; ++i) {
    const PetscInt p = r0 + i;

    if (NRASRowOfA(A, rows[i], i, w) && NRASSameElimination(f, shared, r0, p, p - 1)) shared[p] = shared[p - 1];
    else PetscCall(NRASFindShared_Private(r0, i, m, levels, f, w, shared));
    *left -= f->ptr[shared[p] + 1] - f->ptr[shared[p]];
  }
  for (PetscInt i = 0; i < m; ++i) w->local[rows[i]] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NRASDestroyShared_Private(NRASShared *f)
{
  PetscFunctionBegin;
  PetscCall(NRASDestroyTable_Private(&f->rows));
  PetscCall(NRASDestroyTable_Private(&f->before));
  PetscCall(PetscFree(f->ptr));
  PetscCall(PetscFree(f->diag));
  PetscCall(PetscFree(f->row));
  PetscCall(PetscFree(f->offset));
  PetscCall(PetscFree(f->source));
  PetscCall(PetscFree(f->fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASSymbolic(PC pc, const NRASGraph *A, NRASBlocks *blocks)
{
  PC_NRAS       *nras = (PC_NRAS *)pc->data;
  const PetscInt nrow = blocks->ptr[blocks->n], nhead = PetscMin(PetscMax(1, nrow), 1 << 30);
  NRASShared     f = {0};
  NRASWork       w;
  PetscInt64     left = NRASFillMost(A->ai[A->m], A->m);
  PetscInt      *shared, *base;

  PetscFunctionBegin;
  PetscCall(PetscMalloc6(A->m, &w.local, A->m + 1, &w.next, A->m, &w.from, A->m, &w.offset, A->m, &w.source, A->m, &w.fill));
  PetscCall(PetscMalloc2(nrow, &shared, nrow, &base));
  PetscCall(NRASCreateTable_Private(nhead, &f.rows));
  PetscCall(NRASCreateTable_Private(nhead, &f.before));
  PetscCall(PetscCalloc1(1, &f.ptr));
  for (PetscInt i = 0; i < A->m; ++i) w.local[i] = -1;
  for (PetscInt b = 0; b < blocks->n && left >= 0; ++b)
    PetscCall(
      NRASFillBlock_Private(A, blocks->ptr[b], blocks->ptr[b + 1] - blocks->ptr[b], blocks->row + blocks->ptr[b], nras->set.levels, &f, &w, shared, &left));
  nras->counts.full = (PetscBool)(nras->counts.full || left < 0);
  PetscCall(PetscFree6(w.local, w.next, w.from, w.offset, w.source, w.fill));
  for (PetscInt p = 0; p < nrow; ++p) base[p] = A->ai[blocks->row[p]];
  if (!nras->counts.full)
    PetscCall(PCNRASPattern(pc, &PolderOnHost, &(PolderIluGraph){.i = f.ptr, .j = f.offset, .row = shared, .source = f.source, .base = base}, blocks));
  PetscCall(PetscFree2(shared, base));
  PetscCall(NRASDestroyShared_Private(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
