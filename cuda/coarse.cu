/* The dense coarse matrix E of a deflation space: scaling, condition and residual. Matrices are n by n in ld by ld arrays, ld a multiple of POLDER_SWEEP. */
#include "coarse.cuh"
#include "module.cuh"

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

POLDER_MODULE(Coarse)
