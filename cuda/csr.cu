/* Compressed rows: products, values from coordinates, and what the matrix types need of them. */
#include "foreach.cuh"
#include "kernels/csr.h"
#include <type_traits>

/* W threads for each row */
template <int W, bool DOT>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCsrMultKernel(const PolderRows A, const PolderRowList list, PetscScalar alpha, const PetscScalar *__restrict__ x, const PetscScalar *y, PetscScalar *z,
                      const PolderRowsDot dot)
{
  PolderBegin();
  const PetscInt *__restrict__ row = list.row, *__restrict__ ai = A.i, *__restrict__ aj = A.j;
  const PetscScalar *__restrict__ aa = A.a;
  const PetscInt n                   = list.n;
  constexpr int  rows                = POLDER_BLOCK / W;
  const int      lane                = threadIdx.x % W;
  double         sum[1]              = {0};

  for (long long first = (long long)blockIdx.x * rows; first < n; first += (long long)gridDim.x * rows) {
    const long long k    = first + threadIdx.x / W;
    const bool      mine = k < n;
    const PetscInt  i    = mine ? (row ? row[k] : (PetscInt)k) : 0;
    double          s    = 0;

    if (mine) {
      const PetscInt end = ai[i + 1];

      for (PetscInt e = ai[i] + lane; e < end; e += W) s += aa[e] * x[aj[e]];
    }
    for (int o = W / 2; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (mine && lane == 0) {
      if (DOT) sum[0] += dot.p[i] * s;
      z[i] = (y ? y[i] : 0.0) + alpha * s;
    }
  }
  if (DOT) {
    const bool         add = row;
    PetscScalar *const to  = dot.dot;

    PolderGridSum<POLDER_BLOCK>(sum, (PolderReduceScratch *)dot.work, [=](const double *total) { *to = (add ? *to : 0.0) + total[0]; });
  }
}

template <int W>
static int PolderCsrMultLaunch(PolderRows A, PolderRowList list, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[],
                               PolderRowsDot dot, PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(list.n, POLDER_BLOCK / W), few = blocks == 0 ? 1 : (blocks > 2048 ? 2048 : blocks);

  if (dot.dot) PolderLaunchEarly(PolderCsrMultKernel<W, true>, few, POLDER_BLOCK, stream, A, list, alpha, x, y, z, dot);
  else if (list.n) PolderLaunchEarly(PolderCsrMultKernel<W, false>, blocks, POLDER_BLOCK, stream, A, list, alpha, x, y, z, dot);
  return cudaGetLastError();
}

int PolderCsrMult_CUDA(PolderRows A, PolderRowList list, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderRowsDot dot,
                       PolderStream stream)
{
  const PetscInt mean = list.n ? A.nz / list.n : 0;

  if (mean <= 2) return PolderCsrMultLaunch<1>(A, list, alpha, x, y, z, dot, stream);
  if (mean <= 12) return PolderCsrMultLaunch<4>(A, list, alpha, x, y, z, dot, stream);
  if (mean <= 48) return PolderCsrMultLaunch<8>(A, list, alpha, x, y, z, dot, stream);
  return PolderCsrMultLaunch<32>(A, list, alpha, x, y, z, dot, stream);
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderCsrDiagonalKernel(PetscInt m, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj,
                                                                               const PetscScalar *__restrict__ aa, PetscScalar *__restrict__ d)
{
  const long long i = (long long)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  PetscScalar     v = 0;

  if (i >= m) return;
  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
    if (aj[k] == i) v = aa[k];
  }
  d[i] = v;
}

int PolderCsrDiagonal_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[], PolderStream stream)
{
  if (m) PolderCsrDiagonalKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, ai, aj, aa, d);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCsrMagnitudeKernel(PetscInt m, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj, const PetscScalar *__restrict__ aa,
                           const PetscScalar *__restrict__ x, bool add, PetscScalar *__restrict__ y)
{
  const long long i = (long long)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  PetscScalar     s = 0;

  if (i >= m) return;
  if (add) s = y[i];
  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) s += fabs(aa[k] * x[aj[k]]);
  y[i] = s;
}

int PolderCsrMagnitude_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar x[], PetscBool add, PetscScalar y[],
                            PolderStream stream)
{
  if (m) PolderCsrMagnitudeKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, ai, aj, aa, x, add, y);
  return cudaGetLastError();
}

int PolderGather_CUDA(PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt k) { y[k] = x[index[k]]; });
}

int PolderGatherJoined_CUDA(PetscInt n, const PetscInt index[], PetscInt m, const PetscScalar x[], const PetscScalar z[], PetscScalar y[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt k) { y[k] = index[k] < m ? x[index[k]] : z[index[k] - m]; });
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderCooSumKernel(PetscInt nz, const PetscInt *__restrict__ map, const PetscInt *__restrict__ perm,
                                                                          const PetscScalar *__restrict__ v, PetscBool insert, PetscScalar *__restrict__ aa)
{
  const long long k   = (long long)blockIdx.x * POLDER_BLOCK + threadIdx.x;
  PetscScalar     sum = 0;

  if (k >= nz) return;
  if (map) {
    for (PetscInt e = map[k]; e < map[k + 1]; ++e) sum += v[perm[e]];
  } else sum = v[k];
  aa[k] = (insert ? 0.0 : aa[k]) + sum;
}

int PolderCooSum_CUDA(PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[], PolderStream stream)
{
  if (nz) PolderCooSumKernel<<<PolderBlocks(nz, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(nz, map, perm, v, insert, aa);
  return cudaGetLastError();
}

/* Entries of a thread of the next kernel in large blocks: so many that all of the device is busy with fewer threads */
#define POLDER_TAKE      8
#define POLDER_TAKE_FROM 2200000

/* The stretch lo <= s < hi of entry k */
static __device__ __forceinline__ PetscInt PolderStretchOf(const PetscInt *__restrict__ first, PetscInt lo, PetscInt hi, long long k)
{
  while (hi - lo > 1) {
    const PetscInt mid = lo + (hi - lo) / 2;

    if (first[mid] <= k) lo = mid;
    else hi = mid;
  }
  return lo;
}

/* Most blocks of many entries have those of one stretch, so that only two threads look for it */
template <int TAKE>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCooTakeKernel(PetscInt nz, PetscInt n, const PetscInt *__restrict__ first, const PetscInt *__restrict__ skip, const PetscScalar *__restrict__ v,
                      PetscBool insert, PetscScalar *__restrict__ aa)
{
  const long long     begin = (long long)blockIdx.x * (TAKE * POLDER_BLOCK), end = min(begin + TAKE * POLDER_BLOCK, (long long)nz);
  __shared__ PetscInt range[2];

  if (TAKE > 1) {
    if (threadIdx.x < 2) range[threadIdx.x] = PolderStretchOf(first, 0, n, threadIdx.x ? end - 1 : begin) + (PetscInt)threadIdx.x;
    __syncthreads();
  }
#pragma unroll
  for (int t = 0; t < TAKE; ++t) {
    const long long k = begin + t * POLDER_BLOCK + threadIdx.x;

    if (k < end) aa[k] = (insert ? 0.0 : aa[k]) + v[k + skip[PolderStretchOf(first, TAKE > 1 ? range[0] : 0, TAKE > 1 ? range[1] : n, k)]];
  }
}

int PolderCooTake_CUDA(PetscInt nz, PetscInt n, const PetscInt first[], const PetscInt skip[], const PetscScalar v[], PetscBool insert, PetscScalar aa[],
                       PolderStream stream)
{
  const int take = nz < POLDER_TAKE_FROM ? 1 : POLDER_TAKE;

  if (nz)
    (take == 1 ? PolderCooTakeKernel<1>
               : PolderCooTakeKernel<POLDER_TAKE>)<<<PolderBlocks(nz, take * POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(nz, n, first, skip, v, insert, aa);
  return cudaGetLastError();
}
