/* The kernel of the factorised sparse approximate inverse. */
#pragma once

#include "launcher.h"
#include "fsairow.h"

/*
  val[] <- the rows of G for all rows of F. *bad <- the smallest of *bad and the first row whose small system is not positive definite. work[threads
  PolderFsaiWork(longest)]: threads rows are computed at once; 1 on the host
*/
PETSC_INTERN void   PolderFsaiRows_Host(const PolderFsai *F, PetscInt threads, PetscScalar work[], PetscScalar val[], PetscInt *bad);
POLDER_LAUNCHER int PolderFsaiRows_CUDA(const PolderFsai *F, PetscInt threads, PetscScalar work[], PetscScalar val[], PetscInt *bad, PolderStream stream);
