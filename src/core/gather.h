/* Records of all processes on every process. */
#pragma once

#include "core.h"

/* The n records of the given size at mine, of all processes in the order of their ranks. all is the address of a pointer, to be freed with PetscFree().
   Collective */
PETSC_INTERN PetscErrorCode PolderGatherAll(MPI_Comm, PetscInt n, const void *mine, size_t size, PetscInt *total, void *all);
