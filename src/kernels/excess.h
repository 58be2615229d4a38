/* Kernels for the excess of the rows of a hierarchy, see excessrow.h. */
#pragma once

#include "launcher.h"
#include "levelmatrix.h"

/*
  The excess of the rows of the first level from the sums of their entries, sum[], and of the magnitudes, size[]; sum may be excess. ai[]: rows of the
  local block; kernel: the constant is known to be in the kernel
*/
PETSC_INTERN void   PolderExcessRows_Host(PetscInt n, const PetscInt ai[], PetscBool kernel, const PetscReal sum[], const PetscReal size[], PetscReal excess[]);
POLDER_LAUNCHER int PolderExcessRows_CUDA(PetscInt n, const PetscInt ai[], PetscBool kernel, const PetscReal sum[], const PetscReal size[], PetscReal excess[],
                                          PolderStream stream);
/* The excess of the aggregates, and the sums of their magnitudes */
PETSC_INTERN void   PolderExcessAggregates_Host(const PolderAggregates *, const PolderRows *A, const PetscReal excess[], const PetscReal size[],
                                                PetscReal coarse[], PetscReal coarsesize[]);
POLDER_LAUNCHER int PolderExcessAggregates_CUDA(const PolderAggregates *, const PolderRows *A, const PetscReal excess[], const PetscReal size[],
                                                PetscReal coarse[], PetscReal coarsesize[], PolderStream stream);
/*
  Host only: lone[] holds the sum and the sum of magnitudes of the off-process entries of each of n coarse rows to rows in no aggregate, outer[] those of the
  other off-process entries. here <- the excess minus off-process contributions. PolderOuterExcess_Host() is the same for some rows.
*/
PETSC_INTERN void PolderExcessLeave_Host(PetscInt n, const PetscReal lone[], const PetscReal outer[], PetscReal excess[], PetscReal here[]);
/* Computes the diagonal entries of a coarse matrix's local block from the excess */
PETSC_INTERN void   PolderExcessDiagonal_Host(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[],
                                              PetscScalar aa[]);
POLDER_LAUNCHER int PolderExcessDiagonal_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscReal excess[], const PetscReal size[],
                                              PetscScalar aa[], PolderStream stream);
