/* outer.cu and eliminate.cu in plain C */
#include "emulated.h"
#include "kernels/eliminate.h"
#include "kernels/level.h"
#include "kernels/outer.h"

int PolderShortRows_CUDA(PetscInt n, const PetscInt ai[], const PetscInt bi[], PetscInt most, PetscInt *count, PolderStream stream)
{
  PolderShortRows_Host(n, ai, bi, most, count);
  (void)stream;
  return 0;
}

PolderEmulate(PolderIndexGather, (PetscInt n, const PetscInt index[], const PetscInt from[], PetscInt to[], PolderStream stream), n, index, from, to);
PolderEmulate(PolderOuterStrength, (const PolderSparseRows *O, PetscReal outside[], PolderStream stream), O, outside);
PolderEmulate(PolderPairsNextOutside,
              (PetscInt nc, const PetscInt ptr[], const PetscInt row[], const PetscReal outside[], PetscReal next[], PolderStream stream), nc, ptr, row,
              outside, next);
PolderEmulate(PolderOuterLevelRows,
              (const PolderSparseRows *O, const PolderRows *A, const PolderLevelSurvey *survey, PetscReal *bound, PetscInt64 *bad, PolderStream stream), O, A,
              survey, bound, bad);
PolderEmulate(PolderOuterTotals, (const PolderSparseRows *O, const PolderRows *A, PetscBool rows, float to[], int *large, PolderStream stream), O, A, rows, to,
              large);

PolderEmulate(PolderOuterExcess,
              (const PolderSparseRows *C, const PolderSparseRows *O, const PolderAggregates *P, const PetscInt agg[], PetscInt nc, PetscReal excess[],
               PetscReal here[], PolderStream stream),
              C, O, P, agg, nc, excess, here);

int PolderLevelOuterAdd_CUDA(PetscBool single, const PolderSparseRows *O, const PolderOuterSum *sum, void *z, PolderStream stream)
{
  if (single) PolderLevelOuterAddSingle_Host(O, sum, (float *)z);
  else PolderLevelOuterAdd_Host(O, sum, (PetscScalar *)z);
  return 0;
}

int PolderLevelOuterRestrict_CUDA(PetscBool single, const PolderSparseRows *O, const PolderAggregates *P, const PetscInt target[], const void *own,
                                  const void *ghost, void *bc, PolderStream stream)
{
  if (single) PolderLevelOuterRestrictSingle_Host(O, P, target, (const float *)own, (const float *)ghost, (float *)bc);
  else PolderLevelOuterRestrict_Host(O, P, target, (const PetscScalar *)own, (const PetscScalar *)ghost, (PetscScalar *)bc);
  return 0;
}

int PolderLevelOuterDots_CUDA(PetscBool single, const PolderSparseRows *O, const void *ghost, const void *x, const void *b, void *v, PolderLevelSums sums,
                              PolderStream stream)
{
  if (single) PolderLevelOuterDotsSingle_Host(O, (const float *)ghost, (const float *)x, (const float *)b, (float *)v, sums.sum);
  else PolderLevelOuterDots_Host(O, (const PetscScalar *)ghost, (const PetscScalar *)x, (const PetscScalar *)b, (PetscScalar *)v, sums.sum);
  return 0;
}
