/* Union-find on the graph of a CSR matrix; the root of a tree is its smallest row. */
#include "components.h"

static inline PetscInt PolderFind_Private(PetscInt parent[], PetscInt i)
{
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i         = parent[i];
  }
  return i;
}

/* Joins the tree of j with the one of root r, returns the root of the two */
static inline PetscInt PolderJoin_Private(PetscInt parent[], PetscInt r, PetscInt j)
{
  if (parent[j] == r) return r;
  j = PolderFind_Private(parent, j);
  if (j < r) {
    parent[r] = j;
    return j;
  }
  parent[j] = r;
  return r;
}

/* A parent is never larger than its child, so one sweep makes every parent a root */
static void PolderFlatten_Private(PetscInt m, PetscInt parent[])
{
  for (PetscInt i = 0; i < m; ++i) parent[i] = parent[parent[i]];
}

void PolderComponentsByClass_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscInt cls[], PetscInt parent[])
{
  for (PetscInt i = 0; i < m; ++i) parent[i] = i;
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt c = cls[i];
    PetscInt       r;

    if (c < 0) continue;
    r = PolderFind_Private(parent, i);
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      if (cls[aj[k]] == c) r = PolderJoin_Private(parent, r, aj[k]);
    }
  }
  PolderFlatten_Private(m, parent);
  for (PetscInt i = 0; i < m; ++i) {
    if (cls[i] < 0) parent[i] = -1;
  }
}

void PolderComponentsByScale_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar scale[], PetscReal jump,
                                  PetscInt parent[])
{
  for (PetscInt i = 0; i < m; ++i) parent[i] = i;
  for (PetscInt i = 0; i < m; ++i) {
    const PetscReal s = PetscRealPart(scale[i]), lo = s / jump, hi = s * jump;
    PetscInt        r;

    if (s == 0) continue;
    r = PolderFind_Private(parent, i);
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      const PetscReal t = PetscRealPart(scale[aj[k]]);

      if (t >= lo && t <= hi && aa[k] != (PetscScalar)0) r = PolderJoin_Private(parent, r, aj[k]);
    }
  }
  PolderFlatten_Private(m, parent);
  for (PetscInt i = 0; i < m; ++i) {
    if (scale[i] == (PetscScalar)0) parent[i] = -1;
  }
}

void PolderRowScale_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscBool skipdiag, PetscScalar scale[])
{
  for (PetscInt i = 0; i < m; ++i) {
    const PetscInt diag = skipdiag ? i : -1;
    PetscReal      s    = PetscRealPart(scale[i]);

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      const PetscReal a = aj[k] == diag ? 0 : PetscAbsScalar(aa[k]);

      s = a > s ? a : s;
    }
    scale[i] = s;
  }
}
