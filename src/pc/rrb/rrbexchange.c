/* Exchanges between processes on those grids of PC rrb that are distributed in boxes. */
#include "rrbimpl.h"
#include <petsc/private/pcimpl.h>

/* Directions of the neighbours, one bit each */
enum {
  WEST      = 1,
  EAST      = 2,
  SOUTH     = 4,
  NORTH     = 8,
  SOUTHWEST = 16,
  NORTHWEST = 32,
  NORTHEAST = 64
};

static const struct {
  int bit, dx, dy;
} directions[] = {
  {WEST,      -1, 0 },
  {EAST,      1,  0 },
  {SOUTH,     0,  -1},
  {NORTH,     0,  1 },
  {SOUTHWEST, -1, -1},
  {NORTHWEST, -1, 1 },
  {NORTHEAST, 1,  1 }
};

/*
  The exchange of arrays f .. f + n. get: the border in the directions `from` receives the values of the neighbours' nodes next to it. put: couplings that
  PolderRRBPutRow_Host() has stored in the border are sent to their nodes, which are those next to the border in the opposite direction
*/
typedef struct {
  RRBExchange exchange;
  PetscBool   put;
  int         f, n, from;
} RRBStrip;

/* The borders that the formulas of rrbrow.h read and that PolderRRBPutRow_Host() writes. No array has a border both in the west and in the east, since these
   share memory */
static const RRBStrip strips[] = {
  {RRB_EXCHANGE_PUT,     PETSC_TRUE,  RRB_B2W,  1, WEST                    },
  {RRB_EXCHANGE_PUT,     PETSC_TRUE,  RRB_R1NW, 1, WEST                    },
  {RRB_EXCHANGE_PUT,     PETSC_TRUE,  RRB_R1SW, 1, WEST | SOUTH | SOUTHWEST},
  {RRB_EXCHANGE_PUT,     PETSC_TRUE,  RRB_B1S,  1, SOUTH                   },
  {RRB_EXCHANGE_WORK,    PETSC_TRUE,  RRB_X1SW, 1, SOUTH                   },
  {RRB_EXCHANGE_WORK,    PETSC_FALSE, RRB_X1NE, 1, WEST                    },
  {RRB_EXCHANGE_WORK,    PETSC_FALSE, RRB_X1SE, 1, WEST | NORTH | NORTHWEST},
  {RRB_EXCHANGE_BLACK,   PETSC_FALSE, RRB_B1N,  5, WEST | NORTH            },
  {RRB_EXCHANGE_BLACK,   PETSC_FALSE, RRB_B2N,  5, SOUTH | EAST            },
  {RRB_EXCHANGE_R1,      PETSC_FALSE, RRB_R1NE, 5, NORTH | EAST | NORTHEAST},
  {RRB_EXCHANGE_ZBLACK,  PETSC_FALSE, RRB_B1,   1, WEST | NORTH            },
  {RRB_EXCHANGE_ZBLACK,  PETSC_FALSE, RRB_B2,   1, SOUTH | EAST            },
  {RRB_EXCHANGE_ZR1,     PETSC_FALSE, RRB_R1,   1, NORTH | EAST | NORTHEAST},
  {RRB_EXCHANGE_ZR2,     PETSC_FALSE, RRB_R2,   1, SOUTH | WEST | SOUTHWEST},
  {RRB_EXCHANGE_REDUCED, PETSC_FALSE, RRB_S1E,  1, WEST                    },
  {RRB_EXCHANGE_REDUCED, PETSC_FALSE, RRB_S1N,  1, SOUTH                   },
  {RRB_EXCHANGE_REDUCED, PETSC_FALSE, RRB_S1SE, 1, NORTH                   },
  {RRB_EXCHANGE_REDUCED, PETSC_FALSE, RRB_S1SW, 1, NORTH | EAST | NORTHEAST},
  {RRB_EXCHANGE_REDUCED, PETSC_FALSE, RRB_S1NW, 1, EAST                    },
  {RRB_EXCHANGE_REDUCED, PETSC_FALSE, RRB_S2E,  1, WEST                    },
  {RRB_EXCHANGE_REDUCED, PETSC_FALSE, RRB_S2N,  1, SOUTH                   }
};

/* Position of node (u, v) of array f */
static inline PetscInt PCRRBPlace_Private(const PolderRRBGrid *g, int f, PetscInt u, PetscInt v)
{
  return (PetscInt)((size_t)f * g->size + g->origin) + v * g->pitch + u;
}

/* The values of array f that come from one neighbour: position on this process, rank and position there. NULL: returns their number only */
static PetscInt PCRRBStrip_Private(const PolderRRBGrid *g, const PolderRRBGrid *neighbour, const RRBStrip *strip, int f, size_t direction, PetscMPIInt rank,
                                   PetscInt place[], PetscSFNode from[])
{
  const int      dx = directions[direction].dx, dy = directions[direction].dy;
  const PetscInt skip = strip->put && (strip->from & SOUTHWEST); /* the first one comes from the diagonal neighbour */
  const PetscInt u0 = dx ? 0 : skip, u1 = dx ? 1 : g->hx, v0 = dy ? 0 : skip, v1 = dy ? 1 : g->hy;
  const PetscInt last[2] = {neighbour->hx - !strip->put, neighbour->hy - !strip->put};
  PetscInt       count   = 0;

  for (PetscInt v = v0; v < v1; ++v) {
    for (PetscInt u = u0; u < u1; ++u, ++count) {
      const PetscInt here[2] = {strip->put ? u : dx < 0 ? -1 : dx > 0 ? g->hx : u, strip->put ? v : dy < 0 ? -1 : dy > 0 ? g->hy : v};

      if (!place) continue;
      place[count] = PCRRBPlace_Private(g, f, here[0], here[1]);
      from[count]  = (PetscSFNode){.rank = rank, .index = PCRRBPlace_Private(neighbour, f, dx < 0 ? last[0] : u, dy < 0 ? last[1] : v)};
    }
  }
  return count;
}

/* All values of an exchange on grid k */
static PetscInt PCRRBStrips_Private(const PC_RRB *rrb, PetscInt k, int exchange, PetscInt place[], PetscSFNode from[])
{
  const RRBRanks *ranks = &rrb->ranks;
  const RRBBox    box   = PCRRBBox(rrb, k);
  PolderRRBGrid   g     = PCRRBShape(box.x1 - box.x0, box.y1 - box.y0);
  PetscInt        count = 0;

  if (ranks->at[0] < 0) return 0;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(strips); ++s) {
    for (size_t d = 0; d < PETSC_STATIC_ARRAY_LENGTH(directions); ++d) {
      const PetscInt i = ranks->at[0] + directions[d].dx, j = ranks->at[1] + directions[d].dy;
      RRBBox         b;
      PolderRRBGrid  neighbour;

      if ((int)strips[s].exchange != exchange || !(strips[s].from & directions[d].bit) || i < 0 || i >= ranks->np[0] || j < 0 || j >= ranks->np[1]) continue;
      b         = PCRRBBoxAt(ranks, k, i, j);
      neighbour = PCRRBShape(b.x1 - b.x0, b.y1 - b.y0);
      for (int f = strips[s].f; f < strips[s].f + strips[s].n; ++f)
        count += PCRRBStrip_Private(&g, &neighbour, &strips[s], f, d, PCRRBRankAt(rrb, i, j), place ? place + count : NULL, place ? from + count : NULL);
    }
  }
  return count;
}

PetscErrorCode PCRRBExchangeCreate(PC pc)
{
  static const int narray[RRB_NEXCHANGE] = {RRB_NCOEF, RRB_NWORK, RRB_NCOEF, RRB_NCOEF, RRB_NVEC, RRB_NVEC, RRB_NVEC, RRB_NREDUCED};
  PC_RRB          *rrb                   = (PC_RRB *)pc->data;
  RRBRanks        *ranks                 = &rrb->ranks;

  const RRBBox first = PCRRBBox(rrb, 0);
  PetscInt     fits  = RRB_NCOEF * (PetscReal)PCRRBShape(first.x1 - first.x0, first.y1 - first.y0).size < (PetscReal)PETSC_MAX_INT;

  PetscFunctionBegin;
  PetscCallAllreduce(MPI_IN_PLACE, &fits, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)pc));
  PetscCheck(fits || !ranks->ngrid, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PC of type rrb would have more numbers on a process than the integers of this PETSc count: use more processes, or a PETSc with "
             "--with-64-bit-indices");
  PetscCall(PetscCalloc1(ranks->ngrid, &ranks->exchange));
  for (PetscInt k = 0; k < ranks->ngrid; ++k) {
    const RRBBox        box = PCRRBBox(rrb, k);
    const PolderRRBGrid g   = PCRRBShape(box.x1 - box.x0, box.y1 - box.y0);

    for (int e = 0; e < RRB_NEXCHANGE; ++e) {
      const PetscInt n = PCRRBStrips_Private(rrb, k, e, NULL, NULL);
      PetscInt      *place;
      PetscSFNode   *from;

      if (e == RRB_EXCHANGE_REDUCED && (k || !rrb->reduced.wanted)) continue;
      PetscCall(PetscMalloc1(n, &place));
      PetscCall(PetscMalloc1(n, &from));
      PCRRBStrips_Private(rrb, k, e, place, from);
      PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)pc), &ranks->exchange[k][e]));
      PetscCall(PetscSFSetGraph(ranks->exchange[k][e], narray[e] * (PetscInt)g.size, n, place, PETSC_OWN_POINTER, from, PETSC_OWN_POINTER));
      PetscCall(PetscSFSetUp(ranks->exchange[k][e]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The strip of a plane at its limit in direction (dx, dy): its border, or the nodes next to that. NULL: returns the number of nodes */
static PetscInt PCRRBPlaneStrip_Private(const PolderRRBPlane *g, int dx, int dy, int border, PetscInt place[])
{
  const PetscInt u0 = dx < 0 ? -border : dx > 0 ? g->nx - !border : 0, u1 = dx ? u0 + 1 : g->nx;
  const PetscInt v0 = dy < 0 ? -border : dy > 0 ? g->ny - !border : 0, v1 = dy ? v0 + 1 : g->ny;
  PetscInt       count = 0;

  for (PetscInt v = v0; v < v1; ++v) {
    for (PetscInt u = u0; u < u1; ++u, ++count) {
      if (place) place[count] = (PetscInt)g->origin + v * g->pitch + u;
    }
  }
  return count;
}

PetscErrorCode PCRRBPlaneExchangeCreate(PC pc, PetscInt k, PetscSF *halo)
{
  const PC_RRB        *rrb   = (PC_RRB *)pc->data;
  const RRBRanks      *ranks = &rrb->ranks;
  const RRBBox         box   = PCRRBBox(rrb, k);
  const PolderRRBPlane g     = PCRRBPlane(box.x1 - box.x0, box.y1 - box.y0);
  const PetscInt       most  = 2 * (g.nx + g.ny) + 4;
  PetscInt            *place, *at, count = 0;
  PetscSFNode         *from;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(most, &place));
  PetscCall(PetscMalloc1(most, &from));
  PetscCall(PetscMalloc1(most, &at));
  for (int dy = -1; dy <= 1 && ranks->at[0] >= 0; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      const PetscInt i = ranks->at[0] + dx, j = ranks->at[1] + dy;
      RRBBox         b;
      PolderRRBPlane neighbour;
      PetscInt       n;

      if ((!dx && !dy) || i < 0 || i >= ranks->np[0] || j < 0 || j >= ranks->np[1]) continue;
      b         = PCRRBBoxAt(ranks, k, i, j);
      neighbour = PCRRBPlane(b.x1 - b.x0, b.y1 - b.y0);
      n         = PCRRBPlaneStrip_Private(&g, dx, dy, 1, place + count);
      PCRRBPlaneStrip_Private(&neighbour, -dx, -dy, 0, at);
      for (PetscInt q = 0; q < n; ++q) from[count + q] = (PetscSFNode){.rank = PCRRBRankAt(rrb, i, j), .index = at[q]};
      count += n;
    }
  }
  PetscCall(PetscFree(at));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)pc), halo));
  PetscCall(PetscSFSetGraph(*halo, (PetscInt)g.size, count, place, PETSC_OWN_POINTER, from, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCRRBExchange(const PC_RRB *rrb, PetscInt k, RRBExchange exchange, PetscScalar data[])
{
  PetscFunctionBegin;
  if (k >= rrb->ranks.ngrid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFBcastBegin(rrb->ranks.exchange[k][exchange], MPIU_SCALAR, data, data, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(rrb->ranks.exchange[k][exchange], MPIU_SCALAR, data, data, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
