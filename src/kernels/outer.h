/*
  Entries to other processes by the rows that have any, as a device has them, beside the rows ai, aj, aa of the local block. PolderOuterRows is on the host,
  what it leads to on the device.
*/
#pragma once

#include "launcher.h"
#include "levelmatrix.h"

/*
  row[k], start[k] <- the rows that have entries and where these begin; *count: how many. Device: in any order, the same for both; room for as many as there
  are entries
*/
PETSC_INTERN void   PolderOuterFind_Host(PetscInt n, const PetscInt ptr[], PetscInt row[], PetscInt start[], PetscInt *count);
POLDER_LAUNCHER int PolderOuterFind_CUDA(PetscInt n, const PetscInt ptr[], PetscInt row[], PetscInt start[], PetscInt *count, PolderStream stream);
/* to[k] = from[index[k]] */
PETSC_INTERN void   PolderIndexGather_Host(PetscInt n, const PetscInt index[], const PetscInt from[], PetscInt to[]);
POLDER_LAUNCHER int PolderIndexGather_CUDA(PetscInt n, const PetscInt index[], const PetscInt from[], PetscInt to[], PolderStream stream);
/* outside[] of PolderPairsOutside_Host() in these rows; the others stay as they are */
PETSC_INTERN void   PolderOuterStrength_Host(const PolderOuterRows *, PetscReal outside[]);
POLDER_LAUNCHER int PolderOuterStrength_CUDA(const PolderOuterRows *, PetscReal outside[], PolderStream stream);
/* next[] <- the largest outside[] of each of nc aggregates of the rows row[ptr[a] .. ptr[a + 1]), which is what the coarse row has there at least */
PETSC_INTERN void   PolderPairsNextOutside_Host(PetscInt nc, const PetscInt ptr[], const PetscInt row[], const PetscReal outside[], PetscReal next[]);
POLDER_LAUNCHER int PolderPairsNextOutside_CUDA(PetscInt nc, const PetscInt ptr[], const PetscInt row[], const PetscReal outside[], PetscReal next[], PolderStream stream);
/*
  What PolderLevelRows_Host() and PolderRowTotals_Host() say of these rows; d, sum and mate may be NULL. *bound is raised, *bad becomes the least of 8 i +
  kind over the rows i that cannot be used, if it was larger; *large is raised when a sum is too large
*/
PETSC_INTERN void   PolderOuterLevelRows_Host(const PolderOuterRows *, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool zero, PetscBool l1, PetscReal lone, PetscReal dinv[], PetscReal d[], PetscReal sum[], PetscInt mate[], PetscReal *bound, PetscInt64 *bad);
POLDER_LAUNCHER int PolderOuterLevelRows_CUDA(const PolderOuterRows *, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool zero, PetscBool l1, PetscReal lone, PetscReal dinv[], PetscReal d[], PetscReal sum[], PetscInt mate[], PetscReal *bound, PetscInt64 *bad, PolderStream stream);
PETSC_INTERN void   PolderOuterTotals_Host(const PolderOuterRows *, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool rows, float to[], int *large);
POLDER_LAUNCHER int PolderOuterTotals_CUDA(const PolderOuterRows *, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool rows, float to[], int *large, PolderStream stream);
