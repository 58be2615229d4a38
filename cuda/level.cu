/*
  Kernels of a multigrid cycle on one level. V is the type of matrix and vectors, double or float. Sums of a K-cycle are in double precision and stay on the
  device.
*/
#include "kernels/levelscalars.h"
#include "stencil.cuh"
#include "kernels/level.h"

/* Maximum number of blocks of a kernel that also computes sums; resident blocks of a 5-point stencil, limited by registers */
#define LEVEL_BLOCKS 1056
#define LEVEL_FIT5   2

/* In single precision the sum of the row replaces the diagonal entry, and the other entries multiply x_j - x_i, see levelmatrix.h */
template <class V>
inline constexpr bool LevelSums = std::is_same_v<V, float>;

/* A matrix by diagonals; its entries are read once and evicted from the cache first */
template <class V>
struct LevelDia {
  static constexpr int LANES = 1;
  PetscInt             n, nd, lo, hi; /* rows lo <= i < hi have all columns */
  PetscInt             main;          /* the main diagonal */
  bool                 half;          /* the lower diagonals point into the upper ones */
  PetscInt             off[POLDER_LEVEL_DIAGONALS];
  const V             *val[POLDER_LEVEL_DIAGONALS];
};

/* ND = 0: any number of diagonals */
template <int ND, class V>
struct LevelDiagonals : LevelDia<V> {
  static constexpr int POINTS = ND;

  template <class X>
  __device__ __forceinline__ V row(PetscInt i, int, const X &x) const
  {
    const PetscInt nd   = ND ? ND : this->nd;
    const V        own  = LevelSums<V> ? x(i) : 0;
    const auto     less = [&](PetscInt d) { return LevelSums<V> && d != this->main ? own : (V)0; };
    V              s    = 0;

    if (i < this->lo || i >= this->hi) {
#pragma unroll(ND ? ND : 1)
      for (PetscInt d = 0; d < nd; ++d) {
        const PetscInt j = i + this->off[d];

        if (j >= 0 && j < this->n) s += this->val[d][i] * (x(j) - less(d));
      }
    } else if (!this->half) {
#pragma unroll(ND ? ND : 4)
      for (PetscInt d = 0; d < nd; ++d) s += __ldcs(this->val[d] + i) * (x(i + this->off[d]) - less(d));
    } else {
#pragma unroll(ND ? ND : 4)
      for (PetscInt d = 0; d < nd; ++d) s += (ND && d == ND / 2 ? __ldcs(this->val[d] + i) : __ldg(this->val[d] + i)) * (x(i + this->off[d]) - less(d));
    }
    return s;
  }
};

/* W threads for each row, which load several entries before they use the first */
template <int W, class V>
struct LevelRows {
  static constexpr int LANES = W, POINTS = 0, AHEAD = W == 1 ? 8 : 4;
  PetscInt             n;
  const PetscInt      *ai, *aj;
  const V             *aa;

  template <class X>
  __device__ __forceinline__ V row(PetscInt i, int lane, const X &x) const
  {
    const PetscInt end = __ldg(ai + i + 1);
    const V        own = LevelSums<V> ? x(i) : 0;
    V              s   = 0;

    for (PetscInt e = __ldg(ai + i) + lane; e < end; e += AHEAD * W) {
      PetscInt j[AHEAD];
      V        a[AHEAD];

#pragma unroll
      for (int k = 0; k < AHEAD; ++k) {
        const bool there = k * W < end - e;

        j[k] = there ? __ldg(aj + e + k * W) : i;
        a[k] = there ? __ldg(aa + e + k * W) : (V)0;
      }
#pragma unroll
      for (int k = 0; k < AHEAD; ++k) s += a[k] * (x(j[k]) - (LevelSums<V> && j[k] != i ? own : 0));
    }
    return s;
  }
};

/* The input vector of a product: one in memory, start D^-1 b, or the start of the power method */
template <class V>
struct LevelVector {
  const V *x;

  __device__ __forceinline__ V operator()(PetscInt i) const { return __ldg(x + i); }
};

template <class V>
struct LevelBegun {
  V        start;
  const V *dinv, *b;

  __device__ __forceinline__ V operator()(PetscInt i) const { return start * __ldg(dinv + i) * __ldg(b + i); }
};

template <class V>
struct LevelSeed {
  __device__ __forceinline__ V operator()(PetscInt i) const { return (V)PolderPowerStart(i); }
};

/* A vector in memory that is being written, though never where another thread reads */
template <class V>
struct LevelShared {
  const V *x;

  __device__ __forceinline__ V operator()(PetscInt i) const { return x[i]; }
};

/* The term of a step before x: none, zero, y, or start D^-1 b */
enum LevelBefore {
  LEVEL_NOTHING,
  LEVEL_ZERO,
  LEVEL_Y,
  LEVEL_BEGUN
};

/* Output of s = (row i of A) x, given x of row i; it adds SUMS sums over the rows */
template <class V>
struct LevelJacobi {
  static constexpr int SUMS = 0;
  LevelBefore          before;
  V                    start, beta, scale;
  const V             *dinv, *b;
  V                   *y;
  double              *wide;
  const V             *base;

  __device__ __forceinline__ void operator()(PetscInt i, V s, V now, double *) const
  {
    const V d = __ldg(dinv + i), r = __ldg(b + i);
    V       z = scale * d * (r - s);

    if (before == LEVEL_ZERO) z += beta * now;
    else if (before == LEVEL_Y) z += beta * (now - y[i]);
    else if (before == LEVEL_BEGUN) z += beta * (now - start * d * r);
    if (LevelSums<V> && wide) wide[i] = base ? (double)__ldcs(base + i) + (now + z) : (double)now + z;
    else y[i] = now + z;
  }
  __device__ __forceinline__ void finish(const double *) const { }
};

template <class V>
struct LevelResidual {
  static constexpr int SUMS = 0;
  const V             *b;
  V                   *r;

  __device__ __forceinline__ void operator()(PetscInt i, V s, V, double *) const { r[i] = b[i] - s; }
  __device__ __forceinline__ void finish(const double *) const { }
};

/* v = A x and the sums of the first (SECOND: the second) step of a K-cycle */
template <bool SECOND, class V>
struct LevelDots {
  static constexpr int SUMS = SECOND ? POLDER_KSUMS_SECOND : POLDER_KSUMS_FIRST;
  const V             *b, *w;
  V                   *v;
  PetscReal           *sum;

  __device__ __forceinline__ void operator()(PetscInt i, V s, V now, double *part) const
  {
    const double xi = now, bi = __ldg(b + i), si = s;

    v[i] = s;
    part[0] += xi * si;
    part[1] += xi * bi;
    if constexpr (SECOND) part[2] += xi * __ldg(w + i);
    else {
      part[2] += bi * bi;
      part[3] += bi * si;
      part[4] += si * si;
    }
  }
  __device__ __forceinline__ void finish(const double *total) const
  {
    for (int k = 0; k < SUMS; ++k) sum[k] = total[k];
  }
};

/* FIRST: x is not normalised */
template <bool FIRST, class V>
struct LevelPower {
  static constexpr int SUMS = 1;
  const V             *dinv;
  V                   *y;
  PetscReal           *norm; /* norm of x, then of y */

  __device__ __forceinline__ void operator()(PetscInt i, V s, V, double *part) const
  {
    const double length = FIRST ? 1 : sqrt(norm[0]);
    const V      z      = length > 0 ? (V)(s * (double)__ldg(dinv + i) / length) : 0;

    y[i] = z;
    part[0] += (double)z * z;
  }
  __device__ __forceinline__ void finish(const double *total) const { norm[1] = total[0]; }
};

/* The sum over each group of consecutive threads of a warp, a power of two in size, returned in all of them */
template <class V>
__device__ __forceinline__ V LevelGroupSum(V s, int threads)
{
  for (int o = threads / 2; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  return s;
}

template <class M, class X, class Out>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderLevelRowsKernel(const __grid_constant__ M A, const X x, const Out out, PolderReduceScratch *scratch)
{
  constexpr int rows                            = POLDER_BLOCK / M::LANES;
  const int     lane                            = threadIdx.x % M::LANES;
  double        part[Out::SUMS ? Out::SUMS : 1] = {};

  for (long long first = (long long)blockIdx.x * rows; first < A.n; first += (long long)gridDim.x * rows) {
    const long long k    = first + threadIdx.x / M::LANES;
    const bool      mine = k < A.n;
    const PetscInt  i    = (PetscInt)k;
    const auto      s    = LevelGroupSum(mine ? A.row(i, lane, x) : 0, M::LANES);

    if (mine && lane == 0) out(i, s, x(i), part);
  }
  if constexpr (Out::SUMS > 0) PolderGridSum<POLDER_BLOCK>(part, scratch, [=](const double *total) { out.finish(total); });
}

/*
  Row i of a stencil. xp: x one step before; xc: x here; xn: on return, x one step ahead; vp: the coefficient one step before, when half of the matrix is
  stored
*/
template <bool SEVEN, bool HALF, bool CHECK, class V, class X>
__device__ __forceinline__ V LevelGridRow(const DiaGrid<V> &A, PetscInt i, const X &x, V xp, V xc, V &xn, V &vp)
{
  const PetscInt m = A.m, far = A.far, near = A.near;
  constexpr int  c     = SEVEN ? 3 : 2;
  const bool     below = !CHECK || i >= far, above = !CHECK || m - far > i;
  const auto     load = [&](int d) { return HALF ? __ldg(A.val[d] + i) : __ldcs(A.val[d] + i); };
  const V        w    = HALF ? vp : below ? load(0) : (V)0;
  const V        vn   = above ? __ldcs(A.val[2 * c] + i) : (V)0;
  const V        own  = LevelSums<V> ? xc : 0;
  V              s    = __ldcs(A.val[c] + i) * xc;

  xn = above ? x(i + far) : (V)0;
  if (below) s += w * (xp - own);
  if (SEVEN && (!CHECK || i >= near)) s += load(1) * (x(i - near) - own);
  if (!CHECK || i >= 1) s += load(c - 1) * (x(i - 1) - own);
  if (!CHECK || m - 1 > i) s += load(c + 1) * (x(i + 1) - own);
  if (SEVEN && (!CHECK || m - near > i)) s += load(c + 2) * (x(i + near) - own);
  if (above) s += vn * (xn - own);
  if (HALF) vp = vn;
  return s;
}

/* Large stencils: each thread goes along the slowest direction, as in dia.cu */
template <bool SEVEN, bool HALF, class V, class X, class Out>
__global__ __launch_bounds__(SEVEN ? DIA_TILE7 : DIA_TILE5, SEVEN ? DIA_FIT7 : LEVEL_FIT5) void PolderLevelGridKernel(const __grid_constant__ DiaGrid<V> A,
                                                                                                                      const X x, const Out out,
                                                                                                                      PolderReduceScratch *scratch)
{
  constexpr int  block = SEVEN ? DIA_TILE7 : DIA_TILE5;
  const PetscInt tile = (PetscInt)blockIdx.x % (A.tiles[0] * A.tiles[1]), step = (PetscInt)blockIdx.x / (A.tiles[0] * A.tiles[1]) * A.chunk;
  const PetscInt ix  = (tile % A.tiles[0] << A.logw) + ((PetscInt)threadIdx.x & ((1 << A.logw) - 1));
  const PetscInt iy  = tile / A.tiles[0] * (block >> A.logw) + ((PetscInt)threadIdx.x >> A.logw);
  const PetscInt far = A.far, m = A.m;
  double         part[Out::SUMS ? Out::SUMS : 1] = {};

  if (ix < A.line && iy <= (far - 1 - ix) / A.line) {
    const long long first = (long long)step * far + iy * A.line + ix, end = first + (long long)A.chunk * far;
    const PetscInt  last = (PetscInt)(end < m ? end : m), inner = last < m - far ? last : m - far;
    PetscInt        i  = (PetscInt)(first < m ? first : m);
    V               xp = 0, xc = 0, xn = 0, vp = 0;

    if (i < m) xc = x(i);
    if (i < m && i >= far) {
      xp = x(i - far);
      if (HALF) vp = A.val[0][i];
    } else if (i < last) { /* the first step of the matrix */
      out(i, LevelGridRow<SEVEN, HALF, true>(A, i, x, xp, xc, xn, vp), xc, part);
      xp = xc;
      xc = xn;
      i  = m - far > i ? i + far : m;
    }
#pragma unroll(Out::SUMS > 1 ? 1 : 2) // limited by registers
    for (; i < inner; i += far) {
      out(i, LevelGridRow<SEVEN, HALF, false>(A, i, x, xp, xc, xn, vp), xc, part);
      xp = xc;
      xc = xn;
    }
    if (i < last) out(i, LevelGridRow<SEVEN, HALF, true>(A, i, x, xp, xc, xn, vp), xc, part); /* the last step */
  }
  if constexpr (Out::SUMS > 0) PolderGridSum<block>(part, scratch, [=](const double *total) { out.finish(total); });
}

/* One colour of a Gauss-Seidel sweep, M::LANES threads for each row */
template <class M, class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderLevelColourKernel(const __grid_constant__ M A, PetscInt n, const PetscInt *__restrict__ row,
                                                                        const V *__restrict__ dinv, const V *__restrict__ b, V *x)
{
  const long long k    = ((long long)blockIdx.x * POLDER_BLOCK + threadIdx.x) / M::LANES;
  const int       lane = threadIdx.x % M::LANES;
  const bool      mine = k < n;
  const PetscInt  i    = mine ? __ldg(row + k) : 0;
  const V         s    = LevelGroupSum(mine ? A.row(i, lane, LevelShared<V>{x}) : 0, M::LANES);

  if (mine && lane == 0) x[i] += __ldg(dinv + i) * (__ldg(b + i) - s);
}

/* bc = P^T (b - A x): a group of 2^log M::LANES threads for each aggregate, M::LANES of them for a row at a time */
template <class M, class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderLevelRestrictKernel(const __grid_constant__ M A, int log, const V *__restrict__ b, const LevelVector<V> x,
                                                                          const PetscInt *__restrict__ ptr, const PetscInt *__restrict__ row, PetscInt nc,
                                                                          V *__restrict__ bc)
{
  const int       group = M::LANES << log, lane = threadIdx.x % group;
  const long long a = (long long)blockIdx.x * (POLDER_BLOCK / group) + threadIdx.x / group;
  V               s = 0;

  if (a < nc) {
    const PetscInt end = __ldg(ptr + a + 1);

    for (PetscInt k = __ldg(ptr + a) + lane / M::LANES; k < end; k += 1 << log) {
      const PetscInt i = __ldg(row + k);

      if (lane % M::LANES == 0) s += __ldg(b + i);
      s -= A.row(i, lane % M::LANES, x);
    }
  }
  s = LevelGroupSum(s, group);
  if (a <= nc && lane == 0) bc[a] = s;
}

template <class V, class Do>
static int LevelDiaDo(const PolderLevelMatrix *M, Do act)
{
  LevelDia<V> D;
  bool        half = M->nd % 2 == 1 && M->main == M->nd / 2;

  if (M->nd > POLDER_LEVEL_DIAGONALS) return (int)cudaErrorInvalidValue;
  D.n  = M->n;
  D.nd = M->nd;
  D.lo = PetscMax(0, -M->off[0]);
  D.hi = M->n - PetscMax(0, M->off[M->nd - 1]);
  for (PetscInt d = 0; d < M->nd; ++d) {
    D.off[d] = M->off[d];
    D.val[d] = (const V *)M->val[d];
    half     = half && M->off[d] == -M->off[M->nd - 1 - d] && (d >= M->nd / 2 || D.val[d] == (const V *)M->val[M->nd - 1 - d] + M->off[d]);
  }
  D.main = M->main;
  D.half = half;
  switch (M->nd) {
  case 3:
    act(LevelDiagonals<3, V>{D});
    break;
  case 5:
    act(LevelDiagonals<5, V>{D});
    break;
  case 7:
    act(LevelDiagonals<7, V>{D});
    break;
  default:
    act(LevelDiagonals<0, V>{D});
  }
  return (int)cudaGetLastError();
}

/* Calls act with the matrix in its storage form */
template <class V, class Do>
static int LevelDo(const PolderLevelMatrix *M, Do act)
{
  const PetscInt mean = M->n ? M->nz / M->n : 0;
  const V       *aa   = (const V *)M->aa;

  if (M->nd) return LevelDiaDo<V>(M, act);
  if (mean <= 8) act(LevelRows<1, V>{M->n, M->ai, M->aj, aa});
  else if (mean <= 24) act(LevelRows<4, V>{M->n, M->ai, M->aj, aa});
  else if (mean <= 64) act(LevelRows<16, V>{M->n, M->ai, M->aj, aa});
  else act(LevelRows<32, V>{M->n, M->ai, M->aj, aa});
  return (int)cudaGetLastError();
}

/* Launches the kernel for large stencils if the matrix is one; returns whether it did */
template <bool SEVEN, class V, class X, class Out>
static bool LevelGridLaunch(const LevelDia<V> &D, const X &x, const Out &out, void *work, cudaStream_t stream)
{
  constexpr int        tile    = SEVEN ? DIA_TILE7 : DIA_TILE5;
  PolderReduceScratch *scratch = (PolderReduceScratch *)work;
  DiaGrid<V>           A;
  bool                 half;
  const unsigned int   blocks = DiaFindGrid(D.n, D.n, D.nd, D.off, D.val, &A, &half);

  if (!blocks) return false;
  if (half) PolderLevelGridKernel<SEVEN, true, V, X, Out><<<blocks, tile, 0, stream>>>(A, x, out, scratch);
  else PolderLevelGridKernel<SEVEN, false, V, X, Out><<<blocks, tile, 0, stream>>>(A, x, out, scratch);
  return true;
}

template <class M, class X, class Out>
static void LevelRowsLaunch(const M &A, const X &x, const Out &out, void *work, cudaStream_t stream)
{
  unsigned int blocks = PolderBlocks(A.n, POLDER_BLOCK / M::LANES);

  if constexpr (M::POINTS == 5 || M::POINTS == 7) {
    if (LevelGridLaunch<M::POINTS == 7>(A, x, out, work, stream)) return;
  }
  if (Out::SUMS) blocks = PetscMax(1, PetscMin(blocks, LEVEL_BLOCKS));
  if (blocks) PolderLevelRowsKernel<M, X, Out><<<blocks, POLDER_BLOCK, 0, stream>>>(A, x, out, (PolderReduceScratch *)work);
}

/* Calls f on the numbers 0 .. n, one for each thread */
template <class F>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderLevelEachKernel(PetscInt n, const F f)
{
  const long long i = (long long)blockIdx.x * POLDER_BLOCK + threadIdx.x;

  if (i < n) f((PetscInt)i);
}

template <class F>
static int LevelEach(PetscInt n, const F &f, cudaStream_t stream)
{
  if (n) PolderLevelEachKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, f);
  return (int)cudaGetLastError();
}

template <class V>
static int LevelScaleLaunch(const PolderLevelMatrix *A, V scale, const V *b, V *x, cudaStream_t stream)
{
  const V *dinv = (const V *)A->dinv;

  return LevelEach(
    A->n, [=] __device__(PetscInt i) { x[i] = scale * dinv[i] * b[i]; }, stream);
}

int PolderLevelScale_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscReal scale, const void *b, void *x, PolderStream stream)
{
  return single ? LevelScaleLaunch<float>(A, (float)scale, (const float *)b, (float *)x, stream)
                : LevelScaleLaunch<PetscScalar>(A, scale, (const PetscScalar *)b, (PetscScalar *)x, stream);
}

template <class V>
static int LevelJacobiLaunch(const PolderLevelMatrix *A, const PolderLevelStep *step, const V *b, const V *x, V *y, cudaStream_t stream)
{
  const LevelBefore    before = step->beta == 0 || !step->k ? LEVEL_NOTHING : !step->zero || step->k > 2 ? LEVEL_Y : step->k == 1 ? LEVEL_ZERO : LEVEL_BEGUN;
  const V             *dinv   = (const V *)A->dinv;
  const LevelJacobi<V> out    = {before, (V)step->start, (V)step->beta, (V)step->scale, dinv, b, y, step->wide, (const V *)step->base};

  return LevelDo<V>(A, [&](const auto &M) {
    if (step->zero && step->k == 1) LevelRowsLaunch(M, LevelBegun<V>{(V)step->start, dinv, b}, out, NULL, stream);
    else LevelRowsLaunch(M, LevelVector<V>{x}, out, NULL, stream);
  });
}

int PolderLevelJacobi_CUDA(PetscBool single, const PolderLevelMatrix *A, const PolderLevelStep *step, const void *b, const void *x, void *y,
                           PolderStream stream)
{
  return single ? LevelJacobiLaunch(A, step, (const float *)b, (const float *)x, (float *)y, stream)
                : LevelJacobiLaunch(A, step, (const PetscScalar *)b, (const PetscScalar *)x, (PetscScalar *)y, stream);
}

template <class V>
static int LevelColourLaunch(const PolderLevelMatrix *A, PetscInt n, const PetscInt row[], const V *b, V *x, cudaStream_t stream)
{
  return LevelDo<V>(A, [&](const auto &M) {
    constexpr int lanes = std::decay_t<decltype(M)>::LANES;

    if (n) PolderLevelColourKernel<<<PolderBlocks(n, POLDER_BLOCK / lanes), POLDER_BLOCK, 0, stream>>>(M, n, row, (const V *)A->dinv, b, x);
  });
}

int PolderLevelColour_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt n, const PetscInt row[], const void *b, void *x, PolderStream stream)
{
  return single ? LevelColourLaunch(A, n, row, (const float *)b, (float *)x, stream)
                : LevelColourLaunch(A, n, row, (const PetscScalar *)b, (PetscScalar *)x, stream);
}

template <class V>
static int LevelColourFirstLaunch(PetscInt n, const V *dinv, PetscInt first, const PetscInt row[], const V *b, V *x, cudaStream_t stream)
{
  return LevelEach(
    n,
    [=] __device__(PetscInt k) {
      const PetscInt i = __ldg(row + k);

      x[i] = k < first ? dinv[i] * b[i] : 0;
    },
    stream);
}

int PolderLevelColourFirst_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt first, const PetscInt row[], const void *b, void *x, PolderStream stream)
{
  return single ? LevelColourFirstLaunch(A->n, (const float *)A->dinv, first, row, (const float *)b, (float *)x, stream)
                : LevelColourFirstLaunch(A->n, (const PetscScalar *)A->dinv, first, row, (const PetscScalar *)b, (PetscScalar *)x, stream);
}

template <class V>
static int LevelResidualLaunch(const PolderLevelMatrix *A, const V *b, const V *x, V *r, const PetscInt ptr[], const PetscInt row[], PetscInt nc, V *bc,
                               cudaStream_t stream)
{
  const PetscInt mean = nc ? A->n / nc : 0; // mean number of rows of an aggregate

  return LevelDo<V>(A, [&](const auto &M) {
    constexpr int lanes = std::decay_t<decltype(M)>::LANES;
    const int     log   = lanes > 1 ? lanes < 32 : mean >= 6 ? 3 : mean >= 3 ? 2 : mean >= 2 ? 1 : 0;

    if (r) LevelRowsLaunch(M, LevelVector<V>{x}, LevelResidual<V>{b, r}, NULL, stream);
    if (ptr)
      PolderLevelRestrictKernel<<<PolderBlocks(nc + 1, POLDER_BLOCK / (lanes << log)), POLDER_BLOCK, 0, stream>>>(M, log, b, LevelVector<V>{x}, ptr, row, nc,
                                                                                                                  bc);
  });
}

int PolderLevelResidual_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *b, const void *x, void *r, const PetscInt ptr[], const PetscInt row[],
                             PetscInt nc, void *bc, PolderStream stream)
{
  return single ? LevelResidualLaunch(A, (const float *)b, (const float *)x, (float *)r, ptr, row, nc, (float *)bc, stream)
                : LevelResidualLaunch(A, (const PetscScalar *)b, (const PetscScalar *)x, (PetscScalar *)r, ptr, row, nc, (PetscScalar *)bc, stream);
}

template <class V>
static int LevelProlongLaunch(PetscInt n, const PetscInt agg[], PetscInt nc, V scale, const V *xc, V *x, cudaStream_t stream)
{
  return LevelEach(
    n,
    [=] __device__(PetscInt i) {
      const PetscInt a = agg[i];

      if (a < nc) x[i] += scale * __ldg(xc + a);
    },
    stream);
}

int PolderLevelProlong_CUDA(PetscBool single, PetscInt n, const PetscInt agg[], PetscInt nc, PetscReal scale, const void *xc, void *x, PolderStream stream)
{
  return single ? LevelProlongLaunch(n, agg, nc, (float)scale, (const float *)xc, (float *)x, stream)
                : LevelProlongLaunch(n, agg, nc, scale, (const PetscScalar *)xc, (PetscScalar *)x, stream);
}

template <class V>
static int LevelMultDotsLaunch(const PolderLevelMatrix *A, const V *x, const V *b, const V *w, V *v, PetscReal sum[], void *work, cudaStream_t stream)
{
  return LevelDo<V>(A, [&](const auto &M) {
    if (w) LevelRowsLaunch(M, LevelVector<V>{x}, LevelDots<true, V>{b, w, v, sum}, work, stream);
    else LevelRowsLaunch(M, LevelVector<V>{x}, LevelDots<false, V>{b, w, v, sum}, work, stream);
  });
}

int PolderLevelMultDots_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *x, const void *b, const void *w, void *v, PetscReal sum[], void *work,
                             PolderStream stream)
{
  return single ? LevelMultDotsLaunch(A, (const float *)x, (const float *)b, (const float *)w, (float *)v, sum, work, stream)
                : LevelMultDotsLaunch(A, (const PetscScalar *)x, (const PetscScalar *)b, (const PetscScalar *)w, (PetscScalar *)v, sum, work, stream);
}

template <class V>
static int LevelCombineLaunch(PetscInt n, V alpha, V beta, const V *x, V *y, cudaStream_t stream)
{
  return LevelEach(
    n, [=] __device__(PetscInt i) { y[i] = alpha * x[i] + beta * y[i]; }, stream);
}

int PolderLevelCombine_CUDA(PetscBool single, PetscInt n, PetscReal alpha, PetscReal beta, const void *x, void *y, PolderStream stream)
{
  return single ? LevelCombineLaunch(n, (float)alpha, (float)beta, (const float *)x, (float *)y, stream)
                : LevelCombineLaunch(n, alpha, beta, (const PetscScalar *)x, (PetscScalar *)y, stream);
}

template <class V>
static int LevelKFirstLaunch(PetscInt n, PetscReal threshold, const PetscReal sum[], const V *v, V *b, cudaStream_t stream)
{
  return LevelEach(
    n,
    [=] __device__(PetscInt i) {
      const V step = (V)PolderKCycleFirst(sum, threshold);

      if (step != 0) b[i] -= step * v[i];
    },
    stream);
}

int PolderLevelKFirst_CUDA(PetscBool single, PetscInt n, PetscReal threshold, const PetscReal sum[], const void *v, void *b, PolderStream stream)
{
  return single ? LevelKFirstLaunch(n, threshold, sum, (const float *)v, (float *)b, stream)
                : LevelKFirstLaunch(n, threshold, sum, (const PetscScalar *)v, (PetscScalar *)b, stream);
}

template <class V>
static int LevelKSecondLaunch(PetscInt n, PetscReal threshold, const PetscReal sum[], const V *w, V *x, cudaStream_t stream)
{
  return LevelEach(
    n,
    [=] __device__(PetscInt i) {
      PetscReal c[2];

      PolderKCycleSecond(sum, threshold, c);
      if (c[1] != 0) x[i] = (V)c[0] * x[i] + (V)c[1] * w[i]; // otherwise w may be undefined
      else if (c[0] != 1) x[i] *= (V)c[0];
    },
    stream);
}

int PolderLevelKSecond_CUDA(PetscBool single, PetscInt n, PetscReal threshold, const PetscReal sum[], const void *w, void *x, PolderStream stream)
{
  return single ? LevelKSecondLaunch(n, threshold, sum, (const float *)w, (float *)x, stream)
                : LevelKSecondLaunch(n, threshold, sum, (const PetscScalar *)w, (PetscScalar *)x, stream);
}

int PolderLevelRound_CUDA(PetscInt n, const PetscScalar x[], float y[], PolderStream stream)
{
  return LevelEach(
    n, [=] __device__(PetscInt i) { y[i] = (float)x[i]; }, stream);
}

int PolderLevelWiden_CUDA(PetscInt n, const float x[], PetscScalar y[], PolderStream stream)
{
  return LevelEach(
    n, [=] __device__(PetscInt i) { y[i] = x[i]; }, stream);
}

template <class V>
static int LevelPowerLaunch(const PolderLevelMatrix *A, PetscInt k, const V *x, V *y, PetscReal norm[], void *work, cudaStream_t stream)
{
  const V *dinv = (const V *)A->dinv;

  return LevelDo<V>(A, [&](const auto &M) {
    if (k) LevelRowsLaunch(M, LevelVector<V>{x}, LevelPower<false, V>{dinv, y, norm + k}, work, stream);
    else LevelRowsLaunch(M, LevelSeed<V>{}, LevelPower<true, V>{dinv, y, norm}, work, stream);
  });
}

int PolderLevelPower_CUDA(PetscBool single, const PolderLevelMatrix *A, PetscInt k, const void *x, void *y, PetscReal norm[], void *work, PolderStream stream)
{
  return single ? LevelPowerLaunch(A, k, (const float *)x, (float *)y, norm, work, stream)
                : LevelPowerLaunch(A, k, (const PetscScalar *)x, (PetscScalar *)y, norm, work, stream);
}

template <class V>
static int LevelSeedLaunch(PetscInt n, V *x, cudaStream_t stream)
{
  return LevelEach(
    n, [=] __device__(PetscInt i) { x[i] = (V)PolderPowerStart(i); }, stream);
}

int PolderLevelSeed_CUDA(PetscBool single, PetscInt n, void *x, PolderStream stream)
{
  return single ? LevelSeedLaunch(n, (float *)x, stream) : LevelSeedLaunch(n, (PetscScalar *)x, stream);
}
