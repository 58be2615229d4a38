/*
  The inverse of a dense symmetric matrix by a blocked sweep (Gauss-Jordan without pivoting, which suffices for positive definite matrices) over tiles of NB x
  NB; only the lower triangle is updated. Tensor cores multiply tiles.
*/
#include "tiles.cuh"
#include "module.cuh"
#include "kernels/coarse.h"
#include <cfloat>
#include <cuda_pipeline.h>

static const int NB = POLDER_SWEEP, SWEEP_BLOCK = 256;
/* Pipeline stages of a tile, and rows loaded in each stage */
static const int STAGES = 4, STAGE = NB / STAGES;
/* Shared memory for two tiles */
static const size_t TILES_BYTES = sizeof(double) * 2 * NB * NB;
/* Pivots of a step of the sweep of a tile */
static const int PANEL = 8;

/*
  A tile distributed over 2 x 4 warps of 32 x 16 entries in the layout of the tensor cores: [i][j] is a pair of 8 x 8 squares one above the other; in row lane
  / 4 of each, a thread has two adjacent entries
*/
typedef double Product[2][2][4];

/* Row of Product entries [i][.][2 h], and column of entries [.][j][0] */
static __device__ __forceinline__ int ProductRow(int i, int h)
{
  return threadIdx.x / 128 * 32 + 16 * i + 8 * h + threadIdx.x % 32 / 4;
}

static __device__ __forceinline__ int ProductColumn(int j)
{
  return threadIdx.x / 32 % 4 * 16 + 8 * j + threadIdx.x % 4 * 2;
}

/* Position of entry (k, m) in shared memory: avoids bank conflicts when a product reads four rows of four neighbours at once; pairs stay adjacent */
static __device__ __forceinline__ int TilePlace(int k, int m)
{
  return k * NB + (m ^ (k % 4 * 4));
}

/* Starts the asynchronous load of the rows of a stage of a tile */
static __device__ __forceinline__ void PolderTileFetch(double *to, PetscInt ld, const PetscScalar *A, int stage)
{
#pragma unroll
  for (int t = threadIdx.x; t < STAGE * NB / 2; t += SWEEP_BLOCK) {
    const int k = stage * STAGE + t / (NB / 2), m = t % (NB / 2) * 2;

    __pipeline_memcpy_async(to + TilePlace(k, m), A + (size_t)k * ld + m, sizeof(double2));
  }
}

/* c += a b with a 16 x 8 and b 8 x 8. With g = lane / 4, t = lane % 4, a thread has the entries (g + 8 (v % 2), t + 4 (v / 2)) of a and (t + 4 v, g) of b */
static __device__ __forceinline__ void PolderTensorMultAdd(double (&c)[4], const double (&a)[4], const double (&b)[2])
{
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
  for (int v = 0; v < 4; ++v)
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[v % 2 * 2]), "+d"(c[v % 2 * 2 + 1])
        : "d"(a[v]), "d"(b[v / 2]));
#endif
}

/* p += L^T R for the rows of one stage of both tiles */
static __device__ __forceinline__ void PolderTileMultAdd(Product &p, const double *l, const double *r, int stage)
{
  const int     g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const double *left[2]  = {l + TilePlace(t, g) + ProductRow(0, 0) - g,
                            l + TilePlace(t, 8 + g) + ProductRow(0, 0) - g}; // the same layout sixteen columns and four rows further on
  const double *right[2] = {r + TilePlace(t, g) + ProductColumn(0) - 2 * t, r + TilePlace(t, 8 + g) + ProductColumn(0) - 2 * t};

#pragma unroll 1
  for (int k = stage * STAGE; k < (stage + 1) * STAGE; k += 8) {
    double a[2][4], b[2][2];

#pragma unroll
    for (int v = 0; v < 8; ++v) a[v / 4][v % 4] = left[v % 2][(k + v % 4 / 2 * 4) * NB + v / 4 * 16];
#pragma unroll
    for (int v = 0; v < 4; ++v) b[v / 2][v % 2] = right[v / 2][(k + v % 2 * 4) * NB];
#pragma unroll
    for (int v = 0; v < 4; ++v) PolderTensorMultAdd(p[v / 2][v % 2], a[v / 2], b[v % 2]);
  }
}

/* Stores A <- -p; below, loads p <- -A */
static __device__ __forceinline__ void PolderProductStore(const Product &p, PetscInt ld, PetscScalar *A)
{
#pragma unroll
  for (int v = 0; v < 8; ++v)
    *(double2 *)(A + (size_t)ProductRow(v / 4, v % 2) * ld + ProductColumn(v / 2 % 2)) = make_double2(-p[v / 4][v / 2 % 2][v % 2 * 2],
                                                                                                      -p[v / 4][v / 2 % 2][v % 2 * 2 + 1]);
}

static __device__ __forceinline__ void PolderProductLoad(Product &p, PetscInt ld, const PetscScalar *A)
{
#pragma unroll
  for (int v = 0; v < 8; ++v) {
    const double2 t = *(const double2 *)(A + (size_t)ProductRow(v / 4, v % 2) * ld + ProductColumn(v / 2 % 2));

    p[v / 4][v / 2 % 2][v % 2 * 2]     = -t.x;
    p[v / 4][v / 2 % 2][v % 2 * 2 + 1] = -t.y;
  }
}

/*
  Rows of a tile in shared memory, PANEL of them; the pitch avoids bank conflicts when a warp reads every second row. In the products of a sweep, row t + 4 v
  of PolderTensorMultAdd() is row 2 t + v here: so a thread has the same entries of its result as of the next operand.
*/
typedef double Panel[PANEL][NB + 2];

/* The owning warps write rows [PANEL b, PANEL (b + 1)) of A = -p */
static __device__ __forceinline__ void PolderPanelTell(const Product &p, int b, Panel &panel)
{
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    if (ProductRow(v / 2, v % 2) / PANEL == b)
#pragma unroll
      for (int j = 0; j < 2; ++j)
        *(double2 *)&panel[threadIdx.x % 32 / 4][ProductColumn(j)] = make_double2(-p[v / 2][j][v % 2 * 2], -p[v / 2][j][v % 2 * 2 + 1]);
  }
}

/* Where the sweep of a tile tells of the pivots that it drops: those of the columns [0, n) that scale[] has in use are counted */
typedef struct {
  PetscInt     n;
  PetscReal    tol;
  PetscScalar *scale, *info;
} SweepPivots;

/* 1 / a for a normal number a > 0: after a first value with an error of 2^-20, the errors are e and e^3 */
static __device__ __forceinline__ double PolderReciprocal(double a)
{
  double r, e;

  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  e = fma(-a, r, 1.0);
  return fma(r, fma(e, e, e), r);
}

/*
  Every warp sweeps the block D of PANEL pivots of a panel, D <- -D^-1: thread (g, t) of a warp has its entries (g, 2 t) and (g, 2 t + 1). A pivot of at most
  tol makes its row and column zero. The next pivot is updated ahead of the others: each waits for the reciprocal of the one before.
*/
static __device__ __forceinline__ void PolderSweepPanel(double (&D)[2], const SweepPivots &pivots)
{
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  double    pivot = __shfl_sync(FULL_WARP, D[0], 0);

#pragma unroll
  for (int k = 0; k < PANEL; ++k) {
    const double inv  = pivot > pivots.tol ? PolderReciprocal(pivot) : 0;
    double       left = __shfl_sync(FULL_WARP, D[k % 2], 4 * g + k / 2), right[2];

    if (threadIdx.x == 0 && !(pivot > pivots.tol) && k < pivots.n && pivots.scale[k] != 0) {
      pivots.scale[k] = 0;
      pivots.info[POLDER_COARSE_NDEP] += 1;
    }
    if (k + 1 < PANEL) {
      const double next = __shfl_sync(FULL_WARP, D[(k + 1) % 2], 4 * k + (k + 1) / 2);

      pivot = __shfl_sync(FULL_WARP, D[(k + 1) % 2], 4 * (k + 1) + (k + 1) / 2) - (next * next) * inv;
    }
#pragma unroll
    for (int v = 0; v < 2; ++v) right[v] = __shfl_sync(FULL_WARP, D[v], 4 * k + t) * inv;
    if (g == k) left = -1;
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      if (2 * t + v == k) right[v] = -inv;
      D[v] = (g == k || 2 * t + v == k ? 0 : D[v]) - left * right[v];
    }
  }
}

/*
  Sweeps a tile A = -p on all its pivots, which gives minus its inverse. With C the rows of a panel, D its block on the diagonal and R = D^-1 C, the rows and
  columns of the panel become R and R^T, the block -D^-1, and all else A - C^T R. This is one product if C has -1 and R has -D^-1 in place of the block.
*/
static __device__ __forceinline__ void PolderSweepTile(Product &p, Panel (&panel)[2], SweepPivots pivots)
{
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;

  PolderPanelTell(p, 0, panel[0]);
  __syncthreads();
#pragma unroll 1
  for (int b = 0; b < NB / PANEL; ++b) {
    const Panel &C    = panel[b % 2];
    double       D[2] = {C[g][PANEL * b + 2 * t], C[g][PANEL * b + 2 * t + 1]}, R[4] = {}, left[4];

    PolderSweepPanel(D, pivots);
#pragma unroll
    for (int v = 0; v < 4; ++v) left[v] = -C[2 * t + v / 2][ProductColumn(v % 2) - 2 * t + g];
    PolderTensorMultAdd(R, left, D); // R[2 j + v] is entry (2 t + v, g) of the block of columns j
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      if (ProductColumn(j) / PANEL != b) continue;
#pragma unroll
      for (int v = 0; v < 2; ++v) R[2 * j + v] = D[v];
#pragma unroll
      for (int v = 0; v < 4; ++v) p[v / 2][j][v % 2 * 2] = p[v / 2][j][v % 2 * 2 + 1] = 0;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const bool swept = ProductRow(i, v % 2) / PANEL == b;

        left[v] = swept ? (2 * t + v / 2 == g ? -1 : 0) : C[2 * t + v / 2][ProductRow(i, v % 2)];
        if (swept) p[i][v / 2][v % 2 * 2] = p[i][v / 2][v % 2 * 2 + 1] = 0;
      }
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const double right[2] = {R[2 * j], R[2 * j + 1]};

        PolderTensorMultAdd(p[i][j], left, right);
      }
    }
    if (b + 1 < NB / PANEL) PolderPanelTell(p, b + 1, panel[(b + 1) % 2]);
    pivots.n -= PANEL;
    pivots.scale += PANEL;
    __syncthreads();
  }
}

/* Copies a tile to shared memory and back, as it is or transposed */
static __device__ __forceinline__ void PolderTileTake(double *to, bool transposed, PetscInt ld, const PetscScalar *A)
{
#pragma unroll
  for (int t = threadIdx.x; t < NB * NB; t += SWEEP_BLOCK)
    to[transposed ? TilePlace(t % NB, t / NB) : TilePlace(t / NB, t % NB)] = A[(size_t)(t / NB) * ld + t % NB];
}

static __device__ __forceinline__ void PolderTileGive(const double *from, bool transposed, PetscInt ld, PetscScalar *A)
{
#pragma unroll
  for (int t = threadIdx.x; t < NB * NB; t += SWEEP_BLOCK)
    A[(size_t)(t / NB) * ld + t % NB] = from[transposed ? TilePlace(t % NB, t / NB) : TilePlace(t / NB, t % NB)];
}

static __global__ void __launch_bounds__(SWEEP_BLOCK)
  PolderSweepFirstKernel(PetscInt ld, PetscInt d, PetscReal tol, const PetscScalar *__restrict__ A, PetscScalar *scale, PetscScalar *pivot, PetscScalar *info)
{
  PolderBegin();
  __shared__ Panel panel[2];
  Product          p;

  PolderProductLoad(p, ld, A);
  PolderSweepTile(p, panel, {d, tol, scale, info});
  PolderProductStore(p, NB, pivot);
}

/* Saves block row K of A (C), and its product with the inverse of the pivot block (R) */
static __global__ void __launch_bounds__(SWEEP_BLOCK)
  PolderSweepRowKernel(PetscInt ld, PetscInt K, const PetscScalar *__restrict__ A, const PetscScalar *__restrict__ pivot, PetscScalar *__restrict__ C,
                       PetscScalar *__restrict__ R)
{
  PolderBegin();
  extern __shared__ double2 shared[];
  double                   *l = (double *)shared, *r = l + NB * NB;
  const PetscInt            J = blockIdx.x;
  Product                   p = {};

  if (J == K) return;
  for (int stage = 0; stage < STAGES; ++stage) PolderTileFetch(l, NB, pivot, stage);
  __pipeline_commit();
  PolderTileTake(r, J > K, ld, J < K ? A + (size_t)(K * NB) * ld + J * NB : A + (size_t)(J * NB) * ld + K * NB);
  __pipeline_wait_prior(0);
  __syncthreads();
  PolderTileGive(r, false, ld, C + J * NB);
#pragma unroll
  for (int stage = 0; stage < STAGES; ++stage) PolderTileMultAdd(p, l, r, stage);
  PolderProductStore(p, ld, R + J * NB);
}

/* The sweep on block K of a d by d matrix in rows of ld; a pivot of at most tol leaves its column out */
typedef struct {
  PetscInt  ld, d, K;
  PetscReal tol;
} SweepStep;

/*
  Sweep on block K, for the tiles of the lower triangle. The tile of the next pivots is also swept in the same kernel: this takes longest and is started
  first. The order of the other tiles alternates between kernels, because the last tiles of a sweep are still in the cache.
*/
static __global__ void __launch_bounds__(SWEEP_BLOCK, 3)
  PolderSweepUpdateKernel(const __grid_constant__ SweepStep step, PetscScalar *A, const PetscScalar *__restrict__ C, const PetscScalar *__restrict__ R,
                          const PetscScalar *__restrict__ pivot, PetscScalar *next, PetscScalar *scale, PetscScalar *info)
{
  PolderBegin();
  const PetscInt            ld = step.ld, K = step.K;
  extern __shared__ double2 shared[];
  double                   *l = (double *)shared, *r = l + NB * NB;
  PetscInt                  t = blockIdx.x, I, J;
  PetscScalar              *to;
  Product                   p;

  if (K + 1 < ld / NB) {
    const PetscInt at = (K + 1) * (K + 2) / 2 + K + 1, first = K % 2 ? (PetscInt)gridDim.x - 1 - at : at;

    t = t == 0 ? first : (t == first ? 0 : t);
  }
  PolderTriangleTile(K % 2 ? (PetscInt)gridDim.x - 1 - t : t, &I, &J);
  to = A + (size_t)(I * NB) * ld + J * NB;
  if (I == K || J == K) {
    if (I == J) PolderTileTake(l, false, NB, pivot);
    else PolderTileTake(l, false, ld, R + (I == K ? J : I) * NB);
    __syncthreads();
    PolderTileGive(l, I != K, ld, to);
    return;
  }
#pragma unroll
  for (int stage = 0; stage < STAGES; ++stage) {
    PolderTileFetch(l, ld, C + I * NB, stage);
    PolderTileFetch(r, ld, R + J * NB, stage);
    __pipeline_commit();
  }
  PolderProductLoad(p, ld, to);
#pragma unroll
  for (int stage = 0; stage < STAGES; ++stage) {
    __pipeline_wait_prior(STAGES - 1 - stage);
    __syncthreads();
    PolderTileMultAdd(p, l, r, stage);
  }
  if (I == K + 1 && J == K + 1) {
    __syncthreads();
    PolderSweepTile(p, *(Panel(*)[2])l, {step.d - I * NB, step.tol, scale + I * NB, info});
    PolderProductStore(p, NB, next);
  } else PolderProductStore(p, ld, to);
}

/* Both triangles of X = D (-A) D from the lower one of A, in place */
static __global__ void PolderSweepFinishKernel(PetscInt d, PetscInt ld, const PetscScalar *__restrict__ scale, PetscScalar *A)
{
  PolderBegin();
  __shared__ double lower[32][33];
  const PetscInt    bi = blockIdx.y, bj = blockIdx.x, x = threadIdx.x;

  if (bj > bi) return;
  for (PetscInt y = threadIdx.y; y < 32; y += 8) {
    const PetscInt i = 32 * bi + y, j = 32 * bj + x;

    lower[y][x] = i < d && j < d ? -A[(size_t)i * ld + j] * scale[i] * scale[j] : 0;
  }
  __syncthreads();
  for (PetscInt y = threadIdx.y; y < 32; y += 8) {
    A[(size_t)(32 * bi + y) * ld + 32 * bj + x] = bi == bj && x > y ? lower[x][y] : lower[y][x];
    if (bi != bj) A[(size_t)(32 * bj + y) * ld + 32 * bi + x] = lower[x][y];
  }
}

size_t PolderCoarseInvertWork_CUDA(PetscInt ld)
{
  return sizeof(PetscScalar) * (2 * (size_t)NB * NB + 2 * (size_t)NB * ld);
}

int PolderCoarseInvert_CUDA(PolderDense A, PetscReal tol, PetscScalar scale[], PetscScalar info[], void *work, PolderStream stream)
{
  const PetscInt ld = A.ld, nb = ld / NB;
  PetscScalar   *pivot = (PetscScalar *)work, *C = pivot + 2 * (size_t)NB * NB, *R = C + (size_t)NB * ld;
  cudaError_t    err;

  if (!A.n) return cudaSuccess;
  tol = PetscMax(tol, DBL_MIN);
  err = cudaFuncSetAttribute((const void *)PolderSweepRowKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)TILES_BYTES);
  if (!err) err = cudaFuncSetAttribute((const void *)PolderSweepUpdateKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)TILES_BYTES);
  if (err) return err;
  PolderLaunchEarly(PolderSweepFirstKernel, 1, SWEEP_BLOCK, stream, ld, A.n, tol, A.a, scale, pivot, info);
  for (PetscInt K = 0; K < nb; ++K) {
    PetscScalar *now = pivot + (K % 2) * (size_t)NB * NB, *next = pivot + ((K + 1) % 2) * (size_t)NB * NB;

    PolderLaunchShared(true, TILES_BYTES, PolderSweepRowKernel, nb, SWEEP_BLOCK, stream, ld, K, A.a, now, C, R);
    PolderLaunchShared(true, TILES_BYTES, PolderSweepUpdateKernel, nb * (nb + 1) / 2, SWEEP_BLOCK, stream, SweepStep{ld, A.n, K, tol}, A.a, C, R, now, next,
                       scale, info);
  }
  PolderLaunchEarly(PolderSweepFinishKernel, dim3(ld / 32, ld / 32), dim3(32, 8), stream, A.n, ld, scale, A.a);
  return cudaGetLastError();
}

POLDER_MODULE(CoarseInverse)
