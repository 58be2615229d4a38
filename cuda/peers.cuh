/* How kernels of one GPU wait for those of another one. */
#pragma once

#include "launch.cuh"
#include "kernels/peers.h"

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

/* Waits until *arrived is at least number; false: in vain. By one thread */
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

/* value[0 .. n) <- their sums over all processes, n at most 8, by one warp whose threads all call */
static __device__ __forceinline__ void PolderPeersSumFew(const PolderPeersView &peers, int n, double *value)
{
  PolderMailbox *mine   = peers.box[peers.rank];
  const int      lane   = threadIdx.x % 32;
  const uint64_t number = mine->count + 1;
  bool           all    = true;

  __syncwarp();
  if (lane < peers.size) {
    for (int k = 0; k < n; ++k) peers.box[lane]->value[number % 2][peers.rank][k] = value[k];
    PolderStoreRelease(&peers.box[lane]->arrived[peers.rank], number);
    all = PolderPeersWait(&mine->arrived[lane], number, lane, peers.patience);
  }
  all = __all_sync(0xffffffffu, all);
  if (lane < n) {
    double sum = 0;

    for (int r = 0; r < peers.size; ++r) sum += __ldcg(&mine->value[number % 2][r][lane]);
    value[lane] = all ? sum : NAN;
  }
  if (lane == 0) mine->count = number;
  __syncwarp();
}
