/* The factorisation of PC rrb, grid after grid. */
#include "rrb.h"
#include <petsc/private/pcimpl.h>

static PetscErrorCode RRBGridCreate_Private(PetscInt nx, PetscInt ny, RRBGrid *grid)
{
  PolderRRBGrid *g = &grid->g;

  PetscFunctionBegin;
  *g        = (PolderRRBGrid){.nx = nx, .ny = ny, .hx = (nx + 1) / 2, .hy = (ny + 1) / 2};
  g->pitch  = g->hx + 1; // the border at the end of a row is that at the start of the next
  g->origin = (size_t)g->pitch + 1;
  g->size   = (size_t)g->pitch * (size_t)(g->hy + 2) + 2;
  PetscCall(PetscCalloc1(RRB_NVEC * g->size, &grid->z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBFreeScratch_Private(PC_RRB *rrb)
{
  PetscFunctionBegin;
  for (int k = 0; k < 4; ++k) PetscCall(PetscFree(rrb->scratch[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBFreeLayout_Private(PC_RRB *rrb)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < rrb->ngrid; ++k) {
    PetscCall(PetscFree(rrb->grid[k].coef));
    PetscCall(PetscFree(rrb->grid[k].single));
    PetscCall(PetscFree(rrb->grid[k].z));
  }
  PetscCall(PetscFree(rrb->grid));
  PetscCall(PCRRBRestFree_Private(&rrb->rest));
  PetscCall(PCRRBFreeScratch_Private(rrb));
  rrb->ngrid = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The fewest half levels whose rest costs little beside the sweeps: a solve a tenth of their operations, its factor as many as three of them */
static PetscInt PCRRBChooseLevels_Private(PetscInt nx, PetscInt ny)
{
  const PetscReal N = (PetscReal)nx * (PetscReal)ny;
  PetscInt        levels;
  PetscReal       n, band;

  for (levels = 0; PCRRBRestSize_Private(nx, ny, levels, &n, &band); ++levels) {
    if (4 * n * (band + 1) <= 1.5 * N && n * (band + 1) * (band + 1) <= 40 * N) return levels;
    if (band <= (levels ? 4 : 16) && levels % 2 == 0) return levels; // strips: exact from the start where that is less than a few steps
  }
  return levels - 1;
}

/* Grids and rest for the grid and the levels in force; keeps those that it finds */
PetscErrorCode PCRRBLayout_Private(PC pc)
{
  PC_RRB        *rrb    = (PC_RRB *)pc->data;
  PetscInt       levels = rrb->wanted >= 0 ? rrb->wanted : PCRRBChooseLevels_Private(rrb->nx, rrb->ny), x = rrb->nx, y = rrb->ny;
  PetscReal      n, band;
  const RRBRest *rest = &rrb->rest;

  PetscFunctionBegin;
  while (!PCRRBRestSize_Private(rrb->nx, rrb->ny, levels, &n, &band)) --levels;
  if (rest->x && levels == rrb->levels && (rrb->ngrid ? rrb->grid[0].g.nx == x && rrb->grid[0].g.ny == y : rest->nx == x && rest->ny == y)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCRRBFreeLayout_Private(rrb));
  rrb->levels = levels;
  PetscCall(PetscCalloc1((levels + 1) / 2, &rrb->grid));
  rrb->flops = 0;
  for (PetscInt k = 0; k < (levels + 1) / 2; ++k) {
    RRBGrid *grid = &rrb->grid[k];

    PetscCall(RRBGridCreate_Private(x, y, grid));
    rrb->ngrid++;
    rrb->flops += (grid->half = (PetscBool)(levels == 2 * k + 1)) ? 8.5 * x * y : 12.75 * x * y;
    if (grid->half) break;
    x /= 2;
    y /= 2;
  }
  PetscCall(PCRRBRestLayout_Private(pc, x, y, (PetscBool)(levels % 2), rrb->ngrid ? &rrb->grid[rrb->ngrid - 1].g : NULL));
  rrb->flops += 4.0 * rest->n * (rest->band + 1.0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the rows of a matrix go: into the next grid, or into the rest */
typedef struct {
  PC_RRB      *rrb;
  PetscInt     k;
  PetscScalar *work; /* RRB_NWORK arrays of grid k */
} RRBTarget;

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

/* Ends with the error of the first bad one among the inverse pivots */
static PetscErrorCode PCRRBBadPivots_Private(PC pc, PetscInt k, int d, PetscInt nx, PetscInt ny)
{
  const RRBGrid     *grid  = &((PC_RRB *)pc->data)->grid[k];
  const PetscScalar *pivot = grid->coef + (size_t)d * grid->g.size + grid->g.origin;

  PetscFunctionBegin;
  for (PetscInt v = 0; v < ny; ++v, pivot += grid->g.pitch) {
    for (PetscInt u = 0; u < nx; ++u) {
      if (!(pivot[u] > 0) || PetscIsInfReal(PetscRealPart(pivot[u]))) PetscCall(PCRRBPivotError_Private(pc, k, 2 * u + (d == RRB_B1D), 2 * v + (d == RRB_B2D), 1 / PetscRealPart(pivot[u])));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBInvert_Private(PC pc, PetscInt k, int d, PetscInt nx, PetscInt ny)
{
  RRBGrid *grid = &((PC_RRB *)pc->data)->grid[k];

  PetscFunctionBegin;
  if (PolderRRBInvert_Host(&grid->g, nx, ny, grid->coef + (size_t)d * grid->g.size)) PetscCall(PCRRBBadPivots_Private(pc, k, d, nx, ny));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eliminates the nodes of grid k and hands the rows of what is left to next */
static PetscErrorCode PCRRBEliminate_Private(PC pc, PetscInt k, PetscScalar *work, RRBTarget *next, PetscScalar *const row[])
{
  PC_RRB              *rrb  = (PC_RRB *)pc->data;
  RRBGrid             *grid = &rrb->grid[k];
  const PolderRRBGrid *g    = &grid->g;

  PetscFunctionBegin;
  if (k || rrb->matrix.nine) PolderRRBLump_Host(g, rrb->omega, grid->coef, work);
  PetscCall(PCRRBInvert_Private(pc, k, RRB_B1D, g->nx / 2, g->hy));
  PetscCall(PCRRBInvert_Private(pc, k, RRB_B2D, g->hx, g->ny / 2));
  PolderRRBEliminateBlack_Host(g, (PetscBool)!grid->half, rrb->omega, grid->coef, work);
  if (grid->half) {
    RRBRest *rest = &rrb->rest;

    for (PetscInt y = 0; y < g->ny; ++y) {
      PolderRRBSkewRow_Host(g, y, grid->coef, work, row);
      for (int f = 0; f < RRB_NROW; ++f) {
        for (PetscInt u = 0; 2 * u + y % 2 < g->nx; ++u) rest->row[f][y * g->nx + 2 * u + y % 2] = row[f][u];
      }
    }
  } else {
    PetscCall(PCRRBInvert_Private(pc, k, RRB_R1D, g->hx, g->hy));
    for (PetscInt v = 0; v < g->ny / 2; ++v) {
      PolderRRBCoarseRow_Host(g, v, grid->coef, work, row);
      PetscCall(PCRRBPut_Private(v, row, next));
    }
  }
  PolderRRBScale_Host(g, grid->coef);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCRRBToSingle_Private(PC pc, RRBGrid *grid)
{
  const size_t n    = RRB_NCOEF * grid->g.size;
  PetscBool    good = PETSC_TRUE;

  PetscFunctionBegin;
  if (!grid->single) PetscCall(PetscMalloc1(n, &grid->single));
  good = PolderToSingle_Host(n, grid->coef, grid->single);
  for (int d = RRB_B1D; d < RRB_NCOEF; d += 5) {
    for (size_t i = d * grid->g.size; i < (d + 1) * grid->g.size; ++i) good = (PetscBool)(good && (grid->coef[i] == 0 || grid->single[i] != 0));
  }
  PetscCheck(good, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "The factor of PC of type rrb has values that single precision does not hold: scale the system, or use -pc_rrb_precision double");
  PetscCall(PetscFree(grid->coef));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBFactor_Private(PC pc, const PolderCSR *csr)
{
  PC_RRB      *rrb = (PC_RRB *)pc->data;
  RRBTarget    target[2];
  PetscScalar *row[RRB_NROW];

  PetscFunctionBegin;
  PetscCall(PCRRBFreeScratch_Private(rrb));
  PetscCall(PetscCalloc1((size_t)RRB_NROW * (size_t)(rrb->nx + 1), &rrb->scratch[0]));
  PetscCall(PetscCalloc1(RRB_VISITWORK(rrb->nx), &rrb->scratch[1]));
  for (int f = 0; f < RRB_NROW; ++f) row[f] = rrb->scratch[0] + (size_t)f * (size_t)(rrb->nx + 1);
  for (PetscInt k = 0; k < rrb->ngrid; ++k) {
    if (!rrb->grid[k].coef) PetscCall(PetscCalloc1(RRB_NCOEF * rrb->grid[k].g.size, &rrb->grid[k].coef));
  }
  for (PetscInt k = 0; k < 2; ++k) {
    target[k] = (RRBTarget){.rrb = rrb, .k = k};
    if (k < rrb->ngrid) PetscCall(PetscMalloc1(RRB_NWORK * rrb->grid[k].g.size, &rrb->scratch[2 + k]));
    target[k].work = rrb->scratch[2 + k];
  }
  for (PetscInt k = -1; k < rrb->ngrid; ++k) {
    RRBTarget *next = &target[(k + 1) % 2];

    next->k = k + 1;
    if (next->k < rrb->ngrid) PetscCall(PetscArrayzero(next->work, RRB_NWORK * rrb->grid[next->k].g.size));
    if (k < 0) PetscCall(PCRRBVisitRows_Private(pc, csr, rrb->scratch[1], PCRRBPut_Private, next));
    else PetscCall(PCRRBEliminate_Private(pc, k, target[k % 2].work, next, row));
  }
  PetscCall(PCRRBRestFactor_Private(pc));
  for (PetscInt k = 0; k < rrb->ngrid; ++k) {
    if (rrb->single) PetscCall(PCRRBToSingle_Private(pc, &rrb->grid[k]));
    else PetscCall(PetscFree(rrb->grid[k].single));
  }
  PetscCall(PCRRBFreeScratch_Private(rrb));
  PetscFunctionReturn(PETSC_SUCCESS);
}
