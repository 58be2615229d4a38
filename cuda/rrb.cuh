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

/* Strips for a kernel of its own: all blocks are resident at the same time, so that none begins when the others have ended */
static inline RRBStrips RRBCutLarge(const PolderRRBGrid &g, int fit, unsigned int *blocks)
{
  const PetscInt64 warps = (PetscInt64)PolderMultiprocessors() * fit * (RRB_BLOCK / 32), all = RRBCut(g, 1).count;
  const RRBStrips  cut = RRBCut(g, (PetscInt)PetscMax((all + warps - 1) / warps, RRB_STEPS));

  *blocks = (unsigned int)PetscMin((cut.count + RRB_BLOCK / 32 - 1) / (RRB_BLOCK / 32), POLDER_REDUCE_BLOCKS);
  return cut;
}
