/* Products with the stencils of large grids, whose matrices are stored by diagonals. */
#include "diaproduct.cuh"
#include "module.cuh"
#include "peers.cuh"
#include "runs.cuh"

/* Up to this number of rows the diagonals bypass the second-level cache: the vectors then stay there until the next kernel reads them */
#define DIA_CACHED_ROWS 5000000

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

/* No entries of off-process columns */
struct DiaAlone {
  static constexpr bool THERE = false;
};

/* Those of PolderDiaGhosts: each is added by the thread that has the row, which waits for its ghost when it has made all of its rows */
struct DiaGhosts {
  static constexpr bool THERE = true;
  PetscInt              low, high;
  const PetscScalar    *aa;
  bool                  count;
  PolderExchange        e;
  PolderPeersView       peers;

  __device__ __forceinline__ uint64_t due(void) const { return e.received[0] + 1; }

  /* Rows i .. i + N - 1 of z = A x get ghosts k .. k + N - 1; returns (x, what z gets) */
  template <int N>
  __device__ __forceinline__ PetscScalar add(uint64_t number, PetscInt i, PetscInt k, const PetscScalar *x, PetscScalar *z) const
  {
    PetscScalar part = 0;

#pragma unroll
    for (int j = 0; j < N; ++j) {
      const PetscScalar s = __ldg(aa + k + j) * PolderExchangeValue(e, number, k + j);

      part += x[i + j] * s;
      z[i + j] += s;
    }
    return part;
  }

  /* The dot product, of all processes where there are peers. The block that ends last counts the messages */
  template <int BLOCK>
  __device__ __forceinline__ void sum(uint64_t number, PetscScalar part, const DiaDot &dot) const
  {
    double sums[1] = {part};

    if (blockIdx.x == 0) PolderExchangeHearEmpty(e, number);
    if (!PolderGridSums<BLOCK>(sums, dot.scratch) || threadIdx.x >= 32) return;
    if ((int)threadIdx.x < e.n) {
      e.received[threadIdx.x] = number;
      if (count) ++e.sent[threadIdx.x];
    }
    if (peers.size) PolderPeersSumWarp(peers, sums);
    if (threadIdx.x == 0) *dot.value = sums[0];
  }
};

/* SUMS: computes the sums of the result over the runs, whose chunks are those of this kernel */
template <int BLOCK, class Entries, bool DOT, bool SUMS, class Ghosts>
__global__ __launch_bounds__(BLOCK, Entries::FIT) void PolderDiaStencilKernel(const __grid_constant__ typename Entries::Grid A,
                                                                              const PetscScalar *__restrict__ x, DiaOut out, DiaDot dot,
                                                                              const __grid_constant__ PolderRuns runs, const __grid_constant__ Ghosts ghosts)
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
    if constexpr (Ghosts::THERE) {
      const PetscInt at = iy * A.line + ix;

      if (step == 0 && ghosts.low) part += ghosts.template add<N>(ghosts.due(), at, at, x, out.z);
      if (end >= m && ghosts.high) part += ghosts.template add<N>(ghosts.due(), m - far + at, ghosts.low + at, x, out.z);
    }
  }
  if constexpr (Ghosts::THERE) ghosts.template sum<BLOCK>(ghosts.due(), part, dot);
  else if (DOT) dot.sum<BLOCK>(part);
}

template <class Entries>
static void DiaStencilLaunch(const typename Entries::Grid &A, unsigned int blocks, const PetscScalar *x, const DiaOut &out, const DiaDot &dot,
                             const DiaBeside &beside, cudaStream_t stream)
{
  constexpr int  tile = Entries::SEVEN ? DIA_TILE7 : DIA_TILE5;
  constexpr bool own = std::is_same_v<typename Entries::Value, PetscScalar>, sums = own && Entries::N == 1; // only products with A itself have them

  if constexpr (own) {
    if (beside.ghosts) {
      const PolderDiaGhosts *g      = beside.ghosts;
      const DiaGhosts        ghosts = {g->low, g->high, g->aa, (bool)g->count, *g->exchange, g->peers ? *g->peers : PolderPeersView{}};

      PolderLaunchEarly(PolderDiaStencilKernel<tile, Entries, true, false, DiaGhosts>, blocks, tile, stream, A, x, out, dot, PolderRuns{}, ghosts);
      return;
    }
  }
  if (beside.runs)
    PolderLaunchEarly(PolderDiaStencilKernel<tile, Entries, true, sums, DiaAlone>, blocks, tile, stream, A, x, out, dot, *beside.runs, DiaAlone{});
  else if (dot.value)
    PolderLaunchEarly(PolderDiaStencilKernel<tile, Entries, true, false, DiaAlone>, blocks, tile, stream, A, x, out, dot, PolderRuns{}, DiaAlone{});
  else PolderLaunchEarly(PolderDiaStencilKernel<tile, Entries, false, false, DiaAlone>, blocks, tile, stream, A, x, out, dot, PolderRuns{}, DiaAlone{});
}

/* The kernel for a stencil whose rows have classes, which takes two rows at a time if it may: with 5 points there are not enough registers */
template <bool SEVEN>
static void DiaClassedLaunch(const PolderDia *A, const DiaGrid<PetscScalar> &grid, unsigned int blocks, const PetscScalar *x, const DiaOut &out,
                             const DiaDot &dot, const DiaBeside &beside, cudaStream_t stream)
{
  DiaClassGrid<PetscScalar> G = {grid, A->code, A->classes, NULL};

  if constexpr (SEVEN) {
    bool half;

    if (!beside.runs && G.m % 2 == 0 && G.near % 2 == 0 && G.far % 2 == 0 && PolderAligned<2>(x, out.y, out.z)) {
      blocks = DiaFindGrid<2>(A->m, A->n, A->nd, A->off, A->val, &G, &half);
      DiaStencilLaunch<DiaClassed<SEVEN, 2>>(G, blocks, x, out, dot, beside, stream);
      return;
    }
  }
  DiaStencilLaunch<DiaClassed<SEVEN, 1>>(G, blocks, x, out, dot, beside, stream);
}

/* The kernel for a stencil: 7 points or 5, half stored or all, past the cache or not */
template <class V>
static void DiaGridLaunch(const DiaGrid<V> &A, bool half, unsigned int blocks, const PetscScalar *x, const DiaOut &out, const DiaDot &dot,
                          const DiaBeside &beside, cudaStream_t stream)
{
  typedef void (*Launch)(const DiaGrid<V> &, unsigned int, const PetscScalar *, const DiaOut &, const DiaDot &, const DiaBeside &, cudaStream_t);
  static const Launch launch[2][2][2] = {
    {{DiaStencilLaunch<DiaStored<false, false, false, V>>, DiaStencilLaunch<DiaStored<false, false, true, V>>},
     {DiaStencilLaunch<DiaStored<false, true, false, V>>, DiaStencilLaunch<DiaStored<false, true, true, V>>}},
    {{DiaStencilLaunch<DiaStored<true, false, false, V>>, DiaStencilLaunch<DiaStored<true, false, true, V>>},
     {DiaStencilLaunch<DiaStored<true, true, false, V>>, DiaStencilLaunch<DiaStored<true, true, true, V>>}  }
  };

  launch[A.near > 0][half][A.m <= DIA_CACHED_ROWS](A, blocks, x, out, dot, beside, stream);
}

template <class V>
void DiaStencilMult(const PolderDia *A, const DiaGrid<V> &grid, bool half, unsigned int blocks, const PetscScalar *x, const DiaOut &out, const DiaDot &dot,
                    const DiaBeside &beside, cudaStream_t stream)
{
  if constexpr (std::is_same_v<V, PetscScalar>) {
    if (A->code && grid.near) DiaClassedLaunch<true>(A, grid, blocks, x, out, dot, beside, stream);
    else if (A->code) DiaClassedLaunch<false>(A, grid, blocks, x, out, dot, beside, stream);
    if (A->code) return;
  }
  DiaGridLaunch(grid, half, blocks, x, out, dot, beside, stream);
}

template void DiaStencilMult(const PolderDia *, const DiaGrid<PetscScalar> &, bool, unsigned int, const PetscScalar *, const DiaOut &, const DiaDot &,
                             const DiaBeside &, cudaStream_t);
template void DiaStencilMult(const PolderDia *, const DiaGrid<float> &, bool, unsigned int, const PetscScalar *, const DiaOut &, const DiaDot &,
                             const DiaBeside &, cudaStream_t);

POLDER_MODULE(DiaStencil)
