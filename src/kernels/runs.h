/*
  Runs: rows i, i + far, i + 2 far, ... of equal label. Such a line is cut into chunks of `chunk` rows, and a run ends with its chunk. Line l starts with row
  l < far; its chunk k has the number k far + l. The runs of a chunk are numbered consecutively.
*/
#pragma once

#include "launcher.h"
#include "views.h"

typedef struct {
  PetscInt      m, far, chunk;
  unsigned int *ends;     /* bit s % 32 of word (k W + s / 32) far + l, W = ceil(chunk / 32): a run ends with row s of the chunk */
  PetscInt     *first;    /* [PolderRunsChunks() + 1] first run of each chunk; last: number of runs */
  PetscInt      n, outer; /* number of runs, and of rows with entries in the columns of other processes */
  PetscScalar  *sum;      /* [n + outer] sum over the rows of each run; and, when the sums are those of a product, what these entries add to each such row */
} PolderRuns;
static inline PetscInt PolderRunsChunks(const PolderRuns *r)
{
  const PetscInt steps = r->m ? (r->m - 1) / r->far + 1 : 0;

  return (steps + r->chunk - 1) / r->chunk * r->far;
}
/* Computes ends[], and in first[] the number of runs of each chunk */
POLDER_LAUNCHER int PolderRunsCount_CUDA(const PolderRuns *, const PetscInt label[], PolderStream stream);
/* of[run] = label of the run */
POLDER_LAUNCHER int PolderRunsLabel_CUDA(const PolderRuns *, const PetscInt label[], PetscInt of[], PolderStream stream);
/* sum[] <- sums of v over the runs */
POLDER_LAUNCHER int PolderRunsSum_CUDA(const PolderRuns *, const PetscScalar v[], PolderStream stream);
/* Does the product with such diagonals go along lines? If so, sets the chunks of the runs that PolderDiaMultRuns_CUDA() needs */
POLDER_LAUNCHER PetscBool PolderDiaRuns_CUDA(const PolderDia *A, PetscInt *far, PetscInt *chunk);
/* y = A x, *dot = (x, y), and sum[] of y */
POLDER_LAUNCHER int PolderDiaMultRuns_CUDA(const PolderDia *A, const PetscScalar x[], PetscScalar y[], PetscScalar *dot, const PolderRuns *, void *work,
                                           PolderStream stream);
