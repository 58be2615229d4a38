/* Ghost values in kernels: in memory, or in the messages of the neighbours as they arrive. */
#pragma once

#include "peers.cuh"

/* Number of blocks of a kernel that goes through rows with ghosts: they wait, and leave multiprocessors to other kernels */
#define POLDER_GHOST_BLOCKS 528

template <class V>
struct PolderGhostArray {
  static constexpr PetscInt LEAST = 0; // number of blocks
  const V                  *value;

  __device__ __forceinline__ uint64_t due(void) const { return 0; }
  __device__ __forceinline__ V        operator()(uint64_t, PetscInt c) const { return __ldg(value + c); }
  __device__ __forceinline__ bool     ends(void) const { return false; }
  __device__ __forceinline__ void     count(uint64_t) const { }
};

template <class V>
struct PolderGhostMessages {
  static constexpr PetscInt LEAST = 1; // they are counted even where no row needs them
  PolderExchange            e;

  /* Number of the messages that are due */
  __device__ __forceinline__ uint64_t due(void) const
  {
    const uint64_t number = e.received[0] + 1;

    if (blockIdx.x == 0 && (int)threadIdx.x < e.n) PolderExchangeHear(e, (int)threadIdx.x, number);
    return number;
  }
  __device__ __forceinline__ V operator()(uint64_t number, PetscInt c) const { return PolderExchangeValue<V>(e, number, c); }
  /* True in one thread of the block that ends last */
  __device__ __forceinline__ bool ends(void) const { return PolderEndsLast(&e.finished[e.n], gridDim.x); }
  __device__ __forceinline__ void count(uint64_t number) const
  {
    for (int k = 0; k < e.n; ++k) {
      e.received[k] = number;
      ++e.sent[k];
    }
  }
};

/* Calls act with the ghosts */
template <class V, class Do>
static int PolderGhostsDo(const PolderGhosts &g, Do act)
{
  if (g.exchange && g.exchange->n) act(PolderGhostMessages<V>{*g.exchange});
  else act(PolderGhostArray<V>{(const V *)g.value});
  return cudaGetLastError();
}

/* Blocks for n rows */
template <class Ghosts>
static inline unsigned int PolderGhostBlocks(PetscInt n, PetscInt most)
{
  return (unsigned int)PetscClipInterval((n + POLDER_BLOCK - 1) / POLDER_BLOCK, Ghosts::LEAST, most);
}

template <class Ghosts, class Body>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderForEachGhostKernel(PetscInt n, const __grid_constant__ Ghosts ghosts, const __grid_constant__ Body body)
{
  PolderBegin();
  const uint64_t number = ghosts.due();

  for (long long i = (long long)blockIdx.x * POLDER_BLOCK + threadIdx.x; i < n; i += (long long)gridDim.x * POLDER_BLOCK)
    body((PetscInt)i, [&](PetscInt c) { return ghosts(number, c); });
  if (ghosts.ends()) ghosts.count(number);
}

/* body(i, ghost) for 0 <= i < n, where ghost(c) is the value of ghost c */
template <class V, class Body>
static int PolderForEachGhost(PetscInt n, const PolderGhosts &g, PolderStream stream, Body body)
{
  return PolderGhostsDo<V>(g, [&](const auto &ghosts) {
    typedef std::decay_t<decltype(ghosts)> Ghosts;
    const unsigned int                     blocks = PolderGhostBlocks<Ghosts>(n, POLDER_GHOST_BLOCKS);

    if (blocks) PolderLaunchEarly(PolderForEachGhostKernel<Ghosts, Body>, blocks, POLDER_BLOCK, stream, n, ghosts, body);
  });
}
