/* Numbers that look random, for the shadow space of idrs: the same on the host and on a device, and on any number of processes. */
#pragma once

#include "launcher.h"
#include <stdint.h>

/* A number in (-1, 1) that depends on nothing but its three arguments */
POLDER_BODY PetscReal PolderShadowNumber(PetscInt seed, PetscInt column, PetscInt row)
{
  uint64_t h = (uint64_t)row * 0x9e3779b97f4a7c15u + (uint64_t)column * 0xc2b2ae3d27d4eb4fu + (uint64_t)seed * 0x165667b19e3779f9u;

  for (int k = 0; k < 2; ++k) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
  }
  h ^= h >> 32;
  return ((PetscReal)(h >> 11) + 0.5) / 4503599627370496.0 - 1; // 52 bits
}

/* a[i] <- the number of row first + i of this column, i < n */
PETSC_INTERN void   PolderShadowFill_Host(PetscInt seed, PetscInt column, PetscInt first, PetscInt n, PetscScalar a[]);
POLDER_LAUNCHER int PolderShadowFill_CUDA(PetscInt seed, PetscInt column, PetscInt first, PetscInt n, PetscScalar a[], PolderStream stream);
