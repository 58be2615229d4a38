/*
  A level that is a grid of which each process has whole planes, on the way to a whole level on every process: the rows of a process as arrays by directions,
  and the rows of the whole grid from the arrays of all.
*/
#pragma once

#include "levelgrid.h"
#include "views.h"

/* entry[d][i] <- the entry of row i to its upper neighbour in direction d, whose number is higher by stride[d]; entry[3][i] <- its diagonal entry. Each is zero
   where there is none; entry[d] is entry + d n */
PETSC_INTERN void   PolderLevelWholeTake_Host(const PolderRows *, const PetscInt stride[3], PetscScalar entry[]);
POLDER_LAUNCHER int PolderLevelWholeTake_CUDA(const PolderRows *, const PetscInt stride[3], PetscScalar entry[], PolderStream stream);
/* The same, of direction dir, of off-process entries: those of ghosts g >= below are of rows of the next process. up: entry + dir n */
PETSC_INTERN void   PolderLevelWholeTakeOuter_Host(const PolderSparseRows *, PetscInt below, PetscScalar up[]);
POLDER_LAUNCHER int PolderLevelWholeTakeOuter_CUDA(const PolderSparseRows *, PetscInt below, PetscScalar up[], PolderStream stream);
/* The rows of the grid csize[] x ... of G, all nc = csize[0] csize[1] csize[2] of them, from such arrays of it. pattern: ai and aj are written as well */
PETSC_INTERN void   PolderLevelWholeRows_Host(const PolderLevelGrid *, const PetscScalar entry[], PetscBool pattern, PetscInt ai[], PetscInt aj[],
                                              PetscScalar aa[]);
POLDER_LAUNCHER int PolderLevelWholeRows_CUDA(const PolderLevelGrid *, const PetscScalar entry[], PetscBool pattern, PetscInt ai[], PetscInt aj[],
                                              PetscScalar aa[], PolderStream stream);
