/* Pairwise-aggregation multigrid: the hierarchy, from the rows of the matrix on the host. */
#include "pamg.h"
#include "../mat/aijderived.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* Rounds of the handshake; what is free after them stays alone */
#define PAMG_ROUNDS 12
/* The greedy matching tells rows with more strong neighbours than this not apart */
#define PAMG_DEGREE 64
/* Where pairs line up in a grid, this part of the rows may stay alone so that the coarse rows make a grid too */
#define PAMG_ALONE 0.15
/* A matrix of more diagonals than this is kept by rows */
#define PAMG_DIAGONALS 32
/* When a pass leaves more than this part of the rows, those that are alone join a pair: rows of a star could not be paired otherwise */
#define PAMG_POOR 0.58
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

static PetscErrorCode PamgFreeLevel(PamgLevel *L, PetscBool first)
{
  PetscFunctionBegin;
  if (!first) PetscCall(MatDestroy(&L->A));
  PetscCall(PetscFree3(L->ai, L->aj, L->aa));
  PetscCall(PetscFree3(L->bi, L->bj, L->ba));
  PetscCall(PetscFree(L->agg));
  PetscCall(PetscFree(L->ghostagg));
  PetscCall(PetscFree(L->diag));
  PetscCall(PetscFree(L->dinv));
  PetscCall(PetscFree(L->values));
  PetscCall(PetscFree(L->val));
  PetscCall(PetscFree(L->off));
  PetscCall(PetscFree(L->own));
  PetscCall(PetscFree(L->b));
  PetscCall(PetscFree(L->x));
  PetscCall(PetscFree(L->t));
  PetscCall(PetscFree(L->d));
  PetscCall(PetscFree(L->v));
  PetscCall(PetscFree(L->w));
  PetscCall(PetscFree(L->g));
  PetscCall(PetscFree(L->ghost));
  PetscCall(PetscFree(L->garray));
  PetscCall(PetscFree(L->gi));
  PetscCall(PetscFree(L->gj));
  PetscCall(PetscFree(L->ga));
  PetscCall(PetscFree2(L->counts, L->displs));
  PetscCall(PetscFree(L->part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGFree_Private(PC_PAMG *pamg)
{
  PetscFunctionBegin;
  for (PetscInt l = 0; l < pamg->nlevel; ++l) PetscCall(PamgFreeLevel(&pamg->level[l], (PetscBool)!l));
  PetscCall(PetscFree(pamg->level));
  PetscCall(PetscFree(pamg->mate));
  PetscCall(PetscFree(pamg->place));
  PetscCall(PetscFree2(pamg->diagonal, pamg->sum));
  pamg->nlevel = 0;
  PetscCall(PolderCoarseDestroy(&pamg->coarse));
  PetscCall(PetscFree(pamg->cbuf[0]));
  PetscCall(PetscFree(pamg->cbuf[1]));
  PetscCall(VecDestroy(&pamg->cb));
  PetscCall(VecDestroy(&pamg->cx));
  PetscCall(KSPDestroy(&pamg->ksp));
  pamg->stalled = PETSC_FALSE;
  PetscCall(PetscMemzero(&pamg->keys, sizeof(pamg->keys)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Errors on every process with the first bad row of all; each passes its own first one, or the global number of rows and POLDER_ROW_GOOD */
static PetscErrorCode PamgCheckRow(PC pc, PetscInt l, PetscInt M, PetscInt row, PolderRowKind kind)
{
  MPI_Comm comm  = PetscObjectComm((PetscObject)pc);
  PetscInt first = row, what;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &first, 1, MPIU_INT, MPI_MIN, comm);
  if (first == M) PetscFunctionReturn(PETSC_SUCCESS);
  what = row == first ? (PetscInt)kind : 0;
  PetscCallAllreduce(MPI_IN_PLACE, &what, 1, MPIU_INT, MPI_MAX, comm);
  PetscCheck(!l, comm, what == POLDER_ROW_NOTFINITE ? PETSC_ERR_FP : PETSC_ERR_ARG_WRONG, "PC of type pamg needs a positive definite matrix and this one is not: on coarse level %" PetscInt_FMT " %s", l, what == POLDER_ROW_NOTFINITE ? "an entry is not a finite number" : "a diagonal entry is negative");
  PetscCheck(what != POLDER_ROW_NODIAGONAL, comm, PETSC_ERR_ARG_WRONG, "PC of type pamg needs a positive diagonal and row %" PetscInt_FMT " has no diagonal entry: insert it", first);
  PetscCheck(what != POLDER_ROW_ZERO, comm, PETSC_ERR_ARG_WRONG, "PC of type pamg needs a positive diagonal and that of row %" PetscInt_FMT " is zero or too small to invert: remove the row, or put a one on its diagonal", first);
  PetscCheck(what != POLDER_ROW_NEGATIVE, comm, PETSC_ERR_ARG_WRONG, "PC of type pamg needs a positive diagonal and that of row %" PetscInt_FMT " is negative: change the sign of the system if the matrix is negative definite, else use another preconditioner", first);
  SETERRQ(comm, PETSC_ERR_FP, "PC of type pamg needs finite entries and row %" PetscInt_FMT " has one that is not: check how the matrix was assembled", first);
}

/* Inverse diagonal and, when the level is to be aggregated, what pairs are judged by; in a refresh the diagonal is where it was */
static PetscErrorCode PamgSetUpRows(PC pc, PetscInt l, PetscBool refresh)
{
  PC_PAMG         *pamg = (PC_PAMG *)pc->data;
  PamgLevel       *L    = &pamg->level[l];
  const PolderCSR *csr  = &L->csr;
  const PolderDia *dia  = NULL;
  const PetscBool  l1   = (PetscBool)(pamg->smoother == PAMG_L1JACOBI);
  PetscInt        *diag = L->diag, row;
  PetscReal       *dinv = (PetscReal *)L->dinv;
  PolderRowKind    kind;

  PetscFunctionBegin;
  if (pamg->precision == PAMG_SINGLE) PetscCall(PetscMalloc1(L->n, &dinv));
  if (L->regular && refresh) PetscCall(PolderMatGetDia(L->A, &dia));
  if (refresh && !l1 && (diag || (dia && dia->main >= 0))) row = PolderLevelDiagonal_Host(L->n, diag, diag ? csr->aa : dia->val[dia->main], (PetscBool)(l > 0), dinv, &kind);
  else {
    if (!diag) PetscCall(PetscMalloc1(L->n, &diag));
    row = PolderLevelRows_Host(L->n, csr->ai, csr->aj, csr->aa, csr->bi, csr->ba, (PetscBool)(l > 0), l1, PAMG_LONE, diag, dinv, pamg->diagonal, pamg->sum, pamg->mate, &kind);
    if (diag != L->diag) PetscCall(PetscFree(diag));
  }
  if (pamg->precision == PAMG_SINGLE) {
    for (PetscInt i = 0; i < row; ++i) ((float *)L->dinv)[i] = (float)dinv[i];
    PetscCall(PetscFree(dinv));
  }
  PetscCall(PamgCheckRow(pc, l, csr->M, row < L->n ? row + csr->rstart : csr->M, kind));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Has the local block about as few diagonals as a row has entries? off[PAMG_DIAGONALS] <- these, as they come */
static PetscBool PamgIsRegular(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt *nd, PetscInt off[])
{
  const PetscInt most = n ? PetscMin(PAMG_DIAGONALS, 2 * ai[n] / n + 1) : 0;

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

/* Room for the diagonals, half of them when the offsets are symmetric and half is set; the lower ones lead into the upper ones then */
static PetscErrorCode PamgPlaceDiagonals(PamgLevel *L, PolderDia *dia, PetscBool half)
{
  const PetscInt ld = PolderStride(L->n);
  PetscInt       first;

  PetscFunctionBegin;
  dia->half = (PetscBool)(half && 2 * dia->main + 1 == dia->nd);
  for (PetscInt d = 0; d < dia->main && dia->half; ++d) dia->half = (PetscBool)(L->off[d] == -L->off[dia->nd - 1 - d]);
  first   = dia->half ? dia->main : 0;
  L->half = dia->half;
  PetscCall(PetscFree(L->own));
  PetscCall(PetscMalloc1((size_t)(dia->nd - first) * (size_t)ld, &L->own));
  for (PetscInt d = dia->nd - 1; d >= 0; --d) L->val[d] = d < first ? (const PetscScalar *)L->val[dia->nd - 1 - d] + L->off[d] : L->own + (size_t)(d - first) * (size_t)ld;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonals of a matrix of another type than aijdia; *found: it has few enough. They are filled from its rows */
static PetscErrorCode PamgOwnDiagonals(PamgLevel *L, PolderDia *dia, PetscBool *found)
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
    PetscCall(PamgPlaceDiagonals(L, dia, PETSC_TRUE));
  } else {
    dia->nd   = L->M.nd;
    dia->main = L->M.main;
    dia->half = L->half;
  }
  *found = PolderDiaFill_Host(L->n, dia->nd, dia->half ? dia->main : 0, L->off, (PetscScalar *const *)L->val, csr->ai, csr->aj, csr->aa, 0);
  if (!*found && dia->half) { // not symmetric to the last bit
    PetscCall(PamgPlaceDiagonals(L, dia, PETSC_FALSE));
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
  if (L->values && L->half != dia->half) {
    PetscCall(PetscFree(L->values));
    PetscCall(PetscFree(L->val));
  }
  if (!L->values) {
    L->half = dia->half;
    PetscCall(PetscCalloc1((size_t)(dia->nd - first) * (size_t)L->n, &L->values));
    PetscCall(PetscMalloc1(dia->nd, &L->val));
    for (PetscInt d = dia->nd - 1; d >= 0; --d) L->val[d] = d < first ? (const float *)L->val[dia->nd - 1 - d] + dia->off[d] : L->values + (size_t)(d - first) * (size_t)L->n;
  }
  for (PetscInt d = first; d < dia->nd; ++d) {
    const PetscInt lo = PetscMax(0, -dia->off[d]), hi = PetscMin(L->n, L->n - dia->off[d]);

    if (hi > lo && !PolderToSingle_Host((size_t)(hi - lo), dia->val[d] + lo, (float *)L->val[d] + lo)) *fits = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the cycle reads the entries, in its precision */
static PetscErrorCode PamgSetUpValues(PC pc, PetscInt l)
{
  PC_PAMG         *pamg = (PC_PAMG *)pc->data;
  PamgLevel       *L    = &pamg->level[l];
  const PolderDia *dia  = NULL;
  PolderDia        own  = {0};
  const PetscInt   nz   = L->n ? L->csr.ai[L->n] : 0;
  PetscBool        fits = PETSC_TRUE, found = PETSC_FALSE;
  PetscMPIInt      all;

  PetscFunctionBegin;
  if (L->regular) PetscCall(PolderMatGetDia(L->A, &dia));
  else if (!l && pamg->precision == PAMG_DOUBLE) PetscCall(PamgOwnDiagonals(L, &own, &found));
  if (found) dia = &own;
  L->M = (PolderLevelMatrix){.n = L->n, .nd = dia ? dia->nd : 0, .main = dia ? dia->main : 0, .off = dia ? dia->off : NULL, .val = dia ? (const void *const *)dia->val : NULL, .ai = L->csr.ai, .aj = L->csr.aj, .aa = L->csr.aa, .diag = L->diag, .dinv = L->dinv};
  if (pamg->precision == PAMG_DOUBLE) {
    L->half = dia ? dia->half : PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (dia) {
    PetscCall(PamgRoundDiagonals(L, dia, &fits));
    L->M.val = L->val;
  } else {
    if (!L->values) PetscCall(PetscMalloc1(nz, &L->values));
    fits    = PolderToSingle_Host((size_t)nz, L->csr.aa, L->values);
    L->M.aa = L->values;
  }
  all = fits;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
  PetscCheck(all, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "PC of type pamg cannot store the entries in single precision, which has numbers of 1e-38 to 3e38: use -pc_pamg_precision double, or scale the system");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* place[] <- those of the rows of a 5- or 7-point stencil in the grid that they show, numbered from the first row of all or of this process; *found: they show one */
static PetscErrorCode PamgFindGrid(PetscInt n, PetscInt rstart, const PetscInt ai[], const PetscInt aj[], PetscInt64 place[], PetscBool *found)
{
  const PetscInt most    = 1 << POLDER_PAIR_BITS;
  PetscInt       near[3] = {0, PETSC_MAX_INT, 0};

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  PolderStencilStrides_Host(n, ai, aj, near);
  if (near[1] > near[2]) near[1] = near[2] = PetscMax(n, 2); // one line
  if (!near[0] || near[2] % near[1] || near[1] >= most || near[2] / near[1] >= most) PetscFunctionReturn(PETSC_SUCCESS);
  for (int own = 0; own < 2 && !*found; ++own) {
    PetscInt bad = 0;

    PolderPairsPlaces_Host(n, own ? 0 : rstart, ai, aj, near, place, &bad);
    *found = bad ? PETSC_FALSE : PETSC_TRUE;
    if (!rstart) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One pass over a CSR matrix of n rows, mate[] and place[] (NULL: no grid) as they come: agg[], the number of aggregates, and their places. work[4 n] */
static PetscErrorCode PamgPairs(const PC_PAMG *pamg, PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscInt work[], PetscInt agg[], PetscInt *nc)
{
  const PolderPairRule rule = {pamg->place, pamg->threshold, pamg->kappa};
  PetscInt            *next = work, *left = work + n, *mate = pamg->mate, nleft = n;
  PetscBool            aligned   = PETSC_FALSE;
  int                  direction = 0;

  PetscFunctionBegin;
  if (pamg->matching == PAMG_GREEDY) PolderPairsGreedy_Host(n, ai, aj, aa, pamg->sum, pamg->diagonal, &rule, PetscMin(PAMG_DEGREE, n - 1), mate, work);
  else {
    for (PetscInt round = 0; round < PAMG_ROUNDS && nleft && !aligned; ++round) {
      const PetscInt *row = round ? left : NULL;

      PolderPairsPropose_Host(nleft, row, ai, aj, aa, pamg->sum, pamg->diagonal, &rule, mate, next);
      if (!round && rule.place) direction = PolderPairsAlign_Host(n, ai, aj, aa, &rule, mate, next);
      nleft   = PolderPairsMatch_Host(nleft, row, next, mate, left);
      aligned = (PetscBool)(!round && rule.place && nleft < PAMG_ALONE * n);
    }
    PolderPairsSingle_Host(nleft, left, mate);
  }
  *nc = PolderPairsNumber_Host(n, mate, NULL, agg);
  if (aligned || *nc < PAMG_POOR * n) next = NULL; // no one joins
  else {
    PolderPairsJoin_Host(n, ai, aj, aa, pamg->sum, pamg->diagonal, &rule, mate, next);
    *nc = PolderPairsNumber_Host(n, mate, next, agg);
  }
  if (rule.place) PolderPairsNextPlaces_Host(n, mate, next, agg, direction, rule.place, pamg->place);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Diagonal and row sums */
static void PamgSums(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscReal d[], PetscReal sum[])
{
  for (PetscInt i = 0; i < n; ++i) {
    d[i] = sum[i] = 0;
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      if (aj[k] == i) d[i] = PetscRealPart(aa[k]);
      sum[i] += PetscRealPart(aa[k]);
    }
  }
}

/*
  Aggregates of up to 2^passes rows of level l and the local block of the next matrix: in each pass pairs of the rows of the matrix that the pass before has made.
  mate[], place[] and so on of pamg are those of the rows of the level, and follow.
*/
static PetscErrorCode PamgAggregate(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel         *L = &pamg->level[l], *C = L + 1;
  PetscInt           n = L->n, *mi[2] = {NULL, NULL}, *mj[2] = {NULL, NULL}, *next, *ptr, *row, *place, *work;
  PetscScalar       *ma[2] = {NULL, NULL};
  const PetscInt    *ai = L->csr.ai, *aj = L->csr.aj;
  const PetscScalar *aa = L->csr.aa;

  PetscFunctionBegin;
  PetscCall(PetscMalloc5(n, &next, n + 2, &ptr, n, &row, n, &place, 4 * n, &work));
  for (PetscInt pass = 0; pass < pamg->passes; ++pass) {
    PetscInt *agg = pass ? next : L->agg, nc, b = pass % 2;

    if (pass) {
      for (PetscInt i = 0; i < n; ++i) pamg->mate[i] = POLDER_PAIR_FREE;
      if (pamg->sum) PamgSums(n, ai, aj, aa, pamg->diagonal, pamg->sum);
    }
    PetscCall(PamgPairs(pamg, n, ai, aj, aa, work, agg, &nc));
    PolderMembers_Host(n, agg, nc, ptr, row);
    PetscCall(PetscFree3(mi[b], mj[b], ma[b]));
    PetscCall(PetscMalloc3(nc + 1, &mi[b], n ? ai[n] : 0, &mj[b], n ? ai[n] : 0, &ma[b]));
    (void)PolderGalerkin_Host(nc, ptr, row, ai, aj, aa, nc, agg, PETSC_TRUE, place, mi[b], mj[b], ma[b]);
    if (pass) {
      for (PetscInt i = 0; i < L->n; ++i) L->agg[i] = L->agg[i] < n ? next[L->agg[i]] : nc;
    }
    n  = nc;
    ai = mi[b];
    aj = mj[b];
    aa = ma[b];
  }
  L->nc = C->n = n;
  if (pamg->drop > 0) {
    const PetscInt b = (pamg->passes - 1) % 2;
    PetscReal     *scratch;

    PetscCall(PetscMalloc1(n, &scratch));
    (void)PolderDropWeak_Host(n, pamg->drop, scratch, mi[b], mj[b], ma[b]);
    PetscCall(PetscFree(scratch));
  }
  PetscCall(PetscMalloc3(n + 1, &C->ai, ai[n], &C->aj, ai[n], &C->aa));
  PetscCall(PetscArraycpy(C->ai, ai, n + 1));
  PetscCall(PetscArraycpy(C->aj, aj, ai[n]));
  PetscCall(PetscArraycpy(C->aa, aa, ai[n]));
  for (int b = 0; b < 2; ++b) PetscCall(PetscFree3(mi[b], mj[b], ma[b]));
  PetscCall(PetscFree5(next, ptr, row, place, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C->garray <- the global aggregates of the ghost columns, ascending; L->ghostagg <- the place of each column among them */
static PetscErrorCode PamgCoarseGhosts(PamgLevel *L, PamgLevel *C)
{
  const PetscInt n = L->csr.nghost;
  PetscInt      *mine, *theirs;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(L->n, &mine, n, &theirs));
  PetscCall(PetscMalloc1(n, &C->garray));
  PetscCall(PetscMalloc1(n, &L->ghostagg));
  for (PetscInt i = 0; i < L->n; ++i) mine[i] = L->agg[i] < L->nc ? C->rstart + L->agg[i] : -1;
  PetscCall(PolderHaloExchange(L->halo, MPIU_INT, mine, theirs));
  C->nghost = 0;
  for (PetscInt k = 0; k < n; ++k) {
    if (theirs[k] >= 0) C->garray[C->nghost++] = theirs[k];
  }
  PetscCall(PetscSortRemoveDupsInt(&C->nghost, C->garray));
  for (PetscInt k = 0; k < n; ++k) {
    L->ghostagg[k] = C->nghost;
    if (theirs[k] >= 0) PetscCall(PetscFindInt(theirs[k], C->nghost, C->garray, &L->ghostagg[k]));
  }
  PetscCall(PetscFree2(mine, theirs));
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
  PetscCall(PetscFree3(ptr, row, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of level l + 1 around its arrays: of this process, or of all when it is small */
static PetscErrorCode PamgCoarseMatrix(PC pc, PetscInt l)
{
  PC_PAMG    *pamg = (PC_PAMG *)pc->data;
  PamgLevel  *L = &pamg->level[l], *C = L + 1;
  MPI_Comm    comm = PetscObjectComm((PetscObject)L->A);
  PetscMPIInt regular;
  PetscInt    n = C->n, nd, off[PAMG_DIAGONALS];
  PetscBool   known, symmetric;

  PetscFunctionBegin;
  C->nown = n;
  if (L->halo) {
    PetscCallMPI(MPI_Exscan(&n, &C->rstart, 1, MPIU_INT, MPI_SUM, comm));
    PetscCall(PamgCoarseOffDiagonal(L, C));
    if (C->N <= pamg->gatherlimit) {
      PetscCall(PCPAMGGatherMatrix_Private(comm, C));
      PetscCall(PCPAMGGatherPlaces_Private(comm, C, &pamg->place));
      regular = PamgIsRegular(C->N, C->gi, C->gj, &nd, off);
    } else {
      for (PetscInt k = 0; k < C->bi[n]; ++k) C->bj[k] = C->garray[C->bj[k]]; // which PETSc turns back
      PetscCall(MatCreateMPIAIJWithSplitArrays(comm, n, n, C->N, C->N, C->ai, C->aj, C->aa, C->bi, C->bj, C->ba, &C->A));
      regular = PamgIsRegular(n, C->ai, C->aj, &nd, off);
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &regular, 1, MPI_INT, MPI_MIN, comm));
    }
  } else {
    regular = PamgIsRegular(n, C->ai, C->aj, &nd, off);
    PetscCall(MatCreateSeqAIJWithArrays(comm, n, n, C->ai, C->aj, C->aa, &C->A));
  }
  PetscCall(MatIsSymmetricKnown(L->A, &known, &symmetric));
  if (!known || symmetric) PetscCall(MatSetOption(C->A, MAT_SYMMETRIC, PETSC_TRUE)); // up to rounding
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
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)L->A), &ranks));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCall(PolderMatGetCSR(L->A, &L->csr));
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

/* The next level, or *last when there is none worth having */
static PetscErrorCode PamgNextLevel(PC pc, PetscInt l, PetscBool *last)
{
  PC_PAMG   *pamg = (PC_PAMG *)pc->data;
  PamgLevel *L    = &pamg->level[l], *C;
  PetscInt64 count, before;

  PetscFunctionBegin;
  *last = (PetscBool)(L->N <= pamg->coarselimit || l + 1 >= pamg->maxlevels);
  if (!*last) PetscCall(PetscMalloc1(L->n, &pamg->mate));
  if (!*last && pamg->kappa > 0) PetscCall(PetscMalloc2(L->n, &pamg->diagonal, L->n, &pamg->sum));
  PetscCall(PamgSetUpRows(pc, l, PETSC_FALSE));
  PetscCall(PamgSetUpValues(pc, l));
  if (*last) PetscFunctionReturn(PETSC_SUCCESS);
  C = L + 1;
  if (!l) {
    PetscBool found;

    PetscCall(PetscMalloc1(L->n, &pamg->place));
    PetscCall(PamgFindGrid(L->n, L->csr.rstart, L->csr.ai, L->csr.aj, pamg->place, &found));
    if (!found) PetscCall(PetscFree(pamg->place));
  }
  PetscCall(PetscMalloc1(L->n, &L->agg));
  PetscCall(PamgAggregate(pamg, l));
  PetscCall(PetscFree(pamg->mate));
  PetscCall(PetscFree2(pamg->diagonal, pamg->sum));
  count = C->n;
  PetscCallAllreduce(MPI_IN_PLACE, &count, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)L->A));
  before = L->N;
  if ((PetscReal)count > PAMG_STALL * (PetscReal)before || !count) {
    PetscCall(PetscInfo(pc, "No coarser level: %" PetscInt64_FMT " aggregates of %" PetscInt64_FMT " rows\n", count, before));
    PetscCall(PamgFreeLevel(C, PETSC_FALSE));
    PetscCall(PetscMemzero(C, sizeof(*C)));
    PetscCall(PetscFree(L->agg));
    pamg->stalled = *last = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  C->N = (PetscInt)count;
  PetscCall(PamgCoarseMatrix(pc, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver for the last level: a factor of the gathered matrix, or a KSP */
static PetscErrorCode PamgSetUpCoarse(PC pc)
{
  PC_PAMG       *pamg = (PC_PAMG *)pc->data;
  PamgLevel     *L    = &pamg->level[pamg->nlevel - 1];
  MPI_Comm       comm = PetscObjectComm((PetscObject)L->A);
  const PetscInt nl = L->n + L->csr.nghost, nz = L->n ? L->csr.ai[L->n] + (L->csr.bi ? L->csr.bi[L->n] : 0) : 0;
  PetscInt      *gl, *ptr, *col, k = 0;
  PetscScalar   *val;
  MatNullSpace   nullspace;
  PetscBool      constant = PETSC_FALSE;

  PetscFunctionBegin;
  pamg->direct = (PetscBool)(pamg->coarsetype == PAMG_COARSE_AUTO ? L->N <= PetscMax(pamg->coarselimit, PAMG_DIRECT) : pamg->coarsetype != PAMG_COARSE_KSP);
  PetscCheck(!pamg->direct || L->N <= PAMG_LARGEST, comm, PETSC_ERR_ARG_OUTOFRANGE, "The last level of PC pamg has %" PetscInt_FMT " rows, too many for -pc_pamg_coarse cholesky or inverse: use -pc_pamg_coarse ksp, or more -pc_pamg_levels", L->N);
  if (!pamg->direct) {
    PC inner;

    if (!pamg->ksp) {
      const char *prefix;

      PetscCall(KSPCreate(comm, &pamg->ksp));
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
    PetscCall(KSPSetOperators(pamg->ksp, L->A, L->A));
    PetscCall(KSPSetUp(pamg->ksp));
    if (!pamg->cb) PetscCall(MatCreateVecs(L->A, &pamg->cx, &pamg->cb));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pamg->coarse) {
    PetscCall(PolderCoarseCreate(comm, &pamg->coarse));
    if (pamg->coarsetype == PAMG_COARSE_INVERSE) PetscCall(PolderCoarseSetInverse(pamg->coarse));
    PetscCall(PetscCalloc1(nl, &pamg->cbuf[0]));
    PetscCall(PetscCalloc1(nl, &pamg->cbuf[1]));
  }
  PetscCall(MatGetNullSpace(pc->pmat, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceGetVecs(nullspace, &constant, NULL, NULL));
  PetscCall(PetscMalloc4(nl, &gl, nl + 1, &ptr, nz, &col, nz, &val));
  for (PetscInt i = 0; i < nl; ++i) {
    gl[i]  = i < L->n ? L->csr.rstart + i : L->csr.garray[i - L->n];
    ptr[i] = k;
    if (i >= L->n) continue;
    for (PetscInt e = L->csr.ai[i]; e < L->csr.ai[i + 1]; ++e, ++k) {
      col[k] = L->csr.aj[e];
      val[k] = L->csr.aa[e];
    }
    for (PetscInt e = L->csr.bi ? L->csr.bi[i] : 0; L->csr.bi && e < L->csr.bi[i + 1]; ++e, ++k) {
      col[k] = L->n + L->csr.bj[e];
      val[k] = L->csr.ba[e];
    }
  }
  ptr[nl] = k;
  PetscCall(PolderCoarseSetUp(pamg->coarse, L->N, nl, gl, ptr, col, val, constant));
  PetscCall(PetscFree4(gl, ptr, col, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgVector(PamgLevel *L, size_t size, void **v)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(size * (size_t)(L->n + 1), (char **)v));
  L->bytes += (PetscInt64)(size * (size_t)(L->n + 1));
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
    const size_t    index = sizeof(PetscInt), n = (size_t)L->n, nz = n ? (size_t)L->csr.ai[n] : 0, nb = n && L->csr.bi ? (size_t)L->csr.bi[n] : 0;

    L->bytes = (PetscInt64)(size * (n + 1) + (L->agg ? index * n : 0) + (L->diag ? index * n : 0) + index * (size_t)L->csr.nghost);
    if (l) L->bytes += (PetscInt64)(index * (n + 1 + nz + nb + (L->csr.bi ? n + 1 : 0)) + sizeof(PetscScalar) * (nz + nb));
    if ((l || L->own) && L->M.nd) L->bytes += (PetscInt64)(sizeof(PetscScalar) * n * (size_t)(L->half ? (L->M.nd + 1) / 2 : L->M.nd));
    if (L->values) L->bytes += (PetscInt64)(sizeof(float) * (L->M.nd ? n * (size_t)(L->half ? (L->M.nd + 1) / 2 : L->M.nd) : nz));
    if (l || pamg->precision == PAMG_SINGLE) {
      PetscCall(PamgVector(L, size, &L->b));
      if (L->gathered) PetscCall(PetscCalloc1(size * (size_t)(L->nown + 1), (char **)&L->part));
      PetscCall(PamgVector(L, size, &L->x));
    }
    if (!last && L->halo) PetscCall(PamgVector(L, size, &L->g));
    if (!last && (diagonal || (twice && pamg->cycle == PAMG_K))) PetscCall(PamgVector(L, size, &L->t));
    if (!last && pamg->smoother == PAMG_CHEBYSHEV && PetscMax(pamg->pre, pamg->post) > 1) PetscCall(PamgVector(L, size, &L->d));
    if (twice) PetscCall(PamgVector(L, size, &L->w));
    if (twice && pamg->cycle == PAMG_K) PetscCall(PamgVector(L, size, &L->v));
    if (L->halo) PetscCall(PetscMalloc(size * (size_t)(L->csr.nghost + 1), &L->ghost));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgBuild(PC pc)
{
  PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PetscBool last = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCPAMGFree_Private(pamg));
  PetscCall(PetscCalloc1(PAMG_LEVELS + 1, &pamg->level));
  pamg->level[0].A = pc->pmat;
  while (!last) {
    const PetscInt l = pamg->nlevel++;

    PetscCall(PamgBeginLevel(pc, l));
    PetscCall(PamgNextLevel(pc, l, &last));
  }
  if (pamg->smoother == PAMG_CHEBYSHEV) {
    for (PetscInt l = 0; l + 1 < pamg->nlevel; ++l) PetscCall(PCPAMGEstimate_Private(pamg, l));
  }
  PetscCall(PetscFree(pamg->place));
  PetscCall(PamgSetUpWork(pamg));
  PetscCall(PamgSetUpCoarse(pc));
  ++pamg->nsetup;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of level l + 1 from those of level l, by the aggregates that are there */
static PetscErrorCode PamgRefreshNext(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel       *L = &pamg->level[l], *C = L + 1;
  const PolderCSR *csr = &L->csr;
  PetscInt        *ptr, *row, *place;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(L->nc + 2, &ptr, L->n, &row, PetscMax(L->nc, C->nghost), &place));
  PolderMembers_Host(L->n, L->agg, L->nc, ptr, row);
  PolderGalerkinValues_Host(L->nc, ptr, row, csr->ai, csr->aj, csr->aa, L->nc, L->agg, PETSC_TRUE, place, C->ai, C->aj, C->aa);
  if (C->bi) PolderGalerkinValues_Host(L->nc, ptr, row, csr->bi, csr->bj, csr->ba, C->nghost, L->ghostagg, PETSC_FALSE, place, C->bi, C->bj, C->ba);
  PetscCall(PetscFree3(ptr, row, place));
  if (C->gathered) PetscCall(PCPAMGGatherValues_Private(PetscObjectComm((PetscObject)L->A), C));
  if (C->csr.diag != C->A) PetscCall(PetscObjectStateIncrease((PetscObject)C->csr.diag));
  PetscCall(PetscObjectStateIncrease((PetscObject)C->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgRefresh(PC pc)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(pc->pmat, &pamg->level[0].csr));
  for (PetscInt l = 0; l < pamg->nlevel; ++l) {
    PetscCall(PamgSetUpRows(pc, l, PETSC_TRUE));
    PetscCall(PamgSetUpValues(pc, l));
    if (l + 1 < pamg->nlevel) PetscCall(PamgRefreshNext(pamg, l));
    if (l + 1 < pamg->nlevel && pamg->smoother == PAMG_CHEBYSHEV) PetscCall(PCPAMGEstimate_Private(pamg, l));
  }
  PetscCall(PamgSetUpCoarse(pc));
  ++pamg->nrefresh;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgGetKeys(PC pc, PamgKeys *keys)
{
  PolderCSR csr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(keys, sizeof(*keys)));
  PetscCall(PolderMatGetCSR(pc->pmat, &csr));
  PetscCall(PetscObjectGetId((PetscObject)csr.diag, &keys->blocks[0]));
  if (csr.offdiag) PetscCall(PetscObjectGetId((PetscObject)csr.offdiag, &keys->blocks[1]));
  PetscCall(PolderMatRestoreCSR(pc->pmat, &csr));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &keys->mat));
  PetscCall(MatGetNonzeroState(pc->pmat, &keys->nonzerostate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGSetUpHost_Private(PC pc)
{
  PC_PAMG  *pamg = (PC_PAMG *)pc->data;
  PamgKeys  now;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PamgGetKeys(pc, &now));
  PetscCall(PetscMemcmp(&now, &pamg->keys, sizeof(now), &same));
  if (same && pamg->reuse) PetscCall(PamgRefresh(pc));
  else PetscCall(PamgBuild(pc));
  PetscCall(PolderMatRestoreCSR(pc->pmat, &pamg->level[0].csr));
  pamg->keys = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}
