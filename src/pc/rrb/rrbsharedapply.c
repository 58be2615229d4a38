/* rrbcg on several GPUs that share lines (rrbshared.c): the operations of the reduced system. */
#include "rrbimpl.h"
#include "kernels/cg.h"
#include <petsc/private/pcimpl.h>

/* Own lines of a vector of which this process has its rows, and one line beside them on both sides: those that are not own rows come from others */
static PetscErrorCode PCRRBSharedNodes_Private(PC_RRB *rrb, const PetscScalar own[], PolderRRBNodes *nodes)
{
  RRBWhole        *whole  = &rrb->whole;
  const RRBShared *shared = &whole->shared;
  const PetscInt  *range = rrb->rows.range + rrb->rows.rank, nx = rrb->nx, from = (range[0] + nx - 1) / nx, to = range[1] / nx;

  PetscFunctionBegin;
  PetscCall(PolderReplicaSpreadPart(shared->nodes, own, whole->r));
  *nodes = (PolderRRBNodes){.own   = own + (from * nx - range[0]),
                            .all   = whole->r + (size_t)shared->y0 * (size_t)nx,
                            .ld    = nx,
                            .first = -shared->below,
                            .last  = shared->y1 - shared->y0 + shared->beyond,
                            .from  = from - shared->y0,
                            .to    = to - shared->y0};
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
  PolderRRBNodes nodes;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PCRRBSharedNodes_Private(rrb, b, &nodes));
  PolderLaunch(PolderRRBReduce_CUDA(&rrb->whole.shared.g, RRBFirstFactor(&rrb->device), nodes, r, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x, which has own lines as far as they are own rows, <- its other rows, which are in whole.z at the process that has their lines */
static PetscErrorCode PCRRBSharedRest_Private(PC_RRB *rrb, const PolderRRBNodes *b, PetscScalar x[])
{
  RRBWhole       *whole = &rrb->whole;
  const PetscInt *range = rrb->rows.range + rrb->rows.rank, y0 = whole->shared.y0, y1 = whole->shared.y1;
  const PetscInt  begin = PetscMax(b->from + y0, y0) * rrb->nx, end = PetscMin(b->to + y0, y1) * rrb->nx; // what x has

  PetscFunctionBegin;
  PetscCall(PolderReplicaSpread(whole->shared.lines, whole->z));
  PetscCall(PolderDeviceToDevice(x, whole->z + range[0], sizeof(*x) * (size_t)(begin - range[0])));
  PetscCall(PolderDeviceToDevice(x + (end - range[0]), whole->z + end, sizeof(*x) * (size_t)(range[1] - end)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedExpand(PC_RRB *rrb, const PetscScalar b[], const PetscScalar r[], PetscScalar x[])
{
  const RRBShared *shared = &rrb->whole.shared;
  PetscScalar     *all    = rrb->whole.z + (size_t)shared->y0 * (size_t)rrb->nx;
  PolderRRBNodes   nodes;
  PolderRRBEnds    ends = {NULL, NULL};
  PolderStream     stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PCRRBSharedNodes_Private(rrb, b, &nodes));
  PetscCall(PCRRBSharedEnds_Private(rrb, r, &ends));
  PolderLaunch(PolderRRBExpand_CUDA(&shared->g, ends, RRBFirstFactor(&rrb->device), nodes, r, x + (nodes.own - b), all, stream));
  PetscCall(PCRRBSharedRest_Private(rrb, &nodes, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedPick(PC_RRB *rrb, const PetscScalar x[], PetscScalar r[])
{
  PolderRRBNodes nodes;
  PolderStream   stream;

  PetscFunctionBegin;
  PetscCall(PolderDeviceGetStream(&stream));
  PetscCall(PCRRBSharedNodes_Private(rrb, x, &nodes));
  PolderLaunch(PolderRRBPick_CUDA(&rrb->whole.shared.g, nodes, r, stream));
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

/*
  A pass over a shared grid. The way down first gets the lines of the right-hand side beside own ones, which the way back needs, too. The way back, and what
  combines two of them, go one row of cells further on both sides, since the next way back reads that
*/
static PetscErrorCode PCRRBSharedPass_Private(PC_RRB *rrb, PolderRRBPass pass, PolderStream stream)
{
  const PolderRRBStep step = RRBSharedStep(rrb, pass.grid, pass.type == RRB_PASS_BACKWARD || pass.type == RRB_PASS_COMBINE);

  PetscFunctionBegin;
  if (pass.type == RRB_PASS_FORWARD) PetscCall(PolderReplicaSpread(rrb->whole.shared.near[pass.grid], (PetscScalar *)PolderRRBVisitStep(step, pass.visit).r));
  PetscCall(PCRRBRunPass(rrb->device.single, pass, &step, NULL, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedPasses(PC_RRB *rrb, PetscInt n, const PolderRRBPass pass[], PolderStream stream)
{
  RRBDevice           *d      = &rrb->device;
  RRBShared           *shared = &rrb->whole.shared;
  const PetscInt       ngrid  = shared->ngrid;
  const PolderRRBStep *last   = &d->step[ngrid - 1];
  PetscInt             y[2];

  PetscFunctionBegin;
  PCRRBSharedLines(rrb, ngrid, y);
  for (PetscInt i = 0, j; i < n; i = j) {
    for (j = i; j < n && pass[j].grid >= ngrid; ++j)
      ;
    if (j > i) { // what is whole on each GPU
      PetscCall(PolderReplicaGather(shared->next, last->rnext + (size_t)y[0] * (size_t)last->ldnext, last->rnext));
      PetscCall(PCRRBRunPasses(d, ngrid, j - i, pass + i, NULL, stream));
    } else PetscCall(PCRRBSharedPass_Private(rrb, pass[j++], stream));
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
  PolderRRBPass pass[POLDER_RRB_PASSES];
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
  PetscCall(PCRRBSharedPasses(rrb, PolderRRBPassesOfGrid(1, d->ngrid, d->both, pass), pass, stream));
  PolderLaunch(PolderRRBReducedBackward_CUDA(d->single, &step, r, z, rho, work, stream));
  if (rho) PetscCall(PolderCommRho(PetscObjectComm((PetscObject)pc), rho));
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
