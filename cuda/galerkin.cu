/*
  The rows of P^T A P for a P with one unit entry a row. Eight lanes share a coarse row and keep its entries in registers; together they search the aggregate
  of each entry of A among those they have found. A warp processes each row with too many. Entries are summed in their order.
*/
#include "launch.cuh"
#include "index.cuh"
#include "team.cuh"
#include "module.cuh"
#include "kernels/galerkin.h"
#include <cub/device/device_scan.cuh>

/* Lanes that share a coarse row of at most POLDER_COARSE_ROW entries, and the entries that each of them keeps */
#define COARSE_LANES 8
#define COARSE_SLOTS (POLDER_COARSE_ROW / COARSE_LANES)
static_assert(COARSE_LANES * COARSE_SLOTS == POLDER_COARSE_ROW && COARSE_SLOTS > 4, "slots");

static __global__ void __launch_bounds__(POLDER_TEAM) PolderPointersKernel(PetscInt n, PetscInt *ptr)
{
  PolderBegin();
  (void)PolderTeamSum(
    n, [=](PetscInt i) { return ptr[i + 1]; }, [=](PetscInt i, PetscInt sum) { ptr[i + 1] += sum; });
  if (PolderTeamThread() == 0) ptr[0] = 0;
  PolderTeamSync();
}

int PolderPointers_CUDA(PetscInt n, PetscInt ptr[], void *work, size_t bytes, PolderStream stream)
{
  if (n > 0 && n <= POLDER_TEAM_ROWS) {
    PolderTeamLaunch(n, PolderPointersKernel, stream, n, ptr);
    return cudaGetLastError();
  }
  cudaError_t err = cudaMemsetAsync(ptr, 0, sizeof(*ptr), stream);

  if (!err && n > 0) err = cub::DeviceScan::InclusiveSum(work, bytes, ptr + 1, ptr + 1, n, stream);
  return err ? err : cudaGetLastError();
}

/* Calls body(c, k) for the entries k of the rows of A in aggregate a whose columns are in an aggregate, c */
template <class Body>
static __device__ __forceinline__ void PolderCoarseEntries(const PolderAggregates &P, const PolderRows &A, PetscInt a, Body body)
{
  for (PetscInt r = __ldg(P.ptr + a), end = __ldg(P.ptr + a + 1); r < end; ++r) {
    const PetscInt i = __ldg(P.row + r), last = __ldg(A.i + i + 1);

    for (PetscInt k = __ldg(A.i + i); k < last; ++k) {
      const PetscInt c = __ldg(P.agg + __ldg(A.j + k));

      if (c < P.n) body(c, k);
    }
  }
}

/* Does a diagonal entry cancel, relative to the sum of magnitudes of its summands? So it does when the aggregate is a connected component with zero row sums */
static __device__ __forceinline__ bool PolderCoarseCancels(PetscScalar diagonal, PetscReal size)
{
  return fabs(diagonal) < POLDER_GALERKIN_ZERO * size;
}

/*
  The lanes of a coarse row. Entry p of the row is in slot p / COARSE_LANES of lane p % COARSE_LANES; loops over slots have constant bounds, so that slots are
  registers. All lanes of a warp call sum() and store() together and make the same rounds, since groups that diverge would run one after the other. Loops go
  over two, four or all slots: those that some row of the warp needs
*/
struct PolderCoarseGroup {
  PetscInt     a;        /* the coarse row */
  int          lane;     /* the number of this lane in the group */
  unsigned int lanes;    /* the group in its warp, one bit a lane */
  int          met;      /* entries of the row, with more than POLDER_COARSE_ROW too many */
  PetscInt     r, end;   /* the members of the aggregate that are left */
  int          owner;    /* the lane that took the first of them */
  PetscInt     from, to; /* what is left of the member that this lane took */
  PetscReal    size;     /* the sum of magnitudes on the diagonal */
  PetscInt     col[COARSE_SLOTS];
  PetscScalar  val[COARSE_SLOTS];

  /* No entries yet, and no sums: -0 + v is v, also for v = -0 */
  __device__ __forceinline__ PolderCoarseGroup() :
    a((PetscInt)blockIdx.x * (POLDER_BLOCK / COARSE_LANES) + (PetscInt)(threadIdx.x / COARSE_LANES)),
    lane(threadIdx.x % COARSE_LANES),
    lanes(((1u << COARSE_LANES) - 1) << (threadIdx.x % 32 - threadIdx.x % COARSE_LANES)),
    met(0),
    size(0)
  {
#pragma unroll
    for (int s = 0; s < COARSE_SLOTS; ++s) {
      col[s] = PETSC_MAX_INT;
      val[s] = -0.0;
    }
  }

  /* Each lane takes one of the next members */
  __device__ __forceinline__ void members(const PolderAggregates &P, const PolderRows &A)
  {
    const PetscInt i = lane < end - r ? __ldg(P.row + r + lane) : -1;

    from  = i < 0 ? 0 : __ldg(A.i + i);
    to    = i < 0 ? 0 : __ldg(A.i + i + 1);
    owner = 0;
  }

  /* Goes on to the next entries: one a lane, or all `left` that were left of a member, have been read */
  __device__ __forceinline__ void advance(const PolderAggregates &P, const PolderRows &A, PetscInt left)
  {
    if (left > COARSE_LANES) {
      if (lane == owner) from += COARSE_LANES;
    } else if (r < end) {
      ++r;
      if (++owner == COARSE_LANES) members(P, A);
    }
  }

  /*
    One after the other, adds the entries of the first `steps` lanes of each group: value y in column x, x >= n for none. A column that is not there is
    appended or, without APPEND, its entry is added to the diagonal
  */
  template <int S, bool VALUES, bool APPEND>
  __device__ __forceinline__ void add(int steps, PetscInt x, PetscScalar y, PetscInt n)
  {
#pragma unroll 1
    for (int l = 0; l < steps; ++l) {
      PetscInt          c   = __shfl_sync(FULL_WARP, x, l, COARSE_LANES);
      const PetscScalar v   = VALUES ? __shfl_sync(FULL_WARP, y, l, COARSE_LANES) : 0;
      bool              has = false;

#pragma unroll
      for (int s = 0; s < S; ++s) has |= col[s] == c;
      const bool fresh = !(__ballot_sync(FULL_WARP, has) & lanes) && c < n;

      if (VALUES && c == a) size += fabs(v);
      if (!APPEND && fresh) c = a;
#pragma unroll
      for (int s = 0; s < S; ++s) {
        if (APPEND && fresh && met - lane == s * COARSE_LANES) col[s] = c;
        if (VALUES && col[s] == c) {
          val[s] += v;
          asm volatile(""); // keeps the branch, which becomes one instruction with a predicate; otherwise all lanes add, and select
        }
      }
      if (APPEND) met += fresh;
    }
  }

  /* Sums the row, if it is there */
  template <bool VALUES, bool APPEND>
  __device__ __forceinline__ void sum(const PolderAggregates &P, const PolderRows &A, bool there)
  {
    r   = there ? __ldg(P.ptr + a) : 0;
    end = there ? __ldg(P.ptr + a + 1) : 0;
    members(P, A);
    while (__any_sync(FULL_WARP, r < end)) {
      const PetscInt    k = __shfl_sync(FULL_WARP, from, owner, COARSE_LANES), last = __shfl_sync(FULL_WARP, to, owner, COARSE_LANES);
      const PetscInt    left  = r < end ? last - k : 0;
      const int         steps = (int)__reduce_max_sync(FULL_WARP, (unsigned int)(left < COARSE_LANES ? left : COARSE_LANES));
      const int         need  = (int)__reduce_max_sync(FULL_WARP, (unsigned int)met) + (APPEND ? COARSE_LANES : 0);
      const PetscInt    x     = lane < left ? __ldg(P.agg + __ldg(A.j + k + lane)) : P.n;
      const PetscScalar y     = VALUES && lane < left ? __ldg(A.a + k + lane) : 0;

      advance(P, A, left);
      if (need <= 2 * COARSE_LANES) add<2, VALUES, APPEND>(steps, x, y, P.n);
      else if (need <= 4 * COARSE_LANES) add<4, VALUES, APPEND>(steps, x, y, P.n);
      else add<COARSE_SLOTS, VALUES, APPEND>(steps, x, y, P.n);
      if (APPEND && met > POLDER_COARSE_ROW) r = end;
    }
  }

  __device__ __forceinline__ PetscScalar value(int s) const
  {
    return col[s] == a && PolderCoarseCancels(val[s], size) ? 0 : val[s];
  }

  /* Stores each entry at the rank of its column. S: slots in use */
  template <int S>
  __device__ __forceinline__ void store(PetscInt begin, const PolderSparseRows &C) const
  {
    int before[S] = {0};

#pragma unroll
    for (int t = 0; t < S; ++t) {
#pragma unroll 1
      for (int l = 0; l < COARSE_LANES; ++l) {
        const PetscInt c = __shfl_sync(FULL_WARP, col[t], l, COARSE_LANES);

#pragma unroll
        for (int s = 0; s < S; ++s) before[s] += c < col[s];
      }
    }
#pragma unroll
    for (int s = 0; s < S; ++s) {
      if (lane + s * COARSE_LANES >= met) break;
      C.col[begin + before[s]] = col[s];
      C.val[begin + before[s]] = value(s);
    }
  }
};

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsCountKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, PetscInt *__restrict__ length, PetscInt *info)
{
  __shared__ int    entries;
  PolderCoarseGroup group;
  const PetscInt    a = group.a;

  if (threadIdx.x == 0) entries = 0;
  __syncthreads();
  group.sum<false, true>(P, A, a < P.n);
  if (a < P.n && !group.lane) {
    const bool many = group.met > POLDER_COARSE_ROW;

    length[a + 1] = many ? -1 : group.met;
    if (!many) atomicAdd(&entries, (int)group.met);
    else {
      PetscInt all = 0;

      for (PetscInt r = P.ptr[a]; r < P.ptr[a + 1]; ++r) all += A.i[P.row[r] + 1] - A.i[P.row[r]];
      PolderAtomicAdd(&info[0], 1);
      PolderAtomicMax(&info[1], all);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && entries) PolderAtomicAdd(&info[2], entries);
}

int PolderCoarseRowsCount_CUDA(const PolderAggregates *P, const PolderRows *A, PetscInt length[], PetscInt info[3], PolderStream stream)
{
  if (P->n > 0) PolderCoarseRowsCountKernel<<<PolderBlocks(P->n, POLDER_BLOCK / COARSE_LANES), POLDER_BLOCK, 0, stream>>>(*P, *A, length, info);
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

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsFillKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderSparseRows C)
{
  PolderCoarseGroup group;
  const bool        there = group.a < P.n;
  const PetscInt    begin = there ? __ldg(C.ptr + group.a) : 0, end = there ? __ldg(C.ptr + group.a + 1) : 0;

  group.sum<true, true>(P, A, there && end - begin <= POLDER_COARSE_ROW);
  const int used = (int)__reduce_max_sync(FULL_WARP, (unsigned int)group.met);

  if (used <= 2 * COARSE_LANES) group.store<2>(begin, C);
  else if (used <= 4 * COARSE_LANES) group.store<4>(begin, C);
  else group.store<COARSE_SLOTS>(begin, C);
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
  if (P->n > 0) PolderCoarseRowsFillKernel<<<PolderBlocks(P->n, POLDER_BLOCK / COARSE_LANES), POLDER_BLOCK, 0, stream>>>(*P, *A, *C);
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

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsValuesKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderSparseRows C)
{
  PolderCoarseGroup group;
  const bool        there = group.a < P.n;
  const PetscInt    begin = there ? __ldg(C.ptr + group.a) : 0, entries = there ? __ldg(C.ptr + group.a + 1) - begin : 0;

  if (entries <= POLDER_COARSE_ROW) group.met = (int)entries;
#pragma unroll
  for (int s = 0; s < COARSE_SLOTS; ++s) {
    if (group.lane + s * COARSE_LANES < group.met) group.col[s] = __ldg(C.col + begin + group.lane + s * COARSE_LANES);
    group.val[s] = 0;
  }
  group.sum<true, false>(P, A, group.met > 0);
#pragma unroll
  for (int s = 0; s < COARSE_SLOTS; ++s) {
    if (group.lane + s * COARSE_LANES < group.met) C.val[begin + group.lane + s * COARSE_LANES] = group.value(s);
  }
}

/* Values of row a by a warp: each lane adds to the positions equal to its number modulo 32 */
static __device__ __forceinline__ void PolderCoarseLongValues(const PolderAggregates &P, const PolderRows &A, PetscInt a, const PolderSparseRows &C)
{
  const PetscInt lane = threadIdx.x % 32, begin = C.ptr[a], end = C.ptr[a + 1], diagonal = PolderCoarsePlace(a, begin, end, C.col);
  PetscReal      size = 0;

  for (PetscInt k = begin + lane; k < end; k += 32) C.val[k] = 0;
  PolderCoarseEntries(P, A, a, [&](PetscInt c, PetscInt k) {
    PetscInt p = PolderCoarsePlace(c, begin, end, C.col);

    if (p < 0) p = diagonal;
    if (c == a) size += fabs(A.a[k]);
    if (p >= 0 && (p - begin) % 32 == lane) C.val[p] += A.a[k];
  });
  if (diagonal >= 0 && (diagonal - begin) % 32 == lane && PolderCoarseCancels(C.val[diagonal], size)) C.val[diagonal] = 0;
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowsValuesLongKernel(const __grid_constant__ PolderAggregates P, const __grid_constant__ PolderRows A, const __grid_constant__ PolderSparseRows C)
{
  for (PetscInt a = ((PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x) / 32; a < P.n; a += POLDER_COARSE_WARPS) {
    if (C.ptr[a + 1] - C.ptr[a] > POLDER_COARSE_ROW) PolderCoarseLongValues(P, A, a, C);
  }
}

int PolderCoarseRowsValues_CUDA(const PolderAggregates *P, const PolderRows *A, PetscBool longrows, const PolderSparseRows *C, PolderStream stream)
{
  if (P->n > 0) PolderCoarseRowsValuesKernel<<<PolderBlocks(P->n, POLDER_BLOCK / COARSE_LANES), POLDER_BLOCK, 0, stream>>>(*P, *A, *C);
  if (P->n > 0 && longrows) PolderCoarseRowsValuesLongKernel<<<POLDER_COARSE_WARPS * 32 / POLDER_BLOCK, POLDER_BLOCK, 0, stream>>>(*P, *A, *C);
  return cudaGetLastError();
}

POLDER_MODULE(Galerkin)
