/*
  Pairs of rows of A. mate[i] = j and mate[j] = i form a pair; mate[i] = i is single; other values are POLDER_PAIR_FREE and POLDER_PAIR_LONE. Device: counts
  are in device memory.
*/
#pragma once

#include "launcher.h"
#include "pairrow.h"

/* outside[i] <- the largest coupling of row i in the off-process block */
PETSC_INTERN void PolderPairsOutside_Host(PetscInt n, const PetscInt bi[], const PetscScalar ba[], PetscReal outside[]);
/* next[i] <- the preferred partner of row i of these rows, or POLDER_PAIR_NONE */
PETSC_INTERN void   PolderPairsPropose_Host(const PolderRows *A, PolderRowList rows, const PolderPairRule *rule, const PetscInt mate[], PetscInt next[]);
POLDER_LAUNCHER int PolderPairsPropose_CUDA(const PolderRows *A, PolderRowList rows, const PolderPairRule *rule, const PetscInt mate[], PetscInt next[],
                                            PolderStream stream);
/* On a grid: count[d] <- number of proposals along direction d, over all rows, none of them paired yet */
PETSC_INTERN void   PolderPairsDirections_Host(PetscInt m, const PolderPairRule *rule, const PetscInt next[], PetscInt count[3]);
POLDER_LAUNCHER int PolderPairsDirections_CUDA(PetscInt m, const PolderPairRule *rule, const PetscInt next[], PetscInt count[3], PolderStream stream);
/* next[i] <- the partner that lines up along the direction of the largest count, or POLDER_PAIR_WAIT */
PETSC_INTERN void   PolderPairsAlign_Host(const PolderRows *A, const PolderPairRule *rule, const PetscInt count[3], const PetscInt mate[], PetscInt next[]);
POLDER_LAUNCHER int PolderPairsAlign_CUDA(const PolderRows *A, const PolderPairRule *rule, const PetscInt count[3], const PetscInt mate[], PetscInt next[],
                                          PolderStream stream);
/*
  Pairs those of the rows that propose to each other, and leaves rows without any partner single; left[*count] <- the rows still free. Host: left[] may be
  rows.row. Device: it may not, and is in any order.
*/
PETSC_INTERN void   PolderPairsMatch_Host(PolderRowList rows, const PetscInt next[], PetscInt mate[], PetscInt left[], PetscInt *count);
POLDER_LAUNCHER int PolderPairsMatch_CUDA(PolderRowList rows, const PetscInt next[], PetscInt mate[], PetscInt left[], PetscInt *count, PolderStream stream);
/*
  Both for as many rounds, each with the rows that the one before has left free; rows that are free after the last one become single. there: the first *there of
  the rows alone, which become single at once where they are fewer than `few`; NULL: all of them. left[2][] and next[] are scratch, left[0] other than rows.row.
  Device: so is seen[rounds]; one kernel
*/
PETSC_INTERN void   PolderPairsRounds_Host(const PolderRows *A, PolderRowList rows, const PetscInt *there, PetscInt few, const PolderPairRule *rule,
                                           PetscInt rounds, PetscInt mate[], PetscInt next[], PetscInt *const left[2], PetscInt seen[]);
POLDER_LAUNCHER int PolderPairsRounds_CUDA(const PolderRows *A, PolderRowList rows, const PetscInt *there, PetscInt few, const PolderPairRule *rule,
                                           PetscInt rounds, PetscInt mate[], PetscInt next[], PetscInt *const left[2], PetscInt seen[], PolderStream stream);
/*
  Makes pairs one after another, rows with the fewest free strong neighbours first (Notay, ETNA 37, 2010); numbers of neighbours above `most` compare as
  equal; work[3 n + most + 1]
*/
PETSC_INTERN void PolderPairsGreedy_Host(const PolderRows *A, const PolderPairRule *rule, PetscInt most, PetscInt mate[], PetscInt work[]);
/* join[i] <- for a single row its strongest neighbour if that has a partner; otherwise i */
PETSC_INTERN void   PolderPairsJoin_Host(const PolderRows *A, const PolderPairRule *rule, const PetscInt mate[], PetscInt join[]);
POLDER_LAUNCHER int PolderPairsJoin_CUDA(const PolderRows *A, const PolderPairRule *rule, const PetscInt mate[], PetscInt join[], PolderStream stream);
/*
  agg[i] <- number of the pair of row i, or of that of join[i] (NULL: no row joins), ascending with the first row of the pair; rows in no pair get *count, the
  number of pairs. Device: work of PolderPairsWork_CUDA() bytes for m rows, which also suffices for PolderPointers_CUDA() up to m + 1.
*/
PETSC_INTERN void   PolderPairsNumber_Host(PetscInt m, const PetscInt mate[], const PetscInt join[], PetscInt agg[], PetscInt *count);
POLDER_LAUNCHER int PolderPairsNumber_CUDA(PetscInt m, const PetscInt mate[], const PetscInt join[], PetscInt agg[], PetscInt *count, void *work, size_t bytes,
                                           PolderStream stream);
POLDER_LAUNCHER size_t PolderPairsWork_CUDA(PetscInt m);
/* next[] (may be place[], on the host only) <- the coarse grid points of the pairs, made along the direction of the largest count */
PETSC_INTERN void   PolderPairsNextPlaces_Host(PetscInt m, const PetscInt mate[], const PetscInt join[], const PetscInt agg[], const PetscInt count[3],
                                               const PetscInt64 place[], PetscInt64 next[]);
POLDER_LAUNCHER int PolderPairsNextPlaces_CUDA(PetscInt m, const PetscInt mate[], const PetscInt join[], const PetscInt agg[], const PetscInt count[3],
                                               const PetscInt64 place[], PetscInt64 next[], PolderStream stream);
/* to[i] <- next[agg[i]]; nc where agg[i] is n, for none; to[] may be agg[] */
PETSC_INTERN void   PolderPairsCompose_Host(PetscInt m, PetscInt n, const PetscInt next[], PetscInt nc, const PetscInt agg[], PetscInt to[]);
POLDER_LAUNCHER int PolderPairsCompose_CUDA(PetscInt m, PetscInt n, const PetscInt next[], PetscInt nc, const PetscInt agg[], PetscInt to[],
                                            PolderStream stream);
/* Computes ptr[], row[] and, unless it is NULL, at[] from agg[]. Device: key[2][m] is scratch, of which key[1] may be at, and work as above */
PETSC_INTERN void   PolderMembers_Host(const PolderAggregates *);
POLDER_LAUNCHER int PolderMembers_CUDA(const PolderAggregates *, PetscInt *const key[2], void *work, size_t bytes, PolderStream stream);
