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

/* Output of the sum s of row i */
struct DiaOut {
  PetscScalar        alpha;
  const PetscScalar *y;
  PetscScalar       *z;

  __device__ __forceinline__ void operator()(PetscInt i, PetscScalar s) const { __stcs(z + i, y ? y[i] + alpha * s : alpha * s); }
};

/* *dot += the sum over the grid; add: *dot already holds the part of other diagonals */
template <int BLOCK>
__device__ __forceinline__ void DiaDot(PetscScalar part, PetscScalar *dot, bool add, PolderReduceScratch *scratch)
{
  double sum[1] = {part};

  PolderGridSum<BLOCK>(sum, scratch, [=](const double(&total)[1]) { *dot = add ? *dot + total[0] : total[0]; });
}

/* Rows in order, ROWS of them for each thread; ND = 0: any number of diagonals. lo and hi are the smallest and the largest offset */
template <int ND, int ROWS, bool DOT, class V>
__global__ __launch_bounds__(POLDER_BLOCK) void PolderDiaRowsKernel(PetscInt m, PetscInt n, PetscInt lo, PetscInt hi, const __grid_constant__ DiaArgs<V> A,
                                                                    const PetscScalar *__restrict__ x, DiaOut out, PetscScalar *dot, bool add,
                                                                    PolderReduceScratch *scratch)
{
  const PetscInt nd   = ND ? ND : A.nd;
  PetscScalar    part = 0;

  for (PetscInt i0 = (PetscInt)blockIdx.x * (ROWS * POLDER_BLOCK); i0 < m; i0 += (PetscInt)gridDim.x * (ROWS * POLDER_BLOCK)) {
    PetscScalar s[ROWS] = {};

    if (i0 + lo >= 0 && i0 + ROWS * POLDER_BLOCK <= m && i0 + ROWS * POLDER_BLOCK + hi <= n) {
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
  if (DOT) DiaDot<POLDER_BLOCK>(part, dot, add, scratch);
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
                                                                                             const PetscScalar *__restrict__ x, DiaOut out, PetscScalar *dot,
                                                                                             PolderReduceScratch               *scratch,
                                                                                             const __grid_constant__ PolderRuns runs)
{
  const PetscInt tile = (PetscInt)blockIdx.x % (A.tiles[0] * A.tiles[1]), step = (PetscInt)blockIdx.x / (A.tiles[0] * A.tiles[1]) * A.chunk;
  const PetscInt ix  = (tile % A.tiles[0] << A.logw) + ((PetscInt)threadIdx.x & ((1 << A.logw) - 1));
  const PetscInt iy  = tile / A.tiles[0] * (BLOCK >> A.logw) + ((PetscInt)threadIdx.x >> A.logw);
  const PetscInt far = A.far, m = A.m;
  PetscScalar    part = 0;

  if (SUMS) PolderRelease(); // the kernel that adds the sums may begin
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
  if (DOT) DiaDot<BLOCK>(part, dot, false, scratch);
}

template <int ND, int ROWS, class V>
static void DiaRowsLaunch(PetscInt m, PetscInt n, const DiaArgs<V> &A, const PetscScalar *x, const DiaOut &out, PetscScalar *dot, bool add, void *work,
                          cudaStream_t stream)
{
  PolderReduceScratch *scratch = (PolderReduceScratch *)work;
  const unsigned int   all = PolderBlocks(m, ROWS * POLDER_BLOCK), blocks = all ? all : 1;
  PetscInt             lo = 0, hi = 0;

  for (PetscInt d = 0; d < A.nd; ++d) {
    lo = PetscMin(lo, A.off[d]);
    hi = PetscMax(hi, A.off[d]);
  }
  if (dot)
    PolderDiaRowsKernel<ND, ROWS, true, V><<<PetscMin(blocks, POLDER_REDUCE_BLOCKS), POLDER_BLOCK, 0, stream>>>(m, n, lo, hi, A, x, out, dot, add, scratch);
  else if (all) PolderDiaRowsKernel<ND, ROWS, false, V><<<blocks, POLDER_BLOCK, 0, stream>>>(m, n, lo, hi, A, x, out, NULL, add, scratch);
}

template <bool SEVEN, bool HALF, bool CACHED, class V>
static void DiaStencilLaunch(const DiaGrid<V> &A, unsigned int blocks, const PetscScalar *x, const DiaOut &out, PetscScalar *dot, const PolderRuns *runs,
                             void *work, cudaStream_t stream)
{
  constexpr int        tile    = SEVEN ? DIA_TILE7 : DIA_TILE5;
  constexpr bool       sums    = sizeof(V) == sizeof(PetscScalar); // only products with A itself support runs
  PolderReduceScratch *scratch = (PolderReduceScratch *)work;

  if (runs) PolderDiaStencilKernel<tile, SEVEN, HALF, CACHED, true, sums, V><<<blocks, tile, 0, stream>>>(A, x, out, dot, scratch, *runs);
  else if (dot) PolderDiaStencilKernel<tile, SEVEN, HALF, CACHED, true, false, V><<<blocks, tile, 0, stream>>>(A, x, out, dot, scratch, PolderRuns{});
  else PolderDiaStencilKernel<tile, SEVEN, HALF, CACHED, false, false, V><<<blocks, tile, 0, stream>>>(A, x, out, NULL, NULL, PolderRuns{});
}

template <bool CACHED, class V>
static void DiaGridLaunch(bool seven, bool half, const DiaGrid<V> &A, unsigned int blocks, const PetscScalar *x, const DiaOut &out, PetscScalar *dot,
                          const PolderRuns *runs, void *work, cudaStream_t stream)
{
  if (seven && half) DiaStencilLaunch<true, true, CACHED>(A, blocks, x, out, dot, runs, work, stream);
  else if (seven) DiaStencilLaunch<true, false, CACHED>(A, blocks, x, out, dot, runs, work, stream);
  else if (half) DiaStencilLaunch<false, true, CACHED>(A, blocks, x, out, dot, runs, work, stream);
  else DiaStencilLaunch<false, false, CACHED>(A, blocks, x, out, dot, runs, work, stream);
}

template <class V>
static int DiaMultLaunch(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const V *const val[], PetscScalar alpha, const PetscScalar x[],
                         const PetscScalar y[], PetscScalar z[], PetscScalar *dot, const PolderRuns *runs, void *work, cudaStream_t stream)
{
  DiaGrid<V>         G;
  bool               half;
  const unsigned int blocks = DiaFindGrid(m, n, nd, off, val, &G, &half);

  if (blocks) {
    const DiaOut out = {alpha, y, z};

    if (m <= DIA_CACHED_ROWS) DiaGridLaunch<true>(nd == 7, half, G, blocks, x, out, dot, runs, work, stream);
    else DiaGridLaunch<false>(nd == 7, half, G, blocks, x, out, dot, runs, work, stream);
    return (int)cudaGetLastError();
  }
  if (runs) return (int)cudaErrorInvalidValue; // runs require the stencil of a grid
  for (PetscInt first = 0; first == 0 || first < nd; first += DIA_BATCH) {
    DiaArgs<V>   A;
    const DiaOut out = {alpha, first ? z : y, z};

    A.nd = PetscMin(nd - first, DIA_BATCH);
    for (PetscInt d = 0; d < A.nd; ++d) {
      A.off[d] = off[first + d];
      A.val[d] = val[first + d];
    }
    if (nd == 5) DiaRowsLaunch<5, 1>(m, n, A, x, out, dot, false, work, stream);
    else if (nd == 7) DiaRowsLaunch<7, 1>(m, n, A, x, out, dot, false, work, stream);
    else if (m < DIA_GRID_ROWS) DiaRowsLaunch<0, 1>(m, n, A, x, out, dot, first > 0, work, stream);
    else DiaRowsLaunch<0, 2>(m, n, A, x, out, dot, first > 0, work, stream);
  }
  return (int)cudaGetLastError();
}

size_t PolderDiaMultWork_CUDA(PetscInt m)
{
  (void)m;
  return PolderReduceWork_CUDA();
}

int PolderDiaMult_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscScalar alpha, const PetscScalar x[],
                       const PetscScalar y[], PetscScalar z[], PetscScalar *dot, void *work, PolderStream stream)
{
  return DiaMultLaunch<PetscScalar>(m, n, nd, off, val, alpha, x, y, z, dot, NULL, work, stream);
}

int PolderDiaMultRuns_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscScalar x[], PetscScalar y[],
                           PetscScalar *dot, const PolderRuns *runs, void *work, PolderStream stream)
{
  return DiaMultLaunch<PetscScalar>(m, m, nd, off, val, 1, x, NULL, y, dot, runs, work, stream);
}

PetscBool PolderDiaRuns_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscInt *far, PetscInt *chunk)
{
  DiaGrid<PetscScalar> G;
  bool                 half;

  if (!DiaFindGrid(m, n, nd, off, val, &G, &half)) return PETSC_FALSE;
  *far   = G.far;
  *chunk = G.chunk;
  return PETSC_TRUE;
}

int PolderDiaMultSingle_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const float *const val[], PetscScalar alpha, const PetscScalar x[],
                             const PetscScalar y[], PetscScalar z[], PolderStream stream)
{
  return DiaMultLaunch<float>(m, n, nd, off, val, alpha, x, y, z, NULL, NULL, NULL, stream);
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
__global__ __launch_bounds__(POLDER_BLOCK) void PolderDiaFillKernel(PetscInt m, const __grid_constant__ DiaFillArgs A, const PetscScalar *diag,
                                                                    const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj,
                                                                    const PetscScalar *__restrict__ aa, PetscReal tol, int *bad)
{
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + (PetscInt)threadIdx.x;
  PetscInt       k, end;

  if (i >= m) return;
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

int PolderDiaFill_CUDA(PetscInt m, PetscInt nd, PetscInt first, const PetscInt off[], PetscScalar *const val[], const PetscInt ai[], const PetscInt aj[],
                       const PetscScalar aa[], PetscReal tol, int *bad, PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(m, POLDER_BLOCK);

  if (!m) return (int)cudaGetLastError();
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
      if (mirror) PolderDiaFillKernel<true><<<blocks, POLDER_BLOCK, 0, stream>>>(m, A, val[first], ai, aj, aa, tol, bad);
      else PolderDiaFillKernel<false><<<blocks, POLDER_BLOCK, 0, stream>>>(m, A, NULL, ai, aj, aa, tol, bad);
    }
  }
  return (int)cudaGetLastError();
}
