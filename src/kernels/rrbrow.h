/*
  Node bodies of the repeated red-black factorisation (docs/methods.md) that host and device share.

  A grid of nx by ny nodes is kept in quarters: node (2u, 2v) is r1(u, v), (2u+1, 2v) is b1(u, v), (2u, 2v+1) is b2(u, v) and (2u+1, 2v+1) is
  r2(u, v), which is node (u, v) of the next grid. All arrays of a grid have the same shape: rows of pitch values, a border of zeros around, which also
  stands for the nodes that a grid of odd size lacks. Arrays are addressed from node (0, 0); array f begins at f * size; p = v * pitch + u.
*/
#pragma once

#include <petscsys.h>
#include <stddef.h>

#if defined(__CUDACC__)
  #define POLDER_NODE static __host__ __device__ __forceinline__
#else
  #define POLDER_NODE static inline __attribute__((always_inline))
#endif

typedef struct {
  PetscInt nx, ny; /* nodes */
  PetscInt hx, hy; /* nodes of r1, the largest quarter */
  PetscInt pitch;
  size_t   size;   /* values of one array with its border */
  size_t   origin; /* place of node (0, 0) */
} PolderRRBGrid;

/* Coefficients of a grid. Each coupling is stored at the end that is eliminated first, named after the direction of the other end; D: pivot, or its inverse */
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

/* What the factorisation needs besides: diagonal couplings of b1, to b2; diagonal of r2 */
enum {
  RRB_X1NE,
  RRB_X1SE,
  RRB_X1SW,
  RRB_X1NW,
  RRB_R2D,
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

/* A row of a symmetric 9-point matrix in natural order: couplings of each node to itself and to four neighbours */
enum {
  RRB_C,
  RRB_E,
  RRB_N,
  RRB_NE,
  RRB_SE,
  RRB_NROW
};

/*
  c - s, c when only rounding is left of it: a node that loses its last neighbour. M would be singular there: as A is when the node stands for a part of the
  grid without other ties, but also when couplings that went to the diagonals were such ties
*/
POLDER_NODE PetscScalar PolderRRBLess(PetscScalar c, PetscScalar s)
{
  const PetscScalar d = c - s;

  return (d < 0 ? -d : d) <= 1e-12 * c ? c : d;
}

#define C(f, q) c[(size_t)(f)*s + (size_t)(q)]
#define X(f, q) x[(size_t)(f)*s + (size_t)(q)]

/* The diagonal neighbours of black nodes are black: their couplings go to the diagonal */
POLDER_NODE void PolderRRBLumpBlack(size_t s, ptrdiff_t P, PetscReal omega, PetscScalar *c, const PetscScalar *x, ptrdiff_t p)
{
  C(RRB_B1D, p) = PolderRRBLess(C(RRB_B1D, p), -omega * (X(RRB_X1NE, p) + X(RRB_X1SE, p) + X(RRB_X1SW, p) + X(RRB_X1NW, p)));
  C(RRB_B2D, p) = PolderRRBLess(C(RRB_B2D, p), -omega * (X(RRB_X1NW, p) + X(RRB_X1NE, p - 1) + X(RRB_X1SW, p + P) + X(RRB_X1SE, p + P - 1)));
}

/* Path from one neighbour of an eliminated node over it to another: the coupling that takes its place, with the other sign */
#define VIA1(a, b, q) (C(RRB_B1##a, q) * C(RRB_B1##b, q) * C(RRB_B1D, q))
#define VIA2(a, b, q) (C(RRB_B2##a, q) * C(RRB_B2##b, q) * C(RRB_B2D, q))
#define VIAR(a, b, q) (C(RRB_R1##a, q) * C(RRB_R1##b, q) * C(RRB_R1D, q))

/* Black nodes, with inverse pivots, are eliminated from r1 */
POLDER_NODE void PolderRRBBlackFromR1(size_t s, ptrdiff_t P, PetscScalar *c, ptrdiff_t p)
{
  C(RRB_R1D, p) = PolderRRBLess(C(RRB_R1D, p), VIA1(W, W, p) + VIA1(E, E, p - 1) + VIA2(S, S, p) + VIA2(N, N, p - P));
  C(RRB_R1NE, p) -= VIA1(W, N, p) + VIA2(S, E, p);
  C(RRB_R1SE, p) -= VIA1(W, S, p) + VIA2(N, E, p - P);
  C(RRB_R1SW, p) -= VIA1(E, S, p - 1) + VIA2(N, W, p - P);
  C(RRB_R1NW, p) -= VIA1(E, N, p - 1) + VIA2(S, W, p);
}

POLDER_NODE void PolderRRBBlackFromR2(size_t s, ptrdiff_t P, const PetscScalar *c, PetscScalar *x, ptrdiff_t p)
{
  X(RRB_R2D, p) = PolderRRBLess(X(RRB_R2D, p), VIA1(N, N, p) + VIA1(S, S, p + P) + VIA2(E, E, p) + VIA2(W, W, p + 1));
}

/* Couplings of r1 among themselves go to the diagonal */
POLDER_NODE void PolderRRBLumpR1(size_t s, ptrdiff_t P, PetscReal omega, PetscScalar *c, ptrdiff_t p)
{
  C(RRB_R1D, p) = PolderRRBLess(C(RRB_R1D, p), omega * (VIA1(E, W, p) + VIA1(E, W, p - 1) + VIA2(N, S, p) + VIA2(N, S, p - P)));
}

/* r1, with inverse pivots, is eliminated from r2: entry u of a row of the next grid */
POLDER_NODE void PolderRRBCoarse(size_t s, ptrdiff_t P, const PetscScalar *c, const PetscScalar *x, ptrdiff_t p, PetscScalar *const row[], PetscInt u)
{
  row[RRB_C][u]  = PolderRRBLess(X(RRB_R2D, p), VIAR(NE, NE, p) + VIAR(SE, SE, p + P) + VIAR(SW, SW, p + P + 1) + VIAR(NW, NW, p + 1));
  row[RRB_E][u]  = -VIA2(E, W, p + 1) - VIAR(NW, NE, p + 1) - VIAR(SW, SE, p + P + 1);
  row[RRB_N][u]  = -VIA1(N, S, p + P) - VIAR(NE, SE, p + P) - VIAR(SW, NW, p + P + 1);
  row[RRB_NE][u] = -VIAR(SW, NE, p + P + 1);
  row[RRB_SE][u] = -VIAR(NW, SE, p + 1);
}

/* Without elimination of r1: entries of a row of r1, and of the row of r2 above it, with couplings E and N over two nodes */
POLDER_NODE void PolderRRBSkewR1(size_t s, const PetscScalar *c, ptrdiff_t p, PetscScalar *const row[], PetscInt u)
{
  row[RRB_C][u]  = C(RRB_R1D, p);
  row[RRB_E][u]  = -VIA1(E, W, p);
  row[RRB_N][u]  = -VIA2(N, S, p);
  row[RRB_NE][u] = C(RRB_R1NE, p);
  row[RRB_SE][u] = C(RRB_R1SE, p);
}

POLDER_NODE void PolderRRBSkewR2(size_t s, ptrdiff_t P, const PetscScalar *c, const PetscScalar *x, ptrdiff_t p, PetscScalar *const row[], PetscInt u)
{
  row[RRB_C][u]  = X(RRB_R2D, p);
  row[RRB_E][u]  = -VIA2(E, W, p + 1);
  row[RRB_N][u]  = -VIA1(N, S, p + P);
  row[RRB_NE][u] = C(RRB_R1SW, p + P + 1);
  row[RRB_SE][u] = C(RRB_R1NW, p + 1);
}

/* Couplings become entries of the factor */
POLDER_NODE void PolderRRBScale(size_t s, PetscScalar *c, ptrdiff_t p)
{
  for (int f = 0; f < 4; ++f) {
    C(RRB_B1N + f, p) *= C(RRB_B1D, p);
    C(RRB_B2N + f, p) *= C(RRB_B2D, p);
    C(RRB_R1NE + f, p) *= C(RRB_R1D, p);
  }
}

#undef VIA1
#undef VIA2
#undef VIAR
#undef C
#undef X
