/*
  PC rrb on several processes. Each process has a box of the grid that begins at multiples of 2^ngrid, near its rows of the matrix. The first ngrid grids are
  eliminated box by box with the kernels of one process, on arrays whose border holds values of neighbours. Coarser grids are replicated on every process.
*/
#include "rrbimpl.h"
#include <petsc/private/pcimpl.h>

PetscErrorCode PCRRBRanksFree(RRBRanks *ranks)
{
  PetscFunctionBegin;
  for (int d = 0; d < 2; ++d) {
    PetscCall(PetscFree(ranks->cut[d]));
    PetscCall(PetscFree(ranks->index[d]));
  }
  for (PetscInt k = 0; ranks->exchange && k < ranks->ngrid; ++k) {
    for (int e = 0; e < RRB_NEXCHANGE; ++e) PetscCall(PetscSFDestroy(&ranks->exchange[k][e]));
  }
  PetscCall(PetscFree(ranks->exchange));
  PetscCall(PetscSFDestroy(&ranks->fetch));
  PetscCall(PetscFree3(ranks->send, ranks->sent, ranks->fetched));
  if (ranks->unit != MPI_DATATYPE_NULL && ranks->size) PetscCallMPI(MPI_Type_free(&ranks->unit));
  PetscCall(PetscSFDestroy(&ranks->move));
  PetscCall(PetscFree(ranks->box));
  PetscCall(PetscFree5(ranks->count, ranks->displ, ranks->part, ranks->parts, ranks->all));
  *ranks = (RRBRanks){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Boxes in direction d when the first g grids are distributed, with this number of half levels. The boxes follow the distribution of the rows, rounded to whole
  cells of grid g - 1; empty boxes are left out. Returns the number of boxes
*/
static PetscInt PCRRBCut_Private(const PC_RRB *rrb, int d, PetscInt levels, PetscInt g, PetscInt cut[], PetscInt index[])
{
  const RRBRows   *rows = &rrb->rows;
  const PetscInt   n = d ? rrb->ny : rrb->nx, np = rows->np[d];
  const PetscInt   cells = 2 * g > levels ? ((n >> (g - 1)) + 1) / 2 : n >> g; /* a half grid may end in the middle of a cell */
  const PetscInt64 unit  = (PetscInt64)(rows->natural ? rrb->nx : 1) << g;     /* natural order is cut at rows, not at lines */
  PetscInt         count = 0, last = 0;

  cut[0] = 0;
  for (PetscInt i = 0; i < np; ++i) {
    const PetscInt64 end  = i == np - 1 ? (PetscInt64)cells * unit : !rows->natural ? rows->start[d][i + 1] : rows->range[i + 1];
    const PetscInt   next = (PetscInt)PetscMin((end + unit / 2) / unit, cells);

    if (next == last) continue;
    index[count] = i;
    cut[++count] = last = next;
  }
  for (PetscInt i = 1; i < count; ++i) cut[i] <<= g;
  cut[count] = n;
  return count;
}

/* Largest width of n boxes */
static PetscInt PCRRBWidest_Private(PetscInt n, const PetscInt cut[])
{
  PetscInt widest = 0;

  for (PetscInt i = 0; i < n; ++i) widest = PetscMax(widest, cut[i + 1] - cut[i]);
  return widest;
}

/* The number of grids in boxes for which the sweeps take the least time. A grid in boxes costs the nodes of the largest box and the exchanges, a replicated
   grid all its nodes */
static PetscInt PCRRBChooseGrids_Private(PC_RRB *rrb, PetscInt levels)
{
  RRBRanks *ranks = &rrb->ranks;
  PetscInt  best  = 0;
  PetscReal least = PETSC_MAX_REAL;

  for (PetscInt g = rrb->reduced.wanted; g <= (levels + 1) / 2; ++g) { // the vectors of CG on S are in boxes
    PetscInt  widest[2];
    PetscReal cost = 0;

    for (int d = 0; d < 2; ++d) widest[d] = PCRRBWidest_Private(PCRRBCut_Private(rrb, d, levels, g, ranks->cut[d], ranks->index[d]), ranks->cut[d]);
    for (PetscInt k = 0; k <= levels / 2; ++k)
      cost += PCRRBVisits(PCRRBTwiceGrids(rrb, levels / 2, PETSC_FALSE), k) *
              (k < g ? rrb->latency + (PetscReal)((widest[0] >> k) + 1) * (PetscReal)((widest[1] >> k) + 1)
                     : (PetscReal)(rrb->nx >> k) * (PetscReal)(rrb->ny >> k));
    if (cost < least) {
      least = cost;
      best  = g;
    }
  }
  return best;
}

RRBBox PCRRBBoxAt(const RRBRanks *ranks, PetscInt k, PetscInt i, PetscInt j)
{
  return (RRBBox){.x0 = ranks->cut[0][i] >> k, .x1 = ranks->cut[0][i + 1] >> k, .y0 = ranks->cut[1][j] >> k, .y1 = ranks->cut[1][j + 1] >> k};
}

RRBBox PCRRBBox(const PC_RRB *rrb, PetscInt k)
{
  const RRBRanks *ranks = &rrb->ranks;

  if (!ranks->size) return (RRBBox){.x1 = rrb->nx >> k, .y1 = rrb->ny >> k};
  if (ranks->at[0] < 0) return (RRBBox){0};
  return PCRRBBoxAt(ranks, k, ranks->at[0], ranks->at[1]);
}

PetscInt PCRRBWidth(const PC_RRB *rrb)
{
  const RRBBox box = PCRRBBox(rrb, 0);

  return box.x1 - box.x0;
}

PetscMPIInt PCRRBRankAt(const PC_RRB *rrb, PetscInt i, PetscInt j)
{
  return (PetscMPIInt)(rrb->ranks.index[1][j] * rrb->rows.np[0] + rrb->ranks.index[0][i]);
}

RRBBox PCRRBReach(const PC_RRB *rrb)
{
  RRBBox reach = PCRRBBox(rrb, 0);

  if (reach.x0 == reach.x1) return reach;
  reach.x0 = PetscMax(reach.x0 - 1, 0);
  reach.x1 = PetscMin(reach.x1 + 1, rrb->nx);
  reach.y0 = PetscMax(reach.y0 - 1, 0);
  return reach;
}

/* The nodes of area whose rows are on other processes, in the order of PCRRBVisitRows(): their rows of the matrix, and their positions in the area. NULL:
   returns their number only */
static PetscInt PCRRBForeign_Private(const PC_RRB *rrb, RRBBox area, PetscInt row[], PetscInt place[])
{
  PetscInt count = 0;

  for (PetscInt y = area.y0; y < area.y1; ++y) {
    const RRBLine line = PCRRBLine(rrb, y);

    for (PetscInt x = area.x0; x < area.x1; ++x) {
      if (x >= line.a && x < line.b) continue;
      if (row) row[count] = PCRRBRowOfNode(rrb, y * rrb->nx + x);
      if (place) place[count] = (y - area.y0) * (area.x1 - area.x0) + x - area.x0;
      ++count;
    }
  }
  return count;
}

/* Sets up the exchange of matrix rows in the set-up */
static PetscErrorCode PCRRBCreateFetch_Private(PC pc)
{
  PC_RRB            *rrb   = (PC_RRB *)pc->data;
  RRBRanks          *ranks = &rrb->ranks;
  const PetscInt     n     = PCRRBForeign_Private(rrb, PCRRBReach(rrb), NULL, NULL);
  const PetscInt    *degree;
  const PetscSFNode *from;
  PetscSFNode       *to;
  PetscSF            all;
  PetscLayout        layout;
  PetscInt          *row, *number, *numbers, m;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &m, NULL));
  PetscCall(MatGetLayouts(pc->pmat, &layout, NULL));
  PetscCall(PetscMalloc4(n, &row, n, &numbers, n, &to, m, &number));
  PCRRBForeign_Private(rrb, PCRRBReach(rrb), row, NULL);
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)pc), &all));
  PetscCall(PetscSFSetGraphLayout(all, layout, n, NULL, PETSC_OWN_POINTER, row));
  PetscCall(PetscSFComputeDegreeBegin(all, &degree));
  PetscCall(PetscSFComputeDegreeEnd(all, &degree));
  for (PetscInt i = 0; i < m; ++i) number[i] = degree[i] ? ranks->nsend++ : -1;
  PetscCall(PetscMalloc3(ranks->nsend, &ranks->send, RRB_NENTRY * ranks->nsend, &ranks->sent, RRB_NENTRY * n, &ranks->fetched));
  for (PetscInt i = 0; i < m; ++i) {
    if (number[i] >= 0) ranks->send[number[i]] = i;
  }
  PetscCall(PetscSFBcastBegin(all, MPIU_INT, number, numbers, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(all, MPIU_INT, number, numbers, MPI_REPLACE));
  PetscCall(PetscSFGetGraph(all, NULL, NULL, NULL, &from));
  for (PetscInt k = 0; k < n; ++k) to[k] = (PetscSFNode){.rank = from[k].rank, .index = numbers[k]};
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)pc), &ranks->fetch));
  PetscCall(PetscSFSetGraph(ranks->fetch, ranks->nsend, n, NULL, PETSC_OWN_POINTER, to, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(ranks->fetch));
  PetscCall(PetscSFDestroy(&all));
  PetscCall(PetscFree4(row, numbers, to, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up the redistribution of vectors between rows and boxes */
static PetscErrorCode PCRRBCreateMove_Private(PC pc)
{
  PC_RRB      *rrb   = (PC_RRB *)pc->data;
  RRBRanks    *ranks = &rrb->ranks;
  const RRBBox box   = PCRRBBox(rrb, 0);
  PetscInt     n = PCRRBForeign_Private(rrb, box, NULL, NULL), *row, *place, moved = n > 0;
  PetscLayout  layout;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &moved, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)pc));
  if (!moved) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLayouts(pc->pmat, &layout, NULL));
  PetscCall(PetscMalloc1((size_t)(box.x1 - box.x0) * (size_t)(box.y1 - box.y0), &ranks->box));
  PetscCall(PetscMalloc2(n, &row, n, &place));
  PCRRBForeign_Private(rrb, box, row, place);
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)pc), &ranks->move));
  PetscCall(PetscSFSetGraphLayout(ranks->move, layout, n, place, PETSC_COPY_VALUES, row));
  PetscCall(PetscSFSetUp(ranks->move));
  PetscCall(PetscFree2(row, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Allocates the arrays that gather the first replicated grid */
static PetscErrorCode PCRRBCreateGather_Private(PC_RRB *rrb)
{
  RRBRanks      *ranks = &rrb->ranks;
  const PetscInt N     = (rrb->nx >> ranks->whole) * (rrb->ny >> ranks->whole);
  const RRBBox   box   = PCRRBBox(rrb, ranks->whole);
  PetscInt       displ = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc5(ranks->size, &ranks->count, ranks->size, &ranks->displ, RRB_NROW * (size_t)((box.x1 - box.x0) * (box.y1 - box.y0)), &ranks->part, N,
                         &ranks->parts, RRB_NROW * (size_t)N, &ranks->all));
  for (PetscInt j = 0; j < ranks->np[1]; ++j) {
    for (PetscInt i = 0; i < ranks->np[0]; ++i) {
      const RRBBox      b    = PCRRBBoxAt(ranks, ranks->whole, i, j);
      const PetscMPIInt rank = PCRRBRankAt(rrb, i, j);

      PetscCall(PetscMPIIntCast((b.x1 - b.x0) * (b.y1 - b.y0), &ranks->count[rank]));
    }
  }
  for (PetscInt r = 0; r < ranks->size; ++r) {
    PetscCall(PetscMPIIntCast(displ, &ranks->displ[r]));
    displ += ranks->count[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBRanksLayout(PC pc, PetscInt levels)
{
  PC_RRB     *rrb   = (PC_RRB *)pc->data;
  RRBRanks   *ranks = &rrb->ranks;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PCRRBRanksFree(ranks));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Type_contiguous(RRB_NENTRY, MPIU_SCALAR, &ranks->unit));
  PetscCallMPI(MPI_Type_commit(&ranks->unit));
  ranks->size = size;
  for (int d = 0; d < 2; ++d) {
    PetscCall(PetscMalloc1(rrb->rows.np[d] + 1, &ranks->cut[d]));
    PetscCall(PetscMalloc1(rrb->rows.np[d], &ranks->index[d]));
  }
  ranks->ngrid = PCRRBChooseGrids_Private(rrb, levels);
  ranks->whole = PetscMin(ranks->ngrid, levels / 2);
  for (int d = 0; d < 2; ++d) {
    const PetscInt mine = d ? rrb->rows.rank / rrb->rows.np[0] : rrb->rows.rank % rrb->rows.np[0];

    ranks->np[d] = PCRRBCut_Private(rrb, d, levels, ranks->ngrid, ranks->cut[d], ranks->index[d]);
    ranks->at[d] = -1;
    for (PetscInt i = 0; i < ranks->np[d]; ++i) {
      if (ranks->index[d][i] == mine) ranks->at[d] = i;
    }
  }
  if (ranks->at[0] < 0 || ranks->at[1] < 0) ranks->at[0] = ranks->at[1] = -1;
  PetscCall(PCRRBCreateFetch_Private(pc));
  PetscCall(PCRRBCreateMove_Private(pc));
  PetscCall(PCRRBCreateGather_Private(rrb));
  PetscCall(PCRRBExchangeCreate(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBGather(PC_RRB *rrb, MPI_Comm comm, int n)
{
  RRBRanks      *ranks = &rrb->ranks;
  const PetscInt nx = rrb->nx >> ranks->whole, ny = rrb->ny >> ranks->whole;
  const PetscInt mine = ranks->count[rrb->rows.rank];

  PetscFunctionBegin;
  for (int f = 0; f < n; ++f) {
    PetscCallMPI(MPI_Allgatherv(ranks->part + f * mine, (PetscMPIInt)mine, MPIU_SCALAR, ranks->parts, ranks->count, ranks->displ, MPIU_SCALAR, comm));
    for (PetscInt j = 0; j < ranks->np[1]; ++j) {
      for (PetscInt i = 0; i < ranks->np[0]; ++i) {
        const RRBBox b = PCRRBBoxAt(ranks, ranks->whole, i, j);

        PolderRRBCopy_Host(b.x1 - b.x0, b.y1 - b.y0, ranks->parts + ranks->displ[PCRRBRankAt(rrb, i, j)], b.x1 - b.x0,
                           ranks->all + (size_t)(f * ny + b.y0) * (size_t)nx + (size_t)b.x0, nx);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the rows of this process that lie in its own box, between vector and box */
static void PCRRBCopyOwn_Private(const PC_RRB *rrb, const PetscScalar rows[], PetscScalar out[])
{
  const RRBBox box = PCRRBBox(rrb, 0);

  for (PetscInt y = box.y0; y < box.y1; ++y) {
    const RRBLine  line = PCRRBLine(rrb, y);
    const PetscInt a = PetscMax(line.a, box.x0), b = PetscMin(line.b, box.x1);
    PetscScalar   *inside = rrb->ranks.box + (size_t)(y - box.y0) * (size_t)(box.x1 - box.x0) + (size_t)(a - box.x0);

    for (PetscInt x = 0; x < b - a; ++x) {
      if (out) out[line.row + a - line.a + x] = inside[x];
      else inside[x] = rows[line.row + a - line.a + x];
    }
  }
}

/* Red nodes of a half grid in its box. in = NULL: copies them to out, in natural order of the box. Otherwise copies them from in, which has the natural
   order of the whole grid, and also fills the border with existing nodes of neighbours */
static void PCRRBCopyRed_Private(const PC_RRB *rrb, PetscScalar out[], const PetscScalar in[])
{
  const RRBGrid *grid = &rrb->grid[rrb->ranks.whole];
  const RRBBox   box  = PCRRBBox(rrb, rrb->ranks.whole);
  const PetscInt nx = rrb->nx >> rrb->ranks.whole, ny = rrb->ny >> rrb->ranks.whole, border = in && box.x0 < box.x1;

  for (PetscInt y = PetscMax(box.y0 - border, 0); y < PetscMin(box.y1 + border, ny); ++y) {
    for (PetscInt x = PetscMax(box.x0 - border, 0); x < PetscMin(box.x1 + border, nx); ++x) {
      const PetscInt u = (x - box.x0 + 2) / 2 - 1, v = (y - box.y0 + 2) / 2 - 1;
      PetscScalar   *z = grid->z + (x % 2 ? RRB_R2 : RRB_R1) * grid->g.size + grid->g.origin + v * (ptrdiff_t)grid->g.pitch + u;

      if ((x + y) % 2) continue;
      if (in) *z = in[(size_t)y * (size_t)nx + (size_t)x];
      else out[(size_t)(y - box.y0) * (size_t)(box.x1 - box.x0) + (size_t)(x - box.x0)] = *z;
    }
  }
}

PetscErrorCode PCRRBToBox(PC_RRB *rrb, const PetscScalar rows[], const PetscScalar **box)
{
  RRBRanks *ranks = &rrb->ranks;

  PetscFunctionBegin;
  *box = ranks->move ? ranks->box : rows;
  if (!ranks->move) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFBcastBegin(ranks->move, MPIU_SCALAR, rows, ranks->box, MPI_REPLACE));
  PCRRBCopyOwn_Private(rrb, rows, NULL);
  PetscCall(PetscSFBcastEnd(ranks->move, MPIU_SCALAR, rows, ranks->box, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBFromBox(PC_RRB *rrb, PetscScalar rows[])
{
  RRBRanks *ranks = &rrb->ranks;

  PetscFunctionBegin;
  if (!ranks->move) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFReduceBegin(ranks->move, MPIU_SCALAR, ranks->box, rows, MPI_REPLACE));
  PCRRBCopyOwn_Private(rrb, NULL, rows);
  PetscCall(PetscSFReduceEnd(ranks->move, MPIU_SCALAR, ranks->box, rows, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L y = r on grid k, which is in boxes, see PCRRBVisit() */
static PetscErrorCode PCRRBForwardBox_Private(const PC_RRB *rrb, PetscInt k, const PetscScalar r[], PetscInt ld)
{
  const RRBGrid *grid = &rrb->grid[k];

  PetscFunctionBegin;
  PolderRRBLoadBorder_Host(&grid->g, r, ld, grid->z);
  PetscCall(PCRRBExchange(rrb, k, RRB_EXCHANGE_ZBLACK, grid->z));
  if (grid->single) PolderRRBForwardR1Single_Host(&grid->g, grid->single, r, ld, grid->z);
  else PolderRRBForwardR1_Host(&grid->g, grid->coef, r, ld, grid->z);
  if (!grid->half) PetscCall(PCRRBExchange(rrb, k, RRB_EXCHANGE_ZR1, grid->z));
  if (grid->single) PolderRRBForwardR2Single_Host(&grid->g, grid->half, grid->single, grid->z);
  else PolderRRBForwardR2_Host(&grid->g, grid->half, grid->coef, grid->z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L^T z = D^-1 y on grid k, whose r2 (half: red nodes) have their values, border included */
static PetscErrorCode PCRRBBackwardBox_Private(const PC_RRB *rrb, PetscInt k, PetscScalar z[], PetscInt ld)
{
  const RRBGrid *grid = &rrb->grid[k];

  PetscFunctionBegin;
  if (!grid->half) {
    if (grid->single) PolderRRBBackwardR1Single_Host(&grid->g, grid->single, grid->z);
    else PolderRRBBackwardR1_Host(&grid->g, grid->coef, grid->z);
    PetscCall(PCRRBExchange(rrb, k, RRB_EXCHANGE_ZR1, grid->z));
  }
  if (grid->single) PolderRRBBackwardSingle_Host(&grid->g, PETSC_TRUE, grid->single, grid->z, z, ld);
  else PolderRRBBackward_Host(&grid->g, PETSC_TRUE, grid->coef, grid->z, z, ld);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the part of this process, with its border, of the first replicated grid from ranks.all: into r2 of the previous grid, into the red nodes of a half
   grid or, without grids in boxes, into out */
static void PCRRBTakePart_Private(const PC_RRB *rrb, PetscScalar out[])
{
  const RRBRanks *ranks = &rrb->ranks;
  const RRBBox    last  = PCRRBBox(rrb, ranks->whole);
  const PetscInt  nx    = rrb->nx >> ranks->whole;

  if (ranks->whole < ranks->ngrid) PCRRBCopyRed_Private(rrb, NULL, ranks->all);
  else if (ranks->ngrid) {
    const RRBGrid *grid = &rrb->grid[ranks->ngrid - 1];
    const PetscInt west = last.x0 > 0, south = last.y0 > 0;

    PolderRRBCopy_Host(last.x1 - last.x0 + west, last.y1 - last.y0 + south, ranks->all + (size_t)(last.y0 - south) * (size_t)nx + (size_t)(last.x0 - west), nx,
                       grid->z + RRB_R2 * grid->g.size + grid->g.origin - (size_t)(south * grid->g.pitch + west), grid->g.pitch);
  } else PolderRRBCopy_Host(last.x1 - last.x0, last.y1 - last.y0, ranks->all + (size_t)last.y0 * (size_t)nx + (size_t)last.x0, nx, out, last.x1 - last.x0);
}

/* Solves on the replicated grids: gathers the values of the first one from all processes, or the remaining red nodes of the last grid in boxes */
static PetscErrorCode PCRRBSolveWhole_Private(PC pc, const PetscScalar r[], PetscInt ld, PetscScalar z[])
{
  PC_RRB      *rrb   = (PC_RRB *)pc->data;
  RRBRanks    *ranks = &rrb->ranks;
  const RRBBox last  = PCRRBBox(rrb, ranks->whole);

  PetscFunctionBegin;
  if (ranks->whole < ranks->ngrid) PCRRBCopyRed_Private(rrb, ranks->part, NULL);
  else PolderRRBCopy_Host(last.x1 - last.x0, last.y1 - last.y0, r, ld, ranks->part, last.x1 - last.x0);
  PetscCall(PCRRBGather(rrb, PetscObjectComm((PetscObject)pc), 1));
  PetscCall(PCRRBSweeps(pc, ranks->ngrid, ranks->all, rrb->nx >> ranks->whole, ranks->all));
  PCRRBTakePart_Private(rrb, z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBVisitBox(PC pc, PetscInt k, const PetscScalar r[], PetscInt ldr, PetscScalar z[], PetscInt ldz)
{
  PC_RRB        *rrb  = (PC_RRB *)pc->data;
  const RRBGrid *grid = &rrb->grid[k];
  PetscScalar   *r2   = grid->z + RRB_R2 * grid->g.size + grid->g.origin;

  PetscFunctionBegin;
  PetscCall(PCRRBForwardBox_Private(rrb, k, r, ldr));
  if (k + 1 == rrb->ranks.ngrid) PetscCall(PCRRBSolveWhole_Private(pc, r2, grid->g.pitch, NULL));
  else {
    PetscCall(PCRRBSolveGrid(pc, k + 1, PCRRBVisitBox, r2, grid->g.pitch, r2, grid->g.pitch));
    PetscCall(PCRRBExchange(rrb, k, RRB_EXCHANGE_ZR2, grid->z));
  }
  PetscCall(PCRRBBackwardBox_Private(rrb, k, z, ldz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSweepsRanks(PC pc, PetscInt from, const PetscScalar r[], PetscInt ld, PetscScalar z[])
{
  const PC_RRB *rrb = (PC_RRB *)pc->data;

  PetscFunctionBegin;
  if (from == rrb->ranks.ngrid) PetscCall(PCRRBSolveWhole_Private(pc, r, ld, z));
  else PetscCall(PCRRBSolveGrid(pc, from, PCRRBVisitBox, r, ld, z, ld));
  PetscFunctionReturn(PETSC_SUCCESS);
}
