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

/* Counts the entries of an aggregate to each other one at once */
void PolderLevelLinesSingle_Host(const PolderLevelLines *L, const PolderAggregates *P, const PolderRows *A, PetscInt scratch[])
{
  PetscInt *last = scratch, *row = scratch + P->n, *entry = scratch + 2 * (size_t)P->n; // the aggregate that met this one last, and its only entry

  for (PetscInt i = 0; i < L->n; ++i) L->single[i] = 0;
  for (PetscInt b = 0; b < P->n; ++b) last[b] = -1;
  for (PetscInt a = 0; a < P->n; ++a) {
    if (P->ptr[a] == P->ptr[a + 1] || !PolderLineTakes(P->row[P->ptr[a]], P, A)) continue;
    for (PetscInt r = P->ptr[a]; r < P->ptr[a + 1]; ++r) {
      const PetscInt i = P->row[r];

      for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
        const PetscInt b = P->agg[A->j[k]];

        if (b >= P->n || b == a) continue;
        if (last[b] != a) {
          last[b]  = a;
          row[b]   = i;
          entry[b] = k - A->i[i];
          L->single[i] |= 1u << entry[b];
        } else L->single[row[b]] &= ~(1u << entry[b]);
      }
    }
  }
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
