/* What the kernels of deflation with labels share: parts of a scratch array, sort keys, one thread an index. */
#pragma once

#include "launch.cuh"
#include "kernels/deflation.h"

/* Divides a scratch array into aligned parts; a first pass without an array adds up the bytes */
struct PolderCarve {
  char  *base;
  size_t used;

  template <class T>
  T *take(size_t n)
  {
    T *at = (T *)(base + used);

    used += (n * sizeof(T) + 255) / 256 * 256;
    return at;
  }
};

/* Bits of the numbers 0 .. most */
static inline int PolderSortBits(PetscInt64 most)
{
  int bits = 1;

  while (bits < 63 && (most >> bits)) ++bits;
  return bits;
}

static __device__ __forceinline__ PetscInt PolderThread(void)
{
  return (PetscInt)blockIdx.x * (PetscInt)blockDim.x + (PetscInt)threadIdx.x;
}
