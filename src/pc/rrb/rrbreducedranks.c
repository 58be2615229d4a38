/* The reduced system of PC rrb on several processes: each process has the red nodes of its box, in the order of rrbreduced.h. */
#include "rrbimpl.h"
#include <petsc/private/pcimpl.h>

/* Sources of the border of PolderRRBBorderRows(): direction of the neighbour, and which of r1 and r2 */
static const struct {
  int dx, dy, r2;
} neighbours[] = {
  {-1, 0,  0},
  {1,  0,  0},
  {0,  -1, 0},
  {0,  1,  0},
  {1,  1,  0},
  {-1, 0,  1},
  {1,  0,  1},
  {0,  -1, 1},
  {0,  1,  1},
  {-1, -1, 1}
};

/* Positions in the border and in the vector of the neighbour; NULL: returns their number only */
static PetscInt PCRRBReducedStrips_Private(const PC_RRB *rrb, PetscInt place[], PetscSFNode from[])
{
  const RRBRanks      *ranks = &rrb->ranks;
  const PolderRRBGrid *g     = &rrb->grid[0].g;
  PetscInt             count = 0;

  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(neighbours) && ranks->at[0] >= 0; ++k) {
    const int      dx = neighbours[k].dx, dy = neighbours[k].dy, r2 = neighbours[k].r2;
    const PetscInt i = ranks->at[0] + dx, j = ranks->at[1] + dy;
    RRBBox         b;
    PolderRRBGrid  n;
    PetscInt       width, height;

    if (i < 0 || i >= ranks->np[0] || j < 0 || j >= ranks->np[1]) continue;
    b      = PCRRBBoxAt(ranks, 0, i, j);
    n      = PCRRBShape(b.x1 - b.x0, b.y1 - b.y0);
    width  = r2 ? n.nx / 2 : n.hx;
    height = r2 ? n.ny / 2 : n.hy;
    for (PetscInt v = 0; v < (dy ? 1 : height); ++v) {
      for (PetscInt u = 0; u < (dx ? 1 : width); ++u) {
        const PetscInt there[2] = {dx < 0 ? width - 1 : u, dy < 0 ? height - 1 : v}, here[2] = {dx < 0   ? -1
                                                                                                : dx > 0 ? g->hx
                                                                                                         : u,
                                                                                                dy < 0   ? -1
                                                                                                : dy > 0 ? g->hy
                                                                                                         : v};

        if (there[0] >= width || there[1] >= height) continue; /* the neighbour has no such r2 */
        if (place) {
          place[count] = (r2 * (g->hy + 2) + here[1] + 1) * (g->hx + 2) + here[0] + 1;
          from[count]  = (PetscSFNode){.rank = PCRRBRankAt(rrb, i, j), .index = r2 * n.hx * n.hy + there[1] * width + there[0]};
        }
        ++count;
      }
    }
  }
  return count;
}

PetscErrorCode PCRRBReducedRanksLayout(PC pc)
{
  PC_RRB              *rrb     = (PC_RRB *)pc->data;
  RRBReduced          *reduced = &rrb->reduced;
  const PolderRRBGrid *g       = &rrb->grid[0].g;
  const PetscInt       n = PCRRBReducedStrips_Private(rrb, NULL, NULL), size = PCRRBReducedSizeHost(rrb);
  PetscInt            *place;
  PetscSFNode         *from;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(2 * ((size_t)g->hx + 2) * ((size_t)g->hy + 2), &reduced->x));
  PetscCall(PetscMalloc1(n, &place));
  PetscCall(PetscMalloc1(n, &from));
  PCRRBReducedStrips_Private(rrb, place, from);
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)pc), &reduced->halo));
  PetscCall(PetscSFSetGraph(reduced->halo, size, n, place, PETSC_OWN_POINTER, from, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(reduced->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the red nodes of the first grid between a vector and the quarters */
static void PCRRBReducedCopy_Private(const PC_RRB *rrb, const PetscScalar in[], PetscScalar out[])
{
  const RRBGrid       *grid = &rrb->grid[0];
  const PolderRRBGrid *g    = &grid->g;
  const size_t         n1   = (size_t)g->hx * (size_t)g->hy;
  PetscScalar         *r1 = grid->z + RRB_R1 * g->size + g->origin, *r2 = grid->z + RRB_R2 * g->size + g->origin;

  if (in) PolderRRBClearMissing_Host(g, grid->z);
  PolderRRBCopy_Host(g->hx, g->hy, in ? in : r1, in ? g->hx : g->pitch, in ? r1 : out, in ? g->pitch : g->hx);
  PolderRRBCopy_Host(g->nx / 2, g->ny / 2, in ? in + n1 : r2, in ? g->nx / 2 : g->pitch, in ? r2 : out + n1, in ? g->pitch : g->nx / 2);
}

PetscErrorCode PCRRBReduceRanks(PC_RRB *rrb, const PetscScalar b[], PetscScalar r[])
{
  const RRBGrid     *grid = &rrb->grid[0];
  const PetscInt     ld   = PCRRBWidth(rrb);
  const PetscScalar *box;

  PetscFunctionBegin;
  PetscCall(PCRRBToBox(rrb, b, &box));
  PolderRRBLoadBorder_Host(&grid->g, box, ld, grid->z);
  PetscCall(PCRRBExchange(rrb, 0, RRB_EXCHANGE_ZBLACK, grid->z));
  PolderRRBForwardR1_Host(&grid->g, grid->coef, box, ld, grid->z);
  PolderRRBForwardR2_Host(&grid->g, PETSC_TRUE, grid->coef, grid->z);
  PCRRBReducedCopy_Private(rrb, NULL, r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBExpandRanks(PC_RRB *rrb, const PetscScalar b[], const PetscScalar r[], PetscScalar x[])
{
  const RRBGrid     *grid = &rrb->grid[0];
  const PetscInt     ld   = PCRRBWidth(rrb);
  const PetscScalar *box;

  PetscFunctionBegin;
  PetscCall(PCRRBToBox(rrb, b, &box));
  PolderRRBLoad_Host(&grid->g, box, ld, grid->z);
  PCRRBReducedCopy_Private(rrb, r, NULL);
  PetscCall(PCRRBExchange(rrb, 0, RRB_EXCHANGE_ZR1, grid->z));
  PetscCall(PCRRBExchange(rrb, 0, RRB_EXCHANGE_ZR2, grid->z));
  PolderRRBBackward_Host(&grid->g, PETSC_TRUE, grid->coef, grid->z, rrb->ranks.move ? rrb->ranks.box : x, ld);
  PetscCall(PCRRBFromBox(rrb, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBPickRanks(PC_RRB *rrb, const PetscScalar x[], PetscScalar r[])
{
  const PetscScalar *box;

  PetscFunctionBegin;
  PetscCall(PCRRBToBox(rrb, x, &box));
  PolderRRBPick_Host(&rrb->grid[0].g, PolderRRBAllNodes(&rrb->grid[0].g, box, PCRRBWidth(rrb)), r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedMultRanks(PC_RRB *rrb, const PetscScalar x[], PetscScalar y[], PetscScalar *dot)
{
  RRBReduced          *reduced = &rrb->reduced;
  const PolderRRBGrid *g       = &rrb->grid[0].g;
  PetscScalar         *r1 = reduced->x + g->hx + 3, *r2 = r1 + ((size_t)g->hy + 2) * ((size_t)g->hx + 2);

  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(reduced->halo, MPIU_SCALAR, x, reduced->x, MPI_REPLACE));
  PolderRRBCopy_Host(g->hx, g->hy, x, g->hx, r1, g->hx + 2);
  PolderRRBCopy_Host(g->nx / 2, g->ny / 2, x + (size_t)g->hx * (size_t)g->hy, g->nx / 2, r2, g->hx + 2);
  PetscCall(PetscSFBcastEnd(reduced->halo, MPIU_SCALAR, x, reduced->x, MPI_REPLACE));
  PolderRRBReducedMultBorder_Host(g, reduced->coef, reduced->x, y, dot);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBReducedApplyRanks(PC pc, const PetscScalar r[], PetscScalar z[])
{
  PC_RRB              *rrb  = (PC_RRB *)pc->data;
  const RRBGrid       *grid = &rrb->grid[0];
  const PolderRRBGrid *g    = &grid->g;
  PetscScalar         *r2   = grid->z + RRB_R2 * g->size + g->origin;

  PetscFunctionBegin;
  PCRRBReducedCopy_Private(rrb, r, NULL);
  if (!grid->half) {
    PetscCall(PCRRBExchange(rrb, 0, RRB_EXCHANGE_ZR1, grid->z));
    if (grid->single) PolderRRBForwardRedSingle_Host(g, grid->single, grid->z);
    else PolderRRBForwardRed_Host(g, grid->coef, grid->z);
  }
  PetscCall(PCRRBSweepsRanks(pc, 1, r2, g->pitch, r2));
  if (!grid->half) {
    if (rrb->ranks.ngrid > 1) PetscCall(PCRRBExchange(rrb, 0, RRB_EXCHANGE_ZR2, grid->z));
    if (grid->single) PolderRRBBackwardR1Single_Host(g, grid->single, grid->z);
    else PolderRRBBackwardR1_Host(g, grid->coef, grid->z);
  }
  PCRRBReducedCopy_Private(rrb, NULL, z);
  PetscFunctionReturn(PETSC_SUCCESS);
}
