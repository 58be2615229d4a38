/* Kernels of the coarse solve for symmetric matrices: Cholesky factor with rows stored from the first nonzero to the diagonal; full inverse. */
#include "coarse.h"

/* Eight partial sums, since the compiler may not reorder a sum to vectorise it */
static inline PetscScalar PolderDot_Private(PetscInt n, const PetscScalar *PETSC_RESTRICT a, const PetscScalar *PETSC_RESTRICT b)
{
  PetscScalar s[8] = {0}, sum = 0;
  PetscInt    k = 0;

  for (; k + 8 <= n; k += 8)
    for (int l = 0; l < 8; ++l) s[l] += a[k + l] * b[k + l];
  for (; k < n; ++k) sum += a[k] * b[k];
  return sum + ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

PetscInt PolderSkylineFactor_Host(PetscInt n, const PetscInt first[], const size_t ptr[], PetscReal tol, PetscScalar L[], char drop[], PetscReal *least)
{
  PetscInt ndrop = 0;

  for (PetscInt i = 0; i < n; ++i) {
    PetscScalar   *Li = L + ptr[i];
    const PetscInt fi = first[i], len = i - fi;
    PetscReal      pivot;

    if (!drop[i]) {
      for (PetscInt j = fi; j < i; ++j) {
        const PetscScalar *Lj = L + ptr[j];
        const PetscInt     fj = first[j], k0 = PetscMax(fi, fj);

        Li[j - fi] = drop[j] ? 0 : (Li[j - fi] - PolderDot_Private(j - k0, Li + (k0 - fi), Lj + (k0 - fj))) / Lj[j - fj];
      }
      pivot = PetscRealPart(Li[len] - PolderDot_Private(len, Li, Li));
      if (pivot < *least) *least = pivot;
      if (pivot > tol) {
        Li[len] = PetscSqrtReal(pivot);
        continue;
      }
      drop[i] = 1;
      ndrop++;
    }
    for (PetscInt k = 0; k < len; ++k) Li[k] = 0;
    Li[len] = 1;
  }
  return ndrop;
}

PetscInt PolderSkylineFactorExcess_Host(PetscInt n, const PetscInt first[], const size_t ptr[], PetscReal f[], const PetscReal v[], PetscReal noise[],
                                        PetscScalar L[], char drop[])
{
  PetscInt ndrop = 0;

  for (PetscInt i = 0; i < n; ++i) { // column by column: the remaining sum of a column gives the pivot
    PetscScalar *Li    = L + ptr[i];
    PetscReal    pivot = f[i];

    for (PetscInt k = i + 1; k < n && !drop[i]; ++k) {
      PetscScalar   *Lk = L + ptr[k];
      const PetscInt fk = first[k], j0 = PetscMax(first[i], fk);

      if (fk > i) continue;
      if (drop[k]) Lk[i - fk] = 0;
      else Lk[i - fk] -= PolderDot_Private(i - j0, Lk + (j0 - fk), Li + (j0 - first[i]));
      pivot -= PetscRealPart(Lk[i - fk]) * v[k];
    }
    pivot /= v[i];
    if (!drop[i] && !(pivot > noise[i])) {
      drop[i] = 1;
      ndrop++;
    }
    pivot = drop[i] ? 1 : PetscSqrtReal(pivot);
    for (PetscInt k = i + 1; k < n; ++k) {
      PetscScalar *Lk = L + ptr[k];

      if (first[k] > i) continue;
      Lk[i - first[k]] = drop[i] ? 0 : Lk[i - first[k]] / pivot;
      f[k] -= PetscRealPart(Lk[i - first[k]]) / pivot * f[i];
      noise[k] += PetscSqr(PetscRealPart(Lk[i - first[k]]) / pivot) * noise[i];
    }
    for (PetscInt j = 0; j < i - first[i] && drop[i]; ++j) Li[j] = 0;
    Li[i - first[i]] = pivot;
  }
  return ndrop;
}

void PolderSkylineSolve_Host(PetscInt n, const PetscInt first[], const size_t ptr[], const PetscScalar L[], PetscScalar x[])
{
  for (PetscInt i = 0; i < n; ++i) {
    const PetscScalar *Li  = L + ptr[i];
    const PetscInt     len = i - first[i];

    x[i] = (x[i] - PolderDot_Private(len, Li, x + first[i])) / Li[len];
  }
  for (PetscInt i = n - 1; i >= 0; --i) {
    const PetscScalar *PETSC_RESTRICT Li  = L + ptr[i];
    PetscScalar *PETSC_RESTRICT       y   = x + first[i];
    const PetscInt                    len = i - first[i];
    const PetscScalar                 xi  = x[i] / Li[len];

    x[i] = xi;
    for (PetscInt k = 0; k < len; ++k) y[k] -= Li[k] * xi;
  }
}

void PolderSymmetricMult_Host(PetscInt n, const PetscScalar A[], const PetscScalar x[], PetscScalar y[])
{
  for (PetscInt i = 0; i < n; ++i) y[i] = PolderDot_Private(n, A + (size_t)i * (size_t)n, x);
}
