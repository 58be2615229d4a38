/* Levels that are grids: boxes, the matrix of the next grid, and the ways to and from it. */
#include "levelgrid.h"
#include "levelgridrow.h"

/* The cells lo <= x < hi of a line are on this process, cell x with the number start + x */
typedef struct {
  PetscInt start, lo, hi;
} GridLine;

/* Line (y, z) of the cells shift .. shift + n of a grid; outside of the grid it is empty */
static GridLine GridLineAt(const PetscInt size[3], PetscInt shift, PetscInt n, PetscInt y, PetscInt z)
{
  const PetscInt start = size[0] * (y + size[1] * z) - shift, lo = PetscMax(0, -start), hi = PetscMin(size[0], n - start);
  const GridLine empty = {0, 0, 0}, line = {start, lo, hi};

  return y < 0 || y >= size[1] || z < 0 || z >= size[2] || lo >= hi ? empty : line;
}

/* Line (y, z) of the boxes if cells face it and some of it is here, else the given line */
static GridLine GridLineOr(const PolderLevelGrid *G, int join, PetscInt y, PetscInt z, const GridLine *other)
{
  const GridLine line = GridLineAt(G->csize, G->cshift, G->nc, y, z);

  return join && line.lo < line.hi ? line : *other;
}

/* a / s rounded up, for a >= -2 */
static inline PetscInt GridFirst(PetscInt a, int s)
{
  return (a + 3 * s - 1) / s - 2;
}

/* The numbers of the first and the last line with cells shift .. shift + n */
static void GridLines(const PetscInt size[3], PetscInt shift, PetscInt n, PetscInt *first, PetscInt *last)
{
  *first = shift / size[0];
  *last  = n ? (shift + n - 1) / size[0] : *first - 1;
}

/* Those of the cells i0 .. i0 + n that lie in line (y, z) */
static GridLine GridLinePart(const PolderLevelGrid *G, PetscInt i0, PetscInt n, PetscInt y, PetscInt z)
{
  const GridLine line = GridLineAt(G->size, G->shift, G->n, y, z);

  return (GridLine){line.start, PetscMax(line.lo, i0 - line.start), PetscMin(line.hi, i0 + n - line.start)};
}

/* Cells of a line at a time */
#define GRID_CELLS 256

#define LEVEL_VALUE      PetscScalar
#define LEVEL_NAME(name) name##_Host
#include "levelgridapply.h"
#undef LEVEL_VALUE
#undef LEVEL_NAME
#define LEVEL_VALUE      float
#define LEVEL_NAME(name) name##Single_Host
#include "levelgridapply.h"

/* Moves on to the next cell in natural order */
static inline void GridNext(const PetscInt size[3], PetscInt at[3])
{
  if (++at[0] < size[0]) return;
  at[0] = 0;
  if (++at[1] < size[1]) return;
  at[1] = 0;
  ++at[2];
}

/* The lowest and the highest number of a box: that of the first (last) cell, or of the one that begins the next (ends the last) line or plane */
void PolderLevelGridCoarsen(PolderLevelGrid *G)
{
  PetscInt first = PETSC_MAX_INT, last = -1;

  for (int d = 0; d < 3; ++d) G->csize[d] = (G->size[d] + G->join[d]) >> G->join[d];
  G->cshift = 0;
  for (int d = 0; d < 3 && G->n; ++d) {
    const PetscInt stride = PolderLevelGridStride(G->size, d), end = G->shift + G->n - 1;
    const PetscInt low = (G->shift + stride - 1) / stride * stride, high = (end + 1) / stride * stride - 1;

    for (int k = 0; k < 2; ++k) {
      const PetscInt g = k ? high : low;
      PetscInt       at[3];

      if (g < G->shift || g > end) continue;
      PolderLevelGridAt(G->size, g, at);
      first = PetscMin(first, PolderLevelGridBox(G, at));
      last  = PetscMax(last, PolderLevelGridBox(G, at));
    }
  }
  G->cshift = G->n ? first : 0;
  G->nc     = G->n ? last - first + 1 : 0;
}

PetscInt PolderLevelGridCoarseEntries(const PolderLevelGrid *G, PetscInt n)
{
  return PolderLevelGridRowStart(G, n);
}

void PolderLevelGridBoxes_Host(const PolderLevelGrid *G, const PetscInt mate[], PetscInt agg[])
{
  PetscInt at[3];

  PolderLevelGridAt(G->size, G->shift, at);
  for (PetscInt i = 0; i < G->n; ++i, GridNext(G->size, at)) agg[i] = mate[i] == POLDER_PAIR_LONE ? G->nc : PolderLevelGridBox(G, at);
}

#include "levelgridcells.h"

/* Do rows of no aggregate lie among the n rows? */
static PetscBool GridHasLone(PetscInt n, const PetscInt mate[])
{
  PetscInt lone = 0;

  for (PetscInt i = 0; i < n && mate; ++i) lone += mate[i] == POLDER_PAIR_LONE;
  return (PetscBool)(lone > 0);
}

/* Do all cells take part in P? */
static PetscBool GridTakesAll(const PolderLevelGrid *G, const PetscInt agg[])
{
  PetscInt lone = 0;

  for (PetscInt i = 0; i < G->n; ++i) lone += agg[i] >= G->nc;
  return (PetscBool)!lone;
}

/* Can whole lines be read from the diagonals of A? */
static PetscBool GridHasDiagonals(const PolderLevelGrid *G, const PolderLevelGridEntries *A)
{
  for (int d = 0; d < 3; ++d) {
    if (!A->up[d] && G->size[d] > 1) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

void PolderLevelGridSurvey_Host(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, PetscInt count[])
{
  const PetscBool lines = (PetscBool)(GridHasDiagonals(G, A) && !GridHasLone(G->n, rule->mate));
  PetscInt        line, last;

  for (int k = 0; k < POLDER_LEVELGRID_COUNTS; ++k) count[k] = 0;
  GridLines(G->size, G->shift, G->n, &line, &last);
  for (; line <= last; ++line) {
    PetscInt        at[3] = {0, line % G->size[1], line / G->size[1]}, n;
    const GridLine  cells = GridLineAt(G->size, G->shift, G->n, at[1], at[2]);
    const PetscBool thin  = (PetscBool)((G->thin[1] && at[1] == G->size[1] - 1) || (G->thin[2] && at[2] == G->size[2] - 1));

    for (PetscInt x = cells.lo; x < cells.hi; x += n) {
      const PetscInt i = cells.start + x;

      n = PetscMax(1, PetscMin(GRID_CELLS, PetscMin(cells.hi, G->size[0] - 1) - x)); // the last one may be thin
      if (lines && !thin && x < G->size[0] - 1 && i > 0 && i + n < G->n && GridCount(G, A, rule, at, i, n, count)) continue;
      for (at[0] = x; at[0] < x + n; ++at[0]) {
        const unsigned bits = PolderLevelGridLook(G, A, rule, cells.start + at[0], at);

        for (int k = 0; k < POLDER_LEVELGRID_COUNTS; ++k) count[k] += bits >> k & 1;
      }
    }
  }
}

/* Line `part` of the up to four lines of cells in a line of boxes: at[1] and at[2]; FALSE: there is no such line */
static PetscBool GridBoxLine(const PolderLevelGrid *G, const PetscInt box[3], int part, PetscInt at[3], GridLine *line)
{
  at[0] = box[0] << G->join[0];
  at[1] = (box[1] << G->join[1]) + part % 2;
  at[2] = (box[2] << G->join[2]) + part / 2;
  if (part % 2 > G->join[1] || part / 2 > G->join[2] || at[1] >= G->size[1] || at[2] >= G->size[2]) return PETSC_FALSE;
  *line = GridLineAt(G->size, G->shift, G->n, at[1], at[2]);
  return PETSC_TRUE;
}

/*
  Boxes c .. c + n of line (y, z) of the boxes, whose lines of cells begin with coordinate x; *count is raised by those that fall into groups. A box whose
  inner couplings all are at least `split` of its strongest one is a single group
*/
static PetscBool GridSplitBoxes(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, PetscInt box[3], PetscInt n,
                                PetscInt *count)
{
  const PetscInt x = box[0] << G->join[0], cells = n << G->join[0];
  PetscReal      most[GRID_CELLS], low[GRID_CELLS];

  for (PetscInt k = 0; k < cells; ++k) {
    most[k] = 0;
    low[k]  = PETSC_MAX_REAL;
  }
  for (int part = 0; part < 4; ++part) {
    GridLine  line;
    PetscInt  at[3], i;
    PetscBool inner[3];

    if (!GridBoxLine(G, box, part, at, &line)) continue;
    i = line.start + x;
    for (int d = 0; d < 3; ++d) inner[d] = (PetscBool)(G->join[d] && at[d] % 2 == 0 && at[d] + 1 < G->size[d]);
    if (x < line.lo || x + cells > line.hi || i == 0 || i + cells >= G->n) return PETSC_FALSE;
    if (!GridExtremes(G, A, at, inner, i, cells, most, low)) return PETSC_FALSE;
  }
  for (PetscInt k = 0; k < n; ++k) {
    const PetscInt l = k << G->join[0], r = l + G->join[0], c[3] = {box[0] + k, box[1], box[2]};

    if (PetscMin(low[l], low[r]) >= rule->split * PetscMax(most[l], most[r])) continue;
    *count += PolderLevelGridBridges(G, A, rule, c);
  }
  return PETSC_TRUE;
}

void PolderLevelGridSplit_Host(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRule *rule, PetscInt *count)
{
  const PetscBool lines = (PetscBool)(GridHasDiagonals(G, A) && !GridHasLone(G->n, rule->mate));
  const PetscInt  whole = G->size[0] >> G->join[0]; // boxes of a line that have all cells
  PetscInt        line, last;

  *count = 0;
  GridLines(G->csize, G->cshift, G->nc, &line, &last);
  for (; line <= last; ++line) {
    PetscInt       box[3] = {0, line % G->csize[1], line / G->csize[1]}, n;
    const GridLine boxes  = GridLineAt(G->csize, G->cshift, G->nc, box[1], box[2]);

    for (PetscInt x = boxes.lo; x < boxes.hi; x += n) {
      box[0] = x;
      n      = PetscMax(1, PetscMin(GRID_CELLS >> G->join[0], PetscMin(whole, boxes.hi) - x));
      if (lines && x < whole && GridSplitBoxes(G, A, rule, box, n, count)) continue;
      for (; box[0] < x + n; ++box[0]) *count += PolderLevelGridBridges(G, A, rule, box);
    }
  }
}

/* Are both neighbours of a coordinate there and, where the direction is joined, the one beyond that which it faces? */
static PetscBool GridIsInside(const PolderLevelGrid *G, int d, PetscInt at)
{
  const PetscInt beyond = G->join[d] ? at + (at % 2 ? 2 : -2) : at;

  return (PetscBool)(at > 0 && at < G->size[d] - 1 && beyond >= 0 && beyond < G->size[d]);
}

/* Computes the weights of line (y, z) of a level whose cells all take part in P */
static void GridWeighLine(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt agg[], PetscInt y, PetscInt z)
{
  const GridLine  line   = GridLineAt(G->size, G->shift, G->n, y, z);
  const PetscInt  around = 2 * PolderLevelGridStride(G->size, A->up[2] ? 2 : 1);
  const PetscBool known  = (PetscBool)(A->up[0] && A->up[1] && (A->up[2] || G->size[2] == 1));
  const PetscBool inside = (PetscBool)(known && GridIsInside(G, 1, y) && (!A->up[2] || GridIsInside(G, 2, z)) && line.start >= around &&
                                       line.start + G->size[0] + around <= G->n);
  const PetscInt  first = inside && G->size[0] > 4 ? 2 : line.hi, end = inside && G->size[0] > 4 ? G->size[0] / 2 * 2 - 2 : line.hi;
  PetscInt        at[3] = {0, y, z};

  for (at[0] = line.lo; at[0] < first; ++at[0]) PolderLevelGridSetWeights(G, A, agg, line.start + at[0], at);
  for (PetscInt x = first, n; x < end; x += n) {
    n = PetscMin(GRID_CELLS, end - x);
    GridWeighCells(G, A, y, z, line.start + x, n);
  }
  for (at[0] = PetscMax(first, end); at[0] < line.hi; ++at[0]) PolderLevelGridSetWeights(G, A, agg, line.start + at[0], at);
}

void PolderLevelGridWeights_Host(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PetscInt agg[])
{
  const PetscBool all = GridTakesAll(G, agg);
  PetscInt        at[3], line, last;

  PolderLevelGridAt(G->size, G->shift, at);
  for (PetscInt i = 0; i < G->n && !all; ++i, GridNext(G->size, at)) PolderLevelGridSetWeights(G, A, agg, i, at);
  GridLines(G->size, G->shift, G->n, &line, &last);
  for (; line <= last && all; ++line) GridWeighLine(G, A, agg, line % G->size[1], line / G->size[1]);
}

/* The mean number of cells along a line in direction d of the box with the cells at coordinate `at` and of the box that it faces on one side */
static PetscReal GridMeanCells(const PolderLevelGrid *G, const PetscInt at[3], PetscInt i, int d, int side)
{
  const PetscInt stride = PolderLevelGridStride(G->size, d), face = at[d] + 2 * side;
  const PetscInt in = at[d] % 2 ? -1 : 1, inside = i + in * stride, beyond = i + 2 * side * stride;

  if (!G->join[d]) return 1;
  if (side != PolderLevelGridFace(at, d)) return 0; // within the box
  return 0.5 * ((at[d] + in < G->size[d] && inside >= 0 && inside < G->n ? 2 : 1) + (face >= 0 && face < G->size[d] && beyond >= 0 && beyond < G->n ? 2 : 1));
}

/*
  What the boxes c .. c + n of a line collect, see PolderLevelGridCollect(), where all their cells take part in P. The boxes and those that they face along the
  line have all cells; n <= GRID_CELLS / 2
*/
static PetscBool GridCollectBoxes(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRows *R, const PetscInt box[3], PetscInt n,
                                  PetscReal to[6][GRID_CELLS], PetscReal excess[], PetscReal size[])
{
  const PetscInt x = box[0] << G->join[0], count = n << G->join[0];

  for (PetscInt k = 0; k < n; ++k) {
    for (int e = 0; e < 6; ++e) to[e][k] = 0;
    excess[k] = size[k] = 0;
  }
  for (int part = 0; part < 4; ++part) {
    GridLine  line;
    PetscInt  at[3], i;
    PetscReal cells[6];

    if (!GridBoxLine(G, box, part, at, &line)) continue;
    i = line.start + x;
    if (x < line.lo + 2 || x + count > line.hi - 2 || i == 0 || i + count >= G->n) return PETSC_FALSE;
    for (int e = 0; e < 6; ++e) {
      const PetscReal last = GridMeanCells(G, at, i + count - 1, e / 2, e % 2 ? 1 : -1);

      cells[e] = e < 2 ? 1 + G->join[0] : GridMeanCells(G, at, i, e / 2, e % 2 ? 1 : -1);
      if (e > 1 && cells[e] != last) return PETSC_FALSE;
    }
    if (!GridGather(G, A, at, i, n, cells, to)) return PETSC_FALSE;
    for (PetscInt k = 0; k < n; ++k) {
      const PetscInt l = i + (k << G->join[0]);

      excess[k] = G->join[0] ? (excess[k] + R->excess[l]) + R->excess[l + 1] : excess[k] + R->excess[l];
      size[k]   = G->join[0] ? (size[k] + R->size[l]) + R->size[l + 1] : size[k] + R->size[l];
    }
  }
  return PETSC_TRUE;
}

/* The same of box k of them */
static inline PolderLevelGridCollected GridCollected(PetscReal to[6][GRID_CELLS], const PetscReal excess[], const PetscReal size[], PetscInt k)
{
  return (PolderLevelGridCollected){
    {{to[0][k], to[1][k]}, {to[2][k], to[3][k]}, {to[4][k], to[5][k]}},
    0, excess[k], size[k]
  };
}

void PolderLevelGridCoarseRows_Host(const PolderLevelGrid *G, const PolderLevelGridEntries *A, const PolderLevelGridRows *R)
{
  const PetscInt  whole = G->size[0] >> G->join[0]; // boxes of a line that have all cells
  const PetscBool lines = (PetscBool)(GridHasDiagonals(G, A) && GridTakesAll(G, R->agg));
  PetscReal       to[6][GRID_CELLS], excess[GRID_CELLS], size[GRID_CELLS];
  PetscInt        line, last, position = 0;

  if (R->pattern) R->ci[0] = 0;
  GridLines(G->csize, G->cshift, G->nc, &line, &last);
  for (; line <= last; ++line) {
    PetscInt       box[3] = {0, line % G->csize[1], line / G->csize[1]}, n;
    const GridLine boxes  = GridLineAt(G->csize, G->cshift, G->nc, box[1], box[2]);

    for (PetscInt x = boxes.lo; x < boxes.hi; x += n) {
      const PetscInt end = PetscMin(boxes.hi, whole - 2 + G->join[0]); // the next ones face a box that may lack a cell, or none
      PetscBool      fast;

      box[0] = x;
      n      = x == boxes.lo || x >= end ? 1 : PetscMin(GRID_CELLS / 2, end - x);
      fast   = (PetscBool)(lines && x > boxes.lo && x < end && GridCollectBoxes(G, A, R, box, n, to, excess, size));
      for (PetscInt k = 0; k < n; ++k, ++box[0]) {
        const PetscInt c = boxes.start + box[0];

        position = fast ? PolderLevelGridStoreRow(G, R, c, box, GridCollected(to, excess, size, k), position)
                        : PolderLevelGridCoarseRow(G, A, R, c, box, position);
      }
    }
  }
}

void PolderLevelGridPlaces_Host(const PolderLevelGrid *G, PetscInt64 place[])
{
  PetscInt at[3];

  PolderLevelGridAt(G->csize, G->cshift, at);
  for (PetscInt c = 0; c < G->nc; ++c, GridNext(G->csize, at)) place[c] = PolderLevelGridPlace(at);
}
