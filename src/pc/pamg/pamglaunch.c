/*
  Pairwise-aggregation multigrid: the cycle on the device. Vectors stay on the device. Where processes exchange through
  PETSc, the sums of a K-cycle and data that MPI cannot read from the device pass through the host.
*/
#include "pamgsteps.h"
#include "core/peers.h"
#include <petsc/private/matimpl.h>
#include "kernels/level.h"
#include <petsc/private/pcimpl.h>

static PetscErrorCode PamgBegin(PamgLevel *L, PetscReal start, const void *b, void *x)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelScale_CUDA(L->singleprecision, &L->M, start, b, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Size and MPI type of a vector entry of the cycle */
static size_t PamgSize(const PamgLevel *L)
{
  return L->singleprecision ? sizeof(float) : sizeof(PetscScalar);
}

static MPI_Datatype PamgUnit(const PamgLevel *L)
{
  return L->singleprecision ? MPI_FLOAT : MPIU_SCALAR;
}

/*
  Begins the exchange of off-process values of x, if the level has any; kernels that read x may run meanwhile. *sends: what the next kernel needs to send x
  itself; NULL: it has nothing to send
*/
static PetscErrorCode PamgSend(PamgLevel *L, const void *x, const PolderExchange **sends)
{
  PetscFunctionBegin;
  *sends = NULL;
  if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloGetExchange(L->halo, sends));
  if (!*sends) PetscCall(PolderHaloBeginDevice(L->halo, PamgUnit(L), x, L->ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds off-process contributions to a product, if there are any; sum.own, the vector that was sent, is the one multiplied */
static PetscErrorCode PamgAddOuter(PamgLevel *L, const PolderExchange *sends, PolderOuterSum sum, void *z)
{
  PolderStream stream;

  PetscFunctionBegin;
  if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
  if (!sends) PetscCall(PolderHaloEndDevice(L->halo, PamgUnit(L), sum.own, L->ghost));
  sum.ghosts    = (PolderGhosts){.value = L->ghost, .exchange = sends};
  sum.ghostdinv = L->outer.dinv;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelOuterAdd_CUDA(L->singleprecision, &L->outer.rows_d, &sum, z, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgSmooth(PamgLevel *L, const PolderLevelStep *step, const void *b, void *x, void *y)
{
  const PetscBool       begins = (PetscBool)(step->zero && step->k == 1); // x is start D^-1 b and is not stored
  const PolderExchange *sends;
  PolderStream          stream;
  void                 *work = NULL;

  PetscFunctionBegin;
  PetscCall(PamgSend(L, begins ? b : x, &sends));
  PetscCall(PolderDeviceGetStream(&stream));
  if (step->end.r) PetscCall(PolderDeviceGetWork(&work));
  PolderLaunch(PolderLevelJacobi_CUDA(L->singleprecision, &L->M, step, b, x, y, work, sends, stream));
  PetscCall(PamgAddOuter(L, sends,
                         (PolderOuterSum){.scale = -step->scale,
                                          .start = begins ? step->start : 0,
                                          .dinv  = L->dinv,
                                          .own   = begins ? b : x,
                                          .wide  = step->end.wide,
                                          .unit  = step->end.unit,
                                          .r     = step->end.r,
                                          .dots  = step->end.r ? &step->end.rho.state->sum[1] : NULL,
                                          .work  = work},
                         y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* bc = P^T r on a level that is a grid */
static PetscErrorCode PamgRestrictGrid(PamgLevel *L, const void *r, void *bc)
{
  PamgBorder             *X      = &L->border;
  PolderSends             sends  = {0};
  PolderGhosts            got    = {.value = X->got};
  const PolderLevelGiving giving = {&X->B, X->give, &sends};
  PolderStream            stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (X->B.dir) {
    PetscCall(PolderHaloGetExchange(X->parts, &got.exchange));
    if (got.exchange) PetscCall(PolderHaloGetSends(X->parts, &sends));
    if (!sends.n) got.exchange = NULL;
    if (!got.exchange) {
      PolderLaunch(PolderLevelBorderGive_CUDA(L->singleprecision, &L->grid, &X->B, r, X->give, stream));
      PetscCall(PolderHaloBeginDevice(X->parts, PamgUnit(L), X->give, X->got));
    }
  }
  PolderLaunch(PolderLevelGridRestrict_CUDA(L->singleprecision, &L->grid, got.exchange ? &giving : NULL, r, bc, stream));
  if (!X->B.dir) PetscFunctionReturn(PETSC_SUCCESS);
  if (!got.exchange) PetscCall(PolderHaloEndDevice(X->parts, PamgUnit(L), X->give, X->got));
  PolderLaunch(PolderLevelBorderGet_CUDA(L->singleprecision, &L->grid, &X->B, X->give, &got, bc, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += P xc on such a level */
static PetscErrorCode PamgProlongGrid(PamgLevel *L, const void *xc, void *x)
{
  PamgBorder       *X      = &L->border;
  PolderLevelBeyond beyond = PamgBeyond(L);
  PolderStream      stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (X->planes) {
    PetscCall(PolderHaloGetExchange(X->planes, &beyond.ghosts.exchange));
    if (!beyond.ghosts.exchange) PetscCall(PolderHaloBeginDevice(X->planes, PamgUnit(L), xc, X->beyond));
  }
  PolderLaunch(PolderLevelGridProlong_CUDA(L->singleprecision, &L->grid, beyond.ghosts.exchange, xc, x, stream));
  if (!X->B.dir) PetscFunctionReturn(PETSC_SUCCESS);
  if (X->planes && !beyond.ghosts.exchange) PetscCall(PolderHaloEndDevice(X->planes, PamgUnit(L), xc, X->beyond));
  PolderLaunch(PolderLevelBorderTake_CUDA(L->singleprecision, &L->grid, &X->B, xc, &beyond, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgResidual(PamgLevel *L, const void *b, const void *x, void *r, void *bc)
{
  const PolderAggregates P      = PamgAggregatesOf(L);
  const PamgOuter       *O      = &L->outer;
  const PetscBool        stored = (PetscBool)(r || PamgInterpolates(L) || !bc); // r may be NULL where there are no rows
  const PolderExchange  *sends  = NULL;
  PolderStream           stream;

  PetscFunctionBegin;
  if (stored) PetscCall(PamgSend(L, x, &sends));
  else if (L->halo) PetscCall(PolderHaloBeginDevice(L->halo, PamgUnit(L), x, L->ghost));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelResidual_CUDA(L->singleprecision, &L->M, b, x, r, !stored ? &P : NULL, bc, sends, stream));
  if (stored) PetscCall(PamgAddOuter(L, sends, (PolderOuterSum){.scale = -1, .own = x}, r));
  if (bc && L->isgrid) PetscCall(PamgRestrictGrid(L, r, bc));
  if (bc && L->islines) PolderLaunch(PolderLevelLinesRestrict_CUDA(L->singleprecision, &L->lines, r, bc, stream));
  if (stored) PetscFunctionReturn(PETSC_SUCCESS);
  if (L->halo) {
    PetscCall(PolderHaloEndDevice(L->halo, PamgUnit(L), x, L->ghost));
    PolderLaunch(PolderLevelOuterRestrict_CUDA(L->singleprecision, &O->rows_d, &O->to_d, O->target_d, x, L->ghost, bc, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgProlong(PamgLevel *L, PetscReal scale, void *xc, void *x)
{
  PolderStream stream;

  PetscFunctionBegin;
  if (L->isgrid) {
    PetscCall(PamgProlongGrid(L, xc, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderDeviceGetStream(&stream));
  if (L->islines) PolderLaunch(PolderLevelLinesProlong_CUDA(L->singleprecision, &L->lines, xc, x, stream));
  else PolderLaunch(PolderLevelProlong_CUDA(L->singleprecision, L->n, L->agg, L->nc, scale, xc, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgZero(PamgLevel *L, void *x)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceZero(x, PamgSize(L) * (size_t)L->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgCombine(PamgLevel *L, PetscReal alpha, const void *w, PetscReal beta, void *x)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelCombine_CUDA(L->singleprecision, L->n, alpha, beta, w, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several processes the sums are reduced on their devices, or else through the host, where L->sum keeps them */
static PetscErrorCode PamgDots(PamgLevel *L, const void *x, const void *b, const void *w, void *v, PetscReal sum[])
{
  const PetscInt  n    = w ? POLDER_KSUMS_SECOND : POLDER_KSUMS_FIRST;
  PetscReal      *host = L->sum + (w ? POLDER_KSUMS_FIRST : 0);
  PolderStream    stream;
  PolderLevelSums sums = {.sum = sum};

  PetscFunctionBegin;
  if (L->halo) PetscCall(PolderHaloBeginDevice(L->halo, PamgUnit(L), x, L->ghost));
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&sums.work));
  PolderLaunch(PolderLevelMultDots_CUDA(L->singleprecision, &L->M, x, b, w, v, sums, stream));
  if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderHaloEndDevice(L->halo, PamgUnit(L), x, L->ghost));
  PolderLaunch(PolderLevelOuterDots_CUDA(L->singleprecision, &L->outer.rows_d, L->ghost, x, w ? NULL : b, v, sums, stream));
  PetscCall(PolderCommSum(L->comm, n, sum, host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Only the device knows whether the second step is needed, unless the sums were reduced on the host: the step is then always made, with the coefficient 0 if
  not needed
*/
static PetscErrorCode PamgFirst(PamgLevel *L, PetscReal threshold, const PetscReal sum[], const void *v, void *b, PetscBool *again)
{
  PolderStream stream;
  PolderPeers  peers = NULL;

  PetscFunctionBegin;
  if (L->halo) PetscCall(PolderPeersGet(L->comm, &peers));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelKFirst_CUDA(L->singleprecision, L->n, threshold, sum, v, b, stream));
  *again = (PetscBool)(!L->halo || peers || !PolderKCycleDone(L->sum, threshold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgSecond(PamgLevel *L, PetscReal threshold, const PetscReal sum[], const void *w, void *x)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelKSecond_CUDA(L->singleprecision, L->n, threshold, sum, w, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One sweep over a range of colours */
static PetscErrorCode PamgColours(PamgLevel *L, PetscInt from, PetscInt to, const void *b, void *x)
{
  const PetscInt step = from < to ? 1 : -1;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  for (PetscInt c = from; c != to; c += step)
    PolderLaunch(PolderLevelColour_CUDA(L->singleprecision, &L->M, L->colour[c + 1] - L->colour[c], L->order + L->colour[c], b, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *rhs = b minus off-process contributions to A x */
static PetscErrorCode PamgLocalRHS(PamgLevel *L, const void *b, const void *x, const void **rhs)
{
  const PolderExchange *sends;
  PolderStream          stream;

  PetscFunctionBegin;
  *rhs = b;
  if (!L->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PamgSend(L, x, &sends));
  PetscCall(PolderDeviceGetStream(&stream));
  if (sends) PolderLaunch(PolderExchangeStore_CUDA(sends, (int)PamgSize(L), x, stream));
  PetscCall(PolderDeviceToDevice(L->localrhs, b, PamgSize(L) * (size_t)L->n));
  PetscCall(PamgAddOuter(L, sends, (PolderOuterSum){.scale = -1, .own = x}, L->localrhs));
  *rhs = L->localrhs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks, colour after colour */
static PetscErrorCode PamgBlockStep(PamgLevel *L, PetscBool backward, const void *b, void *x)
{
  const PetscInt   n = L->blocks_d.ncolour;
  const PolderRows A = PolderRowsOf(&L->blockrows);
  const void      *rhs;
  PolderStream     stream;

  PetscFunctionBegin;
  PetscCall(PamgLocalRHS(L, b, x, &rhs));
  PetscCall(PolderDeviceGetStream(&stream));
  for (PetscInt c = 0; c < n; ++c) PolderLaunch(PolderBlockCorrect_CUDA(L->singleprecision, &A, &L->blocks_d, backward ? n - 1 - c : c, rhs, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n sweeps over the colours, forward or backward; off-process values are kept fixed within a sweep */
static PetscErrorCode PamgSweeps(PamgLevel *L, PetscInt n, PetscBool backward, const void *b, void *x)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; ++k) {
    const void *rhs;

    if (backward && L->hasblocks) PetscCall(PamgBlockStep(L, PETSC_TRUE, b, x));
    PetscCall(PamgLocalRHS(L, b, x, &rhs));
    PetscCall(PamgColours(L, backward ? L->ncolour - 1 : 0, backward ? -1 : L->ncolour, rhs, x));
    if (!backward && L->hasblocks) PetscCall(PamgBlockStep(L, PETSC_FALSE, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the first sweep a row reads only the colours before its own, the others are zero. The same holds where a stored diagonal is padded with zeros */
static PetscErrorCode PamgForward(PamgLevel *L, PetscInt n, const void *b, void *x, void *bc)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelColourFirst_CUDA(L->singleprecision, &L->M, L->colour[1], L->order, b, x, stream));
  PetscCall(PamgColours(L, 1, L->ncolour, b, x));
  if (L->hasblocks) PetscCall(PamgBlockStep(L, PETSC_FALSE, b, x));
  PetscCall(PamgSweeps(L, n - 1, PETSC_FALSE, b, x));
  PetscCall(PamgResidual(L, b, x, PamgInterpolates(L) ? L->iterate : NULL, bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgBackward(PamgLevel *L, PetscInt n, const void *b, PetscReal scale, void *xc, void *x)
{
  PetscFunctionBegin;
  PetscCall(PamgProlong(L, scale, xc, x));
  PetscCall(PamgSweeps(L, n, PETSC_TRUE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to <- n values of the cycle in double precision; centred, in single precision: without their mean */
static PetscErrorCode PamgWiden(PetscBool single, PetscBool centred, PetscInt n, const void *from, PetscScalar *to)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (centred) PolderLaunch(PolderLevelWidenCentred_CUDA(n, (const float *)from, to, stream));
  else if (single) PolderLaunch(PolderLevelWiden_CUDA(n, (const float *)from, to, stream));
  else PetscCall(PolderDeviceToDevice(to, from, sizeof(*to) * (size_t)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to <- n values in the precision of the cycle; centred, in single precision: without their mean */
static PetscErrorCode PamgRoundOrCopy(PetscBool single, PetscBool centred, PetscInt n, const PetscScalar *from, void *to)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (centred) PolderLaunch(PolderLevelRoundCentred_CUDA(n, from, (float *)to, stream));
  else if (single) PolderLaunch(PolderLevelRound_CUDA(n, 1, from, (float *)to, stream));
  else PetscCall(PolderDeviceToDevice(to, from, sizeof(*from) * (size_t)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves on a distributed last level whose solver is on the host */
static PetscErrorCode PamgLastShared(PC_PAMG *pamg, PamgLevel *L, const void *b, void *x)
{
  const size_t bytes = PamgSize(L) * (size_t)L->n;

  PetscFunctionBegin;
  PetscCall(PolderDeviceToHost(L->stage, b, bytes));
  for (PetscInt i = 0; i < L->n; ++i) pamg->coarsebuf[0][i] = L->singleprecision ? (PetscScalar)((float *)L->stage)[i] : ((PetscScalar *)L->stage)[i];
  PetscCall(PolderCoarseSolve(pamg->coarse, pamg->coarsebuf[0], pamg->coarsebuf[1]));
  for (PetscInt i = 0; i < L->n; ++i) {
    if (L->singleprecision) ((float *)L->stage)[i] = (float)pamg->coarsebuf[1][i];
    else ((PetscScalar *)L->stage)[i] = pamg->coarsebuf[1][i];
  }
  PetscCall(PolderDeviceFromHost(x, L->stage, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgLast(PC_PAMG *pamg, const void *b, void *x)
{
  const PetscBool    single = (PetscBool)(pamg->precision != PAMG_DOUBLE);
  PamgLevel         *L      = &pamg->level[pamg->nlevel - 1];
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  if (pamg->direct && L->halo) PetscCall(PamgLastShared(pamg, L, b, x));
  else if (pamg->direct && !single && pamg->nlevel > 1) PetscCall(PolderCoarseSolveDevice(pamg->coarse, (const PetscScalar *)b, (PetscScalar *)x, PETSC_TRUE));
  else if (pamg->direct) {
    PetscCall(PamgWiden(single, pamg->centred, L->n, b, pamg->coarsebuf[0]));
    PetscCall(PolderCoarseSolveDevice(pamg->coarse, pamg->coarsebuf[0], pamg->coarsebuf[1], PETSC_TRUE));
    PetscCall(PamgRoundOrCopy(single, pamg->centred, L->n, pamg->coarsebuf[1], x));
  } else {
    PetscCall(PolderVecGetDeviceWrite(pamg->coarseb, &to));
    PetscCall(PamgWiden(single, PETSC_FALSE, L->n, b, to));
    PetscCall(PolderVecRestoreDeviceWrite(pamg->coarseb, &to));
    PetscCall(KSPSolve(pamg->ksp, pamg->coarseb, pamg->coarsex));
    PetscCall(PolderVecGetDeviceRead(pamg->coarsex, &from));
    PetscCall(PamgRoundOrCopy(single, PETSC_FALSE, L->n, from, x));
    PetscCall(PolderVecRestoreDeviceRead(pamg->coarsex, &from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers a vector of a small level */
static PetscErrorCode PamgGather(PamgLevel *C, MPI_Comm comm)
{
  const size_t size = PamgSize(C);

  PetscFunctionBegin;
  (void)comm;
  if (C->wholevectors) {
    PetscCall(PolderReplicaGather(C->wholevectors, (const PetscScalar *)C->part, (PetscScalar *)C->b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderHaloExchangeDevice(C->all, PamgUnit(C), C->part, C->b));
  PetscCall(PolderDeviceToDevice((char *)C->b + size * (size_t)C->rstart, C->part, size * (size_t)C->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C->part <- the part of this process in the solution of a replicated level */
static PetscErrorCode PamgScatter(PamgLevel *C)
{
  const size_t size = PamgSize(C);

  PetscFunctionBegin;
  PetscCall(PolderDeviceToDevice(C->part, (char *)C->x + size * (size_t)C->rstart, size * (size_t)C->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// clang-format off
const PamgSteps PamgStepsDevice = {
  .begin = PamgBegin, .smooth = PamgSmooth, .residual = PamgResidual, .prolong = PamgProlong,
  .zero = PamgZero, .combine = PamgCombine, .dots = PamgDots, .first = PamgFirst, .second = PamgSecond,
  .solve = PCPAMGSolveDevice, .last = PamgLast, .gather = PamgGather, .scatter = PamgScatter,
  .blocks = PamgBlockStep, .forward = PamgForward, .backward = PamgBackward,
};
// clang-format on
