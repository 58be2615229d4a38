/* Stars of wider stencils, one thread a row. */
#include "count.cuh"
#include "foreach.cuh"
#include "kernels/starrow.h"

int PolderStarRows_CUDA(const PolderStarGrid *grid, PetscInt first, PolderRows A, PolderRows ghosts, const PetscInt garray[], const PolderStarParts *parts,
                        PetscInt count[], PolderStream stream)
{
  const PolderStarGrid  G = *grid;
  const PolderStarParts P = *parts;

  return PolderCountBits<POLDER_STAR_COUNTS>(A.n, count, stream,
                                             [=] __device__(PetscInt i) { return PolderStarPartsRow(&G, first, i, &A, &ghosts, garray, &P); });
}

int PolderStarPattern_CUDA(const PolderStarGrid *grid, PetscInt first, PetscInt n, PetscInt ptr[], PetscInt col[], PolderStream stream)
{
  const PolderStarGrid G      = *grid;
  const PetscInt       before = PolderStarBegin(grid, first);

  return PolderForEach(n + 1, stream, [=] __device__(PetscInt i) {
    ptr[i] = PolderStarBegin(&G, first + i) - before;
    if (i < n) (void)PolderStarColumns(&G, first + i, col + ptr[i]);
  });
}

int PolderStarValues_CUDA(const PolderStarGrid *grid, PetscInt first, PetscInt n, const PolderStarParts *parts, PetscInt, const PetscInt[], const PetscScalar[],
                          const PetscInt ptr[], PetscScalar val[], PolderStream stream)
{
  const PolderStarGrid  G = *grid;
  const PolderStarParts P = *parts;

  return PolderForEach(n, stream, [=] __device__(PetscInt i) { PolderStarValuesRow(&G, first, n, i, &P, 0, nullptr, nullptr, ptr[i], val); });
}

int PolderStarEdges_CUDA(const PolderPlanes *planes, int d, const PetscReal half[], PetscScalar edge[], PolderStream stream)
{
  const PolderPlanes at = *planes;

  return PolderForEach(at.below + at.above, stream, [=] __device__(PetscInt k) { PolderStarEdge(k, &at, d, half, edge); });
}

int PolderStarAcross_CUDA(const PolderPlanes *planes, const PolderStarGrid *own, const PetscScalar edge[], const PetscScalar beyond[], const PetscInt ptr[],
                          PetscScalar outer[], PetscScalar val[], PolderStream stream)
{
  const PolderPlanes   at = *planes;
  const PolderStarGrid G  = *own;

  return PolderForEach(at.below + at.above, stream, [=] __device__(PetscInt k) { PolderStarAcrossEntry(k, &at, &G, edge, beyond, ptr, outer, val); });
}

int PolderStarStep_CUDA(PetscInt n, PetscReal damping, const PetscReal diagonal[], PetscScalar d[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) { d[i] = diagonal[i] > 0 ? damping / diagonal[i] : 0; });
}

int PolderStarAdd_CUDA(PetscInt n, const PetscScalar d[], const PetscScalar r[], PetscScalar z[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) { z[i] += d[i] * r[i]; });
}
