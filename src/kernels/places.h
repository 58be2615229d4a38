/* Places of rows in a grid, PetscInt64 numbers of pairrow.h. Device: near[] is in host memory, *bad, which the caller zeroes, in device memory. */
#pragma once

#include "launcher.h"

/*
  place[i] <- grid point of row shift + i in a grid with the strides near[] of PolderStencilStrides_Host(); sets *bad when an entry does not join neighbours.
  stencil: all entries are at distances that neighbours of this grid can have, so that only rows where lines and planes end are looked at
*/
PETSC_INTERN void   PolderGridPlaces_Host(PetscInt m, PetscInt shift, PetscBool stencil, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3],
                                          PetscInt64 place[], PetscInt *bad);
POLDER_LAUNCHER int PolderGridPlaces_CUDA(PetscInt m, PetscInt shift, PetscBool stencil, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3],
                                          PetscInt64 place[], PetscInt *bad, PolderStream stream);
