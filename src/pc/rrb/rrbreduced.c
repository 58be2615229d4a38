/* The system of PC rrb without its black nodes: what CG on the first Schur complement S asks of the preconditioner. */
#include "rrbimpl.h"
#include "core/device.h"
#include <petsc/private/pcimpl.h>

PetscErrorCode PCRRBReducedWant_Private(PC pc)
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  if (rrb->reduced.wanted) PetscFunctionReturn(PETSC_SUCCESS);
  rrb->reduced.wanted = PETSC_TRUE;
  pc->setupcalled     = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factor must be that of the operator, and its first half level exact */
PetscErrorCode PCRRBReducedBegin_Private(PC pc, Vec like)
{
  PC_RRB          *rrb  = (PC_RRB *)pc->data;
  MPI_Comm         comm = PetscObjectComm((PetscObject)pc);
  Mat              A, P;
  PetscObjectState state;
  PetscBool        device = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, &A, &P));
  PetscCheck(A == P, comm, PETSC_ERR_SUP, "KSP of type rrbcg eliminates with the factor of the preconditioner, which is made from another matrix than the operator: hand one matrix to KSPSetOperators(), or use -ksp_type cg -pc_type rrb");
  PetscCheck(!rrb->matrix.nine, comm, PETSC_ERR_SUP, "KSP of type rrbcg needs a 5-point stencil, since the black nodes of a 9-point one are coupled: use -ksp_type cg -pc_type rrb");
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCheck(state == rrb->state, comm, PETSC_ERR_SUP, "KSP of type rrbcg eliminates with the factor of the preconditioner, which is that of older values: leave out KSPSetReusePreconditioner() (-ksp_reuse_preconditioner), or use -ksp_type cg -pc_type rrb");
  if (rrb->device.valid) PetscCall(PolderVecOnDevice(like, &device));
  if (!device && (!rrb->valid || !rrb->reduced.valid)) PetscCall(PCRRBSetUpHost_Private(pc)); // the matrix is on the device and the vectors are not
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedSize_Private(PC pc, PetscInt *n)
{
  const PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  *n = (rrb->nx * rrb->ny + 1) / 2;
  if (rrb->ranks.size) *n = rrb->grid[0].g.hx * rrb->grid[0].g.hy + (rrb->grid[0].g.nx / 2) * (rrb->grid[0].g.ny / 2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedFree_Private(PC_RRB *rrb)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(rrb->reduced.coef));
  PetscCall(PetscFree(rrb->reduced.place));
  PetscCall(PetscFree(rrb->reduced.x));
  PetscCall(PetscSFDestroy(&rrb->reduced.halo));
  rrb->reduced.valid = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For the grids and the rest that there are */
PetscErrorCode PCRRBReducedLayout_Private(PC pc)
{
  PC_RRB              *rrb  = (PC_RRB *)pc->data;
  const PolderRRBGrid *g    = &rrb->grid[0].g;
  const RRBRest       *rest = &rrb->rest;
  const size_t         n1 = (size_t)g->hx * (size_t)g->hy, h2 = (size_t)(g->nx / 2);

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(RRB_NREDUCED * g->size, &rrb->reduced.coef));
  if (rrb->ranks.size) PetscCall(PCRRBReducedRanksLayout_Private(pc));
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

PetscErrorCode PCRRBReducedView_Private(const PC_RRB *rrb, PetscViewer viewer)
{
  const RRBDevice *d      = &rrb->device;
  const size_t     arrays = RRB_NREDUCED + (rrb->single ? RRB_NCOEF : 0); /* the first grid's factor is there in both precisions */
  PetscLogDouble   bytes;

  PetscFunctionBegin;
  if (rrb->matrix.nine || !(d->valid ? d->reduced : rrb->reduced.coef)) PetscFunctionReturn(PETSC_SUCCESS);
  bytes = (PetscLogDouble)(arrays * (d->valid ? d->step[0].g.size : rrb->grid[0].g.size) * sizeof(PetscScalar));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)viewer)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  kept for rrbcg: Schur complement without the black nodes, 9-point stencil, symmetric half; %.1f bytes a row\n", (double)bytes / ((double)rrb->nx * (double)rrb->ny)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReduceHost_Private(PC pc, Vec b, Vec r)
{
  PC_RRB            *rrb = (PC_RRB *)pc->data;
  const PetscScalar *ba;
  PetscScalar       *ra;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArrayWrite(r, &ra));
  if (rrb->ranks.size) PetscCall(PCRRBReduceRanks_Private(rrb, ba, ra));
  else PolderRRBReduce_Host(&rrb->grid[0].g, rrb->grid[0].coef, ba, rrb->nx, ra);
  PetscCall(VecRestoreArrayWrite(r, &ra));
  PetscCall(VecRestoreArrayRead(b, &ba));
  PetscCall(PetscLogFlops(4.0 * rrb->grid[0].g.nx * rrb->grid[0].g.ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBExpandHost_Private(PC pc, Vec b, Vec r, Vec x)
{
  PC_RRB            *rrb = (PC_RRB *)pc->data;
  const PetscScalar *ba, *ra;
  PetscScalar       *xa;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArrayRead(r, &ra));
  PetscCall(VecGetArrayWrite(x, &xa));
  if (rrb->ranks.size) PetscCall(PCRRBExpandRanks_Private(rrb, ba, ra, xa));
  else PolderRRBExpand_Host(&rrb->grid[0].g, rrb->grid[0].coef, ba, ra, xa, rrb->nx);
  PetscCall(VecRestoreArrayWrite(x, &xa));
  PetscCall(VecRestoreArrayRead(r, &ra));
  PetscCall(VecRestoreArrayRead(b, &ba));
  PetscCall(PetscLogFlops(4.5 * rrb->grid[0].g.nx * rrb->grid[0].g.ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBPickHost_Private(PC pc, Vec x, Vec r)
{
  PC_RRB            *rrb = (PC_RRB *)pc->data;
  const PetscScalar *xa;
  PetscScalar       *ra;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(r, &ra));
  if (rrb->ranks.size) PetscCall(PCRRBPickRanks_Private(rrb, xa, ra));
  else PolderRRBPick_Host(&rrb->grid[0].g, xa, rrb->nx, ra);
  PetscCall(VecRestoreArrayWrite(r, &ra));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBReducedMultHost_Private(PC pc, Vec x, Vec y, PetscScalar *dot)
{
  PC_RRB            *rrb = (PC_RRB *)pc->data;
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  if (rrb->ranks.size) PetscCall(PCRRBReducedMultRanks_Private(rrb, xa, ya, dot));
  else PolderRRBReducedMult_Host(&rrb->grid[0].g, rrb->reduced.coef, xa, ya, dot);
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(PetscLogFlops((dot ? 9.5 : 8.5) * rrb->grid[0].g.nx * rrb->grid[0].g.ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  M without its first half level: r2 is the next grid, whose values lie in z while the coarser grids are at work
*/
static PetscErrorCode PCRRBReducedApplyHost_Private(PC pc, Vec r, Vec z)
{
  PC_RRB              *rrb   = (PC_RRB *)pc->data;
  const RRBGrid       *first = &rrb->grid[0];
  const PolderRRBGrid *g     = &first->g;
  const PetscScalar   *rr;
  PetscScalar         *zz, *z2;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(r, &rr));
  PetscCall(VecGetArrayWrite(z, &zz));
  z2 = zz + (size_t)g->hx * (size_t)g->hy;
  if (rrb->ranks.size) PetscCall(PCRRBReducedApplyRanks_Private(pc, rr, zz));
  else if (first->half) PetscCall(PCRRBRestSolve_Private(&rrb->rest, rrb->reduced.place, rr, zz));
  else {
    if (first->single) PolderRRBReducedForwardSingle_Host(g, first->single, rr, zz);
    else PolderRRBReducedForward_Host(g, first->coef, rr, zz);
    if (rrb->ngrid > 1) PetscCall(PCRRBSweeps_Private(rrb, 1, z2, g->nx / 2, z2));
    else PetscCall(PCRRBRestSolve_Private(&rrb->rest, rrb->reduced.place, zz, zz));
    if (first->single) PolderRRBReducedBackwardSingle_Host(g, first->single, rr, zz);
    else PolderRRBReducedBackward_Host(g, first->coef, rr, zz);
  }
  PetscCall(VecRestoreArrayWrite(z, &zz));
  PetscCall(VecRestoreArrayRead(r, &rr));
  PetscCall(PetscLogFlops(PetscMax(rrb->flops - 8.5 * g->nx * g->ny, 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReduce_Private(PC pc, Vec b, Vec r)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_RRBReduce, pc));
  PetscCall(PCRRBReduceDevice_Private(pc, b, r, &done));
  if (!done) PetscCall(PCRRBReduceHost_Private(pc, b, r));
  PetscCall(PolderLogEnd(POLDER_RRBReduce, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBExpand_Private(PC pc, Vec b, Vec r, Vec x)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_RRBReduce, pc));
  PetscCall(PCRRBExpandDevice_Private(pc, b, r, x, &done));
  if (!done) PetscCall(PCRRBExpandHost_Private(pc, b, r, x));
  PetscCall(PolderLogEnd(POLDER_RRBReduce, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBPick_Private(PC pc, Vec x, Vec r)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_RRBReduce, pc));
  PetscCall(PCRRBPickDevice_Private(pc, x, r, &done));
  if (!done) PetscCall(PCRRBPickHost_Private(pc, x, r));
  PetscCall(PolderLogEnd(POLDER_RRBReduce, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedMult_Private(PC pc, Vec x, Vec y, PetscScalar *dot, PetscBool *done)
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PCRRBReducedMultDevice_Private(pc, x, y, dot, done));
  if (*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderVecOnDevice(x, &device));
  *done = (PetscBool)(!dot || !device);
  if (*done) PetscCall(PCRRBReducedMultHost_Private(pc, x, y, dot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedApply_Private(PC pc, Vec r, Vec z)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_RRBApply, pc));
  PetscCall(PCRRBReducedApplyDevice_Private(pc, r, z, NULL, &done));
  if (!done) PetscCall(PCRRBReducedApplyHost_Private(pc, r, z));
  PetscCall(PolderLogEnd(POLDER_RRBApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedApplyRho_Private(PC pc, Vec r, Vec z, const PolderCGRho *rho, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(PolderLogBegin(POLDER_RRBApply, pc));
  PetscCall(PCRRBReducedApplyDevice_Private(pc, r, z, rho, done));
  PetscCall(PolderLogEnd(POLDER_RRBApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBGetReduction_Private(PC pc, const PolderPCReduction **reduction)
{
  static const PolderPCReduction offer = {
    .want = PCRRBReducedWant_Private, .begin = PCRRBReducedBegin_Private, .size = PCRRBReducedSize_Private, .reduce = PCRRBReduce_Private, .expand = PCRRBExpand_Private, .pick = PCRRBPick_Private, .mult = PCRRBReducedMult_Private, .apply = PCRRBReducedApply_Private, .fused = {.applyrho = PCRRBReducedApplyRho_Private, .steps = PCRRBReducedManySteps_Private}
  };

  PetscFunctionBegin;
  (void)pc;
  *reduction = &offer;
  PetscFunctionReturn(PETSC_SUCCESS);
}
