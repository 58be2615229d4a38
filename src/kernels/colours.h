/* Colours of n rows row[] (NULL: 0 .. n) of a CSR matrix with a symmetric pattern. Device: *bad is zero on entry. */
#pragma once

#include "launcher.h"
#include "colourrow.h"

/*
  Colours those rows whose neighbours before them have their colour; left[*count] <- the others (may be row on the host). All are POLDER_COLOUR_NONE before
  the first round
*/
PETSC_INTERN void   PolderColoursRound_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], PetscInt colour[], PetscInt left[], PetscInt *count);
POLDER_LAUNCHER int PolderColoursRound_CUDA(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], PetscInt colour[], PetscInt left[], PetscInt *count, PolderStream stream);
/* Two colours by the places of the rows in a grid */
PETSC_INTERN void   PolderColoursPlaces_Host(PetscInt n, const PetscInt64 place[], PetscInt colour[]);
POLDER_LAUNCHER int PolderColoursPlaces_CUDA(PetscInt n, const PetscInt64 place[], PetscInt colour[], PolderStream stream);
/* *bad is raised when an entry joins two rows of a colour, or when a row has none */
PETSC_INTERN void   PolderColoursCheck_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[], PetscInt *bad);
POLDER_LAUNCHER int PolderColoursCheck_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[], PetscInt *bad, PolderStream stream);
