/* Smoothing steps, residuals and restrictions of one level. */
#pragma once

#include "cg.cuh"
#include "level.cuh"

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

template <bool RHO, LevelKind KIND, class V, class E>
static int LevelJacobiLaunch(const PolderLevelMatrix *A, const PolderLevelStep *step, const V *b, const V *x, V *y, const LevelRun &run)
{
  const LevelBefore before      = step->beta == 0 || !step->k ? LEVEL_NOTHING : !step->zero || step->k > 2 ? LEVEL_Y : step->k == 1 ? LEVEL_ZERO : LEVEL_BEGUN;
  const V          *dinv        = (const V *)A->dinv;
  const LevelJacobi<V, RHO> out = {before, (V)step->start, (V)step->beta, (V)step->scale, dinv, b, y, step->end};

  return LevelDoEntries<KIND, V, E>(A, [&](const auto &M) {
    if (step->zero && step->k == 1) LevelRowsLaunch(M, LevelBegun<V>{(V)step->start, dinv, b}, out, run);
    else LevelRowsLaunch(M, LevelVector<V>{x}, out, run);
  });
}

template <LevelKind KIND, class V, class E>
int LevelSteps<KIND, V, E>::jacobi(const PolderLevelMatrix *A, const PolderLevelStep *step, const void *b, const void *x, void *y, const LevelRun &run)
{
  return step->end.r ? LevelJacobiLaunch<true, KIND, V, E>(A, step, (const V *)b, (const V *)x, (V *)y, run)
                     : LevelJacobiLaunch<false, KIND, V, E>(A, step, (const V *)b, (const V *)x, (V *)y, run);
}

template <LevelKind KIND, class V, class E>
int LevelSteps<KIND, V, E>::colour(const PolderLevelMatrix *A, PetscInt n, const PetscInt row[], const void *b, void *x, cudaStream_t stream)
{
  return LevelDoEntries<KIND, V, E>(A, [&](const auto &M) {
    constexpr int lanes = std::decay_t<decltype(M)>::LANES;

    if (n)
      PolderLaunchEarly(PolderLevelColourKernel<std::decay_t<decltype(M)>, V>, PolderBlocks(n, POLDER_BLOCK / lanes), POLDER_BLOCK, stream, M, n, row,
                        (const V *)A->dinv, (const V *)b, (V *)x);
  });
}

template <LevelKind KIND, class V, class E>
int LevelSteps<KIND, V, E>::residual(const PolderLevelMatrix *A, const void *b, const void *x, void *r, const PolderAggregates *P, void *bc,
                                     const PolderExchange *sends, cudaStream_t stream)
{
  const PetscInt       nc = P ? P->n : 0, mean = nc ? A->n / nc : 0; // mean number of rows of an aggregate
  const LevelVector<V> in = {(const V *)x};

  return LevelDoEntries<KIND, V, E>(A, [&](const auto &M) {
    constexpr int lanes = std::decay_t<decltype(M)>::LANES, most = lanes > 16 ? 0 : lanes > 8 ? 1 : lanes > 4 ? 2 : 3;
    const int     usual = lanes > 1 ? lanes < 32 : mean >= 6 ? 3 : mean >= 3 ? 2 : mean >= 2 ? 1 : 0;
    const int     log   = nc > LEVEL_FEW ? usual : lanes > 1 || usual == 3 ? most : usual + 1;

    if (r) LevelRowsLaunch(M, in, LevelResidual<V>{(const V *)b, (V *)r}, LevelRun{NULL, stream, PolderSendingOf(sends, x, sizeof(V) == 8)});
    if (P)
      PolderLaunchEarly(PolderLevelRestrictKernel<std::decay_t<decltype(M)>, V>, PolderBlocks(nc + 1, POLDER_BLOCK / (lanes << log)), POLDER_BLOCK, stream, M,
                        log, (const V *)b, in, P->ptr, P->row, nc, (V *)bc);
  });
}
