/*
  The device form of aijicrs and aijhec. Rows of at most `cap` entries are stored in slices of 32 rows, sorted by length within windows where that saves
  padding, with the k-th entries of the rows adjacent. A slice stores its columns as 16-bit distances from the smallest column of each step if they fit, else
  as 32-bit numbers. Longer rows are cut into segments of at most POLDER_SEGMENT entries, a warp for each; the warp that ends last adds the sums of the
  segments in their order.
*/
#include "launch.cuh"
#include "kernels/slices.h"
#include <cub/device/device_scan.cuh>

/* Steps whose loads are issued together */
#define POLDER_SLICE_BATCH 8
/* Rows of a window for sorting */
#define POLDER_SLICE_WINDOW 1024
/* Warps of a block */
#define POLDER_WARPS (POLDER_BLOCK / 32)

size_t PolderScanWork_CUDA(PetscInt n)
{
  size_t bytes = 0;

  (void)cub::DeviceScan::InclusiveSum(NULL, bytes, (int *)NULL, (int *)NULL, (int)n);
  return bytes;
}

int PolderScan_CUDA(PetscInt n, int a[], void *work, size_t bytes, PolderStream stream)
{
  cudaError_t err = cudaMemsetAsync(a, 0, sizeof(*a), stream);

  if (!err && n > 0) err = cub::DeviceScan::InclusiveSum(work, bytes, a + 1, a + 1, (int)n, stream);
  return err ? err : cudaGetLastError();
}

static __global__ void PolderRowHistogramKernel(PetscInt m, const PetscInt *__restrict__ ai, int nbin, int *__restrict__ count)
{
  extern __shared__ int bin[];

  for (int b = threadIdx.x; b < nbin; b += POLDER_BLOCK) bin[b] = 0;
  __syncthreads();
  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < m; i += (PetscInt)gridDim.x * POLDER_BLOCK) {
    const PetscInt len = ai[i + 1] - ai[i];

    atomicAdd(&bin[len < nbin ? (int)len : nbin - 1], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < nbin; b += POLDER_BLOCK) {
    if (bin[b]) atomicAdd(&count[b], bin[b]);
  }
}

int PolderRowHistogram_CUDA(PetscInt m, const PetscInt ai[], int nbin, int count[], PolderStream stream)
{
  if (m > 0) PolderRowHistogramKernel<<<PolderStrideBlocks(m), POLDER_BLOCK, nbin * sizeof(int), stream>>>(m, ai, nbin, count);
  return cudaGetLastError();
}

/* A bitonic sort of one window; the position in the window breaks ties, which makes the sort stable. Long rows come last, as -1 */
static __global__ void __launch_bounds__(POLDER_SLICE_WINDOW / 2)
  PolderSlicesSortKernel(PetscInt m, int cap, const PetscInt *__restrict__ ai, int *__restrict__ row)
{
  __shared__ unsigned int key[POLDER_SLICE_WINDOW];
  const PetscInt          start = (PetscInt)blockIdx.x * POLDER_SLICE_WINDOW;

  for (int t = threadIdx.x; t < POLDER_SLICE_WINDOW; t += POLDER_SLICE_WINDOW / 2) {
    const PetscInt i = start + t;

    key[t] = 0xffffffffu;
    if (i < m) {
      const PetscInt len = ai[i + 1] - ai[i];

      key[t] = (unsigned int)(len > cap ? cap + 1 : cap - (int)len) * POLDER_SLICE_WINDOW + (unsigned int)t;
    }
  }
  for (int size = 2; size <= POLDER_SLICE_WINDOW; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      const int t  = threadIdx.x;
      const int lo = 2 * t - (t & (step - 1)), hi = lo + step;

      __syncthreads();
      if ((key[lo] > key[hi]) == !(lo & size)) {
        const unsigned int k = key[lo];

        key[lo] = key[hi];
        key[hi] = k;
      }
    }
  }
  __syncthreads();
  for (int t = threadIdx.x; t < POLDER_SLICE_WINDOW; t += POLDER_SLICE_WINDOW / 2) {
    if (start + t < m) row[start + t] = key[t] / POLDER_SLICE_WINDOW > (unsigned int)cap ? -1 : (int)(start + key[t] % POLDER_SLICE_WINDOW);
  }
}

int PolderSlicesSort_CUDA(PetscInt m, int cap, const PetscInt ai[], int row[], PolderStream stream)
{
  if (m > 0) PolderSlicesSortKernel<<<PolderBlocks(m, POLDER_SLICE_WINDOW), POLDER_SLICE_WINDOW / 2, 0, stream>>>(m, cap, ai, row);
  return cudaGetLastError();
}

/* The row at position p of the slices: its first entry and its length; none beyond the last row, and in place of a long row */
struct PolderSliceRow {
  PetscInt start;
  int      len;
};

static __device__ __forceinline__ PolderSliceRow PolderSliceRowOf(PetscInt m, PetscInt p, const int *__restrict__ row, const PetscInt *__restrict__ ai)
{
  const PetscInt i = p < m ? (row ? row[p] : p) : -1;
  PolderSliceRow r = {0, 0};

  if (i >= 0) {
    r.start = ai[i];
    r.len   = (int)(ai[i + 1] - ai[i]);
  }
  return r;
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderSlicesSizeKernel(const __grid_constant__ PolderSlices S, const PetscInt *__restrict__ ai,
                                                                              const PetscInt *__restrict__ aj, int *__restrict__ ptr, int *__restrict__ unit)
{
  const int s = (int)(((size_t)blockIdx.x * POLDER_BLOCK + threadIdx.x) / 32), lane = threadIdx.x % 32;

  if (s >= S.nslice) return;
  const PolderSliceRow r     = PolderSliceRowOf(S.m, (PetscInt)s * 32 + lane, S.row, ai);
  const int            width = __reduce_max_sync(0xffffffffu, r.len);
  bool                 fits  = true;

  for (int k = 0; k < width; ++k) {
    const int c  = k < r.len ? (int)aj[r.start + k] : 0;
    const int lo = __reduce_min_sync(0xffffffffu, k < r.len ? c : INT_MAX), hi = __reduce_max_sync(0xffffffffu, c);

    fits = fits && hi - lo < 65536;
  }
  if (lane == 0) {
    ptr[s + 1]  = width;
    unit[s + 1] = fits ? width : 2 * width;
  }
}

int PolderSlicesSize_CUDA(const PolderSlices *S, PolderRows A, int ptr[], int unit[], PolderStream stream)
{
  if (S->nslice > 0) PolderSlicesSizeKernel<<<PolderBlocks(S->nslice, POLDER_WARPS), POLDER_BLOCK, 0, stream>>>(*S, A.i, A.j, ptr, unit);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderSlicesFillKernel(const __grid_constant__ PolderSlices S, const __grid_constant__ PolderRows A, int *__restrict__ base, unsigned short *__restrict__ col,
                         PetscScalar *__restrict__ val)
{
  const int s = (int)(((size_t)blockIdx.x * POLDER_BLOCK + threadIdx.x) / 32), lane = threadIdx.x % 32;

  if (s >= S.nslice) return;
  const PolderSliceRow r = PolderSliceRowOf(S.m, (PetscInt)s * 32 + lane, S.row, A.i);
  const int            p = S.ptr[s], width = S.ptr[s + 1] - p, u = S.unit[s];
  const bool           narrow = S.unit[s + 1] - u == width;

  for (int k = 0; k < width; ++k) {
    const bool in = k < r.len;

    val[(size_t)32 * (p + k) + lane] = in ? __ldg(A.a + r.start + k) : 0.0;
    if (!col) continue;
    const int c  = in ? (int)__ldg(A.j + r.start + k) : INT_MAX;
    const int lo = __reduce_min_sync(0xffffffffu, c);

    if (lane == 0) base[p + k] = lo;
    if (narrow) col[(size_t)32 * (u + k) + lane] = (unsigned short)(in ? c - lo : 0);
    else ((int *)(col + (size_t)32 * (u + 2 * k)))[lane] = in ? c : lo;
  }
}

int PolderSlicesFill_CUDA(const PolderSlices *S, PolderRows A, int base[], unsigned short col[], PetscScalar val[], PolderStream stream)
{
  if (S->nslice > 0) PolderSlicesFillKernel<<<PolderBlocks(S->nslice, POLDER_WARPS), POLDER_BLOCK, 0, stream>>>(*S, A, base, col, val);
  return cudaGetLastError();
}

/* The sum over N steps of a slice for one lane, all of whose loads are issued before the first use; col(k) is the column of step k */
template <int N, class Column>
static __device__ __forceinline__ PetscScalar PolderSliceSteps(int k0, const PetscScalar *__restrict__ v, const PetscScalar *__restrict__ x, Column col)
{
  int         c[N];
  PetscScalar a[N], sum = 0.0;

#pragma unroll
  for (int b = 0; b < N; ++b) {
    c[b] = col(k0 + b);
    a[b] = __ldcs(v + (size_t)32 * (k0 + b));
  }
#pragma unroll
  for (int b = 0; b < N; ++b) sum += a[b] * __ldg(x + c[b]);
  return sum;
}

template <class Column>
static __device__ __forceinline__ PetscScalar PolderSliceSum(int width, const PetscScalar *__restrict__ v, const PetscScalar *__restrict__ x, Column col)
{
  PetscScalar sum = 0.0;
  int         k   = 0;

  for (; k + POLDER_SLICE_BATCH <= width; k += POLDER_SLICE_BATCH) sum += PolderSliceSteps<POLDER_SLICE_BATCH>(k, v, x, col);
  switch (width - k) {
  case 1:
    return sum + PolderSliceSteps<1>(k, v, x, col);
  case 2:
    return sum + PolderSliceSteps<2>(k, v, x, col);
  case 3:
    return sum + PolderSliceSteps<3>(k, v, x, col);
#if POLDER_SLICE_BATCH > 4
  case 4:
    return sum + PolderSliceSteps<4>(k, v, x, col);
  case 5:
    return sum + PolderSliceSteps<5>(k, v, x, col);
#endif
#if POLDER_SLICE_BATCH > 6
  case 6:
    return sum + PolderSliceSteps<6>(k, v, x, col);
  case 7:
    return sum + PolderSliceSteps<7>(k, v, x, col);
#endif
  default:
    return sum;
  }
}

static __device__ __forceinline__ PetscScalar PolderSlice(int s, int lane, const int *__restrict__ ptr, const int *__restrict__ unit,
                                                          const int *__restrict__ base, const unsigned short *__restrict__ col,
                                                          const PetscScalar *__restrict__ val, const PetscScalar *__restrict__ x)
{
  const int                   p = ptr[s], width = ptr[s + 1] - p, u = unit[s];
  const PetscScalar *const    v = val + (size_t)32 * p + lane;
  const unsigned short *const c = col + (size_t)32 * u;

  if (unit[s + 1] - u == width) {
    const int *const b = base + p;

    return PolderSliceSum(width, v, x, [=](int k) { return __ldg(b + k) + __ldcs(c + 32 * k + lane); });
  }
  return PolderSliceSum(width, v, x, [=](int k) { return __ldcs((const int *)(c + 64 * (size_t)k) + lane); });
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLongRowsCountKernel(PetscInt m, int cap, const PetscInt *__restrict__ ai, int *__restrict__ entry, int *__restrict__ segment, int *__restrict__ lrow)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;

  if (i >= m) return;
  const PetscInt len = ai[i + 1] - ai[i];

  entry[i + 1]   = len > cap ? (int)len : 0;
  segment[i + 1] = len > cap ? (int)((len + POLDER_SEGMENT - 1) / POLDER_SEGMENT) : 0;
  lrow[i + 1]    = len > cap;
}

int PolderLongRowsCount_CUDA(PetscInt m, int cap, const PetscInt ai[], PolderLongRowCounts count, PolderStream stream)
{
  if (m > 0) PolderLongRowsCountKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, cap, ai, count.entry, count.segment, count.row);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLongRowsMakeKernel(PetscInt m, const int *__restrict__ entry, const int *__restrict__ segment, const int *__restrict__ lrow, int *__restrict__ row,
                           int *__restrict__ first, int *__restrict__ owner, int *__restrict__ start)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;

  if (i >= m) return;
  const int l = lrow[i];

  if (i == m - 1) {
    first[lrow[m]]    = segment[m];
    start[segment[m]] = entry[m];
  }
  if (lrow[i + 1] == l) return;
  row[l]   = (int)i;
  first[l] = segment[i];
  for (int s = segment[i]; s < segment[i + 1]; ++s) {
    owner[s] = l;
    start[s] = entry[i] + (s - segment[i]) * POLDER_SEGMENT;
  }
}

int PolderLongRowsMake_CUDA(PetscInt m, PolderLongRowCounts scanned, int lrow[], int first[], int owner[], int start[], PolderStream stream)
{
  if (m > 0)
    PolderLongRowsMakeKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, scanned.entry, scanned.segment, scanned.row, lrow, first, owner,
                                                                                         start);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLongRowsFillKernel(const __grid_constant__ PolderSlices S, const __grid_constant__ PolderRows A, int *__restrict__ col, PetscScalar *__restrict__ val)
{
  const PetscInt *__restrict__ aj    = A.j;
  const PetscScalar *__restrict__ aa = A.a;
  const int *__restrict__ start      = S.start;
  const int s = (int)(((size_t)blockIdx.x * POLDER_BLOCK + threadIdx.x) / 32), lane = threadIdx.x % 32;

  if (s >= S.nseg) return;
  const PetscInt from = A.i[S.lrow[S.owner[s]]] - start[S.first[S.owner[s]]];

  for (int k = start[s] + lane; k < start[s + 1]; k += 32) {
    val[k] = aa[from + k];
    if (col) col[k] = (int)aj[from + k];
  }
}

int PolderLongRowsFill_CUDA(const PolderSlices *S, PolderRows A, int col[], PetscScalar val[], PolderStream stream)
{
  if (S->nseg > 0) PolderLongRowsFillKernel<<<PolderBlocks(S->nseg, POLDER_WARPS), POLDER_BLOCK, 0, stream>>>(*S, A, col, val);
  return cudaGetLastError();
}

/* A warp computes one segment, and completes the row if its segment is the last of the row to end; returns the sum of the segment */
static __device__ PetscScalar PolderLongRowSegment(int s, int lane, const PolderSlices &S, PetscScalar alpha, const PetscScalar *__restrict__ x,
                                                   const PetscScalar *y, PetscScalar *z)
{
  const int   l = S.owner[s], begin = S.start[s], end = S.start[s + 1], s0 = S.first[l], n = S.first[l + 1] - s0;
  PetscScalar ax   = 0.0, sum;
  bool        last = true;

  for (int k0 = begin; k0 < end; k0 += 32 * POLDER_SLICE_BATCH) { // beyond the end, the last entry is read again and ignored
    int         c[POLDER_SLICE_BATCH];
    PetscScalar a[POLDER_SLICE_BATCH];

#pragma unroll
    for (int b = 0; b < POLDER_SLICE_BATCH; ++b) {
      const int k = k0 + 32 * b + lane, safe = k < end ? k : end - 1;

      c[b] = __ldcs(S.lcol + safe);
      a[b] = __ldcs(S.lval + safe);
      if (k >= end) a[b] = 0.0;
    }
#pragma unroll
    for (int b = 0; b < POLDER_SLICE_BATCH; ++b) ax += a[b] * __ldg(x + c[b]);
  }
  sum = ax = PolderWarpSum(ax);
  if (n > 1) {
    if (lane == 0) {
      S.part[s] = ax;
      __threadfence();
      last = atomicInc(&S.counter[l], n - 1) == (unsigned int)(n - 1);
    }
    last = __shfl_sync(0xffffffffu, last, 0);
    if (!last) return sum;
    __threadfence();
    ax = 0.0;
    for (int k = lane; k < n; k += 32) ax += __ldcg(S.part + s0 + k);
    ax = PolderWarpSum(ax);
  }
  if (lane == 0) z[S.lrow[l]] = (y ? y[S.lrow[l]] : 0.0) + alpha * ax;
  return sum;
}

/* PLAIN: slices only, with rows in their order. Otherwise the first blocks process segments, which take longest */
template <bool DOT, bool PLAIN>
static __global__ void __launch_bounds__(POLDER_BLOCK, PLAIN ? 6 : 5)
  PolderSlicesMultKernel(const PolderSlices S, PetscScalar alpha, const PetscScalar *__restrict__ x, const PetscScalar *y, PetscScalar *z, PetscScalar *dot,
                         PolderReduceScratch *scratch)
{
  PolderBegin();
  const int lane = threadIdx.x % 32, segments = PLAIN ? 0 : (S.nseg + POLDER_WARPS - 1) / POLDER_WARPS,
            blocks = segments + (S.nslice + POLDER_WARPS - 1) / POLDER_WARPS;
  double sum[1]    = {0.0};

  for (int b = blockIdx.x; b < blocks; b += gridDim.x) {
    if (!PLAIN && b < segments) {
      const int s = b * POLDER_WARPS + (int)threadIdx.x / 32;

      if (s < S.nseg) {
        const PetscScalar ax = PolderLongRowSegment(s, lane, S, alpha, x, y, z);

        if (DOT && lane == 0) sum[0] += x[S.lrow[S.owner[s]]] * ax;
      }
    } else {
      const int      s = (b - segments) * POLDER_WARPS + (int)threadIdx.x / 32;
      const PetscInt p = (PetscInt)s * 32 + lane;

      if (s < S.nslice) {
        const PetscScalar ax = PolderSlice(s, lane, S.ptr, S.unit, S.base, S.col, S.val, x);
        const PetscInt    i  = p < S.m ? (!PLAIN && S.row ? S.row[p] : p) : -1;

        if (i >= 0) {
          z[i] = (y ? y[i] : 0.0) + alpha * ax;
          if (DOT) sum[0] += x[i] * ax;
        }
      }
    }
    if (!DOT) break;
  }
  if (DOT) PolderGridSum<POLDER_BLOCK>(sum, scratch, [=](const double *t) { *dot = t[0]; });
}

int PolderSlicesMult_CUDA(const PolderSlices *S, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work,
                          PolderStream stream)
{
  const unsigned int   all = PolderBlocks(S->nseg, POLDER_WARPS) + PolderBlocks(S->nslice, POLDER_WARPS), least = all ? all : 1;
  const unsigned int   blocks  = dot && least > POLDER_REDUCE_BLOCKS ? POLDER_REDUCE_BLOCKS : least;
  const bool           plain   = !S->row && !S->nseg;
  PolderReduceScratch *scratch = (PolderReduceScratch *)work;

  if (dot && plain) PolderLaunchEarly(PolderSlicesMultKernel<true, true>, blocks, POLDER_BLOCK, stream, *S, alpha, x, y, z, dot, scratch);
  else if (dot) PolderLaunchEarly(PolderSlicesMultKernel<true, false>, blocks, POLDER_BLOCK, stream, *S, alpha, x, y, z, dot, scratch);
  else if (plain) PolderLaunchEarly(PolderSlicesMultKernel<false, true>, blocks, POLDER_BLOCK, stream, *S, alpha, x, y, z, NULL, NULL);
  else PolderLaunchEarly(PolderSlicesMultKernel<false, false>, blocks, POLDER_BLOCK, stream, *S, alpha, x, y, z, NULL, NULL);
  return cudaGetLastError();
}
