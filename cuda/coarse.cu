/* The dense coarse matrix E of a deflation space: scaling, condition and residual. Matrices are n by n in ld by ld arrays, ld a multiple of POLDER_SWEEP. */
#include "foreach.cuh"
#include "module.cuh"
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

/* What is known when the scale is; NNULL is set where the last column is looked at */
static __device__ __forceinline__ void PolderCoarseBegin(double nzero, PetscBool nullspace, bool bad, PetscScalar *info)
{
  info[POLDER_COARSE_NZERO] = nzero;
  info[POLDER_COARSE_NDEP]  = 0;
  info[POLDER_COARSE_BAD]   = bad;
  if (!nullspace) info[POLDER_COARSE_NNULL] = 0;
}

/* One block of 1024 threads: which columns are left out, and the scale of the others */
static __global__ void __launch_bounds__(1024) PolderCoarseScaleKernel(PetscInt d, PetscInt ld, PetscReal zero, PetscBool nullspace,
                                                                       const PetscScalar *__restrict__ E, PetscScalar *scale, PetscScalar *info)
{
  PolderBegin();
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
  if (threadIdx.x == 0) PolderCoarseBegin(nzero, nullspace, false, info);
}

/* A pair of mirrored 32 x 32 tiles: E <- (E + E^T)/2, S = D E D, with the identity in the rows of padding */
static __global__ void PolderCoarseSymmetriseKernel(PetscInt d, PetscInt ld, PetscScalar *E, const PetscScalar *__restrict__ scale, PetscScalar *S,
                                                    PetscScalar *info)
{
  PolderBegin();
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
  PolderLaunchEarly(PolderCoarseScaleKernel, 1, 1024, stream, E.n, E.ld, zero, nullspace, E.a, scale, info);
  PolderLaunchEarly(PolderCoarseSymmetriseKernel, dim3(E.ld / 32, E.ld / 32), dim3(32, 8), stream, E.n, E.ld, E.a, scale, S, info);
  return cudaGetLastError();
}

/* rows[i] = max_j |E_ij|, infinity where an entry is not finite: a warp for each row */
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCoarseRowSizesKernel(PetscInt d, PetscInt ld, const PetscScalar *__restrict__ E, PetscScalar *__restrict__ rows)
{
  const PetscInt i    = (PetscInt)(blockIdx.x * (POLDER_BLOCK / 32) + threadIdx.x / 32);
  double         most = 0;

  if (i >= d) return;
  for (PetscInt j = threadIdx.x % 32; j < d; j += 32) {
    const double e = fabs(E[(size_t)i * ld + j]);

    most = isfinite(e) ? fmax(most, e) : INFINITY;
  }
  most = PolderWarpLargest(most);
  if (threadIdx.x % 32 == 0) rows[i] = most;
}

/*
  A block of 32 x 32 threads for 32 columns: cols[j] = max_i |E_ij|, or with rows 1 / max_i rows[i] |E_ij|, 0 in the columns left out. A column whose entries
  are all in rows left out has a pivot of zero for any scale
*/
static __global__ void __launch_bounds__(1024) PolderCoarseColumnSizesKernel(PetscInt d, PetscInt ld, const PetscScalar *__restrict__ E,
                                                                             const PetscScalar *__restrict__ rows, PetscScalar *__restrict__ cols)
{
  __shared__ double part[32][33];
  const PetscInt    from = 32 * (PetscInt)blockIdx.x + threadIdx.x, j = 32 * (PetscInt)blockIdx.x + threadIdx.y;
  double            most = 0;

  for (PetscInt i = threadIdx.y; i < d && from < d; i += 32) most = fmax(most, fabs(E[(size_t)i * ld + from]) * (rows ? rows[i] : 1));
  part[threadIdx.y][threadIdx.x] = most;
  __syncthreads();
  most = PolderWarpLargest(part[threadIdx.x][threadIdx.y]);
  if (threadIdx.x || j >= d) return;
  if (!rows) cols[j] = most;
  else cols[j] = rows[j] == 0 ? 0 : (most > 0 ? 1 / most : 1);
}

/* One block of 1024 threads: which columns are left out, and the scale of the rows of the others, from the sizes of both */
static __global__ void __launch_bounds__(1024)
  PolderCoarseRowScaleKernel(PetscInt d, PetscReal zero, PetscBool nullspace, PetscScalar *rows, const PetscScalar *__restrict__ cols, PetscScalar *info)
{
  double largest = 0, nzero = 0;

  for (PetscInt i = threadIdx.x; i < d; i += 1024) largest = fmax(largest, rows[i]);
  largest = PolderBlockLargest(largest);
  for (PetscInt i = threadIdx.x; i < d; i += 1024) {
    const double row = rows[i], col = cols[i];
    const bool   drop = row == 0 || col == 0 || fmax(row, col) <= zero * largest, last = nullspace && i == d - 1;

    rows[i] = drop || last ? 0 : 1 / row;
    nzero += drop;
    if (last) info[POLDER_COARSE_NNULL] = !drop;
  }
  nzero = PolderBlockSum<1024>(nzero);
  if (threadIdx.x == 0) PolderCoarseBegin(nzero, nullspace, isinf(largest), info);
}

int PolderCoarseEquilibrate_CUDA(PolderDense E, PetscReal zero, PetscBool nullspace, PetscScalar rows[], PetscScalar cols[], PetscScalar info[],
                                 PolderStream stream)
{
  if (!E.n) return cudaSuccess;
  PolderCoarseRowSizesKernel<<<PolderBlocks(E.n, POLDER_BLOCK / 32), POLDER_BLOCK, 0, stream>>>(E.n, E.ld, E.a, rows);
  PolderCoarseColumnSizesKernel<<<PolderBlocks(E.n, 32), dim3(32, 32), 0, stream>>>(E.n, E.ld, E.a, NULL, cols);
  PolderCoarseRowScaleKernel<<<1, 1024, 0, stream>>>(E.n, zero, nullspace, rows, cols, info);
  PolderCoarseColumnSizesKernel<<<PolderBlocks(E.n, 32), dim3(32, 32), 0, stream>>>(E.n, E.ld, E.a, rows, cols);
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
  PolderCoarseNormsKernel(PetscInt d, PetscInt ld, const PetscScalar *__restrict__ E, const PetscScalar *__restrict__ X, const PetscScalar *__restrict__ rows,
                          const PetscScalar *__restrict__ cols, PetscScalar *b, PetscScalar *norms)
{
  const PetscInt i    = (PetscInt)(blockIdx.x * (POLDER_BLOCK / 32) + threadIdx.x / 32);
  const int      lane = threadIdx.x % 32;
  double         s = 0, x = 0;

  if (i >= d) return;
  for (PetscInt j = lane; j < d; j += 32) {
    if (rows[j] == 0) continue;
    s += fabs(E[(size_t)i * ld + j]) * cols[j];
    x += fabs(X[(size_t)i * ld + j]) / rows[j];
  }
  for (int o = 16; o > 0; o >>= 1) {
    s += __shfl_down_sync(0xffffffffu, s, o);
    x += __shfl_down_sync(0xffffffffu, x, o);
  }
  if (lane) return;
  norms[i]     = rows[i] * s;
  norms[d + i] = rows[i] != 0 ? x / cols[i] : 0;
  b[i]         = rows[i] != 0 ? PolderTestValue(i) / rows[i] : 0;
}

int PolderCoarseNorms_CUDA(PolderDense E, const PetscScalar X[], const PetscScalar rows[], const PetscScalar cols[], PetscScalar b[], PetscScalar norms[],
                           PolderStream stream)
{
  if (E.n) PolderCoarseNormsKernel<<<PolderBlocks(E.n, POLDER_BLOCK / 32), POLDER_BLOCK, 0, stream>>>(E.n, E.ld, E.a, X, rows, cols, b, norms);
  return cudaGetLastError();
}

static __global__ void __launch_bounds__(1024) PolderCoarseAssessKernel(PetscInt d, const PetscScalar *__restrict__ rows, const PetscScalar *__restrict__ norms,
                                                                        const PetscScalar *__restrict__ b, const PetscScalar *__restrict__ y, PetscScalar *info)
{
  double s = 0, x = 0, rr = 0, bb = 0;

  for (PetscInt i = threadIdx.x; i < d; i += 1024) {
    s = fmax(s, norms[i]);
    x = fmax(x, norms[d + i]);
    if (rows[i] == 0) continue;
    rr += rows[i] * (b[i] - y[i]) * rows[i] * (b[i] - y[i]);
    bb += rows[i] * b[i] * rows[i] * b[i];
  }
  rr = PolderBlockSum<1024>(rr);
  bb = PolderBlockSum<1024>(bb);
  s  = PolderBlockLargest(s);
  x  = PolderBlockLargest(x);
  if (threadIdx.x) return;
  info[POLDER_COARSE_COND]  = s * x;
  info[POLDER_COARSE_RESID] = bb > 0 ? sqrt(rr / bb) : 0;
}

int PolderCoarseAssess_CUDA(PetscInt d, const PetscScalar rows[], const PetscScalar norms[], const PetscScalar b[], const PetscScalar y[], PetscScalar info[],
                            PolderStream stream)
{
  if (d) PolderCoarseAssessKernel<<<1, 1024, 0, stream>>>(d, rows, norms, b, y, info);
  return cudaGetLastError();
}

/* body(i, j, k) for the entries of an n x n matrix in an ld x ld array, k = i ld + j */
template <class Body>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderForEntriesKernel(PetscInt n, PetscInt ld, const __grid_constant__ Body body)
{
  const PetscInt j = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x, i = blockIdx.y;

  if (j < n) body(i, j, (size_t)i * ld + j);
}

template <class Body>
static int PolderForEntries(PetscInt n, PetscInt ld, PolderStream stream, Body body)
{
  if (n) PolderForEntriesKernel<<<dim3(PolderBlocks(n, POLDER_BLOCK), n), POLDER_BLOCK, 0, stream>>>(n, ld, body);
  return cudaGetLastError();
}

int PolderCoarseIdentity_CUDA(PolderDense E, const PetscScalar rows[], const PetscScalar cols[], PetscScalar L[], PolderStream stream)
{
  return PolderForEntries(E.n, E.ld, stream, [=] __device__(PetscInt i, PetscInt j, size_t k) {
    const double scale = rows[i] * cols[j];

    L[k] = scale != 0 ? E.a[k] * scale : i == j;
  });
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

/* What cuSOLVER reports and the order of the pivots, at the start of the work and in whole cache lines: integers */
static inline size_t PolderLUIntegers(PetscInt n)
{
  return ((size_t)n + 32) / 32 * 32;
}

size_t PolderLUInverseWork_CUDA(PetscInt n, PetscInt ld)
{
  cusolverDnHandle_t handle;
  int                size = 0;

  if (PetscCUSOLVERDnGetHandle(&handle) || cusolverDnDgetrf_bufferSize(handle, n, n, NULL, ld, &size)) return 0;
  return sizeof(int) * PolderLUIntegers(n) + sizeof(PetscScalar) * (size_t)size;
}

/*
  cuSOLVER has columns where the arrays have rows: it factors A^T, whose inverse in columns is that of A in rows. Pivot k is then what the rows before leave
  of row k. cuSOLVER reports only the first pivot that is zero, so all are looked at
*/
int PolderLUInverse_CUDA(PolderDense A, PetscReal tol, PetscScalar rows[], PetscScalar cols[], PetscScalar X[], PetscScalar info[], void *work,
                         PolderStream stream)
{
  const PetscInt     n = A.n, ld = A.ld;
  int               *report = (int *)work, *order = report + 1;
  cusolverDnHandle_t handle;

  if (!n) return cudaSuccess;
  if (PetscCUSOLVERDnGetHandle(&handle) || cusolverDnSetStream(handle, stream)) return cudaErrorUnknown;
  if (cusolverDnDgetrf(handle, n, n, A.a, ld, (PetscScalar *)(report + PolderLUIntegers(n)), order, report)) return cudaErrorUnknown;
  (void)PolderForEach(n, stream, [=] __device__(PetscInt k) {
    if (fabs(A.a[(size_t)k * ld + k]) > tol) return;
    A.a[(size_t)k * ld + k] = 1;
    if (rows[k] == 0) return;
    rows[k] = cols[k] = 0;
    atomicAdd(&info[POLDER_COARSE_NDEP], 1.0);
  });
  (void)PolderForEntries(n, ld, stream, [=] __device__(PetscInt i, PetscInt j, size_t k) { X[k] = i == j; });
  if (cusolverDnDgetrs(handle, CUBLAS_OP_N, n, n, A.a, ld, order, X, ld, report)) return cudaErrorUnknown;
  return PolderForEntries(n, ld, stream,
                          [=] __device__(PetscInt i, PetscInt j, size_t k) { X[k] = rows[i] != 0 && rows[j] != 0 ? X[k] * cols[i] * rows[j] : 0; });
}

POLDER_MODULE(Coarse)
