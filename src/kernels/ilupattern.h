/*
  Which entries the incomplete factors of the diagonal blocks of a matrix have: the rows of each block in the order of levels, and the interleaved arrays of
  PolderIlu. A level follows those of all rows of its block that its rows have an entry with, in either triangle.
*/
#pragma once

#include "ilu.h"

/*
  The entries of the rows of blocks before they are ordered. Block b has the block rows block[b] .. block[b + 1] - 1. Block row p has the entries
  i[row[p]] .. i[row[p] + 1] - 1; entry k is in column j[k], which is block row column[j[k]], and counts where that is in the same block. row = column = NULL:
  the rows and columns are block rows. Entry k is at source[k] of the values of the matrix, at k for source = NULL, nowhere for -1
*/
typedef struct {
  PetscInt        nblock, nrow;
  const PetscInt *block, *i, *j, *row, *column, *source;
} PolderIluGraph;

/* to[list[k]] = k */
PETSC_INTERN void   PolderIluInvert_Host(PetscInt n, const PetscInt list[], PetscInt to[]);
POLDER_LAUNCHER int PolderIluInvert_CUDA(PetscInt n, const PetscInt list[], PetscInt to[], PolderStream stream);
/* to[k] = from[list[k]] */
PETSC_INTERN void   PolderIluGather_Host(PetscInt n, const PetscInt list[], const PetscInt from[], PetscInt to[]);
POLDER_LAUNCHER int PolderIluGather_CUDA(PetscInt n, const PetscInt list[], const PetscInt from[], PetscInt to[], PolderStream stream);

/* level[p] <- the level of block row p within its block, number[b] <- the number of levels of block b; both are zero before */
PETSC_INTERN void   PolderIluLevels_Host(const PolderIluGraph *, PetscInt level[], PetscInt number[]);
POLDER_LAUNCHER int PolderIluLevels_CUDA(const PolderIluGraph *, PetscInt level[], PetscInt number[], PolderStream stream);
/* level[p] += first[b] for the rows of block b: levels of all blocks */
PETSC_INTERN void   PolderIluNumberLevels_Host(const PolderIluGraph *, const PetscInt first[], PetscInt level[]);
POLDER_LAUNCHER int PolderIluNumberLevels_CUDA(const PolderIluGraph *, const PetscInt first[], PetscInt level[], PolderStream stream);

/* order[a]: the block row that is row a in the order of levels. width[t slices + s] <- the most entries of a row of slice s in triangle t, zero before */
PETSC_INTERN void   PolderIluPatternWidths_Host(const PolderIluGraph *, const PetscInt order[], PetscInt width[]);
POLDER_LAUNCHER int PolderIluPatternWidths_CUDA(const PolderIluGraph *, const PetscInt order[], PetscInt width[], PolderStream stream);
/* place[order[a]] = a. ilu has the sizes and start[]; col[nz] and source[nz + nrow] <- its arrays of these names */
PETSC_INTERN void   PolderIluPattern_Host(const PolderIluGraph *, const PolderIlu *ilu, const PetscInt order[], const PetscInt place[], PetscInt col[],
                                          PetscInt source[]);
POLDER_LAUNCHER int PolderIluPattern_CUDA(const PolderIluGraph *, const PolderIlu *ilu, const PetscInt order[], const PetscInt place[], PetscInt col[],
                                          PetscInt source[], PolderStream stream);

/* count[0] <- entries of both triangles without those that only fill slices, count[1] <- updates of an entry in a factorisation; both zero before */
PETSC_INTERN void   PolderIluCount_Host(const PolderIlu *ilu, PetscInt64 count[2]);
POLDER_LAUNCHER int PolderIluCount_CUDA(const PolderIlu *ilu, PetscInt64 count[2], PolderStream stream);
