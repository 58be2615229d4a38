/* Bodies of the kernels on levels that are grids, for one cell, which host and device share; at[] are the coordinates of the cell. */
#pragma once

#include "bfloat.h"
#include "excessrow.h"
#include "levelgrid.h"
#include "pairrow.h"

/* The coordinates of cell number g in natural order */
POLDER_BODY void PolderLevelGridAt(const PetscInt size[3], PetscInt g, PetscInt at[3])
{
  const PetscInt line = g / size[0];

  at[0] = g - line * size[0];
  at[2] = line / size[1];
  at[1] = line - at[2] * size[1];
}

POLDER_BODY PetscInt PolderLevelGridStride(const PetscInt size[3], int d)
{
  return d == 0 ? 1 : d == 1 ? size[0] : size[0] * size[1];
}

/* The neighbour of cell i on one side (1 or -1) in direction d, -1 for none on this process */
POLDER_BODY PetscInt PolderLevelGridNeighbour(const PetscInt size[3], PetscInt n, PetscInt i, const PetscInt at[3], int d, int side)
{
  const PetscInt to = at[d] + side, j = i + side * PolderLevelGridStride(size, d);

  return to >= 0 && to < size[d] && j >= 0 && j < n ? j : -1;
}

POLDER_BODY PetscReal PolderLevelGridValue(const PolderLevelGridEntries *A, const void *values, PetscInt k)
{
  if (A->bfloat) return (PetscReal)PolderBfloatGet(((const PolderBfloat *)values)[k]);
  return A->single ? (PetscReal)((const float *)values)[k] : PetscRealPart(((const PetscScalar *)values)[k]);
}

/* The entry between cell i and its upper neighbour in direction d, which exists */
POLDER_BODY PetscReal PolderLevelGridEntry(const PolderLevelGrid *G, const PolderLevelGridEntries *A, PetscInt i, int d)
{
  PetscInt k = i;

  if (A->up[d]) return PolderLevelGridValue(A, A->up[d], i);
  for (k = A->ai[i]; k < A->ai[i + 1] && A->aj[k] != i + PolderLevelGridStride(G->size, d); ++k) { }
  return k == A->ai[i + 1] ? 0 : PolderLevelGridValue(A, A->aa, k);
}

/* The coupling of neighbours i and j in direction d; 0 where j = -1 */
POLDER_BODY PetscReal PolderLevelGridCoupling(const PolderLevelGrid *G, const PolderLevelGridEntries *A, PetscInt i, PetscInt j, int d)
{
  const PetscReal a = j < 0 ? 0 : -PolderLevelGridEntry(G, A, i < j ? i : j, d);

  return a > 0 ? a : 0;
}

/* The strongest couplings of row i along each direction, without those to rows that are POLDER_PAIR_LONE; returns the strongest of all */
POLDER_BODY PetscReal PolderLevelGridMost(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt mate[], PetscInt i, const PetscInt at[3],
                                          PetscReal most[3])
{
  const PetscBool lone = (PetscBool)(mate && mate[i] == POLDER_PAIR_LONE);
  PetscReal       all  = 0;

  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    most[d] = 0;
    POLDER_UNROLL
    for (int side = -1; side <= 1; side += 2) { // what is read does not depend on what has been read: on a device no load waits for another
      const PetscInt  j     = PolderLevelGridNeighbour(G->size, G->n, i, at, d, side);
      const PetscReal a     = PolderLevelGridCoupling(G, A, i, j, d);
      const PetscBool other = (PetscBool)(mate && mate[j < 0 ? i : j] == POLDER_PAIR_LONE);

      if (a > most[d] && !lone && !other) most[d] = a;
    }
    if (most[d] > all) all = most[d];
  }
  return all;
}

/* The counts of PolderLevelGridSurvey_Host(): bit k is set when row i counts in count[k] */
POLDER_BODY unsigned PolderLevelGridLook(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, PetscInt i,
                                         const PetscInt at[3])
{
  PetscReal       most[3];
  const PetscReal all  = PolderLevelGridMost(G, A, rule->mate, i, at, most);
  unsigned        bits = rule->excess && !(rule->excess[i] >= 0) ? 16 : 0;
  PetscBool       is   = all > 0 ? PETSC_TRUE : PETSC_FALSE;

  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    if (G->thin[d] && at[d] == G->size[d] - 1) is = PETSC_FALSE;
  }
  if (is) bits |= 8;
  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    if (is && most[d] < rule->weak * all) bits |= 1u << d;
    if (PolderLevelGridNeighbour(G->size, G->n, i, at, d, 1) >= 0 && !(PolderLevelGridEntry(G, A, i, d) <= 0)) bits |= 16;
  }
  return bits;
}

/* The number of the cell of a box with this bit for each direction, -1 where there is none or it is POLDER_PAIR_LONE; from[] are its coordinates */
POLDER_BODY PetscInt PolderLevelGridCell(const PolderLevelGrid *G, const PetscInt mate[], const PetscInt box[3], int bits, PetscInt from[3])
{
  PetscInt i;

  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    const PetscInt step = bits >> d & 1;

    from[d] = (box[d] << G->join[d]) + step;
    if (step > G->join[d] || from[d] >= G->size[d]) return -1;
  }
  i = from[0] + G->size[0] * (from[1] + G->size[1] * from[2]) - G->shift;
  return i >= 0 && i < G->n && mate[i] != POLDER_PAIR_LONE ? i : -1;
}

/* Do the cells of a box whose bits are in `strong` fall into groups, when bit k of good[d] joins cells k and k | 1 << d? */
POLDER_BODY PetscBool PolderLevelGridFalls(unsigned strong, const unsigned good[3])
{
  unsigned group = strong & (~strong + 1), before = 0; // the first of them

  while (group != before) {
    before = group;
    POLDER_UNROLL
    for (int d = 0; d < 3; ++d) group |= (good[d] & group) << (1 << d) | (good[d] & group >> (1 << d));
  }
  return group == strong ? PETSC_FALSE : PETSC_TRUE;
}

/*
  Do the strongly coupled cells of a box fall into groups that are weakly coupled within the box? Such a box would tie parts to each other that are hardly
  coupled, as two inclusions of large coefficients
*/
POLDER_BODY PetscBool PolderLevelGridBridges(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, const PetscInt box[3])
{
  PetscInt  cell[8], from[3];
  PetscReal strongest[8], most[3], top = 0;
  unsigned  strong = 0, good[3] = {0, 0, 0};

  POLDER_UNROLL
  for (int k = 0; k < 8; ++k) {
    cell[k]      = PolderLevelGridCell(G, rule->mate, box, k, from);
    strongest[k] = cell[k] < 0 ? 0 : PolderLevelGridMost(G, A, rule->mate, cell[k], from, most);
    if (strongest[k] > top) top = strongest[k];
  }
  POLDER_UNROLL
  for (int k = 0; k < 8; ++k) strong |= strongest[k] > 0 && strongest[k] >= rule->split * top ? 1u << k : 0;
  POLDER_UNROLL
  for (int k = 0; k < 8; ++k) {
    POLDER_UNROLL
    for (int d = 0; d < 3; ++d) {
      const int      l    = k | 1 << d;
      const unsigned both = 1u << k | 1u << l;

      if (k == l || (strong & both) != both) continue;
      if (PolderLevelGridCoupling(G, A, cell[k], cell[l], d) >= rule->split * (strongest[k] < strongest[l] ? strongest[k] : strongest[l])) good[d] |= 1u << k;
    }
  }
  return PolderLevelGridFalls(strong, good);
}

POLDER_BODY PetscInt PolderLevelGridBox(const PolderLevelGrid *G, const PetscInt at[3])
{
  return (at[0] >> G->join[0]) + G->csize[0] * ((at[1] >> G->join[1]) + G->csize[1] * (at[2] >> G->join[2])) - G->cshift;
}

/* The neighbour of cell i if it takes part in P, else -1 */
POLDER_BODY PetscInt PolderLevelGridActive(const PolderLevelGrid *G, const PetscInt agg[], PetscInt i, const PetscInt at[3], int d, int side)
{
  const PetscInt j = PolderLevelGridNeighbour(G->size, G->n, i, at, d, side);

  return j >= 0 && agg[j] < G->nc ? j : -1;
}

/* The side on which the box of a cell ends that is joined in direction d */
POLDER_BODY int PolderLevelGridFace(const PetscInt at[3], int d)
{
  return at[d] & 1 ? 1 : -1;
}

/* The strongest coupling of cell i */
POLDER_BODY PetscReal PolderLevelGridStrongest(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt agg[], PetscInt i,
                                               const PetscInt at[3])
{
  PetscReal most = 0;

  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    POLDER_UNROLL
    for (int side = -1; side <= 1; side += 2) {
      const PetscReal a = PolderLevelGridCoupling(G, A, i, PolderLevelGridActive(G, agg, i, at, d, side), d);

      if (a > most) most = a;
    }
  }
  return most;
}

/*
  The weight of a box from the coupling of a cell within its own box, that to the cell that it faces, and that of this one within its box, unless it is alone
  there; most: the strongest coupling of the cell
*/
POLDER_BODY PetscReal PolderLevelGridWeightOf(PetscReal own, PetscReal face, PetscReal other, PetscBool alone, PetscReal most)
{
  const PetscReal g = alone ? face : other > 0 ? face / (1 + face / (2 * other)) : 0, w = g > 0 ? g / (2 * own + g) : 0, bound = most > 0 ? face / most : 0;

  return w < bound ? w : bound;
}

/* The same, without divisions where the coefficient is constant: there it is 1/4, up to rounding far below the unit of the weights */
POLDER_BODY PetscReal PolderLevelGridWeightNear(PetscReal own, PetscReal face, PetscReal other, PetscBool alone, PetscReal most)
{
  return face > 0 && own == face && other == face && 4 * face >= most ? 0.25 : PolderLevelGridWeightOf(own, face, other, alone, most);
}

/* The weight of the box that cell i faces in direction d; most: the strongest coupling of the cell */
POLDER_BODY PetscReal PolderLevelGridWeight(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt agg[], PetscInt i, const PetscInt at[3],
                                            int d, PetscReal most)
{
  const int      side = PolderLevelGridFace(at, d);
  const PetscInt in = PolderLevelGridActive(G, agg, i, at, d, -side), j = PolderLevelGridActive(G, agg, i, at, d, side);
  PetscInt       there[3] = {at[0], at[1], at[2]}, beyond;

  if (in < 0 || j < 0) return 0;
  there[d] += side;
  beyond = PolderLevelGridActive(G, agg, j, there, d, side);
  return PolderLevelGridWeightOf(PolderLevelGridCoupling(G, A, i, in, d), PolderLevelGridCoupling(G, A, i, j, d), PolderLevelGridCoupling(G, A, j, beyond, d),
                                 (PetscBool)(beyond < 0), most);
}

/* The weight of direction d in a word of w[] that is not POLDER_LEVELGRID_APART */
POLDER_BODY float PolderLevelGridUnpack(unsigned word, int d)
{
  return (float)(int)(word >> 10 * d & 1023) * (1.0f / POLDER_LEVELGRID_UNIT);
}

/*
  The word of three weights, scaled if their sum is larger than one. A sum that rounds to one stays one: the cell then hangs on its neighbours alone, and the
  first of the largest weights takes what rounding has left
*/
POLDER_BODY unsigned PolderLevelGridWord(PetscReal w0, PetscReal w1, PetscReal w2)
{
  const PetscReal sum = w0 + w1 + w2, u0 = sum > 1 ? w0 / sum : w0, u1 = sum > 1 ? w1 / sum : w1, u2 = sum > 1 ? w2 / sum : w2;
  const int       k0 = (int)(u0 * POLDER_LEVELGRID_UNIT + 0.5), k1 = (int)(u1 * POLDER_LEVELGRID_UNIT + 0.5), k2 = (int)(u2 * POLDER_LEVELGRID_UNIT + 0.5);
  const int       total = (int)((u0 + u1 + u2) * POLDER_LEVELGRID_UNIT + 0.5), rest = total == POLDER_LEVELGRID_UNIT ? total - (k0 + k1 + k2) : 0;
  const int       second = k1 > k0, third = k2 > k1 && k2 > k0;

  return (unsigned)(k0 + (second | third ? 0 : rest)) | (unsigned)(k1 + (second & !third ? rest : 0)) << 10 | (unsigned)(k2 + (third ? rest : 0)) << 20;
}

/* Stores the weights of cell i, each coupling of which is read once */
POLDER_BODY void PolderLevelGridSetWeights(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt agg[], PetscInt i, const PetscInt at[3])
{
  PetscInt  j[3][2];
  PetscReal a[3][2], most = 0, w[3] = {0, 0, 0};

  if (agg[i] >= G->nc) {
    G->w[i] = POLDER_LEVELGRID_APART;
    return;
  }
  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    POLDER_UNROLL
    for (int upper = 0; upper < 2; ++upper) {
      const PetscInt  near = PolderLevelGridNeighbour(G->size, G->n, i, at, d, upper ? 1 : -1);
      const PetscReal face = PolderLevelGridCoupling(G, A, i, near, d);

      j[d][upper] = near >= 0 && agg[near] < G->nc ? near : -1;
      a[d][upper] = j[d][upper] < 0 ? 0 : face;
      if (a[d][upper] > most) most = a[d][upper];
    }
  }
  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    const int      upper = at[d] & 1, side = PolderLevelGridFace(at, d);
    const PetscInt in = upper ? j[d][0] : j[d][1], face = upper ? j[d][1] : j[d][0];
    PetscInt       there[3] = {at[0], at[1], at[2]}, beyond;

    if (!G->join[d] || in < 0 || face < 0) continue;
    there[d] += side;
    beyond = PolderLevelGridActive(G, agg, face, there, d, side);
    w[d]   = PolderLevelGridWeightNear(upper ? a[d][0] : a[d][1], upper ? a[d][1] : a[d][0], PolderLevelGridCoupling(G, A, face, beyond, d),
                                     (PetscBool)(beyond < 0), most);
  }
  G->w[i] = PolderLevelGridWord(w[0], w[1], w[2]);
}

/* Number of the first n cells of the next level that have a lower neighbour in direction d */
POLDER_BODY PetscInt PolderLevelGridLower(const PolderLevelGrid *G, PetscInt n, int d)
{
  const PetscInt stride = PolderLevelGridStride(G->csize, d), around = stride * G->csize[d];
  PetscInt       count = 0;

  if (G->csize[d] < 2) return 0;
  for (int end = 1; end >= 0; --end) {
    const PetscInt g = G->cshift + (end ? n : stride < n ? stride : n), rest = g % around; // a cell number below the stride has its neighbour elsewhere

    count += (end ? 1 : -1) * (g - g / around * stride - (rest < stride ? rest : stride));
  }
  return count;
}

/* The position of row c of the stencil on the cells of the next level */
POLDER_BODY PetscInt PolderLevelGridRowStart(const PolderLevelGrid *G, PetscInt c)
{
  PetscInt at = c;

  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    const PetscInt up = c + PolderLevelGridStride(G->csize, d);

    at += PolderLevelGridLower(G, c, d) + PolderLevelGridLower(G, up < G->nc ? up : G->nc, d);
  }
  return at;
}

/* What a cell of the next level collects: couplings to its lower and upper neighbours, and the data of its row sum */
typedef struct {
  PetscReal to[3][2], lone, excess, size;
} PolderLevelGridCollected;

/* Adds cell i */
POLDER_BODY void PolderLevelGridCollect(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRows *R, PetscInt i,
                                        const PetscInt at[3], PolderLevelGridCollected *c)
{
  c->excess += R->excess[i];
  c->size += R->size[i];
  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    const PetscInt in = G->join[d] ? PolderLevelGridActive(G, R->agg, i, at, d, -PolderLevelGridFace(at, d)) : -1;

    POLDER_UNROLL
    for (int upper = 0; upper < 2; ++upper) {
      const int      side = upper ? 1 : -1;
      const PetscInt j    = PolderLevelGridNeighbour(G->size, G->n, i, at, d, side);
      PetscReal      a, cells = 1;

      if (j < 0) continue;
      a = PolderLevelGridCoupling(G, A, i, j, d);
      if (R->agg[j] >= G->nc) {
        c->lone += a;
        continue;
      }
      if (G->join[d] && side != PolderLevelGridFace(at, d)) continue; // within the box
      if (G->join[d]) {
        PetscInt there[3] = {at[0], at[1], at[2]};

        there[d] += side;
        cells = 0.5 * ((in >= 0 ? 2 : 1) + (PolderLevelGridActive(G, R->agg, j, there, d, side) >= 0 ? 2 : 1));
      }
      c->to[d][upper] += cells == 2 ? 0.5 * a : a / cells; // a division takes long on a device
    }
  }
}

/* Stores row c of the next level, whose entries begin at position k; at[] are the coordinates of its cell. Returns where they end */
POLDER_BODY PetscInt PolderLevelGridStoreRow(const PolderLevelGrid *G, const PolderLevelGridRows *R, PetscInt c, const PetscInt at[3],
                                             PolderLevelGridCollected all, PetscInt k)
{
  PetscReal sum  = 0;
  PetscInt  diag = k;

  if (!(all.size > 0)) all.excess = all.size = 1; // no cell of the box takes part: a row of the identity
  R->coarse[c]     = all.lone > 0 ? PolderExcessLess(all.excess, -all.lone, all.lone) : all.excess;
  R->coarsesize[c] = all.size;
  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) sum += all.to[d][0] + all.to[d][1];
  if (R->pattern) R->ci[c] = k;
  POLDER_UNROLL
  for (int e = 0; e < 7; ++e) { // columns ascend
    const int      d = e < 3 ? 2 - e : e - 4, side = e < 3 ? -1 : 1;
    const PetscInt j = e == 3 ? c : PolderLevelGridNeighbour(G->csize, G->nc, c, at, d, side);

    if (j < 0) continue;
    if (R->pattern) R->cj[k] = j;
    if (e == 3) diag = k;
    else R->ca[k] = -all.to[d][side > 0];
    ++k;
  }
  R->ca[diag] = PolderExcessPivot(sum, R->coarse[c], -sum, sum, POLDER_EXCESS_ROUNDING * all.size);
  if (R->pattern && c == G->nc - 1) R->ci[G->nc] = k;
  return k;
}

/* Adds the cell with this bit for each direction of the box at[], if there is one and it takes part */
POLDER_BODY void PolderLevelGridCollectCell(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRows *R, const PetscInt at[3],
                                            int cell, PolderLevelGridCollected *all)
{
  PetscInt  from[3], i;
  PetscBool is = PETSC_TRUE;

  POLDER_UNROLL
  for (int d = 0; d < 3; ++d) {
    const PetscInt step = cell >> d & 1;

    from[d] = (at[d] << G->join[d]) + step;
    if (step > G->join[d] || from[d] >= G->size[d]) is = PETSC_FALSE;
  }
  i = from[0] + G->size[0] * (from[1] + G->size[1] * from[2]) - G->shift;
  if (is && i >= 0 && i < G->n && R->agg[i] < G->nc) PolderLevelGridCollect(G, A, R, i, from, all);
}

/* Stores row c of the next level, as PolderLevelGridStoreRow() does, from the cells of its box */
POLDER_BODY PetscInt PolderLevelGridCoarseRow(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRows *R, PetscInt c,
                                              const PetscInt at[3], PetscInt k)
{
  PolderLevelGridCollected all = {
    {{0, 0}, {0, 0}, {0, 0}},
    0, 0, 0
  };

  POLDER_UNROLL
  for (int cell = 0; cell < 8; ++cell) PolderLevelGridCollectCell(G, A, R, at, cell, &all);
  return PolderLevelGridStoreRow(G, R, c, at, all, k);
}

POLDER_BODY PetscInt64 PolderLevelGridPlace(const PetscInt at[3])
{
  return at[0] | (PetscInt64)at[1] << POLDER_PAIR_BITS | (PetscInt64)at[2] << 2 * POLDER_PAIR_BITS;
}
