/* Levels that are grids, from the rows of a process to those of the whole grid, one thread a row. */
#include "foreach.cuh"
#include "kernels/levelwholerow.h"

int PolderLevelWholeTake_CUDA(const PolderRows *rows, const PetscInt stride[3], PetscScalar entry[], PolderStream stream)
{
  const PolderRows A  = *rows;
  const PetscInt   s0 = stride[0], s1 = stride[1], s2 = stride[2];

  return PolderForEach(A.n, stream, [=] __device__(PetscInt i) {
    const PetscInt s[3] = {s0, s1, s2};

    PolderLevelWholeTakeRow(&A, s, i, entry);
  });
}

int PolderLevelWholeTakeOuter_CUDA(const PolderSparseRows *rows, PetscInt below, PetscScalar up[], PolderStream stream)
{
  const PolderSparseRows A = *rows;

  return PolderForEach(A.n, stream, [=] __device__(PetscInt k) { PolderLevelWholeTakeOuterRow(&A, below, k, up); });
}

int PolderLevelWholeRows_CUDA(const PolderLevelGrid *grid, const PetscScalar entry[], PetscBool pattern, PetscInt ai[], PetscInt aj[], PetscScalar aa[],
                              PolderStream stream)
{
  const PolderLevelGrid G = *grid;

  return PolderForEach(G.nc, stream, [=] __device__(PetscInt c) { PolderLevelWholeRow(&G, c, entry, pattern, ai, aj, aa); });
}
