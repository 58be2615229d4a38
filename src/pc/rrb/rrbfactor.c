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

/* West and east have a border of their own, since both are read */
PolderRRBPlane PCRRBPlane(PetscInt nx, PetscInt ny)
{
  PolderRRBPlane g = {.nx = nx, .ny = ny, .pitch = nx + 2};

  g.origin = (size_t)g.pitch + 1;
  g.size   = (size_t)g.pitch * (size_t)(ny + 2);
  return g;
}

static PetscErrorCode RRBGridCreate_Private(PetscInt nx, PetscInt ny, RRBGrid *grid)
{
  PetscFunctionBegin;
  grid->g = PCRRBShape(nx, ny);
  PetscCall(PetscMalloc1(RRB_NVEC * grid->g.size, &grid->z));
  PolderRRBClearEdges_Host(&grid->g, RRB_NVEC, grid->z);
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
    PetscCall(PetscFree2(rrb->grid[k].same, rrb->grid[k].shift));
    PetscCall(PCRRBTwiceFree(&rrb->grid[k].twice));
  }
  PetscCall(PetscFree(rrb->grid));
  PetscCall(PCRRBRestFree(&rrb->rest));
  PetscCall(PCRRBReducedFree(rrb));
  PetscCall(PCRRBFreeScratch_Private(rrb));
  PetscCall(PCRRBRanksFree(&rrb->ranks));
  rrb->ngrid = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smallest number of half levels whose rest is cheap compared to the sweeps: its solves take at most a tenth of their operations, its factor at most
   those of three sweeps */
static PetscInt PCRRBChooseLevels_Private(PetscInt nx, PetscInt ny, unsigned twice)
{
  const PetscReal N = (PetscReal)nx * (PetscReal)ny;
  PetscInt        levels;
  PetscReal       n, band;

  for (levels = 0; PCRRBRestSize(nx, ny, levels, &n, &band); ++levels) {
    if (4 * n * (band + 1) * PCRRBVisits(twice, levels / 2 - 1) <= 1.5 * N && n * (band + 1) * (band + 1) <= 40 * N) return levels;
    if (band <= (levels ? 4 : 16) && levels % 2 == 0) return levels; // narrow grids: solved exactly from the start if that costs less than a few steps
  }
  return levels - 1;
}

/* The grids to visit twice: those of the device if it is used, too */
static unsigned RRBTwiceWanted(const PC_RRB *rrb, PetscInt levels)
{
  return rrb->device.levels >= 0 ? rrb->device.layout : PCRRBTwiceGrids(rrb, levels / 2, PETSC_FALSE);
}

/* Does a layout of this many half levels exist for the current grid? If the distribution of the rows has changed, rrb->ranks was freed */
static PetscBool PCRRBHasLayout_Private(const PC_RRB *rrb, PetscInt levels)
{
  const RRBRest *rest = &rrb->rest;

  if (!rest->x || levels != rrb->levels || rrb->twice != RRBTwiceWanted(rrb, levels) || rrb->ngrid != (levels + 1) / 2 ||
      (rrb->rows.np[0] * rrb->rows.np[1] > 1 && !rrb->ranks.size))
    return PETSC_FALSE;
  if (rrb->ranks.size) return (PetscBool)(!rrb->reduced.wanted || rrb->reduced.coef);
  return (PetscBool)(rrb->ngrid ? rrb->grid[0].g.nx == rrb->nx && rrb->grid[0].g.ny == rrb->ny : rest->nx == rrb->nx && rest->ny == rrb->ny);
}

/* Makes grids and rest for the current grid and number of levels, and reuses existing ones */
PetscErrorCode PCRRBLayout(PC pc)
{
  PC_RRB        *rrb    = (PC_RRB *)pc->data;
  PetscInt       levels = rrb->wanted >= 0        ? rrb->wanted
                        : rrb->device.levels >= 0 ? rrb->device.levels
                                                  : PCRRBChooseLevels_Private(rrb->nx, rrb->ny, PCRRBTwiceGrids(rrb, PC_RRB_LEVELS_MAX, PETSC_FALSE));
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
  rrb->twice  = RRBTwiceWanted(rrb, levels);
  PetscCall(PetscCalloc1((levels + 1) / 2, &rrb->grid));
  rrb->flops = 0;
  for (PetscInt k = 0; k < (levels + 1) / 2; ++k) {
    const RRBBox   box = PCRRBBox(rrb, k);
    const PetscInt x = k < rrb->ranks.ngrid ? box.x1 - box.x0 : rrb->nx >> k, y = k < rrb->ranks.ngrid ? box.y1 - box.y0 : rrb->ny >> k;
    RRBGrid       *grid = &rrb->grid[k];

    PetscCall(RRBGridCreate_Private(x, y, grid));
    rrb->ngrid++;
    grid->half  = (PetscBool)(levels == 2 * k + 1);
    grid->flops = grid->half ? 8.5 * x * y : 12.75 * x * y;
    rrb->flops += PCRRBVisits(rrb->twice, grid->half ? k - 1 : k) * grid->flops;
    if (grid->half || !(rrb->twice >> k & 1)) continue;
    PetscCall(PCRRBTwiceLayout(pc, k));
    rrb->flops += PCRRBVisits(rrb->twice, k) / 2 * 22 * x * y; // a product and two vectors
  }
  PetscCall(PCRRBRestLayout(pc, rrb->nx >> (levels / 2), rrb->ny >> (levels / 2), (PetscBool)(levels % 2),
                            rrb->ngrid > rrb->ranks.ngrid ? &rrb->grid[rrb->ngrid - 1].g : NULL));
  rrb->flops += PCRRBVisits(rrb->twice, levels / 2 - 1) * 4.0 * rest->n * (rest->band + 1.0);
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
    const RRBGrid        *grid = &rrb->grid[target->k];
    const PolderRRBPlane *g    = &grid->twice.plane;
    PetscScalar          *a    = grid->twice.a ? grid->twice.a + g->origin + (size_t)y * (size_t)g->pitch : NULL;

    for (int f = 0; f < RRB_NROW && a; ++f) PetscCall(PetscArraycpy(a + (size_t)f * g->size, row[f], g->nx));
    PolderRRBPutRow_Host(&grid->g, y, row, grid->coef, target->work);
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

/* Inverts n pivots of row v and records the first bad one in the order of elimination; on a grid in boxes the processes compare theirs later, see
   PCRRBCheckPivots_Private() */
static void PCRRBInvert_Private(PC_RRB *rrb, PetscInt k, int d, PetscInt n, PetscInt v)
{
  const RRBGrid     *grid  = &rrb->grid[k];
  PetscScalar       *array = grid->coef + (size_t)d * grid->g.size;
  const PetscScalar *pivot = array + grid->g.origin + (size_t)v * (size_t)grid->g.pitch;
  const RRBBox       box   = k < rrb->ranks.ngrid ? PCRRBBox(rrb, k) : (RRBBox){0};
  PetscInt           u     = 0;

  if (!PolderRRBInvertRow_Host(&grid->g, n, v, array) || rrb->bad.half <= 3 * k + d / 5) return;
  while (u < n && pivot[u] > 0 && !PetscIsInfReal(PetscRealPart(pivot[u]))) ++u;
  if (u == n) return;
  rrb->bad = (RRBPivot){.half  = 3 * k + d / 5,
                        .k     = k,
                        .x     = box.x0 + 2 * u + (d == RRB_B1D),
                        .y     = box.y0 + 2 * v + (d == RRB_B2D),
                        .value = 1 / PetscRealPart(pivot[u])};
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

/* The elimination of a grid, whose rows are in coef and work; the rows that remain go to put() */
typedef struct {
  PC_RRB             *rrb;
  PetscInt            k;
  PetscBool           reduced; /* S is stored, too */
  PetscScalar        *work;
  PetscScalar *const *row; /* space for a row */
  PetscErrorCode (*put)(PetscInt, PetscScalar *const[], void *);
  RRBTarget *next;
} RRBElimination;

/* Its steps, each for row v of all quarters. A step reads what the steps before have made of row v and its neighbours */
static PetscErrorCode PCRRBBlackStep_Private(const RRBElimination *e, PetscInt v)
{
  PC_RRB              *rrb  = e->rrb;
  const RRBGrid       *grid = &rrb->grid[e->k];
  const PolderRRBGrid *g    = &grid->g;

  PetscFunctionBegin;
  if (e->k || rrb->matrix.nine) PolderRRBLumpRow_Host(g, v, rrb->omega, grid->coef, e->work);
  PCRRBInvert_Private(rrb, e->k, RRB_B1D, g->nx / 2, v);
  if (v < g->ny / 2) PCRRBInvert_Private(rrb, e->k, RRB_B2D, g->hx, v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBRedStep_Private(const RRBElimination *e, PetscInt v)
{
  PetscFunctionBegin;
  PolderRRBBlackFromR1Row_Host(&e->rrb->grid[e->k].g, v, e->rrb->grid[e->k].coef);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBR1Step_Private(const RRBElimination *e, PetscInt v)
{
  PC_RRB              *rrb  = e->rrb;
  const RRBGrid       *grid = &rrb->grid[e->k];
  const PolderRRBGrid *g    = &grid->g;

  PetscFunctionBegin;
  PolderRRBBlackFromR2Row_Host(g, v, grid->coef, e->work);
  if (e->reduced) PolderRRBReducedFillRow_Host(g, v, grid->coef, e->work, rrb->reduced.coef);
  if (grid->half) PetscFunctionReturn(PETSC_SUCCESS);
  PolderRRBLumpR1Row_Host(g, v, rrb->omega, grid->coef);
  PCRRBInvert_Private(rrb, e->k, RRB_R1D, g->hx, v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBNextStep_Private(const RRBElimination *e, PetscInt v)
{
  const RRBGrid       *grid = &e->rrb->grid[e->k];
  const PolderRRBGrid *g    = &grid->g;

  PetscFunctionBegin;
  for (PetscInt y = 2 * v; grid->half && y < PetscMin(2 * v + 2, g->ny); ++y) {
    PCRRBSkewRow_Private(grid, y, e->work, e->row);
    PetscCall((*e->put)(y, e->row, e->next));
  }
  if (!grid->half && v < g->ny / 2) {
    PolderRRBCoarseRow_Host(g, v, grid->coef, e->work, e->row);
    PetscCall((*e->put)(v, e->row, e->next));
  }
  PolderRRBScaleRow_Host(g, v, grid->coef);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does the row equal the one before? Asked while both are in the cache */
static PetscErrorCode PCRRBSameStep_Private(const RRBElimination *e, PetscInt v)
{
  const PC_RRB        *rrb  = e->rrb;
  const RRBGrid       *grid = &rrb->grid[e->k];
  const PolderRRBGrid *g    = &grid->g;

  PetscFunctionBegin;
  grid->same[v] = (PetscBool)(v && PolderRRBSameRow_Host(g, v, RRB_NCOEF, grid->coef) &&
                              (!e->reduced || PolderRRBSameRow_Host(g, v, RRB_NREDUCED, rrb->reduced.coef)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* lag: the number of rows that a step must stay behind the first one, so that what it reads is complete and not yet scaled */
static const struct {
  PetscErrorCode (*row)(const RRBElimination *, PetscInt v);
  PetscInt lag;
} steps[] = {
  {PCRRBBlackStep_Private, 0},
  {PCRRBRedStep_Private,   0},
  {PCRRBR1Step_Private,    1},
  {PCRRBNextStep_Private,  2},
  {PCRRBSameStep_Private,  2}
};

/* On a grid in boxes each step needs the borders that the one before has changed */
static PetscErrorCode PCRRBEliminateBox_Private(const RRBElimination *e)
{
  const PC_RRB        *rrb  = e->rrb;
  const RRBGrid       *grid = &rrb->grid[e->k];
  const PolderRRBGrid *g    = &grid->g;

  PetscFunctionBegin;
  PetscCall(PCRRBExchange(rrb, e->k, RRB_EXCHANGE_PUT, grid->coef));
  PetscCall(PCRRBExchange(rrb, e->k, RRB_EXCHANGE_WORK, e->work));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(steps); ++s) {
    for (PetscInt v = 0; v < g->hy; ++v) PetscCall((*steps[s].row)(e, v));
    if (s == 0) PetscCall(PCRRBExchange(rrb, e->k, RRB_EXCHANGE_BLACK, grid->coef));
    if (s == 2 && e->reduced) PetscCall(PCRRBExchange(rrb, e->k, RRB_EXCHANGE_REDUCED, rrb->reduced.coef));
    if (s == 2) PetscCall(PCRRBExchange(rrb, e->k, RRB_EXCHANGE_R1, grid->coef));
  }
  PolderRRBScaleBorder_Host(g, grid->coef);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eliminates the nodes of a grid. On one process, all steps follow each other row by row, so that the values stay in the cache */
static PetscErrorCode PCRRBEliminate_Private(PC pc, const RRBElimination *e)
{
  PC_RRB        *rrb = e->rrb;
  const PetscInt hy  = rrb->grid[e->k].g.hy;

  PetscFunctionBegin;
  if (e->k < rrb->ranks.ngrid) {
    PetscCall(PCRRBEliminateBox_Private(e));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt t = 0; t < hy + 2; ++t) {
    for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(steps); ++s) {
      if (t >= steps[s].lag && t - steps[s].lag < hy) PetscCall((*steps[s].row)(e, t - steps[s].lag));
    }
  }
  if (rrb->bad.half != PETSC_MAX_INT) PetscCall(PCRRBPivotRefuse(pc, &rrb->bad));
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

  PetscFunctionBegin;
  PetscCall(PCRRBFreeScratch_Private(rrb));
  PetscCall(PetscCalloc1((size_t)RRB_NROW * (size_t)(rrb->nx + 1), &rrb->scratch[0]));
  PetscCall(PetscCalloc1(RRB_VISITWORK(PCRRBWidth(rrb)), &rrb->scratch[1]));
  for (int f = 0; f < RRB_NROW; ++f) row[f] = rrb->scratch[0] + (size_t)f * (size_t)(rrb->nx + 1);
  for (PetscInt k = 0; k < rrb->ngrid; ++k) {
    if (rrb->grid[k].coef) continue;
    PetscCall(PetscMalloc1(RRB_NCOEF * rrb->grid[k].g.size, &rrb->grid[k].coef));
    PolderRRBClearEdges_Host(&rrb->grid[k].g, RRB_NCOEF, rrb->grid[k].coef);
    if (!rrb->grid[k].same) PetscCall(PetscMalloc2(rrb->grid[k].g.hy, &rrb->grid[k].same, rrb->grid[k].g.hy, &rrb->grid[k].shift));
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
    RRBElimination  grid = {.rrb = rrb, .k = k, .work = target[PetscMax(k, 0) % 2].work, .row = row, .next = next};

    next->k = k + 1;
    if (next->k < rrb->ngrid) PolderRRBClearEdges_Host(&rrb->grid[next->k].g, RRB_NWORK, next->work);
    grid.put = last ? PCRRBPutPart_Private : PCRRBPut_Private;
    if (k == 0) grid.reduced = rrb->reduced.valid = (PetscBool)(rrb->reduced.coef && !rrb->matrix.nine);
    if (k < 0) PetscCall(PCRRBVisitRows(pc, csr, rrb->scratch[1], grid.put, next));
    else PetscCall(PCRRBEliminate_Private(pc, &grid));
    if (last && !pc->failedreason) PetscCall(PCRRBPutAll_Private(pc, next));
  }
  if (!pc->failedreason) PetscCall(PCRRBRestFactor(pc));
  for (PetscInt k = 0; k < rrb->ngrid && !pc->failedreason; ++k) {
    RRBGrid *grid = &rrb->grid[k];

    grid->g.shift = PolderRRBShareRows_Host(&grid->g, grid->same, grid->shift) ? grid->shift : NULL;
  }
  if (!pc->failedreason) PetscCall(PCRRBStore_Private(pc));
  for (PetscInt k = rrb->ngrid - 1; k > 0 && !pc->failedreason; --k) {
    if (rrb->grid[k].twice.a) PetscCall(PCRRBTwiceSetUp(pc, &PolderOnHost, k, &rrb->grid[k].twice, k < rrb->ranks.ngrid ? PCRRBVisitBox : PCRRBVisit));
  }
  PetscCall(PetscLogFlops((rrb->rest.band + 1.0) * (rrb->rest.band + 1.0) * rrb->rest.n));
  for (PetscInt k = 0; k < rrb->ngrid; ++k) PetscCall(PetscLogFlops(RRB_FACTOR * rrb->grid[k].flops));
  PetscCall(PCRRBFreeScratch_Private(rrb));
  PetscFunctionReturn(PETSC_SUCCESS);
}
