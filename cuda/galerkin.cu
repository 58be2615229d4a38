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
#include "kernels/level.h"
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

/*
  Calls body(c, k) for the entries k of the rows of A in aggregate a, whose columns are in aggregate c, P.n for none. The bodies test c: a test here would
  double the registers of some
*/
template <class Body>
static __device__ __forceinline__ void PolderCoarseEntries(const PolderAggregates &P, const PolderRows &A, PetscInt a, Body body)
{
  for (PetscInt r = __ldg(P.ptr + a), end = __ldg(P.ptr + a + 1); r < end; ++r) {
    const PetscInt i = __ldg(P.row + r), last = __ldg(A.i + i + 1);

    for (PetscInt k = __ldg(A.i + i); k < last; ++k) {
      const PetscInt c = __ldg(P.agg + __ldg(A.j + k));

      body(c, k);
    }
  }
}

/* Number of entries of coarse row a; more than POLDER_COARSE_ROW when it has too many for one thread */
static __device__ __noinline__ int PolderCoarseCount(const PolderAggregates &P, const PolderRows &A, PetscInt a)
{
  PetscInt col[POLDER_COARSE_ROW];
  int      met = 0;

  PolderCoarseEntries(P, A, a, [&](PetscInt c, PetscInt) {
    if (c >= P.n || met > POLDER_COARSE_ROW || PolderCoarseFind(c, met, col) < met) return;
    if (met < POLDER_COARSE_ROW) col[met] = c;
    ++met;
  });
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
  PolderCoarseRowsCountKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, PetscInt *__restrict__ length, PetscInt *info)
{
  const PetscInt  a = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PolderCoarseFew few;

  if (a >= P.n) return;
  PolderCoarseEntries(P, A, a, [&](PetscInt c, PetscInt) {
    if (c < P.n && !few.add(c, 0)) few.append(c, 0);
  });
  if (few.met > POLDER_COARSE_FEW) few.met = PolderCoarseCount(P, A, a);
  length[a + 1] = few.met > POLDER_COARSE_ROW ? -1 : few.met;
  if (few.met > POLDER_COARSE_ROW) {
    PetscInt all = 0;

    for (PetscInt r = P.ptr[a]; r < P.ptr[a + 1]; ++r) all += A.i[P.row[r] + 1] - A.i[P.row[r]];
    PolderAtomicAdd(&info[0], 1);
    PolderAtomicMax(&info[1], all);
  }
}

int PolderCoarseRowsCount_CUDA(const PolderAggregates *P, const PolderRows *A, PetscInt length[], PetscInt info[2], PolderStream stream)
{
  if (P->n > 0) PolderCoarseRowsCountKernel<<<PolderBlocks(P->n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*P, *A, length, info);
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
static __device__ PetscInt PolderCoarseLongRow(const PolderAggregates &P, const PolderRows &A, PetscInt a, PetscInt *col, PetscScalar *val)
{
  const int lane = threadIdx.x % 32;
  PetscInt  met  = 0;

  PolderCoarseEntries(P, A, a, [&](PetscInt c, PetscInt k) {
    if (c >= P.n) return;
    const PetscInt p = PolderCoarseFindLong(c, met, col);

    if (lane == 0) {
      if (p == met) col[p] = c;
      if (val) val[p] = p == met ? A.a[k] : val[p] + A.a[k];
    }
    if (p == met) ++met;
    __syncwarp();
  });
  return met;
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsCountLongKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A,
                                  const __grid_constant__ PolderCoarseScratch scratch, PetscInt *length)
{
  const PetscInt w = ((PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x) / 32;

  for (PetscInt a = w; a < P.n; a += scratch.warps) {
    if (length[a + 1] >= 0) continue;
    const PetscInt met = PolderCoarseLongRow(P, A, a, scratch.col + (size_t)w * (size_t)scratch.width, NULL);

    __syncwarp();
    if (threadIdx.x % 32 == 0) length[a + 1] = met;
  }
}

int PolderCoarseRowsCountLong_CUDA(const PolderAggregates *P, const PolderRows *A, const PolderCoarseScratch *scratch, PetscInt length[], PolderStream stream)
{
  PolderCoarseRowsCountLongKernel<<<PolderBlocks(32 * scratch->warps, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*P, *A, *scratch, length);
  return cudaGetLastError();
}

/* Does a diagonal entry cancel, relative to the sum of magnitudes of its summands? So it does when the aggregate is a connected component with zero row sums */
static __device__ __forceinline__ bool PolderCoarseCancels(PetscScalar diagonal, PetscReal size)
{
  return fabs(diagonal) < POLDER_GALERKIN_ZERO * size;
}

/* Fills coarse row a, of more than POLDER_COARSE_FEW entries */
static __device__ __noinline__ void PolderCoarseFill(const PolderAggregates &P, const PolderRows &A, PetscInt a, const PolderSparseRows &C)
{
  PetscInt    col[POLDER_COARSE_ROW];
  PetscScalar val[POLDER_COARSE_ROW];
  PetscReal   size = 0;
  int         met  = 0;

  PolderCoarseEntries(P, A, a, [&](PetscInt c, PetscInt k) {
    if (c >= P.n) return;
    const int p = PolderCoarseFind(c, met, col);

    if (c == a) size += fabs(A.a[k]);
    if (p == met) {
      col[met]   = c;
      val[met++] = A.a[k];
    } else val[p] += A.a[k];
  });
  for (int k = 0; k < met; ++k) { // stores each entry at the rank of its column
    PetscInt before = C.ptr[a];

    for (int l = 0; l < met; ++l) before += col[l] < col[k];
    C.col[before] = col[k];
    C.val[before] = col[k] == a && PolderCoarseCancels(val[k], size) ? 0 : val[k];
  }
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsFillKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderSparseRows C)
{
  const PetscInt  a = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PolderCoarseFew few;
  PetscReal       size = 0;

  if (a >= P.n) return;
  const PetscInt begin = __ldg(C.ptr + a), entries = __ldg(C.ptr + a + 1) - begin;

  if (entries > POLDER_COARSE_ROW) return;
  if (entries > POLDER_COARSE_FEW) {
    PolderCoarseFill(P, A, a, C);
    return;
  }
  PolderCoarseEntries(P, A, a, [&](PetscInt c, PetscInt k) {
    const PetscScalar v = __ldg(A.a + k);

    if (c == a) size += fabs(v);
    if (c < P.n && !few.add(c, v)) few.append(c, v);
  });
#pragma unroll
  for (int k = 0; k < POLDER_COARSE_FEW; ++k) { // stores each entry at the rank of its column
    PetscInt before = begin;

    if (k >= few.met) break;
#pragma unroll
    for (int l = 0; l < POLDER_COARSE_FEW; ++l) before += l < few.met && few.col[l] < few.col[k];
    C.col[before] = few.col[k];
    C.val[before] = few.col[k] == a && PolderCoarseCancels(few.val[k], size) ? 0 : few.val[k];
  }
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsFillLongKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A,
                                 const __grid_constant__ PolderCoarseScratch scratch, const __grid_constant__ PolderSparseRows C)
{
  const PetscInt w   = ((PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x) / 32;
  PetscInt      *col = scratch.col + (size_t)w * (size_t)scratch.width;
  PetscScalar   *val = scratch.val + (size_t)w * (size_t)scratch.width;

  for (PetscInt a = w; a < P.n; a += scratch.warps) {
    if (C.ptr[a + 1] - C.ptr[a] <= POLDER_COARSE_ROW) continue;
    const PetscInt met  = PolderCoarseLongRow(P, A, a, col, val);
    PetscReal      size = 0;

    PolderCoarseEntries(P, A, a, [&](PetscInt c, PetscInt k) { size += c == a ? fabs(A.a[k]) : 0; });
    for (PetscInt k = threadIdx.x % 32; k < met; k += 32) {
      PetscInt before = C.ptr[a];

      for (PetscInt l = 0; l < met; ++l) before += col[l] < col[k];
      C.col[before] = col[k];
      C.val[before] = col[k] == a && PolderCoarseCancels(val[k], size) ? 0 : val[k];
    }
    __syncwarp();
  }
}

int PolderCoarseRowsFill_CUDA(const PolderAggregates *P, const PolderRows *A, const PolderCoarseScratch *scratch, const PolderSparseRows *C,
                              PolderStream stream)
{
  if (P->n > 0) PolderCoarseRowsFillKernel<<<PolderBlocks(P->n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*P, *A, *C);
  if (scratch->warps > 0) PolderCoarseRowsFillLongKernel<<<PolderBlocks(32 * scratch->warps, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*P, *A, *scratch, *C);
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
static __device__ __noinline__ void PolderCoarseRowValues(const PolderAggregates &P, const PolderRows &A, PetscInt a, int thread, int threads,
                                                          const PolderSparseRows &C)
{
  const PetscInt begin = C.ptr[a], end = C.ptr[a + 1], diagonal = PolderCoarsePlace(a, begin, end, C.col);
  PetscReal      size = 0;

  for (PetscInt k = begin + thread; k < end; k += threads) C.val[k] = 0;
  PolderCoarseEntries(P, A, a, [&](PetscInt c, PetscInt k) {
    if (c >= P.n) return;
    PetscInt p = PolderCoarsePlace(c, begin, end, C.col);

    if (p < 0) p = diagonal;
    if (c == a) size += fabs(A.a[k]);
    if (p >= 0 && (p - begin) % threads == thread) C.val[p] += A.a[k];
  });
  if (diagonal >= 0 && (diagonal - begin) % threads == thread && PolderCoarseCancels(C.val[diagonal], size)) C.val[diagonal] = 0;
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsValuesKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderSparseRows C)
{
  const PetscInt  a = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PolderCoarseFew few;
  PetscScalar     lost = 0;
  PetscReal       size = 0;

  if (a >= P.n) return;
  const PetscInt begin = __ldg(C.ptr + a), end = __ldg(C.ptr + a + 1);

  if (end - begin > POLDER_COARSE_ROW) return;
  if (end - begin > POLDER_COARSE_FEW) {
    PolderCoarseRowValues(P, A, a, 0, 1, C);
    return;
  }
#pragma unroll
  for (int k = 0; k < POLDER_COARSE_FEW; ++k) {
    if (begin + k < end) few.col[k] = C.col[begin + k];
  }
  PolderCoarseEntries(P, A, a, [&](PetscInt c, PetscInt k) {
    const PetscScalar v = __ldg(A.a + k);

    if (c == a) size += fabs(v);
    if (c < P.n && !few.add(c, v)) lost += v;
  });
  (void)few.add(a, lost);
#pragma unroll
  for (int k = 0; k < POLDER_COARSE_FEW; ++k) {
    if (begin + k < end) C.val[begin + k] = few.col[k] == a && PolderCoarseCancels(few.val[k], size) ? 0 : few.val[k];
  }
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsValuesLongKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderSparseRows C)
{
  for (PetscInt a = ((PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x) / 32; a < P.n; a += POLDER_COARSE_WARPS) {
    if (C.ptr[a + 1] - C.ptr[a] > POLDER_COARSE_ROW) PolderCoarseRowValues(P, A, a, threadIdx.x % 32, 32, C);
  }
}

int PolderCoarseRowsValues_CUDA(const PolderAggregates *P, const PolderRows *A, PetscBool longrows, const PolderSparseRows *C, PolderStream stream)
{
  if (P->n > 0) PolderCoarseRowsValuesKernel<<<PolderBlocks(P->n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(*P, *A, *C);
  if (P->n > 0 && longrows) PolderCoarseRowsValuesLongKernel<<<POLDER_COARSE_WARPS * 32 / POLDER_BLOCK, POLDER_BLOCK, 0, stream>>>(*P, *A, *C);
  return cudaGetLastError();
}

int PolderRowTotals_CUDA(const PolderRows *rows, PetscBool inrows, float to[], int *bad, PolderStream stream)
{
  const PolderRows A = *rows;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) {
    PetscInt        at;
    const PetscReal total = PolderRowTotal(i, &A, &at);

    if (!(fabs(total) <= FLT_MAX)) *bad = 1;
    if (!inrows) to[i] = (float)total;
    else if (at >= 0) to[at] = (float)total;
  });
}

int PolderMemberSums_CUDA(const PolderAggregates *aggregates, const PetscReal d[], const PetscReal s[], PetscReal dsum[], PetscReal ssum[], PolderStream stream)
{
  const PolderAggregates P = *aggregates;

  return PolderForEach(P.n, stream, [=] __device__(PetscInt a) {
    PetscReal da = 0, sa = 0;

    for (PetscInt k = P.ptr[a]; k < P.ptr[a + 1]; ++k) {
      da += d[P.row[k]];
      sa += s[P.row[k]];
    }
    dsum[a] = da;
    ssum[a] = sa;
  });
}

static __device__ __forceinline__ void PolderRowBad(PetscInt i, PolderRowKind kind, PetscInt64 *bad)
{
  if (kind != POLDER_ROW_GOOD) atomicMin((long long *)bad, (long long)i * 8 + kind);
}

/* The rows of a matrix, and what a row has */
struct SurveyRows {
  PolderRows A;

  __device__ __forceinline__ PolderRowSurvey look(PetscInt i) const
  {
    PolderRowSurvey s   = {0, 0, 0, -1};
    const PetscInt  end = __ldg(A.i + i + 1);

    for (PetscInt k = __ldg(A.i + i); k < end; ++k) PolderRowLook(i, k, __ldg(A.j + k), __ldg(A.a + k), &s);
    return s;
  }
};

/* ND = 0: any number of diagonals */
template <int ND>
struct SurveyDia {
  PetscInt           n, nd, off[POLDER_LEVEL_DIAGONALS];
  const PetscScalar *val[POLDER_LEVEL_DIAGONALS];

  __device__ __forceinline__ PolderRowSurvey look(PetscInt i) const
  {
    PolderRowSurvey s = {0, 0, 0, -1};

#pragma unroll(ND ? ND : 4)
    for (int d = 0; d < (ND ? ND : nd); ++d) {
      const PetscInt j = i + off[d];

      if (j >= 0 && j < n) PolderRowLook(i, d, j, __ldg(val[d] + i), &s);
    }
    return s;
  }
};

template <class Rows>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLevelRowsKernel(PetscInt n, const __grid_constant__ Rows rows, const __grid_constant__ PolderLevelSurvey survey, PetscReal *most, PetscInt64 *bad)
{
  const PetscInt i     = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PetscReal      bound = 0;

  if (i < n) {
    const PolderRowSurvey s = rows.look(i);

    PolderRowBad(i, PolderRowJudge(&s, survey.zero), bad);
    PolderRowStore(i, &s, &survey);
    bound = PolderRowBound(&s);
  }
  for (int o = 16; o > 0; o /= 2) bound = fmax(bound, __shfl_down_sync(FULL_WARP, bound, o));
  if (threadIdx.x % 32 == 0 && bound > *(volatile PetscReal *)most)
    atomicMax((unsigned long long *)most, (unsigned long long)__double_as_longlong(bound)); // the bits of positive numbers are in the order of their values
}

template <class Rows>
static int SurveyLaunch(PetscInt n, const Rows &rows, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  if (n > 0) PolderLevelRowsKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, rows, *survey, bound, bad);
  return cudaGetLastError();
}

template <int ND>
static int SurveyDiaLaunch(const PolderDia *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  SurveyDia<ND> D;

  D.n  = A->n;
  D.nd = A->nd;
  for (PetscInt d = 0; d < A->nd; ++d) {
    D.off[d] = A->off[d];
    D.val[d] = A->val[d];
  }
  return SurveyLaunch(A->m, D, survey, bound, bad, stream);
}

int PolderLevelDiaRows_CUDA(const PolderDia *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  if (A->nd > POLDER_LEVEL_DIAGONALS) return (int)cudaErrorInvalidValue;
  if (A->nd == 7) return SurveyDiaLaunch<7>(A, survey, bound, bad, stream);
  return A->nd == 5 ? SurveyDiaLaunch<5>(A, survey, bound, bad, stream) : SurveyDiaLaunch<0>(A, survey, bound, bad, stream);
}

int PolderLevelRows_CUDA(const PolderRows *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream)
{
  return SurveyLaunch(A->n, SurveyRows{*A}, survey, bound, bad, stream);
}

/* Is the entry weak, and added to the diagonal? */
static __device__ __forceinline__ bool PolderIsWeak(PetscInt i, PetscInt j, PetscScalar a, PetscReal drop, const PetscReal *__restrict__ d)
{
  return i != j && fabs(a) <= drop * fmin(d[i], d[j]);
}

int PolderDropWeakCount_CUDA(const PolderRows *rows, PetscReal drop, const PetscReal d[], PetscInt length[], PolderStream stream)
{
  const PolderRows A = *rows;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) {
    PetscInt strong = 0;

    for (PetscInt k = A.i[i]; k < A.i[i + 1]; ++k) strong += !PolderIsWeak(i, A.j[k], A.a[k], drop, d);
    length[i + 1] = strong;
  });
}

int PolderDropWeakFill_CUDA(const PolderRows *rows, PetscReal drop, const PetscReal d[], const PolderSparseRows *strong, PolderStream stream)
{
  const PolderRows       A = *rows;
  const PolderSparseRows C = *strong;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) {
    PetscInt    to = C.ptr[i], diagonal = -1;
    PetscScalar weak = 0;

    for (PetscInt k = A.i[i]; k < A.i[i + 1]; ++k) {
      if (PolderIsWeak(i, A.j[k], A.a[k], drop, d)) weak += A.a[k];
      else {
        if (A.j[k] == i) diagonal = to;
        C.col[to]   = A.j[k];
        C.val[to++] = A.a[k];
      }
    }
    if (diagonal >= 0) C.val[diagonal] += weak;
  });
}

int PolderRowsKeys_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], PetscInt64 key[], PetscInt *count, PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) key[k] = (PetscInt64)i * n + aj[k];
    if (i == n - 1) *count = ai[n];
  });
}
