/* Row bodies of triouter.h, which host and device share. */
#pragma once

#include "triouter.h"
#include <stdbool.h>

#if defined(__CUDACC__)
  #define POLDER_TRIROW                static __device__ __forceinline__
  #define POLDER_TRIREAD(e, number, c) PolderExchangeValue(*(e), number, c)
#else
  #define POLDER_TRIROW                static inline
  #define POLDER_TRIREAD(e, number, c) PolderExchangeValue_Host(e, number, c)
#endif

/* The messages with the ghost values */
typedef struct {
  const PolderExchange *e;
  uint64_t              number;
} PolderTriGhosts;

/* Entry k of an array of the precision of the triangle */
POLDER_TRIROW PetscScalar PolderTriValue(const PolderTriOuter *T, const void *a, PetscInt k)
{
  return T->single ? (PetscScalar)((const float *)a)[k] : ((const PetscScalar *)a)[k];
}

/* Does a process of that rank have ghosts in its part of the triangle that are rows of this one? */
POLDER_TRIROW bool PolderTriServes(const PolderTriOuter *T, int rank)
{
  return (rank < T->rank) == (bool)T->upper;
}

/* Does ghost column j belong to the triangle? */
POLDER_TRIROW bool PolderTriHas(const PolderTriOuter *T, PetscInt j)
{
  return (j >= T->nlow) == (bool)T->upper;
}

/* y_0 of row i */
POLDER_TRIROW PetscScalar PolderTriBegin(const PolderTriOuter *T, const PetscScalar in[], PetscInt i)
{
  return T->upper ? in[i] : PolderTriValue(T, T->dinv, i) * in[i];
}

/* y_1 of row i without its entries in ghost columns */
POLDER_TRIROW PetscScalar PolderTriFirst(const PolderTriOuter *T, const PetscScalar in[], PetscInt i)
{
  PetscScalar sum = 0;

  for (int d = 0; d < POLDER_TRI_DIAGONALS; ++d) {
    const PetscInt j = i + T->off[d];

    if (d < T->nd && j >= 0 && j < T->m) sum += PolderTriValue(T, T->val[d], i) * PolderTriBegin(T, in, j);
  }
  return PolderTriBegin(T, in, i) - PolderTriValue(T, T->dinv, i) * sum;
}

/* Has row i an entry in a ghost column of the triangle? */
POLDER_TRIROW bool PolderTriTouches(const PolderTriOuter *T, PetscInt i)
{
  if (!T->ghosts.i) return false;
  for (PetscInt k = T->ghosts.i[i]; k < T->ghosts.i[i + 1]; ++k) {
    if (PolderTriHas(T, T->ghosts.j[k])) return true;
  }
  return false;
}

/* Does y_2 of row i depend on a ghost value? */
POLDER_TRIROW bool PolderTriDepends(const PolderTriOuter *T, PetscInt i)
{
  if (PolderTriTouches(T, i)) return true;
  for (int d = 0; d < POLDER_TRI_DIAGONALS; ++d) {
    const PetscInt j = i + T->off[d];

    if (d < T->nd && j >= 0 && j < T->m && PolderTriTouches(T, j)) return true;
  }
  return false;
}

/* Row i of G g_w; the values of column j are those in cells 2 j and 2 j + 1 */
POLDER_TRIROW PetscScalar PolderTriGhostSum(const PolderTriOuter *T, const PolderTriGhosts *ghost, int w, PetscInt i)
{
  PetscScalar sum = 0;

  for (PetscInt k = T->ghosts.i[i]; k < T->ghosts.i[i + 1]; ++k) {
    const PetscInt    j = T->ghosts.j[k];
    const PetscScalar a = T->ghosts.a[k];

    if (PolderTriHas(T, j)) sum += (T->single ? (PetscScalar)(float)a : a) * POLDER_TRIREAD(ghost->e, ghost->number, 2 * j + w);
  }
  return sum;
}

/* y_1 of row i */
POLDER_TRIROW PetscScalar PolderTriFirstWhole(const PolderTriOuter *T, const PetscScalar in[], const PolderTriGhosts *ghost, PetscInt i)
{
  const PetscScalar y = PolderTriFirst(T, in, i);

  return T->ghosts.i ? y - PolderTriValue(T, T->dinv, i) * PolderTriGhostSum(T, ghost, 0, i) : y;
}

/* d_2 of row i */
POLDER_TRIROW PetscScalar PolderTriAdds(const PolderTriOuter *T, const PolderTriGhosts *ghost, PetscInt i)
{
  PetscScalar sum = PolderTriGhostSum(T, ghost, 1, i);

  for (int d = 0; d < POLDER_TRI_DIAGONALS; ++d) {
    const PetscInt j = i + T->off[d];

    if (d >= T->nd || j < 0 || j >= T->m || T->ghosts.i[j] == T->ghosts.i[j + 1]) continue;
    sum -= PolderTriValue(T, T->val[d], i) * PolderTriValue(T, T->dinv, j) * PolderTriGhostSum(T, ghost, 0, j);
  }
  return -PolderTriValue(T, T->dinv, i) * sum;
}

/* z_i <- z_i + d_2; returns what is summed up (PolderTriOuterAdd_Host()) */
POLDER_TRIROW PetscScalar PolderTriOuterAddRow(const PolderTriOuter *T, const PolderTriGhosts *ghost, PolderTriKind kind, PetscInt i, PetscScalar z[])
{
  const PetscScalar was = z[i], d = PolderTriAdds(T, ghost, i);

  z[i] = was + d;
  return kind == POLDER_TRI_RHO ? d * (2.0 * was + d) / PolderTriValue(T, T->dinv, i) : d;
}
