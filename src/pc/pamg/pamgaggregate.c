/* Pairwise-aggregation multigrid: aggregates of the rows of a level and the rows of the next, on the host or on the device. */
#include "pamgimpl.h"
#include "kernels/csr.h"
#include "kernels/galerkin.h"
#include "kernels/labels.h"
#include "kernels/outer.h"
#include "kernels/pairs.h"

/* Rounds of the handshake; what is free after them stays alone */
#define PAMG_ROUNDS 12
/* The greedy matching tells rows with more strong neighbours than this not apart */
#define PAMG_DEGREE 64
/* Where pairs line up in a grid, this part of the rows may stay alone so that the coarse rows make a grid too */
#define PAMG_ALONE 0.15
/* When a pass leaves more than this part of the rows, those that are alone join a pair: rows of a star could not be paired otherwise */
#define PAMG_POOR 0.58
/* When a pass leaves more than this part of the rows of a process whose neighbours are elsewhere for the most part, couplings to others are forgotten: there would be no coarse level */
#define PAMG_SCATTERED 0.75
/* Entries of scratch for coarse rows that are long, where that is enough for one of them at a time */
#define PAMG_SCRATCH 100000000

PetscErrorCode PCPAMGMalloc_Private(const PC_PAMG *pamg, size_t bytes, void *ptr)
{
  PetscFunctionBegin;
  if (pamg->device) PetscCall(PolderDeviceMalloc(bytes, ptr));
  else PetscCall(PetscMalloc(bytes, ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFreeArray_Private(const PC_PAMG *pamg, void *ptr)
{
  PetscFunctionBegin;
  if (pamg->device) PetscCall(PolderDeviceFree(ptr));
  else PetscCall(PetscFree(*(void **)ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values to where the levels are, and from there */
static PetscErrorCode PamgPut(const PC_PAMG *pamg, PetscInt n, const PetscInt from[], PetscInt to[])
{
  PetscFunctionBegin;
  if (pamg->device) PetscCall(PolderDeviceFromHost(to, from, sizeof(*to) * (size_t)n));
  else PetscCall(PetscArraycpy(to, from, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgTake(const PC_PAMG *pamg, PetscInt n, const PetscInt from[], PetscInt to[])
{
  PetscFunctionBegin;
  if (pamg->device) PetscCall(PolderDeviceToHost(to, from, sizeof(*to) * (size_t)n));
  else PetscCall(PetscArraycpy(to, from, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Within the memory of the levels */
static PetscErrorCode PamgCopy(const PC_PAMG *pamg, size_t bytes, const void *from, void *to)
{
  PetscFunctionBegin;
  if (pamg->device) PetscCall(PolderDeviceToDevice(to, from, bytes));
  else PetscCall(PetscMemcpy(to, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of the local block of a matrix; nz is their number of entries where that is known */
typedef struct {
  PetscInt     n, nz;
  PetscInt    *i, *j;
  PetscScalar *a;
} PamgRows;

static PetscErrorCode PamgFreeRows(const PC_PAMG *pamg, PamgRows *R)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGFreeArray_Private(pamg, &R->i));
  PetscCall(PCPAMGFreeArray_Private(pamg, &R->j));
  PetscCall(PCPAMGFreeArray_Private(pamg, &R->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Work for the aggregation of n rows */
typedef struct {
  PetscInt  *next, *left[2], *agg, *ptr, *row; /* [n], but ptr[n + 2] */
  PetscInt  *work;                             /* greedy: [3 n + PAMG_DEGREE + 1] */
  PetscInt  *count;                            /* [8]: 0, what is counted; 1 .. 3, directions; 4 and 5, long rows */
  PetscReal *outside[2];                       /* [n] of a pass and of the next, as in PolderPairRule; NULL on one process */
  PetscInt  *mate;                             /* then, [n]: what it was before a pass */
  void      *temp;                             /* of the device's scans and sorts */
  size_t     bytes;
} PamgWork;

static PetscErrorCode PamgWorkCreate(const PC_PAMG *pamg, const PamgLevel *L, PamgWork *w)
{
  const size_t   size = sizeof(PetscInt);
  const PetscInt n    = L->n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(w, sizeof(*w)));
  PetscCall(PCPAMGMalloc_Private(pamg, size * (size_t)n, &w->next));
  for (int b = 0; b < 2; ++b) PetscCall(PCPAMGMalloc_Private(pamg, size * (size_t)n, &w->left[b]));
  PetscCall(PCPAMGMalloc_Private(pamg, size * (size_t)n, &w->agg));
  PetscCall(PCPAMGMalloc_Private(pamg, size * (size_t)(n + 2), &w->ptr));
  PetscCall(PCPAMGMalloc_Private(pamg, size * (size_t)n, &w->row));
  if (pamg->matching == PAMG_GREEDY) PetscCall(PCPAMGMalloc_Private(pamg, size * (3 * (size_t)n + PAMG_DEGREE + 1), &w->work));
  PetscCall(PCPAMGMalloc_Private(pamg, size * 8, &w->count));
  if (L->halo) {
    for (int b = 0; b < 2; ++b) PetscCall(PCPAMGMalloc_Private(pamg, sizeof(PetscReal) * (size_t)n, &w->outside[b]));
    PetscCall(PCPAMGMalloc_Private(pamg, size * (size_t)n, &w->mate));
    if (pamg->device) {
      PetscCall(PolderDeviceZero(w->outside[0], sizeof(PetscReal) * (size_t)n));
      PolderLaunch(PolderOuterStrength_CUDA(&L->outer.rows, w->outside[0], pamg->stream));
    } else PolderPairsOutside_Host(n, L->csr.bi, L->csr.ba, w->outside[0]);
  }
  if (pamg->device) {
    w->bytes = PolderWorkSize(PolderPairsWork_CUDA(n));
    PetscCall(PolderDeviceMalloc(w->bytes, &w->temp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgWorkDestroy(const PC_PAMG *pamg, PamgWork *w)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGFreeArray_Private(pamg, &w->next));
  for (int b = 0; b < 2; ++b) PetscCall(PCPAMGFreeArray_Private(pamg, &w->left[b]));
  PetscCall(PCPAMGFreeArray_Private(pamg, &w->agg));
  PetscCall(PCPAMGFreeArray_Private(pamg, &w->ptr));
  PetscCall(PCPAMGFreeArray_Private(pamg, &w->row));
  PetscCall(PCPAMGFreeArray_Private(pamg, &w->work));
  PetscCall(PCPAMGFreeArray_Private(pamg, &w->count));
  for (int b = 0; b < 2; ++b) PetscCall(PCPAMGFreeArray_Private(pamg, &w->outside[b]));
  PetscCall(PCPAMGFreeArray_Private(pamg, &w->mate));
  PetscCall(PolderDeviceFree(&w->temp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* pamg->place <- those of the rows of a 5- or 7-point stencil in the grid that they show, numbered from the first row of all or of this process; NULL: they show none */
PetscErrorCode PCPAMGFindGrid_Private(PC_PAMG *pamg, const PolderCSR *csr)
{
  const PetscInt most = 1 << POLDER_PAIR_BITS, n = csr->m;
  PetscInt       near[4] = {0, PETSC_MAX_INT, 0, 0}, *there;
  PetscBool      found   = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*there) * 4, &there));
  PetscCall(PamgPut(pamg, 4, near, there));
  PamgKernel(pamg, PolderStencilStrides, n, csr->ai, csr->aj, there);
  PetscCall(PamgTake(pamg, 3, there, near));
  if (near[1] > near[2]) near[1] = near[2] = PetscMax(n, 2); // one line
  if (near[0] && !(near[2] % near[1]) && near[1] < most && near[2] / near[1] < most) {
    PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*pamg->place) * (size_t)n, &pamg->place));
    for (int own = 0; own < 2 && !found; ++own) {
      PetscInt bad = 0;

      PetscCall(PamgPut(pamg, 1, &bad, there));
      PamgKernel(pamg, PolderPairsPlaces, n, own ? 0 : csr->rstart, csr->ai, csr->aj, near, pamg->place, there);
      PetscCall(PamgTake(pamg, 1, there, &bad));
      found = bad ? PETSC_FALSE : PETSC_TRUE;
      if (!csr->rstart) break;
    }
  }
  PetscCall(PCPAMGFreeArray_Private(pamg, &there));
  if (!found) PetscCall(PCPAMGFreeArray_Private(pamg, &pamg->place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* agg[], and how many there are */
static PetscErrorCode PamgNumber(const PC_PAMG *pamg, const PamgWork *w, PetscInt n, const PetscInt join[], PetscInt agg[], PetscInt *nc)
{
  PetscFunctionBegin;
  if (pamg->device) PolderLaunch(PolderPairsNumber_CUDA(n, pamg->mate, join, agg, w->count, w->temp, w->bytes, pamg->stream));
  else PolderPairsNumber_Host(n, pamg->mate, join, agg, w->count);
  PetscCall(PamgTake(pamg, 1, w->count, nc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* pamg->place <- the places of the pairs */
static PetscErrorCode PamgMovePlaces(PC_PAMG *pamg, const PamgWork *w, PetscInt n, const PetscInt join[], const PetscInt agg[], PetscInt nc)
{
  PetscInt64 *place;

  PetscFunctionBegin;
  PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*place) * (size_t)nc, &place));
  PamgKernel(pamg, PolderPairsNextPlaces, n, pamg->mate, join, agg, w->count + 1, pamg->place, place);
  PetscCall(PCPAMGFreeArray_Private(pamg, &pamg->place));
  pamg->place = place;
  if (!nc) PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*place), &pamg->place)); // NULL says that there are none
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs of the rows A by a rule, with mate[] as it comes: agg[] and the number of aggregates; *join: the rows that have joined a pair, NULL when none was asked to */
static PetscErrorCode PamgMatch(PC_PAMG *pamg, const PamgWork *w, const PamgRows *A, PolderPairRule rule, PetscInt agg[], PetscInt *nc, PetscInt **join)
{
  const PetscInt n    = A->n;
  PetscInt      *mate = pamg->mate, *left = w->left[0], nleft = n;
  PetscBool      aligned = PETSC_FALSE;

  PetscFunctionBegin;
  if (pamg->matching == PAMG_GREEDY) {
    PolderPairsGreedy_Host(n, A->i, A->j, A->a, pamg->sum, pamg->diagonal, &rule, PetscMin(PAMG_DEGREE, n - 1), mate, w->work);
    if (rule.place) PolderPairsDirections_Host(n, &rule, mate, w->count + 1);
  } else {
    for (PetscInt round = 0; round < PAMG_ROUNDS && nleft && !aligned; ++round) {
      const PetscInt *row = round ? left : NULL;

      left = w->left[round % 2];
      PamgKernel(pamg, PolderPairsPropose, nleft, row, A->i, A->j, A->a, pamg->sum, pamg->diagonal, &rule, mate, w->next);
      if (!round && rule.place) {
        PamgKernel(pamg, PolderPairsDirections, n, &rule, w->next, w->count + 1);
        PamgKernel(pamg, PolderPairsAlign, n, A->i, A->j, A->a, &rule, w->count + 1, mate, w->next);
      }
      PamgKernel(pamg, PolderPairsMatch, nleft, row, w->next, mate, left, w->count);
      PetscCall(PamgTake(pamg, 1, w->count, &nleft));
      aligned = (PetscBool)(!round && rule.place && nleft < PAMG_ALONE * n);
    }
    PamgKernel(pamg, PolderPairsSingle, nleft, left, mate);
  }
  *join = NULL;
  PetscCall(PamgNumber(pamg, w, n, NULL, agg, nc));
  if (!aligned && *nc >= PAMG_POOR * n) {
    *join = w->next;
    PamgKernel(pamg, PolderPairsJoin, n, A->i, A->j, A->a, pamg->sum, pamg->diagonal, &rule, mate, *join);
    PetscCall(PamgNumber(pamg, w, n, *join, agg, nc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One pass over the rows A, with mate[] and place[] (NULL: no grid) of pamg as they come: agg[], the number of aggregates, and their places */
static PetscErrorCode PamgPairs(PC_PAMG *pamg, const PamgWork *w, const PamgRows *A, PetscInt agg[], PetscInt *nc)
{
  const size_t   bytes = sizeof(*pamg->mate) * (size_t)A->n;
  PolderPairRule rule  = {pamg->place, pamg->threshold, pamg->kappa, w->outside[0]};
  PetscInt      *join;

  PetscFunctionBegin;
  if (rule.outside) PetscCall(PamgCopy(pamg, bytes, pamg->mate, w->mate));
  PetscCall(PamgMatch(pamg, w, A, rule, agg, nc, &join));
  if (rule.outside && *nc >= PAMG_SCATTERED * A->n) {
    PetscCall(PamgCopy(pamg, bytes, w->mate, pamg->mate));
    rule.outside = NULL;
    PetscCall(PamgMatch(pamg, w, A, rule, agg, nc, &join));
  }
  if (rule.place) PetscCall(PamgMovePlaces(pamg, w, A->n, join, agg, *nc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the nc pairs of a pass, whose rows are in ptr[] and row[], couple to other processes with, at least */
static PetscErrorCode PamgNextOutside(const PC_PAMG *pamg, PamgWork *w, PetscInt nc)
{
  PetscReal *now = w->outside[0];

  PetscFunctionBegin;
  PamgKernel(pamg, PolderPairsNextOutside, nc, w->ptr, w->row, now, w->outside[1]);
  w->outside[0] = w->outside[1];
  w->outside[1] = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ptr[], row[] <- the rows of each aggregate */
static PetscErrorCode PamgMembers(const PC_PAMG *pamg, const PamgWork *w, PetscInt n, const PetscInt agg[], PetscInt nc, PetscInt ptr[], PetscInt row[])
{
  PetscFunctionBegin;
  if (pamg->device) PolderLaunch(PolderMembers_CUDA(n, agg, nc, ptr, row, w->left[0], w->left[1], w->temp, w->bytes, pamg->stream));
  else PolderMembers_Host(n, agg, nc, ptr, row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C <- P^T A P on the host, in arrays of its size */
static PetscErrorCode PamgGalerkinHost(const PamgRows *A, const PetscInt ptr[], const PetscInt row[], const PetscInt agg[], PamgRows *C)
{
  PetscInt    *place, *col;
  PetscScalar *val;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(C->n, &place, A->nz, &col, A->nz, &val));
  C->nz = PolderGalerkin_Host(C->n, ptr, row, A->i, A->j, A->a, C->n, agg, PETSC_TRUE, place, C->i, col, val);
  PetscCall(PetscMalloc1(C->nz, &C->j));
  PetscCall(PetscMalloc1(C->nz, &C->a));
  PetscCall(PetscArraycpy(C->j, col, C->nz));
  PetscCall(PetscArraycpy(C->a, val, C->nz));
  PetscCall(PetscFree3(place, col, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on the device; *wide: there are rows for PolderCoarseRowsCountLong_CUDA() */
static PetscErrorCode PamgGalerkinDevice(const PC_PAMG *pamg, const PamgWork *w, const PamgRows *A, const PetscInt ptr[], const PetscInt row[], const PetscInt agg[], PamgRows *C, PetscBool *wide)
{
  PetscInt     info[2], warps = 0, *scratch = NULL;
  PetscScalar *scratchval = NULL;

  PetscFunctionBegin;
  PetscCall(PolderDeviceZero(w->count + 4, sizeof(info)));
  PolderLaunch(PolderCoarseRowsCount_CUDA(C->n, ptr, row, A->i, A->j, agg, C->i, w->count + 4, pamg->stream));
  PetscCall(PolderDeviceToHost(info, w->count + 4, sizeof(info)));
  *wide = info[0] ? PETSC_TRUE : PETSC_FALSE;
  if (*wide) {
    warps = PetscClipInterval(PAMG_SCRATCH / info[1] / 8 * 8, 8, POLDER_COARSE_WARPS);
    PetscCall(PolderDeviceMalloc(sizeof(*scratch) * (size_t)warps * (size_t)info[1], &scratch));
    PetscCall(PolderDeviceMalloc(sizeof(*scratchval) * (size_t)warps * (size_t)info[1], &scratchval));
    PolderLaunch(PolderCoarseRowsCountLong_CUDA(C->n, ptr, row, A->i, A->j, agg, C->i, warps, info[1], scratch, pamg->stream));
  }
  PolderLaunch(PolderPointers_CUDA(C->n, C->i, w->temp, w->bytes, pamg->stream));
  PetscCall(PolderDeviceToHost(&C->nz, C->i + C->n, sizeof(C->nz)));
  PetscCall(PolderDeviceMalloc(sizeof(*C->j) * (size_t)C->nz, &C->j));
  PetscCall(PolderDeviceMalloc(sizeof(*C->a) * (size_t)C->nz, &C->a));
  PolderLaunch(PolderCoarseRowsFill_CUDA(C->n, ptr, row, A->i, A->j, A->a, agg, C->i, C->j, C->a, warps, info[1], scratch, scratchval, pamg->stream));
  PetscCall(PolderDeviceFree(&scratch));
  PetscCall(PolderDeviceFree(&scratchval));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgCoarseRows(const PC_PAMG *pamg, const PamgWork *w, const PamgRows *A, const PetscInt agg[], PetscInt nc, PamgRows *C, PetscBool *wide)
{
  PetscFunctionBegin;
  *C    = (PamgRows){.n = nc};
  *wide = PETSC_FALSE;
  PetscCall(PamgMembers(pamg, w, A->n, agg, nc, w->ptr, w->row));
  PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*C->i) * (size_t)(nc + 1), &C->i));
  if (pamg->device) PetscCall(PamgGalerkinDevice(pamg, w, A, w->ptr, w->row, agg, C, wide));
  else PetscCall(PamgGalerkinHost(A, w->ptr, w->row, agg, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes weak entries away */
static PetscErrorCode PamgDropWeak(const PC_PAMG *pamg, const PamgWork *w, PamgRows *C)
{
  PetscReal *d;
  PamgRows   D = {.n = C->n};

  PetscFunctionBegin;
  PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*d) * (size_t)C->n, &d));
  if (pamg->device) {
    PetscCall(PolderDeviceMalloc(sizeof(*D.i) * (size_t)(C->n + 1), &D.i));
    PolderLaunch(PolderCsrDiagonal_CUDA(C->n, C->i, C->j, C->a, d, pamg->stream));
    PolderLaunch(PolderDropWeakCount_CUDA(C->n, pamg->drop, d, C->i, C->j, C->a, D.i, pamg->stream));
    PolderLaunch(PolderPointers_CUDA(C->n, D.i, w->temp, w->bytes, pamg->stream));
    PetscCall(PolderDeviceToHost(&D.nz, D.i + C->n, sizeof(D.nz)));
    PetscCall(PolderDeviceMalloc(sizeof(*D.j) * (size_t)D.nz, &D.j));
    PetscCall(PolderDeviceMalloc(sizeof(*D.a) * (size_t)D.nz, &D.a));
    PolderLaunch(PolderDropWeakFill_CUDA(C->n, pamg->drop, d, C->i, C->j, C->a, D.i, D.j, D.a, pamg->stream));
    PetscCall(PamgFreeRows(pamg, C));
    *C = D;
  } else C->nz = PolderDropWeak_Host(C->n, pamg->drop, d, C->i, C->j, C->a);
  PetscCall(PCPAMGFreeArray_Private(pamg, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aggregates of up to 2^passes rows of level l and the local block of the next matrix: in each pass pairs of the rows of the matrix that the pass before has made.
   mate[], place[] and so on of pamg are those of the rows of the level, and follow. */
PetscErrorCode PCPAMGAggregate_Private(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel *L = &pamg->level[l], *C = L + 1;
  PamgRows   A = {L->n, pamg->device || !L->n ? 0 : L->csr.ai[L->n], (PetscInt *)L->csr.ai, (PetscInt *)L->csr.aj, (PetscScalar *)L->csr.aa}, B; // which are only read
  PamgWork   w;

  PetscFunctionBegin;
  PetscCall(PamgWorkCreate(pamg, L, &w));
  for (PetscInt pass = 0; pass < pamg->passes; ++pass) {
    PetscInt *agg = pass ? w.agg : L->agg, nc;

    if (pass) {
      PamgKernel(pamg, PolderIndexFill, A.n, POLDER_PAIR_FREE, pamg->mate);
      if (pamg->sum) PamgKernel(pamg, PolderRowSums, A.n, A.i, A.j, A.a, pamg->diagonal, pamg->sum);
    }
    PetscCall(PamgPairs(pamg, &w, &A, agg, &nc));
    PetscCall(PamgCoarseRows(pamg, &w, &A, agg, nc, &B, &C->wide));
    if (w.outside[0]) PetscCall(PamgNextOutside(pamg, &w, nc));
    if (pass) {
      PamgKernel(pamg, PolderPairsCompose, L->n, A.n, agg, nc, L->agg);
      PetscCall(PamgFreeRows(pamg, &A));
    }
    A = B;
  }
  if (pamg->drop > 0) PetscCall(PamgDropWeak(pamg, &w, &A));
  L->nc = C->n = A.n;
  C->ai        = A.i;
  C->aj        = A.j;
  C->aa        = A.a;
  if (pamg->device) { // which restricts by them
    PetscCall(PolderDeviceMalloc(sizeof(*L->ptr) * (size_t)(L->nc + 2), &L->ptr));
    PetscCall(PolderDeviceMalloc(sizeof(*L->row) * (size_t)L->n, &L->row));
    PetscCall(PamgMembers(pamg, &w, L->n, L->agg, L->nc, L->ptr, L->row));
    C->csr = (PolderCSR){.m = A.n, .M = A.n, .ai = A.i, .aj = A.j, .aa = A.a, .device = PETSC_TRUE};
    C->nz  = A.nz;
  }
  PetscCall(PamgWorkDestroy(pamg, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of the local block of level l + 1 from those of level l */
PetscErrorCode PCPAMGCoarseValues_Private(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel       *L = &pamg->level[l], *C = L + 1;
  const PolderCSR *csr = &L->csr;
  PetscInt        *ptr, *row, *place;

  PetscFunctionBegin;
  if (pamg->device) {
    PolderLaunch(PolderCoarseRowsValues_CUDA(L->nc, C->wide, L->ptr, L->row, csr->ai, csr->aj, csr->aa, L->agg, C->ai, C->aj, C->aa, pamg->stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc3(L->nc + 2, &ptr, L->n, &row, PetscMax(L->nc, C->nghost), &place));
  PolderMembers_Host(L->n, L->agg, L->nc, ptr, row);
  PolderGalerkinValues_Host(L->nc, ptr, row, csr->ai, csr->aj, csr->aa, L->nc, L->agg, PETSC_TRUE, place, C->ai, C->aj, C->aa);
  if (C->bi) PolderGalerkinValues_Host(L->nc, ptr, row, csr->bi, csr->bj, csr->ba, C->nghost, L->ghostagg, PETSC_FALSE, place, C->bi, C->bj, C->ba);
  PetscCall(PetscFree3(ptr, row, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}
