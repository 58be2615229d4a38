/* Updates of the scalars of conjugate gradients: by one thread alone, or redundantly by every thread, one of which reports to the host. */
#pragma once

#include "launch.cuh"
#include "kernels/cg.h"
#include <cooperative_groups.h>

/* Freezes the state if a norm meets the tolerance */
__device__ static inline void PolderCGTest(PolderCGState *s, PetscReal norm)
{
  if (isnan(norm) || isinf(norm)) s->frozen = POLDER_CG_NOTFINITE;
  else if (s->its >= s->minits && (norm <= s->tol || norm >= s->divtol)) s->frozen = POLDER_CG_TOLERANCE;
}

/* rho = (r, z) once z has lost its mean, where the constant is the kernel of A; natural: sqrt(rho) is the norm of the last step */
__device__ static inline void PolderCGSetRho(PolderCGState *s, bool first, bool tell = true)
{
  if (s->frozen) return;
  s->mean = s->nullspace ? s->sum[2] / s->N : 0.0;
  s->rho  = s->sum[1] - s->mean * s->sum[3];
  s->beta = first ? 0.0 : s->rho / s->rhoold;
  if (s->natural && !first) {
    const PetscReal norm = sqrt(fabs(s->rho));

    PolderCGTest(s, norm);
    if (tell) s->ring[(s->its - 1) % POLDER_CG_RING] = isnan(norm) ? HUGE_VAL : norm;
    if (s->frozen) return;
  }
  if (s->rho > 0 && !isinf(s->rho)) return;
  s->frozen = s->rho <= 0 ? POLDER_CG_INDEFINITE_PC : POLDER_CG_NOTFINITE;
  if (tell) s->ring[s->its % POLDER_CG_RING] = -s->frozen;
}

/* Ends a step: reports its norm to the host, unless the norm is computed with rho */
__device__ static inline void PolderCGSetNorm(PolderCGState *s, bool tell = true)
{
  const PetscReal norm = sqrt(s->sum[0]);
  const PetscInt  slot = s->its % POLDER_CG_RING;

  if (s->frozen) return;
  if (s->pw > 0 && !isinf(s->pw)) {
    s->alpha = s->lastalpha = s->rho / s->pw;
    s->rhoold               = s->rho;
    s->lastbeta             = s->beta;
    ++s->its;
    if (s->natural) return;
    PolderCGTest(s, norm);
    if (tell) s->ring[slot] = isnan(norm) ? HUGE_VAL : norm;
  } else {
    s->alpha  = 0;
    s->frozen = s->pw <= 0 ? POLDER_CG_INDEFINITE_MAT : POLDER_CG_NOTFINITE;
    if (tell) s->ring[slot] = -s->frozen;
  }
}

/*
  sum[] over all threads of all blocks, bitwise the same in every thread. This is a barrier of the grid, all of whose blocks are resident. The next call must
  use another partial[]
*/
template <int BLOCK, int N>
__device__ __forceinline__ void PolderAllSum(cooperative_groups::grid_group &grid, double (&sum)[N], double *partial)
{
  __shared__ double total[N];

  PolderBlockSums<BLOCK>(sum);
  for (int k = 0; k < N && threadIdx.x == 0; ++k) __stcg(&partial[k * gridDim.x + blockIdx.x], sum[k]);
  grid.sync();
  if (threadIdx.x / 32 < N) { // one warp for each sum
    const int k = threadIdx.x / 32;
    double    v = 0;

    for (unsigned int b = threadIdx.x % 32; b < gridDim.x; b += 32) v += __ldcg(&partial[k * gridDim.x + b]);
    v = PolderWarpSum(v);
    if (threadIdx.x % 32 == 0) total[k] = v;
  }
  __syncthreads();
  for (int k = 0; k < N; ++k) sum[k] = total[k];
  __syncthreads(); // total[] may be overwritten from here on
}
