/* E as a distributed matrix, and a nested KSP that solves with it. */
#include "coarseimpl.h"
#include "core/device.h"

/* Up to this number of columns a redundant direct solver is faster than multigrid as preconditioner of the nested KSP */
#define POLDER_COARSE_DIRECT 20000

/* The entries of E, of which this process owns the rows rstart .. rend, and a diagonal entry in every row */
static PetscErrorCode PolderCoarseSetEntries_Private(PolderCoarse c, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace,
                                                     PetscInt rstart, PetscInt rend)
{
  const PetscInt last = c->d - 1, nz = 2 * ptr[c->nl] + rend - rstart;
  PetscInt       n = 0, *ci, *cj;
  PetscScalar   *v;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nz, &ci, nz, &cj, nz, &v));
  for (PetscInt i = 0; i < c->nl; ++i) {
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; ++k) {
      if (nullspace && (c->gl[i] == last || c->gl[col[k]] == last)) continue;
      ci[n]  = c->gl[i];
      cj[n]  = c->gl[col[k]];
      v[n++] = val[k];
      ci[n]  = c->gl[col[k]]; // a zero at the transposed entry keeps the pattern symmetric: otherwise PETSc's orderings may not terminate
      cj[n]  = c->gl[i];
      v[n++] = 0;
    }
  }
  for (PetscInt i = rstart; i < rend; ++i) {
    ci[n] = cj[n] = i;
    v[n++]        = 0;
  }
  PetscCall(MatSetPreallocationCOO(c->E, n, ci, cj));
  PetscCall(MatSetValuesCOO(c->E, v, INSERT_VALUES));
  PetscCall(PetscFree3(ci, cj, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembles E as a distributed matrix; rows and columns left out become those of the identity */
static PetscErrorCode PolderCoarseAssembleDistributed(PolderCoarse c, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace)
{
  PetscInt     rstart, rend, nzero = 0, last = c->d - 1;
  PetscLayout  map;
  PetscScalar *diag, *used;
  PetscReal    dmax;
  Vec          D;

  PetscFunctionBegin;
  PetscCall(MatCreate(c->comm, &c->E));
  PetscCall(MatSetSizes(c->E, PETSC_DECIDE, PETSC_DECIDE, c->d, c->d));
  PetscCall(MatSetType(c->E, c->place->mataij));
  PetscCall(MatSetOptionsPrefix(c->E, c->prefix));
  PetscCall(MatAppendOptionsPrefix(c->E, "deflation_coarse_"));
  PetscCall(MatSetFromOptions(c->E));
  PetscCall(MatGetLayouts(c->E, &map, NULL));
  PetscCall(PetscLayoutSetUp(map));
  PetscCall(PetscLayoutGetRange(map, &rstart, &rend));
  PetscCall(PolderCoarseSetEntries_Private(c, ptr, col, val, nullspace, rstart, rend));
  PetscCall(MatCreateVecs(c->E, &c->xvec, &c->bvec));
  PetscCall(VecDuplicate(c->bvec, &c->used));
  PetscCall(VecDuplicate(c->bvec, &D));
  if (c->general) PetscCall(MatGetRowMaxAbs(c->E, c->used, NULL));
  else PetscCall(MatGetDiagonal(c->E, c->used));
  PetscCall(VecMax(c->used, NULL, &dmax));
  PetscCall(MatGetDiagonal(c->E, D));
  PetscCall(VecGetArray(D, &diag));
  PetscCall(VecGetArray(c->used, &used));
  for (PetscInt i = 0; i < rend - rstart; ++i) {
    used[i] = PetscRealPart(used[i]) > POLDER_COARSE_ZERO * dmax;
    if (used[i] != (PetscScalar)0) continue;
    diag[i] = 1;
    nzero += !nullspace || rstart + i != last;
  }
  PetscCall(VecRestoreArray(c->used, &used));
  PetscCall(VecRestoreArray(D, &diag));
  PetscCall(MatDiagonalSet(c->E, D, INSERT_VALUES));
  PetscCall(VecDestroy(&D));
  PetscCallAllreduce(&nzero, &c->nleftzero, 1, MPIU_INT, MPI_SUM, c->comm);
  c->nleftnull = nullspace ? 1 : 0;
  if (!c->general) PetscCall(MatSetOption(c->E, MAT_SPD, PETSC_TRUE));
  PetscCall(PetscSFCreate(c->comm, &c->sf));
  PetscCall(PetscSFSetGraphLayout(c->sf, map, c->nl, NULL, PETSC_OWN_POINTER, c->gl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  By default a factor; beyond some size multigrid in CG or, for an E that is not symmetric, ILU in GMRES. An LU factor has no pivoting: a zero pivot is shifted,
  and the error of the coarse solve is reported
*/
static PetscErrorCode PolderCoarseCreateKSP(PolderCoarse c)
{
  const PetscBool direct = (PetscBool)(c->d <= POLDER_COARSE_DIRECT);
  PC              pc;
  KSP             inner;
  PetscMPIInt     size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  PetscCall(KSPCreate(c->comm, &c->ksp));
  PetscCall(KSPSetOptionsPrefix(c->ksp, c->prefix));
  PetscCall(KSPAppendOptionsPrefix(c->ksp, "deflation_coarse_"));
  PetscCall(KSPSetType(c->ksp, c->general ? KSPGMRES : KSPCG));
  PetscCall(KSPSetTolerances(c->ksp, 1e-10, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPSetOperators(c->ksp, c->E, c->E));
  PetscCall(KSPGetPC(c->ksp, &pc));
  if (direct && size > 1) {
    PetscCall(PCSetType(pc, PCREDUNDANT));
    PetscCall(PCRedundantGetKSP(pc, &inner));
    PetscCall(KSPGetPC(inner, &pc));
  }
  if (direct) PetscCall(PCSetType(pc, c->general ? PCLU : PCCHOLESKY));
  else PetscCall(PCSetType(pc, c->general ? PCBJACOBI : PCGAMG));
  if (direct && c->general) PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
  PetscCall(KSPSetFromOptions(c->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* xvec <- E^-1 bvec. An inner solve that does not converge is counted and reported; the true residual of the outer iteration shows its effect */
static PetscErrorCode PolderCoarseSolveKSP(PolderCoarse c)
{
  KSPConvergedReason reason;
  PetscInt           its;

  PetscFunctionBegin;
  if (c->transposed) PetscCall(KSPSolveTranspose(c->ksp, c->bvec, c->xvec));
  else PetscCall(KSPSolve(c->ksp, c->bvec, c->xvec));
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

PetscErrorCode PolderCoarseSetUp_KSP(PolderCoarse c, const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscBool nullspace)
{
  Vec          r;
  PetscReal    rnorm, bnorm;
  PetscInt     rstart, rend;
  PetscScalar *b;
  Mat          before;
  PetscInt     d, bad = 0;

  PetscFunctionBegin;
  c->solver = &PolderCoarseNested;
  if (!c->d) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < ptr[c->nl]; ++k) bad = bad || PetscIsInfOrNanScalar(val[k]);
  PetscCallAllreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_MAX, c->comm);
  c->bad = (PetscBool)bad;
  if (bad) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderCoarseAssembleDistributed(c, ptr, col, val, nullspace));
  if (c->ksp) {
    PetscCall(KSPGetOperators(c->ksp, &before, NULL));
    PetscCall(MatGetSize(before, &d, NULL));
    if (d != c->d) PetscCall(KSPDestroy(&c->ksp)); /* the number of columns has changed, for example with a moved level set */
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
  if (c->riders) {
    PetscCallAllreduce(MPI_IN_PLACE, c->riders->sum, (PetscMPIInt)c->riders->n, MPIU_SCALAR, MPIU_SUM, c->comm);
    PetscCall(VecDot(c->bvec, c->xvec, c->riders->energy));
  }
  PetscCall(VecGetArrayRead(c->xvec, &x));
  PetscCall(PetscSFBcastBegin(c->sf, MPIU_SCALAR, x, a2, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(c->sf, MPIU_SCALAR, x, a2, MPI_REPLACE));
  PetscCall(VecRestoreArrayRead(c->xvec, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves without a copy through the host when there is one process and the options leave E on the device */
static PetscErrorCode PolderCoarseSolveDevice_KSP(PolderCoarse c, const PetscScalar a1[], PetscScalar a2[], PetscBool early)
{
  PetscScalar       *b;
  const PetscScalar *x;
  PetscMPIInt        size;
  PetscBool          there;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(c->comm, &size));
  PetscCall(PolderVecOnDevice(c->bvec, &there));
  if (size > 1 || !there || c->riders) {
    PetscCall(PolderCoarseSolveThroughHost(c, a1, a2, early));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderVecGetDeviceWrite(c->bvec, &b));
  PetscCall(PolderDeviceToDevice(b, a1, sizeof(*b) * (size_t)c->d));
  PetscCall(PolderVecRestoreDeviceWrite(c->bvec, &b));
  PetscCall(VecPointwiseMult(c->bvec, c->bvec, c->used));
  PetscCall(PolderCoarseSolveKSP(c));
  PetscCall(PolderVecGetDeviceRead(c->xvec, &x));
  PetscCall(PolderDeviceToDevice(a2, x, sizeof(*x) * (size_t)c->d));
  PetscCall(PolderVecRestoreDeviceRead(c->xvec, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Condition number of E scaled to unit diagonal, for a view only: a few steps of the power method with E and with its solver */
static PetscErrorCode PolderCoarseCondition_KSP(PolderCoarse c)
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

static PetscErrorCode PolderCoarseView_KSP(PolderCoarse c, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (c->cond < 0) PetscCall(PolderCoarseCondition_KSP(c));
  PetscCall(PetscViewerASCIIPrintf(viewer, "coarse solve: ksp, distributed over the processes%s\n", c->general ? "; E is not symmetric" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCoarseViewMore_KSP(PolderCoarse c, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (c->nsolve) PetscCall(PetscViewerASCIIPrintf(viewer, "%.1f inner iterations a solve\n", (double)c->nits / (double)c->nsolve));
  if (c->nfailed) PetscCall(PetscViewerASCIIPrintf(viewer, "WARNING: %" PetscInt_FMT " coarse solves did not converge\n", c->nfailed));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(KSPView(c->ksp, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderCoarseSolver PolderCoarseNested = {.solve       = PolderCoarseSolve_KSP,
                                               .solvedevice = PolderCoarseSolveDevice_KSP,
                                               .view        = PolderCoarseView_KSP,
                                               .viewmore    = PolderCoarseViewMore_KSP};
