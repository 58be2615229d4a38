/* Interpolation along lines between aggregates of pairs, on the host. */
#include "levellinesrow.h"

void PolderLevelLinesSurvey_Host(const PolderRows *A, const PetscReal excess[], PetscInt strong[], PetscInt count[])
{
  for (PetscInt i = 0; i < A->n; ++i) {
    const unsigned bits = PolderLineLook(i, A, excess, strong + 2 * (size_t)i);

    for (int k = 1; k < POLDER_LINES_COUNTS; ++k) count[k] += (PetscInt)(bits >> k & 1);
  }
}

void PolderLevelLinesCount_Host(PetscInt n, const PetscInt strong[], PetscInt count[])
{
  for (PetscInt i = 0; i < n; ++i) count[0] += (PetscInt)PolderLineHas(i, strong);
}

void PolderLevelLinesInner_Host(const PolderAggregates *P, const PolderRows *A, const PolderLineRule *rule)
{
  for (PetscInt i = 0; i < A->n; ++i) rule->inner[i] = PolderLineInner(i, P, A);
}

void PolderLevelLinesRows_Host(const PolderLevelLines *L, const PolderAggregates *P, const PolderRows *A, const PolderLineRule *rule)
{
  for (PetscInt i = 0; i < A->n; ++i) PolderLineRow(i, L, P, A, rule);
}

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##_Host
#include "levellinesapply.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME

#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single_Host
#include "levellinesapply.h"
