/* Rows with entries on few diagonals, and these rows packed. */
#pragma once

#include "random.h"
#include "core/compat.h"
#include "kernels/packed.h"

typedef struct {
  PolderPacked P;
  PetscInt    *ai, *aj;
  PetscScalar *aa;
  void        *packed;
} Banded;

/* The same for (i, j) and (j, i) */
static inline unsigned int BandedHash(PetscInt i, PetscInt j)
{
  const unsigned int lo = (unsigned int)PetscMin(i, j), hi = (unsigned int)PetscMax(i, j);

  return (lo * 2654435761u ^ hi * 40503u) >> 4;
}

/* m rows with diagonals at 0, +-1, +-(1 + 3), +-(1 + 3 + 5), .., nd of them; a quarter of the entries is missing; pieces of that many rows */
static inline PetscErrorCode BandedCreate(PetscInt m, PetscInt nd, PetscBool half, PetscInt rows, Banded *B)
{
  PolderPacked *P = &B->P;
  PetscInt      k = 0;

  PetscFunctionBeginUser;
  *P = (PolderPacked){.m = m, .nd = nd, .first = half ? nd / 2 : 0, .rows = rows};
  for (PetscInt d = 0; d <= nd / 2; ++d) {
    P->off[nd / 2 + d] = d * d;
    P->off[nd / 2 - d] = -d * d;
  }
  PetscCall(PetscMalloc4(m + 1, &B->ai, m * nd, &B->aj, m * nd, &B->aa, PolderPackedBytes(P) * (size_t)m, (char **)&B->packed));
  B->ai[0] = 0;
  for (PetscInt i = 0; i < m; ++i) {
    for (PetscInt d = 0; d < nd; ++d) {
      const PetscInt j = i + P->off[d];

      if (j < 0 || j >= m || BandedHash(i, j) % 4 == 0) continue;
      B->aj[k]   = j;
      B->aa[k++] = half || j >= i ? BandedHash(i, j) % 1000 / 7.0 : Number();
    }
    B->ai[i + 1] = k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode BandedDestroy(Banded *B)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree4(B->ai, B->aj, B->aa, B->packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Packs piece by piece, from the last to the first; values: not the pattern alone */
static inline PetscBool BandedPack(Banded *B, PetscBool values)
{
  const PolderPacked *P    = &B->P;
  PetscBool           good = PETSC_TRUE;

  for (PetscInt i = P->m ? (P->m - 1) / P->rows * P->rows : -1; i >= 0 && good; i -= P->rows)
    good = PolderPackRows(P, i, PetscMin(P->rows, P->m - i), B->ai, B->aj, values ? B->aa : NULL, (char *)B->packed + PolderPackedBytes(P) * (size_t)i);
  return good;
}
