/* The dense coarse matrix E of a deflation space: scaling, condition and residual. Matrices are n by n in ld by ld arrays, ld a multiple of POLDER_SWEEP. */
#include "launch.cuh"
#include "kernels/coarse.h"
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <petscdevice_cuda.h>

static __global__ void PolderCoarseDenseKernel(PetscInt d, PetscInt ld, const PetscInt *n, const PetscInt64 *__restrict__ key,
                                               const PetscScalar *__restrict__ val, PetscScalar *__restrict__ E)
{
  for (PetscInt k = (PetscInt)(blockIdx.x * blockDim.x + threadIdx.x); k < *n; k += (PetscInt)(gridDim.x * blockDim.x)) {
    if (key[k] < (PetscInt64)d * d) E[(size_t)(key[k] / d) * ld + (size_t)(key[k] % d)] = val[k];
  }
}

int PolderCoarseDense_CUDA(const PetscInt *n, const PetscInt64 key[], const PetscScalar val[], PolderDense E, PolderStream stream)
{
  if (E.n) PolderCoarseDenseKernel<<<512, POLDER_BLOCK, 0, stream>>>(E.n, E.ld, n, key, val, E.a);
  return cudaGetLastError();
}

/* The maximum over a warp or a block of 1024 threads, in all of them */
static __device__ __forceinline__ double PolderWarpLargest(double v)
{
  for (int o = 16; o > 0; o >>= 1) v = fmax(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}

static __device__ __forceinline__ double PolderBlockLargest(double v)
{
  __shared__ double most[32];

  v = PolderWarpLargest(v);
  if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = v;
  __syncthreads();
  v = PolderWarpLargest(most[threadIdx.x % 32]);
  __syncthreads();
  return v;
}

/* One block of 1024 threads: which columns are left out, and the scale of the others */
static __global__ void __launch_bounds__(1024) PolderCoarseScaleKernel(PetscInt d, PetscInt ld, PetscReal zero, PetscBool nullspace,
                                                                       const PetscScalar *__restrict__ E, PetscScalar *scale, PetscScalar *info)
{
  double dmax = 0, nzero = 0;

  for (PetscInt i = threadIdx.x; i < d; i += 1024) dmax = fmax(dmax, E[(size_t)i * ld + i]);
  dmax = PolderBlockLargest(dmax);
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

/* A pair of mirrored 32 x 32 tiles: E <- (E + E^T)/2, S = D E D, with the identity in the rows of padding */
static __global__ void PolderCoarseSymmetriseKernel(PetscInt d, PetscInt ld, PetscScalar *E, const PetscScalar *__restrict__ scale, PetscScalar *S,
                                                    PetscScalar *info)
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

int PolderCoarseScale_CUDA(PolderDense E, PetscReal zero, PetscBool nullspace, PetscScalar scale[], PetscScalar S[], PetscScalar info[], PolderStream stream)
{
  if (!E.n) return cudaSuccess;
  PolderCoarseScaleKernel<<<1, 1024, 0, stream>>>(E.n, E.ld, zero, nullspace, E.a, scale, info);
  PolderCoarseSymmetriseKernel<<<dim3(E.ld / 32, E.ld / 32), dim3(32, 8), 0, stream>>>(E.n, E.ld, E.a, scale, S, info);
  return cudaGetLastError();
}

/* A warp computes a row */
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderDenseMultKernel(PetscInt n, PetscInt ld, PetscScalar alpha, const PetscScalar *__restrict__ A,
                                                                             const PetscScalar *x, const PetscScalar *y, PetscScalar *z)
{
  const PetscInt i = (PetscInt)(blockIdx.x * (POLDER_BLOCK / 32) + threadIdx.x / 32);

  PolderRelease();
  if (i >= n) return;
  const double sum = PolderDenseRow(n, A + (size_t)i * ld, x, [] { PolderAwait(); });

  if (threadIdx.x % 32 == 0) z[i] = (y ? y[i] : 0) + alpha * sum;
}

int PolderDenseMult_CUDA(PolderDense A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PetscBool early, PolderStream stream)
{
  if (A.n) PolderLaunchKernel(early, PolderDenseMultKernel, PolderBlocks(A.n, POLDER_BLOCK / 32), POLDER_BLOCK, stream, A.n, A.ld, alpha, A.a, x, y, z);
  return cudaGetLastError();
}

static __device__ __host__ inline double PolderTestValue(PetscInt i)
{
  return sin((double)(1 + i) * 12.9898);
}

/* b = the test vector in the scaled system; a warp for each row sums |S| and |S^-1| */
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseNormsKernel(PetscInt d, PetscInt ld, const PetscScalar *__restrict__ E, const PetscScalar *__restrict__ X, const PetscScalar *__restrict__ scale,
                          PetscScalar *b, PetscScalar *norms)
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

int PolderCoarseNorms_CUDA(PolderDense E, const PetscScalar X[], const PetscScalar scale[], PetscScalar b[], PetscScalar norms[], PolderStream stream)
{
  if (E.n) PolderCoarseNormsKernel<<<PolderBlocks(E.n, POLDER_BLOCK / 32), POLDER_BLOCK, 0, stream>>>(E.n, E.ld, E.a, X, scale, b, norms);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(1024)
  PolderCoarseAssessKernel(PetscInt d, const PetscScalar *__restrict__ scale, const PetscScalar *__restrict__ norms, const PetscScalar *__restrict__ b,
                           const PetscScalar *__restrict__ y, PetscScalar *info)
{
  double s = 0, x = 0, rr = 0, bb = 0;

  for (PetscInt i = threadIdx.x; i < d; i += 1024) {
    s = fmax(s, norms[i]);
    x = fmax(x, norms[d + i]);
    if (scale[i] == 0) continue;
    rr += scale[i] * (b[i] - y[i]) * scale[i] * (b[i] - y[i]);
    bb += scale[i] * b[i] * scale[i] * b[i];
  }
  rr = PolderBlockSum<1024>(rr);
  bb = PolderBlockSum<1024>(bb);
  s  = PolderBlockLargest(s);
  x  = PolderBlockLargest(x);
  if (threadIdx.x) return;
  info[POLDER_COARSE_COND]  = s * x;
  info[POLDER_COARSE_RESID] = bb > 0 ? sqrt(rr / bb) : 0;
}

int PolderCoarseAssess_CUDA(PetscInt d, const PetscScalar scale[], const PetscScalar norms[], const PetscScalar b[], const PetscScalar y[], PetscScalar info[],
                            PolderStream stream)
{
  if (d) PolderCoarseAssessKernel<<<1, 1024, 0, stream>>>(d, scale, norms, b, y, info);
  return cudaGetLastError();
}

/* L <- D E D with rows of the identity where a column is left out */
static __global__ void PolderCoarseIdentityKernel(PetscInt d, PetscInt ld, const PetscScalar *__restrict__ E, const PetscScalar *__restrict__ scale,
                                                  PetscScalar *L)
{
  const PetscInt j = (PetscInt)(blockIdx.x * blockDim.x + threadIdx.x), i = blockIdx.y;

  if (j < d) L[(size_t)i * ld + j] = scale[i] * scale[j] != 0 ? E[(size_t)i * ld + j] * scale[i] * scale[j] : i == j;
}

int PolderCoarseIdentity_CUDA(PolderDense E, const PetscScalar scale[], PetscScalar L[], PolderStream stream)
{
  if (E.n) PolderCoarseIdentityKernel<<<dim3(PolderBlocks(E.n, 128), E.n), 128, 0, stream>>>(E.n, E.ld, E.a, scale, L);
  return cudaGetLastError();
}

static __global__ void PolderPointwiseMultKernel(PetscInt n, const PetscScalar *x, const PetscScalar *y, PetscScalar *z)
{
  PolderBegin();
  const PetscInt i = (PetscInt)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < n) z[i] = x[i] * y[i];
}

int PolderPointwiseMult_CUDA(PetscInt n, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderStream stream)
{
  if (n) PolderLaunchEarly(PolderPointwiseMultKernel, PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, stream, n, x, y, z);
  return cudaGetLastError();
}

size_t PolderCholeskyFactorWork_CUDA(PetscInt n, PetscInt ld)
{
  cusolverDnHandle_t handle;
  int                size = 0;

  if (PetscCUSOLVERDnGetHandle(&handle) || cusolverDnDpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, n, NULL, ld, &size)) return 0;
  return sizeof(int) * 2 + sizeof(PetscScalar) * (size_t)size;
}

int PolderCholeskyFactor_CUDA(PolderDense A, size_t bytes, void *work, PolderStream stream)
{
  cusolverDnHandle_t handle;

  if (!A.n) return cudaSuccess;
  if (PetscCUSOLVERDnGetHandle(&handle) || cusolverDnSetStream(handle, stream)) return cudaErrorUnknown;
  return cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, A.n, A.a, A.ld, (PetscScalar *)work + 1, (int)((bytes - sizeof(PetscScalar)) / sizeof(PetscScalar)),
                          (int *)work)
         ? cudaErrorUnknown
         : cudaSuccess;
}

int PolderCholeskySolve_CUDA(PolderDense L, PetscScalar x[], PolderStream stream)
{
  cublasHandle_t handle;

  if (!L.n) return cudaSuccess;
  if (PetscCUBLASGetHandle(&handle) || cublasSetStream(handle, stream)) return cudaErrorUnknown;
  if (cublasDtrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, L.n, L.a, L.ld, x, 1)) return cudaErrorUnknown;
  return cublasDtrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, L.n, L.a, L.ld, x, 1) ? cudaErrorUnknown : cudaSuccess;
}
