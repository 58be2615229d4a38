/* How kernels of one GPU wait for kernels of another GPU. */
#pragma once

#include "launch.cuh"
#include "kernels/peers.h"

/* Number of blocks for the values for one neighbour: enough to saturate the link, few enough to leave multiprocessors to other kernels */
#define POLDER_EXCHANGE_BLOCKS 64

/* A grid whose blockIdx.y is the neighbour */
static inline dim3 PolderExchangeGrid(PetscInt most, int neighbours)
{
  const unsigned int blocks = PolderBlocks(most, POLDER_BLOCK);

  return dim3(blocks < 1 ? 1 : blocks < POLDER_EXCHANGE_BLOCKS ? blocks : POLDER_EXCHANGE_BLOCKS, (unsigned int)neighbours);
}

static __device__ __forceinline__ uint64_t PolderLoadAcquire(const uint64_t *p)
{
  uint64_t v;

  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}

static __device__ __forceinline__ void PolderStoreRelease(uint64_t *p, uint64_t v)
{
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

static __device__ __forceinline__ uint64_t PolderNanoseconds(void)
{
  uint64_t t;

  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

/* Waits until *arrived is at least number; false: timed out. Called by one thread */
static __device__ __forceinline__ bool PolderPeersWait(const uint64_t *arrived, uint64_t number, int rank, const PolderPatience &patience)
{
  uint64_t begin = 0;

  for (unsigned int spin = 1; PolderLoadAcquire(arrived) < number; ++spin) {
    if (spin % 1024) continue;
    if (!begin) begin = PolderNanoseconds();
    if (*patience.lost) return false;
    if ((double)(PolderNanoseconds() - begin) > 1e9 * patience.seconds) {
      *patience.lost = 1 + rank;
      return false;
    }
  }
  return true;
}

/* value[0 .. n) <- their sums over all processes in the order of the ranks; called by one thread */
static __device__ __forceinline__ void PolderPeersSumOne(const PolderPeersView &peers, int n, double *value)
{
  PolderMailbox *mine   = peers.box[peers.rank];
  const uint64_t number = mine->count + 1;
  bool           all    = true;

  for (int r = 0; r < peers.size; ++r) {
    for (int k = 0; k < n; ++k) peers.box[r]->value[number % 2][peers.rank][k] = value[k];
  }
  __threadfence_system();
  for (int r = 0; r < peers.size; ++r) PolderStoreRelease(&peers.box[r]->arrived[peers.rank], number);
  for (int r = 0; r < peers.size; ++r) all = PolderPeersWait(&mine->arrived[r], number, r, peers.patience) && all;
  for (int k = 0; k < n; ++k) {
    double sum = 0;

    for (int r = 0; r < peers.size; ++r) sum += __ldcg(&mine->value[number % 2][r][k]);
    value[k] = all ? sum : NAN;
  }
  mine->count = number;
}

/* Called by all threads of such a grid once they have stored their values for neighbour k: the block that ends last announces the message */
static __device__ __forceinline__ void PolderExchangeAnnounce(const PolderExchange &e, int k, uint64_t number)
{
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0 && atomicInc(&e.finished[k], gridDim.x - 1) == gridDim.x - 1) {
    __threadfence_system();
    PolderStoreRelease(e.arrivedthere[k], number);
    e.sent[k] = number;
  }
}
