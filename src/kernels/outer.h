/*
  Off-process entries stored by the rows that have any, as on the device, next to the rows A of the local block; their columns are ghosts.
*/
#pragma once

#include "launcher.h"
#include "levelmatrix.h"
#include "levelrow.h"
#include "views.h"

/* order[] <- 0 .. n - 1 by their keys, those of equal keys ascending; key[] <- the keys in that order. The time is linear. work[3 n] */
PETSC_INTERN void PolderIndexSort_Host(PetscInt n, PetscInt key[], PetscInt order[], PetscInt work[]);
/* to[k] = from[index[k]] */
PETSC_INTERN void   PolderIndexGather_Host(PetscInt n, const PetscInt index[], const PetscInt from[], PetscInt to[]);
POLDER_LAUNCHER int PolderIndexGather_CUDA(PetscInt n, const PetscInt index[], const PetscInt from[], PetscInt to[], PolderStream stream);
/* Computes outside[] of PolderPairsOutside_Host() for these rows; the other rows are unchanged */
PETSC_INTERN void   PolderOuterStrength_Host(const PolderSparseRows *, PetscReal outside[]);
POLDER_LAUNCHER int PolderOuterStrength_CUDA(const PolderSparseRows *, PetscReal outside[], PolderStream stream);
/* next[] <- the largest outside[] among the rows row[ptr[a] .. ptr[a + 1]) of each of nc aggregates: a lower bound for the coarse row */
PETSC_INTERN void   PolderPairsNextOutside_Host(PetscInt nc, const PetscInt ptr[], const PetscInt row[], const PetscReal outside[], PetscReal next[]);
POLDER_LAUNCHER int PolderPairsNextOutside_CUDA(PetscInt nc, const PetscInt ptr[], const PetscInt row[], const PetscReal outside[], PetscReal next[],
                                                PolderStream stream);
/*
  PolderLevelRows_Host() and PolderRowTotals_Host() for these rows of A; survey->diag is not written. *bound is only raised; *bad <- the minimum of its value
  and 8 i + kind over the unusable rows i; *large is set when a sum is too large.
*/
PETSC_INTERN void   PolderOuterLevelRows_Host(const PolderSparseRows *, const PolderRows *A, const PolderLevelSurvey *, PetscReal *bound, PetscInt64 *bad);
POLDER_LAUNCHER int PolderOuterLevelRows_CUDA(const PolderSparseRows *, const PolderRows *A, const PolderLevelSurvey *, PetscReal *bound, PetscInt64 *bad,
                                              PolderStream stream);
PETSC_INTERN void   PolderOuterTotals_Host(const PolderSparseRows *, const PolderRows *A, PetscBool rows, float to[], int *large);
POLDER_LAUNCHER int PolderOuterTotals_CUDA(const PolderSparseRows *, const PolderRows *A, PetscBool rows, float to[], int *large, PolderStream stream);
/*
  PolderExcessLeave_Host() for the coarse rows C, which are the aggregates P of the rows O. agg[]: the aggregate of each ghost of O, from nc on for none; NULL:
  each has one
*/
PETSC_INTERN void   PolderOuterExcess_Host(const PolderSparseRows *C, const PolderSparseRows *O, const PolderAggregates *P, const PetscInt agg[], PetscInt nc,
                                           PetscReal excess[], PetscReal here[]);
POLDER_LAUNCHER int PolderOuterExcess_CUDA(const PolderSparseRows *C, const PolderSparseRows *O, const PolderAggregates *P, const PetscInt agg[], PetscInt nc,
                                           PetscReal excess[], PetscReal here[], PolderStream stream);
