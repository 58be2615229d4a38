/* Interpolation across the border of a process on levels that are grids, one thread a cell or a box of a plane. */
#include "foreach.cuh"
#include "kernels/levelborderrow.h"

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##Double
#include "kernels/levelborderapply.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME
#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single
#include "kernels/levelborderapply.h"

int PolderLevelBorderInner_CUDA(const PolderLevelGrid *grid, const PolderLevelBorder *border, const PolderLevelGridEntries *entries, const PetscInt agg[],
                                PetscReal inner[], PolderStream stream)
{
  const PolderLevelGrid        G = *grid;
  const PolderLevelBorder      B = *border;
  const PolderLevelGridEntries A = *entries;

  return PolderForEach(2 * B.plane, stream, [=] __device__(PetscInt k) {
    PetscInt       at[3];
    const PetscInt i = PolderLevelBorderCell(&G, &B, k >= B.plane, k % B.plane, at);

    inner[i] = PolderLevelBorderInside(&G, &B, &A, agg, i, at);
  });
}

int PolderLevelBorderWeights_CUDA(const PolderLevelGrid *grid, const PolderLevelBorder *border, const PolderLevelGridEntries *entries, const PetscInt agg[],
                                  const PolderBorderRows *rows, PolderStream stream)
{
  const PolderLevelGrid        G = *grid;
  const PolderLevelBorder      B = *border;
  const PolderLevelGridEntries A = *entries;
  const PolderBorderRows       R = *rows;

  return PolderForEach(R.rows.n, stream, [=] __device__(PetscInt k) { PolderLevelBorderWeigh(&G, &B, &A, agg, &R, k); });
}

int PolderLevelBorderGive_CUDA(PetscBool single, const PolderLevelGrid *grid, const PolderLevelBorder *border, const void *r, void *give, PolderStream stream)
{
  const PolderLevelGrid   G = *grid;
  const PolderLevelBorder B = *border;

  if (single) return PolderForEach(B.cplane, stream, [=] __device__(PetscInt p) { BorderGiveSingle(&G, &B, p, (const float *)r, (float *)give); });
  return PolderForEach(B.cplane, stream, [=] __device__(PetscInt p) { BorderGiveDouble(&G, &B, p, (const PetscScalar *)r, (PetscScalar *)give); });
}

int PolderLevelBorderGet_CUDA(PetscBool single, const PolderLevelGrid *grid, const PolderLevelBorder *border, const void *give, const void *got, void *bc,
                              PolderStream stream)
{
  const PolderLevelGrid   G = *grid;
  const PolderLevelBorder B = *border;

  if (single)
    return PolderForEach(B.cplane, stream, [=] __device__(PetscInt p) { BorderGetSingle(&G, &B, p, (const float *)give, (const float *)got, (float *)bc); });
  return PolderForEach(B.cplane, stream,
                       [=] __device__(PetscInt p) { BorderGetDouble(&G, &B, p, (const PetscScalar *)give, (const PetscScalar *)got, (PetscScalar *)bc); });
}

int PolderLevelBorderTake_CUDA(PetscBool single, const PolderLevelGrid *grid, const PolderLevelBorder *border, const void *xc, const void *const beyond[2],
                               void *x, PolderStream stream)
{
  const PolderLevelGrid   G      = *grid;
  const PolderLevelBorder B      = *border;
  const void             *before = beyond[0], *after = beyond[1];

  if (single)
    return PolderForEach(B.plane, stream, [=] __device__(PetscInt k) {
      BorderTakeSingle(&G, &B, k, (const float *)xc, (const float *)before, (const float *)after, (float *)x);
    });
  return PolderForEach(B.plane, stream, [=] __device__(PetscInt k) {
    BorderTakeDouble(&G, &B, k, (const PetscScalar *)xc, (const PetscScalar *)before, (const PetscScalar *)after, (PetscScalar *)x);
  });
}
