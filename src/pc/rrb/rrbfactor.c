/* The factorisation of PC rrb on the host, grid by grid. */
#include "rrbimpl.h"
#include "core/refusal.h"
#include <petsc/private/pcimpl.h>

/* The shape of the arrays of a grid */
PolderRRBGrid PCRRBShape(PetscInt nx, PetscInt ny)
{
  PolderRRBGrid g = {.nx = nx, .ny = ny, .hx = (nx + 1) / 2, .hy = (ny + 1) / 2};

  g.pitch  = g.hx + 1; // the border at the end of a row is also the border at the start of the next one
  g.origin = (size_t)g.pitch + 1;
  g.size   = (size_t)g.pitch * (size_t)(g.hy + 2) + 2;
  return g;
}

static PetscErrorCode RRBGridCreate_Private(PetscInt nx, PetscInt ny, RRBGrid *grid)
{
  PetscFunctionBegin;
  grid->g = PCRRBShape(nx, ny);
  PetscCall(PetscCalloc1(RRB_NVEC * grid->g.size, &grid->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBFreeScratch_Private(PC_RRB *rrb)
{
  PetscFunctionBegin;
  for (int k = 0; k < 4; ++k) PetscCall(PetscFree(rrb->scratch[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBFreeLayout(PC_RRB *rrb)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < rrb->ngrid; ++k) {
    PetscCall(PetscFree(rrb->grid[k].coef));
    PetscCall(PetscFree(rrb->grid[k].single));
    PetscCall(PetscFree(rrb->grid[k].z));
  }
  PetscCall(PetscFree(rrb->grid));
  PetscCall(PCRRBRestFree(&rrb->rest));
  PetscCall(PCRRBReducedFree(rrb));
  PetscCall(PCRRBFreeScratch_Private(rrb));
  PetscCall(PCRRBRanksFree(&rrb->ranks));
  rrb->ngrid = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smallest number of half levels whose rest is cheap compared to the sweeps: its solve takes at most a tenth of their operations, its factor at most
   those of three sweeps */
static PetscInt PCRRBChooseLevels_Private(PetscInt nx, PetscInt ny)
{
  const PetscReal N = (PetscReal)nx * (PetscReal)ny;
  PetscInt        levels;
  PetscReal       n, band;

  for (levels = 0; PCRRBRestSize(nx, ny, levels, &n, &band); ++levels) {
    if (4 * n * (band + 1) <= 1.5 * N && n * (band + 1) * (band + 1) <= 40 * N) return levels;
    if (band <= (levels ? 4 : 16) && levels % 2 == 0) return levels; // narrow grids: solved exactly from the start if that costs less than a few steps
  }
  return levels - 1;
}

/* Does a layout of this many half levels exist for the current grid? If the distribution of the rows has changed, rrb->ranks was freed */
static PetscBool PCRRBHasLayout_Private(const PC_RRB *rrb, PetscInt levels)
{
  const RRBRest *rest = &rrb->rest;

  if (!rest->x || levels != rrb->levels || rrb->ngrid != (levels + 1) / 2 || (rrb->rows.np[0] * rrb->rows.np[1] > 1 && !rrb->ranks.size)) return PETSC_FALSE;
  if (rrb->ranks.size) return (PetscBool)(!rrb->reduced.wanted || rrb->reduced.coef);
  return (PetscBool)(rrb->ngrid ? rrb->grid[0].g.nx == rrb->nx && rrb->grid[0].g.ny == rrb->ny : rest->nx == rrb->nx && rest->ny == rrb->ny);
}

/* Makes grids and rest for the current grid and number of levels, and reuses existing ones */
PetscErrorCode PCRRBLayout(PC pc)
{
  PC_RRB        *rrb    = (PC_RRB *)pc->data;
  PetscInt       levels = rrb->wanted >= 0 ? rrb->wanted : rrb->device.levels >= 0 ? rrb->device.levels : PCRRBChooseLevels_Private(rrb->nx, rrb->ny);
  PetscReal      n, band;
  const RRBRest *rest = &rrb->rest;

  PetscFunctionBegin;
  while (!PCRRBRestSize(rrb->nx, rrb->ny, levels, &n, &band)) --levels;
  if (rrb->reduced.wanted) levels = PetscMax(levels, 1); // on a single line, too, the black nodes may be eliminated, since they are not coupled
  if (PCRRBHasLayout_Private(rrb, levels)) {
    if (rrb->reduced.wanted && !rrb->reduced.coef) PetscCall(PCRRBReducedLayout(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCRRBFreeLayout(rrb));
  PetscCall(PCRRBRanksLayout(pc, levels));
  rrb->levels = levels;
  PetscCall(PetscCalloc1((levels + 1) / 2, &rrb->grid));
  rrb->flops = 0;
  for (PetscInt k = 0; k < (levels + 1) / 2; ++k) {
    const RRBBox   box = PCRRBBox(rrb, k);
    const PetscInt x = k < rrb->ranks.ngrid ? box.x1 - box.x0 : rrb->nx >> k, y = k < rrb->ranks.ngrid ? box.y1 - box.y0 : rrb->ny >> k;
    RRBGrid       *grid = &rrb->grid[k];

    PetscCall(RRBGridCreate_Private(x, y, grid));
    rrb->ngrid++;
    rrb->flops += (grid->half = (PetscBool)(levels == 2 * k + 1)) ? 8.5 * x * y : 12.75 * x * y;
  }
  PetscCall(PCRRBRestLayout(pc, rrb->nx >> (levels / 2), rrb->ny >> (levels / 2), (PetscBool)(levels % 2),
                            rrb->ngrid > rrb->ranks.ngrid ? &rrb->grid[rrb->ngrid - 1].g : NULL));
  rrb->flops += 4.0 * rest->n * (rest->band + 1.0);
  if (rrb->reduced.wanted) PetscCall(PCRRBReducedLayout(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Destination of the rows of a matrix: the next grid, or the rest */
typedef struct {
  PC_RRB      *rrb;
  PetscInt     k;
  PetscScalar *work; /* RRB_NWORK arrays of grid k */
} RRBTarget;

/* Passes row y to its destination */
static PetscErrorCode PCRRBPut_Private(PetscInt y, PetscScalar *const row[], void *ctx)
{
  const RRBTarget *target = (const RRBTarget *)ctx;
  PC_RRB          *rrb    = target->rrb;
  RRBRest         *rest   = &rrb->rest;

  PetscFunctionBegin;
  if (target->k < rrb->ngrid) {
    PolderRRBPutRow_Host(&rrb->grid[target->k].g, y, row, rrb->grid[target->k].coef, target->work);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int f = 0; f < RRB_NROW; ++f) PetscCall(PetscArraycpy(rest->row[f] + (size_t)y * (size_t)rest->nx, row[f], rest->nx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the contribution of this process to the first replicated grid */
static PetscErrorCode PCRRBPutPart_Private(PetscInt y, PetscScalar *const row[], void *ctx)
{
  const PC_RRB  *rrb   = ((const RRBTarget *)ctx)->rrb;
  const RRBBox   box   = PCRRBBox(rrb, rrb->ranks.whole);
  const PetscInt width = box.x1 - box.x0;

  PetscFunctionBegin;
  for (PetscInt f = 0; f < RRB_NROW; ++f) PetscCall(PetscArraycpy(rrb->ranks.part + (size_t)(f * (box.y1 - box.y0) + y) * (size_t)width, row[f], width));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inverts pivots and records the first bad one; on a grid in boxes the processes compare theirs later, see PCRRBCheckPivots_Private() */
static PetscErrorCode PCRRBInvert_Private(PC pc, PetscInt k, int d, PetscInt nx, PetscInt ny)
{
  PC_RRB      *rrb   = (PC_RRB *)pc->data;
  RRBGrid     *grid  = &rrb->grid[k];
  PetscScalar *pivot = grid->coef + (size_t)d * grid->g.size;
  const RRBBox box   = k < rrb->ranks.ngrid ? PCRRBBox(rrb, k) : (RRBBox){0};

  PetscFunctionBegin;
  if (!PolderRRBInvert_Host(&grid->g, nx, ny, pivot) || rrb->bad.half != PETSC_MAX_INT) PetscFunctionReturn(PETSC_SUCCESS);
  pivot += grid->g.origin;
  for (PetscInt v = 0; v < ny; ++v, pivot += grid->g.pitch) {
    for (PetscInt u = 0; u < nx; ++u) {
      if ((pivot[u] > 0 && !PetscIsInfReal(PetscRealPart(pivot[u]))) || rrb->bad.half != PETSC_MAX_INT) continue;
      rrb->bad = (RRBPivot){.half  = 3 * k + d / 5,
                            .k     = k,
                            .x     = box.x0 + 2 * u + (d == RRB_B1D),
                            .y     = box.y0 + 2 * v + (d == RRB_B2D),
                            .value = 1 / PetscRealPart(pivot[u])};
    }
  }
  if (k >= rrb->ranks.ngrid) PetscCall(PCRRBPivotRefuse(pc, &rrb->bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses the matrix for the first pivot, over all processes, that is not positive; the result is that of a run on one process */
static PetscErrorCode PCRRBCheckPivots_Private(PC pc)
{
  PC_RRB  *rrb  = (PC_RRB *)pc->data;
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscInt owner;
  RRBPivot first    = rrb->bad;
  PetscInt least[2] = {0, PETSC_MAX_INT}, node = PETSC_MAX_INT;

  PetscFunctionBegin;
  PetscCallAllreduce(&rrb->bad.half, &least[0], 1, MPIU_INT, MPI_MIN, comm);
  if (least[0] == PETSC_MAX_INT) PetscFunctionReturn(PETSC_SUCCESS);
  if (first.half == least[0]) node = PCRRBNode(rrb, first.k, first.x, first.y);
  PetscCallAllreduce(&node, &least[1], 1, MPIU_INT, MPI_MIN, comm);
  owner = node == least[1] ? rrb->rows.rank : 0;
  PetscCallAllreduce(MPI_IN_PLACE, &owner, 1, MPIU_INT, MPI_MAX, comm);
  PetscCallMPI(MPI_Bcast(&first, (PetscMPIInt)sizeof(first), MPI_BYTE, (PetscMPIInt)owner, comm));
  PetscCall(PCRRBPivotRefuse(pc, &first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row y of the system that remains on the red nodes of a half grid */
static void PCRRBSkewRow_Private(const RRBGrid *grid, PetscInt y, const PetscScalar work[], PetscScalar *const row[])
{
  const PetscInt red = (grid->g.nx + 1 - y % 2) / 2;

  PolderRRBSkewRow_Host(&grid->g, y, grid->coef, work, row);
  for (int f = 0; f < RRB_NROW; ++f) {
    for (PetscInt u = red - 1; u >= 0; --u) row[f][2 * u + y % 2] = row[f][u];
  }
}

/* Eliminates the nodes of grid k and passes the rows of the remaining system to put() */
static PetscErrorCode PCRRBEliminate_Private(PC pc, PetscInt k, PetscScalar *work, PetscErrorCode (*put)(PetscInt, PetscScalar *const[], void *),
                                             RRBTarget *next, PetscScalar *const row[])
{
  PC_RRB              *rrb  = (PC_RRB *)pc->data;
  RRBGrid             *grid = &rrb->grid[k];
  const PolderRRBGrid *g    = &grid->g;
  PetscBool            reduced;

  PetscFunctionBegin;
  if (!k) rrb->reduced.valid = (PetscBool)(rrb->reduced.coef && !rrb->matrix.nine);
  reduced = (PetscBool)(!k && rrb->reduced.valid);
  PetscCall(PCRRBExchange(rrb, k, RRB_EXCHANGE_PUT, grid->coef));
  PetscCall(PCRRBExchange(rrb, k, RRB_EXCHANGE_WORK, work));
  if (k || rrb->matrix.nine) PolderRRBLump_Host(g, rrb->omega, grid->coef, work);
  PetscCall(PCRRBInvert_Private(pc, k, RRB_B1D, g->nx / 2, g->hy));
  PetscCall(PCRRBInvert_Private(pc, k, RRB_B2D, g->hx, g->ny / 2));
  PetscCall(PCRRBExchange(rrb, k, RRB_EXCHANGE_BLACK, grid->coef));
  PolderRRBEliminateBlack_Host(g, (PetscBool)(!grid->half && !reduced), rrb->omega, grid->coef, work);
  if (reduced) {
    PolderRRBReducedFill_Host(g, (PetscBool)!grid->half, rrb->omega, grid->coef, work, rrb->reduced.coef);
    PetscCall(PCRRBExchange(rrb, k, RRB_EXCHANGE_REDUCED, rrb->reduced.coef));
  }
  if (!grid->half) PetscCall(PCRRBInvert_Private(pc, k, RRB_R1D, g->hx, g->hy));
  PetscCall(PCRRBExchange(rrb, k, RRB_EXCHANGE_R1, grid->coef));
  for (PetscInt y = 0; y < (grid->half ? g->ny : g->ny / 2); ++y) {
    if (grid->half) PCRRBSkewRow_Private(grid, y, work, row);
    else PolderRRBCoarseRow_Host(g, y, grid->coef, work, row);
    PetscCall(put(y, row, next));
  }
  PolderRRBScale_Host(g, grid->coef);
  if (k < rrb->ranks.ngrid) PolderRRBScaleBorder_Host(g, grid->coef);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the factor of each grid in the requested precision */
static PetscErrorCode PCRRBStore_Private(PC pc)
{
  PC_RRB  *rrb  = (PC_RRB *)pc->data;
  PetscInt good = 1;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < rrb->ngrid; ++k) {
    RRBGrid *grid = &rrb->grid[k];

    if (!rrb->single) {
      PetscCall(PetscFree(grid->single));
      continue;
    }
    if (!grid->single) PetscCall(PetscMalloc1(RRB_NCOEF * grid->g.size, &grid->single));
    good = good && PolderRRBRound_Host(&grid->g, grid->coef, grid->single);
  }
  PetscCallAllreduce(MPI_IN_PLACE, &good, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)pc));
  if (!good)
    PolderPCRefuse(pc, PC_FACTOR_OTHER, PETSC_ERR_ARG_OUTOFRANGE,
                   "The factor of PC of type rrb has values that single precision does not hold: scale the system, or use -pc_rrb_precision double");
  for (PetscInt k = rrb->reduced.valid; k < rrb->ngrid && rrb->single; ++k)
    PetscCall(PetscFree(rrb->grid[k].coef)); // CG on S still needs the factor of the first grid in double precision, to eliminate and recompute black values
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the rows of the first replicated grid on every process */
static PetscErrorCode PCRRBPutAll_Private(PC pc, RRBTarget *target)
{
  PC_RRB        *rrb = target->rrb;
  const PetscInt nx = rrb->nx >> rrb->ranks.whole, ny = rrb->ny >> rrb->ranks.whole;
  PetscScalar   *row[RRB_NROW];

  PetscFunctionBegin;
  PetscCall(PCRRBCheckPivots_Private(pc));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCRRBGather(rrb, PetscObjectComm((PetscObject)pc), RRB_NROW));
  for (PetscInt y = 0; y < ny; ++y) {
    for (int f = 0; f < RRB_NROW; ++f) row[f] = rrb->ranks.all + (size_t)(f * ny + y) * (size_t)nx;
    PetscCall(PCRRBPut_Private(y, row, target));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBFactor(PC pc, const PolderCSR *csr)
{
  PC_RRB      *rrb = (PC_RRB *)pc->data;
  RRBTarget    target[2];
  PetscScalar *row[RRB_NROW];
  PetscReal    rest;

  PetscFunctionBegin;
  PetscCall(PCRRBFreeScratch_Private(rrb));
  PetscCall(PetscCalloc1((size_t)RRB_NROW * (size_t)(rrb->nx + 1), &rrb->scratch[0]));
  PetscCall(PetscCalloc1(RRB_VISITWORK(PCRRBWidth(rrb)), &rrb->scratch[1]));
  for (int f = 0; f < RRB_NROW; ++f) row[f] = rrb->scratch[0] + (size_t)f * (size_t)(rrb->nx + 1);
  for (PetscInt k = 0; k < rrb->ngrid; ++k) {
    if (!rrb->grid[k].coef) PetscCall(PetscCalloc1(RRB_NCOEF * rrb->grid[k].g.size, &rrb->grid[k].coef));
  }
  for (PetscInt k = 0; k < 2; ++k) {
    size_t size = 0;

    target[k] = (RRBTarget){.rrb = rrb, .k = k};
    for (PetscInt l = k; l < rrb->ngrid; l += 2) size = PetscMax(size, rrb->grid[l].g.size); // a grid in a box may be smaller than the coarser grids
    PetscCall(PetscMalloc1(RRB_NWORK * size, &rrb->scratch[2 + k]));
    target[k].work = rrb->scratch[2 + k];
  }
  rrb->bad.half = PETSC_MAX_INT;
  for (PetscInt k = -1; k < rrb->ngrid && !pc->failedreason; ++k) {
    RRBTarget      *next = &target[(k + 1) % 2];
    const PetscBool last = (PetscBool)(rrb->ranks.size && k + 1 == rrb->ranks.ngrid); // is grid k the last one in boxes?

    next->k = k + 1;
    if (next->k < rrb->ngrid) PetscCall(PetscArrayzero(next->work, RRB_NWORK * rrb->grid[next->k].g.size));
    if (k < 0) PetscCall(PCRRBVisitRows(pc, csr, rrb->scratch[1], last ? PCRRBPutPart_Private : PCRRBPut_Private, next));
    else PetscCall(PCRRBEliminate_Private(pc, k, target[k % 2].work, last ? PCRRBPutPart_Private : PCRRBPut_Private, next, row));
    if (last && !pc->failedreason) PetscCall(PCRRBPutAll_Private(pc, next));
  }
  if (!pc->failedreason) PetscCall(PCRRBRestFactor(pc));
  if (!pc->failedreason) PetscCall(PCRRBStore_Private(pc));
  rest = (rrb->rest.band + 1.0) * rrb->rest.n;
  PetscCall(PetscLogFlops(RRB_FACTOR * (rrb->flops - 4.0 * rest) + rest * (rrb->rest.band + 1.0)));
  PetscCall(PCRRBFreeScratch_Private(rrb));
  PetscFunctionReturn(PETSC_SUCCESS);
}
