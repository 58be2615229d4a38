/* PC rrb on the device: the sweeps, and the operations that solvers use beyond PCApply(). The set-up is in rrbdevicesetup.c. */
#include "rrbimpl.h"
#include "kernels/coarse.h"
#include <petsc/private/pcimpl.h>

/* The grids from number first on, the rest, and n passes over them */
static PolderRRBSystem RRBSystemFrom(const RRBDevice *d, PetscInt first, PetscInt n, const PolderRRBPass pass[])
{
  return (PolderRRBSystem){.single  = d->single,
                           .ngrid   = d->ngrid - first,
                           .step    = d->step + first,
                           .n       = d->n,
                           .ld      = d->ld,
                           .inverse = d->inverse,
                           .b       = d->b,
                           .x       = d->x,
                           .S       = d->reduced,
                           .npass   = n,
                           .base    = first,
                           .pass    = pass};
}

/* Does the kernel of all small grids make this pass? */
static PetscBool RRBPassIsSmall(const RRBDevice *d, PolderRRBPass pass)
{
  return (PetscBool)(d->small < d->ngrid && pass.grid >= d->small && (pass.type != RRB_PASS_REST || d->n <= POLDER_RRB_SMALL_REST));
}

PetscErrorCode PCRRBRunPass(PetscBool single, PolderRRBPass pass, const PolderRRBStep *step, const PolderCGRho *rho, PolderStream stream)
{
  const PolderRRBStep  s     = PolderRRBVisitStep(*step, pass.visit);
  const PetscInt       first = 2 * s.from;
  const size_t         at = (size_t)first * (size_t)s.ld, origin = s.plane.origin;
  const PolderRRBPlane lines = RRBPlaneLines(s.plane, first, PetscMin(s.to ? 2 * s.to : s.g.ny, s.g.ny)); // rows of a plane are s.ld apart
  void                *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetWork(&work));
  switch (pass.type) {
  case RRB_PASS_FORWARD:
    PolderLaunch(PolderRRBForward_CUDA(single, &s, stream));
    break;
  case RRB_PASS_BACKWARD:
    PolderLaunch(PolderRRBBackward_CUDA(single, &s, rho, work, stream));
    break;
  case RRB_PASS_RESIDUAL:
    PolderLaunch(PolderRRBResidual_CUDA(&lines, s.a - origin, s.r + at, s.ld, s.length[0], s.v - origin, s.d - origin, stream));
    break;
  default:
    PolderLaunch(PolderRRBCombine_CUDA(&lines, s.length[0], s.v - origin, 0, NULL, s.length[1], s.x + at, s.ld, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBRunPasses(const RRBDevice *d, PetscInt first, PetscInt n, const PolderRRBPass pass[], const PolderCGRho *rho, PolderStream stream)
{
  PetscFunctionBegin;
  for (PetscInt i = 0, j; i < n; i = j) {
    for (j = i; j < n && RRBPassIsSmall(d, pass[j]); ++j)
      ;
    if (j > i) {
      const PolderRRBSystem small = RRBSystemFrom(d, PetscMax(first, d->small), j - i, pass + i);

      PolderLaunch(PolderRRBSmall_CUDA(&small, stream));
    } else if (pass[j++].type == RRB_PASS_REST) {
      PolderLaunch(PolderDenseMult_CUDA((PolderDense){d->n, d->ld, d->inverse}, 1, d->b, NULL, d->x, PETSC_FALSE, stream));
    } else PetscCall(PCRRBRunPass(d->single, pass[i], &d->step[pass[i].grid], pass[i].grid ? NULL : rho, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSweepDevice(RRBDevice *d, PetscInt first, const PolderCGRho *rho, PolderStream stream)
{
  PolderRRBPass pass[POLDER_RRB_PASSES];

  PetscFunctionBegin;
  PetscCall(PCRRBRunPasses(d, first, PolderRRBPassesOfGrid(first, d->ngrid, d->both, pass), pass, rho, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBVisitDevice(PC pc, PetscInt k, const PetscScalar r[], PetscInt ldr, PetscScalar z[], PetscInt ldz)
{
  PC_RRB             *rrb  = (PC_RRB *)pc->data;
  RRBDevice          *d    = &rrb->device;
  PolderRRBStep      *step = &d->step[k];
  const PolderRRBStep kept = *step;
  PolderRRBPass       pass[POLDER_RRB_PASSES];
  const PetscInt      n = PolderRRBPassesOfVisit(k, d->ngrid, d->both, 0, pass);
  PolderStream        stream;

  PetscFunctionBegin;
  PetscCheck(ldr == step->ld && ldz == step->ld, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Rows of vectors are as far apart as those of the grid");
  PetscCall(PolderDeviceGetStream(&stream));
  step->r = r;
  step->x = z;
  if (k < rrb->whole.shared.ngrid) PetscCall(PCRRBSharedPasses(rrb, n, pass, stream));
  else PetscCall(PCRRBRunPasses(d, k, n, pass, NULL, stream));
  *step = kept;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReadyDevice_Private(PC pc, PetscBool reduced)
{
  PetscFunctionBegin;
  (void)reduced;
  (void)pc; // M is on the device whenever these steps are chosen
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBApplyDevice_Private(PC pc, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho)
{
  PC_RRB            *rrb = (PC_RRB *)pc->data;
  RRBDevice         *d   = &rrb->device;
  PetscScalar       *x   = PCRRBWholeResult(rrb, z);
  const PetscScalar *b;
  PolderStream       stream;

  PetscFunctionBegin;
  if (rrb->whole.shared.ngrid) {
    PetscCall(PCRRBSharedApplyAll(pc, r, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PCRRBWholeGather(rrb, r, &b));
  if (d->ngrid) {
    d->step[0].r = b;
    d->step[0].x = x;
    PetscCall(PCRRBSweepDevice(d, 0, rho, stream));
    d->step[0].r = NULL;
    d->step[0].x = NULL;
  } else PolderLaunch(PolderDenseMult_CUDA((PolderDense){d->n, d->ld, d->inverse}, 1, b, NULL, x, PETSC_FALSE, stream));
  PetscCall(PCRRBWholeTake(rrb, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble PCRRBBytesDevice_Private(const PC_RRB *rrb)
{
  return (PetscLogDouble)rrb->device.bytes;
}

static PetscErrorCode PCRRBDescribeRestDevice_Private(const PC_RRB *rrb, size_t len, char text[])
{
  PetscFunctionBegin;
  (void)rrb;
  PetscCall(PetscStrncpy(text, "dense inverse", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBViewDevice_Private(const PC_RRB *rrb, PetscViewer viewer)
{
  const RRBDevice *d = &rrb->device;

  PetscFunctionBegin;
  if (rrb->whole.replica)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  the whole grid on the GPU of each process; values between processes: %s\n",
                                     PolderReplicaTransport(rrb->whole.replica)));
  if (rrb->whole.shared.ngrid)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  for rrbcg: the processes share the lines of the first %" PetscInt_FMT " grids\n", rrb->whole.shared.ngrid));
  if (d->ngrid)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  grids in a kernel of their own: %" PetscInt_FMT "; in one together: %" PetscInt_FMT "\n", d->small,
                                     d->ngrid - d->small));
  for (PetscInt k = 0; k < d->nfactor; ++k) PetscCall(PCRRBTwiceView(&d->twice[k], k, viewer));
  if (d->tail < d->nfactor)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  half levels that are one matrix with the rest: %" PetscInt_FMT ", of %" PetscInt_FMT " unknowns\n",
                                     rrb->levels - 2 * d->tail - (d->tail < d->ngrid), d->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const RRBSteps RRBStepsOnDevice = {
  .place        = &PolderOnDevice,
  .setup        = PCRRBSetUpDevice,
  .ready        = PCRRBReadyDevice_Private,
  .apply        = PCRRBApplyDevice_Private,
  .bytes        = PCRRBBytesDevice_Private,
  .describerest = PCRRBDescribeRestDevice_Private,
  .view         = PCRRBViewDevice_Private,
};

PetscErrorCode PCRRBApplyReducedDevice(PC pc, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho)
{
  PC_RRB      *rrb = (PC_RRB *)pc->data;
  RRBDevice   *d   = &rrb->device;
  PolderStream stream;
  void        *work;

  PetscFunctionBegin;
  PetscCheck(d->valid && d->ngrid, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No grid on the device has its black nodes eliminated");
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  if (d->step[0].half) {
    PolderLaunch(PolderDenseMult_CUDA((PolderDense){d->n, d->ld, d->inverse}, 1, r, NULL, z, PETSC_FALSE, stream));
  } else {
    PolderLaunch(PolderRRBReducedForward_CUDA(d->single, &d->step[0], r, stream));
    PetscCall(PCRRBSweepDevice(d, 1, NULL, stream));
    PolderLaunch(PolderRRBReducedBackward_CUDA(d->single, &d->step[0], r, z, rho, work, stream));
  }
  PetscCall(PetscLogGpuFlops(rrb->flops - 4.5 * rrb->nx * rrb->ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedManySteps(PC pc, PetscBool prepare, PetscBool first, PetscInt count, Vec v[5], PolderCGState *state, PetscBool *done)
{
  const PC_RRB    *rrb = (PC_RRB *)pc->data;
  const RRBDevice *d   = &rrb->device;
  const PetscInt   n   = (rrb->nx * rrb->ny + 1) / 2;
  PolderRRBPass    pass[POLDER_RRB_PASSES];
  PolderRRBSystem  system;
  PolderCGVectors  at;
  PolderStream     stream;
  void            *work;

  PetscFunctionBegin;
  *done = (PetscBool)(d->valid && d->reduced && !d->step[0].half && d->ngrid <= POLDER_RRB_SMALL_GRIDS &&
                      n <= (PetscInt)PolderWorkSize(PolderRRBCGMost_CUDA()));
  if (!*done || !count) PetscFunctionReturn(PETSC_SUCCESS);
  system = RRBSystemFrom(d, 0, PolderRRBPassesOfGrid(1, d->ngrid, d->both, pass), pass);
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PolderVecGetDeviceArray(v[0], &at.x));
  PetscCall(PolderVecGetDeviceArray(v[1], &at.r));
  PetscCall(PolderVecGetDeviceArray(v[2], &at.z));
  PetscCall(PolderVecGetDeviceArray(v[3], &at.p));
  PetscCall(PolderVecGetDeviceWrite(v[4], &at.w));
  PetscCall(PetscLogGpuTimeBegin());
  PolderLaunch(PolderRRBCG_CUDA(&system, prepare, first, count, &at, state, work, stream));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PolderVecRestoreDeviceWrite(v[4], &at.w));
  PetscCall(PolderVecRestoreDeviceArray(v[3], &at.p));
  PetscCall(PolderVecRestoreDeviceArray(v[2], &at.z));
  PetscCall(PolderVecRestoreDeviceArray(v[1], &at.r));
  PetscCall(PolderVecRestoreDeviceArray(v[0], &at.x));
  PetscCall(PetscLogGpuFlops(count * (rrb->flops + 10.0 * rrb->nx * rrb->ny)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBApplyRho_Private(PC pc, Vec r, Vec z, const PolderCGRho *rho, PetscBool *done)
{
  const RRBSteps *steps;

  PetscFunctionBegin;
  PetscCall(PolderVecOnDevice(r, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSetUp(pc));
  PetscCall(PolderLogBegin(POLDER_RRBApply, pc));
  PetscCall(PCRRBChoose(pc, r, z, &steps));
  // with the whole grid on each GPU, (r, z) of this process is not on the way
  *done = (PetscBool)(steps == &RRBStepsOnDevice && ((PC_RRB *)pc->data)->device.small && !((PC_RRB *)pc->data)->whole.replica);
  if (*done) PetscCall(PCRRBApplyAt(pc, steps, r, z, rho));
  PetscCall(PolderLogEnd(POLDER_RRBApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBGetFused(PC pc, const PolderPCFused **fused)
{
  static const PolderPCFused offer = {.coarse = PETSC_TRUE, .applyrho = PCRRBApplyRho_Private};

  PetscFunctionBegin;
  (void)pc;
  *fused = &offer;
  PetscFunctionReturn(PETSC_SUCCESS);
}
