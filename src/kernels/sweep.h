/* Kernels for the sweeps of M = (D + L) D^-1 (D + U), whose rows lie in an order of levels, and for the factors of such an M. */
#pragma once

#include "launcher.h"
#include "sweeprow.h"

/* val[k] = aa[source[k]], or ba[source[k] - split] from split on; 0 where source[k] is -1 */
PETSC_INTERN void PolderSweepTake_Host(PetscInt n, const PetscInt source[], PetscInt split, const PetscScalar aa[], const PetscScalar ba[], PetscScalar val[]);
POLDER_LAUNCHER int PolderSweepTake_CUDA(PetscInt n, const PetscInt source[], PetscInt split, const PetscScalar aa[], const PetscScalar ba[], PetscScalar val[],
                                         PolderStream stream);
/*
  Places first .. last, which do not depend on each other: eliminates the rows of the places below `eliminate`, adds omega times what falls outside of the
  pattern to the diagonal, and inverts the diagonal. *bad <- the smallest of *bad and the first row whose pivot is not positive.
*/
PETSC_INTERN void   PolderSweepFactor_Host(const PolderSweep *, PetscInt first, PetscInt last, PetscInt eliminate, PetscReal omega, PetscInt *bad);
POLDER_LAUNCHER int PolderSweepFactor_CUDA(const PolderSweep *, PetscInt first, PetscInt last, PetscInt eliminate, PetscReal omega, PetscInt *bad,
                                           PolderStream stream);
/* Places first .. last of x = (D + L)^-1 r */
PETSC_INTERN void   PolderSweepForward_Host(const PolderSweep *, PetscInt first, PetscInt last, const PetscScalar r[], PetscScalar x[]);
POLDER_LAUNCHER int PolderSweepForward_CUDA(const PolderSweep *, PetscInt first, PetscInt last, const PetscScalar r[], PetscScalar x[], PolderStream stream);
/* Places first .. last of x <- (D + U)^-1 D x, also stored in z */
PETSC_INTERN void   PolderSweepBackward_Host(const PolderSweep *, PetscInt first, PetscInt last, PetscScalar x[], PetscScalar z[]);
POLDER_LAUNCHER int PolderSweepBackward_CUDA(const PolderSweep *, PetscInt first, PetscInt last, PetscScalar x[], PetscScalar z[], PolderStream stream);
