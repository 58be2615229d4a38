/*
  Restriction and interpolation on levels that are grids, line by line in loops that vectorise, with vectors of type LEVEL_VALUE; included once for each type.
  The sums have the order of the device: a box adds up its own cells, then in each direction the cells that face it.
*/

/*
  The part of r that goes to the box of a cell (d = -1) or to the one that it faces in direction d. A cell without part in P has the weights 0, by bits, since a
  branch would keep loops from being vectorised
*/
static inline LEVEL_VALUE LEVEL_NAME(GridGive)(int d, unsigned word, LEVEL_VALUE r)
{
  const unsigned    in = 0u - (unsigned)(word != POLDER_LEVELGRID_APART), w = word & in;
  const LEVEL_VALUE own = (LEVEL_VALUE)(int)(in & 1) -
                          ((LEVEL_VALUE)PolderLevelGridUnpack(w, 0) + (LEVEL_VALUE)PolderLevelGridUnpack(w, 1) + (LEVEL_VALUE)PolderLevelGridUnpack(w, 2));

  return (d < 0 ? own : (LEVEL_VALUE)PolderLevelGridUnpack(w, d)) * r;
}

/* bc[b] += what cell start + s b gives, and with `both` the next one; first <= b < end */
static inline void LEVEL_NAME(GridGiveCells)(int d, int s, PetscBool both, PetscInt first, PetscInt end, PetscInt start, const unsigned w[],
                                             const LEVEL_VALUE r[], LEVEL_VALUE *restrict bc)
{
  for (PetscInt b = first; b < end; ++b) {
    const PetscInt i   = start + s * b;
    LEVEL_VALUE    sum = bc[b] + LEVEL_NAME(GridGive)(d, w[i], r[i]);

    if (both) sum += LEVEL_NAME(GridGive)(d, w[i + 1], r[i + 1]);
    bc[b] = sum;
  }
}

/* Adds to a line of boxes what cell s b + k of a line gives to each box b */
static inline void LEVEL_NAME(GridGiveOne)(const PolderLevelGrid *G, int d, int s, PetscInt k, const GridLine *cells, const GridLine *boxes,
                                           const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  const PetscInt first = PetscMax(boxes->lo, GridFirst(cells->lo - k, s)), end = PetscMin(boxes->hi, GridFirst(cells->hi - k, s));

  LEVEL_NAME(GridGiveCells)(d, s, PETSC_FALSE, first, end, cells->start + k, G->w, r, bc + boxes->start);
}

/* The same with all cells of the box in the line */
static inline void LEVEL_NAME(GridGiveAll)(const PolderLevelGrid *G, int d, const GridLine *cells, const GridLine *boxes, const LEVEL_VALUE r[],
                                           LEVEL_VALUE bc[])
{
  const PetscInt first = PetscMax(boxes->lo, GridFirst(cells->lo, 2)), end = PetscMin(boxes->hi, GridFirst(cells->hi - 1, 2));
  const GridLine before = {boxes->start, boxes->lo, PetscMin(boxes->hi, first)}, after = {boxes->start, PetscMax(boxes->lo, end), boxes->hi};

  if (!G->join[0]) LEVEL_NAME(GridGiveOne)(G, d, 1, 0, cells, boxes, r, bc);
  else if (first >= end) { // a line of a cell or two
    for (int k = 0; k < 2; ++k) LEVEL_NAME(GridGiveOne)(G, d, 2, k, cells, boxes, r, bc);
  } else {
    LEVEL_NAME(GridGiveOne)(G, d, 2, 1, cells, &before, r, bc); // its box begins on another process
    LEVEL_NAME(GridGiveCells)(d, 2, PETSC_TRUE, first, end, cells->start, G->w, r, bc + boxes->start);
    LEVEL_NAME(GridGiveOne)(G, d, 2, 0, cells, &after, r, bc);
  }
}

/* Line (y, z) of P^T r */
static void LEVEL_NAME(GridRestrictLine)(const PolderLevelGrid *G, PetscInt y, PetscInt z, const LEVEL_VALUE r[], LEVEL_VALUE bc[])
{
  const GridLine boxes  = GridLineAt(G->csize, G->cshift, G->nc, y, z);
  const PetscInt low[3] = {0, y << G->join[1], z << G->join[2]}, high[3] = {G->join[0], low[1] + G->join[1], low[2] + G->join[2]};

  for (PetscInt b = boxes.lo; b < boxes.hi; ++b) bc[boxes.start + b] = 0;
  POLDER_UNROLL
  for (int d = -1; d < 3; ++d) {
    for (int upper = 0; upper < 2; ++upper) {
      PetscInt from[3] = {low[0], low[1], low[2]}, to[3] = {high[0], high[1], high[2]};

      if (d < 0 ? upper : !G->join[d]) continue;
      if (d >= 0) from[d] = to[d] = upper ? high[d] + 1 : low[d] - 1;
      for (PetscInt k = from[2]; k <= to[2]; ++k) {
        for (PetscInt j = from[1]; j <= to[1]; ++j) {
          const GridLine cells = GridLineAt(G->size, G->shift, G->n, j, k);

          if (d == 0) LEVEL_NAME(GridGiveOne)(G, d, 2, from[0], &cells, &boxes, r, bc);
          else LEVEL_NAME(GridGiveAll)(G, d, &cells, &boxes, r, bc);
        }
      }
    }
  }
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

/* Adds line (y, z) of P xc to x */
static void LEVEL_NAME(GridProlongLine)(const PolderLevelGrid *G, PetscInt y, PetscInt z, const LEVEL_VALUE xc[], LEVEL_VALUE x[])
{
  const int      pairs = G->join[0];
  const PetscInt by = y >> G->join[1], bz = z >> G->join[2];
  const GridLine cells = GridLineAt(G->size, G->shift, G->n, y, z), own = GridLineAt(G->csize, G->cshift, G->nc, by, bz);
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
