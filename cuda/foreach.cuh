/* A kernel that runs a loop body for every index. */
#pragma once

#include "launch.cuh"

/* body(i) for 0 <= i < n */
template <class Body>
static __global__ void __launch_bounds__(POLDER_BLOCK) PolderForEachKernel(PetscInt n, const __grid_constant__ Body body)
{
  PolderBegin();
  const PetscInt i = (PetscInt)blockIdx.x * POLDER_BLOCK + threadIdx.x;

  if (i < n) body(i);
}

template <class Body>
static int PolderForEach(PetscInt n, PolderStream stream, Body body)
{
  if (n > 0) PolderLaunchEarly(PolderForEachKernel<Body>, PolderBlocks(n, POLDER_BLOCK), POLDER_BLOCK, stream, n, body);
  return cudaGetLastError();
}
