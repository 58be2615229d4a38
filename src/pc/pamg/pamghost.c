/* Pairwise-aggregation multigrid: the cycle on the host. */
#include "pamgsteps.h"
#include "kernels/csr.h"
#include "kernels/eliminate.h"
#include "kernels/level.h"
#include "kernels/vec.h"
#include <petsc/private/pcimpl.h>

static PolderLevelTransfer PamgTransfer(const PamgLevel *L)
{
  return (PolderLevelTransfer){.agg = L->agg, .nc = L->nc, .grid = L->isgrid ? &L->grid : NULL, .lines = L->islines ? &L->lines : NULL};
}

#define LEVEL_VALUE        PetscScalar
#define LEVEL_UNIT         MPIU_SCALAR
#define LEVEL_NAME(name)   name##Double
#define LEVEL_KERNEL(name) name##_Host
#define LEVEL_MATRIX(name) name##_Host
#define LEVEL_STEPS        PamgStepsDouble
#include "pamghost.h"
#undef LEVEL_VALUE
#undef LEVEL_UNIT
#undef LEVEL_NAME
#undef LEVEL_KERNEL
#undef LEVEL_MATRIX
#undef LEVEL_STEPS

#define LEVEL_VALUE        float
#define LEVEL_UNIT         MPI_FLOAT
#define LEVEL_NAME(name)   name##Single
#define LEVEL_KERNEL(name) name##Single_Host
#define LEVEL_MATRIX(name) name##Single_Host
#define LEVEL_STEPS        PamgStepsSingle
#include "pamghost.h"
#undef LEVEL_NAME
#undef LEVEL_MATRIX
#undef LEVEL_STEPS

#define LEVEL_NAME(name)   name##Half
#define LEVEL_MATRIX(name) name##Half_Host
#define LEVEL_STEPS        PamgStepsHalf
#include "pamghost.h"

/* Sets the arrays of the first level to those of the matrix */
static PetscErrorCode PamgBeginApply(PC pc)
{
  PC_PAMG         *pamg = (PC_PAMG *)pc->data;
  PamgLevel       *L    = pamg->level;
  const PolderDia *dia;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(L->A, &L->csr));
  L->M.ai = L->csr.ai;
  L->M.aj = L->csr.aj;
  if (pamg->precision != PAMG_DOUBLE) PetscFunctionReturn(PETSC_SUCCESS);
  L->M.aa = L->csr.aa;
  if (L->ownval) PetscFunctionReturn(PETSC_SUCCESS);
  L->M.nd = 0;
  if (L->bydiagonals) {
    PetscCall(PolderMatGetDia(L->A, &dia));
    if (dia) {
      L->M.nd   = dia->nd;
      L->M.main = dia->main;
      L->M.off  = dia->off;
      L->M.val  = (const void *const *)dia->val;
    } else {
      PetscCall(PCPAMGFindDiagonal(L));
      L->M.diag = L->diag;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PamgEndApply(PC pc)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PolderMatRestoreCSR(pamg->level->A, &pamg->level->csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In single precision from r, which the solver may have stored in L->b, to z or, with z = NULL, to its parts */
static PetscErrorCode PamgCycleRounded(PC pc, PetscBool rounded, Vec r, PetscScalar *z)
{
  PC_PAMG           *pamg  = (PC_PAMG *)pc->data;
  PamgLevel         *L     = pamg->level;
  const PetscBool    there = (PetscBool)(rounded && pamg->lent), wide = PamgWritesWide(pamg);
  const PetscScalar *rr;

  PetscFunctionBegin;
  pamg->lent = PETSC_FALSE; // the cycle overwrites it
  if (!there) {
    PetscCall(PolderLogBegin(POLDER_PAMGRound, pc));
    PetscCall(VecGetArrayRead(r, &rr));
    PolderLevelRound_Host(L->n, 1 / pamg->unit, rr, (float *)L->b);
    PetscCall(VecRestoreArrayRead(r, &rr));
    PetscCall(PetscLogFlops(1.0 * L->n));
    PetscCall(PolderLogEnd(POLDER_PAMGRound, pc));
  }
  pamg->parts     = (PolderCGParts){(const float *)L->x, NULL, pamg->unit};
  pamg->end.wide  = wide ? z : NULL;
  pamg->end.parts = (PetscBool)(wide && !z);
  pamg->end.unit  = pamg->unit;
  PetscCall(PCPAMGCycle(pamg, L->b, L->x));
  for (PetscInt i = 0; i < L->n && z && !wide; ++i) z[i] = pamg->unit * ((float *)L->x)[i];
  pamg->end.wide  = NULL;
  pamg->end.parts = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGApplyHost(PC pc, Vec r, Vec z)
{
  PC_PAMG           *pamg = (PC_PAMG *)pc->data;
  const PetscScalar *rr;
  PetscScalar       *zz;
  PetscLogDouble     last;

  PetscFunctionBegin;
  PetscCall(PamgBeginApply(pc));
  PetscCall(VecGetArrayWrite(z, &zz));
  if (pamg->precision == PAMG_DOUBLE) {
    PetscCall(VecGetArrayRead(r, &rr));
    PetscCall(PCPAMGCycle(pamg, rr, zz));
    PetscCall(VecRestoreArrayRead(r, &rr));
  } else PetscCall(PamgCycleRounded(pc, PETSC_FALSE, r, zz));
  PetscCall(VecRestoreArrayWrite(z, &zz));
  PetscCall(PetscLogFlops(PCPAMGFlops(pamg, &last)));
  PetscCall(PamgEndApply(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGPartsHost(PC pc, Vec r, PetscBool rounded, PolderCGParts *parts)
{
  PC_PAMG       *pamg = (PC_PAMG *)pc->data;
  PetscLogDouble last;

  PetscFunctionBegin;
  PetscCall(PamgBeginApply(pc));
  PetscCall(PamgCycleRounded(pc, rounded, r, NULL));
  *parts = pamg->parts;
  PetscCall(PetscLogFlops(PCPAMGFlops(pamg, &last)));
  PetscCall(PamgEndApply(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = D^-1 A x, y is scratch */
static PetscErrorCode PamgScaledMult(const PC_PAMG *pamg, PamgLevel *L, const PetscScalar x[], PetscScalar y[], PetscScalar z[])
{
  PetscFunctionBegin;
  PolderCsrMult_Host(PolderOwnRows(&L->csr), (PolderRowList){L->n, NULL}, 1, x, NULL, y, (PolderRowsDot){0});
  if (L->halo) {
    PetscScalar *ghost;

    PetscCall(PetscMalloc1(L->csr.nghost, &ghost));
    PetscCall(PolderHaloExchange(L->halo, MPIU_SCALAR, x, ghost));
    PolderLevelGhosts_Host(PolderGhostColumns(&L->csr), 1, ghost, NULL, y, y);
    PetscCall(PetscFree(ghost));
  }
  for (PetscInt i = 0; i < L->n; ++i) z[i] = y[i] * (pamg->precision != PAMG_DOUBLE ? (PetscScalar)((float *)L->dinv)[i] : ((PetscScalar *)L->dinv)[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Estimates the largest eigenvalue of D^-1 A: ten steps of the power method, plus ten percent */
static PetscErrorCode PamgEstimate(PC_PAMG *pamg, PetscInt l)
{
  PamgLevel   *L = &pamg->level[l];
  PetscScalar *x, *y;
  PetscReal    norm = 1, bound = L->bound;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &bound, 1, MPIU_REAL, MPIU_MAX, L->comm);
  L->eigenvalue = PamgEigenvalue(bound, 0);
  if (bound <= PAMG_BOUND) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(L->n, &x, L->n, &y));
  for (PetscInt i = 0; i < L->n; ++i) x[i] = PolderPowerStart(i);
  for (PetscInt k = 0; k <= PAMG_POWER && norm > 0; ++k) {
    norm = PolderDot_Host(L->n, x, x);
    PetscCallAllreduce(MPI_IN_PLACE, &norm, 1, MPIU_REAL, MPIU_SUM, L->comm);
    norm = PetscSqrtReal(norm);
    if (!(norm > 0)) break;
    for (PetscInt i = 0; i < L->n; ++i) x[i] /= norm;
    if (k < PAMG_POWER) PetscCall(PamgScaledMult(pamg, L, x, y, x));
  }
  L->eigenvalue = PamgEigenvalue(bound, norm);
  PetscCall(PetscLogFlops(PAMG_POWER * (2.0 * PamgLocalEntries(L) + 4.0 * L->n)));
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGEstimateHost(PC pc)
{
  PC_PAMG *pamg = (PC_PAMG *)pc->data;

  PetscFunctionBegin;
  for (PetscInt l = 0; l + 1 < pamg->nlevel; ++l) {
    if (!pamg->level[l].eliminates) PetscCall(PamgEstimate(pamg, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
