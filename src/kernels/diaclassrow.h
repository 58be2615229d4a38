/* What host and device share to find classes of equal rows. */
#pragma once

#include "bfloat.h"
#include "diaclass.h"

/* Rows of a group, groups from one group of the sample to the next, and the number of places that a class may take in the table */
#define POLDER_DIA_GROUP_ROWS 256
#define POLDER_DIA_SAMPLE     17
#define POLDER_DIA_PROBES     32

/* The number of rows in the sample */
static inline PetscInt PolderDiaSampled(PetscInt m)
{
  const PetscInt step = POLDER_DIA_SAMPLE * POLDER_DIA_GROUP_ROWS, rest = m % step;

  return m / step * POLDER_DIA_GROUP_ROWS + (rest < POLDER_DIA_GROUP_ROWS ? rest : POLDER_DIA_GROUP_ROWS);
}

/* Has the sample too many different rows? */
POLDER_BODY PetscBool PolderDiaClassesFail(PetscInt lost, PetscInt sampled)
{
  return (PetscBool)(lost > sampled / 4);
}

/* The bits of a value, in the precision in which the stencil has it */
POLDER_BODY unsigned long long PolderDiaBits(PolderDiaEntries entries, const void *v, PetscInt i)
{
  unsigned long long bits;
  unsigned int       half;

  if (entries == POLDER_DIA_DOUBLE) {
    memcpy(&bits, (const PetscScalar *)v + i, sizeof(bits));
    return bits;
  }
  if (entries == POLDER_DIA_BFLOAT) return (unsigned long long)((const PolderBfloat *)v)[i] << 16;
  memcpy(&half, (const float *)v + i, sizeof(half));
  return half;
}

POLDER_BODY PetscScalar PolderDiaValue(PolderDiaEntries entries, unsigned long long bits)
{
  PetscScalar value;

  if (entries != POLDER_DIA_DOUBLE) return PolderFromBits((int)bits);
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* Sets a[] to the bits of row i */
POLDER_BODY void PolderDiaRowBits(const PolderDiaStencil *S, PetscInt i, unsigned long long a[POLDER_DIA_WIDTH])
{
  POLDER_UNROLL
  for (int d = 0; d < POLDER_DIA_POINTS; ++d) {
    const PetscInt j = d < S->nd ? i + S->off[d] : -1;

    a[d] = j >= 0 && j < S->m ? PolderDiaBits(S->entries, S->val[d], i) : 0;
  }
  a[POLDER_DIA_INVERSE] = S->inverse ? PolderDiaBits(POLDER_DIA_SINGLE, S->inverse, i) : 0;
}

/* Their hash, which is not 0 */
POLDER_BODY unsigned int PolderDiaKeyOf(const unsigned long long a[POLDER_DIA_WIDTH])
{
  unsigned int key = 0;

  POLDER_UNROLL
  for (int d = 0; d < POLDER_DIA_WIDTH; ++d) {
    key = (key ^ (unsigned int)a[d]) * 0x9e3779b1u;
    key = (key ^ key >> 15 ^ (unsigned int)(a[d] >> 32)) * 0x85ebca6bu;
  }
  key ^= key >> 13;
  return key ? key : 1;
}

/* The place that is tried for a key in attempt p */
POLDER_BODY int PolderDiaPlace(unsigned int key, int p)
{
  const int first = (int)((unsigned long long)key * POLDER_DIA_CLASSLESS >> 32) + p;

  return first < POLDER_DIA_CLASSLESS ? first : first - POLDER_DIA_CLASSLESS;
}

/* Enters class c */
POLDER_BODY void PolderDiaEnter(const PolderDiaStencil *S, const unsigned long long a[POLDER_DIA_WIDTH], int c, PolderDiaClasses *C)
{
  PetscScalar diagonal = 0;

  POLDER_UNROLL
  for (int d = 0; d < POLDER_DIA_WIDTH; ++d) {
    PetscScalar value = PolderDiaValue(d == POLDER_DIA_INVERSE ? POLDER_DIA_SINGLE : S->entries, a[d]);

    if (d == S->main) diagonal = value;
    if (d == POLDER_DIA_INVERSE && !S->inverse) value = (PetscScalar)1 / diagonal;
    C->bits[c * POLDER_DIA_WIDTH + d]   = a[d];
    C->table[c * POLDER_DIA_WIDTH + d]  = value;
    C->single[c * POLDER_DIA_WIDTH + d] = (float)value;
  }
}

/* The class of a row with these entries, or POLDER_DIA_CLASSLESS */
POLDER_BODY int PolderDiaClassOf(const PolderDiaClasses *C, unsigned int key, const unsigned long long a[POLDER_DIA_WIDTH])
{
  for (int p = 0; p < POLDER_DIA_PROBES; ++p) {
    const int          c     = PolderDiaPlace(key, p);
    const unsigned int there = C->key[c];

    if (!there) return POLDER_DIA_CLASSLESS;
    if (there == key) {
      unsigned long long unlike = 0;

      POLDER_UNROLL
      for (int d = 0; d < POLDER_DIA_WIDTH; ++d) unlike |= a[d] ^ C->bits[c * POLDER_DIA_WIDTH + d];
      return unlike ? POLDER_DIA_CLASSLESS : c;
    }
  }
  return POLDER_DIA_CLASSLESS;
}

/* The class of row i. last[], *same: the bits and the class of a row that was looked for before, *same = -1: none; most rows are equal to that one */
POLDER_BODY int PolderDiaNextClass(const PolderDiaStencil *S, const PolderDiaClasses *C, PetscInt i, unsigned long long last[POLDER_DIA_WIDTH], int *same)
{
  unsigned long long a[POLDER_DIA_WIDTH], unlike = *same < 0;

  PolderDiaRowBits(S, i, a);
  POLDER_UNROLL
  for (int d = 0; d < POLDER_DIA_WIDTH; ++d) unlike |= a[d] ^ last[d];
  if (unlike) {
    POLDER_UNROLL
    for (int d = 0; d < POLDER_DIA_WIDTH; ++d) last[d] = a[d];
    *same = PolderDiaClassOf(C, PolderDiaKeyOf(a), a);
  }
  return *same;
}
