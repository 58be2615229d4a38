/* Matrices of bench/product.c, in compressed rows with ascending columns: stencils, and three kinds of irregular rows. */
#pragma once

#include "points.h"

typedef struct {
  PetscInt     n, *ai, *aj;
  PetscScalar *aa;
} Rows;

static PetscErrorCode RowsDestroy(Rows *A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(A->ai));
  PetscCall(PetscFree(A->aj));
  PetscCall(PetscFree(A->aa));
  PetscFunctionReturn(0);
}

/* Converts the lengths in ai[1 ..] to offsets, allocates columns and values, and sets random values, with dominant diagonal entries where there are any */
static PetscErrorCode RowsAllocate(Rows *A)
{
  PetscFunctionBeginUser;
  A->ai[0] = 0;
  for (PetscInt i = 0; i < A->n; ++i) {
    PetscCheck(A->ai[i + 1] <= PETSC_MAX_INT - A->ai[i], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Too many entries for the integers of this PETSc: take a smaller matrix");
    A->ai[i + 1] += A->ai[i];
  }
  PetscCall(PetscMalloc1(A->ai[A->n], &A->aj));
  PetscCall(PetscMalloc1(A->ai[A->n], &A->aa));
  PetscFunctionReturn(0);
}

static void RowsRandomValues(Rows *A)
{
  unsigned long long state = 1;

  for (PetscInt k = 0; k < A->ai[A->n]; ++k) A->aa[k] = Draw(&state) - 0.5;
}

/* 5 or 7 points on a grid of n^dim */
static PetscErrorCode RowsStencil(PetscInt dim, PetscInt n, Rows *A)
{
  PetscInt k = 0, step[7];

  PetscFunctionBeginUser;
  A->n      = dim == 3 ? n * n * n : n * n;
  step[dim] = 0;
  for (PetscInt d = 0, s = 1; d < dim; ++d, s *= n) {
    step[dim - 1 - d] = -s;
    step[dim + 1 + d] = s;
  }
  PetscCall(PetscMalloc1(A->n + 1, &A->ai));
  PetscCall(PetscMalloc1((size_t)(2 * dim + 1) * A->n, &A->aj));
  PetscCall(PetscMalloc1((size_t)(2 * dim + 1) * A->n, &A->aa));
  A->ai[0] = 0;
  for (PetscInt i = 0; i < A->n; ++i) {
    const PetscInt at[3] = {i % n, i / n % n, i / n / n};

    for (PetscInt s = 0; s <= 2 * dim; ++s) {
      const PetscInt d = s < dim ? dim - 1 - s : s - dim - 1;

      if (s < dim && at[d] == 0) continue;
      if (s > dim && at[d] == n - 1) continue;
      A->aj[k]   = i + step[s];
      A->aa[k++] = s == dim ? 2.0 * dim : -1.0;
    }
    A->ai[i + 1] = k;
  }
  PetscFunctionReturn(0);
}

/* n random points in the unit cube, each coupled to the points within a radius that gives `degree` of them on average */
static PetscErrorCode RowsGeometric(PetscInt n, PetscReal degree, Rows *A)
{
  Points points;

  PetscFunctionBeginUser;
  A->n = n;
  PetscCall(PointsCreate(n, degree, &points));
  PetscCall(PetscMalloc1(n + 1, &A->ai));
  for (PetscInt i = 0; i < n; ++i) A->ai[i + 1] = PointsNear(&points, i, NULL);
  PetscCall(RowsAllocate(A));
  for (PetscInt i = 0; i < n; ++i) (void)PointsNear(&points, i, A->aj + A->ai[i]);
  RowsRandomValues(A);
  PetscCall(PointsDestroy(&points));
  PetscFunctionReturn(0);
}

/* Quadratic finite elements on n^3 cubes of six tetrahedra: nodes on a lattice of (2n + 1)^3, rows of 10 to 65 entries */
static PetscErrorCode RowsTetrahedra(PetscInt n, Rows *A)
{
  static const int order[6][3] = {
    {0, 1, 2},
    {0, 2, 1},
    {1, 0, 2},
    {1, 2, 0},
    {2, 0, 1},
    {2, 1, 0}
  };
  const PetscInt N                   = 2 * n + 1;
  char           couples[8][5][5][5] = {{{{0}}}}; /* for the nodes of each parity: the nodes within two lattice points that share a tetrahedron */

  PetscFunctionBeginUser;
  for (int c = 0; c < 27; ++c) { /* the cubes around the cube at the origin, whose nodes represent all nodes */
    const int corner[3] = {2 * (c % 3) - 2, 2 * (c / 3 % 3) - 2, 2 * (c / 9) - 2};

    for (int t = 0; t < 6; ++t) {
      int node[10][3], k = 4;

      for (int v = 0; v < 4; ++v) {
        for (int d = 0; d < 3; ++d) node[v][d] = corner[d];
        for (int s = 0; s < v; ++s) node[v][order[t][s]] += 2;
      }
      for (int v = 0; v < 4; ++v) {
        for (int w = v + 1; w < 4; ++w, ++k) {
          for (int d = 0; d < 3; ++d) node[k][d] = (node[v][d] + node[w][d]) / 2;
        }
      }
      for (int a = 0; a < 10; ++a) {
        if (node[a][0] < 0 || node[a][0] > 1 || node[a][1] < 0 || node[a][1] > 1 || node[a][2] < 0 || node[a][2] > 1) continue;
        for (int b = 0; b < 10; ++b)
          couples[4 * node[a][2] + 2 * node[a][1] + node[a][0]][node[b][2] - node[a][2] + 2][node[b][1] - node[a][1] + 2][node[b][0] - node[a][0] + 2] = 1;
      }
    }
  }
  A->n = N * N * N;
  PetscCall(PetscMalloc1(A->n + 1, &A->ai));
  for (int fill = 0; fill < 2; ++fill) {
    for (PetscInt i = 0; i < A->n; ++i) {
      const PetscInt x = i % N, y = i / N % N, z = i / N / N;
      PetscInt       len = 0;

      for (int w = -2; w <= 2; ++w) {
        for (int v = -2; v <= 2; ++v) {
          for (int u = -2; u <= 2; ++u) {
            if (x + u < 0 || x + u >= N || y + v < 0 || y + v >= N || z + w < 0 || z + w >= N) continue;
            if (!couples[4 * (z % 2) + 2 * (y % 2) + x % 2][w + 2][v + 2][u + 2]) continue;
            if (fill) A->aj[A->ai[i] + len] = i + (w * N + v) * N + u;
            ++len;
          }
        }
      }
      if (!fill) A->ai[i + 1] = len;
    }
    if (!fill) PetscCall(RowsAllocate(A));
  }
  RowsRandomValues(A);
  PetscFunctionReturn(0);
}

/*
  Row lengths with density length^-2.5. Either from 9 to 60, with columns near the diagonal, chosen from 16 times as many; or hubs: from 9 on without bound
  (26 on average, the longest of a million about 10^5), with columns anywhere
*/
static PetscErrorCode RowsPowerLaw(PetscInt n, PetscBool hubs, Rows *A)
{
  unsigned long long state = 3;

  PetscFunctionBeginUser;
  A->n = n;
  PetscCall(PetscMalloc1(n + 1, &A->ai));
  for (PetscInt i = 0; i < n; ++i) {
    const double u = Draw(&state);

    A->ai[i + 1] = (PetscInt)PetscMin((double)n / 4, 9.0 * PetscPowReal(hubs ? 1.0 - u : 1.0 - u * (1.0 - PetscPowReal(61.0 / 9.0, -1.5)), -2.0 / 3.0));
  }
  PetscCall(RowsAllocate(A));
  for (PetscInt i = 0; i < n; ++i) {
    const PetscInt len = A->ai[i + 1] - A->ai[i], span = hubs ? n : PetscMin(n, 16 * len), from = PetscMin(PetscMax(0, i - span / 2), n - span);

    for (PetscInt k = 0; k < len; ++k) A->aj[A->ai[i] + k] = from + (PetscInt)((k + Draw(&state)) / len * span);
  }
  RowsRandomValues(A);
  PetscFunctionReturn(0);
}
