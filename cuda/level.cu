/* Kernels of a multigrid cycle on one level: smoothers, residuals, and the ways to and from the coarser level. */
#include "level.cuh"
#include "cg.cuh"
#include "index.cuh"
#include "kernels/levelrow.h"
#include <climits>

/* Threads of the block that centres a vector */
#define LEVEL_CENTRE 512
/* Up to so many aggregates there is room for a thread for each part of each row of them */
#define LEVEL_FEW 8192

/* Start D^-1 b as an input vector */
template <class V>
struct LevelBegun {
  V        start;
  const V *dinv, *b;

  __device__ __forceinline__ V operator()(PetscInt i) const { return start * __ldg(dinv + i) * __ldg(b + i); }
  template <int N>
  __device__ __forceinline__ PolderPack<V, N> pack(PetscInt i) const
  {
    return start * PolderPackLdg<N>(dinv + i) * PolderPackLdg<N>(b + i);
  }
  template <int N>
  bool aligned(void) const
  {
    return PolderAligned<N>(dinv, b);
  }
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

/* Output of s = A x of N rows from row i on, given x of these rows; it adds SUMS sums over the rows, those of rho */
template <class V, bool RHO>
struct LevelJacobi {
  static constexpr int  SUMS  = RHO ? 2 : 0;
  static constexpr bool PACKS = true;
  LevelBefore           before;
  V                     start, beta, scale;
  const V              *dinv, *b;
  V                    *y;
  PolderLevelEnd        end;

  template <int N, class Inverse>
  __device__ __forceinline__ void operator()(PetscInt i, const PolderPack<V, N> &s, const PolderPack<V, N> &now, const Inverse &inverse, double *part) const
  {
    const PolderPack<V, N> d = inverse(dinv), r = PolderPackLdg<N>(b + i);
    PolderPack<V, N>       z = scale * d * (r - s);

    if (before == LEVEL_ZERO) z = z + beta * now;
    else if (before == LEVEL_Y) z = z + beta * (now - PolderPackRead<N>(y + i));
    else if (before == LEVEL_BEGUN) z = z + beta * (now - start * d * r);
    if (LevelSums<V> && (end.wide || end.parts)) {
      const PolderPack<V, N>      base = end.base ? PolderPackStream<N>((const V *)end.base + i) : now, correction = end.base ? now + z : z;
      const PolderPack<double, N> sum = end.unit * (PolderPackDouble(base) + PolderPackDouble(correction));

      if (end.wide) PolderPackWrite(end.wide + i, sum);
      else PolderPackWrite(y + i, correction);
      if constexpr (RHO) sums(i, sum, part);
    } else {
      z = now + z;
      PolderPackWrite(y + i, z);
      if constexpr (RHO) sums(i, PolderPackDouble(z), part);
    }
  }
  template <int N>
  __device__ __forceinline__ void sums(PetscInt i, const PolderPack<double, N> &z, double *part) const
  {
    const PolderPack<double, N> r = PolderPackStream<N>(end.r + i);

#pragma unroll
    for (int k = 0; k < N; ++k) {
      part[0] += r.v[k] * z.v[k];
      part[1] += z.v[k];
    }
  }
  template <int N>
  bool aligned(void) const
  {
    return PolderAligned<N>(dinv, b, y, end.wide, (const V *)end.base, end.r);
  }
  __device__ __forceinline__ void finish(const double *total) const
  {
    if constexpr (RHO) {
      end.rho.state->sum[1] = total[0];
      end.rho.state->sum[2] = total[1];
      if (!end.rho.state->parallel) PolderCGSetRho(end.rho.state, end.rho.first, PETSC_TRUE);
    }
  }
};

template <class V>
struct LevelResidual {
  static constexpr int  SUMS  = 0;
  static constexpr bool PACKS = true;
  const V              *b;
  V                    *r;

  template <int N, class Inverse>
  __device__ __forceinline__ void operator()(PetscInt i, const PolderPack<V, N> &s, const PolderPack<V, N> &, const Inverse &, double *) const
  {
    PolderPackWrite(r + i, PolderPackRead<N>(b + i) - s);
  }
  template <int N>
  bool aligned(void) const
  {
    return PolderAligned<N>(b, r);
  }
  __device__ __forceinline__ void finish(const double *) const { }
};

/* One colour of a Gauss-Seidel sweep, M::LANES threads for each row */
template <class M, class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderLevelColourKernel(const __grid_constant__ M A, PetscInt n, const PetscInt *__restrict__ row,
                                                                        const V *__restrict__ dinv, const V *__restrict__ b, V *x)
{
  PolderBegin();
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
  PolderBegin();
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

template <bool RHO, class V>
static int LevelJacobiLaunch(const PolderLevelMatrix *A, const PolderLevelStep *step, const V *b, const V *x, V *y, const LevelRun &run)
{
  const LevelBefore before      = step->beta == 0 || !step->k ? LEVEL_NOTHING : !step->zero || step->k > 2 ? LEVEL_Y : step->k == 1 ? LEVEL_ZERO : LEVEL_BEGUN;
  const V          *dinv        = (const V *)A->dinv;
  const LevelJacobi<V, RHO> out = {before, (V)step->start, (V)step->beta, (V)step->scale, dinv, b, y, step->end};

  return LevelDo<V>(A, [&](const auto &M) {
    if (step->zero && step->k == 1) LevelRowsLaunch(M, LevelBegun<V>{(V)step->start, dinv, b}, out, run);
    else LevelRowsLaunch(M, LevelVector<V>{x}, out, run);
  });
}

template <bool RHO>
static int LevelJacobiDo(PetscBool single, const PolderLevelMatrix *A, const PolderLevelStep *step, const void *b, const void *x, void *y, const LevelRun &run)
{
  return single ? LevelJacobiLaunch<RHO>(A, step, (const float *)b, (const float *)x, (float *)y, run)
                : LevelJacobiLaunch<RHO>(A, step, (const PetscScalar *)b, (const PetscScalar *)x, (PetscScalar *)y, run);
}

int PolderLevelJacobi_CUDA(PetscBool single, const PolderLevelMatrix *A, const PolderLevelStep *step, const void *b, const void *x, void *y, void *work,
                           const PolderExchange *sends, PolderStream stream)
{
  const LevelRun run = {work, stream, PolderSendingOf(sends, step->zero && step->k == 1 ? b : x, !single)};

  return step->end.r ? LevelJacobiDo<true>(single, A, step, b, x, y, run) : LevelJacobiDo<false>(single, A, step, b, x, y, run);
}

template <class V>
static int LevelColourLaunch(const PolderLevelMatrix *A, PetscInt n, const PetscInt row[], const V *b, V *x, cudaStream_t stream)
{
  return LevelDo<V>(A, [&](const auto &M) {
    constexpr int lanes = std::decay_t<decltype(M)>::LANES;

    if (n)
      PolderLaunchEarly(PolderLevelColourKernel<std::decay_t<decltype(M)>, V>, PolderBlocks(n, POLDER_BLOCK / lanes), POLDER_BLOCK, stream, M, n, row,
                        (const V *)A->dinv, b, x);
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
static int LevelResidualLaunch(const PolderLevelMatrix *A, const V *b, const V *x, V *r, const PolderAggregates *P, V *bc, const PolderExchange *sends,
                               cudaStream_t stream)
{
  const PetscInt nc = P ? P->n : 0, mean = nc ? A->n / nc : 0; // mean number of rows of an aggregate

  return LevelDo<V>(A, [&](const auto &M) {
    constexpr int lanes = std::decay_t<decltype(M)>::LANES, most = lanes > 16 ? 0 : lanes > 8 ? 1 : lanes > 4 ? 2 : 3;
    const int     usual = lanes > 1 ? lanes < 32 : mean >= 6 ? 3 : mean >= 3 ? 2 : mean >= 2 ? 1 : 0;
    const int     log   = nc > LEVEL_FEW ? usual : lanes > 1 || usual == 3 ? most : usual + 1;

    if (r) LevelRowsLaunch(M, LevelVector<V>{x}, LevelResidual<V>{b, r}, LevelRun{NULL, stream, PolderSendingOf(sends, x, sizeof(V) == 8)});
    if (P)
      PolderLaunchEarly(PolderLevelRestrictKernel<std::decay_t<decltype(M)>, V>, PolderBlocks(nc + 1, POLDER_BLOCK / (lanes << log)), POLDER_BLOCK, stream, M,
                        log, b, LevelVector<V>{x}, P->ptr, P->row, nc, bc);
  });
}

int PolderLevelResidual_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *b, const void *x, void *r, const PolderAggregates *P, void *bc,
                             const PolderExchange *sends, PolderStream stream)
{
  return single ? LevelResidualLaunch(A, (const float *)b, (const float *)x, (float *)r, P, (float *)bc, sends, stream)
                : LevelResidualLaunch(A, (const PetscScalar *)b, (const PetscScalar *)x, (PetscScalar *)r, P, (PetscScalar *)bc, sends, stream);
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

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLevelSpanKernel(PetscInt n, PetscInt line, const float *__restrict__ dinv, const PetscInt *__restrict__ agg, PetscInt nc, PetscInt *span)
{
  PetscInt least = INT_MAX, most = 0, ratio = 0;

  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += (PetscInt)gridDim.x * POLDER_BLOCK) {
    const int bits = agg[i] < nc ? PolderBits(dinv[i]) : 0;

    if (bits > 0 && bits < least) least = bits;
    if (bits > most) most = bits;
    ratio = max(ratio, (PetscInt)PolderBits(PolderNeighbourRatio(n, line, dinv, agg, nc, i)));
  }
  least = PolderWarpMin(least);
  most  = PolderWarpMax(most);
  ratio = PolderWarpMax(ratio);
  if (threadIdx.x % 32) return;
  PolderAtomicMin(&span[0], least);
  PolderAtomicMax(&span[1], most);
  PolderAtomicMax(&span[2], ratio);
}

int PolderLevelSpan_CUDA(PetscInt n, PetscInt line, const float dinv[], const PetscInt agg[], PetscInt nc, PetscInt span[3], PolderStream stream)
{
  if (n > 0) PolderLevelSpanKernel<<<PolderStrideBlocks(n), POLDER_BLOCK, 0, stream>>>(n, line, dinv, agg, nc, span);
  return cudaGetLastError();
}

int PolderLevelRound_CUDA(PetscInt n, PetscScalar scale, const PetscScalar x[], float y[], PolderStream stream)
{
  return LevelEach(
    n, [=] __device__(PetscInt i) { y[i] = (float)(scale * x[i]); }, stream);
}

int PolderLevelWiden_CUDA(PetscInt n, const float x[], PetscScalar y[], PolderStream stream)
{
  return LevelEach(
    n, [=] __device__(PetscInt i) { y[i] = x[i]; }, stream);
}

/* One block */
template <class V, class W>
static __global__ void __launch_bounds__(LEVEL_CENTRE) PolderLevelCentreKernel(PetscInt n, const V *__restrict__ x, W *__restrict__ y)
{
  PolderBegin();
  __shared__ double mean;
  double            sum = 0;

  for (PetscInt i = threadIdx.x; i < n; i += LEVEL_CENTRE) sum += x[i];
  sum = PolderBlockSum<LEVEL_CENTRE>(sum);
  if (!threadIdx.x) mean = sum / n;
  __syncthreads();
  for (PetscInt i = threadIdx.x; i < n; i += LEVEL_CENTRE) y[i] = (W)(x[i] - mean);
}

int PolderLevelWidenCentred_CUDA(PetscInt n, const float x[], PetscScalar y[], PolderStream stream)
{
  if (n) PolderLaunchEarly(PolderLevelCentreKernel<float, PetscScalar>, 1, LEVEL_CENTRE, stream, n, x, y);
  return cudaGetLastError();
}

int PolderLevelRoundCentred_CUDA(PetscInt n, const PetscScalar x[], float y[], PolderStream stream)
{
  if (n) PolderLaunchEarly(PolderLevelCentreKernel<PetscScalar, float>, 1, LEVEL_CENTRE, stream, n, x, y);
  return cudaGetLastError();
}
