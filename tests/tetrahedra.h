/* Linear finite elements for -div(k grad u) on tetrahedra: a perturbed lattice of nodes numbered at random within three planes, k jumping from
   box to box; u = 0 on the face x = 0. */
#pragma once

#include <petscmat.h>

static inline unsigned TetrahedraHash(unsigned h)
{
  h = (h ^ (h >> 16)) * 0x45D9F3Bu;
  h = (h ^ (h >> 16)) * 0x45D9F3Bu;
  return h ^ (h >> 16);
}

/* The stiffness of one tetrahedron with corners x[4] */
static inline void TetrahedraElement(const PetscReal x[4][3], PetscReal k, PetscScalar K[4][4])
{
  PetscReal e[3][3], g[4][3] = {{0}}, volume;

  for (int a = 0; a < 3; ++a)
    for (int d = 0; d < 3; ++d) e[a][d] = x[a + 1][d] - x[0][d];
  for (int a = 0; a < 3; ++a) {
    const PetscReal *p = e[(a + 1) % 3], *q = e[(a + 2) % 3];

    for (int d = 0; d < 3; ++d) g[a + 1][d] = p[(d + 1) % 3] * q[(d + 2) % 3] - p[(d + 2) % 3] * q[(d + 1) % 3];
  }
  volume = e[0][0] * g[1][0] + e[0][1] * g[1][1] + e[0][2] * g[1][2]; // six times
  for (int d = 0; d < 3; ++d) g[0][d] = -g[1][d] - g[2][d] - g[3][d];
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) K[a][b] = k * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]) / (6 * PetscAbsReal(volume));
}

/* The numbers of m^3 nodes, and where they are: moved by up to that part of a cell */
static inline void TetrahedraNodes(PetscInt m, PetscReal moved, PetscInt order[], PetscReal at[])
{
  const PetscInt N = m * m * m;

  for (PetscInt i = 0; i < N; ++i) order[i] = i;
  for (PetscInt i = N - 1; i > 0; --i) { // within a few planes, so that processes get connected parts, ragged at the limits
    const PetscInt plane = 3 * m * m, j = i / plane * plane + (PetscInt)(TetrahedraHash((unsigned)i) % (unsigned)(i % plane + 1)), o = order[i];

    order[i] = order[j];
    order[j] = o;
  }
  for (PetscInt i = 0; i < N; ++i) {
    for (PetscInt d = 0, c = i; d < 3; ++d, c /= m) {
      const PetscInt  x    = c % m;
      const PetscReal away = x && x < m - 1 ? (TetrahedraHash((unsigned)(3 * i + d)) % 1000u) / 1000.0 - 0.5 : 0;

      at[3 * i + d] = x + 2 * moved * away;
    }
  }
}

/* n cells a direction, six tetrahedra each; contrast: of k between boxes of a quarter of the cube */
static inline PetscErrorCode TetrahedraMoved(MPI_Comm comm, PetscInt n, PetscReal contrast, PetscReal moved, Mat *A)
{
  static const int corner[6][4] = {
    {0, 1, 3, 7},
    {0, 1, 5, 7},
    {0, 2, 3, 7},
    {0, 2, 6, 7},
    {0, 4, 5, 7},
    {0, 4, 6, 7}
  }; // bit d: one further in direction d
  const PetscInt m = n + 1, N = m * m * m;
  PetscInt      *order, start, end;
  PetscReal     *at;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(N, &order, 3 * N, &at));
  TetrahedraNodes(m, moved, order, at);
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 27, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 27, NULL, 27, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt cell = 0; cell < n * n * n; ++cell) {
    const PetscInt  x = cell % n, y = cell / n % n, z = cell / n / n;
    const PetscReal k = (4 * x / n + 4 * y / n + 4 * z / n) % 2 ? contrast : 1;

    for (int t = 0; t < 6; ++t) {
      PetscInt    node[4];
      PetscReal   p[4][3];
      PetscScalar K[4][4];

      for (int a = 0; a < 4; ++a) {
        const PetscInt c = x + (corner[t][a] & 1) + m * (y + (corner[t][a] >> 1 & 1) + m * (z + (corner[t][a] >> 2)));

        node[a] = order[c];
        for (int d = 0; d < 3; ++d) p[a][d] = at[3 * c + d];
        if (c % m == 0) node[a] = -1 - node[a]; // on the face
      }
      TetrahedraElement(p, k, K);
      for (int a = 0; a < 4; ++a) {
        if (node[a] < start || node[a] >= end) continue;
        for (int b = 0; b < 4; ++b) {
          if (node[b] >= 0) PetscCall(MatSetValue(*A, node[a], node[b], K[a][b], ADD_VALUES));
        }
      }
    }
  }
  for (PetscInt c = 0; c < N; c += m) {
    if (order[c] >= start && order[c] < end) PetscCall(MatSetValue(*A, order[c], order[c], 1, ADD_VALUES));
  }
  PetscCall(PetscFree2(order, at));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The same, with nodes moved so that no element is flat */
#define TETRAHEDRA_MOVED 0.175

static inline PetscErrorCode TetrahedraAssemble(MPI_Comm comm, PetscInt n, PetscReal contrast, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(TetrahedraMoved(comm, n, contrast, TETRAHEDRA_MOVED, A));
  PetscFunctionReturn(0);
}
