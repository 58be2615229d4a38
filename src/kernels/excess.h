/* The excess of the rows of a hierarchy (excessrow.h). */
#pragma once

#include "launcher.h"
#include "levelmatrix.h"

/* Of the first level, and of the magnitudes in its rows: the local part, then what leads to others (before ai's rows only in the sum), then what they are */
PETSC_INTERN void   PolderExcessRows_Host(PetscInt n, const PetscInt ai[], const PetscScalar aa[], PetscReal excess[], PetscReal size[]);
POLDER_LAUNCHER int PolderExcessRows_CUDA(PetscInt n, const PetscInt ai[], const PetscScalar aa[], PetscReal excess[], PetscReal size[], PolderStream stream);
PETSC_INTERN void   PolderExcessOuterRows_Host(const PolderOuterRows *, PetscReal excess[], PetscReal size[]);
POLDER_LAUNCHER int PolderExcessOuterRows_CUDA(const PolderOuterRows *, PetscReal excess[], PetscReal size[], PolderStream stream);
PETSC_INTERN void   PolderExcessEnd_Host(PetscInt n, const PetscInt ai[], PetscBool kernel, PetscReal excess[], const PetscReal size[]);
POLDER_LAUNCHER int PolderExcessEnd_CUDA(PetscInt n, const PetscInt ai[], PetscBool kernel, PetscReal excess[], const PetscReal size[], PolderStream stream);
/* Of n aggregates whose members, and those in none behind them, PolderMembers_Host() gives */
PETSC_INTERN void   PolderExcessAggregates_Host(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscReal excess[], const PetscReal size[], PetscReal coarse[], PetscReal coarsesize[]);
POLDER_LAUNCHER int PolderExcessAggregates_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscInt agg[], const PetscReal excess[], const PetscReal size[], PetscReal coarse[], PetscReal coarsesize[], PolderStream stream);
/*
  In n coarse rows that have entries to other processes: lone, the sum and the sum of magnitudes of those to rows in no aggregate; outer, of the others.
  here <- what the excess is to the local block
*/
PETSC_INTERN void   PolderExcessLeave_Host(PetscInt n, const PetscInt row[], const PetscReal lone[], const PetscReal outer[], PetscReal excess[], PetscReal here[]);
POLDER_LAUNCHER int PolderExcessLeave_CUDA(PetscInt n, const PetscInt row[], const PetscReal lone[], const PetscReal outer[], PetscReal excess[], PetscReal here[], PolderStream stream);
/* The diagonal entries of a coarse matrix's local block */
PETSC_INTERN void   PolderExcessDiagonal_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[], PetscScalar aa[]);
POLDER_LAUNCHER int PolderExcessDiagonal_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[], PetscScalar aa[], PolderStream stream);
