/*
  Runs of rows i, i + far, i + 2 far, ... of one label. Such a line is cut into chunks of `chunk` rows, and a run does not go beyond its chunk. Line l is
  that of row l < far; its chunk k has number k far + l, and its runs follow each other.
*/
#pragma once

#include "launcher.h"

typedef struct {
  PetscInt      m, far, chunk;
  unsigned int *ends;  /* bit s % 32 of word (k W + s / 32) far + l, W = ceil(chunk / 32): a run ends with row s of the chunk */
  PetscInt     *first; /* [PolderRunsChunks() + 1] run that a chunk begins with; in the end their number */
  PetscScalar  *sum;   /* of the rows of a run */
} PolderRuns;
static inline PetscInt PolderRunsChunks(const PolderRuns *r)
{
  const PetscInt steps = r->m ? (r->m - 1) / r->far + 1 : 0;

  return (steps + r->chunk - 1) / r->chunk * r->far;
}
/* ends[], and in first[] the number of runs of each chunk */
POLDER_LAUNCHER int PolderRunsCount_CUDA(const PolderRuns *, const PetscInt label[], PolderStream stream);
/* of[run] = its label */
POLDER_LAUNCHER int PolderRunsLabel_CUDA(const PolderRuns *, const PetscInt label[], PetscInt of[], PolderStream stream);
/* sum[] of v */
POLDER_LAUNCHER int PolderRunsSum_CUDA(const PolderRuns *, const PetscScalar v[], PolderStream stream);
/* Is the product with such diagonals made line by line? Then the chunks of the runs that PolderDiaMultRuns_CUDA() takes */
POLDER_LAUNCHER PetscBool PolderDiaRuns_CUDA(PetscInt m, PetscInt n, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], PetscInt *far, PetscInt *chunk);
/* y = A x, *dot = (x, y) and sum[] of y */
POLDER_LAUNCHER int PolderDiaMultRuns_CUDA(PetscInt m, PetscInt nd, const PetscInt off[], const PetscScalar *const val[], const PetscScalar x[], PetscScalar y[], PetscScalar *dot, const PolderRuns *, void *work, PolderStream stream);
