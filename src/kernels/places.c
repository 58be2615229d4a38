/* Places of rows in a grid. */
#include "pairrow.h"
#include "places.h"

/* Does row i have the entries of the row before, shifted by one? */
static PetscBool PlacesRepeat(const PetscInt ai[], const PetscInt aj[], PetscInt i)
{
  const PetscInt nz   = ai[i + 1] - ai[i];
  int            same = i > 0 && ai[i] - ai[i - 1] == nz;

  for (PetscInt k = ai[i]; same && k < ai[i + 1]; ++k) same = aj[k] == aj[k - nz] + 1;
  return (PetscBool)same;
}

/* Do entries of the rows i .. end, which lie in one line, join no neighbours? */
static PetscBool PlacesStray(PetscInt i, PetscInt end, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], const PetscInt64 place[])
{
  int directions = 0, stray = 0;

  for (PetscInt first = i; i < end; ++i) {
    if (i == first || !PlacesRepeat(ai, aj, i)) {
      directions = 0;
      for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) directions |= PolderPairHeading(aj[k] - i, near);
    }
    stray |= directions & PolderPairClosed(place[i], near);
  }
  return (PetscBool)(stray != 0);
}

void PolderGridPlaces_Host(PetscInt m, PetscInt shift, PetscBool stencil, const PetscInt ai[], const PetscInt aj[], const PetscInt near[3], PetscInt64 place[],
                           PetscInt *bad)
{
  int stray = 0;

  for (PetscInt i = 0, end; i < m; i = end) { // line by line
    const PetscInt64 first = PolderPairPlaceOf(i + shift, near);

    end = PetscMin(m, i + near[1] - (i + shift) % near[1]);
    for (PetscInt k = i; k < end; ++k) place[k] = first + (k - i);
    if (!stencil || PolderPairClosed(first, near) & (POLDER_PAIR_NORTH | POLDER_PAIR_SOUTH)) stray |= PlacesStray(i, end, ai, aj, near, place);
    else stray |= (PetscBool)(PlacesStray(i, i + 1, ai, aj, near, place) || PlacesStray(end - 1, end, ai, aj, near, place));
  }
  if (stray) *bad = 1;
}
