/* Solves with E = Z^T A Z. On every process: an envelope Cholesky factor of the scaled E, or its inverse, or a dense one on the device. Distributed: a nested KSP. */
#include "coarseimpl.h"
#include "core/gather.h"
#include "core/device.h"
#include "kernels/kernels.h"

static const char *const PolderCoarseTypes[] = {"inverse", "cholesky", "ksp", "PolderCoarseType", "COARSE_", NULL};

/* The product with an inverse leaves a residual of up to cond(E) eps relative to the right-hand side. What it leaves along Z is projected out every few steps, so that with
   this much of it the iterations are those of exact solves, also for tolerances below it */
#define POLDER_COARSE_LOSS 1e-7
/* With fewer than three digits left in a coarse solve E is taken for singular */
#define POLDER_COARSE_SINGULAR 1e-3
/* Rounding of a diagonal entry, relative to it, that an ordinary factor must not meet */
#define POLDER_COARSE_NOISY 1e-6
/* More columns than this are no dense matrix on the device */
#define POLDER_COARSE_DENSE 12000
/* What the device does in the time of one dependent step of the sweep, in flops a column */
#define POLDER_COARSE_STEP 4e6

PetscErrorCode PolderCoarseCreate(MPI_Comm comm, PolderCoarse *coarse)
{
  PolderCoarse c;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  PetscCall(PetscCommDuplicate(comm, &c->comm, NULL));
  c->type = COARSE_CHOLESKY;
  c->cond = -1;
  *coarse = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseReset(PolderCoarse c)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(c->gl));
  PetscCall(PetscFree3(c->ei, c->ej, c->ev));
  PetscCall(PetscFree5(c->order, c->first, c->ptr, c->scale, c->drop));
  PetscCall(PetscFree(c->L));
  PetscCall(PetscFree(c->inverse));
  PetscCall(PetscFree3(c->b, c->x, c->y));
  PetscCall(PolderDeviceFree(&c->d1));
  PetscCall(PolderDeviceFree(&c->d2));
  PetscCall(MatDestroy(&c->E));
  PetscCall(VecDestroy(&c->bvec));
  PetscCall(VecDestroy(&c->xvec));
  PetscCall(VecDestroy(&c->used));
  PetscCall(PetscSFDestroy(&c->sf));
  PetscCall(PetscMemzero(&c->report, sizeof(c->report)));
  c->setup = c->dense = c->bad = PETSC_FALSE;
  c->nleftnull = c->nleftzero = c->nleftdep = 0;
  c->cond                                   = -1;
  c->nsolve = c->nits = c->nfailed = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseDestroy(PolderCoarse *coarse)
{
  PetscFunctionBegin;
  if (!*coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderCoarseReset(*coarse));
  PetscCall(PolderCoarseDeviceDestroy(&(*coarse)->device));
  PetscCall(KSPDestroy(&(*coarse)->ksp));
  PetscCall(PetscFree((*coarse)->prefix));
  PetscCall(PetscFree((*coarse)->excess));
  PetscCall(PetscCommDestroy(&(*coarse)->comm));
  PetscCall(PetscFree(*coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetOptionsPrefix(PolderCoarse c, const char prefix[])
{
  PetscFunctionBegin;
  PetscCall(PetscFree(c->prefix));
  PetscCall(PetscStrallocpy(prefix, &c->prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetInverse(PolderCoarse c)
{
  PetscFunctionBegin;
  c->type   = COARSE_INVERSE;
  c->chosen = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetExcess(PolderCoarse c, PetscInt d, PetscInt first, PetscInt n, const PetscReal excess[], const PetscReal rounding[])
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PetscFree(c->excess));
  PetscCall(PetscCalloc1(2 * d, &c->excess));
  PetscCall(PetscArraycpy(c->excess + first, excess, n));
  PetscCall(PetscArraycpy(c->excess + d + first, rounding, n));
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  if (size > 1) PetscCallAllreduce(MPI_IN_PLACE, c->excess, (PetscMPIInt)(2 * d), MPIU_REAL, MPIU_SUM, c->comm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetFromOptions(PolderCoarse c, PetscBool *changed)
{
  const PolderCoarseType before = c->type;
  const PetscBool        asked  = c->chosen;
  PetscBool              set;

  PetscFunctionBegin;
  PetscOptionsBegin(c->comm, c->prefix, "Coarse solve of a deflation space", "PolderDeflationSpace");
  PetscCall(PetscOptionsEnum("-deflation_coarse", "How E = Z^T A Z is solved", "PolderDeflationSpaceSetFromOptions", PolderCoarseTypes, (PetscEnum)c->type, (PetscEnum *)&c->type, &set));
  PetscOptionsEnd();
  if (set) c->chosen = PETSC_TRUE;
  *changed = (PetscBool)(c->type != before || c->chosen != asked);
  if (*changed) c->setup = PETSC_FALSE;
  if (c->ksp) PetscCall(KSPSetFromOptions(c->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everyone's entries of E on every process, as triplets */
static PetscErrorCode PolderCoarseGather(PolderCoarse c, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscInt *nz, PetscInt **ij, PetscScalar **v)
{
  PetscInt *mine;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * ptr[c->nl], &mine));
  for (PetscInt i = 0; i < c->nl; ++i) {
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; ++k) {
      mine[2 * k]     = c->gl[i];
      mine[2 * k + 1] = c->gl[col[k]];
    }
  }
  PetscCall(PolderGatherAll(c->comm, ptr[c->nl], mine, 2 * sizeof(*mine), nz, ij));
  PetscCall(PolderGatherAll(c->comm, ptr[c->nl], val, sizeof(*val), nz, v));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ei, ej, ev <- (E + E^T)/2 from triplets that may repeat */
static PetscErrorCode PolderCoarseAssemble(PolderCoarse c, PetscInt nz, const PetscInt ij[], const PetscScalar v[])
{
  PetscInt d = c->d, n = 0, *fill;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(d + 1, &c->ei, 2 * nz + d, &c->ej, 2 * nz + d, &c->ev));
  PetscCall(PetscCalloc1(d + 1, &fill));
  for (PetscInt i = 0; i < d; ++i) fill[i + 1] = 1;
  for (PetscInt k = 0; k < 2 * nz; ++k) fill[ij[k] + 1]++;
  for (PetscInt i = 0; i < d; ++i) fill[i + 1] += fill[i];
  for (PetscInt i = 0; i < d; ++i) { /* the diagonal is always there */
    c->ej[fill[i]]   = i;
    c->ev[fill[i]++] = 0;
  }
  for (PetscInt k = 0; k < nz; ++k) {
    const PetscInt i = ij[2 * k], j = ij[2 * k + 1];

    c->ej[fill[i]]   = j;
    c->ev[fill[i]++] = 0.5 * v[k];
    c->ej[fill[j]]   = i;
    c->ev[fill[j]++] = 0.5 * v[k];
  }
  /* fill[i] is now the end of row i */
  c->ei[0] = 0;
  for (PetscInt i = 0, start = 0; i < d; start = fill[i++]) {
    PetscCall(PetscSortIntWithScalarArray(fill[i] - start, c->ej + start, c->ev + start));
    for (PetscInt k = start; k < fill[i]; ++k) {
      if (n > c->ei[i] && c->ej[n - 1] == c->ej[k]) c->ev[n - 1] += c->ev[k];
      else {
        c->ej[n]   = c->ej[k];
        c->ev[n++] = c->ev[k];
      }
    }
    c->ei[i + 1] = n;
  }
  PetscCall(PetscFree(fill));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Renumbers E (reverse Cuthill-McKee) for a small envelope: order[column] = row of S, ei, ej, ev follow */
static PetscErrorCode PolderCoarseOrder(PolderCoarse c)
{
  Mat             E;
  IS              rows, cols;
  const PetscInt *idx;
  PetscInt        d = c->d, *ei, *ej, n = 0;
  PetscScalar    *ev;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, d, d, c->ei, c->ej, c->ev, &E));
  PetscCall(MatGetOrdering(E, MATORDERINGRCM, &rows, &cols));
  PetscCall(ISGetIndices(rows, &idx));
  for (PetscInt i = 0; i < d; ++i) c->order[idx[i]] = i;
  PetscCall(PetscMalloc3(d + 1, &ei, c->ei[d], &ej, c->ei[d], &ev));
  ei[0] = 0;
  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt k = c->ei[idx[i]]; k < c->ei[idx[i] + 1]; ++k) {
      ej[n]   = c->order[c->ej[k]];
      ev[n++] = c->ev[k];
    }
    ei[i + 1] = n;
    PetscCall(PetscSortIntWithScalarArray(n - ei[i], ej + ei[i], ev + ei[i]));
  }
  PetscCall(ISRestoreIndices(rows, &idx));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(MatDestroy(&E));
  PetscCall(PetscFree3(c->ei, c->ej, c->ev));
  c->ei = ei;
  c->ej = ej;
  c->ev = ev;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* excess[] by row of S */
static PetscErrorCode PolderCoarseOrderExcess(PolderCoarse c)
{
  PetscReal *ordered;

  PetscFunctionBegin;
  if (!c->excess) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(2 * c->d, &ordered));
  for (PetscInt k = 0; k < 2 * c->d; ++k) ordered[c->order[k % c->d] + k / c->d * c->d] = c->excess[k];
  PetscCall(PetscFree(c->excess));
  c->excess = ordered;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S = D^-1/2 E D^-1/2; columns that are zero, and the last one when E has the constant as kernel, are left out */
static PetscErrorCode PolderCoarseScale(PolderCoarse c, PetscBool nullspace)
{
  PetscInt  d    = c->d;
  PetscReal dmax = 0, diag;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt k = c->ei[i]; k < c->ei[i + 1]; ++k) {
      if (PetscIsInfOrNanScalar(c->ev[k])) c->bad = PETSC_TRUE;
      if (c->ej[k] == i) c->scale[i] = PetscRealPart(c->ev[k]);
    }
    dmax = PetscMax(dmax, c->scale[i]);
  }
  if (c->bad) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < d; ++i) {
    diag        = c->scale[i];
    c->drop[i]  = (char)(diag <= (c->excess ? 0 : POLDER_COARSE_ZERO * dmax));
    c->scale[i] = c->drop[i] ? 0 : 1 / PetscSqrtReal(diag);
    c->nleftzero += c->drop[i];
  }
  if (nullspace && !c->drop[c->order[d - 1]]) {
    c->drop[c->order[d - 1]]  = 1;
    c->scale[c->order[d - 1]] = 0;
    c->nleftnull              = 1;
    for (PetscInt i = 0; c->excess && i < d; ++i) {
      for (PetscInt k = c->ei[i]; k < c->ei[i + 1]; ++k) c->excess[i] -= c->ej[k] == c->order[d - 1] ? PetscRealPart(c->ev[k]) : 0;
    }
  }
  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt k = c->ei[i]; k < c->ei[i + 1]; ++k) c->ev[k] *= c->scale[i] * c->scale[c->ej[k]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the factor exist that needs no subtraction? *noisy: a diagonal entry is hardly more than rounding */
static PetscBool PolderCoarseHasExcess(PolderCoarse c, PetscBool *noisy)
{
  *noisy = PETSC_FALSE;
  for (PetscInt i = 0; c->excess && i < c->d; ++i) *noisy = (PetscBool)(*noisy || PetscSqr(c->scale[i]) * c->excess[c->d + i] > POLDER_COARSE_NOISY);
  for (PetscInt i = 0; c->excess && i < c->d; ++i) {
    if (c->drop[i]) continue;
    if (!(c->excess[i] >= 0)) return PETSC_FALSE;
    for (PetscInt k = c->ei[i]; k < c->ei[i + 1]; ++k) {
      if (c->ej[k] != i && PetscRealPart(c->ev[k]) > 0) return PETSC_FALSE;
    }
  }
  return c->excess ? PETSC_TRUE : PETSC_FALSE;
}

/* tol < 0: from the excess */
static PetscErrorCode PolderCoarseFactor(PolderCoarse c, PetscReal tol)
{
  PetscInt       d     = c->d;
  PetscLogDouble flops = 0;
  PetscReal     *f, *v, *noise;

  PetscFunctionBegin;
  PetscCall(PetscFree(c->L));
  c->ptr[0] = 0;
  for (PetscInt i = 0; i < d; ++i) {
    c->first[i]   = c->ej[c->ei[i]];
    c->ptr[i + 1] = c->ptr[i] + (size_t)(i - c->first[i] + 1);
  }
  PetscCall(PetscCalloc1(c->ptr[d], &c->L));
  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt k = c->ei[i]; k < c->ei[i + 1] && c->ej[k] <= i; ++k) c->L[c->ptr[i] + (size_t)(c->ej[k] - c->first[i])] = c->ev[k];
  }
  if (tol < 0) {
    PetscCall(PetscMalloc3(d, &f, d, &v, d, &noise));
    for (PetscInt i = 0; i < d; ++i) {
      f[i]     = c->drop[i] ? 0 : c->scale[i] * c->excess[i];
      v[i]     = c->drop[i] ? 0 : 1 / c->scale[i];
      noise[i] = PetscSqr(c->scale[i]) * c->excess[d + i];
    }
    c->nleftdep += PolderSkylineFactorExcess_Host(d, c->first, c->ptr, f, v, noise, c->L, c->drop);
    PetscCall(PetscFree3(f, v, noise));
  } else c->nleftdep += PolderSkylineFactor_Host(d, c->first, c->ptr, tol, c->L, c->drop);
  for (PetscInt i = 0; i < d; ++i) {
    const PetscLogDouble width = i - c->first[i] + 1;

    if (c->drop[i]) c->scale[i] = 0;
    flops += width * width;
  }
  PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows and columns of S that are left out become zero in its inverse too */
static PetscErrorCode PolderCoarseInvert(PolderCoarse c)
{
  PetscInt d = c->d;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)d * (size_t)d, &c->inverse));
  for (PetscInt j = 0; j < d; ++j) {
    PetscScalar *x = c->inverse + (size_t)j * (size_t)d;

    if (c->drop[j]) continue;
    x[j] = 1;
    PolderSkylineSolve_Host(d, c->first, c->ptr, c->L, x);
  }
  PetscCall(PetscLogFlops(4.0 * (PetscLogDouble)c->ptr[d] * d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- S^-1 b on the columns in use; b is zero on those left out */
static PetscErrorCode PolderCoarseSolveScaled(PolderCoarse c, const PetscScalar b[], PetscScalar x[])
{
  PetscFunctionBegin;
  if (c->inverse) PolderSymmetricMult_Host(c->d, c->inverse, b, x);
  else {
    PetscCall(PetscArraycpy(x, b, c->d));
    PolderSkylineSolve_Host(c->d, c->first, c->ptr, c->L, x);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PolderCoarseMultScaled(PolderCoarse c, const PetscScalar x[], PetscScalar y[])
{
  for (PetscInt i = 0; i < c->d; ++i) {
    PetscScalar sum = 0;

    if (!c->drop[i]) {
      for (PetscInt k = c->ei[i]; k < c->ei[i + 1]; ++k) sum += c->drop[c->ej[k]] ? 0 : c->ev[k] * x[c->ej[k]];
    }
    y[i] = sum;
  }
}

/* Relative residual of one solve, and the condition number of S in the 1-norm (Higham 1988, algorithm 4.1: a lower bound, usually sharp) */
static PetscErrorCode PolderCoarseAssess(PolderCoarse c)
{
  PetscInt  d = c->d, jmax, last = -1, nused;
  PetscReal norm = 0, invnorm = 0, rnorm = 0, bnorm = 0, est, xmax;

  PetscFunctionBegin;
  PetscCall(PolderCoarseGetRank(c, &nused));
  c->resid = 0;
  c->cond  = 1;
  if (!nused) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < d; ++i) c->b[i] = c->drop[i] ? 0 : PolderCoarseTestValue(i);
  PetscCall(PolderCoarseSolveScaled(c, c->b, c->x));
  PolderCoarseMultScaled(c, c->x, c->y);
  for (PetscInt i = 0; i < d; ++i) {
    PetscReal colsum = 0;

    for (PetscInt k = c->ei[i]; k < c->ei[i + 1]; ++k) colsum += c->drop[i] || c->drop[c->ej[k]] ? 0 : PetscAbsScalar(c->ev[k]);
    norm = PetscMax(norm, colsum);
    rnorm += PetscSqr(PetscAbsScalar(c->b[i] - c->y[i]));
    bnorm += PetscSqr(PetscAbsScalar(c->b[i]));
  }
  c->resid = PetscSqrtReal(rnorm / bnorm);
  for (PetscInt i = 0; i < d; ++i) c->b[i] = c->drop[i] ? 0 : 1 / (PetscReal)nused;
  for (int step = 0; step < 5; ++step) {
    PetscCall(PolderCoarseSolveScaled(c, c->b, c->x));
    est = 0;
    for (PetscInt i = 0; i < d; ++i) {
      est += PetscAbsScalar(c->x[i]);
      c->y[i] = c->drop[i] ? 0 : (PetscRealPart(c->x[i]) < 0 ? -1 : 1);
    }
    if (step && est <= invnorm) break;
    invnorm = est;
    PetscCall(PolderCoarseSolveScaled(c, c->y, c->x));
    jmax = 0;
    xmax = -1;
    for (PetscInt i = 0; i < d; ++i) {
      if (!c->drop[i] && PetscAbsScalar(c->x[i]) > xmax) {
        xmax = PetscAbsScalar(c->x[i]);
        jmax = i;
      }
    }
    if (jmax == last) break;
    last = jmax;
    PetscCall(PetscArrayzero(c->b, d));
    c->b[jmax] = 1;
  }
  c->cond = norm * invnorm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounding may hide that columns depend on each other: then the factor is worthless, and larger pivots count as zero. Or it may be what makes them small: the excess tells */
static PetscErrorCode PolderCoarseFactorSafely(PolderCoarse c)
{
  const PetscInt  d = c->d;
  PetscBool       noisy;
  const PetscBool exact = PolderCoarseHasExcess(c, &noisy);
  char           *drop;
  PetscReal      *scale;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(d, &drop, d, &scale));
  PetscCall(PetscArraycpy(drop, c->drop, d));
  PetscCall(PetscArraycpy(scale, c->scale, d));
  for (PetscReal tol = 10 * d * PETSC_MACHINE_EPSILON; tol < 1e-6; tol *= 100) {
    PetscCall(PolderCoarseFactor(c, tol));
    PetscCall(PolderCoarseAssess(c));
    if (exact && (noisy || c->nleftdep || c->cond * PETSC_MACHINE_EPSILON >= POLDER_COARSE_SINGULAR)) {
      PetscCall(PetscArraycpy(c->drop, drop, d));
      PetscCall(PetscArraycpy(c->scale, scale, d));
      c->nleftdep = 0;
      PetscCall(PolderCoarseFactor(c, -1));
      PetscCall(PolderCoarseAssess(c));
      break;
    }
    if (c->cond * PETSC_MACHINE_EPSILON < POLDER_COARSE_SINGULAR) break;
  }
  PetscCall(PetscFree2(drop, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool PolderCoarseInverseInaccurate(PolderCoarse c)
{
  return (PetscBool)(c->type == COARSE_INVERSE && !c->report.refined && c->resid > POLDER_COARSE_LOSS);
}

static PetscErrorCode PolderCoarseInfo(PolderCoarse c)
{
  PetscFunctionBegin;
  PetscCall(PetscInfo(NULL, "Deflation: E has %" PetscInt_FMT " columns, left out %" PetscInt_FMT " (kernel), %" PetscInt_FMT " (zero), %" PetscInt_FMT " (dependent); condition about %g, residual of a coarse solve %g\n", c->d, c->nleftnull, c->nleftzero, c->nleftdep,
                      (double)c->cond, (double)c->resid));
  if (PolderCoarseInverseInaccurate(c)) PetscCall(PetscInfo(NULL, "Deflation: the explicit inverse of E loses accuracy (residual %g): use -deflation_coarse cholesky\n", (double)c->resid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Will the device hold a dense E? */
static PetscBool PolderCoarseWantsDense(PolderCoarse c)
{
  return (PetscBool)(c->ondevice && !c->onlyhost && c->type != COARSE_KSP && (c->chosen || c->d <= POLDER_COARSE_DENSE));
}

/* From the entries of E in device memory */
static PetscErrorCode PolderCoarseSetUpDense(PolderCoarse c, const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PetscBool nullspace)
{
  PetscFunctionBegin;
  PetscCall(PolderCoarseDeviceSetUp(&c->device, c->d, n, key, val, nullspace, (PetscBool)(c->chosen && c->type == COARSE_CHOLESKY), c->excess ? 0 : POLDER_COARSE_ZERO, POLDER_COARSE_SINGULAR, POLDER_COARSE_LOSS, &c->report));
  c->bad = c->report.bad;
  if (c->bad) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)c->d, &c->d1));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)c->d, &c->d2));
  c->dense     = PETSC_TRUE;
  c->nleftzero = c->report.nzero;
  c->nleftnull = c->report.nnull;
  c->nleftdep  = c->report.ndep;
  c->cond      = c->report.cond;
  c->resid     = c->report.resid;
  PetscCall(PolderCoarseInfo(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E is on every process as ei, ej, ev */
static PetscErrorCode PolderCoarseUpload(PolderCoarse c, PetscBool nullspace)
{
  const PetscInt nz = c->ei[c->d];
  PetscInt64    *key, *dkey;
  PetscInt      *n;
  PetscScalar   *val;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nz, &key));
  for (PetscInt i = 0; i < c->d; ++i) {
    for (PetscInt k = c->ei[i]; k < c->ei[i + 1]; ++k) key[k] = (PetscInt64)i * c->d + c->ej[k];
  }
  PetscCall(PolderDeviceMalloc(sizeof(*n), &n));
  PetscCall(PolderDeviceMalloc(sizeof(*key) * (size_t)nz, &dkey));
  PetscCall(PolderDeviceMalloc(sizeof(*val) * (size_t)nz, &val));
  PetscCall(PolderDeviceFromHost(n, &nz, sizeof(nz)));
  PetscCall(PolderDeviceFromHost(dkey, key, sizeof(*key) * (size_t)nz));
  PetscCall(PolderDeviceFromHost(val, c->ev, sizeof(*val) * (size_t)nz));
  PetscCall(PolderCoarseSetUpDense(c, n, dkey, val, nullspace));
  PetscCall(PolderDeviceFree(&val));
  PetscCall(PolderDeviceFree(&dkey));
  PetscCall(PolderDeviceFree(&n));
  PetscCall(PetscFree(key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseSetUpRedundant(PolderCoarse c, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace)
{
  PetscInt     d = c->d, nz, *ij;
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(PolderCoarseGather(c, ptr, col, val, &nz, &ij, &v));
  PetscCall(PolderCoarseAssemble(c, nz, ij, v));
  PetscCall(PetscFree(ij));
  PetscCall(PetscFree(v));
  PetscCall(PetscCalloc5(d, &c->order, d, &c->first, d + 1, &c->ptr, d, &c->scale, d, &c->drop));
  PetscCall(PetscCalloc3(d, &c->b, d, &c->x, d, &c->y));
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  if (PolderCoarseWantsDense(c)) {
    PetscCall(PolderCoarseUpload(c, nullspace));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderCoarseOrder(c));
  PetscCall(PolderCoarseOrderExcess(c));
  PetscCall(PolderCoarseScale(c, nullspace));
  if (c->bad) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderCoarseFactorSafely(c));
  if (c->type == COARSE_INVERSE) {
    PetscCall(PolderCoarseInvert(c));
    PetscCall(PolderCoarseAssess(c));
  }
  PetscCall(PolderCoarseInfo(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetUp(PolderCoarse c, PetscInt d, PetscInt nl, const PetscInt gl[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace)
{
  PetscFunctionBegin;
  PetscCall(PolderCoarseReset(c));
  c->d  = d;
  c->nl = nl;
  PetscCall(PetscMalloc1(nl, &c->gl));
  PetscCall(PetscArraycpy(c->gl, gl, nl));
  if (c->type == COARSE_KSP) PetscCall(PolderCoarseSetUp_KSP(c, ptr, col, val, nullspace));
  else PetscCall(PolderCoarseSetUpRedundant(c, ptr, col, val, nullspace));
  PetscCall(PetscFree(c->excess));
  c->setup = (PetscBool)!c->bad;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetDevice(PolderCoarse c, PetscBool ondevice)
{
  PetscFunctionBegin;
  c->ondevice = ondevice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetUpDevice(PolderCoarse c, PetscInt d, const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PetscBool nullspace)
{
  PetscInt     nz, *gl, *ptr, *col;
  PetscInt64  *hkey;
  PetscScalar *hval;

  PetscFunctionBegin;
  c->d        = d;
  c->onlyhost = PETSC_FALSE;
  if (PolderCoarseWantsDense(c)) {
    PetscCall(PolderCoarseReset(c));
    c->nl = d;
    PetscCall(PetscMalloc1(d, &c->gl));
    for (PetscInt k = 0; k < d; ++k) c->gl[k] = k;
    PetscCall(PetscCalloc3(d, &c->b, d, &c->x, d, &c->y));
    PetscCall(PolderCoarseSetUpDense(c, n, key, val, nullspace));
    c->onlyhost = (PetscBool)(!c->bad && c->excess && (c->nleftdep || c->cond * PETSC_MACHINE_EPSILON >= POLDER_COARSE_SINGULAR));
    if (!c->onlyhost) {
      PetscCall(PetscFree(c->excess));
      c->setup = (PetscBool)!c->bad;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(PolderDeviceToHost(&nz, n, sizeof(nz)));
  PetscCall(PetscMalloc5(nz, &hkey, nz, &hval, nz, &col, d, &gl, d + 1, &ptr));
  PetscCall(PolderDeviceToHost(hkey, key, sizeof(*hkey) * (size_t)nz));
  PetscCall(PolderDeviceToHost(hval, val, sizeof(*hval) * (size_t)nz));
  while (nz && hkey[nz - 1] >= (PetscInt64)d * d) --nz; // rows of no column
  for (PetscInt i = 0, k = 0; i < d; ++i) {
    gl[i]  = i;
    ptr[i] = k;
    for (; k < nz && hkey[k] / d == i; ++k) col[k] = (PetscInt)(hkey[k] % d);
  }
  ptr[d] = nz;
  PetscCall(PolderCoarseSetUp(c, d, d, gl, ptr, col, hval, nullspace));
  PetscCall(PetscFree5(hkey, hval, col, gl, ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseIsFinite(PolderCoarse c, PetscBool *finite)
{
  PetscFunctionBegin;
  *finite = (PetscBool)!c->bad;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseGetRank(PolderCoarse c, PetscInt *rank)
{
  PetscFunctionBegin;
  *rank = c->d - c->nleftnull - c->nleftzero - c->nleftdep;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseGetLimit(PolderCoarse c, PetscInt dim, PetscReal bytes, PetscReal flops, PetscInt *d)
{
  const PetscBool dense = (PetscBool)(c->ondevice && c->type != COARSE_KSP);
  PetscReal       n = 1, next = 2, band, solve, factor;

  PetscFunctionBegin;
  while (c->type != COARSE_KSP && next < PETSC_MAX_INT / 2) {
    band   = dim == 1 ? 2 : 1.5 * PetscPowReal(next, dim == 2 ? 0.5 : 2.0 / 3.0);
    solve  = c->type == COARSE_INVERSE ? 8 * next * next : 16 * next * band;
    factor = next * band * (c->type == COARSE_INVERSE ? band + 4 * next : band);
    if (dense) { // the product with the inverse; the sweep, whose steps wait for each other
      solve  = 8 * next * next;
      factor = next * next * next + POLDER_COARSE_STEP * next;
    }
    if (solve > bytes || factor > flops || (dense && next > POLDER_COARSE_DENSE)) break;
    n = next;
    next *= 1.02;
  }
  *d = c->type == COARSE_KSP ? PETSC_MAX_INT : (PetscInt)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b <- its sum over the processes */
static PetscErrorCode PolderCoarseReduce(PolderCoarse c)
{
  PetscMPIInt size, n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  if (size > 1) {
    PetscCall(PetscMPIIntCast(c->d, &n));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, c->b, n, MPIU_SCALAR, MPIU_SUM, c->comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values on the host, E on the device */
static PetscErrorCode PolderCoarseSolve_Dense(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(c->b, c->d));
  for (PetscInt k = 0; k < c->nl; ++k) c->b[c->gl[k]] = a1[k];
  PetscCall(PolderCoarseReduce(c));
  PetscCall(PolderDeviceFromHost(c->d1, c->b, sizeof(*c->b) * (size_t)c->d));
  PetscCall(PolderCoarseDeviceSolve(c->device, c->d1, c->d2, PETSC_FALSE));
  PetscCall(PolderDeviceToHost(c->b, c->d2, sizeof(*c->b) * (size_t)c->d));
  for (PetscInt k = 0; k < c->nl; ++k) a2[k] = c->b[c->gl[k]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseSolve_Redundant(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(c->b, c->d));
  for (PetscInt k = 0; k < c->nl; ++k) c->b[c->order[c->gl[k]]] = a1[k];
  PetscCall(PolderCoarseReduce(c));
  for (PetscInt i = 0; i < c->d; ++i) c->b[i] *= c->scale[i];
  PetscCall(PolderCoarseSolveScaled(c, c->b, c->x));
  for (PetscInt k = 0; k < c->nl; ++k) {
    const PetscInt i = c->order[c->gl[k]];

    a2[k] = c->scale[i] * c->x[i];
  }
  PetscCall(PetscLogFlops(c->inverse ? 2.0 * c->d * c->d : 4.0 * (PetscLogDouble)c->ptr[c->d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSolve(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[])
{
  PetscFunctionBegin;
  PetscCheck(!c->bad, c->comm, PETSC_ERR_FP, POLDER_COARSE_BADTEXT);
  PetscCheck(c->setup, c->comm, PETSC_ERR_ORDER, "The deflation space has not been set up");
  if (!c->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_DeflationCoarse, NULL));
  if (c->dense) PetscCall(PolderCoarseSolve_Dense(c, a1, a2));
  else if (c->type == COARSE_KSP) PetscCall(PolderCoarseSolve_KSP(c, a1, a2));
  else PetscCall(PolderCoarseSolve_Redundant(c, a1, a2));
  PetscCall(PolderLogEnd(POLDER_DeflationCoarse, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSolveDevice(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[], PetscBool early)
{
  PetscMPIInt  size;
  PetscBool    done = PETSC_FALSE;
  PetscScalar *all, *some1, *some2;

  PetscFunctionBegin;
  PetscCheck(!c->bad, c->comm, PETSC_ERR_FP, POLDER_COARSE_BADTEXT);
  PetscCheck(c->setup, c->comm, PETSC_ERR_ORDER, "The deflation space has not been set up");
  if (!c->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  PetscCall(PolderLogBegin(POLDER_DeflationCoarse, NULL));
  if (c->dense && size == 1) {
    PetscCall(PolderCoarseDeviceSolve(c->device, a1, a2, early));
    done = PETSC_TRUE;
  } else if (c->dense) {
    PetscCall(PolderDeviceToHost(c->b, a1, sizeof(*c->b) * (size_t)c->d));
    PetscCall(PolderCoarseReduce(c));
    PetscCall(PolderDeviceFromHost(c->d1, c->b, sizeof(*c->b) * (size_t)c->d));
    PetscCall(PolderCoarseDeviceSolve(c->device, c->d1, a2, PETSC_FALSE));
    done = PETSC_TRUE;
  } else if (c->type == COARSE_KSP) PetscCall(PolderCoarseSolveDevice_KSP(c, a1, a2, &done));
  PetscCall(PolderLogEnd(POLDER_DeflationCoarse, NULL));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc3(c->d, &all, c->nl, &some1, c->nl, &some2)); // E is on the host
  PetscCall(PolderDeviceToHost(all, a1, sizeof(*all) * (size_t)c->d));
  for (PetscInt k = 0; k < c->nl; ++k) some1[k] = all[c->gl[k]];
  PetscCall(PolderCoarseSolve(c, some1, some2));
  for (PetscInt k = 0; k < c->nl; ++k) all[c->gl[k]] = some2[k];
  PetscCall(PolderDeviceFromHost(a2, all, sizeof(*all) * (size_t)c->d));
  PetscCall(PetscFree3(all, some1, some2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseOnlyLaunches(PolderCoarse c, PetscBool *only)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  *only = (PetscBool)(size == 1 && (!c->d || (c->dense && !(c->chosen && c->type == COARSE_CHOLESKY))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One print a line: each would be indented */
static PetscErrorCode PolderCoarseViewColumns(PolderCoarse c, PetscViewer viewer)
{
  PetscInt rank;
  char     zero[96] = "", dependent[96] = "";

  PetscFunctionBegin;
  PetscCall(PolderCoarseGetRank(c, &rank));
  if (c->nleftzero) PetscCall(PetscSNPrintf(zero, sizeof(zero), "; %" PetscInt_FMT " left out because they are zero or in the kernel of A", c->nleftzero));
  if (c->nleftdep) PetscCall(PetscSNPrintf(dependent, sizeof(dependent), "; %" PetscInt_FMT " left out because they depend on others", c->nleftdep));
  PetscCall(PetscViewerASCIIPrintf(viewer, "coarse matrix E: %" PetscInt_FMT " columns in use%s%s%s\n", rank, c->nleftnull ? "; 1 left out because the constant is in the kernel of A" : "", zero, dependent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseView(PolderCoarse c, PetscViewer viewer)
{
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!c->setup || !c->d) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "coarse solve: %s, %s\n", PolderCoarseTypes[c->type], c->setup ? "no columns" : "not yet set up"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderCoarseViewColumns(c, viewer));
  if (c->type == COARSE_KSP) {
    if (c->cond < 0) PetscCall(PolderCoarseCondition_KSP(c));
    PetscCall(PetscViewerASCIIPrintf(viewer, "coarse solve: ksp, distributed over the processes\n"));
  } else if (c->dense) {
    PetscLogDouble bytes;

    PetscCall(PolderCoarseDeviceGetBytes(c->device, &bytes));
    PetscCall(PetscViewerASCIIPrintf(viewer, "coarse solve: %s on the device of every process, %g bytes\n", c->chosen && c->type == COARSE_CHOLESKY ? "Cholesky factor" : (c->report.refined ? "explicit inverse with one step of refinement" : "explicit inverse"), bytes));
  } else {
    const double envelope = 8.0 * (double)c->ptr[c->d], full = c->inverse ? 8.0 * (double)c->d * (double)c->d : 0;

    PetscCall(PetscViewerASCIIPrintf(viewer, "coarse solve: %s on every process, %g bytes\n", c->inverse ? "explicit inverse" : "Cholesky factor (envelope)", envelope + full));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "condition of E with unit diagonal about %.2g, relative residual of a coarse solve %.2g\n", (double)c->cond, (double)c->resid));
  if (PolderCoarseInverseInaccurate(c)) PetscCall(PetscViewerASCIIPrintf(viewer, "WARNING: the explicit inverse loses accuracy on this E, use -deflation_coarse cholesky\n"));
  if (c->type == COARSE_KSP) {
    if (c->nsolve) PetscCall(PetscViewerASCIIPrintf(viewer, "%.1f inner iterations a solve\n", (double)c->nits / (double)c->nsolve));
    if (c->nfailed) PetscCall(PetscViewerASCIIPrintf(viewer, "WARNING: %" PetscInt_FMT " coarse solves did not converge\n", c->nfailed));
    PetscCall(PetscViewerASCIIPushTab(viewer));
    PetscCall(KSPView(c->ksp, viewer));
    PetscCall(PetscViewerASCIIPopTab(viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
