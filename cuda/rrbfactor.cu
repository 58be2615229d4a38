/* The repeated red-black factorisation, one thread for each node or cell, with the steps of src/kernels/rrbrow.h. */
#include "count.cuh"
#include "foreach.cuh"
#include "kernels/rrb.h"

/* A block is RRB_X by RRB_Y threads */
#define RRB_X 32
#define RRB_Y 8

static dim3 RRBBlocks(PetscInt nx, PetscInt ny)
{
  return dim3(PolderBlocks(nx, RRB_X), PolderBlocks(ny, RRB_Y));
}

struct RRBOut {
  PetscScalar *a[RRB_NROW];
};

static RRBOut RRBOutOf(PetscScalar *const row[])
{
  RRBOut out = {};

  for (int f = 0; f < RRB_NROW && row; ++f) out.a[f] = row[f];
  return out;
}

/* The entries read from a row */
struct RRBNode {
  PetscScalar a[RRB_NROW];
  PetscReal   sum, size;
  int         seen;
};

/* Takes an entry in this direction, -1: to no neighbour, and its mirror image, which must be equal; centre: it is that of the node itself */
static __device__ __forceinline__ void RRBTake(RRBNode &n, int to, bool centre, PetscScalar value, PetscScalar mirror, PetscScalar diagonal)
{
  n.sum += value;
  if (centre) n.a[RRB_C] = value;
  else n.size += PolderRRBAbs(value);
  if ((value != 0 && to < 0) || (!centre && PolderRRBDiffers(value, mirror, diagonal))) n.seen |= RRB_SEEN_BAD;
  if (to == RRB_TO_E) n.a[RRB_E] = value;
  if (to == RRB_TO_N) n.a[RRB_N] = value;
  if (to == RRB_TO_NE) n.a[RRB_NE] = value;
  if (to == RRB_TO_SE) n.a[RRB_SE] = value;
  if (value != 0 && (to == RRB_TO_NE || to == RRB_TO_SE)) n.seen |= RRB_SEEN_NINE;
}

static __device__ __forceinline__ void RRBPut(const RRBNode &n, const RRBOut &out, PetscInt i)
{
#pragma unroll
  for (int f = 0; f < RRB_NROW; ++f)
    if (out.a[f]) out.a[f][i] = n.a[f];
}

/* to: the direction of a diagonal, dx its step along x, in all rows whose neighbour that is; both follow from the offset of lines of at least three nodes */
struct RRBDiagonals {
  PetscInt           nd;
  bool               half;
  PetscInt           off[POLDER_RRB_DIAGONALS], mirror[POLDER_RRB_DIAGONALS]; /* mirror: number of the diagonal with the opposite offset, -1: none */
  int                to[POLDER_RRB_DIAGONALS], dx[POLDER_RRB_DIAGONALS];
  const PetscScalar *val[POLDER_RRB_DIAGONALS], *main;
};

/* LONG: lines have at least three nodes */
template <bool LONG>
static __global__ void __launch_bounds__(RRB_X *RRB_Y)
  PolderRRBRowsDiaKernel(PetscInt nx, PetscInt ny, PetscInt from, PetscInt to, const __grid_constant__ RRBDiagonals A, const __grid_constant__ RRBOut out,
                         int *seen)
{
  PolderBegin();
  const PetscInt x = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), y = from + (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y);
  const PetscInt line = y * nx, i = line + x, m = nx * ny;
  RRBNode        n = {};

  if (x < nx && y < to) {
    const PetscScalar diagonal = A.main ? A.main[i] : 0;

    for (PetscInt d = 0; d < A.nd; ++d) {
      const PetscInt j = i + A.off[d];

      if (j < 0 || j >= m) continue;
      const PetscScalar value = A.val[d][i], mirror = A.half ? value : A.mirror[d] < 0 ? 0.0 : A.val[A.mirror[d]][j];
      const bool        inside = x + A.dx[d] >= 0 && x + A.dx[d] < nx;

      RRBTake(n, !LONG ? PolderRRBDirection(nx, line, i, j) : inside ? A.to[d] : -1, A.off[d] == 0, value, mirror, diagonal);
    }
    n.seen |= PolderRRBLook(n.a[RRB_C], n.sum, n.size);
    RRBPut(n, out, i);
  }
  PolderTell(n.seen, seen);
}

int PolderRRBRowsDia_CUDA(PetscInt nx, PetscInt ny, PetscInt from, PetscInt to, const PolderDia *dia, PetscScalar *const row[], int *seen, PolderStream stream)
{
  const PetscInt nd = dia->nd, *off = dia->off;
  RRBDiagonals   A = {};

  if (nd > POLDER_RRB_DIAGONALS) return cudaErrorInvalidValue;
  A.nd   = nd;
  A.half = dia->half;
  for (PetscInt d = 0; d < nd; ++d) {
    A.off[d]    = off[d];
    A.val[d]    = dia->val[d];
    A.mirror[d] = -1;
    A.to[d]     = PolderRRBDirection(nx, 0, 1, 1 + off[d]); // from node (1, 0), whose neighbours are on both sides of it
    A.dx[d]     = A.to[d] < 0 ? 0 : A.to[d] % 3 - 1;
    if (off[d] == 0) A.main = dia->val[d];
    for (PetscInt e = 0; e < nd; ++e)
      if (off[e] == -off[d]) A.mirror[d] = e;
  }
  PolderLaunchEarly(nx > 2 ? PolderRRBRowsDiaKernel<true> : PolderRRBRowsDiaKernel<false>, RRBBlocks(nx, to - from), dim3(RRB_X, RRB_Y), stream, nx, ny, from,
                    to, A, RRBOutOf(row), seen);
  return cudaGetLastError();
}

static __device__ __forceinline__ PetscScalar RRBFind(const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj, const PetscScalar *__restrict__ aa,
                                                      PetscInt i, PetscInt j)
{
  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k)
    if (aj[k] == j) return aa[k];
  return 0;
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y)
  PolderRRBRowsCsrKernel(PetscInt nx, PetscInt ny, const PetscInt *__restrict__ ai, const PetscInt *__restrict__ aj, const PetscScalar *__restrict__ aa,
                         const __grid_constant__ RRBOut out, int *seen)
{
  PolderBegin();
  const PetscInt x = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), y = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y), line = y * nx, i = line + x;
  RRBNode        n = {};

  if (x < nx && y < ny) {
    const PetscScalar diagonal = RRBFind(ai, aj, aa, i, i);

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) RRBTake(n, PolderRRBDirection(nx, line, i, aj[k]), aj[k] == i, aa[k], RRBFind(ai, aj, aa, aj[k], i), diagonal);
    n.seen |= PolderRRBLook(n.a[RRB_C], n.sum, n.size);
    RRBPut(n, out, i);
  }
  PolderTell(n.seen, seen);
}

int PolderRRBRowsCsr_CUDA(PetscInt nx, PetscInt ny, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar *const row[], int *seen,
                          PolderStream stream)
{
  PolderLaunchEarly(PolderRRBRowsCsrKernel, RRBBlocks(nx, ny), dim3(RRB_X, RRB_Y), stream, nx, ny, ai, aj, aa, RRBOutOf(row), seen);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y)
  PolderRRBBlackKernel(const __grid_constant__ PolderRRBGrid g, const __grid_constant__ PolderRRBEntries rows, PetscReal omega, PetscScalar *c, PetscScalar *x,
                       int *seen)
{
  PolderBegin();
  const PetscInt u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y);

  PolderTell(u < g.hx && v < g.hy ? PolderRRBTakeCell(&g, &rows, omega, c + g.origin, x + g.origin, u, v) : 0, seen);
}

int PolderRRBBlack_CUDA(const PolderRRBGrid *g, const PolderRRBEntries *rows, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen, PolderStream stream)
{
  PolderLaunchEarly(PolderRRBBlackKernel, RRBBlocks(g->hx, g->hy), dim3(RRB_X, RRB_Y), stream, *g, *rows, omega, c, x, seen);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y)
  PolderRRBRedKernel(const __grid_constant__ PolderRRBGrid g, bool half, PetscReal omega, PetscScalar *c, PetscScalar *x, int *seen)
{
  PolderBegin();
  const PetscInt  u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y);
  const ptrdiff_t p    = (ptrdiff_t)v * g.pitch + u;
  int             told = 0;

  c += g.origin;
  x += g.origin;
  if (u < g.hx && v < g.hy) {
    PolderRRBBlackFromR1(g.size, g.pitch, c, p);
    PolderRRBBlackFromR2(g.size, g.pitch, c, x, p);
    if (!half) {
      PolderRRBLumpR1(g.size, g.pitch, omega, c, p);
      c[RRB_R1D * g.size + p] = PolderRRBInverse(c[RRB_R1D * g.size + p], PETSC_TRUE, &told);
    }
  }
  PolderTell(told, seen);
}

int PolderRRBRed_CUDA(const PolderRRBGrid *g, PetscBool half, PetscReal omega, PetscScalar c[], PetscScalar x[], int *seen, PolderStream stream)
{
  PolderLaunchEarly(PolderRRBRedKernel, RRBBlocks(g->hx, g->hy), dim3(RRB_X, RRB_Y), stream, *g, half, omega, c, x, seen);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y)
  PolderRRBNextKernel(const __grid_constant__ PolderRRBGrid g, bool half, const PetscScalar *__restrict__ c, const PetscScalar *__restrict__ x,
                      const __grid_constant__ RRBOut out, PetscInt ld)
{
  PolderBegin();
  const PetscInt  u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y);
  const ptrdiff_t p  = (ptrdiff_t)v * g.pitch + u;
  const bool      r2 = u < g.nx / 2 && v < g.ny / 2;
  PetscScalar    *row[RRB_NROW];

  if (u >= g.hx || v >= g.hy) return;
  c += g.origin;
  x += g.origin;
#pragma unroll
  for (int f = 0; f < RRB_NROW; ++f) row[f] = out.a[f] + (half ? (size_t)v * g.hx : (size_t)v * ld);
  if (half) {
    PolderRRBSkewR1(g.size, c, p, row, u);
#pragma unroll
    for (int f = 0; f < RRB_NROW; ++f) row[f] = out.a[f] + ((size_t)g.hx * (size_t)g.hy + (size_t)v * (g.nx / 2));
    if (r2) PolderRRBSkewR2(g.size, g.pitch, c, x, p, row, u);
  } else if (r2) PolderRRBCoarse(g.size, g.pitch, c, x, p, row, u);
}

int PolderRRBNext_CUDA(const PolderRRBGrid *g, PetscBool half, const PetscScalar c[], const PetscScalar x[], PetscScalar *const row[], PetscInt ld,
                       PolderStream stream)
{
  PolderLaunchEarly(PolderRRBNextKernel, RRBBlocks(g->hx, g->hy), dim3(RRB_X, RRB_Y), stream, *g, half, c, x, RRBOutOf(row), ld);
  return cudaGetLastError();
}

template <bool SINGLE>
static __global__ void __launch_bounds__(RRB_X *RRB_Y) PolderRRBScaleKernel(const __grid_constant__ PolderRRBGrid g, PetscScalar *c, float *single, int *seen)
{
  PolderBegin();
  const PetscInt  u = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), v = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y);
  const ptrdiff_t p   = (ptrdiff_t)g.origin + (ptrdiff_t)v * g.pitch + u;
  int             bad = 0;

  if (u < g.hx && v < g.hy) {
    PolderRRBScale(g.size, c, p);
    if (SINGLE) bad = PolderRRBRound(g.size, c, single, p);
  }
  PolderTell(bad, seen);
}

int PolderRRBScale_CUDA(const PolderRRBGrid *g, PetscScalar c[], float single[], int *seen, PolderStream stream)
{
  if (single) PolderLaunchEarly(PolderRRBScaleKernel<true>, RRBBlocks(g->hx, g->hy), dim3(RRB_X, RRB_Y), stream, *g, c, single, seen);
  else PolderLaunchEarly(PolderRRBScaleKernel<false>, RRBBlocks(g->hx, g->hy), dim3(RRB_X, RRB_Y), stream, *g, c, NULL, seen);
  return cudaGetLastError();
}

template <class V>
static int RRBClearEdges(const PolderRRBGrid g, int n, V *a, PolderStream stream)
{
  return PolderForEach((PetscInt)PolderRRBEdges(&g), stream, [=] __device__(PetscInt i) {
    const size_t q = PolderRRBEdge(&g, (size_t)i);

    for (int f = 0; f < n; ++f) a[(size_t)f * g.size + q] = 0;
  });
}

int PolderRRBClearEdges_CUDA(const PolderRRBGrid *g, int n, PetscBool single, void *a, PolderStream stream)
{
  return single ? RRBClearEdges(*g, n, (float *)a, stream) : RRBClearEdges(*g, n, (PetscScalar *)a, stream);
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderRRBRestShiftKernel(PetscInt n, PetscInt ld, const PetscInt *__restrict__ part, const PetscScalar *__restrict__ shift, PetscScalar *E)
{
  PolderBegin();
  for (size_t k = (size_t)blockIdx.x * POLDER_BLOCK + threadIdx.x; k < (size_t)ld * ld; k += (size_t)gridDim.x * POLDER_BLOCK) {
    const PetscInt i = (PetscInt)(k / ld), j = (PetscInt)(k % ld), p = part && i < n && j < n ? part[i] : -1;

    E[k] = p >= 0 && part[j] == p ? shift[p] : 0;
  }
}

static __global__ void __launch_bounds__(RRB_X *RRB_Y)
  PolderRRBRestKernel(PetscInt nx, PetscInt ny, PetscBool skew, const __grid_constant__ RRBOut row, PetscInt ld, PetscScalar *E)
{
  PolderBegin();
  const PetscInt x = (PetscInt)(blockIdx.x * RRB_X + threadIdx.x), y = (PetscInt)(blockIdx.y * RRB_Y + threadIdx.y), i = PolderRRBUnknown(nx, ny, skew, x, y);

  if (i < 0) return;
#pragma unroll
  for (int f = 0; f < RRB_NROW; ++f) {
    const PetscInt j = PolderRRBUnknownAt(nx, ny, skew, f, x, y);

    if (j < 0) continue;
    E[(size_t)i * ld + j] += row.a[f][i];
    if (j != i) E[(size_t)j * ld + i] += row.a[f][i];
  }
}

int PolderRRBRest_CUDA(PetscInt nx, PetscInt ny, PetscBool skew, PetscScalar *const row[], const PetscInt part[], const PetscScalar shift[], PolderDense E,
                       PolderStream stream)
{
  PolderLaunchEarly(PolderRRBRestShiftKernel, 1024, POLDER_BLOCK, stream, E.n, E.ld, part, shift, E.a);
  PolderLaunchEarly(PolderRRBRestKernel, RRBBlocks(nx, ny), dim3(RRB_X, RRB_Y), stream, nx, ny, skew, RRBOutOf(row), E.ld, E.a);
  return cudaGetLastError();
}
