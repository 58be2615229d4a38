/* How threads traverse the grid of a stencil whose matrix is stored by diagonals. */
#pragma once

#include "launch.cuh"
#include "kernels/diaclass.h"

/* Diagonals of one launch, passed as kernel arguments */
#define DIA_BATCH 32

/*
  Minimum number of rows for processing a stencil by tiles; threads of a tile with 5 and with 7 points, and resident blocks of that size, limited by
  registers; minimum number of steps of a block along the slowest direction, and the same where half of the multiprocessors would have no block
*/
#define DIA_GRID_ROWS 300000
#define DIA_TILE5     512
#define DIA_TILE7     1024
#define DIA_FIT5      3
#define DIA_FIT7      1
#define DIA_STEPS     8
#define DIA_FEW_STEPS 4

/*
  The 5- or 7-point stencil of a grid: offsets -far, (-near,) -1, 0, 1, (near,) far; near = 0: 5 points. Each thread goes along the slowest direction, in
  steps of far rows. It keeps x (and, when half of the matrix is stored, the coefficient) of the steps before and after in registers. A neighbouring thread of
  the block has read the values for the other offsets one step before, so they are in the first-level cache. Only row numbers matter: far need not be a
  multiple of near, nor m one of far.
*/
template <class V>
struct DiaGrid {
  PetscInt m, near, far;
  PetscInt line;            /* rows of one line: near, or far when there are 5 points */
  PetscInt tiles[2], chunk; /* tiles of a step, steps of a block */
  int      logw;            /* tiles are 2^logw rows wide; with 5 points, as wide as their threads reach, since a step is one line */
  const V *val[7];
};

/* The same with the classes of its rows, see diaclass.h */
template <class V>
struct DiaClassGrid : DiaGrid<V> {
  const unsigned char    *code;
  const PolderDiaClasses *classes;
  const float            *inverse; /* the inverse diagonal of rows in no class, where it is needed */
};

/* The first N entries of the rows of class `code` */
template <int N>
__device__ __forceinline__ void DiaTableRow(const PolderDiaClasses *C, int code, double (&a)[N])
{
#pragma unroll
  for (int d = 0; d < N; d += 2) {
    const double2 two = __ldg((const double2 *)(C->table + code * POLDER_DIA_WIDTH + d));

    a[d] = two.x;
    if (d + 1 < N) a[d + 1] = two.y;
  }
}

template <int N>
__device__ __forceinline__ void DiaTableRow(const PolderDiaClasses *C, int code, float (&a)[N])
{
#pragma unroll
  for (int d = 0; d < N; d += 4) {
    const float4 four = __ldg((const float4 *)(C->single + code * POLDER_DIA_WIDTH + d));

    a[d] = four.x;
    if (d + 1 < N) a[d + 1] = four.y;
    if (d + 2 < N) a[d + 2] = four.z;
    if (d + 3 < N) a[d + 3] = four.w;
  }
}

/*
  The number of chunks of at least `least` steps into which the steps are cut, if each chunk makes `tiles` blocks, of which `resident` are on a multiprocessor
  at a time. 7 points: few chunks, as each reads two planes beyond its own; the number leaves the fewest multiprocessors idle in a few rounds. 5 points: as
  many as there is room for.
*/
static int64_t DiaChunks(bool seven, int resident, int64_t least, int64_t tiles, int64_t steps)
{
  const int64_t places = (int64_t)PolderMultiprocessors() * resident, fewest = seven && 2 * tiles * (steps / least) < places ? DIA_FEW_STEPS : least;
  const int64_t most = PetscMax(PetscMin(steps / fewest, POLDER_REDUCE_BLOCKS / tiles), 1);
  int64_t       best = 1;
  double        full = 0;

  if (!seven) return PetscMin(PetscMax(places / tiles, 1), most);
  for (int64_t rounds = 1; rounds <= 4; ++rounds) {
    const int64_t c = PetscMin(rounds * places / tiles, most);

    if (c < 1 || (double)(c * tiles) / (double)(rounds * places) < full + 0.05) continue;
    best = c;
    full = (double)(c * tiles) / (double)(rounds * places);
  }
  return best;
}

/*
  If this is the stencil of a large enough grid, sets A for N rows a thread and, with 5 points, FIT5 resident blocks of at least STEPS5 steps, and returns the
  number of blocks, else 0
*/
template <int N = 1, int FIT5 = DIA_FIT5, int STEPS5 = DIA_STEPS, class V>
static unsigned int DiaFindGrid(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const V *const val[], DiaGrid<V> *A, bool *half)
{
  const PetscInt c    = nd / 2;
  const int      tile = N * (nd == 7 ? DIA_TILE7 : DIA_TILE5);
  int64_t        tiles, steps;

  if (m != n || m < DIA_GRID_ROWS || (nd != 5 && nd != 7) || off[c] != 0 || off[c + 1] != 1 || off[c + 2] < 2) return 0;
  *half = true;
  for (PetscInt d = 0; d < nd; ++d) {
    if (off[d] != -off[nd - 1 - d]) return 0;
    if (d < c && val[d] != val[nd - 1 - d] + off[d]) *half = false;
    A->val[d] = val[d];
  }
  A->m    = m;
  A->far  = off[nd - 1];
  A->near = nd == 7 ? off[5] : 0;
  A->line = nd == 7 ? A->near : A->far;
  A->logw = nd == 7 ? 6 : N > 2 ? 11 : N > 1 ? 10 : 9;
  for (int w = 5; w < 8 && nd == 7; ++w) { // chooses the tile width that fits a line best
    if ((A->line + (1 << w) - 1) >> w << w < (A->line + (1 << A->logw) - 1) >> A->logw << A->logw) A->logw = w;
  }
  A->tiles[0] = (A->line + (1 << A->logw) - 1) >> A->logw;
  A->tiles[1] = ((A->far + A->line - 1) / A->line + (tile >> A->logw) - 1) / (tile >> A->logw);
  tiles       = (int64_t)A->tiles[0] * A->tiles[1];
  steps       = ((int64_t)m + A->far - 1) / A->far;
  if (tiles > POLDER_REDUCE_BLOCKS || steps < 3) return 0;
  A->chunk = (PetscInt)((steps - 1) / DiaChunks(nd == 7, nd == 7 ? DIA_FIT7 : FIT5, nd == 7 ? DIA_STEPS : STEPS5, tiles, steps) + 1);
  return (unsigned int)(tiles * ((steps + A->chunk - 1) / A->chunk));
}
