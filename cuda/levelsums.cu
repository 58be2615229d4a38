/* The K-cycle and the power method on one level: products with sums, which are in double precision and stay on the device, and what follows from them. */
#include "kernels/levelscalars.h"
#include "level.cuh"

/* The start of the power method as an input vector */
template <class V>
struct LevelSeed {
  __device__ __forceinline__ V operator()(PetscInt i) const { return (V)PolderPowerStart(i); }
  template <int N>
  __device__ __forceinline__ PolderPack<V, N> pack(PetscInt i) const
  {
    return {(*this)(i)}; // N = 1
  }
};

/* v = A x and the sums of the first (SECOND: the second) step of a K-cycle */
template <bool SECOND, class V>
struct LevelDots {
  static constexpr int  SUMS  = SECOND ? POLDER_KSUMS_SECOND : POLDER_KSUMS_FIRST;
  static constexpr bool PACKS = false;
  const V              *b, *w;
  V                    *v;
  PetscReal            *sum;

  template <class Inverse>
  __device__ __forceinline__ void operator()(PetscInt i, V s, V now, const Inverse &, double *part) const
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
  static constexpr int  SUMS  = 1;
  static constexpr bool PACKS = false;
  const V              *dinv;
  V                    *y;
  PetscReal            *norm; /* norm of x, then of y */

  template <class Inverse>
  __device__ __forceinline__ void operator()(PetscInt i, V s, V, const Inverse &, double *part) const
  {
    const double length = FIRST ? 1 : sqrt(norm[0]);
    const V      z      = length > 0 ? (V)(s * (double)__ldg(dinv + i) / length) : 0;

    y[i] = z;
    part[0] += (double)z * z;
  }
  __device__ __forceinline__ void finish(const double *total) const { norm[1] = total[0]; }
};

template <class V>
static int LevelMultDotsLaunch(const PolderLevelMatrix *A, const V *x, const V *b, const V *w, V *v, PolderLevelSums to, cudaStream_t stream)
{
  return LevelDo<V>(A, [&](const auto &M) {
    if (w) LevelRowsLaunch(M, LevelVector<V>{x}, LevelDots<true, V>{b, w, v, to.sum}, LevelRun{to.work, stream});
    else LevelRowsLaunch(M, LevelVector<V>{x}, LevelDots<false, V>{b, w, v, to.sum}, LevelRun{to.work, stream});
  });
}

int PolderLevelMultDots_CUDA(PetscBool single, const PolderLevelMatrix *A, const void *x, const void *b, const void *w, void *v, PolderLevelSums sums,
                             PolderStream stream)
{
  return single ? LevelMultDotsLaunch(A, (const float *)x, (const float *)b, (const float *)w, (float *)v, sums, stream)
                : LevelMultDotsLaunch(A, (const PetscScalar *)x, (const PetscScalar *)b, (const PetscScalar *)w, (PetscScalar *)v, sums, stream);
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

template <class V>
static int LevelPowerLaunch(const PolderLevelMatrix *A, PetscInt k, const V *x, V *y, PetscReal norm[], void *work, cudaStream_t stream)
{
  const V *dinv = (const V *)A->dinv;

  return LevelDo<V>(A, [&](const auto &M) {
    if (k) LevelRowsLaunch(M, LevelVector<V>{x}, LevelPower<false, V>{dinv, y, norm + k}, LevelRun{work, stream});
    else LevelRowsLaunch(M, LevelSeed<V>{}, LevelPower<true, V>{dinv, y, norm}, LevelRun{work, stream});
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
