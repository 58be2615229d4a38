/* Row bodies of the colouring of a level that host and device share. */
#pragma once

#include "pairrow.h"

/* Colours are 0 .. POLDER_COLOURS - 1; a row for which none of them is free gets POLDER_COLOURS */
#define POLDER_COLOURS     64
#define POLDER_COLOUR_NONE -1

/* Is row i coloured before row j? The order is that of a hash, which avoids long chains of dependent rows */
POLDER_BODY PetscBool PolderColourBefore(PetscInt i, PetscInt j)
{
  unsigned h = (unsigned)i * 0x9E3779B1u, g = (unsigned)j * 0x9E3779B1u;

  h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
  g = (g ^ (g >> 15)) * 0x2C1B3C6Du;
  h ^= h >> 13;
  g ^= g >> 13;
  return (PetscBool)(h < g || (h == g && i < j));
}

/*
  The first colour that no row before row i has; POLDER_COLOUR_NONE while one of them is uncoloured. The result does not depend on when the other rows are
  coloured (Jones and Plassmann, SIAM J. Sci. Comput. 14, 1993)
*/
POLDER_BODY PetscInt PolderColourRow(PetscInt i, const PetscInt ai[], const PetscInt aj[], const volatile PetscInt colour[])
{
  unsigned long long taken = 0;
  PetscBool          waits = PETSC_FALSE;
  PetscInt           first = 0;

  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
    PetscInt c;

    if (aj[k] == i || !PolderColourBefore(aj[k], i)) continue;
    c = colour[aj[k]];
    if (c == POLDER_COLOURS) return c;
    if (c == POLDER_COLOUR_NONE) waits = PETSC_TRUE;
    else taken |= 1ull << c;
  }
  if (waits) return POLDER_COLOUR_NONE;
  for (; taken & 1; taken >>= 1) ++first;
  return first;
}

/* The parity of a grid point: its neighbours have the other parity */
POLDER_BODY PetscInt PolderColourOfPlace(PetscInt64 place)
{
  return (PetscInt)((place ^ place >> POLDER_PAIR_BITS ^ place >> 2 * POLDER_PAIR_BITS) & 1);
}

/* Does an entry join row i to a row of the same colour, or is row i without a valid colour? */
POLDER_BODY PetscBool PolderColourClashes(PetscInt i, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[])
{
  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
    if (aj[k] != i && colour[aj[k]] == colour[i]) return PETSC_TRUE;
  }
  return (PetscBool)(colour[i] >= POLDER_COLOURS);
}
