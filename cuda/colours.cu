/*
  Colours of the rows of a level, one thread a row. Within a round a thread may or may not see the colours that others write: the number of rounds depends on
  it, but not the colours.
*/
#include "foreach.cuh"
#include "index.cuh"
#include "kernels/colourrow.h"
#include "kernels/colours.h"

int PolderColoursRound_CUDA(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], PetscInt colour[], PetscInt left[], PetscInt *count,
                            PolderStream stream)
{
  const int err = cudaMemsetAsync(count, 0, sizeof(*count), stream);

  return err ? err : PolderForEach(n, stream, [=] __device__(PetscInt k) {
    const PetscInt i = row ? row[k] : k, c = PolderColourRow(i, ai, aj, colour);

    if (c != POLDER_COLOUR_NONE) *(volatile PetscInt *)(colour + i) = c;
    PolderAppend(c == POLDER_COLOUR_NONE, i, left, count);
  });
}

int PolderColoursPlaces_CUDA(PetscInt n, const PetscInt64 place[], PetscInt colour[], PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) { colour[i] = PolderColourOfPlace(place[i]); });
}

int PolderColoursCheck_CUDA(PetscInt n, const PetscInt ai[], const PetscInt aj[], const PetscInt colour[], PetscInt *bad, PolderStream stream)
{
  return PolderForEach(n, stream, [=] __device__(PetscInt i) {
    if (PolderColourClashes(i, ai, aj, colour)) *bad = 1;
  });
}
