/* Row bodies of the kernels that unpack rows, which host and device share. */
#pragma once

#include "packed.h"

/* The piece with row i; *n: the rows of that piece, *at: the place of row i among them */
POLDER_BODY const char *PolderPackedPiece(const PolderPacked *P, const void *packed, PetscInt i, PetscInt *n, PetscInt *at)
{
  const PetscInt first = i / P->rows * P->rows, rest = P->m - first;
  const size_t   bytes = sizeof(PetscScalar) * (size_t)(P->nd - P->first) + (size_t)((P->nd + 7) / 8);

  *n  = rest < P->rows ? rest : P->rows;
  *at = i - first;
  return (const char *)packed + bytes * (size_t)first;
}

/* Bit d: row i has an entry on diagonal d */
POLDER_BODY unsigned int PolderPackedBits(const PolderPacked *P, const void *packed, PetscInt i)
{
  PetscInt             n, at;
  const char          *piece = PolderPackedPiece(P, packed, i, &n, &at);
  const unsigned char *bytes = (const unsigned char *)(piece + sizeof(PetscScalar) * (size_t)(P->nd - P->first) * (size_t)n);
  unsigned int         bits  = 0;

  for (PetscInt b = 0; 8 * b < P->nd; ++b) bits |= (unsigned int)bytes[(size_t)b * (size_t)n + (size_t)at] << (8 * b);
  return bits;
}

POLDER_BODY PetscInt PolderPackedCount(unsigned int bits)
{
  PetscInt count = 0;

  for (; bits; bits &= bits - 1) ++count;
  return count;
}

/* Entry (i, i + off[d]) */
POLDER_BODY PetscScalar PolderPackedValue(const PolderPacked *P, const void *packed, PetscInt i, PetscInt d)
{
  const PetscInt row  = d < P->first ? i + P->off[d] : i;
  const PetscInt diag = d < P->first ? P->nd - 1 - d : d;
  PetscInt       n, at;
  const char    *piece = PolderPackedPiece(P, packed, row, &n, &at);

  return ((const PetscScalar *)piece)[(size_t)(diag - P->first) * (size_t)n + (size_t)at];
}

/* Row i begins at k */
POLDER_BODY void PolderUnpackRow(const PolderPacked *P, const void *packed, PetscInt i, PetscInt k, PetscInt aj[], PetscScalar aa[])
{
  const unsigned int bits = PolderPackedBits(P, packed, i);

  for (PetscInt d = 0; d < P->nd; ++d) {
    if (!(bits >> d & 1)) continue;
    if (aj) aj[k] = i + P->off[d];
    if (aa) aa[k] = PolderPackedValue(P, packed, i, d);
    ++k;
  }
}
