/* Random numbers of the tests of kernels, the same on every machine. */
#pragma once

#include <petscsys.h>

/* The state, which each program begins with a value of its own */
extern unsigned int seed;

static inline PetscInt Next(PetscInt below)
{
  seed = seed * 1664525u + 1013904223u;
  return (PetscInt)((seed >> 8) % (unsigned int)below);
}

/* In [-1, 1) */
static inline PetscScalar Number(void)
{
  return Next(2000) / 1000.0 - 1.0;
}
