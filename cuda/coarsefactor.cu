/* The dense coarse matrix E of a deflation space: the scale of one that need not be symmetric, and factors by cuSOLVER. */
#include "coarse.cuh"
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <petscdevice_cuda.h>

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
