/* Matrices stored by diagonals: val[d][i] is entry (i, i + off[d]), read only where row and column exist. */
#include "runs.cuh"
#include "stencil.cuh"
#include "kernels/dia.h"
#include "kernels/vec.h"

/* Diagonals of one launch, passed as kernel arguments */
#define DIA_BATCH 32

/* Up to this number of rows the diagonals bypass the second-level cache: the vectors then stay there until the next kernel reads them */
#define DIA_CACHED_ROWS 5000000

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

/* Output of the sum s of row i */
struct DiaOut {
  PetscScalar        alpha;
  const PetscScalar *y;
  PetscScalar       *z;

  __device__ __forceinline__ void operator()(PetscInt i, PetscScalar s) const { __stcs(z + i, y ? y[i] + alpha * s : alpha * s); }
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
      out(i, s[r]);
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

template <bool SEVEN, bool HALF, bool CACHED, bool CHECK, class V>
__device__ __forceinline__ PetscScalar DiaGridRow(const DiaGrid<V> &A, PetscInt i, const PetscScalar *__restrict__ x, PetscScalar xp, PetscScalar xc,
                                                  PetscScalar &xn, V &vp)
{
  const PetscInt m = A.m, far = A.far, near = A.near;
  constexpr int  c     = SEVEN ? 3 : 2;
  const bool     below = !CHECK || i >= far, above = !CHECK || m - far > i;
  const V        w  = HALF ? vp : below ? DiaLoad<CACHED>(A.val[0] + i) : (V)0;
  const V        vn = above ? DiaLoad<CACHED>(A.val[2 * c] + i) : (V)0;
  const V        vc = DiaLoad<CACHED>(A.val[c] + i);
  PetscScalar    s  = 0;

  xn = above ? x[i + far] : 0;
  if (!CHECK || i >= far) s = (PetscScalar)w * xp;
  if (SEVEN && (!CHECK || i >= near)) s += (PetscScalar)(HALF ? A.val[1][i] : DiaLoad<CACHED>(A.val[1] + i)) * x[i - near];
  if (!CHECK || i >= 1) s += (PetscScalar)(HALF ? A.val[c - 1][i] : DiaLoad<CACHED>(A.val[c - 1] + i)) * x[i - 1];
  s += (PetscScalar)vc * xc;
  if (!CHECK || m - 1 > i) s += (PetscScalar)(HALF ? A.val[c + 1][i] : DiaLoad<CACHED>(A.val[c + 1] + i)) * x[i + 1];
  if (SEVEN && (!CHECK || m - near > i)) s += (PetscScalar)(HALF ? A.val[c + 2][i] : DiaLoad<CACHED>(A.val[c + 2] + i)) * x[i + near];
  if (above) s += (PetscScalar)vn * xn;
  if (HALF) vp = vn;
  return s;
}

/* SUMS: computes the sums of the result over the runs, whose chunks are those of this kernel */
template <int BLOCK, bool SEVEN, bool HALF, bool CACHED, bool DOT, bool SUMS, class V>
__global__ __launch_bounds__(BLOCK, SEVEN ? DIA_FIT7 : DIA_FIT5) void PolderDiaStencilKernel(const __grid_constant__ DiaGrid<V> A,
                                                                                             const PetscScalar *__restrict__ x, DiaOut out, DiaDot dot,
                                                                                             const __grid_constant__ PolderRuns runs)
{
  PolderBegin();
  const PetscInt tile = (PetscInt)blockIdx.x % (A.tiles[0] * A.tiles[1]), step = (PetscInt)blockIdx.x / (A.tiles[0] * A.tiles[1]) * A.chunk;
  const PetscInt ix  = (tile % A.tiles[0] << A.logw) + ((PetscInt)threadIdx.x & ((1 << A.logw) - 1));
  const PetscInt iy  = tile / A.tiles[0] * (BLOCK >> A.logw) + ((PetscInt)threadIdx.x >> A.logw);
  const PetscInt far = A.far, m = A.m;
  PetscScalar    part = 0;

  if (ix < A.line && iy <= (far - 1 - ix) / A.line) {
    const int64_t  first = (int64_t)step * far + iy * A.line + ix, end = first + (int64_t)A.chunk * far;
    const PetscInt last = (PetscInt)(end < m ? end : m);
    PetscInt       i    = (PetscInt)(first < m ? first : m);
    PetscScalar    xp = 0, xc = 0, xn = 0;
    V              vp = 0;
    RunsSum        sums;

    if (SUMS && i < m) sums.begin(runs, step / A.chunk, iy * A.line + ix);
    if (i < m) xc = x[i];
    if (i < m && i >= far) {
      xp = x[i - far];
      if (HALF) vp = A.val[0][i];
    } else if (i < last) {
      const PetscScalar s = DiaGridRow<SEVEN, HALF, CACHED, true>(A, i, x, xp, xc, xn, vp);

      if (DOT) part += s * xc;
      out(i, s);
      if (SUMS) sums.add(runs, s);
      xp = xc;
      xc = xn;
      i  = m - far > i ? i + far : m;
    }
    const PetscInt inner = last < m - far ? last : m - far;
#pragma unroll 2
    for (; i < inner; i += far) {
      const PetscScalar s = DiaGridRow<SEVEN, HALF, CACHED, false>(A, i, x, xp, xc, xn, vp);

      if (DOT) part += s * xc;
      out(i, s);
      if (SUMS) sums.add(runs, s);
      xp = xc;
      xc = xn;
    }
    if (i < last) { /* the last step of the matrix */
      const PetscScalar s = DiaGridRow<SEVEN, HALF, CACHED, true>(A, i, x, xp, xc, xn, vp);

      if (DOT) part += s * xc;
      out(i, s);
      if (SUMS) sums.add(runs, s);
    }
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

template <bool SEVEN, bool HALF, bool CACHED, class V>
static void DiaStencilLaunch(const DiaGrid<V> &A, unsigned int blocks, const PetscScalar *x, const DiaOut &out, const DiaDot &dot, const PolderRuns *runs,
                             cudaStream_t stream)
{
  constexpr int  tile = SEVEN ? DIA_TILE7 : DIA_TILE5;
  constexpr bool sums = sizeof(V) == sizeof(PetscScalar); // only products with A itself support runs

  if (runs) PolderLaunchEarly(PolderDiaStencilKernel<tile, SEVEN, HALF, CACHED, true, sums, V>, blocks, tile, stream, A, x, out, dot, *runs);
  else if (dot.value) PolderLaunchEarly(PolderDiaStencilKernel<tile, SEVEN, HALF, CACHED, true, false, V>, blocks, tile, stream, A, x, out, dot, PolderRuns{});
  else PolderLaunchEarly(PolderDiaStencilKernel<tile, SEVEN, HALF, CACHED, false, false, V>, blocks, tile, stream, A, x, out, dot, PolderRuns{});
}

/* The kernel for a stencil: 7 points or 5, half stored or all, past the cache or not */
template <class V>
static void DiaGridLaunch(const DiaGrid<V> &A, bool half, unsigned int blocks, const PetscScalar *x, const DiaOut &out, const DiaDot &dot,
                          const PolderRuns *runs, cudaStream_t stream)
{
  typedef void (*Launch)(const DiaGrid<V> &, unsigned int, const PetscScalar *, const DiaOut &, const DiaDot &, const PolderRuns *, cudaStream_t);
  static const Launch launch[2][2][2] = {
    {{DiaStencilLaunch<false, false, false, V>, DiaStencilLaunch<false, false, true, V>},
     {DiaStencilLaunch<false, true, false, V>, DiaStencilLaunch<false, true, true, V>}},
    {{DiaStencilLaunch<true, false, false, V>, DiaStencilLaunch<true, false, true, V>},
     {DiaStencilLaunch<true, true, false, V>, DiaStencilLaunch<true, true, true, V>}  }
  };

  launch[A.near > 0][half][A.m <= DIA_CACHED_ROWS](A, blocks, x, out, dot, runs, stream);
}

/* val: the values of A, or these in single precision */
template <class V>
static int DiaMultLaunch(const PolderDia *A, const V *const val[], const PetscScalar x[], const DiaOut &out, const DiaDot &dot, const PolderRuns *runs,
                         cudaStream_t stream)
{
  const PetscInt     nd = A->nd;
  DiaGrid<V>         G;
  bool               half;
  const unsigned int blocks = DiaFindGrid(A->m, A->n, nd, A->off, val, &G, &half);

  if (blocks) {
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

  if (!DiaFindGrid(A->m, A->n, A->nd, A->off, A->val, &G, &half)) return PETSC_FALSE;
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

__global__ __launch_bounds__(POLDER_BLOCK) void PolderToBfloatKernel(size_t n, const float *__restrict__ s, PolderBfloat *__restrict__ a, int *bad)
{
  for (size_t i = (size_t)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += (size_t)gridDim.x * POLDER_BLOCK) {
    const PolderBfloat rounded = PolderBfloatRound(s[i]);

    a[i] = rounded;
    if (isinf(PolderBfloatGet(rounded)) && !isinf(s[i])) *bad = 1;
  }
}

int PolderToBfloat_CUDA(size_t n, const float s[], PolderBfloat a[], int *bad, PolderStream stream)
{
  if (n) PolderToBfloatKernel<<<(unsigned int)PetscMin((n + POLDER_BLOCK - 1) / POLDER_BLOCK, 1 << 16), POLDER_BLOCK, 0, stream>>>(n, s, a, bad);
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

/* Is low the mirror image of up, an entry of a row above? Exactly, or up to tol times the larger of low and that row's diagonal entry */
__device__ __forceinline__ bool DiaEntriesMirror(PetscScalar low, PetscScalar up, PetscScalar diag, PetscReal tol)
{
  return low == up || fabs(low - up) <= tol * fmax(fabs(low), fabs(diag));
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
      if (aj[l] <= aj[l - 1]) *bad = 1;
    }
  } else {
    while (k < end && aj[k] - i <= A.below) ++k;
  }
  for (PetscInt d = 0; d < A.nd; ++d) {
    const PetscScalar v = k < end && aj[k] == i + A.off[d] ? aa[k++] : 0.0;

    if (!MIRROR) A.val[d][i] = v;
    else if (i + A.off[d] >= 0 && !DiaEntriesMirror(v, A.val[d][i], diag[i + A.off[d]], tol)) *bad = 1;
  }
  if (k < end && (A.lastbatch || aj[k] - i <= A.off[A.nd - 1])) *bad = 1;
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
