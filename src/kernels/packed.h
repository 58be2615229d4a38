/*
  Compressed rows packed by diagonals, as they cross to a device. Each row has its values on the diagonals first .. nd - 1, zero where it has no entry, and a
  bit for each of the nd diagonals, which tells whether it has an entry there. With first > 0 the matrix is symmetric, the offsets are so too, and an entry on
  a diagonal below `first` has the value of its mirror image; first = nd packs no values.
  The packed rows are in pieces of `rows` rows, the last one shorter. A piece of n rows is a column of n values for each stored diagonal, then a column of n
  bytes for each eight bits.
*/
#pragma once

#include "launcher.h"

enum {
  POLDER_PACKED_DIAGONALS = 32 /* bits of an unsigned int */
};

typedef struct {
  PetscInt m, nd, first, rows;
  PetscInt off[POLDER_PACKED_DIAGONALS]; /* ascending */
} PolderPacked;

/* Bytes of a packed row */
static inline size_t PolderPackedBytes(const PolderPacked *P)
{
  return sizeof(PetscScalar) * (size_t)(P->nd - P->first) + (size_t)((P->nd + 7) / 8);
}

/* Offsets of the diagonals with entries in a sample of the rows, ascending; PETSC_FALSE: they are too many */
PETSC_INTERN PetscBool PolderPackOffsets(PetscInt m, const PetscInt ai[], const PetscInt aj[], PetscInt *nd, PetscInt off[POLDER_PACKED_DIAGONALS]);
/*
  Packs the rows i0 .. i0 + n as one piece. PETSC_FALSE: the columns of a row do not ascend, an entry lies on no diagonal, or the value of an entry below
  `first` is not that of its mirror image
*/
PETSC_INTERN PetscBool PolderPackRows(const PolderPacked *, PetscInt i0, PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[],
                                      void *piece);
/* ai[i] <- number of entries of row i, ai[m] <- 0 */
PETSC_INTERN void   PolderUnpackCounts_Host(const PolderPacked *, const void *packed, PetscInt ai[]);
POLDER_LAUNCHER int PolderUnpackCounts_CUDA(const PolderPacked *, const void *packed, PetscInt ai[], PolderStream stream);
/* The columns and, unless aa is NULL, the values of the rows that begin at ai[]; aj = NULL: only the values */
PETSC_INTERN void   PolderUnpackRows_Host(const PolderPacked *, const void *packed, const PetscInt ai[], PetscInt aj[], PetscScalar aa[]);
POLDER_LAUNCHER int PolderUnpackRows_CUDA(const PolderPacked *, const void *packed, const PetscInt ai[], PetscInt aj[], PetscScalar aa[], PolderStream stream);
