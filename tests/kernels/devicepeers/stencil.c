/* The product with a large stencil that reads its ghosts out of messages, against the host: the process sends itself what is to be its ghost values. */
#include "exchange.h"
#include "kernels/dia.h"
#include "kernels/vec.h"

/* A grid of `steps` steps of far rows; near = 0: 5 points. low, high: rows at both ends that have a ghost */
typedef struct {
  PetscInt near, far, steps, low, high;
} Slab;

/* z <- A v with the ghosts from[] of v, *dot <- (v, z), TIMES times */
static PetscErrorCode SlabMult(const PolderPlace *place, const Slab *slab, const PolderDia *host, const PetscScalar aa[], const PetscScalar v[],
                               PetscScalar z[], PetscInt *wrong)
{
  const PetscInt ptr[NEIGH + 1] = {0, slab->low, slab->low + slab->high}, n = ptr[NEIGH], m = host->m;
  PetscInt      *from, *to, *row, *ai;
  PetscScalar   *vd, *zd, *aad, *val[7];
  const void    *values[7];
  PolderDia      A = *host;
  Exchange       x;
  void          *work;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(n, &from, n, &to, n, &row, m + 1, &ai));
  for (PetscInt k = 0; k < n; ++k) from[k] = (7 * k + 1) % m;
  for (PetscInt k = 0; k < n; ++k) to[k] = k;
  for (PetscInt k = 0; k < n; ++k) row[k] = k < slab->low ? k : m - n + k;
  for (PetscInt i = 0; i <= m; ++i) ai[i] = PetscMin(i, slab->low) + PetscMax(0, i - (m - slab->high));
  PetscCall(ExchangeCreate(place, 1, ptr, from, to, &x));
  PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)m, v, &vd));
  PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)(m + 1), v, &zd));
  PetscCall(PolderPlaceUpload(place, sizeof(*aa) * (size_t)n, aa, &aad));
  for (PetscInt d = 0; d < A.nd; ++d) PetscCall(PolderPlaceUpload(place, sizeof(*v) * (size_t)m, host->val[d], &val[d]));
  for (PetscInt d = 0; d < A.nd; ++d) values[d] = val[d];
  A.val = (const PetscScalar *const *)values;
  PetscCall(PolderDeviceGetWork(&work));
  for (int times = 0; times < TIMES; ++times) {
    if (place->device) {
      const PolderDiaGhosts ghosts = {.exchange = &x.e, .low = slab->low, .high = slab->high, .aa = aad, .count = PETSC_TRUE};
      PolderStream          stream;

      PetscCall(PolderDeviceGetStream(&stream));
      PolderLaunch(PolderExchangeStore_CUDA(&x.e, 8, vd, stream));
      PolderLaunch(PolderDiaMultGhosts_CUDA(&A, vd, zd, zd + m, &ghosts, work, stream));
    } else {
      const PolderGhostRows rows = {.n = n, .nz = n, .row = row, .ai = ai, .aj = to, .aa = aad, .alpha = 1, .count = PETSC_TRUE};

      PolderExchangeStore_Host(&x.e, 8, vd);
      PolderDiaMult_Host(&A, 1, vd, NULL, zd);
      zd[m] = PolderDot_Host(m, vd, zd);
      PolderExchangeMultAdd_Host(&x.e, &rows, NULL, vd, zd, zd + m);
    }
  }
  PetscCall(PolderPlaceFetch(place, sizeof(*z) * (size_t)(m + 1), &zd, z));
  PetscCall((*place->free)((void *)&vd));
  PetscCall((*place->free)((void *)&aad));
  for (PetscInt d = 0; d < A.nd; ++d) PetscCall((*place->free)((void *)&val[d]));
  PetscCall(ExchangeDestroy(&x, wrong));
  PetscCall(PetscFree4(from, to, row, ai));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSlab(const Slab *slab, PetscInt *wrong)
{
  const PetscInt     c = slab->near ? 3 : 2, m = slab->far * slab->steps, nd = 2 * c + 1;
  const PetscInt     off[] = {-slab->far, slab->near ? -slab->near : -1, -1, 0, 1, slab->near, slab->far};
  PetscInt           offsets[7];
  PetscScalar       *value, *v, *z[2];
  const PetscScalar *val[7];
  PolderDia          A = {.m = m, .n = m, .nd = nd, .off = offsets, .val = val, .main = c};

  PetscFunctionBeginUser;
  for (PetscInt d = 0, k = 0; d < 7; ++d) {
    if (slab->near || (d != 1 && d != 5)) offsets[k++] = off[d];
  }
  PetscCall(PetscMalloc4(m + 7, &value, m, &v, m + 1, &z[0], m + 1, &z[1]));
  for (PetscInt i = 0; i < m + 7; ++i) value[i] = Number();
  for (PetscInt i = 0; i < m; ++i) v[i] = Number();
  for (PetscInt d = 0; d < nd; ++d) val[d] = value + d;
  for (int at = 0; at < 2; ++at) PetscCall(SlabMult(PolderPlaceOf((PetscBool)at), slab, &A, value + 3, v, z[at], wrong));
  *wrong += Wrong(m, z[1], z[0], 1e-12);
  *wrong += Wrong(1, z[1] + m, z[0] + m, 1e-10 * m);
  PetscCall(PetscFree4(value, v, z[0], z[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Slabs with neighbours on both sides, or on one, so large that the kernel is that of grids */
PetscErrorCode TestStencil(PETSC_UNUSED void *work, PETSC_UNUSED PolderStream stream)
{
  static const Slab slabs[] = {
    {70, 4900, 64,  4900, 4900},
    {70, 4900, 64,  0,    4900},
    {70, 4900, 64,  4900, 0   },
    {0,  700,  450, 700,  700 },
    {0,  700,  450, 0,    700 }
  };
  PetscInt wrong = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(slabs); ++k) PetscCall(TestSlab(&slabs[k], &wrong));
  PetscCall(Report("a stencil with its ghosts", wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}
