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
  template <bool ALL>
  __device__ __forceinline__ void hear(uint64_t) const
  {
  }
  __device__ __forceinline__ bool ends(void) const { return false; }
  __device__ __forceinline__ void count(uint64_t) const { }
};

template <class V>
struct PolderGhostMessages {
  static constexpr PetscInt LEAST = 1; // they are counted even where no row needs them
  PolderExchange            e;

  /* Number of the messages that are due */
  __device__ __forceinline__ uint64_t due(void) const { return e.received[0] + 1; }
  __device__ __forceinline__ V        operator()(uint64_t number, PetscInt c) const { return PolderExchangeValue<V>(e, number, c); }
  /* Called at the end by all threads: waits for the messages, unless each ghost has been read: then for those without values */
  template <bool ALL>
  __device__ __forceinline__ void hear(uint64_t number) const
  {
    if (blockIdx.x) return;
    if (ALL) PolderExchangeHearEmpty(e, number);
    else if ((int)threadIdx.x < e.n) PolderExchangeHear(e, (int)threadIdx.x, number);
  }
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

struct PolderNothingAhead { };

template <class Ghosts, class Body>
static __global__ void __launch_bounds__(POLDER_BLOCK)
  PolderForEachGhostKernel(PetscInt n, const __grid_constant__ Ghosts ghosts, const __grid_constant__ Body body)
{
  long long i = (long long)blockIdx.x * POLDER_BLOCK + threadIdx.x;

  PolderRelease();
  auto ahead = body.ahead((PetscInt)i, i < n);

  PolderAwait();
  const uint64_t number = ghosts.due();

  while (i < n) {
    body((PetscInt)i, ahead, [&](PetscInt c) { return ghosts(number, c); });
    i += (long long)gridDim.x * POLDER_BLOCK;
    ahead = body.ahead((PetscInt)i, i < n);
  }
  ghosts.template hear<Body::ALL>(number);
  if (ghosts.ends()) ghosts.count(number);
}

/*
  body(i, ahead, ghost) for 0 <= i < n, where ghost(c) is the value of ghost c. ahead = body.ahead(i, there) is what a block reads while it waits for the
  kernel before: data that copies or older kernels have brought, see PolderAwait(); there = false: row i does not exist. Body::ALL: it reads each ghost
*/
template <class V, class Body>
static int PolderForEachGhost(PetscInt n, const PolderGhosts &g, PolderStream stream, Body body)
{
  return PolderGhostsDo<V>(g, [&](const auto &ghosts) {
    typedef std::decay_t<decltype(ghosts)> Ghosts;
    const unsigned int                     blocks = PolderGhostBlocks<Ghosts>(n, POLDER_GHOST_BLOCKS);

    if (blocks) PolderLaunchEarly(PolderForEachGhostKernel<Ghosts, Body>, blocks, POLDER_BLOCK, stream, n, ghosts, body);
  });
}
