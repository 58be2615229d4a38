/* E on every process as an envelope Cholesky factor of the scaled E, or its inverse. */
#include "coarseimpl.h"
#include "core/gather.h"
#include "kernels/coarse.h"
#include "kernels/vec.h"

/* Relative rounding error of a diagonal entry above which an ordinary factor is not trusted */
#define POLDER_COARSE_NOISY 1e-6

/* Gathers the entries of all processes on every process, as triplets */
static PetscErrorCode PolderCoarseGather(PolderCoarse c, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscInt *nz, PetscInt **ij,
                                         PetscScalar **v)
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

/* ei, ej, ev <- (E + E^T)/2, or a general E with zeros where only E^T has entries, from triplets that may repeat */
static PetscErrorCode PolderCoarseAssemble(PolderCoarse c, PetscInt nz, const PetscInt ij[], const PetscScalar v[])
{
  const PetscReal part = c->general ? 1 : 0.5;
  PetscInt        d = c->d, n = 0, *fill;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(d + 1, &c->ei, 2 * nz + d, &c->ej, 2 * nz + d, &c->ev));
  PetscCall(PetscCalloc1(d + 1, &fill));
  for (PetscInt i = 0; i < d; ++i) fill[i + 1] = 1;
  for (PetscInt k = 0; k < 2 * nz; ++k) fill[ij[k] + 1]++;
  for (PetscInt i = 0; i < d; ++i) fill[i + 1] += fill[i];
  for (PetscInt i = 0; i < d; ++i) { /* the diagonal entry always exists */
    c->ej[fill[i]]   = i;
    c->ev[fill[i]++] = 0;
  }
  for (PetscInt k = 0; k < nz; ++k) {
    const PetscInt i = ij[2 * k], j = ij[2 * k + 1];

    c->ej[fill[i]]   = j;
    c->ev[fill[i]++] = part * v[k];
    c->ej[fill[j]]   = i;
    c->ev[fill[j]++] = (1 - part) * v[k];
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

/* Renumbers E by reverse Cuthill-McKee for a small envelope: order[column] = row of S; ei, ej, ev are permuted */
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

/* Permutes excess[] to the rows of S */
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

/* S = D^-1/2 E D^-1/2. Leaves out columns that are zero, and the last one if the constant is in the kernel of E */
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

/* Is the factor without subtraction possible? *noisy: a diagonal entry is dominated by rounding */
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

/* Factorises S; pivots up to tol count as zero; tol < 0: factor from the excess */
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
  } else c->nleftdep += PolderSkylineFactor_Host(d, c->first, c->ptr, tol, c->L, c->drop, &c->leastpivot);
  for (PetscInt i = 0; i < d; ++i) {
    const PetscLogDouble width = i - c->first[i] + 1;

    if (c->drop[i]) c->scale[i] = 0;
    flops += width * width;
  }
  PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inverts S; rows and columns left out become zero in the inverse */
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

/* y <- S x on the columns in use, zero on the others */
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

/* Computes the relative residual of one solve, and the condition number of S in the 1-norm (Higham 1988, algorithm 4.1: a lower bound, usually sharp) */
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

/*
  Factorises S and checks the factor. Small pivots have two causes. Rounding may hide dependent columns: the factor is then meaningless, and the threshold for
  zero pivots is raised. Or cancellation makes the pivots inaccurate: the factor is then computed from the excess
*/
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
      c->nleftdep   = 0;
      c->leastpivot = 0; // the excess is not negative, so neither is E: pivots were of rounding
      PetscCall(PolderCoarseFactor(c, -1));
      PetscCall(PolderCoarseAssess(c));
      break;
    }
    if (c->cond * PETSC_MACHINE_EPSILON < POLDER_COARSE_SINGULAR) break;
  }
  PetscCall(PetscFree2(drop, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSetUp_Redundant(PolderCoarse c, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace)
{
  PetscInt     d = c->d, nz, *ij;
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(PolderCoarseGather(c, ptr, col, val, &nz, &ij, &v));
  PetscCall(PolderCoarseAssemble(c, nz, ij, v));
  PetscCall(PetscFree(ij));
  PetscCall(PetscFree(v));
  PetscCall(PetscCalloc5(d, &c->order, d, &c->first, d + 1, &c->ptr, d, &c->scale, d, &c->drop));
  PetscCall(PetscCalloc3(d + POLDER_COARSE_RIDERS, &c->b, d, &c->x, d, &c->y));
  c->solver = &PolderCoarseRedundant;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  if (PolderCoarseWantsDense(c, d)) {
    PetscCall(PolderCoarseSetUp_Dense(c, nullspace));
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

static PetscErrorCode PolderCoarseSolve_Redundant(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(c->b, c->d));
  for (PetscInt k = 0; k < c->nl; ++k) c->b[c->order[c->gl[k]]] = a1[k];
  PetscCall(PolderCoarseReduce(c));
  for (PetscInt i = 0; i < c->d; ++i) c->b[i] *= c->scale[i];
  PetscCall(PolderCoarseSolveScaled(c, c->b, c->x));
  if (c->riders) *c->riders->energy = PolderDot_Host(c->d, c->b, c->x);
  for (PetscInt k = 0; k < c->nl; ++k) {
    const PetscInt i = c->order[c->gl[k]];

    a2[k] = c->scale[i] * c->x[i];
  }
  PetscCall(PetscLogFlops(c->inverse ? 2.0 * c->d * c->d : 4.0 * (PetscLogDouble)c->ptr[c->d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseView_Redundant(PolderCoarse c, PetscViewer viewer)
{
  const double envelope = 8.0 * (double)c->ptr[c->d], full = c->inverse ? 8.0 * (double)c->d * (double)c->d : 0;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "coarse solve: %s on every process, %g bytes\n", c->inverse ? "explicit inverse" : "Cholesky factor (envelope)",
                                   envelope + full));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderCoarseSolver PolderCoarseRedundant = {.solve       = PolderCoarseSolve_Redundant,
                                                  .solvedevice = PolderCoarseSolveThroughHost,
                                                  .view        = PolderCoarseView_Redundant};
