/*
  rrbcg on several GPUs with a large grid: each does the work of its own lines alone. The first grids, the large ones, are shared: vectors of the red nodes are
  distributed, the kernels of these grids compute own lines, and a few lines beside them come from the neighbours. The rows of the matrix and the right-hand
  side of the first smaller grid are gathered, and each GPU does the rest as a whole. The sums of an entry are those of one GPU, so the counts are, too.

  The factor of own lines needs lines beside them as well. A part ends where its neighbours are missing, and there its factor differs from that of the whole:
  in at most three lines on each grid, since a pivot depends on nodes at most three lines away.

  The way down needs one line of r below the own ones and two above; the way back goes one row of cells further on both sides, so that it needs no messages of
  its own: it reads three lines of r below and four above, and writes two lines beyond the own ones, as many as the next way back reads.
*/
#include "rrbimpl.h"
#include <petsc/private/pcimpl.h>

#define RRB_NEAR 4 /* lines of r that neighbours get */
/* Lines of the first grid that is not shared by which a part of the factor is larger than own lines; the outer three are not those of the whole factor */
#define RRB_BESIDE 4
/* A process has at least so many lines of a shared grid */
#define RRB_SHARED_LINES (2 * RRB_NEAR)
/*
  By default: nodes of all processes from which on sharing is faster, and nodes of a process on a grid that is worth its messages. On four H100 1447^2 takes 6.2
  ms as a whole and 5.8 to 6.6 in parts, 2047^2 10.4 and 7.8; on two 6.2 and 6.2 to 6.3, 9.5 and 8.7
*/
#define RRB_SHARED_FROM  3000000
#define RRB_SHARED_LEAST 200000

PetscErrorCode PCRRBSharedFree(RRBShared *shared)
{
  PetscFunctionBegin;
  PetscCall(PolderReplicaDestroy(&shared->rows));
  PetscCall(PolderReplicaDestroy(&shared->nodes));
  PetscCall(PolderReplicaDestroy(&shared->lines));
  for (PetscInt k = 1; k < shared->ngrid; ++k) PetscCall(PolderReplicaDestroy(&shared->near[k]));
  PetscCall(PolderReplicaDestroy(&shared->r1));
  PetscCall(PolderReplicaDestroy(&shared->ends));
  PetscCall(PolderReplicaDestroy(&shared->next));
  PetscCall(PolderDeviceFree(&shared->own));
  PetscCall(PolderDeviceFree(&shared->all));
  PetscCall(PolderDeviceFree(&shared->above));
  PetscCall(PolderDeviceFree(&shared->b));
  PetscCall(PolderDeviceFree(&shared->x));
  *shared = (RRBShared){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the lines of process r begin if the first ngrid grids are shared: at the multiple of 2^ngrid next to its first row */
static PetscInt RRBSharedCut(const PC_RRB *rrb, PetscInt ngrid, PetscInt r)
{
  const PetscInt half = (PetscInt)1 << (ngrid - 1);

  if (r == rrb->rows.np[1]) return rrb->ny;
  return (rrb->rows.range[r] / rrb->nx + half) / (2 * half) * (2 * half);
}

/* Lines of a vector, at the ends of rows and of lines, that others may need: own rows and own lines differ by half of 2^ngrid lines and a part of one, and
   an operation reads one more */
static PetscInt RRBSharedBeside(PetscInt ngrid)
{
  return ((PetscInt)1 << (ngrid - 1)) + 2;
}

/* The same of the matrix, for the factor */
static PetscInt RRBSharedMargin(PetscInt ngrid)
{
  return RRBSharedBeside(ngrid) + (RRB_BESIDE << ngrid);
}

/* Can the first ngrid grids be shared? */
static PetscBool RRBSharedFits(const PC_RRB *rrb, PetscInt ngrid)
{
  const PetscInt *range = rrb->rows.range, least = RRB_SHARED_LINES << (ngrid - 1);

  if (ngrid >= rrb->device.ngrid || ngrid > PC_RRB_SHARED_MAX) return PETSC_FALSE;
  for (PetscInt r = 0; r < rrb->rows.np[1]; ++r) {
    if (RRBSharedCut(rrb, ngrid, r + 1) - RRBSharedCut(rrb, ngrid, r) < least) return PETSC_FALSE;
    if ((range[r + 1] - range[r]) / rrb->nx < RRBSharedMargin(ngrid)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Number of grids to share: those with -polder_min_rows_per_gpu nodes a process; without that option large grids */
static PetscErrorCode PCRRBSharedGrids_Private(PC pc, PetscInt *ngrid)
{
  const PC_RRB    *rrb   = (PC_RRB *)pc->data;
  const PetscInt64 nodes = (PetscInt64)rrb->nx * rrb->ny;
  PetscInt         least;

  PetscFunctionBegin;
  *ngrid = 0;
  PetscCall(PolderPeersGetLeastRows(PetscObjectComm((PetscObject)pc), &least));
  if (!rrb->reduced.wanted || rrb->rows.np[0] != 1 || !least) PetscFunctionReturn(PETSC_SUCCESS);
  if (least < 0) least = nodes < RRB_SHARED_FROM ? PETSC_MAX_INT : RRB_SHARED_LEAST;
  while (RRBSharedFits(rrb, *ngrid + 1) && (nodes >> 2 * *ngrid) / rrb->rows.np[1] >= least) ++*ngrid;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCRRBSharedLines(const PC_RRB *rrb, PetscInt k, PetscInt y[2])
{
  const RRBShared *shared = &rrb->whole.shared;

  y[0] = (shared->ngrid ? shared->y0 : 0) >> k;
  y[1] = (shared->ngrid ? shared->y1 : rrb->ny) >> k;
}

/* Lines y0 <= y < y1 of a grid, with y0 even, as a grid of its own with the arrays of the whole */
static PolderRRBGrid RRBSharedPart(const PolderRRBGrid *whole, PetscInt y0, PetscInt y1)
{
  PolderRRBGrid g = *whole;

  g.ny = y1 - y0;
  g.hy = (g.ny + 1) / 2;
  g.origin += (size_t)(y0 / 2) * (size_t)g.pitch;
  return g;
}

PolderRRBGrid PCRRBSharedPart(const PC_RRB *rrb, PetscInt k, PetscInt *first)
{
  const RRBShared     *shared = &rrb->whole.shared;
  const PolderRRBGrid *g      = &rrb->device.step[k].g;
  const PetscInt       beside = RRB_BESIDE << shared->ngrid;

  *first = k < shared->ngrid ? PetscMax(shared->y0 - beside, 0) >> k : 0;
  return k < shared->ngrid ? RRBSharedPart(g, *first, PetscMin(shared->y1 + beside, rrb->ny) >> k) : *g;
}

/* Gathers to be made */
typedef struct {
  PetscInt           n;
  PolderReplicaLines lines[POLDER_REPLICAS];
  PolderReplicaWant  want[POLDER_REPLICAS];
} RRBGathers;

/* Of n values of each process, from number `first` on; last > 0: and of the n values before number `last` */
static void RRBGathersAdd(RRBGathers *g, PetscInt first, PetscInt n, PetscInt last, PolderReplica *replica)
{
  PolderReplicaLines *lines = &g->lines[g->n];

  *lines          = (PolderReplicaLines){.first = first, .width = n, .ld = last - n - first};
  g->want[g->n++] = (PolderReplicaWant){.n = last > 0 ? 2 * n : n, .lines = lines, .replica = replica};
}

/* What brings values from others */
static PetscErrorCode PCRRBSharedGathers_Private(PC pc)
{
  PC_RRB              *rrb    = (PC_RRB *)pc->data;
  RRBShared           *shared = &rrb->whole.shared;
  const PolderRRBGrid *g      = &shared->g;
  const PetscInt      *range = rrb->rows.range + rrb->rows.rank, last = shared->ngrid;
  const PetscInt       margin = RRBSharedMargin(last) * rrb->nx, beside = RRBSharedBeside(last) * rrb->nx;
  const PolderRRBStep *step = rrb->device.step;
  const PetscInt       size = rrb->rows.np[1], rank = rrb->rows.rank, ends = 2 * PolderRRBEndSize(g);
  RRBGathers           gathers = {0};
  PetscInt             y[2];

  PetscFunctionBegin;
  RRBGathersAdd(&gathers, range[0], margin, range[1], &shared->rows);
  RRBGathersAdd(&gathers, range[0], beside, range[1], &shared->nodes);
  RRBGathersAdd(&gathers, shared->y0 * rrb->nx, beside, shared->y1 * rrb->nx, &shared->lines);
  RRBGathersAdd(&gathers, rank * g->hx, g->hx, 0, &shared->r1);
  RRBGathersAdd(&gathers, rank * ends, ends, 0, &shared->ends);
  for (PetscInt k = 1; k < shared->ngrid; ++k) {
    PCRRBSharedLines(rrb, k, y);
    RRBGathersAdd(&gathers, y[0] * step[k].ld, RRB_NEAR * step[k].ld, y[1] * step[k].ld, &shared->near[k]);
  }
  PCRRBSharedLines(rrb, last, y);
  RRBGathersAdd(&gathers, y[0] * step[last].ld, (y[1] - y[0]) * step[last].ld, 0, &shared->next);
  PetscCall(PolderReplicaCreateMany(PetscObjectComm((PetscObject)pc), gathers.n, gathers.want));
  PetscCheck(shared->next, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "The GPUs gather whole vectors, but no lines");
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)ends, &shared->own));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)ends * (size_t)size, &shared->all));
  PetscCall(PolderDeviceMalloc(sizeof(PetscScalar) * (size_t)g->hx * (size_t)size, &shared->above));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedClear(const PC_RRB *rrb, PetscScalar z[])
{
  const RRBShared *shared = &rrb->whole.shared;
  const size_t     nx = (size_t)rrb->nx, n = (size_t)RRBSharedBeside(shared->ngrid) * nx;

  PetscFunctionBegin;
  PetscCall(PolderDeviceZero(z + (size_t)shared->y0 * nx, sizeof(*z) * n));
  PetscCall(PolderDeviceZero(z + (size_t)shared->y1 * nx - n, sizeof(*z) * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedNextRows(PC_RRB *rrb, PetscInt k, PetscScalar *const row[])
{
  PetscFunctionBegin;
  if (k + 1 != rrb->whole.shared.ngrid) PetscFunctionReturn(PETSC_SUCCESS);
  for (int f = 0; f < RRB_NROW; ++f) PetscCall(PolderReplicaSpread(rrb->whole.shared.next, row[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBSharedSetUp(PC pc)
{
  PC_RRB        *rrb    = (PC_RRB *)pc->data;
  RRBShared     *shared = &rrb->whole.shared;
  const PetscInt rank   = rrb->rows.rank;
  PetscInt       ngrid;

  PetscFunctionBegin;
  PetscCall(PCRRBSharedGrids_Private(pc, &ngrid));
  if (ngrid == shared->ngrid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCRRBSharedFree(shared));
  if (!ngrid) PetscFunctionReturn(PETSC_SUCCESS);
  shared->ngrid  = ngrid;
  shared->y0     = RRBSharedCut(rrb, ngrid, rank);
  shared->y1     = RRBSharedCut(rrb, ngrid, rank + 1);
  shared->below  = rank > 0;
  shared->beyond = rank + 1 < rrb->rows.np[1];
  shared->g      = RRBSharedPart(&rrb->device.step[0].g, shared->y0, shared->y1);
  PetscCall(PCRRBSharedGathers_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt PCRRBSharedSize(const PC_RRB *rrb)
{
  const PolderRRBGrid *g = &rrb->whole.shared.g;

  return g->hx * g->hy + (g->nx / 2) * (g->ny / 2);
}
