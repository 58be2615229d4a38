/*
  Weights of the cells in the middle of a line, in a loop that vectorises, from entries of type LEVEL_ENTRY; included once for each type. All neighbours of
  these cells are there and take part in P.
*/

/* The coupling of cell i to its upper neighbour */
static inline PetscReal LEVEL_NAME(GridUpper)(const LEVEL_ENTRY u[], PetscInt i)
{
  const PetscReal a = -(PetscReal)LEVEL_GET(u[i]);

  return PetscMax(a, 0);
}

/* The weight of a direction, see PolderLevelGridWeight(), at a cell with an even or an odd coordinate; the entries are `stride` apart */
static inline PetscReal LEVEL_NAME(GridWeigh)(const LEVEL_ENTRY u[], PetscInt i, PetscInt stride, int odd, PetscReal most)
{
  const PetscReal own   = 2 * LEVEL_NAME(GridUpper)(u, odd ? i - stride : i);
  const PetscReal face  = LEVEL_NAME(GridUpper)(u, odd ? i : i - stride);
  const PetscReal other = 2 * LEVEL_NAME(GridUpper)(u, odd ? i + stride : i - 2 * stride);

  return GridWeightOf(own, face, other, most);
}

/* w[d][k] <- weights of cell i + k in the joined directions, k < n; n and the coordinate of cell i along the line are even */
static void LEVEL_NAME(GridWeighCells)(const PolderLevelGrid *G, const PolderLevelGridEntries *A, PetscInt y, PetscInt z, PetscInt i, PetscInt n,
                                       PetscReal w[3][GRID_CELLS])
{
  const LEVEL_ENTRY *u[3] = {(const LEVEL_ENTRY *)A->up[0], (const LEVEL_ENTRY *)A->up[1], (const LEVEL_ENTRY *)A->up[2]};
  const PetscInt     line = G->size[0], plane = line * G->size[1];
  PetscReal          most[GRID_CELLS];

  for (PetscInt k = 0; k < n; ++k) {
    most[k] = PetscMax(PetscMax(LEVEL_NAME(GridUpper)(u[0], i + k - 1), LEVEL_NAME(GridUpper)(u[0], i + k)),
                       PetscMax(LEVEL_NAME(GridUpper)(u[1], i + k - line), LEVEL_NAME(GridUpper)(u[1], i + k)));
  }
  for (PetscInt k = 0; k < n && u[2]; ++k)
    most[k] = PetscMax(most[k], PetscMax(LEVEL_NAME(GridUpper)(u[2], i + k - plane), LEVEL_NAME(GridUpper)(u[2], i + k)));
  for (PetscInt k = 0; k < n && G->join[0]; k += 2) {
    w[0][k]     = LEVEL_NAME(GridWeigh)(u[0], i + k, 1, 0, most[k]);
    w[0][k + 1] = LEVEL_NAME(GridWeigh)(u[0], i + k + 1, 1, 1, most[k + 1]);
  }
  if (G->join[1] && y % 2) {
    for (PetscInt k = 0; k < n; ++k) w[1][k] = LEVEL_NAME(GridWeigh)(u[1], i + k, line, 1, most[k]);
  } else if (G->join[1]) {
    for (PetscInt k = 0; k < n; ++k) w[1][k] = LEVEL_NAME(GridWeigh)(u[1], i + k, line, 0, most[k]);
  }
  if (G->join[2] && z % 2) {
    for (PetscInt k = 0; k < n; ++k) w[2][k] = LEVEL_NAME(GridWeigh)(u[2], i + k, plane, 1, most[k]);
  } else if (G->join[2]) {
    for (PetscInt k = 0; k < n; ++k) w[2][k] = LEVEL_NAME(GridWeigh)(u[2], i + k, plane, 0, most[k]);
  }
}
