/*
  The steps of conjugate gradients on device vectors. alpha, beta, rho and the norm never leave the device, except that the norm of each step is written to a
  ring in pinned memory that the host reads when it comes to it. What a norm decides (KSPConvergedDefault()) is decided by the device as well, which from then
  on leaves the vectors alone: the result does not depend on how far the host lags.
*/
#include "cgdevice.h"
#include "mat/aijderived.h"
#include "kernels/vec.h"

/* From this number of local rows on, a step takes longer than the host needs to ask for the next one */
#define POLDER_CG_LARGE 1000000
/* Below: how far the host may lag when steps are short, and how many steps a kernel makes that makes many. Where the preconditioner takes long, it is what
   the device does while the host looks at the norm, and a step begun in vain would be one of them */
#define POLDER_CG_LAG   8
#define POLDER_CG_BATCH 64

static PetscErrorCode PolderCGDeviceCreate_Private(PolderCGDevice *device)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(device));
  PetscCall(PolderDeviceMalloc(sizeof(PolderCGState), &(*device)->state));
  PetscCall(PolderDeviceMallocShared(POLDER_CG_RING * sizeof(PetscReal), &(*device)->ring, &(*device)->devicering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGDeviceDestroy(PolderCGDevice *device)
{
  PetscFunctionBegin;
  if (!*device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceFree(&(*device)->state));
  PetscCall(PolderDeviceFreeShared(&(*device)->ring));
  PetscCall(VecDestroy(&(*device)->dinv));
  PetscCall(PetscFree(*device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the steps run on the device? The preconditioned norm and flexible directions need scalars that only the host loop has, and the natural norm a rho that
   is made once a step */
static PetscErrorCode PolderCGDeviceUse_Private(KSP ksp, Vec r, PetscBool *use)
{
  PolderCG *cg = (PolderCG *)ksp->data;
  PetscBool diagonal;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(r, use));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)cg->pc, &diagonal, PCNONE, PCJACOBI, ""));
  if (cg->flexible || ksp->transpose_solve || ksp->normtype == KSP_NORM_PRECONDITIONED) *use = PETSC_FALSE;
  if (ksp->normtype == KSP_NORM_NATURAL && (diagonal || cg->space->d)) *use = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel of A, and which preconditioners are diagonals */
static PetscErrorCode PolderCGDevicePC_Private(KSP ksp, Vec r)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;
  PetscBool      none, jacobi;

  PetscFunctionBegin;
  PetscCall(PolderCGGetKernel(ksp, &device->kernel));
  PetscCall(PetscObjectTypeCompare((PetscObject)cg->pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)cg->pc, PCJACOBI, &jacobi));
  device->form  = (none || jacobi) && device->kernel != CG_ATTACHED ? CG_DIAGONAL : CG_STORED;
  device->brief = (PetscBool)(none || jacobi || cg->fused->brief);
  if (device->form == CG_DIAGONAL && jacobi) {
    if (!device->dinv) PetscCall(PolderVecDuplicate(r, &device->dinv));
    PetscCall(VecSet(ksp->work[1], 1.0));
    PetscCall(PCApply(cg->pc, ksp->work[1], device->dinv));
  } else PetscCall(VecDestroy(&device->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One process, no deflation: small problems with a diagonal preconditioner and a matrix on few diagonals, and preconditioners that have a kernel of their
   own, are batched */
static PetscErrorCode PolderCGDeviceBatched_Private(KSP ksp)
{
  PolderCG      *cg      = (PolderCG *)ksp->data;
  PolderCGDevice device  = cg->device;
  PetscBool      batched = PETSC_FALSE;

  PetscFunctionBegin;
  device->small = NULL;
  device->ready = PETSC_FALSE;
  if (cg->space->d || device->parallel || cg->once) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->fused->steps && device->kernel != CG_ATTACHED) PetscCall((*cg->fused->steps)(cg->pc, PETSC_FALSE, PETSC_FALSE, 0, NULL, NULL, &batched));
  if (!batched && device->form == CG_DIAGONAL && device->n <= (PetscInt)PolderWorkSize(PolderCGSmallMost_CUDA())) {
    PetscCall(PolderMatGetDeviceDia(cg->A, &device->small));
    if (device->small && device->small->nd > POLDER_CGSMALL_DIAGONALS) device->small = NULL;
    batched = (PetscBool)(device->small != NULL);
  }
  if (batched) device->form = CG_BATCHED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How far the host may lag, and how many steps go into a kernel that makes many */
static PetscErrorCode PolderCGDeviceLag_Private(KSP ksp, PetscBool plain)
{
  PolderCG       *cg      = (PolderCG *)ksp->data;
  PolderCGDevice  device  = cg->device;
  const PetscBool batched = (PetscBool)(device->form == CG_BATCHED);

  PetscFunctionBegin;
  if (cg->check) device->lag = cg->check - 1;
  else if (ksp->numbermonitors || ksp->calc_sings) device->lag = 0;
  else if (device->n < POLDER_CG_LARGE)
    device->lag = device->brief || batched ? POLDER_CG_LAG : ksp->normtype == KSP_NORM_NATURAL ? 1 : 0; // that norm comes after the preconditioner
  else device->lag = device->form == CG_DIAGONAL || batched ? 1 : 0;
  if (!plain || ksp->calc_sings) device->lag = 0;
  device->batch = 1;
  if (batched && device->lag > 0) {
    device->batch = cg->check ? cg->check : POLDER_CG_BATCH;
    device->lag   = device->batch / 2; // the next kernel is asked for when half of this one's steps are known, and mostly not at all
  }
  device->lag = PetscMin(device->lag, POLDER_CG_RING - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGDeviceSetState(PolderCGDevice device, const PolderCGState *state)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceSynchronize()); // nothing writes to the ring any more
  device->rounded = PETSC_FALSE;
  for (PetscInt i = 0; i < POLDER_CG_RING; ++i) device->ring[i] = NAN;
  PolderLaunch(PolderCGBegin_CUDA(state, device->state, device->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle begins from r */
static PetscErrorCode PolderCGDeviceStart_Private(KSP ksp, Vec r, Vec p)
{
  PolderCG      *cg = (PolderCG *)ksp->data;
  PolderCGDevice device;
  PolderCGState  state = {0};
  PetscBool      plain;
  PetscMPIInt    size;

  PetscFunctionBegin;
  if (!cg->device) PetscCall(PolderCGDeviceCreate_Private(&cg->device));
  device = cg->device;
  PetscCall(PolderCGDevicePC_Private(ksp, r));
  PetscCall(PolderDeviceGetStream(&device->stream));
  PetscCall(PolderDeviceGetWork(&device->work));
  PetscCall(VecGetLocalSize(r, &device->n));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)cg->b), &size));
  device->parallel = (PetscBool)(size > 1);
  PetscCall(PolderPeersGet(PetscObjectComm((PetscObject)cg->b), &device->peers));
  device->p = p;
  /* a test or a monitor that may look at the solution gets the one that belongs to the norm */
  plain = (PetscBool)(ksp->converged == KSPConvergedDefault || ksp->converged == KSPConvergedSkip || (cg->plaintest && ksp->converged == cg->plaintest));
  PetscCall(PolderCGDeviceBatched_Private(ksp));
  PetscCall(PolderCGDeviceLag_Private(ksp, plain));
  device->parted  = (PetscBool)(plain && !ksp->numbermonitors);
  state.nullspace = device->kernel == CG_CONSTANT;
  state.parallel  = device->parallel;
  state.natural   = ksp->normtype == KSP_NORM_NATURAL;
  state.its       = ksp->its;
  state.minits    = PolderKSPMinIts(ksp);
  state.ring      = device->devicering;
  state.tol       = -1;
  state.divtol    = PETSC_INFINITY;
  if (plain && ksp->normtype != KSP_NORM_NONE && ksp->converged != KSPConvergedSkip) {
    state.tol    = cg->target > 0 ? cg->target : ksp->ttol;
    state.divtol = ksp->divtol * ksp->rnorm0;
  } else if (plain && ksp->normtype == KSP_NORM_NONE) state.tol = ksp->abstol;
  PetscCall(VecGetSize(r, &state.N));
  PetscCall(PolderCGDeviceSetState(device, &state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGDeviceSum(KSP ksp, PetscInt n, PetscScalar sum[])
{
  PetscScalar host[POLDER_ONCE_SUMS];

  PetscFunctionBegin;
  PetscCall(PolderCommSum(PetscObjectComm((PetscObject)((PolderCG *)ksp->data)->b), n, sum, host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PolderCGReduction PolderCGDeviceReduction_Private(PolderCGDevice device)
{
  return (PolderCGReduction){.state = device->state, .peers = PolderPeersGetView(device->peers), .work = device->work};
}

/* rho <- (r, z) with z stored, or for a diagonal preconditioner z = dinv r */
static PetscErrorCode PolderCGDeviceRho_Private(KSP ksp, Vec r, Vec z)
{
  PolderCG               *cg     = (PolderCG *)ksp->data;
  PolderCGDevice          device = cg->device;
  const PolderCGReduction to     = PolderCGDeviceReduction_Private(device);
  const PetscScalar      *ra, *za, *da = NULL;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_CGDot, r));
  PetscCall(PolderVecGetDeviceRead(r, &ra));
  PetscCall(PolderVecGetDeviceRead(z, &za));
  if (device->dinv) PetscCall(PolderVecGetDeviceRead(device->dinv, &da));
  PolderLaunch(PolderCGRho_CUDA(device->n, ra, za, da, cg->first, &to, device->stream));
  if (device->dinv) PetscCall(PolderVecRestoreDeviceRead(device->dinv, &da));
  PetscCall(PolderVecRestoreDeviceRead(z, &za));
  PetscCall(PolderVecRestoreDeviceRead(r, &ra));
  if (CGSumsApart(device)) {
    PetscCall(PolderCGDeviceSum(ksp, 3, &device->state->sum[1]));
    PolderLaunch(PolderCGAdvance_CUDA(PETSC_FALSE, PETSC_TRUE, cg->first, device->state, device->stream));
  }
  PetscCall(PetscLogGpuFlops(4.0 * device->n));
  PetscCall(PolderLogEnd(POLDER_CGDot, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGResume_OnDevice(KSP ksp, Vec r)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;
  PolderCGState  state;

  PetscFunctionBegin;
  PetscCall(PolderDeviceToHost(&state, device->state, sizeof(state)));
  state.frozen = POLDER_CG_RUNNING;
  if (state.tol > 0) state.tol = cg->target;
  PetscCall(PolderCGDeviceSetState(device, &state));
  device->ready = PETSC_FALSE;
  if (CGDiagonal(device)) PetscCall(PolderCGDeviceRho_Private(ksp, r, r)); // the last step, knowing that it was the last, left it out
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- M^-1 r and rho, as far as the preconditioner does not offer both in one; joined, the rest goes with the direction: the mean of z is not known then,
   and that of p is taken one step later. The mean of z needs the sum of r, which a step has brought */
static PetscErrorCode PolderCGPreconditionStored_Private(KSP ksp, Vec r, Vec z)
{
  PolderCG         *cg     = (PolderCG *)ksp->data;
  PolderCGDevice    device = cg->device;
  const PetscBool   known  = (PetscBool)(device->kernel == CG_REGULAR || (device->kernel == CG_CONSTANT && !cg->first));
  const PolderCGRho rho    = {device->state, cg->first};
  PolderCGParts    *parts  = device->parted ? &device->parts : NULL;
  PetscBool         done   = PETSC_FALSE;

  PetscFunctionBegin;
  device->form = CG_STORED;
  if (cg->fused->forward && device->kernel != CG_ATTACHED) PetscCall((*cg->fused->forward)(cg->pc, r, &rho, &done));
  if (done) device->form = CG_JOINED;
  if (!done && known && cg->fused->applysingle) {
    PetscCall((*cg->fused->applysingle)(cg->pc, r, device->rounded, z, parts, &rho, &done));
    if (done && parts) device->form = CG_PARTED;
  }
  if (!done && known && cg->fused->applyrho) PetscCall((*cg->fused->applyrho)(cg->pc, r, z, &rho, &done));
  device->rounded = PETSC_FALSE;
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if (device->kernel == CG_CONSTANT) PetscCall(PCApply(cg->pc, r, z));
  else PetscCall(PolderCGPCApply(ksp, r, z));
  PetscCall(PolderCGDeviceRho_Private(ksp, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGPrecondition_OnDevice(KSP ksp, Vec r, Vec z, Vec w)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;

  PetscFunctionBegin;
  (void)w;
  if (device->ready) PetscFunctionReturn(PETSC_SUCCESS);
  if (CGDiagonal(device)) { // a step brings rho
    if (cg->first) PetscCall(PolderCGDeviceRho_Private(ksp, r, r));
  } else if (ksp->normtype == KSP_NORM_NATURAL && cg->first) { // the norm has brought z
    PetscCall(PolderCGDeviceRho_Private(ksp, r, z));
    if (device->form == CG_BATCHED) device->ready = PETSC_TRUE;
    else device->form = CG_STORED;
  } else if (device->form != CG_BATCHED) PetscCall(PolderCGPreconditionStored_Private(ksp, r, z)); // batched steps begin with it
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGDirection_OnDevice(KSP ksp, Vec r, Vec z, Vec p)
{
  PolderCG         *cg     = (PolderCG *)ksp->data;
  PolderCGDevice    device = cg->device;
  Vec               from   = device->form == CG_PARTED ? NULL : CGDiagonal(device) ? r : z;
  PolderCGDirection d      = {.n = device->n, .first = cg->first, .parts = device->parts};

  PetscFunctionBegin;
  device->sent = PETSC_FALSE;
  if (device->form == CG_BATCHED) PetscFunctionReturn(PETSC_SUCCESS); // all in the step
  if (device->form == CG_JOINED) {
    PetscCall((*cg->fused->backward)(cg->pc, cg->first, p, cg->sol, device->state));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderLogBegin(POLDER_CGUpdate, p));
  if (device->peers && !cg->multdot) PetscCall(PolderMatGetSends(cg->A, p, &d.sends));
  device->sent = (PetscBool)(d.sends.n > 0);
  if (from) PetscCall(PolderVecGetDeviceRead(from, &d.z));
  if (device->dinv) PetscCall(PolderVecGetDeviceRead(device->dinv, &d.dinv));
  PetscCall(PolderVecGetDeviceArray(p, &d.p));
  PetscCall(PolderVecGetDeviceArray(cg->sol, &d.x));
  PolderLaunch(PolderCGDirection_CUDA(&d, device->state, device->stream));
  PetscCall(PolderVecRestoreDeviceArray(cg->sol, &d.x));
  PetscCall(PolderVecRestoreDeviceArray(p, &d.p));
  if (device->dinv) PetscCall(PolderVecRestoreDeviceRead(device->dinv, &d.dinv));
  if (from) PetscCall(PolderVecRestoreDeviceRead(from, &d.z));
  PetscCall(PetscLogGpuFlops(((cg->first ? 1.0 : 5.0) + (from ? 0.0 : 2.0)) * device->n));
  PetscCall(PolderLogEnd(POLDER_CGUpdate, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGProduct_OnDevice(KSP ksp, Vec p, Vec w)
{
  PolderCG          *cg     = (PolderCG *)ksp->data;
  PolderCGDevice     device = cg->device;
  const PetscScalar *pa, *wa;
  PolderProductDot   dot = {.value = &device->state->pw, .whole = (PetscBool)!cg->space->d, .sent = device->sent};
  PetscBool          dotted;

  PetscFunctionBegin;
  if (device->form == CG_BATCHED) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationSpaceGetRuns(cg->space, &dot.runs));
  // (p, A p) on the way, and what Z^T w begins with
  if (cg->multdot) PetscCall((*cg->multdot)(cg->A, p, w, &device->state->pw, &dotted));
  else PetscCall(PolderMatMultDot(cg->A, p, w, &dot, &dotted));
  if (!dotted) {
    PetscCall(KSP_MatMult(ksp, cg->A, p, w));
    PetscCall(PolderLogBegin(POLDER_CGDot, w));
    PetscCall(PolderVecGetDeviceRead(p, &pa));
    PetscCall(PolderVecGetDeviceRead(w, &wa));
    PolderLaunch(PolderDot_CUDA(device->n, pa, wa, &device->state->pw, device->work, device->stream));
    PetscCall(PolderVecRestoreDeviceRead(w, &wa));
    PetscCall(PolderVecRestoreDeviceRead(p, &pa));
    PetscCall(PetscLogGpuFlops(2.0 * device->n));
    PetscCall(PolderLogEnd(POLDER_CGDot, w));
  }
  PetscCall(PolderDeflationSpaceApplyPDot(cg->space, w, dot.summed, &device->state->pw));
  if (device->parallel && !dot.reduced) PetscCall(PolderCGDeviceSum(ksp, 1, &device->state->pw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- P r, after its mean, whose sum is still there, and the rho that goes with it */
static PetscErrorCode PolderCGDeviceProject_Private(KSP ksp, Vec r)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;
  PetscScalar   *ra;
  MatNullSpace   attached;

  PetscFunctionBegin;
  if (device->kernel == CG_CONSTANT || cg->space->nullspace) {
    PetscCall(PolderVecGetDeviceArray(r, &ra));
    PolderLaunch(PolderCGRemoveMean_CUDA(device->n, ra, device->state, device->stream));
    PetscCall(PolderVecRestoreDeviceArray(r, &ra));
  } else if (device->kernel == CG_ATTACHED) {
    PetscCall(MatGetNullSpace(cg->A, &attached));
    PetscCall(MatNullSpaceRemove(attached, r));
  }
  PetscCall(PolderDeflationSpaceApplyP(cg->space, r));
  PetscCall(PolderDeviceZero(&device->state->sum[3], sizeof(PetscScalar))); // the sum of r
  if (CGDiagonal(device)) PetscCall(PolderCGDeviceRho_Private(ksp, r, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A batch of whole steps with a small matrix */
static PetscErrorCode PolderCGDeviceSmallSteps_Private(KSP ksp, PetscInt count, Vec r)
{
  PolderCG          *cg     = (PolderCG *)ksp->data;
  PolderCGDevice     device = cg->device;
  const PolderDia   *dia    = device->small;
  const PetscScalar *da     = NULL;
  PolderCGVectors    at     = {0};

  PetscFunctionBegin;
  if (device->dinv) PetscCall(PolderVecGetDeviceRead(device->dinv, &da));
  PetscCall(PolderVecGetDeviceArray(r, &at.r));
  PetscCall(PolderVecGetDeviceArray(device->p, &at.p));
  PetscCall(PolderVecGetDeviceArray(cg->sol, &at.x));
  PolderLaunch(PolderCGSmall_CUDA(dia, da, cg->first, count, &at, device->state, device->work, device->stream));
  PetscCall(PolderVecRestoreDeviceArray(cg->sol, &at.x));
  PetscCall(PolderVecRestoreDeviceArray(device->p, &at.p));
  PetscCall(PolderVecRestoreDeviceArray(r, &at.r));
  if (device->dinv) PetscCall(PolderVecRestoreDeviceRead(device->dinv, &da));
  PetscCall(PetscLogGpuFlops((15.0 + 2.0 * dia->nd) * count * device->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGDeviceManySteps_Private(KSP ksp, Vec w, Vec r)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;
  const PetscInt count  = PetscMin(device->batch, ksp->max_it - cg->begun);
  Vec            v[5]   = {cg->sol, r, ksp->work[1], device->p, w};
  PetscBool      done;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_CGUpdate, r));
  if (device->small) PetscCall(PolderCGDeviceSmallSteps_Private(ksp, count, r));
  else {
    PetscCall((*cg->fused->steps)(cg->pc, (PetscBool)!device->ready, cg->first, count, v, device->state, &done));
    device->ready = PETSC_TRUE;
  }
  PetscCall(PolderLogEnd(POLDER_CGUpdate, r));
  cg->begun += count - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the step stores r in single precision. What a projection makes of r is rounded by the preconditioner, and so is r where it does not bring rho */
static PetscErrorCode PolderCGDeviceRounded_Private(KSP ksp, PetscBool project, PolderCGRounded *rounded)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;

  PetscFunctionBegin;
  rounded->to = NULL;
  if (cg->fused->residual && !project && device->kernel != CG_ATTACHED) PetscCall((*cg->fused->residual)(cg->pc, PETSC_TRUE, rounded));
  device->rounded = (PetscBool)(rounded->to != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha <- rho / (p, w), r <- r - alpha w, ||r||; x follows with the next direction */
static PetscErrorCode PolderCGStep_OnDevice(KSP ksp, PetscBool project, Vec p, Vec w, Vec r)
{
  PolderCG               *cg     = (PolderCG *)ksp->data;
  PolderCGDevice          device = cg->device;
  const PolderCGReduction to     = PolderCGDeviceReduction_Private(device);
  const PetscScalar      *wa, *da = NULL;
  PetscScalar            *ra;
  PolderCGRounded         rounded;

  PetscFunctionBegin;
  (void)p;
  if (device->form == CG_BATCHED) {
    PetscCall(PolderCGDeviceManySteps_Private(ksp, w, r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderCGDeviceRounded_Private(ksp, project, &rounded));
  PetscCall(PolderLogBegin(POLDER_CGUpdate, r));
  PetscCall(PolderVecGetDeviceRead(w, &wa));
  if (device->dinv) PetscCall(PolderVecGetDeviceRead(device->dinv, &da));
  PetscCall(PolderVecGetDeviceArray(r, &ra));
  PolderLaunch(PolderCGUpdate_CUDA(device->n, wa, ra, CGDiagonal(device), da, &rounded, &to, device->stream));
  PetscCall(PolderVecRestoreDeviceArray(r, &ra));
  if (device->dinv) PetscCall(PolderVecRestoreDeviceRead(device->dinv, &da));
  PetscCall(PolderVecRestoreDeviceRead(w, &wa));
  if (CGSumsApart(device)) {
    PetscCall(PolderCGDeviceSum(ksp, 4, device->state->sum));
    PolderLaunch(PolderCGAdvance_CUDA(PETSC_TRUE, CGDiagonal(device), PETSC_FALSE, device->state, device->stream));
  }
  PetscCall(PetscLogGpuFlops((CGDiagonal(device) ? 8.0 : device->rounded ? 6.0 : 5.0) * device->n));
  PetscCall(PolderLogEnd(POLDER_CGUpdate, r));
  if (project) PetscCall(PolderCGDeviceProject_Private(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A breakdown that the device has found */
static PetscErrorCode PolderCGDeviceBroken_Private(KSP ksp, int why)
{
  PetscFunctionBegin;
  if (why == POLDER_CG_INDEFINITE_MAT) {
    PetscCall(PetscInfo(ksp, "(p, PA p) <= 0: the operator is not positive definite\n"));
    ksp->reason = KSP_DIVERGED_INDEFINITE_MAT;
  } else if (why == POLDER_CG_INDEFINITE_PC) {
    PetscCall(PetscInfo(ksp, "(r, M^-1 r) <= 0: the preconditioner is not positive definite\n"));
    ksp->reason = KSP_DIVERGED_INDEFINITE_PC;
  } else {
    KSPCheckNorm(ksp, (PetscReal)NAN);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGDeviceRitz_Private(KSP ksp)
{
  PolderCG     *cg = (PolderCG *)ksp->data;
  PolderCGState state;

  PetscFunctionBegin;
  PetscCall(PolderDeviceToHost(&state, cg->device->state, sizeof(state)));
  cg->alphaold = cg->alpha;
  cg->alpha    = state.lastalpha;
  PetscCall(PolderCGAddRitz(ksp, (PetscBool)(state.lastbeta == 0), state.lastalpha, state.lastbeta, cg->alphaold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGDeviceCatchUp(KSP ksp)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;
  const PetscInt lag    = cg->begun >= ksp->max_it ? 0 : device->lag;
  PetscReal     *slot, norm;

  PetscFunctionBegin;
  while (!ksp->reason && ksp->its < cg->begun - lag) {
    slot = &device->ring[ksp->its % POLDER_CG_RING];
    PetscCall(PolderDeviceWaitReal(slot, &norm));
    *slot = NAN;
    if (device->peers) PetscCall(PolderPeersCheck(device->peers));
    if (norm < 0) PetscCall(PolderCGDeviceBroken_Private(ksp, (int)-norm));
    else {
      ++ksp->its;
      if (ksp->calc_sings) PetscCall(PolderCGDeviceRitz_Private(ksp));
      PetscCall(PolderCGReport(ksp, norm, ksp->normtype == KSP_NORM_NONE ? 0 : norm));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGFinish_OnDevice(KSP ksp)
{
  PolderCG          *cg     = (PolderCG *)ksp->data;
  PolderCGDevice     device = cg->device;
  const PetscScalar *pa;
  PetscScalar       *xa;

  PetscFunctionBegin;
  if (cg->first || device->form == CG_BATCHED) PetscFunctionReturn(PETSC_SUCCESS); // the latter has no part missing
  PetscCall(PolderVecGetDeviceRead(device->p, &pa));
  PetscCall(PolderVecGetDeviceArray(cg->sol, &xa));
  PolderLaunch(PolderCGFinish_CUDA(device->n, pa, xa, device->state, device->stream));
  PetscCall(PolderVecRestoreDeviceArray(cg->sol, &xa));
  PetscCall(PolderVecRestoreDeviceRead(device->p, &pa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PolderCGDeviceView(KSP ksp, PetscViewer viewer)
{
  PolderCGDevice device = ((PolderCG *)ksp->data)->device;
  const char    *transport;

  PetscFunctionBegin;
  if (device->form == CG_BATCHED)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  on the device: up to %" PetscInt_FMT " iterations in one kernel\n", device->batch));
  else {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  on the device: scalars stay there, the host is up to %" PetscInt_FMT " iterations behind%s", device->lag,
                                     device->form == CG_DIAGONAL ? "; the diagonal preconditioner is part of the updates" : ""));
    if (device->parallel) PetscCall(PolderPeersGetTransport(PetscObjectComm((PetscObject)ksp), &transport));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s%s\n", device->parallel ? "; values between processes: " : "", device->parallel ? transport : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of this step comes later */
static PetscErrorCode PolderCGCheck_OnDevice(KSP ksp, Vec r, Vec z)
{
  PetscFunctionBegin;
  (void)ksp, (void)r, (void)z;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderCGSteps PolderCGStepsOnDevice = {
  .resume       = PolderCGResume_OnDevice,
  .precondition = PolderCGPrecondition_OnDevice,
  .direction    = PolderCGDirection_OnDevice,
  .product      = PolderCGProduct_OnDevice,
  .step         = PolderCGStep_OnDevice,
  .check        = PolderCGCheck_OnDevice,
  .catchup      = PolderCGDeviceCatchUp,
  .finish       = PolderCGFinish_OnDevice,
};

PetscErrorCode PolderCGChooseSteps(KSP ksp, Vec r, Vec p)
{
  PolderCG *cg = (PolderCG *)ksp->data;
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PolderCGDeviceUse_Private(ksp, r, &device));
  PetscCall(PolderCGChooseOnce(ksp, r, device));
  if (cg->once) cg->steps = device ? &PolderCGOnceOnDevice : &PolderCGOnceOnHost;
  else if (device) cg->steps = &PolderCGStepsOnDevice;
  else PetscCall(PolderCGChooseJoined(ksp, r));
  if (device) PetscCall(PolderCGDeviceStart_Private(ksp, r, p));
  else PetscCall(PolderCGDeviceDestroy(&cg->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}
