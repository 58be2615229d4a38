/*
  The rows of P^T A P for a P with one unit entry a row, one thread a coarse row: it looks for the aggregate of each entry among those that it has met. Rows that meet too many are
  left to a warp each. Sums are made in the order of the entries. Also what a level needs beside its rows: inverse diagonal, row sums, no weak entries.
*/
#include "foreach.cuh"
#include "index.cuh"
#include "../src/kernels/levelrow.h"
#include "../src/kernels/pairrow.h"
#include <cub/device/device_scan.cuh>

#define FULL_WARP 0xffffffffu

int PolderPointers_CUDA(PetscInt n, PetscInt ptr[], void *work, size_t bytes, PolderStream stream)
{
  cudaError_t err = cudaMemsetAsync(ptr, 0, sizeof(*ptr), stream);

  if (!err && n > 0) err = cub::DeviceScan::InclusiveSum(work, bytes, ptr + 1, ptr + 1, n, stream);
  return err ? err : cudaGetLastError();
}

/* The place of c in col[0 .. n), n when it is not there */
static __device__ __forceinline__ int PolderCoarseFind(PetscInt c, int n, const PetscInt *col)
{
  int k = 0;

  while (k < n && col[k] != c) ++k;
  return k;
}

int PolderCoarseRowsCount_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscInt agg[], PetscInt length[], PetscInt info[2], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt a) {
    const PetscInt begin = ptr[a], end         = ptr[a + 1];
    PetscInt       col[POLDER_COARSE_ROW], all = 0;
    int            met = 0;

    for (PetscInt r = begin; r < end; ++r) {
      const PetscInt i = row[r], last = ai[i + 1];

      all += last - ai[i];
      for (PetscInt k = ai[i]; k < last && met <= POLDER_COARSE_ROW; ++k) {
        const PetscInt c = agg[aj[k]];

        if (c >= n || PolderCoarseFind(c, met, col) < met) continue;
        if (met < POLDER_COARSE_ROW) col[met] = c;
        ++met;
      }
    }
    length[a + 1] = met > POLDER_COARSE_ROW ? -1 : met;
    if (met > POLDER_COARSE_ROW) {
      PolderAtomicAdd(&info[0], 1);
      PolderAtomicMax(&info[1], all);
    }
  });
}

/* The place of c in col[0 .. n) for all threads of a warp, n when it is not there */
static __device__ __forceinline__ PetscInt PolderCoarseFindLong(PetscInt c, PetscInt n, const PetscInt *col)
{
  const int lane = threadIdx.x % 32;

  for (PetscInt k = 0; k < n; k += 32) {
    const unsigned int there = __ballot_sync(FULL_WARP, k + lane < n && col[k + lane] == c);

    if (there) return k + __ffs(there) - 1;
  }
  return n;
}

/* A warp sums up coarse row a in col[], and in val[] unless that is NULL; returns the number of entries */
static __device__ PetscInt PolderCoarseLongRow(PetscInt n, PetscInt a, const PetscInt *ptr, const PetscInt *row, const PetscInt *ai, const PetscInt *aj, const PetscScalar *aa, const PetscInt *agg, PetscInt *col, PetscScalar *val)
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

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderCoarseRowsCountLongKernel(PetscInt n, const PetscInt *ptr, const PetscInt *row, const PetscInt *ai, const PetscInt *aj, const PetscInt *agg, PetscInt *length, PetscInt warps, PetscInt width, PetscInt *scratch)
{
  const PetscInt w = ((PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x) / 32;

  for (PetscInt a = w; a < n; a += warps) {
    if (length[a + 1] >= 0) continue;
    const PetscInt met = PolderCoarseLongRow(n, a, ptr, row, ai, aj, NULL, agg, scratch + (size_t)w * (size_t)width, NULL);

    __syncwarp();
    if (threadIdx.x % 32 == 0) length[a + 1] = met;
  }
}

int PolderCoarseRowsCountLong_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscInt agg[], PetscInt length[], PetscInt warps, PetscInt width, PetscInt scratch[], PolderStream stream)
{
  PolderCoarseRowsCountLongKernel<<<PolderBlocks(32 * warps, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, agg, length, warps, width, scratch);
  return cudaGetLastError();
}

/* The sizes of what was summed up on the diagonal, which cancels to zero when the aggregate is a whole component whose rows add up to zero */
static __device__ __forceinline__ bool PolderCoarseCancels(PetscScalar diagonal, PetscReal size)
{
  return fabs(diagonal) <= POLDER_GALERKIN_ZERO * size;
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderCoarseRowsFillKernel(PetscInt n, const PetscInt *__restrict__ ptr, const PetscInt *__restrict__ row, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj, const PetscScalar *__restrict__ aa, const PetscInt *__restrict__ agg, const PetscInt *__restrict__ ci, PetscInt *__restrict__ cj, PetscScalar *__restrict__ ca)
{
  const PetscInt a = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PetscInt       col[POLDER_COARSE_ROW];
  PetscScalar    val[POLDER_COARSE_ROW];
  PetscReal      size = 0;
  int            met  = 0;

  if (a >= n || ci[a + 1] - ci[a] > POLDER_COARSE_ROW) return;
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
  for (int k = 0; k < met; ++k) { // each where its column belongs
    PetscInt before = ci[a];

    for (int l = 0; l < met; ++l) before += col[l] < col[k];
    cj[before] = col[k];
    ca[before] = col[k] == a && PolderCoarseCancels(val[k], size) ? 0 : val[k];
  }
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderCoarseRowsFillLongKernel(PetscInt n, const PetscInt *ptr, const PetscInt *row, const PetscInt *ai, const PetscInt *aj, const PetscScalar *aa, const PetscInt *agg, const PetscInt *ci, PetscInt *cj, PetscScalar *ca, PetscInt warps, PetscInt width, PetscInt *scratch, PetscScalar *scratchval)
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

int PolderCoarseRowsFill_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscInt ci[], PetscInt cj[], PetscScalar ca[], PetscInt warps, PetscInt width, PetscInt scratch[], PetscScalar scratchval[], PolderStream stream)
{
  if (n > 0) PolderCoarseRowsFillKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, aa, agg, ci, cj, ca);
  if (warps > 0) PolderCoarseRowsFillLongKernel<<<PolderBlocks(32 * warps, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, aa, agg, ci, cj, ca, warps, width, scratch, scratchval);
  return cudaGetLastError();
}

/* The place of column c in a row of ascending columns, -1 when it is not there */
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

/* LONG: a warp a row, each thread for the columns whose place is its own modulo 32; else one thread */
template <bool LONG>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderCoarseRowsValuesKernel(PetscInt n, const PetscInt *__restrict__ ptr, const PetscInt *__restrict__ row, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj, const PetscScalar *__restrict__ aa, const PetscInt *__restrict__ agg, const PetscInt *__restrict__ ci, const PetscInt *__restrict__ cj, PetscScalar *__restrict__ ca)
{
  const PetscInt thread = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x, stride = LONG ? POLDER_COARSE_WARPS : n;

  for (PetscInt a = LONG ? thread / 32 : thread; a < n; a += stride) {
    const PetscInt begin = ci[a], end = ci[a + 1], diagonal = PolderCoarsePlace(a, begin, end, cj);
    PetscScalar    val[LONG ? 1 : POLDER_COARSE_ROW];
    PetscReal      size = 0;

    if (LONG ? end - begin <= POLDER_COARSE_ROW : end - begin > POLDER_COARSE_ROW) continue;
    for (PetscInt k = LONG ? begin + threadIdx.x % 32 : begin; k < end; k += LONG ? 32 : 1) {
      if (LONG) ca[k] = 0;
      else val[k - begin] = 0;
    }
    for (PetscInt r = ptr[a]; r < ptr[a + 1]; ++r) {
      const PetscInt i = row[r], last = ai[i + 1];

      for (PetscInt k = ai[i]; k < last; ++k) {
        const PetscInt c = agg[aj[k]];
        PetscInt       p;

        if (c >= n) continue;
        p = PolderCoarsePlace(c, begin, end, cj);
        if (p < 0) p = diagonal;
        if (c == a) size += fabs(aa[k]);
        if (p < 0) continue;
        if (!LONG) val[p - begin] += aa[k];
        else if ((p - begin) % 32 == (PetscInt)threadIdx.x % 32) ca[p] += aa[k];
      }
    }
    if (!LONG) {
      for (PetscInt k = begin; k < end; ++k) ca[k] = val[k - begin];
    }
    if (diagonal >= 0 && (!LONG || (diagonal - begin) % 32 == (PetscInt)threadIdx.x % 32) && PolderCoarseCancels(ca[diagonal], size)) ca[diagonal] = 0;
  }
}

int PolderCoarseRowsValues_CUDA(PetscInt n, PetscBool wide, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscInt ci[], const PetscInt cj[], PetscScalar ca[], PolderStream stream)
{
  if (n > 0) PolderCoarseRowsValuesKernel<false><<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, aa, agg, ci, cj, ca);
  if (n > 0 && wide) PolderCoarseRowsValuesKernel<true><<<POLDER_COARSE_WARPS * 32 / POLDER_BLOCK, POLDER_BLOCK, 0, stream>>>(n, ptr, row, ai, aj, aa, agg, ci, cj, ca);
  return cudaGetLastError();
}

int PolderRowSums_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscReal d[], PetscReal sum[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    const PetscInt end   = ai[i + 1];
    PetscReal      pivot = 0, total = 0;

    for (PetscInt k = ai[i]; k < end; ++k) {
      if (aj[k] == i) pivot = aa[k];
      total += aa[k];
    }
    d[i]   = pivot;
    sum[i] = total;
  });
}

static __device__ __forceinline__ void PolderRowBad(PetscInt i, PolderRowKind kind, PetscInt64 *bad)
{
  if (kind != POLDER_ROW_GOOD) atomicMin((long long *)bad, (long long)i * 8 + kind);
}

int PolderLevelRows_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool zero, PetscBool l1, PetscReal lone, PetscInt diag[], PetscReal dinv[], PetscReal d[], PetscReal sum[], PetscInt mate[], PetscInt64 *bad, PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    PolderRowSurvey s   = {0, 0, 0, -1};
    const PetscInt  end = ai[i + 1];

    for (PetscInt k = ai[i]; k < end; ++k) PolderRowLook(i, k, aj[k], aa[k], &s);
    PolderRowBad(i, PolderRowJudge(&s, zero), bad);
    if (diag) diag[i] = s.at;
    dinv[i] = PolderRowInverse(&s, l1);
    if (d) d[i] = s.pivot;
    if (sum) sum[i] = s.total;
    if (mate) mate[i] = PolderRowIsLone(&s, lone) ? POLDER_PAIR_LONE : POLDER_PAIR_FREE;
  });
}

int PolderLevelDiagonal_CUDA(PetscInt n, const PetscInt diag[], const PetscScalar aa[], PetscBool zero, PetscReal dinv[], PetscInt64 *bad, PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    const PetscReal pivot = aa[diag ? diag[i] : i];

    PolderRowBad(i, PolderPivotJudge(pivot, zero), bad);
    dinv[i] = pivot > 0 ? 1 / pivot : 0;
  });
}

/* Does the entry go to the diagonal? */
static __device__ __forceinline__ bool PolderIsWeak(PetscInt i, PetscInt j, PetscScalar a, PetscReal drop, const PetscReal *__restrict__ d)
{
  return i != j && fabs(a) <= drop * fmin(d[i], d[j]);
}

int PolderDropWeakCount_CUDA(PetscInt n, PetscReal drop, const PetscReal d[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscInt length[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    PetscInt strong = 0;

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) strong += !PolderIsWeak(i, aj[k], aa[k], drop, d);
    length[i + 1] = strong;
  });
}

int PolderDropWeakFill_CUDA(PetscInt n, PetscReal drop, const PetscReal d[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt ci[], PetscInt cj[], PetscScalar ca[], PolderStream stream)
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
