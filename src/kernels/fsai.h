/* The kernel of the factorised sparse approximate inverse. */
#pragma once

#include "launcher.h"
#include "fsairow.h"

/* Values of work on the host for rows with at most `longest` entries */
PETSC_INTERN size_t PolderFsaiWork_Host(PetscInt longest);
/*
  val[] <- the rows of G for all rows of F. *bad <- the smallest of *bad and the first row whose small system is not positive definite. On the device threads
  rows are computed at once, and work has threads PolderFsaiWork(longest) values
*/
PETSC_INTERN void   PolderFsaiRows_Host(const PolderFsai *F, PetscInt threads, PetscScalar work[], PetscScalar val[], PetscInt *bad);
POLDER_LAUNCHER int PolderFsaiRows_CUDA(const PolderFsai *F, PetscInt threads, PetscScalar work[], PetscScalar val[], PetscInt *bad, PolderStream stream);
