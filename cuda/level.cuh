/*
  Matrices of a level in their storage forms, and the kernels that go along their rows: V is the type of the vectors, double or float, and E that of the
  entries, V or bfloat16; X gives the input vector, Out takes what comes of a row.
*/
#pragma once

#include "pack.cuh"
#include "peers.cuh"
#include "stencil.cuh"
#include "kernels/bfloat.h"
#include "kernels/level.h"

/* Maximum number of blocks of a kernel that also computes sums */
#define LEVEL_BLOCKS 1056
/* Resident blocks of a 5-point stencil, limited by registers, and of one whose rows have classes, one row a thread: such a thread has few bytes under way */
#define LEVEL_FIT5         2
#define LEVEL_CLASSED_FIT5 4
/* Minimum number of steps of a block with 5 points: with more of them a level of 1024^2 leaves half of the places free */
#ifndef LEVEL_STEPS5
  #define LEVEL_STEPS5 4
#endif
/* Rows of a large stencil that a thread takes at a time */
#define LEVEL_PACK 2
#ifndef LEVEL_CLASSED_PACK
  #define LEVEL_CLASSED_PACK 4
#endif

/* In single precision the sum of the row replaces the diagonal entry, and the other entries multiply x_j - x_i, see levelmatrix.h */
template <class V>
inline constexpr bool LevelSums = std::is_same_v<V, float>;

/* The value of an entry */
template <class E>
__device__ __forceinline__ auto LevelGet(E a)
{
  if constexpr (std::is_same_v<E, PolderBfloat>) return PolderBfloatGet(a);
  else return a;
}

/* A matrix by diagonals; its entries are read once and evicted from the cache first */
template <class V, class E>
struct LevelDia {
  static constexpr int    LANES = 1;
  PetscInt                n, nd, lo, hi; /* rows lo <= i < hi have all columns */
  PetscInt                main;          /* the main diagonal */
  bool                    half;          /* the lower diagonals point into the upper ones */
  const unsigned char    *code;          /* the classes of the rows, or NULL */
  const PolderDiaClasses *classes;
  const V                *inverse;
  PetscInt                off[POLDER_LEVEL_DIAGONALS];
  const E                *val[POLDER_LEVEL_DIAGONALS];
};

/* ND = 0: any number of diagonals */
template <int ND, class V, class E>
struct LevelDiagonals : LevelDia<V, E> {
  static constexpr int POINTS = ND;

  template <class X>
  __device__ __forceinline__ V row(PetscInt i, int, const X &x) const
  {
    const PetscInt nd   = ND ? ND : this->nd;
    const V        own  = LevelSums<V> ? x(i) : 0;
    const auto     less = [&](PetscInt d) { return LevelSums<V> && d != this->main ? own : (V)0; };
    V              s    = 0;

    if (i < this->lo || i >= this->hi) {
#pragma unroll(ND ? ND : 1)
      for (PetscInt d = 0; d < nd; ++d) {
        const PetscInt j = i + this->off[d];

        if (j >= 0 && j < this->n) s += LevelGet(this->val[d][i]) * (x(j) - less(d));
      }
    } else if (!this->half) {
#pragma unroll(ND ? ND : 4)
      for (PetscInt d = 0; d < nd; ++d) s += LevelGet(__ldcs(this->val[d] + i)) * (x(i + this->off[d]) - less(d));
    } else {
#pragma unroll(ND ? ND : 4)
      for (PetscInt d = 0; d < nd; ++d) s += LevelGet(ND && d == ND / 2 ? __ldcs(this->val[d] + i) : __ldg(this->val[d] + i)) * (x(i + this->off[d]) - less(d));
    }
    return s;
  }
};

/* Of a grid too small for tiles */
template <int ND, class V, class E>
struct LevelSmall : LevelDiagonals<ND, V, E> {
  static constexpr int POINTS = 0;
};

/* W threads for each row, which load several entries before they use the first */
template <int W, class V, class E>
struct LevelRows {
  static constexpr int LANES = W, POINTS = 0, AHEAD = W == 1 ? 8 : 4;
  PetscInt             n;
  const PetscInt      *ai, *aj;
  const E             *aa;

  template <class X>
  __device__ __forceinline__ V row(PetscInt i, int lane, const X &x) const
  {
    const PetscInt end = __ldg(ai + i + 1);
    const V        own = LevelSums<V> ? x(i) : 0;
    V              s   = 0;

    for (PetscInt e = __ldg(ai + i) + lane; e < end; e += AHEAD * W) {
      PetscInt j[AHEAD];
      V        a[AHEAD];

#pragma unroll
      for (int k = 0; k < AHEAD; ++k) {
        const bool there = k * W < end - e;

        j[k] = there ? __ldg(aj + e + k * W) : i;
        a[k] = there ? LevelGet(__ldg(aa + e + k * W)) : (V)0;
      }
#pragma unroll
      for (int k = 0; k < AHEAD; ++k) s += a[k] * (x(j[k]) - (LevelSums<V> && j[k] != i ? own : 0));
    }
    return s;
  }
};

/* An input vector in memory: entry i, and the N entries from i on */
template <class V>
struct LevelVector {
  const V *x;

  __device__ __forceinline__ V operator()(PetscInt i) const { return __ldg(x + i); }
  template <int N>
  __device__ __forceinline__ PolderPack<V, N> pack(PetscInt i) const
  {
    return PolderPackLdg<N>(x + i);
  }
  template <int N>
  bool aligned(void) const
  {
    return PolderAligned<N>(x);
  }
};

/* The inverse diagonal of N rows from row i on: read from memory, or known */
template <int N>
struct LevelInverse {
  PetscInt i;

  template <class V>
  __device__ __forceinline__ PolderPack<V, N> operator()(const V *dinv) const
  {
    return PolderPackLdg<N>(dinv + i);
  }
};

template <class V, int N>
struct LevelKnownInverse {
  PolderPack<V, N> d;

  __device__ __forceinline__ PolderPack<V, N> operator()(const V *) const { return d; }
};

/* Passes what comes of N rows to an output, which takes one row at a time unless it says PACKS */
template <class Out, class V, int N, class Inverse>
__device__ __forceinline__ void LevelPut(const Out &out, PetscInt i, const PolderPack<V, N> &s, const PolderPack<V, N> &now, const Inverse &inverse,
                                         double *part)
{
  if constexpr (Out::PACKS) out(i, s, now, inverse, part);
  else out(i, s.v[0], now.v[0], inverse, part);
}

/* The sum over each group of consecutive threads of a warp, a power of two in size, returned in all of them */
template <class V>
__device__ __forceinline__ V LevelGroupSum(V s, int threads)
{
  for (int o = threads / 2; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  return s;
}

template <class M, class X, class Out>
static __global__ __launch_bounds__(POLDER_BLOCK) void PolderLevelRowsKernel(const __grid_constant__ M A, const X x, const Out out,
                                                                             const __grid_constant__ PolderSending sending, PolderReduceScratch *scratch)
{
  PolderBegin();
  sending();
  constexpr int rows                            = POLDER_BLOCK / M::LANES;
  const int     lane                            = threadIdx.x % M::LANES;
  double        part[Out::SUMS ? Out::SUMS : 1] = {};

  for (long long first = (long long)blockIdx.x * rows; first < A.n; first += (long long)gridDim.x * rows) {
    const long long k    = first + threadIdx.x / M::LANES;
    const bool      mine = k < A.n;
    const PetscInt  i    = (PetscInt)k;
    auto            s    = LevelGroupSum(mine ? A.row(i, lane, x) : 0, M::LANES);

    if (mine && lane == 0) LevelPut(out, i, PolderPack<decltype(s), 1>{s}, PolderPack<decltype(s), 1>{x(i)}, LevelInverse<1>{i}, part);
  }
  if constexpr (Out::SUMS > 0) PolderGridSum<POLDER_BLOCK>(part, scratch, [=](const double *total) { out.finish(total); });
}

/*
  The entries of N rows from row i on, for the rows that a thread passes, a step apart: from the diagonals. HALF: the first entries of these rows are the last
  ones of those before. With N > 1 half of the matrix is stored, and near, far, m and i are multiples of N
*/
template <bool SEVEN, bool HALF, int N, class V, class E>
struct LevelStored {
  static constexpr int C = SEVEN ? 3 : 2, FIT = SEVEN ? DIA_FIT7 : LEVEL_FIT5;
  typedef DiaGrid<E>   Grid;
  PolderPack<V, N>     before = {};
  PetscInt             at;

  /* Row i is the first one */
  __device__ __forceinline__ void begin(const Grid &A, PetscInt i)
  {
    if (HALF && i >= A.far) before = PolderPackGet(PolderPackLdg<N>(A.val[0] + i));
  }

  template <bool CHECK>
  __device__ __forceinline__ void load(const Grid &A, PetscInt i, PolderPack<V, N> (&a)[2 * C + 1])
  {
    const PetscInt         m = A.m, far = A.far, near = A.near;
    const bool             below = !CHECK || i >= far, above = !CHECK || m - far > i, left = !CHECK || i >= 1, right = !CHECK || m - N > i;
    const auto             get  = [&](int d) { return PolderPackGet(HALF ? PolderPackLdg<N>(A.val[d] + i) : PolderPackStream<N>(A.val[d] + i)); };
    const PolderPack<V, N> none = {};

    at       = i;
    a[0]     = HALF ? before : below ? get(0) : none;
    a[2 * C] = above ? PolderPackGet(PolderPackStream<N>(A.val[2 * C] + i)) : none;
    a[C]     = PolderPackGet(PolderPackStream<N>(A.val[C] + i));
    a[C + 1] = right ? get(C + 1) : none;
    a[C - 1] = none;
    if (left) a[C - 1].v[0] = LevelGet(HALF ? __ldg(A.val[C - 1] + i) : __ldcs(A.val[C - 1] + i));
#pragma unroll
    for (int k = 1; k < N; ++k) {
      if (CHECK && !right) a[C + 1].v[k - 1] = LevelGet(__ldg(A.val[C + 1] + i + k - 1));
      a[C - 1].v[k] = a[C + 1].v[k - 1];
    }
    if (SEVEN) a[1] = !CHECK || i >= near ? get(1) : none;
    if (SEVEN) a[C + 2] = !CHECK || m - near > i ? get(C + 2) : none;
    if (HALF) before = a[2 * C];
  }
  __device__ __forceinline__ LevelInverse<N> inverse(void) const
  {
    return LevelInverse<N>{at};
  }
};

/* The same from the table of the classes; the codes are loaded one step ahead */
template <bool SEVEN, int N, class E>
struct LevelClassed {
  static constexpr int         C = SEVEN ? 3 : 2, FIT5 = N > 1 ? LEVEL_FIT5 : LEVEL_CLASSED_FIT5, FIT = SEVEN ? DIA_FIT7 : FIT5;
  typedef DiaClassGrid<E>      Grid;
  PolderPack<unsigned char, N> next;
  PolderPack<float, N>         dinv;

  __device__ __forceinline__ void begin(const Grid &A, PetscInt i) { next = PolderPackStream<N>(A.code + i); }

  template <bool CHECK>
  __device__ __forceinline__ void load(const Grid &A, PetscInt i, PolderPack<float, N> (&a)[2 * C + 1])
  {
    const PolderPack<unsigned char, N> code = next;

    if (!CHECK || A.m - A.far > i) next = PolderPackStream<N>(A.code + i + A.far);
#pragma unroll
    for (int k = 0; k < N; ++k) {
      if (code.v[k] != POLDER_DIA_CLASSLESS) {
        float row[POLDER_DIA_WIDTH];

        DiaTableRow(A.classes, code.v[k], row);
#pragma unroll
        for (int d = 0; d <= 2 * C; ++d) a[d].v[k] = row[d];
        dinv.v[k] = row[POLDER_DIA_INVERSE];
      } else {
        LevelStored<SEVEN, false, 1, float, E> stored;
        PolderPack<float, 1>                   row[2 * C + 1];

        stored.template load<true>(A, i + k, row);
#pragma unroll
        for (int d = 0; d <= 2 * C; ++d) a[d].v[k] = row[d].v[0];
        dinv.v[k] = __ldg(A.inverse + i + k);
      }
    }
  }
  __device__ __forceinline__ LevelKnownInverse<float, N> inverse(void) const
  {
    return LevelKnownInverse<float, N>{dinv};
  }
};

/* N rows with the entries a[]. xp: x one step before; xc: x here; xn: on return, x one step ahead */
template <bool CHECK, int POINTS, int N, class E, class V, class X>
__device__ __forceinline__ PolderPack<V, N> LevelGridRows(const DiaGrid<E> &A, const PolderPack<V, N> (&a)[POINTS], PetscInt i, const X &x,
                                                          const PolderPack<V, N> &xp, const PolderPack<V, N> &xc, PolderPack<V, N> &xn)
{
  const PetscInt         m = A.m, far = A.far, near = A.near;
  constexpr bool         SEVEN = POINTS == 7;
  constexpr int          c     = POINTS / 2;
  const bool             below = !CHECK || i >= far, above = !CHECK || m - far > i, left = !CHECK || i >= 1, right = !CHECK || m - N > i;
  const PolderPack<V, N> none = {}, own = LevelSums<V> ? xc : none;
  PolderPack<V, N>       s = a[c] * xc, before = none, after = none; /* x within the line */

  xn = above ? x.template pack<N>(i + far) : none;
  if (left) before.v[0] = x(i - 1);
  if (right) after.v[N - 1] = x(i + N);
#pragma unroll
  for (int k = 1; k < N; ++k) {
    before.v[k]    = xc.v[k - 1];
    after.v[k - 1] = xc.v[k];
  }
  if (below) s = s + a[0] * (xp - own);
  if (SEVEN && (!CHECK || i >= near)) s = s + a[1] * (x.template pack<N>(i - near) - own);
  if (N > 1 || left) s = s + a[c - 1] * (before - own);
  if (N > 1 || right) s = s + a[c + 1] * (after - own);
  if (SEVEN && (!CHECK || m - near > i)) s = s + a[c + 2] * (x.template pack<N>(i + near) - own);
  if (above) s = s + a[2 * c] * (xn - own);
  return s;
}

/* Large stencils: each thread goes along the slowest direction, as in diastencil.cu, N rows at a time */
template <bool SEVEN, int N, class Entries, class V, class X, class Out>
static __global__ __launch_bounds__(SEVEN ? DIA_TILE7 : DIA_TILE5,
                                    Entries::FIT) void PolderLevelGridKernel(const __grid_constant__ typename Entries::Grid A, const X x, const Out out,
                                                                             const __grid_constant__ PolderSending sending, PolderReduceScratch *scratch)
{
  PolderBegin();
  sending();
  constexpr int  block = SEVEN ? DIA_TILE7 : DIA_TILE5;
  const PetscInt tile = (PetscInt)blockIdx.x % (A.tiles[0] * A.tiles[1]), step = (PetscInt)blockIdx.x / (A.tiles[0] * A.tiles[1]) * A.chunk;
  const PetscInt mine = N * (PetscInt)threadIdx.x;
  const PetscInt ix   = (tile % A.tiles[0] << A.logw) + (mine & ((1 << A.logw) - 1));
  const PetscInt iy   = tile / A.tiles[0] * (N * block >> A.logw) + (mine >> A.logw);
  const PetscInt far = A.far, m = A.m;
  double         part[Out::SUMS ? Out::SUMS : 1] = {};

  if (ix < A.line && iy <= (far - 1 - ix) / A.line) {
    const long long  first = (long long)step * far + iy * A.line + ix, end = first + (long long)A.chunk * far;
    const PetscInt   last = (PetscInt)(end < m ? end : m), inner = last < m - far ? last : m - far;
    PetscInt         i  = (PetscInt)(first < m ? first : m);
    PolderPack<V, N> xp = {}, xc = {}, xn = {};
    Entries          entries;
    const auto       rows = [&](auto check) {
      PolderPack<V, N> a[2 * Entries::C + 1];

      entries.template load<decltype(check)::value>(A, i, a);
      LevelPut(out, i, LevelGridRows<decltype(check)::value>(A, a, i, x, xp, xc, xn), xc, entries.inverse(), part);
      xp = xc;
      xc = xn;
    };

    if (i < m) {
      xc = x.template pack<N>(i);
      entries.begin(A, i);
    }
    if (i < m && i >= far) xp = x.template pack<N>(i - far);
    else if (i < last) { // the first step of the matrix
      rows(std::true_type());
      i = m - far > i ? i + far : m;
    }
#pragma unroll(Out::SUMS > 1 || N > 1 ? 1 : 2) // limited by registers
    for (; i < inner; i += far) rows(std::false_type());
    if (i < last) rows(std::true_type()); // the last step
  }
  if constexpr (Out::SUMS > 0) PolderGridSum<block>(part, scratch, [=](const double *total) { out.finish(total); });
}

/* Which matrices LevelDoEntries() is for: all, those with 5 or with 7 diagonals that may be large grids, the same if they are small, or all others */
enum LevelKind {
  LEVEL_ALL,
  LEVEL_5,
  LEVEL_7,
  LEVEL_SMALL5,
  LEVEL_SMALL7,
  LEVEL_OTHERS
};

template <LevelKind KIND, class V, class E, class Do>
static int LevelDiaDo(const PolderLevelMatrix *M, Do act)
{
  constexpr bool five = KIND == LEVEL_ALL || KIND == LEVEL_5, seven = KIND == LEVEL_ALL || KIND == LEVEL_7, others = KIND == LEVEL_ALL || KIND == LEVEL_OTHERS;
  LevelDia<V, E> D;
  bool           half = M->nd % 2 == 1 && M->main == M->nd / 2;

  if (M->nd > POLDER_LEVEL_DIAGONALS) return (int)cudaErrorInvalidValue;
  D.n  = M->n;
  D.nd = M->nd;
  D.lo = PetscMax(0, -M->off[0]);
  D.hi = M->n - PetscMax(0, M->off[M->nd - 1]);
  for (PetscInt d = 0; d < M->nd; ++d) {
    D.off[d] = M->off[d];
    D.val[d] = (const E *)M->val[d];
    half     = half && M->off[d] == -M->off[M->nd - 1 - d] && (d >= M->nd / 2 || D.val[d] == (const E *)M->val[M->nd - 1 - d] + M->off[d]);
  }
  D.main    = M->main;
  D.half    = half;
  D.code    = M->code;
  D.classes = M->classes;
  D.inverse = (const V *)M->dinv;
  if (M->nd == 5) {
    if constexpr (five) act(LevelDiagonals<5, V, E>{D});
    else if constexpr (KIND == LEVEL_SMALL5) act(LevelSmall<5, V, E>{{D}});
  } else if (M->nd == 7) {
    if constexpr (seven) act(LevelDiagonals<7, V, E>{D});
    else if constexpr (KIND == LEVEL_SMALL7) act(LevelSmall<7, V, E>{{D}});
  } else if constexpr (others) {
    if (M->nd == 3) act(LevelDiagonals<3, V, E>{D});
    else act(LevelDiagonals<0, V, E>{D});
  }
  return (int)cudaGetLastError();
}

template <LevelKind KIND, class V, class E, class Do>
static int LevelDoEntries(const PolderLevelMatrix *M, Do act)
{
  if (M->nd) return LevelDiaDo<KIND, V, E>(M, act);
  if constexpr (KIND == LEVEL_ALL || KIND == LEVEL_OTHERS) {
    const PetscInt mean = M->n ? M->nz / M->n : 0;
    const E       *aa   = (const E *)M->aa;

    if (mean <= 8) act(LevelRows<1, V, E>{M->n, M->ai, M->aj, aa});
    else if (mean <= 24) act(LevelRows<4, V, E>{M->n, M->ai, M->aj, aa});
    else if (mean <= 64) act(LevelRows<16, V, E>{M->n, M->ai, M->aj, aa});
    else act(LevelRows<32, V, E>{M->n, M->ai, M->aj, aa});
  }
  return (int)cudaGetLastError();
}

/* Calls act with the matrix in its storage form */
template <class V, class Do>
static int LevelDo(const PolderLevelMatrix *M, Do act)
{
  if constexpr (LevelSums<V>) {
    if (M->bfloat) return LevelDoEntries<LEVEL_ALL, V, PolderBfloat>(M, act);
  }
  return LevelDoEntries<LEVEL_ALL, V, V>(M, act);
}

/* May a stencil, half of which is stored, be taken N rows at a time? Not with 5 points if that leaves half of the threads or more without rows of the line */
template <int N, class E, class X, class Out>
static bool LevelGridPacks(const DiaGrid<E> &A, const X &x, const Out &out)
{
  const int c    = A.near ? 3 : 2;
  bool      fits = (A.near || A.line > N / 2 * DIA_TILE5) && A.m % N == 0 && A.near % N == 0 && A.far % N == 0 && x.template aligned<N>() &&
              out.template aligned<N>();

  for (int d = c; d <= 2 * c; ++d) fits = fits && PolderAligned<N>(A.val[d]);
  return fits;
}

/* What a kernel along the rows has besides: the scratch of its sums, and what it sends before it begins */
struct LevelRun {
  void         *work;
  cudaStream_t  stream;
  PolderSending sending = {};
};

template <bool SEVEN, int N, class Entries, class V, class X, class Out>
static void LevelGridStart(const typename Entries::Grid &A, unsigned int blocks, const X &x, const Out &out, const LevelRun &run)
{
  PolderLaunchEarly(PolderLevelGridKernel<SEVEN, N, Entries, V, X, Out>, blocks, SEVEN ? DIA_TILE7 : DIA_TILE5, run.stream, A, x, out, run.sending,
                    (PolderReduceScratch *)run.work);
}

/*
  Launches the kernel for rows that have classes, N of them at a time if it may and, with 7 points, if that leaves a block for most multiprocessors; returns
  whether it did
*/
template <bool SEVEN, int N, class V, class E, class X, class Out>
static bool LevelClassedLaunch(const LevelDia<V, E> &D, const X &x, const Out &out, const LevelRun &run)
{
  typedef LevelClassed<SEVEN, N, E> Entries;
  DiaGrid<E>                        A;
  bool                              half;
  unsigned int                      blocks = DiaFindGrid<N, Entries::FIT5, LEVEL_STEPS5>(D.n, D.n, D.nd, D.off, D.val, &A, &half);

  if constexpr (N > 1) {
    if (!LevelGridPacks<N>(A, x, out) || (SEVEN && N > 2 && blocks < 3u * (unsigned int)PolderMultiprocessors() / 4)) return false;
  }
  LevelGridStart<SEVEN, N, Entries, V>({A, D.code, D.classes, D.inverse}, blocks, x, out, run);
  return true;
}

/* Launches the kernel for large stencils if the matrix is one; returns whether it did */
template <bool SEVEN, class V, class E, class X, class Out>
static bool LevelGridLaunch(const LevelDia<V, E> &D, const X &x, const Out &out, const LevelRun &run)
{
  DiaGrid<E>   A;
  bool         half;
  unsigned int blocks = DiaFindGrid<1, LEVEL_FIT5, LEVEL_STEPS5>(D.n, D.n, D.nd, D.off, D.val, &A, &half);

  if (!blocks) return false;
  if constexpr (LevelSums<V>) {
    if (D.code) {
      if constexpr (Out::PACKS) {
        if (LevelClassedLaunch<SEVEN, LEVEL_CLASSED_PACK>(D, x, out, run)) return true;
        if (LevelClassedLaunch<SEVEN, LEVEL_PACK>(D, x, out, run)) return true;
      }
      return LevelClassedLaunch<SEVEN, 1>(D, x, out, run);
    }
  }
  if constexpr (Out::PACKS) {
    if (half && LevelGridPacks<LEVEL_PACK>(A, x, out)) {
      blocks = DiaFindGrid<LEVEL_PACK, LEVEL_FIT5, LEVEL_STEPS5>(D.n, D.n, D.nd, D.off, D.val, &A, &half);
      LevelGridStart<SEVEN, LEVEL_PACK, LevelStored<SEVEN, true, LEVEL_PACK, V, E>, V>(A, blocks, x, out, run);
      return true;
    }
  }
  if (half) LevelGridStart<SEVEN, 1, LevelStored<SEVEN, true, 1, V, E>, V>(A, blocks, x, out, run);
  else LevelGridStart<SEVEN, 1, LevelStored<SEVEN, false, 1, V, E>, V>(A, blocks, x, out, run);
  return true;
}

template <class M, class X, class Out>
static void LevelRowsLaunch(const M &A, const X &x, const Out &out, const LevelRun &run)
{
  unsigned int blocks = PolderBlocks(A.n, POLDER_BLOCK / M::LANES);

  if constexpr (M::POINTS == 5 || M::POINTS == 7) {
    if (LevelGridLaunch<M::POINTS == 7>(A, x, out, run)) return;
  }
  if (Out::SUMS) blocks = PetscMax(1, PetscMin(blocks, LEVEL_BLOCKS));
  if (blocks) PolderLaunchEarly(PolderLevelRowsKernel<M, X, Out>, blocks, POLDER_BLOCK, run.stream, A, x, out, run.sending, (PolderReduceScratch *)run.work);
}

/*
  The steps on a level with a matrix of this kind, vectors of type V and entries of type E (levelsteps.cuh). The driver loads all kernels of a file before the
  first of them, so the kinds that are used most have files of their own
*/
template <LevelKind KIND, class V, class E>
struct LevelSteps {
  static int jacobi(const PolderLevelMatrix *, const PolderLevelStep *, const void *b, const void *x, void *y, const LevelRun &);
  static int colour(const PolderLevelMatrix *, PetscInt n, const PetscInt row[], const void *b, void *x, cudaStream_t);
  static int residual(const PolderLevelMatrix *, const void *b, const void *x, void *r, const PolderAggregates *, void *bc, const PolderExchange *sends,
                      cudaStream_t);
};

/* Calls f on the numbers 0 .. n, one for each thread */
template <class F>
static __global__ __launch_bounds__(POLDER_BLOCK) void PolderLevelEachKernel(PetscInt n, const F f)
{
  PolderBegin();
  const long long i = (long long)blockIdx.x * POLDER_BLOCK + threadIdx.x;

  if (i < n) f((PetscInt)i);
}

template <class F>
static int LevelEach(PetscInt n, const F &f, cudaStream_t stream)
{
  if (n) PolderLaunchEarly(PolderLevelEachKernel<F>, PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, stream, n, f);
  return (int)cudaGetLastError();
}
