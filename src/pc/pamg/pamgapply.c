/* Pairwise-aggregation multigrid: the apply on the device, and what it does for conjugate gradients beside it. */
#include "pamgsteps.h"
#include "core/peers.h"
#include "mat/aijderived.h"
#include <petsc/private/matimpl.h>
#include "kernels/level.h"
#include <petsc/private/pcimpl.h>

PetscErrorCode PCPAMGBeginDevice(PC pc, PolderCSR *csr)
{
  PC_PAMG         *pamg = (PC_PAMG *)pc->data;
  PamgLevel       *L    = pamg->level;
  const PolderDia *dia;
  PetscBool        done;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(csr, sizeof(*csr)));
  if (pamg->precision != PAMG_DOUBLE || L->ownval) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCPAMGFirstDiagonals(pamg, &dia));
  if (dia && dia->nd <= POLDER_LEVEL_DIAGONALS) {
    L->M.nd   = dia->nd;
    L->M.main = dia->main;
    L->M.off  = dia->off;
    L->M.val  = (const void *const *)dia->val;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pamg->given) *csr = pamg->given->csr;
  else {
    PetscCall(PolderMatGetDeviceCSR(L->A, csr, &done));
    PetscCheck(done, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "The matrix of PC pamg has left the device since the set-up: set up again");
  }
  L->M.nd = 0;
  L->M.ai = csr->ai;
  L->M.aj = csr->aj;
  L->M.aa = csr->aa;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGEndDevice(PC pc, PolderCSR *csr)
{
  PetscFunctionBegin;
  if (csr->ai) PetscCall(PolderMatRestoreDeviceCSR(((PC_PAMG *)pc->data)->level->A, csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- the solution of the first level in double precision */
static PetscErrorCode PamgWidenFirst(const PamgLevel *L, PetscScalar *z)
{
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelWiden_CUDA(L->n, (const float *)L->x, z, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L->b <- r in single precision and units, unless the solver has stored it there */
static PetscErrorCode PamgRound(PC pc, PetscBool rounded, const PetscScalar *r)
{
  PC_PAMG        *pamg  = (PC_PAMG *)pc->data;
  PamgLevel      *L     = pamg->level;
  const PetscBool there = (PetscBool)(rounded && pamg->lent);
  PolderStream    stream;

  PetscFunctionBegin;
  pamg->lent = PETSC_FALSE; // the cycle overwrites it
  if (there) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_PAMGRound, pc));
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderLevelRound_CUDA(L->n, 1 / pamg->unit, r, (float *)L->b, stream));
  PetscCall(PetscLogGpuFlops(1.0 * L->n));
  PetscCall(PolderLogEnd(POLDER_PAMGRound, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In single precision from r to z, or to the parts of z */
static PetscErrorCode PamgCycleSingle(PC pc, PetscBool rounded, PetscBool parts, const PetscScalar *r, PetscScalar *z)
{
  PC_PAMG   *pamg = (PC_PAMG *)pc->data;
  PamgLevel *L    = pamg->level;

  PetscFunctionBegin;
  PetscCall(PamgRound(pc, rounded, r));
  pamg->end.unit  = pamg->unit;
  pamg->end.parts = parts;
  pamg->end.wide  = PamgWritesWide(pamg) && !parts ? z : NULL;
  PetscCall(PCPAMGCycle(pamg, L->b, L->x));
  if (!parts && !PamgWritesWide(pamg)) PetscCall(PamgWidenFirst(L, z));
  pamg->end.wide  = NULL;
  pamg->end.parts = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rho: NULL, or (r, z) and what follows from it are computed in the last step. rounded: the solver has stored r in L->b as well. parts: see PCPAMGApplyRho() */
static PetscErrorCode PamgApply(PC pc, Vec r, PetscBool rounded, Vec z, PolderCGParts *parts, const PolderCGRho *rho)
{
  PC_PAMG           *pamg   = (PC_PAMG *)pc->data;
  const PetscBool    single = (PetscBool)(pamg->precision != PAMG_DOUBLE);
  const PetscScalar *rr;
  PetscScalar       *zz = NULL;
  PetscLogDouble     flops, last = 0;
  PolderCSR          csr;

  PetscFunctionBegin;
  if (pamg->cycle == PC_PAMG_CYCLE_K && !pamg->ksum) PetscCall(PolderDeviceMalloc(sizeof(*pamg->ksum) * POLDER_KSUMS * (size_t)pamg->nlevel, &pamg->ksum));
  PetscCall(PCPAMGBeginDevice(pc, &csr));
  PetscCall(PolderVecGetDeviceRead(r, &rr));
  if (!parts) PetscCall(PolderVecGetDeviceWrite(z, &zz));
  if (rho) {
    pamg->end.r   = rr;
    pamg->end.rho = *rho;
  }
  pamg->end.unit = 1;
  PetscCall(PetscLogGpuTimeBegin());
  if (single) PetscCall(PamgCycleSingle(pc, rounded, (PetscBool)(parts != NULL), rr, zz));
  else PetscCall(PCPAMGCycle(pamg, rr, zz));
  pamg->end.r = NULL;
  if (parts) *parts = pamg->parts;
  if (rho && pamg->level->halo) PetscCall(PolderCommRho(pamg->level->comm, rho)); // the sum of r is known
  PetscCall(PetscLogGpuTimeEnd());
  if (!parts) PetscCall(PolderVecRestoreDeviceWrite(z, &zz));
  PetscCall(PolderVecRestoreDeviceRead(r, &rr));
  if (single && pamg->unit != 1 && !PamgWritesWide(pamg)) PetscCall(VecScale(z, pamg->unit));
  PetscCall(PCPAMGEndDevice(pc, &csr));
  flops = PCPAMGFlops(pamg, &last);
  if (pamg->replay.again) flops += last; // which the solver of the last level reports otherwise
  (void)flops;                           // unused if PETSc does not log device flops
  PetscCall(PetscLogGpuFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Host vectors are copied to the device and back */
PetscErrorCode PCPAMGApplyDevice(PC pc, Vec r, Vec z)
{
  Vec       there[2];
  PetscBool on[2];

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(r, &on[0]));
  PetscCall(PolderVecOnDevice(z, &on[1]));
  if (on[0] && on[1]) {
    PetscCall(PamgApply(pc, r, PETSC_FALSE, z, NULL, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int k = 0; k < 2; ++k) {
    PetscCall(VecCreate(PetscObjectComm((PetscObject)pc), &there[k]));
    PetscCall(VecSetSizes(there[k], pc->pmat->rmap->n, pc->pmat->rmap->N));
    PetscCall(VecSetType(there[k], POLDER_VEC_DEVICE));
  }
  PetscCall(VecCopy(r, there[0]));
  PetscCall(PamgApply(pc, there[0], PETSC_FALSE, there[1], NULL, NULL));
  PetscCall(VecCopy(there[1], z));
  for (int k = 0; k < 2; ++k) PetscCall(VecDestroy(&there[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is z the result of a smoothing step on the whole first level? Then the step brings rho */
static PetscBool PamgEndsWithStep(const PC_PAMG *pamg)
{
  const PolderHalo halo = pamg->nlevel ? pamg->level->halo : NULL;

  return (PetscBool)(pamg->place->device && pamg->nlevel > 1 && pamg->smoother != PAMG_SGS && pamg->post && (!halo || PolderHaloOnlyLaunches(halo)));
}

PetscErrorCode PCPAMGResidual(PC pc, PetscBool device, PolderCGRounded *rounded)
{
  PC_PAMG *pamg = (PC_PAMG *)PamgGetSame(pc)->data;

  PetscFunctionBegin;
  pamg->lent     = (PetscBool)(pamg->precision != PAMG_DOUBLE && device == pamg->place->device && (!device || PamgEndsWithStep(pamg)));
  rounded->to    = pamg->lent ? (float *)pamg->level->b : NULL;
  rounded->scale = 1 / pamg->unit;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGBringsRho(PC pc, PetscBool parts, Vec r, Vec z, PetscBool *brings)
{
  const PC_PAMG *pamg = (const PC_PAMG *)pc->data;
  PetscBool      there;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(r, brings));
  PetscCall(PolderVecOnDevice(z, &there));
  if (!there || !PamgEndsWithStep(pamg) || (parts && pamg->precision == PAMG_DOUBLE)) *brings = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCPAMGApplyRho(PC pc, Vec r, PetscBool rounded, Vec z, PolderCGParts *parts, const PolderCGRho *rho)
{
  PetscFunctionBegin;
  PetscCall(PamgApply(pc, r, rounded, z, parts, rho));
  PetscFunctionReturn(PETSC_SUCCESS);
}
