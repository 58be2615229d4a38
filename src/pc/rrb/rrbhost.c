/* PC rrb on the host: set-up and apply, on one process or with one box of the grid per process. */
#include "rrbimpl.h"
#include <petsc/private/pcimpl.h>

PetscErrorCode PCRRBSetUpHost(PC pc)
{
  PC_RRB   *rrb = (PC_RRB *)pc->data;
  PolderCSR csr;

  PetscFunctionBegin;
  PetscCall(PolderMatGetCSR(pc->pmat, &csr));
  PetscCall(PCRRBUpdateGrid(pc, &csr));
  PetscCall(PCRRBLayout(pc));
  PetscCall(PCRRBFactor(pc, &csr));
  rrb->valid = (PetscBool)!pc->failedreason;
  PetscCall(PolderMatRestoreCSR(pc->pmat, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  L y = r         grid by grid: eliminated nodes contribute to their neighbours
  L^T z = D^-1 y  after the exact solve of the rest, grid by grid in reverse

  r2 of a grid is the next grid in natural order. The sweeps begin with grid `from`; r is the right-hand side on this grid and z the solution, with rows ld
  apart. On several processes the first grids are in boxes.
*/
PetscErrorCode PCRRBSweeps(PC_RRB *rrb, PetscInt from, const PetscScalar *r, PetscInt ld, PetscScalar *z)
{
  PetscFunctionBegin;
  for (PetscInt k = from; k < rrb->ngrid; ++k) {
    const RRBGrid     *grid = &rrb->grid[k], *finer = k > from ? grid - 1 : NULL;
    const PetscScalar *a  = finer ? finer->z + RRB_R2 * finer->g.size + finer->g.origin : r;
    const PetscInt     da = finer ? finer->g.pitch : ld;

    if (grid->single) PolderRRBForwardSingle_Host(&grid->g, grid->half, grid->single, a, da, grid->z);
    else PolderRRBForward_Host(&grid->g, grid->half, grid->coef, a, da, grid->z);
  }
  if (rrb->ngrid > from) PetscCall(PCRRBRestSolve(&rrb->rest, rrb->rest.place, rrb->grid[rrb->ngrid - 1].z, rrb->grid[rrb->ngrid - 1].z));
  else PetscCall(PCRRBRestSolve(&rrb->rest, rrb->rest.place, r, z));
  for (PetscInt k = rrb->ngrid - 1; k >= from; --k) {
    const RRBGrid *grid = &rrb->grid[k], *finer = k > from ? grid - 1 : NULL;
    PetscScalar   *a  = finer ? finer->z + RRB_R2 * finer->g.size + finer->g.origin : z;
    const PetscInt da = finer ? finer->g.pitch : ld;

    if (grid->single) PolderRRBBackwardSingle_Host(&grid->g, grid->half, grid->single, grid->z, a, da);
    else PolderRRBBackward_Host(&grid->g, grid->half, grid->coef, grid->z, a, da);
  }
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
  } else PetscCall(PCRRBSweeps(rrb, 0, r, rrb->nx, z));
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

  for (PetscInt k = 0; k < rrb->ngrid; ++k)
    bytes += (PetscLogDouble)rrb->grid[k].g.size * (RRB_NVEC * sizeof(PetscScalar) + RRB_NCOEF * (rrb->single ? sizeof(float) : sizeof(PetscScalar)));
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
  (void)rrb; // no further output
  (void)viewer;
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
