/* Gathers the records of all processes on every process. */
#pragma once

#include "core.h"

/* Gathers n records of the given size from every process, in the order of the ranks. all is the address of a pointer, which the caller frees with
   PetscFree(). Collective */
PETSC_INTERN PetscErrorCode PolderGatherAll(MPI_Comm, PetscInt n, const void *mine, size_t size, PetscInt *total, void *all);
