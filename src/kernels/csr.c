/* Host kernels for compressed rows. */
#include "csr.h"

void PolderCsrMult_Host(PetscInt n, const PetscInt row[], const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar alpha,
                        const PetscScalar x[], const PetscScalar y[], PetscScalar z[], const PetscScalar p[], PetscScalar *dot)
{
  PetscScalar sum = 0.0;

  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt i = row ? row[k] : k;
    PetscScalar    s = 0.0;

    for (PetscInt e = ai[i]; e < ai[i + 1]; ++e) s += aa[e] * x[aj[e]];
    if (dot) sum += p[i] * s;
    z[i] = (y ? y[i] : 0.0) + alpha * s;
  }
  if (dot) *dot = (row ? *dot : 0.0) + sum;
}

void PolderCsrDiagonal_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], PetscScalar d[])
{
  for (PetscInt i = 0; i < m; ++i) {
    d[i] = 0.0;
    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
      if (aj[k] == i) d[i] = aa[k];
    }
  }
}

void PolderCsrMagnitude_Host(PetscInt m, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscScalar x[], PetscBool add,
                             PetscScalar y[])
{
  for (PetscInt i = 0; i < m; ++i) {
    PetscScalar s = add ? y[i] : 0.0;

    for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) s += PetscAbsScalar(aa[k] * x[aj[k]]);
    y[i] = s;
  }
}

void PolderCooSum_Host(PetscInt nz, const PetscInt map[], const PetscInt perm[], const PetscScalar v[], PetscBool insert, PetscScalar aa[])
{
  for (PetscInt k = 0; k < nz; ++k) {
    PetscScalar sum = 0.0;

    if (map) {
      for (PetscInt e = map[k]; e < map[k + 1]; ++e) sum += v[perm[e]];
    } else sum = v[k];
    aa[k] = (insert ? 0.0 : aa[k]) + sum;
  }
}

void PolderCooTake_Host(PetscInt nz, PetscInt n, const PetscInt first[], const PetscInt skip[], const PetscScalar v[], PetscBool insert, PetscScalar aa[])
{
  (void)nz;
  for (PetscInt s = 0; s < n; ++s) {
    for (PetscInt k = first[s]; k < first[s + 1]; ++k) aa[k] = (insert ? 0.0 : aa[k]) + v[k + skip[s]];
  }
}
