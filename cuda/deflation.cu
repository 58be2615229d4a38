/* Deflation with labels: the rows of each label, Z^T v, Z a, and products with AZ. Every sum has a fixed order. */
#include "deflation.cuh"
#include <cub/device/device_radix_sort.cuh>

/* ------------------------------------------------ rows by label, sums over them ------------------------------------------------ */

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
    sum = PolderWarpUntil(own);
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
  PolderSegmentSumsKernel(const PolderSegments segments, const PetscInt *__restrict__ item, const PetscScalar *__restrict__ weight, const PetscScalar *v,
                          PetscScalar alpha, const PetscScalar *y, PetscScalar *a)
{
  const PetscInt *__restrict__ first = segments.first, *__restrict__ ptr = segments.ptr, *__restrict__ label = segments.label;
  PetscScalar *const sum  = segments.sum;
  const PetscInt     s    = (PetscInt)(blockIdx.x * (POLDER_BLOCK / THREADS) + threadIdx.x / THREADS);
  const int          t    = threadIdx.x % THREADS;
  double             here = 0, scale[SEGMENT_AHEAD];
  bool               last = false;
  PetscInt           at[SEGMENT_AHEAD];

  PolderRelease();
  if (s >= first[segments.nlabel]) {
    PolderAwait();
    return;
  }
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
      last = atomicInc(&segments.counter[l], (unsigned int)(n - 1)) == (unsigned int)(n - 1);
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
static void PolderSegmentSumsLaunch(const PolderSegments *s, const PetscScalar *v, PetscScalar alpha, const PetscScalar *y, PetscScalar *a, bool early,
                                    PolderStream stream)
{
  PolderLaunchKernel(early, s->weight ? PolderSegmentSumsKernel<THREADS, true> : PolderSegmentSumsKernel<THREADS, false>,
                     PolderBlocks(s->most, POLDER_BLOCK / THREADS), POLDER_BLOCK, stream, *s, s->item, s->weight, v, alpha, y, a);
}

int PolderSegmentSums_CUDA(const PolderSegments *s, const PetscScalar v[], PetscScalar alpha, const PetscScalar y[], PetscScalar a[], PetscBool early,
                           PolderStream stream)
{
  if (s->nlabel && s->blocks) PolderSegmentSumsLaunch<POLDER_BLOCK>(s, v, alpha, y, a, early, stream);
  else if (s->nlabel) PolderSegmentSumsLaunch<32>(s, v, alpha, y, a, early, stream);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLabelsProlongAddKernel(PetscInt n, const PetscInt *__restrict__ label, PetscScalar alpha, const PetscScalar *__restrict__ a, PetscScalar *x)
{
  PolderBegin();
  const PetscInt i = PolderThread();

  if (i < n && label[i] >= 0) x[i] += alpha * a[label[i]];
}

int PolderLabelsProlongAdd_CUDA(PetscInt n, const PetscInt label[], PetscScalar alpha, const PetscScalar a[], PetscScalar x[], PolderStream stream)
{
  if (n) PolderLaunchEarly(PolderLabelsProlongAddKernel, PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, stream, n, label, alpha, a, x);
  return cudaGetLastError();
}

/* Entries of a row that are loaded before a is available */
#define ROW_AHEAD 3

/* The first block computes the dot product */
template <bool ROW>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderRowsMultAddKernel(const PolderSparseRows W, PetscScalar alpha, const PetscScalar *a, PetscScalar *v, const PolderCoarseDot dot)
{
  const PetscInt *__restrict__ row = W.row, *__restrict__ ptr = W.ptr, *__restrict__ col = W.col;
  const PetscScalar *__restrict__ val = W.val;
  const PetscInt n                    = W.n;
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
  if (!dot.dot || blockIdx.x) return;
  s = 0;
#pragma unroll 4
  for (PetscInt j = (PetscInt)threadIdx.x; j < dot.n; j += POLDER_BLOCK) s += dot.b[j] * a[j];
  s = PolderBlockSum<POLDER_BLOCK>(s);
  if (threadIdx.x == 0) *dot.dot += alpha * s;
}

int PolderRowsMultAdd_CUDA(const PolderSparseRows *W, PetscScalar alpha, const PetscScalar a[], PetscScalar v[], PolderCoarseDot dot, PetscBool early,
                           PolderStream stream)
{
  const unsigned int blocks = PetscMax(PolderBlocks(W->n, POLDER_BLOCK), dot.dot ? 1 : 0);

  if (blocks)
    PolderLaunchKernel(early, W->row ? PolderRowsMultAddKernel<true> : PolderRowsMultAddKernel<false>, blocks, POLDER_BLOCK, stream, *W, alpha, a, v, dot);
  return cudaGetLastError();
}
