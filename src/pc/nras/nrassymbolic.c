/* ILU(k) of the inner blocks, where they overlap or k is not zero: which entries the factors have. */
#include "nrasimpl.h"

/* The entries of the rows of all blocks, by block rows: row p has col[ptr[p]] .. ascending, the diagonal entry at diag[p], and always one */
typedef struct {
  PetscInt room, *ptr, *diag, *col, *fill, *source; /* fill: level of fill */
} NRASFactor;

/* Work of the size of the outer block, on row numbers within a block */
typedef struct {
  PetscInt *local, *next, *fill, *source;
} NRASWork;

/* Room for n more entries behind `used` ones */
static PetscErrorCode NRASGrow_Private(NRASFactor *f, PetscInt used, PetscInt n)
{
  PetscInt **arrays[] = {&f->col, &f->fill, &f->source};

  PetscFunctionBegin;
  PetscCall(PCNRASCheckEntries((PetscInt64)used + n));
  if (used + n <= f->room) PetscFunctionReturn(PETSC_SUCCESS);
  f->room = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, PetscMax((PetscInt64)used + n, 3 * (PetscInt64)f->room / 2 + 1024));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(arrays); ++k) {
    PetscInt *a;

    PetscCall(PetscMalloc1(f->room, &a));
    PetscCall(PetscArraycpy(a, *arrays[k], used));
    PetscCall(PetscFree(*arrays[k]));
    *arrays[k] = a;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of a row of A within the block, as a list from next[m] on that ascends and ends with m; the diagonal is always in it */
static PetscInt NRASRowOfA(const NRASGraph *A, PetscInt row, PetscInt i, PetscInt m, NRASWork *w)
{
  PetscInt n = 1, at = m;

  w->next[m]   = i;
  w->next[i]   = m;
  w->fill[i]   = 0;
  w->source[i] = -1;
  for (PetscInt k = A->ai[row]; k < A->ai[row + 1]; ++k) {
    const PetscInt j = w->local[A->aj[k]];

    if (j < 0) continue;
    if (j != i) {
      if (at != m && at > j) at = m; /* the columns of the matrix do not ascend */
      while (w->next[at] < j) at = w->next[at];
      w->next[j]  = w->next[at];
      w->next[at] = j;
      ++n;
    }
    w->fill[j]   = 0;
    w->source[j] = k;
  }
  return n;
}

/* Adds the entries that eliminating row i of a block (m rows from r0 on) creates up to level k: fill(i, j) = min over p of fill(i, p) + fill(p, j) + 1 */
static PetscInt NRASFillRow(const NRASFactor *f, PetscInt r0, PetscInt m, PetscInt i, PetscInt k, NRASWork *w)
{
  PetscInt n = 0;

  for (PetscInt p = w->next[m]; p < i; p = w->next[p]) {
    PetscInt at = p;

    for (PetscInt q = f->diag[r0 + p] + 1; q < f->ptr[r0 + p + 1] && w->fill[p] < k; ++q) {
      const PetscInt j = f->col[q] - r0, fill = w->fill[p] + f->fill[q] + 1;

      if (fill > k) continue;
      while (w->next[at] < j) at = w->next[at];
      if (w->next[at] == j) w->fill[j] = PetscMin(w->fill[j], fill);
      else {
        w->next[j]   = w->next[at];
        w->next[at]  = j;
        w->fill[j]   = fill;
        w->source[j] = -1;
        ++n;
      }
    }
  }
  return n;
}

/* The rows of the block that begins with block row r0; *full <- would the factors have more than `most` entries? */
static PetscErrorCode NRASFillBlock_Private(const NRASGraph *A, PetscInt r0, PetscInt m, const PetscInt rows[], PetscInt k, PetscInt64 most, NRASFactor *f,
                                            NRASWork *w, PetscBool *full)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; ++i) w->local[rows[i]] = i;
  for (PetscInt i = 0; i < m; ++i) {
    PetscInt n = NRASRowOfA(A, rows[i], i, m, w), at = f->ptr[r0 + i];

    if (k) n += NRASFillRow(f, r0, m, i, k, w);
    *full = (PetscBool)((PetscInt64)at + n > most);
    if (*full) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(NRASGrow_Private(f, at, n));
    for (PetscInt j = w->next[m]; j < m; j = w->next[j], ++at) {
      if (j == i) f->diag[r0 + i] = at;
      f->col[at]    = r0 + j;
      f->fill[at]   = w->fill[j];
      f->source[at] = w->source[j];
    }
    f->ptr[r0 + i + 1] = at;
  }
  for (PetscInt i = 0; i < m; ++i) w->local[rows[i]] = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASSymbolic(PC pc, const NRASGraph *A, NRASBlocks *blocks)
{
  PC_NRAS       *nras = (PC_NRAS *)pc->data;
  NRASFactor     f    = {0};
  NRASWork       w;
  const PetscInt nrow = blocks->ptr[blocks->n];

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(A->m, &w.local, A->m + 1, &w.next, A->m, &w.fill, A->m, &w.source));
  PetscCall(PetscMalloc2(nrow + 1, &f.ptr, nrow, &f.diag));
  f.ptr[0] = 0;
  for (PetscInt i = 0; i < A->m; ++i) w.local[i] = -1;
  for (PetscInt b = 0; b < blocks->n && !nras->counts.full; ++b)
    PetscCall(NRASFillBlock_Private(A, blocks->ptr[b], blocks->ptr[b + 1] - blocks->ptr[b], blocks->row + blocks->ptr[b], nras->set.levels, NRASFillMost(A), &f,
                                    &w, &nras->counts.full));
  PetscCall(PetscFree4(w.local, w.next, w.fill, w.source));
  PetscCall(PetscFree(f.fill));
  if (!nras->counts.full) PetscCall(PCNRASPattern(pc, &PolderOnHost, &(PolderIluGraph){.i = f.ptr, .j = f.col, .source = f.source}, blocks));
  PetscCall(PetscFree(f.col));
  PetscCall(PetscFree(f.source));
  PetscCall(PetscFree2(f.ptr, f.diag));
  PetscFunctionReturn(PETSC_SUCCESS);
}
