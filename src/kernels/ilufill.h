/*
  Which entries ILU(k) of the diagonal blocks of a matrix has, each row found by itself (Hysom and Pothen 2001). Take the rows of a block as vertices and its
  entries as directed edges. Entry (i, j) has at most level k of fill exactly if a walk of at most k + 1 edges leads from i to j through vertices below both.
*/
#pragma once

#include "ilupattern.h"

/* The search for a row has a table of its own: powers of 2 from the least to the most slots, of which three quarters can be used */
#define POLDER_ILU_FILL_LEAST 256
#define POLDER_ILU_FILL_MOST  4096

/*
  g: the entries of the matrix, with column[], in blocks of fewer than 2^31 rows. entries[p] <- how many entries block row p has in ILU(k), its diagonal entry
  among them in any case. all[0] += their sum, all[1] <- 1 if a search needed more slots; else it stays. Nothing else counts then. all[1] is zero before
*/
PETSC_INTERN void   PolderIluFillCount_Host(const PolderIluGraph *g, PetscInt k, PetscInt slots, PetscInt entries[], PetscInt64 all[2]);
POLDER_LAUNCHER int PolderIluFillCount_CUDA(const PolderIluGraph *g, PetscInt k, PetscInt slots, PetscInt entries[], PetscInt64 all[2], PolderStream stream);
/*
  With so many slots that the searches succeed: the entries of block row p, ascending, from first[p] on. j[] and source[] <- those of the graph of ILU(k), whose
  i[] is first[], and which has neither column[] nor row[] and base[]
*/
PETSC_INTERN void   PolderIluFillRows_Host(const PolderIluGraph *g, PetscInt k, PetscInt slots, const PetscInt first[], PetscInt j[], PetscInt source[]);
POLDER_LAUNCHER int PolderIluFillRows_CUDA(const PolderIluGraph *g, PetscInt k, PetscInt slots, const PetscInt first[], PetscInt j[], PetscInt source[],
                                           PolderStream stream);
