/*
  Classes of equal rows of a stencil stored by diagonals. Where coefficients are constant but for jumps, a matrix has few different rows. One byte a row then
  names its class, and a table that stays in the first-level cache has the entries, with the same bits as the diagonals.
*/
#pragma once

#include "launcher.h"
#include "views.h"

/* Points of the largest stencil; a row of the table: its entries, then its inverse diagonal */
#define POLDER_DIA_POINTS  7
#define POLDER_DIA_INVERSE POLDER_DIA_POINTS
#define POLDER_DIA_WIDTH   (POLDER_DIA_POINTS + 1)
/* The codes, and the last of them, which says that a row is in no class: its entries are those of the diagonals */
#define POLDER_DIA_CODES     256
#define POLDER_DIA_CLASSLESS (POLDER_DIA_CODES - 1)

/* Entry d of the rows with code c, 0 outside the matrix, is table[c * POLDER_DIA_WIDTH + d] */
struct _PolderDiaClasses {
  PetscScalar        table[POLDER_DIA_CODES * POLDER_DIA_WIDTH];
  float              single[POLDER_DIA_CODES * POLDER_DIA_WIDTH]; /* the same rounded */
  unsigned long long bits[POLDER_DIA_CODES * POLDER_DIA_WIDTH];   /* the bits of what the stencil has */
  unsigned int       key[POLDER_DIA_CODES];                       /* their hash, 0: there is no such class */
  PetscInt           used, lost, rest;                            /* classes; rows of the sample for which none was left; rows in no class */
  PetscInt           probed;                                      /* device: rows before the sample for which none was left */
};

typedef enum {
  POLDER_DIA_DOUBLE,
  POLDER_DIA_SINGLE,
  POLDER_DIA_BFLOAT
} PolderDiaEntries;

/* The diagonals of a square stencil of up to POLDER_DIA_POINTS points; main: number of the main one */
typedef struct {
  PetscInt         m, nd, main, off[POLDER_DIA_POINTS];
  PolderDiaEntries entries;
  const void      *val[POLDER_DIA_POINTS];
  const float     *inverse; /* NULL: one over the entries of the main diagonal */
} PolderDiaStencil;

static inline PolderDiaStencil PolderDiaStencilOf(PetscInt m, PetscInt nd, PetscInt main, const PetscInt off[], PolderDiaEntries entries,
                                                  const void *const val[], const float *inverse)
{
  PolderDiaStencil S = {m, nd, main, {0}, entries, {NULL}, inverse};

  for (PetscInt d = 0; d < nd; ++d) {
    S.off[d] = off[d];
    S.val[d] = val[d];
  }
  return S;
}

/* So many rows may be in no class: one that has a code saves its bytes many times, and one that has none loses them many times */
static inline PetscInt PolderDiaMostClassless(PetscInt m)
{
  return m / 16;
}

/*
  Finds classes in a sample of the rows and then in rows that are in none of these, and sets code[] of all rows. If the sample has too many different rows,
  C->rest becomes S->m and code[] is not set. Device: C is there; which rows are in no class depends on the order of the threads if there are too many
  different ones.
*/
PETSC_INTERN void   PolderDiaClassify_Host(const PolderDiaStencil *S, unsigned char code[], PolderDiaClasses *C);
POLDER_LAUNCHER int PolderDiaClassify_CUDA(const PolderDiaStencil *S, unsigned char code[], PolderDiaClasses *C, PolderStream stream);
/* Do the kernels for such a stencil read classes? Those of the host do from POLDER_DIA_LEAST rows on, whose entries are more than a second-level cache holds */
#define POLDER_DIA_LEAST 60000
PETSC_INTERN PetscBool    PolderDiaClassesServe_Host(const PolderDiaStencil *S);
POLDER_LAUNCHER PetscBool PolderDiaClassesServe_CUDA(const PolderDiaStencil *S);
