/* Pairwise-aggregation multigrid: the cycle on the device, in which nothing comes to the host. */
#include "pamgsteps.h"
#include <petsc/private/pcimpl.h>

static PetscErrorCode PamgBegin(PamgLevel *L, PetscReal start, const void *b, void *x)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelScale_CUDA(L->single, &L->M, start, b, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgSmooth(PamgLevel *L, const PolderLevelStep *step, const void *b, void *x, void *y)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelJacobi_CUDA(L->single, &L->M, step, b, x, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgResidual(PamgLevel *L, const void *b, const void *x, void *r, void *bc)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelResidual_CUDA(L->single, &L->M, b, x, r, r ? NULL : L->ptr, L->row, L->nc, bc, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgProlong(PamgLevel *L, PetscReal scale, void *xc, void *x)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelProlong_CUDA(L->single, L->n, L->agg, L->nc, scale, xc, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgZero(PamgLevel *L, void *x)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceZero(x, (L->single ? sizeof(float) : sizeof(PetscScalar)) * (size_t)L->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgAdd(PamgLevel *L, const void *w, void *x)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelCombine_CUDA(L->single, L->n, 1, 1, w, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgDots(PamgLevel *L, const void *x, const void *b, const void *w, void *v, PetscReal sum[])
{
  PolderStream stream;
  void        *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PolderLaunch(PolderLevelMultDots_CUDA(L->single, &L->M, x, b, w, v, sum, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Only the device knows whether the second step is needed: it is made anyway, and then has the coefficient 0 */
static PetscErrorCode PamgFirst(PamgLevel *L, PetscReal threshold, const PetscReal sum[], const void *v, void *b, PetscBool *again)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelKFirst_CUDA(L->single, L->n, threshold, sum, v, b, stream));
  *again = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgSecond(PamgLevel *L, PetscReal threshold, const PetscReal sum[], const void *w, void *x)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelKSecond_CUDA(L->single, L->n, threshold, sum, w, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sweep over the colours from one to another */
static PetscErrorCode PamgColours(PamgLevel *L, PetscInt from, PetscInt to, const void *b, void *x)
{
  const PetscInt step = from < to ? 1 : -1;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  for (PetscInt c = from; c != to; c += step) PolderLaunch(PolderLevelColour_CUDA(L->single, &L->M, L->colour[c + 1] - L->colour[c], L->order + L->colour[c], b, x, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the first sweep rows read those of the colours before theirs, zero from the others; also where a diagonal has a zero for an entry that is none */
static PetscErrorCode PamgForward(PamgLevel *L, PetscInt n, const void *b, void *x, void *bc)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelColourFirst_CUDA(L->single, &L->M, L->colour[1], L->order, b, x, stream));
  PetscCall(PamgColours(L, 1, L->ncolour, b, x));
  for (PetscInt k = 1; k < n; ++k) PetscCall(PamgColours(L, 0, L->ncolour, b, x));
  PetscCall(PamgResidual(L, b, x, NULL, bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgBackward(PamgLevel *L, PetscInt n, const void *b, PetscReal scale, void *xc, void *x)
{
  PetscFunctionBegin;
  PetscCall(PamgProlong(L, scale, xc, x));
  for (PetscInt k = 0; k < n; ++k) PetscCall(PamgColours(L, L->ncolour - 1, -1, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to <- n values in double precision, and back */
static PetscErrorCode PamgWiden(PetscBool single, PetscInt n, const void *from, PetscScalar *to)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (single) PolderLaunch(PolderLevelWiden_CUDA(n, (const float *)from, to, stream));
  else PetscCall(PolderDeviceToDevice(to, from, sizeof(*to) * (size_t)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgRound(PetscBool single, PetscInt n, const PetscScalar *from, void *to)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  if (single) PolderLaunch(PolderLevelRound_CUDA(n, from, (float *)to, stream));
  else PetscCall(PolderDeviceToDevice(to, from, sizeof(*from) * (size_t)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgLast(PC_PAMG *pamg, const void *b, void *x)
{
  const PetscBool    single = (PetscBool)(pamg->precision == PAMG_SINGLE);
  const PetscInt     n      = pamg->level[pamg->nlevel - 1].n;
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  if (pamg->direct && !single && pamg->nlevel > 1) PetscCall(PolderCoarseSolveDevice(pamg->coarse, (const PetscScalar *)b, (PetscScalar *)x, PETSC_FALSE));
  else if (pamg->direct) {
    PetscCall(PamgWiden(single, n, b, pamg->cbuf[0]));
    PetscCall(PolderCoarseSolveDevice(pamg->coarse, pamg->cbuf[0], pamg->cbuf[1], PETSC_FALSE));
    PetscCall(PamgRound(single, n, pamg->cbuf[1], x));
  } else {
    PetscCall(PolderVecGetDeviceWrite(pamg->cb, &to));
    PetscCall(PamgWiden(single, n, b, to));
    PetscCall(PolderVecRestoreDeviceWrite(pamg->cb, &to));
    PetscCall(KSPSolve(pamg->ksp, pamg->cb, pamg->cx));
    PetscCall(PolderVecGetDeviceRead(pamg->cx, &from));
    PetscCall(PamgRound(single, n, from, x));
    PetscCall(PolderVecRestoreDeviceRead(pamg->cx, &from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgCoarseLevels(void *pamg)
{
  PamgLevel *C = ((PC_PAMG *)pamg)->level + 1;

  PetscFunctionBegin;
  PetscCall(PCPAMGSolve_Private((PC_PAMG *)pamg, 1, C->b, C->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All levels but the first take one launch, from the second cycle after a set-up on, when each kernel has run */
static PetscErrorCode PamgSolve(PC_PAMG *pamg, PetscInt l, void *b, void *x)
{
  const PetscInt made   = pamg->nsetup + pamg->nrefresh;
  PetscBool      replay = PETSC_FALSE;

  PetscFunctionBegin;
  if (l == 1 && pamg->recorded != made) {
    PetscCall(PolderDeviceGraphDestroy(&pamg->graph));
    pamg->recorded = made;
  } else if (l == 1 && pamg->direct) PetscCall(PolderCoarseOnlyLaunches(pamg->coarse, &replay));
  if (replay) PetscCall(PolderDeviceReplay(&pamg->graph, PamgCoarseLevels, pamg));
  else PetscCall(PCPAMGSolve_Private(pamg, l, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PamgSteps PamgStepsDevice = {.begin = PamgBegin, .smooth = PamgSmooth, .residual = PamgResidual, .prolong = PamgProlong, .zero = PamgZero, .add = PamgAdd, .dots = PamgDots, .first = PamgFirst, .second = PamgSecond, .solve = PamgSolve, .last = PamgLast, .forward = PamgForward, .backward = PamgBackward};

/* The arrays of the first level, which are the matrix's unless they are in single precision or diagonals of our own */
static PetscErrorCode PamgBeginDevice(PC pc, PolderCSR *csr)
{
  PC_PAMG         *pamg = (PC_PAMG *)pc->data;
  PamgLevel       *L    = pamg->level;
  const PolderDia *dia  = NULL;
  PetscBool        done;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(csr, sizeof(*csr)));
  if (pamg->precision == PAMG_SINGLE || L->own) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDeviceDia(L->A, &dia));
  if (dia && dia->nd <= POLDER_LEVEL_DIAGONALS) {
    L->M.nd   = dia->nd;
    L->M.main = dia->main;
    L->M.off  = dia->off;
    L->M.val  = (const void *const *)dia->val;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderMatGetDeviceCSR(L->A, csr, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "The matrix of PC pamg has left the device since the set-up: set up again");
  L->M.nd = 0;
  L->M.ai = csr->ai;
  L->M.aj = csr->aj;
  L->M.aa = csr->aa;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgEndDevice(PC pc, PolderCSR *csr)
{
  PetscFunctionBegin;
  if (csr->ai) PetscCall(PolderMatRestoreDeviceCSR(((PC_PAMG *)pc->data)->level->A, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a cycle: two an entry and step, residual or product, some an unknown */
static PetscLogDouble PamgFlops(const PC_PAMG *pamg)
{
  const PetscInt steps  = pamg->pre + pamg->post;
  PetscLogDouble visits = 1, flops = 0;

  for (PetscInt l = 0; l + 1 < pamg->nlevel; ++l) {
    const PamgLevel *L     = &pamg->level[l];
    const PetscBool  twice = (PetscBool)(l && PamgVisitsTwice(pamg, l));

    if (twice) visits *= 2;
    flops += visits * (2.0 * (PetscLogDouble)L->nz * (steps + (twice ? 1 : 0)) + (4.0 * steps + 3 + (twice ? 10 : 0)) * L->n);
  }
  return flops + visits * 2.0 * (PetscLogDouble)pamg->level[pamg->nlevel - 1].nz;
}

PetscErrorCode PCPAMGApplyDevice_Private(PC pc, Vec r, Vec z)
{
  PC_PAMG           *pamg   = (PC_PAMG *)pc->data;
  PamgLevel         *L      = pamg->level;
  const PetscBool    single = (PetscBool)(pamg->precision == PAMG_SINGLE);
  const PetscScalar *rr;
  PetscScalar       *zz;
  PetscLogDouble     flops;
  PolderCSR          csr;

  PetscFunctionBegin;
  if (pamg->cycle == PAMG_K && !pamg->ksum) PetscCall(PolderDeviceMalloc(sizeof(*pamg->ksum) * POLDER_KSUMS * (size_t)pamg->nlevel, &pamg->ksum));
  PetscCall(PamgBeginDevice(pc, &csr));
  PetscCall(PolderVecGetDeviceRead(r, &rr));
  PetscCall(PolderVecGetDeviceWrite(z, &zz));
  PetscCall(PetscLogGpuTimeBegin());
  if (single) {
    PetscCall(PamgRound(PETSC_TRUE, L->n, rr, L->b));
    pamg->wide = PamgWritesWide(pamg) ? zz : NULL;
    PetscCall(PCPAMGCycle_Private(pamg, L->b, L->x));
    if (!pamg->wide) PetscCall(PamgWiden(PETSC_TRUE, L->n, L->x, zz));
    pamg->wide = NULL;
  } else PetscCall(PCPAMGCycle_Private(pamg, rr, zz));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderVecRestoreDeviceWrite(z, &zz));
  PetscCall(PolderVecRestoreDeviceRead(r, &rr));
  PetscCall(PamgEndDevice(pc, &csr));
  flops = PamgFlops(pamg);
  (void)flops; // for a PETSc that logs nothing of a device
  PetscCall(PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps of the power method of all levels, then their norms to the host */
PetscErrorCode PCPAMGEstimateDevice_Private(PC pc)
{
  PC_PAMG       *pamg   = (PC_PAMG *)pc->data;
  const PetscInt nlevel = pamg->nlevel - 1;
  PetscInt       loose  = 0;
  const size_t   size = pamg->precision == PAMG_SINGLE ? sizeof(float) : sizeof(PetscScalar), bytes = sizeof(PetscReal) * (PAMG_POWER + 1) * (size_t)nlevel;
  PetscReal     *norm, *host;
  void          *x[2], *work;
  PolderStream   stream;
  PolderCSR      csr;

  PetscFunctionBegin;
  for (PetscInt l = 0; l < nlevel; ++l) {
    PamgLevel *L = &pamg->level[l];

    L->eigenvalue = PamgEigenvalue(L->bound, 0);
    if (L->bound > PAMG_BOUND) ++loose;
  }
  if (!loose) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PamgBeginDevice(pc, &csr));
  PetscCall(PetscMalloc1((PAMG_POWER + 1) * nlevel, &host));
  PetscCall(PolderDeviceMalloc(bytes, &norm));
  for (int k = 0; k < 2; ++k) PetscCall(PolderDeviceMalloc(size * (size_t)pamg->level->n, &x[k]));
  for (PetscInt l = 0; l < nlevel; ++l) {
    PamgLevel *L = &pamg->level[l];

    if (L->bound <= PAMG_BOUND) continue;
    for (PetscInt k = 0; k < PAMG_POWER; ++k) PolderLaunch(PolderLevelPower_CUDA(L->single, &L->M, k, x[k % 2], x[1 - k % 2], norm + l * (PAMG_POWER + 1), work, stream));
    PetscCall(PetscLogGpuFlops(PAMG_POWER * (2.0 * (PetscLogDouble)L->nz + 4.0 * L->n)));
  }
  PetscCall(PolderDeviceToHost(host, norm, bytes));
  for (PetscInt l = 0; l < nlevel; ++l) {
    PamgLevel *L = &pamg->level[l];

    if (L->bound > PAMG_BOUND) L->eigenvalue = PamgEigenvalue(L->bound, PetscSqrtReal(host[l * (PAMG_POWER + 1) + PAMG_POWER]));
  }
  for (int k = 0; k < 2; ++k) PetscCall(PolderDeviceFree(&x[k]));
  PetscCall(PolderDeviceFree(&norm));
  PetscCall(PetscFree(host));
  PetscCall(PamgEndDevice(pc, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
