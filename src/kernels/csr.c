/* Host kernels for compressed rows. */
#include "csr.h"

void PolderCsrMult_Host(PolderRows A, PolderRowList rows, PetscScalar alpha, const PetscScalar x[], const PetscScalar y[], PetscScalar z[], PolderRowsDot dot)
{
  PetscScalar sum = 0.0;

  for (PetscInt k = 0; k < rows.n; ++k) {
    const PetscInt i = rows.row ? rows.row[k] : k;
    PetscScalar    s = 0.0;

    for (PetscInt e = A.i[i]; e < A.i[i + 1]; ++e) s += A.a[e] * x[A.j[e]];
    if (dot.dot) sum += dot.p[i] * s;
    z[i] = (y ? y[i] : 0.0) + alpha * s;
  }
  if (dot.dot) *dot.dot = (rows.row ? *dot.dot : 0.0) + sum;
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

void PolderGather_Host(PetscInt n, const PetscInt index[], const PetscScalar x[], PetscScalar y[])
{
  for (PetscInt k = 0; k < n; ++k) y[k] = x[index[k]];
}

void PolderGatherJoined_Host(PetscInt n, const PetscInt index[], PetscInt m, const PetscScalar x[], const PetscScalar z[], PetscScalar y[])
{
  for (PetscInt k = 0; k < n; ++k) y[k] = index[k] < m ? x[index[k]] : z[index[k] - m];
}
