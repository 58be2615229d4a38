/* Levels that are grids: interpolation across the border of a process, and the restriction that is its transpose. */
#include "levelborder.h"
#include "levelborderrow.h"

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##Double
#define LEVEL_HOST(name) name##_Host
#include "levelborderapply.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME
#undef LEVEL_HOST
#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single
#define LEVEL_HOST(name) name##Single_Host
#include "levelborderapply.h"

void PolderLevelBorderInner_Host(const PolderLevelGrid *G, const PolderLevelBorder *B, const PolderLevelGridEntries *A, const PetscInt agg[], PetscReal inner[])
{
  for (PetscInt k = 0; k < 2 * B->plane; ++k) {
    PetscInt       at[3];
    const PetscInt i = PolderLevelBorderCell(G, B, k >= B->plane, k % B->plane, at);

    inner[i] = PolderLevelBorderInside(G, B, A, agg, i, at);
  }
}

void PolderLevelBorderWeights_Host(const PolderLevelGrid *G, const PolderLevelBorder *B, const PolderLevelGridEntries *A, const PetscInt agg[],
                                   const PolderBorderRows *R)
{
  for (PetscInt k = 0; k < R->rows.n; ++k) PolderLevelBorderWeigh(G, B, A, agg, R, k);
}
