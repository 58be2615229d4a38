/* The rows of the inner blocks in the order of the levels of a triangular solve, and the interleaved storage of their factors, at a place. */
#include "nrasimpl.h"
#include "kernels/ilufill.h"
#include "kernels/labels.h"
#include "kernels/pairs.h"

/* Fewer rows a level than this, and a host solves for row after row, from factors that are stored so */
#define NRAS_THIN 8
/* A slice is stored row after row when its longest row has more entries than the first of these and more than the second times the mean, if all such slices
   save one of so many entries that are stored otherwise: solves with them take longer on a GPU */
#define NRAS_SHORT  16
#define NRAS_PADDED 4
#define NRAS_SAVED  4

PetscErrorCode PCNRASCheckEntries(PetscInt64 n)
{
  PetscFunctionBegin;
  PetscCheck(n < PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "PC of type nras: the factors of a process have more entries than the integers of this PETSc count: use fewer -pc_nras_levels, more processes, or "
             "a PETSc with 64-bit indices");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P->ptr and P->row, which are allocated, from P->agg at a place */
static PetscErrorCode NRASGroup_Private(const PolderPlace *place, PolderAggregates *P)
{
  const size_t bytes = PolderWorkSize(PolderPairsWork_CUDA(P->m));
  PetscInt    *key[2];
  void        *work;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(place, P->n + 2, &P->ptr));
  PetscCall(PolderPlaceMalloc(place, P->m, &P->row));
  if (!place->device) {
    PolderMembers_Host(P);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int k = 0; k < 2; ++k) PetscCall(PolderPlaceMalloc(place, P->m, &key[k]));
  PetscCall((*place->malloc)(bytes, &work));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderMembers_CUDA(P, key, work, bytes, stream));
  for (int k = 0; k < 2; ++k) PetscCall((*place->free)(&key[k]));
  PetscCall((*place->free)(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeros at a place */
static PetscErrorCode NRASZeros_Private(const PolderPlace *place, size_t n, PetscInt **zeros)
{
  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(place, n, zeros));
  PetscCall((*place->zero)(*zeros, sizeof(PetscInt) * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels: the arrays NRAS_LEVEL and NRAS_FIRST, *order, and how many levels there are; entries[2 nrow]: of the rows of both triangles */
static PetscErrorCode NRASLevels_Private(PC_NRAS *nras, const PolderPlace *place, const PolderIluGraph *g, PetscInt entries[], PetscInt **order)
{
  PetscInt       **array = nras->at[place->device].array, *number, *here, *level;
  PolderIlu       *ilu   = &nras->at[place->device].ilu;
  PolderAggregates P     = {.m = g->nrow};

  PetscFunctionBegin;
  PetscCall(NRASZeros_Private(place, (size_t)g->nrow, &level));
  PetscCall(NRASZeros_Private(place, (size_t)g->nblock, &number));
  PolderRun(place, PolderIluLevels, g, level, number, entries);
  PetscCall(PetscMalloc1(g->nblock + 1, &here));
  PetscCall(PolderPlaceFetch(place, sizeof(PetscInt) * (size_t)g->nblock, &number, here + 1));
  here[0] = 0;
  for (PetscInt b = 0; b < g->nblock; ++b) {
    ilu->deepest = PetscMax(ilu->deepest, here[b + 1]);
    here[b + 1] += here[b];
  }
  P.n = here[g->nblock];
  PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)(g->nblock + 1), here, &array[NRAS_LEVEL]));
  PetscCall(PetscFree(here));
  PolderRun(place, PolderIluNumberLevels, g, array[NRAS_LEVEL], level);
  P.agg = level;
  PetscCall(NRASGroup_Private(place, &P));
  PetscCall((*place->free)(&level));
  array[NRAS_FIRST]        = P.ptr;
  *order                   = P.row;
  nras->length[NRAS_LEVEL] = g->nblock + 1;
  nras->length[NRAS_FIRST] = P.n + 1;
  PetscCall(PetscMalloc1(P.n + 1, &here));
  PetscCall(PolderPlaceTake(place, P.n + 1, P.ptr, here));
  for (PetscInt l = 0; l < P.n; ++l) ilu->widest = PetscMax(ilu->widest, here[l + 1] - here[l]);
  PetscCall(PetscFree(here));
  nras->counts.levels = P.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does a host solve for row after row? */
static PetscBool NRASThin(const PC_NRAS *nras, PetscInt nrow)
{
  return (PetscBool)(!nras->device && !nras->set.jacobi && nrow < NRAS_THIN * nras->counts.levels);
}

/* Which of n slices, the rows of each having at most width[] entries and sum[] in all, are stored row after row, and the lengths of the arrays */
static PetscErrorCode NRASChooseApart_Private(PetscBool thin, PetscInt n, const PetscInt width[], const PetscInt sum[], PetscInt **apart, PetscInt *napart)
{
  PetscInt   many = 0;
  PetscInt64 all = 0, saved = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, apart));
  for (PetscInt s = 0; s < n; ++s) {
    const PetscInt64 filled = (PetscInt64)width[s] * POLDER_ILU_SLICE;

    all += filled;
    (*apart)[s] = width[s] > NRAS_SHORT && filled > NRAS_PADDED * (PetscInt64)sum[s];
    if ((*apart)[s]) saved += filled - sum[s];
  }
  for (PetscInt s = 0; s < n; ++s) (*apart)[s] = thin || ((*apart)[s] && NRAS_SAVED * saved > all) ? n + many++ * (POLDER_ILU_SLICE + 1) : 0;
  *napart = many ? n + many * (POLDER_ILU_SLICE + 1) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASCutSlices(const PC_NRAS *nras, const PolderPlace *place, PetscInt nrow, const PetscInt entries[], const PetscInt number[],
                               const PetscInt order[], NRASSlices *to)
{
  const PetscInt slices = PolderIluSlices(nrow), n = 2 * slices;
  PetscInt64     at = 0;
  PetscInt      *there, *size, *start, *apart;

  PetscFunctionBegin;
  PetscCall(NRASZeros_Private(place, 2 * (size_t)n, &there));
  PolderRun(place, PolderIluWidths, nrow, entries, number, there, there + n);
  PetscCall(PetscMalloc2(2 * n, &size, n + 2, &start));
  PetscCall(PolderPlaceFetch(place, sizeof(PetscInt) * 2 * (size_t)n, &there, size));
  PetscCall(NRASChooseApart_Private(NRASThin(nras, nrow), n, size, size + n, &apart, &to->napart));
  to->entries = 0;
  for (int t = 0; t < 2; ++t) {
    for (PetscInt s = t * slices; s < (t + 1) * slices; ++s) {
      start[s + t] = (PetscInt)at;
      at += apart[s] ? (PetscInt64)size[n + s] : (PetscInt64)size[s] * POLDER_ILU_SLICE;
      to->entries += size[n + s];
      PetscCall(PCNRASCheckEntries(at + nrow));
    }
    start[(t + 1) * slices + t] = (PetscInt)at;
  }
  to->nz     = (PetscInt)at;
  to->nstart = n + 2;
  PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)to->nstart, start, &to->start));
  PetscCall(PolderPlaceMalloc(place, to->napart, &to->apart));
  if (to->napart) {
    PetscCall(PolderPlacePut(place, n, apart, to->apart));
    PolderRun(place, PolderIluPoint, nrow, entries, order, to->start, to->apart);
  }
  PetscCall(PetscFree(apart));
  PetscCall(PetscFree2(size, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCNRASPointToSlices(const NRASSlices *slices, PolderIlu *ilu)
{
  ilu->nz       = slices->nz;
  ilu->start[0] = slices->start;
  ilu->start[1] = slices->start + slices->nstart / 2;
  ilu->apart    = slices->napart ? slices->apart : NULL;
}

void PCNRASPointToArrays(const PC_NRAS *nras, NRASAt *at)
{
  const NRASSlices slices = {.nz     = at->ilu.nz,
                             .nstart = nras->length[NRAS_START],
                             .napart = nras->length[NRAS_APART],
                             .start  = at->array[NRAS_START],
                             .apart  = at->array[NRAS_APART]};

  PCNRASPointToSlices(&slices, &at->ilu);
  at->ilu.row    = at->array[NRAS_ROW];
  at->ilu.level  = at->array[NRAS_LEVEL];
  at->ilu.first  = at->array[NRAS_FIRST];
  at->ilu.col    = at->array[NRAS_COL];
  at->ilu.source = at->array[NRAS_SOURCE];
}

/* The arrays NRAS_START and NRAS_APART, and the number of entries with those that only fill slices */
static PetscErrorCode NRASSlices_Private(PC_NRAS *nras, const PolderPlace *place, const PetscInt entries[], const PetscInt number[], const PetscInt order[])
{
  NRASAt    *at = &nras->at[place->device];
  NRASSlices slices;

  PetscFunctionBegin;
  PetscCall(PCNRASCutSlices(nras, place, at->ilu.nrow, entries, number, order, &slices));
  at->ilu.nz               = slices.nz;
  at->ilu.inorder          = NRASThin(nras, at->ilu.nrow);
  at->array[NRAS_START]    = slices.start;
  at->array[NRAS_APART]    = slices.apart;
  nras->length[NRAS_START] = slices.nstart;
  nras->length[NRAS_APART] = slices.napart;
  nras->counts.entries     = slices.entries + at->ilu.nrow;
  nras->counts.filled      = (PetscInt64)slices.nz + at->ilu.nrow;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASPattern(PC pc, const PolderPlace *place, const PolderIluGraph *graph, NRASBlocks *blocks)
{
  PC_NRAS       *nras = (PC_NRAS *)pc->data;
  NRASAt        *at   = &nras->at[place->device];
  PolderIluGraph g    = *graph;
  PetscInt      *order, *number, *row, *entries;

  PetscFunctionBegin;
  nras->made = place;
  g.nblock = at->ilu.nblock = blocks->n;
  g.nrow = at->ilu.nrow  = blocks->ptr[blocks->n];
  nras->length[NRAS_ROW] = blocks->n + 1;
  nras->counts.smallest  = PETSC_MAX_INT;
  for (PetscInt b = 0; b < blocks->n; ++b) {
    at->ilu.largest       = PetscMax(at->ilu.largest, blocks->ptr[b + 1] - blocks->ptr[b]);
    nras->counts.smallest = PetscMin(nras->counts.smallest, blocks->ptr[b + 1] - blocks->ptr[b]);
  }
  PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)(blocks->n + 1), blocks->ptr, &at->array[NRAS_ROW]));
  g.block = at->array[NRAS_ROW];
  PetscCall(PolderPlaceMalloc(place, 2 * (size_t)g.nrow, &entries));
  PetscCall(NRASLevels_Private(nras, place, &g, entries, &order));
  PetscCall(PolderPlaceMalloc(place, g.nrow, &number));
  PolderRun(place, PolderIluInvert, g.nrow, order, number);
  PetscCall(NRASSlices_Private(nras, place, entries, number, order));
  PetscCall((*place->free)(&entries));
  nras->length[NRAS_COL]    = at->ilu.nz;
  nras->length[NRAS_SOURCE] = at->ilu.nz + g.nrow;
  PetscCall(PolderPlaceMalloc(place, at->ilu.nz, &at->array[NRAS_COL]));
  PetscCall(PolderPlaceMalloc(place, at->ilu.nz + g.nrow, &at->array[NRAS_SOURCE]));
  PCNRASPointToArrays(nras, at);
  PetscCall(PolderPlaceMalloc(place, g.column ? g.nrow : 0, &row));
  if (g.column) PolderRun(place, PolderIluGather, g.nrow, g.column, number, row);
  PolderRun(place, PolderIluPattern, &g, &at->ilu, order, g.column ? row : number, at->array[NRAS_COL], at->array[NRAS_SOURCE]);
  PetscCall((*place->free)(&order));
  PetscCall((*place->free)(&row));
  nras->length[NRAS_NUMBER] = g.nrow;
  at->array[NRAS_NUMBER]    = number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of blocks without overlap, and the block row of each column, at a place */
static PetscErrorCode NRASColumns_Private(const PolderPlace *place, PetscInt m, NRASBlocks *blocks, PetscInt **column)
{
  PolderAggregates P = {.m = m, .n = blocks->n};
  PetscInt        *part;

  PetscFunctionBegin;
  PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)m, blocks->part, &part));
  P.agg = part;
  PetscCall(NRASGroup_Private(place, &P));
  PetscCall((*place->free)(&part));
  PetscCall((*place->free)(&P.ptr));
  PetscCall(PolderPlaceMalloc(place, m, column));
  PolderRun(place, PolderIluInvert, m, P.row, *column);
  blocks->row = P.row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASDirect(PC pc, const PolderPlace *place, const PolderCSR *csr, NRASBlocks *blocks)
{
  PetscInt *column;

  PetscFunctionBegin;
  PetscCall(NRASColumns_Private(place, csr->m, blocks, &column));
  PetscCall(PCNRASPattern(pc, place, &(PolderIluGraph){.i = csr->ai, .j = csr->aj, .row = blocks->row, .column = column}, blocks));
  PetscCall((*place->free)(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n + 1 values at a place <- the sums of those before them */
static PetscErrorCode NRASSums_Private(const PolderPlace *place, PetscInt n, PetscInt values[])
{
  const size_t bytes = PolderWorkSize(PolderKeysScanWork_CUDA(n + 1));
  void        *work;
  PolderStream stream;

  PetscFunctionBegin;
  if (!place->device) {
    PolderKeysScan_Host(n + 1, values);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*place->malloc)(bytes, &work));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderKeysScan_CUDA(n + 1, values, work, bytes, stream));
  PetscCall((*place->free)(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many entries each row of the factors has, their sum, and the slots that the searches need; 0: more than there can be */
static PetscErrorCode NRASCountFill_Private(const PolderPlace *place, const PolderIluGraph *g, PetscInt levels, PetscInt entries[], PetscInt64 *sum,
                                            PetscInt *slots)
{
  PetscInt64 *all, here[2];

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(place, 2, &all));
  for (*slots = POLDER_ILU_FILL_LEAST; *slots; *slots = *slots < POLDER_ILU_FILL_MOST ? 4 * *slots : 0) {
    PetscCall((*place->zero)(all, 2 * sizeof(*all)));
    PolderRun(place, PolderIluFillCount, g, levels, *slots, entries, all);
    PetscCall(PolderPlaceTake(place, 2, all, here));
    if (!here[1]) break;
  }
  PetscCall((*place->free)(&all));
  *sum = here[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern from the entries g of the matrix, and what the searches need */
static PetscErrorCode NRASFillRows_Private(PC pc, const PolderPlace *place, const PolderIluGraph *g, PetscInt slots, PetscInt64 sum, PetscInt first[],
                                           NRASBlocks *blocks)
{
  PetscInt *j, *source;

  PetscFunctionBegin;
  PetscCall(PCNRASCheckEntries(sum));
  PetscCall(NRASSums_Private(place, g->nrow, first));
  PetscCall(PolderPlaceMalloc(place, sum, &j));
  PetscCall(PolderPlaceMalloc(place, sum, &source));
  PolderRun(place, PolderIluFillRows, g, ((PC_NRAS *)pc->data)->set.levels, slots, first, j, source);
  PetscCall(PCNRASPattern(pc, place, &(PolderIluGraph){.i = first, .j = j, .source = source}, blocks));
  PetscCall((*place->free)(&j));
  PetscCall((*place->free)(&source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASFill(PC pc, const PolderPlace *place, const PolderCSR *csr, NRASBlocks *blocks, PetscBool *done)
{
  PC_NRAS       *nras = (PC_NRAS *)pc->data;
  PolderIluGraph g    = {.nblock = blocks->n, .nrow = csr->m, .i = csr->ai, .j = csr->aj};
  PetscInt64     sum  = 0;
  PetscInt      *column, *block, *first, slots = 0;

  PetscFunctionBegin;
  PetscCall(NRASColumns_Private(place, csr->m, blocks, &column));
  PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)(blocks->n + 1), blocks->ptr, &block));
  PetscCall(NRASZeros_Private(place, (size_t)csr->m + 1, &first));
  g.block  = block;
  g.row    = blocks->row;
  g.column = column;
  PetscCall(NRASCountFill_Private(place, &g, nras->set.levels, first, &sum, &slots));
  *done             = (PetscBool)(slots > 0);
  nras->counts.full = (PetscBool)(*done && sum > NRASFillMost(csr->nz, csr->m));
  if (*done && !nras->counts.full) PetscCall(NRASFillRows_Private(pc, place, &g, slots, sum, first, blocks));
  else PetscCall((*place->free)(&blocks->row));
  PetscCall((*place->free)(&first));
  PetscCall((*place->free)(&block));
  PetscCall((*place->free)(&column));
  PetscFunctionReturn(PETSC_SUCCESS);
}
