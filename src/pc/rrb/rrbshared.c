/*
  rrbcg on several GPUs with a large grid: each has the whole factor, but does the work of its own lines alone. The first grids, the large ones, are shared:
  vectors of the red nodes are distributed, the kernels of these grids compute own lines, and a few lines beside them come from the neighbours. The right-hand
  side of the first smaller grid is gathered, and each GPU does the rest as a whole. The sums of an entry are those of one GPU, so the counts are, too.

  The way down needs one line of r below the own ones and two above; the way back goes one row of cells further on both sides, so that it needs no messages of
  its own: it reads three lines of r below and four above, and writes two lines beyond the own ones, as many as the next way back reads.
*/
#include "rrbimpl.h"
#include "kernels/cg.h"
#include <petsc/private/pcimpl.h>

#define RRB_NEAR 4 /* lines of r that neighbours get */
/* A process has at least so many lines of a shared grid */
#define RRB_SHARED_LINES (2 * RRB_NEAR)

PetscErrorCode PCRRBSharedFree(RRBShared *shared)
{
  PetscFunctionBegin;
  PetscCall(PolderReplicaDestroy(&shared->rows));
  PetscCall(PolderReplicaDestroy(&shared->lines));
  for (PetscInt k = 1; k < shared->ngrid; ++k) PetscCall(PolderReplicaDestroy(&shared->near[k]));
  PetscCall(PolderReplicaDestroy(&shared->r1));
  PetscCall(PolderReplicaDestroy(&shared->ends));
  PetscCall(PolderReplicaDestroy(&shared->next));
  PetscCall(PolderDeviceFree(&shared->own));
  PetscCall(PolderDeviceFree(&shared->all));
  PetscCall(PolderDeviceFree(&shared->above));
  PetscCall(PolderDeviceFree(&shared->red));
  *shared = (RRBShared){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the lines of process r begin if the first ngrid grids are shared: at the multiple of 2^ngrid next to its first row */
static PetscInt RRBSharedCut(const PC_RRB *rrb, PetscInt ngrid, PetscInt r)
{
  const PetscInt half = (PetscInt)1 << (ngrid - 1);

  if (r == rrb->rows.np[1]) return rrb->ny;
  return (rrb->rows.range[r] / rrb->nx + half) / (2 * half) * (2 * half);
}

/* Lines at the ends of rows and of lines that others may need: own rows and own lines differ by half of 2^ngrid lines and a part of one */
static PetscInt RRBSharedMargin(PetscInt ngrid)
{
  return ((PetscInt)1 << (ngrid - 1)) + RRB_NEAR;
}

/* Can the first ngrid grids be shared? */
static PetscBool RRBSharedFits(const PC_RRB *rrb, PetscInt ngrid)
{
  const PetscInt *range = rrb->rows.range, least = RRB_SHARED_LINES << (ngrid - 1);

  if (ngrid >= rrb->device.ngrid || ngrid > PC_RRB_SHARED_MAX) return PETSC_FALSE;
  for (PetscInt r = 0; r < rrb->rows.np[1]; ++r) {
    if (RRBSharedCut(rrb, ngrid, r + 1) - RRBSharedCut(rrb, ngrid, r) < least) return PETSC_FALSE;
    if ((range[r + 1] - range[r]) / rrb->nx < RRBSharedMargin(ngrid)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Number of grids to share: those with -polder_min_rows_per_gpu nodes a process; none without that option */
static PetscErrorCode PCRRBSharedGrids_Private(PC pc, PetscInt *ngrid)
{
  const PC_RRB *rrb = (PC_RRB *)pc->data;
  PetscInt      least;

  PetscFunctionBegin;
  *ngrid = 0;
  PetscCall(PolderPeersGetLeastRows(PetscObjectComm((PetscObject)pc), &least));
  if (!rrb->reduced.wanted || rrb->rows.np[0] != 1 || least <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  while (RRBSharedFits(rrb, *ngrid + 1) && (rrb->nx >> *ngrid) * (rrb->ny >> *ngrid) / rrb->rows.np[1] >= least) ++*ngrid;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines y[0] <= y < y[1] of grid k are those of this process */
static void RRBSharedLines(const PC_RRB *rrb, PetscInt k, PetscInt y[2])
{
  y[0] = rrb->whole.shared.y0 >> k;
  y[1] = rrb->whole.shared.y1 >> k;
}

/* Lines y0 <= y < y1 of a grid, with y0 even, as a grid of its own with the arrays of the whole */
static PolderRRBGrid RRBSharedPart(const PolderRRBGrid *whole, PetscInt y0, PetscInt y1)
{
  PolderRRBGrid g = *whole;

  g.ny = y1 - y0;
  g.hy = (g.ny + 1) / 2;
  g.origin += (size_t)(y0 / 2) * (size_t)g.pitch;
  return g;
}

static size_t RRBSharedRed(const PolderRRBGrid *g)
{
  return (size_t)g->hx * (size_t)g->hy + (size_t)(g->nx / 2) * (size_t)(g->ny / 2);
}

/* Gathers of n values of each process, from number `first` on; last > 0: and of the n values before number `last` */
static PetscErrorCode PCRRBSharedGather_Private(PC pc, PetscInt first, PetscInt n, PetscInt last, PolderReplica *replica)
{
  const PolderReplicaLines lines = {.first = first, .width = n, .ld = last - n - first};

  PetscFunctionBegin;
  PetscCall(PolderReplicaCreate(PetscObjectComm((PetscObject)pc), last > 0 ? 2 * n : n, &lines, replica));
  PetscCheck(*replica, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "The GPUs gather whole vectors, but no lines");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What brings values from others */
static PetscErrorCode PCRRBSharedGathers_Private(PC pc)
{
  PC_RRB              *rrb    = (PC_RRB *)pc->data;
  RRBShared           *shared = &rrb->whole.shared;
  const PolderRRBGrid *g      = &shared->g;
  const PetscInt      *range = rrb->rows.range + rrb->rows.rank, margin = RRBSharedMargin(shared->ngrid) * rrb->nx, last = shared->ngrid;
  const PolderRRBStep *step = rrb->device.step;
  const PetscInt       size = rrb->rows.np[1], rank = rrb->rows.rank, ends = 2 * PolderRRBEndSize(g);
  PetscInt             y[2];

  PetscFunctionBegin;
  PetscCall(PCRRBSharedGather_Private(pc, range[0], margin, range[1], &shared->rows));
  PetscCall(PCRRBSharedGather_Private(pc, shared->y0 * rrb->nx, margin, shared->y1 * rrb->nx, &shared->lines));
  PetscCall(PCRRBSharedGather_Private(pc, rank * g->hx, g->hx, 0, &shared->r1));
  PetscCall(PCRRBSharedGather_Private(pc, rank * ends, ends, 0, &shared->ends));
  for (PetscInt k = 1; k < shared->ngrid; ++k) {
    RRBSharedLines(rrb, k, y);
    PetscCall(PCRRBSharedGather_Private(pc, y[0] * step[k].ld, RRB_NEAR * step[k].ld, y[1] * step[k].ld, &shared->near[k]));
  }
  RRBSharedLines(rrb, last, y);
  PetscCall(PCRRBSharedGather_Private(pc, y[0] * step[last].ld, (y[1] - y[0]) * step[last].ld, 0, &shared->next));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)ends, &shared->own));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)ends * (size_t)size, &shared->all));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)g->hx * (size_t)size, &shared->above));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * RRBSharedRed(&shared->wide), &shared->red));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedSetUp(PC pc)
{
  PC_RRB        *rrb    = (PC_RRB *)pc->data;
  RRBShared     *shared = &rrb->whole.shared;
  const PetscInt rank   = rrb->rows.rank;
  PetscInt       ngrid;

  PetscFunctionBegin;
  PetscCall(PCRRBSharedGrids_Private(pc, &ngrid));
  if (ngrid == shared->ngrid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCRRBSharedFree(shared));
  if (!ngrid) PetscFunctionReturn(PETSC_SUCCESS);
  shared->ngrid  = ngrid;
  shared->y0     = RRBSharedCut(rrb, ngrid, rank);
  shared->y1     = RRBSharedCut(rrb, ngrid, rank + 1);
  shared->below  = rank > 0;
  shared->beyond = rank + 1 < rrb->rows.np[1];
  shared->g      = RRBSharedPart(&rrb->device.step[0].g, shared->y0, shared->y1);
  shared->wide   = RRBSharedPart(&rrb->device.step[0].g, shared->y0 - 2 * shared->below, shared->y1 + 2 * shared->beyond);
  PetscCall(PCRRBSharedGathers_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt PCRRBSharedSize(const PC_RRB *rrb)
{
  return (PetscInt)RRBSharedRed(&rrb->whole.shared.g);
}

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

  RRBSharedLines(rrb, k, y);
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
  RRBSharedLines(rrb, shared->ngrid, y);
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
