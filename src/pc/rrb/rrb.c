/* Repeated red-black incomplete factorisation of 5- and 9-point stencils: M = L D L^T on the r1, b1, b2, r2 arrays of rrbrow.h. */
#include "rrbimpl.h"
#include "core/options.h"
#include "core/refusal.h"
#include <petsc/private/pcimpl.h>

/* Tried from the last to the first, since the host always works */
static const RRBSteps *const RRBStepsAt[] = {&RRBStepsOnHost, &RRBStepsOnDevice};

PetscErrorCode PCRRBUpdateGrid(PC pc, const PolderCSR *csr)
{
  PC_RRB          *rrb = (PC_RRB *)pc->data;
  PetscObjectId    mat;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &mat));
  PetscCall(MatGetNonzeroState(pc->pmat, &state));
  if (mat == rrb->mat && state == rrb->nonzerostate) PetscFunctionReturn(PETSC_SUCCESS);
  rrb->mat  = 0;
  rrb->once = PETSC_FALSE;
  PetscCall(PCRRBFindGrid(pc, csr));
  rrb->mat          = mat;
  rrb->nonzerostate = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_RRB(PC pc)
{
  PC_RRB   *rrb  = (PC_RRB *)pc->data;
  PetscBool done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PolderMatCheckRows(pc->pmat, "rrb"));
  PetscCall(PolderLogBegin(POLDER_RRBSetUp, pc));
  rrb->valid = PETSC_FALSE;
  PetscCall(PolderPCForgive(pc));
  for (int k = 1; k >= 0 && !done; --k) PetscCall((*RRBStepsAt[k]->setup)(pc, &done));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &rrb->state));
  PetscCall(PolderLogEnd(POLDER_RRBSetUp, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBChoose(PC pc, Vec r, Vec z, const RRBSteps **steps)
{
  const PolderPlace *place;

  PetscFunctionBegin;
  *steps = &RRBStepsOnHost;
  PetscCall(PolderPlaceOfVecs(r, z, &place));
  *steps = RRBStepsAt[((PC_RRB *)pc->data)->device.valid && place->device];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBApplyAt(PC pc, const RRBSteps *steps, Vec r, Vec z, const PolderCGRho *rho)
{
  const PC_RRB      *rrb   = (PC_RRB *)pc->data;
  const PolderPlace *place = steps->place;
  const PetscScalar *rr;
  PetscScalar       *zz;

  PetscFunctionBegin;
  PetscCall((*place->vecgetread)(r, &rr));
  PetscCall((*place->vecgetwrite)(z, &zz));
  PetscCall((*place->timebegin)());
  PetscCall((*steps->apply)(pc, rr, zz, rho));
  PetscCall((*place->timeend)());
  PetscCall((*place->vecrestorewrite)(z, &zz));
  PetscCall((*place->vecrestoreread)(r, &rr));
  PetscCall((*place->logflops)(rrb->flops + (rho ? 3.0 * rrb->nx * rrb->ny : 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_RRB(PC pc, Vec r, Vec z)
{
  const RRBSteps *steps;
  PetscBool       failed;

  PetscFunctionBegin;
  PetscCall(PolderPCFlag(pc, z, &failed));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PolderLogBegin(POLDER_RRBApply, pc));
  PetscCall(PCRRBChoose(pc, r, z, &steps));
  PetscCall((*steps->ready)(pc, PETSC_FALSE));
  PetscCall(PolderPCFlag(pc, z, &failed));
  if (!failed) PetscCall(PCRRBApplyAt(pc, steps, r, z, NULL));
  PetscCall(PolderLogEnd(POLDER_RRBApply, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_RRB(PC pc)
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCRRBFreeLayout(rrb));
  PetscCall(PCRRBRowsFree(&rrb->rows));
  PetscCall(PCRRBFreeDevice(&rrb->device));
  PetscCall(PCRRBWholeFree(&rrb->whole));
  rrb->mat   = 0;
  rrb->valid = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_RRB(PC pc, PetscViewer viewer)
{
  static const char *const origins[] = {"given", "of the DM", "seen in the matrix"};
  PC_RRB                  *rrb       = (PC_RRB *)pc->data;
  const RRBRest           *rest      = &rrb->rest;
  const RRBRanks          *ranks     = &rrb->ranks;
  const RRBSteps          *steps     = RRBStepsAt[rrb->device.valid];
  char                     how[128];
  PetscLogDouble           bytes = (*steps->bytes)(rrb);
  PetscBool                ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!rrb->valid && !rrb->device.valid) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  omega %g, not set up\n", (double)rrb->omega));
    PetscCall(PolderRefusalView((PetscObject)pc, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  grid of %" PetscInt_FMT " by %" PetscInt_FMT " nodes, %s; %d-point stencil\n", rrb->nx, rrb->ny,
                                   origins[rrb->origin], rrb->matrix.nine ? 9 : 5));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " half levels eliminated%s, omega %g\n", rrb->levels,
                                   rrb->wanted < 0             ? " (chosen)"
                                   : rrb->wanted > rrb->levels ? " (the grid ends there)"
                                                               : "",
                                   (double)rrb->omega));
  if (ranks->size && !rrb->device.valid)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  grids in %" PetscInt_FMT " by %" PetscInt_FMT " boxes, one a process: %" PetscInt_FMT
                                     "; on every process: %" PetscInt_FMT "\n",
                                     ranks->np[0], ranks->np[1], ranks->ngrid, rrb->ngrid - ranks->ngrid));
  PetscCall((*steps->describerest)(rrb, sizeof(how), how));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  exact rest: %" PetscInt_FMT " unknowns of a grid of %" PetscInt_FMT " by %" PetscInt_FMT ", %s\n", rest->n,
                                   rest->nx, rest->ny, how));
  if (rest->npin) PetscCall(PetscViewerASCIIPrintf(viewer, "  singular parts of the rest: %" PetscInt_FMT "\n", rest->npin));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  factor in %s precision, on the %s; %.1f bytes a row\n", rrb->single ? "single" : "double", steps->place->name,
                                   (double)bytes / ((double)rrb->nx * (double)rrb->ny)));
  PetscCall((*steps->view)(rrb, viewer));
  PetscCall(PCRRBReducedView(rrb, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBSetGrid_RRB(PC pc, PetscInt nx, PetscInt ny)
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  PetscCheck(nx > 0 && ny > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "A grid of %" PetscInt_FMT " by %" PetscInt_FMT " nodes: both numbers must be positive", nx, ny);
  PetscCheck(nx <= PETSC_MAX_INT / ny, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "A grid of %" PetscInt_FMT " by %" PetscInt_FMT " nodes has more of them than the integers of this PETSc count", nx, ny);
  if (nx == rrb->given[0] && ny == rrb->given[1]) PetscFunctionReturn(PETSC_SUCCESS);
  rrb->given[0]   = nx;
  rrb->given[1]   = ny;
  rrb->mat        = 0;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetGrid - sets the grid of the matrix of `PCRRB`

   Logically Collective

   Input Parameters:
+  pc - the preconditioner
.  nx - nodes in the direction in which neighbours have consecutive rows
-  ny - nodes in the other direction

   Options Database Key:
.  -pc_rrb_grid <nx,ny> - the grid

   Level: intermediate

   Note:
   Not needed with a `DMDA`, nor when the grid can be read from the diagonals of the matrix.

.seealso: `PCRRB`
@*/
PetscErrorCode PCRRBSetGrid(PC pc, PetscInt nx, PetscInt ny)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, nx, 2);
  PetscValidLogicalCollectiveInt(pc, ny, 3);
  PetscTryMethod(pc, "PCRRBSetGrid_C", (PC, PetscInt, PetscInt), (pc, nx, ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBSetLevels_RRB(PC pc, PetscInt levels)
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_rrb_levels", levels, PETSC_DECIDE, PC_RRB_LEVELS_MAX);
  if (levels == rrb->wanted) PetscFunctionReturn(PETSC_SUCCESS);
  rrb->wanted     = levels;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetLevels - sets the number of half levels that `PCRRB` eliminates before it solves the rest exactly

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  levels - half levels, each of which halves the number of nodes, 0 to 1000, or `PETSC_DECIDE`

   Options Database Key:
.  -pc_rrb_levels <levels> - half levels

   Level: intermediate

   Notes:
   Two half levels coarsen the grid by two in each direction. Fewer levels are a better preconditioner with a larger rest. With
   `PETSC_DECIDE`, the default, it is the smallest number for which the rest is cheap. The elimination ends earlier on a grid of one line, which is solved
   exactly.

.seealso: `PCRRB`
@*/
PetscErrorCode PCRRBSetLevels(PC pc, PetscInt levels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, levels, 2);
  PetscTryMethod(pc, "PCRRBSetLevels_C", (PC, PetscInt), (pc, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBSetTwice_RRB(PC pc, PetscInt first)
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  PolderCheckBounds(PetscObjectComm((PetscObject)pc), "-pc_rrb_twice", first, PETSC_DECIDE, PC_RRB_LEVELS_MAX);
  if (first == rrb->wanttwice) PetscFunctionReturn(PETSC_SUCCESS);
  rrb->wanttwice  = first;
  rrb->mat        = 0; // the distribution of the grids over the processes changes
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetTwice - sets the first grid that `PCRRB` visits twice

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  first - number of the grid, each of which has a quarter of the nodes of the one before; 0: none is visited twice; `PETSC_DECIDE`: number 2, on a GPU number 3
           up to 8 million nodes, if neither the number of half levels is given nor the grid small

   Options Database Key:
.  -pc_rrb_twice <first> - the grid

   Level: intermediate

   Note:
   With one visit of each grid the condition number grows with each half level. Two visits of all grids from a certain one on (on a GPU of every third), the
   lengths of which belong to a Chebyshev polynomial, keep it where it is there, at an eighth more time an iteration. The preconditioner stays symmetric and
   positive definite. A grid is visited once where a visit lengthens some vectors much more than others, as with some bubbles of small coefficient, or where
   it nearly solves, as in short time steps.

.seealso: `PCRRB`, `PCRRBSetLevels()`
@*/
PetscErrorCode PCRRBSetTwice(PC pc, PetscInt first)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, first, 2);
  PetscTryMethod(pc, "PCRRBSetTwice_C", (PC, PetscInt), (pc, first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBSetOmega_RRB(PC pc, PetscReal omega)
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  PetscCheck(omega >= 0 && omega <= 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "The share %g of dropped couplings that goes to the diagonal is not between 0 and 1: use -pc_rrb_omega 1 unless you know better", (double)omega);
  if (omega == rrb->omega) PetscFunctionReturn(PETSC_SUCCESS);
  rrb->omega      = omega;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetOmega - sets the share of the dropped couplings that `PCRRB` adds to the diagonal

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  omega - between 0 (plain incomplete factorisation) and 1 (row sums are kept)

   Options Database Key:
.  -pc_rrb_omega <1> - the share

   Level: intermediate

   Note:
   For any value but 1 the condition number grows like that of the matrix. Values slightly below 1 can keep pivots positive where positive couplings,
   or rows that are not dominated by their diagonal, would make them negative.

.seealso: `PCRRB`
@*/
PetscErrorCode PCRRBSetOmega(PC pc, PetscReal omega)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, omega, 2);
  PetscTryMethod(pc, "PCRRBSetOmega_C", (PC, PetscReal), (pc, omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBSetSinglePrecision_RRB(PC pc, PetscBool single)
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  if (single == rrb->single) PetscFunctionReturn(PETSC_SUCCESS);
  rrb->single     = single;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetSinglePrecision - keeps the factor of `PCRRB` in single precision

   Logically Collective

   Input Parameters:
+  pc     - the preconditioner
-  single - `PETSC_TRUE` to store it in single precision

   Options Database Key:
.  -pc_rrb_precision <double> - `double` or `single`

   Level: intermediate

   Note:
   The factor is computed, and applied to vectors, in double precision; only the stored factor is rounded. The preconditioner is still symmetric and
   positive definite.

.seealso: `PCRRB`
@*/
PetscErrorCode PCRRBSetSinglePrecision(PC pc, PetscBool single)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveBool(pc, single, 2);
  PetscTryMethod(pc, "PCRRBSetSinglePrecision_C", (PC, PetscBool), (pc, single));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBSetLatency_RRB(PC pc, PetscReal nodes)
{
  PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  PetscCheck(nodes >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "The latency of %g nodes is negative: use -pc_rrb_latency 0 or more",
             (double)nodes);
  if (nodes == rrb->latency) PetscFunctionReturn(PETSC_SUCCESS);
  rrb->latency    = nodes;
  rrb->mat        = 0; // the distribution of the grids over the processes changes
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCRRBSetLatency - sets the assumed cost of the exchanges of `PCRRB` on one grid, on several processes

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner
-  nodes - the cost, as the number of nodes that a process can sweep over in that time

   Options Database Key:
.  -pc_rrb_latency <4000> - the cost

   Level: advanced

   Note:
   A grid whose exchanges would cost more than they save is replicated on every process, like all coarser grids. The preconditioner is the same.

.seealso: `PCRRB`
@*/
PetscErrorCode PCRRBSetLatency(PC pc, PetscReal nodes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, nodes, 2);
  PetscTryMethod(pc, "PCRRBSetLatency_C", (PC, PetscReal), (pc, nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_RRB(PC pc, PolderOptionItems PetscOptionsObject)
{
  static const char *const precisions[] = {"double", "single"};
  PC_RRB                  *rrb          = (PC_RRB *)pc->data;
  PetscInt                 grid[2] = {0, 0}, n = 2, levels = rrb->wanted, twice = rrb->wanttwice, precision = rrb->single;
  PetscReal                omega = rrb->omega, latency = rrb->latency;
  PetscBool                set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Repeated red-black factorisation options");
  PetscCall(
    PetscOptionsIntArray("-pc_rrb_grid", "Nodes of the grid, nx,ny; not given: automatic, those of the DM or of the matrix", "PCRRBSetGrid", grid, &n, &set));
  if (set) {
    PetscCheck(n == 2, PetscObjectComm((PetscObject)pc), PETSC_ERR_USER_INPUT, "-pc_rrb_grid takes two numbers, nx,ny");
    PetscCall(PCRRBSetGrid(pc, grid[0], grid[1]));
  }
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_rrb_levels", "Half levels before the exact rest", "PCRRBSetLevels", PETSC_DECIDE, PC_RRB_LEVELS_MAX,
                             &levels, &set));
  if (set) PetscCall(PCRRBSetLevels(pc, levels));
  PetscCall(PolderOptionsInt(PetscOptionsObject, "-pc_rrb_twice", "First grid that is visited twice, 0: none", "PCRRBSetTwice", PETSC_DECIDE, PC_RRB_LEVELS_MAX,
                             &twice, &set));
  if (set) PetscCall(PCRRBSetTwice(pc, twice));
  PetscCall(PetscOptionsReal("-pc_rrb_omega", "Share of the dropped couplings that goes to the diagonal, 0 to 1", "PCRRBSetOmega", omega, &omega, &set));
  if (set) PetscCall(PCRRBSetOmega(pc, omega));
  PetscCall(PetscOptionsEList("-pc_rrb_precision", "Precision in which the factor is stored", "PCRRBSetSinglePrecision", precisions, 2, precisions[precision],
                              &precision, &set));
  if (set) PetscCall(PCRRBSetSinglePrecision(pc, (PetscBool)precision));
  PetscCall(PetscOptionsReal("-pc_rrb_latency", "Cost of the exchanges on a grid, in nodes swept in that time", "PCRRBSetLatency", latency, &latency, &set));
  if (set) PetscCall(PCRRBSetLatency(pc, latency));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PolderSetter PCRRBSetters[] = {POLDER_SETTER(PCRRBSetGrid, RRB),
                                            POLDER_SETTER(PCRRBSetLevels, RRB),
                                            POLDER_SETTER(PCRRBSetTwice, RRB),
                                            POLDER_SETTER(PCRRBSetOmega, RRB),
                                            POLDER_SETTER(PCRRBSetSinglePrecision, RRB),
                                            POLDER_SETTER(PCRRBSetLatency, RRB),
                                            POLDER_SETTER(PCRRBGetOrdering, RRB)};

static PetscErrorCode PCDestroy_RRB(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_RRB(pc));
  PetscCall(PolderComposeSetters((PetscObject)pc, PETSC_STATIC_ARRAY_LENGTH(PCRRBSetters), PCRRBSetters, PETSC_FALSE));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_FUSED, NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_REDUCTION, NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCRRB - repeated red-black incomplete factorisation of 5- and 9-point stencils on 2-D grids

   Options Database Keys:
+  -pc_rrb_grid <nx,ny>       - the grid, when there is no `DMDA` and it cannot be read from the matrix
.  -pc_rrb_levels <levels>    - half levels before the exact rest
.  -pc_rrb_twice <first>      - first grid that is visited twice, 0: none
.  -pc_rrb_omega <1>          - share of the dropped couplings that goes to the diagonal
.  -pc_rrb_precision <double> - `double` or `single`
-  -pc_rrb_latency <4000>     - cost of the exchanges on a grid on several processes, in nodes swept in that time

   Level: beginner

   Notes:
   The nodes of the grid are eliminated half by half: the black nodes of a chess board, then every other row of the red ones. This leaves a grid that
   is coarser by two in each direction, which is treated likewise. Before each half is eliminated, the couplings among its nodes are added to the diagonal
   (with a 5-point matrix the first half has none). The rest is solved exactly by band Cholesky. Each half level multiplies the condition number by 1.24,
   whatever the size of the grid. Unless the number of half levels is given, coarse grids are visited twice, see `PCRRBSetTwice()`, and it stays where it is on
   the first of these. The work is proportional to the number of nodes, so the preconditioner is most useful on large grids.

   The matrix is symmetric and positive definite with one unknown a node, in natural order or that of a `DMDA`. If its off-diagonal entries are not positive and
   its row sums are not negative, all pivots are positive. Other matrices may work; with a pivot that is not positive the solve ends with
   `KSP_DIVERGED_PC_FAILED` and a sentence that names its node. Rows without off-diagonal entries, such as those of known values or dry land, may occur
   anywhere.

   When all row sums vanish, the system is singular, and so is the rest, which is then solved by its pseudo-inverse. Attach the kernel with
   `MatSetNullSpace()`, as for any solver, or make sure that the right-hand side is consistent. Strong anisotropy increases the number of iterations.

   When only the values of the matrix change, the layout of the grids is reused and only the factor is recomputed.

   With matrix and vectors on a GPU the preconditioner is set up and applied there; on several processes each GPU has the whole grid, whose lines `KSPRRBCG`
   shares. The rest is then solved by a product with its dense inverse, and `PETSC_DECIDE` stops at a rest of at most 1024 unknowns. If more half levels are
   requested, the additional ones are not swept over: that dense matrix then is M^-1 on their nodes.

   Reference:
   M. de Jong, A. van der Ploeg, A. Ditzel, C. Vuik, Fine-grain parallel RRB-solver for 5-/9-point stencil problems suitable for GPU-type
   processors, ETNA 46, 2017.

.seealso: `PCRRBSetGrid()`, `PCRRBSetLevels()`, `PCRRBSetTwice()`, `PCRRBSetOmega()`, `PCRRBSetSinglePrecision()`, `PCRRBSetLatency()`,
`PCRRBGetOrdering()`, `KSPRRBCG`, `PCTNS`, `PCICC`
M*/
PETSC_INTERN PetscErrorCode PCCreate_RRB(PC pc)
{
  PC_RRB *rrb;

  PetscFunctionBegin;
  PetscCall(PetscNew(&rrb));
  rrb->wanted             = PETSC_DECIDE;
  rrb->wanttwice          = PETSC_DECIDE;
  rrb->device.levels      = PETSC_DECIDE;
  rrb->omega              = 1;
  rrb->latency            = 4000;
  pc->data                = (void *)rrb;
  pc->ops->setup          = PCSetUp_RRB;
  pc->ops->setuponblocks  = PolderPCSetUpOnBlocks;
  pc->ops->apply          = PCApply_RRB;
  pc->ops->applytranspose = PCApply_RRB; // M is symmetric
  pc->ops->reset          = PCReset_RRB;
  pc->ops->destroy        = PCDestroy_RRB;
  pc->ops->view           = PCView_RRB;
  pc->ops->setfromoptions = PCSetFromOptions_RRB;
  PetscCall(PolderComposeSetters((PetscObject)pc, PETSC_STATIC_ARRAY_LENGTH(PCRRBSetters), PCRRBSetters, PETSC_TRUE));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_FUSED, PCRRBGetFused));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, POLDER_PC_GET_REDUCTION, PCRRBGetReduction));
  PetscFunctionReturn(PETSC_SUCCESS);
}
