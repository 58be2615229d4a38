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
/* The least threads of a block in a solve, if it has a level so wide */
#define ILU_LEAST 96
/* Entries of the right-hand side and of the solution that a thread has on their way at a time */
#define ILU_BATCH 8
/* A warp shares a row that is stored apart and has so many entries beyond these */
#define ILU_LONG 64

/* Threads for the rows of the widest level */
static unsigned int IluThreads(const PolderIlu *ilu)
{
  return (unsigned int)PetscMin((PetscInt)ILU_THREADS, PetscMax((PetscInt)32, (ilu->widest + 31) / 32 * 32));
}

/* The same for a solve, but no more than let all blocks run at once: a multiprocessor has registers for ILU_THREADS threads */
static unsigned int IluSolveThreads(const PolderIlu *ilu)
{
  const PetscInt multi = PolderMultiprocessors(), blocks = (ilu->nblock + multi - 1) / multi, most = ILU_THREADS / blocks / 32 * 32;

  return PetscMin(IluThreads(ilu), (unsigned int)PetscMax((PetscInt)ILU_LEAST, most));
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

/* A row and its first entries, loaded before they are needed; i < 0: none. APART: some slices have their rows one after the other. Where none has, the step
   is known, and a solve takes half of the time */
template <class V, bool APART>
struct IluAhead {
  PetscInt i, p, end, stride, col[ILU_AHEAD];
  V        val[ILU_AHEAD], inverse;

  __device__ __forceinline__ PetscInt step(void) const { return APART ? stride : POLDER_ILU_SLICE; }
};

/* Row i of triangle T, if i < end, and where its entries are; IluLoad() does what would wait for that */
template <int T, class V, bool APART>
static __device__ __forceinline__ void IluFind(const PolderIlu &ilu, PetscInt i, PetscInt end, IluAhead<V, APART> *a)
{
  a->i = i < end ? i : -1;
  if constexpr (APART) {
    const PolderIluSpan row = i < end ? PolderIluSpanOf(&ilu, T, i) : PolderIluSpan{0, 0, 1};

    a->p      = row.p;
    a->end    = row.end;
    a->stride = row.step;
  } else {
    const PetscInt *slice = ilu.start[T] + (unsigned int)(i < end ? i : 0) / POLDER_ILU_SLICE;

    a->p   = __ldg(slice);
    a->end = __ldg(slice + 1);
  }
}

template <int T, class V, bool APART>
static __device__ __forceinline__ void IluLoad(const PolderIlu &ilu, const V *__restrict__ val, IluAhead<V, APART> *a)
{
  if (!APART) {
    a->p += a->i & (POLDER_ILU_SLICE - 1);
    if (a->i < 0) a->end = a->p;
  }
  if (T && a->i >= 0) a->inverse = __ldg(val + ilu.nz + a->i);
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

/* N x of this lane's row beyond the entries that were loaded, if the row is long, which then ends there. The lanes of a warp share such rows */
template <class V>
static __device__ __forceinline__ double IluShare(const PolderIlu &ilu, const V *__restrict__ val, IluAhead<V, true> *a, const PetscScalar *x)
{
  const unsigned int all   = 0xffffffffu;
  const int          lane  = (int)threadIdx.x % 32;
  const PetscInt     first = a->p + ILU_AHEAD;
  const bool         far   = a->i >= 0 && a->step() == 1 && a->end - first >= ILU_LONG;
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

/* y_i = IluRow() of a lane's row, if it has one; all lanes of a warp, whose rows are of the same block, call it. c, x, y: of the rows from r0 on */
template <int T, class V, bool APART>
static __device__ __forceinline__ void IluStep(const PolderIlu &ilu, const V *__restrict__ val, IluAhead<V, APART> *a, PetscInt r0, const PetscScalar *c,
                                               const PetscScalar *x, PetscScalar *y)
{
  double tail = 0;

  if constexpr (APART) tail = IluShare(ilu, val, a, x);
  if (a->i >= 0) y[a->i - r0] = IluRow<T>(ilu, val, *a, c[a->i - r0], x) - tail;
}

/* What a warp solves for at a time: up to 32 rows of a level, from row base on and below row end. Levels are counted in the order of the sweep */
struct IluTurn {
  PetscInt level, base, end;
};

/* The next turn of this warp; level >= nlevel: there is none. edge[0 .. nlevel]: where the levels of the block begin */
template <int T>
static __device__ __forceinline__ void IluNext(const PetscInt *edge, PetscInt nlevel, IluTurn *t)
{
  t->base += (PetscInt)blockDim.x;
  while (t->base >= t->end && ++t->level < nlevel) {
    const PetscInt l = T ? nlevel - 1 - t->level : t->level;

    t->base = edge[l] + (PetscInt)threadIdx.x / 32 * 32;
    t->end  = edge[l + 1];
  }
}

/*
  x <- T^-1 x (T = 1: T^-1 D^-1 x) for block b, level after level. While a warp takes its turn, the entries of the next one are on their way, and where those of
  the one after it are. A warp that has no rows in a level goes on to the next
*/
template <bool APART, int T, class V>
static __device__ void IluSweep(const PolderIlu &ilu, const V *__restrict__ val, PetscInt b, const PetscInt *edge, PetscScalar *x)
{
  const PetscInt     r0 = ilu.row[b], nlevel = ilu.level[b + 1] - ilu.level[b], lane = (PetscInt)threadIdx.x % 32;
  IluTurn            turn = {-1, 0, 0};
  IluAhead<V, APART> next, found;
  PetscInt           level;

  IluNext<T>(edge, nlevel, &turn);
  IluFind<T>(ilu, turn.base + lane, turn.end, &next);
  IluLoad<T>(ilu, val, &next);
  level = turn.level;
  IluNext<T>(edge, nlevel, &turn);
  IluFind<T>(ilu, turn.base + lane, turn.end, &found);
  for (PetscInt l = 0; l < nlevel; ++l) {
    while (level == l) {
      IluAhead<V, APART> now = next;

      next = found;
      IluLoad<T>(ilu, val, &next);
      level = turn.level;
      IluNext<T>(edge, nlevel, &turn);
      IluFind<T>(ilu, turn.base + lane, turn.end, &found);
      IluStep<T>(ilu, val, &now, r0, x, x, x);
    }
    __syncthreads();
  }
}

/* x <- the right-hand side of the rows from r0 to r1. A thread has several entries on their way at a time */
static __device__ void IluReadBlock(const PolderIluVectors &v, PetscInt r0, PetscInt r1, PetscScalar *x)
{
  const PetscInt threads = (PetscInt)blockDim.x;

  for (PetscInt i = r0 + (PetscInt)threadIdx.x; i < r1; i += ILU_BATCH * threads) {
    PetscInt    from[ILU_BATCH], number[ILU_BATCH];
    PetscScalar value[ILU_BATCH];

#pragma unroll
    for (int k = 0; k < ILU_BATCH; ++k) {
      from[k]   = i + k * threads < r1 ? __ldg(v.from + i + k * threads) : -1;
      number[k] = i + k * threads < r1 ? __ldg(v.number + i + k * threads) : r0;
    }
#pragma unroll
    for (int k = 0; k < ILU_BATCH; ++k) value[k] = from[k] >= 0 ? PolderIluEntry(&v, from[k]) : 0;
#pragma unroll
    for (int k = 0; k < ILU_BATCH; ++k) {
      if (from[k] >= 0) x[number[k] - r0] = value[k];
    }
  }
}

/* The entries of the solution that the rows from r0 to r1 write <- x */
static __device__ void IluWriteBlock(const PolderIluVectors &v, PetscInt r0, PetscInt r1, const PetscScalar *x)
{
  const PetscInt threads = (PetscInt)blockDim.x;

  for (PetscInt i = r0 + (PetscInt)threadIdx.x; i < r1; i += ILU_BATCH * threads) {
    PetscInt to[ILU_BATCH], number[ILU_BATCH];

#pragma unroll
    for (int k = 0; k < ILU_BATCH; ++k) {
      to[k]     = i + k * threads < r1 ? __ldg(v.to + i + k * threads) : -1;
      number[k] = i + k * threads < r1 ? __ldg(v.number + i + k * threads) : r0;
    }
#pragma unroll
    for (int k = 0; k < ILU_BATCH; ++k) {
      if (to[k] >= 0) v.z[to[k]] = x[number[k] - r0];
    }
  }
}

/* SHARED: x of the block is in shared memory, and so is where its levels begin */
template <class V, bool SHARED, bool APART>
static __global__ void __launch_bounds__(ILU_THREADS) PolderIluSolveKernel(const PolderIlu ilu, const V *__restrict__ val, const PolderIluVectors v)
{
  extern __shared__ PetscScalar shared[];
  const PetscInt                b = (PetscInt)blockIdx.x, r0 = ilu.row[b], r1 = ilu.row[b + 1], nlevel = ilu.level[b + 1] - ilu.level[b];
  const PetscInt               *first = ilu.first + ilu.level[b];
  PetscInt                     *edge  = (PetscInt *)(shared + ilu.largest);
  PetscScalar                  *x     = SHARED ? shared : v.x + r0;

  for (PetscInt l = (PetscInt)threadIdx.x; SHARED && l <= nlevel; l += (PetscInt)blockDim.x) edge[l] = first[l];
  IluReadBlock(v, r0, r1, x);
  __syncthreads();
  IluSweep<APART, 0>(ilu, val, b, SHARED ? edge : first, x);
  IluSweep<APART, 1>(ilu, val, b, SHARED ? edge : first, x);
  if (v.to) IluWriteBlock(v, r0, r1, x);
  for (PetscInt i = r0 + (PetscInt)threadIdx.x; SHARED && !v.to && i < r1; i += (PetscInt)blockDim.x) v.x[i] = x[i - r0];
}

/* Level l of each block, for T = 1 counted from the last */
template <class V, int T, bool APART>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderIluLevelKernel(const PolderIlu ilu, const V *__restrict__ val, PetscInt l, PetscScalar *x)
{
  const PetscInt     b = (PetscInt)blockIdx.y, level = T ? ilu.level[b + 1] - 1 - l : ilu.level[b] + l, r0 = ilu.row[b];
  IluAhead<V, APART> row = {};

  if (level < ilu.level[b] || level >= ilu.level[b + 1]) return;
  const PetscInt i = IluRowOfThread(ilu.first[level]), end = ilu.first[level + 1];

  IluFind<T>(ilu, i, end, &row);
  IluLoad<T>(ilu, val, &row);
  IluStep<T>(ilu, val, &row, r0, x + r0, x + r0, x + r0);
}

template <class V, bool APART>
static int IluSolveByLevels(const PolderIlu *ilu, const V *val, const PolderIluVectors *vectors, PolderStream stream)
{
  const PolderIluVectors v   = *vectors;
  int                    err = PolderForEach(ilu->nrow, stream, [=] __device__(PetscInt k) { PolderIluRead(&v, k, v.x); });

  for (PetscInt l = 0; l < ilu->deepest; ++l) PolderIluLevelKernel<V, 0, APART><<<IluGrid(ilu, ilu->widest), POLDER_BLOCK, 0, stream>>>(*ilu, val, l, v.x);
  for (PetscInt l = 0; l < ilu->deepest; ++l) PolderIluLevelKernel<V, 1, APART><<<IluGrid(ilu, ilu->widest), POLDER_BLOCK, 0, stream>>>(*ilu, val, l, v.x);
  if (!err) err = cudaGetLastError();
  return err || !v.to ? err : PolderForEach(ilu->nrow, stream, [=] __device__(PetscInt k) { PolderIluWrite(&v, k); });
}

/* A Jacobi sweep of all rows; T = 1 without an x: y = D^-1 c */
template <class V, int T, bool APART>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderIluSweepKernel(const PolderIlu ilu, const V *__restrict__ val, const PolderIluSweep s)
{
  for (PetscInt b = (PetscInt)blockIdx.y; b < ilu.nblock; b += (PetscInt)gridDim.y) {
    const PetscInt     r0 = ilu.row[b], r1 = ilu.row[b + 1], i = IluRowOfThread(r0);
    IluAhead<V, APART> row = {};

    if (s.x) {
      IluFind<T>(ilu, i, r1, &row);
      IluLoad<T>(ilu, val, &row);
      IluStep<T>(ilu, val, &row, r0, s.c + r0, s.x + r0, s.y + r0);
    } else if (i < r1) s.y[i] = (double)val[ilu.nz + i] * s.c[i];
  }
}

template <class V, bool APART>
static int IluSolveBySweeps(const PolderIlu *ilu, const V *val, const PolderIluVectors *vectors, PolderStream stream)
{
  const PolderIluVectors v     = *vectors;
  PetscScalar           *first = PolderIluSweepFirst(vectors);
  const dim3             grid(PolderBlocks(ilu->largest, POLDER_BLOCK), (unsigned int)PetscMin(ilu->nblock, (PetscInt)ILU_GRID));
  int                    err = PolderForEach(ilu->nrow, stream, [=] __device__(PetscInt k) { PolderIluRead(&v, k, first); });

  for (PetscInt k = 0; k <= 2 * v.sweeps; ++k) {
    const PolderIluSweep s = PolderIluSweepOf(vectors, k);

    if (s.upper) PolderIluSweepKernel<V, 1, APART><<<grid, POLDER_BLOCK, 0, stream>>>(*ilu, val, s);
    else PolderIluSweepKernel<V, 0, APART><<<grid, POLDER_BLOCK, 0, stream>>>(*ilu, val, s);
  }
  if (!err) err = cudaGetLastError();
  return err || !v.to ? err : PolderForEach(ilu->nrow, stream, [=] __device__(PetscInt k) { PolderIluWrite(&v, k); });
}

template <bool APART, class V>
static int IluSolve(const PolderIlu *ilu, const V *val, const PolderIluVectors *v, PolderStream stream)
{
  const size_t bytes = sizeof(PetscScalar) * (size_t)ilu->largest + sizeof(PetscInt) * (size_t)(ilu->deepest + 1);
  int          device, most = 0, err;

  if (v->sweeps) return IluSolveBySweeps<V, APART>(ilu, val, v, stream);
  if (IluByLevels(ilu)) return IluSolveByLevels<V, APART>(ilu, val, v, stream);
  err = cudaGetDevice(&device);
  if (!err) err = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (err) return err;
  if (bytes > (size_t)most) PolderIluSolveKernel<V, false, APART><<<(unsigned int)ilu->nblock, IluSolveThreads(ilu), 0, stream>>>(*ilu, val, *v);
  else {
    const void *kernel = (const void *)PolderIluSolveKernel<V, true, APART>;

    err = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (!err) err = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
    if (err) return err;
    PolderIluSolveKernel<V, true, APART><<<(unsigned int)ilu->nblock, IluSolveThreads(ilu), bytes, stream>>>(*ilu, val, *v);
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
