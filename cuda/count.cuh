/* Counts of a whole grid. */
#pragma once

#include "kernels/launcher.h"

/* *count += the sum of n over the threads of a block, all of which take part */
static __device__ __forceinline__ void PolderCount(PetscInt64 n, PetscInt64 *count)
{
  for (int o = 16; o > 0; o >>= 1) n += __shfl_down_sync(0xffffffffu, n, o);
  if (threadIdx.x % 32 == 0) atomicAdd((unsigned long long *)count, (unsigned long long)n);
}
