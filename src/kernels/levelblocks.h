/*
  Blocks of a few rows that are coupled about as strongly as a positive semi-definite matrix allows, some of them with positive entries, as the corners of flat
  finite elements are. Gauss-Seidel by rows hardly reduces what satisfies their stiff equations; solving each block exactly does. A step corrects x on the
  blocks one after another, each by the exact solution for its residual.
*/
#pragma once

#include "launcher.h"
#include "views.h"

#define POLDER_BLOCK_ROWS 32

/*
  Block k has the rows row[ptr[k] .. ptr[k + 1]), ascending, and from factor[at[k]] on the rows of its Cholesky factor, with the diagonal inverted, or 0 for
  dependent rows, which the block leaves out
*/
typedef struct {
  PetscInt         n;
  PetscInt        *ptr, *row, *at;
  PetscReal       *factor;
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
/* Computes the factors */
PETSC_INTERN void PolderBlockFactor_Host(const PolderRows *, const PolderLevelBlocks *);
/* x += the corrections on all blocks, in their order or backward, for the right-hand side b */
PETSC_INTERN void PolderBlockStep_Host(const PolderRows *, const PolderLevelBlocks *, PetscBool backward, const PetscScalar b[], PetscScalar x[]);
PETSC_INTERN void PolderBlockStepSingle_Host(const PolderRows *, const PolderLevelBlocks *, PetscBool backward, const float b[], float x[]);
