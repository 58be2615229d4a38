/* Conjugate gradients with one reduction a step, whose scalars stay in device memory. */
#include "cg.cuh"
#include "peers.cuh"
#include "kernels/cgonce.h"

/* Adds the terms of one row to the sums (r, r), (r, z), sum z, sum r */
__device__ __forceinline__ void PolderOnceAdd(double r, double z, double (&sum)[POLDER_ONCE_ZV])
{
  sum[POLDER_ONCE_RR] += r * r;
  sum[POLDER_ONCE_RZ] += r * z;
  sum[POLDER_ONCE_Z] += z;
  sum[POLDER_ONCE_R] += r;
}

static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCGOnceSumsKernel(PetscInt n, const PetscScalar *r, const PetscScalar *z, PolderCGState *state, PolderReduceScratch *scratch)
{
  PolderBegin();
  double sum[POLDER_ONCE_ZV] = {0, 0, 0, 0};

  if (state->frozen) return;
  for (PetscInt i = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x); i < n; i += (PetscInt)(gridDim.x * POLDER_BLOCK)) {
    const double ri = r[i];

    PolderOnceAdd(ri, z ? z[i] : ri, sum);
  }
  PolderGridSum<POLDER_BLOCK>(sum, scratch, [=](const double *total) {
    for (int k = 0; k < POLDER_ONCE_ZV; ++k) state->sum[k] = total[k];
  });
}

int PolderCGOnceSums_CUDA(const PolderCGOnce *a, PolderCGState *state, void *work, PolderStream stream)
{
  PolderLaunchEarly(PolderCGOnceSumsKernel, PolderCGBlocks(a->n, 1), POLDER_BLOCK, stream, a->n, a->r, a->z, state, (PolderReduceScratch *)work);
  return cudaGetLastError();
}

template <bool FIRST, bool SUMMED>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCGOnceStepKernel(const __grid_constant__ PolderCGOnce a, PolderCGState *state, PolderReduceScratch *scratch)
{
  PolderBegin();
  const double mean = state->mean, rmean = state->rmean, alpha = state->alpha, beta = state->beta;
  double       sum[POLDER_ONCE_ZV] = {0, 0, 0, 0};

  if (state->frozen) return;
  for (PetscInt i = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x); i < a.n; i += (PetscInt)(gridDim.x * POLDER_BLOCK)) {
    const double r = a.r[i], z = (a.z ? a.z[i] : r) - mean, v = a.v[i];
    const double p = FIRST ? z : z + beta * a.p[i], w = FIRST ? v : v + beta * a.w[i], rnew = r - (alpha * w + rmean);
    double       znew = rnew;

    a.p[i] = p;
    a.w[i] = w;
    a.x[i] += alpha * p;
    a.r[i] = rnew;
    if (a.dinv) a.z[i] = znew = a.dinv[i] * rnew;
    if (SUMMED) PolderOnceAdd(rnew, znew, sum);
  }
  if (!SUMMED) return;
  PolderGridSum<POLDER_BLOCK>(sum, scratch, [=](const double *total) {
    for (int k = 0; k < POLDER_ONCE_ZV; ++k) state->sum[k] = total[k];
  });
}

int PolderCGOnceStep_CUDA(const PolderCGOnce *a, PetscBool first, PetscBool summed, PolderCGState *state, void *work, PolderStream stream)
{
  const unsigned int   blocks  = PolderCGBlocks(a->n, 1);
  PolderReduceScratch *scratch = (PolderReduceScratch *)work;

  if (first && summed) PolderLaunchEarly(PolderCGOnceStepKernel<true, true>, blocks, POLDER_BLOCK, stream, *a, state, scratch);
  else if (first) PolderLaunchEarly(PolderCGOnceStepKernel<true, false>, blocks, POLDER_BLOCK, stream, *a, state, scratch);
  else if (summed) PolderLaunchEarly(PolderCGOnceStepKernel<false, true>, blocks, POLDER_BLOCK, stream, *a, state, scratch);
  else PolderLaunchEarly(PolderCGOnceStepKernel<false, false>, blocks, POLDER_BLOCK, stream, *a, state, scratch);
  return cudaGetLastError();
}

/* One warp */
static __global__ void PolderCGOnceAdvanceKernel(const __grid_constant__ PolderPeersView peers, bool first, bool told, PolderCGState *state)
{
  PolderBegin();
  double sum[POLDER_ONCE_DEVICE];

  if (state->frozen) return;
  for (int k = 0; k < POLDER_ONCE_DEVICE; ++k) sum[k] = state->sum[k];
  if (peers.size) PolderPeersSumWarp(peers, sum);
  if (threadIdx.x) return;
  for (int k = 0; k < POLDER_ONCE_DEVICE; ++k) state->sum[k] = sum[k];
  PolderCGOnceAdvance(state, first ? PETSC_TRUE : PETSC_FALSE, told ? PETSC_TRUE : PETSC_FALSE);
}

int PolderCGOnceAdvance_CUDA(const PolderPeersView *peers, PetscBool first, PetscBool told, PolderCGState *state, PolderStream stream)
{
  const PolderPeersView none = {};

  PolderLaunchEarly(PolderCGOnceAdvanceKernel, 1, 32, stream, peers ? *peers : none, first, told, state);
  return cudaGetLastError();
}
