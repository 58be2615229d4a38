/*
  Restriction and interpolation on levels that are grids, in each cycle: one thread a box or a cell, with the joined directions J as template arguments, so
  that all loops over the cells of a box unroll. Each sum is made by one thread, in the order of the host
*/
#pragma once

#include "index.cuh"
#include "pack.cuh"
#include "levelborder.cuh"

/* Both for vectors of V, FAR: on levels that are joined in direction 2. One file for each */
template <class V, bool FAR>
struct GridCycle {
  static int restriction(const PolderLevelGrid *G, const PolderLevelGiving *giving, const V *r, V *bc, cudaStream_t stream);
  static int prolongation(const PolderLevelGrid *G, const PolderExchange *sends, const V *xc, V *x, cudaStream_t stream);
};

/* Lines that a thread takes of a level that is joined in directions 0 and 1 alone, if lines do not consist of pairs: a multiple of two */
#define GRID_LINES 4

/* The number of this thread among those of the grid, and how many there are */
static __device__ __forceinline__ long long GridThread(void)
{
  const long long block = blockIdx.x + (long long)gridDim.x * (blockIdx.y + (long long)gridDim.y * blockIdx.z);

  return block * POLDER_BLOCK + threadIdx.x + blockDim.x * threadIdx.y;
}

static __device__ __forceinline__ long long GridThreads(void)
{
  return (long long)gridDim.x * gridDim.y * gridDim.z * POLDER_BLOCK;
}

/* body(at) for all coordinates of a grid of size[0] x size[1] x size[2], every N-th in direction 0 and every LINES-th in direction 1 */
template <int N, int LINES, class Body>
static __device__ __forceinline__ void GridEach(const PetscInt size[3], Body body)
{
  PetscInt at[3];

  at[0] = N * ((PetscInt)blockIdx.x * blockDim.x + threadIdx.x);
  if (at[0] >= size[0]) return;
  for (at[2] = blockIdx.z; at[2] < size[2]; at[2] += gridDim.z) {
    for (at[1] = LINES * ((PetscInt)blockIdx.y * blockDim.y + threadIdx.y); at[1] < size[1]; at[1] += LINES * gridDim.y * blockDim.y) body(at);
  }
}

/*
  The sum of body(word, r) over the cells that differ from cell `first`, at at[], in the directions K by 0 or 1, and by `to` in direction D. The loads of
  cells that do not exist are those of another one, so that none depends on a branch and all can be under way at once. PAIR = 2: both cells of direction 0
  are loaded at once
*/
template <int D, int K, int PAIR, class V, class Body>
static __device__ __forceinline__ V GridCells(const PolderLevelGrid &G, const PetscInt at[3], PetscInt first, int to, V sum, const V *r, Body body)
{
  constexpr int  N    = K & 1 ? PAIR : 1;
  const PetscInt line = G.size[0], plane = line * G.size[1];

#pragma unroll
  for (int k = 0; k < 8; k += N) {
    const PetscInt step[3] = {(k & 1) + (D == 0 ? to : 0), (k >> 1 & 1) + (D == 1 ? to : 0), (k >> 2 & 1) + (D == 2 ? to : 0)};
    const PetscInt i       = first + step[0] + step[1] * line + step[2] * plane;
    bool           there   = i >= 0 && i < G.n;

    if ((k & K) != k) continue;
#pragma unroll
    for (int d = 0; d < 3; ++d) there = there && at[d] + step[d] >= 0 && at[d] + step[d] < G.size[d];
    const PolderPack<unsigned, N> word = PolderPackLdg<N>((const unsigned *)G.w + (there ? i : 0));
    const PolderPack<V, N>        v    = PolderPackLdg<N>(r + (there ? i : 0));

#pragma unroll
    for (int c = 0; c < N; ++c) sum += there && word.v[c] != POLDER_LEVELGRID_APART ? body(word.v[c], v.v[c]) : (V)0;
  }
  return sum;
}

/* Adds what the cells that face a box in direction D give to it */
template <int D, int J, int PAIR, class V>
static __device__ __forceinline__ V GridFaces(const PolderLevelGrid &G, const PetscInt at[3], PetscInt first, V sum, const V *r)
{
  const auto body = [](unsigned word, V v) { return (V)PolderLevelGridUnpack(word, D) * v; };

  if constexpr (J >> D & 1) {
    sum = GridCells<D, J & ~(1 << D), PAIR>(G, at, first, -1, sum, r, body);
    sum = GridCells<D, J & ~(1 << D), PAIR>(G, at, first, 2, sum, r, body);
  }
  return sum;
}

template <class V, int J, int PAIR>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderGridRestrictKernel(const __grid_constant__ PolderLevelGrid G, const __grid_constant__ BorderGive<V> giving, const V *__restrict__ r, V *bc)
{
  PolderBegin();
  for (long long p = GridThread(); p < giving.n; p += GridThreads()) giving(G, (PetscInt)p, r); // first: others wait for it
  GridEach<1, 1>(G.csize, [&](const PetscInt box[3]) {
    const PetscInt c     = box[0] + G.csize[0] * (box[1] + G.csize[1] * box[2]) - G.cshift;
    const PetscInt at[3] = {box[0] << (J & 1), box[1] << (J >> 1 & 1), box[2] << (J >> 2 & 1)};
    const PetscInt first = at[0] + G.size[0] * (at[1] + G.size[1] * at[2]) - G.shift;
    V              sum;

    if (c < 0 || c >= G.nc) return;
    sum   = GridCells<3, J, PAIR>(G, at, first, 0, (V)0, r, [](unsigned word, V v) {
      return (1 - ((V)PolderLevelGridUnpack(word, 0) + (V)PolderLevelGridUnpack(word, 1) + (V)PolderLevelGridUnpack(word, 2))) * v; // to its own box
    });
    sum   = GridFaces<0, J, PAIR>(G, at, first, sum, r);
    sum   = GridFaces<1, J, PAIR>(G, at, first, sum, r);
    bc[c] = GridFaces<2, J, PAIR>(G, at, first, sum, r);
    if (c == G.nc - 1) bc[G.nc] = 0;
  });
}

/* w_d (u_Nd - u_C) of a joined direction, and 0 of others */
template <int D, int J, class V>
static __device__ __forceinline__ V GridSlope(const PolderLevelGrid &G, PetscInt at, PetscInt box, unsigned word, V own, const V *xc)
{
  const PetscInt stride = D == 0 ? 1 : D == 1 ? G.csize[0] : G.csize[0] * G.csize[1];
  const float    w      = PolderLevelGridUnpack(word, D);

  return J >> D & 1 ? (V)w * (__ldg(xc + (w > 0 ? at & 1 ? box + stride : box - stride : box)) - own) : (V)0;
}

/* The cells from at[] on in direction 0, PAIR of them: both cells of a box with PAIR = 2 */
template <int J, int PAIR, class V>
static __device__ __forceinline__ void GridProlongCells(const PolderLevelGrid &G, const PetscInt at[3], const V *xc, V *x)
{
  const PetscInt i   = at[0] + G.size[0] * (at[1] + G.size[1] * at[2]) - G.shift;
  const PetscInt box = (at[0] >> (J & 1)) + G.csize[0] * ((at[1] >> (J >> 1 & 1)) + G.csize[1] * (at[2] >> (J >> 2 & 1))) - G.cshift;

  if (i < 0 || i >= G.n) return;
  const V                          own  = __ldg(xc + box);
  const PolderPack<unsigned, PAIR> word = PolderPackLdg<PAIR>((const unsigned *)G.w + i);
  PolderPack<V, PAIR>              u    = PolderPackRead<PAIR>(x + i);

#pragma unroll
  for (int k = 0; k < PAIR; ++k) {
    const bool     in   = word.v[k] != POLDER_LEVELGRID_APART;
    const unsigned w    = in ? word.v[k] : 0; // a cell apart may have no box to face
    const V        step = own + GridSlope<0, J>(G, at[0] + k, box, w, own, xc) + GridSlope<1, J>(G, at[1], box, w, own, xc) +
                   GridSlope<2, J>(G, at[2], box, w, own, xc);

    if (in) u.v[k] += step;
  }
  PolderPackWrite(x + i, u);
}

/* 0 <= i < n in one comparison */
static __device__ __forceinline__ bool GridWithin(PetscInt i, PetscInt n)
{
  typedef std::make_unsigned_t<PetscInt> Index;

  return (Index)i < (Index)n;
}

/* w_d (u_Nd - u_C), given the value of the box that the cell faces if there is one */
template <int D, class V>
static __device__ __forceinline__ V GridSlopeTo(unsigned word, V own, V other)
{
  const float w = PolderLevelGridUnpack(word, D);

  return (V)w * ((w > 0 ? other : own) - own);
}

/*
  The cells at at[0] of GRID_LINES lines, of which two make a box. Boxes are loaded whether cells face them or not, so that no load waits for a word and all
  can be under way at once
*/
template <class V>
static __device__ __forceinline__ void GridProlongLines(const PolderLevelGrid &G, const PetscInt at[3], const V *xc, V *x)
{
  constexpr int  BOXES = GRID_LINES / 2;
  const PetscInt i     = at[0] + G.size[0] * (at[1] + G.size[1] * at[2]) - G.shift;
  const PetscInt box = (at[0] >> 1) + G.csize[0] * ((at[1] >> 1) + G.csize[1] * at[2]) - G.cshift, side = at[0] & 1 ? 1 : -1;
  const auto     get = [&](PetscInt c) { return GridWithin(c, G.nc) ? __ldg(xc + c) : (V)0; };
  unsigned       word[GRID_LINES];
  V              u[GRID_LINES], column[BOXES + 2], beside[BOXES]; // column[]: from the box before the first to that after the last

#pragma unroll
  for (int k = 0; k < GRID_LINES; ++k) {
    const PetscInt j     = i + k * G.size[0];
    const bool     there = at[1] + k < G.size[1] && GridWithin(j, G.n);

    word[k] = there ? __ldg((const unsigned *)G.w + j) : POLDER_LEVELGRID_APART;
    u[k]    = there ? x[j] : (V)0;
  }
#pragma unroll
  for (int b = 0; b < BOXES + 2; ++b) column[b] = get(box + (b - 1) * G.csize[0]);
#pragma unroll
  for (int b = 0; b < BOXES; ++b) beside[b] = get(box + b * G.csize[0] + side);
#pragma unroll
  for (int k = 0; k < GRID_LINES; ++k) {
    const V own = column[k / 2 + 1];

    u[k] += own + GridSlopeTo<0>(word[k], own, beside[k / 2]) + GridSlopeTo<1>(word[k], own, column[k / 2 + (k % 2 ? 2 : 0)]);
    if (word[k] != POLDER_LEVELGRID_APART) x[i + k * G.size[0]] = u[k];
  }
}

/* PAIR = 2: a thread for both cells of a box in direction 0 */
template <class V, int J, int PAIR>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderGridProlongKernel(const __grid_constant__ PolderLevelGrid G, const __grid_constant__ PolderSending sending, const V *__restrict__ xc, V *x)
{
  PolderBegin();
  sending(GridThread(), GridThreads());
  if constexpr (J == 3 && PAIR == 1) GridEach<1, GRID_LINES>(G.size, [&](const PetscInt at[3]) { GridProlongLines(G, at, xc, x); });
  else GridEach<PAIR, 1>(G.size, [&](const PetscInt at[3]) { GridProlongCells<J, PAIR>(G, at, xc, x); });
}

/* A kernel for each J that joins direction 2, or does not: one cell and two cells at a time */
#define GRID_KERNELS_3D(name, V) \
  { \
    {name<V, 4, 1>, name<V, 5, 1>, name<V, 6, 1>, name<V, 7, 1>}, \
    { \
      name<V, 4, 1>, name<V, 5, 2>, name<V, 6, 1>, name<V, 7, 2> \
    } \
  }
#define GRID_KERNELS_2D(name, V) \
  { \
    {NULL, name<V, 1, 1>, name<V, 2, 1>, name<V, 3, 1>}, \
    { \
      NULL, name<V, 1, 2>, name<V, 2, 1>, name<V, 3, 2> \
    } \
  }

/*
  Launches one of them over a grid, `fine` being the vector on the cells, first what it does before. For a thread: each[0] cells of direction 0 if it takes
  pairs, else each[1] lines where directions 0 and 1 alone are joined
*/
template <class V, class First>
static int GridLaunch(void (*const kernel[2][4])(PolderLevelGrid, First, const V *, V *), const PetscInt size[3], const int each[2], const PolderLevelGrid *G,
                      const First &first, const V *fine, const V *from, V *to, cudaStream_t stream)
{
  const bool         pairs = G->join[0] && G->size[0] % 2 == 0 && G->shift % 2 == 0 && G->n % 2 == 0 && PolderAligned<2>(fine, G->w);
  const int          join = G->join[0] + 2 * G->join[1] + 4 * G->join[2], lines = size[1] > 1 ? 4 : 1;
  const int          wide = POLDER_BLOCK / lines * (pairs ? each[0] : 1), high = lines * (!pairs && join == 3 ? each[1] : 1);
  const unsigned int y = PolderBlocks(size[1], high), z = (unsigned int)size[2];
  const dim3         grid(PolderBlocks(size[0], wide), y < 65535 ? y : 65535, z < 65535 ? z : 65535), block(POLDER_BLOCK / lines, (unsigned int)lines);

  if (G->n > 0 && size[0] > 0 && y && z) PolderLaunchEarly(kernel[pairs][join & 3], grid, block, stream, *G, first, from, to);
  return cudaGetLastError();
}

template <class V, bool FAR>
int GridCycle<V, FAR>::restriction(const PolderLevelGrid *G, const PolderLevelGiving *giving, const V *r, V *bc, cudaStream_t stream)
{
  static const int each[2] = {1, 1};
  BorderGive<V>    first   = {};

  if (giving) first = {giving->border->cplane, *giving->border, (V *)giving->give, *giving->sends};
  if (!G->nc) (void)cudaMemsetAsync(bc, 0, sizeof(V), stream);
  if (!G->nc && !giving) return cudaGetLastError();
  if constexpr (FAR) {
    static void (*const kernels[2][4])(PolderLevelGrid, BorderGive<V>, const V *, V *) = GRID_KERNELS_3D(PolderGridRestrictKernel, V);

    return GridLaunch(kernels, G->csize, each, G, first, r, r, bc, stream);
  } else {
    static void (*const kernels[2][4])(PolderLevelGrid, BorderGive<V>, const V *, V *) = GRID_KERNELS_2D(PolderGridRestrictKernel, V);

    return GridLaunch(kernels, G->csize, each, G, first, r, r, bc, stream);
  }
}

template <class V, bool FAR>
int GridCycle<V, FAR>::prolongation(const PolderLevelGrid *G, const PolderExchange *sends, const V *xc, V *x, cudaStream_t stream)
{
  static const int    each[2] = {2, GRID_LINES};
  const PolderSending sending = PolderSendingOf(sends, xc, sizeof(V) == 8);

  if constexpr (FAR) {
    static void (*const kernels[2][4])(PolderLevelGrid, PolderSending, const V *, V *) = GRID_KERNELS_3D(PolderGridProlongKernel, V);

    return GridLaunch(kernels, G->size, each, G, sending, x, xc, x, stream);
  } else {
    static void (*const kernels[2][4])(PolderLevelGrid, PolderSending, const V *, V *) = GRID_KERNELS_2D(PolderGridProlongKernel, V);

    return GridLaunch(kernels, G->size, each, G, sending, x, xc, x, stream);
  }
}
