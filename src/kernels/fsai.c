/* Rows of the factorised sparse approximate inverse on the host. */
#include "fsai.h"

size_t PolderFsaiWork_Host(PetscInt longest)
{
  const PetscInt most = PetscMin(longest, POLDER_FSAI_SHORT);

  return PetscMax(PolderFsaiWork(longest), POLDER_FSAI_LANES * (PolderFsaiWork(most) + (size_t)most));
}

/* Lane v of a <- the lower triangle of A(J, J) behind a unit matrix, k rows together */
static void PolderFsaiTakeLane(const PolderFsai *F, PetscInt i, PetscInt k, PetscInt v, PetscScalar a[])
{
  const PetscInt  n = F->gi[i + 1] - F->gi[i], unit = k - n, stride = POLDER_FSAI_LANES;
  const PetscInt *J     = F->gj + F->gi[i];
  PetscInt       *where = F->where;

  for (PetscInt c = 0; c < n; ++c) where[J[c]] = c + 1;
  for (PetscInt r = 0; r < unit; ++r) POLDER_FSAI_AT(a, r, r, v) = 1;
  for (PetscInt r = 0; r < n; ++r) {
    PetscScalar *row = &POLDER_FSAI_AT(a, unit + r, unit, v);

    for (PetscInt e = F->ei[J[r]]; e < F->ei[J[r] + 1]; ++e) {
      const PetscInt c = where[F->ej[e]] - 1;

      if (c >= 0 && c <= r) row[c * stride] = F->ea[e];
    }
  }
  for (PetscInt c = 0; c < n; ++c) where[J[c]] = 0;
}

/* Rows i .. i + lanes - 1, with at most k entries */
static unsigned int PolderFsaiLanes(const PolderFsai *F, PetscInt i, PetscInt lanes, PetscInt k, PetscScalar work[], PetscScalar val[])
{
  PetscScalar *a = work, *g = work + POLDER_FSAI_LANES * PolderFsaiWork(k);
  unsigned int bad;

  for (size_t e = 0; e < POLDER_FSAI_LANES * PolderFsaiWork(k); ++e) a[e] = 0;
  for (PetscInt v = 0; v < POLDER_FSAI_LANES; ++v) PolderFsaiTakeLane(F, i + PetscMin(v, lanes - 1), k, v, a);
  bad = PolderFsaiFactor(k, POLDER_FSAI_LANES, POLDER_FSAI_LANES, a);
  PolderFsaiSolve(k, POLDER_FSAI_LANES, POLDER_FSAI_LANES, a, g);
  for (PetscInt v = 0; v < lanes; ++v) {
    const PetscInt n = F->gi[i + v + 1] - F->gi[i + v];

    for (PetscInt r = 0; r < n; ++r) val[F->gi[i + v] + r] = bad >> v & 1 ? 0 : g[(k - n + r) * POLDER_FSAI_LANES + v];
  }
  return lanes < POLDER_FSAI_LANES ? bad & ((1u << lanes) - 1) : bad;
}

void PolderFsaiRows_Host(const PolderFsai *F, PetscInt threads, PetscScalar work[], PetscScalar val[], PetscInt *bad)
{
  (void)threads;
  for (PetscInt i = 0, lanes; i < F->n; i += lanes) {
    PetscInt     k    = 0;
    unsigned int fail = 0;

    for (lanes = 0; lanes < PetscMin(POLDER_FSAI_LANES, F->n - i) && F->gi[i + lanes + 1] - F->gi[i + lanes] <= POLDER_FSAI_SHORT; ++lanes)
      k = PetscMax(k, F->gi[i + lanes + 1] - F->gi[i + lanes]);
    if (lanes) fail = PolderFsaiLanes(F, i, lanes, k, work, val);
    else {
      lanes = 1;
      fail  = !PolderFsaiRow(F, i, 1, work, val + F->gi[i]);
    }
    for (PetscInt v = 0; v < lanes; ++v) {
      if (fail >> v & 1 && i + v < *bad) *bad = i + v;
    }
  }
}
