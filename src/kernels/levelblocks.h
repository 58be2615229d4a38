/*
  Blocks of a few rows that are coupled about as strongly as a positive semi-definite matrix allows, some of them with positive entries, as the corners of flat
  finite elements are. Gauss-Seidel by rows hardly reduces what satisfies their stiff equations; solving each block exactly does. A step corrects x on the
  blocks one after another, each by the exact solution for its residual.
*/
#pragma once

#include "launcher.h"
#include "views.h"

#define POLDER_BLOCK_ROWS 32
/* Blocks for which no colour is left are not solved */
#define POLDER_BLOCK_COLOURS 63

/*
  Block k has the rows row[ptr[k] .. ptr[k + 1]), ascending, and from factor[at[k]] on the rows of its Cholesky factor, with the diagonal inverted, or 0 for
  dependent rows, which the block leaves out. The blocks of colour c are order[colour[c] .. colour[c + 1]). None of them is coupled to another, so a step takes
  them at once
*/
typedef struct {
  PetscInt         n, ncolour;
  PetscInt        *ptr, *row, *at, *order;
  PetscInt        *colour; /* on the host */
  PetscReal       *factor;
  PetscBool        own;   /* the matrix that kernels get has no other rows: those of row[] */
  PetscReal        flops; /* of a step */
  const PetscReal *shift; /* [n] is added to the diagonal of the matrix; NULL: nothing */
} PolderLevelBlocks;

/*
  *count <- the couplings a_ij, i < j, with |a_ij| > theta sqrt(a_ii a_jj); returns whether one of them is positive. Unless pair is NULL, pair[2 k] <- i,
  pair[2 k + 1] <- j or for a negative coupling -1 - j, and strength[k] <- -|a_ij| / sqrt(a_ii a_jj). d[n] is the diagonal
*/
PETSC_INTERN PetscBool PolderBlockPairs_Host(const PolderRows *, const PetscReal d[], PetscReal theta, PetscInt *count, PetscInt pair[], PetscReal strength[]);
/*
  Joins the rows of the pairs, in the given order, to blocks of up to POLDER_BLOCK_ROWS rows; the list keeps those that have a positive pair. It has space for
  2 count rows and count blocks; work[3 n]
*/
PETSC_INTERN void PolderBlockJoin_Host(PetscInt n, PetscInt count, const PetscInt order[], const PetscInt pair[], PetscInt work[], PolderLevelBlocks *);
/* Computes order[n] and colour[POLDER_BLOCK_COLOURS + 1]; A is square and symmetric in pattern with n rows; work[n + B->n] */
PETSC_INTERN void PolderBlockColour_Host(PetscInt n, const PolderRows *A, PetscInt work[], PolderLevelBlocks *);
/* Computes the factors */
PETSC_INTERN void PolderBlockFactor_Host(const PolderRows *, const PolderLevelBlocks *);
/* x += the corrections on the blocks of colour c for the right-hand side b; x += those on all blocks, colour after colour or backward */
PETSC_INTERN void   PolderBlockCorrect_Host(const PolderRows *, const PolderLevelBlocks *, PetscInt c, const PetscScalar b[], PetscScalar x[]);
PETSC_INTERN void   PolderBlockCorrectSingle_Host(const PolderRows *, const PolderLevelBlocks *, PetscInt c, const float b[], float x[]);
POLDER_LAUNCHER int PolderBlockCorrect_CUDA(PetscBool single, const PolderRows *, const PolderLevelBlocks *, PetscInt c, const void *b, void *x,
                                            PolderStream stream);
PETSC_INTERN void   PolderBlockStep_Host(const PolderRows *, const PolderLevelBlocks *, PetscBool backward, const PetscScalar b[], PetscScalar x[]);
PETSC_INTERN void   PolderBlockStepSingle_Host(const PolderRows *, const PolderLevelBlocks *, PetscBool backward, const float b[], float x[]);
/*
  The pairs on the device, in the same order: ptr[i + 1] <- their number in row i, and *positive <- 1 if one is positive; then, with ptr[] summed up, pair[]
  and strength[]
*/
POLDER_LAUNCHER int PolderBlockCount_CUDA(const PolderRows *, const PetscReal d[], PetscReal theta, PetscInt ptr[], PetscInt *positive, PolderStream stream);
POLDER_LAUNCHER int PolderBlockFill_CUDA(const PolderRows *, const PetscReal d[], PetscReal theta, const PetscInt ptr[], PetscInt pair[], PetscReal strength[],
                                         PolderStream stream);
/*
  Only pairs that are connected to a positive one can be in a block. mark[i] <- 1 for the rows of positive pairs; then, again and again, for both rows of pairs
  of which one is marked, and *more <- 1 where that was new
*/
PETSC_INTERN void   PolderBlockSeed_Host(PetscInt count, const PetscInt pair[], PetscInt mark[]);
POLDER_LAUNCHER int PolderBlockSeed_CUDA(PetscInt count, const PetscInt pair[], PetscInt mark[], PolderStream stream);
PETSC_INTERN void   PolderBlockSpread_Host(PetscInt count, const PetscInt pair[], PetscInt mark[], PetscInt *more);
POLDER_LAUNCHER int PolderBlockSpread_CUDA(PetscInt count, const PetscInt pair[], PetscInt mark[], PetscInt *more, PolderStream stream);
/* keep[k + 1] <- is pair k one of marked rows? */
PETSC_INTERN void   PolderBlockKeep_Host(PetscInt count, const PetscInt pair[], const PetscInt mark[], PetscInt keep[]);
POLDER_LAUNCHER int PolderBlockKeep_CUDA(PetscInt count, const PetscInt pair[], const PetscInt mark[], PetscInt keep[], PolderStream stream);
/* The pairs that are kept, in their order, with marked rows numbered anew, given keep[count + 1] and number[n + 1], the sums of mark[]; row[] <- these rows */
PETSC_INTERN void   PolderBlockTake_Host(PetscInt count, const PetscInt pair[], const PetscReal strength[], const PetscInt number[], const PetscInt keep[],
                                         PetscInt kept[], PetscReal keptstrength[]);
POLDER_LAUNCHER int PolderBlockTake_CUDA(PetscInt count, const PetscInt pair[], const PetscReal strength[], const PetscInt number[], const PetscInt keep[],
                                         PetscInt kept[], PetscReal keptstrength[], PolderStream stream);
PETSC_INTERN void   PolderBlockMarked_Host(PetscInt n, const PetscInt number[], PetscInt row[]);
POLDER_LAUNCHER int PolderBlockMarked_CUDA(PetscInt n, const PetscInt number[], PetscInt row[], PolderStream stream);
/* C->ptr[k + 1] <- the entries of row C->row[k] of A; then, with ptr[] summed up, copies of these rows */
PETSC_INTERN void   PolderRowsLength_Host(const PolderRows *A, const PolderSparseRows *C);
POLDER_LAUNCHER int PolderRowsLength_CUDA(const PolderRows *A, const PolderSparseRows *C, PolderStream stream);
PETSC_INTERN void   PolderRowsTake_Host(const PolderRows *A, const PolderSparseRows *C);
POLDER_LAUNCHER int PolderRowsTake_CUDA(const PolderRows *A, const PolderSparseRows *C, PolderStream stream);
