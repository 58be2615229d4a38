/* Rows of a wider stencil and of its star, see star.h; bodies that host and device share. */
#pragma once

#include "planesrow.h"
#include "star.h"

/* A row is unlike its star: two directions are coupled by more than this part of the geometric mean of both; a coupling of the star would be positive, in
   parts of the largest; the sum of the row is negative, in parts of its diagonal */
#define STAR_CROSS    0.3
#define STAR_POSITIVE 0.1
#define STAR_NEGATIVE 0.1
/* A row is soft: its diagonal entry is at most this part of that of its star, which so overrates what oscillates, and the second of its directions has at least
   this part of the coupling in the first */
#define STAR_LESS   0.75
#define STAR_SECOND 0.25
/* The columns of a row of the star, ascending: 2 d + k, and 6 for the diagonal */
#define STAR_ORDER \
  { \
    4, 2, 0, 6, 1, 3, 5 \
  }

/* The point of a row */
POLDER_BODY void PolderStarPoint(const PolderStarGrid *G, PetscInt row, PetscInt at[3])
{
  const PetscInt line = row / G->n[0];

  at[0] = row - line * G->n[0];
  at[2] = line / G->n[1];
  at[1] = line - at[2] * G->n[1];
}

/* The neighbour of this point in direction k / 2, backward for an even k; -1: there is none */
POLDER_BODY PetscInt PolderStarNeighbour(const PolderStarGrid *G, const PetscInt at[3], PetscInt row, int k)
{
  const int      d    = k / 2;
  const PetscInt step = d == 0 ? 1 : d == 1 ? G->n[0] : G->n[0] * G->n[1];

  if (k % 2 ? at[d] == G->n[d] - 1 : at[d] == 0) return -1;
  return k % 2 ? row + step : row - step;
}

/* The number of entries of the star in all rows before this one */
POLDER_BODY PetscInt PolderStarBegin(const PolderStarGrid *G, PetscInt row)
{
  PetscInt stride = 1, missing = 0;

  for (int d = 0; d < 3; ++d) {
    const PetscInt far = stride * (G->n[d] - 1), whole = row / (far + stride), rest = row - whole * (far + stride); // rows with the first, the last coordinate
    const PetscInt low = rest < stride ? rest : stride, high = rest > far ? rest - far : 0;

    missing += 2 * whole * stride + low + high;
    stride += far;
  }
  return POLDER_STAR_POINTS * row - missing;
}

/* The steps in each direction that lead `offset` rows on; PETSC_FALSE: they are beyond reach */
POLDER_BODY PetscBool PolderStarSteps(const PolderStarGrid *G, PetscInt offset, int step[3])
{
  const PetscInt stride[3] = {1, G->n[0], G->n[0] * G->n[1]};

  for (int d = 2; d > 0; --d) {
    step[d] = 0;
    for (; 2 * offset > stride[d] && step[d] < POLDER_STAR_REACH; ++step[d]) offset -= stride[d];
    for (; 2 * offset < -stride[d] && step[d] > -POLDER_STAR_REACH; --step[d]) offset += stride[d];
  }
  step[0] = offset >= -POLDER_STAR_REACH && offset <= POLDER_STAR_REACH ? (int)offset : 0;
  return (PetscBool)(step[0] == offset);
}

/* The columns of a row of the star, in global numbers; returns how many these are */
POLDER_BODY PetscInt PolderStarColumns(const PolderStarGrid *G, PetscInt row, PetscInt col[])
{
  const int order[POLDER_STAR_POINTS] = STAR_ORDER;
  PetscInt  n                         = 0, at[3];

  PolderStarPoint(G, row, at);
  for (int l = 0; l < POLDER_STAR_POINTS; ++l) {
    const PetscInt j = order[l] < 6 ? PolderStarNeighbour(G, at, row, order[l]) : row;

    if (j >= 0) col[n++] = j;
  }
  return n;
}

/* What the entries of a row say about it: the parts in its star, K, twice the energy of products of coordinates */
typedef struct {
  PetscReal half[6], K[3], sum, diagonal; /* K: of (1, 0), (2, 0), (2, 1) */
  PetscBool astray;
} PolderStarRow;

POLDER_BODY void PolderStarEntry(const PolderStarGrid *G, const PetscInt at[3], PetscInt row, PetscInt col, PetscReal a, PolderStarRow *r)
{
  int step[3];

  r->sum += a;
  if (row == col) r->diagonal = a;
  if (row == col || a == 0) return;
  if (!PolderStarSteps(G, col - row, step)) r->astray = PETSC_TRUE;
  for (int d = 0; d < 3; ++d) {
    const PetscReal square = (PetscReal)(step[d] * step[d]) * a;

    if (at[d] + step[d] < 0 || at[d] + step[d] >= G->n[d]) r->astray = PETSC_TRUE;
    if (step[d] < 0) r->half[2 * d] += square;
    if (step[d] > 0) r->half[2 * d + 1] += square;
  }
  r->K[0] -= step[1] * step[0] * a;
  r->K[1] -= step[2] * step[0] * a;
  r->K[2] -= step[2] * step[1] * a;
}

/* Clips what cannot be part of a star, and judges the row: bits POLDER_STAR_* */
POLDER_BODY unsigned PolderStarJudge(PolderStarRow *r)
{
  PetscReal largest = 0, K[3], first = 0, second = 0, all = 0;
  PetscBool unlike = (PetscBool)(r->sum < -STAR_NEGATIVE * r->diagonal);

  for (int d = 0; d < 3; ++d) {
    const PetscReal k = -r->half[2 * d] - r->half[2 * d + 1];

    K[d]   = k > 0 ? k : 0;
    second = K[d] > first ? first : K[d] > second ? K[d] : second;
    first  = K[d] > first ? K[d] : first;
    all += K[d];
  }
  for (int k = 0; k < 6; ++k) largest = -r->half[k] > largest ? -r->half[k] : largest;
  for (int k = 0; k < 6; ++k) {
    if (r->half[k] > STAR_POSITIVE * largest) unlike = PETSC_TRUE;
    if (r->half[k] > 0) r->half[k] = 0;
  }
  for (int k = 0; k < 3; ++k) {
    const PetscReal across = r->K[k] < 0 ? -r->K[k] : r->K[k], both = K[k ? 2 : 1] * K[k == 2];

    if (across > STAR_CROSS * PetscSqrtReal(both) + PETSC_SQRT_MACHINE_EPSILON * r->diagonal) unlike = PETSC_TRUE;
  }
  if (!(r->diagonal > 0) || !(r->sum - r->sum == 0)) r->astray = PETSC_TRUE; // or not finite: the row as it is will be refused
  if (!(r->sum > 1e4 * PETSC_MACHINE_EPSILON * r->diagonal)) r->sum = 0;     // what rounding has left
  return (unsigned)unlike << POLDER_STAR_UNLIKE | (unsigned)(r->diagonal <= STAR_LESS * (all + r->sum) && second >= STAR_SECOND * first) << POLDER_STAR_SOFT |
         (unsigned)r->astray << POLDER_STAR_ASTRAY;
}

/* The parts of own row i, whose number in the matrix is `row`; returns bits POLDER_STAR_* */
POLDER_BODY unsigned PolderStarPartsRow(const PolderStarGrid *G, PetscInt first, PetscInt i, const PolderRows *A, const PolderRows *ghosts,
                                        const PetscInt garray[], const PolderStarParts *P)
{
  const PetscInt row = first + i;
  PolderStarRow  r   = {{0}, {0}, 0, 0, PETSC_FALSE};
  PetscInt       at[3];
  unsigned       bits;

  PolderStarPoint(G, row, at);
  for (PetscInt k = A->i[i]; k < A->i[i + 1]; ++k) PolderStarEntry(G, at, row, first + A->j[k], PetscRealPart(A->a[k]), &r);
  for (PetscInt k = ghosts->i ? ghosts->i[i] : 0; ghosts->i && k < ghosts->i[i + 1]; ++k)
    PolderStarEntry(G, at, row, garray[ghosts->j[k]], PetscRealPart(ghosts->a[k]), &r);
  bits = PolderStarJudge(&r);
  for (int k = 0; k < 6; ++k) P->half[6 * (size_t)i + k] = r.half[k];
  P->sum[i]      = r.sum;
  P->diagonal[i] = r.diagonal;
  return bits;
}

/* The part of row j in a coupling */
POLDER_BODY PetscReal PolderStarPart(PetscInt j, int k, PetscInt first, PetscInt n, const PetscReal half[], PetscInt nthere, const PetscInt there[],
                                     const PetscScalar beyond[])
{
  PetscInt low = 0, high = nthere;

  if (j >= first && j < first + n) return half[6 * (size_t)(j - first) + k];
  while (high - low > 1) {
    const PetscInt middle = (low + high) / 2;

    if (there[middle] <= j) low = middle;
    else high = middle;
  }
  return PetscRealPart(beyond[6 * (size_t)low + k]);
}

/* The values of own row i of the star, from position nz on */
POLDER_BODY void PolderStarValuesRow(const PolderStarGrid *G, PetscInt first, PetscInt n, PetscInt i, const PolderStarParts *P, PetscInt nthere,
                                     const PetscInt there[], const PetscScalar beyond[], PetscInt nz, PetscScalar val[])
{
  const int order[POLDER_STAR_POINTS] = STAR_ORDER;
  PetscReal diagonal                  = P->sum[i];
  PetscInt  main                      = 0, at[3];

  PolderStarPoint(G, first + i, at);
  for (int l = 0; l < POLDER_STAR_POINTS; ++l) {
    const int      k = order[l];
    const PetscInt j = k < 6 ? PolderStarNeighbour(G, at, first + i, k) : first + i;

    if (j < 0) continue;
    if (k < 6) {
      const PetscReal a = 0.5 * (P->half[6 * (size_t)i + k] + PolderStarPart(j, k ^ 1, first, n, P->half, nthere, there, beyond));

      val[nz] = a;
      diagonal -= a;
    } else main = nz;
    ++nz;
  }
  val[main] = diagonal;
}

POLDER_BODY void PolderStarEdge(PetscInt k, const PolderPlanes *at, int d, const PetscReal half[], PetscScalar edge[])
{
  const PetscInt i = PolderPlanesRow(k, at);

  edge[i] = half[6 * (size_t)i + 2 * d + (k >= at->below)];
}

POLDER_BODY void PolderStarAcrossEntry(PetscInt k, const PolderPlanes *at, const PolderStarGrid *own, const PetscScalar edge[], const PetscScalar beyond[],
                                       const PetscInt ptr[], PetscScalar outer[], PetscScalar val[])
{
  const PetscInt    i = PolderPlanesRow(k, at);
  const PetscScalar a = 0.5 * (edge[i] + beyond[k]);
  PetscInt          point[3];

  PolderStarPoint(own, i, point);
  outer[k] = a;
  val[ptr[i] + (point[0] > 0) + (point[1] > 0) + (point[2] > 0)] -= a; // the diagonal entry follows those of the points before
}
