/* levelborder.cu in plain C */
#include "emulated.h"
#include "kernels/levelborder.h"

PolderEmulate(PolderLevelBorderInner,
              (const PolderLevelGrid *G, const PolderLevelBorder *B, const PolderLevelGridEntries *A, const PetscInt agg[], PetscReal inner[],
               PolderStream stream),
              G, B, A, agg, inner);
PolderEmulate(PolderLevelBorderWeights,
              (const PolderLevelGrid *G, const PolderLevelBorder *B, const PolderLevelGridEntries *A, const PetscInt agg[], const PolderBorderRows *R,
               PolderStream stream),
              G, B, A, agg, R);

int PolderLevelBorderGive_CUDA(PetscBool single, const PolderLevelGrid *G, const PolderLevelBorder *B, const void *r, void *give, PolderStream stream)
{
  if (single) PolderLevelBorderGiveSingle_Host(G, B, (const float *)r, (float *)give);
  else PolderLevelBorderGive_Host(G, B, (const PetscScalar *)r, (PetscScalar *)give);
  return 0;
}

int PolderLevelBorderGet_CUDA(PetscBool single, const PolderLevelGrid *G, const PolderLevelBorder *B, const void *give, const PolderGhosts *got, void *bc,
                              PolderStream stream)
{
  if (single) PolderLevelBorderGetSingle_Host(G, B, (const float *)give, got, (float *)bc);
  else PolderLevelBorderGet_Host(G, B, (const PetscScalar *)give, got, (PetscScalar *)bc);
  return 0;
}

int PolderLevelBorderTake_CUDA(PetscBool single, const PolderLevelGrid *G, const PolderLevelBorder *B, const void *xc, const PolderLevelBeyond *beyond, void *x,
                               PolderStream stream)
{
  if (single) PolderLevelBorderTakeSingle_Host(G, B, (const float *)xc, beyond, (float *)x);
  else PolderLevelBorderTake_Host(G, B, (const PetscScalar *)xc, beyond, (PetscScalar *)x);
  return 0;
}
