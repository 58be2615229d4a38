/* Vectors of a level in another precision, and the span of its values. */
#include "level.cuh"
#include "index.cuh"
#include "module.cuh"
#include "kernels/levelrow.h"
#include <climits>

/* Threads of the block that centres a vector */
#define LEVEL_CENTRE 512

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderLevelSpanKernel(PetscInt n, PetscInt line, const float *__restrict__ dinv, const PetscInt *__restrict__ agg, PetscInt nc, PetscInt *span)
{
  PetscInt least = INT_MAX, most = 0, ratio = 0;

  for (PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += (PetscInt)gridDim.x * POLDER_BLOCK) {
    const int bits = agg[i] < nc ? PolderBits(dinv[i]) : 0;

    if (bits > 0 && bits < least) least = bits;
    if (bits > most) most = bits;
    ratio = max(ratio, (PetscInt)PolderBits(PolderNeighbourRatio(n, line, dinv, agg, nc, i)));
  }
  least = PolderWarpMin(least);
  most  = PolderWarpMax(most);
  ratio = PolderWarpMax(ratio);
  if (threadIdx.x % 32) return;
  PolderAtomicMin(&span[0], least);
  PolderAtomicMax(&span[1], most);
  PolderAtomicMax(&span[2], ratio);
}

int PolderLevelSpan_CUDA(PetscInt n, PetscInt line, const float dinv[], const PetscInt agg[], PetscInt nc, PetscInt span[3], PolderStream stream)
{
  if (n > 0) PolderLevelSpanKernel<<<PolderStrideBlocks(n), POLDER_BLOCK, 0, stream>>>(n, line, dinv, agg, nc, span);
  return cudaGetLastError();
}

int PolderLevelRound_CUDA(PetscInt n, PetscScalar scale, const PetscScalar x[], float y[], PolderStream stream)
{
  return LevelEach(
    n, [=] __device__(PetscInt i) { y[i] = (float)(scale * x[i]); }, stream);
}

int PolderLevelWiden_CUDA(PetscInt n, const float x[], PetscScalar y[], PolderStream stream)
{
  return LevelEach(
    n, [=] __device__(PetscInt i) { y[i] = x[i]; }, stream);
}

/* One block */
template <class V, class W>
static __global__ void __launch_bounds__(LEVEL_CENTRE) PolderLevelCentreKernel(PetscInt n, const V *__restrict__ x, W *__restrict__ y)
{
  PolderBegin();
  __shared__ double mean;
  double            sum = 0;

  for (PetscInt i = threadIdx.x; i < n; i += LEVEL_CENTRE) sum += x[i];
  sum = PolderBlockSum<LEVEL_CENTRE>(sum);
  if (!threadIdx.x) mean = sum / n;
  __syncthreads();
  for (PetscInt i = threadIdx.x; i < n; i += LEVEL_CENTRE) y[i] = (W)(x[i] - mean);
}

int PolderLevelWidenCentred_CUDA(PetscInt n, const float x[], PetscScalar y[], PolderStream stream)
{
  if (n) PolderLaunchEarly(PolderLevelCentreKernel<float, PetscScalar>, 1, LEVEL_CENTRE, stream, n, x, y);
  return cudaGetLastError();
}

int PolderLevelRoundCentred_CUDA(PetscInt n, const PetscScalar x[], float y[], PolderStream stream)
{
  if (n) PolderLaunchEarly(PolderLevelCentreKernel<PetscScalar, float>, 1, LEVEL_CENTRE, stream, n, x, y);
  return cudaGetLastError();
}

POLDER_MODULE(LevelRound)
