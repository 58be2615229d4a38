/* Deflation with labels: Z^T v, Z a, AZ and E = Z^T A Z. Every sum has a fixed order. */
#include "launch.cuh"
#include "kernels/deflation.h"
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

/* Divides a scratch array into aligned parts; a first pass without an array adds up the bytes */
struct PolderCarve {
  char  *base;
  size_t used;

  template <class T>
  T *take(size_t n)
  {
    T *at = (T *)(base + used);

    used += (n * sizeof(T) + 255) / 256 * 256;
    return at;
  }
};

static int PolderSortBits(PetscInt64 most)
{
  int bits = 1;

  while (bits < 63 && (most >> bits)) ++bits;
  return bits;
}

static __device__ __forceinline__ PetscInt PolderThread(void)
{
  return (PetscInt)blockIdx.x * (PetscInt)blockDim.x + (PetscInt)threadIdx.x;
}

/* ------------------------------------------------ segments ------------------------------------------------ */

static __global__ void PolderLabelsKeysKernel(PetscInt n, PetscInt nlabel, const PetscInt *__restrict__ label, unsigned int *key, PetscInt *row)
{
  const PetscInt i = PolderThread();

  if (i >= n) return;
  key[i] = (unsigned int)(label[i] < 0 ? nlabel : label[i]);
  row[i] = i;
}

static __global__ void PolderLabelsStartKernel(PetscInt n, PetscInt nlabel, const unsigned int *__restrict__ key, PetscInt *start)
{
  const PetscInt k  = PolderThread();
  PetscInt       lo = 0, hi = n;

  if (k > nlabel) return;
  while (lo < hi) {
    const PetscInt mid = lo + (hi - lo) / 2;

    if (key[mid] < (unsigned int)k) lo = mid + 1;
    else hi = mid;
  }
  start[k] = lo;
}

static size_t PolderLabelsSortBytes(PetscInt n, PetscInt nlabel)
{
  size_t bytes = 0;

  cub::DeviceRadixSort::SortPairs(NULL, bytes, (unsigned int *)NULL, (unsigned int *)NULL, (PetscInt *)NULL, (PetscInt *)NULL, n, 0, PolderSortBits(nlabel));
  return bytes;
}

size_t PolderLabelsSortWork_CUDA(PetscInt n, PetscInt nlabel)
{
  PolderCarve carve = {NULL, 0};

  carve.take<unsigned int>(n);
  carve.take<unsigned int>(n);
  carve.take<PetscInt>(n);
  carve.take<char>(PolderLabelsSortBytes(n, nlabel));
  return carve.used;
}

int PolderLabelsSort_CUDA(PetscInt n, PetscInt nlabel, const PetscInt label[], PetscInt row[], PetscInt start[], size_t bytes, void *work, PolderStream stream)
{
  PolderCarve   carve = {(char *)work, 0};
  unsigned int *key = carve.take<unsigned int>(n), *sorted = carve.take<unsigned int>(n);
  PetscInt     *before = carve.take<PetscInt>(n);
  size_t        temp   = bytes - carve.used;

  if (n) {
    PolderLabelsKeysKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, nlabel, label, key, before);
    cub::DeviceRadixSort::SortPairs(carve.base + carve.used, temp, key, sorted, before, row, n, 0, PolderSortBits(nlabel), stream);
  }
  PolderLabelsStartKernel<<<PolderBlocks(nlabel + 1, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, nlabel, sorted, start);
  return cudaGetLastError();
}

/* One block: first[] is a prefix sum over the labels */
static __global__ void __launch_bounds__(1024) PolderSegmentsFirstKernel(PetscInt nlabel, PetscInt length, const PetscInt *__restrict__ start, PetscInt *first)
{
  __shared__ PetscInt warp[32];
  const int           lane = threadIdx.x % 32, w = threadIdx.x / 32;
  PetscInt            carry = 0;

  for (PetscInt base = 0; base < nlabel; base += 1024) {
    const PetscInt k   = base + threadIdx.x;
    PetscInt       own = 0, sum;

    if (k < nlabel) own = start[k + 1] > start[k] ? (start[k + 1] - start[k] + length - 1) / length : 1;
    sum = own;
    for (int o = 1; o < 32; o *= 2) {
      const PetscInt left = __shfl_up_sync(0xffffffffu, sum, o);

      if (lane >= o) sum += left;
    }
    if (lane == 31) warp[w] = sum;
    __syncthreads();
    for (int v = 0; v < w; ++v) sum += warp[v];
    if (k < nlabel) first[k] = carry + sum - own;
    for (int v = 0; v < 32; ++v) carry += warp[v];
    __syncthreads();
  }
  if (threadIdx.x == 0) first[nlabel] = carry;
}

/* One block for each label */
static __global__ void PolderSegmentsCutKernel(PetscInt nlabel, PetscInt length, const PetscInt *__restrict__ start, const PetscInt *__restrict__ first,
                                               PetscInt *ptr, PetscInt *label)
{
  const PetscInt k = blockIdx.x, n = first[k + 1] - first[k];

  for (PetscInt s = threadIdx.x; s < n; s += blockDim.x) {
    ptr[first[k] + s]   = start[k] + s * length;
    label[first[k] + s] = k;
  }
  if (k == nlabel - 1 && threadIdx.x == 0) ptr[first[nlabel]] = start[nlabel];
}

int PolderSegmentsMake_CUDA(PetscInt nlabel, PetscInt length, const PetscInt start[], PetscInt first[], PetscInt ptr[], PetscInt label[], PolderStream stream)
{
  if (!nlabel) return cudaSuccess;
  PolderSegmentsFirstKernel<<<1, 1024, 0, stream>>>(nlabel, length, start, first);
  PolderSegmentsCutKernel<<<nlabel, 64, 0, stream>>>(nlabel, length, start, first, ptr, label);
  return cudaGetLastError();
}

/* Items that a thread loads before their values are available */
#define SEGMENT_AHEAD 8

/* The sum over the threads of a segment, returned in the first of them */
template <int THREADS>
static __device__ __forceinline__ double PolderSegmentSum(double v)
{
  return THREADS == 32 ? PolderWarpSum(v) : PolderBlockSum<POLDER_BLOCK>(v);
}

/* A warp or a block for each segment; the last one of a label to end adds the label's segments */
template <int THREADS, bool WEIGHTED>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderSegmentSumsKernel(PetscInt nlabel, const PetscInt *__restrict__ first, const PetscInt *__restrict__ ptr, const PetscInt *__restrict__ label,
                          const PetscInt *__restrict__ item, const PetscScalar *__restrict__ weight, const PetscScalar *v, PetscScalar *sum,
                          unsigned int *counter, PetscScalar alpha, const PetscScalar *y, PetscScalar *a)
{
  const PetscInt s    = (PetscInt)(blockIdx.x * (POLDER_BLOCK / THREADS) + threadIdx.x / THREADS);
  const int      t    = threadIdx.x % THREADS;
  double         here = 0, scale[SEGMENT_AHEAD];
  bool           last = false;
  PetscInt       at[SEGMENT_AHEAD];

  PolderRelease();
  if (s >= first[nlabel]) return;
  const PetscInt begin = ptr[s] + t, end = ptr[s + 1], l = label[s], f = first[l], n = first[l + 1] - f;

#pragma unroll
  for (int k = 0; k < SEGMENT_AHEAD; ++k) {
    const bool in = begin + THREADS * k < end;

    at[k]    = in ? item[begin + THREADS * k] : 0;
    scale[k] = !in ? 0 : WEIGHTED ? weight[begin + THREADS * k] : 1;
  }
  PolderAwait();
#pragma unroll
  for (int k = 0; k < SEGMENT_AHEAD; ++k) {
    if (begin + THREADS * k < end) here += WEIGHTED ? scale[k] * __ldcg(v + at[k]) : __ldcg(v + at[k]);
  }
#pragma unroll 8
  for (PetscInt k = begin + THREADS * SEGMENT_AHEAD; k < end; k += THREADS) here += WEIGHTED ? weight[k] * __ldcg(v + item[k]) : __ldcg(v + item[k]);
  here = PolderSegmentSum<THREADS>(here);
  if (n > 1) {
    if (t == 0) {
      sum[s] = here;
      __threadfence();
      last = atomicInc(&counter[l], (unsigned int)(n - 1)) == (unsigned int)(n - 1);
    }
    last = THREADS == 32 ? __shfl_sync(0xffffffffu, last, 0) : __syncthreads_or(last);
    if (!last) return;
    __threadfence();
    here = 0;
    for (PetscInt k = t; k < n; k += THREADS) here += __ldcg(&sum[f + k]);
    here = PolderSegmentSum<THREADS>(here);
  }
  if (t == 0) a[l] = (y ? y[l] : 0) + alpha * here;
}

template <int THREADS>
static void PolderSegmentSumsLaunch(PetscInt nlabel, PetscInt most, const PetscInt *first, const PetscInt *ptr, const PetscInt *label, const PetscInt *item,
                                    const PetscScalar *weight, const PetscScalar *v, PetscScalar *sum, unsigned int *counter, PetscScalar alpha,
                                    const PetscScalar *y, PetscScalar *a, bool early, PolderStream stream)
{
  PolderLaunchKernel(early, weight ? PolderSegmentSumsKernel<THREADS, true> : PolderSegmentSumsKernel<THREADS, false>,
                     PolderBlocks(most, POLDER_BLOCK / THREADS), POLDER_BLOCK, stream, nlabel, first, ptr, label, item, weight, v, sum, counter, alpha, y, a);
}

int PolderSegmentSums_CUDA(PetscInt nlabel, PetscInt most, PetscBool wide, const PetscInt first[], const PetscInt ptr[], const PetscInt label[],
                           const PetscInt item[], const PetscScalar weight[], const PetscScalar v[], PetscScalar sum[], unsigned int counter[],
                           PetscScalar alpha, const PetscScalar y[], PetscScalar a[], PetscBool early, PolderStream stream)
{
  if (nlabel && wide) PolderSegmentSumsLaunch<POLDER_BLOCK>(nlabel, most, first, ptr, label, item, weight, v, sum, counter, alpha, y, a, early, stream);
  else if (nlabel) PolderSegmentSumsLaunch<32>(nlabel, most, first, ptr, label, item, weight, v, sum, counter, alpha, y, a, early, stream);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLabelsProlongAddKernel(PetscInt n, const PetscInt *__restrict__ label, PetscScalar alpha, const PetscScalar *__restrict__ a, PetscScalar *x)
{
  const PetscInt i = PolderThread();

  if (i < n && label[i] >= 0) x[i] += alpha * a[label[i]];
}

int PolderLabelsProlongAdd_CUDA(PetscInt n, const PetscInt label[], PetscScalar alpha, const PetscScalar a[], PetscScalar x[], PolderStream stream)
{
  if (n) PolderLabelsProlongAddKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, label, alpha, a, x);
  return cudaGetLastError();
}

/* Entries of a row that are loaded before a is available */
#define ROW_AHEAD 3

/* The first block computes the dot product */
template <bool ROW>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderRowsMultAddKernel(PetscInt n, const PetscInt *__restrict__ row, const PetscInt *__restrict__ ptr, const PetscInt *__restrict__ col,
                          const PetscScalar *__restrict__ val, PetscScalar alpha, const PetscScalar *a, PetscScalar *v, PetscInt d, const PetscScalar *b,
                          PetscScalar *dot)
{
  const PetscInt k = PolderThread(), i = k < n && ROW ? row[k] : k, begin = k < n ? ptr[k] : 0, end = k < n ? ptr[k + 1] : 0;
  PetscInt       at[ROW_AHEAD];
  double         s = 0, entry[ROW_AHEAD];

#pragma unroll
  for (int j = 0; j < ROW_AHEAD; ++j) {
    at[j]    = begin + j < end ? col[begin + j] : 0;
    entry[j] = begin + j < end ? val[begin + j] : 0;
  }
  PolderAwait();
  if (k < n) {
    const double old = v[i];

#pragma unroll
    for (int j = 0; j < ROW_AHEAD; ++j) {
      if (begin + j < end) s += entry[j] * a[at[j]];
    }
    for (PetscInt j = begin + ROW_AHEAD; j < end; ++j) s += val[j] * a[col[j]];
    v[i] = old + alpha * s;
  }
  if (!dot || blockIdx.x) return;
  s = 0;
#pragma unroll 4
  for (PetscInt j = (PetscInt)threadIdx.x; j < d; j += POLDER_BLOCK) s += b[j] * a[j];
  s = PolderBlockSum<POLDER_BLOCK>(s);
  if (threadIdx.x == 0) *dot += alpha * s;
}

int PolderRowsMultAdd_CUDA(PetscInt n, const PetscInt row[], const PetscInt ptr[], const PetscInt col[], const PetscScalar val[], PetscScalar alpha,
                           const PetscScalar a[], PetscScalar v[], PetscInt d, const PetscScalar b[], PetscScalar *dot, PetscBool early, PolderStream stream)
{
  const unsigned int blocks = PetscMax(PolderBlocks(n, POLDER_BLOCK), dot ? 1 : 0);

  if (blocks)
    PolderLaunchKernel(early, row ? PolderRowsMultAddKernel<true> : PolderRowsMultAddKernel<false>, blocks, POLDER_BLOCK, stream, n, row, ptr, col, val, alpha,
                       a, v, d, b, dot);
  return cudaGetLastError();
}

/* ------------------------------------------------ AZ ------------------------------------------------ */

/* The entries of a row: calls visit(label of the column, value) for each, in order; visit() of both structs returns the number of entries */
struct PolderRowsCSR {
  const PetscInt    *ai, *aj;
  const PetscScalar *aa;

  template <class Visit>
  __device__ __forceinline__ PetscInt each(PetscInt i, const PetscInt *__restrict__ label, Visit visit) const
  {
    const PetscInt begin = ai[i], end = ai[i + 1];

    for (PetscInt k = begin; k < end; ++k) visit(label[aj[k]], aa[k]);
    return end - begin;
  }
};

/* ND diagonals, all loaded before the first is used; ND = 0: nd diagonals, one after the other */
template <int ND>
struct PolderRowsDia {
  PetscInt           m, nd, off[POLDER_LABEL_DIAGONALS];
  const PetscScalar *val[POLDER_LABEL_DIAGONALS];

  template <class Visit>
  __device__ __forceinline__ PetscInt each(PetscInt i, const PetscInt *__restrict__ label, Visit visit) const
  {
    constexpr int at = ND ? ND : 1;
    PetscInt      n  = 0, l[at];
    PetscScalar   a[at];

    for (PetscInt first = 0; first < nd; first += at) {
#pragma unroll
      for (int d = 0; d < at; ++d) {
        const PetscInt j = i + off[first + d];

        a[d] = j < 0 || j >= m ? 0 : val[first + d][i];
        l[d] = j < 0 || j >= m ? -1 : label[j];
      }
#pragma unroll
      for (int d = 0; d < at; ++d) {
        if (a[d] == 0) continue;
        visit(l[d], a[d]);
        ++n;
      }
    }
    return n;
  }
};

/* The distinct labels of a row and their sums: up to four in registers; more, by reading the row again for each */
struct PolderRowSums {
  PetscInt n, col[4];
  double   val[4];

  __device__ __forceinline__ void add(PetscInt l, double a)
  {
    bool found = false;

#pragma unroll
    for (int c = 0; c < 4; ++c) {
      if (c < n && col[c] == l) {
        val[c] += a;
        found = true;
      }
    }
    if (found) return;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      if (c == n) {
        col[c] = l;
        val[c] = a;
      }
    }
    ++n; // beyond 4, labels may be counted more than once
  }
};

/* Calls first(l, its sum) for every distinct label of row i, in order of appearance */
template <class Rows, class First>
static __device__ void PolderRowLabels(const Rows &rows, PetscInt i, const PetscInt *__restrict__ label, First first)
{
  PetscInt here = 0;

  rows.each(i, label, [&](PetscInt l, double) {
    PetscInt before = 0;
    bool     seen   = l < 0;
    double   sum    = 0;

    if (!seen)
      rows.each(i, label, [&](PetscInt other, double a) {
        if (other == l) {
          seen = seen || before < here;
          sum += a;
        }
        ++before;
      });
    if (!seen) first(l, sum);
    ++here;
  });
}

template <class Rows>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLabelRowsCountKernel(PetscInt m, const Rows rows, const PetscInt *__restrict__ label, PetscInt *count, int *flags)
{
  const PetscInt i   = PolderThread();
  double         sum = 0, abs = 0, labelled = 0;
  PetscInt       n, distinct = 0, seen[4] = {-1, -1, -1, -1};

  if (i >= m) return;
  n = rows.each(i, label, [&](PetscInt l, double a) {
    sum += a;
    abs += fabs(a);
    if (l < 0) return;
    labelled += a;
    if (l == seen[0] || l == seen[1] || l == seen[2] || l == seen[3]) return;
#pragma unroll
    for (int c = 0; c < 4; ++c) seen[c] = c == distinct ? l : seen[c];
    ++distinct; // beyond 4, labels may be counted more than once
  });
  if (distinct > 4) {
    distinct = 0;
    PolderRowLabels(rows, i, label, [&](PetscInt, double) { ++distinct; });
  }
  abs *= (4 + n) * PETSC_MACHINE_EPSILON;
  if (fabs(sum) > abs) flags[0] = 1;
  if (label[i] < 0) flags[1] = 1;
  count[i] = distinct == 1 && fabs(labelled) <= abs ? 0 : distinct; // with a single label, labelled is the sum over all columns
}

/* One thread for each row with entries: few rows have any, and a thread for every row would be idle mostly */
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLabelRowsListKernel(PetscInt m, const PetscInt *__restrict__ count, const PetscInt64 *__restrict__ scan, PetscInt *row, PetscInt *ptr)
{
  const PetscInt i = PolderThread();

  if (i >= m || !count[i]) return;
  const PetscInt k = (PetscInt)(scan[i] >> 32) - 1;

  row[k]     = i;
  ptr[k + 1] = (PetscInt)(scan[i] & 0xffffffff);
}

template <class Rows>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLabelRowsFillKernel(PetscInt nrow, const Rows                   rows, const PetscInt *__restrict__ label, const PetscInt *__restrict__ row,
                            const PetscInt *__restrict__ ptr, PetscInt *col, PetscScalar *val)
{
  const PetscInt k = PolderThread();
  PolderRowSums  sums;

  if (k >= nrow) return;
  const PetscInt i = row[k], n = ptr[k + 1] - ptr[k];
  PetscInt       at = ptr[k];

  if (n > 4) {
    PolderRowLabels(rows, i, label, [&](PetscInt l, double sum) {
      col[at]   = l;
      val[at++] = sum;
    });
    return;
  }
  sums.n = 0;
  rows.each(i, label, [&](PetscInt l, double a) {
    if (l >= 0) sums.add(l, a);
  });
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    if (c < n) {
      col[at + c] = sums.col[c];
      val[at + c] = sums.val[c];
    }
  }
}

template <class Rows>
static int PolderLabelRowsCount(PetscInt m, const Rows &rows, const PetscInt label[], PetscInt count[], int flags[], PolderStream stream)
{
  if (m) PolderLabelRowsCountKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, rows, label, count, flags);
  return cudaGetLastError();
}

template <class Rows>
static int PolderLabelRowsFill(PetscInt m, const Rows &rows, const PetscInt label[], const PetscInt count[], const PetscInt64 scan[], PetscInt nrow,
                               PetscInt row[], PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream)
{
  if (!nrow) return cudaSuccess;
  PolderLabelRowsListKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, count, scan, row, ptr);
  PolderLabelRowsFillKernel<<<PolderBlocks(nrow, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(nrow, rows, label, row, ptr, col, val);
  return cudaGetLastError();
}

template <int ND>
static PolderRowsDia<ND> PolderRowsFromDia(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const val[])
{
  PolderRowsDia<ND> rows;

  rows.m  = m;
  rows.nd = nd;
  for (PetscInt d = 0; d < nd; ++d) {
    rows.off[d] = off[d];
    rows.val[d] = val[d];
  }
  return rows;
}

int PolderLabelRowsCount_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[], PetscInt count[],
                              int flags[], PolderStream stream)
{
  return PolderLabelRowsCount(m, PolderRowsCSR{ai, aj, aa}, label, count, flags, stream);
}

int PolderLabelRowsCountDia_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscInt label[], PetscInt count[],
                                 int flags[], PolderStream stream)
{
  if (nd == 5) return PolderLabelRowsCount(m, PolderRowsFromDia<5>(m, nd, off, val), label, count, flags, stream);
  if (nd == 7) return PolderLabelRowsCount(m, PolderRowsFromDia<7>(m, nd, off, val), label, count, flags, stream);
  return PolderLabelRowsCount(m, PolderRowsFromDia<0>(m, nd, off, val), label, count, flags, stream);
}

int PolderLabelRowsFill_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt label[], const PetscInt count[],
                             const PetscInt64 scan[], PetscInt nrow, PetscInt row[], PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream)
{
  return PolderLabelRowsFill(m, PolderRowsCSR{ai, aj, aa}, label, count, scan, nrow, row, ptr, col, val, stream);
}

int PolderLabelRowsFillDia_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const dia[], const PetscInt label[], const PetscInt count[],
                                const PetscInt64 scan[], PetscInt nrow, PetscInt row[], PetscInt ptr[], PetscInt col[], PetscScalar val[], PolderStream stream)
{
  if (nd == 5) return PolderLabelRowsFill(m, PolderRowsFromDia<5>(m, nd, off, dia), label, count, scan, nrow, row, ptr, col, val, stream);
  if (nd == 7) return PolderLabelRowsFill(m, PolderRowsFromDia<7>(m, nd, off, dia), label, count, scan, nrow, row, ptr, col, val, stream);
  return PolderLabelRowsFill(m, PolderRowsFromDia<0>(m, nd, off, dia), label, count, scan, nrow, row, ptr, col, val, stream);
}

struct PolderPackCount {
  __host__ __device__ PetscInt64 operator()(PetscInt count) const { return ((PetscInt64)(count > 0) << 32) + count; }
};

size_t PolderRowsScanWork_CUDA(PetscInt m)
{
  size_t bytes = 0;

  cub::DeviceScan::InclusiveSum(NULL, bytes, thrust::make_transform_iterator((const PetscInt *)NULL, PolderPackCount()), (PetscInt64 *)NULL, m);
  return bytes;
}

int PolderRowsScan_CUDA(PetscInt m, const PetscInt count[], PetscInt64 scan[], size_t bytes, void *work, PolderStream stream)
{
  if (m) cub::DeviceScan::InclusiveSum(work, bytes, thrust::make_transform_iterator(count, PolderPackCount()), scan, m, stream);
  return cudaGetLastError();
}

/* ------------------------------------------------ E ------------------------------------------------ */

/* Keys of the entries (k, j) of AZ: the label of row k and the column j; rows without label come last */
static __global__ void PolderGalerkinKeysKernel(PetscInt d, PetscInt nrow, const PetscInt *__restrict__ label, const PetscInt *__restrict__ row,
                                                const PetscInt *__restrict__ ptr, const PetscInt *__restrict__ col, PetscInt64 *key)
{
  const PetscInt k = PolderThread();

  if (k >= nrow) return;
  const PetscInt64 l = label[row[k]];

  for (PetscInt j = ptr[k]; j < ptr[k + 1]; ++j) key[j] = l < 0 ? (PetscInt64)d * d : l * d + col[j];
}

struct PolderKeyBegins {
  const PetscInt64 *key;

  __host__ __device__ bool operator()(PetscInt k) const { return k == 0 || key[k] != key[k - 1]; }
};

/* THREADS threads for each run of equal keys */
template <int THREADS>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderGalerkinSumsKernel(PetscInt nz, const PetscInt                     *n, const PetscInt *__restrict__ begin, const PetscInt64 *__restrict__ key,
                           const PetscScalar *__restrict__ val, PetscInt64 *ekey, PetscScalar *eval)
{
  const int      each = POLDER_BLOCK / THREADS, t = threadIdx.x % THREADS;
  const PetscInt most = *n;

  for (PetscInt r = (PetscInt)(blockIdx.x * each + threadIdx.x / THREADS); r < most; r += (PetscInt)(gridDim.x * each)) {
    const PetscInt end = r + 1 < most ? begin[r + 1] : nz;
    double         sum = 0;

#pragma unroll 4
    for (PetscInt k = begin[r] + t; k < end; k += THREADS) sum += val[k];
    sum = THREADS == 32 ? PolderWarpSum(sum) : PolderBlockSum<POLDER_BLOCK>(sum);
    if (t == 0) {
      ekey[r] = key[begin[r]];
      eval[r] = sum;
    }
  }
}

static size_t PolderGalerkinBytes(PetscInt d, PetscInt nz)
{
  size_t sort = 0, select = 0;

  cub::DeviceRadixSort::SortPairs(NULL, sort, (PetscInt64 *)NULL, (PetscInt64 *)NULL, (PetscScalar *)NULL, (PetscScalar *)NULL, nz, 0,
                                  PolderSortBits((PetscInt64)d * d));
  cub::DeviceSelect::If(NULL, select, thrust::counting_iterator<PetscInt>(0), (PetscInt *)NULL, (PetscInt *)NULL, nz, PolderKeyBegins{NULL});
  return sort > select ? sort : select;
}

size_t PolderGalerkinWork_CUDA(PetscInt d, PetscInt nz)
{
  PolderCarve carve = {NULL, 0};

  carve.take<PetscInt64>(nz);
  carve.take<PetscInt64>(nz);
  carve.take<PetscScalar>(nz);
  carve.take<PetscInt>(nz);
  carve.take<char>(PolderGalerkinBytes(d, nz));
  return carve.used;
}

int PolderGalerkin_CUDA(PetscInt d, PetscInt nrow, PetscInt nz, const PetscInt label[], const PetscInt row[], const PetscInt ptr[], const PetscInt col[],
                        const PetscScalar val[], PetscInt *n, PetscInt64 ekey[], PetscScalar eval[], size_t bytes, void *work, PolderStream stream)
{
  PolderCarve  carve = {(char *)work, 0};
  PetscInt64  *key = carve.take<PetscInt64>(nz), *sorted = carve.take<PetscInt64>(nz);
  PetscScalar *values = carve.take<PetscScalar>(nz);
  PetscInt    *begin  = carve.take<PetscInt>(nz);
  size_t       temp   = bytes - carve.used;
  char        *at     = carve.base + carve.used;

  if (!nz) return cudaMemsetAsync(n, 0, sizeof(*n), stream);
  PolderGalerkinKeysKernel<<<PolderBlocks(nrow, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(d, nrow, label, row, ptr, col, key);
  cub::DeviceRadixSort::SortPairs(at, temp, key, sorted, val, values, nz, 0, PolderSortBits((PetscInt64)d * d), stream);
  cub::DeviceSelect::If(at, temp, thrust::counting_iterator<PetscInt>(0), begin, n, nz, PolderKeyBegins{sorted}, stream);
  if ((PetscInt64)nz > 16384 * (PetscInt64)d)
    PolderGalerkinSumsKernel<POLDER_BLOCK><<<1024, POLDER_BLOCK, 0, stream>>>(nz, n, begin, sorted, values, ekey, eval);
  else PolderGalerkinSumsKernel<32><<<1024, POLDER_BLOCK, 0, stream>>>(nz, n, begin, sorted, values, ekey, eval);
  return cudaGetLastError();
}

static __global__ void PolderEntriesGatherKernel(PetscInt nz, PetscInt nrow, const PetscInt *__restrict__ row, const PetscInt *__restrict__ ptr,
                                                 const PetscScalar *__restrict__ val, const PetscInt *__restrict__ entry, PetscInt *item, PetscScalar *weight)
{
  const PetscInt p  = PolderThread();
  PetscInt       lo = 0, hi = nrow - 1;

  if (p >= nz) return;
  while (lo < hi) { // finds the last nonempty row that begins at or before the entry
    const PetscInt mid = lo + (hi - lo + 1) / 2;

    if (ptr[mid] <= entry[p]) lo = mid;
    else hi = mid - 1;
  }
  item[p]   = row ? row[lo] : lo;
  weight[p] = val[entry[p]];
}

int PolderEntriesGather_CUDA(PetscInt nz, PetscInt nrow, const PetscInt row[], const PetscInt ptr[], const PetscScalar val[], const PetscInt entry[],
                             PetscInt item[], PetscScalar weight[], PolderStream stream)
{
  if (nz) PolderEntriesGatherKernel<<<PolderBlocks(nz, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(nz, nrow, row, ptr, val, entry, item, weight);
  return cudaGetLastError();
}
