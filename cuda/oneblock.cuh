/*
  Numbers and lists of up to POLDER_ONEBLOCK_ROWS rows in a single launch of one block: several launches over the device would take longer than their work. Each
  warp has consecutive rows, so that counts before a row need one sum over the warps.
*/
#pragma once

#include "launch.cuh"

#define POLDER_ONEBLOCK         1024
#define POLDER_ONEBLOCK_ROWS    32768
#define POLDER_ONEBLOCK_WARPS   (POLDER_ONEBLOCK / 32)
#define POLDER_ONEBLOCK_MEMBERS 24000 /* counters of two bytes in shared memory */

/* Rows of a thread that are on their way at the same time; a pragma takes no macro */
static constexpr int POLDER_ONEBLOCK_AHEAD = 8;

/* The rows of the warp of this thread: a multiple of 32 */
struct PolderWarpRows {
  PetscInt first, end;

  __device__ __forceinline__ explicit PolderWarpRows(PetscInt n)
  {
    const PetscInt part = (n + POLDER_ONEBLOCK - 1) / POLDER_ONEBLOCK * 32;

    first = (PetscInt)(threadIdx.x / 32) * part;
    end   = first + part;
  }
};

/* The sum of the values of all warps before that of this thread, each warp having the same one in all lanes; *all: of all warps. The whole block calls it */
static __device__ __forceinline__ PetscInt PolderWarpsBefore(PetscInt value, PetscInt *all)
{
  __shared__ PetscInt part[POLDER_ONEBLOCK_WARPS];
  PetscInt            sum;

  __syncthreads(); // who called it before has read
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  sum  = PolderWarpUntil(part[threadIdx.x % 32]);
  *all = __shfl_sync(0xffffffffu, sum, 31);
  return __shfl_sync(0xffffffffu, sum, threadIdx.x / 32) - value;
}

/* body(i, k) for the k-th row i of n, from zero on, with has(i); returns how many these are. The whole block calls it */
template <class Has, class Body>
static __device__ __forceinline__ PetscInt PolderBlockNumber(PetscInt n, Has has, Body body)
{
  const PolderWarpRows rows(n);
  const PetscInt       own   = rows.first + threadIdx.x % 32;
  const unsigned int   below = (1u << threadIdx.x % 32) - 1;
  unsigned int         mine  = 0; // bit r: of row own + 32 r
  PetscInt             count = 0, all;

#pragma unroll POLDER_ONEBLOCK_AHEAD
  for (int r = 0; r < 32; ++r) {
    const PetscInt i = own + 32 * r;

    if (i < rows.end && i < n && has(i)) mine |= 1u << r;
  }
  count = PolderWarpsBefore(PolderWarpSum(__popc(mine)), &all);
  for (int r = 0; rows.first + 32 * r < rows.end; ++r) {
    const unsigned int lanes = __ballot_sync(0xffffffffu, mine >> r & 1);

    if (mine >> r & 1) body(own + 32 * r, count + __popc(lanes & below));
    count += __popc(lanes);
  }
  return all;
}

/* body(i, s) for all n rows with the sum s of value() over the rows before i; returns that over all rows. The whole block calls it */
template <class Value, class Body>
static __device__ __forceinline__ PetscInt PolderBlockSum(PetscInt n, Value value, Body body)
{
  const PolderWarpRows rows(n);
  const int            lane = threadIdx.x % 32;
  PetscInt             sum  = 0, all;

#pragma unroll POLDER_ONEBLOCK_AHEAD
  for (PetscInt i = rows.first + lane; i < rows.end; i += 32) sum += i < n ? value(i) : 0;
  sum = PolderWarpsBefore(PolderWarpSum(sum), &all);
  for (PetscInt i = rows.first + lane; i < rows.end; i += 32) {
    const PetscInt own = i < n ? value(i) : 0, until = PolderWarpUntil(own);

    if (i < n) body(i, sum + until - own);
    sum += __shfl_sync(0xffffffffu, until, 31);
  }
  return all;
}
