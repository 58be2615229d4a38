/* The excess of the rows of a hierarchy, and the diagonal of its coarse rows computed from it, as on the host (src/kernels/excess.c). */
#include "kernels/excess.h"
#include "foreach.cuh"
#include "module.cuh"
#include "kernels/excessrow.h"

/* Up to so many rows a warp takes one, as there is room for all of them; more rows are taken by a part of a warp each */
#define EXCESS_FEW  8192
#define EXCESS_MANY 8

/* body(i, lane, lanes) for 0 <= i < n and each of LANES neighbouring threads; threads beyond the end are there as well, with i = n */
template <int LANES, class Body>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderExcessKernel(PetscInt n, const __grid_constant__ Body body)
{
  PolderBegin();
  const long long i = ((long long)blockIdx.x * POLDER_BLOCK + threadIdx.x) / LANES;

  body(i < n ? (PetscInt)i : n, (int)(threadIdx.x % LANES), LANES);
}

template <class Body>
static int ExcessEach(PetscInt n, PolderStream stream, Body body)
{
  if (n > EXCESS_FEW) PolderLaunchEarly(PolderExcessKernel<EXCESS_MANY, Body>, PolderBlocks(n, POLDER_BLOCK / EXCESS_MANY), POLDER_BLOCK, stream, n, body);
  else if (n > 0) PolderLaunchEarly(PolderExcessKernel<32, Body>, PolderBlocks(n, POLDER_BLOCK / 32), POLDER_BLOCK, stream, n, body);
  return cudaGetLastError();
}

/* part[] <- its sums over the lanes of a group */
template <int N>
static __device__ __forceinline__ void ExcessSum(int lanes, PetscReal (&part)[N])
{
  for (int o = lanes / 2; o > 0; o >>= 1) {
#pragma unroll
    for (int k = 0; k < N; ++k) part[k] += __shfl_xor_sync(0xffffffffu, part[k], o);
  }
}

int PolderExcessRows_CUDA(PetscInt n, const PetscInt ai[], PetscBool kernel, const PetscReal sum[], const PetscReal size[], PetscReal excess[],
                          PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) { excess[i] = PolderExcessOf(sum[i], size[i], ai[i + 1] - ai[i] + 1, kernel); });
}

int PolderExcessAggregates_CUDA(const PolderAggregates *aggregates, const PolderRows *rows, const PetscReal excess[], const PetscReal size[],
                                PetscReal coarse[], PetscReal coarsesize[], PolderStream stream)
{
  const PolderAggregates P = *aggregates;
  const PolderRows       A = *rows;

  return ExcessEach(P.n, stream, [=] __device__(PetscInt a, int lane, int lanes) {
    PetscReal part[4] = {};

    if (a < P.n) PolderExcessParts(a, &P, &A, excess, size, lane, lanes, part);
    ExcessSum(lanes, part);
    if (a < P.n && lane == 0) PolderExcessPut(a, part, coarse, coarsesize);
  });
}

int PolderExcessDiagonal_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[], PetscScalar aa[],
                              PolderStream stream)
{
  return ExcessEach(n, stream, [=] __device__(PetscInt i, int lane, int lanes) {
    PetscReal part[2] = {};
    PetscInt  at      = -1;

    if (i < n) PolderExcessOthers(i, ai, aj, aa, lane, lanes, part, &at);
    ExcessSum(lanes, part);
    if (at >= 0) PolderExcessMend(i, part, excess, size, aa + at);
  });
}

POLDER_MODULE(Excess)
