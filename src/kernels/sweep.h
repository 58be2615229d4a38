/* Kernels for the sweeps of M = (D + L) D^-1 (D + U), whose rows lie in an order of levels, and for the factors of such an M. */
#pragma once

#include "launcher.h"
#include "sweeprow.h"

/* width[t slices + s] <- the most entries of a row of slice s in triangle t, *entries <- those of all rows; zero before. S has row and place */
PETSC_INTERN void   PolderSweepWidths_Host(const PolderSweep *S, const PolderSweepEntries *E, PetscInt width[], PetscInt *entries);
POLDER_LAUNCHER int PolderSweepWidths_CUDA(const PolderSweep *S, const PolderSweepEntries *E, PetscInt width[], PetscInt *entries, PolderStream stream);
/* The columns; S has start as well */
PETSC_INTERN void   PolderSweepPattern_Host(const PolderSweep *S, const PolderSweepEntries *E);
POLDER_LAUNCHER int PolderSweepPattern_CUDA(const PolderSweep *S, const PolderSweepEntries *E, PolderStream stream);
/* The values of the matrix, whose entries outside of the pattern are left out. ghosts.i = NULL: they are outside */
PETSC_INTERN void   PolderSweepValues_Host(const PolderSweep *S, PolderRows own, PolderRows ghosts);
POLDER_LAUNCHER int PolderSweepValues_CUDA(const PolderSweep *S, PolderRows own, PolderRows ghosts, PolderStream stream);
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
