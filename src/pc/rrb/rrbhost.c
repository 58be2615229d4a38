/* PC rrb on the host: set-up and apply, on one process or with one box of the grid per process. */
#include "rrbimpl.h"
#include <petsc/private/pcimpl.h>

/* Is the largest of the grids that were chosen for second visits visited once? */
static PetscBool RRBTwiceFails(const PC_RRB *rrb)
{
  PetscInt k = 0;

  while (k < rrb->ngrid && !rrb->grid[k].twice.a) ++k;
  return (PetscBool)(rrb->wanttwice < 0 && k < rrb->ngrid && !rrb->grid[k].twice.length[1]);
}

PetscErrorCode PCRRBSetUpHost(PC pc)
{
  PC_RRB   *rrb = (PC_RRB *)pc->data;
  PolderCSR csr;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(pc->pmat, &csr));
  PetscCall(PCRRBUpdateGrid(pc, &csr));
  PetscCall(PCRRBLayout(pc));
  PetscCall(PCRRBFactor(pc, &csr));
  if (!pc->failedreason && RRBTwiceFails(rrb)) { // fewer half levels are better then
    rrb->once = PETSC_TRUE;
    PetscCall(PCRRBLayout(pc));
    PetscCall(PCRRBFactor(pc, &csr));
  }
  rrb->valid = (PetscBool)!pc->failedreason;
  PetscCall(PolderMatRestoreCSR(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  L y = r         the nodes that a grid eliminates contribute to their neighbours; then follows the next grid, which is r2 in natural order
  L^T z = D^-1 y  after that, or after the exact solve of the rest
*/
PetscErrorCode PCRRBVisit(PC pc, PetscInt k, const PetscScalar r[], PetscInt ldr, PetscScalar z[], PetscInt ldz)
{
  PC_RRB        *rrb  = (PC_RRB *)pc->data;
  const RRBGrid *grid = &rrb->grid[k];
  PetscScalar   *r2   = grid->z + RRB_R2 * grid->g.size + grid->g.origin;

  PetscFunctionBegin;
  if (grid->single) PolderRRBForwardSingle_Host(&grid->g, grid->half, grid->single, r, ldr, grid->z);
  else PolderRRBForward_Host(&grid->g, grid->half, grid->coef, r, ldr, grid->z);
  if (k + 1 < rrb->ngrid) PetscCall(PCRRBSolveGrid(pc, k + 1, PCRRBVisit, r2, grid->g.pitch, r2, grid->g.pitch));
  else PetscCall(PCRRBRestSolve(&rrb->rest, rrb->rest.place, grid->z, grid->z));
  if (grid->single) PolderRRBBackwardSingle_Host(&grid->g, grid->half, grid->single, grid->z, z, ldz);
  else PolderRRBBackward_Host(&grid->g, grid->half, grid->coef, grid->z, z, ldz);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSweeps(PC pc, PetscInt from, const PetscScalar r[], PetscInt ld, PetscScalar z[])
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  if (from < rrb->ngrid) PetscCall(PCRRBSolveGrid(pc, from, PCRRBVisit, r, ld, z, ld));
  else PetscCall(PCRRBRestSolve(&rrb->rest, rrb->rest.place, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBApplyHost_Private(PC pc, const PetscScalar r[], PetscScalar z[], const PolderCGRho *rho)
{
  PC_RRB            *rrb = (PC_RRB *)pc->data;
  const PetscScalar *in;

  PetscFunctionBegin;
  (void)rho; // used on the device only
  if (rrb->ranks.size) {
    PetscCall(PCRRBToBox(rrb, r, &in));
    PetscCall(PCRRBSweepsRanks(pc, 0, in, PCRRBWidth(rrb), rrb->ranks.move ? rrb->ranks.box : z));
    PetscCall(PCRRBFromBox(rrb, z));
  } else PetscCall(PCRRBSweeps(pc, 0, r, rrb->nx, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBTrySetUpHost_Private(PC pc, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(PCRRBSetUpHost(pc));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up on the host if the last set-up was on the device only */
static PetscErrorCode PCRRBReadyHost_Private(PC pc, PetscBool reduced)
{
  const PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  if (!rrb->valid || (reduced && !rrb->reduced.valid)) PetscCall(PCRRBSetUpHost(pc)); // the matrix is on the device, the vectors are not
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble PCRRBBytesHost_Private(const PC_RRB *rrb)
{
  PetscLogDouble bytes = (PetscLogDouble)rrb->rest.n * (rrb->rest.band + 1.0) * sizeof(PetscScalar);

  for (PetscInt k = 0; k < rrb->ngrid; ++k) {
    bytes += (PetscLogDouble)rrb->grid[k].g.size * (RRB_NVEC * sizeof(PetscScalar) + RRB_NCOEF * (rrb->single ? sizeof(float) : sizeof(PetscScalar)));
    bytes += (PetscLogDouble)rrb->grid[k].twice.plane.size * (RRB_NROW + 2) * sizeof(PetscScalar);
  }
  return bytes;
}

static PetscErrorCode PCRRBDescribeRestHost_Private(const PC_RRB *rrb, size_t len, char text[])
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, len, "band Cholesky of half bandwidth %" PetscInt_FMT "%s", rrb->rest.band, rrb->ranks.size ? ", on every process" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBViewHost_Private(const PC_RRB *rrb, PetscViewer viewer)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < rrb->ngrid; ++k) PetscCall(PCRRBTwiceView(&rrb->grid[k].twice, k, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const RRBSteps RRBStepsOnHost = {
  .place        = &PolderOnHost,
  .setup        = PCRRBTrySetUpHost_Private,
  .ready        = PCRRBReadyHost_Private,
  .apply        = PCRRBApplyHost_Private,
  .bytes        = PCRRBBytesHost_Private,
  .describerest = PCRRBDescribeRestHost_Private,
  .view         = PCRRBViewHost_Private,
};
