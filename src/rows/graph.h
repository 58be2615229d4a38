/* The pattern of the rows of a process, and orders of them: colours, levels, fill, independent sets. All on the host. */
#pragma once

#include "rows.h"

/* Row i has the entries begin[i] .. end[i] - 1 with columns j[], its diagonal entry may be among them, and those of ghosts bi[i] .. bi[i + 1] - 1 with columns
   bj[], which ascend; bi = NULL: none. The arrays are those of the matrix until fill or blocks give the graph its own */
typedef struct {
  PetscInt        n, nghost, nz; /* nz: entries of the matrix */
  const PetscInt *begin, *end, *j, *bi, *bj;
  PetscInt       *ownbegin, *ownend, *ownj; /* NULL: the arrays of the matrix */
  PetscInt        own;                      /* length of ownj[] */
  PetscBool       full;                     /* the fill would have been too much, and there is none */
} PolderGraph;

/* The pattern of rows on the host, which must stay as long as the graph */
PETSC_INTERN PetscErrorCode PolderGraphCreate(const PolderCSR *, PetscBool ghosts, PolderGraph *);
PETSC_INTERN PetscErrorCode PolderGraphDestroy(PolderGraph *);
/*
  Row after row receives the first colour that no row within q edges has; rows whose colour is -1 receive one, rows with another
  one keep it. *count <- one more than the largest colour of a row
*/
PETSC_INTERN PetscErrorCode PolderGraphColour(const PolderGraph *, PetscInt q, PetscInt colour[], PetscInt *count);
/* level[i] <- one more than the largest level of the neighbours that come before row i; rows in ascending key[], and then in their own order */
PETSC_INTERN PetscErrorCode PolderGraphLevels(const PolderGraph *, const PetscInt key[], PetscInt level[], PetscInt *count);
/* With fill a graph has at most so many times the entries of the matrix: the elimination of rows with thousands of neighbours could fill everything */
#define POLDER_GRAPH_FILL_MAX 100
/* Adds the fill of level p (Saad, section 10.3.3) when the rows are eliminated in that order; rows with key[] >= end are not eliminated. Nothing but full <-
   true when that is too much */
PETSC_INTERN PetscErrorCode PolderGraphFill(PolderGraph *, const PetscInt key[], PetscInt end, PetscInt p);
/* Removes the entries between different ones of n blocks of consecutive rows, or as many as there are: *nblock */
PETSC_INTERN PetscErrorCode PolderGraphBlocks(PolderGraph *, PetscInt n, PetscInt *nblock);
/* Refuses the matrix on all processes when one has a full graph. Collective */
PETSC_INTERN PetscErrorCode PolderGraphCheckFill(PC, const PolderGraph *, const char advice[]);
