/*
  n rows row[] (NULL: 0 .. n) of a CSR matrix find partners among each other; mate[i] = j and mate[j] = i, or one of POLDER_PAIR_FREE, POLDER_PAIR_LONE, or
  i: alone in its aggregate. sum[] and diag[]: row sums and diagonal, NULL when rule->kappa is 0. Device: counts, near[] but that of
  PolderPairsPlaces_CUDA(), and bad are device memory, and *bad is zero on entry.
*/
#pragma once

#include "launcher.h"
#include "pairrow.h"

/* outside[i] <- the largest coupling of row i in the block to other processes */
PETSC_INTERN void PolderPairsOutside_Host(PetscInt n, const PetscInt bi[], const PetscScalar ba[], PetscReal outside[]);
/* next[i] <- the partner that row i would have, or POLDER_PAIR_NONE */
PETSC_INTERN void PolderPairsPropose_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[], const PolderPairRule *rule, const PetscInt mate[], PetscInt next[]);
POLDER_LAUNCHER int PolderPairsPropose_CUDA(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[], const PolderPairRule *rule, const PetscInt mate[], PetscInt next[], PolderStream stream);
/* place[i] <- that of row shift + i in a grid with the strides near[] of PolderStencilStrides_Host(); *bad is raised when an entry joins no neighbours */
PETSC_INTERN void   PolderPairsPlaces_Host(PetscInt m, PetscInt shift, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt64 place[], PetscInt *bad);
POLDER_LAUNCHER int PolderPairsPlaces_CUDA(PetscInt m, PetscInt shift, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt64 place[], PetscInt *bad, PolderStream stream);
/* On a grid: count[d] <- how many proposals go along direction d; all rows, none paired yet */
PETSC_INTERN void   PolderPairsDirections_Host(PetscInt m, const PolderPairRule *rule, const PetscInt next[], PetscInt count[3]);
POLDER_LAUNCHER int PolderPairsDirections_CUDA(PetscInt m, const PolderPairRule *rule, const PetscInt next[], PetscInt count[3], PolderStream stream);
/* next[i] <- the partner with which pairs line up along the direction of the largest count, or POLDER_PAIR_WAIT */
PETSC_INTERN void   PolderPairsAlign_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PolderPairRule *rule, const PetscInt count[3], const PetscInt mate[], PetscInt next[]);
POLDER_LAUNCHER int PolderPairsAlign_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PolderPairRule *rule, const PetscInt count[3], const PetscInt mate[], PetscInt next[], PolderStream stream);
/*
  Pairs where both would, a row alone where it has no one; left[*count] <- the rows that are free still. Host: left[] may be row[]; device: it may not, and
  is in any order
*/
PETSC_INTERN void   PolderPairsMatch_Host(PetscInt n, const PetscInt row[], const PetscInt next[], PetscInt mate[], PetscInt left[], PetscInt *count);
POLDER_LAUNCHER int PolderPairsMatch_CUDA(PetscInt n, const PetscInt row[], const PetscInt next[], PetscInt mate[], PetscInt left[], PetscInt *count, PolderStream stream);
/* Leaves the rows row[] alone */
PETSC_INTERN void   PolderPairsSingle_Host(PetscInt n, const PetscInt row[], PetscInt mate[]);
POLDER_LAUNCHER int PolderPairsSingle_CUDA(PetscInt n, const PetscInt row[], PetscInt mate[], PolderStream stream);
/* Pairs made one after another, rows with the fewest free strong neighbours first (Notay, ETNA 37, 2010), counted up to most; work[3 m + most + 1] */
PETSC_INTERN void PolderPairsGreedy_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[], const PolderPairRule *rule, PetscInt most, PetscInt mate[], PetscInt work[]);
/* join[i] <- for a row alone, its strongest neighbour if that has a partner; else i */
PETSC_INTERN void PolderPairsJoin_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[], const PolderPairRule *rule, const PetscInt mate[], PetscInt join[]);
POLDER_LAUNCHER int PolderPairsJoin_CUDA(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal sum[], const PetscReal diag[], const PolderPairRule *rule, const PetscInt mate[], PetscInt join[], PolderStream stream);
/*
  agg[i] <- number of the pair of row i, or of that of join[i] (NULL: no one joins), ascending with its first row; rows in none get the number of pairs,
  which is *count. Device: work of PolderPairsWork_CUDA() bytes for m rows, also for PolderPointers_CUDA() of up to m + 1
*/
PETSC_INTERN void      PolderPairsNumber_Host(PetscInt m, const PetscInt mate[], const PetscInt join[], PetscInt agg[], PetscInt *count);
POLDER_LAUNCHER int    PolderPairsNumber_CUDA(PetscInt m, const PetscInt mate[], const PetscInt join[], PetscInt agg[], PetscInt *count, void *work, size_t bytes, PolderStream stream);
POLDER_LAUNCHER size_t PolderPairsWork_CUDA(PetscInt m);
/* next[] (may be place[] on the host alone) <- the places of the pairs, made along the direction of the largest count */
PETSC_INTERN void   PolderPairsNextPlaces_Host(PetscInt m, const PetscInt mate[], const PetscInt join[], const PetscInt agg[], const PetscInt count[3], const PetscInt64 place[], PetscInt64 next[]);
POLDER_LAUNCHER int PolderPairsNextPlaces_CUDA(PetscInt m, const PetscInt mate[], const PetscInt join[], const PetscInt agg[], const PetscInt count[3], const PetscInt64 place[], PetscInt64 next[], PolderStream stream);
/* agg[i] <- next[agg[i]], nc where agg[i] = n is none */
PETSC_INTERN void   PolderPairsCompose_Host(PetscInt m, PetscInt n, const PetscInt next[], PetscInt nc, PetscInt agg[]);
POLDER_LAUNCHER int PolderPairsCompose_CUDA(PetscInt m, PetscInt n, const PetscInt next[], PetscInt nc, PetscInt agg[], PolderStream stream);
/* row[ptr[a] .. ptr[a + 1]) <- the rows of aggregate a, ascending; agg[i] = n is none, ptr[n + 2]. Device: key[m] and number[m] are scratch */
PETSC_INTERN void   PolderMembers_Host(PetscInt m, const PetscInt agg[], PetscInt n, PetscInt ptr[], PetscInt row[]);
POLDER_LAUNCHER int PolderMembers_CUDA(PetscInt m, const PetscInt agg[], PetscInt n, PetscInt ptr[], PetscInt row[], PetscInt key[], PetscInt number[], void *work, size_t bytes, PolderStream stream);
