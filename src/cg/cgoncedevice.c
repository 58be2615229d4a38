/* The steps of conjugate gradients with one reduction a step, on device vectors. Scalars and norms are treated as in cgdevice.c. */
#include "cgdevice.h"
#include "mat/aijderived.h"
#include "kernels/coarse.h"
#include "kernels/vec.h"

/* The vectors of a step that are needed; p = NULL: only those of the sums */
static PetscErrorCode PolderCGOnceDeviceGet_Private(KSP ksp, Vec r, Vec z, Vec p, Vec w, PolderCGOnce *a)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(a, sizeof(*a)));
  a->n = device->n;
  PetscCall(PolderVecGetDeviceArray(r, &a->r));
  if (z != r) PetscCall(PolderVecGetDeviceArray(z, &a->z));
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  if (device->dinv) PetscCall(PolderVecGetDeviceRead(device->dinv, &a->dinv));
  PetscCall(PolderVecGetDeviceRead(cg->v, &a->v));
  PetscCall(PolderVecGetDeviceArray(p, &a->p));
  PetscCall(PolderVecGetDeviceArray(w, &a->w));
  PetscCall(PolderVecGetDeviceArray(cg->sol, &a->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PolderCGOnceDeviceRestore_Private(KSP ksp, Vec r, Vec z, Vec p, Vec w, PolderCGOnce *a)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;

  PetscFunctionBegin;
  if (p) {
    PetscCall(PolderVecRestoreDeviceArray(cg->sol, &a->x));
    PetscCall(PolderVecRestoreDeviceArray(w, &a->w));
    PetscCall(PolderVecRestoreDeviceArray(p, &a->p));
    PetscCall(PolderVecRestoreDeviceRead(cg->v, &a->v));
    if (device->dinv) PetscCall(PolderVecRestoreDeviceRead(device->dinv, &a->dinv));
  }
  if (z != r) PetscCall(PolderVecRestoreDeviceArray(z, &a->z));
  PetscCall(PolderVecRestoreDeviceArray(r, &a->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where z is: r itself without a preconditioner */
static Vec PolderCGOnceZ_Private(KSP ksp, Vec r, Vec z)
{
  PolderCGDevice device = ((PolderCG *)ksp->data)->device;

  return device->form == CG_DIAGONAL && !device->dinv ? r : z;
}

/* z <- M^-1 r */
static PetscErrorCode PolderCGOnceApply_Private(KSP ksp, Vec r, Vec z)
{
  PolderCG          *cg     = (PolderCG *)ksp->data;
  PolderCGDevice     device = cg->device;
  const PetscScalar *da, *ra;
  PetscScalar       *za;

  PetscFunctionBegin;
  if (device->form == CG_DIAGONAL) {
    if (!device->dinv) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PolderVecGetDeviceRead(device->dinv, &da));
    PetscCall(PolderVecGetDeviceRead(r, &ra));
    PetscCall(PolderVecGetDeviceWrite(z, &za));
    PolderLaunch(PolderPointwiseMult_CUDA(device->n, da, ra, za, device->stream));
    PetscCall(PolderVecRestoreDeviceWrite(z, &za));
    PetscCall(PolderVecRestoreDeviceRead(r, &ra));
    PetscCall(PolderVecRestoreDeviceRead(device->dinv, &da));
  } else if (device->kernel == CG_CONSTANT) PetscCall(PCApply(cg->pc, r, z));
  else PetscCall(PolderCGPCApply(ksp, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- M^-1 r and the sums of this process */
static PetscErrorCode PolderCGOnceDeviceSums_Private(KSP ksp, Vec r, Vec z)
{
  PolderCGDevice device = ((PolderCG *)ksp->data)->device;
  PolderCGOnce   a;

  PetscFunctionBegin;
  PetscCall(PolderCGOnceApply_Private(ksp, r, z));
  PetscCall(PolderLogBegin(POLDER_CGDot, r));
  PetscCall(PolderCGOnceDeviceGet_Private(ksp, r, z, NULL, NULL, &a));
  PolderLaunch(PolderCGOnceSums_CUDA(&a, device->state, device->work, device->stream));
  PetscCall(PolderCGOnceDeviceRestore_Private(ksp, r, z, NULL, NULL, &a));
  PetscCall(PetscLogGpuFlops(6.0 * device->n));
  PetscCall(PolderLogEnd(POLDER_CGDot, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v <- A z and (z, v) of this process; *summed: and what Z^T v begins with */
static PetscErrorCode PolderCGOnceProduct_Private(KSP ksp, Vec z, PetscBool *summed)
{
  PolderCG          *cg     = (PolderCG *)ksp->data;
  PolderCGDevice     device = cg->device;
  PolderProductDot   dot    = {.value = &device->state->sum[POLDER_ONCE_ZV]};
  const PetscScalar *za, *va;
  PetscBool          dotted;

  PetscFunctionBegin;
  PetscCall(PolderDeflationSpaceGetRuns(cg->space, &dot.runs));
  PetscCall(PolderMatMultDot(cg->A, z, cg->v, &dot, &dotted));
  if (!dotted) {
    PetscCall(KSP_MatMult(ksp, cg->A, z, cg->v));
    PetscCall(PolderVecGetDeviceRead(z, &za));
    PetscCall(PolderVecGetDeviceRead(cg->v, &va));
    PolderLaunch(PolderDot_CUDA(device->n, za, va, dot.value, device->work, device->stream));
    PetscCall(PolderVecRestoreDeviceRead(cg->v, &va));
    PetscCall(PolderVecRestoreDeviceRead(z, &za));
    PetscCall(PetscLogGpuFlops(2.0 * device->n));
  }
  *summed = dot.summed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z <- M^-1 r, v <- P A z, the norm of the last step and the scalars of the next one */
static PetscErrorCode PolderCGPrecondition_OnceOnDevice(KSP ksp, Vec r, Vec stored, Vec w)
{
  PolderCG                *cg     = (PolderCG *)ksp->data;
  PolderCGDevice           device = cg->device;
  PolderCGState           *state  = device->state;
  const PolderCoarseRiders riders = {POLDER_ONCE_DEVICE, state->sum, &state->energy};
  Vec                      z      = PolderCGOnceZ_Private(ksp, r, stored);
  PetscBool                summed = PETSC_FALSE;

  PetscFunctionBegin;
  (void)w;
  if (!device->ready) PetscCall(PolderCGOnceDeviceSums_Private(ksp, r, z));
  device->ready = PETSC_FALSE;
  PetscCall(PolderCGOnceProduct_Private(ksp, z, &summed));
  if (cg->space->d) PetscCall(PolderDeflationSpaceApplyPSum(cg->space, cg->v, summed, &riders));
  else if (CGSumsApart(device)) PetscCall(PolderCGDeviceSum(ksp, POLDER_ONCE_DEVICE, state->sum));
  PolderLaunch(PolderCGOnceAdvance_CUDA(cg->space->d ? NULL : PolderPeersGetView(device->peers), cg->first, cg->told, state, device->stream));
  cg->told = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p <- z + beta p, w <- v + beta w, x <- x + alpha p, r <- r - alpha w, and z = dinv r */
static PetscErrorCode PolderCGStep_OnceOnDevice(KSP ksp, PetscBool project, Vec p, Vec w, Vec r)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;
  Vec            z      = PolderCGOnceZ_Private(ksp, r, ksp->work[1]);
  PolderCGOnce   a;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_CGUpdate, r));
  PetscCall(PolderCGOnceDeviceGet_Private(ksp, r, z, p, w, &a));
  device->ready = (PetscBool)(device->form == CG_DIAGONAL && !project);
  PolderLaunch(PolderCGOnceStep_CUDA(&a, cg->first, device->ready, device->state, device->work, device->stream));
  PetscCall(PolderCGOnceDeviceRestore_Private(ksp, r, z, p, w, &a));
  PetscCall(PetscLogGpuFlops(((cg->first ? 5.0 : 9.0) + (device->ready ? 7.0 : 0.0)) * device->n));
  PetscCall(PolderLogEnd(POLDER_CGUpdate, r));
  if (!project) PetscFunctionReturn(PETSC_SUCCESS);
  if (device->kernel == CG_CONSTANT) PetscCall(PolderDeflationSpaceApplyP(cg->space, r)); // the mean is gone
  else PetscCall(PolderCGProject(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A device that has not found the end itself has made the scalars of the next step already */
static PetscErrorCode PolderCGResume_OnceOnDevice(KSP ksp, Vec r)
{
  PolderCG      *cg     = (PolderCG *)ksp->data;
  PolderCGDevice device = cg->device;
  PolderCGState  state;

  PetscFunctionBegin;
  (void)r;
  PetscCall(PolderDeviceToHost(&state, device->state, sizeof(state)));
  if (state.frozen == POLDER_CG_RUNNING) PolderCGOnceUndo(&state);
  state.frozen = POLDER_CG_RUNNING;
  if (state.tol > 0) state.tol = cg->target;
  PetscCall(PolderCGDeviceSetState(device, &state));
  cg->told      = PETSC_TRUE;
  device->ready = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const PolderCGSteps PolderCGOnceOnDevice = {
  .resume       = PolderCGResume_OnceOnDevice,
  .precondition = PolderCGPrecondition_OnceOnDevice,
  .direction    = PolderCGNothing3, // step() updates p and w in its pass
  .product      = PolderCGNothing2,
  .step         = PolderCGStep_OnceOnDevice,
  .check        = PolderCGNothing2, // the norm comes with the next sums
  .catchup      = PolderCGDeviceCatchUp,
  .finish       = PolderCGNothing,
};
