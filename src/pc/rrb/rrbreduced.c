/* The reduced system of PC rrb, without the black nodes: operations that CG on the first Schur complement S needs from the preconditioner. */
#include "rrbimpl.h"
#include <petsc/private/pcimpl.h>

PetscErrorCode PCRRBReducedWant(PC pc)
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  if (rrb->reduced.wanted) PetscFunctionReturn(PETSC_SUCCESS);
  rrb->reduced.wanted = PETSC_TRUE;
  pc->setupcalled     = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the factor is that of the operator and that its first half level is exact */
PetscErrorCode PCRRBReducedBegin(PC pc, Vec like)
{
  PC_RRB          *rrb  = (PC_RRB *)pc->data;
  MPI_Comm         comm = PetscObjectComm((PetscObject)pc);
  Mat              A, P;
  PetscObjectState state;
  const RRBSteps  *steps;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, &A, &P));
  PetscCheck(A == P, comm, PETSC_ERR_SUP,
             "KSP of type rrbcg eliminates with the factor of the preconditioner, which is made from another matrix than the operator: hand one matrix to "
             "KSPSetOperators(), or use -ksp_type cg -pc_type rrb");
  PetscCheck(!rrb->matrix.nine, comm, PETSC_ERR_SUP,
             "KSP of type rrbcg needs a 5-point stencil, since the black nodes of a 9-point one are coupled: use -ksp_type cg -pc_type rrb");
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCheck(state == rrb->state, comm, PETSC_ERR_SUP,
             "KSP of type rrbcg eliminates with the factor of the preconditioner, which is that of older values: leave out KSPSetReusePreconditioner() "
             "(-ksp_reuse_preconditioner), or use -ksp_type cg -pc_type rrb");
  PetscCall(PCRRBChoose(pc, like, NULL, &steps));
  PetscCall((*steps->ready)(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt PCRRBReducedSizeHost(const PC_RRB *rrb)
{
  const PolderRRBGrid *g = rrb->ranks.size ? &rrb->grid[0].g : NULL;

  return g ? g->hx * g->hy + (g->nx / 2) * (g->ny / 2) : (rrb->nx * rrb->ny + 1) / 2;
}

PetscErrorCode PCRRBReducedFree(PC_RRB *rrb)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(rrb->reduced.coef));
  PetscCall(PetscFree(rrb->reduced.place));
  PetscCall(PetscFree(rrb->reduced.x));
  PetscCall(PetscSFDestroy(&rrb->reduced.halo));
  rrb->reduced.valid = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the data of the reduced system for the existing grids and rest */
PetscErrorCode PCRRBReducedLayout(PC pc)
{
  PC_RRB              *rrb  = (PC_RRB *)pc->data;
  const PolderRRBGrid *g    = &rrb->grid[0].g;
  const RRBRest       *rest = &rrb->rest;
  const size_t         n1 = (size_t)g->hx * (size_t)g->hy, h2 = (size_t)(g->nx / 2);

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(RRB_NREDUCED * g->size, &rrb->reduced.coef));
  PolderRRBClearEdges_Host(g, RRB_NREDUCED, rrb->reduced.coef);
  if (rrb->ranks.size) PetscCall(PCRRBReducedRanksLayout(pc));
  if (rrb->ngrid > 1 || rrb->ranks.size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(rest->n, &rrb->reduced.place));
  for (PetscInt k = 0; k < rest->nx * rest->ny; ++k) {
    const size_t x = (size_t)(k % rest->nx), y = (size_t)(k / rest->nx);

    if (rest->number[k] < 0) continue;
    if (!rest->skew) rrb->reduced.place[rest->number[k]] = n1 + y * h2 + x;
    else rrb->reduced.place[rest->number[k]] = y % 2 ? n1 + y / 2 * h2 + x / 2 : y / 2 * (size_t)g->hx + x / 2;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first grid at the place of the factor: its shape, its factor in double precision, and S */
typedef struct {
  const PolderRRBGrid *g;
  const PetscScalar   *c, *S;
} RRBFirst;

/* S = NULL: not requested */
static RRBFirst RRBFirstOnHost(const PC_RRB *rrb)
{
  return rrb->reduced.coef ? (RRBFirst){.g = &rrb->grid[0].g, .c = rrb->grid[0].coef, .S = rrb->reduced.coef} : (RRBFirst){0};
}

static RRBFirst RRBFirstOnDevice(const PC_RRB *rrb)
{
  const RRBDevice *d = &rrb->device;

  return d->reduced ? (RRBFirst){.g = &d->step[0].g, .c = RRBFirstFactor(d), .S = d->reduced} : (RRBFirst){0};
}

static RRBFirst RRBFirstShared(const PC_RRB *rrb)
{
  RRBFirst first = RRBFirstOnDevice(rrb);

  first.g = &rrb->whole.shared.g;
  return first;
}

typedef struct _RRBReducedSteps RRBReducedSteps;

/* Steps of the reduced system at a place: one table per place, and one for boxes on several processes. Arrays are those of vectors at that place */
struct _RRBReducedSteps {
  const PolderPlace *place;
  RRBFirst (*first)(const PC_RRB *);
  PetscErrorCode (*reduce)(PC_RRB *, const RRBReducedSteps *, const PetscScalar b[], PetscScalar r[]);
  PetscErrorCode (*expand)(PC_RRB *, const RRBReducedSteps *, const PetscScalar b[], const PetscScalar r[], PetscScalar x[]);
  PetscErrorCode (*pick)(PC_RRB *, const RRBReducedSteps *, const PetscScalar x[], PetscScalar r[]);
  PetscErrorCode (*mult)(PC_RRB *, const RRBReducedSteps *, const PetscScalar x[], PetscScalar y[], PetscScalar *dot);
  /* rho: NULL on the host */
  PetscErrorCode (*apply)(PC, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho);
};

static PetscErrorCode PCRRBReduceOne_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar b[], PetscScalar r[])
{
  const RRBFirst first = (*steps->first)(rrb);

  PetscFunctionBegin;
  PolderRun(steps->place, PolderRRBReduce, first.g, first.c, PolderRRBAllNodes(first.g, b, rrb->nx), r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBExpandOne_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar b[], const PetscScalar r[], PetscScalar x[])
{
  const RRBFirst      first = (*steps->first)(rrb);
  const PolderRRBEnds none  = {NULL, NULL};

  PetscFunctionBegin;
  PolderRun(steps->place, PolderRRBExpand, first.g, none, first.c, PolderRRBAllNodes(first.g, b, rrb->nx), r, x, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBPickOne_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar x[], PetscScalar r[])
{
  const PolderRRBGrid *g = (*steps->first)(rrb).g;

  PetscFunctionBegin;
  PolderRun(steps->place, PolderRRBPick, g, PolderRRBAllNodes(g, x, rrb->nx), r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReduceWhole_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar b[], PetscScalar r[])
{
  PetscFunctionBegin;
  PetscCall(PCRRBWholeGather(rrb, b, &b));
  PetscCall(PCRRBReduceOne_Private(rrb, steps, b, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The black nodes of this process need only its own values of b */
static PetscErrorCode PCRRBExpandWhole_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar b[], const PetscScalar r[], PetscScalar x[])
{
  PetscFunctionBegin;
  PetscCall(PCRRBWholePut(rrb, b, &b));
  PetscCall(PCRRBExpandOne_Private(rrb, steps, b, r, PCRRBWholeResult(rrb, x)));
  PetscCall(PCRRBWholeTake(rrb, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBPickWhole_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar x[], PetscScalar r[])
{
  PetscFunctionBegin;
  PetscCall(PCRRBWholeGather(rrb, x, &x));
  PetscCall(PCRRBPickOne_Private(rrb, steps, x, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReducedMultOne_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar x[], PetscScalar y[], PetscScalar *dot)
{
  const RRBFirst first = (*steps->first)(rrb);

  PetscFunctionBegin;
  PolderRunSum(steps->place, PolderRRBReducedMult, first.g, first.S, x, y, dot);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReduceBoxes_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar b[], PetscScalar r[])
{
  PetscFunctionBegin;
  (void)steps;
  PetscCall(PCRRBReduceRanks(rrb, b, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBExpandBoxes_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar b[], const PetscScalar r[], PetscScalar x[])
{
  PetscFunctionBegin;
  (void)steps;
  PetscCall(PCRRBExpandRanks(rrb, b, r, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBPickBoxes_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar x[], PetscScalar r[])
{
  PetscFunctionBegin;
  (void)steps;
  PetscCall(PCRRBPickRanks(rrb, x, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReducedMultBoxes_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar x[], PetscScalar y[], PetscScalar *dot)
{
  PetscFunctionBegin;
  (void)steps;
  PetscCall(PCRRBReducedMultRanks(rrb, x, y, dot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReduceShared_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar b[], PetscScalar r[])
{
  PetscFunctionBegin;
  (void)steps;
  PetscCall(PCRRBSharedReduce(rrb, b, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBExpandShared_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar b[], const PetscScalar r[], PetscScalar x[])
{
  PetscFunctionBegin;
  (void)steps;
  PetscCall(PCRRBSharedExpand(rrb, b, r, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBPickShared_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar x[], PetscScalar r[])
{
  PetscFunctionBegin;
  (void)steps;
  PetscCall(PCRRBSharedPick(rrb, x, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReducedMultShared_Private(PC_RRB *rrb, const RRBReducedSteps *steps, const PetscScalar x[], PetscScalar y[], PetscScalar *dot)
{
  PetscFunctionBegin;
  (void)steps;
  PetscCall(PCRRBSharedMult(rrb, x, y, dot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  M without its first half level. r2 is the next grid; its values stay in z during the work on coarser grids
*/
static PetscErrorCode PCRRBReducedApplyOne_Private(PC pc, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho)
{
  PC_RRB              *rrb   = (PC_RRB *)pc->data;
  const RRBGrid       *first = &rrb->grid[0];
  const PolderRRBGrid *g     = &first->g;
  PetscScalar         *z2    = z + (size_t)g->hx * (size_t)g->hy;

  PetscFunctionBegin;
  (void)rho;
  if (first->half) PetscCall(PCRRBRestSolve(&rrb->rest, rrb->reduced.place, r, z));
  else {
    if (first->single) PolderRRBReducedForwardSingle_Host(g, first->single, r, z);
    else PolderRRBReducedForward_Host(g, first->coef, r, z);
    if (rrb->ngrid > 1) PetscCall(PCRRBSweeps(pc, 1, z2, g->nx / 2, z2));
    else PetscCall(PCRRBRestSolve(&rrb->rest, rrb->reduced.place, z, z));
    if (first->single) PolderRRBReducedBackwardSingle_Host(g, first->single, r, z);
    else PolderRRBReducedBackward_Host(g, first->coef, r, z);
  }
  PetscCall(PetscLogFlops(PetscMax(rrb->flops - 8.5 * g->nx * g->ny, 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReducedApplyBoxes_Private(PC pc, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho)
{
  const PC_RRB        *rrb = (PC_RRB *)pc->data;
  const PolderRRBGrid *g   = &rrb->grid[0].g;

  PetscFunctionBegin;
  (void)rho;
  PetscCall(PCRRBReducedApplyRanks(pc, r, z));
  PetscCall(PetscLogFlops(PetscMax(rrb->flops - 8.5 * g->nx * g->ny, 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum {
  REDUCED_HOST,
  REDUCED_DEVICE,
  REDUCED_SHARED,
  REDUCED_BOXES
};

static const RRBReducedSteps RRBReducedStepsAt[] = {
  [REDUCED_HOST] =
    {
                    .place  = &PolderOnHost,
                    .first  = RRBFirstOnHost,
                    .reduce = PCRRBReduceOne_Private,
                    .expand = PCRRBExpandOne_Private,
                    .pick   = PCRRBPickOne_Private,
                    .mult   = PCRRBReducedMultOne_Private,
                    .apply  = PCRRBReducedApplyOne_Private,
                    },
  [REDUCED_DEVICE] =
    {
                    .place  = &PolderOnDevice,
                    .first  = RRBFirstOnDevice,
                    .reduce = PCRRBReduceWhole_Private,
                    .expand = PCRRBExpandWhole_Private,
                    .pick   = PCRRBPickWhole_Private,
                    .mult   = PCRRBReducedMultOne_Private,
                    .apply  = PCRRBApplyReducedDevice,
                    },
  [REDUCED_SHARED] =
    {
                    .place  = &PolderOnDevice,
                    .first  = RRBFirstShared,
                    .reduce = PCRRBReduceShared_Private,
                    .expand = PCRRBExpandShared_Private,
                    .pick   = PCRRBPickShared_Private,
                    .mult   = PCRRBReducedMultShared_Private,
                    .apply  = PCRRBSharedApply,
                    },
  [REDUCED_BOXES] =
    {
                    .place  = &PolderOnHost,
                    .first  = RRBFirstOnHost,
                    .reduce = PCRRBReduceBoxes_Private,
                    .expand = PCRRBExpandBoxes_Private,
                    .pick   = PCRRBPickBoxes_Private,
                    .mult   = PCRRBReducedMultBoxes_Private,
                    .apply  = PCRRBReducedApplyBoxes_Private,
                    },
};

/* The steps at the place of vectors like v, if the factor is there, too */
static PetscErrorCode PCRRBReducedChoose_Private(PC pc, Vec v, const RRBReducedSteps **steps)
{
  const PC_RRB      *rrb = (PC_RRB *)pc->data;
  const PolderPlace *place;

  PetscFunctionBegin;
  *steps = &RRBReducedStepsAt[REDUCED_HOST];
  PetscCall(PolderPlaceOfVecs(v, NULL, &place));
  if (place->device && rrb->device.valid && rrb->device.reduced) *steps = &RRBReducedStepsAt[rrb->whole.shared.ngrid ? REDUCED_SHARED : REDUCED_DEVICE];
  else if (rrb->ranks.size) *steps = &RRBReducedStepsAt[REDUCED_BOXES];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedSize(PC pc, Vec like, MPI_Comm *comm, PetscInt *n)
{
  const PC_RRB          *rrb = (PC_RRB *)pc->data;
  const RRBReducedSteps *steps;

  PetscFunctionBegin;
  PetscCall(PCRRBReducedChoose_Private(pc, like, &steps));
  *comm = steps == &RRBReducedStepsAt[REDUCED_DEVICE] && rrb->whole.replica ? PETSC_COMM_SELF : PetscObjectComm((PetscObject)pc);
  if (steps == &RRBReducedStepsAt[REDUCED_DEVICE]) *n = (rrb->nx * rrb->ny + 1) / 2;
  else *n = steps == &RRBReducedStepsAt[REDUCED_SHARED] ? PCRRBSharedSize(rrb) : PCRRBReducedSizeHost(rrb);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedView(const PC_RRB *rrb, PetscViewer viewer)
{
  const RRBFirst first  = (*RRBReducedStepsAt[rrb->device.valid].first)(rrb);
  const size_t   arrays = RRB_NREDUCED + (rrb->single ? RRB_NCOEF : 0); /* the first grid's factor is stored in both precisions */
  PetscLogDouble bytes;

  PetscFunctionBegin;
  if (rrb->matrix.nine || !first.S) PetscFunctionReturn(PETSC_SUCCESS);
  bytes = (PetscLogDouble)(arrays * first.g->size * sizeof(PetscScalar));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)viewer)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  kept for rrbcg: Schur complement without the black nodes, 9-point stencil, symmetric half; %.1f bytes a row\n",
                                   (double)bytes / ((double)rrb->nx * (double)rrb->ny)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of nodes of this process, for counting flops */
static PetscLogDouble RRBReducedNodes(const PC_RRB *rrb, const RRBReducedSteps *steps)
{
  const RRBFirst first = (*steps->first)(rrb);

  return (PetscLogDouble)first.g->nx * first.g->ny;
}

PetscErrorCode PCRRBReduce(PC pc, Vec b, Vec r)
{
  PC_RRB                *rrb = (PC_RRB *)pc->data;
  const RRBReducedSteps *steps;
  const PetscScalar     *ba;
  PetscScalar           *ra;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_RRBReduce, pc));
  PetscCall(PCRRBReducedChoose_Private(pc, b, &steps));
  PetscCall((*steps->place->vecgetread)(b, &ba));
  PetscCall((*steps->place->vecgetwrite)(r, &ra));
  PetscCall((*steps->reduce)(rrb, steps, ba, ra));
  PetscCall((*steps->place->vecrestorewrite)(r, &ra));
  PetscCall((*steps->place->vecrestoreread)(b, &ba));
  PetscCall((*steps->place->logflops)(4.0 * RRBReducedNodes(rrb, steps)));
  PetscCall(PolderLogEnd(POLDER_RRBReduce, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBExpand(PC pc, Vec b, Vec r, Vec x)
{
  PC_RRB                *rrb = (PC_RRB *)pc->data;
  const RRBReducedSteps *steps;
  const PetscScalar     *ba, *ra;
  PetscScalar           *xa;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_RRBReduce, pc));
  PetscCall(PCRRBReducedChoose_Private(pc, r, &steps));
  PetscCall((*steps->place->vecgetread)(b, &ba));
  PetscCall((*steps->place->vecgetread)(r, &ra));
  PetscCall((*steps->place->vecgetwrite)(x, &xa));
  PetscCall((*steps->expand)(rrb, steps, ba, ra, xa));
  PetscCall((*steps->place->vecrestorewrite)(x, &xa));
  PetscCall((*steps->place->vecrestoreread)(r, &ra));
  PetscCall((*steps->place->vecrestoreread)(b, &ba));
  PetscCall((*steps->place->logflops)(4.5 * RRBReducedNodes(rrb, steps)));
  PetscCall(PolderLogEnd(POLDER_RRBReduce, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBPick(PC pc, Vec x, Vec r)
{
  const RRBReducedSteps *steps;
  const PetscScalar     *xa;
  PetscScalar           *ra;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_RRBReduce, pc));
  PetscCall(PCRRBReducedChoose_Private(pc, x, &steps));
  PetscCall((*steps->place->vecgetread)(x, &xa));
  PetscCall((*steps->place->vecgetwrite)(r, &ra));
  PetscCall((*steps->pick)((PC_RRB *)pc->data, steps, xa, ra));
  PetscCall((*steps->place->vecrestorewrite)(r, &ra));
  PetscCall((*steps->place->vecrestoreread)(x, &xa));
  PetscCall(PolderLogEnd(POLDER_RRBReduce, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedMult(PC pc, Vec x, Vec y, PetscScalar *dot, PetscBool *done)
{
  PC_RRB                *rrb = (PC_RRB *)pc->data;
  const RRBReducedSteps *steps;
  const PolderPlace     *place;
  const PetscScalar     *xa;
  PetscScalar           *ya;

  PetscFunctionBegin;
  PetscCall(PCRRBReducedChoose_Private(pc, x, &steps));
  PetscCall(PolderPlaceOfVecs(x, NULL, &place));
  *done = (PetscBool)(!dot || place == steps->place);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  place = steps->place;
  PetscCall((*place->vecgetread)(x, &xa));
  PetscCall((*place->vecgetwrite)(y, &ya));
  PetscCall((*place->timebegin)());
  PetscCall((*steps->mult)(rrb, steps, xa, ya, dot));
  PetscCall((*place->timeend)());
  PetscCall((*place->vecrestorewrite)(y, &ya));
  PetscCall((*place->vecrestoreread)(x, &xa));
  PetscCall((*place->logflops)((dot ? 9.5 : 8.5) * RRBReducedNodes(rrb, steps)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReducedApplyAt_Private(PC pc, const RRBReducedSteps *steps, Vec r, Vec z, const PolderCGRho *rho)
{
  const PetscScalar *ra;
  PetscScalar       *za;

  PetscFunctionBegin;
  PetscCall((*steps->place->vecgetread)(r, &ra));
  PetscCall((*steps->place->vecgetwrite)(z, &za));
  PetscCall((*steps->place->timebegin)());
  PetscCall((*steps->apply)(pc, ra, za, rho));
  PetscCall((*steps->place->timeend)());
  PetscCall((*steps->place->vecrestorewrite)(z, &za));
  PetscCall((*steps->place->vecrestoreread)(r, &ra));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedApply(PC pc, Vec r, Vec z)
{
  const RRBReducedSteps *steps;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_RRBApply, pc));
  PetscCall(PCRRBReducedChoose_Private(pc, r, &steps));
  PetscCall(PCRRBReducedApplyAt_Private(pc, steps, r, z, NULL));
  PetscCall(PolderLogEnd(POLDER_RRBApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedApplyRho(PC pc, Vec r, Vec z, const PolderCGRho *rho, PetscBool *done)
{
  const RRBReducedSteps *steps;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_RRBApply, pc));
  PetscCall(PCRRBReducedChoose_Private(pc, r, &steps));
  // for a half grid the apply is one product with the inverse
  *done = (PetscBool)(steps->place->device && !((PC_RRB *)pc->data)->device.step[0].half);
  if (*done) PetscCall(PCRRBReducedApplyAt_Private(pc, steps, r, z, rho));
  PetscCall(PolderLogEnd(POLDER_RRBApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBGetReduction(PC pc, const PolderPCReduction **reduction)
{
  static const PolderPCReduction offer = {
    .want   = PCRRBReducedWant,
    .begin  = PCRRBReducedBegin,
    .size   = PCRRBReducedSize,
    .reduce = PCRRBReduce,
    .expand = PCRRBExpand,
    .pick   = PCRRBPick,
    .mult   = PCRRBReducedMult,
    .apply  = PCRRBReducedApply,
    .fused  = {.applyrho = PCRRBReducedApplyRho, .steps = PCRRBReducedManySteps}
  };

  PetscFunctionBegin;
  (void)pc;
  *reduction = &offer;
  PetscFunctionReturn(PETSC_SUCCESS);
}
