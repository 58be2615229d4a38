/* Rows of a process in two parts, on the way to one matrix of all rows, one thread a row. */
#include "foreach.cuh"
#include "kernels/splitrow.h"

int PolderSplitRowsLength_CUDA(const PolderSplitRows *rows, PetscReal length[], PolderStream stream)
{
  const PolderSplitRows A = *rows;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) { length[i] = (PetscReal)PolderSplitLength(&A, i); });
}

int PolderSplitRowsMerge_CUDA(const PolderSplitRows *rows, const PetscInt start[], PetscReal col[], PetscScalar val[], PolderStream stream)
{
  const PolderSplitRows A = *rows;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) { PolderSplitMerge(&A, i, start, col, val); });
}

int PolderIndexOfReals_CUDA(PetscInt n, const PetscReal from[], PetscInt to[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt k) { to[k] = (PetscInt)from[k]; });
}
