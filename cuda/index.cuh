/* Atomic operations on indices; integer sums, minima and maxima do not depend on the order. */
#pragma once

#include "launch.cuh"

#if defined(PETSC_USE_64BIT_INDICES)
typedef unsigned long long PolderAtomicIndex;
typedef long long          PolderSignedIndex;
#else
typedef unsigned int PolderAtomicIndex;
typedef int          PolderSignedIndex;
#endif

static __device__ __forceinline__ PetscInt PolderAtomicCAS(PetscInt *a, PetscInt expected, PetscInt value)
{
  return (PetscInt)atomicCAS((PolderAtomicIndex *)a, (PolderAtomicIndex)expected, (PolderAtomicIndex)value);
}

/* Returns what was there before */
static __device__ __forceinline__ PetscInt PolderAtomicAdd(PetscInt *a, PetscInt value)
{
  return (PetscInt)atomicAdd((PolderAtomicIndex *)a, (PolderAtomicIndex)value);
}

static __device__ __forceinline__ void PolderAtomicMin(PetscInt *a, PetscInt value)
{
  atomicMin((PolderSignedIndex *)a, (PolderSignedIndex)value);
}

static __device__ __forceinline__ void PolderAtomicMax(PetscInt *a, PetscInt value)
{
  atomicMax((PolderSignedIndex *)a, (PolderSignedIndex)value);
}

/* The bad row of the smallest index is kept, see PolderRowBad() */
static __device__ __forceinline__ void PolderFirstBad(PetscInt64 *first, PetscInt64 bad)
{
  if (bad < INT64_MAX) atomicMin((long long *)first, (long long)bad);
}

/* Minimum and maximum of a value over a warp, in lane 0 */
static __device__ __forceinline__ PetscInt PolderWarpMin(PetscInt v)
{
  for (int o = 16; o > 0; o >>= 1) {
    const PetscInt u = __shfl_down_sync(0xffffffffu, v, o);

    v = u < v ? u : v;
  }
  return v;
}

static __device__ __forceinline__ PetscInt PolderWarpMax(PetscInt v)
{
  for (int o = 16; o > 0; o >>= 1) {
    const PetscInt u = __shfl_down_sync(0xffffffffu, v, o);

    v = u > v ? u : v;
  }
  return v;
}

/* Appends the wanted rows of this warp to list[] from *count on; their positions depend on the order of the warps */
static __device__ __forceinline__ void PolderAppend(bool wanted, PetscInt i, PetscInt list[], PetscInt *count)
{
  const unsigned int active = __activemask(), which = __ballot_sync(active, wanted), lane = threadIdx.x % 32;
  const int          leader = __ffs(active) - 1;
  PetscInt           first  = 0;

  if (!which) return;
  if ((int)lane == leader) first = (PetscInt)atomicAdd((PolderAtomicIndex *)count, (PolderAtomicIndex)__popc(which));
  first = __shfl_sync(active, first, leader);
  if (wanted) list[first + __popc(which & ((1u << lane) - 1))] = i;
}

/* Appends the wanted rows of this block in the order of its threads, all of which call it: neighbours remain neighbours */
template <int BLOCK>
static __device__ __forceinline__ void PolderBlockAppend(bool wanted, PetscInt i, PetscInt list[], PetscInt *count)
{
  __shared__ PetscInt before[BLOCK / 32 + 1]; // wanted rows of the warps before; last: where those of the block begin
  const unsigned int  which = __ballot_sync(0xffffffffu, wanted), lane = threadIdx.x % 32, w = threadIdx.x / 32;

  __syncthreads(); // the call before has read
  if (lane == 0) before[w] = __popc(which);
  __syncthreads();
  if (w == 0) {
    const PetscInt n = lane < BLOCK / 32 ? before[lane] : 0, until = PolderWarpUntil(n);

    if (lane < BLOCK / 32) before[lane] = until - n;
    if (lane == 31) before[BLOCK / 32] = until ? PolderAtomicAdd(count, until) : 0;
  }
  __syncthreads();
  if (wanted) list[before[BLOCK / 32] + before[w] + __popc(which & ((1u << lane) - 1))] = i;
}
