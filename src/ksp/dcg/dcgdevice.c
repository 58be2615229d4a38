/*
  The steps of dcg on device vectors. alpha, beta, rho and the norm never leave the device, except that the norm of each step is written to a ring in
  pinned memory that the host reads when it comes to it. What a norm decides (KSPConvergedDefault()) is decided by the device as well, which from then on
  leaves the vectors alone: the result does not depend on how far the host is behind.
*/
#include "dcgimpl.h"
#include "mat/aijderived.h"
#include "mat/dia.h"

/* From so many local rows on, a step takes longer than the host needs to ask for the next one */
#define POLDER_DCG_LARGE 1000000
/* Below: how far the host may be behind when steps are short, and how many steps a kernel makes that makes many. Where the preconditioner takes long, it is what the device does
   while the host looks at the norm, and a step begun in vain would be one of them */
#define POLDER_DCG_BEHIND 8
#define POLDER_DCG_BATCH  64

struct _n_KSPDCGDevice {
  PolderCGState   *state; /* on the device */
  PetscReal       *ring, *devicering;
  void            *work;
  PolderStream     stream;
  PetscInt         n;
  PetscBool        parallel;
  PetscBool        diagonal; /* the preconditioner is a diagonal, or nothing: z is not stored */
  PetscBool        brief;    /* it is that, or takes not much longer */
  Vec              dinv;     /* that diagonal; NULL: nothing */
  PetscBool        attached; /* A has a null space that PETSc takes from z */
  PetscBool        mean;     /* z loses its mean on the device */
  PetscBool        joined;   /* this step's preconditioner and direction are one */
  PetscInt         behind;   /* steps that the host may be behind */
  PetscBool        many;     /* one kernel makes many steps; else there are one kernel, or more, a line */
  const PolderDia *small;    /* it is that of small matrices; NULL: that of the preconditioner */
  PetscInt         batch;    /* so many */
  PetscBool        ready;    /* z and rho are there */
  Vec              p;        /* alpha p of the last step is still missing in the solution */
};

static PetscErrorCode KSPDCGDeviceCreate_Private(KSPDCGDevice *device)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(device));
  PetscCall(PolderDeviceMalloc(sizeof(PolderCGState), &(*device)->state));
  PetscCall(PolderDeviceMallocShared(POLDER_CG_RING * sizeof(PetscReal), &(*device)->ring, &(*device)->devicering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGDeviceDestroy_Private(KSPDCGDevice *device)
{
  PetscFunctionBegin;
  if (!*device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceFree(&(*device)->state));
  PetscCall(PolderDeviceFreeShared(&(*device)->ring));
  PetscCall(VecDestroy(&(*device)->dinv));
  PetscCall(PetscFree(*device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the steps run on the device? The preconditioned norm and flexible directions need scalars that only the host loop has, and the natural norm a rho that is made once a step */
static PetscErrorCode KSPDCGDeviceUse_Private(KSP ksp, Vec r, PetscBool *use)
{
  KSP_DCG  *dcg = (KSP_DCG *)ksp->data;
  PetscBool diagonal;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(r, use));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)dcg->pc, &diagonal, PCNONE, PCJACOBI, ""));
  if (dcg->flexible || ksp->transpose_solve || ksp->normtype == KSP_NORM_PRECONDITIONED) *use = PETSC_FALSE;
  if (ksp->normtype == KSP_NORM_NATURAL && (diagonal || dcg->space->d)) *use = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which preconditioners are diagonals, and whether the device may take the mean from z */
static PetscErrorCode KSPDCGDevicePC_Private(KSP ksp, Vec r)
{
  KSP_DCG     *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice device = dcg->device;
  MatNullSpace attached;
  PetscBool    constant = PETSC_FALSE, none, jacobi;
  PetscInt     nvec     = 0;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(dcg->A, &attached));
  if (attached) PetscCall(MatNullSpaceGetVecs(attached, &constant, &nvec, NULL));
  device->attached = (PetscBool)(attached != NULL);
  device->mean     = (PetscBool)(attached ? constant && !nvec : dcg->space->nullspace);
  PetscCall(PetscObjectTypeCompare((PetscObject)dcg->pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)dcg->pc, PCJACOBI, &jacobi));
  device->diagonal = (PetscBool)((none || jacobi) && (!attached || device->mean));
  device->brief    = (PetscBool)(none || jacobi || dcg->fused->brief);
  if (device->diagonal && jacobi) {
    if (!device->dinv) PetscCall(PolderVecDuplicate(r, &device->dinv));
    PetscCall(VecSet(ksp->work[1], 1.0));
    PetscCall(PCApply(dcg->pc, ksp->work[1], device->dinv));
  } else PetscCall(VecDestroy(&device->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One process, no deflation: small problems with a diagonal preconditioner and a matrix on few diagonals, and solvers that have a kernel of their own */
static PetscErrorCode KSPDCGDeviceMany_Private(KSP ksp)
{
  KSP_DCG     *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice device = dcg->device;

  PetscFunctionBegin;
  device->small = NULL;
  device->many  = PETSC_FALSE;
  device->ready = PETSC_FALSE;
  if (dcg->space->d || device->parallel) PetscFunctionReturn(PETSC_SUCCESS);
  if (dcg->fused->steps && (device->mean || !device->attached)) PetscCall((*dcg->fused->steps)(dcg->pc, PETSC_FALSE, PETSC_FALSE, 0, NULL, NULL, &device->many));
  if (device->many || !device->diagonal || device->n > (PetscInt)PolderWorkSize(PolderCGSmallMost_CUDA())) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderMatGetDeviceDia(dcg->A, &device->small));
  if (device->small && device->small->nd > POLDER_CGSMALL_DIAGONALS) device->small = NULL;
  device->many = (PetscBool)(device->small != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How far the host may be behind, and how many steps go into a kernel that makes many */
static PetscErrorCode KSPDCGDeviceBehind_Private(KSP ksp, PetscBool standard)
{
  KSP_DCG     *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice device = dcg->device;

  PetscFunctionBegin;
  if (dcg->check) device->behind = dcg->check - 1;
  else if (ksp->numbermonitors || ksp->calc_sings) device->behind = 0;
  else if (device->n < POLDER_DCG_LARGE) device->behind = device->brief || device->many ? POLDER_DCG_BEHIND : ksp->normtype == KSP_NORM_NATURAL ? 1 : 0; // that norm comes after the preconditioner
  else device->behind = device->diagonal || device->many ? 1 : 0;
  if (!standard || ksp->calc_sings) device->behind = 0;
  device->batch = 1;
  if (device->many && device->behind > 0) {
    device->batch  = dcg->check ? dcg->check : POLDER_DCG_BATCH;
    device->behind = device->batch / 2; // the next kernel is asked for when half of this one's steps are known, and mostly not at all
  }
  device->behind = PetscMin(device->behind, POLDER_CG_RING - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The state of a cycle that begins, or goes on; no norm is there yet */
static PetscErrorCode KSPDCGDeviceSetState_Private(KSPDCGDevice device, const PolderCGState *state)
{
  PetscFunctionBegin;
  PetscCall(PolderDeviceSynchronize()); // nothing writes to the ring any more
  for (PetscInt i = 0; i < POLDER_CG_RING; ++i) device->ring[i] = NAN;
  PolderLaunch(PolderCGBegin_CUDA(state, device->state, device->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGDeviceStart_Private(KSP ksp, Vec r, Vec p, PetscBool *use)
{
  KSP_DCG      *dcg = (KSP_DCG *)ksp->data;
  KSPDCGDevice  device;
  PolderCGState state = {0};
  PetscBool     standard;
  PetscMPIInt   size;

  PetscFunctionBegin;
  PetscCall(KSPDCGDeviceUse_Private(ksp, r, use));
  if (!*use) PetscFunctionReturn(PETSC_SUCCESS);
  if (!dcg->device) PetscCall(KSPDCGDeviceCreate_Private(&dcg->device));
  device = dcg->device;
  PetscCall(KSPDCGDevicePC_Private(ksp, r));
  PetscCall(PolderDeviceGetStream(&device->stream));
  PetscCall(PolderDeviceGetWork(&device->work));
  PetscCall(VecGetLocalSize(r, &device->n));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &size));
  device->parallel = (PetscBool)(size > 1);
  device->p        = p;
  /* a test or a monitor that may look at the solution gets the one that belongs to the norm */
  standard = (PetscBool)(ksp->converged == KSPConvergedDefault || ksp->converged == KSPConvergedSkip || ksp->converged == KSPRRBCGConverged_Private);
  PetscCall(KSPDCGDeviceMany_Private(ksp));
  PetscCall(KSPDCGDeviceBehind_Private(ksp, standard));
  state.nullspace = device->mean;
  state.natural   = ksp->normtype == KSP_NORM_NATURAL;
  state.its       = ksp->its;
  state.minits    = PolderKSPMinIts(ksp);
  state.ring      = device->devicering;
  state.tol       = -1;
  state.divtol    = PETSC_INFINITY;
  if (standard && ksp->normtype != KSP_NORM_NONE) {
    state.tol    = dcg->target > 0 ? dcg->target : ksp->ttol;
    state.divtol = ksp->divtol * ksp->rnorm0;
  } else if (standard) state.tol = ksp->abstol;
  PetscCall(VecGetSize(r, &state.N));
  PetscCall(KSPDCGDeviceSetState_Private(device, &state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sum[0 .. n) over all processes, in device memory */
static PetscErrorCode KSPDCGDeviceSum_Private(KSP ksp, PetscInt n, PetscScalar sum[])
{
  PetscScalar host[4];

  PetscFunctionBegin;
  PetscCall(PolderDeviceToHost(host, sum, n * sizeof(*sum)));
  PetscCallAllreduce(MPI_IN_PLACE, host, n, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)ksp));
  PetscCall(PolderDeviceFromHost(sum, host, n * sizeof(*sum)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rho <- (r, z) with z stored, or for a diagonal preconditioner z = dinv r */
static PetscErrorCode KSPDCGDeviceRho_Private(KSP ksp, Vec r, Vec z)
{
  KSP_DCG           *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice       device = dcg->device;
  const PetscScalar *ra, *za, *da = NULL;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_CGDot, r));
  PetscCall(PolderVecGetDeviceRead(r, &ra));
  PetscCall(PolderVecGetDeviceRead(z, &za));
  if (device->dinv) PetscCall(PolderVecGetDeviceRead(device->dinv, &da));
  PolderLaunch(PolderCGRho_CUDA(device->n, ra, za, da, dcg->first, device->parallel, device->state, device->work, device->stream));
  if (device->dinv) PetscCall(PolderVecRestoreDeviceRead(device->dinv, &da));
  PetscCall(PolderVecRestoreDeviceRead(z, &za));
  PetscCall(PolderVecRestoreDeviceRead(r, &ra));
  if (device->parallel) {
    PetscCall(KSPDCGDeviceSum_Private(ksp, 3, &device->state->sum[1]));
    PolderLaunch(PolderCGAdvance_CUDA(PETSC_FALSE, PETSC_TRUE, dcg->first, device->state, device->stream));
  }
  PetscCall(PetscLogGpuFlops(4.0 * device->n));
  PetscCall(PolderLogEnd(POLDER_CGDot, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGDeviceResume_Private(KSP ksp, Vec r)
{
  KSP_DCG      *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice  device = dcg->device;
  PolderCGState state;

  PetscFunctionBegin;
  PetscCall(PolderDeviceToHost(&state, device->state, sizeof(state)));
  state.frozen = POLDER_CG_RUNNING;
  if (state.tol > 0) state.tol = dcg->target;
  PetscCall(KSPDCGDeviceSetState_Private(device, &state));
  device->ready = PETSC_FALSE;
  if (device->diagonal) PetscCall(KSPDCGDeviceRho_Private(ksp, r, r)); // the last step, knowing that it was the last, left it out
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGDevicePrecondition_Private(KSP ksp, Vec r, Vec z)
{
  KSP_DCG          *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice      device = dcg->device;
  const PolderCGRho rho    = {device->state, dcg->first};
  PetscBool         done   = PETSC_FALSE;

  PetscFunctionBegin;
  device->joined = PETSC_FALSE;
  if (device->ready) PetscFunctionReturn(PETSC_SUCCESS);
  if (device->diagonal) { // a step has brought rho
    if (dcg->first) PetscCall(KSPDCGDeviceRho_Private(ksp, r, r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ksp->normtype == KSP_NORM_NATURAL && dcg->first) { // the norm has brought z
    PetscCall(KSPDCGDeviceRho_Private(ksp, r, z));
    device->ready = device->many;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (device->many) PetscFunctionReturn(PETSC_SUCCESS); // the steps begin with it
  if (dcg->fused->forward && (device->mean || !device->attached)) PetscCall((*dcg->fused->forward)(dcg->pc, r, &rho, &device->joined));
  // with rho on the way; the sum of r, which the mean of z needs, a step has brought
  if (dcg->fused->applyrho && !device->joined && (device->mean ? !dcg->first : !device->attached)) PetscCall((*dcg->fused->applyrho)(dcg->pc, r, z, &rho, &done));
  if (device->joined || done) PetscFunctionReturn(PETSC_SUCCESS); // joined: the rest goes with the direction; the mean of z is not known then, and that of p is taken one step later
  if (device->mean) PetscCall(PCApply(dcg->pc, r, z));
  else PetscCall(KSPDCGPCApply_Private(ksp, r, z));
  PetscCall(KSPDCGDeviceRho_Private(ksp, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGDeviceDirection_Private(KSP ksp, Vec r, Vec z, Vec p)
{
  KSP_DCG           *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice       device = dcg->device;
  Vec                from   = device->diagonal ? r : z;
  const PetscScalar *za, *da = NULL;
  PetscScalar       *pa, *xa;

  PetscFunctionBegin;
  if (device->many) PetscFunctionReturn(PETSC_SUCCESS); // all in the step
  if (device->joined) {
    PetscCall((*dcg->fused->backward)(dcg->pc, dcg->first, p, dcg->sol, device->state));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderLogBegin(POLDER_CGUpdate, p));
  PetscCall(PolderVecGetDeviceRead(from, &za));
  if (device->dinv) PetscCall(PolderVecGetDeviceRead(device->dinv, &da));
  PetscCall(PolderVecGetDeviceArray(p, &pa));
  PetscCall(PolderVecGetDeviceArray(dcg->sol, &xa));
  PolderLaunch(PolderCGDirection_CUDA(device->n, dcg->first, za, da, pa, xa, device->state, device->stream));
  PetscCall(PolderVecRestoreDeviceArray(dcg->sol, &xa));
  PetscCall(PolderVecRestoreDeviceArray(p, &pa));
  if (device->dinv) PetscCall(PolderVecRestoreDeviceRead(device->dinv, &da));
  PetscCall(PolderVecRestoreDeviceRead(from, &za));
  PetscCall(PetscLogGpuFlops((dcg->first ? 1.0 : 5.0) * device->n));
  PetscCall(PolderLogEnd(POLDER_CGUpdate, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGDeviceProduct_Private(KSP ksp, Vec p, Vec w)
{
  KSP_DCG           *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice       device = dcg->device;
  const PetscScalar *pa, *wa;
  const PolderRuns  *runs;
  PetscBool          dotted, summed = PETSC_FALSE;

  PetscFunctionBegin;
  if (device->many) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeflationSpaceGetRuns(dcg->space, &runs));
  // (p, A p) on the way, and what Z^T w begins with
  if (dcg->multdot) PetscCall((*dcg->multdot)(dcg->A, p, w, &device->state->pw, &dotted));
  else PetscCall(PolderMatMultDot(dcg->A, p, w, &device->state->pw, runs, &summed, &dotted));
  if (!dotted) {
    PetscCall(KSP_MatMult(ksp, dcg->A, p, w));
    PetscCall(PolderLogBegin(POLDER_CGDot, w));
    PetscCall(PolderVecGetDeviceRead(p, &pa));
    PetscCall(PolderVecGetDeviceRead(w, &wa));
    PolderLaunch(PolderDot_CUDA(device->n, pa, wa, &device->state->pw, device->work, device->stream));
    PetscCall(PolderVecRestoreDeviceRead(w, &wa));
    PetscCall(PolderVecRestoreDeviceRead(p, &pa));
    PetscCall(PetscLogGpuFlops(2.0 * device->n));
    PetscCall(PolderLogEnd(POLDER_CGDot, w));
  }
  PetscCall(PolderDeflationSpaceApplyPDot(dcg->space, w, summed, &device->state->pw));
  if (device->parallel) PetscCall(KSPDCGDeviceSum_Private(ksp, 1, &device->state->pw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r <- P r, after its mean, whose sum is still there, and the rho that goes with it */
static PetscErrorCode KSPDCGDeviceProject_Private(KSP ksp, Vec r)
{
  KSP_DCG     *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice device = dcg->device;
  PetscScalar *ra;
  MatNullSpace attached;

  PetscFunctionBegin;
  if (device->mean || dcg->space->nullspace) {
    PetscCall(PolderVecGetDeviceArray(r, &ra));
    PolderLaunch(PolderCGRemoveMean_CUDA(device->n, ra, device->state, device->stream));
    PetscCall(PolderVecRestoreDeviceArray(r, &ra));
  } else if (device->attached) {
    PetscCall(MatGetNullSpace(dcg->A, &attached));
    PetscCall(MatNullSpaceRemove(attached, r));
  }
  PetscCall(PolderDeflationSpaceApplyP(dcg->space, r));
  PetscCall(PolderDeviceZero(&device->state->sum[3], sizeof(PetscScalar))); // the sum of r
  if (device->diagonal) PetscCall(KSPDCGDeviceRho_Private(ksp, r, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A batch of whole steps with a small matrix */
static PetscErrorCode KSPDCGDeviceSmallSteps_Private(KSP ksp, PetscInt count, Vec r)
{
  KSP_DCG           *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice       device = dcg->device;
  const PolderDia   *dia    = device->small;
  const PetscScalar *da     = NULL;
  PetscScalar       *pa, *ra, *xa;

  PetscFunctionBegin;
  if (device->dinv) PetscCall(PolderVecGetDeviceRead(device->dinv, &da));
  PetscCall(PolderVecGetDeviceArray(r, &ra));
  PetscCall(PolderVecGetDeviceArray(device->p, &pa));
  PetscCall(PolderVecGetDeviceArray(dcg->sol, &xa));
  PolderLaunch(PolderCGSmall_CUDA(device->n, dia->nd, dia->off, dia->val, da, dcg->first, count, xa, ra, pa, device->state, device->work, device->stream));
  PetscCall(PolderVecRestoreDeviceArray(dcg->sol, &xa));
  PetscCall(PolderVecRestoreDeviceArray(device->p, &pa));
  PetscCall(PolderVecRestoreDeviceArray(r, &ra));
  if (device->dinv) PetscCall(PolderVecRestoreDeviceRead(device->dinv, &da));
  PetscCall(PetscLogGpuFlops((15.0 + 2.0 * dia->nd) * count * device->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDCGDeviceManySteps_Private(KSP ksp, Vec w, Vec r)
{
  KSP_DCG       *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice   device = dcg->device;
  const PetscInt count  = PetscMin(device->batch, ksp->max_it - dcg->steps);
  Vec            v[5]   = {dcg->sol, r, ksp->work[1], device->p, w};
  PetscBool      done;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_CGUpdate, r));
  if (device->small) PetscCall(KSPDCGDeviceSmallSteps_Private(ksp, count, r));
  else {
    PetscCall((*dcg->fused->steps)(dcg->pc, (PetscBool)!device->ready, dcg->first, count, v, device->state, &done));
    device->ready = PETSC_TRUE;
  }
  PetscCall(PolderLogEnd(POLDER_CGUpdate, r));
  dcg->steps += count - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGDeviceStep_Private(KSP ksp, PetscBool project, Vec w, Vec r)
{
  KSP_DCG           *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice       device = dcg->device;
  const PetscScalar *wa, *da = NULL;
  PetscScalar       *ra;

  PetscFunctionBegin;
  if (device->many) {
    PetscCall(KSPDCGDeviceManySteps_Private(ksp, w, r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderLogBegin(POLDER_CGUpdate, r));
  PetscCall(PolderVecGetDeviceRead(w, &wa));
  if (device->dinv) PetscCall(PolderVecGetDeviceRead(device->dinv, &da));
  PetscCall(PolderVecGetDeviceArray(r, &ra));
  PolderLaunch(PolderCGUpdate_CUDA(device->n, wa, ra, device->diagonal, da, device->parallel, device->state, device->work, device->stream));
  PetscCall(PolderVecRestoreDeviceArray(r, &ra));
  if (device->dinv) PetscCall(PolderVecRestoreDeviceRead(device->dinv, &da));
  PetscCall(PolderVecRestoreDeviceRead(w, &wa));
  if (device->parallel) {
    PetscCall(KSPDCGDeviceSum_Private(ksp, 4, device->state->sum));
    PolderLaunch(PolderCGAdvance_CUDA(PETSC_TRUE, device->diagonal, PETSC_FALSE, device->state, device->stream));
  }
  PetscCall(PetscLogGpuFlops((device->diagonal ? 8.0 : 5.0) * device->n));
  PetscCall(PolderLogEnd(POLDER_CGUpdate, r));
  if (project) PetscCall(KSPDCGDeviceProject_Private(ksp, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A breakdown that the device has found */
static PetscErrorCode KSPDCGDeviceBroken_Private(KSP ksp, int why)
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

static PetscErrorCode KSPDCGDeviceRitz_Private(KSP ksp)
{
  KSP_DCG      *dcg = (KSP_DCG *)ksp->data;
  PolderCGState state;

  PetscFunctionBegin;
  PetscCall(PolderDeviceToHost(&state, dcg->device->state, sizeof(state)));
  dcg->alphaold = dcg->alpha;
  dcg->alpha    = state.lastalpha;
  PetscCall(KSPDCGAddRitz_Private(ksp, (PetscBool)(state.lastbeta == 0), state.lastalpha, state.lastbeta, dcg->alphaold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norms of the steps begun, up to those that the host may be behind */
PetscErrorCode KSPDCGDeviceCatchUp_Private(KSP ksp)
{
  KSP_DCG       *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice   device = dcg->device;
  const PetscInt behind = dcg->steps >= ksp->max_it ? 0 : device->behind;
  PetscReal     *slot, norm;

  PetscFunctionBegin;
  while (!ksp->reason && ksp->its < dcg->steps - behind) {
    slot = &device->ring[ksp->its % POLDER_CG_RING];
    PetscCall(PolderDeviceWaitReal(slot, &norm));
    *slot = NAN;
    if (norm < 0) PetscCall(KSPDCGDeviceBroken_Private(ksp, (int)-norm));
    else {
      ++ksp->its;
      if (ksp->calc_sings) PetscCall(KSPDCGDeviceRitz_Private(ksp));
      PetscCall(KSPDCGReport_Private(ksp, norm, ksp->normtype == KSP_NORM_NONE ? 0 : norm));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGDeviceFlush_Private(KSP ksp)
{
  KSP_DCG           *dcg    = (KSP_DCG *)ksp->data;
  KSPDCGDevice       device = dcg->device;
  const PetscScalar *pa;
  PetscScalar       *xa;

  PetscFunctionBegin;
  if (dcg->first || device->many) PetscFunctionReturn(PETSC_SUCCESS); // the latter has no part missing
  PetscCall(PolderVecGetDeviceRead(device->p, &pa));
  PetscCall(PolderVecGetDeviceArray(dcg->sol, &xa));
  PolderLaunch(PolderCGFinish_CUDA(device->n, pa, xa, device->state, device->stream));
  PetscCall(PolderVecRestoreDeviceArray(dcg->sol, &xa));
  PetscCall(PolderVecRestoreDeviceRead(device->p, &pa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPDCGDeviceView_Private(KSP ksp, PetscViewer viewer)
{
  KSPDCGDevice device = ((KSP_DCG *)ksp->data)->device;

  PetscFunctionBegin;
  if (device->many) PetscCall(PetscViewerASCIIPrintf(viewer, "  on the device: up to %" PetscInt_FMT " iterations in one kernel\n", device->batch));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "  on the device: scalars stay there, the host is up to %" PetscInt_FMT " iterations behind%s\n", device->behind, device->diagonal ? "; the diagonal preconditioner is part of the updates" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
