/*
  Which entries the incomplete factors of the diagonal blocks of a matrix have: the rows of each block in the order of levels, and the interleaved arrays of
  PolderIlu. A level follows those of all rows of its block that its rows have an entry with, in either triangle.
*/
#pragma once

#include "ilu.h"

/*
  The entries of the rows of blocks before they are ordered. Block b has the block rows block[b] .. block[b + 1] - 1. Block row p has the entries
  i[row[p]] .. i[row[p] + 1] - 1, and those count whose column is a block row of the same block. With column[], entry k is in the column of the block row
  column[j[k]], and at k of the values of the matrix. Without it, block rows can share rows of entries: entry k is in the column of the block row p + j[k], and
  at base[p] + source[k] of the values of the matrix, nowhere for source[k] = -1. NULL stands for row[p] = p, and for base[p] = 0
*/
typedef struct {
  PetscInt        nblock, nrow;
  const PetscInt *block, *i, *j, *row, *column, *source, *base;
} PolderIluGraph;

/* to[list[k]] = k */
PETSC_INTERN void   PolderIluInvert_Host(PetscInt n, const PetscInt list[], PetscInt to[]);
POLDER_LAUNCHER int PolderIluInvert_CUDA(PetscInt n, const PetscInt list[], PetscInt to[], PolderStream stream);
/* to[k] = from[list[k]] */
PETSC_INTERN void   PolderIluGather_Host(PetscInt n, const PetscInt list[], const PetscInt from[], PetscInt to[]);
POLDER_LAUNCHER int PolderIluGather_CUDA(PetscInt n, const PetscInt list[], const PetscInt from[], PetscInt to[], PolderStream stream);

/*
  level[p] <- the level of block row p within its block, number[b] <- the number of levels of block b; both are zero before. entries[t nrow + p] <- how many
  entries block row p has in triangle t
*/
PETSC_INTERN void   PolderIluLevels_Host(const PolderIluGraph *, PetscInt level[], PetscInt number[], PetscInt entries[]);
POLDER_LAUNCHER int PolderIluLevels_CUDA(const PolderIluGraph *, PetscInt level[], PetscInt number[], PetscInt entries[], PolderStream stream);
/* level[p] += first[b] for the rows of block b: levels of all blocks */
PETSC_INTERN void   PolderIluNumberLevels_Host(const PolderIluGraph *, const PetscInt first[], PetscInt level[]);
POLDER_LAUNCHER int PolderIluNumberLevels_CUDA(const PolderIluGraph *, const PetscInt first[], PetscInt level[], PolderStream stream);

/*
  number[p]: which of nrow rows block row p is in the order of levels, NULL: number[p] = p. width[t slices + s] and sum[t slices + s] <- the most entries[] of a
  row of slice s in triangle t, and their sum; zero before
*/
PETSC_INTERN void   PolderIluWidths_Host(PetscInt nrow, const PetscInt entries[], const PetscInt number[], PetscInt width[], PetscInt sum[]);
POLDER_LAUNCHER int PolderIluWidths_CUDA(PetscInt nrow, const PetscInt entries[], const PetscInt number[], PetscInt width[], PetscInt sum[],
                                         PolderStream stream);
/*
  apart[2 slices] says which slices are stored row after row, and the pointers that belong to these are written behind it. order[number[p]] = p;
  start[2 (slices + 1)]: where the slices of both triangles begin
*/
PETSC_INTERN void   PolderIluPoint_Host(PetscInt nrow, const PetscInt entries[], const PetscInt order[], const PetscInt start[], PetscInt apart[]);
POLDER_LAUNCHER int PolderIluPoint_CUDA(PetscInt nrow, const PetscInt entries[], const PetscInt order[], const PetscInt start[], PetscInt apart[],
                                        PolderStream stream);
/*
  place: number[] of the block row of each column of the matrix, which is number[] without column[]. ilu has the sizes, start[] and
  apart[]; col[nz] and source[nz + nrow] <- its arrays of these names
*/
PETSC_INTERN void   PolderIluPattern_Host(const PolderIluGraph *, const PolderIlu *ilu, const PetscInt order[], const PetscInt place[], PetscInt col[],
                                          PetscInt source[]);
POLDER_LAUNCHER int PolderIluPattern_CUDA(const PolderIluGraph *, const PolderIlu *ilu, const PetscInt order[], const PetscInt place[], PetscInt col[],
                                          PetscInt source[], PolderStream stream);
