/* Labels of a deflation space: classes of a level set, boxes of a grid, numbering of the keys that occur, tiny regions, detection of a grid. */
#include "foreach.cuh"
#include "index.cuh"
#include "module.cuh"
#include "kernels/labelrow.h"
#include "kernels/labels.h"
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

int PolderIndexFill_CUDA(PetscInt m, PetscInt value, PetscInt a[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) { a[i] = value; });
}

int PolderIndexReplace_CUDA(PetscInt m, PetscInt from, PetscInt to, PetscInt a[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    if (a[i] == from) a[i] = to;
  });
}

/* A grid of few blocks: each block makes one atomic operation */
static unsigned int PolderSurveyBlocks(PetscInt m)
{
  const unsigned int blocks = PolderBlocks(m, POLDER_BLOCK);

  return blocks < 1024 ? (blocks ? blocks : 1) : 1024;
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderIndexRangeKernel(PetscInt m, const PetscInt *__restrict__ a, PetscInt range[2])
{
  const PetscInt stride = (PetscInt)gridDim.x * POLDER_BLOCK;
  PetscInt       lo = PETSC_MAX_INT, hi = PETSC_MIN_INT;

  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < m; i += stride) {
    lo = a[i] < lo ? a[i] : lo;
    hi = a[i] > hi ? a[i] : hi;
  }
  lo = PolderWarpMin(lo);
  hi = PolderWarpMax(hi);
  if (threadIdx.x % 32 == 0) {
    PolderAtomicMin(&range[0], lo);
    PolderAtomicMax(&range[1], hi);
  }
}

int PolderIndexRange_CUDA(PetscInt m, const PetscInt a[], PetscInt range[2], PolderStream stream)
{
  PolderIndexRangeKernel<<<PolderSurveyBlocks(m), POLDER_BLOCK, 0, stream>>>(m, a, range);
  return cudaGetLastError();
}

int PolderLevelSetClass_CUDA(PetscInt m, const PetscScalar phi[], PetscInt outside, PetscInt cls[], PetscInt *bad, PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const PetscScalar v = phi[i];

    cls[i] = v > 0 ? 1 : outside;
    if (v != v) *bad = 1;
  });
}

int PolderLoneRows_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt bi[], PetscInt cls[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const PetscInt n = ai[i + 1] - ai[i];

    if (n <= 1 && (!n || aj[ai[i]] == i) && (!bi || bi[i] == bi[i + 1])) cls[i] = -1;
  });
}

int PolderLabelsRound_CUDA(PetscInt m, const PetscScalar v[], PetscInt label[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) { label[i] = PolderLabelOfValue(v[i]); });
}

/* Uses 32-bit divisions where the numbers allow it */
template <class Int>
static int PolderBoxes(PetscInt m, const PolderGridPart *grid, const PetscInt boxes[3], PetscInt part[], PolderStream stream)
{
  const PetscInt *lo = grid->lo, *hi = grid->hi, *n = grid->n;
  const Int       sx = hi[0] - lo[0], sy = hi[1] - lo[1], lx = lo[0], ly = lo[1], lz = lo[2], nx = n[0], ny = n[1], nz = n[2], bx = boxes[0], by = boxes[1],
            bz = boxes[2], d = grid->dof, start = grid->first;

  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const Int row = start + (Int)i, point = row / d, line = point / sx, z = line / sy, x = point - line * sx, y = line - z * sy;
    const Int box = (x + lx) * bx / nx + bx * ((y + ly) * by / ny + by * ((z + lz) * bz / nz));

    part[i] = (PetscInt)(box * d + (row - point * d));
  });
}

int PolderGridBoxes_CUDA(PetscInt m, const PolderGridPart *grid, const PetscInt boxes[3], PetscInt part[], PolderStream stream)
{
  bool small = (PetscInt64)grid->first + m <= PETSC_MAX_INT / 2;

  for (int k = 0; k < 3; ++k) small = small && (PetscInt64)grid->n[k] * boxes[k] < 0x7fffffff;
  if (small && sizeof(PetscInt) == 4) return PolderBoxes<unsigned int>(m, grid, boxes, part, stream);
  return PolderBoxes<unsigned long long>(m, grid, boxes, part, stream);
}

int PolderGridRuns_CUDA(PetscInt m, PetscInt dof, PetscInt64 points, PetscInt count, PetscInt part[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const PetscInt point = part[i] / dof;

    part[i] = (PetscInt)((PetscInt64)point * count / points) * dof + (part[i] - point * dof);
  });
}

/* The key of row i, below npart * ncomp; negative when it has none; NULL stands for zeros */
static __device__ __forceinline__ PetscInt64 PolderKey(const PetscInt *part, PetscInt ncomp, const PetscInt *comp, PetscInt i)
{
  const PetscInt p = part ? part[i] : 0, c = comp ? comp[i] : 0;

  return p < 0 || c < 0 ? -1 : (PetscInt64)p * ncomp + c;
}

int PolderKeysMark_CUDA(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], PetscInt mark[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const PetscInt64 key = PolderKey(part, ncomp, comp, i);

    if (key >= 0 && !mark[key]) mark[key] = 1; // all threads write the same value
  });
}

size_t PolderKeysScanWork_CUDA(PetscInt n)
{
  size_t bytes = 0;

  (void)cub::DeviceScan::ExclusiveSum(NULL, bytes, (const PetscInt *)NULL, (PetscInt *)NULL, n);
  return bytes;
}

int PolderKeysScan_CUDA(PetscInt n, PetscInt mark[], void *work, size_t bytes, PolderStream stream)
{
  return (int)cub::DeviceScan::ExclusiveSum(work, bytes, (const PetscInt *)mark, mark, n, stream);
}

int PolderKeysLabel_CUDA(PetscInt m, const PetscInt part[], PetscInt ncomp, const PetscInt comp[], const PetscInt number[], PetscInt label[],
                         PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const PetscInt64 key = PolderKey(part, ncomp, comp, i);

    label[i] = key < 0 ? -1 : number[key];
  });
}

static int PolderKeyBits(PetscInt64 bound)
{
  int bits = 1;

  while (bits < 62 && ((PetscInt64)1 << bits) <= bound) ++bits;
  return bits;
}

size_t PolderKeysSortWork_CUDA(PetscInt m)
{
  size_t            sort = 0, unique = 0;
  const PetscInt64 *in  = NULL;
  PetscInt64       *out = NULL;

  (void)cub::DeviceRadixSort::SortKeys(NULL, sort, in, out, m);
  (void)cub::DeviceSelect::Unique(NULL, unique, in, out, (PetscInt *)NULL, m);
  return sort > unique ? sort : unique;
}

int PolderKeysSort_CUDA(PetscInt m, PolderPairs pairs, PetscInt64 key[], PetscInt64 sorted[], PetscInt *nunique, void *work, size_t bytes, PolderStream stream)
{
  const PetscInt64 none = pairs.npart * pairs.ncomp;
  int              err;

  err = PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const PetscInt64 k = PolderKey(pairs.part, pairs.ncomp, pairs.comp, i);

    sorted[i] = k < 0 ? none : k;
  });
  if (err) return err;
  err = (int)cub::DeviceRadixSort::SortKeys(work, bytes, (const PetscInt64 *)sorted, key, m, 0, PolderKeyBits(none), stream);
  if (err) return err;
  return (int)cub::DeviceSelect::Unique(work, bytes, (const PetscInt64 *)key, sorted, nunique, m, stream);
}

/* First position of sorted[] whose value is not less than key */
static __device__ __forceinline__ PetscInt PolderLowerBound(PetscInt n, const PetscInt64 *sorted, PetscInt64 key)
{
  PetscInt lo = 0, hi = n;

  while (lo < hi) {
    const PetscInt mid = lo + (hi - lo) / 2;

    if (sorted[mid] < key) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

int PolderKeysFind_CUDA(PetscInt m, PolderPairs pairs, const PetscInt64 sorted[], const PetscInt *nunique, PetscInt label[], PetscInt *d, PolderStream stream)
{
  const PetscInt64 none = pairs.npart * pairs.ncomp;

  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const PetscInt64 k = PolderKey(pairs.part, pairs.ncomp, pairs.comp, i);

    if (i == 0) *d = PolderLowerBound(*nunique, sorted, none);
    label[i] = k < 0 ? -1 : PolderLowerBound(*nunique, sorted, k);
  });
}

/* The rows of a warp are consecutive and mostly have equal labels: the warp counts equal labels before it adds them */
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderRegionSizesKernel(PetscInt m, const PetscInt *__restrict__ label, PetscInt *count)
{
  const int      lane  = threadIdx.x % 32;
  const PetscInt chunk = 1024, warp = ((PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x) / 32;
  const PetscInt begin = warp * chunk, end = begin + chunk < m ? begin + chunk : m;
  PetscInt       current = -1, n = 0;

  for (PetscInt base = begin; base < end; base += 32) {
    const PetscInt     l = base + lane < end ? label[base + lane] : -1, first = __shfl_sync(0xffffffffu, l, 0);
    const unsigned int valid = __ballot_sync(0xffffffffu, base + lane < end);

    if (__all_sync(0xffffffffu, l == first || base + lane >= end)) {
      if (first != current) {
        if (lane == 0 && current >= 0) PolderAtomicAdd(&count[current], n);
        current = first;
        n       = 0;
      }
      n += __popc(valid);
    } else {
      const unsigned int same = __match_any_sync(0xffffffffu, l);

      if (l >= 0 && lane == __ffs(same) - 1) PolderAtomicAdd(&count[l], __popc(same));
    }
  }
  if (lane == 0 && current >= 0 && n) PolderAtomicAdd(&count[current], n);
}

int PolderRegionSizes_CUDA(PetscInt m, const PetscInt label[], PetscInt count[], PolderStream stream)
{
  if (m) PolderRegionSizesKernel<<<PolderBlocks((m + 1023) / 1024, POLDER_BLOCK / 32), POLDER_BLOCK, 0, stream>>>(m, label, count);
  return cudaGetLastError();
}

/* One block, since there are few regions */
static __global__ void __launch_bounds__(1024) PolderRegionSummaryKernel(PetscInt n, const PetscInt *__restrict__ count, PetscInt tiny, PetscInt summary[2])
{
  __shared__ PetscInt big, most, where;
  PetscInt            mine = 0, top = -1, at = 0;

  if (threadIdx.x == 0) {
    big   = 0;
    most  = -1;
    where = n;
  }
  __syncthreads();
  for (PetscInt k = threadIdx.x; k < n; k += 1024) {
    mine += count[k] >= tiny;
    if (count[k] > top) {
      top = count[k];
      at  = k;
    }
  }
  if (mine) PolderAtomicAdd(&big, mine);
  PolderAtomicMax(&most, top);
  __syncthreads();
  if (top == most && top >= 0) PolderAtomicMin(&where, at);
  __syncthreads();
  if (threadIdx.x == 0) {
    summary[0] = big;
    summary[1] = n ? where : -1;
  }
}

int PolderRegionSummary_CUDA(PetscInt n, const PetscInt count[], PetscInt tiny, PetscInt summary[2], PolderStream stream)
{
  PolderRegionSummaryKernel<<<1, 1024, 0, stream>>>(n, count, tiny, summary);
  return cudaGetLastError();
}

int PolderRegionsMarkTiny_CUDA(PetscInt m, const PetscInt label[], const PetscInt count[], PetscInt tiny, PetscInt comp[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    if (label[i] >= 0 && count[label[i]] < tiny) comp[i] = -2;
  });
}

int PolderRegionsNext_CUDA(PolderRows A, PolderRows B, const PetscInt comp[], const PetscInt ghost[], PetscInt next[], PolderStream stream)
{
  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) {
    if (comp[i] == -2) next[i] = PolderRegionNext(i, &A, &B, comp, ghost);
  });
}

int PolderRegionsJoin_CUDA(PetscInt m, const PetscInt next[], PetscInt comp[], PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    if (comp[i] == -2 && next[i] >= 0) comp[i] = next[i];
  });
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderStencilStridesKernel(PetscInt m, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj, PetscInt near[3])
{
  const PetscInt stride = (PetscInt)gridDim.x * POLDER_BLOCK;
  PetscInt       one = 0, lo = PETSC_MAX_INT, hi = 0;

  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < m; i += stride) {
    const PetscInt end = ai[i + 1];

    for (PetscInt k = ai[i]; k < end; ++k) {
      const PetscInt j = aj[k], d = i < j ? j - i : i - j;

      one |= d == 1;
      lo = d > 1 && d < lo ? d : lo;
      hi = d > hi ? d : hi;
    }
  }
  one = PolderWarpMax(one);
  lo  = PolderWarpMin(lo);
  hi  = PolderWarpMax(hi);
  if (threadIdx.x % 32 == 0) {
    PolderAtomicMax(&near[0], one);
    PolderAtomicMin(&near[1], lo);
    PolderAtomicMax(&near[2], hi);
  }
}

int PolderStencilStrides_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt near[3], PolderStream stream)
{
  PolderStencilStridesKernel<<<PolderSurveyBlocks(m), POLDER_BLOCK, 0, stream>>>(m, ai, aj, near);
  return cudaGetLastError();
}

int PolderStencilCheck_CUDA(PetscInt m, PetscInt first, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt *bad, PolderStream stream)
{
  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const PetscInt end = ai[i + 1];

    for (PetscInt k = ai[i]; k < end; ++k) {
      if (!PolderStencilFits(first + i, first + aj[k], near)) *bad = 1;
    }
  });
}

POLDER_MODULE(Labels)
