/*
  Incomplete factors of the diagonal blocks of a matrix. One thread block factors or solves for one block of the matrix, level after level, a thread a row.
  Where there are few blocks with wide levels, many thread blocks share a level, and each level is a launch.
*/
#include "count.cuh"
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/ilurow.h"

#define ILU_THREADS 1024
/* A level is a launch when there are fewer blocks than this part of the multiprocessors, and levels of so many rows */
#define ILU_FEW  4
#define ILU_WIDE 1024
/* The most thread blocks of a grid in its second direction */
#define ILU_GRID 65535
/* Entries of a row of the next level that a thread loads while it waits for this one */
#define ILU_AHEAD 4
/* A warp shares a row that is stored apart and has so many entries beyond these */
#define ILU_LONG 64

/* Threads for the rows of the widest level */
static unsigned int IluThreads(const PolderIlu *ilu)
{
  return (unsigned int)PetscMin((PetscInt)ILU_THREADS, PetscMax((PetscInt)32, (ilu->widest + 31) / 32 * 32));
}

static bool IluByLevels(const PolderIlu *ilu)
{
  return ilu->nblock * ILU_FEW < PolderMultiprocessors() && ilu->widest >= ILU_WIDE;
}

/* The grid of a launch for n rows of each block */
static dim3 IluGrid(const PolderIlu *ilu, PetscInt n)
{
  return dim3(PolderBlocks(n, POLDER_BLOCK), (unsigned int)ilu->nblock);
}

/* The row of this thread in a launch for the rows i0 .. i1 of each block; i1 or more when it has none */
static __device__ __forceinline__ PetscInt IluRowOfThread(PetscInt i0)
{
  return i0 + (PetscInt)(blockIdx.x * blockDim.x + threadIdx.x);
}

/* ------------------------------------------------ factorisation ------------------------------------------------ */

static __device__ __forceinline__ void IluFill(const PolderIlu &ilu, const PolderIluPivots &pivots, PetscInt b, PetscInt i, const PetscScalar *aa,
                                               PetscScalar *val)
{
  const PetscReal sum = PolderIluFillRow(&ilu, i, aa, val);

  pivots.sum[i]   = sum;
  val[ilu.nz + i] = PolderIluShifted(&pivots, val[ilu.nz + i], pivots.shift[b], sum);
  if (!(sum <= PETSC_MAX_REAL)) PolderAtomicMin(pivots.bad + b, i - ilu.row[b]);
}

/* The first entry of a row from entry p on whose column is not below j. Rows that are stored apart may be long, and are searched by bisection */
static __device__ __forceinline__ PetscInt IluSeek(const PetscInt *col, const PolderIluSpan &row, PetscInt p, PetscInt j)
{
  if (row.step == 1) return PolderRowSeek(col, p, row.end, j);
  while (p < row.end && col[p] < j) p += row.step;
  return p;
}

/* Eliminates row i of the block that begins at row r0, and returns its pivot. The entries of two rows in the same columns are found by turns */
static __device__ __forceinline__ PetscScalar IluEliminateRow(const PolderIlu *ilu, const PolderIluPivots *pivots, PetscInt r0, PetscInt i, PetscScalar *val,
                                                              PetscInt64 *updates)
{
  const PetscInt     *col = ilu->col, me = i - r0;
  const PolderIluSpan lower = PolderIluSpanOf(ilu, 0, i), upper = PolderIluSpanOf(ilu, 1, i);
  PetscScalar         pivot = val[ilu->nz + i];

  for (PetscInt p = lower.p; p < lower.end && col[p] != me; p += lower.step) {
    const PetscInt      c = col[p], row = r0 + c;
    const PolderIluSpan other = PolderIluSpanOf(ilu, 1, row);
    const PetscScalar   w = val[p], inverse = val[ilu->nz + row];
    PetscInt            l = p + lower.step, u = upper.p;

    if (pivots->drop > 0 && PolderIluSmall(pivots, w, i, row)) {
      val[p] = 0;
      continue;
    }
    for (PetscInt q = other.p; q < other.end && col[q] != c;) {
      const PetscInt    j      = col[q];
      const PetscScalar update = (w * val[q]) * inverse;
      PetscInt          next   = me; // the first column from j on that this row has

      if (j < me) {
        l = IluSeek(col, lower, l, j);
        if (l < lower.end) next = col[l];
      } else if (j > me) {
        u = IluSeek(col, upper, u, j);
        if (u >= upper.end) break;
        next = col[u];
      }
      if (next != j) {
        q = IluSeek(col, other, q, next);
        continue;
      }
      if (j < me) val[l] -= update;
      else if (j == me) pivot -= update;
      else val[u] -= update;
      ++*updates;
      q += other.step;
    }
    val[p] = w * inverse;
  }
  for (PetscInt u = upper.p; pivots->drop > 0 && u < upper.end && col[u] != me; u += upper.step) {
    if (PolderIluSmall(pivots, val[u], i, r0 + col[u])) val[u] = 0;
  }
  return pivot;
}

static __device__ __forceinline__ void IluEliminate(const PolderIlu &ilu, const PolderIluPivots &pivots, PetscInt b, PetscInt i, PetscScalar *val,
                                                    PetscInt64 *updates)
{
  const PetscInt    r0    = ilu.row[b];
  const PetscScalar pivot = IluEliminateRow(&ilu, &pivots, r0, i, val, updates);
  const PetscBool   good  = PolderIluPivotGood(&pivots, pivot, pivots.sum[i]);

  val[ilu.nz + i] = good ? 1 / pivot : 0;
  if (!good) PolderAtomicMin(pivots.zero + b, i - r0);
}

static __global__ void __launch_bounds__(ILU_THREADS)
  PolderIluFactorKernel(const PolderIlu ilu, const PolderIluPivots pivots, const PetscScalar *__restrict__ aa, PetscScalar *val)
{
  const PetscInt b = (PetscInt)blockIdx.x, r0 = ilu.row[b], r1 = ilu.row[b + 1];
  PetscInt64     updates = 0;

  if (!pivots.todo[b]) return;
  for (PetscInt i = r0 + (PetscInt)threadIdx.x; i < r1; i += (PetscInt)blockDim.x) IluFill(ilu, pivots, b, i, aa, val);
  for (PetscInt l = ilu.level[b]; l < ilu.level[b + 1]; ++l) {
    __syncthreads();
    for (PetscInt i = ilu.first[l] + (PetscInt)threadIdx.x; i < ilu.first[l + 1]; i += (PetscInt)blockDim.x) IluEliminate(ilu, pivots, b, i, val, &updates);
  }
  __syncthreads();
  for (PetscInt i = r0 + (PetscInt)threadIdx.x; i < r1; i += (PetscInt)blockDim.x) PolderIluScaleRow(&ilu, i, val);
  PolderCount(updates, pivots.updates);
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderIluFillKernel(const PolderIlu ilu, const PolderIluPivots pivots, const PetscScalar *__restrict__ aa, PetscScalar *val)
{
  const PetscInt b = (PetscInt)blockIdx.y, i = IluRowOfThread(ilu.row[b]);

  if (pivots.todo[b] && i < ilu.row[b + 1]) IluFill(ilu, pivots, b, i, aa, val);
}

/* Level l of each block */
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderIluEliminateKernel(const PolderIlu ilu, const PolderIluPivots pivots, PetscInt l, PetscScalar *val)
{
  const PetscInt b = (PetscInt)blockIdx.y, level = ilu.level[b] + l;
  PetscInt64     updates = 0;

  if (!pivots.todo[b] || level >= ilu.level[b + 1]) return;
  const PetscInt i = IluRowOfThread(ilu.first[level]);

  if (i < ilu.first[level + 1]) IluEliminate(ilu, pivots, b, i, val, &updates);
  PolderCount(updates, pivots.updates);
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderIluScaleKernel(const PolderIlu ilu, const PetscInt *__restrict__ todo, PetscScalar *val)
{
  const PetscInt b = (PetscInt)blockIdx.y, i = IluRowOfThread(ilu.row[b]);

  if (todo[b] && i < ilu.row[b + 1]) PolderIluScaleRow(&ilu, i, val);
}

size_t PolderIluWork_CUDA(PETSC_UNUSED const PolderIlu *ilu)
{
  return 0;
}

int PolderIluFactor_CUDA(const PolderIlu *ilu, const PolderIluPivots *pivots, const PetscScalar aa[], PetscScalar val[], PolderStream stream)
{
  const PetscInt *todo = pivots->todo, *row = ilu->row;
  PetscInt       *zero = pivots->zero, *bad = pivots->bad;
  const int       err = PolderForEach(ilu->nblock, stream, [=] __device__(PetscInt b) {
    if (todo[b]) zero[b] = bad[b] = row[b + 1] - row[b];
  });

  if (err || !ilu->nblock) return err;
  if (!IluByLevels(ilu)) PolderIluFactorKernel<<<(unsigned int)ilu->nblock, IluThreads(ilu), 0, stream>>>(*ilu, *pivots, aa, val);
  else {
    PolderIluFillKernel<<<IluGrid(ilu, ilu->largest), POLDER_BLOCK, 0, stream>>>(*ilu, *pivots, aa, val);
    for (PetscInt l = 0; l < ilu->deepest; ++l) PolderIluEliminateKernel<<<IluGrid(ilu, ilu->widest), POLDER_BLOCK, 0, stream>>>(*ilu, *pivots, l, val);
    PolderIluScaleKernel<<<IluGrid(ilu, ilu->largest), POLDER_BLOCK, 0, stream>>>(*ilu, todo, val);
  }
  return cudaGetLastError();
}

/* A thread block for each block */
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderIluGrowthKernel(const PolderIlu ilu, const PolderIluPivots pivots, PetscReal most,
                                                                             const PetscScalar *__restrict__ val, const PetscScalar *__restrict__ x)
{
  const PetscInt b = (PetscInt)blockIdx.x, r0 = ilu.row[b], m = ilu.row[b + 1] - r0;

  if (!pivots.todo[b] || pivots.shift[b] == 0 || __syncthreads_or(pivots.zero[b] < m)) return;
  for (PetscInt i = (PetscInt)threadIdx.x; i < m; i += POLDER_BLOCK) {
    if (PolderIluGrown(&ilu, &pivots, most, r0 + i, val, x)) PolderAtomicMin(pivots.zero + b, i);
  }
}

int PolderIluGrowth_CUDA(const PolderIlu *ilu, const PolderIluPivots *pivots, PetscReal most, const PetscScalar val[], const PetscScalar x[],
                         PolderStream stream)
{
  if (ilu->nblock) PolderIluGrowthKernel<<<(unsigned int)ilu->nblock, POLDER_BLOCK, 0, stream>>>(*ilu, *pivots, most, val, x);
  return cudaGetLastError();
}

int PolderIluRound_CUDA(const PolderIlu *ilu, const PetscScalar val[], float rounded[], PetscInt *row, PolderStream stream)
{
  const PolderIlu f = *ilu;

  return PolderForEach(ilu->nrow, stream, [=] __device__(PetscInt i) {
    if (!PolderIluRoundRow(&f, i, val, rounded)) PolderAtomicMin(row, i);
  });
}

int PolderIluCount_CUDA(const PolderIlu *ilu, const PetscScalar val[], PetscInt entries[], PolderStream stream)
{
  const PolderIlu f = *ilu;

  return PolderForEach(f.nrow, stream, [=] __device__(PetscInt i) {
    for (int t = 0; t < 2; ++t) entries[t * f.nrow + i] = PolderIluCountRow(&f, t, i, val);
  });
}

int PolderIluPack_CUDA(const PolderIlu *ilu, const PetscScalar val[], const PolderIlu *to, PetscInt col[], PetscScalar packed[], PolderStream stream)
{
  const PolderIlu f = *ilu, g = *to;

  return PolderForEach(f.nrow, stream, [=] __device__(PetscInt i) { PolderIluPackRow(&f, i, val, &g, col, packed); });
}

/* ------------------------------------------------ solves ------------------------------------------------ */

/* The first entries of a row, loaded before they are needed. APART: some slices have their rows one after the other. Where none has, the step is known, and a
   solve takes half of the time */
template <class V, bool APART>
struct IluAhead {
  PetscInt p, end, stride, col[ILU_AHEAD];
  V        val[ILU_AHEAD], inverse;

  __device__ __forceinline__ PetscInt step(void) const { return APART ? stride : POLDER_ILU_SLICE; }
};

/* Row i of triangle T, if i < end */
template <int T, class V, bool APART>
static __device__ __forceinline__ void IluLoad(const PolderIlu &ilu, const V *__restrict__ val, PetscInt i, PetscInt end, IluAhead<V, APART> *a)
{
  if (i >= end) return;
  if constexpr (APART) {
    const PolderIluSpan row = PolderIluSpanOf(&ilu, T, i);

    a->p      = row.p;
    a->end    = row.end;
    a->stride = row.step;
  } else {
    const PetscInt s = i / POLDER_ILU_SLICE;

    a->p   = __ldg(ilu.start[T] + s) + i % POLDER_ILU_SLICE;
    a->end = __ldg(ilu.start[T] + s + 1);
  }
  if (T) a->inverse = __ldg(val + ilu.nz + i);
#pragma unroll
  for (int k = 0; k < ILU_AHEAD; ++k) {
    if (a->p + k * a->step() < a->end) {
      a->col[k] = __ldg(ilu.col + a->p + k * a->step());
      a->val[k] = __ldg(val + a->p + k * a->step());
    }
  }
}

/* c - N x, or for T = 1 D^-1 c - N x, of the row that was loaded; c: its entry of that vector */
template <int T, class V, bool APART>
static __device__ __forceinline__ double IluRow(const PolderIlu &ilu, const V *__restrict__ val, const IluAhead<V, APART> &a, PetscScalar c,
                                                const PetscScalar *x)
{
  double sum = T ? (double)a.inverse * c : c;

#pragma unroll
  for (int k = 0; k < ILU_AHEAD; ++k) {
    if (a.p + k * a.step() < a.end) sum -= (double)a.val[k] * x[a.col[k]];
  }
#pragma unroll 4
  for (PetscInt p = a.p + ILU_AHEAD * a.step(); p < a.end; p += a.step()) sum -= (double)__ldg(val + p) * x[__ldg(ilu.col + p)];
  return sum;
}

/* N x of this lane's row beyond the entries that were loaded, if `active` and the row is long, which then ends there. The lanes of a warp share such rows */
template <class V>
static __device__ __forceinline__ double IluShare(const PolderIlu &ilu, const V *__restrict__ val, IluAhead<V, true> *a, bool active, const PetscScalar *x)
{
  const unsigned int all   = 0xffffffffu;
  const int          lane  = (int)threadIdx.x % 32;
  const PetscInt     first = a->p + ILU_AHEAD;
  const bool         far   = active && a->step() == 1 && a->end - first >= ILU_LONG;
  double             own   = 0;

  for (unsigned int left = __ballot_sync(all, far); left; left &= left - 1) {
    const int      owner = __ffs(left) - 1;
    const PetscInt begin = __shfl_sync(all, first, owner), end = __shfl_sync(all, a->end, owner);
    double         sum = 0;

    for (PetscInt p = begin + lane; p < end; p += 32) sum += (double)__ldg(val + p) * x[__ldg(ilu.col + p)];
    for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(all, sum, o);
    if (lane == owner) own = sum;
  }
  if (far) a->end = first;
  return own;
}

/* IluRow() of an `active` lane's row; all lanes of a warp, whose rows are of the same block, call it */
template <int T, class V, bool APART>
static __device__ __forceinline__ void IluStep(const PolderIlu &ilu, const V *__restrict__ val, IluAhead<V, APART> *a, bool active, const PetscScalar *c,
                                               const PetscScalar *x, PetscScalar *y)
{
  double tail = 0;

  if constexpr (APART) tail = IluShare(ilu, val, a, active, x);
  if (active) *y = IluRow<T>(ilu, val, *a, *c, x) - tail;
}

/*
  x <- T^-1 x (T = 1: T^-1 D^-1 x) for block b, level after level; the upper triangle begins with the last one. edge[k] and edge[k + 1] enclose the rows of
  level k in this order, and are loaded in time for the entries of its rows.
*/
template <bool APART, int T, class V>
static __device__ void IluSweep(const PolderIlu &ilu, const V *__restrict__ val, PetscInt b, PetscScalar *x)
{
  const PetscInt     r0 = ilu.row[b], nlevel = ilu.level[b + 1] - ilu.level[b], me = (PetscInt)threadIdx.x, step = T ? -1 : 1;
  const PetscInt    *first   = ilu.first + (T ? ilu.level[b + 1] : ilu.level[b]);
  PetscInt           edge[4] = {first[0], nlevel > 0 ? first[step] : 0, nlevel > 1 ? first[2 * step] : 0, 0};
  IluAhead<V, APART> next    = {};

  if (nlevel) IluLoad<T>(ilu, val, edge[T] + me, edge[1 - T], &next);
  for (PetscInt l = 0; l < nlevel; ++l) {
    IluAhead<V, APART> now = next;
    const PetscInt     i0 = edge[T], i1 = edge[1 - T], mine = i0 + me - r0;

    if (l + 3 <= nlevel) edge[3] = first[(l + 3) * step];
    if (l + 1 < nlevel) IluLoad<T>(ilu, val, edge[1 + T] + me, edge[2 - T], &next);
    IluStep<T>(ilu, val, &now, i0 + me < i1, x + mine, x, x + mine);
    for (PetscInt i = i0 + (PetscInt)blockDim.x; i < i1; i += (PetscInt)blockDim.x) {
      IluAhead<V, APART> other;
      PetscScalar       *y = x + (i + me - r0);

      IluLoad<T>(ilu, val, i + me, i1, &other);
      IluStep<T>(ilu, val, &other, i + me < i1, y, x, y);
    }
    edge[0] = edge[1];
    edge[1] = edge[2];
    edge[2] = edge[3];
    __syncthreads();
  }
}

static __device__ __forceinline__ void IluWrite(const PolderIluVectors &v, PetscInt i, PetscScalar x)
{
  if (!v.to) v.x[i] = x;
  else if (v.to[i] >= 0) v.z[v.to[i]] = x;
}

/* SHARED: x of the block is in shared memory */
template <class V, bool SHARED, bool APART>
static __global__ void __launch_bounds__(ILU_THREADS) PolderIluSolveKernel(const PolderIlu ilu, const V *__restrict__ val, const PolderIluVectors v)
{
  extern __shared__ PetscScalar shared[];
  const PetscInt                b = (PetscInt)blockIdx.x, r0 = ilu.row[b], r1 = ilu.row[b + 1];
  PetscScalar                  *x = SHARED ? shared : v.x + r0;

  for (PetscInt i = r0 + (PetscInt)threadIdx.x; i < r1; i += (PetscInt)blockDim.x) x[i - r0] = PolderIluRead(&v, i);
  __syncthreads();
  IluSweep<APART, 0>(ilu, val, b, x);
  IluSweep<APART, 1>(ilu, val, b, x);
  if (!SHARED && !v.to) return;
  for (PetscInt i = r0 + (PetscInt)threadIdx.x; i < r1; i += (PetscInt)blockDim.x) IluWrite(v, i, x[i - r0]);
}

/* Level l of each block, for T = 1 counted from the last */
template <class V, int T, bool APART>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderIluLevelKernel(const PolderIlu ilu, const V *__restrict__ val, PetscInt l, PetscScalar *x)
{
  const PetscInt     b = (PetscInt)blockIdx.y, level = T ? ilu.level[b + 1] - 1 - l : ilu.level[b] + l, r0 = ilu.row[b];
  IluAhead<V, APART> row;

  if (level < ilu.level[b] || level >= ilu.level[b + 1]) return;
  const PetscInt i = IluRowOfThread(ilu.first[level]), end = ilu.first[level + 1];

  IluLoad<T>(ilu, val, i, end, &row);
  IluStep<T>(ilu, val, &row, i < end, x + i, x + r0, x + i);
}

template <class V, bool APART>
static int IluSolveByLevels(const PolderIlu *ilu, const V *val, const PolderIluVectors *vectors, PolderStream stream)
{
  const PolderIluVectors v   = *vectors;
  int                    err = PolderForEach(ilu->nrow, stream, [=] __device__(PetscInt i) { v.x[i] = PolderIluRead(&v, i); });

  for (PetscInt l = 0; l < ilu->deepest; ++l) PolderIluLevelKernel<V, 0, APART><<<IluGrid(ilu, ilu->widest), POLDER_BLOCK, 0, stream>>>(*ilu, val, l, v.x);
  for (PetscInt l = 0; l < ilu->deepest; ++l) PolderIluLevelKernel<V, 1, APART><<<IluGrid(ilu, ilu->widest), POLDER_BLOCK, 0, stream>>>(*ilu, val, l, v.x);
  if (!err) err = cudaGetLastError();
  return err || !v.to ? err : PolderForEach(ilu->nrow, stream, [=] __device__(PetscInt i) { IluWrite(v, i, v.x[i]); });
}

/* A Jacobi sweep of all rows; T = 1 without an x: y = D^-1 c */
template <class V, int T, bool APART>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderIluSweepKernel(const PolderIlu ilu, const V *__restrict__ val, const PolderIluSweep s)
{
  for (PetscInt b = (PetscInt)blockIdx.y; b < ilu.nblock; b += (PetscInt)gridDim.y) {
    const PetscInt     r0 = ilu.row[b], r1 = ilu.row[b + 1], i = IluRowOfThread(r0);
    IluAhead<V, APART> row;

    if (s.x) {
      IluLoad<T>(ilu, val, i, r1, &row);
      IluStep<T>(ilu, val, &row, i < r1, s.c + i, s.x + r0, s.y + i);
    } else if (i < r1) s.y[i] = (double)val[ilu.nz + i] * s.c[i];
  }
}

template <class V, bool APART>
static int IluSolveBySweeps(const PolderIlu *ilu, const V *val, const PolderIluVectors *vectors, PolderStream stream)
{
  const PolderIluVectors v     = *vectors;
  PetscScalar           *first = PolderIluSweepFirst(vectors);
  const dim3             grid(PolderBlocks(ilu->largest, POLDER_BLOCK), (unsigned int)PetscMin(ilu->nblock, (PetscInt)ILU_GRID));
  int                    err = PolderForEach(ilu->nrow, stream, [=] __device__(PetscInt i) { first[i] = PolderIluRead(&v, i); });

  for (PetscInt k = 0; k <= 2 * v.sweeps; ++k) {
    const PolderIluSweep s = PolderIluSweepOf(vectors, k);

    if (s.upper) PolderIluSweepKernel<V, 1, APART><<<grid, POLDER_BLOCK, 0, stream>>>(*ilu, val, s);
    else PolderIluSweepKernel<V, 0, APART><<<grid, POLDER_BLOCK, 0, stream>>>(*ilu, val, s);
  }
  if (!err) err = cudaGetLastError();
  return err || !v.to ? err : PolderForEach(ilu->nrow, stream, [=] __device__(PetscInt i) { IluWrite(v, i, v.x[i]); });
}

template <bool APART, class V>
static int IluSolve(const PolderIlu *ilu, const V *val, const PolderIluVectors *v, PolderStream stream)
{
  const size_t bytes = sizeof(PetscScalar) * (size_t)ilu->largest;
  int          device, most = 0, err;

  if (v->sweeps) return IluSolveBySweeps<V, APART>(ilu, val, v, stream);
  if (IluByLevels(ilu)) return IluSolveByLevels<V, APART>(ilu, val, v, stream);
  err = cudaGetDevice(&device);
  if (!err) err = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (err) return err;
  if (bytes > (size_t)most) PolderIluSolveKernel<V, false, APART><<<(unsigned int)ilu->nblock, IluThreads(ilu), 0, stream>>>(*ilu, val, *v);
  else {
    err = cudaFuncSetAttribute((const void *)PolderIluSolveKernel<V, true, APART>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (err) return err;
    PolderIluSolveKernel<V, true, APART><<<(unsigned int)ilu->nblock, IluThreads(ilu), bytes, stream>>>(*ilu, val, *v);
  }
  return cudaGetLastError();
}

int PolderIluSolve_CUDA(const PolderIlu *ilu, PetscBool single, const void *val, const PolderIluVectors *v, PolderStream stream)
{
  if (!ilu->nblock) return cudaSuccess;
  if (ilu->apart) return single ? IluSolve<true>(ilu, (const float *)val, v, stream) : IluSolve<true>(ilu, (const PetscScalar *)val, v, stream);
  return single ? IluSolve<false>(ilu, (const float *)val, v, stream) : IluSolve<false>(ilu, (const PetscScalar *)val, v, stream);
}

int PolderIluAdd_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt list[], const PetscScalar weight[], const PetscScalar x[], PetscScalar z[],
                      PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt e) {
    PetscScalar sum = 0;

    for (PetscInt k = ptr[e]; k < ptr[e + 1]; ++k) sum += x[list[k]];
    z[e] = weight ? weight[e] * sum : sum;
  });
}
