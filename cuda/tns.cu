/* Triangular sweeps of the truncated Neumann series: V is the type of the entries of the matrix and of the inverse diagonal, double or float. */
#include "cg.cuh"
#include "stencil.cuh"
#include "module.cuh"
#include "kernels/tns.h"

/* Diagonals of one launch */
#define TRI_BATCH 32

/*
  Fused pairs: threads of a block and resident blocks, limited by registers; rows of a tile (lanes, without the two that only load values for neighbours);
  lines of a tile with 7 points; lines loaded before the first is used, with 7 and with 5 points
*/
#define TRI_BLOCK 128
#define TRI_FIT   3
#define TRI_WIDTH 30
#define TRI_LINES 8
#define TRI_GROUP 10
#define TRI_AHEAD 8

/* Minimum number of lines (planes with 7 points) of a warp, which begins two of them before its first */
#define TRI_STEPS 8

template <class V>
struct TriArgs {
  PetscInt nd;
  PetscInt off[TRI_BATCH];
  const V *val[TRI_BATCH];
};

/* y = c - dinv (T x); c = NULL and x = NULL stand for dinv r; ND = 0: any number of diagonals */
template <int ND, class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderTriSweepDIAKernel(PetscInt m, const __grid_constant__ TriArgs<V>        T, const V *__restrict__ dinv,
                                                                        const PetscScalar *__restrict__ r, const PetscScalar *c,
                                                                        const PetscScalar *__restrict__ x, PetscScalar       *y)
{
  PolderBegin();
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x, nd = ND ? ND : T.nd;
  PetscScalar    s = 0;

  if (i >= m) return;
#pragma unroll(ND ? ND : 4)
  for (PetscInt d = 0; d < nd; ++d) {
    const PetscInt j = i + T.off[d];

    if (j >= 0 && j < m) s += (PetscScalar)T.val[d][i] * (x ? x[j] : (PetscScalar)dinv[j] * r[j]);
  }
  y[i] = (c ? c[i] : (PetscScalar)dinv[i] * r[i]) - (PetscScalar)dinv[i] * s;
}

template <class V>
static int TriSweepDIALaunch(const PolderTriangle *T, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[], cudaStream_t stream)
{
  const PetscInt     m = T->m, nd = T->nd;
  const unsigned int blocks = PolderBlocks(m, POLDER_BLOCK);
  const V           *dinv   = (const V *)T->dinv;

  if (!m) return (int)cudaGetLastError();
  for (PetscInt first = 0; first == 0 || first < nd; first += TRI_BATCH) {
    const PetscScalar *cc = first ? y : c;
    TriArgs<V>         some;

    some.nd = PetscMin(nd - first, TRI_BATCH);
    for (PetscInt d = 0; d < some.nd; ++d) {
      some.off[d] = T->off[first + d];
      some.val[d] = (const V *)T->val[first + d];
    }
    if (nd == 2) PolderLaunchEarly(PolderTriSweepDIAKernel<2, V>, blocks, POLDER_BLOCK, stream, m, some, dinv, r, cc, x, y);
    else if (nd == 3) PolderLaunchEarly(PolderTriSweepDIAKernel<3, V>, blocks, POLDER_BLOCK, stream, m, some, dinv, r, cc, x, y);
    else PolderLaunchEarly(PolderTriSweepDIAKernel<0, V>, blocks, POLDER_BLOCK, stream, m, some, dinv, r, cc, x, y);
  }
  return (int)cudaGetLastError();
}

int PolderTriSweepDIA_CUDA(const PolderTriangle *T, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[], PolderStream stream)
{
  return T->single ? TriSweepDIALaunch<float>(T, r, c, x, y, stream) : TriSweepDIALaunch<PetscScalar>(T, r, c, x, y, stream);
}

/*
  Two sweeps at once on the grid of a 5- or 7-point stencil, z = c - dinv (T (c - dinv (T c))). Rows are numbered so that T reads smaller numbers: k is row k
  for the lower triangle, where c = dinv in, and row m - 1 - k for the upper one, where c = in.
  A warp has TRI_WIDTH rows of a line, preceded by two more, for which it recomputes c and the first sweep, so that neighbour k - 1 is one shuffle away. The
  values of the line before (k - near) and of the plane before (k - far) stay in registers on the way through the grid. Only row numbers matter: line and
  plane ends need no special treatment.
*/
template <class V>
struct TriGrid {
  PetscInt                m, near, far; /* near = far: 5 points, one line a step */
  PetscInt                tiles[2], warps, chunk;
  const V                *val[3], *dinv; /* neighbours k - 1, k - near, k - far */
  const unsigned char    *code;          /* NULL, or the classes of the rows */
  const PolderDiaClasses *classes;
  const PetscScalar      *in;
  PetscScalar            *z, *x; /* TRI_DIRECTION: z is p */
  PolderCGState          *state;
};

/* Output of z: it is stored; stored with the sum (z, z / dinv); or used for the direction of conjugate gradients, whose elements are summed */
enum TriAct {
  TRI_STORE,
  TRI_DOT,
  TRI_FIRST,
  TRI_DIRECTION
};

struct TriScalars {
  PetscScalar alpha, beta, mean;

  template <class V>
  __device__ explicit TriScalars(const TriGrid<V> &A, bool direction) :
    alpha(direction ? A.state->alpha : 0), beta(direction ? A.state->beta : 0), mean(direction ? A.state->pmean : 0)
  {
  }
};

/* p, x: their old elements, if ACT is TRI_DIRECTION */
template <TriAct ACT, class V>
__device__ __forceinline__ void TriPut(const TriGrid<V> &A, const TriScalars &s, PetscInt i, PetscScalar z, PetscScalar d, PetscScalar p, PetscScalar x,
                                       PetscScalar &part)
{
  if (ACT == TRI_DIRECTION) {
    A.x[i] = x + s.alpha * p;
    z += s.beta * (p - s.mean);
  }
  A.z[i] = z;
  if (ACT == TRI_DOT) part += z * (z / d);
  if (ACT == TRI_FIRST || ACT == TRI_DIRECTION) part += z;
}

template <TriAct ACT, class V>
__device__ __forceinline__ void TriSum(const TriGrid<V> &A, PetscScalar part, const PolderCGRho &rho, PolderReduceScratch *scratch)
{
  double sum[1] = {part};

  if (ACT == TRI_STORE) return;
  PolderGridSum<TRI_BLOCK>(sum, scratch, [=](const double(&total)[1]) {
    if (ACT == TRI_DOT) {
      rho.state->sum[1] = total[0];
      if (!rho.state->parallel) PolderCGSetRho(rho.state, rho.first, PETSC_TRUE);
    } else A.state->pmean = A.state->parallel ? total[0] : A.state->nullspace ? total[0] / A.state->N : 0;
  });
}

/* The inverse diagonal and the N entries of row i in the triangle: those of number k - 1, k - near and k - far; some: the entries are needed */
template <bool CHECK, bool UPPER, bool CLASSED, int N, class V>
__device__ __forceinline__ void TriEntries(const TriGrid<V> &A, int64_t k, PetscInt i, int code, bool some, V &d, V (&v)[N])
{
  if (CLASSED && code != POLDER_DIA_CLASSLESS) {
    V a[POLDER_DIA_WIDTH];

    DiaTableRow(A.classes, code, a); // loads only what is used
    d = a[POLDER_DIA_INVERSE];
#pragma unroll
    for (int n = 0; n < N; ++n) v[n] = a[UPPER ? N + 1 + n : N - 1 - n];
  } else {
    d = A.dinv[i];
#pragma unroll
    for (int n = 0; n < N; ++n) v[n] = some && (!CHECK || k >= (n == 0 ? 1 : n == 1 ? A.near : A.far)) ? A.val[n][i] : (V)0;
  }
}

/* The part of a step that a lane has: its first row, its number, lines of the tile; ready: 0: compute c only; 1: c and the first sweep; 2: both sweeps */
struct TriTile {
  int64_t k0;
  int     lane, lines, ready;
};

/* All lines of a tile in the planes of one step; y0[j], y1[j]: c and the first sweep of line j in the plane before */
template <bool CHECK, bool UPPER, TriAct ACT, bool CLASSED, class V>
__device__ __forceinline__ void TriPlane(const TriGrid<V> &A, const TriScalars &scalars, const TriTile &tile, PetscScalar (&y0)[TRI_LINES + 2],
                                         PetscScalar (&y1)[TRI_LINES + 2], PetscScalar &part)
{
  const int64_t k0   = tile.k0;
  const int     lane = tile.lane, lines = tile.lines, ready = tile.ready;
  constexpr int GROUP   = ACT == TRI_DIRECTION ? TRI_GROUP / 2 : TRI_GROUP; // limited by the registers
  PetscScalar   before0 = 0, before1 = 0;                                   /* of the line before */

#pragma unroll
  for (int g = 0; g < TRI_LINES + 2; g += GROUP) {
    PetscScalar in[GROUP], p[GROUP], x[GROUP];
    V           d[GROUP] = {}, v[GROUP][3] = {};
    int         code[GROUP];
    const auto  there = [&](int64_t k, int l) { return g + l < lines && (!CHECK || (k >= 0 && k < A.m)); };

#pragma unroll
    for (int l = 0; l < GROUP; ++l) {
      const int64_t  k    = k0 + (int64_t)(g + l) * A.near;
      const bool     read = there(k, l), put = ACT == TRI_DIRECTION && read && g + l > 1 && lane > 1 && (!CHECK || ready > 1);
      const PetscInt i = UPPER ? A.m - 1 - (PetscInt)k : (PetscInt)k;

      code[l] = CLASSED && read ? A.code[i] : 0;
      in[l]   = read ? A.in[i] : 0;
      p[l]    = put ? A.z[i] : 0;
      x[l]    = put ? A.x[i] : 0;
    }
#pragma unroll
    for (int l = 0; l < GROUP; ++l) {
      const int64_t k = k0 + (int64_t)(g + l) * A.near;

      if (there(k, l))
        TriEntries<CHECK, UPPER, CLASSED>(A, k, UPPER ? A.m - 1 - (PetscInt)k : (PetscInt)k, code[l], g + l > 0 && (!CHECK || ready > 0), d[l], v[l]);
    }
#pragma unroll
    for (int l = 0; l < GROUP; ++l) {
      const int         j  = g + l;
      const PetscScalar d0 = (PetscScalar)d[l], a = (PetscScalar)v[l][0], b = (PetscScalar)v[l][1], c = (PetscScalar)v[l][2];
      const PetscScalar now0 = UPPER ? in[l] : d0 * in[l];
      const PetscScalar now1 = now0 - d0 * (c * y0[j] + b * before0 + a * __shfl_up_sync(0xffffffffu, now0, 1));
      const PetscScalar now2 = now0 - d0 * (c * y1[j] + b * before1 + a * __shfl_up_sync(0xffffffffu, now1, 1));

      if (j > 1 && (!CHECK || ready > 1) && lane > 1 && j < lines) {
        const int64_t k = k0 + (int64_t)j * A.near;

        if (!CHECK || k < A.m) TriPut<ACT>(A, scalars, UPPER ? A.m - 1 - (PetscInt)k : (PetscInt)k, now2, d0, p[l], x[l], part);
      }
      before0 = y0[j] = now0;
      before1 = y1[j] = now1;
    }
  }
}

template <bool UPPER, TriAct ACT, bool CLASSED, class V>
__global__ __launch_bounds__(TRI_BLOCK, TRI_FIT) void PolderTriPair7Kernel(const __grid_constant__ TriGrid<V> A, PolderCGRho rho, PolderReduceScratch *scratch)
{
  PolderBegin();
  const int   lane = threadIdx.x % 32, warp = (int)(blockIdx.x * (TRI_BLOCK / 32) + threadIdx.x / 32);
  PetscScalar part = 0;

  if (ACT >= TRI_FIRST && A.state->frozen) return;
  const TriScalars scalars(A, ACT == TRI_DIRECTION);

  if (warp < A.warps) {
    const PetscInt tile = warp % (A.tiles[0] * A.tiles[1]), first = warp / (A.tiles[0] * A.tiles[1]) * A.chunk;
    const PetscInt x0 = tile % A.tiles[0] * TRI_WIDTH - 2, line = tile / A.tiles[0] * TRI_LINES - 2, x = x0 + lane;
    const PetscInt steps = (PetscInt)(((int64_t)A.m + A.far - 1) / A.far), last = PetscMin(first + A.chunk, steps);
    const int      lines = x < A.near ? (int)PetscMin((A.far - 1 - x) / A.near - line + 1, TRI_LINES + 2) : 0; /* lines whose rows belong to the plane */
    PetscScalar    y0[TRI_LINES + 2] = {}, y1[TRI_LINES + 2] = {};

    for (PetscInt p = first - 2; p < last; ++p) {
      const int64_t k0 = (int64_t)p * A.far + (int64_t)line * A.near + x;

      if (p >= first && k0 - lane >= A.far && (int64_t)(p + 1) * A.far <= A.m)
        TriPlane<false, UPPER, ACT, CLASSED>(A, scalars, {k0, lane, lines, 2}, y0, y1, part);
      else TriPlane<true, UPPER, ACT, CLASSED>(A, scalars, {k0, lane, lines, (int)(p - first + 2)}, y0, y1, part);
    }
  }
  TriSum<ACT>(A, part, rho, scratch);
}

/* The part of TRI_AHEAD lines that a lane has: its first row, its number, is there such a row in a line? wait: number of lines before the first output */
struct TriStretch {
  int64_t k0;
  int     lane;
  bool    inside;
  int     wait, lines;
};

/* TRI_AHEAD lines; y0, y1: c and the first sweep of the line before */
template <bool CHECK, bool UPPER, TriAct ACT, bool CLASSED, class V>
__device__ __forceinline__ void TriLines(const TriGrid<V> &A, const TriScalars &scalars, const TriStretch &stretch, PetscScalar &y0, PetscScalar &y1,
                                         PetscScalar &part)
{
  const int64_t k0   = stretch.k0;
  const int     lane = stretch.lane, wait = stretch.wait, lines = stretch.lines;
  const bool    inside = stretch.inside;
  PetscScalar   in[TRI_AHEAD], p[TRI_AHEAD], x[TRI_AHEAD];
  V             d[TRI_AHEAD] = {}, v[TRI_AHEAD][2] = {};
  int           code[TRI_AHEAD];
  const auto    there = [&](int64_t k) { return inside && (!CHECK || (k >= 0 && k < A.m)); };

#pragma unroll
  for (int l = 0; l < TRI_AHEAD; ++l) {
    const int64_t  k    = k0 + (int64_t)l * A.far;
    const bool     read = there(k), put = ACT == TRI_DIRECTION && read && lane > 1 && (!CHECK || (l >= wait && l < lines));
    const PetscInt i = UPPER ? A.m - 1 - (PetscInt)k : (PetscInt)k;

    code[l] = CLASSED && read ? A.code[i] : 0;
    in[l]   = read ? A.in[i] : 0;
    p[l]    = put ? A.z[i] : 0;
    x[l]    = put ? A.x[i] : 0;
  }
#pragma unroll
  for (int l = 0; l < TRI_AHEAD; ++l) {
    const int64_t k = k0 + (int64_t)l * A.far;

    if (there(k)) TriEntries<CHECK, UPPER, CLASSED>(A, k, UPPER ? A.m - 1 - (PetscInt)k : (PetscInt)k, code[l], true, d[l], v[l]);
  }
#pragma unroll
  for (int l = 0; l < TRI_AHEAD; ++l) {
    const PetscScalar d0 = (PetscScalar)d[l], a = (PetscScalar)v[l][0], b = (PetscScalar)v[l][1];
    const PetscScalar now0 = UPPER ? in[l] : d0 * in[l];
    const PetscScalar now1 = now0 - d0 * (b * y0 + a * __shfl_up_sync(0xffffffffu, now0, 1));
    const PetscScalar now2 = now0 - d0 * (b * y1 + a * __shfl_up_sync(0xffffffffu, now1, 1));

    if (inside && lane > 1 && (!CHECK || (l >= wait && l < lines))) {
      const int64_t k = k0 + (int64_t)l * A.far;

      if (!CHECK || k < A.m) TriPut<ACT>(A, scalars, UPPER ? A.m - 1 - (PetscInt)k : (PetscInt)k, now2, d0, p[l], x[l], part);
    }
    y0 = now0;
    y1 = now1;
  }
}

template <bool UPPER, TriAct ACT, bool CLASSED, class V>
__global__ __launch_bounds__(TRI_BLOCK, TRI_FIT) void PolderTriPair5Kernel(const __grid_constant__ TriGrid<V> A, PolderCGRho rho, PolderReduceScratch *scratch)
{
  PolderBegin();
  const int   lane = threadIdx.x % 32, warp = (int)(blockIdx.x * (TRI_BLOCK / 32) + threadIdx.x / 32);
  PetscScalar part = 0;

  if (ACT >= TRI_FIRST && A.state->frozen) return;
  const TriScalars scalars(A, ACT == TRI_DIRECTION);

  if (warp < A.warps) {
    const PetscInt x = warp % A.tiles[0] * TRI_WIDTH - 2 + lane, first = warp / A.tiles[0] * A.chunk;
    const PetscInt steps = (PetscInt)(((int64_t)A.m + A.far - 1) / A.far), last = PetscMin(first + A.chunk, steps);
    PetscScalar    y0 = 0, y1 = 0;

    for (PetscInt p = first - 2; p < last; p += TRI_AHEAD) {
      const int64_t k0 = (int64_t)p * A.far + x;

      if (p >= first && k0 - lane >= A.far && p + TRI_AHEAD <= last && (int64_t)(p + TRI_AHEAD) * A.far <= A.m)
        TriLines<false, UPPER, ACT, CLASSED>(A, scalars, {k0, lane, x < A.far, 0, TRI_AHEAD}, y0, y1, part);
      else TriLines<true, UPPER, ACT, CLASSED>(A, scalars, {k0, lane, x < A.far, (int)(first - p), (int)(last - p)}, y0, y1, part);
    }
  }
  TriSum<ACT>(A, part, rho, scratch);
}

/* Vectors p and x of the fused direction; NULL: not fused */
struct TriDirection {
  bool           first;
  PetscScalar   *x;
  PolderCGState *state;
};

template <bool UPPER, TriAct ACT, class V>
static void TriPairStart(PetscInt nd, unsigned int blocks, const TriGrid<V> &A, const PolderCGRho &rho, PolderReduceScratch *scratch, cudaStream_t stream)
{
  if (nd == 3 && A.code) PolderLaunchEarly(PolderTriPair7Kernel<UPPER, ACT, true, V>, blocks, TRI_BLOCK, stream, A, rho, scratch);
  else if (nd == 3) PolderLaunchEarly(PolderTriPair7Kernel<UPPER, ACT, false, V>, blocks, TRI_BLOCK, stream, A, rho, scratch);
  else if (A.code) PolderLaunchEarly(PolderTriPair5Kernel<UPPER, ACT, true, V>, blocks, TRI_BLOCK, stream, A, rho, scratch);
  else PolderLaunchEarly(PolderTriPair5Kernel<UPPER, ACT, false, V>, blocks, TRI_BLOCK, stream, A, rho, scratch);
}

template <class V>
static int TriPairLaunch(const PolderTriangle *T, const PetscScalar in[], PetscScalar z[], const PolderCGRho *rho, const TriDirection *direction, void *work,
                         cudaStream_t stream)
{
  const bool           upper = T->off[0] > 0;
  const PetscInt       m = T->m, nd = T->nd, *off = T->off;
  PolderReduceScratch *scratch = (PolderReduceScratch *)work;
  const PolderCGRho    to      = rho ? *rho : PolderCGRho{NULL, PETSC_FALSE};
  TriGrid<V>           A;
  int64_t              tiles, steps, chunks, most;
  unsigned int         blocks;

  if (!m) return (int)(rho ? cudaMemsetAsync(&to.state->sum[1], 0, sizeof(PetscScalar), stream) : cudaGetLastError());
  for (PetscInt d = 0; d < nd; ++d) A.val[upper ? d : nd - 1 - d] = (const V *)T->val[d];
  A.code     = T->code;
  A.classes  = T->classes;
  A.m        = m;
  A.near     = upper ? off[1] : -off[nd - 2];
  A.far      = upper ? off[nd - 1] : -off[0];
  A.dinv     = (const V *)T->dinv;
  A.in       = in;
  A.z        = z;
  A.x        = direction ? direction->x : NULL;
  A.state    = direction ? direction->state : NULL;
  A.tiles[0] = ((nd == 3 ? A.near : A.far) + TRI_WIDTH - 1) / TRI_WIDTH;
  A.tiles[1] = nd == 3 ? ((A.far + A.near - 1) / A.near + TRI_LINES - 1) / TRI_LINES : 1;
  tiles      = (int64_t)A.tiles[0] * A.tiles[1];
  steps      = ((int64_t)m + A.far - 1) / A.far;
  most       = (int64_t)PolderMultiprocessors() * TRI_FIT * (TRI_BLOCK / 32) / tiles;
  chunks     = PetscMax(PetscMin(most, steps / TRI_STEPS), 1);
  A.chunk    = (PetscInt)((steps + chunks - 1) / chunks);
  chunks     = (steps + A.chunk - 1) / A.chunk;
  A.warps    = (PetscInt)(tiles * chunks);
  blocks     = PolderBlocks(A.warps, TRI_BLOCK / 32);
  if (direction && direction->first) TriPairStart<true, TRI_FIRST>(nd, blocks, A, to, scratch, stream);
  else if (direction) TriPairStart<true, TRI_DIRECTION>(nd, blocks, A, to, scratch, stream);
  else if (upper) TriPairStart<true, TRI_STORE>(nd, blocks, A, to, scratch, stream);
  else if (rho) TriPairStart<false, TRI_DOT>(nd, blocks, A, to, scratch, stream);
  else TriPairStart<false, TRI_STORE>(nd, blocks, A, to, scratch, stream);
  return (int)cudaGetLastError();
}

int PolderTriPair_CUDA(const PolderTriangle *T, const PetscScalar in[], PetscScalar z[], const PolderCGRho *rho, void *work, PolderStream stream)
{
  return T->single ? TriPairLaunch<float>(T, in, z, rho, NULL, work, stream) : TriPairLaunch<PetscScalar>(T, in, z, rho, NULL, work, stream);
}

int PolderTriPairDirection_CUDA(const PolderTriangle *T, const PetscScalar in[], PetscBool first, PetscScalar p[], PetscScalar x[], PolderCGState *state,
                                void *work, PolderStream stream)
{
  const TriDirection direction = {(bool)first, x, state};

  return T->single ? TriPairLaunch<float>(T, in, p, NULL, &direction, work, stream) : TriPairLaunch<PetscScalar>(T, in, p, NULL, &direction, work, stream);
}

template <class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderTriScaleKernel(PetscInt m, const V *__restrict__ dinv, const PetscScalar *r, PetscScalar *y)
{
  PolderBegin();
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;

  if (i < m) y[i] = (PetscScalar)dinv[i] * r[i];
}

int PolderTriScale_CUDA(PetscBool single, PetscInt m, const void *dinv, const PetscScalar r[], PetscScalar y[], PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(m, POLDER_BLOCK);

  if (m && single) PolderLaunchEarly(PolderTriScaleKernel<float>, blocks, POLDER_BLOCK, stream, m, (const float *)dinv, r, y);
  else if (m) PolderLaunchEarly(PolderTriScaleKernel<PetscScalar>, blocks, POLDER_BLOCK, stream, m, (const PetscScalar *)dinv, r, y);
  return (int)cudaGetLastError();
}

/* The pattern of a triangle of compressed rows */
struct TriPattern {
  bool            upper;
  PetscInt        m;
  const PetscInt *i, *diag, *j;
};

/* LANES lanes of a warp share a row; their sums are added in a fixed order */
template <int LANES, class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderTriSweepCSRKernel(const TriPattern T, const V *__restrict__ aa, const V *__restrict__ dinv,
                                                                        const PetscScalar *__restrict__ r, const PetscScalar *c,
                                                                        const PetscScalar *__restrict__ x, PetscScalar       *y)
{
  PolderBegin();
  const PetscInt *__restrict__ ai = T.i, *__restrict__ diag = T.diag, *__restrict__ aj = T.j;
  const int      lane = threadIdx.x % LANES;
  const PetscInt i    = (PetscInt)(((int64_t)blockIdx.x * POLDER_BLOCK + threadIdx.x) / LANES);
  PetscScalar    s    = 0;

  if (i < T.m) {
    const PetscInt end = T.upper ? ai[i + 1] : diag[i];

    for (PetscInt k = (T.upper ? diag[i] + 1 : ai[i]) + lane; k < end; k += LANES) {
      const PetscInt j = aj[k];

      s += (PetscScalar)aa[k] * (x ? x[j] : (PetscScalar)dinv[j] * r[j]);
    }
  }
#pragma unroll
  for (int o = LANES / 2; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
  if (i < T.m && lane == 0) y[i] = (c ? c[i] : (PetscScalar)dinv[i] * r[i]) - (PetscScalar)dinv[i] * s;
}

template <class V>
static int TriSweepCSRLaunch(const PolderTriangle *T, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[], cudaStream_t stream)
{
  const PetscInt   m    = T->m;
  const TriPattern rows = {(bool)T->upper, m, T->i, T->diag, T->j};
  const V         *a = (const V *)T->a, *dinv = (const V *)T->dinv;

  if (!m) return (int)cudaGetLastError();
  if (T->nz / m < 12) PolderLaunchEarly(PolderTriSweepCSRKernel<2, V>, PolderBlocks(m, POLDER_BLOCK / 2), POLDER_BLOCK, stream, rows, a, dinv, r, c, x, y);
  else if (T->nz / m < 64) PolderLaunchEarly(PolderTriSweepCSRKernel<8, V>, PolderBlocks(m, POLDER_BLOCK / 8), POLDER_BLOCK, stream, rows, a, dinv, r, c, x, y);
  else PolderLaunchEarly(PolderTriSweepCSRKernel<32, V>, PolderBlocks(m, POLDER_BLOCK / 32), POLDER_BLOCK, stream, rows, a, dinv, r, c, x, y);
  return (int)cudaGetLastError();
}

int PolderTriSweepCSR_CUDA(const PolderTriangle *T, const PetscScalar r[], const PetscScalar c[], const PetscScalar x[], PetscScalar y[], PolderStream stream)
{
  return T->single ? TriSweepCSRLaunch<float>(T, r, c, x, y, stream) : TriSweepCSRLaunch<PetscScalar>(T, r, c, x, y, stream);
}

/* V: the type to which the off-diagonal entries are rounded */
template <class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderTriGhostsKernel(bool upper, PetscInt nlow, const PolderRows B, const V *__restrict__ dinv,
                                                                      const PetscScalar *__restrict__ ghost, PetscScalar *y)
{
  PolderBegin();
  const PetscInt *__restrict__ bi = B.i, *__restrict__ bj = B.j;
  const PetscScalar *__restrict__ ba = B.a;
  const PetscInt i                   = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PetscScalar    s                   = 0;
  PetscInt       end;

  if (i >= B.n) return;
  end = bi[i + 1];
  for (PetscInt k = bi[i]; k < end; ++k) {
    if ((bj[k] >= nlow) == upper) s += (PetscScalar)(V)ba[k] * ghost[bj[k]];
  }
  if (s != 0) y[i] -= (PetscScalar)dinv[i] * s;
}

int PolderTriGhosts_CUDA(const PolderTriangle *T, PetscInt nlow, PolderRows B, const PetscScalar ghost[], PetscScalar y[], PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(B.n, POLDER_BLOCK);

  if (B.n && T->single)
    PolderLaunchEarly(PolderTriGhostsKernel<float>, blocks, POLDER_BLOCK, stream, (bool)T->upper, nlow, B, (const float *)T->dinv, ghost, y);
  else if (B.n)
    PolderLaunchEarly(PolderTriGhostsKernel<PetscScalar>, blocks, POLDER_BLOCK, stream, (bool)T->upper, nlow, B, (const PetscScalar *)T->dinv, ghost, y);
  return (int)cudaGetLastError();
}

/* Does d have a positive and finite inverse in V? */
template <class V>
__device__ __forceinline__ bool TriInvert(PetscScalar d, V *dinv)
{
  *dinv = (V)(1.0 / d);
  return d > 0 && !isinf(d) && *dinv > 0 && !isinf(*dinv);
}

template <class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderTriInverseKernel(PetscInt m, const PetscInt *__restrict__ diag, const PetscScalar *__restrict__ aa,
                                                                       V *__restrict__ dinv, int *bad)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;

  if (i < m && !TriInvert(aa[diag ? diag[i] : i], dinv + i)) *bad = 1;
}

int PolderTriInverse_CUDA(PetscBool single, PetscInt m, const PetscInt diag[], const PetscScalar aa[], void *dinv, int *bad, PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(m, POLDER_BLOCK);

  if (m && single) PolderTriInverseKernel<<<blocks, POLDER_BLOCK, 0, stream>>>(m, diag, aa, (float *)dinv, bad);
  else if (m) PolderTriInverseKernel<<<blocks, POLDER_BLOCK, 0, stream>>>(m, diag, aa, (PetscScalar *)dinv, bad);
  return (int)cudaGetLastError();
}

__global__ __launch_bounds__(POLDER_BLOCK) void PolderTriDiagonalKernel(PetscInt m, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj,
                                                                        PetscInt *__restrict__ diag, int *bad)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PetscInt       at, before = -1;

  if (i >= m) return;
  at = -1;
  for (PetscInt k = ai[i], end = ai[i + 1]; k < end; ++k) {
    const PetscInt j = aj[k];

    if (j <= before) *bad = 1;
    if (j == i) at = k;
    before = j;
  }
  if (at < 0) *bad = 1;
  diag[i] = at < 0 ? ai[i] : at;
}

int PolderTriDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt diag[], int *bad, PolderStream stream)
{
  if (m) PolderTriDiagonalKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, ai, aj, diag, bad);
  return (int)cudaGetLastError();
}

POLDER_MODULE(TNS)
