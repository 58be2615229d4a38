/*
  The smallest grids of the repeated red-black preconditioner, and the rest, combined in one dense matrix: the sweeps applied to the unit vectors. A block
  sweeps a few vectors at once and in place: node (x, y) of a grid, which is node (2x+1, 2y+1) of the grid before, keeps its position.
*/
#include "launch.cuh"
#include "kernels/rrb.h"

/* Threads of a block, and the unit vectors that it sweeps at once, to load each coefficient once for all */
#define RRB_TAIL_BLOCK   256
#define RRB_TAIL_COLUMNS 4

/* The values of a node in each of the vectors */
struct __align__(16) RRBTailNode
{
  double v[RRB_TAIL_COLUMNS];
};

struct RRBTail {
  bool               red; /* vectors of the first grid contain its red nodes only */
  PetscInt           ngrid, nrest, ldrest, n, ld;
  const PetscScalar *inverse;
  PetscScalar       *T;
  PolderRRBStep      step[POLDER_RRB_SMALL_GRIDS];
};

/* A grid and the positions of its nodes */
template <class V>
struct RRBTailGrid {
  PetscInt     nx, ny, hx, hy, pitch, first, ld, stride;
  size_t       size;
  bool         half, red;
  const V     *c;
  RRBTailNode *x;

  __device__ __forceinline__ RRBTailGrid(const RRBTail &a, PetscInt k, RRBTailNode *nodes)
  {
    const PolderRRBGrid &g = a.step[k].g, &g0 = a.step[0].g;

    nx     = g.nx;
    ny     = g.ny;
    hx     = g.hx;
    hy     = g.hy;
    pitch  = g.pitch;
    size   = g.size;
    half   = a.step[k].half;
    red    = a.red && k == 0;
    c      = (const V *)a.step[k].c + g.origin;
    x      = nodes;
    first  = a.red ? g0.hx * g0.hy : 0;
    ld     = a.red ? g0.nx / 2 : g0.nx;
    stride = 1 << (a.red && k ? k - 1 : k);
  }

  __device__ __forceinline__ RRBTailNode &at(PetscInt i, PetscInt j) const
  {
    if (red) return x[i % 2 ? first + j / 2 * ld + i / 2 : j / 2 * hx + i / 2];
    return x[first + ((j + 1) * stride - 1) * ld + (i + 1) * stride - 1];
  }

  /* sum += coefficient f of the cell at p times node (i, j), if the node exists */
  __device__ __forceinline__ void add(int f, PetscInt p, PetscInt i, PetscInt j, RRBTailNode &sum) const
  {
    if (i < 0 || j < 0 || i >= nx || j >= ny) return;
    const double       a = (double)__ldg(&c[(size_t)f * size + p]);
    const RRBTailNode &y = at(i, j);

#pragma unroll
    for (int q = 0; q < RRB_TAIL_COLUMNS; ++q) sum.v[q] += a * y.v[q];
  }

  /* Node (i, j) <- its value times coefficient f (-1: one), minus sum */
  __device__ __forceinline__ void put(int f, PetscInt p, PetscInt i, PetscInt j, const RRBTailNode &sum) const
  {
    const double d = f < 0 ? 1.0 : (double)__ldg(&c[(size_t)f * size + p]);
    RRBTailNode &y = at(i, j);

#pragma unroll
    for (int q = 0; q < RRB_TAIL_COLUMNS; ++q) y.v[q] = y.v[q] * d - sum.v[q];
  }

  __device__ __forceinline__ void forward(void) const
  {
    const PetscInt P = pitch;

    for (PetscInt k = threadIdx.x; k < hx * hy && !red; k += RRB_TAIL_BLOCK) {
      const PetscInt u = k % hx, v = k / hx, i = 2 * u, j = 2 * v, p = v * P + u;
      RRBTailNode    sum = {};

      add(RRB_B1W, p, i + 1, j, sum);
      add(RRB_B1E, p - 1, i - 1, j, sum);
      add(RRB_B2S, p, i, j + 1, sum);
      add(RRB_B2N, p - P, i, j - 1, sum);
      put(-1, p, i, j, sum);
    }
    __syncthreads();
    for (PetscInt k = threadIdx.x; k < nx / 2 * (ny / 2); k += RRB_TAIL_BLOCK) {
      const PetscInt u = k % (nx / 2), v = k / (nx / 2), i = 2 * u + 1, j = 2 * v + 1, p = v * P + u;
      RRBTailNode    sum = {};

      if (!red) {
        add(RRB_B1N, p, i, j - 1, sum);
        add(RRB_B1S, p + P, i, j + 1, sum);
        add(RRB_B2E, p, i - 1, j, sum);
        add(RRB_B2W, p + 1, i + 1, j, sum);
      }
      if (!half) {
        add(RRB_R1NE, p, i - 1, j - 1, sum);
        add(RRB_R1SE, p + P, i - 1, j + 1, sum);
        add(RRB_R1SW, p + P + 1, i + 1, j + 1, sum);
        add(RRB_R1NW, p + 1, i + 1, j - 1, sum);
      }
      put(-1, p, i, j, sum);
    }
    __syncthreads();
  }

  __device__ __forceinline__ void backward(void) const
  {
    for (PetscInt k = threadIdx.x; k < hx * hy && !half; k += RRB_TAIL_BLOCK) {
      const PetscInt u = k % hx, v = k / hx, i = 2 * u, j = 2 * v, p = v * pitch + u;
      RRBTailNode    sum = {};

      add(RRB_R1NE, p, i + 1, j + 1, sum);
      add(RRB_R1SE, p, i + 1, j - 1, sum);
      add(RRB_R1SW, p, i - 1, j - 1, sum);
      add(RRB_R1NW, p, i - 1, j + 1, sum);
      put(RRB_R1D, p, i, j, sum);
    }
    __syncthreads();
    for (PetscInt k = threadIdx.x; k < 2 * hx * hy && !red; k += RRB_TAIL_BLOCK) { /* b1 of all cells, and b2 */
      const PetscInt b = k < hx * hy ? 0 : RRB_B2N - RRB_B1N, cell = k % (hx * hy), u = cell % hx, v = cell / hx, i = 2 * u + !b, j = 2 * v + !!b,
                     p = v * pitch + u;
      RRBTailNode sum  = {};

      if (i >= nx || j >= ny) continue;
      add(RRB_B1N + b, p, i, j + 1, sum);
      add(RRB_B1E + b, p, i + 1, j, sum);
      add(RRB_B1S + b, p, i, j - 1, sum);
      add(RRB_B1W + b, p, i - 1, j, sum);
      put(RRB_B1D + b, p, i, j, sum);
    }
    __syncthreads();
  }

  /* Unknown k of the rest after this grid */
  __device__ __forceinline__ RRBTailNode &unknown(PetscInt k) const
  {
    const PetscInt n1 = half ? hx * hy : 0;

    return k < n1 ? at(k % hx * 2, k / hx * 2) : at((k - n1) % (nx / 2) * 2 + 1, (k - n1) / (nx / 2) * 2 + 1);
  }
};

/* x <- inverse b, one row a thread. Reads columns as rows: the inverse is bitwise symmetric */
template <class V>
static __device__ __forceinline__ void RRBTailRest(const RRBTail &a, const RRBTailGrid<V> &last, RRBTailNode *b)
{
  for (PetscInt i = threadIdx.x; i < a.nrest; i += RRB_TAIL_BLOCK) b[i] = last.unknown(i);
  __syncthreads();
  for (PetscInt i = threadIdx.x; i < a.nrest; i += RRB_TAIL_BLOCK) {
    RRBTailNode sum = {};

#pragma unroll 8
    for (PetscInt j = 0; j < a.nrest; ++j) {
      const double e = __ldg(&a.inverse[(size_t)j * a.ldrest + i]);

#pragma unroll
      for (int q = 0; q < RRB_TAIL_COLUMNS; ++q) sum.v[q] += e * b[j].v[q];
    }
    last.unknown(i) = sum;
  }
  __syncthreads();
}

template <class V>
static __global__ void __launch_bounds__(RRB_TAIL_BLOCK) PolderRRBTailKernel(const __grid_constant__ RRBTail a)
{
  extern __shared__ RRBTailNode x[];
  const PetscInt                first = (PetscInt)blockIdx.x * RRB_TAIL_COLUMNS;

  for (PetscInt i = threadIdx.x; i < a.n; i += RRB_TAIL_BLOCK) {
#pragma unroll
    for (int q = 0; q < RRB_TAIL_COLUMNS; ++q) x[i].v[q] = i == first + q;
  }
  __syncthreads();
  for (PetscInt k = 0; k < a.ngrid; ++k) RRBTailGrid<V>(a, k, x).forward();
  RRBTailRest(a, RRBTailGrid<V>(a, a.ngrid - 1, x), x + a.n);
  for (PetscInt k = a.ngrid - 1; k >= 0; --k) RRBTailGrid<V>(a, k, x).backward();
  for (PetscInt i = first + (PetscInt)threadIdx.x; i < a.n; i += RRB_TAIL_BLOCK) {
#pragma unroll
    for (int q = 0; q < RRB_TAIL_COLUMNS; ++q) {
      const PetscInt j = first + q;

      if (j <= i) a.T[(size_t)i * a.ld + j] = a.T[(size_t)j * a.ld + i] = x[i].v[q];
    }
  }
}

int PolderRRBTail_CUDA(const PolderRRBSystem *grids, PetscBool red, PolderDense T, PolderStream stream)
{
  const PetscInt     ngrid = grids->ngrid, nrest = grids->n;
  const unsigned int blocks = PolderBlocks(T.n, RRB_TAIL_COLUMNS);
  const size_t       bytes  = sizeof(RRBTailNode) * (size_t)(T.n + nrest);
  RRBTail            a      = {};

  if (ngrid < 1 || ngrid > POLDER_RRB_SMALL_GRIDS || T.n > POLDER_RRB_TAIL || 2 * nrest > POLDER_RRB_TAIL) return cudaErrorInvalidValue;
  a.red     = red;
  a.ngrid   = ngrid;
  a.nrest   = nrest;
  a.ldrest  = grids->ld;
  a.n       = T.n;
  a.ld      = T.ld;
  a.inverse = grids->inverse;
  a.T       = T.a;
  for (PetscInt k = 0; k < ngrid; ++k) a.step[k] = grids->step[k];
  if (grids->single) PolderRRBTailKernel<float><<<blocks, RRB_TAIL_BLOCK, bytes, stream>>>(a);
  else PolderRRBTailKernel<double><<<blocks, RRB_TAIL_BLOCK, bytes, stream>>>(a);
  return cudaGetLastError();
}
