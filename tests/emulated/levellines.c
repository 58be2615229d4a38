/* levellines.cu in plain C */
#include "emulated.h"
#include "kernels/levellines.h"

PolderEmulate(PolderLevelLinesSurvey, (const PolderRows *A, const PetscReal excess[], PetscInt strong[], PetscInt count[], PolderStream stream), A, excess,
              strong, count);
PolderEmulate(PolderLevelLinesCount, (PetscInt n, const PetscInt strong[], PetscInt count[], PolderStream stream), n, strong, count);
PolderEmulate(PolderLevelLinesInner, (const PolderAggregates *P, const PolderRows *A, const PolderLineRule *rule, PolderStream stream), P, A, rule);
PolderEmulate(PolderLevelLinesRows,
              (const PolderLevelLines *L, const PolderAggregates *P, const PolderRows *A, const PolderLineRule *rule, PolderStream stream), L, P, A, rule);

/* Without scratch of the caller */
int PolderLevelLinesSingle_CUDA(const PolderLevelLines *L, const PolderAggregates *P, const PolderRows *A, PETSC_UNUSED PetscInt scratch[], PolderStream stream)
{
  PetscInt *own = (PetscInt *)malloc(sizeof(*own) * (3 * (size_t)P->n + 1));

  (void)stream;
  PolderLevelLinesSingle_Host(L, P, A, own);
  free(own);
  return 0;
}

/* By the lists of the device, which the host does without */
#define RESTRICT(value) \
  do { \
    const value *from = (const value *)r; \
    value       *to   = (value *)bc; \
\
    for (PetscInt a = 0; a < L->nc; ++a) { \
      to[a] = 0; \
      for (PetscInt k = L->ptr[a]; k < L->ptr[a + 1]; ++k) to[a] += (1 - (value)L->weight[L->row[k]]) * from[L->row[k]]; \
      for (PetscInt k = L->tptr[a]; k < L->tptr[a + 1]; ++k) to[a] += (value)L->weight[L->trow[k]] * from[L->trow[k]]; \
    } \
    to[L->nc] = 0; \
  } while (0)

int PolderLevelLinesRestrict_CUDA(PetscBool single, const PolderLevelLines *L, const void *r, void *bc, PolderStream stream)
{
  (void)stream;
  if (single) RESTRICT(float);
  else RESTRICT(PetscScalar);
  return 0;
}

/* No value of a coarse vector beyond the aggregates is read */
#define PROLONG(value) \
  do { \
    const value *u = (const value *)xc; \
\
    for (PetscInt i = 0; i < L->n; ++i) { \
      const PetscInt a = L->agg[i], b = L->beside[i]; \
\
      if (a < L->nc) ((value *)x)[i] += b < L->nc ? u[a] + (value)L->weight[i] * (u[b] - u[a]) : u[a]; \
    } \
  } while (0)

int PolderLevelLinesProlong_CUDA(PetscBool single, const PolderLevelLines *L, const void *xc, void *x, PolderStream stream)
{
  (void)stream;
  if (single) PROLONG(float);
  else PROLONG(PetscScalar);
  return 0;
}
