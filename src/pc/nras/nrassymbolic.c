/* ILU(k) of the inner blocks: which entries the factors have, the levels of the triangular solves, and the interleaved storage. */
#include "nrasimpl.h"

/* The factors of one block in the order of its rows: row i has col[ptr[i]] .. ascending, the diagonal entry at diag[i], and always one */
typedef struct {
  PetscInt   m, room;
  PetscInt64 most; /* entries at most; more: full */
  PetscBool  full;
  PetscInt  *ptr, *diag, *col, *fill, *source; /* fill: level of fill */
} NRASFactor;

/* The factors of all blocks: of each row the numbers of lower and upper entries, and all of these one after the other */
typedef struct {
  PetscInt  nrow, nz, nlevel, roomrow, roomnz, roomlevel;
  PetscInt *count[2], *diag, *col, *source, *first;
} NRASAll;

/* Work of the size of the outer block */
typedef struct {
  PetscInt *local, *next, *fill, *source, *wave, *perm, *order, *mark; /* mark[j] = i: row i has column j */
} NRASWork;

static PetscErrorCode NRASGrow_Private(PetscInt need, PetscInt used, PetscInt *room, int n, PetscInt **arrays[])
{
  PetscInt larger;

  PetscFunctionBegin;
  if (need <= *room) PetscFunctionReturn(PETSC_SUCCESS);
  larger = (PetscInt)PetscMin((PetscInt64)PETSC_MAX_INT, PetscMax((PetscInt64)need, 3 * (PetscInt64)*room / 2 + 1024));
  for (int k = 0; k < n; ++k) {
    PetscInt *a;

    PetscCall(PetscMalloc1(larger, &a));
    PetscCall(PetscArraycpy(a, *arrays[k], used));
    PetscCall(PetscFree(*arrays[k]));
    *arrays[k] = a;
  }
  *room = larger;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NRASCheckRoom_Private(PetscInt used, PetscInt more)
{
  PetscFunctionBegin;
  PetscCheck((PetscInt64)used + more < PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "PC of type nras: the factors of a process have more entries than the integers of this PETSc count: use fewer -pc_nras_levels, more processes, or "
             "a PETSc with 64-bit indices");
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

/* Adds the entries that the elimination of row i creates up to level k: fill(i, j) = min over p of fill(i, p) + fill(p, j) + 1 */
static PetscInt NRASFillRow(const NRASFactor *f, PetscInt i, PetscInt k, NRASWork *w)
{
  const PetscInt m = f->m;
  PetscInt       n = 0;

  for (PetscInt p = w->next[m]; p < i; p = w->next[p]) {
    PetscInt at = p;

    for (PetscInt q = f->diag[p] + 1; q < f->ptr[p + 1] && w->fill[p] < k; ++q) {
      const PetscInt j = f->col[q], fill = w->fill[p] + f->fill[q] + 1;

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

static PetscErrorCode NRASFactorPattern_Private(const NRASGraph *A, PetscInt m, const PetscInt rows[], PetscInt k, NRASFactor *f, NRASWork *w)
{
  PetscFunctionBegin;
  f->m      = m;
  f->ptr[0] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    PetscInt n = NRASRowOfA(A, rows[i], i, m, w), at = f->ptr[i];

    if (k) n += NRASFillRow(f, i, k, w);
    if ((PetscInt64)at + n > f->most) {
      f->full = PETSC_TRUE;
      break;
    }
    PetscCall(NRASCheckRoom_Private(at, n));
    PetscCall(NRASGrow_Private(at + n, at, &f->room, 3, (PetscInt * *[]){&f->col, &f->fill, &f->source}));
    for (PetscInt j = w->next[m]; j < m; j = w->next[j], ++at) {
      if (j == i) f->diag[i] = at;
      f->col[at]    = j;
      f->fill[at]   = w->fill[j];
      f->source[at] = w->source[j];
    }
    f->ptr[i + 1] = at;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Flops of the factorisation: for each l_ic a multiplication, and three for each entry of row c of U whose column row i has too; pivots and scales of U */
static PetscLogDouble NRASFactorFlops(const NRASFactor *f, NRASWork *w)
{
  PetscLogDouble flops = (PetscLogDouble)f->ptr[f->m];

  for (PetscInt i = 0; i < f->m; ++i) w->mark[i] = -1;
  for (PetscInt i = 0; i < f->m; ++i) {
    PetscInt updates = 0;

    for (PetscInt k = f->ptr[i]; k < f->ptr[i + 1]; ++k) w->mark[f->col[k]] = i;
    for (PetscInt k = f->ptr[i]; k < f->diag[i]; ++k) {
      for (PetscInt q = f->diag[f->col[k]] + 1; q < f->ptr[f->col[k] + 1]; ++q) updates += w->mark[f->col[q]] == i;
    }
    flops += 3.0 * updates;
  }
  return flops;
}

/* perm[i] and order[]: the rows by levels, where row i follows all j < i with an entry (i, j) or (j, i); appends the levels to first[] */
static PetscErrorCode NRASLevels_Private(const NRASFactor *f, NRASAll *all, NRASWork *w)
{
  PetscInt nlevel = 0, *count, at;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(w->wave, f->m));
  for (PetscInt i = 0; i < f->m; ++i) {
    for (PetscInt k = f->ptr[i]; k < f->diag[i]; ++k) w->wave[i] = PetscMax(w->wave[i], w->wave[f->col[k]] + 1);
    for (PetscInt k = f->diag[i] + 1; k < f->ptr[i + 1]; ++k) w->wave[f->col[k]] = PetscMax(w->wave[f->col[k]], w->wave[i] + 1);
    nlevel = PetscMax(nlevel, w->wave[i] + 1);
  }
  PetscCall(NRASGrow_Private(all->nlevel + nlevel + 1, all->nlevel, &all->roomlevel, 1, (PetscInt * *[]){&all->first}));
  PetscCall(PetscCalloc1(nlevel + 1, &count));
  for (PetscInt i = 0; i < f->m; ++i) count[w->wave[i] + 1]++;
  for (PetscInt l = 0; l < nlevel; ++l) {
    count[l + 1] += count[l];
    all->first[all->nlevel + l] = all->nrow + count[l];
  }
  for (PetscInt i = 0; i < f->m; ++i) {
    at           = count[w->wave[i]]++;
    w->perm[i]   = at;
    w->order[at] = i;
  }
  all->nlevel += nlevel;
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Longer rows are not sorted by insertion */
#define NRAS_SHORT 32

/* Appends the entries k0 .. k1 of a row, with columns in the order of levels, ascending */
static PetscErrorCode NRASAppend_Private(const NRASFactor *f, PetscInt k0, PetscInt k1, const PetscInt perm[], NRASAll *all)
{
  PetscInt *col = all->col + all->nz, *source = all->source + all->nz;

  PetscFunctionBegin;
  for (PetscInt k = k0; k < k1; ++k) {
    const PetscInt j  = perm[f->col[k]];
    PetscInt       at = k - k0;

    for (; k1 - k0 <= NRAS_SHORT && at > 0 && col[at - 1] > j; --at) {
      col[at]    = col[at - 1];
      source[at] = source[at - 1];
    }
    col[at]    = j;
    source[at] = f->source[k];
  }
  if (k1 - k0 > NRAS_SHORT) PetscCall(PetscSortIntWithArray(k1 - k0, col, source));
  all->nz += k1 - k0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends the factors of a block in the order of levels */
static PetscErrorCode NRASAppendBlock_Private(const NRASFactor *f, const NRASWork *w, NRASAll *all)
{
  const PetscInt nz = f->ptr[f->m];

  PetscFunctionBegin;
  PetscCall(NRASCheckRoom_Private(all->nz, nz));
  PetscCall(NRASGrow_Private(all->nz + nz, all->nz, &all->roomnz, 2, (PetscInt * *[]){&all->col, &all->source}));
  for (PetscInt a = 0; a < f->m; ++a) {
    const PetscInt i = w->order[a], row = all->nrow + a;

    all->count[0][row] = f->diag[i] - f->ptr[i];
    all->count[1][row] = f->ptr[i + 1] - f->diag[i] - 1;
    all->diag[row]     = f->source[f->diag[i]];
    PetscCall(NRASAppend_Private(f, f->ptr[i], f->diag[i], w->perm, all));
    PetscCall(NRASAppend_Private(f, f->diag[i] + 1, f->ptr[i + 1], w->perm, all));
  }
  all->nrow += f->m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* start[] of both triangles; *nz <- the number of entries with those that fill slices */
static PetscErrorCode NRASSlices_Private(const NRASAll *all, PetscInt *start[2], PetscInt *nz)
{
  const PetscInt nslice = (all->nrow + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE;
  PetscInt64     at     = 0;

  PetscFunctionBegin;
  for (int t = 0; t < 2; ++t) {
    for (PetscInt s = 0; s <= nslice; ++s) {
      PetscInt width = 0;

      start[t][s] = (PetscInt)at;
      for (PetscInt i = s * POLDER_ILU_SLICE; i < PetscMin(all->nrow, (s + 1) * POLDER_ILU_SLICE); ++i) width = PetscMax(width, all->count[t][i]);
      at += (PetscInt64)width * POLDER_ILU_SLICE;
      PetscCall(NRASCheckRoom_Private((PetscInt)PetscMin(at, PETSC_MAX_INT), all->nrow));
    }
  }
  *nz = (PetscInt)at;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Interleaves the entries */
static void NRASInterleave(const NRASAll *all, const PetscInt row[], PetscInt *const start[2], PetscInt nz, PetscInt col[], PetscInt source[])
{
  PetscInt from = 0, b = 0;

  for (PetscInt i = 0; i < all->nrow; ++i) {
    while (i >= row[b + 1]) ++b;
    for (int t = 0; t < 2; ++t) {
      PetscInt n = all->count[t][i];

      for (PetscInt p = start[t][i / POLDER_ILU_SLICE] + i % POLDER_ILU_SLICE; p < start[t][i / POLDER_ILU_SLICE + 1]; p += POLDER_ILU_SLICE, --n) {
        col[p]    = n > 0 ? all->col[from] : i - row[b];
        source[p] = n > 0 ? all->source[from] : -1;
        if (n > 0) ++from;
      }
    }
    source[nz + i] = all->diag[i];
  }
  /* the lanes of the last slice that have no row */
  for (PetscInt i = all->nrow; i % POLDER_ILU_SLICE; ++i) {
    for (int t = 0; t < 2; ++t) {
      for (PetscInt p = start[t][i / POLDER_ILU_SLICE] + i % POLDER_ILU_SLICE; p < start[t][i / POLDER_ILU_SLICE + 1]; p += POLDER_ILU_SLICE) {
        col[p]    = 0;
        source[p] = -1;
      }
    }
  }
}

/* Moves the result into the arrays on the host */
static PetscErrorCode NRASStore_Private(PC_NRAS *nras, const NRASBlocks *blocks, const PetscInt level[], NRASAll *all)
{
  PetscInt *const length = nras->length, **array = nras->at[0].array, nz = 0;
  PolderIlu      *ilu = &nras->at[0].ilu;

  PetscFunctionBegin;
  length[NRAS_LOWER] = length[NRAS_UPPER] = (all->nrow + POLDER_ILU_SLICE - 1) / POLDER_ILU_SLICE + 1;
  length[NRAS_ROW] = length[NRAS_LEVEL] = blocks->n + 1;
  length[NRAS_FIRST]                    = all->nlevel + 1;
  PetscCall(PetscMalloc1(length[NRAS_LOWER], &array[NRAS_LOWER]));
  PetscCall(PetscMalloc1(length[NRAS_UPPER], &array[NRAS_UPPER]));
  PetscCall(PetscMalloc1(blocks->n + 1, &array[NRAS_ROW]));
  PetscCall(PetscMalloc1(blocks->n + 1, &array[NRAS_LEVEL]));
  PetscCall(PetscMalloc1(all->nlevel + 1, &array[NRAS_FIRST]));
  PetscCall(PetscArraycpy(array[NRAS_ROW], blocks->ptr, blocks->n + 1));
  PetscCall(PetscArraycpy(array[NRAS_LEVEL], level, blocks->n + 1));
  PetscCall(PetscArraycpy(array[NRAS_FIRST], all->first, all->nlevel));
  array[NRAS_FIRST][all->nlevel] = all->nrow;
  PetscCall(NRASSlices_Private(all, array + NRAS_LOWER, &nz));
  length[NRAS_COL]    = nz;
  length[NRAS_SOURCE] = nz + all->nrow;
  PetscCall(PetscMalloc1(nz, &array[NRAS_COL]));
  PetscCall(PetscMalloc1(nz + all->nrow, &array[NRAS_SOURCE]));
  NRASInterleave(all, array[NRAS_ROW], array + NRAS_LOWER, nz, array[NRAS_COL], array[NRAS_SOURCE]);
  PetscCall(PetscMemzero(ilu, sizeof(*ilu)));
  ilu->nblock = blocks->n;
  ilu->nrow   = all->nrow;
  ilu->nz     = nz;
  for (PetscInt b = 0; b < blocks->n; ++b) {
    ilu->largest = PetscMax(ilu->largest, blocks->ptr[b + 1] - blocks->ptr[b]);
    ilu->deepest = PetscMax(ilu->deepest, level[b + 1] - level[b]);
  }
  for (PetscInt l = 0; l < all->nlevel; ++l) ilu->widest = PetscMax(ilu->widest, array[NRAS_FIRST][l + 1] - array[NRAS_FIRST][l]);
  nras->counts.entries = all->nz + all->nrow;
  nras->counts.filled  = nz + all->nrow;
  nras->counts.levels  = all->nlevel;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the rows of a block, which its caller gave in ascending order, by the same ones in the order of levels */
static PetscErrorCode NRASReorder_Private(PetscInt m, PetscInt rows[], NRASWork *w)
{
  PetscFunctionBegin;
  for (PetscInt a = 0; a < m; ++a) w->wave[a] = rows[w->order[a]];
  PetscCall(PetscArraycpy(rows, w->wave, m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASSymbolic(PC pc, const NRASGraph *A, const NRASBlocks *blocks)
{
  PC_NRAS   *nras = (PC_NRAS *)pc->data;
  NRASFactor f    = {0};
  NRASAll    all  = {0};
  NRASWork   w;
  PetscInt  *level, nrow = blocks->ptr[blocks->n];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->m, &w.mark));
  PetscCall(PetscMalloc7(A->m, &w.local, A->m + 1, &w.next, A->m, &w.fill, A->m, &w.source, A->m, &w.wave, A->m, &w.perm, A->m, &w.order));
  PetscCall(PetscMalloc3(A->m + 1, &f.ptr, A->m, &f.diag, blocks->n + 1, &level));
  PetscCall(PetscMalloc3(nrow, &all.count[0], nrow, &all.count[1], nrow, &all.diag));
  for (PetscInt i = 0; i < A->m; ++i) w.local[i] = -1;
  for (PetscInt b = 0; b < blocks->n && !nras->counts.full; ++b) {
    PetscInt *rows = blocks->row + blocks->ptr[b], m = blocks->ptr[b + 1] - blocks->ptr[b];

    for (PetscInt i = 0; i < m; ++i) w.local[rows[i]] = i;
    f.most = NRASFillMost(A) - all.nz - all.nrow;
    PetscCall(NRASFactorPattern_Private(A, m, rows, nras->set.levels, &f, &w));
    nras->counts.full = f.full;
    if (f.full) break;
    nras->counts.flops += NRASFactorFlops(&f, &w);
    level[b] = all.nlevel;
    PetscCall(NRASLevels_Private(&f, &all, &w));
    PetscCall(NRASAppendBlock_Private(&f, &w, &all));
    for (PetscInt i = 0; i < m; ++i) w.local[rows[i]] = -1;
    PetscCall(NRASReorder_Private(m, rows, &w));
  }
  level[blocks->n] = all.nlevel;
  if (!nras->counts.full) PetscCall(NRASStore_Private(nras, blocks, level, &all));
  PetscCall(PetscFree(f.col));
  PetscCall(PetscFree(f.fill));
  PetscCall(PetscFree(f.source));
  PetscCall(PetscFree(all.col));
  PetscCall(PetscFree(all.source));
  PetscCall(PetscFree(all.first));
  PetscCall(PetscFree3(all.count[0], all.count[1], all.diag));
  PetscCall(PetscFree3(f.ptr, f.diag, level));
  PetscCall(PetscFree(w.mark));
  PetscCall(PetscFree7(w.local, w.next, w.fill, w.source, w.wave, w.perm, w.order));
  PetscFunctionReturn(PETSC_SUCCESS);
}
