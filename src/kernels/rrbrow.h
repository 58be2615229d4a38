/*
  Node bodies of the repeated red-black factorisation (docs/methods/rrb.md), which host and device share.
  A grid of nx by ny nodes is stored in quarters: node (2u, 2v) is r1(u, v), (2u+1, 2v) is b1(u, v), (2u, 2v+1) is b2(u, v) and (2u+1, 2v+1) is r2(u, v),
  which is node (u, v) of the next grid. All arrays of a grid have the same shape: rows of pitch values, surrounded by a border of zeros, which also replaces
  the nodes that a grid of odd size lacks. Index 0 of an array is node (0, 0); array f begins at f * size; p = v * pitch + u.
  The rest is the system that remains after the last elimination.
*/
#pragma once

#include "levelscalars.h"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  PetscInt nx, ny; /* nodes */
  PetscInt hx, hy; /* size of r1, the largest quarter */
  PetscInt pitch;
  size_t   size;   /* number of values of one array with its border */
  size_t   origin; /* position of node (0, 0) */
  /* Host: row v reads its coefficients shift[v] places further, where a row equals it and those beside both are equal, too; NULL: none does */
  const ptrdiff_t *shift;
} PolderRRBGrid;

POLDER_BODY_INLINE ptrdiff_t PolderRRBShift(const PolderRRBGrid *g, PetscInt v)
{
  return g->shift ? g->shift[v] : 0;
}

/* The number of places of an array in its border and in the outermost nodes, and place number i of them. There are as many values behind the nodes as before */
POLDER_BODY size_t PolderRRBEdges(const PolderRRBGrid *g)
{
  const size_t P = (size_t)g->pitch, rows = g->hy > 2 ? (size_t)g->hy - 2 : 0;

  return 2 * g->origin + (size_t)g->hy * P - rows * P + rows * (P - (size_t)g->hx + 2);
}

POLDER_BODY size_t PolderRRBEdge(const PolderRRBGrid *g, size_t i)
{
  const size_t P = (size_t)g->pitch, W = P - (size_t)g->hx + 2, inner = g->origin + P, rows = g->hy > 2 ? (size_t)g->hy - 2 : 0;

  if (i < inner) return i;
  i -= inner;
  if (i >= rows * W) return inner + rows * P + (i - rows * W);
  return inner + i / W * P + (i % W ? (size_t)g->hx - 2 + i % W : 0); // the first node of a row, and from the last one on
}

/* A part of a grid, some of its lines: the row of r1, followed by the one of r2, below and above the part; NULL: there the grid ends */
typedef struct {
  const PetscScalar *below, *above;
} PolderRRBEnds;

/*
  Coefficients of a grid. Each coupling is stored at its end that is eliminated first and named after the direction of the other end; D: pivot, or its inverse
*/
enum {
  RRB_B1N,
  RRB_B1E,
  RRB_B1S,
  RRB_B1W,
  RRB_B1D,
  RRB_B2N,
  RRB_B2E,
  RRB_B2S,
  RRB_B2W,
  RRB_B2D,
  RRB_R1NE,
  RRB_R1SE,
  RRB_R1SW,
  RRB_R1NW,
  RRB_R1D,
  RRB_NCOEF
};

/* Work arrays of the factorisation: diagonal of r2; couplings of b1 to b2 in the diagonal directions */
enum {
  RRB_R2D,
  RRB_X1NE,
  RRB_X1SE,
  RRB_X1SW,
  RRB_X1NW,
  RRB_NWORK
};

/* Values of a vector on a grid */
enum {
  RRB_R1,
  RRB_B1,
  RRB_B2,
  RRB_R2,
  RRB_NVEC
};

/* A row of a symmetric 9-point matrix in natural order: the diagonal entry of each node and the couplings to four neighbours */
enum {
  RRB_C,
  RRB_E,
  RRB_N,
  RRB_NE,
  RRB_SE,
  RRB_NROW
};

/* Entries of a row by direction, W to E within S to N: (dy + 1) * 3 + dx + 1 */
enum {
  RRB_TO_SW,
  RRB_TO_S,
  RRB_TO_SE,
  RRB_TO_W,
  RRB_TO_SELF,
  RRB_TO_E,
  RRB_TO_NW,
  RRB_TO_N,
  RRB_TO_NE
};

/* The direction from node i of the line that begins with node `line` to node j, both in natural order; -1: j is not a neighbour */
POLDER_BODY_INLINE int PolderRRBDirection(PetscInt nx, PetscInt line, PetscInt i, PetscInt j)
{
  const int      up = j >= line + nx, down = j < line;
  const PetscInt dx = j - i - (up ? nx : 0) + (down ? nx : 0);

  if (dx < -1 || dx > 1 || (up && j >= line + 2 * nx) || (down && j < line - nx)) return -1;
  return (up - down + 1) * 3 + (int)dx + 1;
}

/* The rows of one process: row i is number begin + i of the nodes of a box with lines of `width` nodes, the first of which is node (x0, y0) of a grid with
   lines of nx nodes */
typedef struct {
  PetscInt nx, x0, y0, width, begin;
} PolderRRBOwn;

/* The direction from own row i to node (x, y); -1: no neighbour */
POLDER_BODY_INLINE int PolderRRBDirectionFrom(const PolderRRBOwn *own, PetscInt i, PetscInt x, PetscInt y)
{
  const PetscInt line = (own->begin + i) / own->width, dx = x - own->x0 - (own->begin + i - line * own->width), dy = y - own->y0 - line;

  return dx < -1 || dx > 1 || dy < -1 || dy > 1 ? -1 : (int)((dy + 1) * 3 + dx + 1);
}

/* The same to own row j */
POLDER_BODY_INLINE int PolderRRBDirectionOwn(const PolderRRBOwn *own, PetscInt i, PetscInt j)
{
  const PetscInt line = (own->begin + j) / own->width;

  return PolderRRBDirectionFrom(own, i, own->x0 + own->begin + j - line * own->width, own->y0 + line);
}

POLDER_BODY_INLINE PetscReal PolderRRBAbs(PetscScalar a)
{
  return a < 0 ? -a : a;
}

/* Do two entries that should be equal differ by more than rounding? d: the diagonal entry of the row of one of them */
POLDER_BODY_INLINE PetscBool PolderRRBDiffers(PetscScalar a, PetscScalar b, PetscScalar d)
{
  return (PetscBool)(PolderRRBAbs(a - b) > 1e-10 * PetscMax(PolderRRBAbs(a), PolderRRBAbs(b)) + 1e-14 * PolderRRBAbs(d));
}

/*
  c - s; returns c when only rounding would be left, as for a node that loses its last neighbour. M would be singular there. A is singular as well if the node
  represents a part of the grid without other couplings, but not if lumping has removed these couplings.
*/
POLDER_BODY_INLINE PetscScalar PolderRRBLess(PetscScalar c, PetscScalar s)
{
  const PetscScalar d = c - s;

  return PolderRRBAbs(d) <= 1e-12 * c ? c : d;
}

/* Rows of a symmetric matrix on a grid: a[f][y ld + x] is coupling f of node (x, y); NULL: zero. Couplings that leave the grid are not read */
typedef struct {
  PetscInt           ld;
  const PetscScalar *a[RRB_NROW];
} PolderRRBEntries;

/* Coupling f of node (x, y); zero when one of its ends is not on the grid */
POLDER_BODY_INLINE PetscScalar PolderRRBEntry(const PolderRRBGrid *g, const PolderRRBEntries *rows, int f, PetscInt x, PetscInt y)
{
  const PetscInt tox = x + (f != RRB_C && f != RRB_N), toy = y + (f == RRB_N || f == RRB_NE) - (f == RRB_SE);

  return rows->a[f] && x >= 0 && y >= 0 && x < g->nx && y < g->ny && tox < g->nx && toy >= 0 && toy < g->ny
         ? rows->a[f][(size_t)y * (size_t)rows->ld + (size_t)x]
         : 0;
}

/* A grid in natural order with a border of one node, whose values are zero or those of neighbours: node (x, y) is origin + y pitch + x */
typedef struct {
  PetscInt nx, ny, pitch;
  size_t   size, origin;
} PolderRRBPlane;

/* Row p of A v; a: RRB_NROW arrays of such a grid */
POLDER_BODY_INLINE PetscScalar PolderRRBNine(size_t s, ptrdiff_t P, const PetscScalar *a, const PetscScalar *v, ptrdiff_t p)
{
#define A(f, q) a[(size_t)(f)*s + (size_t)(q)]
  return A(RRB_C, p) * v[p] + A(RRB_E, p) * v[p + 1] + A(RRB_E, p - 1) * v[p - 1] + A(RRB_N, p) * v[p + P] + A(RRB_N, p - P) * v[p - P] +
         A(RRB_NE, p) * v[p + P + 1] + A(RRB_NE, p - P - 1) * v[p - P - 1] + A(RRB_SE, p) * v[p - P + 1] + A(RRB_SE, p + P - 1) * v[p + P - 1];
#undef A
}

/* A random sign for node i, divided by the square root of its diagonal entry */
POLDER_BODY_INLINE PetscScalar PolderRRBSign(PetscInt i, PetscScalar c)
{
  return (PolderPowerStart(i) > 0 ? 1 : -1) / sqrt(c);
}

/* Bits that report findings of a set-up on the device */
enum {
  RRB_SEEN_BAD        = 1,  /* an unusable row */
  RRB_SEEN_NINE       = 2,  /* a diagonal coupling */
  RRB_SEEN_COUPLED    = 4,  /* a coupling */
  RRB_SEEN_UNBALANCED = 8,  /* a row with couplings that does not add up to zero */
  RRB_SEEN_PIVOT      = 16, /* a pivot that is not positive */
  RRB_SEEN_RANGE      = 32  /* a value outside the range of single precision */
};

/* These bits for a row with diagonal entry c, the sum of all its entries, and the sum of the magnitudes of the others */
POLDER_BODY_INLINE int PolderRRBLook(PetscScalar c, PetscReal sum, PetscReal size)
{
  return (c > 0 && PolderRRBAbs(sum) + size <= PETSC_MAX_REAL ? 0 : RRB_SEEN_BAD) | (size > 0 ? RRB_SEEN_COUPLED : 0) |
         (size > 0 && PolderRRBAbs(sum) > 1e-10 * c ? RRB_SEEN_UNBALANCED : 0);
}

/* Number of node (x, y) among the unknowns of the rest: all nodes or, with skew, the red ones (r1, then r2); -1: not an unknown */
POLDER_BODY_INLINE PetscInt PolderRRBUnknown(PetscInt nx, PetscInt ny, PetscBool skew, PetscInt x, PetscInt y)
{
  const PetscInt hx = (nx + 1) / 2, hy = (ny + 1) / 2;

  if (x < 0 || y < 0 || x >= nx || y >= ny || (skew && (x + y) % 2)) return -1;
  return !skew ? y * nx + x : y % 2 ? hx * hy + y / 2 * (nx / 2) + x / 2 : y / 2 * hx + x / 2;
}

/* The unknown that coupling f of node (x, y) of the rest leads to */
POLDER_BODY_INLINE PetscInt PolderRRBUnknownAt(PetscInt nx, PetscInt ny, PetscBool skew, int f, PetscInt x, PetscInt y)
{
  const PetscInt far = skew ? 2 : 1;

  return PolderRRBUnknown(nx, ny, skew,
                          x + (f == RRB_C || f == RRB_N ? 0
                               : f == RRB_E             ? far
                                                        : 1),
                          y + (f == RRB_C || f == RRB_E ? 0
                               : f == RRB_N             ? far
                               : f == RRB_NE            ? 1
                                                        : -1));
}

#define C(f, q) c[(size_t)(f)*s + (size_t)(q)]
#define X(f, q) x[(size_t)(f)*s + (size_t)(q)]

/* Lumps the couplings of black nodes to their diagonal neighbours, which are black too, to the diagonal */
POLDER_BODY_INLINE void PolderRRBLumpBlack(size_t s, ptrdiff_t P, PetscReal omega, PetscScalar *c, const PetscScalar *x, ptrdiff_t p)
{
  C(RRB_B1D, p) = PolderRRBLess(C(RRB_B1D, p), -omega * (X(RRB_X1NE, p) + X(RRB_X1SE, p) + X(RRB_X1SW, p) + X(RRB_X1NW, p)));
  C(RRB_B2D, p) = PolderRRBLess(C(RRB_B2D, p), -omega * (X(RRB_X1NW, p) + X(RRB_X1NE, p - 1) + X(RRB_X1SW, p + P) + X(RRB_X1SE, p + P - 1)));
}

/* The inverse of a pivot, zero when the node does not exist */
POLDER_BODY_INLINE PetscScalar PolderRRBInverse(PetscScalar d, PetscBool exists, int *seen)
{
  if (exists && !(d > 0)) *seen |= RRB_SEEN_PIVOT;
  return exists ? 1 / d : 0;
}

/* Reads the rows of the matrix into cell (u, v) of all arrays, lumps the diagonal couplings of black nodes and inverts their pivots */
POLDER_BODY_INLINE int PolderRRBTakeCell(const PolderRRBGrid *g, const PolderRRBEntries *rows, PetscReal omega, PetscScalar *c, PetscScalar *x, PetscInt u,
                                         PetscInt v)
{
  const size_t    s    = g->size;
  const ptrdiff_t p    = (ptrdiff_t)v * g->pitch + u;
  int             seen = 0;
  PetscScalar     b1, b2;

#define AT(f, i, j) PolderRRBEntry(g, rows, RRB_##f, 2 * u + (i), 2 * v + (j))
  C(RRB_B1N, p)  = AT(N, 1, 0);
  C(RRB_B1E, p)  = AT(E, 1, 0);
  C(RRB_B1S, p)  = AT(N, 1, -1);
  C(RRB_B1W, p)  = AT(E, 0, 0);
  C(RRB_B2N, p)  = AT(N, 0, 1);
  C(RRB_B2E, p)  = AT(E, 0, 1);
  C(RRB_B2S, p)  = AT(N, 0, 0);
  C(RRB_B2W, p)  = AT(E, -1, 1);
  C(RRB_R1NE, p) = AT(NE, 0, 0);
  C(RRB_R1SE, p) = AT(SE, 0, 0);
  C(RRB_R1SW, p) = AT(NE, -1, -1);
  C(RRB_R1NW, p) = AT(SE, -1, 1);
  C(RRB_R1D, p)  = AT(C, 0, 0);
  X(RRB_R2D, p)  = AT(C, 1, 1);
  b1             = PolderRRBLess(AT(C, 1, 0), -omega * (AT(NE, 1, 0) + AT(SE, 1, 0) + AT(NE, 0, -1) + AT(SE, 0, 1)));
  b2             = PolderRRBLess(AT(C, 0, 1), -omega * (AT(SE, 0, 1) + AT(NE, -1, 0) + AT(NE, 0, 1) + AT(SE, -1, 2)));
  C(RRB_B1D, p)  = PolderRRBInverse(b1, (PetscBool)(2 * u + 1 < g->nx), &seen);
  C(RRB_B2D, p)  = PolderRRBInverse(b2, (PetscBool)(2 * v + 1 < g->ny), &seen);
#undef AT
  return seen;
}

/* Fill-in of a path from one neighbour over an eliminated node to another, with the sign reversed */
#define VIA1(a, b, q) (C(RRB_B1##a, q) * C(RRB_B1##b, q) * C(RRB_B1D, q))
#define VIA2(a, b, q) (C(RRB_B2##a, q) * C(RRB_B2##b, q) * C(RRB_B2D, q))
#define VIAR(a, b, q) (C(RRB_R1##a, q) * C(RRB_R1##b, q) * C(RRB_R1D, q))

/* Eliminates black nodes, whose pivots are inverted, from r1 */
POLDER_BODY_INLINE void PolderRRBBlackFromR1(size_t s, ptrdiff_t P, PetscScalar *c, ptrdiff_t p)
{
  C(RRB_R1D, p) = PolderRRBLess(C(RRB_R1D, p), VIA1(W, W, p) + VIA1(E, E, p - 1) + VIA2(S, S, p) + VIA2(N, N, p - P));
  C(RRB_R1NE, p) -= VIA1(W, N, p) + VIA2(S, E, p);
  C(RRB_R1SE, p) -= VIA1(W, S, p) + VIA2(N, E, p - P);
  C(RRB_R1SW, p) -= VIA1(E, S, p - 1) + VIA2(N, W, p - P);
  C(RRB_R1NW, p) -= VIA1(E, N, p - 1) + VIA2(S, W, p);
}

POLDER_BODY_INLINE void PolderRRBBlackFromR2(size_t s, ptrdiff_t P, const PetscScalar *c, PetscScalar *x, ptrdiff_t p)
{
  X(RRB_R2D, p) = PolderRRBLess(X(RRB_R2D, p), VIA1(N, N, p) + VIA1(S, S, p + P) + VIA2(E, E, p) + VIA2(W, W, p + 1));
}

/* Lumps the couplings of r1 among themselves to the diagonal */
POLDER_BODY_INLINE void PolderRRBLumpR1(size_t s, ptrdiff_t P, PetscReal omega, PetscScalar *c, ptrdiff_t p)
{
  C(RRB_R1D, p) = PolderRRBLess(C(RRB_R1D, p), omega * (VIA1(E, W, p) + VIA1(E, W, p - 1) + VIA2(N, S, p) + VIA2(N, S, p - P)));
}

/* Eliminates r1, whose pivots are inverted, from r2: entry u of a row of the next grid */
POLDER_BODY_INLINE void PolderRRBCoarse(size_t s, ptrdiff_t P, const PetscScalar *c, const PetscScalar *x, ptrdiff_t p, PetscScalar *const row[], PetscInt u)
{
  row[RRB_C][u]  = PolderRRBLess(X(RRB_R2D, p), VIAR(NE, NE, p) + VIAR(SE, SE, p + P) + VIAR(SW, SW, p + P + 1) + VIAR(NW, NW, p + 1));
  row[RRB_E][u]  = -VIA2(E, W, p + 1) - VIAR(NW, NE, p + 1) - VIAR(SW, SE, p + P + 1);
  row[RRB_N][u]  = -VIA1(N, S, p + P) - VIAR(NE, SE, p + P) - VIAR(SW, NW, p + P + 1);
  row[RRB_NE][u] = -VIAR(SW, NE, p + P + 1);
  row[RRB_SE][u] = -VIAR(NW, SE, p + 1);
}

/* Without elimination of r1: entries of a row of r1, and of the row of r2 above it, with couplings E and N over two nodes */
POLDER_BODY_INLINE void PolderRRBSkewR1(size_t s, const PetscScalar *c, ptrdiff_t p, PetscScalar *const row[], PetscInt u)
{
  row[RRB_C][u]  = C(RRB_R1D, p);
  row[RRB_E][u]  = -VIA1(E, W, p);
  row[RRB_N][u]  = -VIA2(N, S, p);
  row[RRB_NE][u] = C(RRB_R1NE, p);
  row[RRB_SE][u] = C(RRB_R1SE, p);
}

POLDER_BODY_INLINE void PolderRRBSkewR2(size_t s, ptrdiff_t P, const PetscScalar *c, const PetscScalar *x, ptrdiff_t p, PetscScalar *const row[], PetscInt u)
{
  row[RRB_C][u]  = X(RRB_R2D, p);
  row[RRB_E][u]  = -VIA2(E, W, p + 1);
  row[RRB_N][u]  = -VIA1(N, S, p + P);
  row[RRB_NE][u] = C(RRB_R1SW, p + P + 1);
  row[RRB_SE][u] = C(RRB_R1NW, p + 1);
}

/* Scales couplings to entries of the factor */
POLDER_BODY_INLINE void PolderRRBScale(size_t s, PetscScalar *c, ptrdiff_t p)
{
  for (int f = 0; f < 4; ++f) {
    C(RRB_B1N + f, p) *= C(RRB_B1D, p);
    C(RRB_B2N + f, p) *= C(RRB_B2D, p);
    C(RRB_R1NE + f, p) *= C(RRB_R1D, p);
  }
}

/* Is a finite where its value in single precision is not? */
POLDER_BODY_INLINE PetscBool PolderRRBOverflows(PetscScalar a, float single)
{
  return (PetscBool)((PolderRRBAbs(a) <= PETSC_MAX_REAL) & !(PolderRRBAbs(single) <= FLT_MAX));
}

/* The largest power of two that is not above a; a >= 0 */
POLDER_BODY_INLINE PetscReal PolderRRBPower(PetscReal a)
{
  const uint64_t exponent = (uint64_t)0x7ff << 52;
  uint64_t       bits;

  memcpy(&bits, &a, sizeof(bits));
  bits &= exponent;
  memcpy(&a, &bits, sizeof(a));
  return a;
}

/*
  Rounds the factor to single precision. At a node, L^T maps the constant to 1 plus the sum of the node's four entries. This sum is zero where no nearby
  equation fixes the constant; its rounding error is multiplied by the pivot. The entries are therefore rounded to multiples of the last place of the
  largest entry, and one large entry takes the remaining error of the sum. That entry is chosen such that equal nodes, and nodes that a reflection in the
  diagonal exchanges, stay equal: CG converges faster when multiple eigenvalues stay multiple.
*/
POLDER_BODY_INLINE int PolderRRBRoundFour(size_t s, int d, const PetscScalar *c, float *single, ptrdiff_t p)
{
  const int         turn = d == RRB_B2D, f[4] = {d - 4 + turn, d - 2 + turn, d - 3 - turn, d - 1 - turn};
  const PetscScalar a0 = C(f[0], p), a1 = C(f[1], p), a2 = C(f[2], p), a3 = C(f[3], p), pivot = C(d, p);
  const PetscReal   size0 = PolderRRBAbs(a0), size1 = PolderRRBAbs(a1), size2 = PolderRRBAbs(a2), size3 = PolderRRBAbs(a3);
  const PetscReal   most = PetscMax(PetscMax(size0, size1), PetscMax(size2, size3));
  const int i0 = 2 * size0 >= most, i1 = !i0 & (2 * size1 >= most), i2 = !(i0 | i1) & (size2 >= size3), i3 = !(i0 | i1 | i2); /* which one takes the error */
  const PetscReal large = PolderRRBPower(most) * 1.5 * (1 << 29); /* what is added to it loses all below the last place of `most` in single precision */
  const float     b0 = (float)(a0 + large - large), b1 = (float)(a1 + large - large), b2 = (float)(a2 + large - large), b3 = (float)(a3 + large - large);
  const float     left    = (float)(a0 + a1 + a2 + a3 - (i0 ? 0 : b0) - (i1 ? 0 : b1) - (i2 ? 0 : b2) - (i3 ? 0 : b3));
  const float     rounded = (float)pivot;

#define S(f) single[(size_t)(f)*s + (size_t)(p)]
  S(f[0]) = i0 ? left : b0;
  S(f[1]) = i1 ? left : b1;
  S(f[2]) = i2 ? left : b2;
  S(f[3]) = i3 ? left : b3;
  S(d)    = rounded;
#undef S
  return (PolderRRBOverflows(most, left) | PolderRRBOverflows(pivot, rounded) | ((pivot != 0) & (rounded == 0))) ? RRB_SEEN_RANGE : 0;
}

POLDER_BODY_INLINE int PolderRRBRound(size_t s, const PetscScalar *c, float *single, ptrdiff_t p)
{
  return PolderRRBRoundFour(s, RRB_B1D, c, single, p) | PolderRRBRoundFour(s, RRB_B2D, c, single, p) | PolderRRBRoundFour(s, RRB_R1D, c, single, p);
}

#undef VIA1
#undef VIA2
#undef VIAR
#undef C
#undef X
