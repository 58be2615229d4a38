/* Rows of the factorised sparse approximate inverse, for host and device. */
#pragma once

#include "launcher.h"
#include <math.h>

/* A pivot of at most this times the diagonal entry counts as zero */
#define POLDER_FSAI_PIVOT 1e-13

/* The host computes so many rows at once, with at most so many entries each */
#define POLDER_FSAI_LANES 8
#define POLDER_FSAI_SHORT 64

/* Row i of G has the columns gj[gi[i]] .. gj[gi[i + 1] - 1], ascending, the last its own; they number rows of the matrix (ei, ej, ea) */
typedef struct {
  PetscInt           n;
  const PetscInt    *gi, *gj;
  const PetscInt    *ei, *ej;
  const PetscScalar *ea;
  PetscInt          *where; /* host: a zero for each row of the matrix, and again afterwards */
} PolderFsai;

/* Values of work for rows of G with k entries */
POLDER_BODY_INLINE size_t PolderFsaiWork(PetscInt k)
{
  return (size_t)k * (size_t)(k + 1) / 2;
}

/* Entry (r, c), c <= r, of the packed triangle of lane v: values of a lane are `stride` apart */
#define POLDER_FSAI_AT(a, r, c, v) (a)[((size_t)(r) * (size_t)((r) + 1) / 2 + (size_t)(c)) * (size_t)stride + (size_t)(v)]

/* a <- the lower triangle of A(J, J), the entries of A in its lower half */
POLDER_BODY_INLINE void PolderFsaiTake(const PolderFsai *F, PetscInt k, const PetscInt J[], PetscInt stride, PetscScalar a[])
{
  for (PetscInt r = 0; r < k; ++r) {
    for (PetscInt c = 0; c <= r; ++c) POLDER_FSAI_AT(a, r, c, 0) = 0;
    for (PetscInt e = F->ei[J[r]]; e < F->ei[J[r] + 1]; ++e) {
      const PetscInt j = F->ej[e];
      PetscInt       c = 0;

      if (j < J[0] || j > J[r]) continue;
      for (PetscInt end = r + 1; end - c > 1;) { // the last of J[0 .. end) that is not above j
        const PetscInt mid = c + (end - c) / 2;

        if (J[mid] <= j) c = mid;
        else end = mid;
      }
      if (J[c] == j) POLDER_FSAI_AT(a, r, c, 0) = F->ea[e];
    }
  }
}

/* The first entry of row r that is not zero in all lanes, before which L has none either */
POLDER_BODY_INLINE PetscInt PolderFsaiLead(PetscInt r, PetscInt stride, PetscInt lanes, const PetscScalar a[])
{
  for (PetscInt c = 0; c < r; ++c) {
    for (PetscInt v = 0; v < lanes; ++v) {
      if (POLDER_FSAI_AT(a, r, c, v) != 0) return c;
    }
  }
  return r;
}

/* a <- its Cholesky factor L in each lane; bit v of the result is set when lane v has none, and its numbers are worth nothing */
POLDER_BODY_INLINE unsigned int PolderFsaiFactor(PetscInt k, PetscInt stride, PetscInt lanes, PetscScalar a[])
{
  unsigned int bad = 0;

  for (PetscInt r = 0; r < k; ++r) {
    const PetscInt lead = PolderFsaiLead(r, stride, lanes, a);

    for (PetscInt c = lead; c <= r; ++c) {
      PetscScalar s[POLDER_FSAI_LANES], diagonal[POLDER_FSAI_LANES];

      for (PetscInt v = 0; v < lanes; ++v) s[v] = diagonal[v] = POLDER_FSAI_AT(a, r, c, v);
      for (PetscInt l = lead; l < c; ++l) {
        for (PetscInt v = 0; v < lanes; ++v) s[v] -= POLDER_FSAI_AT(a, r, l, v) * POLDER_FSAI_AT(a, c, l, v);
      }
      if (c < r) {
        for (PetscInt v = 0; v < lanes; ++v) s[v] /= POLDER_FSAI_AT(a, c, c, v);
      } else {
        for (PetscInt v = 0; v < lanes; ++v) {
          const int good = s[v] > POLDER_FSAI_PIVOT * diagonal[v] && s[v] <= PETSC_MAX_REAL;

          s[v] = good ? s[v] : 1;
          bad |= (unsigned int)!good << v;
        }
        for (PetscInt v = 0; v < lanes; ++v) s[v] = sqrt(s[v]);
      }
      for (PetscInt v = 0; v < lanes; ++v) POLDER_FSAI_AT(a, r, c, v) = s[v];
      if (lanes == 1 && bad) return bad;
    }
  }
  return bad;
}

/* g[k lanes] <- L^T g = e, the last unit vector, in each lane */
POLDER_BODY_INLINE void PolderFsaiSolve(PetscInt k, PetscInt stride, PetscInt lanes, const PetscScalar a[], PetscScalar g[])
{
  for (PetscInt r = k - 1; r >= 0; --r) {
    PetscScalar s[POLDER_FSAI_LANES];

    for (PetscInt v = 0; v < lanes; ++v) s[v] = r == k - 1 ? 1 : 0;
    for (PetscInt c = r + 1; c < k; ++c) {
      for (PetscInt v = 0; v < lanes; ++v) s[v] -= POLDER_FSAI_AT(a, c, r, v) * g[c * lanes + v];
    }
    for (PetscInt v = 0; v < lanes; ++v) s[v] /= POLDER_FSAI_AT(a, r, r, v);
    for (PetscInt v = 0; v < lanes; ++v) g[r * lanes + v] = s[v];
  }
}

/* g <- the row of G: A(J, J) y = e, and g = y / sqrt(its last entry). With A(J, J) = L L^T this is L^T g = e. PETSC_FALSE: there is none */
POLDER_BODY_INLINE PetscBool PolderFsaiRow(const PolderFsai *F, PetscInt i, PetscInt stride, PetscScalar a[], PetscScalar g[])
{
  const PetscInt k = F->gi[i + 1] - F->gi[i];

  PolderFsaiTake(F, k, F->gj + F->gi[i], stride, a);
  if (!PolderFsaiFactor(k, stride, 1, a)) {
    PolderFsaiSolve(k, stride, 1, a, g);
    return PETSC_TRUE;
  }
  for (PetscInt r = 0; r < k; ++r) g[r] = 0;
  return PETSC_FALSE;
}
