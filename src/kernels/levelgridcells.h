/* Loops over cells of a line that vectorise: entries of any type are read as real numbers first. All cells take part in P. Included by levelgrid.c only. */

/* In place of the first entry of neighbours that are not there */
#define GRID_NONE (-1)

/* The coupling that an entry stands for */
static inline PetscReal GridCoupling(PetscReal entry)
{
  return entry < 0 ? -entry : 0;
}

/* v[k] <- entry from + k in direction d, k < n; zeros where from is GRID_NONE */
static void GridRead(const PolderLevelGridEntries *A, int d, PetscInt from, PetscInt n, PetscReal v[])
{
  const void *const u = A->up[d];

  if (from == GRID_NONE) {
    for (PetscInt k = 0; k < n; ++k) v[k] = 0;
  } else if (A->bfloat) {
    for (PetscInt k = 0; k < n; ++k) v[k] = PolderBfloatGet(((const PolderBfloat *)u)[from + k]);
  } else if (A->single) {
    for (PetscInt k = 0; k < n; ++k) v[k] = ((const float *)u)[from + k];
  } else {
    for (PetscInt k = 0; k < n; ++k) v[k] = PetscRealPart(((const PetscScalar *)u)[from + k]);
  }
}

/* c[k] <- the couplings that such entries stand for */
static void GridCouplings(const PolderLevelGridEntries *A, int d, PetscInt from, PetscInt n, PetscReal c[])
{
  GridRead(A, d, from, n, c);
  for (PetscInt k = 0; k < n; ++k) c[k] = GridCoupling(c[k]);
}

/*
  from[2 d] and from[2 d + 1] <- the first of the entries of n cells from cell i of line (y, z) on to their lower and upper neighbours in direction d; 0 < i and
  i + n < G->n. PETSC_FALSE: some of the cells have a neighbour there that others have not
*/
static PetscBool GridEntries(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt at[3], PetscInt i, PetscInt n, PetscInt from[6])
{
  for (int d = 0; d < 3; ++d) {
    const PetscInt stride = PolderLevelGridStride(G->size, d);

    from[2 * d] = from[2 * d + 1] = GRID_NONE;
    if (!A->up[d]) continue;
    if (d && ((i < stride && i + n > stride) || (i < G->n - stride && i + n > G->n - stride))) return PETSC_FALSE;
    if (!d || (at[d] > 0 && i >= stride)) from[2 * d] = i - stride;
    if (!d || (at[d] + 1 < G->size[d] && i + n <= G->n - stride)) from[2 * d + 1] = i; // entries between lines are zero
  }
  return PETSC_TRUE;
}

/* Adds the counts of PolderLevelGridLook() for n cells from cell i of line (y, z) on, none of them thin */
static PetscBool GridCount(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, const PetscInt at[3], PetscInt i,
                           PetscInt n, PetscInt count[])
{
  const PetscReal *excess = rule->excess ? rule->excess + i : NULL;
  PetscReal        along[3][GRID_CELLS], v[GRID_CELLS];
  PetscInt         from[6];
  int              c[POLDER_LEVELGRID_COUNTS] = {0}, positive[GRID_CELLS];

  if (!GridEntries(G, A, at, i, n, from)) return PETSC_FALSE;
  for (PetscInt k = 0; k < n; ++k) positive[k] = excess && !(excess[k] >= 0);
  for (int d = 0; d < 3; ++d) {
    GridCouplings(A, d, from[2 * d], n, along[d]);
    GridRead(A, d, from[2 * d + 1], n, v);
    for (PetscInt k = 0; k < n; ++k) {
      along[d][k] = PetscMax(along[d][k], GridCoupling(v[k]));
      positive[k] |= !(v[k] <= 0);
    }
  }
  for (PetscInt k = 0; k < n; ++k) {
    const PetscReal x = along[0][k], y = along[1][k], z = along[2][k], all = PetscMax(PetscMax(x, y), z), least = rule->weak * all;

    c[0] += x < least;
    c[1] += y < least;
    c[2] += z < least;
    c[3] += all > 0;
    c[4] += positive[k];
  }
  for (int k = 0; k < POLDER_LEVELGRID_COUNTS; ++k) count[k] += c[k];
  return PETSC_TRUE;
}

/*
  For n cells from cell i of line (y, z) on, which have upper neighbours in their boxes in the directions with inner[d]: most[] is raised to their strongest
  couplings, and low[] lowered to those couplings within the box. n and the coordinate of cell i along the line are even if boxes are joined there
*/
static PetscBool GridExtremes(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt at[3], const PetscBool inner[3], PetscInt i, PetscInt n,
                              PetscReal most[], PetscReal low[])
{
  PetscReal c[GRID_CELLS];
  PetscInt  from[6];

  if (!GridEntries(G, A, at, i, n, from)) return PETSC_FALSE;
  for (int e = 0; e < 6; ++e) {
    GridCouplings(A, e / 2, from[e], n, c);
    for (PetscInt k = 0; k < n; ++k) most[k] = PetscMax(most[k], c[k]);
    if (e % 2 == 0 || !inner[e / 2]) continue;
    for (PetscInt k = 0; k<n; k += e> 1 ? 1 : 2) low[k] = PetscMin(low[k], c[k]);
  }
  return PETSC_TRUE;
}

/*
  Adds to to[2 d] and to[2 d + 1], for n boxes of which cell i is the first on the line through at[], the couplings of its cells to lower and upper boxes,
  divided by cells[], 0 where the line has none in that direction. See PolderLevelGridCollect()
*/
static PetscBool GridGather(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt at[3], PetscInt i, PetscInt n, const PetscReal cells[6],
                            PetscReal to[6][GRID_CELLS])
{
  const int join = G->join[0];
  PetscReal c[GRID_CELLS];
  PetscInt  from[6];

  if (!GridEntries(G, A, at, i, n << join, from)) return PETSC_FALSE;
  for (int e = 0; e < 6; ++e) {
    const PetscReal size = cells[e];
    PetscReal      *sum  = to[e];

    if (!(size > 0)) continue;
    GridCouplings(A, e / 2, from[e], n << join, c);
    if (size == 2) { // a division takes long
      for (PetscInt k = 0; k < n << join; ++k) c[k] *= 0.5;
    } else if (size != 1) {
      for (PetscInt k = 0; k < n << join; ++k) c[k] /= size;
    }
    if (!join) {
      for (PetscInt k = 0; k < n; ++k) sum[k] += c[k];
    } else if (e < 2) { // along the line one cell of each box
      for (PetscInt k = 0; k < n; ++k) sum[k] += c[2 * k + e];
    } else {
      for (PetscInt k = 0; k < n; ++k) sum[k] = (sum[k] + c[2 * k]) + c[2 * k + 1];
    }
  }
  return PETSC_TRUE;
}

/* The same as in PolderLevelGridWeight(). `none` stands for zeros where they would divide each other */
static inline PetscReal GridWeightOf(PetscReal own, PetscReal face, PetscReal other, PetscReal most)
{
  const PetscReal none = 1e-290, f = PetscMax(face, none), g = f / (1 + f / other), w = g / (PetscMax(own, none) + g), bound = face / PetscMax(most, none);

  return PetscMin(w, bound);
}

/* The couplings of cells along a direction that PolderLevelGridWeight() takes: within the box, to the box that they face, and within that one */
typedef struct {
  PetscReal own[GRID_CELLS], face[GRID_CELLS], other[GRID_CELLS];
} GridNeighbours;

/* Those of n cells from cell i of a line on, all neighbours of which are there. The coordinate of cell i along the line is even */
static void GridCouple(const PolderLevelGrid *G, const PolderLevelGridEntries *A, int d, PetscInt at, PetscInt i, PetscInt n, GridNeighbours *c)
{
  const PetscInt  stride = PolderLevelGridStride(G->size, d);
  const PetscBool odd    = (PetscBool)(at % 2);
  PetscReal       t[GRID_CELLS + 3];

  if (!d && G->join[d]) {
    GridCouplings(A, d, i - 2, n + 3, t);
    for (PetscInt k = 0; k < n; ++k) { // k + 1 and k + 2: the couplings to both neighbours
      c->own[k]   = k & 1 ? t[k + 1] : t[k + 2];
      c->face[k]  = k & 1 ? t[k + 2] : t[k + 1];
      c->other[k] = k & 1 ? t[k + 3] : t[k];
    }
  } else {
    GridCouplings(A, d, odd ? i - stride : i, n, c->own);
    GridCouplings(A, d, odd ? i : i - stride, n, c->face);
    if (G->join[d]) GridCouplings(A, d, odd ? i + stride : i - 2 * stride, n, c->other);
  }
}

/* Are all of them equal, as where the coefficient is constant, and no coupling of the cells much stronger? See PolderLevelGridWeightNear() */
static PetscBool GridIsEven(PetscInt n, const GridNeighbours *c, const PetscReal most[])
{
  int even = 1;

  for (PetscInt k = 0; k < n; ++k) {
    const PetscReal own = c->own[k];

    even &= (own > 0) & (own == c->face[k]) & (own == c->other[k]) & (4 * own >= most[k]);
  }
  return (PetscBool)even;
}

/* Stores the weights of such cells of line (y, z) */
static void GridWeighCells(const PolderLevelGrid *G, const PolderLevelGridEntries *A, PetscInt y, PetscInt z, PetscInt i, PetscInt n)
{
  const PetscInt at[3] = {0, y, z};
  GridNeighbours c[3];
  PetscReal      most[GRID_CELLS], w[3][GRID_CELLS];

  for (PetscInt k = 0; k < n; ++k) most[k] = 0;
  for (int d = 0; d < (A->up[2] ? 3 : 2); ++d) {
    GridCouple(G, A, d, at[d], i, n, &c[d]);
    for (PetscInt k = 0; k < n; ++k) most[k] = PetscMax(most[k], PetscMax(c[d].own[k], c[d].face[k]));
  }
  for (int d = 0; d < 3; ++d) {
    if (G->join[d] && GridIsEven(n, &c[d], most)) {
      for (PetscInt k = 0; k < n; ++k) w[d][k] = 0.25;
    } else if (G->join[d]) {
      for (PetscInt k = 0; k < n; ++k) w[d][k] = GridWeightOf(2 * c[d].own[k], c[d].face[k], 2 * c[d].other[k], most[k]);
    } else {
      for (PetscInt k = 0; k < n; ++k) w[d][k] = 0;
    }
  }
  for (PetscInt k = 0; k < n; ++k) G->w[i + k] = PolderLevelGridWord(w[0][k], w[1][k], w[2][k]);
}
