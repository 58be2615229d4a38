/* The factors at a place: upload of the pattern, numeric factorisation with shifts, and the entries that the blocks read and write. */
#include "nrasimpl.h"
#include "core/refusal.h"

/* A pivot of at most this times the sum of the absolute values of its row counts as zero */
#define NRAS_PIVOT (100 * PETSC_MACHINE_EPSILON)
/* Manteuffel's shifts: this part of that sum is added to each diagonal entry of a block whose pivots fail, then more and more, up to the last */
#define NRAS_SHIFT_FIRST  1e-3
#define NRAS_SHIFT_FACTOR 4
#define NRAS_SHIFT_LAST   5
/*
  Small pivots that a shift has made can follow each other, and what a solve makes of one entry grows with each of them until it overflows. So the factors of a
  shifted block solve once with the sums s of the absolute values of its rows, and |d_i x_i| must stay below this times s_i, d_i being the pivot. Scaled rows
  and columns leave that ratio as it is, and where nothing grows it is about 1. Beyond the inverse root of the rounding half of the digits are lost
*/
#define NRAS_GROWTH (1 / PETSC_SQRT_MACHINE_EPSILON)

PetscErrorCode PCNRASFreeAt(PC_NRAS *nras, const PolderPlace *place)
{
  NRASAt *at = &nras->at[place->device];

  PetscFunctionBegin;
  for (int k = 0; k < NRAS_NARRAY; ++k) PetscCall((*place->free)(&at->array[k]));
  PetscCall((*place->free)(&at->weight));
  PetscCall(PCNRASFreeKept(place, at));
  PetscCall((*place->free)(&at->x));
  for (int k = 0; k < 2; ++k) PetscCall((*place->free)(&at->sweepx[k]));
  PetscCall((*place->free)(&at->ghost));
  PetscCall((*place->free)(&at->ghostz));
  PetscCall((*place->free)(&at->val));
  PetscCall(PetscMemzero(at, sizeof(*at)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The symmetric form reads and writes with multiplicity^-1/2, the number of blocks on all processes that have a row. Collective */
static PetscErrorCode NRASWeights_Private(PC pc)
{
  PC_NRAS         *nras = (PC_NRAS *)pc->data;
  const NRASOuter *o    = &nras->outer;
  const PetscInt  *ptr  = nras->at[0].array[NRAS_PTR];
  PetscScalar     *weight;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(o->n + o->nghost, &weight));
  for (PetscInt e = 0; e < o->n + o->nghost; ++e) weight[e] = ptr[e + 1] - ptr[e];
  if (o->halo) {
    PetscCall(PolderHaloReduceAt(o->halo, &PolderOnHost, weight + o->n, weight));
    PetscCall(PolderHaloExchange(o->halo, MPIU_SCALAR, weight, weight + o->n));
  }
  for (PetscInt e = 0; e < o->n + o->nghost; ++e) weight[e] = 1 / PetscSqrtScalar(weight[e]);
  nras->at[0].weight = weight;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASSetUpVectors(PC pc, const NRASBlocks *blocks)
{
  PC_NRAS         *nras = (PC_NRAS *)pc->data;
  const NRASOuter *o    = &nras->outer;
  const PetscInt   nrow = blocks->ptr[blocks->n], n = o->n + o->nghost;
  const PetscBool  sums   = (PetscBool)(nras->set.form != PC_NRAS_RESTRICTED && (nras->innerlayers || o->halo));
  PetscInt       **array  = nras->at[nras->made->device].array, *from, *to, *ptr, *list;
  const PetscInt  *number = array[NRAS_NUMBER];

  PetscFunctionBegin;
  nras->length[NRAS_FROM] = nrow;
  nras->length[NRAS_TO]   = sums ? 0 : nrow;
  nras->length[NRAS_PTR]  = sums ? n + 1 : 0;
  nras->length[NRAS_LIST] = sums ? nrow : 0;
  if (nras->made->device) { // blocks without overlap
    const size_t bytes = sizeof(PetscInt) * (size_t)nrow;

    for (int k = NRAS_FROM; k <= NRAS_TO; ++k) {
      PetscCall((*nras->made->malloc)(bytes, &array[k]));
      PetscCall((*nras->made->copy)(array[k], blocks->row, bytes));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(nrow, &from));
  array[NRAS_FROM] = from;
  for (PetscInt i = 0; i < nrow; ++i) from[i] = NRASEntry(o, blocks->row[i]);
  if (!sums) {
    PetscCall(PetscMalloc1(nrow, &to));
    array[NRAS_TO] = to;
    for (PetscInt b = 0; b < blocks->n; ++b)
      for (PetscInt i = blocks->ptr[b]; i < blocks->ptr[b + 1]; ++i) to[i] = from[i] < o->n && blocks->part[blocks->row[i]] == b ? from[i] : -1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscCalloc1(n + 2, &ptr));
  PetscCall(PetscMalloc1(nrow, &list));
  for (PetscInt i = 0; i < nrow; ++i) ptr[from[i] + 2]++;
  for (PetscInt e = 0; e < n; ++e) ptr[e + 2] += ptr[e + 1];
  for (PetscInt i = 0; i < nrow; ++i) list[ptr[from[i] + 1]++] = number[i];
  array[NRAS_PTR]  = ptr;
  array[NRAS_LIST] = list;
  if (nras->set.form == PC_NRAS_SYMMETRIC) PetscCall(NRASWeights_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of the values of the factors that are solved with */
static size_t NRASValueBytes(const PC_NRAS *nras, const NRASAt *at)
{
  return (nras->set.single ? sizeof(float) : sizeof(PetscScalar)) * (size_t)(at->kept.nz + at->kept.nrow);
}

/* An array that follows from the pattern, from where it was made */
static PetscErrorCode NRASCopyArray_Private(const PC_NRAS *nras, const PolderPlace *place, size_t bytes, const void *made, void *to)
{
  const void *here  = made;
  void       *taken = NULL;

  PetscFunctionBegin;
  if (nras->made->device) {
    PetscCall(PetscMalloc(bytes, &taken));
    PetscCall((*nras->made->take)(taken, made, bytes));
    here = taken;
  }
  PetscCall(PolderPlaceUpload(place, bytes, here, to));
  PetscCall(PetscFree(taken));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies what follows from the pattern, unless it is there, and allocates the work arrays */
static PetscErrorCode NRASPattern_Private(PC_NRAS *nras, const PolderPlace *place)
{
  const NRASAt    *made = &nras->at[nras->made->device];
  const NRASOuter *o    = &nras->outer;
  NRASAt          *at   = &nras->at[place->device];

  PetscFunctionBegin;
  for (int k = 0; k < NRAS_NARRAY; ++k) {
    if (!at->array[k]) PetscCall(NRASCopyArray_Private(nras, place, sizeof(PetscInt) * (size_t)nras->length[k], made->array[k], &at->array[k]));
  }
  if (made->weight && !at->weight) PetscCall(NRASCopyArray_Private(nras, place, sizeof(PetscScalar) * (size_t)(o->n + o->nghost), made->weight, &at->weight));
  at->ilu = made->ilu;
  PCNRASPointToArrays(nras, at);
  at->kept = at->ilu;
  PetscCall(PolderPlaceMalloc(place, at->ilu.nrow, &at->x));
  for (int k = 0; k < 2 && nras->set.jacobi; ++k) PetscCall(PolderPlaceMalloc(place, at->ilu.nrow, &at->sweepx[k]));
  PetscCall(PolderPlaceMalloc(place, o->nghost, &at->ghost));
  if (nras->length[NRAS_PTR]) PetscCall(PolderPlaceMalloc(place, o->nghost, &at->ghostz));
  at->pattern = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the matrix of the outer block at a place; copy != NULL: they were copied there */
typedef struct {
  PolderCSR          csr;
  const PetscScalar *aa;
  PetscScalar       *copy;
} NRASValues;

static PetscErrorCode NRASGetValues_Private(PC pc, const PolderPlace *place, NRASValues *v)
{
  const NRASOuter *o    = &((PC_NRAS *)pc->data)->outer;
  PetscBool        done = PETSC_FALSE;
  PolderCSR        csr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(v, sizeof(*v)));
  if (!o->sub) PetscCall(PolderMatGetCSRAt(pc->pmat, place, &v->csr, &done));
  v->aa = v->csr.aa;
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetCSR(o->sub ? o->sub[0] : pc->pmat, &csr));
  PetscCall(PolderPlaceUpload(place, sizeof(PetscScalar) * (size_t)csr.nz, csr.aa, &v->copy));
  v->aa = v->copy;
  PetscCall(PolderMatRestoreCSR(o->sub ? o->sub[0] : pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NRASRestoreValues_Private(PC pc, const PolderPlace *place, NRASValues *v)
{
  PetscFunctionBegin;
  if (v->csr.diag) PetscCall(PolderMatRestoreCSRAt(pc->pmat, &v->csr));
  PetscCall((*place->free)(&v->copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why a block has no factors, the first one in this order counts */
typedef enum {
  NRAS_NOTFINITE,
  NRAS_STRUCTURE,
  NRAS_PIVOTZERO,
  NRAS_RANGE,
  NRAS_NKIND
} NRASKind;

/* On the host: the state of each block, and the first row that fails, as global row * NRAS_NKIND + kind */
typedef struct {
  PetscInt  *todo, *zero, *bad, left;
  PetscReal *shift;
  PetscInt64 worst, updates;
} NRASProgress;

/* Row i, one of m from row r0 on, in one or more whole blocks */
static PetscErrorCode NRASFail_Private(const PC_NRAS *nras, const PolderPlace *place, PetscInt r0, PetscInt m, PetscInt i, NRASKind kind, NRASProgress *p)
{
  PetscInt *const *array = nras->at[place->device].array;
  PetscInt        *number, from, k = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m, &number));
  PetscCall(PolderPlaceTake(place, m, array[NRAS_NUMBER] + r0, number));
  while (number[k] != i) ++k;
  PetscCall(PetscFree(number));
  PetscCall(PolderPlaceTake(place, 1, array[NRAS_FROM] + r0 + k, &from));
  p->worst = PetscMin(p->worst, (PetscInt64)NRASGlobal(&nras->outer, from) * NRAS_NKIND + kind);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a factorisation: which blocks are done, and which shift the others get. row[b]: the first row of block b */
static PetscErrorCode NRASJudge_Private(const PC_NRAS *nras, const PolderPlace *place, const PetscInt row[], NRASProgress *p)
{
  const PolderIlu *ilu = &nras->at[place->device].ilu;

  PetscFunctionBegin;
  p->left = 0;
  for (PetscInt b = 0; b < ilu->nblock; ++b) {
    const PetscInt m = row[b + 1] - row[b], zero = row[b] + p->zero[b];

    if (!p->todo[b]) continue;
    p->todo[b] = 0;
    if (p->bad[b] < m) PetscCall(NRASFail_Private(nras, place, row[b], m, row[b] + p->bad[b], NRAS_NOTFINITE, p));
    else if (p->zero[b] < m) {
      p->shift[b] = p->shift[b] > 0 ? NRAS_SHIFT_FACTOR * p->shift[b] : NRAS_SHIFT_FIRST;
      p->todo[b]  = nras->set.shift && p->shift[b] < NRAS_SHIFT_LAST;
      p->left += p->todo[b];
      if (!p->todo[b]) {
        PetscInt source;

        PetscCall(PolderPlaceTake(place, 1, ilu->source + ilu->nz + zero, &source));
        PetscCall(NRASFail_Private(nras, place, row[b], m, zero, source < 0 ? NRAS_STRUCTURE : NRAS_PIVOTZERO, p));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks whose shift is so small that solves grow beyond bounds have failed, at the first row that does */
static PetscErrorCode NRASGrowth_Private(const NRASAt *at, const PolderPlace *place, const PolderIluPivots *pivots, const PetscScalar val[],
                                         const NRASProgress *p)
{
  PolderIluVectors v       = {.n = at->ilu.nrow, .r = pivots->sum, .x = at->x};
  PetscBool        shifted = PETSC_FALSE;
  PetscInt        *own, *from;

  PetscFunctionBegin;
  for (PetscInt b = 0; b < at->ilu.nblock; ++b) shifted = (PetscBool)(shifted || (p->todo[b] && p->shift[b] > 0));
  if (!shifted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(at->ilu.nrow, &own));
  for (PetscInt i = 0; i < at->ilu.nrow; ++i) own[i] = i;
  PetscCall(PolderPlaceUpload(place, sizeof(PetscInt) * (size_t)at->ilu.nrow, own, &from));
  PetscCall(PetscFree(own));
  v.from = v.number = from;
  PolderRun(place, PolderIluSolve, &at->ilu, PETSC_FALSE, val, &v);
  PolderRun(place, PolderIluGrowth, &at->ilu, pivots, NRAS_GROWTH, val, at->x);
  PetscCall((*place->free)(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors all blocks; those whose pivots fail again, with larger and larger shifts */
static PetscErrorCode NRASFactorValues_Private(PC_NRAS *nras, const PolderPlace *place, const PetscScalar aa[], PetscScalar val[], NRASProgress *p)
{
  const NRASAt   *at = &nras->at[place->device];
  const PetscInt  nb = at->ilu.nblock;
  PetscInt       *todo, *row;
  PolderIluPivots pivots = {.tol = NRAS_PIVOT, .positive = (PetscBool)(nras->set.form == PC_NRAS_SYMMETRIC), .drop = nras->set.drop};

  PetscFunctionBegin;
  PetscCall(PolderPlaceMalloc(place, nb, &todo));
  PetscCall(PolderPlaceMalloc(place, nb, &pivots.shift));
  PetscCall(PolderPlaceMalloc(place, nb, &pivots.zero));
  PetscCall(PolderPlaceMalloc(place, nb, &pivots.bad));
  PetscCall(PolderPlaceMalloc(place, at->ilu.nrow, &pivots.sum));
  PetscCall((*place->malloc)(place->device ? PolderWorkSize(PolderIluWork_CUDA(&at->ilu)) : PolderIluWork_Host(&at->ilu), &pivots.work));
  PetscCall(PolderPlaceUpload(place, sizeof(p->updates), &p->updates, &pivots.updates));
  PetscCall(PetscMalloc1(nb + 1, &row));
  PetscCall(PolderPlaceTake(place, nb + 1, at->ilu.row, row));
  pivots.todo = todo;
  for (PetscInt b = 0; b < nb; ++b) p->todo[b] = 1;
  for (p->left = nb; p->left;) {
    PetscCall(PolderPlacePut(place, nb, p->todo, todo));
    PetscCall(PolderPlacePut(place, nb, p->shift, pivots.shift));
    PolderRun(place, PolderIluFactor, &at->ilu, &pivots, aa, val);
    PetscCall(NRASGrowth_Private(at, place, &pivots, val, p));
    PetscCall(PolderPlaceTake(place, nb, pivots.zero, p->zero));
    PetscCall(PolderPlaceTake(place, nb, pivots.bad, p->bad));
    PetscCall(NRASJudge_Private(nras, place, row, p));
  }
  PetscCall(PetscFree(row));
  PetscCall((*place->free)(&todo));
  PetscCall((*place->free)(&pivots.shift));
  PetscCall((*place->free)(&pivots.zero));
  PetscCall((*place->free)(&pivots.bad));
  PetscCall((*place->free)(&pivots.sum));
  PetscCall((*place->free)(&pivots.work));
  PetscCall(PolderPlaceFetch(place, sizeof(p->updates), &pivots.updates, &p->updates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In single precision: rounds what was computed in double precision */
static PetscErrorCode NRASRound_Private(PC_NRAS *nras, const PolderPlace *place, const PetscScalar val[], NRASProgress *p)
{
  const NRASAt *at = &nras->at[place->device];
  PetscInt     *bad, none = at->kept.nrow, row;

  PetscFunctionBegin;
  PetscCall(PolderPlaceUpload(place, sizeof(none), &none, &bad));
  PolderRun(place, PolderIluRound, &at->kept, val, (float *)at->val, bad);
  PetscCall(PolderPlaceFetch(place, sizeof(row), &bad, &row));
  if (row < at->ilu.nrow && p->worst == INT64_MAX) PetscCall(NRASFail_Private(nras, place, 0, at->ilu.nrow, row, NRAS_RANGE, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses the matrix when a process has failed. Collective */
static PetscErrorCode NRASAnswer_Private(PC pc, NRASProgress *p)
{
  const PC_NRAS *nras = (PC_NRAS *)pc->data;
  PetscInt64     worst;
  PetscInt       row;

  PetscFunctionBegin;
  PetscCallAllreduce(&p->worst, &worst, 1, MPIU_INT64, MPI_MIN, PetscObjectComm((PetscObject)pc));
  if (worst == INT64_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  row = (PetscInt)(worst / NRAS_NKIND);
  switch ((NRASKind)(worst % NRAS_NKIND)) {
  case NRAS_NOTFINITE:
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_FP, "PC of type nras: row %" PetscInt_FMT " of the matrix has an entry that is infinite or not a number",
                   row);
    break;
  case NRAS_STRUCTURE:
    PolderPCRefuse(pc, PC_FACTOR_STRUCT_ZEROPIVOT, PETSC_ERR_MAT_LU_ZRPVT, "PC of type nras: row %" PetscInt_FMT " has no diagonal entry and its pivot is %s%s",
                   row, nras->set.form == PC_NRAS_SYMMETRIC ? "not positive" : "zero", nras->set.shift ? ", with any shift" : ": use -pc_nras_shift");
    break;
  case NRAS_PIVOTZERO:
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_MAT_LU_ZRPVT, "PC of type nras: the pivot of row %" PetscInt_FMT " is %s%s", row,
                   nras->set.form == PC_NRAS_SYMMETRIC ? "not positive" : "zero", nras->set.shift ? ", with any shift" : ": use -pc_nras_shift");
    break;
  default:
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_OUTOFRANGE,
                   "PC of type nras: row %" PetscInt_FMT " of the factors has an entry beyond the range of single precision: use -pc_nras_precision double",
                   row);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors val[], which it takes, in the form in which they are solved with */
static PetscErrorCode NRASKeep_Private(PC_NRAS *nras, const PolderPlace *place, PetscScalar *val, NRASProgress *p)
{
  NRASAt *at = &nras->at[place->device];

  PetscFunctionBegin;
  if (nras->set.drop > 0) {
    PetscScalar *packed;

    PetscCall(PCNRASPack(nras, place, val, &packed));
    PetscCall((*place->free)(&val));
    val = packed;
  }
  if (nras->set.single) {
    if (!at->val) PetscCall((*place->malloc)(NRASValueBytes(nras, at), &at->val));
    PetscCall(NRASRound_Private(nras, place, val, p));
    PetscCall((*place->free)(&val));
  } else at->val = (void *)val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors at another place than the last set-up: its factors are copied, since the matrix may have changed */
static PetscErrorCode NRASCopyFactors_Private(PC_NRAS *nras, const PolderPlace *from, const PolderPlace *to)
{
  const NRASAt *source = &nras->at[from->device];
  NRASAt       *target = &nras->at[to->device];
  const size_t  bytes  = NRASValueBytes(nras, source);
  void         *here;

  PetscFunctionBegin;
  if (nras->set.drop > 0) PetscCall(PCNRASCopyKept(nras, from, to));
  PetscCall(PetscMalloc(bytes, &here));
  PetscCall((*from->take)(here, source->val, bytes));
  if (nras->set.drop > 0) PetscCall((*to->free)(&target->val));
  if (!target->val) PetscCall((*to->malloc)(bytes, &target->val));
  PetscCall((*to->put)(target->val, here, bytes));
  PetscCall(PetscFree(here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors the values of the matrix at a place. Collective */
static PetscErrorCode NRASFactorAt_Private(PC pc, const PolderPlace *place)
{
  PC_NRAS     *nras = (PC_NRAS *)pc->data;
  NRASAt      *at   = &nras->at[place->device];
  PetscScalar *val;
  NRASProgress p = {.worst = INT64_MAX};
  NRASValues   v;

  PetscFunctionBegin;
  PetscCall(PetscCalloc4(at->ilu.nblock, &p.todo, at->ilu.nblock, &p.zero, at->ilu.nblock, &p.bad, at->ilu.nblock, &p.shift));
  if (nras->set.drop > 0) PetscCall((*place->free)(&at->val)); // its size depends on the values
  if (at->val && !nras->set.single) val = (PetscScalar *)at->val;
  else PetscCall(PolderPlaceMalloc(place, at->ilu.nz + at->ilu.nrow, &val));
  PetscCall(NRASGetValues_Private(pc, place, &v));
  PetscCall((*place->timebegin)());
  PetscCall(NRASFactorValues_Private(nras, place, v.aa, val, &p));
  PetscCall((*place->timeend)());
  PetscCall((*place->logflops)((PetscLogDouble)(nras->counts.entries + 3 * p.updates))); // a multiplication for each entry, three operations for each update
  PetscCall(NRASRestoreValues_Private(pc, place, &v));
  PetscCall(NRASKeep_Private(nras, place, val, &p));
  nras->counts.nshifted = 0;
  nras->counts.shift    = 0;
  for (PetscInt b = 0; b < at->ilu.nblock; ++b) {
    nras->counts.nshifted += p.shift[b] > 0;
    nras->counts.shift = PetscMax(nras->counts.shift, p.shift[b]);
  }
  PetscCall(PetscFree4(p.todo, p.zero, p.bad, p.shift));
  PetscCall(NRASAnswer_Private(pc, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCNRASUpdate(PC pc, const PolderPlace *place)
{
  PC_NRAS           *nras  = (PC_NRAS *)pc->data;
  NRASAt            *at    = &nras->at[place->device];
  const PolderPlace *other = PolderPlaceOf((PetscBool)!place->device);

  PetscFunctionBegin;
  nras->place = place;
  if (at->values) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_NRASFactor, pc));
  if (!at->pattern) PetscCall(NRASPattern_Private(nras, place));
  if (nras->at[other->device].values) PetscCall(NRASCopyFactors_Private(nras, other, place));
  else PetscCall(NRASFactorAt_Private(pc, place));
  at->values = (PetscBool)!pc->failedreason;
  PetscCall(PolderLogEnd(POLDER_NRASFactor, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
