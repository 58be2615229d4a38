/* Solves with E = Z^T A Z. On every process: an envelope Cholesky factor of the scaled E, or its inverse. Distributed: a nested KSP. */
#include "deflationcoarse.h"
#include "gather.h"
#include "../kernels/kernels.h"
#include <petscsf.h>

typedef enum {
  COARSE_INVERSE,
  COARSE_CHOLESKY,
  COARSE_KSP
} PolderCoarseType;
static const char *const PolderCoarseTypes[] = {"inverse", "cholesky", "ksp", "PolderCoarseType", "COARSE_", NULL};

/* The product with an inverse leaves a residual of about cond(E) eps relative to the right-hand side; a solve to the usual 1e-6 needs two digits more */
#define POLDER_COARSE_LOSS 1e-8
/* With fewer than three digits left in a coarse solve E is taken for singular */
#define POLDER_COARSE_SINGULAR 1e-3
/* A diagonal entry of E that is so much smaller than the largest one counts as zero */
#define POLDER_COARSE_ZERO (5 * PETSC_MACHINE_EPSILON)
/* Up to here a direct solver on every process beats multigrid as preconditioner of the nested KSP */
#define POLDER_COARSE_DIRECT 20000

struct _n_PolderCoarse {
  MPI_Comm         comm;
  char            *prefix;
  PolderCoarseType type;
  PetscBool        setup;
  PetscInt         d, nl, *gl;
  PetscInt         nleftnull, nleftzero, nleftdep; /* columns left out: kernel of A, zero, dependent on others */
  PetscReal        cond, resid;                    /* of E with unit diagonal; cond < 0: not known */
  /* inverse, cholesky: S = D^-1/2 E D^-1/2, renumbered for a small envelope */
  PetscInt    *ei, *ej;       /* E as CSR in the renumbered columns, the same on every process */
  PetscScalar *ev;            /* values of S */
  PetscInt    *order, *first; /* order[column] = row of S */
  size_t      *ptr;
  PetscReal   *scale; /* [d] by row of S: E_ii^-1/2, 0 where the column is left out */
  char        *drop;
  PetscScalar *L, *inverse;
  PetscScalar *b, *x, *y; /* [d] work */
  /* ksp */
  KSP      ksp;
  Mat      E;
  Vec      bvec, xvec, used; /* used: 0 where a column is left out, else 1 */
  PetscSF  sf;
  PetscInt nsolve, nits, nfailed;
};

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
  PetscCall(MatDestroy(&c->E));
  PetscCall(VecDestroy(&c->bvec));
  PetscCall(VecDestroy(&c->xvec));
  PetscCall(VecDestroy(&c->used));
  PetscCall(PetscSFDestroy(&c->sf));
  c->setup     = PETSC_FALSE;
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
  PetscCall(KSPDestroy(&(*coarse)->ksp));
  PetscCall(PetscFree((*coarse)->prefix));
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

PetscErrorCode PolderCoarseSetFromOptions(PolderCoarse c, PetscBool *changed)
{
  const PolderCoarseType before = c->type;

  PetscFunctionBegin;
  PetscOptionsBegin(c->comm, c->prefix, "Coarse solve of a deflation space", "PolderDeflationSpace");
  PetscCall(PetscOptionsEnum("-deflation_coarse", "How E = Z^T A Z is solved", "PolderDeflationSpaceSetFromOptions", PolderCoarseTypes, (PetscEnum)c->type, (PetscEnum *)&c->type, NULL));
  PetscOptionsEnd();
  *changed = (PetscBool)(c->type != before);
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

/* S = D^-1/2 E D^-1/2; columns that are zero, and the last one when E has the constant as kernel, are left out */
static PetscErrorCode PolderCoarseScale(PolderCoarse c, PetscBool nullspace)
{
  PetscInt  d    = c->d;
  PetscReal dmax = 0, diag;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt k = c->ei[i]; k < c->ei[i + 1]; ++k) {
      PetscCheck(!PetscIsInfOrNanScalar(c->ev[k]), c->comm, PETSC_ERR_FP, "The coarse matrix E of the deflation space has an entry that is infinite or not a number: check the entries of the system matrix");
      if (c->ej[k] == i) c->scale[i] = PetscRealPart(c->ev[k]);
    }
    dmax = PetscMax(dmax, c->scale[i]);
  }
  for (PetscInt i = 0; i < d; ++i) {
    diag        = c->scale[i];
    c->drop[i]  = (char)(diag <= POLDER_COARSE_ZERO * dmax);
    c->scale[i] = c->drop[i] ? 0 : 1 / PetscSqrtReal(diag);
    c->nleftzero += c->drop[i];
  }
  if (nullspace && !c->drop[c->order[d - 1]]) {
    c->drop[c->order[d - 1]]  = 1;
    c->scale[c->order[d - 1]] = 0;
    c->nleftnull              = 1;
  }
  for (PetscInt i = 0; i < d; ++i) {
    for (PetscInt k = c->ei[i]; k < c->ei[i + 1]; ++k) c->ev[k] *= c->scale[i] * c->scale[c->ej[k]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseFactor(PolderCoarse c, PetscReal tol)
{
  PetscInt d = c->d;

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
  c->nleftdep += PolderSkylineFactor_Host(d, c->first, c->ptr, tol, c->L, c->drop);
  for (PetscInt i = 0; i < d; ++i) {
    if (c->drop[i]) c->scale[i] = 0;
  }
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

static PetscReal PolderCoarseTestValue(PetscInt i)
{
  return PetscSinReal((PetscReal)(1 + i) * (PetscReal)12.9898);
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

static PetscBool PolderCoarseInverseInaccurate(PolderCoarse c)
{
  return (PetscBool)(c->type == COARSE_INVERSE && (c->cond * PETSC_MACHINE_EPSILON > POLDER_COARSE_LOSS || c->resid > POLDER_COARSE_LOSS));
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
  PetscCall(PolderCoarseOrder(c));
  PetscCall(PolderCoarseScale(c, nullspace));
  /* rounding of E may hide that columns depend on each other: then the factor is worthless, and larger pivots count as zero */
  for (PetscReal tol = 10 * d * PETSC_MACHINE_EPSILON; tol < 1e-6; tol *= 100) {
    PetscCall(PolderCoarseFactor(c, tol));
    PetscCall(PolderCoarseAssess(c));
    if (c->cond * PETSC_MACHINE_EPSILON < POLDER_COARSE_SINGULAR) break;
  }
  if (c->type == COARSE_INVERSE) {
    PetscCall(PolderCoarseInvert(c));
    PetscCall(PolderCoarseAssess(c));
  }
  PetscCall(PetscInfo(NULL, "Deflation: E has %" PetscInt_FMT " columns, left out %" PetscInt_FMT " (kernel), %" PetscInt_FMT " (zero), %" PetscInt_FMT " (dependent); condition about %g, residual of a coarse solve %g\n", d, c->nleftnull, c->nleftzero, c->nleftdep,
                      (double)c->cond, (double)c->resid));
  if (PolderCoarseInverseInaccurate(c)) PetscCall(PetscInfo(NULL, "Deflation: the explicit inverse of E loses accuracy (condition about %g): use -deflation_coarse cholesky\n", (double)c->cond));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* E as a distributed matrix; rows and columns left out become those of the identity */
static PetscErrorCode PolderCoarseAssembleDistributed(PolderCoarse c, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace)
{
  PetscInt     rstart, rend, n = 0, nz, *ci, *cj, nzero = 0, last = c->d - 1;
  PetscLayout  map;
  PetscScalar *v, *diag, *used;
  PetscReal    dmax;
  Vec          D;

  PetscFunctionBegin;
  PetscCall(MatCreate(c->comm, &c->E));
  PetscCall(MatSetSizes(c->E, PETSC_DECIDE, PETSC_DECIDE, c->d, c->d));
  PetscCall(MatSetType(c->E, MATAIJ));
  PetscCall(MatSetOptionsPrefix(c->E, c->prefix));
  PetscCall(MatAppendOptionsPrefix(c->E, "deflation_coarse_"));
  PetscCall(MatSetFromOptions(c->E));
  PetscCall(MatGetLayouts(c->E, &map, NULL));
  PetscCall(PetscLayoutSetUp(map));
  PetscCall(PetscLayoutGetRange(map, &rstart, &rend));
  nz = ptr[c->nl] + rend - rstart;
  PetscCall(PetscMalloc3(nz, &ci, nz, &cj, nz, &v));
  for (PetscInt i = 0; i < c->nl; ++i) {
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; ++k) {
      if (nullspace && (c->gl[i] == last || c->gl[col[k]] == last)) continue;
      ci[n]  = c->gl[i];
      cj[n]  = c->gl[col[k]];
      v[n++] = val[k];
    }
  }
  for (PetscInt i = rstart; i < rend; ++i) {
    ci[n] = cj[n] = i;
    v[n++]        = 0;
  }
  PetscCall(MatSetPreallocationCOO(c->E, n, ci, cj));
  PetscCall(MatSetValuesCOO(c->E, v, INSERT_VALUES));
  PetscCall(PetscFree3(ci, cj, v));
  PetscCall(MatCreateVecs(c->E, &c->xvec, &c->bvec));
  PetscCall(VecDuplicate(c->bvec, &c->used));
  PetscCall(VecDuplicate(c->bvec, &D));
  PetscCall(MatGetDiagonal(c->E, D));
  PetscCall(VecMax(D, NULL, &dmax));
  PetscCall(VecGetArray(D, &diag));
  PetscCall(VecGetArrayWrite(c->used, &used));
  for (PetscInt i = 0; i < rend - rstart; ++i) {
    used[i] = PetscRealPart(diag[i]) > POLDER_COARSE_ZERO * dmax;
    if (used[i] != (PetscScalar)0) continue;
    diag[i] = 1;
    nzero += !nullspace || rstart + i != last;
  }
  PetscCall(VecRestoreArrayWrite(c->used, &used));
  PetscCall(VecRestoreArray(D, &diag));
  PetscCall(MatDiagonalSet(c->E, D, INSERT_VALUES));
  PetscCall(VecDestroy(&D));
  PetscCallAllreduce(&nzero, &c->nleftzero, 1, MPIU_INT, MPI_SUM, c->comm);
  c->nleftnull = nullspace ? 1 : 0;
  PetscCall(MatSetOption(c->E, MAT_SPD, PETSC_TRUE));
  PetscCall(PetscSFCreate(c->comm, &c->sf));
  PetscCall(PetscSFSetGraphLayout(c->sf, map, c->nl, NULL, PETSC_OWN_POINTER, c->gl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseCreateKSP(PolderCoarse c)
{
  PC          pc;
  KSP         inner;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  PetscCall(KSPCreate(c->comm, &c->ksp));
  PetscCall(KSPSetOptionsPrefix(c->ksp, c->prefix));
  PetscCall(KSPAppendOptionsPrefix(c->ksp, "deflation_coarse_"));
  PetscCall(KSPSetType(c->ksp, KSPCG));
  PetscCall(KSPSetTolerances(c->ksp, 1e-10, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPSetOperators(c->ksp, c->E, c->E));
  PetscCall(KSPGetPC(c->ksp, &pc));
  if (c->d > POLDER_COARSE_DIRECT) PetscCall(PCSetType(pc, PCGAMG));
  else if (size == 1) PetscCall(PCSetType(pc, PCCHOLESKY));
  else {
    PetscCall(PCSetType(pc, PCREDUNDANT));
    PetscCall(PCRedundantGetKSP(pc, &inner));
    PetscCall(KSPGetPC(inner, &pc));
    PetscCall(PCSetType(pc, PCCHOLESKY));
  }
  PetscCall(KSPSetFromOptions(c->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* xvec <- E^-1 bvec; an inner solve that does not converge is counted and said, the outer iteration then sees it in its true residual */
static PetscErrorCode PolderCoarseSolveKSP(PolderCoarse c)
{
  KSPConvergedReason reason;
  PetscInt           its;

  PetscFunctionBegin;
  PetscCall(KSPSolve(c->ksp, c->bvec, c->xvec));
  PetscCall(KSPGetConvergedReason(c->ksp, &reason));
  PetscCall(KSPGetIterationNumber(c->ksp, &its));
  c->nsolve++;
  c->nits += its;
  if (reason < 0) {
    c->nfailed++;
    PetscCall(PetscInfo(c->ksp, "Deflation: the coarse solve did not converge (%s)\n", KSPConvergedReasons[reason]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseSetUpKSP(PolderCoarse c, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace)
{
  Vec          r;
  PetscReal    rnorm, bnorm;
  PetscInt     rstart, rend;
  PetscScalar *b;
  Mat          before;
  PetscInt     d;

  PetscFunctionBegin;
  if (!c->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderCoarseAssembleDistributed(c, ptr, col, val, nullspace));
  if (c->ksp) {
    PetscCall(KSPGetOperators(c->ksp, &before, NULL));
    PetscCall(MatGetSize(before, &d, NULL));
    if (d != c->d) PetscCall(KSPDestroy(&c->ksp)); /* a moved level set */
  }
  if (c->ksp) PetscCall(KSPSetOperators(c->ksp, c->E, c->E));
  else PetscCall(PolderCoarseCreateKSP(c));
  PetscCall(KSPSetUp(c->ksp));
  PetscCall(VecGetOwnershipRange(c->bvec, &rstart, &rend));
  PetscCall(VecGetArray(c->bvec, &b));
  for (PetscInt i = rstart; i < rend; ++i) b[i - rstart] = PolderCoarseTestValue(i);
  PetscCall(VecRestoreArray(c->bvec, &b));
  PetscCall(VecPointwiseMult(c->bvec, c->bvec, c->used));
  PetscCall(PolderCoarseSolveKSP(c));
  PetscCall(VecDuplicate(c->bvec, &r));
  PetscCall(MatMult(c->E, c->xvec, r));
  PetscCall(VecAYPX(r, -1, c->bvec));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(c->bvec, NORM_2, &bnorm));
  PetscCall(VecDestroy(&r));
  c->resid  = bnorm > 0 ? rnorm / bnorm : 0;
  c->nsolve = c->nits = 0;
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
  if (c->type == COARSE_KSP) PetscCall(PolderCoarseSetUpKSP(c, ptr, col, val, nullspace));
  else PetscCall(PolderCoarseSetUpRedundant(c, ptr, col, val, nullspace));
  c->setup = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseGetRank(PolderCoarse c, PetscInt *rank)
{
  PetscFunctionBegin;
  *rank = c->d - c->nleftnull - c->nleftzero - c->nleftdep;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseGetLimit(PolderCoarse c, PetscBool device, PetscInt dim, PetscReal bytes, PetscReal flops, PetscInt *d)
{
  PetscReal n = 1, next = 2, band, solve, factor;

  PetscFunctionBegin;
  while (c->type != COARSE_KSP && next < PETSC_MAX_INT / 2) {
    band   = dim == 1 ? 2 : 1.5 * PetscPowReal(next, dim == 2 ? 0.5 : 2.0 / 3.0);
    solve  = c->type == COARSE_INVERSE ? 8 * next * next : 16 * next * band;
    factor = next * band * (c->type == COARSE_INVERSE ? band + 4 * next : band);
    if (device) {
      solve  = 8 * next * next;
      factor = 2 * next * next * next;
    }
    if (solve > bytes || factor > flops) break;
    n = next;
    next *= 1.02;
  }
  *d = c->type == COARSE_KSP ? PETSC_MAX_INT : (PetscInt)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseSolve_Redundant(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[])
{
  PetscMPIInt size, n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  PetscCall(PetscArrayzero(c->b, c->d));
  for (PetscInt k = 0; k < c->nl; ++k) c->b[c->order[c->gl[k]]] = a1[k];
  if (size > 1) {
    PetscCall(PetscMPIIntCast(c->d, &n));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, c->b, n, MPIU_SCALAR, MPIU_SUM, c->comm));
  }
  for (PetscInt i = 0; i < c->d; ++i) c->b[i] *= c->scale[i];
  PetscCall(PolderCoarseSolveScaled(c, c->b, c->x));
  for (PetscInt k = 0; k < c->nl; ++k) {
    const PetscInt i = c->order[c->gl[k]];

    a2[k] = c->scale[i] * c->x[i];
  }
  PetscCall(PetscLogFlops(c->inverse ? 2.0 * c->d * c->d : 4.0 * (PetscLogDouble)c->ptr[c->d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseSolve_KSP(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[])
{
  PetscScalar       *b;
  const PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(VecSet(c->bvec, 0));
  PetscCall(VecGetArray(c->bvec, &b));
  PetscCall(PetscSFReduceBegin(c->sf, MPIU_SCALAR, a1, b, MPIU_SUM));
  PetscCall(PetscSFReduceEnd(c->sf, MPIU_SCALAR, a1, b, MPIU_SUM));
  PetscCall(VecRestoreArray(c->bvec, &b));
  PetscCall(VecPointwiseMult(c->bvec, c->bvec, c->used));
  PetscCall(PolderCoarseSolveKSP(c));
  PetscCall(VecGetArrayRead(c->xvec, &x));
  PetscCall(PetscSFBcastBegin(c->sf, MPIU_SCALAR, x, a2, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(c->sf, MPIU_SCALAR, x, a2, MPI_REPLACE));
  PetscCall(VecRestoreArrayRead(c->xvec, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCoarseSolve(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[])
{
  PetscFunctionBegin;
  PetscCheck(c->setup, c->comm, PETSC_ERR_ORDER, "The deflation space has not been set up");
  if (!c->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_DeflationCoarse, NULL));
  if (c->type == COARSE_KSP) PetscCall(PolderCoarseSolve_KSP(c, a1, a2));
  else PetscCall(PolderCoarseSolve_Redundant(c, a1, a2));
  PetscCall(PolderLogEnd(POLDER_DeflationCoarse, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Condition number of the distributed E with unit diagonal: a few steps of the power method with E and with its solver. Only a view asks for it */
static PetscErrorCode PolderCoarseConditionKSP(PolderCoarse c)
{
  Vec          s, x;
  PetscReal    norm, extreme[2] = {0, 0};
  PetscInt     rstart, rend, nsolve = c->nsolve, nits = c->nits, nfailed = c->nfailed;
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(c->bvec, &s));
  PetscCall(VecDuplicate(c->bvec, &x));
  PetscCall(MatGetDiagonal(c->E, s));
  PetscCall(VecSqrtAbs(s));
  PetscCall(VecGetOwnershipRange(x, &rstart, &rend));
  for (int inverse = 0; inverse < 2; ++inverse) {
    PetscCall(VecGetArrayWrite(x, &v));
    for (PetscInt i = rstart; i < rend; ++i) v[i - rstart] = PolderCoarseTestValue(i);
    PetscCall(VecRestoreArrayWrite(x, &v));
    PetscCall(VecNormalize(x, NULL));
    for (int step = 0; step < 10; ++step) {
      if (inverse) {
        PetscCall(VecPointwiseMult(c->bvec, x, s));
        PetscCall(PolderCoarseSolveKSP(c));
        PetscCall(VecPointwiseMult(x, c->xvec, s));
      } else {
        PetscCall(VecPointwiseDivide(c->bvec, x, s));
        PetscCall(MatMult(c->E, c->bvec, c->xvec));
        PetscCall(VecPointwiseDivide(x, c->xvec, s));
      }
      PetscCall(VecNormalize(x, &norm));
    }
    extreme[inverse] = norm;
  }
  c->cond    = extreme[0] * extreme[1];
  c->nsolve  = nsolve;
  c->nits    = nits;
  c->nfailed = nfailed;
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&x));
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
    if (c->cond < 0) PetscCall(PolderCoarseConditionKSP(c));
    PetscCall(PetscViewerASCIIPrintf(viewer, "coarse solve: ksp, distributed over the processes\n"));
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
