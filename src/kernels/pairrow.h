/* Row bodies of the pairwise aggregation that host and device share. */
#pragma once

#include <petscsys.h>

#if defined(__CUDACC__)
  #define POLDER_PAIR static __host__ __device__ __forceinline__
#else
  #define POLDER_PAIR static inline
#endif

/* What mate[] says of a row that has no partner */
#define POLDER_PAIR_FREE -1 /* none yet */
#define POLDER_PAIR_LONE -2 /* is in no aggregate */
/* What next[] says of a row that proposes to none */
#define POLDER_PAIR_NONE -1 /* there is none */
#define POLDER_PAIR_WAIT -2 /* in the next round */
/* Bits of one coordinate in a place of a grid, x + (y << 20) + (z << 40) */
#define POLDER_PAIR_BITS 20

/* How two rows may become a pair */
typedef struct {
  const PetscInt64 *place;     /* of each row in a grid; NULL: none is known */
  PetscReal         threshold; /* an entry is strong when -a_ij is at least this part of the largest of its row */
  PetscReal         kappa;     /* largest two-grid condition of a pair; 0: any */
  const PetscReal  *outside;   /* of each row, the largest of its entries to other processes; NULL: there are none */
} PolderPairRule;

/* What row i knows of its strongest coupling before its entries to this process are seen */
POLDER_PAIR PetscReal PolderPairOutside(PetscInt i, const PolderPairRule *rule)
{
  return rule->outside ? rule->outside[i] : 0;
}

/* Strengths that differ by less than about a fifth count as equal: the exponent and two bits of the mantissa, rounded */
POLDER_PAIR unsigned PolderPairBucket(PetscReal strength)
{
  union
  {
    float    value;
    unsigned bits;
  } u;

  u.value = (float)strength;
  return (u.bits + (1u << 20)) >> 21;
}

/* The direction in which two places are neighbours, -1 for none */
POLDER_PAIR int PolderPairDirection(PetscInt64 p, PetscInt64 q)
{
  const PetscInt64 d = p < q ? q - p : p - q;

  return d == 1 ? 0 : d == (PetscInt64)1 << POLDER_PAIR_BITS ? 1 : d == (PetscInt64)1 << 2 * POLDER_PAIR_BITS ? 2 : -1;
}

/*
  Which of equally strong entries comes first: the same number for (i, j) and (j, i). On a grid those that join coordinates 2c and 2c + 1, of these the ones of the
  fastest direction, so that pairs line up and the coarse rows make a grid again. Elsewhere a hash, so that no long chains form
*/
POLDER_PAIR unsigned PolderPairOrder(PetscInt i, PetscInt j, const PetscInt64 place[])
{
  const int direction = place ? PolderPairDirection(place[i], place[j]) : -1;
  unsigned  h;

  if (direction >= 0) return 0x80000000u + (unsigned)(3 - direction) + ((place[i] < place[j] ? place[i] : place[j]) >> direction * POLDER_PAIR_BITS & 1 ? 0 : 3);
  h = (unsigned)(i < j ? i : j) * 0x9E3779B1u ^ (unsigned)(i < j ? j : i) * 0x85EBCA77u;
  h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
  return (h ^ (h >> 13)) >> 1;
}

/* The order of entries along a direction that line up */
POLDER_PAIR unsigned PolderPairLined(int direction)
{
  return 0x80000000u + (unsigned)(6 - direction);
}

/* The place of the pair of a row at p when pairs are made along a direction */
POLDER_PAIR PetscInt64 PolderPairPlace(PetscInt64 p, int direction)
{
  const PetscInt64 mask = (((PetscInt64)1 << POLDER_PAIR_BITS) - 1) << direction * POLDER_PAIR_BITS;

  return (p & ~mask) | ((p & mask) >> 1 & mask);
}

/* The direction that most rows want, the first of equals */
POLDER_PAIR int PolderPairMostWanted(const PetscInt count[3])
{
  int direction = 2;

  for (int d = 1; d >= 0; --d) {
    if (count[d] >= count[direction]) direction = d;
  }
  return direction;
}

/* The place of row r of a grid with these strides, whose largest is that of planes unless there are none */
POLDER_PAIR PetscInt64 PolderPairPlaceOf(PetscInt r, const PetscInt near[3])
{
  const PetscInt line = r / near[1], plane = near[2] > near[1] ? r / near[2] : 0;

  return (r - line * near[1]) | (PetscInt64)(line - plane * (near[2] / near[1])) << POLDER_PAIR_BITS | (PetscInt64)plane << 2 * POLDER_PAIR_BITS;
}

/* Does an entry at this distance from the diagonal join the row at place p to a neighbour in the grid? */
POLDER_PAIR PetscBool PolderPairFitsGrid(PetscInt distance, PetscInt64 p, const PetscInt near[3])
{
  const PetscInt d = distance < 0 ? -distance : distance, x = (PetscInt)(p & (((PetscInt64)1 << POLDER_PAIR_BITS) - 1)), y = (PetscInt)(p >> POLDER_PAIR_BITS & (((PetscInt64)1 << POLDER_PAIR_BITS) - 1));

  if (d == 0) return PETSC_TRUE;
  if (d == 1) return (PetscBool)(distance > 0 ? x + 1 < near[1] : x > 0);
  if (d == near[1] && near[2] > near[1]) return (PetscBool)(distance > 0 ? y + 1 < near[2] / near[1] : y > 0);
  return (PetscBool)(d == near[1] || d == near[2]);
}

/* Does row i number its pair, being the first of it? */
POLDER_PAIR PetscBool PolderPairLeads(PetscInt i, const PetscInt mate[], const PetscInt join[])
{
  return (PetscBool)(mate[i] >= i && (!join || join[i] == i));
}

/* Is the two-grid condition of a pair at most kappa? With its coupling -a, its diagonal entries d and its row sums s (Notay, SIAM J. Sci. Comput. 34, 2012) */
POLDER_PAIR PetscBool PolderPairGood(PetscReal a, PetscReal di, PetscReal si, PetscReal dj, PetscReal sj, PetscReal kappa)
{
  const PetscReal bottom = a + (si + sj > 0 ? si * sj / (si + sj) : 0);

  return (PetscBool)(si + sj >= 0 && bottom > 0 && 2 * di * dj / (di + dj) <= kappa * bottom);
}

/* The strongest free partner of row i, the first of equals, or POLDER_PAIR_NONE. s[] (NULL: rule->kappa is not asked for) and d[]: row sums and diagonal */
POLDER_PAIR PetscInt PolderPairPropose(PetscInt i, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal s[], const PetscReal d[], const PolderPairRule *rule, const PetscInt mate[])
{
  PetscReal strongest = PolderPairOutside(i, rule), found = 0;
  unsigned  bucket = 0, order = 0;
  PetscInt  best = POLDER_PAIR_NONE;

  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
    const PetscInt  j = aj[k];
    const PetscReal a = -PetscRealPart(aa[k]);
    unsigned        b, o;

    if (j == i || !(a > 0)) continue;
    if (a > strongest) strongest = a;
    if (mate[j] != POLDER_PAIR_FREE) continue;
    b = PolderPairBucket(a);
    if (b < bucket || (s && !PolderPairGood(a, d[i], s[i], d[j], s[j], rule->kappa))) continue;
    o = PolderPairOrder(i, j, rule->place);
    if (b > bucket || o > order || best < 0) {
      best   = j;
      bucket = b;
      order  = o;
      found  = a;
    }
  }
  return found >= rule->threshold * strongest ? best : POLDER_PAIR_NONE;
}

/* The partner of row i with which it lines up along a direction, when that coupling is strong; else the row waits */
POLDER_PAIR PetscInt PolderPairAlong(PetscInt i, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PolderPairRule *rule, const PetscInt mate[], int direction)
{
  PetscReal strongest = PolderPairOutside(i, rule), found = 0;
  PetscInt  best = POLDER_PAIR_WAIT;

  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
    const PetscReal a = -PetscRealPart(aa[k]);

    if (aj[k] == i) continue;
    if (a > strongest) strongest = a;
    if (a > 0 && mate[aj[k]] == POLDER_PAIR_FREE && PolderPairOrder(i, aj[k], rule->place) == PolderPairLined(direction)) {
      best  = aj[k];
      found = a;
    }
  }
  return found >= rule->threshold * strongest ? best : POLDER_PAIR_WAIT;
}

/* The strongest neighbour of a row i that is alone, if that one has a partner and would be a good one for i as well; else i, also when it belongs to another process */
POLDER_PAIR PetscInt PolderPairJoin(PetscInt i, const PetscInt ai[], const PetscInt aj[], const PetscScalar aa[], const PetscReal s[], const PetscReal d[], const PolderPairRule *rule, const PetscInt mate[])
{
  PetscReal found  = 0;
  unsigned  bucket = 0, order = 0;
  PetscInt  best = i;

  for (PetscInt k = ai[i]; k < ai[i + 1]; ++k) {
    const PetscInt  j = aj[k];
    const PetscReal a = -PetscRealPart(aa[k]);
    unsigned        b, o;

    if (j == i || !(a > 0) || mate[j] < 0) continue;
    if (s && !PolderPairGood(a, d[i], s[i], d[j], s[j], rule->kappa)) continue;
    b = PolderPairBucket(a);
    o = PolderPairOrder(i, j, rule->place);
    if (b > bucket || (b == bucket && (o > order || best == i))) {
      best   = j;
      bucket = b;
      order  = o;
      found  = a;
    }
  }
  return mate[best] != best && found >= PolderPairOutside(i, rule) ? best : i;
}
