/* Pairwise-aggregation multigrid: the hierarchy, from the rows of the matrix on the host. */
#include "pamgsteps.h"
#include "mat/aijderived.h"
#include "core/refusal.h"
#include "kernels/dia.h"
#include "kernels/galerkin.h"
#include "kernels/pairs.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* A level with more than this part of the rows of the one before is not worth having */
#define PAMG_STALL 0.9
/* A row whose diagonal is more than so many times the others' magnitudes needs no coarse rows (Notay 2010) */
#define PAMG_LONE 5.0
/* A last level of more rows than this is not factorised unless asked for, and never beyond the second */
#define PAMG_DIRECT  5000
#define PAMG_LARGEST 50000

PetscErrorCode PCPAMGWarn_Private(PC pc, int which, const char text[])
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  if (pamg->warned[which]) PetscFunctionReturn(PETSC_SUCCESS);
  pamg->warned[which] = PETSC_TRUE;
  PetscCall(PetscFPrintf(PetscObjectComm((PetscObject)pc), PETSC_STDERR, "WARNING: %s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgFreeLevel(const PC_PAMG *pamg, PamgLevel *L, PetscBool first)
{
  void **const array[] =
    {(void **)&L->ai, (void **)&L->aj, (void **)&L->aa, (void **)&L->agg, (void **)&L->ptr, (void **)&L->row, (void **)&L->order, (void **)&L->diag, &L->dinv, (void **)&L->values, (void **)&L->own, (void **)&L->gi, (void **)&L->gj, (void **)&L->ga, &L->b, &L->x, &L->t, &L->v, &L->w, &L->g, &L->ghost, &L->part};

  PetscFunctionBegin;
  if (!first) PetscCall(MatDestroy(&L->A));
  if (!first && pamg->device) PetscCall(PolderHaloDestroy(&L->halo)); // elsewhere it is the matrix's
  PetscCall(PCPAMGFreeOuter_Private(L));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(array); ++k) PetscCall(PCPAMGFreeArray_Private(pamg, array[k]));
  PetscCall(PetscFree3(L->bi, L->bj, L->ba));
  PetscCall(PetscFree(L->ghostagg));
  PetscCall(PetscFree(L->val));
  PetscCall(PetscFree(L->off));
  PetscCall(PetscFree(L->kept));
  PetscCall(PetscFree(L->colour));
  PetscCall(PetscFree(L->garray));
  PetscCall(PetscFree2(L->counts, L->displs));
  PetscCall(PetscFree(L->stage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What rows are judged by while they are aggregated */
static PetscErrorCode PamgFreeJudged(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  PetscCall(PCPAMGFreeArray_Private(pamg, &pamg->mate));
  PetscCall(PCPAMGFreeArray_Private(pamg, &pamg->diagonal));
  PetscCall(PCPAMGFreeArray_Private(pamg, &pamg->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFree_Private(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < pamg->nlevel; ++l) PetscCall(PamgFreeLevel(pamg, &pamg->level[l], (PetscBool)!l));
  PetscCall(PetscFree(pamg->level));
  PetscCall(PamgFreeJudged(pamg));
  PetscCall(PCPAMGFreeExcess_Private(pamg));
  PetscCall(PCPAMGFreeArray_Private(pamg, &pamg->place));
  PetscCall(PolderDeviceFree(&pamg->ksum));
  PetscCall(PolderDeviceGraphDestroy(&pamg->graph));
  pamg->nlevel = 0;
  PetscCall(PolderCoarseDestroy(&pamg->coarse));
  for (int k = 0; k < 2; ++k) {
    PetscCall(PolderDeviceFree(&pamg->cbuf[k]));
    PetscCall(PetscFree(pamg->hostbuf[k]));
  }
  PetscCall(VecDestroy(&pamg->cb));
  PetscCall(VecDestroy(&pamg->cx));
  PetscCall(KSPDestroy(&pamg->ksp));
  pamg->stalled = PETSC_FALSE;
  PetscCall(PetscMemzero(&pamg->keys, sizeof(pamg->keys)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses the matrix on every process for the first bad row of all; each passes its own first one, or the global number of rows and POLDER_ROW_GOOD */
static PetscErrorCode PamgCheckRow(PC pc, PetscInt l, PetscInt M, PetscInt row, PolderRowKind kind)
{
  MPI_Comm comm  = PetscObjectComm((PetscObject)pc);
  PetscInt first = row, what;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &first, 1, MPIU_INT, MPI_MIN, comm);
  if (first == M) PetscFunctionReturn(PETSC_SUCCESS);
  what = row == first ? (PetscInt)kind : 0;
  PetscCallAllreduce(MPI_IN_PLACE, &what, 1, MPIU_INT, MPI_MAX, comm);
  if (l) {
    const PetscBool finite = (PetscBool)(what != POLDER_ROW_NOTFINITE);

    PolderPCRefuse(pc, finite ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_FACTOR_OTHER, finite ? PETSC_ERR_ARG_WRONG : PETSC_ERR_FP, "PC of type pamg needs a positive definite matrix and this one is not: on coarse level %" PetscInt_FMT " %s", l, finite ? "a diagonal entry is negative" : "an entry is not a finite number");
  } else if (what == POLDER_ROW_NODIAGONAL) {
    PolderPCRefuse(pc, PC_FACTOR_STRUCT_ZEROPIVOT, PETSC_ERR_ARG_WRONG, "PC of type pamg needs a positive diagonal and row %" PetscInt_FMT " has no diagonal entry: insert it", first);
  } else if (what == POLDER_ROW_ZERO) {
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_ARG_WRONG, "PC of type pamg needs a positive diagonal and that of row %" PetscInt_FMT " is zero or too small to invert: remove the row, or put a one on its diagonal", first);
  } else if (what == POLDER_ROW_NEGATIVE) {
    PolderPCRefuse(pc, PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_ARG_WRONG, "PC of type pamg needs a positive diagonal and that of row %" PetscInt_FMT " is negative: change the sign of the system if the matrix is negative definite, else use another preconditioner", first);
  } else {
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_FP, "PC of type pamg needs finite entries and row %" PetscInt_FMT " has one that is not: check how the matrix was assembled", first);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of type aijdia may not have its diagonals (-mat_aijdia_max_fill), or another type by now: the cycle then reads its rows */
PetscErrorCode PCPAMGFindDiagonal_Private(PamgLevel *L)
{
  const PolderCSR *csr = &L->csr;
  PetscInt         at;

  PetscFunctionBegin;
  L->regular = PETSC_FALSE;
  if (L->diag) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(L->n, &L->diag));
  for (PetscInt i = 0; i < L->n; ++i) {
    PetscCall(PetscFindInt(i, csr->ai[i + 1] - csr->ai[i], csr->aj + csr->ai[i], &at));
    L->diag[i] = csr->ai[i] + at;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inverse diagonal and, when the level is to be aggregated, what pairs are judged by; in a refresh the diagonal is where it was. Returns the first row that cannot be used */
static PetscErrorCode PamgSetUpRowsHost(PC_PAMG *pamg, PetscInt l, PetscBool refresh, PetscInt *row, PolderRowKind *kind)
{
  PamgLevel       *L   = &pamg->level[l];
  const PolderCSR *csr = &L->csr;
  const PolderDia *dia = NULL;
  const PetscBool  all = (PetscBool)(pamg->smoother == PAMG_L1JACOBI || pamg->smoother == PAMG_CHEBYSHEV); // of each row are needed
  PetscInt        *diag;
  PetscReal       *dinv = (PetscReal *)L->dinv;

  PetscFunctionBegin;
  if (pamg->precision == PAMG_SINGLE) PetscCall(PetscMalloc1(L->n, &dinv));
  if (L->regular) PetscCall(PolderMatGetDia(L->A, &dia));
  if (L->regular && !dia) PetscCall(PCPAMGFindDiagonal_Private(L));
  diag = L->diag;
  if (refresh && !all && (diag || (dia && dia->main >= 0))) *row = PolderLevelDiagonal_Host(L->n, diag, diag ? csr->aa : dia->val[dia->main], (PetscBool)(l > 0), dinv, kind);
  else {
    if (!diag) PetscCall(PetscMalloc1(L->n, &diag));
    *row = PolderLevelRows_Host(L->n, csr->ai, csr->aj, csr->aa, csr->bi, csr->ba, (PetscBool)(l > 0), (PetscBool)(pamg->smoother == PAMG_L1JACOBI), PAMG_LONE, diag, dinv, pamg->diagonal, pamg->sum, pamg->mate, &L->bound, kind);
    if (diag != L->diag) PetscCall(PetscFree(diag));
  }
  if (pamg->precision == PAMG_SINGLE) {
    for (PetscInt i = 0; i < *row; ++i) ((float *)L->dinv)[i] = (float)dinv[i];
    PetscCall(PetscFree(dinv));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgSetUpRows(PC pc, PetscInt l, PetscBool refresh)
{
  PC_PAMG      *pamg = (PC_PAMG *)pc->data;
  PamgLevel    *L    = &pamg->level[l];
  PetscInt      row  = L->n;
  PolderRowKind kind = POLDER_ROW_GOOD;

  PetscFunctionBegin;
  if (pamg->device) PetscCall(PCPAMGSetUpRowsDevice_Private(pamg, l, PAMG_LONE, refresh, &row, &kind));
  else PetscCall(PamgSetUpRowsHost(pamg, l, refresh, &row, &kind));
  PetscCall(PamgCheckRow(pc, l, L->csr.M, row < L->n ? row + L->csr.rstart : L->csr.M, kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the local block about as few diagonals as a row has entries? off[PAMG_DIAGONALS] <- these, as they come */
static PetscBool PamgIsRegular(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt *nd, PetscInt off[])
{
  const PetscInt most = PamgMostDiagonals(n, n ? ai[n] : 0);

  *nd = 0;
  for (PetscInt i = 0; i < n; ++i) {
    PetscInt d = 0;

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) { // the diagonals come in about the order of the columns
      PetscInt tries = 0;

      for (; tries < *nd && off[d] != aj[k] - i; ++tries) d = d + 1 < *nd ? d + 1 : 0;
      if (tries < *nd) continue;
      if (*nd == most) return PETSC_FALSE;
      off[*nd] = aj[k] - i;
      d        = (*nd)++;
    }
  }
  return PETSC_TRUE;
}

PetscErrorCode PCPAMGPlaceDiagonals_Private(const PC_PAMG *pamg, PamgLevel *L, PolderDia *dia, PetscBool half)
{
  const PetscInt ld = PolderStride(L->n);
  PetscInt       first;

  PetscFunctionBegin;
  dia->half = (PetscBool)(half && 2 * dia->main + 1 == dia->nd);
  for (PetscInt d = 0; d < dia->main && dia->half; ++d) dia->half = (PetscBool)(L->off[d] == -L->off[dia->nd - 1 - d]);
  first   = dia->half ? dia->main : 0;
  L->half = dia->half;
  PetscCall(PCPAMGFreeArray_Private(pamg, &L->own));
  PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*L->own) * (size_t)(dia->nd - first) * (size_t)ld, &L->own));
  PamgPointDiagonals(dia->nd, first, L->off, sizeof(*L->own), L->own, ld, L->val);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of a matrix of another type than aijdia; *found: it has few enough. They are filled from its rows */
static PetscErrorCode PamgOwnDiagonals(const PC_PAMG *pamg, PamgLevel *L, PolderDia *dia, PetscBool *found)
{
  const PolderCSR *csr   = &L->csr;
  const PetscBool  fresh = (PetscBool)!L->off;
  PetscInt         off[PAMG_DIAGONALS];

  PetscFunctionBegin;
  if (fresh) {
    *found = PamgIsRegular(L->n, csr->ai, csr->aj, &dia->nd, off);
    if (!dia->nd) *found = PETSC_FALSE;
    if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscSortInt(dia->nd, off));
    PetscCall(PetscMalloc1(dia->nd, &L->off));
    PetscCall(PetscMalloc1(dia->nd, &L->val));
    PetscCall(PetscArraycpy(L->off, off, dia->nd));
    PetscCall(PetscFindInt(0, dia->nd, L->off, &dia->main));
    PetscCall(PCPAMGPlaceDiagonals_Private(pamg, L, dia, PETSC_TRUE));
  } else {
    dia->nd   = L->M.nd;
    dia->main = L->M.main;
    dia->half = L->half;
  }
  *found = PolderDiaFill_Host(L->n, dia->nd, dia->half ? dia->main : 0, L->off, (PetscScalar *const *)L->val, csr->ai, csr->aj, csr->aa, 0);
  if (!*found && dia->half) { // not symmetric to the last bit
    PetscCall(PCPAMGPlaceDiagonals_Private(pamg, L, dia, PETSC_FALSE));
    *found = PolderDiaFill_Host(L->n, dia->nd, 0, L->off, (PetscScalar *const *)L->val, csr->ai, csr->aj, csr->aa, 0);
  }
  dia->m = dia->n = L->n;
  dia->off        = L->off;
  dia->val        = (const PetscScalar *const *)L->val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounds the diagonals that are stored to single precision; fits = PETSC_FALSE when an entry is too large */
static PetscErrorCode PamgRoundDiagonals(PamgLevel *L, const PolderDia *dia, PetscBool *fits)
{
  const PetscInt first = dia->half ? dia->main : 0;

  PetscFunctionBegin;
  if (L->values && (L->half != dia->half || !L->val)) {
    PetscCall(PetscFree(L->values));
    PetscCall(PetscFree(L->val));
  }
  if (!L->values) {
    L->half = dia->half;
    PetscCall(PetscCalloc1((size_t)(dia->nd - first) * (size_t)L->n, &L->values));
    PetscCall(PetscMalloc1(dia->nd, &L->val));
    PamgPointDiagonals(dia->nd, first, dia->off, sizeof(float), L->values, L->n, L->val);
  }
  for (PetscInt d = first; d < dia->nd; ++d) {
    const PetscInt lo = PetscMax(0, -dia->off[d]), hi = PetscMin(L->n, L->n - dia->off[d]);

    if (hi > lo && !PolderToSingle_Host((size_t)(hi - lo), dia->val[d] + lo, (float *)L->val[d] + lo)) *fits = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGKeepDiagonals_Private(PamgLevel *L)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(L->kept));
  PetscCall(PetscMalloc1(L->M.nd, &L->kept));
  PetscCall(PetscArraycpy(L->kept, L->M.off, L->M.nd));
  L->M.off = L->kept;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the cycle reads the entries, in its precision; fits = PETSC_FALSE when an entry is too large */
static PetscErrorCode PamgSetUpValuesHost(PC_PAMG *pamg, PetscInt l, PetscBool *fits)
{
  PamgLevel       *L     = &pamg->level[l];
  const PolderDia *dia   = NULL;
  PolderDia        own   = {0};
  const PetscInt   nz    = L->n ? L->csr.ai[L->n] : 0;
  PetscBool        found = PETSC_FALSE;
  float           *sums;

  PetscFunctionBegin;
  if (L->regular) PetscCall(PolderMatGetDia(L->A, &dia));
  else if (!l && pamg->precision == PAMG_DOUBLE) PetscCall(PamgOwnDiagonals(pamg, L, &own, &found));
  if (found) dia = &own;
  if (dia && !dia->nd) dia = NULL; // of no rows
  L->M = (PolderLevelMatrix){.n = L->n, .nd = dia ? dia->nd : 0, .main = dia ? dia->main : 0, .off = dia ? dia->off : NULL, .val = dia ? (const void *const *)dia->val : NULL, .ai = L->csr.ai, .aj = L->csr.aj, .aa = L->csr.aa, .diag = L->diag, .dinv = L->dinv};
  if (pamg->precision == PAMG_DOUBLE) {
    L->half = dia ? dia->half : PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (dia) {
    PetscCall(PCPAMGKeepDiagonals_Private(L));
    PetscCall(PamgRoundDiagonals(L, dia, fits));
    L->M.val = L->val;
    sums     = (float *)L->val[dia->main];
  } else {
    if (L->val) { // room for diagonals
      PetscCall(PetscFree(L->values));
      PetscCall(PetscFree(L->val));
    }
    if (!L->values) PetscCall(PetscMalloc1(nz, &L->values));
    *fits   = PolderToSingle_Host((size_t)nz, L->csr.aa, L->values);
    L->M.aa = sums = L->values;
  }
  if (!PolderRowTotals_Host(L->n, L->csr.ai, L->csr.aj, L->csr.aa, L->csr.bi, L->csr.ba, (PetscBool)!dia, sums)) *fits = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgSetUpValues(PC pc, PetscInt l)
{
  PC_PAMG    *pamg = (PC_PAMG *)pc->data;
  PetscBool   fits = PETSC_TRUE;
  PetscMPIInt all;

  PetscFunctionBegin;
  if (pamg->device) PetscCall(PCPAMGSetUpValuesDevice_Private(pamg, l, &fits));
  else PetscCall(PamgSetUpValuesHost(pamg, l, &fits));
  if (pamg->precision == PAMG_DOUBLE) PetscFunctionReturn(PETSC_SUCCESS);
  all = fits;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  if (!all) PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_OUTOFRANGE, "PC of type pamg cannot store the entries in single precision, which has numbers of 1e-38 to 3e38: use -pc_pamg_precision double, or scale the system");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGNumberGhosts_Private(PetscInt n, PetscInt theirs[], PamgLevel *C)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &C->garray));
  C->nghost = 0;
  for (PetscInt k = 0; k < n; ++k) {
    if (theirs[k] >= 0) C->garray[C->nghost++] = theirs[k];
  }
  PetscCall(PetscSortRemoveDupsInt(&C->nghost, C->garray));
  for (PetscInt k = 0; k < n; ++k) {
    if (theirs[k] >= 0) PetscCall(PetscFindInt(theirs[k], C->nghost, C->garray, &theirs[k]));
    else theirs[k] = C->nghost;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C->garray <- the global aggregates of the ghost columns, ascending; L->ghostagg <- the place of each column among them */
static PetscErrorCode PamgCoarseGhosts(PamgLevel *L, PamgLevel *C)
{
  PetscInt *mine;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(L->n, &mine));
  PetscCall(PetscMalloc1(L->csr.nghost, &L->ghostagg));
  for (PetscInt i = 0; i < L->n; ++i) mine[i] = L->agg[i] < L->nc ? C->rstart + L->agg[i] : -1;
  PetscCall(PolderHaloExchange(L->halo, MPIU_INT, mine, L->ghostagg));
  PetscCall(PCPAMGNumberGhosts_Private(L->csr.nghost, L->ghostagg, C));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghosts that only rows left out of the next level have are none of its: PETSc numbers the columns that it finds, and the numbers must be the same */
static PetscErrorCode PamgDropGhosts(PamgLevel *L, PamgLevel *C)
{
  PetscInt *number, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(C->nghost + 1, &number));
  for (PetscInt k = 0; k < C->bi[L->nc]; ++k) number[C->bj[k]] = 1;
  for (PetscInt g = 0; g < C->nghost; ++g) {
    if (!number[g]) continue;
    C->garray[n] = C->garray[g];
    number[g]    = ++n; // and one too many, so that 0 is none
  }
  for (PetscInt k = 0; k < C->bi[L->nc]; ++k) C->bj[k] = number[C->bj[k]] - 1;
  for (PetscInt g = 0; g < L->csr.nghost; ++g) L->ghostagg[g] = number[L->ghostagg[g]] ? number[L->ghostagg[g]] - 1 : n;
  C->nghost = n;
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The block of the next matrix to other processes */
static PetscErrorCode PamgCoarseOffDiagonal(PamgLevel *L, PamgLevel *C)
{
  const PolderCSR *csr = &L->csr;
  const PetscInt   nz  = L->n ? csr->bi[L->n] : 0;
  PetscInt        *ptr, *row, *place;

  PetscFunctionBegin;
  PetscCall(PamgCoarseGhosts(L, C));
  PetscCall(PetscMalloc3(L->nc + 2, &ptr, L->n, &row, C->nghost, &place));
  PolderMembers_Host(L->n, L->agg, L->nc, ptr, row);
  PetscCall(PetscMalloc3(L->nc + 1, &C->bi, nz, &C->bj, nz, &C->ba));
  (void)PolderGalerkin_Host(L->nc, ptr, row, csr->bi, csr->bj, csr->ba, C->nghost, L->ghostagg, PETSC_FALSE, place, C->bi, C->bj, C->ba);
  PetscCall(PamgDropGhosts(L, C));
  PetscCall(PetscFree3(ptr, row, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of this process as they come from the level before */
static PolderCSR PamgOwnRows(const PamgLevel *C)
{
  return (PolderCSR){.m = C->nown, .M = C->N, .rstart = C->rstart, .nghost = C->nghost, .garray = C->garray, .ai = C->ai, .aj = C->aj, .aa = C->aa, .bi = C->bi, .bj = C->bj, .ba = C->ba};
}

/* The matrix of level l + 1 around its arrays: of this process, or of all when it is small */
static PetscErrorCode PamgCoarseMatrix(PC pc, PetscInt l)
{
  PC_PAMG    *pamg = (PC_PAMG *)pc->data;
  PamgLevel  *L = &pamg->level[l], *C = L + 1;
  MPI_Comm    comm = L->comm;
  PetscMPIInt regular;
  PetscInt    n = C->n, nd, off[PAMG_DIAGONALS];

  PetscFunctionBegin;
  C->nown = n;
  if (L->halo) {
    PetscCallMPI(MPI_Exscan(&n, &C->rstart, 1, MPIU_INT, MPI_SUM, comm));
    PetscCall(PamgCoarseOffDiagonal(L, C));
    PetscCall(PCPAMGMendCoarse_Private(pamg, l));
    if (C->N <= pamg->gatherlimit) {
      const PolderCSR own = PamgOwnRows(C);

      PetscCall(PCPAMGGatherRows_Private(comm, &own, C));
      PetscCall(PCPAMGGatherExcess_Private(pamg, comm, C));
      PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, C->N, C->N, C->gi, C->gj, C->ga, &C->A));
      PetscCall(PCPAMGGatherPlaces_Private(comm, C, &pamg->place));
      regular = PamgIsRegular(C->N, C->gi, C->gj, &nd, off);
    } else {
      for (PetscInt k = 0; k < C->bi[n]; ++k) C->bj[k] = C->garray[C->bj[k]]; // which PETSc turns back
      PetscCall(MatCreateMPIAIJWithSplitArrays(comm, n, n, C->N, C->N, C->ai, C->aj, C->aa, C->bi, C->bj, C->ba, &C->A));
      regular = PamgIsRegular(n, C->ai, C->aj, &nd, off);
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &regular, 1, MPI_INT, MPI_MIN, comm));
    }
  } else {
    PetscCall(PCPAMGMendCoarse_Private(pamg, l));
    regular = PamgIsRegular(n, C->ai, C->aj, &nd, off);
    PetscCall(MatCreateSeqAIJWithArrays(comm, n, n, C->ai, C->aj, C->aa, &C->A));
  }
  if (pamg->symmetric) PetscCall(MatSetOption(C->A, MAT_SYMMETRIC, PETSC_TRUE)); // up to rounding
  PetscCall(MatConvert(C->A, regular ? MATAIJDIA : MATAIJICRS, MAT_INPLACE_MATRIX, &C->A));
  C->regular = (PetscBool)regular;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes, rows and entries of level l, whose matrix is there */
static PetscErrorCode PamgBeginLevel(PC pc, PetscInt l)
{
  PC_PAMG     *pamg = (PC_PAMG *)pc->data;
  PamgLevel   *L    = &pamg->level[l];
  const size_t size = pamg->precision == PAMG_SINGLE ? sizeof(float) : sizeof(PetscScalar);
  PetscMPIInt  ranks, rank;

  PetscFunctionBegin;
  L->comm = !l ? PetscObjectComm((PetscObject)L->A) : L->gathered ? PETSC_COMM_SELF : L[-1].comm;
  if (pamg->device) {
    PetscCall(PCPAMGBeginLevelDevice_Private(pamg, l));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_size(L->comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  if (l) PetscCall(PolderMatGetCSR(L->A, &L->csr));
  L->n = L->csr.m;
  L->N = L->csr.M;
  if (ranks > 1) PetscCall(PolderMatGetHalo(L->A, &L->halo));
  L->nz = L->n && (ranks > 1 || !rank) ? L->csr.ai[L->n] + (L->csr.bi ? L->csr.bi[L->n] : 0) : 0; // what all have counts once
  if (!l) {
    const PolderDia *dia;

    PetscCall(PolderMatGetDia(L->A, &dia));
    L->regular = (PetscBool) !!dia;
  }
  PetscCall(PetscMalloc(size * (size_t)(L->n + 1), &L->dinv));
  if (!L->regular) PetscCall(PetscMalloc1(L->n, &L->diag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the constant in the kernel of the matrix? */
static PetscErrorCode PamgHasConstant(PC pc, PetscBool *constant)
{
  MatNullSpace nullspace;

  PetscFunctionBegin;
  *constant = PETSC_FALSE;
  PetscCall(MatGetNullSpace(pc->pmat, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceGetVecs(nullspace, constant, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgFindExcess(PC pc)
{
  PetscBool constant;

  PetscFunctionBegin;
  PetscCall(PamgHasConstant(pc, &constant));
  PetscCall(PCPAMGFindExcess_Private((PC_PAMG *)pc->data, constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next level, or *last when there is none worth having */
static PetscErrorCode PamgNextLevel(PC pc, PetscInt l, PetscBool *last)
{
  PC_PAMG   *pamg = (PC_PAMG *)pc->data;
  PamgLevel *L    = &pamg->level[l], *C;
  PetscInt64 count, before;
  size_t     n = (size_t)L->n;

  PetscFunctionBegin;
  *last = (PetscBool)(L->N <= pamg->coarselimit || l + 1 >= pamg->maxlevels);
  if (!*last) PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*pamg->mate) * n, &pamg->mate));
  if (!*last && pamg->kappa > 0) {
    PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*pamg->diagonal) * n, &pamg->diagonal));
    PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*pamg->sum) * n, &pamg->sum));
  }
  PetscCall(PamgSetUpRows(pc, l, PETSC_FALSE));
  if (!pc->failedreason) PetscCall(PamgSetUpValues(pc, l));
  if (pc->failedreason) *last = PETSC_TRUE;
  else if (!l) PetscCall(PamgFindExcess(pc));
  if (*last) PetscFunctionReturn(PETSC_SUCCESS);
  C = L + 1;
  if (!l) PetscCall(PCPAMGFindGrid_Private(pamg, &L->csr));
  if (pamg->device && pamg->smoother == PAMG_SGS) {
    PetscBool   found;
    PetscMPIInt all;

    PetscCall(PCPAMGColourDevice_Private(pamg, l, &found));
    all = found;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, L->comm));
    pamg->uncoloured = *last = (PetscBool)!all;
    if (!all) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCPAMGMalloc_Private(pamg, sizeof(*L->agg) * n, &L->agg));
  PetscCall(PCPAMGAggregate_Private(pamg, l));
  PetscCall(PamgFreeJudged(pamg));
  count = C->n;
  PetscCallAllreduce(MPI_IN_PLACE, &count, 1, MPIU_INT64, MPI_SUM, L->comm);
  before = L->N;
  if ((PetscReal)count > PAMG_STALL * (PetscReal)before || !count) {
    PetscCall(PetscInfo(pc, "No coarser level: %" PetscInt64_FMT " aggregates of %" PetscInt64_FMT " rows\n", count, before));
    PetscCall(PamgFreeLevel(pamg, C, PETSC_FALSE));
    PetscCall(PetscMemzero(C, sizeof(*C)));
    PetscCall(PCPAMGFreeArray_Private(pamg, &L->agg));
    PetscCall(PCPAMGFreeArray_Private(pamg, &L->order));
    PetscCall(PetscFree(L->colour));
    pamg->stalled = *last = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  C->N = (PetscInt)count;
  if (!pamg->device) PetscCall(PamgCoarseMatrix(pc, l));
  else if (L->halo) PetscCall(PCPAMGCoarseOuter_Private(pamg, l));
  else PetscCall(PCPAMGMendCoarse_Private(pamg, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factor of the last level from the rows of all processes */
static PetscErrorCode PamgFactorHost(PC_PAMG *pamg, const PolderCSR *csr, PetscBool constant)
{
  const PetscInt n = csr->m, nl = n + csr->nghost, nz = n ? csr->ai[n] + (csr->bi ? csr->bi[n] : 0) : 0;
  PetscInt      *gl, *ptr, *col, k = 0;
  PetscScalar   *val;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(nl, &gl, nl + 1, &ptr, nz, &col, nz, &val));
  for (PetscInt i = 0; i < nl; ++i) {
    gl[i]  = i < n ? csr->rstart + i : csr->garray[i - n];
    ptr[i] = k;
    if (i >= n) continue;
    for (PetscInt e = csr->ai[i]; e < csr->ai[i + 1]; ++e, ++k) {
      col[k] = csr->aj[e];
      val[k] = csr->aa[e];
    }
    for (PetscInt e = csr->bi ? csr->bi[i] : 0; csr->bi && e < csr->bi[i + 1]; ++e, ++k) {
      col[k] = n + csr->bj[e];
      val[k] = csr->ba[e];
    }
  }
  ptr[nl] = k;
  PetscCall(PolderCoarseSetUp(pamg->coarse, csr->M, nl, gl, ptr, col, val, constant));
  PetscCall(PetscFree4(gl, ptr, col, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for a last level on the device that several processes share: the factor is on the host */
static PetscErrorCode PamgFactorShared(PC_PAMG *pamg, PetscBool constant)
{
  PolderCSR own;

  PetscFunctionBegin;
  PetscCall(PCPAMGRowsToHost_Private(&pamg->level[pamg->nlevel - 1], &own));
  PetscCall(PamgFactorHost(pamg, &own, constant));
  PetscCall(PCPAMGFreeRowsOnHost_Private(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of zeros is one that the matrix leaves free: SOR of PETSc stops there, on the process that has it alone, where Jacobi goes on */
static PetscErrorCode PamgAvoidSOR(KSP ksp, Mat A, Vec work)
{
  PC        inner;
  PetscBool sor;
  PetscReal least;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &inner));
  PetscCall(PetscObjectTypeCompare((PetscObject)inner, PCSOR, &sor));
  if (!sor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetDiagonal(A, work));
  PetscCall(VecAbs(work));
  PetscCall(VecMin(work, NULL, &least));
  if (least == 0) PetscCall(PCSetType(inner, PCJACOBI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgSetUpCoarseKSP(PC pc)
{
  PC_PAMG           *pamg = (PC_PAMG *)pc->data;
  PamgLevel         *L    = &pamg->level[pamg->nlevel - 1];
  KSPConvergedReason reason;

  PetscFunctionBegin;
  if (pamg->device && pamg->nlevel > 1) PetscCall(PCPAMGMatrixFromDevice_Private(pamg, pamg->nlevel - 1));
  if (!pamg->ksp) {
    const char *prefix;
    PC          inner;

    PetscCall(KSPCreate(PetscObjectComm((PetscObject)L->A), &pamg->ksp));
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)pamg->ksp, (PetscObject)pc, 1));
    PetscCall(KSPSetErrorIfNotConverged(pamg->ksp, pc->erroriffailure));
    PetscCall(PCGetOptionsPrefix(pc, &prefix));
    PetscCall(KSPSetOptionsPrefix(pamg->ksp, prefix));
    PetscCall(KSPAppendOptionsPrefix(pamg->ksp, "pamg_coarse_"));
    PetscCall(KSPSetType(pamg->ksp, KSPPREONLY));
    PetscCall(KSPGetPC(pamg->ksp, &inner));
    PetscCall(PCSetType(inner, PCSOR));
    PetscCall(KSPSetFromOptions(pamg->ksp));
  }
  if (!pamg->cb) PetscCall(MatCreateVecs(L->A, &pamg->cx, &pamg->cb));
  PetscCall(KSPSetOperators(pamg->ksp, L->A, L->A));
  PetscCall(PamgAvoidSOR(pamg->ksp, L->A, pamg->cb));
  PetscCall(KSPSetUp(pamg->ksp));
  PetscCall(KSPGetConvergedReason(pamg->ksp, &reason));
  if (reason == KSP_DIVERGED_PC_FAILED) PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscCall(PolderPCShareFailure(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver for the last level: a factor of the gathered matrix, or a KSP */
static PetscErrorCode PamgSetUpCoarse(PC pc)
{
  PC_PAMG   *pamg = (PC_PAMG *)pc->data;
  PamgLevel *L    = &pamg->level[pamg->nlevel - 1];
  PetscBool  constant, there = (PetscBool)(pamg->device && !L->halo);

  PetscFunctionBegin;
  pamg->direct = (PetscBool)(pamg->coarsetype == PAMG_COARSE_AUTO ? L->N <= PetscMax(pamg->coarselimit, PAMG_DIRECT) : pamg->coarsetype != PAMG_COARSE_KSP);
  PetscCheck(!pamg->direct || L->N <= PAMG_LARGEST, L->comm, PETSC_ERR_ARG_OUTOFRANGE, "The last level of PC pamg has %" PetscInt_FMT " rows, too many for -pc_pamg_coarse cholesky or inverse: use -pc_pamg_coarse ksp, or more -pc_pamg_levels", L->N);
  if (!pamg->direct) {
    PetscCall(PamgSetUpCoarseKSP(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pamg->coarse) {
    const size_t bytes = sizeof(PetscScalar) * (size_t)(L->n + L->csr.nghost);

    PetscCall(PolderCoarseCreate(L->comm, &pamg->coarse));
    if (pamg->coarsetype == PAMG_COARSE_INVERSE) PetscCall(PolderCoarseSetInverse(pamg->coarse));
    for (int k = 0; k < 2; ++k) {
      if (there) PetscCall(PolderDeviceMalloc(bytes, &pamg->cbuf[k]));
      else PetscCall(PetscCalloc1(bytes / sizeof(PetscScalar), &pamg->hostbuf[k]));
    }
  }
  PetscCall(PamgHasConstant(pc, &constant));
  PetscCall(PCPAMGHandExcess_Private(pamg, L));
  if (there) PetscCall(PCPAMGSetUpCoarseDevice_Private(pamg, constant));
  else if (pamg->device) PetscCall(PamgFactorShared(pamg, constant));
  else PetscCall(PamgFactorHost(pamg, &L->csr, constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a set-up, without those of the smoothers' estimates and of the last level's solver: a level's rows are summed (2 an entry) in a new hierarchy, its diagonal inverted, and its entries added up to those of the next */
static PetscErrorCode PamgLogSetUp(const PC_PAMG *pamg, PetscBool refresh)
{
  PetscLogDouble flops = 0;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    const PamgLevel     *L       = &pamg->level[l];
    const PetscLogDouble entries = PamgLocalEntries(pamg, L);

    flops += (refresh ? 0 : 2 * entries) + L->n + (l + 1 < pamg->nlevel ? entries : 0);
  }
  if (pamg->device) PetscCall(PetscLogGpuFlops(flops));
  else PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgVector(const PC_PAMG *pamg, PamgLevel *L, PetscInt n, size_t size, void **v)
{
  const size_t bytes = size * (size_t)(n + 1);

  PetscFunctionBegin;
  PetscCall(PCPAMGMalloc_Private(pamg, bytes, v));
  if (pamg->device) PetscCall(PolderDeviceZero(*v, bytes));
  else PetscCall(PetscMemzero(*v, bytes));
  L->bytes += (PetscInt64)bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Work vectors of each level, and the bytes of all */
static PetscErrorCode PamgSetUpWork(PC_PAMG *pamg)
{
  const size_t    size     = pamg->precision == PAMG_SINGLE ? sizeof(float) : sizeof(PetscScalar);
  const PetscBool diagonal = (PetscBool)(pamg->smoother != PAMG_SGS || !pamg->pre);

  PetscFunctionBegin;
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    PamgLevel      *L    = &pamg->level[l];
    const PetscBool last = (PetscBool)(l == pamg->nlevel - 1), twice = (PetscBool)(l && PamgVisitsTwice(pamg, l));
    const size_t    index = sizeof(PetscInt), n = (size_t)L->n, nb = pamg->device ? (size_t)L->outer.nz : n && L->csr.bi ? (size_t)L->csr.bi[n] : 0, nz = pamg->device ? (size_t)L->nz : n ? (size_t)L->csr.ai[n] : 0;

    L->bytes = (PetscInt64)(size * (n + 1) + (L->agg ? index * n : 0) + (L->diag ? index * n : 0) + index * (size_t)L->csr.nghost);
    if (L->order) L->bytes += (PetscInt64)(index * n);
    if (L->row) L->bytes += (PetscInt64)(index * (n + (size_t)L->nc + 2));
    if (l) L->bytes += (PetscInt64)(index * (n + 1 + nz + nb + (L->csr.bi ? n + 1 : 0) + 2 * (size_t)L->outer.n) + sizeof(PetscScalar) * (nz + nb));
    if ((l || L->own) && L->M.nd) L->bytes += (PetscInt64)(sizeof(PetscScalar) * n * (size_t)(L->half ? (L->M.nd + 1) / 2 : L->M.nd));
    if (L->values) L->bytes += (PetscInt64)(sizeof(float) * (L->M.nd ? n * (size_t)(L->half ? (L->M.nd + 1) / 2 : L->M.nd) : nz));
    if (l || pamg->precision == PAMG_SINGLE) {
      PetscCall(PamgVector(pamg, L, L->n, size, &L->b));
      PetscCall(PamgVector(pamg, L, L->n, size, &L->x));
      if (L->gathered) PetscCall(PamgVector(pamg, L, L->nown, size, &L->part));
    }
    if (pamg->device && (L->gathered || L->halo)) PetscCall(PetscMalloc(size * (size_t)(L->n + L->nown), &L->stage));
    if (!last && L->halo && (!pamg->device || pamg->smoother == PAMG_SGS)) PetscCall(PamgVector(pamg, L, L->n, size, &L->g));
    if (!last && (diagonal || (twice && pamg->cycle == PAMG_K))) PetscCall(PamgVector(pamg, L, L->n, size, &L->t));
    if (twice || (!l && PamgWritesWide(pamg) && pamg->post > 2)) PetscCall(PamgVector(pamg, L, L->n, size, &L->w));
    if (twice && pamg->cycle == PAMG_K) PetscCall(PamgVector(pamg, L, L->n, size, &L->v));
    if (L->halo) PetscCall(PCPAMGMalloc_Private(pamg, size * (size_t)(L->csr.nghost + 1), &L->ghost));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first level has its rows */
static PetscErrorCode PamgBuild(PC pc)
{
  PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PetscBool last = PETSC_FALSE;

  PetscFunctionBegin;
  while (!last) {
    const PetscInt l = pamg->nlevel++;

    PetscCall(PamgBeginLevel(pc, l));
    PetscCall(PamgNextLevel(pc, l, &last));
  }
  PetscCall(PCPAMGFreeArray_Private(pamg, &pamg->place));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgSetUpWork(pamg));
  ++pamg->nsetup;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of a matrix have changed where they are; its inverse diagonal, which MatSOR() keeps, is to be forgotten */
static PetscErrorCode PamgTouch(Mat A)
{
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArray(A, &values));
  PetscCall(MatSeqAIJRestoreArray(A, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of level l + 1 from those of level l, by the aggregates that are there */
static PetscErrorCode PamgRefreshNext(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel *L = &pamg->level[l], *C = L + 1;

  PetscFunctionBegin;
  PetscCall(PCPAMGCoarseValues_Private(pamg, l));
  if (pamg->device) {
    if (L->halo) PetscCall(PCPAMGCoarseOuterValues_Private(pamg, l));
    else PetscCall(PCPAMGMendCoarse_Private(pamg, l));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCPAMGMendCoarse_Private(pamg, l));
  if (C->gathered) {
    const PolderCSR own = PamgOwnRows(C);
    PetscScalar    *ga;
    PetscInt        nz;

    PetscCall(PCPAMGGatherValues_Private(L->comm, &own, &nz, &ga));
    PetscCall(PetscArraycpy(C->ga, ga, nz));
    PetscCall(PetscFree(ga));
    PetscCall(PCPAMGGatherExcess_Private(pamg, L->comm, C));
  }
  PetscCall(PamgTouch(C->csr.diag));
  if (C->csr.diag != C->A) PetscCall(PetscObjectStateIncrease((PetscObject)C->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgRefresh(PC pc)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  if (pamg->device && pamg->level->halo) PetscCall(PCPAMGRefreshOuter_Private(pamg));
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    PetscCall(PamgSetUpRows(pc, l, PETSC_TRUE));
    if (!pc->failedreason) PetscCall(PamgSetUpValues(pc, l));
    if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
    if (!l) PetscCall(PamgFindExcess(pc));
    if (l + 1 < pamg->nlevel) PetscCall(PamgRefreshNext(pamg, l));
  }
  ++pamg->nrefresh;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coarse levels with a K-cycle on the device, where the many visits of small levels that more of them bring cost more time than the iterations that they save */
#define PAMG_KLEVELS 2

/* A sequential smoother where rows are worked on one after another, and one that asks for no order where they are not */
static void PamgChoose(PC_PAMG *pamg)
{
  const PetscInt steps = pamg->wantsmoother < 0 && pamg->device ? 2 : 1;

  pamg->smoother = pamg->wantsmoother >= 0 ? (PamgSmoother)pamg->wantsmoother : pamg->device ? PAMG_CHEBYSHEV : PAMG_SGS;
  pamg->pre      = pamg->wantpre >= 0 ? pamg->wantpre : steps;
  pamg->post     = pamg->wantpost >= 0 ? pamg->wantpost : steps;
  pamg->klevels  = pamg->wantk >= 0 ? pamg->wantk : pamg->device ? PAMG_KLEVELS : PETSC_MAX_INT;
}

/* Of the levels that are there: bounds of the smoother, and what solves on the last one */
static PetscErrorCode PamgSetUpSolvers(PC pc)
{
  PC_PAMG  *pamg   = (PC_PAMG *)pc->data;
  PetscBool finite = PETSC_TRUE;

  PetscFunctionBegin;
  if (pamg->smoother == PAMG_CHEBYSHEV && pamg->device) PetscCall(PCPAMGEstimateDevice_Private(pc));
  else if (pamg->smoother == PAMG_CHEBYSHEV) {
    for (PetscInt l = 0; l + 1 < pamg->nlevel; ++l) PetscCall(PCPAMGEstimate_Private(pamg, l));
  }
  PetscCall(PamgSetUpCoarse(pc));
  if (pamg->direct) PetscCall(PolderCoarseIsFinite(pamg->coarse, &finite));
  if (!finite) PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_FP, "PC of type pamg finds entries on its last level that are not finite numbers: check how the matrix was assembled");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpLevels_Private(PC pc)
{
  PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PolderCSR csr;
  PamgKeys  now;
  PetscBool same, device;

  PetscFunctionBegin;
  PetscCall(PCPAMGOnDevice_Private(pc, &csr, &device));
  if (!device) PetscCall(PolderMatGetCSR(pc->pmat, &csr));
  PetscCall(PetscMemzero(&now, sizeof(now)));
  PetscCall(PetscObjectGetId((PetscObject)csr.diag, &now.blocks[0]));
  if (csr.offdiag) PetscCall(PetscObjectGetId((PetscObject)csr.offdiag, &now.blocks[1]));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &now.mat));
  PetscCall(MatGetNonzeroState(pc->pmat, &now.nonzerostate));
  now.device = (PetscInt)device;
  PetscCall(PetscMemcmp(&now, &pamg->keys, sizeof(now), &same));
  if (!same || !pamg->reuse) {
    PetscCall(PCPAMGFree_Private(pamg));
    pamg->device = device;
    PamgChoose(pamg);
    PetscCall(PetscCalloc1(PAMG_LEVELS + 1, &pamg->level));
    pamg->level[0].A = pc->pmat;
  }
  pamg->level[0].csr = csr;
  if (same && pamg->reuse) PetscCall(PamgRefresh(pc));
  else PetscCall(PamgBuild(pc));
  PetscCall(PamgLogSetUp(pamg, (PetscBool)(same && pamg->reuse)));
  if (device && pamg->uncoloured) {
    PetscCall(PetscInfo(pc, "The rows of level %" PetscInt_FMT " have no colours for Gauss-Seidel: all levels go to the host\n", pamg->nlevel - 1));
    PetscCall(PolderMatRestoreDeviceCSR(pc->pmat, &pamg->level[0].csr));
    PetscCall(PCPAMGSetUpLevels_Private(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pc->failedreason) PetscCall(PamgSetUpSolvers(pc));
  PetscCall(PCPAMGFreeExcess_Private(pamg));
  if (device) PetscCall(PolderMatRestoreDeviceCSR(pc->pmat, &pamg->level[0].csr));
  else PetscCall(PolderMatRestoreCSR(pc->pmat, &pamg->level[0].csr));
  if (pc->failedreason) PetscCall(PCPAMGFree_Private(pamg));
  else pamg->keys = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}
