/* Matrices stored by diagonals: val[d][i] is entry (i, i + off[d]), read only where row and column exist. */
#include "pack.cuh"
#include "runs.cuh"
#include "stencil.cuh"
#include "kernels/dia.h"
#include "kernels/vec.h"

/* Diagonals of one launch, passed as kernel arguments */
#define DIA_BATCH 32

/* Up to this number of rows the diagonals bypass the second-level cache: the vectors then stay there until the next kernel reads them */
#define DIA_CACHED_ROWS 5000000
/* Resident blocks of a 5-point stencil whose rows have classes, limited by registers */
#define DIA_CLASSED_FIT5 2

template <class V>
struct DiaArgs {
  PetscInt nd;
  PetscInt off[DIA_BATCH];
  const V *val[DIA_BATCH];
};

/* The size of the matrix, and the smallest and the largest offset of these diagonals */
struct DiaShape {
  PetscInt m, n, lo, hi;
};

/* Output of the sums s of N rows from row i on */
struct DiaOut {
  PetscScalar        alpha;
  const PetscScalar *y;
  PetscScalar       *z;

  template <int N>
  __device__ __forceinline__ void operator()(PetscInt i, const PolderPack<PetscScalar, N> &s) const
  {
    const PolderPack<PetscScalar, N> part = alpha * s;

    PolderPackStreamWrite(z + i, y ? PolderPackRead<N>(y + i) + part : part);
  }
};

/* The dot product, value = NULL: none; add: *value already holds the part of other diagonals */
struct DiaDot {
  PetscScalar         *value;
  bool                 add;
  PolderReduceScratch *scratch;

  /* *value += part, summed over the grid */
  template <int BLOCK>
  __device__ __forceinline__ void sum(PetscScalar part) const
  {
    double             sums[1] = {part};
    PetscScalar *const to      = value;
    const bool         more    = add;

    PolderGridSum<BLOCK>(sums, scratch, [=](const double(&total)[1]) { *to = more ? *to + total[0] : total[0]; });
  }
};

/* Rows in order, ROWS of them for each thread; ND = 0: any number of diagonals */
template <int ND, int ROWS, bool DOT, class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderDiaRowsKernel(DiaShape shape, const __grid_constant__ DiaArgs<V> A, const PetscScalar *__restrict__ x,
                                                                    DiaOut out, DiaDot dot)
{
  PolderBegin();
  const PetscInt m = shape.m, n = shape.n, nd = ND ? ND : A.nd;
  PetscScalar    part = 0;

  for (PetscInt i0 = (PetscInt)blockIdx.x * (ROWS * POLDER_BLOCK); i0 < m; i0 += (PetscInt)gridDim.x * (ROWS * POLDER_BLOCK)) {
    PetscScalar s[ROWS] = {};

    if (i0 + shape.lo >= 0 && i0 + ROWS * POLDER_BLOCK <= m && i0 + ROWS * POLDER_BLOCK + shape.hi <= n) {
#pragma unroll(ND ? ND : 4)
      for (PetscInt d = 0; d < nd; ++d) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          const PetscInt i = i0 + r * POLDER_BLOCK + (PetscInt)threadIdx.x;

          s[r] += (PetscScalar)A.val[d][i] * x[i + A.off[d]];
        }
      }
    } else {
#pragma unroll(ND ? ND : 1)
      for (PetscInt d = 0; d < nd; ++d) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          const PetscInt i = i0 + r * POLDER_BLOCK + (PetscInt)threadIdx.x, j = i + A.off[d];

          if (i < m && j >= 0 && j < n) s[r] += (PetscScalar)A.val[d][i] * x[j];
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const PetscInt i = i0 + r * POLDER_BLOCK + (PetscInt)threadIdx.x;

      if (i >= m) break;
      if (DOT) part += s[r] * x[i];
      out(i, PolderPack<PetscScalar, 1>{s[r]});
    }
  }
  if (DOT) dot.sum<POLDER_BLOCK>(part);
}

/* Loads an entry that is read once; CACHED: the cache is reserved for the vectors */
template <bool CACHED, class V>
__device__ __forceinline__ V DiaLoad(const V *v)
{
  return CACHED ? __ldcs(v) : __ldg(v);
}

/* The entries of the rows that a thread passes, a step apart, from the diagonals. HALF: the first entry of a row is the last one of the row before */
template <bool SEVENPOINTS, bool HALF, bool CACHED, class V>
struct DiaStored {
  static constexpr bool SEVEN = SEVENPOINTS;
  static constexpr int  C = SEVEN ? 3 : 2, N = 1, FIT = SEVEN ? DIA_FIT7 : DIA_FIT5;
  typedef V             Value;
  typedef DiaGrid<V>    Grid;
  V                     before = 0;

  /* Row i is the first one */
  __device__ __forceinline__ void begin(const Grid &A, PetscInt i)
  {
    if (HALF && i >= A.far) before = A.val[0][i];
  }

  template <bool CHECK>
  __device__ __forceinline__ void load(const Grid &A, PetscInt i, PolderPack<V, 1> (&a)[2 * C + 1])
  {
    const PetscInt m = A.m, far = A.far, near = A.near;
    const auto     get = [&](int d) { return HALF ? A.val[d][i] : DiaLoad<CACHED>(A.val[d] + i); };

    a[2 * C].v[0] = !CHECK || m - far > i ? DiaLoad<CACHED>(A.val[2 * C] + i) : (V)0;
    a[C].v[0]     = DiaLoad<CACHED>(A.val[C] + i);
    a[0].v[0]     = HALF ? before : !CHECK || i >= far ? get(0) : (V)0;
    if (SEVEN) a[1].v[0] = !CHECK || i >= near ? get(1) : (V)0;
    a[C - 1].v[0] = !CHECK || i >= 1 ? get(C - 1) : (V)0;
    a[C + 1].v[0] = !CHECK || m - 1 > i ? get(C + 1) : (V)0;
    if (SEVEN) a[C + 2].v[0] = !CHECK || m - near > i ? get(C + 2) : (V)0;
    if (HALF) before = a[2 * C].v[0];
  }
};

/* The same from the table of the classes, for ROWS rows at a time; their codes are loaded one step ahead */
template <bool SEVENPOINTS, int ROWS>
struct DiaClassed {
  static constexpr bool             SEVEN = SEVENPOINTS;
  static constexpr int              C = SEVEN ? 3 : 2, N = ROWS, FIT = SEVEN ? DIA_FIT7 : DIA_CLASSED_FIT5;
  typedef PetscScalar               Value;
  typedef DiaClassGrid<PetscScalar> Grid;
  PolderPack<unsigned char, N>      next;

  __device__ __forceinline__ void begin(const Grid &A, PetscInt i) { next = PolderPackStream<N>(A.code + i); }

  template <bool CHECK>
  __device__ __forceinline__ void load(const Grid &A, PetscInt i, PolderPack<PetscScalar, N> (&a)[2 * C + 1])
  {
    const PolderPack<unsigned char, N> code = next;

    if (!CHECK || A.m - A.far > i) next = PolderPackStream<N>(A.code + i + A.far);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (code.v[k] != POLDER_DIA_CLASSLESS) {
        PetscScalar row[2 * C + 1];

        DiaTableRow(A.classes, code.v[k], row);
#pragma unroll
        for (int d = 0; d <= 2 * C; ++d) a[d].v[k] = row[d];
      } else {
        DiaStored<SEVEN, false, false, PetscScalar> stored;
        PolderPack<PetscScalar, 1>                  row[2 * C + 1];

        stored.template load<true>(A, i + k, row);
#pragma unroll
        for (int d = 0; d <= 2 * C; ++d) a[d].v[k] = row[d].v[0];
      }
    }
  }
};

/* N rows from row i on with the entries a[]; with N > 1 near, far, m and i are multiples of N. xp: x one step before; xc: x here; xn: on return, x one step
   ahead */
template <bool CHECK, class V, int N, int POINTS>
__device__ __forceinline__ PolderPack<PetscScalar, N> DiaGridRows(const DiaGrid<V> &A, const PolderPack<V, N> (&a)[POINTS], PetscInt i,
                                                                  const PetscScalar *__restrict__ x, const PolderPack<PetscScalar, N> &xp,
                                                                  const PolderPack<PetscScalar, N> &xc, PolderPack<PetscScalar, N> &xn)
{
  const PetscInt             m = A.m, far = A.far, near = A.near;
  constexpr bool             SEVEN = POINTS == 7;
  constexpr int              c     = POINTS / 2;
  const bool                 above = !CHECK || m - far > i, left = !CHECK || i >= 1, right = !CHECK || m - N > i;
  PolderPack<PetscScalar, N> s = {}, before = {}, after = {};

  if (above) xn = PolderPackLdg<N>(x + i + far);
  else xn = {};
  if (left) before.v[0] = __ldg(x + i - 1);
  if (right) after.v[N - 1] = __ldg(x + i + N);
#pragma unroll
  for (int k = 1; k < N; ++k) {
    before.v[k]    = xc.v[k - 1];
    after.v[k - 1] = xc.v[k];
  }
  if (!CHECK || i >= far) s = PolderPackDouble(a[0]) * xp;
  if (SEVEN && (!CHECK || i >= near)) s = s + PolderPackDouble(a[1]) * PolderPackLdg<N>(x + i - near);
  if (N > 1 || left) s = s + PolderPackDouble(a[c - 1]) * before;
  s = s + PolderPackDouble(a[c]) * xc;
  if (N > 1 || right) s = s + PolderPackDouble(a[c + 1]) * after;
  if (SEVEN && (!CHECK || m - near > i)) s = s + PolderPackDouble(a[c + 2]) * PolderPackLdg<N>(x + i + near);
  if (above) s = s + PolderPackDouble(a[2 * c]) * xn;
  return s;
}

/* SUMS: computes the sums of the result over the runs, whose chunks are those of this kernel */
template <int BLOCK, class Entries, bool DOT, bool SUMS>
__global__ __launch_bounds__(BLOCK, Entries::FIT) void PolderDiaStencilKernel(const __grid_constant__ typename Entries::Grid A,
                                                                              const PetscScalar *__restrict__ x, DiaOut out, DiaDot dot,
                                                                              const __grid_constant__ PolderRuns runs)
{
  PolderBegin();
  constexpr int  N    = Entries::N;
  const PetscInt tile = (PetscInt)blockIdx.x % (A.tiles[0] * A.tiles[1]), step = (PetscInt)blockIdx.x / (A.tiles[0] * A.tiles[1]) * A.chunk;
  const PetscInt mine = N * (PetscInt)threadIdx.x;
  const PetscInt ix   = (tile % A.tiles[0] << A.logw) + (mine & ((1 << A.logw) - 1));
  const PetscInt iy   = tile / A.tiles[0] * (N * BLOCK >> A.logw) + (mine >> A.logw);
  const PetscInt far = A.far, m = A.m;
  PetscScalar    part = 0;

  if (ix < A.line && iy <= (far - 1 - ix) / A.line) {
    const int64_t              first = (int64_t)step * far + iy * A.line + ix, end = first + (int64_t)A.chunk * far;
    const PetscInt             last = (PetscInt)(end < m ? end : m), inner = last < m - far ? last : m - far;
    PetscInt                   i  = (PetscInt)(first < m ? first : m);
    PolderPack<PetscScalar, N> xp = {}, xc = {}, xn = {};
    Entries                    entries;
    RunsSum                    sums;
    const auto                 rows = [&](auto check) {
      PolderPack<typename Entries::Value, N> a[2 * Entries::C + 1];
      PolderPack<PetscScalar, N>             s;

      entries.template load<decltype(check)::value>(A, i, a);
      s = DiaGridRows<decltype(check)::value>(A, a, i, x, xp, xc, xn);
      for (int k = 0; DOT && k < N; ++k) part += s.v[k] * xc.v[k];
      out(i, s);
      if constexpr (SUMS) sums.add(runs, s.v[0]);
      xp = xc;
      xc = xn;
    };

    static_assert(N == 1 || !SUMS, "the sums go along lines of single rows");
    if (SUMS && i < m) sums.begin(runs, step / A.chunk, iy * A.line + ix);
    if (i < m) {
      xc = PolderPackLdg<N>(x + i);
      entries.begin(A, i);
    }
    if (i < m && i >= far) xp = PolderPackLdg<N>(x + i - far);
    else if (i < last) { // the first step of the matrix
      rows(std::true_type());
      i = m - far > i ? i + far : m;
    }
#pragma unroll(N > 1 ? 1 : 2)
    for (; i < inner; i += far) rows(std::false_type());
    if (i < last) rows(std::true_type()); // the last step
  }
  if (DOT) dot.sum<BLOCK>(part);
}

template <int ND, int ROWS, class V>
static void DiaRowsLaunch(DiaShape shape, const DiaArgs<V> &A, const PetscScalar *x, const DiaOut &out, const DiaDot &dot, cudaStream_t stream)
{
  const unsigned int all = PolderBlocks(shape.m, ROWS * POLDER_BLOCK), blocks = all ? all : 1;

  for (PetscInt d = 0; d < A.nd; ++d) {
    shape.lo = PetscMin(shape.lo, A.off[d]);
    shape.hi = PetscMax(shape.hi, A.off[d]);
  }
  if (dot.value) PolderLaunchEarly(PolderDiaRowsKernel<ND, ROWS, true, V>, PetscMin(blocks, POLDER_REDUCE_BLOCKS), POLDER_BLOCK, stream, shape, A, x, out, dot);
  else if (all) PolderLaunchEarly(PolderDiaRowsKernel<ND, ROWS, false, V>, blocks, POLDER_BLOCK, stream, shape, A, x, out, dot);
}

template <class Entries>
static void DiaStencilLaunch(const typename Entries::Grid &A, unsigned int blocks, const PetscScalar *x, const DiaOut &out, const DiaDot &dot,
                             const PolderRuns *runs, cudaStream_t stream)
{
  constexpr int  tile = Entries::SEVEN ? DIA_TILE7 : DIA_TILE5;
  constexpr bool sums = std::is_same_v<typename Entries::Value, PetscScalar> && Entries::N == 1; // only products with A itself support runs

  if (runs) PolderLaunchEarly(PolderDiaStencilKernel<tile, Entries, true, sums>, blocks, tile, stream, A, x, out, dot, *runs);
  else if (dot.value) PolderLaunchEarly(PolderDiaStencilKernel<tile, Entries, true, false>, blocks, tile, stream, A, x, out, dot, PolderRuns{});
  else PolderLaunchEarly(PolderDiaStencilKernel<tile, Entries, false, false>, blocks, tile, stream, A, x, out, dot, PolderRuns{});
}

/* The kernel for a stencil whose rows have classes, which takes two rows at a time if it may: with 5 points there are not enough registers */
template <bool SEVEN>
static void DiaClassedLaunch(const PolderDia *A, const DiaGrid<PetscScalar> &grid, unsigned int blocks, const PetscScalar *x, const DiaOut &out,
                             const DiaDot &dot, const PolderRuns *runs, cudaStream_t stream)
{
  DiaClassGrid<PetscScalar> G = {grid, A->code, A->classes, NULL};

  if constexpr (SEVEN) {
    bool half;

    if (!runs && G.m % 2 == 0 && G.near % 2 == 0 && G.far % 2 == 0 && PolderAligned<2>(x, out.y, out.z)) {
      blocks = DiaFindGrid<2>(A->m, A->n, A->nd, A->off, A->val, &G, &half);
      DiaStencilLaunch<DiaClassed<SEVEN, 2>>(G, blocks, x, out, dot, runs, stream);
      return;
    }
  }
  DiaStencilLaunch<DiaClassed<SEVEN, 1>>(G, blocks, x, out, dot, runs, stream);
}

/* The kernel for a stencil: 7 points or 5, half stored or all, past the cache or not */
template <class V>
static void DiaGridLaunch(const DiaGrid<V> &A, bool half, unsigned int blocks, const PetscScalar *x, const DiaOut &out, const DiaDot &dot,
                          const PolderRuns *runs, cudaStream_t stream)
{
  typedef void (*Launch)(const DiaGrid<V> &, unsigned int, const PetscScalar *, const DiaOut &, const DiaDot &, const PolderRuns *, cudaStream_t);
  static const Launch launch[2][2][2] = {
    {{DiaStencilLaunch<DiaStored<false, false, false, V>>, DiaStencilLaunch<DiaStored<false, false, true, V>>},
     {DiaStencilLaunch<DiaStored<false, true, false, V>>, DiaStencilLaunch<DiaStored<false, true, true, V>>}},
    {{DiaStencilLaunch<DiaStored<true, false, false, V>>, DiaStencilLaunch<DiaStored<true, false, true, V>>},
     {DiaStencilLaunch<DiaStored<true, true, false, V>>, DiaStencilLaunch<DiaStored<true, true, true, V>>}  }
  };

  launch[A.near > 0][half][A.m <= DIA_CACHED_ROWS](A, blocks, x, out, dot, runs, stream);
}

/* The grid of a product with A, or of its values in single precision */
template <class V>
static unsigned int DiaFindProduct(const PolderDia *A, const V *const val[], DiaGrid<V> *G, bool *half)
{
  if (std::is_same_v<V, PetscScalar> && A->code) return DiaFindGrid<1, DIA_CLASSED_FIT5>(A->m, A->n, A->nd, A->off, val, G, half);
  return DiaFindGrid(A->m, A->n, A->nd, A->off, val, G, half);
}

/* val: the values of A, or these in single precision */
template <class V>
static int DiaMultLaunch(const PolderDia *A, const V *const val[], const PetscScalar x[], const DiaOut &out, const DiaDot &dot, const PolderRuns *runs,
                         cudaStream_t stream)
{
  const PetscInt     nd = A->nd;
  DiaGrid<V>         G;
  bool               half;
  const unsigned int blocks = DiaFindProduct(A, val, &G, &half);

  if (blocks) {
    if constexpr (std::is_same_v<V, PetscScalar>) {
      if (A->code && G.near) DiaClassedLaunch<true>(A, G, blocks, x, out, dot, runs, stream);
      else if (A->code) DiaClassedLaunch<false>(A, G, blocks, x, out, dot, runs, stream);
      if (A->code) return (int)cudaGetLastError();
    }
    DiaGridLaunch(G, half, blocks, x, out, dot, runs, stream);
    return (int)cudaGetLastError();
  }
  if (runs) return (int)cudaErrorInvalidValue; // runs require the stencil of a grid
  for (PetscInt first = 0; first == 0 || first < nd; first += DIA_BATCH) {
    const DiaShape shape = {A->m, A->n, 0, 0};
    const DiaOut   to    = {out.alpha, first ? out.z : out.y, out.z};
    const DiaDot   sum   = {dot.value, first > 0, dot.scratch};
    DiaArgs<V>     some;

    some.nd = PetscMin(nd - first, DIA_BATCH);
    for (PetscInt d = 0; d < some.nd; ++d) {
      some.off[d] = A->off[first + d];
      some.val[d] = val[first + d];
    }
    if (nd == 5) DiaRowsLaunch<5, 1>(shape, some, x, to, sum, stream);
    else if (nd == 7) DiaRowsLaunch<7, 1>(shape, some, x, to, sum, stream);
    else if (A->m < DIA_GRID_ROWS) DiaRowsLaunch<0, 1>(shape, some, x, to, sum, stream);
    else DiaRowsLaunch<0, 2>(shape, some, x, to, sum, stream);
  }
  return (int)cudaGetLastError();
}

size_t PolderDiaMultWork_CUDA(PetscInt m)
{
  (void)m;
  return PolderReduceWork_CUDA();
}

int PolderDiaMult_CUDA(const PolderDia *A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work,
                       PolderStream stream)
{
  return DiaMultLaunch(A, A->val, x, {alpha, y, z}, {dot, false, (PolderReduceScratch *)work}, NULL, stream);
}

int PolderDiaMultRuns_CUDA(const PolderDia *A, const PetscScalar x[], PetscScalar y[], PetscScalar *dot, const PolderRuns *runs, void *work,
                           PolderStream stream)
{
  return DiaMultLaunch(A, A->val, x, {1, NULL, y}, {dot, false, (PolderReduceScratch *)work}, runs, stream);
}

PetscBool PolderDiaRuns_CUDA(const PolderDia *A, PetscInt *far, PetscInt *chunk)
{
  DiaGrid<PetscScalar> G;
  bool                 half;

  if (!DiaFindProduct(A, A->val, &G, &half)) return PETSC_FALSE;
  *far   = G.far;
  *chunk = G.chunk;
  return PETSC_TRUE;
}

int PolderDiaMultSingle_CUDA(const PolderDia *A, const float *const val[], PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[],
                             PolderStream stream)
{
  return DiaMultLaunch(A, val, x, {alpha, y, z}, {NULL, false, NULL}, NULL, stream);
}

/* Sets *bad for a finite number that is too large for single precision */
__global__ __launch_bounds__(POLDER_BLOCK) void PolderToSingleKernel(size_t n, const PetscScalar *__restrict__ v, float *__restrict__ s, int *bad)
{
  for (size_t i = (size_t)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += (size_t)gridDim.x * POLDER_BLOCK) {
    const float f = (float)v[i];

    s[i] = f;
    if (isinf(f) && !isinf(v[i])) *bad = 1;
  }
}

int PolderToSingle_CUDA(size_t n, const PetscScalar v[], float s[], int *bad, PolderStream stream)
{
  if (n) PolderToSingleKernel<<<(unsigned int)PetscMin((n + POLDER_BLOCK - 1) / POLDER_BLOCK, 1 << 16), POLDER_BLOCK, 0, stream>>>(n, v, s, bad);
  return (int)cudaGetLastError();
}

/* V: double or float */
template <class V>
static __device__ __forceinline__ void DiaToBfloat(size_t n, const V *__restrict__ v, PolderBfloat *__restrict__ a, int *bad)
{
  for (size_t i = (size_t)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += (size_t)gridDim.x * POLDER_BLOCK) {
    const PolderBfloat rounded = PolderBfloatRound((float)v[i]);

    a[i] = rounded;
    if (isinf(PolderBfloatGet(rounded)) && !isinf(v[i])) *bad = 1;
  }
}

static unsigned int DiaToBfloatBlocks(size_t n)
{
  return (unsigned int)PetscMin((n + POLDER_BLOCK - 1) / POLDER_BLOCK, 1 << 16);
}

static __global__ __launch_bounds__(POLDER_BLOCK) void PolderToBfloatKernel(size_t n, const float *v, PolderBfloat *a, int *bad)
{
  DiaToBfloat(n, v, a, bad);
}

int PolderToBfloat_CUDA(size_t n, const float s[], PolderBfloat a[], int *bad, PolderStream stream)
{
  if (n) PolderToBfloatKernel<<<DiaToBfloatBlocks(n), POLDER_BLOCK, 0, stream>>>(n, s, a, bad);
  return (int)cudaGetLastError();
}

/* blockIdx.y is the array */
static __global__ __launch_bounds__(POLDER_BLOCK) void PolderHalveKernel(const __grid_constant__ PolderHalving arrays, int *bad)
{
  DiaToBfloat(arrays.n[blockIdx.y], arrays.v[blockIdx.y], arrays.a[blockIdx.y], bad);
}

int PolderHalve_CUDA(const PolderHalving *arrays, int *bad, PolderStream stream)
{
  size_t most = 0;

  for (int k = 0; k < arrays->count; ++k) most = PetscMax(most, arrays->n[k]);
  if (most) PolderHalveKernel<<<dim3(DiaToBfloatBlocks(most), (unsigned int)arrays->count), POLDER_BLOCK, 0, stream>>>(*arrays, bad);
  return (int)cudaGetLastError();
}

__global__ __launch_bounds__(POLDER_BLOCK) void PolderDiaOffsetsKernel(PetscInt       m, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj,
                                                                       unsigned char *seen)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;

  if (i >= m) return;
  for (PetscInt k = ai[i], end = ai[i + 1]; k < end; ++k) {
    unsigned char *s = seen + (aj[k] - i + m);

    if (!*s) *s = 1; // tests first, as a cached read: millions of rows write the same few bytes
  }
}

int PolderDiaOffsets_CUDA(PetscInt m, PetscInt n, const PetscInt ai[], const PetscInt aj[], unsigned char seen[], PolderStream stream)
{
  (void)n;
  if (m) PolderDiaOffsetsKernel<<<PolderBlocks(m, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(m, ai, aj, seen);
  return (int)cudaGetLastError();
}

/* The diagonals of one launch of the fill: of nd in all, beginning with number first. below: the offset before them; least: a bound below all column offsets */
struct DiaFillArgs {
  PetscInt     nd, below;
  bool         firstbatch, lastbatch;
  PetscInt     off[DIA_BATCH];
  PetscScalar *val[DIA_BATCH];
};

/* Is low the mirror image of up, an entry of a row above? Exactly, or up to tol times the larger of low and the smaller diagonal entry of both rows */
__device__ __forceinline__ bool DiaEntriesMirror(PetscScalar low, PetscScalar up, PetscScalar diag, PetscScalar above, PetscReal tol)
{
  return low == up || fabs(low - up) <= tol * fmax(fabs(low), fmin(fabs(diag), fabs(above)));
}

/* MIRROR: compares the diagonals with the mirror images to which their pointers lead, instead of filling them; diag is the main diagonal */
template <bool MIRROR>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderDiaFillKernel(const __grid_constant__ DiaFillArgs A, const PetscScalar *diag, PolderRows rows,
                                                                    PetscReal tol, int *bad)
{
  const PetscInt *__restrict__ ai = rows.i, *__restrict__ aj = rows.j;
  const PetscScalar *__restrict__ aa = rows.a;
  const PetscInt i                   = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PetscInt       k, end;

  if (i >= rows.n) return;
  k   = ai[i];
  end = ai[i + 1];
  if (A.firstbatch) {
    for (PetscInt l = k + 1; l < end; ++l) {
      if (aj[l] <= aj[l - 1]) *bad = POLDER_DIA_WRONG;
    }
  } else {
    while (k < end && aj[k] - i <= A.below) ++k;
  }
  for (PetscInt d = 0; d < A.nd; ++d) {
    const PetscScalar v = k < end && aj[k] == i + A.off[d] ? aa[k++] : 0.0;

    if (!MIRROR) A.val[d][i] = v;
    else if (i + A.off[d] >= 0 && v != A.val[d][i]) {
      if (!DiaEntriesMirror(v, A.val[d][i], diag[i], diag[i + A.off[d]], tol)) *bad = POLDER_DIA_WRONG;
      else if (!*(volatile int *)bad) atomicOr(bad, POLDER_DIA_ROUNDED);
    }
  }
  if (k < end && (A.lastbatch || aj[k] - i <= A.off[A.nd - 1])) *bad = POLDER_DIA_WRONG;
}

int PolderDiaFill_CUDA(const PolderDia *D, PetscScalar *const val[], PolderRows rows, PetscReal tol, int *bad, PolderStream stream)
{
  const PetscInt     nd = D->nd, first = D->half ? D->main : 0, *off = D->off;
  const unsigned int blocks = PolderBlocks(D->m, POLDER_BLOCK);

  if (!D->m) return (int)cudaGetLastError();
  for (int mirror = 0; mirror < (tol < PETSC_INFINITY ? 2 : 1); ++mirror) { // the second pass compares mirrored entries, after all rows have been filled
    const PetscInt d0 = mirror ? 0 : first, d1 = mirror ? first : nd;

    for (PetscInt b = d0; b < d1 || (b == d0 && !mirror); b += DIA_BATCH) {
      DiaFillArgs A;

      A.nd         = PetscMin(d1 - b, DIA_BATCH);
      A.firstbatch = b == 0;
      A.lastbatch  = b + A.nd == nd;
      A.below      = b ? off[b - 1] : 0;
      for (PetscInt d = 0; d < A.nd; ++d) {
        A.off[d] = off[b + d];
        A.val[d] = val[b + d];
      }
      if (mirror) PolderDiaFillKernel<true><<<blocks, POLDER_BLOCK, 0, stream>>>(A, val[first], rows, tol, bad);
      else PolderDiaFillKernel<false><<<blocks, POLDER_BLOCK, 0, stream>>>(A, NULL, rows, tol, bad);
    }
  }
  return (int)cudaGetLastError();
}
