/* Passes of conjugate gradients over vectors, V rows at a time. Scalars stay in device memory. */
#pragma once

#include "cg.cuh"
#include "pack.cuh"
#include "peers.cuh"

/* Where z comes from */
enum CGSource {
  CG_Z,
  CG_DINV_Z,
  CG_PARTS
};

template <int V, CGSource FROM>
__device__ __forceinline__ PolderPack<double, V> PolderCGReadZ(const PolderCGDirection &d, PetscInt i)
{
  if constexpr (FROM == CG_PARTS)
    return (double)d.parts.unit * (PolderPackDouble(PolderPackLdg<V>(d.parts.base + i)) + PolderPackDouble(PolderPackLdg<V>(d.parts.correction + i)));
  else if constexpr (FROM == CG_DINV_Z) return PolderPackLdg<V>(d.dinv + i) * PolderPackLdg<V>(d.z + i);
  else return PolderPackLdg<V>(d.z + i);
}

/* The blocks of the rows from `begin` on come first */
template <int V, bool FIRST, CGSource FROM>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCGDirectionKernel(const __grid_constant__ PolderCGDirection d, const PolderCGState *state, unsigned int begin)
{
  PolderBegin();
  PetscScalar *__restrict__ p = d.p, *__restrict__ x = d.x;
  const unsigned int    turned = blockIdx.x + begin, block = turned < gridDim.x ? turned : turned - gridDim.x;
  const PetscInt        i      = V * ((PetscInt)block * POLDER_BLOCK + threadIdx.x);
  const bool            frozen = state->frozen;
  PolderPack<double, V> pi;

  if (i >= d.n || (frozen && !d.sends.n)) return;
  if (!FIRST || frozen) pi = PolderPackRead<V>(p + i);
  if (!frozen) {
    const double          mean = state->mean, beta = state->beta, alpha = state->alpha;
    PolderPack<double, V> zi = PolderCGReadZ<V, FROM>(d, i), xi;

    if (!FIRST) xi = PolderPackRead<V>(x + i);
    for (int v = 0; v < V; ++v) {
      const double zv = zi.v[v] - mean;

      if (FIRST) pi.v[v] = zv;
      else {
        xi.v[v] += alpha * pi.v[v];
        pi.v[v] = zv + beta * pi.v[v];
      }
    }
    PolderPackWrite(p + i, pi);
    if (!FIRST) PolderPackWrite(x + i, xi);
  }
  PolderSendRows(d.sends, i, pi.v); // the others wait for a message of each step
}

/* Adds the terms of one pack to the sums (r, r), (r, z), sum z, sum r */
template <int V>
__device__ __forceinline__ void PolderCGSums(const PolderPack<double, V> &r, const PolderPack<double, V> &z, double (&sum)[4])
{
  for (int v = 0; v < V; ++v) {
    sum[0] += r.v[v] * r.v[v];
    sum[1] += r.v[v] * z.v[v];
    sum[2] += z.v[v];
    sum[3] += r.v[v];
  }
}

/* diagonal: 0 no z, 1 z = r, 2 z = dinv r */
template <int V, int DIAGONAL, bool ROUNDED = false>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCGUpdateKernel(PetscInt              n, const PetscScalar *__restrict__ w, PetscScalar *__restrict__ r, const PetscScalar *__restrict__ dinv,
                       const PolderCGRounded rounded, const __grid_constant__ PolderPeersView peers, PolderCGState *state, PolderReduceScratch *scratch)
{
  PolderBegin();
  const PetscInt stride = V * (PetscInt)gridDim.x * POLDER_BLOCK;
  const double   pw = state->pw, alpha = pw > 0 && !isinf(pw) ? state->rho / pw : 0.0;
  double         sum[4] = {0, 0, 0, 0};

  if (state->frozen) return;
#pragma unroll 2
  for (PetscInt i = V * ((PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x); i < n; i += stride) {
    PolderPack<double, V> ri = PolderPackRead<V>(r + i), wi = PolderPackRead<V>(w + i), zi;

    if (DIAGONAL == 2) zi = PolderPackRead<V>(dinv + i);
    for (int v = 0; v < V; ++v) {
      ri.v[v] -= alpha * wi.v[v];
      zi.v[v] = DIAGONAL == 2 ? zi.v[v] * ri.v[v] : DIAGONAL ? ri.v[v] : 0.0;
    }
    PolderPackWrite(r + i, ri);
    if (ROUNDED) PolderPackWrite(rounded.to + i, PolderPackMap(ri, [=](double x) { return (float)(rounded.scale * x); }));
    PolderCGSums<V>(ri, zi, sum);
  }
  PolderGridSumPeers<POLDER_BLOCK>(sum, scratch, peers, [&](const double *total) {
    for (int k = 0; k < 4; ++k) state->sum[k] = total[k];
    if (state->parallel && !peers.size) return;
    PolderCGSetNorm(state, PETSC_TRUE);
    if (DIAGONAL) PolderCGSetRho(state, PETSC_FALSE, PETSC_TRUE);
  });
}

template <int V, bool DINV>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCGRhoKernel(PetscInt n, const PetscScalar *__restrict__ r, const PetscScalar *__restrict__ z, const PetscScalar *__restrict__ dinv, PetscBool first,
                    const __grid_constant__ PolderPeersView peers, PolderCGState *state, PolderReduceScratch *scratch)
{
  PolderBegin();
  const PetscInt stride = V * (PetscInt)gridDim.x * POLDER_BLOCK;
  double         sum[4] = {0, 0, 0, 0};

  if (state->frozen) return;
#pragma unroll 2
  for (PetscInt i = V * ((PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x); i < n; i += stride) {
    PolderPack<double, V> ri = PolderPackRead<V>(r + i), zi = PolderPackRead<V>(z + i), di;

    if (DINV) {
      di = PolderPackRead<V>(dinv + i);
      for (int v = 0; v < V; ++v) zi.v[v] *= di.v[v];
    }
    PolderCGSums<V>(ri, zi, sum);
  }
  PolderGridSumPeers<POLDER_BLOCK>(sum, scratch, peers, [&](const double *total) {
    for (int k = 1; k < 4; ++k) state->sum[k] = total[k];
    if (peers.size || !state->parallel) PolderCGSetRho(state, first, PETSC_TRUE);
  });
}

template <int V>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderCGFinishKernel(PetscInt n, const PetscScalar *__restrict__ p, PetscScalar *__restrict__ x, const PolderCGState *state)
{
  const PetscInt i = V * ((PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x);

  if (i >= n) return;
  const double          alpha = state->alpha;
  PolderPack<double, V> pi = PolderPackRead<V>(p + i), xi = PolderPackRead<V>(x + i);

  for (int v = 0; v < V; ++v) xi.v[v] += alpha * pi.v[v];
  PolderPackWrite(x + i, xi);
}

/* The first block of the last rows that are sent, after which come the first rows: messages leave early */
static unsigned int PolderCGDirectionBegin(const PolderCGDirection &d, int rows)
{
  PetscInt last = 0;

  for (int k = 0; k < d.sends.n; ++k) {
    if (d.sends.count[k] && d.sends.first[k] > last) last = d.sends.first[k];
  }
  return (unsigned int)(last / rows);
}

template <int V, CGSource FROM>
static void PolderCGDirectionLaunch(const PolderCGDirection &d, const PolderCGState *state, PolderStream stream)
{
  const unsigned int blocks = PolderBlocks(d.n, V * POLDER_BLOCK), begin = PolderCGDirectionBegin(d, V * POLDER_BLOCK);

  if (d.first) PolderLaunchEarly(PolderCGDirectionKernel<V, true, FROM>, blocks, POLDER_BLOCK, stream, d, state, begin);
  else PolderLaunchEarly(PolderCGDirectionKernel<V, false, FROM>, blocks, POLDER_BLOCK, stream, d, state, begin);
}

static PolderPeersView PolderPeersOr(const PolderPeersView *peers)
{
  PolderPeersView none = {};

  return peers ? *peers : none;
}

template <int V>
int CGVectors<V>::direction(const PolderCGDirection &d, const PolderCGState *state, PolderStream stream)
{
  if (!d.z) PolderCGDirectionLaunch<V, CG_PARTS>(d, state, stream);
  else if (d.dinv) PolderCGDirectionLaunch<V, CG_DINV_Z>(d, state, stream);
  else PolderCGDirectionLaunch<V, CG_Z>(d, state, stream);
  return cudaGetLastError();
}

template <int V>
int CGVectors<V>::update(PetscInt n, const PetscScalar *w, PetscScalar *r, bool diagonal, const PetscScalar *dinv, const PolderCGRounded &rounded,
                         const PolderCGReduction &to, PolderStream stream)
{
  const unsigned int    blocks = PolderCGBlocks(n, V);
  const PolderPeersView peers  = PolderPeersOr(to.peers);
  PolderReduceScratch  *work   = (PolderReduceScratch *)to.work;

  if (diagonal && dinv) PolderLaunchEarly(PolderCGUpdateKernel<V, 2>, blocks, POLDER_BLOCK, stream, n, w, r, dinv, rounded, peers, to.state, work);
  else if (diagonal) PolderLaunchEarly(PolderCGUpdateKernel<V, 1>, blocks, POLDER_BLOCK, stream, n, w, r, dinv, rounded, peers, to.state, work);
  else if (rounded.to) PolderLaunchEarly(PolderCGUpdateKernel<V, 0, true>, blocks, POLDER_BLOCK, stream, n, w, r, dinv, rounded, peers, to.state, work);
  else PolderLaunchEarly(PolderCGUpdateKernel<V, 0>, blocks, POLDER_BLOCK, stream, n, w, r, dinv, rounded, peers, to.state, work);
  return cudaGetLastError();
}

template <int V>
int CGVectors<V>::rho(PetscInt n, const PetscScalar *r, const PetscScalar *z, const PetscScalar *dinv, PetscBool first, const PolderCGReduction &to,
                      PolderStream stream)
{
  const unsigned int    blocks = PolderCGBlocks(n, V);
  const PolderPeersView peers  = PolderPeersOr(to.peers);
  PolderReduceScratch  *work   = (PolderReduceScratch *)to.work;

  if (dinv) PolderLaunchEarly(PolderCGRhoKernel<V, true>, blocks, POLDER_BLOCK, stream, n, r, z, dinv, first, peers, to.state, work);
  else PolderLaunchEarly(PolderCGRhoKernel<V, false>, blocks, POLDER_BLOCK, stream, n, r, z, dinv, first, peers, to.state, work);
  return cudaGetLastError();
}

template <int V>
int CGVectors<V>::finish(PetscInt n, const PetscScalar *p, PetscScalar *x, const PolderCGState *state, PolderStream stream)
{
  PolderCGFinishKernel<V><<<PolderBlocks(n, V * POLDER_BLOCK), POLDER_BLOCK, 0, stream>>>(n, p, x, state);
  return cudaGetLastError();
}
