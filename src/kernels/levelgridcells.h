/* Loops over cells of a line that vectorise, with entries of type LEVEL_ENTRY; included once for each type. All cells take part in P. */

/* The coupling that an entry stands for */
static inline PetscReal LEVEL_NAME(GridCoupling)(LEVEL_ENTRY entry)
{
  const PetscReal a = -(PetscReal)LEVEL_GET(entry);

  return a > 0 ? a : 0;
}

/*
  to[2 d] and to[2 d + 1] <- the entries of n cells from cell i of line (y, z) on to their lower and upper neighbours in direction d, zeros for neighbours that
  are not there; 0 < i and i + n < G->n. PETSC_FALSE: some of the cells have a neighbour there that others have not
*/
static PetscBool LEVEL_NAME(GridEntries)(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt at[3], PetscInt i, PetscInt n,
                                         const LEVEL_ENTRY *to[6])
{
  static const LEVEL_ENTRY zeros[GRID_CELLS];

  for (int d = 0; d < 3; ++d) {
    const LEVEL_ENTRY *u      = (const LEVEL_ENTRY *)A->up[d];
    const PetscInt     stride = PolderLevelGridStride(G->size, d);

    to[2 * d] = to[2 * d + 1] = zeros;
    if (!u) continue;
    if (d && ((i < stride && i + n > stride) || (i < G->n - stride && i + n > G->n - stride))) return PETSC_FALSE;
    if (!d || (at[d] > 0 && i >= stride)) to[2 * d] = u + i - stride;
    if (!d || (at[d] + 1 < G->size[d] && i + n <= G->n - stride)) to[2 * d + 1] = u + i; // entries between lines are zero
  }
  return PETSC_TRUE;
}

/* The strongest coupling of cell k along direction d */
static inline PetscReal LEVEL_NAME(GridAlong)(const LEVEL_ENTRY *const to[6], PetscInt k, int d)
{
  const PetscReal lower = LEVEL_NAME(GridCoupling)(to[2 * d][k]), upper = LEVEL_NAME(GridCoupling)(to[2 * d + 1][k]);

  return lower > upper ? lower : upper;
}

/* Adds the counts of PolderLevelGridLook() for n cells from cell i of line (y, z) on, none of them thin */
static PetscBool LEVEL_NAME(GridCount)(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, const PetscInt at[3],
                                       PetscInt i, PetscInt n, PetscInt count[])
{
  const PetscReal   *excess = rule->excess ? rule->excess + i : NULL;
  const LEVEL_ENTRY *to[6];
  int                c[POLDER_LEVELGRID_COUNTS] = {0};

  if (!LEVEL_NAME(GridEntries)(G, A, at, i, n, to)) return PETSC_FALSE;
  for (PetscInt k = 0; k < n; ++k) {
    const PetscReal x = LEVEL_NAME(GridAlong)(to, k, 0), y = LEVEL_NAME(GridAlong)(to, k, 1), z = LEVEL_NAME(GridAlong)(to, k, 2);
    const PetscReal xy = x > y ? x : y, all = xy > z ? xy : z, least = rule->weak * all;

    c[0] += x < least;
    c[1] += y < least;
    c[2] += z < least;
    c[3] += all > 0;
  }
  for (PetscInt k = 0; k < n; ++k) {
    const int positive = !(LEVEL_GET(to[1][k]) <= 0) | !(LEVEL_GET(to[3][k]) <= 0) | !(LEVEL_GET(to[5][k]) <= 0);

    c[4] += positive | (excess && !(excess[k] >= 0));
  }
  for (int k = 0; k < POLDER_LEVELGRID_COUNTS; ++k) count[k] += c[k];
  return PETSC_TRUE;
}

/*
  For n cells from cell i of line (y, z) on, which have upper neighbours in their boxes in the directions with inner[d]: most[] is raised to their strongest
  couplings, and low[] lowered to those couplings within the box. n and the coordinate of cell i along the line are even if boxes are joined there
*/
static PetscBool LEVEL_NAME(GridExtremes)(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt at[3], const PetscBool inner[3], PetscInt i,
                                          PetscInt n, PetscReal most[], PetscReal low[])
{
  const LEVEL_ENTRY *to[6];

  if (!LEVEL_NAME(GridEntries)(G, A, at, i, n, to)) return PETSC_FALSE;
  for (PetscInt k = 0; k < n; ++k) {
    const PetscReal x = LEVEL_NAME(GridAlong)(to, k, 0), y = LEVEL_NAME(GridAlong)(to, k, 1), z = LEVEL_NAME(GridAlong)(to, k, 2);
    const PetscReal xy = x > y ? x : y, all = xy > z ? xy : z;

    most[k] = most[k] > all ? most[k] : all;
  }
  for (int d = 0; d < 3; ++d) {
    for (PetscInt k = 0; k < n && inner[d]; k += d ? 1 : 2) {
      const PetscReal a = LEVEL_NAME(GridCoupling)(to[2 * d + 1][k]);

      low[k] = low[k] < a ? low[k] : a;
    }
  }
  return PETSC_TRUE;
}

/* sum[k] += what the cells of box k collect from the entries u[] of its cells, two or, with join = 0, one of them */
static void LEVEL_NAME(GridAcross)(int join, PetscInt n, const LEVEL_ENTRY u[], PetscReal cells, PetscReal sum[])
{
  if (join) {
    for (PetscInt k = 0; k < n; ++k) sum[k] = (sum[k] + LEVEL_NAME(GridCoupling)(u[2 * k]) / cells) + LEVEL_NAME(GridCoupling)(u[2 * k + 1]) / cells;
  } else {
    for (PetscInt k = 0; k < n; ++k) sum[k] += LEVEL_NAME(GridCoupling)(u[k]) / cells;
  }
}

/*
  Adds to to[2 d] and to[2 d + 1], for n boxes of which cell i is the first on the line through at[], the couplings of its cells to lower and upper boxes,
  divided by cells[], 0 where the line has none in that direction. See PolderLevelGridCollect()
*/
static PetscBool LEVEL_NAME(GridGather)(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt at[3], PetscInt i, PetscInt n,
                                        const PetscReal cells[6], PetscReal to[6][GRID_CELLS])
{
  const int          join = G->join[0];
  const LEVEL_ENTRY *u[6];

  if (!LEVEL_NAME(GridEntries)(G, A, at, i, n << join, u)) return PETSC_FALSE;
  for (PetscInt k = 0; k < n; ++k) {
    to[0][k] += LEVEL_NAME(GridCoupling)(u[0][k << join]) / cells[0];
    to[1][k] += LEVEL_NAME(GridCoupling)(u[1][(k << join) + join]) / cells[1];
  }
  for (int e = 2; e < 6; ++e) {
    if (cells[e] > 0) LEVEL_NAME(GridAcross)(join, n, u[e], cells[e], to[e]);
  }
  return PETSC_TRUE;
}

/* c[k] <- the couplings that n entries stand for */
static void LEVEL_NAME(GridRead)(PetscInt n, const LEVEL_ENTRY u[], PetscReal c[])
{
  for (PetscInt k = 0; k < n; ++k) c[k] = LEVEL_NAME(GridCoupling)(u[k]);
}
