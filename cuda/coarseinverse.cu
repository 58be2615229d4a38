/*
  The inverse of a dense symmetric matrix by a blocked sweep (Gauss-Jordan without pivoting, which suffices for positive definite matrices) over tiles of NB x
  NB; only the lower triangle is updated. Tensor cores multiply tiles where they support double precision.
*/
#include "tiles.cuh"
#include "kernels/coarse.h"
#include <cuda_pipeline.h>

static const int NB = POLDER_SWEEP, SWEEP_BLOCK = 256;
/* Pipeline stages of a tile, and rows loaded in each stage */
static const int STAGES = 4, STAGE = NB / STAGES;
/* Shared memory for two tiles */
static const size_t TILES_BYTES = sizeof(double) * 2 * NB * NB;

/* A tile by 16 x 16 threads: thread (x, y) has its entries (y + 16 q, x + 16 c) */
typedef double Tile[NB / 16][NB / 16];

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

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
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
#endif

/* p += L^T R for the rows of one stage of both tiles */
static __device__ __forceinline__ void PolderTileMultAdd(Product &p, const double *l, const double *r, int stage)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
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
#else
  #pragma unroll 4
  for (int k = stage * STAGE; k < (stage + 1) * STAGE; ++k) {
    double left[2][2], right[2][2];

  #pragma unroll
    for (int v = 0; v < 4; ++v) {
      left[v / 2][v % 2]  = l[TilePlace(k, ProductRow(v / 2, v % 2))];
      right[v / 2][v % 2] = r[TilePlace(k, ProductColumn(v / 2) + v % 2)];
    }
  #pragma unroll
    for (int v = 0; v < 16; ++v) p[v / 8][v / 4 % 2][v % 4] += left[v / 8][v % 4 / 2] * right[v / 4 % 2][v % 2];
  }
#endif
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

/* The owning threads write row k of a tile, and the diagonal entry after its own, to shared memory; block: which half of the rows */
static __device__ __forceinline__ void PolderSweepTell(const Tile &a, int block, int k, double *row, double *after)
{
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;

#pragma unroll
  for (int q = 0; q < NB / 16; ++q) {
    if (q != block && q != block + 1) continue;
    if (y + 16 * q == k)
#pragma unroll
      for (int c = 0; c < NB / 16; ++c) row[x + 16 * c] = a[q][c];
    if (y + 16 * q == k + 1 && x == y) *after = a[q][q];
  }
}

/*
  Sweeps a tile on all its pivots, which gives minus its inverse. A pivot of at most tol makes its row and column zero; if the column was in use (scale), it
  is now left out and counted. The next row of the tile and its pivot are updated first.
*/
static __device__ __forceinline__ void PolderSweepTile(Tile &a, double (&row)[2][NB], double (&after)[2], PetscInt row0, PetscInt d, PetscReal tol,
                                                       PetscScalar *scale, PetscScalar *info)
{
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  double    pivot, inv;

  PolderSweepTell(a, 0, 0, row[0], &after[0]);
  __syncthreads();
  pivot = row[0][0];
  inv   = pivot > tol ? 1 / pivot : 0;
#pragma unroll
  for (int r = 0; r < NB / 16; ++r) {
    for (int kk = 0; kk < 16; ++kk) {
      const int     k    = 16 * r + kk;
      const double *now  = row[k % 2];
      const double  next = k + 1 < NB ? now[k + 1] : 0, diagonal = after[k % 2], then = k + 1 < NB ? diagonal - next * (next * inv) : 1;
      double        left[NB / 16], right[NB / 16];

      if (threadIdx.x == 0 && !(pivot > tol) && row0 + k < d && scale[row0 + k] != 0) {
        scale[row0 + k] = 0;
        info[POLDER_COARSE_NDEP] += 1;
      }
#pragma unroll
      for (int q = 0; q < NB / 16; ++q) {
        left[q]  = now[y + 16 * q];
        right[q] = now[x + 16 * q] * inv;
      }
      if (y == kk) {
        left[r] = -1;
#pragma unroll
        for (int c = 0; c < NB / 16; ++c) a[r][c] = 0;
      }
      if (x == kk) {
        right[r] = -inv;
#pragma unroll
        for (int q = 0; q < NB / 16; ++q) a[q][r] = 0;
      }
#pragma unroll
      for (int i = 0; i < NB / 16; ++i) {
        const int q = (r + i) % (NB / 16);

#pragma unroll
        for (int c = 0; c < NB / 16; ++c) a[q][c] -= left[q] * right[c];
        if (i == 1) PolderSweepTell(a, r, k + 1, row[(k + 1) % 2], &after[(k + 1) % 2]);
      }
      pivot = then;
      inv   = pivot > tol ? 1 / pivot : 0;
      __syncthreads();
    }
  }
}

static __device__ __forceinline__ void PolderTileStore(const Tile &a, PetscInt ld, PetscScalar *A)
{
#pragma unroll
  for (int q = 0; q < NB / 16; ++q)
#pragma unroll
    for (int c = 0; c < NB / 16; ++c) A[(size_t)(threadIdx.x / 16 + 16 * q) * ld + threadIdx.x % 16 + 16 * c] = a[q][c];
}

static __device__ __forceinline__ void PolderTileLoad(Tile &a, PetscInt ld, const PetscScalar *A)
{
#pragma unroll
  for (int q = 0; q < NB / 16; ++q)
#pragma unroll
    for (int c = 0; c < NB / 16; ++c) a[q][c] = A[(size_t)(threadIdx.x / 16 + 16 * q) * ld + threadIdx.x % 16 + 16 * c];
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
  __shared__ double row[2][NB], after[2];
  Tile              a;

  PolderTileLoad(a, ld, A);
  PolderSweepTile(a, row, after, 0, d, tol, scale, info);
  PolderTileStore(a, NB, pivot);
}

/* Saves block row K of A (C), and its product with the inverse of the pivot block (R) */
static __global__ void __launch_bounds__(SWEEP_BLOCK)
  PolderSweepRowKernel(PetscInt ld, PetscInt K, const PetscScalar *__restrict__ A, const PetscScalar *__restrict__ pivot, PetscScalar *__restrict__ C,
                       PetscScalar *__restrict__ R)
{
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
    Tile a;

    __syncthreads();
    PolderProductStore(p, NB, l);
    __syncthreads();
    PolderTileLoad(a, NB, l);
    PolderSweepTile(a, *(double(*)[2][NB])r, *(double(*)[2])(r + 2 * NB), I * NB, step.d, step.tol, scale, info);
    PolderTileStore(a, NB, next);
  } else PolderProductStore(p, ld, to);
}

/* Both triangles of X = D (-A) D from the lower one of A, in place */
static __global__ void PolderSweepFinishKernel(PetscInt d, PetscInt ld, const PetscScalar *__restrict__ scale, PetscScalar *A)
{
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
  err = cudaFuncSetAttribute((const void *)PolderSweepRowKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)TILES_BYTES);
  if (!err) err = cudaFuncSetAttribute((const void *)PolderSweepUpdateKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)TILES_BYTES);
  if (err) return err;
  PolderSweepFirstKernel<<<1, SWEEP_BLOCK, 0, stream>>>(ld, A.n, tol, A.a, scale, pivot, info);
  for (PetscInt K = 0; K < nb; ++K) {
    PetscScalar *now = pivot + (K % 2) * (size_t)NB * NB, *next = pivot + ((K + 1) % 2) * (size_t)NB * NB;

    PolderSweepRowKernel<<<nb, SWEEP_BLOCK, TILES_BYTES, stream>>>(ld, K, A.a, now, C, R);
    PolderSweepUpdateKernel<<<nb *(nb + 1) / 2, SWEEP_BLOCK, TILES_BYTES, stream>>>(SweepStep{ld, A.n, K, tol}, A.a, C, R, now, next, scale, info);
  }
  PolderSweepFinishKernel<<<dim3(ld / 32, ld / 32), dim3(32, 8), 0, stream>>>(A.n, ld, scale, A.a);
  return cudaGetLastError();
}
