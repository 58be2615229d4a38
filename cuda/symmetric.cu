/*
  y + alpha A x with a dense symmetric matrix, of which only the tiles on and below the diagonal are read. A block for each tile computes A_IJ x_J, for the
  rows of I, and A_IJ^T x_I, for the rows of J. The last block of a tile row to end adds its parts in their order, so that the result does not depend on which
  block that is.
*/
#include "tiles.cuh"
#include "kernels/coarse.h"

#define SYM_TILE POLDER_SWEEP                   /* 64 rows */
#define SYM_ROWS (SYM_TILE * 32 / POLDER_BLOCK) /* rows of a tile a warp; a lane has two columns */

static_assert(SYM_TILE == 64 && SYM_ROWS == 8, "a lane has two columns of a tile, and four lanes the sum of a row");

/* v[0] <- the sum over the warp of v[lane / 4]: each exchange halves the number of values of a lane */
static __device__ __forceinline__ void SymWarpSums(double (&v)[SYM_ROWS])
{
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int o = 16, m = SYM_ROWS / 2; m > 0; o /= 2, m /= 2) {
    const bool upper = lane & o;

#pragma unroll
    for (int k = 0; k < m; ++k) {
      const double give = upper ? v[k] : v[k + m], keep = upper ? v[k + m] : v[k];

      v[k] = keep + __shfl_xor_sync(0xffffffffu, give, o);
    }
  }
  for (int o = 2; o > 0; o /= 2) v[0] += __shfl_xor_sync(0xffffffffu, v[0], o);
}

/*
  Announces that the contribution of tile (I, J), or of the transpose of (J, I), to the rows of I is in part[(I tiles + J) 64 ...]; true in all threads of the
  last block to do so for I
*/
static __device__ __forceinline__ bool SymTell(PetscInt I, int tiles, unsigned int *counter)
{
  __shared__ bool last;

  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(&counter[I], (unsigned int)tiles - 1) == (unsigned int)tiles - 1;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/* Rows of I: z = y + alpha times the parts, a quarter of which each thread adds */
static __device__ __forceinline__ void SymFinish(PetscInt n, PetscInt I, int tiles, PetscScalar alpha, const double *part, const PetscScalar *y, PetscScalar *z)
{
  __shared__ double quarter[POLDER_BLOCK];
  const int         r = threadIdx.x % SYM_TILE, q = threadIdx.x / SYM_TILE;
  const PetscInt    i   = I * SYM_TILE + r;
  double            sum = 0;

#pragma unroll 8
  for (int J = q; J < tiles; J += POLDER_BLOCK / SYM_TILE) sum += __ldcg(&part[((size_t)I * tiles + J) * SYM_TILE + r]);
  __syncthreads();
  quarter[threadIdx.x] = sum;
  __syncthreads();
  if (q || i >= n) return;
  for (int k = 1; k < POLDER_BLOCK / SYM_TILE; ++k) sum += quarter[k * SYM_TILE + r];
  z[i] = (y ? y[i] : 0) + alpha * sum;
}

static __global__ void __launch_bounds__(POLDER_BLOCK, 4)
  PolderSymmetricMultKernel(const __grid_constant__ PolderDense matrix, PetscScalar alpha, const PetscScalar *x, const PetscScalar *y, PetscScalar *z,
                            double *part, unsigned int *counter)
{
  __shared__ double columns[POLDER_BLOCK / 32][SYM_TILE];
  const PetscInt    n = matrix.n, ld = matrix.ld;
  const PetscScalar *__restrict__ A = matrix.a;
  const int tiles = (int)(ld / SYM_TILE), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  PetscInt  I, J;
  double2   a[SYM_ROWS], down = {0, 0}, xj;
  double    across[SYM_ROWS];

  PolderRelease();
  PolderTriangleTile((PetscInt)blockIdx.x, &I, &J);
#pragma unroll
  for (int r = 0; r < SYM_ROWS; ++r) a[r] = __ldcs((const double2 *)(A + ((size_t)(I * SYM_TILE + warp * SYM_ROWS + r) * ld + J * SYM_TILE) + 2 * lane));
  PolderAwait();
  xj.x = J * SYM_TILE + 2 * lane < n ? x[J * SYM_TILE + 2 * lane] : 0;
  xj.y = J * SYM_TILE + 2 * lane + 1 < n ? x[J * SYM_TILE + 2 * lane + 1] : 0;
#pragma unroll
  for (int r = 0; r < SYM_ROWS; ++r) {
    const PetscInt i  = I * SYM_TILE + warp * SYM_ROWS + r;
    const double   xi = i < n ? x[i] : 0;

    down.x += a[r].x * xi;
    down.y += a[r].y * xi;
    across[r] = a[r].x * xj.x + a[r].y * xj.y;
  }
  SymWarpSums(across);
  if (lane % 4 == 0) part[((size_t)I * tiles + J) * SYM_TILE + warp * SYM_ROWS + lane / 4] = across[0];
  if (SymTell(I, tiles, counter)) SymFinish(n, I, tiles, alpha, part, y, z);
  if (I == J) return;
  columns[warp][2 * lane]     = down.x;
  columns[warp][2 * lane + 1] = down.y;
  __syncthreads();
  if (threadIdx.x < SYM_TILE) {
    double sum = 0;

    for (int w = 0; w < POLDER_BLOCK / 32; ++w) sum += columns[w][threadIdx.x];
    part[((size_t)J * tiles + I) * SYM_TILE + threadIdx.x] = sum;
  }
  if (SymTell(J, tiles, counter)) SymFinish(n, J, tiles, alpha, part, y, z);
}

size_t PolderSymmetricMultWork_CUDA(PetscInt ld)
{
  const size_t tiles = (size_t)(ld / SYM_TILE);

  return sizeof(double) * tiles * tiles * SYM_TILE + sizeof(unsigned int) * tiles;
}

int PolderSymmetricMult_CUDA(PolderDense A, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], void *work, PetscBool early,
                             PolderStream stream)
{
  const size_t tiles = (size_t)(A.ld / SYM_TILE);
  double      *part  = (double *)work;

  if (A.n)
    PolderLaunchKernel(early, PolderSymmetricMultKernel, (unsigned int)(tiles * (tiles + 1) / 2), POLDER_BLOCK, stream, A, alpha, x, y, z, part,
                       (unsigned int *)(part + tiles * tiles * SYM_TILE));
  return cudaGetLastError();
}
