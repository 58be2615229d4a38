/* Steps of conjugate gradients whose scalars stay in device memory: those of the scalars, and the choice of passes over vectors. */
#include "cg.cuh"
#include "pack.cuh"
#include "peers.cuh"
#include "module.cuh"

static __global__ void PolderCGAdvanceKernel(bool update, bool rho, PetscBool first, PolderCGState *state)
{
  PolderBegin();
  if (update) PolderCGSetNorm(state, PETSC_TRUE);
  if (rho) PolderCGSetRho(state, first, PETSC_TRUE);
}

/* One warp */
static __global__ void PolderCGSumRhoKernel(const __grid_constant__ PolderPeersView peers, PetscBool first, PolderCGState *state)
{
  PolderBegin();
  double sum[2] = {state->sum[1], state->sum[2]};

  PolderPeersSumWarp(peers, sum);
  if (threadIdx.x) return;
  for (int k = 0; k < 2; ++k) state->sum[k + 1] = sum[k];
  PolderCGSetRho(state, first, PETSC_TRUE);
}

static __global__ void PolderCGClearAlphaKernel(PolderCGState *state)
{
  state->alpha = 0;
}

static __global__ void __launch_bounds__(POLDER_BLOCK) PolderCGRemoveMeanKernel(PetscInt n, PetscScalar *r, const PolderCGState *state)
{
  PolderBegin();
  const double sum = state->sum[3], mean = sum / state->N;

  if (state->frozen || sum * mean <= PetscSqr(POLDER_CG_NOMEAN) * state->sum[0]) return; // compares N mean^2 with (r, r)
  for (PetscInt i = (PetscInt)(blockIdx.x * POLDER_BLOCK + threadIdx.x); i < n; i += (PetscInt)(gridDim.x * POLDER_BLOCK)) r[i] -= mean;
}

static __global__ void PolderCGBeginKernel(const __grid_constant__ PolderCGState from, PolderCGState *state)
{
  *state = from;
}

int PolderCGBegin_CUDA(const PolderCGState *from, PolderCGState *state, PolderStream stream)
{
  PolderCGBeginKernel<<<1, 1, 0, stream>>>(*from, state);
  return cudaGetLastError();
}

int PolderCGDirection_CUDA(const PolderCGDirection *d, PolderCGState *state, PolderStream stream)
{
  if (!d->n) return cudaSuccess;
  return d->n % 2 == 0 && PolderAligned<2>(d->z, d->dinv, d->p, d->x, d->parts.base, d->parts.correction) ? CGVectors<2>::direction(*d, state, stream)
                                                                                                          : CGVectors<1>::direction(*d, state, stream);
}

int PolderCGUpdate_CUDA(PetscInt n, const PetscScalar w[], PetscScalar r[], PetscBool diagonal, const PetscScalar dinv[], const PolderCGRounded *rounded,
                        const PolderCGReduction *to, PolderStream stream)
{
  const PolderCGRounded too = rounded ? *rounded : PolderCGRounded{};

  return n % 2 == 0 && PolderAligned<2>(w, r, dinv) && PolderAligned<2>(too.to) ? CGVectors<2>::update(n, w, r, diagonal, dinv, too, *to, stream)
                                                                                : CGVectors<1>::update(n, w, r, diagonal, dinv, too, *to, stream);
}

int PolderCGRho_CUDA(PetscInt n, const PetscScalar r[], const PetscScalar z[], const PetscScalar dinv[], PetscBool first, const PolderCGReduction *to,
                     PolderStream stream)
{
  return n % 2 == 0 && PolderAligned<2>(r, z, dinv) ? CGVectors<2>::rho(n, r, z, dinv, first, *to, stream)
                                                    : CGVectors<1>::rho(n, r, z, dinv, first, *to, stream);
}

int PolderCGAdvance_CUDA(PetscBool update, PetscBool rho, PetscBool first, PolderCGState *state, PolderStream stream)
{
  PolderLaunchEarly(PolderCGAdvanceKernel, 1, 1, stream, update, rho, first, state);
  return cudaGetLastError();
}

int PolderCGSumRho_CUDA(const PolderPeersView *peers, const PolderCGRho *rho, PolderStream stream)
{
  PolderLaunchEarly(PolderCGSumRhoKernel, 1, 32, stream, *peers, rho->first, rho->state);
  return cudaGetLastError();
}

int PolderCGFinish_CUDA(PetscInt n, const PetscScalar p[], PetscScalar x[], PolderCGState *state, PolderStream stream)
{
  int err = cudaSuccess;

  if (n) err = n % 2 == 0 && PolderAligned<2>(p, x) ? CGVectors<2>::finish(n, p, x, state, stream) : CGVectors<1>::finish(n, p, x, state, stream);
  if (!err) PolderCGClearAlphaKernel<<<1, 1, 0, stream>>>(state);
  return err ? err : cudaGetLastError();
}

int PolderCGRemoveMean_CUDA(PetscInt n, PetscScalar r[], const PolderCGState *state, PolderStream stream)
{
  if (n) PolderLaunchEarly(PolderCGRemoveMeanKernel, PolderCGBlocks(n, 1), POLDER_BLOCK, stream, n, r, state);
  return cudaGetLastError();
}

POLDER_MODULE(CG)
