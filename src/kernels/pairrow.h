/* Row bodies of the pairwise aggregation that host and device share. */
#pragma once

#include "launcher.h"
#include "views.h"

/* Values of mate[] for rows without partner */
#define POLDER_PAIR_FREE -1 /* not paired yet */
#define POLDER_PAIR_LONE -2 /* row in no aggregate */
/* Values of next[] for rows that propose to no row */
#define POLDER_PAIR_NONE -1 /* no partner exists */
#define POLDER_PAIR_WAIT -2 /* proposes in the next round */
/* Bits of one coordinate in a grid point, encoded as x + (y << 20) + (z << 40) */
#define POLDER_PAIR_BITS 20

/* The rules by which two rows may become a pair */
typedef struct {
  const PetscInt64 *place;     /* grid point of each row; NULL: unknown */
  PetscReal         threshold; /* an entry is strong when -a_ij is at least this fraction of the largest of its row */
  PetscReal         kappa;     /* largest two-grid condition number of an aggregate; 0: any */
  const PetscReal  *outside;   /* the largest off-process coupling of each row; NULL: none */
  PetscBool         lines;     /* strong couplings lie in lines */
  const PetscReal  *d, *s;     /* of each row, see PolderPairGood(); NULL when kappa is 0 */
} PolderPairRule;

/* The strongest coupling of row i before its local entries are read */
POLDER_BODY PetscReal PolderPairOutside(PetscInt i, const PolderPairRule *rule)
{
  return rule->outside ? rule->outside[i] : 0;
}

/* Strengths that differ by less than about a fifth compare as equal: exponent and two bits of the mantissa, rounded */
POLDER_BODY unsigned PolderPairBucket(PetscReal strength)
{
  union
  {
    float    value;
    unsigned bits;
  } u;

  u.value = (float)strength;
  return (u.bits + (1u << 20)) >> 21;
}

/* The direction in which two grid points are neighbours, -1 for none */
POLDER_BODY int PolderPairDirection(PetscInt64 p, PetscInt64 q)
{
  const PetscInt64 d = p < q ? q - p : p - q;

  return d == 1 ? 0 : d == (PetscInt64)1 << POLDER_PAIR_BITS ? 1 : d == (PetscInt64)1 << 2 * POLDER_PAIR_BITS ? 2 : -1;
}

/*
  Rank among equally strong entries, the same for (i, j) and (j, i). On a grid, entries that join coordinates 2c and 2c + 1 come first, and among these the
  ones of the fastest direction, so that pairs line up and the coarse rows form a grid again. Without a grid the rank is a hash, which avoids long chains.
*/
POLDER_BODY unsigned PolderPairOrder(PetscInt i, PetscInt j, const PetscInt64 place[])
{
  const int direction = place ? PolderPairDirection(place[i], place[j]) : -1;
  unsigned  h;

  if (direction >= 0)
    return 0x80000000u + (unsigned)(3 - direction) + ((place[i] < place[j] ? place[i] : place[j]) >> direction * POLDER_PAIR_BITS & 1 ? 0 : 3);
  h = (unsigned)(i < j ? i : j) * 0x9E3779B1u ^ (unsigned)(i < j ? j : i) * 0x85EBCA77u;
  h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
  return (h ^ (h >> 13)) >> 1;
}

/*
  The same by the rule. In lines without a grid entries come first whose lower row is an even number of their steps from row 0: where the numbers of the rows
  of lines beside each other differ by as much from row to row, their pairs line up
*/
POLDER_BODY unsigned PolderPairRank(PetscInt i, PetscInt j, const PolderPairRule *rule)
{
  const unsigned order = PolderPairOrder(i, j, rule->place);
  const PetscInt lower = i < j ? i : j, step = i < j ? j - i : i - j;

  return !rule->lines || rule->place || !step ? order : order >> 1 | (lower / step % 2 ? 0 : 0x40000000u);
}

/* The rank of entries that line up along a direction */
POLDER_BODY unsigned PolderPairLined(int direction)
{
  return 0x80000000u + (unsigned)(6 - direction);
}

/* The coarse grid point of a row at grid point p when pairs are made along a direction */
POLDER_BODY PetscInt64 PolderPairPlace(PetscInt64 p, int direction)
{
  const PetscInt64 mask = (((PetscInt64)1 << POLDER_PAIR_BITS) - 1) << direction * POLDER_PAIR_BITS;

  return (p & ~mask) | ((p & mask) >> 1 & mask);
}

/* The direction with the most proposals, the first of equals */
POLDER_BODY int PolderPairMostWanted(const PetscInt count[3])
{
  int direction = 2;

  for (int d = 1; d >= 0; --d) {
    if (count[d] >= count[direction]) direction = d;
  }
  return direction;
}

/* The grid point of row r in a grid with these strides; the largest stride is that of planes, if there are planes */
POLDER_BODY PetscInt64 PolderPairPlaceOf(PetscInt r, const PetscInt near[3])
{
  const PetscInt line = r / near[1], plane = near[2] > near[1] ? r / near[2] : 0;

  return (r - line * near[1]) | (PetscInt64)(line - plane * (near[2] / near[1])) << POLDER_PAIR_BITS | (PetscInt64)plane << 2 * POLDER_PAIR_BITS;
}

/* Directions in which a grid ends, as bits; ASTRAY: an entry that joins no neighbours */
enum {
  POLDER_PAIR_EAST   = 1,
  POLDER_PAIR_WEST   = 2,
  POLDER_PAIR_NORTH  = 4,
  POLDER_PAIR_SOUTH  = 8,
  POLDER_PAIR_ASTRAY = 16
};

/* The bit of an entry at this distance from the diagonal, 0 where the numbers of the rows tell that the neighbour is there */
POLDER_BODY int PolderPairHeading(PetscInt distance, const PetscInt near[3])
{
  const PetscInt d = distance < 0 ? -distance : distance;

  if (d == 0) return 0;
  if (d == 1) return distance > 0 ? POLDER_PAIR_EAST : POLDER_PAIR_WEST;
  if (d == near[1] && near[2] > near[1]) return distance > 0 ? POLDER_PAIR_NORTH : POLDER_PAIR_SOUTH;
  return d == near[1] || d == near[2] ? 0 : POLDER_PAIR_ASTRAY;
}

/* The directions in which grid point p has no neighbour */
POLDER_BODY int PolderPairClosed(PetscInt64 p, const PetscInt near[3])
{
  const PetscInt mask = (PetscInt)(((PetscInt64)1 << POLDER_PAIR_BITS) - 1), x = (PetscInt)p & mask, y = (PetscInt)(p >> POLDER_PAIR_BITS) & mask;
  const PetscInt lines = near[2] / near[1];

  return (x + 1 < near[1] ? 0 : POLDER_PAIR_EAST) | (x > 0 ? 0 : POLDER_PAIR_WEST) | (y + 1 < lines ? 0 : POLDER_PAIR_NORTH) | (y > 0 ? 0 : POLDER_PAIR_SOUTH) |
         POLDER_PAIR_ASTRAY;
}

/* Is row i the first of its pair, which numbers the pair? */
POLDER_BODY PetscBool PolderPairLeads(PetscInt i, const PetscInt mate[], const PetscInt join[])
{
  return (PetscBool)(mate[i] >= i && (!join || join[i] == i));
}

/* The part of the diagonal that couples a row, or an aggregate, to others: without a positive row sum */
POLDER_BODY PetscReal PolderPairCoupled(PetscReal d, PetscReal s)
{
  return s > 0 ? d - s : d;
}

/*
  Is the two-grid condition number of two aggregates as one at most kappa, given their coupling -a, the sums d of the diagonal entries of their rows, in the
  matrix of the level, and the sums s of these rows? Without s and with constants on each of them it is (Napov and Notay, SIAM J. Sci. Comput. 34, 2012)

    2 / (1 / d_i + 1 / d_j) / a
*/
POLDER_BODY PetscBool PolderPairGood(PetscReal a, PetscReal di, PetscReal si, PetscReal dj, PetscReal sj, PetscReal kappa)
{
  return (PetscBool)(2 / (1 / PolderPairCoupled(di, si) + 1 / PolderPairCoupled(dj, sj)) <= kappa * a);
}

/* What some entries of a row propose: the best free partner, its entry and its rank, and the strongest coupling of all */
typedef struct {
  PetscReal strongest, found;
  unsigned  bucket, order;
  PetscInt  best, at;
} PolderPairOffer;

/* Entry k, a coupling a to row j of this rank, takes the place of one of a lower rank */
POLDER_BODY void PolderPairRaise(PolderPairOffer *offer, PetscInt j, PetscInt k, PetscReal a, unsigned bucket, unsigned order)
{
  if (bucket < offer->bucket || (bucket == offer->bucket && order <= offer->order && offer->best >= 0)) return;
  offer->best   = j;
  offer->at     = k;
  offer->bucket = bucket;
  offer->order  = order;
  offer->found  = a;
}

/* Is row j free? before[]: the proposals of the last round, which mate[] may or may not know of yet; NULL: it knows of all */
POLDER_BODY PetscBool PolderPairIsFree(PetscInt j, const PetscInt mate[], const PetscInt before[])
{
  if (mate[j] != POLDER_PAIR_FREE) return PETSC_FALSE;
  return (PetscBool)(!before || (before[j] != POLDER_PAIR_NONE && !(before[j] >= 0 && before[before[j]] == j)));
}

/* The entries number first, first + step, ... of row i */
POLDER_BODY PolderPairOffer PolderPairLook(PetscInt i, PetscInt first, PetscInt step, const PolderRows *A, const PolderPairRule *rule, const PetscInt mate[],
                                           const PetscInt before[])
{
  const PetscReal *d = rule->d, *s = rule->s;
  PolderPairOffer  offer = {0, 0, 0, 0, POLDER_PAIR_NONE, 0};

  for (PetscInt k = A->i[i] + first; k < A->i[i + 1]; k += step) {
    const PetscInt  j = A->j[k];
    const PetscReal a = -PetscRealPart(A->a[k]);
    unsigned        b;

    if (j == i || !(a > 0)) continue;
    if (a > offer.strongest) offer.strongest = a;
    if (!PolderPairIsFree(j, mate, before)) continue;
    b = PolderPairBucket(a);
    if (b < offer.bucket || (s && !PolderPairGood(a, d[i], s[i], d[j], s[j], rule->kappa))) continue;
    PolderPairRaise(&offer, j, k, a, b, PolderPairRank(i, j, rule));
  }
  return offer;
}

/* Of two offers of a row: is y the better one? Of equals the first entry is */
POLDER_BODY PetscBool PolderPairBetter(const PolderPairOffer *x, const PolderPairOffer *y)
{
  if (x->best < 0 || y->best < 0) return (PetscBool)(y->best >= 0);
  if (x->bucket != y->bucket) return (PetscBool)(y->bucket > x->bucket);
  return (PetscBool)(x->order != y->order ? y->order > x->order : y->at < x->at);
}

/* The partner that the offer of all entries of row i names, or POLDER_PAIR_NONE */
POLDER_BODY PetscInt PolderPairTake(PetscInt i, const PolderPairRule *rule, const PolderPairOffer *offer)
{
  const PetscReal outside = PolderPairOutside(i, rule);

  return offer->found >= rule->threshold * (offer->strongest > outside ? offer->strongest : outside) ? offer->best : POLDER_PAIR_NONE;
}

/* The strongest free partner of row i, the first of equals, or POLDER_PAIR_NONE */
POLDER_BODY PetscInt PolderPairPropose(PetscInt i, const PolderRows *A, const PolderPairRule *rule, const PetscInt mate[])
{
  const PolderPairOffer offer = PolderPairLook(i, 0, 1, A, rule, mate, NULL);

  return PolderPairTake(i, rule, &offer);
}

/* Pairs row i with the row that it proposes to if that proposes to it, and leaves it single without such a row; is it still free? */
POLDER_BODY PetscBool PolderPairMatch(PetscInt i, const PetscInt next[], PetscInt mate[])
{
  const PetscInt j = next[i];

  if (mate[i] != POLDER_PAIR_FREE) return PETSC_FALSE;
  if (j == POLDER_PAIR_NONE) mate[i] = i;
  else if (j >= 0 && next[j] == i) mate[i] = j;
  else return PETSC_TRUE;
  return PETSC_FALSE;
}

/* The last of the entries first, first + step, ... of row i to a free row that lines up with it along a direction, if they meet the bound */
POLDER_BODY PolderPairOffer PolderPairLookAlong(PetscInt i, PetscInt first, PetscInt step, const PolderRows *A, const PolderPairRule *rule,
                                                const PetscInt mate[], int direction)
{
  const PetscReal *d = rule->d, *s = rule->s;
  PolderPairOffer  offer = {0, 0, 0, 0, POLDER_PAIR_NONE, 0};

  for (PetscInt k = A->i[i] + first; k < A->i[i + 1]; k += step) {
    const PetscInt  j = A->j[k];
    const PetscReal a = -PetscRealPart(A->a[k]);

    if (j == i) continue;
    if (a > offer.strongest) offer.strongest = a;
    if (!(a > 0) || mate[j] != POLDER_PAIR_FREE || PolderPairOrder(i, j, rule->place) != PolderPairLined(direction)) continue;
    if (s && !PolderPairGood(a, d[i], s[i], d[j], s[j], rule->kappa)) continue;
    offer.best  = j;
    offer.at    = -k; // the last is the best
    offer.found = a;
  }
  return offer;
}

/* The partner along a direction that the offer of all entries of row i names, when their coupling is strong; otherwise the row waits */
POLDER_BODY PetscInt PolderPairTakeAlong(PetscInt i, const PolderPairRule *rule, const PolderPairOffer *offer)
{
  const PetscInt j = PolderPairTake(i, rule, offer);

  return j >= 0 ? j : POLDER_PAIR_WAIT;
}

/*
  For a single row i: the strongest of the entries first, first + step, ... to a row with or without a partner, the first of equals. With s[] the coupling must
  bound the condition number whatever the diagonal of the neighbour, since others may join there, and a light row must not tie heavy ones
*/
POLDER_BODY PolderPairOffer PolderPairLookJoin(PetscInt i, PetscInt first, PetscInt step, const PolderRows *A, const PolderPairRule *rule,
                                               const PetscInt mate[])
{
  PolderPairOffer offer = {0, 0, 0, 0, POLDER_PAIR_NONE, 0};

  for (PetscInt k = A->i[i] + first; k < A->i[i + 1]; k += step) {
    const PetscInt  j = A->j[k];
    const PetscReal a = -PetscRealPart(A->a[k]);

    if (j == i || !(a > 0) || mate[j] < 0) continue;
    if (rule->s && 2 * PolderPairCoupled(rule->d[i], rule->s[i]) > rule->kappa * a) continue;
    PolderPairRaise(&offer, j, k, a, PolderPairBucket(a), PolderPairRank(i, j, rule));
  }
  return offer;
}

/* That neighbour, if it has a partner; otherwise i, also when the strongest neighbour belongs to another process */
POLDER_BODY PetscInt PolderPairTakeJoin(PetscInt i, const PolderPairRule *rule, const PolderPairOffer *offer, const PetscInt mate[])
{
  return offer->best >= 0 && mate[offer->best] != offer->best && offer->found >= PolderPairOutside(i, rule) ? offer->best : i;
}
