/* Strips of cells (u, v). A warp goes up a strip by one row a step; its first and last lane only load values for their neighbours. */
#pragma once

#include "cg.cuh"
#include "kernels/rrbrow.h"

/* Cells of a strip; minimum number of steps of a warp; threads of a block */
#define RRB_WIDTH 30
#define RRB_STEPS 2
#define RRB_BLOCK 128

/* How a grid is cut into strips and how many steps each takes */
struct RRBStrips {
  PetscInt tiles, steps, count;
};

static __host__ __device__ __forceinline__ RRBStrips RRBCut(const PolderRRBGrid &g, PetscInt steps)
{
  const PetscInt tiles = (g.hx + RRB_WIDTH - 1) / RRB_WIDTH;

  return {tiles, steps, tiles * ((g.hy + steps - 1) / steps)};
}

/* Strips of at least `least` steps for so many warps: not more than one each where there are enough warps for all columns of strips */
static __host__ __device__ __forceinline__ RRBStrips RRBShare(const PolderRRBGrid &g, PetscInt warps, PetscInt least)
{
  const RRBStrips rows  = RRBCut(g, 1);
  const PetscInt  above = warps / rows.tiles, steps = above ? (g.hy + above - 1) / above : (rows.count + warps - 1) / warps;

  return RRBCut(g, steps > least ? steps : least);
}

/* Strips for a kernel of its own: all blocks are resident at the same time, so that none begins when the others have ended */
static inline RRBStrips RRBCutLarge(const PolderRRBGrid &g, int fit, unsigned int *blocks)
{
  const RRBStrips cut = RRBShare(g, (PetscInt)PolderMultiprocessors() * fit * (RRB_BLOCK / 32), RRB_STEPS);

  *blocks = (unsigned int)PetscMin((cut.count + RRB_BLOCK / 32 - 1) / (RRB_BLOCK / 32), POLDER_REDUCE_BLOCKS);
  return cut;
}
