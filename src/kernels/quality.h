/*
  The two-grid condition number of an aggregate (Napov and Notay, SIAM J. Sci. Comput. 34, 2012), with the diagonal as smoother: the largest ratio

    2 sum of c_i (v_i - m)^2  /  sum of -a_ij (v_i - v_j)^2 over the couplings within the aggregate, m = sum of c_i v_i / sum of c_i

  where c_i is the part of the diagonal of row i that couples it to others (PolderPairCoupled()). Without positive couplings the largest of all aggregates
  bounds that of the level, but for the positive sums of rows
*/
#pragma once

#include "launcher.h"
#include "views.h"

/* Larger aggregates are not looked at */
#define POLDER_QUALITY_ROWS 32
/* A pivot within this part of the magnitudes of its summands is zero */
#define POLDER_QUALITY_ZERO 1e-9

typedef struct {
  PetscReal        kappa; /* the bound */
  PetscInt         large; /* what bad[] is for larger aggregates */
  PetscBool        some;  /* only those aggregates are looked at for which bad[] is not 0 */
  const PetscReal *d, *s; /* of each row: the diagonal and the sum */
} PolderQuality;

/* bad[a] <- 1 unless aggregate a of the rows of A meets the bound. Reads at[] */
PETSC_INTERN void   PolderQualityCheck_Host(const PolderAggregates *, const PolderRows *A, const PolderQuality *, PetscInt bad[]);
POLDER_LAUNCHER int PolderQualityCheck_CUDA(const PolderAggregates *, const PolderRows *A, const PolderQuality *, PetscInt bad[], PolderStream stream);
/* bad[a] <- 1 for the aggregates that a row of m has joined */
PETSC_INTERN void   PolderQualityJoined_Host(PetscInt m, const PetscInt join[], const PetscInt agg[], PetscInt bad[]);
POLDER_LAUNCHER int PolderQualityJoined_CUDA(PetscInt m, const PetscInt join[], const PetscInt agg[], PetscInt bad[], PolderStream stream);
/* Row i of m in a bad aggregate agg[i] < n no longer joins a pair or, with join = NULL, is single */
PETSC_INTERN void   PolderQualityUndo_Host(PetscInt m, const PetscInt agg[], PetscInt n, const PetscInt bad[], PetscInt mate[], PetscInt join[]);
POLDER_LAUNCHER int PolderQualityUndo_CUDA(PetscInt m, const PetscInt agg[], PetscInt n, const PetscInt bad[], PetscInt mate[], PetscInt join[],
                                           PolderStream stream);
