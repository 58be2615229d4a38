/* One row of the factorised sparse approximate inverse, for host and device. */
#pragma once

#include <math.h>
#include <petscsys.h>

#if defined(__CUDACC__)
  #define POLDER_FSAI static __host__ __device__ __forceinline__
#else
  #define POLDER_FSAI static inline
#endif

/* A pivot of at most this times the diagonal entry counts as zero */
#define POLDER_FSAI_PIVOT 1e-13

/* Row i of G has the columns gj[gi[i]] .. gj[gi[i + 1] - 1], ascending, the last its own; they number rows of the matrix (ei, ej, ea) */
typedef struct {
  PetscInt           n;
  const PetscInt    *gi, *gj;
  const PetscInt    *ei, *ej;
  const PetscScalar *ea;
} PolderFsai;

/* Values of work for rows of G with k entries */
POLDER_FSAI size_t PolderFsaiWork(PetscInt k)
{
  return (size_t)k * (size_t)(k + 1) / 2;
}

/* Entry (r, c), c <= r, of a packed triangle whose values are `stride` apart */
#define POLDER_FSAI_AT(a, r, c) (a)[((size_t)(r) * (size_t)((r) + 1) / 2 + (size_t)(c)) * (size_t)stride]

/* a <- the lower triangle of A(J, J), the entries of A in its lower half */
POLDER_FSAI void PolderFsaiTake(const PolderFsai *F, PetscInt k, const PetscInt J[], PetscInt stride, PetscScalar a[])
{
  for (PetscInt r = 0; r < k; ++r) {
    for (PetscInt c = 0; c <= r; ++c) POLDER_FSAI_AT(a, r, c) = 0;
    for (PetscInt e = F->ei[J[r]]; e < F->ei[J[r] + 1]; ++e) {
      const PetscInt j = F->ej[e];
      PetscInt       c = 0;

      if (j < J[0] || j > J[r]) continue;
      for (PetscInt end = r + 1; end - c > 1;) { // the last of J[0 .. end) that is not above j
        const PetscInt mid = c + (end - c) / 2;

        if (J[mid] <= j) c = mid;
        else end = mid;
      }
      if (J[c] == j) POLDER_FSAI_AT(a, r, c) = F->ea[e];
    }
  }
}

/* a <- its Cholesky factor L; PETSC_FALSE when there is none */
POLDER_FSAI PetscBool PolderFsaiFactor(PetscInt k, PetscInt stride, PetscScalar a[])
{
  for (PetscInt r = 0; r < k; ++r) {
    const PetscScalar diagonal = POLDER_FSAI_AT(a, r, r);
    PetscInt          lead     = 0; // the first entry, before which L has none either

    while (lead < r && POLDER_FSAI_AT(a, r, lead) == 0) ++lead;
    for (PetscInt c = lead; c <= r; ++c) {
      PetscScalar s = POLDER_FSAI_AT(a, r, c);

      for (PetscInt l = lead; l < c; ++l) s -= POLDER_FSAI_AT(a, r, l) * POLDER_FSAI_AT(a, c, l);
      if (c < r) POLDER_FSAI_AT(a, r, c) = s / POLDER_FSAI_AT(a, c, c);
      else if (s > POLDER_FSAI_PIVOT * diagonal && s <= PETSC_MAX_REAL) POLDER_FSAI_AT(a, r, r) = sqrt(s);
      else return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* g <- the row of G: A(J, J) y = e, the last unit vector, and g = y / sqrt(its last entry). With A(J, J) = L L^T this is L^T g = e */
POLDER_FSAI PetscBool PolderFsaiRow(const PolderFsai *F, PetscInt i, PetscInt stride, PetscScalar a[], PetscScalar g[])
{
  const PetscInt k = F->gi[i + 1] - F->gi[i];

  PolderFsaiTake(F, k, F->gj + F->gi[i], stride, a);
  if (!PolderFsaiFactor(k, stride, a)) {
    for (PetscInt r = 0; r < k; ++r) g[r] = 0;
    return PETSC_FALSE;
  }
  for (PetscInt r = k - 1; r >= 0; --r) {
    PetscScalar s = r == k - 1 ? 1 : 0;

    for (PetscInt c = r + 1; c < k; ++c) s -= POLDER_FSAI_AT(a, c, r) * g[c];
    g[r] = s / POLDER_FSAI_AT(a, r, r);
  }
  return PETSC_TRUE;
}
