/* The rows of the benchmarks' problems: grids, a power grid, elements of degree one, random points. Of a graph each process makes the whole. */
#pragma once

#include "points.h"
#include "problem.h"

/* The rows of this process, with global columns */
typedef struct {
  PetscInt    *ai, *aj;
  PetscScalar *aa;
} Rows;

/* A number between -1 and 1 that depends on i only */
static inline PetscReal Jitter(PetscInt i)
{
  unsigned long long state = 0x51ed27ull + (unsigned long long)i;

  return 2 * Draw(&state) - 1;
}

/* p->place[row]: the node of each row in lexicographic order; number[node]: its row */
static inline PetscErrorCode NumberNodes(Problem *p, PetscInt **number)
{
  unsigned long long state   = 11;
  PetscBool          shuffle = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-shuffle", &shuffle, NULL));
  PetscCall(PetscMalloc1(p->N, &p->place));
  PetscCall(PetscMalloc1(p->N, number));
  for (PetscInt i = 0; i < p->N; ++i) p->place[i] = i;
  for (PetscInt i = p->N - 1; shuffle && i > 0; --i) {
    const PetscInt k = (PetscInt)(Draw(&state) * (double)(i + 1)), t = p->place[i];

    p->place[i] = p->place[k];
    p->place[k] = t;
  }
  for (PetscInt i = 0; i < p->N; ++i) (*number)[p->place[i]] = i;
  PetscFunctionReturn(0);
}

/* The rows of this process from the entries of all nodes: entry k of node i is in column col[width i + k], in node numbers, if val[] is not zero there */
static inline PetscErrorCode NumberedRows(const Problem *p, const PetscInt number[], PetscInt width, const PetscInt col[], const PetscReal val[], Rows *rows)
{
  const size_t w  = (size_t)width;
  PetscInt     nz = 0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < p->rows; ++i) {
    for (PetscInt k = 0; k < width; ++k) nz += val[w * (size_t)p->place[p->first + i] + (size_t)k] != 0;
  }
  PetscCall(PetscMalloc3(p->rows + 1, &rows->ai, nz, &rows->aj, nz, &rows->aa));
  rows->ai[0] = nz = 0;
  for (PetscInt i = 0; i < p->rows; ++i) {
    const size_t at = w * (size_t)p->place[p->first + i];

    for (PetscInt k = 0; k < width; ++k) {
      if (val[at + (size_t)k] == 0) continue;
      rows->aj[nz]   = number[col[at + (size_t)k]];
      rows->aa[nz++] = val[at + (size_t)k];
    }
    PetscCall(PetscSortIntWithScalarArray(nz - rows->ai[i], rows->aj + rows->ai[i], rows->aa + rows->ai[i]));
    rows->ai[i + 1] = nz;
  }
  PetscFunctionReturn(0);
}

/* Adds the Laplacian of an edge to lists of at most width entries a node, of which the first is the diagonal; edges that do not fit are left out */
static void AddEdge(PetscInt width, PetscInt i, PetscInt j, PetscReal w, PetscInt count[], PetscInt col[], PetscReal val[])
{
  const PetscInt end[2] = {i, j};

  if (i == j || count[i] == width || count[j] == width) return;
  for (PetscInt k = 1; k < count[i]; ++k) {
    if (col[width * i + k] == j) return;
  }
  for (int e = 0; e < 2; ++e) {
    const PetscInt at = width * end[e];

    col[at + count[end[e]]] = end[1 - e];
    val[at + count[end[e]]] = -w;
    val[at] += w;
    ++count[end[e]];
  }
}

/*
  p->N nodes: each hangs on one that is some 50 before it, every tenth has one more edge, weights over six decades; one node in a hundred is coupled to
  something outside
*/
static inline PetscErrorCode PowerGridRows(Problem *p, Rows *rows)
{
  const PetscInt     width = 64;
  unsigned long long state = 5;
  PetscInt          *number, *col, *count;
  PetscReal         *val;

  PetscFunctionBeginUser;
  PetscCall(NumberNodes(p, &number));
  PetscCall(PetscCalloc3(width * p->N, &col, p->N, &count, width * p->N, &val));
  for (PetscInt i = 0; i < p->N; ++i) {
    col[width * i] = i;
    count[i]       = 1;
    val[width * i] = i % 100 ? 0 : 1;
  }
  for (PetscInt i = 1; i < p->N; ++i) {
    const PetscReal near = -50 * PetscLogReal(1 - Draw(&state)), w = PetscPowReal(10, 6 * Draw(&state) - 3), loop = Draw(&state), far = 200 * Draw(&state);
    const PetscReal u = PetscPowReal(10, 6 * Draw(&state) - 3);

    AddEdge(width, i, i - 1 - PetscMin(i - 1, (PetscInt)near), w, count, col, val);
    if (loop < 0.1) AddEdge(width, i, PetscMax(0, i - (PetscInt)far), u, count, col, val);
  }
  PetscCall(NumberedRows(p, number, width, col, val, rows));
  PetscCall(PetscFree3(col, count, val));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(0);
}

/* The stiffness of one tetrahedron with the corners x[4] */
static void Tetrahedron(const PetscReal x[4][3], PetscReal kappa, PetscReal K[4][4])
{
  PetscReal e[3][3], g[4][3] = {{0}}, volume; /* six times */

  for (int a = 0; a < 3; ++a)
    for (int d = 0; d < 3; ++d) e[a][d] = x[a + 1][d] - x[0][d];
  for (int a = 0; a < 3; ++a) {
    const PetscReal *u = e[(a + 1) % 3], *v = e[(a + 2) % 3];

    for (int d = 0; d < 3; ++d) g[a + 1][d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
  }
  volume = e[0][0] * g[1][0] + e[0][1] * g[1][1] + e[0][2] * g[1][2];
  for (int d = 0; d < 3; ++d) g[0][d] = -g[1][d] - g[2][d] - g[3][d];
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) K[a][b] = kappa * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]) / (6 * PetscAbsReal(volume));
}

/* Adds the six tetrahedra of a cell of the lattice. Its first corner is at[], where x = -1 is the face of known values; val[27 i + k]: neighbour k of node i */
static void TetrahedraCell(const Problem *p, PetscReal jitter, const PetscInt at[3], PetscReal val[])
{
  static const int corner[6][4] = {
    {0, 1, 3, 7},
    {0, 1, 5, 7},
    {0, 2, 3, 7},
    {0, 2, 6, 7},
    {0, 4, 5, 7},
    {0, 4, 6, 7}
  }; /* bit d: one further in direction d */
  const PetscInt  box   = 4 * (at[0] + 1) / p->n[0] + 4 * at[1] / p->n[1] + 4 * at[2] / p->n[2];
  const PetscReal kappa = box % 2 ? p->contrast : 1;
  PetscReal       x[8][3], e[4][3], K[4][4];
  PetscInt        node[8];

  for (int c = 0; c < 8; ++c) {
    const PetscInt y[3] = {at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)};

    node[c] = y[0] < 0 ? -1 : y[0] + p->n[0] * (y[1] + p->n[1] * y[2]);
    for (int d = 0; d < 3; ++d) x[c][d] = (PetscReal)y[d] + (y[d] > (d ? 0 : -1) && y[d] < p->n[d] - 1 && node[c] >= 0 ? jitter * Jitter(3 * node[c] + d) : 0);
  }
  for (int t = 0; t < 6; ++t) {
    for (int a = 0; a < 4; ++a)
      for (int d = 0; d < 3; ++d) e[a][d] = x[corner[t][a]][d];
    Tetrahedron(e, kappa, K);
    for (int a = 0; a < 4; ++a) {
      const int u = corner[t][a];

      for (int b = 0; b < 4 && node[u] >= 0; ++b) {
        const int v = corner[t][b], k = 13 + (v & 1) - (u & 1) + 3 * ((v >> 1 & 1) - (u >> 1 & 1)) + 9 * ((v >> 2) - (u >> 2));

        if (node[v] >= 0) val[27 * (size_t)node[u] + (size_t)k] += K[a][b];
      }
    }
  }
}

/* Adds the trilinear element of a cell of the lattice, which beyond all faces has known values */
static void Cube(const Problem *p, const PetscInt at[3], PetscReal val[])
{
  const PetscInt  box   = 4 * (at[0] + 1) / (p->n[0] + 1) + 4 * (at[1] + 1) / (p->n[1] + 1) + 4 * (at[2] + 1) / (p->n[2] + 1);
  const PetscReal kappa = box % 2 ? p->contrast : 1;

  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      PetscInt  u = 0, v = 0, k = 0;
      PetscReal sum = 0;

      for (int d = 2; d >= 0; --d) {
        const PetscInt y = at[d] + (a >> d & 1), z = at[d] + (b >> d & 1);
        PetscReal      product = kappa * p->weight[d];

        for (int e = 0; e < 3; ++e) product *= (a ^ b) >> e & 1 ? (e == d ? -1 : 1.0 / 6) : (e == d ? 1 : 1.0 / 3);
        sum += product;
        u = u < 0 || y < 0 || y >= p->n[d] ? -1 : u * p->n[d] + y;
        v = v < 0 || z < 0 || z >= p->n[d] ? -1 : v * p->n[d] + z;
        k = 3 * k + 1 + z - y;
      }
      if (u >= 0 && v >= 0) val[27 * (size_t)u + (size_t)k] += sum;
    }
  }
}

/* The cells of tetrahedra, the first ones beyond one face, or of cubes, beyond all */
static PetscErrorCode AddCells(const Problem *p, PetscBool cubes, PetscReal val[])
{
  const PetscInt first = cubes ? -1 : 0, last = cubes ? 0 : 1;
  PetscReal      jitter = 0.3;
  PetscInt       at[3];

  PetscFunctionBeginUser;
  if (!cubes) PetscCall(PetscOptionsGetReal(NULL, NULL, "-jitter", &jitter, NULL));
  for (at[2] = first; at[2] < p->n[2] - last; ++at[2]) {
    for (at[1] = first; at[1] < p->n[1] - last; ++at[1]) {
      for (at[0] = -1; at[0] < p->n[0] - last; ++at[0]) {
        if (cubes) Cube(p, at, val);
        else TetrahedraCell(p, jitter, at, val);
      }
    }
  }
  PetscFunctionReturn(0);
}

/* -u'' in each direction by differences of fourth order, u = 0 beyond the walls */
static inline PetscErrorCode FourthRows(Problem *p, Rows *rows)
{
  static const PetscReal weight[3] = {30.0 / 12, -16.0 / 12, 1.0 / 12};
  const PetscInt         width = 5 * p->dim, stride[3] = {1, p->n[0], p->n[0] * p->n[1]};
  PetscInt              *number, *col;
  PetscReal             *val;

  PetscFunctionBeginUser;
  PetscCall(NumberNodes(p, &number));
  PetscCall(PetscCalloc1(width * p->N, &col));
  PetscCall(PetscCalloc1(width * p->N, &val));
  for (PetscInt i = 0; i < p->N; ++i) {
    for (int d = 0; d < p->dim; ++d) {
      for (int s = -2; s <= 2; ++s) {
        const PetscInt y = i / stride[d] % p->n[d] + s, k = width * i + (s ? 5 * d + s + 2 : 2);

        if (y < 0 || y >= p->n[d]) continue;
        col[k] = i + s * stride[d];
        val[k] += p->weight[d] * weight[PetscAbsInt(s)];
      }
    }
  }
  PetscCall(NumberedRows(p, number, width, col, val, rows));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(val));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(0);
}

/*
  Linear elements for -div(k grad u) on n^3 nodes; k jumps between boxes of a quarter. Tetrahedra, whose nodes are moved by up to -jitter of a cell, with u = 0
  on one face, or cubes, with u = 0 on all
*/
static inline PetscErrorCode ElementRows(Problem *p, PetscBool cubes, Rows *rows)
{
  PetscReal *val;
  PetscInt  *number, *col;

  PetscFunctionBeginUser;
  PetscCall(NumberNodes(p, &number));
  PetscCall(PetscMalloc1(27 * p->N, &col));
  PetscCall(PetscCalloc1(27 * p->N, &val));
  PetscCall(AddCells(p, cubes, val));
  for (PetscInt i = 0; i < p->N; ++i)
    for (PetscInt k = 0; k < 27; ++k) col[27 * i + k] = i + k % 3 - 1 + p->n[0] * (k / 3 % 3 - 1 + p->n[1] * (k / 9 - 1));
  PetscCall(NumberedRows(p, number, 27, col, val, rows));
  PetscCall(PetscFree(col));
  PetscCall(PetscFree(val));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(0);
}

/*
  -sum over the near points j of w_ij (u_j - u_i) with w_ij = (radius / distance)^2, at most 100, and convection along the diagonal of the cube as in Row();
  points that are nearer to a wall than half the radius have a known value there
*/
static inline PetscErrorCode PointRows(const Problem *p, Rows *rows)
{
  Points   points;
  PetscInt nz = 0;

  PetscFunctionBeginUser;
  PetscCall(PointsCreate(p->points, 12, &points));
  for (PetscInt i = 0; i < p->points; ++i) nz += PointsNear(&points, i, NULL);
  PetscCall(PetscMalloc3(p->rows + 1, &rows->ai, nz, &rows->aj, nz, &rows->aa));
  rows->ai[0] = 0;
  for (PetscInt i = 0; i < p->points; ++i) {
    const double *a        = points.x + 3 * (size_t)i;
    PetscScalar   diagonal = p->shift;
    PetscInt      main     = 0;

    rows->ai[i + 1] = rows->ai[i] + PointsNear(&points, i, rows->aj + rows->ai[i]);
    for (PetscInt k = rows->ai[i]; k < rows->ai[i + 1]; ++k) {
      const double *b      = points.x + 3 * (size_t)rows->aj[k];
      PetscReal     square = 0, along = 0, w;

      if (rows->aj[k] == i) {
        main = k;
        continue;
      }
      for (int d = 0; d < 3; ++d) {
        square += PetscSqr(b[d] - a[d]);
        along += b[d] - a[d];
      }
      w           = 1 / PetscMax(square / PetscSqr(points.radius), 0.01);
      rows->aa[k] = -w * Convected(p, p->peclet * along);
      diagonal += p->upwind ? -rows->aa[k] : w;
    }
    for (int d = 0; d < 3; ++d) diagonal += 4 * (PetscMin(a[d], 1 - a[d]) < 0.5 * points.radius);
    rows->aa[main] = diagonal;
  }
  PetscCall(PointsDestroy(&points));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode GridRows(const Problem *p, Rows *rows)
{
  PetscInt    col[7];
  PetscScalar val[7];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(p->rows + 1, &rows->ai, 7 * p->rows, &rows->aj, 7 * p->rows, &rows->aa));
  rows->ai[0] = 0;
  for (PetscInt i = 0; i < p->rows; ++i) {
    const PetscInt nz = Row(p, p->first + i, col, val);

    PetscCall(PetscArraycpy(rows->aj + rows->ai[i], col, nz));
    PetscCall(PetscArraycpy(rows->aa + rows->ai[i], val, nz));
    rows->ai[i + 1] = rows->ai[i] + nz;
  }
  PetscFunctionReturn(0);
}

/* The rows of the problem that the options name; free them by RowsFree() */
static inline PetscErrorCode ProblemRows(Problem *p, Rows *rows)
{
  PetscFunctionBeginUser;
  if (p->points) PetscCall(PointRows(p, rows));
  else if (p->graph == GRAPH_POWER) PetscCall(PowerGridRows(p, rows));
  else if (p->graph == GRAPH_FOURTH) PetscCall(FourthRows(p, rows));
  else if (p->graph != GRAPH_NONE) PetscCall(ElementRows(p, (PetscBool)(p->graph == GRAPH_CUBES), rows));
  else PetscCall(GridRows(p, rows));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode RowsFree(Problem *p, Rows *rows)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(rows->ai, rows->aj, rows->aa));
  PetscCall(PetscFree(p->place));
  PetscFunctionReturn(0);
}
