/* The matrices of deflation with labels: AZ and E = Z^T A Z. Every sum has a fixed order. */
#include "deflation.cuh"
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

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

/* Rows of which some have entries in columns of other processes as well: a second block, with labels of its own */
template <class Rows>
struct PolderRowsGhosts {
  Rows            own;
  PolderRowsCSR   ghosts;
  const PetscInt *ghostlabel;

  template <class Visit>
  __device__ __forceinline__ PetscInt each(PetscInt i, const PetscInt *__restrict__ label, Visit visit) const
  {
    const PetscInt n = own.each(i, label, visit);

    return n + ghosts.each(i, ghostlabel, visit);
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

/* Calls act with the rows and, where there is a second block, with its entries behind them */
template <class Rows, class Do>
static int PolderRowsDo(const Rows &rows, const PolderRows &B, const PetscInt *ghostlabel, Do act)
{
  if (B.i)
    act(PolderRowsGhosts<Rows>{
      rows, {B.i, B.j, B.a},
       ghostlabel
    });
  else act(rows);
  return cudaGetLastError();
}

template <class Rows>
static int PolderLabelRowsCount(PetscInt m, const Rows &own, const PetscInt label[], const PolderRows &B, const PetscInt ghostlabel[], PetscInt count[],
                                int flags[], PolderStream stream)
{
  if (!m) return cudaSuccess;
  return PolderRowsDo(own, B, ghostlabel, [=](const auto &rows) {
    PolderLabelRowsCountKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, rows, label, count, flags);
  });
}

template <class Rows>
static int PolderLabelRowsFill(PetscInt m, const Rows &own, const PetscInt label[], const PolderRows &B, const PetscInt ghostlabel[], const PetscInt count[],
                               const PetscInt64 scan[], const PolderSparseRows &W, PolderStream stream)
{
  if (!W.n) return cudaSuccess;
  PolderLabelRowsListKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, count, scan, W.row, W.ptr);
  return PolderRowsDo(own, B, ghostlabel, [=](const auto &rows) {
    PolderLabelRowsFillKernel<<<PolderBlocks(W.n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(W.n, rows, label, W.row, W.ptr, W.col, W.val);
  });
}

template <int ND>
static PolderRowsDia<ND> PolderRowsFromDia(const PolderDia *A)
{
  PolderRowsDia<ND> rows;

  rows.m  = A->m;
  rows.nd = A->nd;
  for (PetscInt d = 0; d < A->nd; ++d) {
    rows.off[d] = A->off[d];
    rows.val[d] = A->val[d];
  }
  return rows;
}

/* Calls act with the diagonals */
template <class Do>
static int PolderDiaDo(const PolderDia *A, Do act)
{
  if (A->nd == 5) return act(PolderRowsFromDia<5>(A));
  if (A->nd == 7) return act(PolderRowsFromDia<7>(A));
  return act(PolderRowsFromDia<0>(A));
}

int PolderLabelRowsCount_CUDA(PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], PetscInt count[], int flags[],
                              PolderStream stream)
{
  return PolderLabelRowsCount(A.n, PolderRowsCSR{A.i, A.j, A.a}, label, B, ghostlabel, count, flags, stream);
}

int PolderLabelRowsCountDia_CUDA(const PolderDia *A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], PetscInt count[], int flags[],
                                 PolderStream stream)
{
  return PolderDiaDo(A, [=](const auto &rows) { return PolderLabelRowsCount(A->m, rows, label, B, ghostlabel, count, flags, stream); });
}

int PolderLabelRowsFill_CUDA(PolderRows A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], const PetscInt count[], const PetscInt64 scan[],
                             const PolderSparseRows *W, PolderStream stream)
{
  return PolderLabelRowsFill(A.n, PolderRowsCSR{A.i, A.j, A.a}, label, B, ghostlabel, count, scan, *W, stream);
}

int PolderLabelRowsFillDia_CUDA(const PolderDia *A, const PetscInt label[], PolderRows B, const PetscInt ghostlabel[], const PetscInt count[],
                                const PetscInt64 scan[], const PolderSparseRows *W, PolderStream stream)
{
  return PolderDiaDo(A, [=](const auto &rows) { return PolderLabelRowsFill(A->m, rows, label, B, ghostlabel, count, scan, *W, stream); });
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

int PolderGalerkin_CUDA(PetscInt d, const PetscInt label[], const PolderSparseRows *W, PolderKeyedEntries E, size_t bytes, void *work, PolderStream stream)
{
  const PetscInt nz    = W->nz;
  PolderCarve    carve = {(char *)work, 0};
  PetscInt64    *key = carve.take<PetscInt64>(nz), *sorted = carve.take<PetscInt64>(nz);
  PetscScalar   *values = carve.take<PetscScalar>(nz);
  PetscInt      *begin  = carve.take<PetscInt>(nz);
  size_t         temp   = bytes - carve.used;
  char          *at     = carve.base + carve.used;

  if (!nz) return cudaMemsetAsync(E.n, 0, sizeof(*E.n), stream);
  PolderGalerkinKeysKernel<<<PolderBlocks(W->n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(d, W->n, label, W->row, W->ptr, W->col, key);
  cub::DeviceRadixSort::SortPairs(at, temp, key, sorted, (const PetscScalar *)W->val, values, nz, 0, PolderSortBits((PetscInt64)d * d), stream);
  cub::DeviceSelect::If(at, temp, thrust::counting_iterator<PetscInt>(0), begin, E.n, nz, PolderKeyBegins{sorted}, stream);
  if ((PetscInt64)nz > 16384 * (PetscInt64)d)
    PolderGalerkinSumsKernel<POLDER_BLOCK><<<1024, POLDER_BLOCK, 0, stream>>>(nz, E.n, begin, sorted, values, E.key, E.val);
  else PolderGalerkinSumsKernel<32><<<1024, POLDER_BLOCK, 0, stream>>>(nz, E.n, begin, sorted, values, E.key, E.val);
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

int PolderEntriesGather_CUDA(const PolderSparseRows *W, const PetscInt entry[], PetscInt item[], PetscScalar weight[], PolderStream stream)
{
  if (W->nz)
    PolderEntriesGatherKernel<<<PolderBlocks(W->nz, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(W->nz, W->n, W->row, W->ptr, W->val, entry, item, weight);
  return cudaGetLastError();
}
