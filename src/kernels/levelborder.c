/* Levels that are grids: interpolation across the border of a process, and the restriction that is its transpose. */
#include "levelborder.h"
#include "levelborderrow.h"

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##Double
#include "levelborderapply.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME
#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single
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

void PolderLevelBorderGive_Host(const PolderLevelGrid *G, const PolderLevelBorder *B, const PetscScalar r[], PetscScalar give[])
{
  for (PetscInt p = 0; p < B->cplane; ++p) BorderGiveDouble(G, B, p, r, give);
}

void PolderLevelBorderGiveSingle_Host(const PolderLevelGrid *G, const PolderLevelBorder *B, const float r[], float give[])
{
  for (PetscInt p = 0; p < B->cplane; ++p) BorderGiveSingle(G, B, p, r, give);
}

void PolderLevelBorderGet_Host(const PolderLevelGrid *G, const PolderLevelBorder *B, const PetscScalar give[], const PetscScalar got[], PetscScalar bc[])
{
  for (PetscInt p = 0; p < B->cplane; ++p) BorderGetDouble(G, B, p, give, got, bc);
}

void PolderLevelBorderGetSingle_Host(const PolderLevelGrid *G, const PolderLevelBorder *B, const float give[], const float got[], float bc[])
{
  for (PetscInt p = 0; p < B->cplane; ++p) BorderGetSingle(G, B, p, give, got, bc);
}

void PolderLevelBorderTake_Host(const PolderLevelGrid *G, const PolderLevelBorder *B, const PetscScalar xc[], const PetscScalar *const beyond[2],
                                PetscScalar x[])
{
  for (PetscInt k = 0; k < B->plane; ++k) BorderTakeDouble(G, B, k, xc, beyond[0], beyond[1], x);
}

void PolderLevelBorderTakeSingle_Host(const PolderLevelGrid *G, const PolderLevelBorder *B, const float xc[], const float *const beyond[2], float x[])
{
  for (PetscInt k = 0; k < B->plane; ++k) BorderTakeSingle(G, B, k, xc, beyond[0], beyond[1], x);
}
