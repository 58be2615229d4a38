/* rrbcg on several GPUs that share lines (rrbshared.c): the operations of the reduced system. */
#include "rrbimpl.h"
#include "kernels/cg.h"
#include <petsc/private/pcimpl.h>

/* *all: an array of all nodes that has the values of the own lines, and of the line beside them on both sides */
static PetscErrorCode PCRRBSharedSpread_Private(PC_RRB *rrb, const PetscScalar own[], const PetscScalar **all)
{
  RRBWhole *whole = &rrb->whole;

  PetscFunctionBegin;
  PetscCall(PolderReplicaPut(whole->replica, own, whole->r));
  PetscCall(PolderReplicaSpread(whole->shared.rows, whole->r));
  *all = whole->r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of red nodes beside those of a vector */
static PetscErrorCode PCRRBSharedEnds_Private(PC_RRB *rrb, const PetscScalar x[], PolderRRBEnds *ends)
{
  RRBShared     *shared = &rrb->whole.shared;
  const PetscInt n      = PolderRRBEndSize(&shared->g);
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PolderLaunch(PolderRRBReducedEnds_CUDA(&shared->g, x, shared->own, stream));
  PetscCall(PolderReplicaGather(shared->ends, shared->own, shared->all));
  ends->below = shared->below ? shared->all + (2 * rrb->rows.rank - 1) * n : NULL;
  ends->above = shared->beyond ? shared->all + (2 * rrb->rows.rank + 2) * n : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedReduce(PC_RRB *rrb, const PetscScalar b[], PetscScalar r[])
{
  RRBShared           *shared = &rrb->whole.shared;
  const PolderRRBGrid *g = &shared->g, *wide = &shared->wide;
  const size_t         hx = (size_t)g->hx, h2 = (size_t)(g->nx / 2), n1 = hx * (size_t)g->hy, below = (size_t)shared->below;
  const PetscScalar   *c = rrb->device.first ? rrb->device.first : (const PetscScalar *)rrb->device.step[0].c;
  PolderStream         stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PCRRBSharedSpread_Private(rrb, b, &b));
  PolderLaunch(PolderRRBReduce_CUDA(wide, c, b + (size_t)(shared->y0 - 2 * shared->below) * (size_t)rrb->nx, rrb->nx, shared->red, stream));
  PetscCall(PolderDeviceToDevice(r, shared->red + below * hx, sizeof(*r) * n1));
  PetscCall(PolderDeviceToDevice(r + n1, shared->red + hx * (size_t)wide->hy + below * h2, sizeof(*r) * h2 * (size_t)(g->ny / 2)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* shared.red <- the rows of r and one more on each side */
static PetscErrorCode PCRRBSharedWiden_Private(PC_RRB *rrb, const PetscScalar r[])
{
  RRBShared           *shared = &rrb->whole.shared;
  const PolderRRBGrid *g      = &shared->g;
  const size_t         hx = (size_t)g->hx, h2 = (size_t)(g->nx / 2), k1 = (size_t)g->hy, k2 = (size_t)(g->ny / 2);
  PetscScalar         *r1 = shared->red, *r2 = r1 + hx * (size_t)shared->wide.hy;
  PolderRRBEnds        ends = {NULL, NULL};

  PetscFunctionBegin;
  PetscCall(PCRRBSharedEnds_Private(rrb, r, &ends));
  if (ends.below) {
    PetscCall(PolderDeviceToDevice(r1, ends.below, sizeof(*r) * hx));
    PetscCall(PolderDeviceToDevice(r2, ends.below + hx, sizeof(*r) * h2));
    r1 += hx;
    r2 += h2;
  }
  PetscCall(PolderDeviceToDevice(r1, r, sizeof(*r) * hx * k1));
  PetscCall(PolderDeviceToDevice(r2, r + hx * k1, sizeof(*r) * h2 * k2));
  if (!ends.above) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderDeviceToDevice(r1 + hx * k1, ends.above, sizeof(*r) * hx));
  PetscCall(PolderDeviceToDevice(r2 + h2 * k2, ends.above + hx, sizeof(*r) * h2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedExpand(PC_RRB *rrb, const PetscScalar b[], const PetscScalar r[], PetscScalar x[])
{
  RRBWhole          *whole  = &rrb->whole;
  RRBShared         *shared = &whole->shared;
  const PetscScalar *c      = rrb->device.first ? rrb->device.first : (const PetscScalar *)rrb->device.step[0].c;
  const size_t       nx = (size_t)rrb->nx, begin = (size_t)(shared->y0 - 2 * shared->below) * nx;
  PolderStream       stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PCRRBSharedSpread_Private(rrb, b, &b));
  PetscCall(PCRRBSharedWiden_Private(rrb, r));
  PolderLaunch(PolderRRBExpand_CUDA(&shared->wide, c, b + begin, shared->red, whole->z + begin, rrb->nx, stream));
  PetscCall(PolderReplicaSpread(shared->lines, whole->z));
  PetscCall(PCRRBWholeTake(rrb, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedPick(PC_RRB *rrb, const PetscScalar x[], PetscScalar r[])
{
  RRBShared   *shared = &rrb->whole.shared;
  PolderStream stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PCRRBSharedSpread_Private(rrb, x, &x));
  PolderLaunch(PolderRRBPick_CUDA(&shared->g, x + (size_t)shared->y0 * (size_t)rrb->nx, rrb->nx, r, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedMult(PC_RRB *rrb, const PetscScalar x[], PetscScalar y[], PetscScalar *dot)
{
  PolderRRBEnds ends = {NULL, NULL};
  PolderStream  stream;
  void         *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  PetscCall(PCRRBSharedEnds_Private(rrb, x, &ends));
  PolderLaunch(PolderRRBReducedMultPart_CUDA(&rrb->whole.shared.g, ends, rrb->device.reduced, x, y, dot, work, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rho from the sums of all processes */
static PetscErrorCode PCRRBSharedRho_Private(PC pc, const PolderCGRho *rho, PolderStream stream)
{
  PetscScalar host[2];

  PetscFunctionBegin;
  PetscCall(PolderCommSum(PetscObjectComm((PetscObject)pc), 2, &rho->state->sum[1], host));
  PolderLaunch(PolderCGAdvance_CUDA(PETSC_FALSE, PETSC_TRUE, rho->first, rho->state, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The step of grid k for the rows of own lines, and `more` rows on each side */
static PolderRRBStep RRBSharedStep(const PC_RRB *rrb, PetscInt k, PetscInt more)
{
  PolderRRBStep step = rrb->device.step[k];
  PetscInt      y[2];

  PCRRBSharedLines(rrb, k, y);
  step.from = PetscMax(y[0] / 2 - more, 0);
  step.to   = PetscMin((y[1] + 1) / 2 + more, step.g.hy);
  return step;
}

/* The grids after the first */
static PetscErrorCode PCRRBSharedSweep_Private(PC_RRB *rrb, PolderStream stream)
{
  RRBDevice      *d      = &rrb->device;
  RRBShared      *shared = &rrb->whole.shared;
  const PetscBool single = d->single;
  void           *work;
  PolderRRBStep   step;
  PetscInt        y[2];

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetWork(&work));
  for (PetscInt k = 1; k < shared->ngrid; ++k) {
    PetscCall(PolderReplicaSpread(shared->near[k], d->step[k - 1].rnext));
    step = RRBSharedStep(rrb, k, 0);
    PolderLaunch(PolderRRBForward_CUDA(single, &step, stream));
  }
  PCRRBSharedLines(rrb, shared->ngrid, y);
  step = d->step[shared->ngrid - 1];
  PetscCall(PolderReplicaGather(shared->next, step.rnext + (size_t)y[0] * (size_t)step.ldnext, step.rnext));
  PetscCall(PCRRBSweepDevice(d, shared->ngrid, NULL, stream));
  for (PetscInt k = shared->ngrid - 1; k > 0; --k) {
    step = RRBSharedStep(rrb, k, 1);
    PolderLaunch(PolderRRBBackward_CUDA(single, &step, NULL, work, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedApply(PC pc, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho)
{
  PC_RRB       *rrb    = (PC_RRB *)pc->data;
  RRBDevice    *d      = &rrb->device;
  RRBShared    *shared = &rrb->whole.shared;
  PolderRRBStep step   = d->step[0];
  const size_t  next   = (size_t)(shared->y0 / 2) * (size_t)step.ldnext;
  PolderStream  stream;
  void         *work;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PolderDeviceGetWork(&work));
  step.g = shared->g;
  step.rnext += next;
  step.xnext += next;
  if (shared->beyond) step.ends.above = shared->above + (rrb->rows.rank + 1) * step.g.hx;
  if (shared->below) step.ends.below = step.xnext - step.ldnext;
  PetscCall(PolderReplicaGather(shared->r1, r, shared->above));
  PolderLaunch(PolderRRBReducedForward_CUDA(d->single, &step, r, stream));
  PetscCall(PCRRBSharedSweep_Private(rrb, stream));
  PolderLaunch(PolderRRBReducedBackward_CUDA(d->single, &step, r, z, rho, work, stream));
  if (rho) PetscCall(PCRRBSharedRho_Private(pc, rho, stream));
  PetscCall(PetscLogGpuFlops((rrb->flops - 4.5 * rrb->nx * rrb->ny) * (shared->y1 - shared->y0) / rrb->ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedApplyAll(PC pc, const PetscScalar r[], PetscScalar z[])
{
  PC_RRB      *rrb    = (PC_RRB *)pc->data;
  RRBShared   *shared = &rrb->whole.shared;
  const size_t bytes  = sizeof(PetscScalar) * (size_t)PCRRBSharedSize(rrb);

  PetscFunctionBegin;
  if (!shared->b) PetscCall(PolderDeviceMalloc(bytes, &shared->b));
  if (!shared->x) PetscCall(PolderDeviceMalloc(bytes, &shared->x));
  PetscCall(PCRRBSharedReduce(rrb, r, shared->b));
  PetscCall(PCRRBSharedApply(pc, shared->b, shared->x, NULL));
  PetscCall(PCRRBSharedExpand(rrb, r, shared->x, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}
