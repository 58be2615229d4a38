/*
  Restriction and interpolation on levels that are grids, line by line in loops that vectorise, with vectors of type LEVEL_VALUE; included once for each type.
*/

/*
  What a cell gives of r to its box, and to the boxes that it faces in each direction. A cell without part in P has the weights 0, by bits, since a branch would
  keep loops from being vectorised
*/
static inline LEVEL_VALUE LEVEL_NAME(GridGive)(unsigned word, LEVEL_VALUE r, LEVEL_VALUE face[3])
{
  const unsigned    in = 0u - (unsigned)(word != POLDER_LEVELGRID_APART), w = word & in;
  const LEVEL_VALUE x = (LEVEL_VALUE)PolderLevelGridUnpack(w, 0), y = (LEVEL_VALUE)PolderLevelGridUnpack(w, 1), z = (LEVEL_VALUE)PolderLevelGridUnpack(w, 2);

  face[0] = x * r;
  face[1] = y * r;
  face[2] = z * r;
  return ((LEVEL_VALUE)(int)(in & 1) - (x + y + z)) * r;
}

/* Adds to bc what the cell at at[] gives. The boxes that it faces may be elsewhere: then their weights are 0 */
static inline void LEVEL_NAME(GridGiveCell)(const PolderLevelGrid *G, const PetscInt at[3], unsigned word, LEVEL_VALUE r, LEVEL_VALUE bc[])
{
  const PetscInt    box = PolderLevelGridBox(G, at);
  LEVEL_VALUE       face[3];
  const LEVEL_VALUE own = LEVEL_NAME(GridGive)(word, r, face);

  bc[box] += own;
  for (int d = 0; d < 3; ++d) {
    if (word != POLDER_LEVELGRID_APART && G->join[d] && PolderLevelGridUnpack(word, d) > 0)
      bc[box + PolderLevelGridFace(at, d) * PolderLevelGridStride(G->csize, d)] += face[d];
  }
}

/* What n cells, from one with an even coordinate on, give in each direction, or to their own boxes */
static inline void LEVEL_NAME(GridGiveCells)(PetscInt n, const unsigned w[], const LEVEL_VALUE r[], LEVEL_VALUE give[4][GRID_CELLS])
{
  for (PetscInt k = 0; k < n; ++k) {
    LEVEL_VALUE face[3];

    give[3][k] = LEVEL_NAME(GridGive)(w[k], r[k], face);
    give[0][k] = face[0];
    give[1][k] = face[1];
    give[2][k] = face[2];
  }
}

/* bc[b] += what the cells of box b - first give, first <= b < end; the boxes of `to` */
static inline void LEVEL_NAME(GridGet)(int pairs, PetscInt first, PetscInt end, const GridLine *to, const LEVEL_VALUE *restrict give, LEVEL_VALUE *restrict bc)
{
  const PetscInt lo = PetscMax(first, to->lo), hi = PetscMin(end, to->hi);

  if (pairs) {
    for (PetscInt b = lo; b < hi; ++b) bc[to->start + b] += give[2 * (b - first)] + give[2 * (b - first) + 1];
  } else {
    for (PetscInt b = lo; b < hi; ++b) bc[to->start + b] += give[b - first];
  }
}

/* bc[b + step] += the cell k of those of box b - first */
static inline void LEVEL_NAME(GridGetOne)(int k, int step, PetscInt first, PetscInt end, const GridLine *to, const LEVEL_VALUE *restrict give,
                                          LEVEL_VALUE *restrict bc)
{
  const PetscInt lo = PetscMax(first, to->lo - step), hi = PetscMin(end, to->hi - step);

  for (PetscInt b = lo; b < hi; ++b) bc[to->start + b + step] += give[2 * (b - first) + k];
}

/* Adds P^T r of cells of line (y, z); r[0] is that of the first of them */
static void LEVEL_NAME(GridRestrictLine)(const PolderLevelGrid *G, PetscInt y, PetscInt z, const GridLine *cells, const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  const PetscInt start = cells->start, lo = cells->lo, hi = cells->hi;
  const int      pairs = G->join[0];
  const PetscInt by = y >> G->join[1], bz = z >> G->join[2];
  const GridLine own    = GridLineAt(G->csize, G->cshift, G->nc, by, bz);
  const GridLine beside = GridLineAt(G->csize, G->cshift, G->nc, by + (y & 1 ? 1 : -1), bz);
  const GridLine behind = GridLineAt(G->csize, G->cshift, G->nc, by, bz + (z & 1 ? 1 : -1));
  PetscInt       at[3]  = {lo, y, z};
  LEVEL_VALUE    give[4][GRID_CELLS];

  if (pairs && lo % 2) LEVEL_NAME(GridGiveCell)(G, at, G->w[start + at[0]], r[0], bc), ++at[0];
  for (PetscInt n; at[0] + pairs < hi; at[0] += n) {
    const PetscInt first = at[0] >> pairs, end = first + (PetscMin(GRID_CELLS, hi - at[0]) >> pairs);

    n = (end - first) << pairs;
    LEVEL_NAME(GridGiveCells)(n, G->w + start + at[0], r + (at[0] - lo), give);
    LEVEL_NAME(GridGet)(pairs, first, end, &own, give[3], bc);
    if (pairs) {
      LEVEL_NAME(GridGetOne)(0, -1, first, end, &own, give[0], bc);
      LEVEL_NAME(GridGetOne)(1, 1, first, end, &own, give[0], bc);
    }
    if (G->join[1]) LEVEL_NAME(GridGet)(pairs, first, end, &beside, give[1], bc);
    if (G->join[2]) LEVEL_NAME(GridGet)(pairs, first, end, &behind, give[2], bc);
  }
  if (at[0] < hi) LEVEL_NAME(GridGiveCell)(G, at, G->w[start + at[0]], r[at[0] - lo], bc);
}

/* A cell's entry of P xc, given the entries of its box and of those that it faces; 0 without part in P */
static inline LEVEL_VALUE LEVEL_NAME(GridTake)(unsigned word, LEVEL_VALUE own, LEVEL_VALUE x, LEVEL_VALUE y, LEVEL_VALUE z)
{
  const unsigned in = 0u - (unsigned)(word != POLDER_LEVELGRID_APART), w = word & in;

  return (LEVEL_VALUE)(int)(in & 1) * own + (LEVEL_VALUE)PolderLevelGridUnpack(w, 0) * (x - own) + (LEVEL_VALUE)PolderLevelGridUnpack(w, 1) * (y - own) +
         (LEVEL_VALUE)PolderLevelGridUnpack(w, 2) * (z - own);
}

/* The same for cell i at at[], which may face boxes that are not there: their weights are 0 */
static inline LEVEL_VALUE LEVEL_NAME(GridTakeAt)(const PolderLevelGrid *G, PetscInt i, const PetscInt at[3], const LEVEL_VALUE xc[])
{
  const PetscInt    box = PolderLevelGridBox(G, at);
  const LEVEL_VALUE own = xc[box];
  LEVEL_VALUE       face[3];

  if (G->w[i] == POLDER_LEVELGRID_APART) return 0;
  for (int d = 0; d < 3; ++d)
    face[d] = G->join[d] && PolderLevelGridUnpack(G->w[i], d) > 0 ? xc[box + PolderLevelGridFace(at, d) * PolderLevelGridStride(G->csize, d)] : own;
  return LEVEL_NAME(GridTake)(G->w[i], own, face[0], face[1], face[2]);
}

/* x[start + s b] += P xc for the cells of the boxes first <= b < end, given the lines of boxes that they face */
static inline void LEVEL_NAME(GridTakeCells)(PetscInt first, PetscInt end, PetscInt start, const unsigned w[], const LEVEL_VALUE own[],
                                             const LEVEL_VALUE beside[], const LEVEL_VALUE behind[], LEVEL_VALUE *restrict x)
{
  for (PetscInt b = first; b < end; ++b) x[start + b] += LEVEL_NAME(GridTake)(w[start + b], own[b], own[b], beside[b], behind[b]);
}

static inline void LEVEL_NAME(GridTakePairs)(PetscInt first, PetscInt end, PetscInt start, const unsigned w[], const LEVEL_VALUE own[],
                                             const LEVEL_VALUE beside[], const LEVEL_VALUE behind[], LEVEL_VALUE *restrict x)
{
  for (PetscInt b = first; b < end; ++b) {
    const PetscInt i = start + 2 * b;

    x[i] += LEVEL_NAME(GridTake)(w[i], own[b], own[b - 1], beside[b], behind[b]);
    x[i + 1] += LEVEL_NAME(GridTake)(w[i + 1], own[b], own[b + 1], beside[b], behind[b]);
  }
}

/* Adds P xc to x in cells of line (y, z) */
static void LEVEL_NAME(GridProlongLine)(const PolderLevelGrid *G, PetscInt y, PetscInt z, const GridLine *line, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
  const int      pairs = G->join[0];
  const PetscInt by = y >> G->join[1], bz = z >> G->join[2];
  const GridLine cells = *line, own = GridLineAt(G->csize, G->cshift, G->nc, by, bz);
  const GridLine beside = GridLineOr(G, G->join[1], by + (y & 1 ? 1 : -1), bz, &own), behind = GridLineOr(G, G->join[2], by, bz + (z & 1 ? 1 : -1), &own);
  const PetscInt lo    = PetscMax(PetscMax(own.lo + pairs, GridFirst(cells.lo, 1 + pairs)), PetscMax(beside.lo, behind.lo));
  const PetscInt hi    = PetscMin(PetscMin(own.hi - pairs, cells.hi >> pairs), PetscMin(beside.hi, behind.hi));
  const PetscInt first = lo < hi ? lo << pairs : cells.hi, end = lo < hi ? hi << pairs : cells.hi; /* between them all boxes that cells face are there */
  PetscInt       at[3] = {0, y, z};

  for (at[0] = cells.lo; at[0] < first; ++at[0]) x[cells.start + at[0]] += LEVEL_NAME(GridTakeAt)(G, cells.start + at[0], at, xc);
  if (first < end && pairs) LEVEL_NAME(GridTakePairs)(lo, hi, cells.start, G->w, xc + own.start, xc + beside.start, xc + behind.start, x);
  else if (first < end) LEVEL_NAME(GridTakeCells)(lo, hi, cells.start, G->w, xc + own.start, xc + beside.start, xc + behind.start, x);
  for (at[0] = end; at[0] < cells.hi; ++at[0]) x[cells.start + at[0]] += LEVEL_NAME(GridTakeAt)(G, cells.start + at[0], at, xc);
}

void LEVEL_NAME(PolderLevelGridRestrictRows)(const PolderLevelGrid *G, PetscInt i0, PetscInt n, const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  PetscInt line, last;

  GridLines(G->size, G->shift + i0, n, &line, &last);
  for (; line <= last; ++line) {
    const PetscInt y = line % G->size[1], z = line / G->size[1];
    const GridLine cells = GridLinePart(G, i0, n, y, z);

    LEVEL_NAME(GridRestrictLine)(G, y, z, &cells, r + (cells.start + cells.lo - i0), bc);
  }
}

void LEVEL_NAME(PolderLevelGridRestrict)(const PolderLevelGrid *G, const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  for (PetscInt c = 0; c <= G->nc; ++c) bc[c] = 0;
  LEVEL_NAME(PolderLevelGridRestrictRows)(G, 0, G->n, r, bc);
}

void LEVEL_NAME(PolderLevelGridProlongRows)(const PolderLevelGrid *G, PetscInt i0, PetscInt n, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
  PetscInt line, last;

  GridLines(G->size, G->shift + i0, n, &line, &last);
  for (; line <= last; ++line) {
    const PetscInt y = line % G->size[1], z = line / G->size[1];
    const GridLine cells = GridLinePart(G, i0, n, y, z);

    LEVEL_NAME(GridProlongLine)(G, y, z, &cells, xc, x);
  }
}

void LEVEL_NAME(PolderLevelGridProlong)(const PolderLevelGrid *G, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
  LEVEL_NAME(PolderLevelGridProlongRows)(G, 0, G->n, xc, x);
}
