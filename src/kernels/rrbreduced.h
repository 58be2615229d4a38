/*
  Node bodies of the first Schur complement S = D_r - S_rb D_b^-1 S_br of a 5-point matrix, which host and device share.

  Its vectors hold only the red nodes of a grid (rrbrow.h): r1, hx by hy, row by row, then r2, nx/2 by ny/2. S is kept explicitly, 9 points of which
  the symmetric half is stored, 10 values for a node of r1 and one of r2: a product moves 14 words for the two. Without it, C, W and S of the matrix for r1,
  b1, b2 and r2 would be 12 values and thus 16 words, with the values of black nodes computed on the way.
*/
#pragma once

#include "rrbrow.h"

/* Arrays of S, with borders like the arrays of the grid: diagonal and couplings of r1 to r1 (E, N) and to r2 (the others), then those of r2 to r2 */
enum {
  RRB_S1D,
  RRB_S1E,
  RRB_S1N,
  RRB_S1NE,
  RRB_S1SE,
  RRB_S1SW,
  RRB_S1NW,
  RRB_S2D,
  RRB_S2E,
  RRB_S2N,
  RRB_NREDUCED
};

/* Computes S from the arrays of the grid after the elimination of the black nodes without lumping */
POLDER_BODY_INLINE void PolderRRBReducedFill(size_t s, ptrdiff_t P, const PetscScalar *c, const PetscScalar *x, ptrdiff_t p, PetscScalar *a)
{
  PetscScalar *const r1[RRB_NROW] = {a + RRB_S1D * s, a + RRB_S1E * s, a + RRB_S1N * s, a + RRB_S1NE * s, a + RRB_S1SE * s};
  PetscScalar        other[2]; /* the couplings of r2 to r1, which are stored with r1 */
  PetscScalar *const r2[RRB_NROW] = {a + RRB_S2D * s + p, a + RRB_S2E * s + p, a + RRB_S2N * s + p, other, other + 1};

  PolderRRBSkewR1(s, c, p, r1, (PetscInt)p);
  PolderRRBSkewR2(s, P, c, x, p, r2, 0);
  a[RRB_S1SW * s + (size_t)p] = c[RRB_R1SW * s + (size_t)p];
  a[RRB_S1NW * s + (size_t)p] = c[RRB_R1NW * s + (size_t)p];
}

/* Rows v - 1, v, v + 1 of r1 and r2. A missing row is replaced by an existing one: the couplings to it are zero */
typedef struct {
  const PetscScalar *s1, *c1, *n1, *s2, *c2, *n2;
} PolderRRBRows;

POLDER_BODY_INLINE const PetscScalar *PolderRRBRowOf(const PetscScalar *x, PetscInt v, PetscInt n, PetscInt length)
{
  return x + (size_t)(v < n ? v : n - 1) * (size_t)length;
}

POLDER_BODY_INLINE PolderRRBRows PolderRRBGetRows(const PolderRRBGrid *g, const PetscScalar *x, PetscInt v)
{
  const PetscInt     hx = g->hx, hy = g->hy, h2 = g->nx / 2, k2 = g->ny / 2, south = v > 0 ? v - 1 : 0;
  const PetscScalar *x2 = x + (size_t)hx * (size_t)hy;
  PolderRRBRows      r;

  r.s1 = PolderRRBRowOf(x, south, hy, hx);
  r.c1 = PolderRRBRowOf(x, v, hy, hx);
  r.n1 = PolderRRBRowOf(x, v + 1, hy, hx);
  r.s2 = r.c2 = r.n2 = x; /* the line has no r2 */
  if (h2 == 0 || k2 == 0) return r;
  r.s2 = PolderRRBRowOf(x2, south, k2, h2);
  r.c2 = PolderRRBRowOf(x2, v, k2, h2);
  r.n2 = PolderRRBRowOf(x2, v + 1, k2, h2);
  return r;
}

/* Number of values of an end of a part, and the place in its vector of value i of both; there are more rows of r1 than of r2 on a grid of odd size, whose last
   end nobody needs */
POLDER_BODY_INLINE PetscInt PolderRRBEndSize(const PolderRRBGrid *g)
{
  return g->hx + g->nx / 2;
}

POLDER_BODY_INLINE size_t PolderRRBEndPlace(const PolderRRBGrid *g, PetscInt i)
{
  const PetscInt hx = g->hx, h2 = g->nx / 2, last = i >= hx + h2, k = last ? i - hx - h2 : i;

  if (k < hx) return (size_t)(last ? g->hy - 1 : 0) * (size_t)hx + (size_t)k;
  return (size_t)hx * (size_t)g->hy + (size_t)(last ? g->ny / 2 - 1 : 0) * (size_t)h2 + (size_t)(k - hx);
}

/* The same rows of a part */
POLDER_BODY_INLINE PolderRRBRows PolderRRBPartRows(const PolderRRBGrid *g, PolderRRBEnds ends, const PetscScalar *x, PetscInt v)
{
  PolderRRBRows r = PolderRRBGetRows(g, x, v);

  if (v == 0 && ends.below) {
    r.s1 = ends.below;
    if (g->nx > 1) r.s2 = ends.below + g->hx;
  }
  if (v == g->hy - 1 && ends.above) {
    r.n1 = ends.above;
    if (g->nx > 1) r.n2 = ends.above + g->hx;
  }
  return r;
}

/* The same rows of a vector with a border, which holds the values of neighbour processes: two arrays of hy + 2 rows of hx + 2 values */
POLDER_BODY_INLINE PolderRRBRows PolderRRBBorderRows(const PolderRRBGrid *g, const PetscScalar *x, PetscInt v)
{
  const size_t  ld = (size_t)g->hx + 2;
  PolderRRBRows r;

  r.s1 = x + (size_t)v * ld + 1;
  r.c1 = r.s1 + ld;
  r.n1 = r.c1 + ld;
  r.s2 = r.s1 + ((size_t)g->hy + 2) * ld;
  r.c2 = r.s2 + ld;
  r.n2 = r.c2 + ld;
  return r;
}

/* Columns u - 1 and u + 1, replaced by an existing one where missing; column u of n that may be one beyond the end */
POLDER_BODY_INLINE PetscInt PolderRRBWest(PetscInt u)
{
  return u > 0 ? u - 1 : 0;
}

POLDER_BODY_INLINE PetscInt PolderRRBEast(PetscInt u, PetscInt n)
{
  return u + 1 < n ? u + 1 : u;
}

POLDER_BODY_INLINE PetscInt PolderRRBSame(PetscInt u, PetscInt n)
{
  return u < n ? u : 0;
}

#define A(f, q) a[(size_t)(f)*s + (size_t)(q)]
#define C(f, q) c[(size_t)(f)*s + (size_t)(q)]

/* The columns that a row of S reads: u, its neighbours west and east, and one of those of the other half; a missing one is replaced by an existing one */
typedef struct {
  PetscInt u, w, e, other;
} PolderRRBColumns;

/* A row of S x in r1; it reads r2 in the columns w and other, the one of u */
POLDER_BODY_INLINE PetscScalar PolderRRBReducedR1(size_t s, ptrdiff_t P, const PetscScalar *a, ptrdiff_t p, PolderRRBRows x, PolderRRBColumns q)
{
  return A(RRB_S1D, p) * x.c1[q.u] + (A(RRB_S1E, p) * x.c1[q.e] + A(RRB_S1E, p - 1) * x.c1[q.w] + A(RRB_S1N, p) * x.n1[q.u] + A(RRB_S1N, p - P) * x.s1[q.u]) +
         (A(RRB_S1NE, p) * x.c2[q.other] + A(RRB_S1SE, p) * x.s2[q.other] + A(RRB_S1SW, p) * x.s2[q.w] + A(RRB_S1NW, p) * x.c2[q.w]);
}

/* The same in r2; it reads r1 in the columns u and other, the one east */
POLDER_BODY_INLINE PetscScalar PolderRRBReducedR2(size_t s, ptrdiff_t P, const PetscScalar *a, ptrdiff_t p, PolderRRBRows x, PolderRRBColumns q)
{
  return A(RRB_S2D, p) * x.c2[q.u] + (A(RRB_S2E, p) * x.c2[q.e] + A(RRB_S2E, p - 1) * x.c2[q.w] + A(RRB_S2N, p) * x.n2[q.u] + A(RRB_S2N, p - P) * x.s2[q.u]) +
         (A(RRB_S1NE, p) * x.c1[q.u] + A(RRB_S1SE, p + P) * x.n1[q.u] + A(RRB_S1SW, p + P + 1) * x.n1[q.other] + A(RRB_S1NW, p + 1) * x.c1[q.other]);
}

/*
  A vector of all nodes in natural order, lines ld apart, as a grid or a part of one reads it: y = 0 is its first line, and first <= y < last are the lines
  that there are. Lines from <= y < to are in own, which begins with line `from`; the others are in all, which has line 0 at its beginning.
*/
typedef struct {
  const PetscScalar *own, *all;
  PetscInt           ld, first, last, from, to;
} PolderRRBNodes;

/* A vector that is in one array */
POLDER_BODY_INLINE PolderRRBNodes PolderRRBAllNodes(const PolderRRBGrid *g, const PetscScalar *b, PetscInt ld)
{
  PolderRRBNodes nodes;

  nodes.own = nodes.all = b;
  nodes.ld              = ld;
  nodes.first = nodes.from = 0;
  nodes.last = nodes.to = g->ny;
  return nodes;
}

POLDER_BODY_INLINE PetscBool PolderRRBIsOwn(const PolderRRBNodes *b, PetscInt y)
{
  return (PetscBool)(y >= b->from && y < b->to);
}

/* Line y of b; a missing one is replaced by an existing one */
POLDER_BODY_INLINE const PetscScalar *PolderRRBLine(const PolderRRBNodes *b, PetscInt y)
{
  const PetscInt l = y < b->first ? b->first : y < b->last ? y : b->last - 1;

  return PolderRRBIsOwn(b, l) ? b->own + (ptrdiff_t)(l - b->from) * b->ld : b->all + (ptrdiff_t)l * b->ld;
}

/* Line y of a vector in own and all whose lines are where those of b are */
POLDER_BODY_INLINE PetscScalar *PolderRRBLineOf(const PolderRRBNodes *b, PetscScalar *own, PetscScalar *all, PetscInt y)
{
  return PolderRRBIsOwn(b, y) ? own + (ptrdiff_t)(y - b->from) * b->ld : all + (ptrdiff_t)y * b->ld;
}

/* Lines 2v - 1 .. 2v + 2 */
typedef struct {
  const PetscScalar *s, *c, *n, *nn;
} PolderRRBLines;

POLDER_BODY_INLINE PolderRRBLines PolderRRBGetLines(const PolderRRBNodes *b, PetscInt v)
{
  PolderRRBLines l;

  l.s  = PolderRRBLine(b, 2 * v - 1);
  l.c  = PolderRRBLine(b, 2 * v);
  l.n  = PolderRRBLine(b, 2 * v + 1);
  l.nn = PolderRRBLine(b, 2 * v + 2);
  return l;
}

/* b_r - S_rb D_b^-1 b_b with the couplings divided by the pivots; x = 2u (r1) or 2u + 1 (r2) is the column of the node, w and e its neighbours */
POLDER_BODY_INLINE PetscScalar PolderRRBReduceR1(size_t s, ptrdiff_t P, const PetscScalar *c, ptrdiff_t p, PolderRRBLines b, PetscInt x, PetscInt w, PetscInt e)
{
  return b.c[x] - (C(RRB_B1W, p) * b.c[e] + C(RRB_B1E, p - 1) * b.c[w] + C(RRB_B2S, p) * b.n[x] + C(RRB_B2N, p - P) * b.s[x]);
}

POLDER_BODY_INLINE PetscScalar PolderRRBReduceR2(size_t s, ptrdiff_t P, const PetscScalar *c, ptrdiff_t p, PolderRRBLines b, PetscInt x, PetscInt w, PetscInt e)
{
  return b.n[x] - (C(RRB_B1N, p) * b.c[x] + C(RRB_B1S, p + P) * b.nn[x] + C(RRB_B2E, p) * b.n[w] + C(RRB_B2W, p + 1) * b.n[e]);
}

/* Black values D_b^-1 (b_b - S_br x_r); columns as for the rows of S x; b: the right-hand side of the node */
POLDER_BODY_INLINE PetscScalar PolderRRBExpandB1(size_t s, const PetscScalar *c, ptrdiff_t p, PolderRRBRows x, PetscScalar b, PetscInt u, PetscInt e1)
{
  return C(RRB_B1D, p) * b - (C(RRB_B1N, p) * x.c2[u] + C(RRB_B1S, p) * x.s2[u] + C(RRB_B1E, p) * x.c1[e1] + C(RRB_B1W, p) * x.c1[u]);
}

POLDER_BODY_INLINE PetscScalar PolderRRBExpandB2(size_t s, const PetscScalar *c, ptrdiff_t p, PolderRRBRows x, PetscScalar b, PetscInt u, PetscInt u2,
                                                 PetscInt w2)
{
  return C(RRB_B2D, p) * b - (C(RRB_B2N, p) * x.n1[u] + C(RRB_B2S, p) * x.c1[u] + C(RRB_B2E, p) * x.c2[u2] + C(RRB_B2W, p) * x.c2[w2]);
}

#undef A
#undef C
