/* What the set-up of levels that are grids asks for, by where the entries of the level are. */
#pragma once

#include "foreach.cuh"
#include "kernels/levelgridrow.h"

/* Where the entries of a level are: in compressed rows, or by diagonals in double precision, single precision or bfloat16 */
enum GridKind {
  GRID_ROWS,
  GRID_DOUBLE,
  GRID_SINGLE,
  GRID_BFLOAT
};

/* The kernels that read entries, one file for each kind: levelgridsteps.cuh says what they are */
template <GridKind KIND>
struct GridSteps {
  static int survey(const PolderLevelGrid *G, const PolderLevelGridEntries &A, const PolderLevelGridRule &rule, PetscInt count[], cudaStream_t stream);
  static int split(const PolderLevelGrid *G, const PolderLevelGridEntries &A, const PolderLevelGridRule &rule, PetscInt *count, cudaStream_t stream);
  static int weights(const PolderLevelGrid *G, const PolderLevelGridEntries &A, const PetscInt agg[], cudaStream_t stream);
  static int coarseRows(const PolderLevelGrid *G, const PolderLevelGridEntries &A, const PolderLevelGridRows &R, cudaStream_t stream);
};

/* body(G, i, at) for the cells of a level, or of the next one; FIT: resident blocks */
template <bool NEXT, int FIT, class Body>
static __global__ void __launch_bounds__(POLDER_BLOCK, FIT)
  PolderLevelGridCellsKernel(const __grid_constant__ PolderLevelGrid G, const __grid_constant__ Body body)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  PetscInt       at[3];

  if (i >= (NEXT ? G.nc : G.n)) return;
  if (NEXT) PolderLevelGridAt(G.csize, G.cshift + i, at);
  else PolderLevelGridAt(G.size, G.shift + i, at);
  body(G, i, at);
}

template <bool NEXT, int FIT = 1, class Body>
static int LevelGridEach(const PolderLevelGrid *G, PolderStream stream, Body body)
{
  const PetscInt n = NEXT ? G->nc : G->n;

  if (n > 0) PolderLevelGridCellsKernel<NEXT, FIT><<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*G, body);
  return cudaGetLastError();
}
