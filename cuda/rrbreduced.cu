/*
  The first Schur complement S of a 5-point matrix on vectors of its red nodes (src/kernels/rrbreduced.h). The product goes up strips (rrb.cuh): of what a row says to the next
  one the sums are kept, what neighbours in the row say comes from other lanes, so that everything is read once.
*/
#include "rrb.cuh"
#include "../src/kernels/rrbreduced.h"

/* Blocks of the product for which a multiprocessor has registers */
#define RRB_MULT 6
/* A block of the other kernels, a thread a cell */
#define RRB_X 32
#define RRB_Y 8

static dim3 RRBCells(const PolderRRBGrid *g)
{
  return dim3(PolderBlocks(g->hx, RRB_X), PolderBlocks(g->hy, RRB_Y));
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y) PolderRRBReducedFillKernel(const __grid_constant__ PolderRRBGrid g, bool half, PetscReal omega, PetscScalar *c, const PetscScalar *__restrict__ x, PetscScalar *a, int *seen)
{
  const PetscInt  u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y);
  const ptrdiff_t p    = (ptrdiff_t)v * g.pitch + u;
  int             told = 0;

  if (u >= g.hx || v >= g.hy) return;
  c += g.origin;
  PolderRRBReducedFill(g.size, g.pitch, c, x + g.origin, p, a + g.origin);
  if (half) return;
  PolderRRBLumpR1(g.size, g.pitch, omega, c, p);
  c[RRB_R1D * g.size + p] = PolderRRBInverse(c[RRB_R1D * g.size + p], PETSC_TRUE, &told);
  if (told) atomicOr(seen, told);
}

int PolderRRBReducedFill_CUDA(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], const PetscScalar x[], PetscScalar a[], int *seen, PolderStream stream)
{
  PolderRRBReducedFillKernel<<<RRBCells(g), dim3(RRB_X, RRB_Y), 0, stream>>>(*g, half, omega, c, x, a, seen);
  return cudaGetLastError();
}

#define A(f, when) ((when) ? __ldg(&a[(size_t)(f)*s]) : 0.0)

/* Rows v0 <= v < v1 of S x in a strip, for r1 and r2; part += what they add to (x, S x) */
template <bool DOT>
static __device__ __forceinline__ void RRBReducedMult(const PolderRRBGrid &g, PetscInt tile, PetscInt v0, PetscInt v1, const PetscScalar *__restrict__ a, const PetscScalar *__restrict__ x, PetscScalar *__restrict__ y, double &part)
{
  const size_t   s = g.size, n1 = (size_t)g.hx * (size_t)g.hy;
  const int      lane = threadIdx.x % 32;
  const PetscInt u = tile * RRB_WIDTH - 1 + lane, hx = g.hx, h2 = g.nx / 2, k2 = g.ny / 2;
  const bool     in1 = u >= 0 && u < hx, in2 = u >= 0 && u < h2, mine1 = in1 && lane > 0 && lane < 31, mine2 = in2 && mine1;
  double         sum1 = 0, sum2 = 0, n1e = 0, n2e = 0, south1 = 0, south2 = 0, x1below = 0, x2below = 0, x2corner = 0; /* of the row below: sums, couplings to the N, what it says to this one, values */

  a += (ptrdiff_t)g.origin + (ptrdiff_t)(v0 - 1) * g.pitch + u;
  if (v0 > 0) {
    if (in2 && v0 - 1 < k2) x2below = x[n1 + (size_t)(v0 - 1) * h2 + u];
    if (in1) south1 = A(RRB_S1N, true) * x[(size_t)(v0 - 1) * hx + u];
    if (in2) south2 = A(RRB_S2N, true) * x2below;
  }
  x2corner = __shfl_up_sync(0xffffffffu, x2below, 1);
  a += g.pitch;
#pragma unroll 2
  for (PetscInt v = v0; v <= v1; ++v, a += g.pitch) {
    const bool   on1 = in1 && v < g.hy, on2 = in2 && v < k2, more1 = on1 && v < v1, more2 = on2 && v < v1;
    const double x1 = on1 ? __ldg(&x[(size_t)v * hx + u]) : 0.0, x2 = on2 ? __ldg(&x[n1 + (size_t)v * h2 + u]) : 0.0;
    const double se = A(RRB_S1SE, on1), sw = A(RRB_S1SW, on1), ne = A(RRB_S1NE, more1), nw = A(RRB_S1NW, more1);
    const double d1 = A(RRB_S1D, more1), e1 = A(RRB_S1E, more1), up1 = A(RRB_S1N, more1), d2 = A(RRB_S2D, more2), e2 = A(RRB_S2E, more2), up2 = A(RRB_S2N, more2);
    const double right = __shfl_down_sync(0xffffffffu, sw * x1, 1), x2left = __shfl_up_sync(0xffffffffu, x2, 1);

    sum1 += n1e * x1;
    sum2 += n2e * x2 + se * x1 + right;
    if (v > v0 && mine1) y[(size_t)(v - 1) * hx + u] = sum1;
    if (v > v0 && mine2 && v - 1 < k2) y[n1 + (size_t)(v - 1) * h2 + u] = sum2;
    if (DOT && v > v0 && mine1) part += x1below * sum1 + (mine2 ? x2below * sum2 : 0.0);
    sum1     = d1 * x1 + (e1 * __shfl_down_sync(0xffffffffu, x1, 1) + __shfl_up_sync(0xffffffffu, e1 * x1, 1) + south1) + (ne * x2 + se * x2below + sw * x2corner + nw * x2left);
    sum2     = d2 * x2 + (e2 * __shfl_down_sync(0xffffffffu, x2, 1) + __shfl_up_sync(0xffffffffu, e2 * x2, 1) + south2) + (ne * x1 + __shfl_down_sync(0xffffffffu, nw * x1, 1));
    south1   = up1 * x1;
    south2   = up2 * x2;
    n1e      = up1;
    n2e      = up2;
    x1below  = x1;
    x2below  = x2;
    x2corner = x2left;
  }
}

#undef A

/* The end of the sum */
struct RRBSum {
  PetscScalar *dot;

  __device__ __forceinline__ void operator()(const double (&total)[1]) const { *dot = total[0]; }
};

template <bool DOT>
static __global__ void __launch_bounds__(RRB_BLOCK, RRB_MULT) PolderRRBReducedMultKernel(const __grid_constant__ PolderRRBGrid g, RRBStrips cut, const PetscScalar *__restrict__ a, const PetscScalar *__restrict__ x, PetscScalar *__restrict__ y, PetscScalar *dot, PolderReduceScratch *scratch)
{
  double part[1] = {0};

  for (PetscInt k = (PetscInt)(blockIdx.x * (RRB_BLOCK / 32) + threadIdx.x / 32); k < cut.count; k += (PetscInt)gridDim.x * (RRB_BLOCK / 32)) {
    const PetscInt v0 = k / cut.tiles * cut.steps;

    RRBReducedMult<DOT>(g, k % cut.tiles, v0, min(v0 + cut.steps, g.hy), a, x, y, part[0]);
  }
  if (DOT) PolderGridSum<RRB_BLOCK>(part, scratch, RRBSum{dot});
}

int PolderRRBReducedMult_CUDA(const PolderRRBGrid *g, const PetscScalar a[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot, void *work, PolderStream stream)
{
  unsigned int    blocks;
  const RRBStrips cut = RRBCutLarge(*g, RRB_MULT, &blocks);

  if (dot) PolderRRBReducedMultKernel<true><<<blocks, RRB_BLOCK, 0, stream>>>(*g, cut, a, x, y, dot, (PolderReduceScratch *)work);
  else PolderRRBReducedMultKernel<false><<<blocks, RRB_BLOCK, 0, stream>>>(*g, cut, a, x, y, NULL, NULL);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y) PolderRRBReduceKernel(const __grid_constant__ PolderRRBGrid g, const PetscScalar *__restrict__ c, const PetscScalar *__restrict__ b, PetscInt ld, PetscScalar *__restrict__ r)
{
  const PetscInt  u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y), h2 = g.nx / 2;
  const ptrdiff_t p = (ptrdiff_t)v * g.pitch + u;

  if (u >= g.hx || v >= g.hy) return;
  const PolderRRBLines l = PolderRRBGetLines(&g, b, ld, v);

  c += g.origin;
  r[(size_t)v * g.hx + u] = PolderRRBReduceR1(g.size, g.pitch, c, p, l, 2 * u, PolderRRBWest(2 * u), PolderRRBEast(2 * u, g.nx));
  if (u < h2 && v < g.ny / 2) r[(size_t)g.hx * (size_t)g.hy + (size_t)v * h2 + u] = PolderRRBReduceR2(g.size, g.pitch, c, p, l, 2 * u + 1, 2 * u, PolderRRBEast(2 * u + 1, g.nx));
}

int PolderRRBReduce_CUDA(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar b[], PetscInt ld, PetscScalar r[], PolderStream stream)
{
  PolderRRBReduceKernel<<<RRBCells(g), dim3(RRB_X, RRB_Y), 0, stream>>>(*g, c, b, ld, r);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y) PolderRRBExpandKernel(const __grid_constant__ PolderRRBGrid g, const PetscScalar *__restrict__ c, const PetscScalar *__restrict__ b, const PetscScalar *__restrict__ r, PetscScalar *__restrict__ x, PetscInt ld)
{
  const PetscInt  u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y), h2 = g.nx / 2;
  const ptrdiff_t p = (ptrdiff_t)v * g.pitch + u;

  if (u >= g.hx || v >= g.hy) return;
  const PolderRRBLines l = PolderRRBGetLines(&g, b, ld, v);
  const PolderRRBRows  q = PolderRRBGetRows(&g, r, v);

  c += g.origin;
  x += (size_t)(2 * v) * (size_t)ld + 2 * (size_t)u;
  x[0] = q.c1[u];
  if (u < h2) x[1] = PolderRRBExpandB1(g.size, c, p, q, l.c[2 * u + 1], u, PolderRRBEast(u, g.hx));
  if (2 * v + 1 == g.ny) return;
  x[ld] = PolderRRBExpandB2(g.size, c, p, q, l.n[2 * u], u, PolderRRBSame(u, h2), PolderRRBWest(u));
  if (u < h2) x[ld + 1] = q.c2[u];
}

int PolderRRBExpand_CUDA(const PolderRRBGrid *g, const PetscScalar c[], const PetscScalar b[], const PetscScalar r[], PetscScalar x[], PetscInt ld, PolderStream stream)
{
  PolderRRBExpandKernel<<<RRBCells(g), dim3(RRB_X, RRB_Y), 0, stream>>>(*g, c, b, r, x, ld);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y) PolderRRBPickKernel(const __grid_constant__ PolderRRBGrid g, const PetscScalar *__restrict__ x, PetscInt ld, PetscScalar *__restrict__ r)
{
  const PetscInt u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y), h2 = g.nx / 2;

  if (u >= g.hx || v >= g.hy) return;
  x += (size_t)(2 * v) * (size_t)ld + 2 * (size_t)u;
  r[(size_t)v * g.hx + u] = x[0];
  if (u < h2 && v < g.ny / 2) r[(size_t)g.hx * (size_t)g.hy + (size_t)v * h2 + u] = x[ld + 1];
}

int PolderRRBPick_CUDA(const PolderRRBGrid *g, const PetscScalar x[], PetscInt ld, PetscScalar r[], PolderStream stream)
{
  PolderRRBPickKernel<<<RRBCells(g), dim3(RRB_X, RRB_Y), 0, stream>>>(*g, x, ld, r);
  return cudaGetLastError();
}
