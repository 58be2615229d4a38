/*
  The dense coarse matrix E of a deflation space and its inverse: scaling, a blocked symmetric sweep (Gauss-Jordan without pivoting, which positive
  definite matrices allow), condition and residual. Matrices are n by n in ld by ld arrays, ld a multiple of POLDER_SWEEP.
*/
#include "launch.cuh"
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <petscdevice_cuda.h>

static const int NB = POLDER_SWEEP;
/* a tile is held by 16 x 16 threads: thread (x, y) has its entries (y + 16 q, x + 16 c) */
typedef double Tile[NB / 16][NB / 16];

static __global__ void PolderCoarseDenseKernel(PetscInt d, PetscInt ld, const PetscInt *n, const PetscInt64 *__restrict__ key, const PetscScalar *__restrict__ val, PetscScalar *__restrict__ E)
{
  for (PetscInt k = (PetscInt)(blockIdx.x * blockDim.x + threadIdx.x); k < *n; k += (PetscInt)(gridDim.x * blockDim.x)) {
    if (key[k] < (PetscInt64)d * d) E[(size_t)(key[k] / d) * ld + (size_t)(key[k] % d)] = val[k];
  }
}

int PolderCoarseDense_CUDA(PetscInt d, PetscInt ld, const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PetscScalar E[], PolderStream stream)
{
  if (d) PolderCoarseDenseKernel<<<512, POLDER_BLOCK, 0, stream>>>(d, ld, n, key, val, E);
  return cudaGetLastError();
}

/* One block of 1024 threads: which columns are left out, and the scale of the others */
static __global__ void __launch_bounds__(1024) PolderCoarseScaleKernel(PetscInt d, PetscInt ld, PetscReal zero, PetscBool nullspace, const PetscScalar *__restrict__ E, PetscScalar *scale, PetscScalar *info)
{
  __shared__ double most[32];
  double            dmax = 0, nzero = 0;

  for (PetscInt i = threadIdx.x; i < d; i += 1024) dmax = fmax(dmax, E[(size_t)i * ld + i]);
  for (int o = 16; o > 0; o >>= 1) dmax = fmax(dmax, __shfl_xor_sync(0xffffffffu, dmax, o));
  if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = dmax;
  __syncthreads();
  for (int k = 0; k < 32; ++k) dmax = fmax(dmax, most[k]);
  for (PetscInt i = threadIdx.x; i < d; i += 1024) {
    const double diag = E[(size_t)i * ld + i];
    const bool   drop = diag <= zero * dmax, last = nullspace && i == d - 1;

    scale[i] = drop || last ? 0 : 1 / sqrt(diag);
    nzero += drop;
    if (last) info[POLDER_COARSE_NNULL] = !drop;
  }
  nzero = PolderBlockSum<1024>(nzero);
  if (threadIdx.x == 0) {
    info[POLDER_COARSE_NZERO] = nzero;
    info[POLDER_COARSE_NDEP] = info[POLDER_COARSE_BAD] = 0;
    if (!nullspace) info[POLDER_COARSE_NNULL] = 0;
  }
}

/* A pair of 32 x 32 tiles that mirror each other: E <- (E + E^T)/2, S = D E D with the identity in the rows that only fill the array */
static __global__ void PolderCoarseSymmetriseKernel(PetscInt d, PetscInt ld, PetscScalar *E, const PetscScalar *__restrict__ scale, PetscScalar *S, PetscScalar *info)
{
  __shared__ double upper[32][33], lower[32][33];
  const PetscInt    bi = blockIdx.y, bj = blockIdx.x, x = threadIdx.x;
  bool              bad = false;

  if (bj < bi) return;
  for (PetscInt y = threadIdx.y; y < 32; y += 8) {
    upper[y][x] = E[(size_t)(32 * bi + y) * ld + 32 * bj + x];
    lower[y][x] = E[(size_t)(32 * bj + y) * ld + 32 * bi + x];
  }
  __syncthreads();
  for (PetscInt y = threadIdx.y; y < 32; y += 8) {
    const PetscInt iu = 32 * bi + y, ju = 32 * bj + x, il = 32 * bj + y, jl = 32 * bi + x;
    const double   u = 0.5 * (upper[y][x] + lower[x][y]), l = 0.5 * (upper[x][y] + lower[y][x]);

    bad                     = bad || !isfinite(u);
    E[(size_t)iu * ld + ju] = u;
    E[(size_t)il * ld + jl] = l;
    S[(size_t)iu * ld + ju] = iu < d && ju < d ? u * scale[iu] * scale[ju] : iu == ju;
    S[(size_t)il * ld + jl] = il < d && jl < d ? l * scale[il] * scale[jl] : il == jl;
  }
  if (bad) info[POLDER_COARSE_BAD] = 1;
}

int PolderCoarseScale_CUDA(PetscInt d, PetscInt ld, PetscReal zero, PetscBool nullspace, PetscScalar E[], PetscScalar scale[], PetscScalar S[], PetscScalar info[], PolderStream stream)
{
  if (!d) return cudaSuccess;
  PolderCoarseScaleKernel<<<1, 1024, 0, stream>>>(d, ld, zero, nullspace, E, scale, info);
  PolderCoarseSymmetriseKernel<<<dim3(ld / 32, ld / 32), dim3(32, 8), 0, stream>>>(d, ld, E, scale, S, info);
  return cudaGetLastError();
}

/*
  Sweeps a tile on all its pivots: minus its inverse. A pivot that falls to tol or below makes its row and column zero; where it had not been left out
  before (scale), it is now, and counted.
*/
static __device__ __forceinline__ void PolderSweepTile(Tile &a, PetscInt row0, PetscInt d, PetscReal tol, PetscScalar *scale, PetscScalar *info)
{
  __shared__ double row[2][NB];
  const int         x = threadIdx.x % 16, y = threadIdx.x / 16;

#pragma unroll
  for (int r = 0; r < NB / 16; ++r) {
    for (int kk = 0; kk < 16; ++kk) {
      const int k   = 16 * r + kk;
      double   *now = row[k % 2], inv, pivot;

      if (y == kk)
#pragma unroll
        for (int c = 0; c < NB / 16; ++c) now[x + 16 * c] = a[r][c];
      __syncthreads();
      pivot = now[k];
      inv   = pivot > tol ? 1 / pivot : 0;
      if (threadIdx.x == 0 && !(pivot > tol) && row0 + k < d && scale[row0 + k] != 0) {
        scale[row0 + k] = 0;
        info[POLDER_COARSE_NDEP] += 1;
      }
#pragma unroll
      for (int q = 0; q < NB / 16; ++q) {
        const double left = now[y + 16 * q];

#pragma unroll
        for (int c = 0; c < NB / 16; ++c) {
          const double right = now[x + 16 * c] * inv;
          const bool   ik = q == r && y == kk, jk = c == r && x == kk;

          a[q][c] = ik ? (jk ? -inv : right) : (jk ? left * inv : a[q][c] - left * right);
        }
      }
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

/* a += alpha L^T R with L and R tiles whose rows are ld apart */
static __device__ __forceinline__ void PolderTileMultAdd(Tile &a, double alpha, PetscInt ldl, const PetscScalar *L, PetscInt ldr, const PetscScalar *R)
{
  __shared__ double l[32][NB], r[32][NB];
  const int         x = threadIdx.x % 16, y = threadIdx.x / 16;

  for (int half = 0; half < NB; half += 32) {
    __syncthreads();
    for (int t = threadIdx.x; t < 32 * NB; t += 256) {
      l[t / NB][t % NB] = alpha * L[(size_t)(half + t / NB) * ldl + t % NB];
      r[t / NB][t % NB] = R[(size_t)(half + t / NB) * ldr + t % NB];
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 32; ++k) {
      double left[NB / 16], right[NB / 16];

#pragma unroll
      for (int q = 0; q < NB / 16; ++q) {
        left[q]  = l[k][y + 16 * q];
        right[q] = r[k][x + 16 * q];
      }
#pragma unroll
      for (int q = 0; q < NB / 16; ++q)
#pragma unroll
        for (int c = 0; c < NB / 16; ++c) a[q][c] += left[q] * right[c];
    }
  }
}

static __global__ void __launch_bounds__(256) PolderSweepFirstKernel(PetscInt ld, PetscInt d, PetscReal tol, const PetscScalar *__restrict__ A, PetscScalar *scale, PetscScalar *pivot, PetscScalar *info)
{
  Tile a;

  PolderTileLoad(a, ld, A);
  PolderSweepTile(a, 0, d, tol, scale, info);
  PolderTileStore(a, NB, pivot);
}

/* Block row K of A as it is (C), and times the inverse of the pivot block (R); only the lower triangle of tiles is kept up to date */
static __global__ void __launch_bounds__(256) PolderSweepRowKernel(PetscInt ld, PetscInt K, const PetscScalar *__restrict__ A, const PetscScalar *__restrict__ pivot, PetscScalar *C, PetscScalar *R)
{
  const PetscInt J = blockIdx.x;
  const int      x = threadIdx.x % NB;
  Tile           a = {{0}};

  if (J == K) return;
  if (J < K) {
    for (int y = threadIdx.x / NB; y < NB; y += 256 / NB) C[(size_t)y * ld + J * NB + x] = A[(size_t)(K * NB + y) * ld + J * NB + x];
  } else {
    __shared__ double t[16][NB + 1];

    for (int part = 0; part < NB; part += 16) {
      __syncthreads();
      for (int y = threadIdx.x / NB; y < 16; y += 256 / NB) t[y][x] = A[(size_t)(J * NB + part + y) * ld + K * NB + x];
      __syncthreads();
      for (int k = threadIdx.x; k < 16 * NB; k += 256) C[(size_t)(k / 16) * ld + J * NB + part + k % 16] = t[k % 16][k / 16];
    }
  }
  __syncthreads(); // this block wrote what it now reads
  PolderTileMultAdd(a, -1, NB, pivot, ld, C + J * NB);
  PolderTileStore(a, ld, R + J * NB);
}

/* Tiles of the lower triangle: the sweep on block K; the block of the next pivots is swept at once */
static __global__ void __launch_bounds__(256) PolderSweepUpdateKernel(PetscInt ld, PetscInt d, PetscInt K, PetscReal tol, PetscScalar *A, const PetscScalar *__restrict__ C, const PetscScalar *__restrict__ R, const PetscScalar *__restrict__ pivot, PetscScalar *next, PetscScalar *scale, PetscScalar *info)
{
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  PetscInt  t = blockIdx.x, I, J;
  Tile      a;

  if (K + 1 < ld / NB) { // the longest work first
    const PetscInt first = (K + 1) * (K + 2) / 2 + K + 1;

    t = t == 0 ? first : (t == first ? 0 : t);
  }
  I = (PetscInt)((sqrtf(8.0f * (float)t + 1.0f) - 1.0f) * 0.5f);
  while ((I + 1) * (I + 2) / 2 <= t) ++I;
  while (I * (I + 1) / 2 > t) --I;
  J = t - I * (I + 1) / 2;
  if (I == K && J == K) PolderTileLoad(a, NB, pivot);
  else if (I == K) PolderTileLoad(a, ld, R + J * NB);
  else if (J == K) {
    for (int q = 0; q < NB / 16; ++q)
      for (int c = 0; c < NB / 16; ++c) a[q][c] = R[(size_t)(x + 16 * c) * ld + I * NB + y + 16 * q];
  } else {
    PolderTileLoad(a, ld, A + (size_t)(I * NB) * ld + J * NB);
    PolderTileMultAdd(a, -1, ld, C + I * NB, ld, R + J * NB);
  }
  PolderTileStore(a, ld, A + (size_t)(I * NB) * ld + J * NB);
  if (I == K + 1 && J == K + 1) {
    PolderSweepTile(a, I * NB, d, tol, scale, info);
    PolderTileStore(a, NB, next);
  }
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

int PolderCoarseInvert_CUDA(PetscInt d, PetscInt ld, PetscReal tol, PetscScalar A[], PetscScalar scale[], PetscScalar info[], void *work, PolderStream stream)
{
  const PetscInt nb    = ld / NB;
  PetscScalar   *pivot = (PetscScalar *)work, *C = pivot + 2 * (size_t)NB * NB, *R = C + (size_t)NB * ld;

  if (!d) return cudaSuccess;
  PolderSweepFirstKernel<<<1, 256, 0, stream>>>(ld, d, tol, A, scale, pivot, info);
  for (PetscInt K = 0; K < nb; ++K) {
    PetscScalar *now = pivot + (K % 2) * (size_t)NB * NB, *next = pivot + ((K + 1) % 2) * (size_t)NB * NB;

    PolderSweepRowKernel<<<nb, 256, 0, stream>>>(ld, K, A, now, C, R);
    PolderSweepUpdateKernel<<<nb *(nb + 1) / 2, 256, 0, stream>>>(ld, d, K, tol, A, C, R, now, next, scale, info);
  }
  PolderSweepFinishKernel<<<dim3(ld / 32, ld / 32), dim3(32, 8), 0, stream>>>(d, ld, scale, A);
  return cudaGetLastError();
}

/* A warp a row */
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderDenseMultKernel(PetscInt n, PetscInt ld, PetscScalar alpha, const PetscScalar *__restrict__ A, const PetscScalar *x, const PetscScalar *y, PetscScalar *z)
{
  const PetscInt i = (PetscInt)(blockIdx.x * (POLDER_BLOCK / 32) + threadIdx.x / 32);

  PolderRelease();
  if (i >= n) return;
  const double sum = PolderDenseRow(n, A + (size_t)i * ld, x, [] { PolderAwait(); });

  if (threadIdx.x % 32 == 0) z[i] = (y ? y[i] : 0) + alpha * sum;
}

int PolderDenseMult_CUDA(PetscInt n, PetscInt ld, PetscScalar alpha, const PetscScalar A[], const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscBool early, PolderStream stream)
{
  if (n) PolderLaunchKernel(early, PolderDenseMultKernel, PolderBlocks(n, POLDER_BLOCK / 32), POLDER_BLOCK, stream, n, ld, alpha, A, x, y, z);
  return cudaGetLastError();
}

static __device__ __host__ inline double PolderTestValue(PetscInt i)
{
  return sin((double)(1 + i) * 12.9898);
}

/* b = the test vector in the scaled system: a warp a row also adds up |S| and |S^-1| */
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderCoarseNormsKernel(PetscInt d, PetscInt ld, const PetscScalar *__restrict__ E, const PetscScalar *__restrict__ X, const PetscScalar *__restrict__ scale, PetscScalar *b, PetscScalar *norms)
{
  const PetscInt i    = (PetscInt)(blockIdx.x * (POLDER_BLOCK / 32) + threadIdx.x / 32);
  const int      lane = threadIdx.x % 32;
  double         s = 0, x = 0;

  if (i >= d) return;
  for (PetscInt j = lane; j < d; j += 32) {
    if (scale[j] == 0) continue;
    s += fabs(E[(size_t)i * ld + j]) * scale[j];
    x += fabs(X[(size_t)i * ld + j]) / scale[j];
  }
  for (int o = 16; o > 0; o >>= 1) {
    s += __shfl_down_sync(0xffffffffu, s, o);
    x += __shfl_down_sync(0xffffffffu, x, o);
  }
  if (lane) return;
  norms[i]     = scale[i] * s;
  norms[d + i] = scale[i] != 0 ? x / scale[i] : 0;
  b[i]         = scale[i] != 0 ? PolderTestValue(i) / scale[i] : 0;
}

int PolderCoarseNorms_CUDA(PetscInt d, PetscInt ld, const PetscScalar E[], const PetscScalar X[], const PetscScalar scale[], PetscScalar b[], PetscScalar norms[], PolderStream stream)
{
  if (d) PolderCoarseNormsKernel<<<PolderBlocks(d, POLDER_BLOCK / 32), POLDER_BLOCK, 0, stream>>>(d, ld, E, X, scale, b, norms);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(1024) PolderCoarseAssessKernel(PetscInt d, const PetscScalar *__restrict__ scale, const PetscScalar *__restrict__ norms, const PetscScalar *__restrict__ b, const PetscScalar *__restrict__ y, PetscScalar *info)
{
  __shared__ double most[2][32];
  double            s = 0, x = 0, rr = 0, bb = 0;

  for (PetscInt i = threadIdx.x; i < d; i += 1024) {
    s = fmax(s, norms[i]);
    x = fmax(x, norms[d + i]);
    if (scale[i] == 0) continue;
    rr += scale[i] * (b[i] - y[i]) * scale[i] * (b[i] - y[i]);
    bb += scale[i] * b[i] * scale[i] * b[i];
  }
  rr = PolderBlockSum<1024>(rr);
  bb = PolderBlockSum<1024>(bb);
  for (int o = 16; o > 0; o >>= 1) {
    s = fmax(s, __shfl_down_sync(0xffffffffu, s, o));
    x = fmax(x, __shfl_down_sync(0xffffffffu, x, o));
  }
  if (threadIdx.x % 32 == 0) {
    most[0][threadIdx.x / 32] = s;
    most[1][threadIdx.x / 32] = x;
  }
  __syncthreads();
  if (threadIdx.x) return;
  for (int k = 0; k < 32; ++k) {
    s = fmax(s, most[0][k]);
    x = fmax(x, most[1][k]);
  }
  info[POLDER_COARSE_COND]  = s * x;
  info[POLDER_COARSE_RESID] = bb > 0 ? sqrt(rr / bb) : 0;
}

int PolderCoarseAssess_CUDA(PetscInt d, const PetscScalar scale[], const PetscScalar norms[], const PetscScalar b[], const PetscScalar y[], PetscScalar info[], PolderStream stream)
{
  if (d) PolderCoarseAssessKernel<<<1, 1024, 0, stream>>>(d, scale, norms, b, y, info);
  return cudaGetLastError();
}

/* L <- D E D with rows of the identity where a column is left out */
static __global__ void PolderCoarseIdentityKernel(PetscInt d, PetscInt ld, const PetscScalar *__restrict__ E, const PetscScalar *__restrict__ scale, PetscScalar *L)
{
  const PetscInt j = (PetscInt)(blockIdx.x * blockDim.x + threadIdx.x), i = blockIdx.y;

  if (j < d) L[(size_t)i * ld + j] = scale[i] * scale[j] != 0 ? E[(size_t)i * ld + j] * scale[i] * scale[j] : i == j;
}

int PolderCoarseIdentity_CUDA(PetscInt d, PetscInt ld, const PetscScalar E[], const PetscScalar scale[], PetscScalar L[], PolderStream stream)
{
  if (d) PolderCoarseIdentityKernel<<<dim3(PolderBlocks(d, 128), d), 128, 0, stream>>>(d, ld, E, scale, L);
  return cudaGetLastError();
}

static __global__ void PolderPointwiseMultKernel(PetscInt n, const PetscScalar *x, const PetscScalar *y, PetscScalar *z)
{
  const PetscInt i = (PetscInt)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < n) z[i] = x[i] * y[i];
}

int PolderPointwiseMult_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderStream stream)
{
  if (n) PolderPointwiseMultKernel<<<PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, x, y, z);
  return cudaGetLastError();
}

size_t PolderCholeskyFactorWork_CUDA(PetscInt n, PetscInt ld)
{
  cusolverDnHandle_t handle;
  int                size = 0;

  if (PetscCUSOLVERDnGetHandle(&handle) || cusolverDnDpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, n, NULL, ld, &size)) return 0;
  return sizeof(int) * 2 + sizeof(PetscScalar) * (size_t)size;
}

int PolderCholeskyFactor_CUDA(PetscInt n, PetscInt ld, PetscScalar A[], size_t bytes, void *work, PolderStream stream)
{
  cusolverDnHandle_t handle;

  if (!n) return cudaSuccess;
  if (PetscCUSOLVERDnGetHandle(&handle) || cusolverDnSetStream(handle, stream)) return cudaErrorUnknown;
  return cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, n, A, ld, (PetscScalar *)work + 1, (int)((bytes - sizeof(PetscScalar)) / sizeof(PetscScalar)), (int *)work) ? cudaErrorUnknown : cudaSuccess;
}

int PolderCholeskySolve_CUDA(PetscInt n, PetscInt ld, const PetscScalar L[], PetscScalar x[], PolderStream stream)
{
  cublasHandle_t handle;

  if (!n) return cudaSuccess;
  if (PetscCUBLASGetHandle(&handle) || cublasSetStream(handle, stream)) return cudaErrorUnknown;
  if (cublasDtrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, L, ld, x, 1)) return cudaErrorUnknown;
  return cublasDtrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n, L, ld, x, 1) ? cudaErrorUnknown : cudaSuccess;
}
