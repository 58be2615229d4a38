/* levelgrid.cu in plain C */
#include "emulated.h"
#include "kernels/levelborder.h"

PolderEmulate(PolderLevelGridSurvey,
              (const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, PetscInt count[], PolderStream stream), G, A, rule,
              count);
PolderEmulate(PolderLevelGridSplit,
              (const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, PetscInt *count, PolderStream stream), G, A, rule,
              count);
PolderEmulate(PolderLevelGridBoxes, (const PolderLevelGrid *G, const PetscInt mate[], PetscInt agg[], PolderStream stream), G, mate, agg);
PolderEmulate(PolderLevelGridWeights, (const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt agg[], PolderStream stream), G, A, agg);
PolderEmulate(PolderLevelGridCoarseRows, (const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRows *R, PolderStream stream), G, A,
              R);
PolderEmulate(PolderLevelGridPlaces, (const PolderLevelGrid *G, PetscInt64 place[], PolderStream stream), G, place);

int PolderLevelGridRestrict_CUDA(PetscBool single, const PolderLevelGrid *G, const PolderLevelGiving *giving, const void *r, void *bc, PolderStream stream)
{
  if (giving) {
    PolderLevelBorderGive_CUDA(single, G, giving->border, r, giving->give, stream);
    PolderSendRows_Host(giving->sends, single ? sizeof(float) : sizeof(PetscScalar), giving->give);
  }
  if (single) PolderLevelGridRestrictSingle_Host(G, (const float *)r, (float *)bc);
  else PolderLevelGridRestrict_Host(G, (const PetscScalar *)r, (PetscScalar *)bc);
  return 0;
}

int PolderLevelGridProlong_CUDA(PetscBool single, const PolderLevelGrid *G, const PolderExchange *sends, const void *xc, void *x, PolderStream stream)
{
  if (sends) PolderExchangeStore_Host(sends, single ? sizeof(float) : sizeof(PetscScalar), xc);
  if (single) PolderLevelGridProlongSingle_Host(G, (const float *)xc, (float *)x);
  else PolderLevelGridProlong_Host(G, (const PetscScalar *)xc, (PetscScalar *)x);
  return 0;
}
