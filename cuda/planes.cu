/* Off-process entries between planes, a thread an entry or a box. */
#include "foreach.cuh"
#include "kernels/planesrow.h"

int PolderPlanesEntries_CUDA(const PolderPlanes *planes, const PolderSparseRows *rows, PolderStream stream)
{
  const PolderPlanes     at  = *planes;
  const PolderSparseRows O   = *rows;
  const cudaError_t      err = cudaMemsetAsync(O.ptr, 0, sizeof(*O.ptr), stream);

  return err ? (int)err : PolderForEach(at.below + at.above, stream, [=] __device__(PetscInt k) { PolderPlanesEntry(k, &at, &O); });
}

int PolderPlanesBoxes_CUDA(const PolderPlanesLevels *levels, PetscInt target[], const PolderAggregates *aggregates, PolderStream stream)
{
  const PolderPlanesLevels L   = *levels;
  const PolderAggregates   P   = *aggregates;
  const cudaError_t        err = cudaMemsetAsync(P.ptr, 0, 2 * sizeof(*P.ptr), stream);

  return err ? (int)err : PolderForEach(L.coarse.below + L.coarse.above, stream, [=] __device__(PetscInt t) { PolderPlanesBox(t, &L, target, &P); });
}

int PolderPlanesSums_CUDA(const PolderAggregates *aggregates, const PetscScalar from[], PetscScalar to[], PolderStream stream)
{
  const PolderAggregates P = *aggregates;

  return PolderForEach(P.n, stream, [=] __device__(PetscInt t) { to[t] = PolderPlanesSum(t, &P, from); });
}

int PolderPlanesLone_CUDA(const PolderPlanes *planes, const PetscInt agg[], PetscInt nc, PetscInt *some, PolderStream stream)
{
  const PolderPlanes at = *planes;

  return PolderForEach(at.below + at.above, stream, [=] __device__(PetscInt k) {
    if (agg[PolderPlanesRow(k, &at)] >= nc) *some = 1;
  });
}
