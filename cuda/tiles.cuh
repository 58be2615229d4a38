/* The numbering of the tiles on and below the diagonal of a symmetric matrix. */
#pragma once

#include "launch.cuh"

/* Tile t of the lower triangle, counted by rows, is tile (I, J) */
static __device__ __forceinline__ void PolderTriangleTile(PetscInt t, PetscInt *I, PetscInt *J)
{
  *I = (PetscInt)((sqrtf(8.0f * (float)t + 1.0f) - 1.0f) * 0.5f);
  while ((*I + 1) * (*I + 2) / 2 <= t) ++*I;
  while (*I * (*I + 1) / 2 > t) --*I;
  *J = t - *I * (*I + 1) / 2;
}
