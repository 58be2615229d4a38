/*
  Rows of a process in two parts, own columns and those of other processes, on the way to one matrix of all rows on every process. What goes between devices are
  real numbers: indices travel as such.
*/
#pragma once

#include "launcher.h"
#include "views.h"

/* The rows of a process, and where they are among those of all */
typedef struct {
  PetscInt         n, first; /* number of rows, and the number of the first one among those of all */
  PolderRows       own;
  PolderSparseRows outer; /* of some rows, ascending: the entries in columns of other processes, which number ghosts */
  const PetscInt  *ghost; /* the number of each ghost among the rows of all */
} PolderSplitRows;

/* length[i] <- number of entries of row i in both parts */
PETSC_INTERN void   PolderSplitRowsLength_Host(const PolderSplitRows *, PetscReal length[]);
POLDER_LAUNCHER int PolderSplitRowsLength_CUDA(const PolderSplitRows *, PetscReal length[], PolderStream stream);
/* The entries of row i, with columns among the rows of all, from position start[i] - start[0] on: those of ghosts before the process first, if the outer ones
   begin with them, then its own. col = NULL: values only */
PETSC_INTERN void   PolderSplitRowsMerge_Host(const PolderSplitRows *, const PetscInt start[], PetscReal col[], PetscScalar val[]);
POLDER_LAUNCHER int PolderSplitRowsMerge_CUDA(const PolderSplitRows *, const PetscInt start[], PetscReal col[], PetscScalar val[], PolderStream stream);
/* to[] <- from[] */
PETSC_INTERN void   PolderIndexOfReals_Host(PetscInt n, const PetscReal from[], PetscInt to[]);
POLDER_LAUNCHER int PolderIndexOfReals_CUDA(PetscInt n, const PetscReal from[], PetscInt to[], PolderStream stream);
