/* Factors that make a matrix symmetric: weighted union-find over its entries. */
#include "rowscale.h"
#include "rowseek.h"

void PolderScaledBegin_Host(PolderScaledSets *s)
{
  for (PetscInt i = 0; i < s->n; ++i) {
    s->parent[i] = i;
    s->ratio[i]  = 1;
  }
}

PetscInt PolderScaledFind_Host(PolderScaledSets *s, PetscInt i, PetscReal *d)
{
  *d = 1;
  while (s->parent[i] != i) {
    const PetscInt up = s->parent[i];

    s->ratio[i] *= s->ratio[up]; // of a root, 1
    s->parent[i] = s->parent[up];
    *d *= s->ratio[i];
    i = s->parent[i];
  }
  return i;
}

PetscBool PolderScaledJoin_Host(PolderScaledSets *s, PetscInt i, PetscInt j, PetscReal a, PetscReal b)
{
  PetscReal di, dj;
  PetscInt  ri, rj;

  if (a == 0 && b == 0) return PETSC_TRUE;
  if (!(a * b > 0)) return PETSC_FALSE;
  ri = PolderScaledFind_Host(s, i, &di);
  rj = PolderScaledFind_Host(s, j, &dj);
  if (ri == rj) return (PetscBool)(PetscAbsReal(di * a - dj * b) <= POLDER_SCALE * PetscAbsReal(di * a));
  s->parent[ri] = rj;
  s->ratio[ri]  = dj * b / (di * a);
  return PETSC_TRUE;
}

PetscBool PolderScaledRows_Host(const PolderRows *A, PolderScaledSets *s)
{
  for (PetscInt i = 0; i < A->n; ++i) {
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) {
      const PetscInt j = A->j[k], end = j < A->n ? A->i[j + 1] : 0, at = j < A->n && j != i ? PolderRowSeek(A->j, A->i[j], end, i) : 0;
      PetscReal      partner;

      if (j >= A->n || j == i) continue;
      partner = at < end && A->j[at] == i ? PetscRealPart(A->a[at]) : 0;
      if (j > i && (partner != 0) == (A->a[k] != (PetscScalar)0)) continue; // this pair comes again
      if (!PolderScaledJoin_Host(s, i, j, PetscRealPart(A->a[k]), partner)) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}
