/*
  Incomplete factors L D U of the diagonal blocks of a matrix. L and U have a unit diagonal, D is stored inverted. For a symmetric matrix U = L^T to the last
  digit.

  The rows of a block are numbered in the order of levels. A level follows those of the rows that its rows depend on, in L or in the transpose of U. So the rows
  of a level can be solved for in parallel, forward in this order and backward in the reverse. All blocks lie in one set of arrays, block after block. The
  entries of a triangle are interleaved in slices of 32 rows: entry k of row i is at start[i / 32] + 32 k + i % 32. A few long rows would fill their slices with
  entries that are none, so slices can also be stored row after row: PolderIluSpanOf() says where the entries of a row are.
*/
#pragma once

#include "launcher.h"

#define POLDER_ILU_SLICE 32

typedef struct {
  PetscInt        nblock, nrow, nz;         /* nz: entries of both triangles, with those that only fill slices */
  PetscInt        largest, widest, deepest; /* the most rows of a block, rows of a level, levels of a block */
  const PetscInt *row;                      /* [nblock + 1] first row of each block */
  const PetscInt *level;                    /* [nblock + 1] first level of each block */
  const PetscInt *first;                    /* [level[nblock] + 1] first row of each level */
  const PetscInt *start[2];                 /* strictly lower, strictly upper: [number of slices + 1] first entry of each slice */
  const PetscInt *apart;   /* [2 slices] a of each slice; 0: interleaved; else its rows begin at apart[a], apart[a + 1], ... NULL: all interleaved */
  const PetscInt *col;     /* [nz] row numbers within the block, ascending; an entry that only fills the slice has the number of its own row */
  const PetscInt *source;  /* [nz + nrow] position in the values of the matrix of each entry and then of each diagonal entry; -1: none */
  PetscBool       inorder; /* a host solves for row after row in place of levels */
} PolderIlu;

typedef struct {
  PetscReal       tol;      /* a pivot of at most this times the sum of the absolute values of its row counts as zero */
  PetscBool       positive; /* and so does a negative one */
  PetscReal       drop;     /* entries below this times the geometric mean of the sums of their row and of that of their column become zero */
  const PetscInt *todo;     /* [nblock] factor this block? */
  PetscReal      *shift;    /* [nblock] times that sum is added to each diagonal entry, away from zero or, with positive, up */
  PetscReal      *sum;      /* [nrow] <- the sums of the absolute values of the rows */
  PetscInt       *zero;     /* [nblock] of these blocks: the first row with a zero pivot; the number of rows when there is none */
  PetscInt       *bad;      /* [nblock] the same for rows with an entry that is not finite */
  PetscInt64     *updates;  /* how many times an entry was updated is added to this */
  void           *work;     /* of as many bytes as PolderIluWork_Host() or PolderIluWork_CUDA() says */
} PolderIluPivots;

/*
  val[nz + nrow] <- the entries of the triangles and then the inverse of D, from the values aa[] of the matrix. A row with a zero pivot has the inverse 0.
  Until a block is done its upper triangle is D U, and a_ij <- a_ij - (w_ic w_cj) / d_c, l_ic = w_ic / d_c. This order of the factors makes L = U^T for a
  symmetric matrix
*/
PETSC_INTERN size_t    PolderIluWork_Host(const PolderIlu *ilu);
POLDER_LAUNCHER size_t PolderIluWork_CUDA(const PolderIlu *ilu);
PETSC_INTERN void      PolderIluFactor_Host(const PolderIlu *ilu, const PolderIluPivots *pivots, const PetscScalar aa[], PetscScalar val[]);
POLDER_LAUNCHER int PolderIluFactor_CUDA(const PolderIlu *ilu, const PolderIluPivots *pivots, const PetscScalar aa[], PetscScalar val[], PolderStream stream);

/*
  x[nrow]: what a solve with the factors val[] makes of sum[]. Of the blocks with todo[b], a shift and good pivots: zero[b] <- the first row with |d x| beyond
  most times sum[], if there is one
*/
PETSC_INTERN void   PolderIluGrowth_Host(const PolderIlu *ilu, const PolderIluPivots *pivots, PetscReal most, const PetscScalar val[], const PetscScalar x[]);
POLDER_LAUNCHER int PolderIluGrowth_CUDA(const PolderIlu *ilu, const PolderIluPivots *pivots, PetscReal most, const PetscScalar val[], const PetscScalar x[],
                                         PolderStream stream);

/* val in single precision; *row <- the smallest of *row and the first row with an entry beyond its range */
PETSC_INTERN void   PolderIluRound_Host(const PolderIlu *ilu, const PetscScalar val[], float rounded[], PetscInt *row);
POLDER_LAUNCHER int PolderIluRound_CUDA(const PolderIlu *ilu, const PetscScalar val[], float rounded[], PetscInt *row, PolderStream stream);

/*
  Factors without their zeros, on the same rows and levels. entries[t nrow + i] <- how many entries of row i of triangle t are not zero; the slices of `to`
  follow from them; col[to->nz] and packed[to->nz + nrow] <- these entries, where an entry that only fills the slice has a column of the row
*/
PETSC_INTERN void   PolderIluCount_Host(const PolderIlu *ilu, const PetscScalar val[], PetscInt entries[]);
POLDER_LAUNCHER int PolderIluCount_CUDA(const PolderIlu *ilu, const PetscScalar val[], PetscInt entries[], PolderStream stream);
PETSC_INTERN void   PolderIluPack_Host(const PolderIlu *ilu, const PetscScalar val[], const PolderIlu *to, PetscInt col[], PetscScalar packed[]);
POLDER_LAUNCHER int PolderIluPack_CUDA(const PolderIlu *ilu, const PetscScalar val[], const PolderIlu *to, PetscInt col[], PetscScalar packed[],
                                       PolderStream stream);

typedef struct {
  PetscInt           n;      /* entry e of the right-hand side is r[e] for e < n, else ghost[e - n] */
  const PetscInt    *number; /* [nrow] the rows of each block in the order of from[] and to[]: that of their entries makes these accesses consecutive */
  const PetscInt    *from;   /* [nrow] the entry that row number[k] reads */
  const PetscInt    *to;     /* [nrow] the entry of z that it writes, -1: none; NULL: every row writes its own entry of x */
  const PetscScalar *weight; /* of each entry that is read; NULL: 1 */
  const PetscScalar *r, *ghost;
  PetscScalar       *x; /* [nrow] work */
  PetscScalar       *z;
  PetscInt           sweeps;    /* 0: the triangles are solved with; else this many Jacobi sweeps for each */
  PetscScalar       *sweepx[2]; /* [nrow] work of the sweeps */
} PolderIluVectors;

/*
  U^-1 D^-1 L^-1 of each block; single: val[] is float. n sweeps in place of T^-1 b, T = I + N: x_0 = b, x_k+1 = b - N x_k, which is b - N b + ... of
  n + 1 terms; so U = L^T gives a symmetric operator
*/
PETSC_INTERN void   PolderIluSolve_Host(const PolderIlu *ilu, PetscBool single, const void *val, const PolderIluVectors *v);
POLDER_LAUNCHER int PolderIluSolve_CUDA(const PolderIlu *ilu, PetscBool single, const void *val, const PolderIluVectors *v, PolderStream stream);

/* z[e] = weight[e] times the sum of x[list[k]], ptr[e] <= k < ptr[e + 1]; weight = NULL: 1 */
PETSC_INTERN void   PolderIluAdd_Host(PetscInt n, const PetscInt ptr[], const PetscInt list[], const PetscScalar weight[], const PetscScalar x[],
                                      PetscScalar z[]);
POLDER_LAUNCHER int PolderIluAdd_CUDA(PetscInt n, const PetscInt ptr[], const PetscInt list[], const PetscScalar weight[], const PetscScalar x[],
                                      PetscScalar z[], PolderStream stream);
