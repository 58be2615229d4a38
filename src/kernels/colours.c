/* Colourings of the rows of a level: no entry joins two rows of the same colour. */
#include "colours.h"

void PolderColoursRound_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], PetscInt colour[], PetscInt left[], PetscInt *count)
{
  PetscInt nleft = 0;

  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt i = row ? row[k] : k;

    colour[i] = PolderColourRow(i, ai, aj, colour);
    if (colour[i] == POLDER_COLOUR_NONE) left[nleft++] = i;
  }
  *count = nleft;
}

void PolderColoursPlaces_Host(PetscInt n, const PetscInt64 place[], PetscInt colour[])
{
  for (PetscInt i = 0; i < n; ++i) colour[i] = PolderColourOfPlace(place[i]);
}

void PolderColoursCheck_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[], PetscInt *bad)
{
  for (PetscInt i = 0; i < n; ++i) {
    if (PolderColourClashes(i, ai, aj, colour)) *bad = 1;
  }
}
