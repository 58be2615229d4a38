/* Sums over runs of rows of equal label, computed by a thread while it moves along a line of the grid. */
#pragma once

#include "launch.cuh"
#include "kernels/runs.h"

static __host__ __device__ __forceinline__ PetscInt RunsWords(const PolderRuns &r)
{
  return (r.chunk + 31) / 32;
}

struct RunsSum {
  const unsigned int *ends;
  PetscScalar        *to;
  double              sum;
  unsigned int        word;
  int                 left;

  /* Begins chunk k of a line */
  __device__ __forceinline__ void begin(const PolderRuns &r, PetscInt k, PetscInt line)
  {
    ends = r.ends + ((size_t)k * RunsWords(r) * r.far + line);
    to   = r.sum + r.first[(size_t)k * r.far + line];
    sum  = 0;
    left = 0;
  }

  __device__ __forceinline__ void add(const PolderRuns &r, double v)
  {
    if (left == 0) {
      word = *ends;
      ends += r.far;
      left = 32;
    }
    sum += v;
    if (word & 1u) {
      *to++ = sum;
      sum   = 0;
    }
    word >>= 1;
    --left;
  }
};
