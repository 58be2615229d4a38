/* Connected components of the rows of a CSR matrix; parent[i] <- the smallest row of the component of row i. */
#pragma once

#include "launcher.h"

/* An entry joins its row and column when their classes are equal; rows of negative class get -1 */
PETSC_INTERN void   PolderComponentsByClass_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt cls[], PetscInt parent[]);
POLDER_LAUNCHER int PolderComponentsByClass_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt cls[], PetscInt parent[],
                                                 PolderStream stream);
/* A nonzero entry joins its row and column when their scales differ by at most the factor jump; rows of scale 0 get -1 */
PETSC_INTERN void   PolderComponentsByScale_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar scale[],
                                                 PetscReal jump, PetscInt parent[]);
POLDER_LAUNCHER int PolderComponentsByScale_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar scale[],
                                                 PetscReal jump, PetscInt parent[], PolderStream stream);
/* scale[i] = max(scale[i], max_j |a_ij|), j != i when skipdiag is set */
PETSC_INTERN void   PolderRowScale_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool skipdiag, PetscScalar scale[]);
POLDER_LAUNCHER int PolderRowScale_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool skipdiag, PetscScalar scale[],
                                        PolderStream stream);
