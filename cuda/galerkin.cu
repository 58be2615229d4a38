/*
  The rows of P^T A P for a P with one unit entry a row, one thread a coarse row. The thread searches the aggregate of each entry among those it has found,
  which it keeps in registers while they are few. A warp processes each row with too many. Entries are summed in their order. Also further data of a level:
  inverse diagonal, row sums, removal of weak entries.
*/
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/levelrow.h"
#include "kernels/pairrow.h"
#include "kernels/galerkin.h"
#include <cub/device/device_scan.cuh>
#include <float.h>

#define FULL_WARP 0xffffffffu

int PolderPointers_CUDA(PetscInt n, PetscInt ptr[], void *work, size_t bytes, PolderStream stream)
{
  cudaError_t err = cudaMemsetAsync(ptr, 0, sizeof(*ptr), stream);

  if (!err && n > 0) err = cub::DeviceScan::InclusiveSum(work, bytes, ptr + 1, ptr + 1, n, stream);
  return err ? err : cudaGetLastError();
}

/* The position of c in col[0 .. n), n when it is not found */
static __device__ __forceinline__ int PolderCoarseFind(PetscInt c, int n, const PetscInt *col)
{
  int k = 0;

  while (k < n && col[k] != c) ++k;
  return k;
}

/* Number of entries of coarse row a; more than POLDER_COARSE_ROW when it has too many for one thread */
static __device__ __noinline__ int PolderCoarseCount(PetscInt n, PetscInt a, const PetscInt *ptr, const PetscInt *row, const PetscInt *ai, const PetscInt *aj,
                                                     const PetscInt *agg)
{
  PetscInt col[POLDER_COARSE_ROW];
  int      met = 0;

  for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
    const PetscInt i = row[r], last = ai[i + 1];

    for (PetscInt k = ai[i]; k < last && met <= POLDER_COARSE_ROW; ++k) {
      const PetscInt c = agg[aj[k]];

      if (c >= n || PolderCoarseFind(c, met, col) < met) continue;
      if (met < POLDER_COARSE_ROW) col[met] = c;
      ++met;
    }
  }
  return met;
}

/* The entries of a short coarse row, in registers: all loops have constant bounds */
struct PolderCoarseFew {
  PetscInt    col[POLDER_COARSE_FEW]; /* -1: unused */
  PetscScalar val[POLDER_COARSE_FEW];
  int         met;

  __device__ __forceinline__ PolderCoarseFew() : met(0)
  {
#pragma unroll
    for (int k = 0; k < POLDER_COARSE_FEW; ++k) {
      col[k] = -1;
      val[k] = 0;
    }
  }

  /* Adds to the entry in column c; FALSE when there is no such entry */
  __device__ __forceinline__ bool add(PetscInt c, PetscScalar v)
  {
    bool there = false;

#pragma unroll
    for (int k = 0; k < POLDER_COARSE_FEW; ++k) {
      if (col[k] == c) {
        val[k] += v;
        there = true;
      }
    }
    return there;
  }

  /* Appends an entry; entries beyond the last register are only counted */
  __device__ __forceinline__ void append(PetscInt c, PetscScalar v)
  {
#pragma unroll
    for (int k = 0; k < POLDER_COARSE_FEW; ++k) {
      if (k == met) {
        col[k] = c;
        val[k] = v;
      }
    }
    ++met;
  }
};

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsCountKernel(PetscInt n, const PetscInt *__restrict__ ptr, const PetscInt *__restrict__ row, const PetscInt *__restrict__ ai,
                              const PetscInt *__restrict__ aj, const PetscInt *__restrict__ agg, PetscInt *__restrict__ length, PetscInt *info)
{
  const PetscInt  a = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PolderCoarseFew few;
  PetscInt        all = 0;

  if (a >= n) return;
  for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
    const PetscInt i = row[r], last = ai[i + 1];

    all += last - ai[i];
    for (PetscInt k = ai[i]; k < last; ++k) {
      const PetscInt c = agg[aj[k]];

      if (c < n && !few.add(c, 0)) few.append(c, 0);
    }
  }
  if (few.met > POLDER_COARSE_FEW) few.met = PolderCoarseCount(n, a, ptr, row, ai, aj, agg);
  length[a + 1] = few.met > POLDER_COARSE_ROW ? -1 : few.met;
  if (few.met > POLDER_COARSE_ROW) {
    PolderAtomicAdd(&info[0], 1);
    PolderAtomicMax(&info[1], all);
  }
}

int PolderCoarseRowsCount_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscInt agg[],
                               PetscInt length[], PetscInt info[2], PolderStream stream)
{
  if (n > 0) PolderCoarseRowsCountKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, agg, length, info);
  return cudaGetLastError();
}

/* The position of c in col[0 .. n) for all threads of a warp, n when it is not found */
static __device__ __forceinline__ PetscInt PolderCoarseFindLong(PetscInt c, PetscInt n, const PetscInt *col)
{
  const int lane = threadIdx.x % 32;

  for (PetscInt k = 0; k < n; k += 32) {
    const unsigned int there = __ballot_sync(FULL_WARP, k + lane < n && col[k + lane] == c);

    if (there) return k + __ffs(there) - 1;
  }
  return n;
}

/* A warp sums coarse row a into col[], and into val[] unless that is NULL; returns the number of entries */
static __device__ PetscInt PolderCoarseLongRow(PetscInt n, PetscInt a, const PetscInt *ptr, const PetscInt *row, const PetscInt *ai, const PetscInt *aj,
                                               const PetscScalar *aa, const PetscInt *agg, PetscInt *col, PetscScalar *val)
{
  const int lane = threadIdx.x % 32;
  PetscInt  met  = 0;

  for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
    for (PetscInt k = ai[row[r]]; k < ai[row[r] + 1]; ++k) {
      const PetscInt c = agg[aj[k]];
      PetscInt       p;

      if (c >= n) continue;
      p = PolderCoarseFindLong(c, met, col);
      if (lane == 0) {
        if (p == met) col[p] = c;
        if (val) val[p] = p == met ? aa[k] : val[p] + aa[k];
      }
      if (p == met) ++met;
      __syncwarp();
    }
  }
  return met;
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsCountLongKernel(PetscInt n, const PetscInt *ptr, const PetscInt *row, const PetscInt *ai, const PetscInt *aj, const PetscInt *agg,
                                  PetscInt *length, PetscInt warps, PetscInt width, PetscInt *scratch)
{
  const PetscInt w = ((PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x) / 32;

  for (PetscInt a = w; a < n; a += warps) {
    if (length[a + 1] >= 0) continue;
    const PetscInt met = PolderCoarseLongRow(n, a, ptr, row, ai, aj, NULL, agg, scratch + (size_t)w * (size_t)width, NULL);

    __syncwarp();
    if (threadIdx.x % 32 == 0) length[a + 1] = met;
  }
}

int PolderCoarseRowsCountLong_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscInt agg[],
                                   PetscInt length[], PetscInt warps, PetscInt width, PetscInt scratch[], PolderStream stream)
{
  PolderCoarseRowsCountLongKernel<<<PolderBlocks(32 * warps, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, agg, length, warps, width, scratch);
  return cudaGetLastError();
}

/* Does a diagonal entry cancel, relative to the sum of magnitudes of its summands? So it does when the aggregate is a connected component with zero row sums */
static __device__ __forceinline__ bool PolderCoarseCancels(PetscScalar diagonal, PetscReal size)
{
  return fabs(diagonal) < POLDER_GALERKIN_ZERO * size;
}

/* Fills coarse row a, of more than POLDER_COARSE_FEW entries */
static __device__ __noinline__ void PolderCoarseFill(PetscInt n, PetscInt a, const PetscInt *ptr, const PetscInt *row, const PetscInt *ai, const PetscInt *aj,
                                                     const PetscScalar *aa, const PetscInt *agg, const PetscInt *ci, PetscInt *cj, PetscScalar *ca)
{
  PetscInt    col[POLDER_COARSE_ROW];
  PetscScalar val[POLDER_COARSE_ROW];
  PetscReal   size = 0;
  int         met  = 0;

  for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
    const PetscInt i = row[r], last = ai[i + 1];

    for (PetscInt k = ai[i]; k < last; ++k) {
      const PetscInt c = agg[aj[k]];
      int            p;

      if (c >= n) continue;
      p = PolderCoarseFind(c, met, col);
      if (c == a) size += fabs(aa[k]);
      if (p == met) {
        col[met]   = c;
        val[met++] = aa[k];
      } else val[p] += aa[k];
    }
  }
  for (int k = 0; k < met; ++k) { // stores each entry at the rank of its column
    PetscInt before = ci[a];

    for (int l = 0; l < met; ++l) before += col[l] < col[k];
    cj[before] = col[k];
    ca[before] = col[k] == a && PolderCoarseCancels(val[k], size) ? 0 : val[k];
  }
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsFillKernel(PetscInt n, const PetscInt *__restrict__ ptr, const PetscInt *__restrict__ row, const PetscInt *__restrict__ ai,
                             const PetscInt *__restrict__ aj, const PetscScalar *__restrict__ aa, const PetscInt *__restrict__ agg,
                             const PetscInt *__restrict__ ci, PetscInt *__restrict__ cj, PetscScalar *__restrict__ ca)
{
  const PetscInt  a = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PolderCoarseFew few;
  PetscReal       size = 0;

  if (a >= n || ci[a + 1] - ci[a] > POLDER_COARSE_ROW) return;
  if (ci[a + 1] - ci[a] > POLDER_COARSE_FEW) {
    PolderCoarseFill(n, a, ptr, row, ai, aj, aa, agg, ci, cj, ca);
    return;
  }
  for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
    const PetscInt i = row[r], last = ai[i + 1];

    for (PetscInt k = ai[i]; k < last; ++k) {
      const PetscInt    c = agg[aj[k]];
      const PetscScalar v = aa[k];

      if (c == a) size += fabs(v);
      if (c < n && !few.add(c, v)) few.append(c, v);
    }
  }
#pragma unroll
  for (int k = 0; k < POLDER_COARSE_FEW; ++k) { // stores each entry at the rank of its column
    PetscInt before = ci[a];

    if (k >= few.met) break;
#pragma unroll
    for (int l = 0; l < POLDER_COARSE_FEW; ++l) before += l < few.met && few.col[l] < few.col[k];
    cj[before] = few.col[k];
    ca[before] = few.col[k] == a && PolderCoarseCancels(few.val[k], size) ? 0 : few.val[k];
  }
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsFillLongKernel(PetscInt n, const PetscInt *ptr, const PetscInt *row, const PetscInt *ai, const PetscInt *aj, const PetscScalar *aa,
                                 const PetscInt *agg, const PetscInt *ci, PetscInt *cj, PetscScalar *ca, PetscInt warps, PetscInt width, PetscInt *scratch,
                                 PetscScalar *scratchval)
{
  const PetscInt w   = ((PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x) / 32;
  PetscInt      *col = scratch + (size_t)w * (size_t)width;
  PetscScalar   *val = scratchval + (size_t)w * (size_t)width;

  for (PetscInt a = w; a < n; a += warps) {
    if (ci[a + 1] - ci[a] <= POLDER_COARSE_ROW) continue;
    const PetscInt met  = PolderCoarseLongRow(n, a, ptr, row, ai, aj, aa, agg, col, val);
    PetscReal      size = 0;

    for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
      for (PetscInt k = ai[row[r]]; k < ai[row[r] + 1]; ++k) size += agg[aj[k]] == a ? fabs(aa[k]) : 0;
    }
    for (PetscInt k = threadIdx.x % 32; k < met; k += 32) {
      PetscInt before = ci[a];

      for (PetscInt l = 0; l < met; ++l) before += col[l] < col[k];
      cj[before] = col[k];
      ca[before] = col[k] == a && PolderCoarseCancels(val[k], size) ? 0 : val[k];
    }
    __syncwarp();
  }
}

int PolderCoarseRowsFill_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[],
                              const PetscInt agg[], const PetscInt ci[], PetscInt cj[], PetscScalar ca[], PetscInt warps, PetscInt width, PetscInt scratch[],
                              PetscScalar scratchval[], PolderStream stream)
{
  if (n > 0) PolderCoarseRowsFillKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, aa, agg, ci, cj, ca);
  if (warps > 0)
    PolderCoarseRowsFillLongKernel<<<PolderBlocks(32 * warps, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, aa, agg, ci, cj, ca, warps, width,
                                                                                                        scratch, scratchval);
  return cudaGetLastError();
}

/* The position of column c in a row of ascending columns, -1 when it is not found */
static __device__ __forceinline__ PetscInt PolderCoarsePlace(PetscInt c, PetscInt begin, PetscInt end, const PetscInt *__restrict__ cj)
{
  PetscInt lo = begin, hi = end;

  while (lo < hi) {
    const PetscInt middle = (lo + hi) / 2;

    if (cj[middle] < c) lo = middle + 1;
    else hi = middle;
  }
  return lo < end && cj[lo] == c ? lo : -1;
}

/* Values of a row of more than POLDER_COARSE_FEW entries, by `threads` threads; each adds to the positions equal to its number modulo threads */
static __device__ __noinline__ void PolderCoarseRowValues(PetscInt n, PetscInt a, int thread, int threads, const PetscInt *ptr, const PetscInt *row,
                                                          const PetscInt *ai, const PetscInt *aj, const PetscScalar *aa, const PetscInt *agg,
                                                          const PetscInt *ci, const PetscInt *cj, PetscScalar *ca)
{
  const PetscInt begin = ci[a], end = ci[a + 1], diagonal = PolderCoarsePlace(a, begin, end, cj);
  PetscReal      size = 0;

  for (PetscInt k = begin + thread; k < end; k += threads) ca[k] = 0;
  for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
    const PetscInt i = row[r], last = ai[i + 1];

    for (PetscInt k = ai[i]; k < last; ++k) {
      const PetscInt c = agg[aj[k]];
      PetscInt       p;

      if (c >= n) continue;
      p = PolderCoarsePlace(c, begin, end, cj);
      if (p < 0) p = diagonal;
      if (c == a) size += fabs(aa[k]);
      if (p >= 0 && (p - begin) % threads == thread) ca[p] += aa[k];
    }
  }
  if (diagonal >= 0 && (diagonal - begin) % threads == thread && PolderCoarseCancels(ca[diagonal], size)) ca[diagonal] = 0;
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsValuesKernel(PetscInt n, const PetscInt *__restrict__ ptr, const PetscInt *__restrict__ row, const PetscInt *__restrict__ ai,
                               const PetscInt *__restrict__ aj, const PetscScalar *__restrict__ aa, const PetscInt *__restrict__ agg,
                               const PetscInt *__restrict__ ci, const PetscInt *__restrict__ cj, PetscScalar *__restrict__ ca)
{
  const PetscInt  a = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PolderCoarseFew few;
  PetscScalar     lost = 0;
  PetscReal       size = 0;

  if (a >= n || ci[a + 1] - ci[a] > POLDER_COARSE_ROW) return;
  if (ci[a + 1] - ci[a] > POLDER_COARSE_FEW) {
    PolderCoarseRowValues(n, a, 0, 1, ptr, row, ai, aj, aa, agg, ci, cj, ca);
    return;
  }
  const PetscInt begin = ci[a], end = ci[a + 1];

#pragma unroll
  for (int k = 0; k < POLDER_COARSE_FEW; ++k) {
    if (begin + k < end) few.col[k] = cj[begin + k];
  }
  for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
    const PetscInt i = row[r], last = ai[i + 1];

    for (PetscInt k = ai[i]; k < last; ++k) {
      const PetscInt    c = agg[aj[k]];
      const PetscScalar v = aa[k];

      if (c == a) size += fabs(v);
      if (c < n && !few.add(c, v)) lost += v;
    }
  }
  (void)few.add(a, lost);
#pragma unroll
  for (int k = 0; k < POLDER_COARSE_FEW; ++k) {
    if (begin + k < end) ca[begin + k] = few.col[k] == a && PolderCoarseCancels(few.val[k], size) ? 0 : few.val[k];
  }
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsValuesLongKernel(PetscInt n, const PetscInt *ptr, const PetscInt *row, const PetscInt *ai, const PetscInt *aj, const PetscScalar *aa,
                                   const PetscInt *agg, const PetscInt *ci, const PetscInt *cj, PetscScalar *ca)
{
  for (PetscInt a = ((PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x) / 32; a < n; a += POLDER_COARSE_WARPS) {
    if (ci[a + 1] - ci[a] > POLDER_COARSE_ROW) PolderCoarseRowValues(n, a, threadIdx.x % 32, 32, ptr, row, ai, aj, aa, agg, ci, cj, ca);
  }
}

int PolderCoarseRowsValues_CUDA(PetscInt n, PetscBool wide, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[],
                                const PetscScalar aa[], const PetscInt agg[], const PetscInt ci[], const PetscInt cj[], PetscScalar ca[], PolderStream stream)
{
  if (n > 0) PolderCoarseRowsValuesKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, aa, agg, ci, cj, ca);
  if (n > 0 && wide)
    PolderCoarseRowsValuesLongKernel<<<POLDER_COARSE_WARPS * 32 / POLDER_BLOCK, POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, aa, agg, ci, cj, ca);
  return cudaGetLastError();
}

int PolderRowTotals_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool rows, float to[], int *bad,
                         PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    PetscInt        at;
    const PetscReal total = PolderRowTotal(i, ai, aj, aa, &at);

    if (!(fabs(total) <= FLT_MAX)) *bad = 1;
    if (!rows) to[i] = (float)total;
    else if (at >= 0) to[at] = (float)total;
  });
}

int PolderMemberSums_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscReal d[], const PetscReal s[], PetscReal dsum[], PetscReal ssum[],
                          PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt a) {
    PetscReal da = 0, sa = 0;

    for (PetscInt k = ptr[a]; k < ptr[a + 1]; ++k) {
      da += d[row[k]];
      sa += s[row[k]];
    }
    dsum[a] = da;
    ssum[a] = sa;
  });
}

static __device__ __forceinline__ void PolderRowBad(PetscInt i, PolderRowKind kind, PetscInt64 *bad)
{
  if (kind != POLDER_ROW_GOOD) atomicMin((long long *)bad, (long long)i * 8 + kind);
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLevelRowsKernel(const __grid_constant__ PolderRows A, const __grid_constant__ PolderLevelSurvey survey, PetscReal *most, PetscInt64 *bad)
{
  const PetscInt i     = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PetscReal      bound = 0;

  if (i < A.n) {
    PolderRowSurvey s   = {0, 0, 0, -1};
    const PetscInt  end = __ldg(A.i + i + 1);

    for (PetscInt k = __ldg(A.i + i); k < end; ++k) PolderRowLook(i, k, __ldg(A.j + k), __ldg(A.a + k), &s);
    PolderRowBad(i, PolderRowJudge(&s, survey.zero), bad);
    PolderRowStore(i, &s, &survey);
    bound = PolderRowBound(&s);
  }
  for (int o = 16; o > 0; o /= 2) bound = fmax(bound, __shfl_down_sync(FULL_WARP, bound, o));
  if (threadIdx.x % 32 == 0 && bound > *(volatile PetscReal *)most)
    atomicMax((unsigned long long *)most, (unsigned long long)__double_as_longlong(bound)); // the bits of positive numbers are in the order of their values
}

int PolderLevelRows_CUDA(const PolderRows *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  if (A->n > 0) PolderLevelRowsKernel<<<PolderBlocks(A->n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*A, *survey, bound, bad);
  return cudaGetLastError();
}

/* Is the entry weak, and added to the diagonal? */
static __device__ __forceinline__ bool PolderIsWeak(PetscInt i, PetscInt j, PetscScalar a, PetscReal drop, const PetscReal *__restrict__ d)
{
  return i != j && fabs(a) <= drop * fmin(d[i], d[j]);
}

int PolderDropWeakCount_CUDA(PetscInt n, PetscReal drop, const PetscReal d[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[],
                             PetscInt length[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    PetscInt strong = 0;

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) strong += !PolderIsWeak(i, aj[k], aa[k], drop, d);
    length[i + 1] = strong;
  });
}

int PolderDropWeakFill_CUDA(PetscInt n, PetscReal drop, const PetscReal d[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[],
                            const PetscInt ci[], PetscInt cj[], PetscScalar ca[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    PetscInt    to = ci[i], diagonal = -1;
    PetscScalar weak = 0;

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      if (PolderIsWeak(i, aj[k], aa[k], drop, d)) weak += aa[k];
      else {
        if (aj[k] == i) diagonal = to;
        cj[to]   = aj[k];
        ca[to++] = aa[k];
      }
    }
    if (diagonal >= 0) ca[diagonal] += weak;
  });
}

int PolderRowsKeys_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt64 key[], PetscInt *count, PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) key[k] = (PetscInt64)i * n + aj[k];
    if (i == n - 1) *count = ai[n];
  });
}
