/* Colourings of n rows row[] (NULL: 0 .. n) of a CSR matrix with a symmetric pattern. Device: the caller zeroes *bad. */
#pragma once

#include "launcher.h"
#include "colourrow.h"

/*
  One round: colours the rows whose preceding neighbours all have a colour; left[*count] <- the other rows (left may be row on the host). Before the first
  round all colours are POLDER_COLOUR_NONE.
*/
PETSC_INTERN void   PolderColoursRound_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], PetscInt colour[], PetscInt left[],
                                            PetscInt *count);
POLDER_LAUNCHER int PolderColoursRound_CUDA(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], PetscInt colour[], PetscInt left[],
                                            PetscInt *count, PolderStream stream);
/* Two colours from the grid coordinates of the rows */
PETSC_INTERN void   PolderColoursPlaces_Host(PetscInt n, const PetscInt64 place[], PetscInt colour[]);
POLDER_LAUNCHER int PolderColoursPlaces_CUDA(PetscInt n, const PetscInt64 place[], PetscInt colour[], PolderStream stream);
/* Sets *bad when an entry joins two rows of the same colour, or when a row has no colour */
PETSC_INTERN void   PolderColoursCheck_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[], PetscInt *bad);
POLDER_LAUNCHER int PolderColoursCheck_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[], PetscInt *bad, PolderStream stream);
