/*
  Sweeps of the repeated red-black preconditioner. V is the type of the factor, double or float.
  A warp goes up a strip of cells (u, v) by one row a step; a cell has the nodes r1, b1 of line 2v and b2, r2 of line 2v + 1. Values of the cells beside it
  come from other lanes, values of the row below are kept in registers, so that every value is loaded once. The first and the last lane only load values for
  their neighbours. A sweep stores only its result: the backward sweep recomputes r1 from the right-hand side, which costs less than storing and loading it.
*/
#pragma once

#include "rrb.cuh"
#include "kernels/rrbreduced.h"
#include "kernels/rrb.h"

/* Access to lines of a vector: 0: one entry at a time; 1: pairs; 2: pairs, which on odd lines begin one entry before the cell */
static __device__ __forceinline__ int RRBPairs(const PetscScalar *a, PetscInt ld)
{
  return (size_t)a % sizeof(double2) ? 0 : ld % 2 ? 2 : 1;
}

/* Nodes (2u, y) and (2u + 1, y), zero outside of the grid. The last lane does not get the second one */
static __device__ __forceinline__ double2 RRBLoad(const PolderRRBStep &s, int pairs, PetscInt u, PetscInt y)
{
  const PetscInt     x  = 2 * u;
  const bool         on = u >= 0 && y < s.g.ny;
  const PetscScalar *a  = s.r + ((ptrdiff_t)y * s.ld + x);
  double2            t  = {0, 0};

  if (pairs == 2 && y % 2) {
    double2 before = {0, 0};

    if (on && x < s.g.nx) before = *(const double2 *)(a - 1);
    else if (on && x - 1 < s.g.nx) before.x = a[-1];
    t.x = before.y;
    t.y = __shfl_down_sync(0xffffffffu, before.x, 1);
  } else if (pairs && on && x + 1 < s.g.nx) t = *(const double2 *)a;
  else {
    if (on && x < s.g.nx) t.x = a[0];
    if (on && x + 1 < s.g.nx) t.y = a[1];
  }
  return t;
}

/* Stores line y of the solution at cell u: t and, on odd lines with pairs = 2, the second node of the cell before */
static __device__ __forceinline__ void RRBStore(const PolderRRBStep &s, int pairs, PetscInt u, PetscInt y, double2 t, double before)
{
  const PetscInt x = 2 * u;
  PetscScalar   *a = s.x + ((ptrdiff_t)y * s.ld + x);

  if (y >= s.g.ny) return;
  if (pairs == 2 && y % 2) {
    if (u > 0 && x < s.g.nx) *(double2 *)(a - 1) = make_double2(before, t.x);
    else if (x < s.g.nx) a[0] = t.x;
    if (x + 2 >= s.g.nx && x + 1 < s.g.nx) a[1] = t.y; // there is no next cell to store it
  } else if (pairs && x + 1 < s.g.nx) *(double2 *)a = t;
  else {
    if (x < s.g.nx) a[0] = t.x;
    if (x + 1 < s.g.nx) a[1] = t.y;
  }
}

/* Coefficient f of the cell, where the cell exists */
#define C(f, when)        C_AT(f, when, 0)
#define C_AT(f, when, at) ((when) ? (double)__ldg(&c[(size_t)(f)*s.g.size + (at)]) : 0.0)

/* The contribution of b2(u, v - 1) to r1(u, v); c points to cell (u, v) */
template <class V>
static __device__ __forceinline__ double RRBBelow(const PolderRRBStep &s, const V *c, PetscInt u, PetscInt v)
{
  c -= s.g.pitch;
  return C(RRB_B2N, true) * s.r[(ptrdiff_t)(2 * v - 1) * s.ld + 2 * u];
}

/* Rows v0 <= v < v1 of the next grid's right-hand side; half: of the r1 and r2 of the rest */
template <class V>
static __device__ __forceinline__ void RRBForward(const PolderRRBStep &s, PetscInt tile, PetscInt v0, PetscInt v1)
{
  const int      lane = threadIdx.x % 32, pairs = RRBPairs(s.r, s.ld);
  const PetscInt u = tile * RRB_WIDTH - 1 + lane, hx = s.g.hx, hy = s.g.hy, nx2 = s.g.nx / 2;
  const bool     in = u >= 0 && u<hx, mine = lane> 0 && lane < 31, half = s.half;
  const V       *c     = (const V *)s.c + ((ptrdiff_t)s.g.origin + (ptrdiff_t)v0 * s.g.pitch + u);
  PetscScalar   *r2    = s.rnext + (half ? (size_t)hx * (size_t)hy : 0);
  const PetscInt ld    = half ? nx2 : s.ldnext;
  double         below = 0, left2 = 0; /* below: contribution of b2 of the row below to r1; left2: the remaining r2 of that row */

  if (v0 > 0 && in) below = RRBBelow(s, c, u, v0);
#pragma unroll 2
  for (PetscInt v = v0; v <= v1; ++v, c += s.g.pitch) {
    const bool    on = in && v < hy, more = on && v < v1, skew = !half;
    const double2 a = RRBLoad(s, pairs, u, 2 * v), b = RRBLoad(s, pairs, u, 2 * v + 1);
    const double  b1n = C(RRB_B1N, more), b1e = C(RRB_B1E, on), b1s = C(RRB_B1S, on), b1w = C(RRB_B1W, on);
    const double  b2n = C(RRB_B2N, more), b2e = C(RRB_B2E, more), b2s = C(RRB_B2S, on), b2w = C(RRB_B2W, more);
    const double  ne = C(RRB_R1NE, more && skew), se = C(RRB_R1SE, on && skew), sw = C(RRB_R1SW, on && skew), nw = C(RRB_R1NW, more && skew);
    const double  r1    = a.x - (b1w * a.y + __shfl_up_sync(0xffffffffu, b1e * a.y, 1) + b2s * b.x + below);
    const double  right = __shfl_down_sync(0xffffffffu, sw * r1, 1), out = left2 - (b1s * a.y + se * r1 + right);

    if (v > v0 && mine && u < nx2 && 2 * v - 1 < s.g.ny) r2[(size_t)(v - 1) * ld + u] = out;
    if (half && v < v1 && mine && in) s.rnext[(size_t)v * hx + u] = r1;
    left2 = b.y - (b1n * a.y + b2e * b.x + ne * r1 + __shfl_down_sync(0xffffffffu, b2w * b.x + nw * r1, 1));
    below = b2n * b.x;
  }
}

/* Lines 2 v0 <= y < 2 v1 of the solution; part += their contributions to (r, x) and to the sum of x */
template <bool DOT, class V>
static __device__ __forceinline__ void RRBBackward(const PolderRRBStep &s, PetscInt tile, PetscInt v0, PetscInt v1, double (&part)[2])
{
  const int          lane = threadIdx.x % 32, pairs = RRBPairs(s.r, s.ld), pairsx = RRBPairs(s.x, s.ld);
  const PetscInt     u = tile * RRB_WIDTH - 1 + lane, hx = s.g.hx, hy = s.g.hy, nx2 = s.g.nx / 2, ny2 = s.g.ny / 2;
  const bool         in = u >= 0 && u<hx, mine = lane> 0 && lane < 31 && u < hx, half = s.half;
  const V           *c     = (const V *)s.c + ((ptrdiff_t)s.g.origin + (ptrdiff_t)v0 * s.g.pitch + u);
  const PetscScalar *r2    = s.xnext + (half ? (size_t)hx * (size_t)hy : 0);
  const PetscInt     ld    = half ? nx2 : s.ldnext;
  const bool         has2  = u >= 0 && u < nx2;
  double             below = 0, n = 0, left2 = 0, x2below = 0,
         x2corner = 0; /* of the row below: as above; the N coupling of its b2, and the known part of that b2; r2 there and one cell before */
  double2 bbelow  = {0, 0};

  if (v0 > 0 && in) below = RRBBelow(s, c, u, v0);
  if (v0 > 0 && has2) x2below = r2[(size_t)(v0 - 1) * ld + u];
  x2corner = __shfl_up_sync(0xffffffffu, x2below, 1);
#pragma unroll 2
  for (PetscInt v = v0; v <= v1; ++v, c += s.g.pitch) {
    const bool    on = in && v < hy, more = on && v < v1, skew = on && !half;
    const double2 a = RRBLoad(s, pairs, u, 2 * v), b = RRBLoad(s, pairs, u, 2 * v + 1);
    const double  b1n = C(RRB_B1N, more), b1e = C(RRB_B1E, on), b1s = C(RRB_B1S, more), b1w = C(RRB_B1W, on), b1d = C(RRB_B1D, more);
    const double  b2n = C(RRB_B2N, more), b2e = C(RRB_B2E, more), b2s = C(RRB_B2S, on), b2w = C(RRB_B2W, more), b2d = C(RRB_B2D, more);
    const double  ne = C(RRB_R1NE, skew), se = C(RRB_R1SE, skew), sw = C(RRB_R1SW, skew), nw = C(RRB_R1NW, skew), d = C(RRB_R1D, skew);
    const double  x2 = has2 && v < ny2 ? r2[(size_t)v * ld + u] : 0.0, x2left = __shfl_up_sync(0xffffffffu, x2, 1);
    const double  r1 = a.x - (b1w * a.y + __shfl_up_sync(0xffffffffu, b1e * a.y, 1) + b2s * b.x + below);
    double        x1 = r1 * d - (ne * x2 + se * x2below + sw * x2corner + nw * x2left);

    if (half) x1 = on ? s.xnext[(size_t)v * hx + u] : 0.0;
    if (v > v0 && mine) {
      const double2 t = {left2 - n * x1, x2below};

      RRBStore(s, pairsx, u, 2 * v - 1, t, x2corner);
      if (DOT) part[0] += bbelow.x * t.x + (u < nx2 ? bbelow.y * t.y : 0.0);
      if (DOT) part[1] += t.x + t.y;
    }
    const double2 t = {x1, a.y * b1d - (b1n * x2 + b1s * x2below + b1e * __shfl_down_sync(0xffffffffu, x1, 1) + b1w * x1)};

    if (v < v1 && mine) {
      RRBStore(s, pairsx, u, 2 * v, t, 0);
      if (DOT) part[0] += a.x * t.x + a.y * t.y;
      if (DOT) part[1] += t.x + t.y;
    }
    left2    = b.x * b2d - (b2s * x1 + b2e * x2 + b2w * x2left);
    n        = b2n;
    below    = b2n * b.x;
    x2below  = x2;
    x2corner = x2left;
    bbelow   = b;
  }
}

/* Vectors of red nodes: the next grid's right-hand side at cell (u, v). above: r1 above the last row, NULL: there is none */
template <class V>
static __device__ __forceinline__ void RRBReducedForward(const PolderRRBStep &s, const PetscScalar *r, PetscInt u, PetscInt v, const PetscScalar *above)
{
  const PetscInt     P = s.g.pitch, hx = s.g.hx, nx2 = s.g.nx / 2;
  const V           *c  = (const V *)s.c + ((ptrdiff_t)s.g.origin + (ptrdiff_t)v * P + u);
  const PetscScalar *r1 = r + ((size_t)v * hx + u), *r2 = r + ((size_t)hx * (size_t)s.g.hy + (size_t)v * nx2 + u);
  const bool         east = u + 1 < hx, inside = v + 1 < s.g.hy, north = inside || above;
  const PetscScalar *n1 = inside ? r1 + hx : above + u;
  const double       ne = C(RRB_R1NE, true), nw = C_AT(RRB_R1NW, east, 1), se = C_AT(RRB_R1SE, north, P), sw = C_AT(RRB_R1SW, north && east, P + 1);
  const double       x = r1[0], xe = east ? r1[1] : 0.0, xn = north ? n1[0] : 0.0, xne = north && east ? n1[1] : 0.0;

  s.rnext[(size_t)v * s.ldnext + u] = r2[0] - (ne * x + nw * xe + se * xn + sw * xne);
}

/* Red nodes of cell (u, v) of z; part += their contributions to (r, z) and to the sum of z. below: the next grid's solution goes on below row 0 */
template <class V>
static __device__ __forceinline__ void RRBReducedBackward(const PolderRRBStep &s, const PetscScalar *r, PetscScalar *z, PetscInt u, PetscInt v, bool below,
                                                          double (&part)[2])
{
  const PetscInt     hx = s.g.hx, nx2 = s.g.nx / 2, ny2 = s.g.ny / 2;
  const V           *c   = (const V *)s.c + ((ptrdiff_t)s.g.origin + (ptrdiff_t)v * s.g.pitch + u);
  const PetscScalar *x2  = s.xnext + ((ptrdiff_t)v * s.ldnext + u);
  const size_t       at1 = (size_t)v * hx + u, at2 = (size_t)hx * (size_t)s.g.hy + (size_t)v * nx2 + u;
  const bool         here = u < nx2 && v<ny2, west = u> 0 && v<ny2, lower = v> 0 || below, south = u < nx2 && lower, corner = u > 0 && lower;
  const double       d = C(RRB_R1D, true), ne = C(RRB_R1NE, here), nw = C(RRB_R1NW, west), se = C(RRB_R1SE, south), sw = C(RRB_R1SW, corner);
  const double       x = here ? x2[0] : 0.0, xw = west ? x2[-1] : 0.0, xs = south ? x2[-s.ldnext] : 0.0, xsw = corner ? x2[-s.ldnext - 1] : 0.0;
  const double       r1 = r[at1], r2 = here ? r[at2] : 0.0, x1 = r1 * d - (ne * x + nw * xw + se * xs + sw * xsw);

  z[at1] = x1;
  if (here) z[at2] = x;
  part[0] += r1 * x1 + r2 * x;
  part[1] += x1 + x;
}

/* Grids, the rest, and the passes over them */
struct RRBSmall {
  bool               cluster;
  PetscInt           ngrid, n, ld, npass, base, fetch; /* fetch: the pass that prefetches the inverse; npass: none */
  const PetscScalar *inverse, *b;
  PetscScalar       *x;
  PolderRRBStep      step[POLDER_RRB_SMALL_GRIDS];
  PolderRRBPass      pass[POLDER_RRB_PASSES];
};

/* *a <- the system; its passes are there if it has no more than fit */
static inline bool RRBSmallFill(const PolderRRBSystem &system, RRBSmall *a)
{
  if (system.ngrid > POLDER_RRB_SMALL_GRIDS || system.npass > POLDER_RRB_PASSES) return false;
  a->ngrid   = system.ngrid;
  a->n       = system.n;
  a->ld      = system.ld;
  a->npass   = system.npass;
  a->fetch   = system.npass;
  a->base    = system.base;
  a->inverse = system.inverse;
  a->b       = system.b;
  a->x       = system.x;
  for (PetscInt k = 0; k < system.ngrid; ++k) a->step[k] = system.step[k];
  for (PetscInt k = 0; k < system.npass; ++k) a->pass[k] = system.pass[k];
  return true;
}

/* Prefetches into the second-level cache, by all threads of the grid */
static __device__ __forceinline__ void RRBPrefetch(const void *a, size_t bytes)
{
#if defined(__CUDA_ARCH__)
  for (size_t k = 128 * ((size_t)blockIdx.x * blockDim.x + threadIdx.x); k < bytes; k += (size_t)128 * gridDim.x * blockDim.x)
    asm volatile("prefetch.global.L2 [%0];" ::"l"((const char *)a + k));
#endif
}

/* Prefetches the inverse of the rest, unless it takes much of that cache */
static __device__ __forceinline__ void RRBPrefetchRest(const RRBSmall &a)
{
  if (a.n <= POLDER_RRB_SMALL_REST) RRBPrefetch(a.inverse, sizeof(PetscScalar) * (size_t)a.n * (size_t)a.ld);
}

/* The warps that share a pass, and the number of this one; a block that does not take part has none */
struct RRBCrew {
  bool     alone; /* only the first block takes part */
  PetscInt warp, warps;
};

/* Consecutive numbers are on different multiprocessors */
static __device__ __forceinline__ RRBCrew RRBAll(void)
{
  return {false, (PetscInt)(threadIdx.x / 32 * gridDim.x + blockIdx.x), (PetscInt)(gridDim.x * (blockDim.x / 32))};
}

/* A pass with at most this many items for each warp of one block is done by one block: a barrier of all blocks would take longer */
#define RRB_ALONE 2

static __device__ __forceinline__ RRBCrew RRBCrewFor(PetscInt things)
{
  const PetscInt warps = (PetscInt)(blockDim.x / 32);

  if (things > RRB_ALONE * warps) return RRBAll();
  return {true, blockIdx.x ? PETSC_MAX_INT : (PetscInt)(threadIdx.x / 32), warps};
}

static __device__ __forceinline__ RRBCrew RRBCrewFor(const PolderRRBGrid &g)
{
  return RRBCrewFor(RRBCut(g, 1).count);
}

/* x <- inverse b, one row a warp */
static __device__ __forceinline__ void RRBRest(const RRBSmall &a, const RRBCrew &crew)
{
  for (PetscInt i = crew.warp; i < a.n; i += crew.warps) {
    const double sum = PolderDenseRow(a.n, a.inverse + (size_t)i * a.ld, a.b, [] {});

    if (threadIdx.x % 32 == 0) a.x[i] = sum;
  }
}

/* The second visit of a grid: node after node */
template <class Body>
static __device__ __forceinline__ void RRBNodes(const PolderRRBPlane &g, const RRBCrew &crew, Body body)
{
  if (crew.warp == PETSC_MAX_INT) return;
  for (PetscInt i = crew.warp * 32 + threadIdx.x % 32; i < g.nx * g.ny; i += crew.warps * 32) {
    const PetscInt y = i / g.nx;

    body((ptrdiff_t)y * g.pitch + (i - y * g.nx));
  }
}

static __device__ __forceinline__ void RRBResidual(const PolderRRBStep &s, const RRBCrew &crew)
{
  RRBNodes(s.plane, crew, [&](ptrdiff_t p) { s.d[p] = s.r[p] - s.length[0] * PolderRRBNine(s.plane.size, s.plane.pitch, s.a, s.v, p); });
}

static __device__ __forceinline__ void RRBCombine(const PolderRRBStep &s, const RRBCrew &crew)
{
  RRBNodes(s.plane, crew, [&](ptrdiff_t p) { s.x[p] = s.length[0] * s.v[p] + s.length[1] * s.x[p]; });
}

template <class V>
static __device__ __forceinline__ void RRBPass(const RRBSmall &a, const PolderRRBPass &pass, const RRBCrew &crew)
{
  if (pass.type == RRB_PASS_REST) {
    RRBRest(a, crew);
    return;
  }
  const PolderRRBStep &step = a.step[pass.grid - a.base];

  if (pass.type == RRB_PASS_RESIDUAL) RRBResidual(step, crew);
  else if (pass.type == RRB_PASS_COMBINE) RRBCombine(step, crew);
  else {
    const PolderRRBStep s   = PolderRRBVisitStep(step, pass.visit);
    const RRBStrips     cut = RRBShare(s.g, crew.warps, 1);
    double              part[2];

    for (PetscInt i = crew.warp; i < cut.count; i += crew.warps) {
      const PetscInt v0 = i / cut.tiles * cut.steps, v1 = min(v0 + cut.steps, s.g.hy);

      if (pass.type == RRB_PASS_FORWARD) RRBForward<V>(s, i % cut.tiles, v0, v1);
      else RRBBackward<false, V>(s, i % cut.tiles, v0, v1, part);
    }
  }
}

/* All passes, by all warps of the grid, with sync() as barrier */
template <class V, class Sync>
static __device__ __forceinline__ void RRBSweeps(const RRBSmall &a, Sync sync)
{
  bool before = false;

  for (PetscInt i = 0; i < a.npass; ++i) {
    const PolderRRBPass pass = a.pass[i];
    const RRBCrew       crew = pass.type == RRB_PASS_REST ? RRBCrewFor(a.n) : RRBCrewFor(a.step[pass.grid - a.base].g);

    if (i && !(before && crew.alone)) sync();
    else if (i && blockIdx.x == 0) __syncthreads();
    if (i == a.fetch) RRBPrefetchRest(a);
    RRBPass<V>(a, pass, crew);
    before = crew.alone;
  }
}

#undef C
#undef C_AT

#define A(f, when) ((when) ? __ldg(&a[(size_t)(f)*s]) : 0.0)
#define X(i)       (FRESH ? __ldcg(&x[i]) : __ldg(&x[i]))

/*
  Rows v0 <= v < v1 of S x in a strip, for r1 and r2, in the manner of the sweeps: the sums that a row contributes to the next one are kept. part += their
  contributions to (x, S x). FRESH: this kernel has computed x. PART: g is a part of a grid, and what x is beyond it is in `ends`.
*/
template <bool DOT, bool FRESH, bool PART>
static __device__ __forceinline__ void RRBReducedMult(const PolderRRBGrid &g, PolderRRBEnds ends, PetscInt tile, PetscInt v0, PetscInt v1,
                                                      const PetscScalar *__restrict__ a, const PetscScalar *x, PetscScalar *__restrict__ y, double &part)
{
  const size_t   s = g.size, n1 = (size_t)g.hx * (size_t)g.hy;
  const int      lane = threadIdx.x % 32;
  const PetscInt u = tile * RRB_WIDTH - 1 + lane, hx = g.hx, h2 = g.nx / 2, k2 = g.ny / 2;
  const bool     in1 = u >= 0 && u < hx, in2 = u >= 0 && u < h2, mine1 = in1 && lane > 0 && lane < 31, mine2 = in2 && mine1;
  double         sum1 = 0, sum2 = 0, n1e = 0, n2e = 0, south1 = 0, south2 = 0, x1below = 0, x2below = 0,
         x2corner = 0; /* of the row below: sums, couplings to the N, contributions to this row, values */

  a += (ptrdiff_t)g.origin + (ptrdiff_t)(v0 - 1) * g.pitch + u;
  if (PART && v0 == 0 && ends.below) {
    if (in2) x2below = ends.below[hx + u];
    if (in1) south1 = A(RRB_S1N, true) * ends.below[u];
    if (in2) south2 = A(RRB_S2N, true) * x2below;
  }
  if (v0 > 0) {
    if (in2 && v0 - 1 < k2) x2below = X(n1 + (size_t)(v0 - 1) * h2 + u);
    if (in1) south1 = A(RRB_S1N, true) * X((size_t)(v0 - 1) * hx + u);
    if (in2) south2 = A(RRB_S2N, true) * x2below;
  }
  x2corner = __shfl_up_sync(0xffffffffu, x2below, 1);
  a += g.pitch;
#pragma unroll 2
  for (PetscInt v = v0; v <= v1; ++v, a += g.pitch) {
    const bool   beyond = PART && v == g.hy && ends.above;
    const bool   on1 = in1 && (v < g.hy || beyond), on2 = in2 && (v < k2 || beyond), more1 = on1 && v < v1, more2 = on2 && v < v1;
    const double x1 = !on1 ? 0.0 : beyond ? ends.above[u] : X((size_t)v * hx + u), x2 = !on2 ? 0.0 : beyond ? ends.above[hx + u] : X(n1 + (size_t)v * h2 + u);
    const double se = A(RRB_S1SE, on1), sw = A(RRB_S1SW, on1), ne = A(RRB_S1NE, more1), nw = A(RRB_S1NW, more1);
    const double d1 = A(RRB_S1D, more1), e1 = A(RRB_S1E, more1), up1 = A(RRB_S1N, more1), d2 = A(RRB_S2D, more2), e2 = A(RRB_S2E, more2),
                 up2   = A(RRB_S2N, more2);
    const double right = __shfl_down_sync(0xffffffffu, sw * x1, 1), x2left = __shfl_up_sync(0xffffffffu, x2, 1);

    sum1 += n1e * x1;
    sum2 += n2e * x2 + se * x1 + right;
    if (v > v0 && mine1) y[(size_t)(v - 1) * hx + u] = sum1;
    if (v > v0 && mine2 && v - 1 < k2) y[n1 + (size_t)(v - 1) * h2 + u] = sum2;
    if (DOT && v > v0 && mine1) part += x1below * sum1 + (mine2 ? x2below * sum2 : 0.0);
    sum1 = d1 * x1 + (e1 * __shfl_down_sync(0xffffffffu, x1, 1) + __shfl_up_sync(0xffffffffu, e1 * x1, 1) + south1) +
           (ne * x2 + se * x2below + sw * x2corner + nw * x2left);
    sum2 = d2 * x2 + (e2 * __shfl_down_sync(0xffffffffu, x2, 1) + __shfl_up_sync(0xffffffffu, e2 * x2, 1) + south2) +
           (ne * x1 + __shfl_down_sync(0xffffffffu, nw * x1, 1));
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
#undef X
