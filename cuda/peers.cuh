/* How kernels of one GPU wait for kernels of another GPU. */
#pragma once

#include "launch.cuh"
#include "kernels/peers.h"

static __device__ __forceinline__ void PolderCellStore(PolderCell *cell, uint64_t bits, uint64_t number)
{
  asm volatile("{ .reg .b128 q; mov.b128 q, {%1, %2}; st.relaxed.sys.global.b128 [%0], q; }" ::"l"(cell), "l"(bits), "l"(number) : "memory");
}

/* Does the cell hold a value of this message? */
static __device__ __forceinline__ bool PolderCellLoad(const PolderCell *cell, uint64_t number, uint64_t *bits)
{
  uint64_t found;

  asm volatile("{ .reg .b128 q; ld.relaxed.sys.global.b128 q, [%2]; mov.b128 {%0, %1}, q; }" : "=l"(*bits), "=l"(found) : "l"(cell) : "memory");
  return found == number;
}

static __device__ __forceinline__ uint64_t PolderNanoseconds(void)
{
  uint64_t t;

  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

/* Waits until ready(); false: process `rank` has not answered in time */
template <class Ready>
static __device__ __forceinline__ bool PolderWaitFor(int rank, const PolderPatience &patience, Ready ready)
{
  uint64_t begin = 0;

  for (unsigned int spin = 1; !ready(); ++spin) {
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

/* Waits for a value of message `number` from this process; false: timed out */
static __device__ __forceinline__ bool PolderCellWait(const PolderCell *cell, uint64_t number, int rank, const PolderPatience &patience, uint64_t *bits)
{
  return PolderWaitFor(rank, patience, [=] { return PolderCellLoad(cell, number, bits); });
}

/* The same for a message of many values, which are complete when its number is there: it is stored and loaded with fences */
static __device__ __forceinline__ void PolderNumberStore(uint64_t *p, uint64_t number)
{
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(number) : "memory");
}

static __device__ __forceinline__ bool PolderNumberWait(const uint64_t *arrived, uint64_t number, int rank, const PolderPatience &patience)
{
  return PolderWaitFor(rank, patience, [=] {
    uint64_t found;

    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(found) : "l"(arrived) : "memory");
    return found >= number;
  });
}

/* The same for a real value, NaN when timed out */
static __device__ __forceinline__ double PolderCellWaitReal(const PolderCell *cell, uint64_t number, int rank, const PolderPatience &patience)
{
  uint64_t bits;

  return PolderCellWait(cell, number, rank, patience, &bits) ? __longlong_as_double((long long)bits) : NAN;
}

/* value[k] goes to all processes as value k of sum `number` */
static __device__ __forceinline__ void PolderPeersPut(const PolderPeersView &peers, uint64_t number, PetscInt k, double value)
{
  for (int r = 0; r < peers.size; ++r) PolderCellStore(&peers.box[r]->cell[number % 2][peers.rank][k], (uint64_t)__double_as_longlong(value), number);
}

/* The sum of value k over all processes in the order of the ranks. Four loads are under way at a time */
static __device__ __forceinline__ double PolderPeersTake(const PolderPeersView &peers, uint64_t number, PetscInt k)
{
  const PolderMailbox *mine = peers.box[peers.rank];
  double               sum  = 0;

  for (int first = 0; first < peers.size; first += 4) {
    uint64_t bits[4];
    bool     there[4];

#pragma unroll
    for (int j = 0; j < 4; ++j) there[j] = first + j < peers.size && PolderCellLoad(&mine->cell[number % 2][first + j][k], number, &bits[j]);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int r = first + j;

      if (r >= peers.size) break;
      sum += there[j] ? __longlong_as_double((long long)bits[j]) : PolderCellWaitReal(&mine->cell[number % 2][r][k], number, r, peers.patience);
    }
  }
  return sum;
}

/* value[k] in thread 0 <- their sums over all processes, N <= 32. Called by one warp, each thread of which stores and waits for one value of one process */
template <int N>
__device__ __forceinline__ void PolderPeersSumWarp(const PolderPeersView &peers, double (&value)[N])
{
  constexpr int  RANKS  = 32 / N; // at a time
  PolderMailbox *mine   = peers.box[peers.rank];
  const uint64_t number = mine->count + 1;
  const int      lane = (int)threadIdx.x % 32, k = lane % N;
  double         own = 0;

#pragma unroll
  for (int j = 0; j < N; ++j) {
    const double v = __shfl_sync(0xffffffffu, value[j], 0);

    if (j == k) own = v;
    value[j] = 0;
  }
  for (int r = lane / N; r < peers.size && lane < N * RANKS; r += RANKS)
    PolderCellStore(&peers.box[r]->cell[number % 2][peers.rank][k], (uint64_t)__double_as_longlong(own), number);
  for (int first = 0; first < peers.size; first += RANKS) {
    const int    r = first + lane / N;
    const double v = lane < N * RANKS && r < peers.size ? PolderCellWaitReal(&mine->cell[number % 2][r][k], number, r, peers.patience) : 0.0;

    for (int q = 0; q < RANKS && first + q < peers.size; ++q) {
#pragma unroll
      for (int j = 0; j < N; ++j) value[j] += __shfl_sync(0xffffffffu, v, q * N + j);
    }
  }
  if (lane == 0) mine->count = number;
}

/* PolderGridSum() and, where there are peers, the sum over all processes */
template <int BLOCK, int N, class Finish>
__device__ __forceinline__ void PolderGridSumPeers(double (&sum)[N], PolderReduceScratch *scratch, const PolderPeersView &peers, Finish finish)
{
  if (!PolderGridSums<BLOCK>(sum, scratch) || threadIdx.x >= 32) return;
  if (peers.size) PolderPeersSumWarp(peers, sum);
  if (threadIdx.x == 0) finish(sum);
}

/* Number of blocks for the values for one neighbour: enough to saturate the link, few enough to leave multiprocessors to other kernels */
#define POLDER_EXCHANGE_BLOCKS 64

/* A grid whose blockIdx.y is the neighbour */
static inline dim3 PolderExchangeGrid(PetscInt most, int neighbours)
{
  const unsigned int blocks = PolderBlocks(most, POLDER_BLOCK);

  return dim3(blocks < 1 ? 1 : blocks < POLDER_EXCHANGE_BLOCKS ? blocks : POLDER_EXCHANGE_BLOCKS, (unsigned int)neighbours);
}

/* Called by all threads of a block when they have read what counts messages: true in thread 0 of the block that ends last of `blocks` */
static __device__ __forceinline__ bool PolderEndsLast(unsigned int *finished, unsigned int blocks)
{
  __syncthreads();
  return threadIdx.x == 0 && atomicInc(finished, blocks - 1) == blocks - 1;
}

/* The token of message `number` for neighbour k */
static __device__ __forceinline__ void PolderExchangeTell(const PolderExchange &e, int k, uint64_t number)
{
  PolderCellStore(e.token[k] + (number % 2) * e.half[k], 0, number);
}

/* Waits for the token of message `number` from neighbour k */
static __device__ __forceinline__ void PolderExchangeHear(const PolderExchange &e, int k, uint64_t number)
{
  uint64_t bits;

  (void)PolderCellWait(e.here + (number % 2) * e.halfhere + (size_t)e.width * (size_t)e.recvptr[e.n] + k, number, e.rank[k], e.patience, &bits);
}

/* The same for the neighbours that sent no values with it, where each value has been read, which tells as much. Called by all threads of a block */
static __device__ __forceinline__ void PolderExchangeHearEmpty(const PolderExchange &e, uint64_t number)
{
  const int k = (int)threadIdx.x;

  if (k < e.n && e.recvptr[k] == e.recvptr[k + 1]) PolderExchangeHear(e, k, number);
}

/* The bits of a value in a cell, and back */
static __device__ __forceinline__ uint64_t PolderCellBits(double v)
{
  return (uint64_t)__double_as_longlong(v);
}

static __device__ __forceinline__ uint64_t PolderCellBits(float v)
{
  return __float_as_uint(v);
}

template <class V>
__device__ __forceinline__ V PolderCellValue(uint64_t bits)
{
  if constexpr (std::is_same_v<V, float>) return __uint_as_float((unsigned int)bits);
  else return __longlong_as_double((long long)bits);
}

/* Value c of message `number`, NaN when timed out */
template <class V = double>
__device__ __forceinline__ V PolderExchangeValue(const PolderExchange &e, uint64_t number, PetscInt c)
{
  const PolderCell *cell = e.here + (number % 2) * e.halfhere + c;
  uint64_t          bits;
  int               k = 0;

  if (PolderCellLoad(cell, number, &bits)) return PolderCellValue<V>(bits);
  while (e.width * e.recvptr[k + 1] <= c) ++k;
  return PolderCellWait(cell, number, e.rank[k], e.patience, &bits) ? PolderCellValue<V>(bits) : (V)NAN;
}

/* A vector whose values a kernel sends to the neighbours before it does its work */
struct PolderSending {
  PetscInt       n; /* number of values and tokens; 0: nothing to send */
  PolderExchange e;
  const void    *x;
  bool           wide; /* values of 8 bytes, not 4 */

  /* Called by all threads of a one-dimensional grid, or by thread t of `step` threads; does not count the messages */
  __device__ __forceinline__ void operator()(void) const { (*this)((long long)blockIdx.x * blockDim.x + threadIdx.x, (long long)gridDim.x * blockDim.x); }
  __device__ __forceinline__ void operator()(long long t, long long step) const
  {
    for (; t < n; t += step) {
      const PetscInt i = (PetscInt)t;
      int            k = 0;

      if (i >= e.nsent) PolderExchangeTell(e, i - e.nsent, e.sent[i - e.nsent] + 1);
      else {
        while (e.sendptr[k + 1] <= i) ++k;
        const uint64_t number = e.sent[k] + 1;
        const PetscInt from   = e.sendidx[i];

        PolderCellStore(e.there[k] + (number % 2) * e.half[k] + (i - e.sendptr[k]), wide ? ((const uint64_t *)x)[from] : ((const uint32_t *)x)[from], number);
      }
    }
  }
};

/* e = NULL: nothing to send */
static inline PolderSending PolderSendingOf(const PolderExchange *e, const void *x, bool wide)
{
  PolderSending sending = {};

  if (e) sending = {e->nsent + e->n, *e, x, wide};
  return sending;
}

/* v[0 .. V) are the values of rows i .. i + V - 1; called by the threads of all rows */
template <class T, int V>
__device__ __forceinline__ void PolderSendRows(const PolderSends &sends, PetscInt i, const T (&v)[V])
{
  for (int k = 0; k < sends.n; ++k) {
    for (int j = 0; j < V; ++j) {
      const PetscInt at = i + j - sends.first[k];

      if (at < 0 || at >= sends.count[k]) continue;
      const uint64_t number = *sends.sent + 1;

      PolderCellStore(sends.there[k] + (number % 2) * sends.half[k] + at, PolderCellBits(v[j]), number);
    }
    if (i == 0) {
      const uint64_t number = *sends.sent + 1;

      PolderCellStore(sends.token[k] + (number % 2) * sends.half[k], 0, number);
    }
  }
}
