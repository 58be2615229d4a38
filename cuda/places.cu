/* Places of rows in a grid. */
#include "foreach.cuh"
#include "module.cuh"
#include "kernels/pairrow.h"
#include "kernels/places.h"

int PolderGridPlaces_CUDA(PetscInt m, PetscInt shift, PetscBool stencil, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt64 place[],
                          PetscInt *bad, PolderStream stream)
{
  const PetscInt one = near[0], line = near[1], plane = near[2];

  return PolderForEach(m, stream, [=] __device__(PetscInt i) {
    const PetscInt   stride[3]  = {one, line, plane};
    const PetscInt64 p          = PolderPairPlaceOf(i + shift, stride);
    const int        closed     = PolderPairClosed(p, stride);
    int              directions = 0;

    place[i] = p;
    if (stencil && closed == POLDER_PAIR_ASTRAY) return;
    for (PetscInt k = ai[i], end = ai[i + 1]; k < end; ++k) directions |= PolderPairHeading(aj[k] - i, stride);
    if (directions & closed) *bad = 1;
  });
}

POLDER_MODULE(Places)
